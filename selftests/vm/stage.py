# SPDX-License-Identifier: GPL-2.0
"""What goes with the cached root: the built project, tests, host folders.

machine.py calls this.  The stage disk is a plain tar that guest/stub unpacks
over the root when a machine boots: modules, programs, man pages, and the
kernel image for the children.  What changes from one run to the next, tests
and a host's folder, comes as a tar through the agent once the machine takes
commands, so that it may start from a checkpoint.
"""
import io
import os
import pathlib
import shutil
import subprocess
import tarfile
from concurrent import futures

import buildcache

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
BUILD = TOP / "build"
# Of instance 0, before any program could load them on demand.
FIRST_MODULES = ("virtio_pci", "virtio_blk", "virtio_console", "virtio_rng",
                 "ext4")


class StageError(Exception):
    """A disk could not be made."""


def run(command, **options):
    """A helper that must succeed."""
    done = subprocess.run([str(c) for c in command], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **options)
    if done.returncode:
        raise StageError(f"{command[0]}: {done.stdout.strip()}")
    return done.stdout


STATIC = ("gcc", "-O2", "-Wall", "-Wextra", "-Werror",
          "-Wno-unused-parameter", "-static")
STATIC_PROGRAMS = ("vm/guest/agent.c", "ipc/guest/futexes.c", "ipc/guest/race.c",
                   "ipc/guest/segment.c", "ipc/guest/copies.c", "swap/guest/swaps.c",
                   "fs/guest/agree.c", "fs/guest/faults.c", "fs/guest/threads.c",
                   "../docs/examples/shared-farm.c")
# It has no headers of Linux of its own.
MUSL = ("musl-gcc", "-idirafter", "/usr/include", "-idirafter",
        "/usr/include/x86_64-linux-gnu", *STATIC[1:])
STATIC_CXX = ("g++", "-O2", "-Wall", "-static")
OPENMP = ("g++", "-O2", "-Wall", "-fopenmp")
OPENMP_PROGRAMS = ("spread", "team", "tasks", "reduce", "target", "mutexes",
                   "forks", "cancel", "nested", "strict", "maps", "bodies",
                   "files", "elsewhere", "descriptors", "interrupts",
                   "inherited", "handlers", "state")
OPENMP_FORTRAN = ("gfortran", "-O2", "-fopenmp", "-J", BUILD / "guest")
BOOST = ("g++", "-O2", "-Wall", "-Wextra", "-pthread")
COARRAYS = (BUILD / "caf/mios-caf", "-O2", "-Wall", "-J", BUILD / "guest")
COARRAY_PROGRAMS = ("heat", "ends", "nbody", "constructs")
LOCKS = ("lock/guest/locks.c",)
GLEX_API = TOP / "libglex"
GLEX_LIBRARY = BUILD / "glex/libglex.so.1"
GLEX = ("gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-I", GLEX_API)
GLEX_PROGRAMS = ("glex/guest/glexes.c", "../libglex/examples/halo.c",
                 "../libglex/examples/kvs.c")
LOCK_API = TOP / "userspace/libmios-lock"
LOCK_LIBRARY = BUILD / "lock/libmios-lock.a"
PRELOADED = ("gcc", "-O2", "-Wall", "-Wextra", "-Werror",
             "-Wno-unused-parameter", "-shared", "-fPIC")


def build_helper(source, compiler=STATIC, libraries=(), suffix=""):
    """From selftests/SOURCE: static, so that it runs in any root; or as OpenMP
    and coarray programs are, with the guest's own libraries."""
    source = HERE.parent / source
    binary = BUILD / "guest" / (source.stem + suffix)
    newest = max(p.stat().st_mtime for p in
                 (source, *source.parent.glob("*.h"), *libraries))
    if not binary.exists() or binary.stat().st_mtime < newest:
        binary.parent.mkdir(parents=True, exist_ok=True)
        # By a relative path: gfortran puts it into messages, and a
        # checkpoint would be of this very folder.
        run([*compiler, "-o", binary, source.relative_to(TOP), *libraries,
             "-lutil"], cwd=TOP)
    return binary


def helpers():
    """What build_helper() is asked for, for a machine."""
    yield from ((source,) for source in STATIC_PROGRAMS)
    yield "ipc/guest/futexes.c", MUSL, (), "-musl"
    yield "swap/guest/works.cc", STATIC_CXX
    yield from ((f"omp/guest/{name}.cc", OPENMP) for name in OPENMP_PROGRAMS)
    yield from ((f"omp/guest/{name}.f90", OPENMP_FORTRAN)
                for name in ("fields", "waves", "units", "inner"))
    yield from ((f"caf/guest/{name}.f90", COARRAYS)
                for name in COARRAY_PROGRAMS)
    yield from ((source, (*STATIC, "-I", LOCK_API), [LOCK_LIBRARY])
                for source in LOCKS)
    yield from ((source, GLEX, [GLEX_LIBRARY]) for source in GLEX_PROGRAMS)
    yield "caf/guest/replace.c", PRELOADED
    yield "ipc/guest/boosted.cc", BOOST


def build_checker():
    """What looks at a ring area from inside the guest (see its Makefile)."""
    folder = BUILD / "unit" / "channel"
    with buildcache.lock_folder(BUILD):
        run(["make", "-s", "-C", TOP / "selftests/unit/channel",
             f"O={folder}", folder / "area-check"])
    return folder / "area-check"


def kernel_release(tree):
    """The version that the tree's kernel reports as uname -r."""
    return (tree / "include/config/kernel.release").read_text().strip()


def stage_symbols(vmlinux, target):
    """What gdb needs of a vmlinux besides a dump: addresses, no contents."""
    target.parent.mkdir(parents=True, exist_ok=True)
    symbols = target.with_suffix("")
    run(["objcopy", "--only-keep-debug", "-R", ".rela*", vmlinux, symbols])
    run(["gzip", "-1", "-f", symbols])


def stage_kernel(tree, root):
    """The tree's own modules and its image, for children."""
    release = kernel_release(tree)
    modules = root / "lib/modules" / release
    for line in (tree / "modules.order").read_text().split():
        module = pathlib.Path(line).with_suffix(".ko")
        target = modules / "kernel" / module
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(tree / module, target)
    for name in ("modules.builtin", "modules.builtin.modinfo",
                 "modules.order"):
        shutil.copyfile(tree / name, modules / name)
    boot = root / "boot"
    boot.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(tree / "arch/x86/boot/bzImage",
                    boot / f"vmlinuz-{release}")
    stage_symbols(tree / "vmlinux",
                  root / f"usr/lib/debug/boot/vmlinux-{release}.gz")
    return modules


def stage_modules(built, modules):
    """The project's modules, beside the kernel's own."""
    extra = modules / "extra"
    extra.mkdir(parents=True, exist_ok=True)
    with buildcache.lock_folder(built):     # another machine may build them
        for module in sorted(built.rglob("*.ko")):
            shutil.copyfile(module, extra / module.name)


def guest_files():
    """The harness's own side in the guest."""
    with buildcache.lock_folder(BUILD), \
            futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        built = list(pool.map(lambda words: build_helper(*words), helpers()))
    return [*built, build_checker(),
            *(HERE / "guest" / name for name in ("init", "agents", "systemd"))]


def fingerprint(tree, built_modules):
    """A hash of all that make_stage() would put on the disk."""
    parts = [pathlib.Path(__file__), HERE / "guest/stub", *guest_files()]
    if tree:
        parts.append(tree.name)         # by content, as the cache names it
    if built_modules and built_modules.exists():
        with buildcache.lock_folder(built_modules):
            parts += [m.read_bytes()
                      for m in sorted(built_modules.rglob("*.ko"))]
    installed = BUILD / "stage"
    with buildcache.lock_folder(BUILD):
        for path in sorted(installed.rglob("*")):
            parts.append(f"{path.relative_to(installed)} "
                         f"{path.lstat().st_mode:o}")
            if path.is_symlink():
                parts.append(os.readlink(path))
            elif path.is_file():
                parts.append(path)
    return buildcache.digest(*parts)


def make_stage(path, tree, built_modules, initrd):
    """Write the stage disk for the kernel in tree to path.

    And an initrd, if that kernel cannot read the disks without modules.
    """
    root = path.with_suffix(".d")
    shutil.rmtree(root, ignore_errors=True)
    guest = root / "usr/lib/mios/guest"
    guest.mkdir(parents=True)
    for file in guest_files():
        shutil.copy(file, guest / file.name)
    if tree:
        modules = stage_kernel(tree, root)
        if built_modules and built_modules.exists():
            stage_modules(built_modules, modules)
        run(["/sbin/depmod", "-b", root, kernel_release(tree)])
        if (modules / "kernel/drivers/block/virtio_blk.ko").exists():
            make_initrd(root, kernel_release(tree), initrd)
    installed = BUILD / "stage"         # make user installs here
    if installed.exists():
        with buildcache.lock_folder(BUILD):
            run(["cp", "-a", f"{installed}/.", root])
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
        for entry in sorted(root.iterdir()):
            archive.add(entry, arcname=entry.name, filter=root_owned)
    shutil.rmtree(root)
    pad(path)


def make_initrd(root, release, path):
    """What instance 0 needs on its way to the root: see guest/first."""
    tree = path.with_suffix(".d")
    for name in ("bin", "dev", "proc", "root", "modules"):
        (tree / name).mkdir(parents=True)
    shutil.copy(shutil.which("busybox"), tree / "bin/busybox")
    shutil.copy(HERE / "guest/first", tree / "init")
    steps = run(["/sbin/modprobe", "--dirname", root, "--set-version", release,
                 "--ignore-install", "--show-depends", "--all",
                 *FIRST_MODULES])
    files = [pathlib.Path(step.split()[1]) for step in steps.splitlines()
             if step.startswith("insmod ")]
    for file in files:
        shutil.copy(file, tree / "modules")
    (tree / "modules/order").write_text(
        "".join(f"{name}\n" for name in dict.fromkeys(f.name for f in files)))
    run(["sh", "-c", f"find . | cpio --quiet -o -H newc > '{path}'"], cwd=tree)
    shutil.rmtree(tree)


def root_owned(member):
    """Whoever built it, in the guest it belongs to root."""
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    return member


def pad(path):
    """A disk is a whole number of sectors; tar ends in zeros anyhow."""
    size = path.stat().st_size
    os.truncate(path, (size + 4095) // 4096 * 4096)


# Of selftests/, what no machine has a use for: a second of it each time.
HOSTS_OWN = ("__pycache__", "vm/*", "static/*", "build/*", "loader/*",
             "unit/*/*", "dsm/*/*", "fs/image/*", "fs/pool/*")


def packed(folder, leave=()):
    """A tar of what is in a folder, for the agent to unpack; without what
    paths below it match one of leave."""
    folder = pathlib.Path(folder)
    data = io.BytesIO()

    def wanted(member):
        path = pathlib.PurePath(member.name)
        return None if any(path.match(pattern) for pattern in leave) else \
            root_owned(member)

    with tarfile.open(fileobj=data, mode="w", format=tarfile.GNU_FORMAT) as \
            archive:
        for entry in sorted(folder.iterdir()):
            archive.add(entry, arcname=entry.name, filter=wanted)
    return data.getvalue()
