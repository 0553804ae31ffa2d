# SPDX-License-Identifier: GPL-2.0
"""Deaths and rebirths: how soon they are known, over, and whom they disturb.

Two machines, one after the other, a CPU per node.  Moments are taken by the
time stamp counter, which all instances of a machine share (guest/moments.c).

   two nodes, a round                     three nodes, a round
   boot 1 (stopped before)                boot 2, kill it: who knows, when?
   1 falls silent: fenced when?           boot 2, it panics: who knows, when?
   boot 1 (dead before)                   boot 2; 1 computes, nothing happens
   stop 1                                 1 computes, 2 panics and is booted
"""
import os

import machines
from figures import Count, Figure

TITLE = "Death and rebirth"
COLUMNS = ("death", "against")
ROUNDS_ON_FEW_CORES = 5
LIMIT_S = 1             # of silence
DEFAULT_LIMIT_S = 5

COMMON = """
set -e
moment_of() {
	mios log $1 | sed -n 's/.*bench: moment \\([0-9]*\\).*/\\1/p' | tail -n 1
}
until_true() {
	end=$(($(date +%s) + 60))
	until "$@"; do [ $(date +%s) -lt $end ]; sleep 0.1; done
}
down() {
	[ "$(cat /sys/kernel/mios/instance$1/state)" = down ]
}
fresh() {
	mios boot $1 > /dev/null 2>&1
	mios exec $1 -- cp /mnt/host/moments /tmp < /dev/null
}
ready() {
	grep -q ready $1
}
"""

PREPARE = """
find /mnt/host -maxdepth 1 -type f -exec cp -t /tmp {} +
echo rate $(/tmp/moments rate)
"""

SILENCE = COMMON + f"""
echo stopped $(/tmp/timeboot 1)
mios exec 1 -- sh -c 'cp /mnt/host/moments /tmp; modprobe lkdtm
	grep -q debugfs /proc/mounts ||
	mount -t debugfs none /sys/kernel/debug' < /dev/null
cd /sys/module/mios/parameters
echo kill > hang_policy
echo {LIMIT_S} > suspect_timeout
/tmp/moments log 'instance 1 fenced' > /tmp/fenced & watcher=$!
until_true ready /tmp/fenced
mios exec 1 -- /tmp/moments end silent < /dev/null > /tmp/end 2>&1 & silent=$!
wait $watcher
echo {DEFAULT_LIMIT_S} > suspect_timeout
echo report > hang_policy
wait $silent || true
until_true down 1
echo silence $(moment_of 1) $(tail -n 1 /tmp/fenced)
echo dead $(/tmp/timeboot 1)
mios stop 1 > /dev/null
"""

KNOWN = COMMON + """
watchers() {
	/tmp/moments watch 2 > /tmp/news0 & zero=$!
	mios exec 1 -- /tmp/moments watch 2 < /dev/null > /tmp/news1 & one=$!
	until_true ready /tmp/news0
	until_true ready /tmp/news1
}
news() {
	wait $zero $one
	until_true down 2
	echo $1 $2 $(tail -n 1 /tmp/news0) $(tail -n 1 /tmp/news1)
}
fresh 2
watchers
/tmp/moments then mios kill 2 > /tmp/kill
news kill $(head -n 1 /tmp/kill)
fresh 2
watchers
mios exec 2 -- /tmp/moments end panic < /dev/null > /tmp/end 2>&1 || true
news panic $(moment_of 2)
"""

NOISE = COMMON + """
gap() {
	mios exec 1 -- /tmp/moments gap $seconds < /dev/null
}
fresh 2
echo quiet $(gap)
gap > /tmp/gap & computing=$!
sleep 0.5
begin=$(date +%s%N)
mios exec 2 -- /tmp/moments end panic < /dev/null > /tmp/end 2>&1 || true
until_true down 2
/tmp/timeboot 2 > /tmp/boot
took=$(($(date +%s%N) - begin))
wait $computing
echo noisy $(cat /tmp/gap)
echo took $took
mios kill 2 > /dev/null
"""


def parse(text):
    """Lines "NAME NUMBER..." as a dictionary of the numbers after NAME."""
    found = {}
    for line in text.splitlines():
        name, *words = line.split() or [""]
        if words and all(w.isdigit() for w in words):
            found[name] = [int(w) for w in words]
    return found


def numbers(text, *names):
    """What the lines with these names say, or a failed round."""
    found = parse(text)
    try:
        return [found[name] for name in names]
    except KeyError as error:
        raise machines.BenchError(f"no {error} in: {text[-200:]}") from None


def figures():
    """All of them, empty, by the name that the rounds use."""
    return {
        "silence": Figure("silence until fenced, against its limit",
                          "interrupts off until all CPUs are stopped",
                          f"suspect_timeout, {LIMIT_S} s", "s"),
        "boot": Figure("boot of a dead node, against one that was stopped",
                       "mios boot 1, until it has joined", "the same", "s"),
        "panic": Figure("panic until every peer knows, against a kill",
                        "panic, until the last peer has news",
                        "mios kill, until the last peer has news", "ms"),
        "noise": Figure("longest gap of a survivor, against none",
                        "computes while its neighbour dies and is booted",
                        "computes while nothing happens", "ms"),
    }


def last_news(line, others, rate):
    """Milliseconds from a moment until the last of the others knew."""
    begin, *known = line
    if len(known) != others:
        raise machines.BenchError(f"news of a death are missing: {line}")
    return (max(known) - begin) * 1000 / rate


def pair(rounds, out):
    """Two nodes: silence, and the boot after a death.  Gives the facts."""
    vm = machines.make("--nodes", "2")
    vm.watch.excuse("provoke-crash|lkdtm")
    with vm:
        (rate,), = numbers(machines.shell(vm, PREPARE), "rate")
        machines.shell(vm, COMMON + "fresh 1; mios stop 1")
        for _ in machines.turns(rounds):
            stopped, silence, dead = numbers(
                machines.shell(vm, SILENCE), "stopped", "silence", "dead")
            out["silence"].add(last_news(silence, 1, rate) / 1000, LIMIT_S)
            out["boot"].add(dead[0] / 1e9, stopped[0] / 1e9)
        machines.check_logs(vm)
        return machines.facts(vm)


def noise(vm, seconds):
    """(gap, doorbells) of a survivor, when nothing happens and else."""
    quiet, noisy, (took,) = numbers(
        machines.shell(vm, f"seconds={seconds}\n{NOISE}"),
        "quiet", "noisy", "took")
    return quiet, noisy, took / 1e9


def trio(rounds, out):
    """Three nodes: who knows of a death, whom it disturbs.  Gives Counts."""
    vm = machines.make("--nodes", "3")
    vm.watch.excuse("Kernel panic|sysrq: Trigger a crash")
    bells = []
    with vm:
        (rate,), = numbers(machines.shell(vm, PREPARE), "rate")
        machines.shell(vm, COMMON + "fresh 1")
        # How long the survivor must compute to see all of it.
        seconds = int(2 * noise(vm, 1)[2]) + 3
        for _ in machines.turns(rounds):
            kill, panic = numbers(machines.shell(vm, KNOWN), "kill", "panic")
            quiet, noisy, took = noise(vm, seconds)
            if took + 1 > seconds:
                raise machines.BenchError(f"death and boot took {took:.0f} s: "
                                          "the host is too busy")
            out["panic"].add(last_news(panic, 2, rate),
                             last_news(kill, 2, rate))
            out["noise"].add(noisy[0] / 1e6, quiet[0] / 1e6)
            bells.append((noisy[1], quiet[1]))
        machines.check_logs(vm)
    bells.sort()
    noisy, quiet = bells[len(bells) // 2]
    return [Count("doorbells that a survivor takes meanwhile", noisy, "", None,
                  f"{quiet} when nothing happens, both in {seconds} s")]


def measure(rounds):
    """(facts, figures)."""
    out = figures()
    said = {**pair(rounds, out), "columns": COLUMNS}
    if (os.cpu_count() or 1) < 3:
        for name in ("panic", "noise"):
            out[name].unfit = f"3 virtual CPUs on {os.cpu_count()} cores"
        rounds = min(rounds, ROUNDS_ON_FEW_CORES)
    counts = trio(rounds, out)
    return said, [*out.values(), *counts]
