#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs the mutants that mutate.py made: each must be noticed, by a verdict
(a violation, a crash, a hang) or by a simulation whose result changes; or
be listed, with the reason, in mutants.known.
usage: mutants.py OUT_DIR LITMUS_DIR KNOWN STRIDE [FIRST]"""
import os
import subprocess
import sys

out, litmus, known_file, stride = sys.argv[1:5]
first = int(sys.argv[5]) if len(sys.argv) > 5 else 1
binary = os.path.join(out, "mios-dsm-mutants")
fuzz = os.path.join(out, "fuzz-mutants")


def files(*names):
    return [os.path.join(litmus, n + ".litmus") for n in names]


L = [binary, "litmus", "--states", "60000"]
SMALL = files("CoRR", "CoWW1", "XADD2", "store+XADD")
VERDICTS = [
    L + files("MP", "CoRR", "XADD2", "SB+mfences", "CROSS-swap"),
    L + ["--evictions", "1"] + SMALL,
    L + ["--protocol", "wu+"] + SMALL,
    L + ["--protocol", "mixed", "--hints", "1", "--evictions", "1",
         "--run", "1"] + SMALL[:2],
    L + ["--deaths", "1"] + SMALL[:3],
    L + ["--configs", "8"] + files("WRC", "INC3"),
    L + ["--protocol", "wu+", "--deaths", "1"] + SMALL[2:],
    L + ["--expiries", "1"] + files("CROSS-swap"),
    L + ["--deaths", "1", "--configs", "2"] + files("INC3"),
    [fuzz, "20000"],
    [binary, "sim", "--quiet", "--policy", "wu", "--pattern",
     "producer-consumer", "--think", "300", "--run", "60000",
     "--window", "64", "--ops", "300"],
]
S = [binary, "sim", "--quiet", "--json", "-"]
RESULTS = [
    S + VERDICTS[-1][3:],
    S + ["--ops", "150", "--nodes", "3", "--cpus", "2"],
    S + ["--ops", "60", "--pattern", "compile", "--nodes", "8",
         "--lease", "20000"],
]


def run(command, mutant):
    env = dict(os.environ, DSM_MUTANT=str(mutant))
    try:
        p = subprocess.run(command, env=env, timeout=300,
                           stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL)
        return p.returncode, p.stdout
    except subprocess.TimeoutExpired:
        return 99, b""


def noticed(mutant, whole):
    for command in VERDICTS:
        if run(command, mutant)[0] != 0:
            return "verdict"
    for command, result in zip(RESULTS, whole):
        if run(command, mutant) != result:
            return "result"
    return None


def known():
    table = {}
    for line in open(known_file):
        if line.strip() and not line.startswith("#"):
            parts = line.rstrip("\n").split("\t")
            table[tuple(parts[:4])] = parts[4]
    return table


def main():
    for command in VERDICTS:
        status = run(command, 0)[0]
        if status:
            sys.exit("unmutated, status %d: %s" % (status, command))
    whole = [run(command, 0) for command in RESULTS]
    count = {"verdict": 0, "result": 0, "known": 0}
    bad = 0
    table = known()
    mutants = [l.rstrip("\n").split("\t")
               for l in open(os.path.join(out, "list"))]
    for number, *what in mutants[first - 1::int(stride)]:
        how = noticed(int(number), whole)
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
