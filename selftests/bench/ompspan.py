# SPDX-License-Identifier: GPL-2.0
"""Teams of OpenMP over instances, beside the distribution's libgomp in one kernel
with as many CPUs, in instructions.

A member on each instance, which has one CPU.  The clock of both machines is
counted: four nanoseconds for each instruction of any CPU.  So what a member does
while it waits counts, as far as the others have not come meanwhile; and a
program takes the instructions of all members.  Constructs by native/omp.c, two
members; the programs are of selftests/omp.
"""
import re
import subprocess
import time

import machines
from figures import Figure

TITLE = "OpenMP over instances"
TOP = machines.HERE.parents[1]
TICKS = 4               # nanoseconds for each instruction
COUNTS = {"region": 500, "barrier": 500, "chunk": 5000, "task": 1000,
          "critical": 5000, "reduction": 500}
SIZES = (2, 4, 1)
AIM = 1.02
PREPARE = """
set -e
cp /mnt/host/omp /mnt/host/lmp /usr/lib/mios/guest/bodies \\
	/usr/lib/mios/guest/waves /scratch
sed 's/^run.*/run 20/; s/10 0 10 0 10$/4 0 4 0 4/' \\
	/usr/share/lammps/examples/melt/in.melt > /scratch/in.melt
"""
CONSTRUCTS = "cd /scratch; team ./omp " + " ".join(
    f"{name} {count}" for name, count in COUNTS.items())
PROGRAMS = """
cd /scratch
team ./bodies 200 20 | sed -n 's/^seconds:/bodies/p'
team ./waves 150 80 | sed -n 's/^seconds:/waves/p'
team ./lmp -sf omp -pk omp {size} -in in.melt -log none |
	awk '/^Loop time/ {{ print "lammps", $4 }}'
"""
WHAT = {"bodies": "bodies, C++ with vectors", "waves": "waves, Fortran with "
        "allocatable arrays", "lammps": "LAMMPS melt, its OPENMP package"}


def build():
    """The programs that are not in the machine yet."""
    machines.PROGRAMS.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", machines.PROGRAMS / "omp",
                    TOP / "selftests/bench/native/omp.c"], check=True)
    subprocess.run([TOP / "selftests/omp/build-lammps",
                    machines.PROGRAMS / "lmp"], check=True)


def ours(size, script):
    """With a team over so many instances."""
    where = ",".join(map(str, range(size)))
    return (f"team() {{ mios run --omp --on {where} -n {size} \"$@\"; }}\n" +
            script)


def theirs(size, script):
    """With as many threads of libgomp's."""
    return (f"export OMP_NUM_THREADS={size} OMP_PROC_BIND=true\n"
            "team() { \"$@\"; }\n" + script)


def constructs(text):
    """NAME -> instructions."""
    values = text.split()
    if len(values) != len(COUNTS):
        raise machines.BenchError(f"not a number for each: {text}")
    return {name: float(value) / TICKS
            for name, value in zip(COUNTS, values)}


def programs(text):
    """NAME -> millions of instructions."""
    found = dict(re.findall(r"^(\w+) +(\S+)$", text, re.M))
    if set(found) != set(WHAT):
        raise machines.BenchError(f"not a time of each program: {text}")
    return {name: float(value) * 1e3 / TICKS for name, value in found.items()}


def figures(size):
    """Of the machines of that size, empty, by name."""
    kind = f"{size} instance{'s'[:size > 1]}"
    other = f"one kernel, {size} CPU{'s'[:size > 1]}"
    found = {name: Figure(f"{what}, {kind}", kind, other, "million "
                          "instructions", AIM, True)
             for name, what in WHAT.items()}
    if size == 2:
        found.update({name: Figure(f"one {name}, two members", kind, other,
                                   "instructions") for name in COUNTS})
    return found


def results(vm, size, kind):
    """What one machine gives in a round."""
    found = programs(machines.shell(vm, kind(size,
                                             PROGRAMS.format(size=size))))
    if size == 2:
        found.update(constructs(machines.shell(vm, kind(size, CONSTRUCTS))))
    return found


def compare(size, rounds):
    """(facts, figures) of machines with so many CPUs."""
    out = figures(size)

    def add(mine, other):
        for name, figure in out.items():
            figure.add(mine[name], other[name])

    # Alone, without the heartbeats of others, an idle kernel under icount skips
    # minutes in one step while it waits for its disk, and with them all limits.
    said = machines.in_turn(max(size, 2), rounds, PREPARE,
                            (lambda vm: results(vm, size, ours),
                             lambda vm: results(vm, size, theirs)), add)
    return said, list(out.values())


def measure(rounds):
    """One size after the other, as far as the time that was given goes."""
    build()
    found = []
    for size in SIZES:
        if found and time.monotonic() > machines.limits["end"]:
            machines.say(f"no time for {size}")
            continue
        said, more = compare(size, rounds)
        found += more
    return said, found
