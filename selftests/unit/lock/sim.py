#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""usage: sim.py BUILD: what mios-lock says about locks agrees within 20 % with
what has been counted with 2 to 16 contenders, as docs/locks.md has it; and no more
with the simulator, or the queue lock, broken.  The paper's shape comes out; and
mistakes are told.  counts.py counts again."""
import json
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(sys.argv[1])
TOOL = BUILD / "bin/mios-lock"
SOURCES = ("userspace/mios-lock", "userspace/libmios", "mios/memory/lock",
           "mios/reglock")
COUNTS = ("transfers", "invalidations", "register_reads", "ipis")
WITHIN = 0.2
DOCS = TOP / "docs/locks.md"
LOCKS = ("tas", "ttas", "ticket", "queue", "sleep", "register", "reglock")
CONTENDERS = (2, 4, 8, 16)
CFLAGS = ("-std=gnu11", "-O2", "-D_GNU_SOURCE", f"-I{TOP}/mios/include",
          "-include", f"{TOP}/userspace/mios-lock/os.h",
          f"-iquote{TOP}/userspace/mios-lock",
          f"-iquote{TOP}/mios/memory/lock")
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
     "mios/memory/lock/qlock.c", "ticket++; /* JOIN */",
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


def documented():
    """What has been counted and what was simulated, from the table in DOCS."""
    real, simulated = {}, {}
    for line in DOCS.read_text(encoding="utf-8").splitlines():
        row = [cell.strip() for cell in line.split("|")][1:-1]
        if len(row) != 2 + 2 * len(COUNTS) or row[0] not in LOCKS:
            continue
        key, values = (row[0], int(row[1])), list(map(float, row[2:]))
        real[key] = dict(zip(COUNTS, values[::2]))
        simulated[key] = dict(zip(COUNTS, values[1::2]))
    if len(real) != len(LOCKS) * len(CONTENDERS):
        fail(f"{DOCS}: {len(real)} rows of counts")
    return real, simulated


def simulated_now(tool=TOOL):
    """The same from the simulator."""
    return simulate("--contenders", ",".join(map(str, CONTENDERS)), tool=tool)


def distance(one, other):
    """Of two counts; what comes less than once is not much."""
    return abs(one - other) / max(other, 1)


def differences(found, real):
    """Each count that is further off than it may be; the largest distance."""
    worst, said = 0, []
    for key, one in real.items():
        for name in COUNTS:
            off = distance(found[key][name], one[name])
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


def has_source(built):
    """Not so what a build from before a file had another name has left."""
    return any((TOP / folder / (built.stem + end)).exists()
               for folder in SOURCES for end in (".c", ".S"))


def mutant(path, old, new):
    """The tool with this changed in one of its files."""
    text = (TOP / path).read_text(encoding="utf-8")
    if text.count(old) != 1:
        fail(f"{path}: not there once: {old}")
    name = pathlib.Path(path).stem
    source = BUILD / f"mutant-{name}.c"
    source.write_text(text.replace(old, new), encoding="utf-8")
    objects = [p for folder in ("", "mios", "libmios")
               for p in (BUILD / "mios-lock" / folder).glob("*.o")
               if p.stem != name and has_source(p)]
    subprocess.run(["gcc", *CFLAGS, "-o", BUILD / "mutant", source, *objects],
                   check=True)
    return BUILD / "mutant"


def what_is_said(tool, real):
    """Of a tool that is broken."""
    done = subprocess.run([tool, "sim", "--quiet", "--contenders", "2,8",
                           "--rounds", "100"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, check=False)
    said = done.stderr
    if not done.returncode:
        said = "\n".join(differences(simulated_now(tool), real)[0] +
                         shapes(tool))
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
                        (("--lock", "reglock", "--contenders", "1025"),
                         "at most 1024"),
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
    if plot.read_text(encoding="utf-8").count("<polyline") != len(LOCKS):
        fail("--plot: not a line for each lock")


def main():
    """All of it; the line that failed comes last."""
    usage()
    real, documents = documented()
    found = simulated_now()
    said, worst = differences(found, real)
    said += [f"{key}: {name}: {DOCS} has {one[name]}, simulated "
             f"{found[key][name]:.2f}" for key, one in documents.items()
             for name in COUNTS if f"{found[key][name]:.2f}" != f"{one[name]:.2f}"]
    said += shapes()
    if said:
        fail("\n".join(said))
    print(f"{len(real)} pairs of a lock and a number of contenders, no "
          f"count off by more than {worst:.0%}")
    for what, path, old, new, words in MUTANTS:
        said = what_is_said(mutant(path, old, new), real)
        if not re.search(words, said):
            fail(f"not noticed: {what}: {said or 'nothing'}")
        print(f"noticed: {what}")


if __name__ == "__main__":
    main()
