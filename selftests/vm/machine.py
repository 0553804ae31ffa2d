# SPDX-License-Identifier: GPL-2.0
"""One test machine: boots it, runs commands in it, judges its logs.

Used by mios-vm and by selftests/run.  A Machine is a context manager;
inside, run() may be called again and again.  A machine that panics, hangs or
says nothing raises MachineError with the one line that tells why.

Two clocks judge it, neither of them the host's: limits of commands are
seconds of the guest's own clock, and silence is counted in what QEMU has
done (lib/effort.py).  A host that is busy makes a machine late, not wrong.
"""
import contextlib
import functools
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
import buildcache
import checkpoint
import effort
import memmap
import nodelog
import pulse
import qemu
import slots
import stage
import watch

HZ = 250                # CONFIG_HZ of test.config
BOOT_LIMIT = 600        # of effort until the first command can run
SILENCE_LIMIT = 90      # of effort without a sign of life from an instance
PUSH_LIMIT = 300        # seconds of the guest until files are unpacked
TICK = 0.05             # seconds between two looks at the logs
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


@functools.lru_cache(maxsize=None)
def host_khz():
    """How fast this host's TSC is."""
    with buildcache.lock_folder(stage.BUILD):
        program = stage.build_helper("vm/guest/tsc.c")
    return int(stage.run([program]))


def tcg_words(khz, icount):
    """What a guest under TCG cannot find out for itself.

    How fast its TSC is; without lpj= each CPU would calibrate its delay loop,
    just as badly.  And that a CPU may be without a core of the host for
    longer than the 20 seconds after which the kernel calls it stuck (the
    others have these words from linux/config/test.config), and that memory
    takes its time to move.  Under icount none of that depends on the host.
    """
    words = f"tsc_early_khz={khz} lpj={khz * 1000 // HZ}"
    if icount:
        return words
    return f"{words} watchdog_thresh={STUCK_LIMIT // 2} " \
        f"rcupdate.rcu_cpu_stall_timeout={STUCK_LIMIT} " \
        f"mios.take_timeout={TAKE_LIMIT}"


class Machine:
    """A QEMU process, its logs and its command ports."""

    def __init__(self, shape, kernel, rootfs, tree=None, modules=None,
                 copy=None, logs=None, accel="tcg,thread=multi",
                 origin="boot", roots=None):
        self.shape = shape
        self.kernel = kernel
        self.rootfs = rootfs
        self.tree = tree
        self.modules = modules
        self.copy = copy
        self.accel = accel
        self.origin = origin    # "boot", or a state of checkpoint.py
        self.roots = roots      # images of spare disks that have one, by kind
        self.adjust = lambda command: command   # QEMU's, by who measures
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
        self.deadline = None    # of the guest's clock
        self.boot_deadline = None       # of effort
        self.folder = None      # sockets and disks, gone at the end
        self.alive = (0.0, 0, 0)        # when, frames and characters then
        self.ticked = 0.0               # when we last looked
        self.effort = None      # of QEMU

    def like(self, origin):
        """Another one of the same parts, not started."""
        return Machine(self.shape, self.kernel, self.rootfs, self.tree,
                       self.modules, accel=self.accel, origin=origin,
                       roots=self.roots)

    def tsc_khz(self):
        """How fast the guest's TSC is."""
        return qemu.ICOUNT_KHZ if self.accel == "icount" else host_khz()

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
        """From a checkpoint, or boot, until instance 0 takes commands.

        Booted once more when QEMU itself crashes on the way: before its
        version 8.1 a CPU may look an access up in a memory map that another
        one, which moves a PCI device, has changed half (tcg_commit).
        """
        kept = None if self.origin == "boot" else \
            checkpoint.get(self, self.origin)
        try:
            self.launch(kept)
        except MachineError as error:
            if kept or not self.process or \
                    self.process.poll() != -signal.SIGSEGV:
                raise
            print(f"# {error}: QEMU crashed, once more", file=sys.stderr,
                  flush=True)
            self.stop()
            self.forget()
            self.launch(kept)
        if self.tree:
            self.push(stage.TOP / "selftests", "/usr/lib/mios/selftests",
                      stage.HOSTS_OWN)
        if self.copy:
            self.push(self.copy, "/mnt/host")

    @contextlib.contextmanager
    def patient(self, kept):
        """Time that is instructions goes on while all wait for the host's
        disk, and a boot does little else: two minutes of it are nothing."""
        excused = list(self.watch.excused)
        if self.accel == "icount" and not kept:
            self.watch.excuse(r"^instance 0: .*INFO: task \S+ blocked for more")
        yield
        self.watch.check()
        self.watch.excused[:] = excused

    def launch(self, kept):
        """One try to start; kept: the folder of a checkpoint, or None."""
        self.slot = slots.take()
        begin = time.monotonic()
        self.make_folder()
        self.make_memory()
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self.folder / "agent0.sock"))
        listener.listen(1)
        self.add_console()
        if not self.shape.plain:
            self.watch_children()
        if kept:
            for node, where in checkpoint.load_files(self, kept).items():
                self.pulses[node - 1].reader.follow(where)
            self.console.skip()
        else:
            qemu.overlay(self.folder / qemu.ROOT, self.rootfs)
            stage.make_stage(self.folder / qemu.STAGE, self.tree,
                             self.modules, self.folder / qemu.INITRD)
        qemu.make_spares(self.shape, self.folder, self.roots)
        self.run_qemu(kept)
        self.accept(listener)
        self.boot_deadline = self.effort.seconds() + BOOT_LIMIT
        if kept:
            checkpoint.load_state(self, kept)
            self.agent.send("N", os.urandom(32))
        with self.patient(kept):
            self.guard(self.agent.wait_ready)
        self.boot_deadline = None
        self.booted_in = time.monotonic() - begin

    def make_folder(self):
        """For disks, sockets and logs; the logs stay."""
        self.logs.mkdir(parents=True, exist_ok=True)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mios-vm-"))
        for name in "instance0.log", qemu.LOG:
            (self.folder / name).symlink_to(self.logs.absolute() / name)

    def add_console(self):
        """Watch instance 0's log, from its beginning."""
        path = self.logs / "instance0.log"
        path.write_bytes(b"")
        self.console = watch.ConsoleReader("instance 0", path)
        self.watch.add(self.console)

    def run_qemu(self, kept):
        """QEMU, in a group of its own so that ^C reaches us only; it does
        not outlive us, however we end."""
        words = self.shape.command_line()
        if self.accel.startswith("tcg") or self.accel == "icount":
            words += " " + tcg_words(self.tsc_khz(), self.accel == "icount")
        command = self.adjust(qemu.options(
            self.shape, self.kernel, words, self.folder, self.accel,
            self.memory))
        if kept:
            command += ["-incoming", "defer"]
        (self.logs / "command").write_text("\n".join(command) + "\n")
        with open(self.logs / "qemu.err", "wb") as err:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *command],
                stdin=subprocess.DEVNULL, stdout=err, stderr=err,
                pass_fds=self.memory, start_new_session=True)
        self.effort = effort.Effort(self.process.pid,
                                    effort.used_alone)
        (self.logs / "pid").write_text(f"{os.getpid()}\n")
        (self.logs / "folder").write_text(f"{self.folder}\n")

    def push(self, folder, target, leave=("__pycache__",)):
        """What is in a folder of the host, into one of the machine."""
        said = []
        with tempfile.TemporaryFile() as file:
            file.write(stage.packed(folder, leave))
            file.seek(0)
            status = self.run(["sh", "-c", 'mkdir -p "$0" && exec tar -xm '
                               '--no-same-owner -C "$0"', target],
                              said.append, said.append, PUSH_LIMIT,
                              stdin=file.fileno())
        if status:
            raise MachineError(f"{folder} does not get into the machine: " +
                               b"".join(said).decode().strip())

    def watch_children(self):
        """Every node may get an instance, and then has a log."""
        ranges = memmap.node_ranges(self.shape.memory)
        for node in range(1, self.shape.nodes):
            reader = nodelog.NodeLogReader(
                node, ranges[node], self.read_memory,
                self.logs / f"instance{node}.log")
            self.watch.add(reader)
            self.pulses.append(pulse.Pulse(reader, self.silence_limit))

    def make_memory(self):
        """A file without a name per node; it goes when we and QEMU go."""
        for node, size in enumerate(self.shape.files()):
            fd = os.memfd_create(f"mios-node{node}")
            os.truncate(fd, size)
            self.memory.append(fd)

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
        self.alive = (self.effort.seconds(), 0, 0)

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

        limit: seconds of the guest's clock.  output, error, stdin, terminal:
        see agent.Agent.run.
        """
        def go():
            self.agent.catch_up()
            self.deadline = self.agent.clock + limit if limit else None
            return self.agent.run(words, output, error, **options)

        try:
            return self.guard(go)
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
        now = time.monotonic()
        if now - self.ticked < TICK:
            return
        self.ticked = now
        self.watch.check()
        now = self.effort.seconds()
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
        if self.boot_deadline and now > self.boot_deadline or \
                self.deadline and self.agent.clock > self.deadline:
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
        found = self.shape.place(address)
        if not found:
            raise ValueError(f"no memory at {address:#x}")
        return os.pread(self.memory[found[0]], size, found[1])

    def qmp(self):
        """QEMU's control socket."""
        return qemu.Qmp(self.folder / "qmp.sock")
