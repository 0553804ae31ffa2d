# SPDX-License-Identifier: GPL-2.0
"""watch: which lines of a log are a fault, and which are not."""
import unittest

import watch

FAULTS = """\
[    1.0] WARNING: CPU: 0 PID: 1 at kernel/fork.c:1 fork+0x1/0x2
[    1.0] WARNING: possible circular locking dependency detected
[    1.0] WARNING: suspicious RCU usage
[    1.0] BUG: KASAN: slab-use-after-free in foo+0x1/0x2
[    1.0] BUG: sleeping function called from invalid context at mm/a.c:1
[    1.0] kernel BUG at mm/slub.c:1!
[    1.0] Oops: general protection fault, probably for non-canonical address
[    1.0] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
[    1.0] watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [a:1]
[    1.0] UBSAN: array-index-out-of-bounds in a.c:1:2
[    1.0] Kernel panic - not syncing: Attempted to kill init!
[    1.0] INFO: task a:12 blocked for more than 120 seconds.
[    1.0] CPU1 enqueued tasks (3 total):
[    1.0] \tpid: 77, name: sh
[    1.0] node 2: cannot lend 0x40000000 bytes at 0x100000000: -12
[    1.0] node 2: CPU 4 does not come back: -5
unreferenced object 0xffff888100000000 (size 64):
[    1.0] list_del corruption, a->next is LIST_POISON1""".splitlines()

HARMLESS = """\
[    0.0] Kernel command line: panic=-1
[    0.0] rcu: RCU restricting CPUs from NR_CPUS=64 to nr_cpu_ids=4.
[    0.0] ACPI: BIOS bug: nothing of ours
[    0.0] watchdog: Delayed init of the lockup detector failed: -19
[    0.0] EXT4-fs warning: mounting fs with errors
[    1.0] WARNING: CPU: 1 PID: 23 at kernel/sched/core.c:8365 sched_cpu_dying+0x74/0x1a0
[    1.0] CPU1 enqueued tasks (2 total):
[    1.0] \tpid: 23, name: migration/1
[    0.0] kmemleak: Kernel memory leak detector initialized""".splitlines()


class Lines:
    """A reader that gives what it was told to, piece by piece."""

    def __init__(self, name, *pieces):
        self.name = name
        self.pieces = list(pieces)

    def read(self):
        """The next piece."""
        return self.pieces.pop(0) if self.pieces else ""


class Patterns(unittest.TestCase):
    """FAULT"""

    def test_each_fault_is_seen(self):
        for line in FAULTS:
            self.assertTrue(watch.FAULT.search(line), line)

    def test_harmless_lines_pass(self):
        for line in HARMLESS:
            self.assertFalse(watch.FAULT.search(line), line)


class Watching(unittest.TestCase):
    """Watch"""

    def test_line_cut_in_two_is_one_line(self):
        seen = watch.Watch()
        seen.add(Lines("instance 1", "fine\n[1] WAR", "NING: CPU: 1\nx"))
        self.assertFalse(seen.check())
        self.assertTrue(seen.check())
        self.assertEqual([str(f) for f in seen.take()],
                         ["instance 1: [1] WARNING: CPU: 1"])
        self.assertEqual(seen.take(), [])

    def test_what_follows_a_fault(self):
        seen = watch.Watch()
        seen.add(Lines("instance 0", "BUG: x\nCall Trace:\n", " f+0x1\n" * 99))
        seen.add(Lines("instance 1", "other\n"))
        seen.check()
        seen.check()
        following = seen.take()[0].following
        self.assertEqual(following[:2], ["Call Trace:", " f+0x1"])
        self.assertNotIn("other", following)
        self.assertEqual(len(following), watch.FOLLOWING)

    def test_excuse_ends(self):
        seen = watch.Watch()
        seen.add(Lines("instance 0", "Kernel panic - asked for\n",
                       "Kernel panic - not\n"))
        seen.excuse("panic - asked")
        self.assertFalse(seen.check())
        seen.excuse_none()
        self.assertTrue(seen.check())

    def test_excuse_of_one_instance(self):
        seen = watch.Watch()
        seen.add(Lines("instance 1", "Kernel panic\n"))
        seen.excuse("^instance 1: Kernel panic")
        self.assertFalse(seen.check())
        seen.add(Lines("instance 0", "Kernel panic\n"))
        self.assertTrue(seen.check())

    def test_instances_do_not_mix(self):
        seen = watch.Watch()
        seen.add(Lines("instance 0", "WARN"))
        seen.add(Lines("instance 1", "ING: \n"))
        self.assertFalse(seen.check())


if __name__ == "__main__":
    unittest.main()
