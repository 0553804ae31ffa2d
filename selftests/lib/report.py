# SPDX-License-Identifier: GPL-2.0
"""What selftests/run prints: TAP lines, why a test failed, and the count."""
import json
import os
import sys
import threading

import buildcache

SHOWN_LINES = 25        # of each log of a test that failed
RETOLD_LINES = 30       # of the test itself, once more at the end of all
RETOLD_LOG_LINES = 12   # of each instance's log
SKIPPED = 77            # exit status


class Report:
    """TAP lines, a log per test, and the count."""

    def __init__(self, total, logs, show=False, skips=None):
        self.logs = logs
        self.show = show        # what a test prints is a result by itself
        self.total = total
        self.skips = skips      # names of those that may; None: all may
        self.passed = self.failed = self.skipped = self.number = 0
        self.lock = threading.Lock()    # two add to it
        self.failures = []      # (test, why, logs), told again at the end
        self.left_out = []      # there was no time for them
        self.times = {}
        print("TAP version 13", flush=True)
        print(f"1..{total}", flush=True)

    def log_path(self, test):
        """Where all that the test says is kept."""
        return self.logs / (test.name.replace("/", "-") + ".log")

    def add(self, test, status, why, took, logs=(), faults=()):
        """One result; @logs: where else a failure may have its cause;
        @faults: found there."""
        if status == SKIPPED and self.skips is not None and \
                test.name not in self.skips:
            status, why = 1, f"skipped, and is not in selftests/skips: {why}"
        with self.lock:
            self.count(test, status, why, took, logs)
            if status not in (0, SKIPPED):
                show_faults(faults)
                show_ends([self.log_path(test), *logs])

    def count(self, test, status, why, took, logs):
        """The same, by one at a time."""
        self.number += 1
        if self.show and self.log_path(test).exists():
            print(self.log_path(test).read_text(errors="replace"), end="")
        text = f"{self.number} {test.name} ({took:.1f} s)"
        if status == 0:
            self.passed += 1
            self.times[test.name] = round(took, 1)
            print(f"ok {text}", flush=True)
        elif status == SKIPPED:
            self.skipped += 1
            print(f"ok {text} # SKIP {why}", flush=True)
        else:
            self.failed += 1
            self.failures.append((test, why, list(logs)))
            print(f"not ok {text}\n# {why}\n# all of it: "
                  f"{self.log_path(test)}", flush=True)

    def leave_out(self, test):
        """There is no time left for it."""
        with self.lock:
            self.left_out.append(test)

    def finish(self, again="selftests/run"):
        """The last line, and the exit status; @again: the command that, with
        a test's name, runs that one alone."""
        for test in self.left_out:
            print(f"# left out, the run would have passed its deadline: "
                  f"{test.name}")
        if self.number != self.total:
            print(f"not all tests ran: {self.number} of {self.total}")
            self.failed += self.total - self.number
        for test, why, logs in self.failures:
            show_ends([self.log_path(test)], RETOLD_LINES)
            show_ends(logs, RETOLD_LOG_LINES)
            print(f"# failed: {test.name}: {why}\n"
                  f"# alone: {again} {test.name}")
        text = f"{self.passed} passed, {self.failed} failed"
        if self.skipped:
            text += f", {self.skipped} skipped"
        print(text, flush=True)
        return 1 if self.failed or not self.passed else 0


def last_line(path):
    """The line that a failed test ends with."""
    lines = [t for t in path.read_text(errors="replace").splitlines()
             if t.strip()]
    return lines[-1] if lines else "it said nothing"


def show_faults(faults):
    """All of the first fault in a log: its first line names no cause."""
    for fault in faults[:1]:
        print(f"# --- {fault}")
        for line in fault.following:
            print(f"# {line}")


def show_ends(paths, count=SHOWN_LINES):
    """The last lines of logs: who reads the output may not have the files."""
    for path in paths:
        if path.exists():
            lines = path.read_text(errors="replace").splitlines()
            print(f"# --- the end of {path.name}")
            for line in lines[-count:]:
                print(f"# {line}")
    sys.stdout.flush()


# --- how long tests took when they passed last, on this host

def times_file():
    """Beside what is built once: a fresh clone knows them, too."""
    return buildcache.root() / "times.json"


def last_times():
    """{test: seconds}."""
    try:
        return json.loads(times_file().read_text())
    except (FileNotFoundError, ValueError):
        return {}


def keep_times(new):
    """Add those of this run."""
    with buildcache.lock("times"):
        part = times_file().with_suffix(".part")
        part.write_text(json.dumps({**last_times(), **new}, indent=0,
                                   sort_keys=True))
        os.replace(part, times_file())


def show_times(tests):
    """Each test's last duration, and the sum of each area."""
    times, areas = last_times(), {}
    for test in tests:
        took = times.get(test.name)
        print(f"{took if took is not None else '-':>8} {test.name}")
        areas[test.area] = areas.get(test.area, 0) + (took or 0)
    for area, total in sorted(areas.items(), key=lambda a: -a[1]):
        print(f"{total:8.1f} {area}/")
    print(f"{sum(areas.values()):8.1f} all")
