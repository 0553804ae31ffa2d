# SPDX-License-Identifier: GPL-2.0
"""Boot, doorbell, channel, network: one machine of two CPUs, round by round.

A round begins with node 1's CPU in instance 0: one kernel with two CPUs gives
Linux's side.  Then "mios boot 1" takes node 1 away: the same two CPUs, now in
two kernels, give ours.  "mios kill 1" undoes it.

      round, Linux's side                 round, our side
   +----------------------+  mios boot 1  +----------+-----------+
   |      instance 0      | ------------> | instance0|instance 1 |
   |  CPU 0      CPU 1    | <------------ |  CPU 0   |  CPU 1    |
   +----------------------+  mios kill 1  +----------+-----------+

Between the two, with this machine paused, a plain machine boots the same
kernel with the same initrd.
"""
import re

import machines
import plainboot
from figures import Figure, Count

TITLE = "Boot, doorbell, channel, network"
PROBES = 500
NET_MS = 700
SERVE = 7700

PREPARE = f"""
set -e
find /mnt/host -maxdepth 1 -type f -exec cp -t /tmp {{}} +
ip netns add here
ip netns add there
ip -n here link add veth0 type veth peer name veth0 netns there
mtu=$(cat /sys/class/net/mios0/mtu)
for end in here:1 there:2; do
	ip -n ${{end%:*}} address add 10.99.0.${{end#*:}}/24 dev veth0
	ip -n ${{end%:*}} link set veth0 mtu $mtu up
done
taskset -c 1 ip netns exec there /tmp/stream serve {SERVE} > /dev/null 2>&1 &
"""

PROBE = """
probe() {
	echo "$1" | taskset -c 0 tee /sys/kernel/debug/mios/probe > /dev/null
	echo "$2 $(cat /sys/kernel/debug/mios/probe)"
}
"""

LINUX_SIDE = PROBE + f"""
set -e
[ $(nproc) = 2 ]
probe "call 1 {PROBES}" call-idle
taskset -c 1 sh -c 'while :; do :; done' & spin=$!
sleep 0.3
probe "call 1 {PROBES}" call-busy
kill $spin
echo pipe $(/tmp/roundtrip pipe 0 1 {PROBES})
echo spin $(/tmp/roundtrip spin 0 1 {PROBES})
for kind in rr send; do
	echo veth-$kind $(taskset -c 0 ip netns exec here \\
		/tmp/stream $kind 10.99.0.2 {SERVE} {NET_MS})
done
"""

BOOT = """
echo boot $(/tmp/timeboot 1)
mios log 1 | grep -a 'mios-init: instance 1 has joined'
"""

OUR_SIDE = PROBE + f"""
set -e
serve='cp /mnt/host/stream /tmp; exec /tmp/stream serve {SERVE}'
mios exec 1 -- sh -c "$serve" < /dev/null > /dev/null 2>&1 &
probe "doorbell 1 {PROBES}" doorbell-idle
probe "channel 1 {PROBES}" channel
interrupts() {{
	awk '$1 == "PLT:" {{ print $2 + $3; exit }}' /proc/interrupts
}}
before=$(interrupts)
for kind in rr send; do
	said=$(/tmp/stream $kind 10.77.0.2 {SERVE} {NET_MS})
	echo net-$kind $said $(($(interrupts) - before))
	before=$(interrupts)
done
mios exec 1 -- sh -c 'echo spinning; while :; do :; done' < /dev/null \\
	> /tmp/spinning 2>&1 & spin=$!
until grep -q spinning /tmp/spinning; do sleep 0.1; done
probe "doorbell 1 {PROBES}" doorbell-busy
kill $spin
mios kill 1 > /dev/null
"""


def figures():
    """All of them, empty, by the name that the rounds use."""
    return {
        "boot": Figure("boot, one", "mios boot 1, until it has joined",
                       "plain machine, until the same point", "s"),
        "boot-kernel": Figure("boot, the kernel's own part",
                              "first line until joined, by its own clock",
                              "the same in a plain machine", "s"),
        "doorbell-idle": Figure("doorbell, idle CPU", "doorbell and answer",
                                "smp_call_function_single()", "ns", 1.3),
        "doorbell-busy": Figure("doorbell, busy CPU", "doorbell and answer",
                                "smp_call_function_single()", "ns", 1.3),
        "pipe": Figure("channel against pipe", "message and its echo",
                       "8 bytes through two pipes", "ns", 0.5),
        "spin": Figure("channel against polled pipe", "message and its echo",
                       "the same, no side ever sleeps", "ns"),
        "rr": Figure("network, latency", "TCP, 1 byte there and back, mios0",
                     "the same over veth", "ns", 1.0),
        "send": Figure("network, time per byte", "TCP in one direction, mios0",
                       "the same over veth, same MTU", "ns/KiB", 1.0),
    }


def parse(text):
    """Lines "NAME NUMBER..." as a dictionary of the words after NAME."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) > 1:
            found[words[0]] = words[1:]
    return found


def median_of(words):
    """The median in a line of the probe.

    A try that took half a second counts as failed and as so long; on a busy
    host that happens.  More than one in a hundred is a fault.
    """
    _kind, _target, count, failed, _low, median = words[:6]
    if int(failed) * 100 > int(count):
        raise machines.BenchError(f"probe failed: {' '.join(words)}")
    return int(median)


def per_kib(words):
    """Nanoseconds per KiB of 'send BYTES NS'."""
    return int(words[2]) * 1024 / int(words[1])


def joined_at(text):
    """Seconds on a kernel's own clock when its init had joined a ring."""
    found = re.search(r"\[\s*(\d+\.\d+)\].*mios-init: instance \d+ has joined",
                      text)
    if not found:
        raise machines.BenchError("the instance's log does not tell when it "
                                  "joined")
    return float(found[1])


def one_round(vm, plain, out, counts):
    """Linux's side, a plain boot, our side; all numbers or none."""
    linux = parse(machines.shell(vm, LINUX_SIDE))
    machines.pause(vm)
    plain_s, plain_kernel = plain.boot()
    machines.resume(vm)
    text = machines.shell(vm, BOOT)
    boot = parse(text)["boot"]
    ours = parse(machines.shell(vm, OUR_SIDE))
    channel = median_of(ours["channel"])
    out["boot"].add(int(boot[0]) / 1e9, plain_s)
    out["boot-kernel"].add(joined_at(text), plain_kernel)
    for load in ("idle", "busy"):
        out[f"doorbell-{load}"].add(median_of(ours[f"doorbell-{load}"]),
                                    median_of(linux[f"call-{load}"]))
    for kind in ("pipe", "spin"):
        out[kind].add(channel, int(linux[kind][3]))
    out["rr"].add(int(ours["net-rr"][2]), int(linux["veth-rr"][2]))
    out["send"].add(per_kib(ours["net-send"]), per_kib(linux["veth-send"]))
    counts["rr"].append(int(ours["net-rr"][4]) / int(ours["net-rr"][1]))
    counts["send"].append(int(ours["net-send"][3]) * 2 ** 20 /
                          int(ours["net-send"][1]))


def counted(counts):
    """Interrupts that instance 0 took, median of the rounds."""
    rows = (("rr", "interrupts per TCP round trip", ""),
            ("send", "interrupts per MiB sent", ""))
    for kind, name, note in rows:
        if counts[kind]:
            values = sorted(counts[kind])
            yield Count(name, round(values[len(values) // 2], 2),
                        "at the sender", None, note)


def measure(rounds):
    """(facts, figures)."""
    vm = machines.make("--nodes", "2")
    out = figures()
    counts = {"rr": [], "send": []}
    with vm:
        machines.shell(vm, PREPARE)
        machines.shell(vm, BOOT + "mios kill 1")    # makes the initrd
        plain = plainboot.PlainBoot(vm)
        for _ in machines.turns(rounds):
            one_round(vm, plain, out, counts)
        machines.check_logs(vm)
        said = machines.facts(vm)
    return said, [*out.values(), *counted(counts)]
