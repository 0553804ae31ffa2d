# SPDX-License-Identifier: GPL-2.0
"""Whole programs in less memory than they want.

What selftests/swap/60-sort, 61-kmeans, 62-pagerank and soak-packages say, each
once: they run under icount, from checkpoints, and all of them verify what comes
out.  A value is the CPU time of a program's tasks, in thousands of instructions,
beyond what they take with all the memory they want: the kernel's, for swapping.
The program's own instructions are the same each time.  What devices do meanwhile
is no part of it.
"""
import re
import subprocess
import tempfile

import machines
from figures import Figure

TITLE = "Whole programs in less memory than they want"
FOLDER = "/usr/lib/mios/selftests/swap/"
PROGRAMS = {"std::sort": "60-sort", "k-means": "61-kmeans",
            "PageRank": "62-pagerank", "LINPACK": "packaged linpack 16",
            "scikit-learn": "packaged learn 16"}
UNIT = "thousand instructions of the kernel"
# With 60 %: in parts of the new way, beside the whole of it.
PARTS = {"first": "the page first, by interrupt",
         "poll-only": "polled, no read-ahead",
         "poll-wmark": "polled, reclaim at 70 %"}
ROW = re.compile(r"^(\d+) % (\S+): faults (\d+) .* more (-?\d+) ms", re.M)


def rows(program, folder):
    """{(percent, way): (faults, thousands of instructions)} of a program."""
    vm = machines.make("--nodes", "3", "--from", "up", "--accel", "icount",
                       "--copy", folder)
    with vm:
        said = machines.shell(vm, FOLDER + PROGRAMS[program], limit=3600)
        machines.check_logs(vm)
        found = {(int(percent), way): (int(faults), int(more))
                 for percent, way, faults, more in ROW.findall(said)}
        return machines.facts(vm), found


def compared(program, name, ours, plain):
    """A row: what is ours against Linux's own way."""
    figure = Figure(f"{program}, {name}: {ours[0]} faults, {plain[0]} plain",
                    "this series", "plain", UNIT)
    figure.add(ours[1], plain[1])
    return figure


def measure(_rounds):
    """(facts, figures)."""
    figures, said = [], {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([str(machines.HERE.parent / "swap/get-packages"),
                        folder], check=True, stdout=subprocess.DEVNULL)
        for program in PROGRAMS:
            machines.say(program)
            said, found = rows(program, folder)
            for percent in 80, 60, 40, 20:
                plain = found[percent, "plain"]
                for way, name in ("poll", "polled"), ("lent", "lent memory"):
                    figures.append(compared(program, f"{percent} %, {name}",
                                            found[percent, way], plain))
            for way, name in PARTS.items():
                figures.append(compared(program, f"60 %, {name}",
                                        found[60, way], found[60, "plain"]))
    return said, figures
