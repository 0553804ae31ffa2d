# SPDX-License-Identifier: GPL-2.0
"""The options of mios-vm, as far as they need no machine."""
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]
import options                                               # noqa: E402


class Words(unittest.TestCase):
    """What is understood, and what is refused instead of ignored"""

    def refused(self, line, said):
        """A usage error that says it."""
        with self.assertRaisesRegex(options.UsageError, said):
            options.parse(line.split())

    def test_understood(self):
        """Each action with what belongs to it."""
        parsed, command = options.parse("run --nodes 3 -- sleep 1".split())
        self.assertEqual((parsed.nodes, command), (3, ["sleep", "1"]))
        self.assertEqual(options.parse(["console"])[0].instance, 0)
        parsed, _ = options.parse("console 2 --run build/logs/x".split())
        self.assertEqual((parsed.instance, parsed.run), (2, "build/logs/x"))
        self.assertEqual(options.parse(["shell"])[1], [])

    def test_command(self):
        """Only run has one, and needs it."""
        self.refused("run", "run needs a command")
        self.refused("run --", "run needs a command")
        self.refused("shell -- id", "shell takes no command")
        self.refused("console 1 -- id", "console takes no command")

    def test_instance(self):
        """Only console goes to one."""
        self.refused("shell 3", "shell takes no instance")
        self.refused("run 0 -- id", "run takes no instance")

    def test_run(self):
        """--run names a machine that runs; the others start one."""
        self.refused("shell --run build/logs/x", "--run is for console")
        self.refused("run --run build/logs/x -- id", "--run is for console")
