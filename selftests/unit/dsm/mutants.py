#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs the mutants that mutate.py made: each must be noticed, by a verdict
(a violation, a crash, a hang) or by a simulation whose result is not the
one in known-results; or be listed, with the reason, in mutants.known.
usage: mutants.py OUT_DIR LITMUS_DIR STRIDE [FIRST]"""
import hashlib
import os
import resource
import subprocess
import sys

out, litmus, stride = sys.argv[1:4]
first = int(sys.argv[4]) if len(sys.argv) > 4 else 1
here = os.path.dirname(os.path.abspath(__file__))
binary = os.path.join(out, "mios-dsm-mutants")
fuzz = os.path.join(out, "fuzz-mutants")


def files(*names):
    return [os.path.join(litmus, n + ".litmus") for n in names]


L = [binary, "litmus", "--states", "30000"]
SMALL = files("CoRR", "CoWW1", "XADD2", "store+XADD")
VERDICTS = [
    L + files("MP", "CoRR", "XADD2", "SB+mfences", "CROSS-swap"),
    [fuzz, "20000"],
    L + ["--deaths", "1"] + SMALL[:3],
    L + ["--protocol", "wu+"] + SMALL,
    L + ["--evictions", "1"] + SMALL,
    L + ["--expiries", "1"] + files("CROSS-swap"),
    L + ["--protocol", "wu+", "--deaths", "1"] + SMALL[2:],
    L + ["--configs", "8"] + files("WRC", "INC3"),
    L + ["--deaths", "1", "--configs", "2"] + files("INC3"),
    L + ["--protocol", "mixed", "--hints", "1", "--evictions", "1",
         "--run", "1"] + SMALL[:2],
]


def results():
    """The simulations whose results are written down."""
    with open(os.path.join(here, "known-results")) as lines:
        for line in lines:
            md5, *options = line.split()
            yield md5, [binary, "sim", "--quiet", "--json", "-"] + options


# A mutant that goes round in circles: many times what any command needs, in
# the CPU's time, so that a busy machine makes no difference.
CPU_SECONDS = 15


def run(command, mutant):
    env = dict(os.environ, DSM_MUTANT=str(mutant))
    p = subprocess.run(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS)))
    return p.returncode, p.stdout


def noticed(mutant):
    for command in VERDICTS:
        status, said = run(command, mutant)
        if status != 0 or b"cut short" in said:
            return "verdict"
    for md5, command in results():
        if hashlib.md5(run(command, mutant)[1]).hexdigest() != md5:
            return "result"
    return None


def known():
    table = {}
    for line in open(os.path.join(here, "mutants.known")):
        if line.strip() and not line.startswith("#"):
            parts = line.rstrip("\n").split("\t")
            table[tuple(parts[:4])] = parts[4]
    return table


def main():
    if noticed(0):
        sys.exit("a test fails without any mutant")
    count = {"verdict": 0, "result": 0, "known": 0}
    bad = 0
    table = known()
    mutants = [l.rstrip("\n").split("\t")
               for l in open(os.path.join(out, "list"))]
    for number, *what in mutants[first - 1::int(stride)]:
        how = noticed(int(number))
        print(number, how, flush=True)
        if not how and tuple(what) in table:
            how = "known"
        if how:
            count[how] += 1
            continue
        bad += 1
        print("survives:", "\t".join(what), flush=True)
    print("mutants: %d by verdict, %d by result, %d listed, %d survive" %
          (count["verdict"], count["result"], count["known"], bad))
    sys.exit(bad != 0)


main()
