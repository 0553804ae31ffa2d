# SPDX-License-Identifier: GPL-2.0
"""QEMU's NVMe device in a test machine, with polled queues.

The test machine's kernel has no driver for one: it is built as modules beside
it, from the same source, and comes in --copy's folder.  Used by 65-nvme and by
the benchmark's part nvme.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "lib")]
sys.path.append(str(TESTS / "vm"))
import buildcache                                            # noqa: E402
import stage                                                 # noqa: E402
from outside import fail, machine, no_faults, tried          # noqa: E402

MODULES = ("nvme-core.ko", "nvme.ko")
SIZE = 64 << 20


def modules(tree, paths=1):
    """A folder with the driver for the kernel of this tree; it makes one disk of
    several paths to it if there are to be some."""
    folder = stage.BUILD / "nvme" / f"{tree.name}-{paths}"
    multipath = ["CONFIG_NVME_MULTIPATH=y",
                 "KCFLAGS=-DCONFIG_NVME_MULTIPATH=1"] if paths > 1 else []
    with buildcache.lock_folder(stage.BUILD):
        if not all((folder / name).exists() for name in MODULES):
            work = folder / "source"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(tree / "drivers/nvme/host", work,
                            ignore=shutil.ignore_patterns("*.o", "*.a"))
            subprocess.run(["make", "-s", "-C", str(tree), "ARCH=x86_64",
                            f"M={work}", "CONFIG_NVME_CORE=m",
                            "CONFIG_BLK_DEV_NVME=m", *multipath, "modules"],
                           check=True, stdout=sys.stderr)
            for name in MODULES:
                shutil.copy(work / name, folder)
            shutil.rmtree(work)
    return folder


def add(vm, folder, paths=1):
    """Give a machine that has not been started the device, to which so many
    controllers lead, and its driver; the disk is in the folder."""
    disk = pathlib.Path(folder) / "nvme.img"
    with open(disk, "wb") as file:
        file.truncate(SIZE)
    vm.copy = pathlib.Path(folder, "copy")
    shutil.copytree(modules(vm.tree, paths), vm.copy)
    before = vm.adjust
    vm.adjust = lambda command: before(command) + [
        "-drive", f"file={disk},format=raw,cache=unsafe,if=none,id=nvme",
        "-device", "nvme-subsys,id=swap",
        *["-device", "nvme,serial=swap,subsys=swap"] * paths,
        "-device", "nvme-ns,drive=nvme"]


def tries(script, paths, seconds):
    """Boot a machine of two CPUs with the device, a thread each, and show what the
    script in it says."""
    vm = machine(1, "--cpus-per-node", "2")
    with tempfile.TemporaryDirectory() as folder:
        add(vm, folder, paths)
        with vm:
            status, text = tried(
                vm, "/usr/lib/mios/selftests/swap/" + script, seconds)
            print(text, end="")
            if status:
                fail(text.strip().splitlines()[-1])
            no_faults(vm, "at the end")
