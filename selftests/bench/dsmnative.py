# SPDX-License-Identifier: GPL-2.0
"""The DSM under real programs, on the host: nodes are processes, or on an
Ethernet between two network namespaces.  What a thread waits for beside the
exchange of frames of the same length by the same transport, in the same
processes, a moment before; by rings in memory and by sockets; and the example
programs on 1, 2 and 4 nodes beside threads of one process, two of them beside
the same with MPI, where the host has that."""
import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time

import machines
from figures import Count, Figure

TITLE = "The DSM under real programs"
TOP = machines.HERE.parents[1]
TOOL = TOP / "build/bin/mios-dsm"
COST = TOP / "build/dsm/trials/cost"
PROGRAMS = TOP / "build/dsm/programs"
# Sources in native/; the same work by messages.
BY_MPI = ("sor", "sort")
PROTOCOLS = ("wi", "wu+", "wu-seq", "auto")
# Behind a protocol: threads serve their own faults.
OWN = ", own faults"
SHARERS = (2, 4, 8)
REPEATS = 5
PAGE, BARE = "exchange of frames", "exchange without a page"
# What no node can do without: somebody stops, and is let go on.
FAULT = "fault served by a thread"
# What the raw exchange is called that goes the same way.
RAW = {"memory": " by rings", "sockets": "", "wire": " on the wire"}


def told(command):
    """What a command says; an error ends the part."""
    done = subprocess.run(list(map(str, command)), text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise machines.BenchError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def medians(said):
    """Of a run of the trial, in ns, by name; CPU times are means."""
    return {name: int(ns) for name, ns in
            re.findall(r"^(.*): (?:least \d+, median )?(\d+)$", said, re.M)}


def costs(nodes, protocol, transport):
    """On this host."""
    own = ["--own-faults"] if protocol.endswith(OWN) else []
    return medians(told([TOOL, "run", "-n", nodes, "--protocol",
                         protocol.removesuffix(OWN), *own,
                         "--transport", transport, "--quiet", COST]))


@contextlib.contextmanager
def wire():
    """Two network namespaces with an Ethernet between them, both ends eth0."""
    names = [f"dsmbench{os.getpid()}-{i}" for i in range(2)]
    try:
        for name in names:
            told(["ip", "netns", "add", name])
        told(["ip", "-n", names[0], "link", "add", "eth0", "type", "veth",
              "peer", "name", "eth0", "netns", names[1]])
        for name in names:
            told(["ip", "-n", name, "link", "set", "eth0", "up"])
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False)


def wire_costs(names, transport, who):
    """Frames of 1,500 bytes; who: has a key, or need have none."""
    def command(i, *options):
        return list(map(str, ["ip", "netns", "exec", names[i], "timeout", "60",
                              TOOL, "run", *who, "--interface", "eth0",
                              "--transport", transport, "--quiet", *options,
                              COST, 0, "eth0"]))
    with subprocess.Popen(command(1), stdout=subprocess.DEVNULL) as other:
        said = told(command(0, "-n", 2))
        if other.wait():
            raise machines.BenchError(f"node 1: status {other.returncode}")
    return medians(said)


def on_the_wire(count):
    """One page over an Ethernet, by the packet socket's rings and without; and
    sealed by a key."""
    ways = {"rings": ("memory", False), "rings, with a key": ("memory", True),
            "a call for each frame": ("sockets", False)}
    asked = [(way, what, PAGE if nobody else BARE) for way in ways
             for what, nobody in (("page fetched", True),
                                  ("page written, nobody has a copy", True),
                                  ("page written, all have a copy", False))]
    found = [Figure(f"{what}, Ethernet, {way}, wi", "DSM", "exchange", "ns",
                    None) for way, what, _ in asked]
    with wire() as names, tempfile.TemporaryDirectory() as place:
        key = f"{place}/key"
        told([TOOL, "key", key])
        for _ in machines.turns(count):
            seen = {way: wire_costs(names, transport, ("--key", key) if keyed
                                    else ("--trust-wire",))
                    for way, (transport, keyed) in ways.items()}
            for (way, what, raw), figure in zip(asked, found):
                figure.add(seen[way][what], seen[way][raw + RAW["wire"]])
    return found


def single(count):
    """One page, one store."""
    asked = [(2, "wi", "memory", "page fetched", PAGE, 1.5),
             (2, "wi", "memory", "page fetched again", PAGE, 1.5),
             (2, "wi", "memory", "page written, nobody has a copy", PAGE, 1.3),
             (2, "wi", "sockets", "page fetched", PAGE, None),
             (2, "wi", "sockets", "page written, nobody has a copy", PAGE,
              None),
             (2, "wi", "sockets", "page written, all have a copy", BARE, None)]
    asked += [(n, "wi", "memory", "page written, all have a copy", BARE, None)
              for n in SHARERS]
    asked += [(2, "wi" + OWN, "memory", what, PAGE, aim) for what, aim in
              (("page fetched", 2.2), ("page fetched again", 2.2),
               ("page written, nobody has a copy", None))]
    asked += [(2, p, "memory", what, BARE, None)
              for p in (*PROTOCOLS[1:], "wu+" + OWN, "wu-seq" + OWN)
              for what in ("page written, all have a copy",
                           "one of 50 stores")]
    found = [Figure(f"{what}, {n} nodes, {p}" +
                    (", sockets" if t == "sockets" else ""), "DSM", "exchange",
                    "ns", aim) for n, p, t, what, _, aim in asked]
    least = [(Figure(f"{what}, 2 nodes, wi, beside exchange and a bare fault",
                     "DSM", "exchange", "ns", None), what)
             for _, p, _, what, _, aim in asked if aim and p == "wi"]
    ones = []
    for _ in machines.turns(count):
        seen = {key: costs(*key) for key in {one[:3] for one in asked}}
        for (n, p, t, what, raw, _), figure in zip(asked, found):
            figure.add(seen[n, p, t][what], seen[n, p, t][raw + RAW[t]])
        one = seen[2, "wi", "memory"]
        ones.append(one)
        for figure, what in least:
            figure.add(one[what], one[PAGE + RAW["memory"]] + one[FAULT])
    return found + [figure for figure, _ in least] + list(cpu_times(ones))


def cpu_times(runs):
    """What all threads of the node that asks had of a CPU for each fault."""
    for what in ("page fetched", "page written, nobody has a copy",
                 "page written, all have a copy", FAULT):
        each = [one[what + ", CPU"] for one in runs]
        yield Count(f"CPU time of who asks, {what}, 2 nodes, wi",
                    statistics.median(each), "ns", None,
                    f"{min(each):,} to {max(each):,} in {len(each)} runs")


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


def mpi_run(binary, ranks):
    """Ms in all, and of these at work."""
    begin = time.monotonic()
    said = told(["env", "OMPI_ALLOW_RUN_AS_ROOT=1",
                 "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "mpirun",
                 "--oversubscribe", "-n", ranks, binary])
    spent = (time.monotonic() - begin) * 1000
    return spent, float(re.search(r": right, ([0-9.]+) ms", said)[1])


def over_mpi():
    """Beside 2 and 4 nodes."""
    if not shutil.which("mpicc") or not shutil.which("mpirun"):
        machines.say("no mpicc and mpirun (libopenmpi-dev, openmpi-bin): "
                     "no program over MPI")
        return
    machines.OUT.mkdir(parents=True, exist_ok=True)
    for name in BY_MPI:
        binary = machines.OUT / f"mpi{name}"
        told(["mpicc", "-O2", "-o", binary,
              machines.HERE / f"native/mpi{name}.c"])
        at = {n: [statistics.median(v) for v in zip(*(
            mpi_run(binary, n) for _ in range(REPEATS)))] for n in (2, 4)}
        said = "; ".join(f"{n}: {all_of_it:.0f} ms, at work {work:.1f} ms"
                         for n, (all_of_it, work) in at.items())
        yield Count(f"{name}, over MPI", at[4][0], "ms", None,
                    f"ranks {said}")


def measure(count):
    """(facts, figures)."""
    subprocess.run(["make", "-s", "-C", str(TOP), "dsm-native"], check=True)
    return {"columns": ("DSM", "exchange")}, [
        *single(count), *(on_the_wire(count) if os.geteuid() == 0 else ()),
        *programs(), *over_mpi()]
