# SPDX-License-Identifier: GPL-2.0
"""One test machine: boots it, runs commands in it, judges its logs.

Used by mios-vm (one command) and by selftests/run (many tests on one
machine).  A Machine is a context manager; inside, run() may be called again
and again.  A machine that panics, hangs or says nothing raises MachineError
with the one line that tells why.
"""
import contextlib
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import agent
import memmap
import nodelog
import pulse
import qemu
import slots
import stage
import watch

HZ = 250                # CONFIG_HZ of test.config
BOOT_LIMIT = 300        # seconds until the first command can run
SILENCE_LIMIT = 90      # without a sign of life from instance 0
TAKE_LIMIT = 60         # until an emulated node's memory has moved out
STUCK_LIMIT = 60        # until instance 0, emulated, calls a CPU of it stuck
LOGS_KEPT = 20


class MachineError(Exception):
    """The machine failed, as opposed to the command in it."""


def new_log_folder(base):
    """build/logs/<run>, numbered by time; old ones go."""
    base.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%m%d-%H%M%S")
    folder = pathlib.Path(tempfile.mkdtemp(prefix=stamp + "-", dir=base))
    folder.chmod(0o755)
    olds = sorted(p for p in base.iterdir() if p.is_dir())
    for old in olds[:-LOGS_KEPT]:
        if not (old / "pid").exists():
            shutil.rmtree(old, ignore_errors=True)
    return folder


def default_accel(kernel, cache):
    """'kvm' where it works, else multi-threaded TCG; probed once per boot."""
    if not os.path.exists("/dev/kvm"):
        return "tcg,thread=multi"
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    mark = cache / f"kvm-{boot}"
    if not mark.exists():
        mark.write_text("yes" if qemu.kvm_works(kernel) else "no")
    return "kvm" if mark.read_text() == "yes" else "tcg,thread=multi"


def scan_leaks(vm):
    """Faults at the end of a run; leaks too where kmemleak is on.

    kmemleak calls an object lost that nothing pointed to during two scans;
    objects younger than five seconds do not count, hence the pause.
    """
    path = "/sys/kernel/debug/kmemleak"
    if "kmemleak=on" in vm.shape.append.split() and \
            vm.run(["sh", "-c", f"sleep 5 && echo scan > {path} && "
                    f"echo scan > {path} && head -c 4000 {path} > /dev/kmsg"],
                   lambda data: None, lambda data: None, limit=600):
        raise MachineError("kmemleak=on, but it does not look for leaks: "
                           "that takes the debug kernel (--debug)")
    return vm.settle()


def tcg_words():
    """What a guest under TCG cannot find out for itself.

    How fast its TSC is; without lpj= each CPU would calibrate its delay loop,
    just as badly.  And that a CPU may be without a core of the host for
    longer than the 20 seconds after which the kernel calls it stuck (the
    others have these words from linux/config/test.config), and that memory
    takes its time to move.
    """
    khz = int(stage.run([stage.build_helper("tsc")]))
    return f"tsc_early_khz={khz} lpj={khz * 1000 // HZ} " \
        f"watchdog_thresh={STUCK_LIMIT // 2} " \
        f"rcupdate.rcu_cpu_stall_timeout={STUCK_LIMIT} " \
        f"mios.take_timeout={TAKE_LIMIT}"


class Machine:
    """A QEMU process, its logs and its command ports."""

    def __init__(self, shape, kernel, rootfs, tree=None, modules=None,
                 copy=None, logs=None, accel="tcg,thread=multi"):
        self.shape = shape
        self.kernel = kernel
        self.rootfs = rootfs
        self.tree = tree
        self.modules = modules
        self.copy = copy
        self.accel = accel
        self.logs = logs or new_log_folder(stage.BUILD / "logs")
        self.slot = None        # held open while the machine runs
        self.silence_limit = SILENCE_LIMIT
        self.booted_in = 0.0
        self.forget()

    def forget(self):
        """As before the first start."""
        self.watch = watch.Watch()
        self.memory = []        # a memfd per node
        self.pulses = []        # of the children
        self.process = None
        self.agent = None
        self.events = None      # QEMU's control socket, for its last words
        self.deadline = None
        self.folder = None      # sockets and disks, gone at the end
        self.alive = (0.0, 0, 0)        # when, frames and characters then
        self.ticked = None              # when we last looked
        self.stood_still = 0.0          # the longest that we were kept from it

    # --- start and stop

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        """Boot, until the agent in instance 0 takes commands.

        Once more when QEMU itself crashes on the way: before its version 8.1
        a CPU may look an access up in a memory map that another one, which
        moves a PCI device, has changed half (tcg_commit), and dies of it.
        """
        try:
            self.boot()
        except MachineError as error:
            if not self.process or self.process.poll() != -signal.SIGSEGV:
                raise
            print(f"# {error}: QEMU crashed, once more", file=sys.stderr,
                  flush=True)
            self.stop()
            self.forget()
            self.boot()

    def boot(self):
        """One try to start."""
        self.slot = slots.take()
        begin = time.monotonic()
        self.logs.mkdir(parents=True, exist_ok=True)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mios-vm-"))
        for name in "instance0.log", qemu.LOG:
            (self.folder / name).symlink_to(self.logs.absolute() / name)
        disks = self.make_disks()
        self.make_memory()
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self.folder / "agent0.sock"))
        listener.listen(1)
        words = self.shape.command_line()
        if not self.accel.startswith("kvm"):
            words += " " + tcg_words()
        command = qemu.options(self.shape, self.kernel, words, disks,
                               self.folder, self.accel, self.memory)
        (self.logs / "qemu.args").write_text("\n".join(command) + "\n")
        self.launch(command)
        self.watch.add(watch.ConsoleReader("instance 0",
                                           self.logs / "instance0.log"))
        if not self.shape.plain:
            self.watch_children()
        self.accept(listener)
        self.deadline = time.monotonic() + BOOT_LIMIT
        self.guard(self.agent.wait_ready)
        self.deadline = None
        self.booted_in = time.monotonic() - begin

    def watch_children(self):
        """Every node may get an instance, and then has a log."""
        ranges = memmap.node_ranges(self.shape.memory)
        for node in range(1, self.shape.nodes):
            reader = nodelog.NodeLogReader(
                node, ranges[node], self.read_memory,
                self.logs / f"instance{node}.log")
            self.watch.add(reader)
            self.pulses.append(pulse.Pulse(reader, self.silence_limit))

    def make_disks(self):
        """Root, stage and, when asked for, the host folder."""
        stage.make_stage(self.folder / "stage.tar", self.tree, self.modules,
                         self.folder / qemu.INITRD)
        disks = [self.rootfs, self.folder / "stage.tar"]
        if self.copy:
            stage.make_copy(self.copy, self.folder / "copy.ext4")
            disks.append(self.folder / "copy.ext4")
        return disks

    def make_memory(self):
        """A file without a name per node; it goes when we and QEMU go."""
        for node, size in enumerate(self.shape.memory):
            fd = os.memfd_create(f"mios-node{node}")
            os.truncate(fd, size)
            self.memory.append(fd)

    def launch(self, command):
        """QEMU, in a group of its own so that ^C reaches us only; it does
        not outlive us, however we end."""
        command = ["setpriv", "--pdeathsig", "KILL", *command]
        with open(self.logs / "qemu.err", "wb") as err:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=err, stderr=err,
                pass_fds=self.memory, start_new_session=True)
        (self.logs / "pid").write_text(f"{os.getpid()}\n")
        (self.logs / "folder").write_text(f"{self.folder}\n")

    def accept(self, listener):
        """QEMU connects to the first port's socket when it starts."""
        ready, _, _ = select.select([listener], [], [], 30)
        if not ready:
            raise MachineError("QEMU did not start: " + self.qemu_words())
        sock, _ = listener.accept()
        listener.close()
        try:
            self.events = qemu.Qmp(self.folder / "events.sock")
        except (OSError, ValueError):
            self.wait_end()
            raise MachineError("QEMU did not start: " +
                               self.qemu_words()) from None
        self.agent = agent.Agent(sock, self.tick)
        self.alive = (time.monotonic(), 0, 0)

    def stop(self):
        """End QEMU; keep the logs."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.events:
            self.events.close()
            self.events = None
        if self.slot:
            self.slot.close()
            self.slot = None
        if self.memory:
            self.watch.check()
        for fd in self.memory:
            os.close(fd)
        self.memory = []
        (self.logs / "pid").unlink(missing_ok=True)
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    # --- commands

    def run(self, words, output, error, limit=None, **options):
        """A command in instance 0; its exit status.

        limit: seconds.  output, error, stdin, terminal: see agent.Agent.run.
        """
        self.deadline = time.monotonic() + limit if limit else None
        self.ticked = None
        self.stood_still = 0.0
        try:
            return self.guard(lambda: self.agent.run(words, output, error,
                                                     **options))
        finally:
            self.deadline = None

    def settle(self):
        """Faults so far, once the consoles had time to write them."""
        time.sleep(0.3)
        return self.watch.take()

    def guard(self, action):
        """Turn a vanished machine into the line that tells why."""
        try:
            return action()
        except (agent.AgentGone, ConnectionError):
            time.sleep(0.5)
            self.wait_end()
            faults = self.watch.take()
            why = str(faults[0]) if faults else \
                "QEMU ended: " + self.qemu_words()
            raise MachineError(why) from None

    def wait_end(self):
        """QEMU closes its sockets some time before it ends."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)

    def qemu_words(self):
        """What QEMU itself said last."""
        last = self.last_line("qemu.err") or "it said nothing"
        status = self.process.poll()
        if status is None:
            return last
        reason = self.events and self.events.shutdown_reason()
        if "Triple fault" in self.log_text(qemu.LOG):
            reason = f"triple fault, see {qemu.LOG}"
        return f"{reason or last} (exit {status}) after " \
            f"'{self.last_line('instance0.log')}'"

    def log_text(self, name):
        """One of the logs; empty while QEMU has not got as far as that."""
        try:
            return (self.logs / name).read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def node_logs(self):
        """The instances' logs, as paths."""
        return sorted(self.logs.glob("instance*.log"))

    def last_line(self, name):
        """What stands last in one of the logs."""
        return (self.log_text(name).strip().splitlines() or [""])[-1].strip()

    def tick(self):
        """Called while waiting: is there progress, is there time left?"""
        self.watch.check()
        now = time.monotonic()
        self.stood_still = max(self.stood_still, now - (self.ticked or now))
        self.ticked = now
        for one in self.pulses:
            wrong = one.check(now)
            if wrong:
                self.watch.scan(one.reader.name, f"BUG: {wrong}")
        since, frames, grew = self.alive
        if (self.agent.frames, self.watch.grew) != (frames, grew):
            self.alive = (now, self.agent.frames, self.watch.grew)
        elif now - since > self.silence_limit:
            self.fail(f"instance 0: no sign of life for "
                      f"{self.silence_limit} s")
        if self.deadline and now > self.deadline:
            self.fail("time limit reached")

    def fail(self, why):
        """Raise; an older fault in a log is the better explanation."""
        faults = self.watch.take()
        if faults:
            why += f"; first fault: {faults[0]}"
        raise MachineError(why)

    # --- looking inside

    def read_memory(self, address, size):
        """Bytes at a physical address, straight from a node's memory."""
        for node, ranges in enumerate(memmap.node_ranges(self.shape.memory)):
            offset = memmap.find(ranges, address)
            if offset is not None:
                return os.pread(self.memory[node], size, offset)
        raise ValueError(f"no memory at {address:#x}")

    def qmp(self):
        """QEMU's control socket."""
        return qemu.Qmp(self.folder / "qmp.sock")
