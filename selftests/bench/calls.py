# SPDX-License-Identifier: GPL-2.0
"""System calls and file operations, in instructions.

Two machines under QEMU's -icount: ours, where the program runs in instance
1, and a plain one with as many CPUs and as much memory as that instance has.
The time stamp counter counts instructions there, so that the host's load is
no part of the result.  They take turns; the other one is paused.
"""
import machines
from figures import Figure

TITLE = "System calls and file operations, in instructions"
LIMIT = 1.01

PREPARE = """
set -e
cp /mnt/host/calls /tmp
mkdir -p /tmp/tmpfs /tmp/ext4
mountpoint -q /tmp/tmpfs || mount -t tmpfs tmpfs /tmp/tmpfs
dd if=/dev/zero of=/tmp/tmpfs/disk bs=1M count=32 2> /dev/null
mke2fs -q -t ext4 -E lazy_itable_init=0,lazy_journal_init=0 /tmp/tmpfs/disk
mount "$(losetup --find --show /tmp/tmpfs/disk)" /tmp/ext4
"""
RUN = """
for fs in tmpfs ext4; do
	/tmp/calls /tmp/$fs | sed "s/^file-/$fs-/"
done
"""


def parse(text):
    """NAME -> median; of what both runs of the program did, the last."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3 and words[1].isdigit():
            found[words[0]] = int(words[1])
    return found


def in_instance(script):
    """The script for instance 1."""
    return f"mios exec 1 -- sh -s <<'END'\n{script}\nEND\n"


def measure(rounds):
    """(facts, figures)."""
    ours = machines.make("--nodes", "2", counted=True)
    plain = machines.make("--nodes", "1", "--plain", counted=True,
                          modules=False)
    out = {}
    with ours:
        machines.say("counting machine is up, booting instance 1")
        machines.shell(ours, "mios boot 1")
        machines.shell(ours, in_instance(PREPARE))
        machines.pause(ours)
        with plain:
            machines.shell(plain, PREPARE)
            for _ in machines.turns(rounds):
                linux = parse(machines.shell(plain, RUN))
                machines.pause(plain)
                machines.resume(ours)
                mios = parse(machines.shell(ours, in_instance(RUN)))
                machines.pause(ours)
                machines.resume(plain)
                for name, value in mios.items():
                    out.setdefault(name, Figure(
                        name, "in instance 1", "in a plain machine",
                        "instructions", LIMIT, True)).add(value, linux[name])
            machines.check_logs(plain)
        machines.resume(ours)
        machines.check_logs(ours)
        said = machines.facts(ours)
    return said, list(out.values())
