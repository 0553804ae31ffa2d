# SPDX-License-Identifier: GPL-2.0
"""mios-vm's options, and from them a machine with everything built for it.

Called by mios-vm for its command line and by selftests/run for the line
"# machine:" at the head of a test, which holds the same words.
"""
import argparse
import functools
import os
import pathlib
import subprocess
import sys

import buildcache
import checkpoint
import machine
import memmap
import qemu
import stage

TOP = stage.TOP
# The debug kernel takes its time, also to empty a node.
DEBUG_WORDS = " mios.take_timeout=300"


class UsageError(Exception):
    """Bad options, one line."""


def parse(words):
    """Options; what follows -- is the command."""
    command = []
    if "--" in words:
        at = words.index("--")
        words, command = words[:at], words[at + 1:]
    parser = argparse.ArgumentParser(
        prog="mios-vm", description="The test machine: several NUMA "
        "nodes in one QEMU guest.",
        epilog="run: COMMAND as root in instance 0, its exit status is ours "
        "(125: the machine failed). shell: a root shell there. console N: "
        "the console of instance N of a machine that runs.")
    add = parser.add_argument
    add("action", choices=("run", "shell", "console"))
    add("instance", nargs="?", type=int, help="for console (0)")
    add("--nodes", type=int, default=2, help="1 to 8 (2)")
    add("--cpus-per-node", type=int, default=1, help="1 to 4 (1)")
    add("--memory-per-node", default="1G",
        help="one size, or one per node: 1G,512M,512M (1G)")
    add("--spares", default="", metavar="LIST",
        help="devices that an instance can be given, such as disk,nvme,net: "
        "disks of 64 MiB, network cards at one wire; root, root-trixie: disks "
        "with a root like this one's, or Debian 13's (none)")
    add("--wire", default="", metavar="PATH:0|1", help="a network card of "
        "instance 0's at an end of a wire, with another machine at the other")
    add("--iommu", action="store_true", help="with Intel's IOMMU, on")
    add("--debug", action="store_true",
        help="the kernel with KASAN, lockdep and kmemleak")
    add("--debian", action="store_true",
        help="Debian's own configuration, but for modules that this machine "
        "has no use for (an hour to build)")
    add("--copy", metavar="DIR", help="a host folder, at /mnt/host")
    add("--append", default="", help="more kernel command line")
    add("--one-node", action="store_true",
        help="firmware tells of no nodes: they are parts of one")
    add("--plain", action="store_true",
        help="one ordinary kernel over all nodes, nothing reserved")
    add("--kernel", metavar="distro|FILE", help="the one with more of what "
        "distributions have, or another bzImage")
    add("--suite", choices=("bookworm", "trixie"),
        help="the root's Debian release (SUITE, or the host's own)")
    add("--logs", metavar="DIR", help="build/logs/<run> by default")
    add("--timeout", type=float, metavar="SECONDS",
        help="limit for the command (none)")
    add("--accel", help="QEMU's -accel (kvm where it works), or icount: all "
        "CPUs in turn, time counted in instructions")
    add("--from", dest="origin", default="boot",
        choices=("boot", *checkpoint.STATES),
        help="start from a checkpoint, made if need be: instance 0 is ready, "
        "or all instances are up (boot)")
    add("--run", metavar="LOGS", help="for console: which machine")
    options = parser.parse_args(words)
    refuse_ignored(options, command)
    options.instance = options.instance or 0
    return options, command


def refuse_ignored(options, command):
    """Words that the action would not look at are a mistake."""
    if options.action == "run" and not command:
        raise UsageError("run needs a command: mios-vm run ... -- COMMAND")
    if options.action != "run" and command:
        raise UsageError(f"{options.action} takes no command: use mios-vm run")
    if options.action != "console" and options.instance is not None:
        raise UsageError(f"{options.action} takes no instance")
    if options.action != "console" and options.run:
        raise UsageError("--run is for console: it names a machine that runs")
    if options.debian + options.debug + bool(options.kernel) > 1:
        raise UsageError("one of --debug, --debian and --kernel, not more")


def tool(*words, **more):
    """A build script of the tree; its last line of output is the path.
    more: for its environment."""
    done = subprocess.run([str(TOP / words[0]), *words[1:]], check=False,
                          text=True, stdout=subprocess.PIPE,
                          env={**os.environ, **more})
    if done.returncode:
        raise UsageError(f"{' '.join(words)} failed")
    return pathlib.Path(done.stdout.splitlines()[-1])


@functools.cache
def build(name):
    """Kernel tree, module folder or None; the programs go to the stage.

    A tree without the series (KSRC, or its first patches only) boots too,
    without the modules.  Once in each process: looking whether anything has
    changed takes more than a second, and a run of tests is of one build.
    """
    tree = tool("linux/kernel", "build", name)
    modules = None
    if (tree / "arch/x86/include/asm/mios.h").exists():
        modules = tool("linux/kernel", "modules", name,
                       str(TOP / "build" / f"modules-{name}"))
    with buildcache.lock_folder(stage.BUILD):   # the other lane's machine
        made = subprocess.run(["make", "-s", "-C", str(TOP), "user"],
                              check=False, stdout=sys.stderr)
    if made.returncode:
        raise UsageError("make user failed")
    return tree, modules


def make_machine(options):
    """Everything built, the machine not yet started."""
    try:
        sizes = [memmap.parse_size(t)
                 for t in options.memory_per_node.split(",")]
        words = DEBUG_WORDS if options.debug else ""
        shape = qemu.Shape(options.nodes, options.cpus_per_node, sizes,
                           options.plain, (options.append + words).strip(),
                           options.one_node,
                           tuple(filter(None, options.spares.split(","))),
                           options.iommu, options.wire)
    except ValueError as error:
        raise UsageError(str(error)) from None
    image = options.kernel if options.kernel != "distro" else None
    if image and not os.path.exists(image):
        raise UsageError(f"--kernel {image}: no such file")
    if options.copy and not os.path.isdir(options.copy):
        raise UsageError(f"--copy {options.copy}: not a folder")
    if options.debian:
        os.environ.setdefault("LSMOD", str(stage.HERE / "lsmod"))
    tree, modules = build("debug" if options.debug else
                          "debian" if options.debian else
                          "test" if image else options.kernel or "test")
    kernel = image or tree / "arch/x86/boot/bzImage"
    release = {"SUITE": options.suite} if options.suite else {}
    rootfs = tool("selftests/vm/rootfs", "build", **release)
    roots = {kind: tool("selftests/vm/rootfs", "build", **{**release, **more})
             for kind, more in qemu.ROOTS.items() if kind in shape.spares}
    accel = options.accel or machine.default_accel(kernel, buildcache.root())
    logs = pathlib.Path(options.logs) if options.logs else None
    return machine.Machine(shape, kernel, rootfs, tree, modules,
                           options.copy, logs, accel, options.origin, roots)
