# SPDX-License-Identifier: GPL-2.0
"""selftests/run: what it takes for a pass, a failure and a skip."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import tempfile
import unittest
from unittest import mock

TOP = pathlib.Path(__file__).resolve().parents[2]
LOADER = importlib.machinery.SourceFileLoader("run",
                                              str(TOP / "selftests" / "run"))
runner = importlib.util.module_from_spec(
    importlib.util.spec_from_loader("run", LOADER))
LOADER.exec_module(runner)


class FakeMachine:
    """Stands for a booted machine: a status, output, and log faults."""

    def __init__(self, status, faults=()):
        self.status, self.faults = status, list(faults)
        self.watch = self
        self.excused = []
        self.logs = []
        self.stood_still = 0.0

    def run(self, words, output, error, limit):
        """As Machine.run()."""
        output(b"said\n")
        return self.status

    def settle(self):
        """As Machine.settle()."""
        return self.faults

    def node_logs(self):
        """As Machine.node_logs()."""
        return self.logs

    def excuse(self, pattern):
        """As Watch.excuse()."""
        self.excused.append(pattern)

    def excuse_none(self):
        """As Watch.excuse_none()."""


class Runner(unittest.TestCase):
    """With made-up tests"""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.base = pathlib.Path(self.folder.name)
        (self.base / "area").mkdir()
        self.old, runner.HERE = runner.HERE, self.base
        self.out = io.StringIO()
        with contextlib.redirect_stdout(self.out):
            self.report = runner.Report(1, self.base)

    def tearDown(self):
        runner.HERE = self.old
        self.folder.cleanup()

    def make(self, name, text):
        """A test with a shell script's text."""
        path = self.base / "area" / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return runner.Test(path)

    def host(self, text):
        """Run one on the host; what the report says then."""
        with contextlib.redirect_stdout(self.out):
            runner.run_on_host(self.make("10-x", text), self.report)
            status = self.report.finish()
        return status, self.out.getvalue().splitlines()

    def test_pass(self):
        status, lines = self.host("echo fine\n")
        self.assertEqual((status, lines[-1]), (0, "1 passed, 0 failed"))

    def test_failure_shows_its_line(self):
        status, lines = self.host("echo a; echo the reason; echo; exit 1\n")
        self.assertEqual((status, lines[-1]), (1, "0 passed, 1 failed"))
        self.assertIn("# the reason", lines)
        self.assertEqual(lines[-2], "# failed: area/10-x: the reason")

    def test_signal_is_a_failure(self):
        self.assertEqual(self.host("kill -9 $$\n")[0], 1)

    def test_only_skips_is_no_pass(self):
        status, lines = self.host("echo no hardware; exit 77\n")
        self.assertEqual((status, lines[-1]),
                         (1, "0 passed, 0 failed, 1 skipped"))
        self.assertIn("# SKIP no hardware", lines[-2])

    def test_time_limit(self):
        status, lines = self.host("# timeout: 0.3\nsleep 30\n")
        self.assertEqual(status, 1)
        self.assertIn("# time limit of 0 s reached", lines)

    def test_root(self):
        """Who is not root runs by sudo what has to be, or not at all."""
        sudo = self.base / "sudo"
        path = f"{self.base}:{os.environ['PATH']}"
        words = f"-nE timeout -s KILL 7 {self.base}/area/10-x\n"
        for user, head, allowed, said in (
                (1000, "yes", "true", f"-n true\n{words}"),
                (1000, "yes", "false", "-n true\n"),
                (1000, "no", "true", ""), (0, "yes", "true", "")):
            log = self.base / "said"
            log.write_text("")
            sudo.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> {log}\n'
                            f'shift; {allowed} && exec "$@"\n')
            sudo.chmod(0o755)
            with mock.patch.dict(os.environ, PATH=path), \
                    mock.patch.object(os, "geteuid", return_value=user):
                _, lines = self.host(f"# root: {head}\n# timeout: 7\n:\n")
            self.assertEqual(log.read_text(), said)
            self.assertEqual("# SKIP needs root" in "\n".join(lines[-3:]),
                             allowed == "false")

    def test_head(self):
        test = self.make("20-y", "# machine: --nodes 4\n# expect-log: a b\n")
        self.assertEqual((test.machine, test.excuse, test.limit),
                         ("--nodes 4", "a b", runner.TIME_LIMIT))
        self.assertEqual([t.name for t in runner.find("[0-9][0-9]", "20-")],
                         ["area/20-y"])

    def test_a_test_that_did_not_run_is_a_failure(self):
        with contextlib.redirect_stdout(self.out):
            self.report = runner.Report(2, self.base)
        status, lines = self.host("echo fine\n")
        self.assertEqual((status, lines[-2:]),
                         (1, ["not all tests ran: 1 of 2",
                              "1 passed, 1 failed"]))

    def test_machines_with_most_to_do_come_first(self):
        tests = [self.make(f"1{i}-x", f"# machine: {words}\n# timeout: {limit}")
                 for i, (words, limit) in enumerate(
                     [("a", 10), ("b", 50), ("a", 30), ("c", 45)])]
        found = runner.machine_groups(tests + [self.make("20-x", "true\n")])
        self.assertEqual([(words, len(group)) for words, group in found],
                         [("b", 1), ("c", 1), ("a", 2)])

    @staticmethod
    def fault(line, *following):
        """As Watch.take() gives one."""
        found = runner.machine.watch.LogFault("instance 1", line)
        found.following += following
        return found

    def machine(self, vm):
        """Run one in a machine; (as good as new, passed, failed)."""
        test = self.make("30-z", "# expect-log: x\n")
        with contextlib.redirect_stdout(self.out):
            good = runner.run_in_machine(test, vm, self.report)
        self.assertEqual(vm.excused, ["x"])
        return good, self.report.passed, self.report.failed

    def test_in_machine(self):
        self.assertEqual(self.machine(FakeMachine(0)), (True, 1, 0))

    def test_fault_in_the_log_fails_a_test_that_passed(self):
        faults = [self.fault("BUG: x", "Call Trace:")]
        self.assertEqual(self.machine(FakeMachine(0, faults)), (False, 0, 1))
        lines = self.out.getvalue().splitlines()
        self.assertIn("# instance 1: BUG: x", lines)
        self.assertIn("# Call Trace:", lines)

    def test_failure_shows_the_ends_of_the_logs(self):
        log = self.base / "instance1.log"
        log.write_text("".join(f"line {i}\n" for i in range(100)))
        vm = FakeMachine(1)
        vm.logs = [log]
        self.assertEqual(self.machine(vm), (False, 0, 1))
        lines = self.out.getvalue().splitlines()
        self.assertIn("# --- the end of instance1.log", lines)
        self.assertEqual(lines[-1], "# line 99")
        self.assertNotIn(f"# line {99 - runner.SHOWN_LINES}", lines)

    def test_failure_on_a_host_that_stood_still(self):
        vm = FakeMachine(1)
        vm.stood_still = 26.4
        self.machine(vm)
        self.assertIn("# said; the host stood still for 26 s meanwhile",
                      self.out.getvalue().splitlines())

    def test_fault_in_the_log_fails_a_test_that_skipped(self):
        self.assertEqual(self.machine(FakeMachine(77, [self.fault("BUG: x")])),
                         (False, 0, 1))


if __name__ == "__main__":
    unittest.main()
