# SPDX-License-Identifier: GPL-2.0
"""An instance dies at an instant drawn by lot, and then another one, while all
who are up create, write, map, cut, punch, rename, link and remove files of /mios
(guest/churn.c); both boot again, and so on.  After each death the others have gone on, no page and no file
is lost or owned twice (unit/fs/image-check.c looks at the machine's memory from
outside), and all files, the dead one's too, hold what was written there.

Used by 34-kills, three of them alike each time, and 65-kills."""
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
sys.path.append(str(HERE.parent / "lib"))
from outside import fail, machine, no_faults, run            # noqa: E402

BEGIN = """mkdir -p /mios/0 /mios/1 /mios/2 /mios/9; truncate -s 4096 /mios/state
. /usr/lib/mios/selftests/lib/instances.sh
{up}
for i in {live}; do
    on $i "echo {deaf} > /sys/module/mios_fs/parameters/fault_deaf"
done
printf '\\0' | dd of=/mios/state bs=1 seek=504 conv=notrunc 2> /dev/null
for i in {live}; do
    on $i "exec /mnt/host/churn /mios $i {seed}" > /tmp/churn$i 2>&1 &
    echo $! > /tmp/churn$i.pid
done
at_work() {{ [ "$(od -An -td8 -j$(($1 * 8)) -N8 /mios/state)" -gt $2 ]; }}
for i in {live}; do
    until_true 60 at_work $i $(od -An -td8 -j$((i * 8)) -N8 /mios/state) ||
        fail "instance $i does nothing: $(cat /tmp/churn$i)"
done
sleep 0.{ms:03}
quietly mios kill {victim}
for i in {others}; do
    until_true 60 at_work $i $(od -An -td8 -j$((i * 8)) -N8 /mios/state) ||
        fail "instance $i stands still: $(cat /tmp/churn$i)"
done
printf '\\1' | dd of=/mios/state bs=1 seek=504 conv=notrunc 2> /dev/null
for i in {others}; do
    wait $(cat /tmp/churn$i.pid) || fail "on $i: $(cat /tmp/churn$i)"
    on $i "/mnt/host/churn /mios" || fail "files as $i sees them"
done
"""
POOLS = "grep -H . /sys/kernel/mios/instance*/pool"


def build(folder):
    """What looks at the machine, and what works in it."""
    churn = folder / "copy" / "churn"
    churn.parent.mkdir()
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-static",
                    "-o", churn, HERE / "guest/churn.c"], check=True)
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


def die(rounds, lots, folder, broken):
    build(folder)
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
            script = BEGIN.format(up=up, victim=victim,
                                  live=" ".join(map(str, live)),
                                  others=" ".join(map(str, others)),
                                  seed=lots.randrange(1 << 30),
                                  ms=lots.randrange(200), deaf=int(broken))
            run(vm, script, 300)
            live = others
            now = whole(vm, folder, live, f"death {number}")
            if number % 10 == 0 or rounds < 10:
                print(f"{number} deaths, {now}", flush=True)
        run(vm, "rm -r /mios/*", 60)
        after = whole(vm, folder, live, "all removed")
        if after != before:
            fail(f"{before} before, {after} after")
        no_faults(vm, "after the last")


def go(rounds, seed, broken=False):
    print(f"SEED={seed} ROUNDS={rounds}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        die(rounds, random.Random(seed), pathlib.Path(folder), broken)
