#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs the mutants that mutate.py made: each must be noticed, by a verdict
(a violation, a crash, a hang) or by a result that is not the one in
known-results; or be listed, with the reason, in mutants.known.
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
    [os.path.join(out, "engine-mutants")],
    L + files("MP", "CoRR", "XADD2", "SB+mfences", "CROSS-swap"),
    [fuzz, "20000"],
    L + ["--deaths", "1"] + SMALL[:3],
    L + ["--protocol", "wu+"] + SMALL,
    L + ["--evictions", "1"] + SMALL,
    L + ["--expiries", "1"] + files("CROSS-swap"),
    L + ["--protocol", "wu+", "--deaths", "1"] + SMALL[2:],
    L + ["--configs", "8"] + files("WRC", "INC3"),
    [binary, "litmus", "--deaths", "1"] + files("INC3"),
    [binary, "litmus", "--deaths", "1", "--configs", "1", "--protocol",
     "wu+"] + files("WRC"),
    L + ["--protocol", "mixed", "--hints", "1", "--evictions", "1",
         "--run", "1"] + SMALL[:2],
]


def results():
    """What is written down: simulations, and a trace of the fuzzer."""
    with open(os.path.join(here, "known-results")) as lines:
        for line in lines:
            md5, tool, *options = line.split()
            yield md5, [binary if tool == "sim" else fuzz] + (
                ["sim", "--quiet", "--json", "-"] if tool == "sim" else []
            ) + options


# A mutant that goes round in circles: many times what any command needs, in
# the CPU's time, so that a busy machine makes no difference.
CPU_SECONDS = 20


def run(command, mutant):
    env = dict(os.environ, DSM_MUTANT=str(mutant))
    p = subprocess.run(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS)))
    return p.returncode, p.stdout


def noticed(mutant):
    """How, or None; the results first, which take a tenth of the time."""
    for md5, command in results():
        if hashlib.md5(run(command, mutant)[1]).hexdigest() != md5:
            return "result"
    for command in VERDICTS:
        status, said = run(command, mutant)
        if status != 0 or b"cut short" in said:
            return "verdict"
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
        reason = table.pop(tuple(what), None)
        if how and reason:
            print("listed, but noticed:", "\t".join(what), flush=True)
            bad += 1
        elif not how and not reason:
            print("survives:", "\t".join(what), flush=True)
            bad += 1
        count[how or "known"] += 1
        print(number, how, flush=True)
    if stride == "1":
        for what in table:
            print("listed, but no mutant:", "\t".join(what))
            bad += 1
    print("mutants: %d by result, %d by verdict, %d by neither; %d wrong" %
          (count["result"], count["verdict"], count["known"], bad))
    sys.exit(bad != 0)


main()
