# SPDX-License-Identifier: GPL-2.0
"""A child touches no port and no device register that is not its own."""
import os
import pathlib
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import audit                                                 # noqa: E402
import options                                               # noqa: E402
import qemu                                                  # noqa: E402

CHILD_CPUS = {2, 3}
LIMIT = 300


def line(cpu, address, value=0, write=True):
    """A line as QEMU writes it."""
    kind = "write" if write else "read"
    return f"memory_region_ops_{kind} cpu {cpu} mr 0x55 addr {address:#x} " \
        f"value {value:#x} size 4 name 'x'"


class Judging(unittest.TestCase):
    """judge() on made-up traces"""

    start = line(0, 0xfee00300, 0x4620)
    end = line(0, 0xfee00300, 0x4500)
    own = line(0, 0xfee00300, 0x469a)   # instance 0's trampoline

    def bad(self, *lines):
        """How many of the accesses are forbidden."""
        return len(audit.judge(audit.parse(lines), CHILD_CPUS)[1])

    def test_only_the_childs_time_counts(self):
        port = line(2, 0xcf8)
        self.assertEqual(self.bad(port, self.end, self.start, self.end,
                                  self.own, port), 0)
        self.assertEqual(self.bad(self.start, self.end, self.start, port), 1)
        self.assertEqual(self.bad(self.start, port, self.end), 1)
        self.assertEqual(self.bad(self.start, line(0, 0xcf8)), 0)

    def test_allowance(self):
        self.assertEqual(self.bad(self.start, line(2, 0xfee000b0),
                                  line(2, 0x87, write=False)), 0)
        self.assertEqual(self.bad(self.start, line(2, 0x87)), 1)
        self.assertEqual(self.bad(self.start, line(3, 0xfec00000)), 1)

    def test_child_starts_its_own_cpus(self):
        """Its INIT to its second CPU does not end its time."""
        self.assertEqual(self.bad(self.start, line(2, 0xfee00300, 0x4500),
                                  line(3, 0x70)), 1)


class Child(unittest.TestCase):
    """A real one, from its first instruction to its end."""

    def test_boot_work_and_kill(self):
        # With KVM the interrupt controllers are in the host's kernel.
        words = ["run", "--nodes", "4", "--cpus-per-node", "2",
                 "--from", "ready", "--accel", "icount",
                 *os.environ.get("AUDIT", "").split(), "--", "x"]
        lines = []
        with options.make_machine(options.parse(words)[0]) as vm:
            control = vm.qmp()

            def run(*command):
                self.assertEqual(vm.run(command, lines.append, lines.append,
                                        LIMIT), 0, lines)
            trace = vm.logs / qemu.LOG
            for event in audit.EVENTS:
                control.do("trace-event-set-state", name=event, enable=True)
            run("mios", "boot", "1")
            run("mios", "exec", "1", "--", "sh", "-c",
                "cat /proc/interrupts /proc/iomem; ls -R /sys > /dev/null; "
                "dmesg > /dev/null; nproc")
            run("mios", "kill", "1")
            for event in audit.EVENTS:
                control.do("trace-event-set-state", name=event, enable=False)
            control.close()
            time.sleep(1)
            text = trace.read_text(errors="replace")
            self.assertEqual([str(f) for f in vm.settle()], [])
        count, bad = audit.judge(audit.parse(text.splitlines()), CHILD_CPUS)
        print(f"{count} accesses of the child, {len(bad)} not its own")
        self.assertGreater(count, 1000)
        self.assertEqual([str(b) for b in bad[:5]], [])


if __name__ == "__main__":
    unittest.main()
