# SPDX-License-Identifier: GPL-2.0
"""Checkpoints: a machine that was brought to a state once and is kept.

A machine that starts from one answers in two seconds instead of a minute.
"ready" is a machine whose instance 0 takes commands, "up" one whose
instances have all been booted.  Kept in the cache, by the contents of all
that went into it, made when somebody first asks for it; machine.py calls get()
and load().

QEMU's migration writes what the devices and CPUs hold.  The nodes' memory is
in memfds that it leaves out (x-ignore-shared): they are copied, without their
holes.  The root disk is the overlay of what had been written.
"""
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import time

import buildcache
import qemu
import stage

BOOT_ALL = """set -e
mios boot all --timeout 900 > /dev/null
for i in /sys/kernel/mios/instance[1-9]*; do
	mios exec "${i##*instance}" -- true
done
sync
"""
# From which state, and what is to be done there.
STATES = {"ready": ("boot", "sync"), "up": ("ready", BOOT_ALL)}
LIMIT = 1800            # seconds of the machine for that
STATE, META = "state", "meta.json"
KEPT = 24               # by when they were used last
KEPT_DAYS = 1 / 24      # the others, that long
CHUNK = 1 << 30
TSC_SLACK = 1e-3        # how far this host's clock may be off the maker's


def inputs(vm):
    """All that a machine is made of, but for the tests: they come later."""
    yield from (repr(vm.shape), vm.accel, str(vm.rootfs),
                pathlib.Path(vm.kernel))
    yield subprocess.run(["qemu-system-x86_64", "--version"], check=True,
                         stdout=subprocess.PIPE).stdout
    for name in "checkpoint.py", "qemu.py":
        yield stage.HERE / name
    yield stage.fingerprint(vm.tree, vm.modules)


def digest(vm):
    """A name for machines like vm."""
    return buildcache.digest(*inputs(vm))


def find(folder, khz):
    """Is there a whole checkpoint of a host as fast as this one?"""
    try:
        meta = json.loads((folder / META).read_text())
    except FileNotFoundError:
        return False
    return abs(meta["khz"] / khz - 1) < TSC_SLACK


def get(vm, state):
    """The folder of a machine like vm in that state; made when missing."""
    base = buildcache.root() / "checkpoint"
    base.mkdir(exist_ok=True)
    folder = base / f"{state}-{digest(vm)}"
    with buildcache.lock(folder.name):
        if not find(folder, vm.tsc_khz()):
            shutil.rmtree(folder, ignore_errors=True)
            make(vm, state, folder)
        os.utime(folder)
    buildcache.prune(base, KEPT, KEPT_DAYS)
    return folder


def make(vm, state, folder):
    """Bring a machine like vm to the state, and keep it."""
    begin = time.monotonic()
    origin, script = STATES[state]
    part = pathlib.Path(tempfile.mkdtemp(prefix=".part-", dir=folder.parent))
    said = []
    try:
        with vm.like(origin) as maker:
            status = maker.run(["sh", "-c", script], said.append, said.append,
                               LIMIT)
            faults = maker.settle()
            if status or faults:
                raise stage.StageError(
                    f"no checkpoint '{state}': " +
                    (str(faults[0]) if faults else
                     b"".join(said).decode().strip().split("\n")[-1]))
            save(maker, part)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    buildcache.say(f"made the checkpoint '{state}' of {vm.shape}, {vm.accel}, "
                   f"in {time.monotonic() - begin:.0f} s")


def save(vm, part):
    """Stop the machine and write it to a folder.  It does not go on."""
    control = vm.qmp()
    control.do("stop")
    vm.watch.check()
    control.ignore_shared()
    control.migrate("migrate", f"exec:cat > {shlex.quote(str(part / STATE))}")
    for node, fd in enumerate(vm.memory):
        with open(part / f"node{node}", "wb") as file:
            os.truncate(file.fileno(), vm.shape.files()[node])
            copy_data(fd, file.fileno())
    control.do("quit")
    vm.process.wait()
    root = part / qemu.ROOT
    shutil.move(vm.folder / qemu.ROOT, root)
    # What the overlay stands on may be removed, but for the root itself.
    subprocess.run(["qemu-img", "rebase", "-q", "-b", str(vm.rootfs), "-F",
                    "raw", str(root)], check=True)
    for log in vm.node_logs():
        shutil.copy(log, part)
    (part / META).write_text(json.dumps({
        "khz": vm.tsc_khz(), "stage": (vm.folder / qemu.STAGE).stat().st_size,
        "logs": {log.reader.node: (log.reader.started, log.reader.position)
                 for log in vm.pulses}}))


def copy_data(source, target):
    """From one file to another, without the holes."""
    end = 0
    while True:
        try:
            at = os.lseek(source, end, os.SEEK_DATA)
        except OSError:                 # no more data
            return
        end = os.lseek(source, at, os.SEEK_HOLE)
        os.lseek(target, at, os.SEEK_SET)
        while at < end:
            at += os.sendfile(target, source, at, min(end - at, CHUNK))


def load_files(vm, folder):
    """Disks, memory and logs of a machine that is to start from there."""
    meta = json.loads((folder / META).read_text())
    qemu.overlay(vm.folder / qemu.ROOT, folder / qemu.ROOT)
    # Unpacked long ago; only its size must be right.
    (vm.folder / qemu.STAGE).touch()
    os.truncate(vm.folder / qemu.STAGE, meta["stage"])
    for node, fd in enumerate(vm.memory):
        with open(folder / f"node{node}", "rb") as file:
            copy_data(file.fileno(), fd)
    for log in folder.glob("instance*.log"):
        shutil.copy(log, vm.logs)
    return {int(node): where for node, where in meta["logs"].items()}


def load_state(vm, folder):
    """What CPUs and devices hold; then the machine goes on."""
    control = vm.qmp()
    control.ignore_shared()
    control.migrate("migrate-incoming",
                    f"exec:cat {shlex.quote(str(folder / STATE))}")
    control.do("cont")
    control.close()
