# SPDX-License-Identifier: GPL-2.0
"""MPI through memory between two instances, in instructions: guest/ranks.c,
LAMMPS' melt and hpcc, against the same ranks on two CPUs of one plain kernel, and
over TCP between the same two instances.

Ranks look for messages without sleeping; guest/yields.c has the emulator's next
CPU go on where one would yield, so that what is counted is work, and no time
slice.  The two machines take turns; the other one is paused.

Within one kernel a large message is copied once, out of the other process (CMA);
so the plain one measures messages a second time, without that.
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
    "hpl": ("hpcc: HPL", 1.02, None),
    "ptrans": ("hpcc: PTRANS", 1.02, None),
    "randomaccess": ("hpcc: RandomAccess", 1.02, None),
    "fft": ("hpcc: FFT", 1.02, None),
}
COPIED = ("ping-8", "ping-64k")  # once more, without CMA
PREPARE = """
set -e
mkdir -p /scratch/bench
cd /scratch/bench
cp /mnt/host/ranks /mnt/host/yields .
sed 's/^run.*/run 5/' /usr/share/lammps/examples/melt/in.melt > in.melt
sed '/ Ps$/s/^2/1/' /usr/lib/mios/selftests/mpi/hpcc.in > hpccinf.txt
"""
RUN = """
cd /scratch/bench
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_mpi_yield_when_idle=1
job() { timeout 500 mpirun -n 2 %s -x LD_PRELOAD=$PWD/yields "$@"; }
job ./ranks
[ -z "$ALL" ] || {
	job lmp -in in.melt -log none |
		awk '/^Loop time/ { print "lammps", $4 * 1e9 }'
	rm -f hpccoutf.txt
	job hpcc
	awk -F = "$TIMES" hpccoutf.txt
}
"""
# What its summary says, in nanoseconds, which are instructions.
TIMES = """
TIMES='
function time(name, ns) { printf "%s %d\\n", name, ns }
/^HPL_time=/ { time("hpl", $2 * 1e9) }
/^PTRANS_time=/ { time("ptrans", $2 * 1e9) }
/^MPIRandomAccess_time=/ { time("randomaccess", $2 * 1e9) }
/^MPIFFT_N=/ { n = $2 }
/^MPIFFT_Gflops=/ { time("fft", 5 * n * log(n) / log(2) / $2) }
'
"""
ALL = TIMES + "ALL=1\n"
TWICE = "ALL=\nexport OMPI_MCA_btl_vader_single_copy_mechanism=none\n"
TCP = "export OMPI_MCA_orte_fork_agent=\n"
BY_NODE, BY_CORE = "--map-by node", "--bind-to core"


def parse(text, names=tuple(OPERATIONS)):
    """NAME -> ticks of each operation."""
    found = dict(re.findall(r"^([\w-]+) ([0-9.e+]+)(?: \d+)?$", text, re.M))
    missing = sorted(set(names) - set(found))
    if missing:
        raise machines.BenchError(f"no result of {', '.join(missing)}: "
                                  f"{text[-300:]}")
    return {name: float(found[name]) for name in names}


def figures(which, other, names=tuple(OPERATIONS)):
    """Those against another way, empty, by name; which: of its aims."""
    return {name: Figure(f"{OPERATIONS[name][0]}, against {other}",
                         "through memory", other, "instructions",
                         OPERATIONS[name][which], which == 1)
            for name in names}


def measure(rounds):
    """(facts, figures)."""
    ours = machines.make("--nodes", "2", counted=True)
    plain = machines.make("--nodes", "2", "--plain", counted=True,
                          modules=False)
    within, tcp = figures(1, "one kernel"), figures(2, "TCP over mios0")
    copied = figures(1, "one kernel without CMA", COPIED)
    with ours, plain:
        machines.shell(ours, "mios boot 1 > /dev/null")
        machines.shell(ours, PREPARE)
        machines.pause(ours)
        machines.shell(plain, "mios-mpi-setup remove" + PREPARE)
        for _ in machines.turns(rounds):
            linux = parse(machines.shell(plain, ALL + RUN % BY_CORE))
            twice = parse(machines.shell(plain, TWICE + RUN % BY_CORE), COPIED)
            machines.pause(plain)
            machines.resume(ours)
            memory = parse(machines.shell(ours, ALL + RUN % BY_NODE))
            wire = parse(machines.shell(ours, ALL + TCP + RUN % BY_NODE))
            machines.pause(ours)
            machines.resume(plain)
            for name in OPERATIONS:
                within[name].add(memory[name], linux[name])
                tcp[name].add(memory[name], wire[name])
            for name in COPIED:
                copied[name].add(memory[name], twice[name])
        machines.check_logs(plain)
        machines.resume(ours)
        machines.check_logs(ours)
        said = machines.facts(ours)
    return said, [*within.values(), *copied.values(), *tcp.values()]
