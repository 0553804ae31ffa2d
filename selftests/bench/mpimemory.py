# SPDX-License-Identifier: GPL-2.0
"""MPI through memory between two instances, in instructions: guest/ranks.c and
LAMMPS' melt, against the same ranks on two CPUs of one plain kernel, and over TCP
between the same two instances.

Ranks look for messages without sleeping; guest/yields.c has the emulator's next
CPU go on where one would yield, so that what is counted is work, and no time
slice.  The two machines take turns; the other one is paused.
"""
import re

import machines
from figures import Figure

TITLE = "MPI through memory, in instructions"
# Name, what it is, aim against one kernel, and against TCP.
OPERATIONS = {
    "ping-8": ("8 bytes, there and back", 1.05, 0.1),
    "ping-64k": ("64 KiB, there and back", 1.05, None),
    "allreduce": ("all-reduce of a double", 1.05, None),
    "put": ("put of 8 bytes, and flush", 1.05, None),
    "get": ("get of 8 bytes, and flush", 1.05, None),
    "lammps": ("LAMMPS melt, 5 steps", 1.02, None),
}
PREPARE = """
set -e
mkdir -p /scratch/bench
cd /scratch/bench
cp /mnt/host/ranks /mnt/host/yields .
sed 's/^run.*/run 5/' /usr/share/lammps/examples/melt/in.melt > in.melt
"""
RUN = """
cd /scratch/bench
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_mpi_yield_when_idle=1
job() { timeout 500 mpirun -n 2 %s -x LD_PRELOAD=$PWD/yields "$@"; }
job ./ranks
job lmp -in in.melt -log none | awk '/^Loop time/ { print "lammps", $4 * 1e9 }'
"""
TCP = "export OMPI_MCA_orte_fork_agent=\n"
BY_NODE, BY_CORE = "--map-by node", "--bind-to core"


def parse(text):
    """NAME -> ticks of each operation."""
    found = dict(re.findall(r"^([a-z0-9-]+) ([0-9.e+]+)(?: \d+)?$", text, re.M))
    missing = sorted(set(OPERATIONS) - set(found))
    if missing:
        raise machines.BenchError(f"no result of {', '.join(missing)}: "
                                  f"{text[-300:]}")
    return {name: float(found[name]) for name in OPERATIONS}


def figures(which, other):
    """All of them against another way, empty, by name; which: of its aims."""
    return {name: Figure(f"{row[0]}, against {other}", "through memory", other,
                         "instructions", row[which], which == 1)
            for name, row in OPERATIONS.items()}


def measure(rounds):
    """(facts, figures)."""
    ours = machines.make("--nodes", "2", counted=True)
    plain = machines.make("--nodes", "2", "--plain", counted=True,
                          modules=False)
    within, tcp = figures(1, "one kernel"), figures(2, "TCP over mios0")
    with ours, plain:
        machines.shell(ours, "mios boot 1 > /dev/null")
        machines.shell(ours, PREPARE)
        machines.pause(ours)
        machines.shell(plain, "mios-mpi-setup remove" + PREPARE)
        for _ in machines.turns(rounds):
            linux = parse(machines.shell(plain, RUN % BY_CORE))
            machines.pause(plain)
            machines.resume(ours)
            memory = parse(machines.shell(ours, RUN % BY_NODE))
            wire = parse(machines.shell(ours, TCP + RUN % BY_NODE))
            machines.pause(ours)
            machines.resume(plain)
            for name in OPERATIONS:
                within[name].add(memory[name], linux[name])
                tcp[name].add(memory[name], wire[name])
        machines.check_logs(plain)
        machines.resume(ours)
        machines.check_logs(ours)
        said = machines.facts(ours)
    return said, [*within.values(), *tcp.values()]
