# SPDX-License-Identifier: GPL-2.0
"""A test: an executable, and what the lines at its head say about it."""
import re

HEAD_LINES = 24
TIME_LIMIT = 120
FIELDS = ("machine", "icount", "timeout", "expect-log", "root", "parts",
          "waits", "gate", "debug")
# What a test of the gate may not need: its verdict would follow the host.
NOT_IN_GATE = ("--from boot", "--debug", "--debian")
DEBUG_COST = 12         # times what the test kernel takes, at most


class HeadError(Exception):
    """A head that does not say what it must, in one line."""


class Test:
    """One executable and what its head says."""

    def __init__(self, path, base, on_debug=False):
        self.path = path
        self.name = str(path.relative_to(base))
        self.area = path.parent.name
        head = path.read_text(errors="replace").splitlines()[:HEAD_LINES]
        found = {name: self.field(head, name) for name in FIELDS}
        self.machine = found["machine"]
        self.limit = float(found["timeout"] or TIME_LIMIT)
        self.excuse = found["expect-log"]
        self.root = found["root"] == "yes"
        self.parts = found["parts"] == "yes"
        self.waits = found["waits"] == "yes"
        if self.machine:
            self.machine += self.clock(found["icount"])
        self.gate = self.stands_for(found["gate"])
        self.wants_debug = found["debug"] == "yes"
        if self.wants_debug and not self.machine:
            raise HeadError(f"{self.name}: 'debug: yes' without a machine")
        if on_debug:
            self.move_to_debug()

    def move_to_debug(self):
        """The same test once more, on the kernel that finds faults."""
        self.name += "+debug"
        self.machine += " --debug"
        self.limit *= DEBUG_COST
        self.gate = None

    @staticmethod
    def field(head, name):
        """The words after 'name:' in the head, or None."""
        for line in head:
            found = re.match(rf"\W*{name}:\s*(.*\S)", line)
            if found:
                return found[1]
        return None

    def clock(self, words):
        """What it wants time to be; that and where it starts is said aloud."""
        found = re.match(r"(yes|no), \w", words or "")
        if not found:
            raise HeadError(f"{self.name}: its head must say 'icount: yes, "
                            "WHY' or 'icount: no, WHY'")
        if " --from " not in f" {self.machine} ":
            raise HeadError(f"{self.name}: its machine starts --from what?")
        return " --accel icount" if found[1] == "yes" else ""

    def stands_for(self, words):
        """What it stands for in the gate; None when it is not in there."""
        if words is None:
            return None
        found = re.match(r"yes, (\w.*)", words)
        if not found:
            raise HeadError(f"{self.name}: its head must say 'gate: yes, WHAT "
                            "it stands for' or nothing of the gate")
        if self.waits or self.machine and (
                "--accel icount" not in self.machine or
                any(w in self.machine for w in NOT_IN_GATE)):
            raise HeadError(f"{self.name}: what waits for the host is not for "
                            "the gate: 'icount: yes', from a checkpoint")
        return found[1]


def find(base, pattern, words=(), debug=False):
    """Tests in order; @debug: those that want it on that kernel, too.
    One that nobody may run would be missed by nobody."""
    found = [p for p in sorted(base.glob(f"*/{pattern}-*")) if p.is_file()]
    for path in found:
        if not path.stat().st_mode & 0o100:
            raise HeadError(f"{path.relative_to(base)}: is not executable")
    tests = [Test(p, base) for p in found]
    if debug:
        tests += [Test(t.path, base, True) for t in tests if t.wants_debug]
    return [t for t in tests
            if not words or any(w in t.name for w in words)]


def in_part(tests, part):
    """Those of part i of n; one that divides itself is in every part."""
    number, count = part
    whole = [t for t in tests if not t.parts]
    return [t for t in tests
            if t.parts or whole.index(t) % count == number - 1]


def parse_part(text):
    """'2/4' as (2, 4)."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise HeadError(f"S={text}: say which part of how many, as in S=2/4")
    return int(found[1]), int(found[2])
