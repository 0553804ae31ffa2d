# SPDX-License-Identifier: GPL-2.0
"""The test machine itself: what it passes on, and that no fault gets by."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import checkpoint                                            # noqa: E402
import effort                                                # noqa: E402
import machine                                               # noqa: E402
import memmap                                                # noqa: E402
import options                                               # noqa: E402
import stage                                                 # noqa: E402
from terminal import expect, on_terminal                     # noqa: E402

PROVOKE = "modprobe lkdtm; echo %s > /sys/kernel/debug/provoke-crash/DIRECT"

# QEMU, which crashes after a second as often as a file has characters
CRASHING = """#!/bin/sh
[ -s %(left)s ] || exec %(qemu)s "$@"
%(qemu)s "$@" &
sleep 1
truncate -s -1 %(left)s
kill -9 $!
kill -SEGV $$
"""


def make(words):
    """A machine from mios-vm's own options, not started."""
    return options.make_machine(options.parse(["run", *words, "--", "x"])[0])


def run(vm, script, limit=60, **more):
    """(status, output, error output) of a shell script in instance 0."""
    out, err = [], []
    status = vm.run(["sh", "-c", script], out.append, err.append, limit,
                    **more)
    return status, b"".join(out).decode(), b"".join(err).decode()


class OneMachine(unittest.TestCase):
    """What needs no machine of its own; unequal nodes, a host folder."""

    @classmethod
    def setUpClass(cls):
        cls.host = tempfile.TemporaryDirectory()
        pathlib.Path(cls.host.name, "hello").write_text("from the host\n")
        cls.vm = make(["--nodes", "3", "--cpus-per-node", "2",
                       "--memory-per-node", "1G,2G,512M", "--copy",
                       cls.host.name, "--append", "mios_test_word"])
        cls.vm.start()

    @classmethod
    def tearDownClass(cls):
        cls.vm.stop()
        cls.host.cleanup()

    def tearDown(self):
        self.assertEqual([str(f) for f in self.vm.settle()], [])

    def test_status_and_streams(self):
        self.assertEqual(run(self.vm, "echo a; echo b >&2; exit 42"),
                         (42, "a\n", "b\n"))
        self.assertEqual(run(self.vm, "kill -9 $$")[0], 128 + 9)
        self.assertEqual(self.vm.run(["no-such-program"], lambda d: None,
                                     lambda d: None), 127)

    def test_much_output(self):
        status, out, _ = run(self.vm, "seq 200000")
        self.assertEqual((status, len(out)), (0, 1288895))

    def test_input(self):
        with tempfile.TemporaryFile() as file:
            file.write(b"word\n" * 40000)
            file.seek(0)
            done = run(self.vm, "cat; echo end", stdin=file.fileno())
        self.assertEqual(done, (0, "word\n" * 40000 + "end\n", ""))

    def test_terminal(self):
        _, out, _ = run(self.vm, "tty; stty size", terminal=(33, 99))
        self.assertRegex(out, r"/dev/pts/\d+\r\n33 99\r\n")
        self.assertIn("not a tty", run(self.vm, "tty")[1])

    def test_background_process_does_not_hold_the_command(self):
        self.assertEqual(run(self.vm, "sleep 100 & echo done", limit=20)[1],
                         "done\n")

    def test_host_folder(self):
        self.assertEqual(run(self.vm, "cat /mnt/host/hello")[1],
                         "from the host\n")
        self.assertEqual(run(self.vm, "echo x > /mnt/host/new")[0], 0)

    def test_command_line(self):
        self.assertIn("mios_test_word", run(self.vm, "cat /proc/cmdline")[1])

    def test_cpus_and_nodes(self):
        _, out, _ = run(self.vm, "cat /sys/devices/system/node/*/cpulist; "
                        "cat /sys/devices/system/node/node0/distance")
        self.assertEqual(out.split("\n")[:4],
                         ["0-1", "2-3", "4-5", "10 20 20"])

    def test_kernel_agrees_on_the_memory_map(self):
        """The map that we compute is the one in SRAT."""
        _, out, _ = run(self.vm, "dmesg | grep 'ACPI: SRAT: Node'")
        found = {}
        for line in out.splitlines():
            words = line.split()
            node = int(words[words.index("Node") + 1])
            start, end = (int(x, 16) for x in words[-1].strip("[]")
                          .replace("mem", "").strip().split("-"))
            found.setdefault(node, []).append((start, end + 1 - start))
        for node, ranges in enumerate(memmap.node_ranges(
                self.vm.shape.memory)):
            want = [(b, s) for b, s, _ in ranges]
            got = merge(found[node])
            # SRAT cuts 640 KiB to 1 MiB out of node 0
            self.assertEqual([(b, s) for b, s in got if b] or got,
                             [(b, s) for b, s in want] if node else
                             [(memmap.MIB, want[0][1] - memmap.MIB)])

    def test_other_nodes_are_left_alone(self):
        """At boot; mios.ko may lend their memory to instance 0 later."""
        _, out, _ = run(self.vm, "grep ': System RAM$' /proc/iomem")
        ends = [int(line.split()[0].split("-")[1], 16)
                for line in out.splitlines()]
        self.assertTrue(ends)
        self.assertLess(max(ends), self.vm.shape.memory[0])

    def test_memory_can_be_read_from_outside(self):
        """The kernel's banner lies in its read-only data."""
        _, out, _ = run(self.vm, "grep 'Kernel rodata' /proc/iomem; uname -r")
        place, release = out.splitlines()
        start, end = (int(x, 16) for x in place.split()[0].split("-"))
        data = self.vm.read_memory(start, end - start)
        self.assertIn(f"Linux version {release} ".encode(), data)
        with self.assertRaises(ValueError):
            self.vm.read_memory(1 << 40, 1)

    def test_console_of_a_running_machine(self):
        done = subprocess.run(
            [str(HERE / "mios-vm"), "console", "0", "--run",
             str(self.vm.logs)], check=False, text=True, timeout=120,
            input="echo is $((40 + 2))\nexit 5\n", stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("is 42", done.stdout)

    def test_qmp(self):
        control = self.vm.qmp()
        self.assertEqual(control.do("query-status")["status"], "running")
        with self.assertRaises(ValueError):
            control.do("no-such-command")
        control.close()

    def test_warning_in_the_log_is_found(self):
        self.assertEqual(run(self.vm, PROVOKE % "WARNING")[0], 0)
        faults = [str(f) for f in self.vm.settle()]
        self.assertTrue(faults)
        self.assertRegex(faults[0], r"^instance 0: .*WARNING: ")


def merge(ranges):
    """Adjacent ranges as one."""
    out = []
    for base, size in sorted(ranges):
        if out and out[-1][0] + out[-1][1] == base:
            out[-1] = (out[-1][0], out[-1][1] + size)
        else:
            out.append((base, size))
    return out


class BrokenMachines(unittest.TestCase):
    """Each of these ends its machine, in bounded time and with a reason."""

    def failure(self, script, limit=100, silence=None, words=()):
        """The reason why the run of a script failed."""
        with make(["--nodes", "1", "--from", "ready", *words]) as vm:
            if silence:
                vm.silence_limit = silence
            done = effort.Effort(vm.process.pid)
            with self.assertRaises(machine.MachineError) as caught:
                run(vm, script, limit)
            self.done = done.seconds()
        return str(caught.exception)

    def test_panic(self):
        self.assertRegex(self.failure("echo c > /proc/sysrq-trigger; cat"),
                         "instance 0: .*panic.*sysrq triggered crash")

    def test_hang(self):
        self.assertIn("no sign of life for 20 s",
                      self.failure(PROVOKE % "HARDLOCKUP", silence=20))

    def test_time_limit(self):
        """Of the guest's clock: under icount it does not take that long."""
        self.assertEqual(self.failure("sleep 1000", limit=500,
                                      words=("--accel", "icount")),
                         "time limit reached")
        self.assertLess(self.done, 400)

    def test_poweroff(self):
        self.assertIn("QEMU ended: guest-shutdown",
                      self.failure("poweroff; sleep 100"))

    def test_crash_of_qemu(self):
        """Of its own while it boots: tried again, and only once."""
        for crashes in 1, 2:
            with self.subTest(crashes), tempfile.TemporaryDirectory() as at:
                left = pathlib.Path(at, "left")
                left.write_text("x" * crashes)
                wrapper = pathlib.Path(at, "qemu-system-x86_64")
                wrapper.write_text(CRASHING % {"left": left,
                                               "qemu": shutil.which(
                                                   wrapper.name)})
                wrapper.chmod(0o755)
                vm = make(["--nodes", "1"])
                path = f"{at}:{os.environ['PATH']}"
                with unittest.mock.patch.dict(os.environ, PATH=path):
                    if crashes == 1:
                        with vm:
                            self.assertEqual(run(vm, "exit 7")[0], 7)
                    else:
                        with self.assertRaisesRegex(machine.MachineError,
                                                    r"\(exit -11\)"):
                            vm.start()
                        vm.stop()
                self.assertEqual(left.read_text(), "")

    def test_reset(self):
        self.assertIn("QEMU ended: guest-reset",
                      self.failure("echo b > /proc/sysrq-trigger; sleep 100"))


class Checkpoints(unittest.TestCase):
    """A machine that was kept is the one that had been made."""

    def test_state(self):
        """All are up, and have not booted again; logs go on."""
        with make(["--nodes", "2", "--from", "up"]) as vm:
            self.assertEqual(run(vm, "mios exec 1 -- cat /proc/uptime")[0], 0)
            _, out, _ = run(vm, "cat /sys/kernel/mios/instance*/state; "
                            "cat /sys/kernel/mios/instance1/incarnation")
            self.assertEqual(out, "up\nup\n1\n")
            self.assertEqual([str(f) for f in vm.settle()], [])
            for log in vm.node_logs():
                text = log.read_text(errors="replace")
                self.assertEqual(text.count("Linux version 6.12"), 1, log)

    def test_writes_are_lost(self):
        """The next one finds what the first had found."""
        for _ in range(2):
            with make(["--nodes", "1", "--from", "ready"]) as vm:
                self.assertEqual(run(vm, "[ ! -e /root/mark ] && "
                                     "echo x > /root/mark && sync")[0], 0)

    def test_lots_differ(self):
        """Else a test that draws by lot would draw the same each time."""
        drawn = set()
        for _ in range(2):
            with make(["--nodes", "1", "--from", "ready", "--accel",
                       "icount"]) as vm:
                drawn.add(run(vm, "od -An -N16 -tx1 /dev/urandom")[1])
        self.assertEqual(len(drawn), 2)

    def test_one_with_a_fault_is_not_kept(self):
        """Nor one whose instances do not boot."""
        broken = "echo 99 > /sys/module/mios/parameters/" \
            "inject_manifest_version\n" + checkpoint.BOOT_ALL
        for script in PROVOKE % "WARNING", broken:
            vm = make(["--nodes", "2", "--append", "mios_test_broken"])
            with unittest.mock.patch.dict(checkpoint.STATES,
                                          ready=("boot", script)), \
                    self.assertRaisesRegex(stage.StageError,
                                           "'ready': .*(WARNING|boot 1: )"):
                checkpoint.get(vm, "ready")

    def test_what_it_is_made_of(self):
        """Each input changes the name; one cut short is made again."""
        vm = make(["--nodes", "1"])
        names = {checkpoint.digest(make(["--nodes", "1", *words]))
                 for words in ([], [], ["--accel", "icount"],
                               ["--append", "x"], ["--cpus-per-node", "2"])}
        self.assertEqual(len(names), 4)
        with tempfile.TemporaryDirectory() as folder:
            self.assertFalse(checkpoint.find(pathlib.Path(folder),
                                             vm.tsc_khz()))


class CommandLine(unittest.TestCase):
    """mios-vm as called from a shell."""

    @staticmethod
    def call(*words, **more):
        """Run it to its end."""
        return subprocess.run([str(HERE / "mios-vm"), *words], check=False,
                              text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=500,
                              stdin=subprocess.DEVNULL, **more)

    def test_status_is_the_commands(self):
        done = self.call("run", "--nodes", "2", "--plain", "--", "sh", "-c",
                         "grep -c node /proc/cmdline; numactl -H | grep size;"
                         "exit 7")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertRegex(done.stdout, r"node 1 size: (9|10)\d\d MB")

    def test_warning_fails_the_run(self):
        done = self.call("run", "--nodes", "1", "--from", "ready", "--",
                         "sh", "-c", PROVOKE % "WARNING")
        self.assertEqual(done.returncode, 125)
        self.assertRegex(done.stderr.splitlines()[-1],
                         r"^mios-vm: FAILED: instance 0: .*WARNING: ")

    def test_warning_of_a_child_fails_the_run(self):
        done = self.call("run", "--nodes", "2", "--from", "up", "--",
                         "sh", "-c", "mios exec 1 -- sh -c 'mount -t "
                         "debugfs none /sys/kernel/debug; "
                         f"{PROVOKE % 'WARNING'}'")
        self.assertEqual(done.returncode, 125)
        self.assertRegex(done.stderr.splitlines()[-1],
                         r"^mios-vm: FAILED: instance 1: .*WARNING: ")

    def test_bad_options_are_one_line(self):
        for words in (["run", "--nodes", "9", "--", "true"],
                      ["run", "--cpus-per-node", "5", "--", "true"],
                      ["run", "--memory-per-node", "100M", "--", "true"],
                      ["run", "--nodes", "3", "--memory-per-node", "1G,1G",
                       "--", "true"],
                      ["run", "--kernel", "/no/file", "--", "true"],
                      ["run", "--nodes", "2"],
                      ["run", "--copy", "/no/folder", "--", "true"]):
            done = self.call(*words)
            self.assertEqual(done.returncode, 125, words)
            self.assertRegex(done.stderr.splitlines()[-1], "^mios-vm: .",
                             words)
            self.assertNotIn("Traceback", done.stderr, words)

    def test_shell_and_console(self):
        """A shell on a terminal, and beside it the console of an instance."""
        with tempfile.TemporaryDirectory() as logs, \
                on_terminal([HERE / "mios-vm", "shell", "--nodes", "2",
                             "--from", "up", "--logs", logs]) as (shell, _, first):
            expect(shell, b"leave with exit")
            with on_terminal([HERE / "mios-vm", "console", "1", "--run",
                              logs]) as (console, _, second):
                expect(console, b"leaves it]")
                os.write(console, b"\n")
                expect(console, b"login:")
                os.write(console, b"root\n")
                expect(console, b"root@node1")
                os.write(console, b"exit\n\x1d")
                expect(console, b"[left the console")
                self.assertEqual(second.wait(60), 0)
            os.write(shell, b"exit 5\n")
            self.assertEqual(first.wait(60), 5)

    def test_logs_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            logs = os.path.join(folder, "logs")
            self.call("run", "--nodes", "1", "--from", "ready", "--logs", logs,
                      "--", "sh", "-c", "echo kept-$((40 + 2)) > /dev/kmsg")
            text = pathlib.Path(logs, "instance0.log").read_text()
        self.assertIn("kept-42", text)
        self.assertIn("Linux version 6.12", text)


if __name__ == "__main__":
    unittest.main()
