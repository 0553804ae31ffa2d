# SPDX-License-Identifier: GPL-2.0
"""Locks of libmios-lock beside those of the C library, on the host itself: no
machine is needed.  Instructions of a pair of lock and unlock that nobody else
wants, counted by stepping through them; CPU time of one, and time of a turn when
two processes take turns, one lock after the other; and what mios-lock sim makes of many."""
import json
import subprocess

import machines
from figures import Count, Figure

TITLE = "Locks"
TOP = machines.HERE.parents[1]
SOURCE = TOP / "selftests/bench/native/lock.c"
OUT = machines.OUT / "lock"
PAIRS, STEPPED, TURNS = 100000, 100, 2000
OTHERS = ("mutex", "robust", "spin")
NAMES = {"mios": "mios_lock", "share": "mios_rdlock", "mutex": "pthread_mutex",
         "robust": "pthread_mutex, robust", "spin": "pthread_spin"}


def build():
    """The program, and what it measures."""
    OUT.mkdir(parents=True, exist_ok=True)
    for part in ("libmios-lock", "mios-lock"):
        subprocess.run(["make", "-s", "-C", TOP / "userspace" / part],
                       check=True)
    subprocess.run(["gcc", "-std=gnu11", "-O2", "-D_GNU_SOURCE",
                    f"-I{TOP}/userspace/libmios-lock", "-o", OUT / "lock",
                    SOURCE, machines.stage.BUILD / "lock/libmios-lock.a",
                    "-pthread"], check=True)


def measured(what, kind, number):
    """The one number that it prints."""
    done = subprocess.run([OUT / "lock", what, kind, str(number)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    if done.returncode:
        raise machines.BenchError(done.stderr.strip())
    return float(done.stdout)


def instructions():
    """Of one pair, but for those of the loop."""
    loop = measured("steps", "none", STEPPED)
    for kind, name in NAMES.items():
        each = (measured("steps", kind, STEPPED) - loop) / STEPPED
        yield Count(f"lock and unlock, {name}", each, "instructions")


def times(count):
    """Each with mios_lock beside one of the others."""
    pairs = [Figure(f"lock and unlock, beside {NAMES[other]}", "mios_lock",
                    NAMES[other], "ns") for other in OTHERS]
    turns = [Figure(f"a turn of two processes, beside {NAMES[other]}",
                    "mios_lock", NAMES[other], "ns") for other in OTHERS]
    for _ in machines.turns(count):
        for what, number, figures in (("pairs", PAIRS, pairs),
                                      ("turns", TURNS, turns)):
            for other, figure in zip(OTHERS, figures):
                figure.add(measured(what, "mios", number),
                           measured(what, other, number))
    return pairs + turns


def simulated():
    """By the model of docs/locks.md; the paper has 40 for its register."""
    path = OUT / "sim.json"
    subprocess.run([machines.stage.BUILD / "bin/mios-lock", "sim", "--quiet",
                    "--lock", "ttas,queue,register", "--contenders", "16,2048",
                    "--rounds", "300", "--json", path], check=True,
                   stdout=subprocess.DEVNULL)
    cost = {(r["lock"], r["contenders"]): (r["time_ns"] - r["held_ns"]) /
            r["rounds"] for r in json.loads(path.read_text(encoding="utf-8"))}
    yield Count("simulated hand-over at 2,048 contenders, queue lock",
                cost["queue", 2048], "ns", 1.1 * cost["queue", 16],
                "flat: at most 1.1 of that at 16")
    for lock, limit in (("queue", 1 / 40), ("register", None)):
        ratio = cost[lock, 2048] / cost["ttas", 2048]
        yield Count(f"the same, {lock} beside a memory lock", ratio, "times",
                    limit, f"1/{1 / ratio:.0f}; the paper's register: 1/40")


def measure(count):
    """All of it."""
    build()
    return {"columns": ("mios_lock", "pthread")}, [
        *times(count), *instructions(), *simulated()]
