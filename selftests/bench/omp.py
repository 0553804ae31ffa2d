# SPDX-License-Identifier: GPL-2.0
"""Constructs of OpenMP, by a team of two processes and our libgomp, beside two
threads of one process and the distribution's: on the host itself, in one kernel,
as no machine is needed to tell what the runtime does."""
import os
import pathlib
import subprocess

import machines
from figures import Figure

TITLE = "OpenMP"
TOP = machines.HERE.parents[1]
PROGRAM = machines.OUT / "omp/omp"
RUNTIME = machines.stage.BUILD / "omp"
WINDOW = pathlib.Path("/dev/shm/mios-omp-bench")
WINDOW_SIZE = 1 << 30
LIMIT = 120
COUNTS = {"region": 2000, "barrier": 2000, "chunk": 50000, "task": 5000,
          "critical": 20000, "reduction": 2000}


def build():
    """The program and our runtime."""
    PROGRAM.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["make", "-s", "-C", TOP / "userspace/libgomp-mios"],
                   check=True)
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", PROGRAM,
                    TOP / "selftests/bench/native/omp.c"], check=True)


def process(number, words):
    """One of a team's two, as mios run has it."""
    env = (f"MIOS_OMP_WINDOW={WINDOW}", "MIOS_OMP_MEMBERS=1,1",
           f"MIOS_RANK={number}", "MIOS_SIZE=2", "LD_BIND_NOW=1",
           "OMP_NUM_THREADS=2", f"LD_PRELOAD={RUNTIME}/libmios-omp.so",
           f"LD_LIBRARY_PATH={RUNTIME}")
    # pylint: disable=consider-using-with
    return subprocess.Popen(["setarch", "-R", "env", *env, *words], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def number_of(name, words):
    """What the first process prints, when all have ended."""
    out = []
    for one in words:
        try:
            out.append(one.communicate(timeout=LIMIT))
        except subprocess.TimeoutExpired:
            one.kill()
            raise machines.BenchError(f"{name}: no end") from None
    if any(one.returncode for one in words):
        raise machines.BenchError(f"{name}: {out[0][1].strip()}")
    return float(out[0][0])


def ours(name, count):
    """By two processes."""
    WINDOW.unlink(missing_ok=True)
    with WINDOW.open("wb") as file:
        file.truncate(WINDOW_SIZE)
    try:
        words = [PROGRAM, name, str(count)]
        return number_of(name, [process(0, words), process(1, words)])
    finally:
        WINDOW.unlink(missing_ok=True)


def theirs(name, count):
    """By two threads of libgomp's."""
    done = subprocess.run([PROGRAM, name, str(count)], text=True, check=False,
                          env={**os.environ, "OMP_NUM_THREADS": "2"},
                          stdout=subprocess.PIPE, timeout=LIMIT)
    if done.returncode:
        raise machines.BenchError(f"{name}: libgomp's")
    return float(done.stdout)


def measure(count):
    """All of it."""
    build()
    figures = {name: Figure(f"one {name}, two members", "two processes",
                            "libgomp", "ns") for name in COUNTS}
    for _ in machines.turns(count):
        for name, each in COUNTS.items():
            figures[name].add(ours(name, each), theirs(name, each))
    return {"columns": ("two processes", "libgomp")}, list(figures.values())
