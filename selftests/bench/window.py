# SPDX-License-Identifier: GPL-2.0
"""Files that instances share: guest/window.c, guest/crowd.c.

Files of /mios are compared with tmpfs on the same instance, in instructions.
Cutting pages off a file that others have mapped, on as many instances, is
compared with tmpfs on a plain machine of as many CPUs, in nanoseconds of a clock
that all CPUs share: four for each instruction of any of them, and what all are
idle.  Both machines start from checkpoints; the host's load is no part of it.

Several CPUs of one instance that fault at once are compared with tmpfs on the same
instance, in instructions of all of them: who waits for another one has more.
"""
import machines
from figures import Figure

TITLE = "Files in shared memory"
TICKS = 4               # of the time stamp counter, for each instruction
PAGES = (1, 64, 512)
OTHERS = (1, 2, 3)
# Name, against tmpfs, its aim.
FILES = {"fault": ("first touch, own node", 1.2),
         "far": ("first touch, another node", 1.2),
         "again": ("touch of a page that is there", 1.2),
         "access": ("load and store, 201 pages touched before", 1.01),
         "create": ("create", 1.5), "open": ("open and close", 1.5),
         "stat": ("stat", 1.5), "unlink": ("unlink", 1.5)}
CPUS = (1, 2, 4)
CROWD = {"own": "first touch, a file for each CPU",
         "one": "first touch, one file",
         "again": "touch of the same pages, which are there"}
PREPARE = """
set -e
mkdir -p /tmp/w
cp /mnt/host/window /mnt/host/crowd /tmp
mountpoint -q /tmp/w || mount -t tmpfs tmpfs /tmp/w
"""
RUN = """
set -e
mkdir -p /mios/w
/tmp/window /tmp/w | sed 's/^/tmpfs-/'
/tmp/window /mios/w | sed 's/^/mios-/'
mios numactl -m 2 /tmp/window /mios/w | sed -n 's/^fault/mios-far/p'
rm -r /mios/w/data
"""
RUN_CROWD = """
set -e
mkdir -p /mios/w
for cpus in {cpus}; do
	/tmp/crowd /tmp/w $cpus | sed "s/^/tmpfs-$cpus-/"
	/tmp/crowd /mios/w $cpus | sed "s/^/mios-$cpus-/"
done
rm -r /mios/w
""".format(cpus=" ".join(map(str, CPUS)))
# How WHO runs a command, and the folder that all see, come before.
CUT = """
set -e
for nr in {pages}; do
	for others in {others}; do
		rm -f $folder/rounds $folder/data
		printf '\\1' > $folder/rounds
		: > $folder/data
		truncate -s 4096 $folder/rounds
		truncate -s $((nr * 4096)) $folder/data
		for who in $(seq $others); do
			as $who /tmp/window map $folder $who $nr &
		done
		for who in $(seq $others); do
			until [ "$(od -An -tu8 -j$((who * 8 + 8)) -N8 \\
				$folder/rounds)" -gt 0 ]; do sleep 0.1; done
		done
		/tmp/window cut $folder $nr | sed "s/^cut/cut-$nr-$others/"
		printf '\\377\\377\\377\\377\\377\\377\\377\\377' |
			dd of=$folder/rounds conv=notrunc 2> /dev/null
		wait
	done
done
"""
# A build alone, and one whose objects two others have mapped.
BUILD = """
set -e
for others in 0 2; do
	rm -rf $folder/build
	mkdir $folder/build
	for who in $(seq $others); do
		as $who /tmp/window link $folder/build $who 16 &
	done
	/tmp/window build $folder/build 16 $others | sed "s/^/$others-/"
	wait
done
"""
PLAIN = "folder=/tmp/w; as() { local c=$1; shift; taskset -c $c \"$@\"; }\n"
OURS = ("folder=/mios/w; mkdir -p $folder\n"
        "as() { local i=$1; shift; mios exec $i -- \"$@\"; }\n")


def parse(text):
    """NAME -> median."""
    return {words[0]: int(words[1]) for words in
            (line.split() for line in text.splitlines()) if len(words) == 3}


def crowd_figures():
    """Of several CPUs, by name; of more than one also what it is to one's."""
    found = {}
    for name, title in CROWD.items():
        for cpus in CPUS:
            found[f"{cpus}-{name}"] = Figure(
                f"{title}: {cpus} CPUs", "a file of /mios", "a file of tmpfs",
                "instructions", 1.2)
        for cpus in CPUS[1:]:
            found[f"{cpus}-{name}-curve"] = Figure(
                f"{title}: {cpus} CPUs to one", "a file of /mios",
                "a file of tmpfs", "times as much", 1.02)
    return found


def crowd_add(out, said):
    """One round of RUN_CROWD."""
    for name, figure in out.items():
        cpus, which, *curve = name.split("-")
        ours, theirs = (said[f"{side}-{cpus}-{which}"] for side in
                        ("mios", "tmpfs"))
        if curve:
            figure.add(ours / said[f"mios-1-{which}"],
                       theirs / said[f"tmpfs-1-{which}"])
        else:
            figure.add(ours / TICKS, theirs / TICKS)


def measure_crowd(rounds):
    """Figures of several CPUs of one instance."""
    out = crowd_figures()
    wide = machines.make("--nodes", "2", "--cpus-per-node", "4", "--accel",
                         "icount", "--from", "up")
    with wide:
        machines.shell(wide, in_instance(1, PREPARE))
        for _ in machines.turns(rounds):
            crowd_add(out, parse(machines.shell(wide,
                                                in_instance(1, RUN_CROWD))))
        machines.check_logs(wide)
    return list(out.values())


def figures():
    """All of them, empty, by name."""
    found = {name: Figure(title, "a file of /mios", "a file of tmpfs",
                          "instructions", limit)
             for name, (title, limit) in FILES.items()}
    for nr in PAGES:
        for others in OTHERS:
            found[f"cut-{nr}-{others}"] = Figure(
                f"cut {nr} mapped by {others}", "other instances",
                "other CPUs of one kernel", "ns", 1.0 if nr == 1 else None)
    # The paper's share for a build of the kernel: 0.21 %.
    found["build"] = Figure("a build whose objects 2 others have mapped",
                            "mapped by others", "by nobody", "instructions",
                            1.0021)
    return found


def in_instance(number, script):
    """The script for an instance."""
    return f"mios exec {number} -- sh -s <<'END'\n{script}\nEND\n"


def prepare(ours, plain):
    """Both up, the program in all of them, plain paused."""
    machines.shell(ours, PREPARE)
    for number in OTHERS:
        machines.shell(ours, in_instance(number, PREPARE))
    machines.pause(ours)
    machines.shell(plain, PREPARE)
    machines.pause(plain)
    machines.resume(ours)


def counting(*words):
    """A machine with four CPUs where time is instructions."""
    return machines.make("--nodes", "4", "--accel", "icount", *words)


def measure(rounds):
    """(facts, figures)."""
    ours = counting("--from", "up")
    plain = counting("--from", "ready", "--plain")
    cut = CUT.format(pages=" ".join(map(str, PAGES)),
                     others=" ".join(map(str, OTHERS)))
    out = figures()
    with ours, plain:
        prepare(ours, plain)
        for _ in machines.turns(rounds):
            files = parse(machines.shell(ours, in_instance(1, RUN)))
            mios = parse(machines.shell(ours, OURS + cut))
            load = parse(machines.shell(ours, OURS + BUILD))
            machines.pause(ours)
            machines.resume(plain)
            linux = parse(machines.shell(plain, PLAIN + cut))
            machines.pause(plain)
            machines.resume(ours)
            for name in FILES:
                same = "fault" if name == "far" else name
                out[name].add(files[f"mios-{name}"] / TICKS,
                              files[f"tmpfs-{same}"] / TICKS)
            for name, value in mios.items():
                out[name].add(value, linux[name])
            revoking = load["2-cut"] - load["0-cut"]
            out["build"].add((load["0-all"] + revoking) / TICKS,
                             load["0-all"] / TICKS)
        machines.check_logs(ours)
        machines.resume(plain)
        machines.check_logs(plain)
        said = machines.facts(ours)
    return said, list(out.values()) + measure_crowd(rounds)
