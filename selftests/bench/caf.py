# SPDX-License-Identifier: GPL-2.0
"""Gets and puts of coarrays between two instances, beside OpenCoarrays in one
kernel, whose images talk by Open MPI over shared memory or TCP; in instructions.

An image on each instance, which has one CPU; the clock of both machines counts
four nanoseconds for each instruction of any CPU, so those of the image that
waits meanwhile are in it.  One source, native/caf.f90, linked with either library.
"""
import re
import subprocess

import machines
from figures import Figure

TITLE = "Coarrays"
TOP = machines.HERE.parents[1]
SOURCE = TOP / "selftests/bench/native/caf.f90"
TICKS = 4               # nanoseconds for each instruction
ROUNDS = 100
NAMES = {"get-1": "get of one integer", "put-1": "put of one integer",
         "get-2": "get of 1000 reals, in one piece",
         "put-2": "put of as many", "get-3": "get of 500 with a stride",
         "put-3": "put of as many", "sync-4": "sync all"}
# Over memory the other image takes no part.  Over TCP it does, and Open MPI polls
# without a pause, which would cost a turn of the emulator: so both have one CPU
# there, and give it away.
WAYS = {"memory": "mpirun -n 2 --mca btl self,vader",
        "TCP": "taskset -c 0 mpirun -n 2 --bind-to none --mca osc pt2pt "
        "--mca mpi_yield_when_idle 1 --mca btl self,tcp "
        "--mca btl_tcp_if_include lo --mca oob_tcp_if_include lo"}
POLLS = "who polls without a pause takes whole turns of the emulator"
PREPARE = "cp /mnt/host/caf-* /scratch"
OURS = f"cd /scratch; mios run --on 0,1 -n 2 ./caf-mios {ROUNDS}"
THEIRS = ("cd /scratch; mios-mpi-setup remove; OMPI_ALLOW_RUN_AS_ROOT=1 "
          "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 {way} "
          f"./caf-open {ROUNDS}")


def build():
    """The program, with either library."""
    machines.PROGRAMS.mkdir(parents=True, exist_ok=True)
    subprocess.run(["make", "-s", "-C", TOP / "userspace/libcaf-mios"],
                   check=True)
    subprocess.run([machines.stage.BUILD / "caf/mios-caf", "-O2",
                    "-J", machines.PROGRAMS, "-o",
                    machines.PROGRAMS / "caf-mios", SOURCE], check=True)
    subprocess.run([TOP / "selftests/caf/build-open", SOURCE,
                    machines.PROGRAMS / "caf-open"], check=True)


def parse(text):
    """NAME -> instructions."""
    found = dict(re.findall(r"^(\w+-\d) +(\S+)$", text, re.M))
    if set(found) != set(NAMES):
        raise machines.BenchError(f"not a time of each: {text[-300:]}")
    return {name: float(value) / TICKS for name, value in found.items()}


def figures():
    """All of them, empty, by way and name."""
    found = {(way, name): Figure(f"{what}, against {way}", "two instances",
                                 f"OpenCoarrays over {way}", "instructions",
                                 1.0 if way == "memory" else None)
             for way in WAYS for name, what in NAMES.items()}
    found["memory", "sync-4"].unfit = POLLS
    return found


def measure(rounds):
    """(facts, figures)."""
    build()
    out = figures()

    def ours(vm):
        return parse(machines.shell(vm, OURS))

    def theirs(vm):
        return {way: parse(machines.shell(vm, THEIRS.format(way=words)))
                for way, words in WAYS.items()}

    def add(mine, others):
        for (way, name), figure in out.items():
            figure.add(mine[name], others[way][name])

    said = machines.in_turn(2, rounds, PREPARE, (ours, theirs), add)
    return said, list(out.values())
