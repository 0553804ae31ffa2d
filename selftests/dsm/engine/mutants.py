#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs the mutants that mutate.py made: each must be noticed, by a verdict
(a violation, a crash, a hang) or by a result that is not the one in
known-results; or be listed, with the reason, in mutants.known.  What was
found is kept in OUT_DIR/found: a run that was stopped goes on there, if
programs and tests are the same.
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
link = os.path.join(out, "link-mutants")


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
    [binary, "litmus", "--on", "walk", "--runs", "500", "--deaths", "2",
     "--joins", "1", "--spare"] + files("WR-three"),
    L + ["--protocol", "wu-seq"] + SMALL,
    [binary, "litmus", "--protocol", "wu-seq", "--on", "walk", "--runs",
     "2000", "--deaths", "2", "--joins", "1", "--hints", "1", "--run", "2",
     "--spare"] + SMALL[:1] + files("MP", "SB+mfences", "WRC"),
    [link, "100"],
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
RESULT_SECONDS, VERDICT_SECONDS = 2, 20


def run(command, mutant, seconds):
    env = dict(os.environ, DSM_MUTANT=str(mutant))
    p = subprocess.run(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_CPU, (seconds, seconds)))
    return p.returncode, p.stdout


def noticed(mutant, file):
    """How, or None; first what takes least."""
    own = [link, "5"] if file.startswith("dsm_link") else VERDICTS[0]
    if run(own, mutant, RESULT_SECONDS)[0] != 0:
        return "verdict"
    for md5, command in results():
        said = run(command, mutant, RESULT_SECONDS)[1]
        if hashlib.md5(said).hexdigest() != md5:
            return "result"
    for command in VERDICTS:
        status, said = run(command, mutant, VERDICT_SECONDS)
        # CUT by the number of clusters, not by that of states, is as usual.
        if status not in (0, 3) or b"cut short" in said:
            return "verdict"
    return None


def signature():
    """Of everything that a verdict depends on."""
    h = hashlib.md5()
    names = [binary, fuzz, link, os.path.join(out, "engine-mutants"), __file__,
             os.path.join(here, "known-results")]
    for name in names + files("MP", "CoRR", "WRC", "INC3"):
        with open(name, "rb") as f:
            h.update(f.read())
    return h.hexdigest()


def found_before():
    """What an earlier run found: number -> how; and the file to go on in."""
    path, mark = os.path.join(out, "found"), signature()
    lines = open(path).read().splitlines() if os.path.exists(path) else []
    if not lines or lines[0] != mark:
        lines = [mark]
        with open(path, "w") as f:
            f.write(mark + "\n")
    pairs = (line.split() for line in lines[1:] if line.count(" ") == 1)
    return ({int(n): None if how == "None" else how for n, how in pairs},
            open(path, "a"))


def known():
    table = {}
    for line in open(os.path.join(here, "mutants.known")):
        if line.strip() and not line.startswith("#"):
            parts = line.rstrip("\n").split("\t")
            table[tuple(parts[:4])] = parts[4]
    return table


def main():
    if noticed(0, "engine.c"):
        sys.exit("a test fails without any mutant")
    before, log = found_before()
    count = {"verdict": 0, "result": 0, "known": 0}
    bad = 0
    table = known()
    mutants = [l.rstrip("\n").split("\t")
               for l in open(os.path.join(out, "list"))]
    for number, *what in mutants[first - 1::int(stride)]:
        number = int(number)
        if number not in before:
            before[number] = noticed(number, what[0])
            print(number, before[number], file=log, flush=True)
        how = before[number]
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
