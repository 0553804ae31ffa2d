# SPDX-License-Identifier: GPL-2.0
"""An instance dies at an instant drawn by lot, and then another one, while all
who are up do what a program does by lot; both boot again, and so on.  After each
death the others have gone on, no page and no file is lost or owned twice
(unit/fs/image-check.c looks at the machine's memory from outside), and what the
program has made, the dead one's too, is as it should be.  Used by selftests/fs and
selftests/ipc, in each by three deaths that are alike each time and by many."""
import dataclasses
import pathlib
import random
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(TOP / "selftests/lib"))
from outside import fail, machine, no_faults, run            # noqa: E402


@dataclasses.dataclass
class Work:
    """What goes on meanwhile.

    program FOLDER SELF SEED works until word 63 of FOLDER/state is not 0, and
    counts in word SELF; program FOLDER looks at what there is once.
    """
    program: pathlib.Path   # its source
    folder: str             # of miosfs
    prepare: str            # shell, once all are up: FOLDER/state, and the rest
    remove: str             # shell, in the end: all that the program has made
    knob: str               # the parameter that makes recovery go wrong


BEGIN = """. /usr/lib/mios/selftests/lib/instances.sh
{up}
state={work.folder}/state
{work.prepare}
for i in {live}; do
    on $i "echo {broken} > {work.knob}"
done
printf '\\0' | dd of=$state bs=1 seek=504 conv=notrunc 2> /dev/null
for i in {live}; do
    on $i "exec /mnt/host/work {work.folder} $i {seed}" > /tmp/work$i 2>&1 &
    echo $! > /tmp/work$i.pid
done
counted() {{ od -An -td8 -j$(($1 * 8)) -N8 $state; }}
at_work() {{ [ "$(counted $1)" -gt $2 ]; }}
for i in {live}; do
    until_true 60 at_work $i $(counted $i) ||
        fail "instance $i does nothing: $(cat /tmp/work$i)"
done
sleep 0.{ms:03}
quietly mios kill {victim}
for i in {others}; do
    until_true 60 at_work $i $(counted $i) ||
        fail "instance $i stands still: $(cat /tmp/work$i)"
done
printf '\\1' | dd of=$state bs=1 seek=504 conv=notrunc 2> /dev/null
for i in {others}; do
    wait $(cat /tmp/work$i.pid) || fail "on $i: $(cat /tmp/work$i)"
done
for i in {others}; do
    on $i "/mnt/host/work {work.folder}" || fail "as $i sees it"
done
"""
POOLS = "grep -H . /sys/kernel/mios/instance*/pool"


def build(work, folder):
    """What looks at the machine, and what works in it."""
    binary = folder / "copy" / "work"
    binary.parent.mkdir()
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-static",
                    "-o", binary, work.program], check=True)
    subprocess.run(["make", "-s", "-C", TOP / "selftests/unit/fs",
                    f"O={folder}", folder / "image-check"], check=True)


def sections(vm):
    """Base, size and node of each."""
    found = []
    for line in run(vm, POOLS).splitlines():
        path, where = line.split(":", 1)
        size, base = where.split("@")
        node = path.split("instance")[1].split("/")[0]
        found.append((int(base, 16), int(size, 0), int(node)))
    return sorted(found, key=lambda section: section[2])


def whole(vm, folder, live, when):
    """Copies the pool; how many pages files have."""
    words = []
    for base, size, node in sections(vm):
        file = folder / f"section{node}"
        file.write_bytes(vm.read_memory(base, size))
        words.append(f"{base:x}:{size:x}:{node}:{file}")
    mask = sum(1 << i for i in live)
    done = subprocess.run([folder / "image-check", f"{mask:x}", *words],
                          check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode:
        fail(f"{when}: {done.stdout.strip()}")
    return done.stdout.strip()


def die(work, rounds, lots, folder, broken):
    build(work, folder)
    vm = machine(3, "--from", "up", "--accel", "icount", "--copy",
                 str(folder / "copy"))
    with vm:
        before = whole(vm, folder, [0, 1, 2], "before the first")
        live = [0]
        for number in range(1, rounds + 1):
            up = "up 1 2" if live == [0] else ""
            live = [0, 1, 2] if up else live
            victim = lots.choice(live[1:])
            others = [i for i in live if i != victim]
            script = BEGIN.format(work=work, up=up, victim=victim,
                                  live=" ".join(map(str, live)),
                                  others=" ".join(map(str, others)),
                                  seed=lots.randrange(1 << 30),
                                  ms=lots.randrange(200),
                                  broken=int(broken))
            run(vm, script, 300)
            live = others
            now = whole(vm, folder, live, f"death {number}")
            if number % 10 == 0 or rounds < 10:
                print(f"{number} deaths, {now}", flush=True)
        run(vm, work.remove, 60)
        after = whole(vm, folder, live, "all removed")
        if after != before:
            fail(f"{before} before, {after} after")
        no_faults(vm, "after the last")


def go(work, rounds, seed, broken=False):
    """So many deaths; @broken: with the knob on, so that it fails."""
    print(f"SEED={seed} ROUNDS={rounds}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        die(work, rounds, random.Random(seed), pathlib.Path(folder), broken)
