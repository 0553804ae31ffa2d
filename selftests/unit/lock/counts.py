#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""usage: counts.py BUILD [--uneven]: what locks cost, counted with threads (counts.c),
is within 20 % of what mios-lock says, and of what was counted for docs/locks.md;
prints the rows of the table there.  With --uneven, where each message takes its
own time, it only prints."""
import subprocess
import sys

import sim

ROUNDS, SEED = "150", "1"


def count(lock, contenders, *options):
    """One pair."""
    done = subprocess.run([sim.BUILD / "counts", lock, str(contenders), ROUNDS,
                           SEED, *options], stdout=subprocess.PIPE, text=True,
                          check=True)
    return dict(zip(sim.COUNTS, map(float, done.stdout.split())))


def row(key, real, found):
    """Of the table."""
    cells = [f"{one[name]:.2f}" for name in sim.COUNTS for one in (real, found)]
    return f"| {key[0]} | {key[1]} | " + " | ".join(cells) + " |"


def main():
    """All of it; the lines that failed come last."""
    uneven = sys.argv[2:] == ["--uneven"]
    found = sim.simulated_now()
    real = {}
    for key in ((lock, n) for lock in sim.LOCKS for n in sim.CONTENDERS):
        real[key] = count(*key, *(["uneven"] if uneven else []))
        print(row(key, real[key], found[key]), flush=True)
    if uneven:
        return
    said, worst = sim.differences(found, real)
    again, moved = sim.differences(real, sim.documented()[0])
    if said or again:
        sim.fail("\n".join(said + [f"{line} before" for line in again]))
    print(f"simulated: off by {worst:.0%} at most; since the last time "
          f"{moved:.0%}")


if __name__ == "__main__":
    main()
