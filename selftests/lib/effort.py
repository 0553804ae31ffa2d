# SPDX-License-Identifier: GPL-2.0
"""What a process and its children have done: a clock that stops with them.

The limits of tests and machines count it instead of the host's time: on a
host that is busy with other things a test is late, not wrong.  Used by
selftests/run and selftests/vm/machine.py.
"""
import os
import pathlib
import time

# Of a second of effort: one in which nobody had anything to do.  A hang with
# all CPUs halted must end some time, too.
IDLE_WORTH = 1 / 8
TICKS = os.sysconf("SC_CLK_TCK")


def stat(process):
    """Its parent, its CPU seconds, and those of its dead children."""
    try:
        # The name in it may be any bytes.
        words = pathlib.Path(f"/proc/{process}/stat").read_bytes() \
            .rpartition(b")")[2].split()
    except OSError:                     # it has ended
        return 0, 0.0, 0.0
    user, kernel, below, kernel_below = (int(w) / TICKS for w in words[11:15])
    return int(words[1]), user + kernel, below + kernel_below


def cpu_times():
    """{process: (parent, its CPU seconds and those of its dead children)}."""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        parent, own, below = stat(path.name)
        found[int(path.name)] = parent, own + below
    return found


def used(root):
    """CPU seconds of a process and all below it."""
    times = cpu_times()
    total, family = 0.0, {root}
    while family:
        total += sum(times[p][1] for p in family if p in times)
        family = {p for p, (parent, _) in times.items() if parent in family}
    return total


def used_alone(process):
    """CPU seconds of one process."""
    return stat(process)[1]


class Effort:
    """Seconds, from now on."""

    def __init__(self, process, count=used):
        self.process = process
        self.count = count
        self.total = 0.0
        self.last_used, self.last_time = count(process), time.monotonic()

    def seconds(self):
        """Done so far; never falls, though a child may end unheard."""
        done, now = self.count(self.process), time.monotonic()
        self.total += max(done - self.last_used,
                          (now - self.last_time) * IDLE_WORTH)
        self.last_used, self.last_time = done, now
        return self.total
