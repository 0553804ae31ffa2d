# SPDX-License-Identifier: GPL-2.0
"""What programs that share memory ask of the kernel, in instructions:
guest/share.c.

In instance 1 and across instances 0 and 1, against a plain machine with as many
CPUs.  A wake counts the instructions of both CPUs, from before the call to
after the answer.  The two machines take turns; the other one is paused.
"""
import machines
from figures import Figure

TITLE = "Wakes and segments of shared memory, in instructions"
# Name, what it is, its aim, and whether that is "equal".
OPERATIONS = {
    "futex-private": ("futex: a private wake", 1.01, True),
    "futex-own": ("futex: a wake in own shared memory", 1.01, True),
    "shm-make": ("shm_open: make, size, unlink", 1.2, False),
    "shm-open": ("shm_open: what is there", 1.2, False),
    "segment-make": ("shmget: make and remove", 1.2, False),
    "segment-attach": ("shmat and shmdt", 1.2, False),
}
# Once more with a tmpfs at /dev/shm, in the same instance.
NAMES = ("shm-make", "shm-open")
PREPARE = "cp /mnt/host/share /tmp; mountpoint -q /dev/shm"
RUN = "/tmp/share"
PRIVATE = "unshare -m sh -c 'mount -t tmpfs none /dev/shm && /tmp/share'"
# How the other one is run comes before.
PING = """
rm -f /dev/shm/ping
other /tmp/share echo /dev/shm/ping < /dev/null &
sleep 1
one /tmp/share ping /dev/shm/ping
wait
rm /dev/shm/ping
"""
OURS = "one() { \"$@\"; }; other() { mios exec 1 -- \"$@\"; }\n"
PLAIN = "one() { taskset -c 0 \"$@\"; }; other() { taskset -c 1 \"$@\"; }\n"


def parse(text):
    """NAME -> median."""
    return {words[0]: int(words[1]) for words in
            (line.split() for line in text.splitlines()) if len(words) == 3}


def in_instance(script):
    """The script for instance 1."""
    return f"mios exec 1 -- sh -s <<'END'\n{script}\nEND\n"


def figures():
    """All of them, empty, by name."""
    found = {name: Figure(title, "in instance 1", "in a plain machine",
                          "instructions", limit, equal)
             for name, (title, limit, equal) in OPERATIONS.items()}
    for name in NAMES:
        title, limit, equal = OPERATIONS[name]
        found[name + "-here"] = Figure(
            f"{title}; against a tmpfs of the same instance", "/dev/shm",
            "a tmpfs there", "instructions", limit, equal)
    found["ping"] = Figure("futex: a wake and the one that answers",
                           "instances 0 and 1", "two CPUs of one kernel",
                           "instructions", 1.5)
    return found


def measure(rounds):
    """(facts, figures)."""
    ours = machines.make("--nodes", "2", counted=True)
    plain = machines.make("--nodes", "2", "--plain", counted=True,
                          modules=False)
    out = figures()
    with ours, plain:
        machines.shell(ours, "mios boot 1")
        machines.shell(ours, PREPARE)
        machines.shell(ours, in_instance(PREPARE))
        machines.pause(ours)
        machines.shell(plain, PREPARE)
        for _ in machines.turns(rounds):
            linux = parse(machines.shell(plain, RUN))
            linux.update(parse(machines.shell(plain, PLAIN + PING)))
            machines.pause(plain)
            machines.resume(ours)
            mios = parse(machines.shell(ours, in_instance(RUN)))
            here = parse(machines.shell(ours, in_instance(PRIVATE)))
            mios.update(parse(machines.shell(ours, OURS + PING)))
            machines.pause(ours)
            machines.resume(plain)
            for name in NAMES:
                mios[name + "-here"] = mios[name]
                linux[name + "-here"] = here[name]
            for name, figure in out.items():
                figure.add(mios[name], linux[name])
        machines.check_logs(plain)
        machines.resume(ours)
        machines.check_logs(ours)
        said = machines.facts(ours)
    return said, list(out.values())
