#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""usage: sim.py BUILD: what mios-lock says about locks agrees within 20 % with
what turns counts, with 2 to 16 contenders; and no more with one of the two, or the
queue lock, broken.  The paper's shape comes out; and mistakes are told."""
import json
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(sys.argv[1])
TOOL = BUILD / "bin/mios-lock"
COUNTS = ("transfers", "invalidations", "register_reads", "ipis")
WITHIN = 0.2
# As turns has it: a lock is held for one to three transfers.
LIKE_TURNS = ("--hold", "400")
CFLAGS = ("-std=gnu11", "-O2", "-D_GNU_SOURCE", f"-I{TOP}/mios/include",
          "-include", f"{TOP}/userspace/mios-lock/os.h",
          f"-iquote{TOP}/userspace/mios-lock", f"-iquote{TOP}/mios/lock")
# What is broken, in which file, and what has to be said then.
MUTANTS = (
    ("a change takes one copy away",
     "userspace/mios-lock/world.c", "invalidations += others",
     "invalidations += !!others", r"invalidations: \d"),
    ("who has a copy gets the line sent again",
     "userspace/mios-lock/world.c", "transfers += !had", "transfers++",
     r"transfers: \d"),
    ("who reads may change it",
     "userspace/mios-lock/world.c", "line->nr_copies ? NOBODY : contender",
     "contender", "nobody can go on"),
    ("a copy that is lost is looked at for ever",
     "userspace/mios-lock/world.c", "task_resume_at(now() + w.cost.hit, i);",
     ";", "nobody can go on"),
    ("the register lets two have it",
     "userspace/mios-lock/world.c", "\t\tw.value = 1;", "\t\t;",
     "two had the lock"),
    ("nobody is woken by an interrupt",
     "userspace/mios-lock/world.c", "world_counts.ipis++;", ";",
     r"ipis: 0\.00"),
    ("those who join fight for each place",
     "mios/lock/queue.c", "ticket++; /* JOIN */",
     "tail_follow(lock, ticket),\n\t\t\tticket = READ_ONCE(lock->header->tail);",
     "queue, .*: not flat"),
)


def fail(said):
    """The line that failed."""
    print(said)
    sys.exit(1)


def simulate(*options, tool=TOOL, want=0):
    """Results by lock and contenders; or, of what has to fail, what is said."""
    done = subprocess.run([tool, "sim", "--quiet", "--json", "-", *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode != want:
        fail(f"{' '.join(options)}: {done.returncode}: {done.stderr.strip()}")
    if want:
        return done.stderr.strip()
    found = json.loads(done.stdout)
    for one in found:
        for name in COUNTS:
            one[name] /= one["rounds"]
        one["cost"] = (one["time_ns"] - one["held_ns"]) / one["rounds"]
    return {(one["lock"], one["contenders"]): one for one in found}


def counted():
    """The same from turns."""
    out = subprocess.run([BUILD / "turns", "1000", "1"], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return {(name, int(contenders)): dict(zip(COUNTS, map(float, values)))
            for name, contenders, *values in map(str.split, out.splitlines())}


def differences(real, tool=TOOL):
    """Each count that is further off than it may be; the largest distance."""
    worst, said = 0, []
    numbers = ",".join(str(n) for n in range(2, 17))
    found = simulate(*LIKE_TURNS, "--contenders", numbers, tool=tool)
    for key, one in real.items():
        # Whether one of two falls asleep in time is decided by a few ns.
        if key == ("sleep", 2):
            continue
        for name in COUNTS:
            off = abs(found[key][name] - one[name]) / max(one[name], 1)
            worst = max(worst, off)
            if off > WITHIN:
                said.append(f"{key[0]}, {key[1]} contenders: {name}: "
                            f"{found[key][name]:.2f}, counted {one[name]:.2f}")
    return said, worst


def shapes(tool=TOOL):
    """What docs/locks.md says about many."""
    found = simulate("--lock", "ttas,queue,register", "--rounds", "300",
                     "--contenders", "8,16,256", tool=tool)
    cost = {key: one["cost"] for key, one in found.items()}
    if cost["queue", 256] > 1.1 * cost["queue", 8]:
        return [f"queue, 256 contenders: not flat: {cost['queue', 256]:.0f} ns"]
    if not (cost["register", 8] > cost["ttas", 8] and
            cost["register", 16] < cost["ttas", 16]):
        return ["register and memory lock do not cross between 8 and 16"]
    if cost["ttas", 256] < 40 * cost["queue", 256]:
        return ["queue, 256 contenders: not 40 times as good"]
    return []


def mutant(path, old, new):
    """The tool with this changed in one of its files."""
    text = (TOP / path).read_text(encoding="utf-8")
    if text.count(old) != 1:
        fail(f"{path}: not there once: {old}")
    name = pathlib.Path(path).stem
    source = BUILD / f"mutant-{name}.c"
    source.write_text(text.replace(old, new), encoding="utf-8")
    objects = [p for p in (BUILD / "mios-lock").rglob("*.o") if p.stem != name]
    subprocess.run(["gcc", *CFLAGS, "-o", BUILD / "mutant", source, *objects],
                   check=True)
    return BUILD / "mutant"


def what_is_said(tool, real):
    """Of a tool that is broken."""
    done = subprocess.run([tool, "sim", "--quiet", "--contenders", "2,8"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, check=False)
    said = done.stderr
    if not done.returncode:
        said = "\n".join(differences(real, tool)[0] + shapes(tool))
    return said


def usage():
    """A seed, and mistakes."""
    few = ("--contenders", "5", "--rounds", "100")
    same = str(BUILD / "same")
    if simulate(*few) != simulate(*few):
        fail("one seed, two results")
    if simulate(*few, "--seed", "2") == simulate(*few):
        fail("--seed changes nothing")
    for words, said in ((("--lock", "mutex"), "'mutex' is none of"),
                        (("--contenders", "0"), "not a number from 1 to 2048"),
                        (("--contenders", "2,x"), "'x' is not a number"),
                        (("--hit", "200"), "less than a transfer"),
                        (("--plot", "/nowhere/x.svg"), "No such file"),
                        (("--json", same, "--plot", same), "the same file"),
                        (("word",), "unexpected 'word'")):
        told = simulate(*words, want=2)
        if not told.startswith("mios-lock: ") or said not in told or \
                "\n" in told:
            fail(f"{' '.join(words)}: said: {told}")
    plot = BUILD / "plot.svg"
    simulate(*few, "--plot", str(plot))
    if plot.read_text(encoding="utf-8").count("<polyline") != 6:
        fail("--plot: not a line for each lock")


def main():
    """All of it; the line that failed comes last."""
    usage()
    real = counted()
    said, worst = differences(real)
    said += shapes()
    if said:
        fail("\n".join(said))
    print(f"{len(real) - 1} pairs of a lock and a number of contenders, no "
          f"count off by more than {worst:.0%}")
    for what, path, old, new, words in MUTANTS:
        said = what_is_said(mutant(path, old, new), real)
        if not re.search(words, said):
            fail(f"not noticed: {what}: {said or 'nothing'}")
        print(f"noticed: {what}")


if __name__ == "__main__":
    main()
