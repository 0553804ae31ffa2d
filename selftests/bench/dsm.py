# SPDX-License-Identifier: GPL-2.0
"""The DSM engine's figures, from the simulator and the sources.  No machine is
needed, and no time is measured: they are the same everywhere, but for
instructions, which depend on the compiler.  JSON and plots go to
build/bench/dsm/."""
import json
import pathlib
import re
import shutil
import subprocess

import machines
from figures import Count

TITLE = "The DSM engine"
TOP = pathlib.Path(__file__).resolve().parents[2]
TOOL = TOP / "build/bin/mios-dsm"
OUT = machines.OUT / "dsm"
HERE = pathlib.Path(__file__).resolve().parent
# struct dsm_frame
LINK_HEADER = 20
# Between two nodes, of a link whose frames leave room for a seal in 1,500 bytes.
FRAMES = (20, 44, 80, 1252, 1464)
SENT = {"a page fetched": (44, 1464, 1464, 1252),
        "a store by update, wu": (80,),
        "a store by update, wu-seq, not at the head": (80, 80)}
NODES, MANY = "2,4,8,16,32", "64,128,256"
# Stalls and seconds of stall; a wire on which one page costs what it cost there.
PAPER = {"ivy": (420000, 26.0), "wu": (285000, 19.2), "wu+": (164000, 5.1)}
PAPER_WIRE = ("--latency", 6600, "--bandwidth", 728)


def simulate(name, *options):
    """Results of one call, kept as JSON."""
    path = OUT / f"{name}.json"
    done = subprocess.run(
        [str(TOOL), "sim", "--quiet", "--json", str(path), *map(str, options)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        check=False)
    if done.returncode:
        raise machines.BenchError(done.stderr.strip())
    return json.loads(path.read_text(encoding="utf-8"))


def ivy(pattern, *options):
    """One result under write-invalidate."""
    return simulate(pattern, "--policy", "ivy", "--pattern", pattern,
                    *options)[0]


def one_write():
    """What a single write costs."""
    shared = ivy("one-write", "--nodes", 8, "--shared")
    both = sum(shared["bytes"][m] / shared["sent"][m] + LINK_HEADER
               for m in ("INV", "INV_ACK"))
    yield Count("INV and INV_ACK, link headers included", both,
                "bytes", 80, "lower headers apart; GiantVM: 8192 at least")
    yield Count("page bytes on an upgrade", shared["pages_sent"] * 4096,
                "bytes", 1)
    for policy, limit in (("ivy", 1.3), ("giantvm", None)):
        stall = [simulate(f"sharers-{policy}", "--policy", policy,
                          "--pattern", "one-write", "--nodes", 9,
                          "--sharers", n)[0]["stall_ns"] for n in (1, 7)]
        yield Count(f"write fault with 7 sharers against 1, {policy}",
                    stall[1] / stall[0], "times", limit,
                    "" if limit else "one invalidation at a time")


def hops():
    """Misses that took more than two hops."""
    for pattern in ("read-mostly", "producer-consumer", "lock", "compile",
                    "migratory"):
        r = ivy(pattern, "--pages", 64, "--ops", 4000)
        copies = r["misses"] - r["owned"]
        said = ", ".join(
            f"{what} {100 * (all - near) / all:.0f} % of {all}"
            for what, all, near in (
                ("copies", copies, r["misses_two_hops"] - r["owned_two_hops"]),
                ("ownership", r["owned"], r["owned_two_hops"])) if all)
        yield Count(f"misses that took more than two hops, {pattern}",
                    100 - 100 * r["misses_two_hops"] / r["misses"], "%", 10,
                    said)


def compile_mix():
    """The paper's experiment: 4 nodes, a wire with its costs of a fetch and of
    ownership, its cost of a trap."""
    for what, shared, cost in (("fetch", (), 62), ("ownership", ("--shared",),
                                                   17)):
        r = ivy("one-write", "--nodes", 2, *shared, *PAPER_WIRE)
        yield Count(f"{what} on the wire of the compile-like mix",
                    r["stall_ns"] / 1000, "us", None, f"the paper: {cost}")
    seen = {policy: simulate(
        f"compile-{policy}", "--policy", policy, "--pattern", "compile",
        "--pages", 64, "--ops", 40000, *PAPER_WIRE)[0]
        for policy in (*PAPER, "wu-seq")}
    base = seen["ivy"]
    for policy, (stalls, time) in PAPER.items():
        r = seen[policy]
        yield Count(f"stalls on the compile-like mix, {policy}", r["stalls"],
                    "stalls", None, f"{r['stalls'] / base['stalls']:.2f} of "
                    f"ivy's, the paper: {stalls / PAPER['ivy'][0]:.2f}, "
                    f"{stalls:,} in all")
        yield Count(f"stall time on the compile-like mix, {policy}",
                    r["stall_ns"] / 1e9, "s", None,
                    f"{r['stall_ns'] / base['stall_ns']:.2f} of ivy's, the "
                    f"paper: {time / PAPER['ivy'][1]:.2f}, {time} s in all")
    ours = seen["wu-seq"]
    for policy, limit in (("wu+", 1.15), ("ivy", 0.5)):
        yield Count(f"stall time on the compile-like mix, wu-seq against "
                    f"{policy}", ours["stall_ns"] / seen[policy]["stall_ns"],
                    "times", limit, f"{ours['stall_ns'] / 1e9:.2f} s, "
                    f"{ours['stalls']:,} stalls")


def hostile():
    """A million ping-pongs, and a bad wire."""
    r = ivy("pingpong", "--nodes", 4, "--ops", 1000000)
    yield Count("10^6 hostile ping-pongs: 1 - Jain's index",
                1 - r["fairness_thousandths"] / 1000, "", 0.1,
                f"{r['pages_sent']} moves, each with an operation at least")
    for pattern in ("migratory", "false-sharing", "compile"):
        yield bad_wire(pattern)


def bad_wire(pattern):
    """Both with a little jitter: without any, nodes that do the same at the
    same time stay in step, and whatever disturbs them makes them faster."""
    ratios = []
    for seed in range(1, 6):
        pair = [ivy(pattern, "--seed", seed, "--jitter", 1000, *bad)
                for bad in ((), ("--loss", 10000, "--duplicate", 10000,
                                 "--reorder", 10000))]
        if pair[0]["memory"] != pair[1]["memory"]:
            raise machines.BenchError(f"{pattern}, seed {seed}: memory differs")
        ratios.append(pair[1]["time_ns"] / pair[0]["time_ns"])
    ratios.sort()
    return Count(f"1 % loss, duplication and reordering against none, {pattern}",
                 ratios[2], "times", 1.25,
                 f"{ratios[0]:.2f} to {ratios[4]:.2f} of 5 seeds, memory identical")


def sweeps():
    """Messages and stall time over the number of nodes, with plots; wu-seq
    and auto, whose one head sends to all, not beyond 32."""
    mix = ("--pattern", "compile", "--pages", 64, "--ops", 30)
    window = ("--window", 65536)
    results = simulate(
        "nodes", *mix, *window, "--nodes", NODES, "--plot",
        OUT / "messages.svg", "--plot-stall", OUT / "stall.svg")
    for policy in ("ivy", "giantvm", "wu", "wu+"):
        rows = [r for r in results if r["policy"] == policy] + simulate(
            f"nodes-{policy}", *mix, "--policy", policy, "--nodes", MANY,
            *(window if policy in ("wu", "wu+") else ()))
        for what, field, unit, scale in (
                ("messages", "messages", "per operation", 1),
                ("stall", "stall_ns", "us per operation", 1000)):
            each = [r[field] / (r["nodes"] * r["ops"] * scale) for r in rows]
            yield Count(f"{what} at 256 nodes, {policy}", each[-1], unit,
                        None, "2 to 128 nodes: " + " ".join(
                            f"{e:.3g}" for e in each[:-1]))


def counted(function, *command):
    """Instructions in it and what it calls, by callgrind."""
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--toggle-collect={function}",
         "--callgrind-out-file=/dev/null", *map(str, command)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        raise machines.BenchError(f"callgrind: {done.stderr[-300:]}")
    return int(found[1])


def instructions():
    """Instructions in dsm_step() by callgrind, which needs no PMU."""
    for policy, pattern, ops in (("ivy", "pingpong", 200000),
                                 ("ivy", "compile", 5000),
                                 ("wu+", "compile", 5000)):
        name = f"engine instructions per event, {policy}, {pattern}"
        if not shutil.which("valgrind"):
            yield Count(name, 0, "", None, "valgrind is not installed")
            continue
        path = OUT / "callgrind.json"
        taken = counted("dsm_step", TOOL, "sim", "--quiet", "--policy", policy,
                        "--pattern", pattern, "--ops", ops, "--json", path)
        steps = json.loads(path.read_text(encoding="utf-8"))[0]["engine_steps"]
        yield Count(name, taken / steps, "instructions", None,
                    f"{steps} events")


def seals():
    """What the key costs a frame: of 2,000 less what it is of 1,000, so
    without the greetings.  valgrind's processor has AES and AVX2."""
    if not shutil.which("valgrind"):
        return
    binary, runtime = OUT / "seal", TOP / "userspace/mios-dsm/runtime"
    subprocess.run(["cc", "-std=gnu11", "-O2", "-I", runtime, "-o", binary,
                    HERE / "native/seal.c", runtime / "seal.c", "-lcrypto"],
                   check=True)
    each = {}
    for length in FRAMES:
        each[length] = [(counted(what, binary, length, 2000) -
                         counted(what, binary, length, 1000)) / 1000
                        for what in ("seal_send", "seal_take")]
        yield Count(f"instructions that a key costs, a frame of {length} bytes",
                    sum(each[length]), "instructions", None,
                    "sealed {:.0f}, opened {:.0f}".format(*each[length]))
    for what, frames in SENT.items():
        yield Count(f"instructions that a key costs, {what}, both nodes",
                    sum(sum(each[length]) for length in frames),
                    "instructions", None, "frames of " +
                    ", ".join(map(str, frames)) + " bytes")


def lines():
    """Lines of the engine that are neither comment nor blank."""
    blank = re.compile(r"^\s*($|/?\*|//)")
    total = sum(not blank.match(line)
                for path in (TOP / "mios/dsm").glob("*.[ch]")
                for line in path.read_text(encoding="utf-8").splitlines())
    yield Count("lines of the engine", total, "lines", 4000,
                "without comments and blanks")


def measure(_rounds):
    """(facts, figures)."""
    subprocess.run(["make", "-s", "-C", str(TOP), "dsm"], check=True)
    OUT.mkdir(parents=True, exist_ok=True)
    return {}, [*one_write(), *hops(), *compile_mix(), *hostile(), *sweeps(),
                *instructions(), *seals(), *lines()]
