# SPDX-License-Identifier: GPL-2.0
"""An instance dies at an instant drawn by lot, and then another one, while all
who are up do what a program does by lot; both boot again, and so on.  After each
death the others have gone on, no page and no file is lost or owned twice
(fs/image/image-check.c looks at the machine's memory from outside), and what the
program has made, the dead one's too, is as it should be.  Used by selftests/fs and
selftests/ipc, in each by three deaths that are alike each time and by many."""
import dataclasses
import pathlib
import random
import subprocess
import sys
import tempfile
import time

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
    become: str = ""        # words before the program: as whom it works


BEGIN = """. /usr/lib/mios/selftests/lib/instances.sh
{up}
state={work.folder}/state
{work.prepare}
printf '\\0' | dd of=$state bs=1 seek=504 conv=notrunc 2> /dev/null
begin()
{{
    on $1 "echo {broken} > {work.knob}"
    on $1 "exec {work.become} /mnt/host/work {work.folder} $1 {seed}" \
        > /tmp/work$1 2>&1 &
    echo $! > /tmp/work$1.pid
}}
counted() {{ od -An -td8 -j$(($1 * 8)) -N8 $state; }}
at_work() {{ [ "$(counted $1)" -gt $2 ]; }}
work_on()
{{
    for i; do
        until_true 60 at_work $i $(counted $i) ||
            fail "instance $i stands still: $(cat /tmp/work$i)"
    done
}}
for i in {live}; do
    begin $i
done
work_on {live}
sleep 0.{ms:03}
quietly mios kill {victim}
work_on {others}
"""
AGAIN = """
up {victim}
work_on {others}
begin {victim}
work_on {victim}
"""
END = """
printf '\\1' | dd of=$state bs=1 seek=504 conv=notrunc 2> /dev/null
for i in {left}; do
    wait $(cat /tmp/work$i.pid) || fail "on $i: $(cat /tmp/work$i)"
done
for i in {left}; do
    on $i "/mnt/host/work {work.folder}" || fail "as $i sees it"
done
"""
SETTLED = 20            # looks, a second of the host apart; mend.c needs two
POOLS = "grep -H . /sys/kernel/mios/instance*/pool"


def build(work, folder):
    """What looks at the machine, and what works in it."""
    binary = folder / "copy" / "work"
    binary.parent.mkdir()
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-static",
                    "-o", binary, work.program], check=True)
    subprocess.run(["make", "-s", "-C", TOP / "selftests/fs/image",
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


def looked_at(vm, folder, live):
    """Copies the pool; is it whole, and what is said of it."""
    words = []
    for base, size, node in sections(vm):
        file = folder / f"section{node}"
        file.write_bytes(vm.read_memory(base, size))
        words.append(f"{base:x}:{size:x}:{node}:{file}")
    mask = sum(1 << i for i in live)
    done = subprocess.run([folder / "image-check", f"{mask:x}", *words],
                          check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return not done.returncode, done.stdout.strip()


def whole(vm, folder, live, when):
    """How many pages files have.  Who has closed a file last, or detached a
    segment, frees it up to some seconds later (mios/memory/fs/mend.c); what is lost
    stays so."""
    for _ in range(SETTLED):
        right, said = looked_at(vm, folder, live)
        if right:
            return said
        time.sleep(1)
    return fail(f"{when}: {said}")


def die(work, rounds, lots, folder, broken, again):
    build(work, folder)
    vm = machine(3, "--from", "up", "--accel", "icount", "--copy",
                 str(folder / "copy"))
    with vm:
        before = whole(vm, folder, [0, 1, 2], "before the first")
        left = [0]
        for number in range(1, rounds + 1):
            up = "up 1 2" if left == [0] else ""
            live = [0, 1, 2] if up else left
            victim = lots.choice(live[1:])
            others = [i for i in live if i != victim]
            left = live if again else others
            script = (BEGIN + (AGAIN if again else "") + END).format(
                work=work, up=up, victim=victim, live=" ".join(map(str, live)),
                others=" ".join(map(str, others)),
                left=" ".join(map(str, left)), seed=lots.randrange(1 << 30),
                ms=lots.randrange(200), broken=int(broken))
            run(vm, script, 300)
            now = whole(vm, folder, left, f"death {number}")
            if number % 10 == 0 or rounds < 10:
                print(f"{number} deaths, {now}", flush=True)
        run(vm, work.remove, 60)
        after = whole(vm, folder, left, "all removed")
        if after != before:
            fail(f"{before} before, {after} after")
        no_faults(vm, "after the last")


def go(work, rounds, seed, broken=False, again=False):
    """So many deaths; @broken: with the knob on, so that it fails; @again: who
    has died boots while the others work."""
    print(f"SEED={seed} ROUNDS={rounds}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        die(work, rounds, random.Random(seed), pathlib.Path(folder), broken,
            again)
