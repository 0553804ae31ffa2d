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

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "vm"))
import buildcache                                            # noqa: E402
import stage                                                 # noqa: E402

MODULES = ("nvme-core.ko", "nvme.ko")
SIZE = 64 << 20


def modules(tree):
    """A folder with the driver for the kernel of this tree."""
    folder = stage.BUILD / "nvme" / tree.name
    with buildcache.lock_folder(stage.BUILD):
        if not all((folder / name).exists() for name in MODULES):
            work = folder / "source"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(tree / "drivers/nvme/host", work,
                            ignore=shutil.ignore_patterns("*.o", "*.a"))
            subprocess.run(["make", "-s", "-C", str(tree), "ARCH=x86_64",
                            f"M={work}", "CONFIG_NVME_CORE=m",
                            "CONFIG_BLK_DEV_NVME=m", "modules"], check=True,
                           stdout=sys.stderr)
            for name in MODULES:
                shutil.copy(work / name, folder)
            shutil.rmtree(work)
    return folder


def add(vm, folder):
    """Give a machine that has not been started the device; the disk is in the
    folder."""
    disk = pathlib.Path(folder) / "nvme.img"
    with open(disk, "wb") as file:
        file.truncate(SIZE)
    before = vm.adjust
    vm.adjust = lambda command: before(command) + [
        "-drive", f"file={disk},format=raw,cache=unsafe,if=none,id=nvme",
        "-device", "nvme,serial=swap,drive=nvme"]
