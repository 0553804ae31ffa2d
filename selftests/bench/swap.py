# SPDX-License-Identifier: GPL-2.0
"""Faults that read from swap, in instructions.

One machine under QEMU's -icount, where an instruction takes a nanosecond.  The
program selftests/swap/guest/swaps.c comes back to pages that have been put out,
each once, in a control group of half its size; a value is the median of its
faults.  The devices: null_blk with memory behind it, read as by a kernel without
the series, and polled; and the memory that instance 1 lends.  null_blk's
interrupt comes after DEVICE_NS, which are taken off; what the CPU does meanwhile
is taken off with it, to the advantage of plain.

A task of the class idle computes whenever nobody else does.  So the CPU is never
idle, and nothing of what it takes to fall asleep and to wake up again, which is
the processor's and not swapping's, is counted for plain.
"""
import machines
from figures import Count, Figure

TITLE = "Faults that read from swap, in instructions"
DEVICE_NS = 10000
PAGES = 4096
ROUNDS = 20

PREPARE = f"""
set -e
mios lend 1 --size 64M
modprobe mios_swap size=48M
modprobe null_blk nr_devices=0
mountpoint -q /sys/kernel/config ||
	mount -t configfs configfs /sys/kernel/config
mkdir /sys/kernel/config/nullb/nullb7
cd /sys/kernel/config/nullb/nullb7
for word in size=64 blocksize=4096 memory_backed=1 irqmode=2 \\
	submit_queues=1 poll_queues=1 completion_nsec={DEVICE_NS} power=1; do
	echo "${{word#*=}}" > "${{word%=*}}"
done
echo +memory > /sys/fs/cgroup/cgroup.subtree_control
mkdir -p /sys/fs/cgroup/swaps
echo {PAGES * 2048} > /sys/fs/cgroup/swaps/memory.max
mkswap /dev/nullb7 > /dev/null
mkswap /dev/mios_swap > /dev/null
chrt -i 0 sh -c 'while :; do :; done' < /dev/null > /dev/null 2>&1 &
"""

# Words: the device, fault_io, page-cluster, the order.
RUN = f"""
swapoff -a
swapon -p 5 /dev/%s
echo %s > /sys/kernel/mm/swap/fault_io
echo %d > /proc/sys/vm/page-cluster
before=$(awk '$1 == "swpin_interrupt" {{ print $2 }}' /proc/vmstat)
sh -c 'echo $$ > /sys/fs/cgroup/swaps/cgroup.procs
	exec /usr/lib/mios/guest/swaps anon %s {PAGES} 1' < /dev/null | tail -n 1
awk -v before="$before" \\
	'$1 == "swpin_interrupt" {{ print "interrupt", $2 - before }}' /proc/vmstat
"""


def fault(vm, device, how, cluster, order):
    """(what a fault takes, interrupts).  With read-ahead most pages are there
    already: the slowest sixteenth is faults that read."""
    words = machines.shell(vm, RUN % (device, how, cluster, order)).split()
    said = dict(zip(words[::2], map(int, words[1::2])))
    if said.get("wrong") or said.get("lost") or said["pages"] != PAGES:
        raise machines.BenchError(f"swaps: {' '.join(words)}")
    return said["tail" if cluster else "median"], said["interrupt"]


def measure(rounds):
    """(facts, figures)."""
    # Idle, the clock goes on to the next timer at once: no time of the host's.
    vm = machines.make("--nodes", "2", counted=True,
                       more=["-icount", "shift=0,sleep=off"])
    random = Figure("a fault, random pages, no read-ahead", "polled",
                    "plain", "instructions", 0.70)
    sequential = Figure("a fault that reads ahead, pages in order, with the "
                        "device's 10 us", "polled", "plain", "ns")
    lent = Figure("a fault, random pages, memory of instance 1",
                  "lent memory", "plain null_blk", "instructions", 0.45)
    interrupts = 0
    with vm:
        machines.shell(vm, "mios boot 1")
        machines.shell(vm, PREPARE)
        for _ in machines.turns(min(rounds, ROUNDS)):
            plain, _ = fault(vm, "nullb7", "plain", 0, "random")
            plain -= DEVICE_NS
            polled, seen = fault(vm, "nullb7", "poll", 0, "random")
            interrupts += seen
            random.add(polled, plain)
            lent.add(fault(vm, "mios_swap", "plain", 0, "random")[0], plain)
            sequential.add(fault(vm, "nullb7", "poll", 3, "forward")[0],
                           fault(vm, "nullb7", "plain", 3, "forward")[0])
        machines.check_logs(vm)
        said = machines.facts(vm)
    return said, [random, lent, sequential,
                  Count("interrupts for pages that were polled for",
                        interrupts, "", 1, "all rounds, random pages")]
