# SPDX-License-Identifier: GPL-2.0
"""selftests/run: what it takes for a pass, a failure and a skip."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import tempfile
import time
import unittest
from unittest import mock

TOP = pathlib.Path(__file__).resolve().parents[2]
LOADER = importlib.machinery.SourceFileLoader("run",
                                              str(TOP / "selftests" / "run"))
runner = importlib.util.module_from_spec(
    importlib.util.spec_from_loader("run", LOADER))
LOADER.exec_module(runner)
import effort                                                # noqa: E402
import lanes                                                 # noqa: E402
import record                                                # noqa: E402
import report as reports                                     # noqa: E402
import testhead                                              # noqa: E402


class FakeMachine:
    """Stands for a booted machine: a status, output, and log faults."""

    def __init__(self, status, faults=()):
        self.status, self.faults = status, list(faults)
        self.watch = self
        self.excused = []
        self.logs = []
        self.booted_in = 0.0
        self.shape = mock.Mock(append="")

    def run(self, words, output, error, limit):
        """As Machine.run()."""
        self.words = words
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
        self.out = io.StringIO()
        self.report = self.new_report(1)

    def new_report(self, total, **more):
        """Its first lines go where the others will."""
        with contextlib.redirect_stdout(self.out):
            return reports.Report(total, self.base, **more)

    def tearDown(self):
        self.folder.cleanup()

    def make(self, name, text):
        """A test with a shell script's text."""
        path = self.base / "area" / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return testhead.Test(path, self.base)

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
        self.assertEqual(lines[-3:-1],
                         ["# failed: area/10-x: the reason",
                          "# alone: selftests/run area/10-x"])

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
        words = f"-nE timeout -s KILL 56 {self.base}/area/10-x\n"
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

    def test_limit_counts_what_was_done(self):
        """A test that is kept from running is late, not wrong."""
        clock = mock.Mock()
        clock.monotonic.side_effect = [0, 100, 108, 116]
        with mock.patch.object(effort, "time", clock):
            done = effort.Effort(1, mock.Mock(side_effect=[5, 45, 45, 50]))
            self.assertEqual([done.seconds() for _ in range(3)], [40, 41, 46])
        self.assertGreater(effort.used(os.getpid()), 0)
        self.assertEqual(effort.used(1 << 30), 0)

    def test_skip_that_is_not_on_the_list(self):
        """In CI it is a failure."""
        for skips, want in ((None, "1 skipped"), ({"area/10-x"}, "1 skipped"),
                            ({"area/11-x"}, "1 failed")):
            self.report = self.new_report(1, skips=skips)
            _, lines = self.host("echo no hardware; exit 77\n")
            self.assertTrue(lines[-1].endswith(want), lines[-1])
        with mock.patch.dict(os.environ, CI="true"):
            self.assertNotIn("#", "".join(runner.allowed_skips()))

    def test_head(self):
        """What is said there, and what must be said."""
        test = self.make("20-y", "# machine: --nodes 4 --from up\n"
                         "# icount: yes, why\n# expect-log: a b\n")
        self.assertEqual((test.machine, test.excuse, test.limit),
                         ("--nodes 4 --from up --accel icount", "a b",
                          testhead.TIME_LIMIT))
        test = self.make("20-y", "# machine: --from boot\n"
                         "# icount: no, why\n")
        self.assertEqual(test.machine, "--from boot")
        self.assertEqual([t.name for t in
                          testhead.find(self.base, "[0-9][0-9]", ["20-"])],
                         ["area/20-y"])
        for text, said in (("# machine: --from up\n", "must say 'icount"),
                           ("# machine: --from up\n# icount: yes\n", "WHY"),
                           ("# machine: --nodes 4\n# icount: no, x\n",
                            "--from what")):
            with self.assertRaisesRegex(testhead.HeadError, said):
                self.make("20-y", text)

    def test_gate(self):
        """Only what cannot depend on the host, and says what it stands for."""
        head = "# gate: yes, boot\n# machine: --from {}\n# icount: {}, w\n"
        test = self.make("20-y", head.format("up", "yes"))
        self.assertEqual(test.gate, "boot")
        self.assertIsNone(self.make("20-y", "#\n").gate)
        for text in (head.format("up", "no"), head.format("boot", "yes"),
                     head.format("up --debug", "yes"), "# gate: yes\n",
                     "# gate: no, slow\n", "# gate: yes, x\n# waits: yes\n"):
            with self.assertRaisesRegex(testhead.HeadError, "gate"):
                self.make("20-y", text)
        self.make("20-y", "# gate: yes, boot\n")
        self.make("21-y", "#\n")
        with mock.patch.object(runner, "HERE", self.base):
            self.assertEqual([t.name for t in runner.find_tests("gate", [])],
                             ["area/20-y"])
            self.assertEqual(len(runner.find_tests("full", [])), 2)
            with self.assertRaisesRegex(testhead.HeadError, "'22-z' in its"):
                runner.find_tests("", ["20-y", "22-z"])
            (self.base / "area" / "21-y").chmod(0o644)
            with self.assertRaisesRegex(testhead.HeadError, "21-y: is not"):
                runner.find_tests("full", [])

    def test_debug(self):
        """What wants the debug kernel is a test more of "full", and there."""
        self.make("20-y", "# machine: --from up\n# icount: yes, w\n"
                  "# gate: yes, x\n# debug: yes\n# timeout: 100\n")
        with mock.patch.object(runner, "HERE", self.base):
            self.assertEqual(len(runner.find_tests("gate", [])), 1)
            self.assertEqual(len(runner.find_tests("", ["20-y"])), 1)
            once, again = runner.find_tests("full", [])
            self.assertEqual([t.name for t in
                              runner.find_tests("", ["20-y+debug"])],
                             [again.name])
        self.assertEqual((again.name, again.path, again.gate),
                         ("area/20-y+debug", once.path, None))
        self.assertEqual(again.machine, once.machine + " --debug")
        self.assertEqual(again.limit, once.limit * testhead.DEBUG_COST)
        with self.assertRaisesRegex(testhead.HeadError, "without a machine"):
            self.make("20-y", "# debug: yes\n")

    def test_seed(self):
        """The gate draws the same lots each time."""
        for size, env, fixed in (("gate", {}, True), ("full", {}, False),
                                 ("full", {"CI": "true"}, True)):
            with mock.patch.dict(os.environ, env):
                if not env:
                    os.environ.pop("CI", None)
                os.environ.pop("SEED", None)
                self.assertEqual(runner.draw_seed(size) == "1", fixed)

    def test_record(self):
        """A line for each whole run, of the commit that it began with."""
        commit = "c" * 40
        with mock.patch.dict(os.environ, MIOS_CACHE=self.folder.name), \
                mock.patch.object(record, "commit") as now:
            now.side_effect = [(commit, True)] * 2
            record.Run("gate").write(mock.Mock(passed=3, failed=0), 0, 1.6)
            now.side_effect = [(commit, True), (commit, False)]
            record.Run("full").write(mock.Mock(passed=2, failed=1), 4, 9)
            self.assertEqual(
                (self.base / "checks").read_text().splitlines(),
                [f"{commit} clean gate passed 3 failed 0 left-out 0 seconds 2",
                 f"{commit} dirty full passed 2 failed 1 left-out 4 seconds 9"])

    def test_full_goes_on(self):
        """What has passed on this commit is known; a changed tree is none."""
        with mock.patch.dict(os.environ, MIOS_CACHE=self.folder.name), \
                mock.patch.object(record, "commit") as now:
            now.return_value = "d" * 40, True
            record.Run("full").keep(["area/10-x"])
            record.Run("full").keep(["area/11-x"])
            self.assertEqual(record.Run("full").passed_before(),
                             {"area/10-x", "area/11-x"})
            self.assertEqual(record.Run("gate").passed_before(), set())
            now.return_value = "d" * 40, False
            self.assertEqual(record.Run("full").passed_before(), set())

    def test_parts(self):
        """Together they are all tests; who divides himself is in each."""
        tests = [self.make(f"1{i}-x", ":\n") for i in range(5)]
        tests.append(self.make("20-x", "# parts: yes\n"))
        found = [testhead.in_part(tests, testhead.parse_part(f"{i}/3"))
                 for i in (1, 2, 3)]
        self.assertEqual([len(part) for part in found], [3, 3, 2])
        self.assertEqual(set().union(*found), set(tests))
        for wrong in "0/3", "4/3", "1", "a/b":
            with self.assertRaises(testhead.HeadError):
                testhead.parse_part(wrong)

    def test_a_test_that_did_not_run_is_a_failure(self):
        self.report = self.new_report(2)
        status, lines = self.host("echo fine\n")
        self.assertEqual((status, lines[-2:]),
                         (1, ["not all tests ran: 1 of 2",
                              "1 passed, 1 failed"]))

    def test_deadline(self):
        """What would not end in time is named, and the run has failed."""
        tests = [self.make(f"1{i}-x", ":\n") for i in range(3)]
        times = {"area/10-x": 1, "area/11-x": 1000, "area/12-x": 2}
        self.report = self.new_report(3)
        queue = lanes.Lanes(tests, times, time.time() + 60,
                            self.report.leave_out)
        with contextlib.redirect_stdout(self.out):
            queue.run(2, lambda t: runner.run_on_host(t, self.report))
            self.assertEqual(self.report.finish(), 1)
        self.assertIn("passed its deadline: area/11-x", self.out.getvalue())
        self.assertTrue(self.out.getvalue().endswith("2 passed, 1 failed\n"))

    def test_lanes(self):
        """The longest first; one checkpoint is made once."""
        head = "# machine: --from {}\n# icount: no, why\n"
        tests = [self.make("10-x", ":\n"),
                 self.make("11-x", head.format("up")),
                 self.make("12-x", head.format("up")),
                 self.make("13-x", head.format("ready"))]
        times = {f"area/1{i}-x": t for i, t in enumerate((1, 9, 8, 2))}
        queue = lanes.Lanes(tests, times)
        taken = [queue.take().name for _ in range(3)]
        self.assertEqual(taken, ["area/11-x", "area/13-x", "area/10-x"])
        queue.started(tests[1])
        self.assertEqual(queue.take(), tests[2])
        self.assertIsNone(queue.take())

    def test_lane_of_those_that_wait(self):
        """They run beside the others, and where that lane has ended after."""
        tests = [self.make("10-x", ":\n"), self.make("11-x", "# waits: yes\n"),
                 self.make("12-x", "# waits: yes\n")]
        times = {"area/10-x": 1, "area/11-x": 9, "area/12-x": 8}
        queue = lanes.Lanes(tests, times)
        taken = [queue.take(), queue.take(True), queue.take(), queue.take(True)]
        self.assertEqual(taken, [tests[0], tests[1], tests[2], None])

    @staticmethod
    def fault(line, *following):
        """As Watch.take() gives one."""
        found = runner.machine.watch.LogFault("instance 1", line)
        found.following += following
        return found

    def machine(self, vm):
        """Run one in a machine; (passed, failed)."""
        test = self.make("30-z", "# expect-log: x\n")
        with contextlib.redirect_stdout(self.out), \
                mock.patch.object(runner.machine, "scan_leaks",
                                  lambda vm: vm.settle()):
            runner.run_in_machine(test, vm, self.report, 42)
        self.assertEqual(vm.excused, ["x"])
        self.assertIn("SEED=42", vm.words)
        return self.report.passed, self.report.failed

    def test_in_machine(self):
        self.assertEqual(self.machine(FakeMachine(0)), (1, 0))

    def test_fault_in_the_log_fails_a_test_that_passed(self):
        faults = [self.fault("BUG: x", "Call Trace:")]
        self.assertEqual(self.machine(FakeMachine(0, faults)), (0, 1))
        lines = self.out.getvalue().splitlines()
        self.assertIn("# instance 1: BUG: x", lines)
        self.assertIn("# Call Trace:", lines)

    def test_failure_shows_the_ends_of_the_logs(self):
        log = self.base / "instance1.log"
        log.write_text("".join(f"line {i}\n" for i in range(100)))
        vm = FakeMachine(1)
        vm.logs = [log]
        self.assertEqual(self.machine(vm), (0, 1))
        lines = self.out.getvalue().splitlines()
        self.assertIn("# --- the end of instance1.log", lines)
        self.assertEqual(lines[-1], "# line 99")
        self.assertNotIn(f"# line {99 - reports.SHOWN_LINES}", lines)
        # Who sees only the end of it all sees enough.
        with contextlib.redirect_stdout(self.out):
            self.report.finish("SEED=42 selftests/run")
        retold = self.out.getvalue().splitlines()[len(lines):]
        self.assertIn("# --- the end of instance1.log", retold)
        self.assertIn("# line 99", retold)
        self.assertEqual(retold[-2:], ["# alone: SEED=42 selftests/run area/30-z",
                                       "0 passed, 1 failed"])

    def test_fault_in_the_log_fails_a_test_that_skipped(self):
        self.assertEqual(self.machine(FakeMachine(77, [self.fault("BUG: x")])),
                         (0, 1))


if __name__ == "__main__":
    unittest.main()
