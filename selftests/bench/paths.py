# SPDX-License-Identifier: GPL-2.0
"""Doorbell, channel and network latency, in instructions.

The same as in rounds.py, on a machine under QEMU's -icount, where one CPU runs
at a time and the time stamp counter counts the instructions of all of them:
from the question to the answer, both sides together.  The host's load is no
part of that.  Each CPU hands over when it halts or relaxes in a loop, so only
what waits by one of the two can be counted: no busy CPU, no polled pipe.  No
bytes per second either: emulated, a string instruction counts once per byte.
"""
import machines
from figures import Figure
from rounds import (BOOT, PREPARE, PROBE, PROBES, SERVE, median_of, parse)

TITLE = "Doorbell, channel and network latency, in instructions"
NET_MS = 100            # of the guest's clock: 10^8 instructions

LINUX_SIDE = PROBE + f"""
set -e
[ $(nproc) = 2 ]
probe "call 1 {PROBES}" call
echo pipe $(/tmp/roundtrip pipe 0 1 {PROBES})
echo veth $(taskset -c 0 ip netns exec here \\
	/tmp/stream rr 10.99.0.2 {SERVE} {NET_MS})
"""

OUR_SIDE = PROBE + f"""
set -e
serve='cp /mnt/host/stream /tmp; exec /tmp/stream serve {SERVE}'
mios exec 1 -- sh -c "$serve" < /dev/null > /dev/null 2>&1 &
probe "doorbell 1 {PROBES}" doorbell
probe "channel 1 {PROBES}" channel
echo net $(/tmp/stream rr 10.77.0.2 {SERVE} {NET_MS})
mios kill 1 > /dev/null
"""


def figures():
    """All of them, empty, by the name that the rounds use."""
    unit = "instructions"
    return {
        "doorbell": Figure("doorbell, idle CPU", "doorbell and answer",
                           "smp_call_function_single()", unit, 1.3),
        "channel": Figure("channel against pipe", "message and its echo",
                          "8 bytes through two pipes", unit, 0.5),
        "net": Figure("network, latency", "TCP, 1 byte there and back, mios0",
                      "the same over veth", unit, 1.0),
    }


def measure(rounds):
    """(facts, figures)."""
    vm = machines.make("--nodes", "2", counted=True)
    out = figures()
    with vm:
        machines.shell(vm, PREPARE)
        for _ in machines.turns(rounds):
            linux = parse(machines.shell(vm, LINUX_SIDE))
            machines.shell(vm, BOOT)
            ours = parse(machines.shell(vm, OUR_SIDE))
            out["doorbell"].add(median_of(ours["doorbell"]),
                                median_of(linux["call"]))
            out["channel"].add(median_of(ours["channel"]),
                               int(linux["pipe"][3]))
            out["net"].add(int(ours["net"][2]), int(linux["veth"][2]))
        machines.check_logs(vm)
        said = machines.facts(vm)
    return said, list(out.values())
