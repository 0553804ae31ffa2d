# SPDX-License-Identifier: GPL-2.0
"""Reads the instances' logs and says when one of them went wrong.

A reader is any object with `name` (which instance) and `read()` (what came
since the last call, as text).  The machine calls Watch.check() all the time;
whoever wants to know asks for faults.  An instance whose log a test expects
to hold a fault is excused by a pattern.
"""
import re

# "Dying CPU not properly vacated!" (sched_cpu_dying) comes on any 6.12 when a
# CPU goes offline under load: the deadline server for ordinary tasks counts as
# running and is stopped after that check.  The list of what was left on the
# CPU follows; more than the server and the stopper is a fault as ever.
FAULT = re.compile(r"""
    WARNING:\ (?!.*(?:unlikely\ to\ work|\ sched_cpu_dying\+))
  | enqueued\ tasks\ \((?!2\ total) | \tpid:\ \d+,\ name:\ (?!migration/)
   | \bBUG:\ | kernel\ BUG\ at | Oops: | general\ protection\ fault
  | Kernel\ panic | double\ fault | Unable\ to\ handle\ kernel
  | INFO:\ (?:possible\ recursive|inconsistent\ lock|trying\ to\ register
            |task\ \S+\ blocked\ for\ more|rcu_\S+\ (?:self-)?detected
            |suspicious\ RCU)
  | rcu:\ INFO: | rcu_\w+\ kthread\ starved
  | possible\ circular\ locking | possible\ deadlock | suspicious\ RCU\ usage
  | KASAN:|UBSAN:|KFENCE:|KMSAN:|KCSAN:
  | soft\ lockup | hard\ LOCKUP | watchdog:\ BUG
  | kmemleak:\ \d+\ new\ suspected
  | unreferenced\ object\ 0x
  | ODEBUG: | list_(?:add|del)\ corruption | Bad\ page\ state
  | bad:\ scheduling\ from | scheduling\ while\ atomic
  | sleeping\ function\ called\ from\ invalid
  | segfault\ at | general\ protection\ fault
  | DEBUG_LOCKS_WARN_ON
  | node\ \d+:\ (?:cannot\ lend|CPU\ \d+\ does\ not\ come\ back)
""", re.X)


FOLLOWING = 60          # lines behind a fault's first one: registers, stack


class LogFault:
    """The first line of a fault in an instance's log, and what follows it."""

    def __init__(self, instance, line):
        self.instance = instance
        self.line = line.strip()
        self.following = []

    def __str__(self):
        return f"{self.instance}: {self.line}"


class ConsoleReader:
    """Instance 0's serial console, which QEMU writes to a file."""

    def __init__(self, name, path):
        self.name = name
        self.path = path
        self.at = 0

    def read(self):
        """What came since the last call."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self.at)
                data = file.read()
        except FileNotFoundError:
            return ""
        self.at += len(data)
        return data.decode("utf-8", "replace")


    def skip(self):
        """What stands there has been judged already."""
        self.at = self.path.stat().st_size


class Watch:
    """Scans every reader's text line by line; remembers faults in order."""

    def __init__(self):
        self.readers = []
        self.faults = []
        self.grew = 0           # characters seen, of all instances
        self.excused = []
        self.partial = {}

    def add(self, reader):
        """Watch one more instance."""
        self.readers.append(reader)

    def excuse(self, pattern):
        """From now on, lines ("instance N: text") that match are no fault."""
        self.excused.append(re.compile(pattern))

    def excuse_none(self):
        """Forget the excuses."""
        self.excused.clear()

    def check(self):
        """Read what is new; true when a fault is known."""
        for reader in self.readers:
            text = reader.read()
            if not text:
                continue
            self.grew += len(text)
            text = self.partial.get(reader.name, "") + text
            lines = text.split("\n")
            self.partial[reader.name] = lines.pop()
            for line in lines:
                self.scan(reader.name, line)
        return bool(self.faults)

    def scan(self, name, line):
        """Judge one whole line."""
        for fault in self.faults:
            if fault.instance == name and len(fault.following) < FOLLOWING:
                fault.following.append(line)
        if FAULT.search(line) and \
                not any(e.search(f"{name}: {line}") for e in self.excused):
            self.faults.append(LogFault(name, line))

    def take(self):
        """The faults so far; they are forgotten here."""
        self.check()
        found, self.faults = self.faults, []
        return found
