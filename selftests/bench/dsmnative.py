# SPDX-License-Identifier: GPL-2.0
"""The DSM under real programs, on the host: nodes are processes.  What a thread
waits for beside the exchange of frames of the same length by the same kind of
sockets, in the same process, a moment before; and the example programs on 1, 2
and 4 nodes beside threads of one process."""
import json
import re
import statistics
import subprocess
import time

import machines
from figures import Count, Figure

TITLE = "The DSM under real programs"
TOP = machines.HERE.parents[1]
TOOL = TOP / "build/bin/mios-dsm"
COST = TOP / "build/dsm/trials/cost"
PROGRAMS = TOP / "build/dsm/programs"
PROTOCOLS = ("wi", "wu+", "wu-seq")
SHARERS = (2, 4, 8)
REPEATS = 5
PAGE, BARE = "exchange of frames", "exchange without a page"


def told(command):
    """What a command says; an error ends the part."""
    done = subprocess.run(list(map(str, command)), text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise machines.BenchError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def costs(nodes, protocol):
    """Medians of a run of the trial, in ns, by name."""
    said = told([TOOL, "run", "-n", nodes, "--protocol", protocol, "--quiet",
                 COST])
    return {name: int(median) for name, median in
            re.findall(r"^(.*): least \d+, median (\d+)$", said, re.M)}


def single(count):
    """One page, one store."""
    asked = [(2, "wi", "page fetched", PAGE, 1.5),
             (2, "wi", "page written, nobody has a copy", PAGE, 1.3)]
    asked += [(n, "wi", "page written, all have a copy", BARE, None)
              for n in SHARERS]
    asked += [(2, p, what, BARE, None) for p in PROTOCOLS[1:]
              for what in ("page written, all have a copy",
                           "one of 50 stores")]
    found = [Figure(f"{what}, {n} nodes, {p}", "DSM", "exchange", "ns", aim)
             for n, p, what, _, aim in asked]
    for _ in machines.turns(count):
        seen = {key: costs(*key) for key in {one[:2] for one in asked}}
        for (n, p, what, raw, _), figure in zip(asked, found):
            figure.add(seen[n, p][what], seen[n, p][raw])
    return found


def run_of(program, nodes, protocol):
    """Seconds, ms of stall and KiB of all nodes."""
    begin = time.monotonic()
    said = told([TOOL, "run", "-n", nodes, "--protocol", protocol, "--quiet",
                 "--json", "-", PROGRAMS / program])
    spent = time.monotonic() - begin
    each = json.loads(said[said.index("{"):])["nodes"]
    return (spent, sum(n["stall_ns"] for n in each) / 1e6,
            sum(n["bytes"] for n in each) / 1024)


def threads_of(program, threads):
    """Seconds."""
    begin = time.monotonic()
    told([PROGRAMS / f"{program}-threads", threads])
    return time.monotonic() - begin


def programs():
    """Each on 4 nodes by each protocol; the rest in the note."""
    for path in sorted(PROGRAMS.glob("*-threads")):
        name = path.name.removesuffix("-threads")
        alone = statistics.median(threads_of(name, 4) for _ in range(REPEATS))
        for protocol in PROTOCOLS:
            at = {n: [statistics.median(v) for v in zip(*(
                run_of(name, n, protocol) for _ in range(REPEATS)))]
                for n in (1, 2, 4)}
            said = "; ".join(f"{n}: {s * 1000:.0f} ms, stall {stall:.0f} ms, "
                             f"{kib:.0f} KiB" for n, (s, stall, kib) in
                             at.items())
            yield Count(f"{name}, {protocol}", at[4][0] * 1000, "ms", None,
                        f"4 threads: {alone * 1000:.0f} ms; nodes {said}")


def measure(count):
    """(facts, figures)."""
    subprocess.run(["make", "-s", "-C", str(TOP), "dsm-native"], check=True)
    return {"columns": ("DSM", "exchange")}, [*single(count), *programs()]
