# SPDX-License-Identifier: GPL-2.0
"""Faults and reclaim with QEMU's NVMe device, a thread per CPU.

One machine of two CPUs, without instances.  What is counted is the same as on a
real machine: faults, interrupts of the device, how often a group comes to its
limit, pages read and written.  Times are QEMU's and the host's: no claim.

The program first fills its memory, without pause and without reading anything:
that is faster than any device takes it, and whoever allocates faster than others
reclaim has to do it itself.  Then it comes back to each page; these are the faults
that a watermark is for.
"""
import sys
import tempfile

import machines
from figures import Count, Figure

sys.path.append(str(machines.HERE.parent / "swap"))
import nvme                                                  # noqa: E402

TITLE = "Swapping to QEMU's NVMe device"
UNFIT = "times of an emulated machine are no claim"
PAGES = 4096
ROUNDS = 3
PREPARE = f"""
set -e
insmod /mnt/host/nvme-core.ko
insmod /mnt/host/nvme.ko poll_queues=2
until [ -b /dev/nvme0n1 ]; do sleep 0.1; done
echo +memory > /sys/fs/cgroup/cgroup.subtree_control
mkdir -p /sys/fs/cgroup/swaps
echo {PAGES * 2048} > /sys/fs/cgroup/swaps/memory.max
swapoff -a
mkswap /dev/nvme0n1 > /dev/null
swapon -p 5 /dev/nvme0n1
echo 0 > /proc/sys/vm/page-cluster
echo 2 > /sys/devices/virtual/workqueue/memcg_wmark/cpumask
"""
# Words: fault_io, the ratio.
RUN = f"""
cd /sys/fs/cgroup/swaps
counts() {{
	awk '$1 == "pswpin" || $1 == "pswpout" || $1 == "pgmajfault" \\
		{{ print $1, $2 }}' /proc/vmstat
	awk '/nvme0q/ {{ sum += $2 + $3 }} END {{ print "interrupts", sum }}' \\
		/proc/interrupts
}}
limit() {{
	awk -v name="$1" '$1 == "max" {{ print name, $2 }}' memory.events
}}
echo %s > /sys/kernel/mm/swap/fault_io
echo %d > memory.wmark_ratio
rm -f /tmp/go /tmp/said
mkfifo /tmp/go
counts | sed 's/ / -/'
limit filled | sed 's/ / -/'
sh -c 'echo $$ > /sys/fs/cgroup/swaps/cgroup.procs
	exec taskset 1 /usr/lib/mios/guest/swaps anon random {PAGES} 1' \\
	< /tmp/go > /tmp/said &
exec 9> /tmp/go
until grep -q out /tmp/said; do sleep 0.1; done
limit filled
limit limit | sed 's/ / -/'
exec 9>&-
wait
tail -n 1 /tmp/said | xargs -n 2
limit limit
counts
"""


def run(vm, how, ratio):
    """What one run has counted, by name."""
    said = {}
    for line in machines.shell(vm, RUN % (how, ratio)).splitlines():
        name, value = line.split()
        said[name] = said.get(name, 0) + int(value)
    if said["wrong"] or said["lost"] or said["pages"] != PAGES:
        raise machines.BenchError(f"swaps: {said}")
    return said


def measure(rounds):
    """(facts, figures)."""
    time = Figure("a fault, random pages, no read-ahead", "polled", "plain",
                  "ns", unfit=UNFIT)
    runs = {way: [] for way in (("plain", 0), ("poll", 0), ("poll", 70))}
    vm = machines.make("--nodes", "1", "--cpus-per-node", "2")
    with tempfile.TemporaryDirectory() as folder:
        nvme.add(vm, folder)
        with vm:
            machines.shell(vm, PREPARE)
            for _ in machines.turns(min(rounds, ROUNDS)):
                for way, seen in runs.items():
                    seen.append(run(vm, *way))
                time.add(runs["poll", 0][-1]["median"],
                         runs["plain", 0][-1]["median"])
            machines.check_logs(vm)
            said = machines.facts(vm)
    return said, [time, *counts(runs)]


def counts(runs):
    """The middle one of each way's rounds."""
    found, limits = [], {}
    for (how, ratio), seen in runs.items():
        where = f"{how}, watermark {ratio or 'off'}"
        for name, what in (("pgmajfault", "faults that read"),
                           ("interrupts", "interrupts of the device"),
                           ("filled", "at the limit while it fills its memory"),
                           ("limit", "at the limit in faults that read"),
                           ("pswpin", "pages read"),
                           ("pswpout", "pages written")):
            value = sorted(one[name] for one in seen)[len(seen) // 2]
            aim, note = None, ""
            if name == "limit":
                limits[how, ratio] = value
                if ratio:
                    aim = limits[how, 0] / 10
                    note = "a tenth of that without"
            found.append(Count(f"{what}; {where}", value, "", aim, note))
    return found
