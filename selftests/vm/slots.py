# SPDX-License-Identifier: GPL-2.0
"""No more test machines at once than the host has cores.

An emulated machine keeps every core busy; two dozen virtual CPUs on two cores
only make each other's waits run out.  machine.py takes a slot before it
starts QEMU: a lock file, so that it is free again whatever becomes of us.
"""
import fcntl
import os
import sys
import time

import buildcache

PATIENCE = 1200         # seconds; then start all the same


def take():
    """An open lock file to keep until the machine stops."""
    folder = buildcache.root() / "lock"
    folder.mkdir(exist_ok=True)
    count = int(os.environ.get("MIOS_MACHINES") or os.cpu_count() or 1)
    end = time.monotonic() + PATIENCE
    told = False
    while True:
        for slot in range(count):
            # pylint: disable-next=consider-using-with
            file = open(folder / f"machine-{slot}", "w", encoding="ascii")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return file
            except OSError:
                file.close()
        if time.monotonic() > end:
            return None
        if not told:
            print(f"waiting: {count} test machines run already "
                  "(MIOS_MACHINES sets how many may)", file=sys.stderr,
                  flush=True)
            told = True
        time.sleep(1)
