# SPDX-License-Identifier: GPL-2.0
"""Test machines for the benchmark: booted, paused while another one runs.

The parts call this.  A paused machine takes no host CPU, its clocks stand
still too (TCG), so two machines can be measured in turn and each of them has
the host for itself.
"""
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "vm"), str(HERE.parent / "lib")]
import machine                                               # noqa: E402
import options                                               # noqa: E402
import stage                                                 # noqa: E402

OUT = stage.BUILD / "bench"
PROGRAMS = OUT / "programs"     # in the guest: /mnt/host
COMMAND_LIMIT = 600
limits = {"end": float("inf")}  # when no further round begins


class BenchError(Exception):
    """A part cannot go on, one line."""


def say(text):
    """Progress, apart from the results."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


def turns(count):
    """Numbers of the rounds, fewer when the time that was given is over."""
    for number in range(count):
        if number and time.monotonic() > limits["end"]:
            say(f"no time for more than {number} rounds")
            return
        say(f"round {number + 1} of {count}")
        yield number


# The others are static.
WAYS = {"ranks": (), "yields": ("-shared", "-fPIC")}


def build_programs():
    """guest/*.c into PROGRAMS."""
    PROGRAMS.mkdir(parents=True, exist_ok=True)
    for source in sorted((HERE / "guest").glob("*.c")):
        target = PROGRAMS / source.stem
        done = subprocess.run(
            ["gcc", "-O2", "-Wall", "-Wextra", "-Werror",
             *WAYS.get(source.stem, ("-static",)), "-o",
             str(target), str(source)], check=False, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise BenchError(f"{source.name}: {done.stdout.strip()}")


def with_rate(command, rate):
    """QEMU's command, the guest told another rate of its counter, if any.

    The harness tells the host's; where instructions are counted, one of
    them takes a nanosecond.
    """
    if not rate:
        return command
    return [re.sub(r"tsc_early_khz=\S+ lpj=\S+", rate, word)
            for word in command]


def make(*words, more=(), counted=False, modules=True):
    """A machine from mios-vm's words, not started.

    more: words for QEMU.  counted: every instruction takes one nanosecond
    of the guest's clock, one CPU after another.  modules: with mios/.
    """
    build_programs()
    parsed, _ = options.parse(["run", "--copy", str(PROGRAMS), *words, "--",
                               "true"])
    rate = ""
    if counted:
        parsed.accel = "tcg,thread=single"
        more = [*more, "-icount", "shift=0,sleep=on"]
        rate = f"tsc_early_khz=1000000 lpj={10 ** 9 // machine.HZ}"
    vm = options.make_machine(parsed)
    if not modules:
        vm.modules = None
        vm.watch.excuse("Module mios.* not found")  # the boot steps say so

    def adjust(command):
        # Further machines of ours take turns with this one: no slot for them.
        os.environ["MIOS_MACHINES"] = "1000"
        return [*with_rate(command, rate), *more]

    vm.adjust = adjust
    vm.silence_limit = 300
    return vm


def shell(vm, script, limit=COMMAND_LIMIT, must=True):
    """Output of a shell script in instance 0."""
    out, err = [], []
    try:
        status = vm.run(["bash", "-c", script], out.append, err.append, limit)
    except machine.MachineError as error:
        raise BenchError(str(error)) from None
    text = b"".join(out).decode(errors="replace")
    if status and must:
        words = (b"".join(err).decode(errors="replace") + text).strip()
        raise BenchError(f"status {status} of: {script.strip()[:60]}...: "
                         f"{words[-300:]}")
    return text


def pause(vm):
    """Stop all CPUs of a machine."""
    control = vm.qmp()
    control.do("stop")
    control.close()


def resume(vm):
    """Let them go on; the time between does not count as silence."""
    control = vm.qmp()
    control.do("cont")
    control.close()
    vm.alive = (vm.effort.seconds(), 0, 0)


def in_turn(nodes, rounds, prepare, sides, add):
    """Ours with its instances up beside a plain machine of as many CPUs, where
    time is instructions: a nanosecond is a quarter of one.

    prepare: a script for both.  sides: what measures the one and the other;
    add gets both results of each round.  Returns the facts.
    """
    words = ("--nodes", str(nodes), "--accel", "icount")
    ours = make(*words, "--from", "up" if nodes > 1 else "ready")
    plain = make(*words, "--from", "ready", "--plain")
    with ours, plain:
        pause(ours)
        shell(plain, prepare)
        pause(plain)
        resume(ours)
        shell(ours, prepare)
        for _ in turns(rounds):
            mine = sides[0](ours)
            pause(ours)
            resume(plain)
            theirs = sides[1](plain)
            pause(plain)
            resume(ours)
            add(mine, theirs)
        check_logs(ours)
        resume(plain)
        check_logs(plain)
        return facts(ours)


def check_logs(*vms):
    """A machine whose log complains has measured nothing."""
    for vm in vms:
        for fault in vm.settle():
            raise BenchError(str(fault))


class HostLoad:
    """How much of the host other programs took while a part ran."""

    def __init__(self):
        self.busy, self.total = self.host()
        self.ours = self.own()

    @staticmethod
    def host():
        """(busy, all) CPU time of the host so far, in ticks."""
        with open("/proc/stat", encoding="ascii") as file:
            words = [int(w) for w in file.readline().split()[1:9]]
        return sum(words) - words[3] - words[4], sum(words)

    @staticmethod
    def own():
        """CPU time of this process and of children that have ended."""
        now = os.times()
        return sum(now[:4]) * os.sysconf("SC_CLK_TCK")

    def others(self):
        """Share of all CPU time; call it when all machines have ended."""
        busy, total = self.host()
        ours = self.own() - self.ours
        share = (busy - self.busy - ours) / max(1, total - self.total)
        return max(0.0, share)


def facts(vm):
    """What every result says about where it was measured."""
    release = stage.kernel_release(vm.tree) if vm.tree else "?"
    return {"kernel": release, "accel": vm.accel,
            "host_cpus": os.cpu_count()}
