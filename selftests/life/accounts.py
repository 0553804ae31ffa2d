#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The accounts of instance 0, and the heads of the nodes that are not its own.

usage: accounts.py exact | pages | kinds | modules | heads

exact   CPUs, and memory of every node and zone: to be the same after a death
pages   pages in use that nobody has an account for, a single number
kinds   bytes of slab, vmalloc and percpu memory, three numbers
modules bytes that the modules of MIOS have allocated and not freed, a single
        number; only the debug kernel counts them
heads   look at manifest, log and notes of every instance that is up; prints
        what is wrong and ends with 1
"""
import glob
import os
import re
import statistics
import struct
import sys

PAGE = 4096
SAMPLES = 15
HEADS = "/sys/kernel/debug/mios-heads/"
SYS = "/sys/kernel/mios/"
AT_LOG, AT_NOTES = 2 * PAGE, 0x90000
MANIFEST, LOG, NOTES = b"MIOSMST\0", b"MIOSLOG\0", b"MOSNOTES"
ALIVE, LOG_SIZE, NOTE_SIZE = 2, 512 << 10, 320


def read(path):
    """Text of a file."""
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read()


def write(path, text):
    """To a file of the kernel's."""
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def read_at_once(path):
    """The same by one call: what it says is of one moment, or nearly."""
    fd = os.open(path, os.O_RDONLY)
    data = os.read(fd, 1 << 20)
    os.close(fd)
    return data.decode("ascii", "replace")


def zones(text):
    """(node, zone, {name: number}, pages that CPUs keep) of each zone."""
    for part in re.split(r"(?m)^(?=Node )", text)[1:]:
        node, zone = re.match(r"Node (\d+), zone +(\w+)", part).groups()
        found = dict(re.findall(r"(?m)^ +(\S+) +(\d+)$", part))
        found["free"] = re.search(r"pages free +(\d+)", part)[1]
        kept = sum(map(int, re.findall(r"(?m)^ +count: +(\d+)$", part)))
        yield node, zone, {k: int(v) for k, v in found.items()}, kept


def exact():
    """Nothing of this may change by a birth and a death."""
    print(read("/sys/devices/system/cpu/online").strip())
    for path in sorted(glob.glob("/sys/devices/system/node/node*")):
        total = re.search(r"MemTotal: +(\d+)", read(path + "/meminfo"))
        print(os.path.basename(path), read(path + "/cpulist").strip(),
              total[1])
    for node, zone, figures, _ in zones(read("/proc/zoneinfo")):
        print(node, zone, *(figures.get(k, 0)
                            for k in ("spanned", "present", "managed")))
    print(*re.findall(r"(?m)^\S+ : System RAM.*$", read("/proc/iomem")),
          sep="\n")
    for path in glob.glob("/proc/[0-9]*/comm"):
        try:
            name = read(path).strip()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if name.startswith("mios-take"):
            print("still at work:", name)


def kinds():
    """Memory that a kernel keeps for itself, by kind."""
    info = dict(re.findall(r"(?m)^(\w+): +(\d+) kB", read("/proc/meminfo")))
    return [int(info[k]) * 1024 for k in ("Slab", "VmallocUsed", "Percpu")]


NAMED = re.compile(r"""
    free | nr_slab_(un)?reclaimable | nr_page_table_pages
  | nr_sec_page_table_pages | nr_(in)?active_(anon|file) | nr_unevictable
  | nr_isolated_(anon|file)
""", re.X)


def pages_now():
    """Managed, but neither free nor anybody's that could be named."""
    read("/proc/sys/vm/stat_refresh")
    text = read_at_once("/proc/zoneinfo")
    left = -sum(kinds()[1:]) // PAGE
    for _, _, figures, kept in zones(text):
        left += figures.get("managed", 0) - kept
        left -= sum(v for k, v in figures.items() if NAMED.fullmatch(k))
    return left


def pages():
    """The middle of some looks: others are at work meanwhile."""
    write("/proc/sys/vm/drop_caches", "3\n")
    return statistics.median_low(pages_now() for _ in range(SAMPLES))


def modules():
    """What /proc/allocinfo says of every line of code of a module mios*."""
    sizes = re.findall(r"(?m)^ *(\d+) +\d+ \S+ \[mios\w*\]",
                       read("/proc/allocinfo"))
    return sum(map(int, sizes))


def head_faults(node):
    """What is wrong in the head of one node."""
    with open(HEADS + node, "rb") as file:
        head = file.read()
    about = SYS + "instance" + node
    if not head:
        yield "nothing is there"
        return
    if head[:8] != MANIFEST or head[AT_LOG:AT_LOG + 8] != LOG or \
            head[AT_NOTES:AT_NOTES + 8] != NOTES:
        yield "a magic number is missing"
    state, = struct.unpack_from("<I", head, 24)
    number, where, incarnation = struct.unpack_from("<III", head, 36)
    if state != ALIVE or number != int(node) or where != int(node):
        yield f"manifest: state {state}, instance {number}, node {where}"
    if incarnation != int(read(about + "/incarnation")):
        yield f"manifest: incarnation {incarnation}"
    if struct.unpack_from("<I", head, AT_LOG + 8)[0] != LOG_SIZE:
        yield "log: wrong size"
    request, cpus = struct.unpack_from("<II", head, AT_NOTES + 16)
    if request or cpus != int(read(about + "/cpus")):
        yield f"notes: request {request}, {cpus} CPUs"
        return
    for cpu in range(cpus):
        ready, taken = struct.unpack_from("<II", head, AT_NOTES + 64 +
                                          cpu * NOTE_SIZE)
        if ready != 1 or taken:
            yield f"notes: CPU {cpu}: ready {ready}, taken {taken}"


def heads():
    """All of them; a node without an instance has none."""
    wrong = []
    for node in sorted(os.listdir(HEADS)):
        state = read(SYS + f"instance{node}/state").strip()
        if state == "up":
            wrong += [f"node {node}: {t}" for t in head_faults(node)]
    print("\n".join(wrong))
    return bool(wrong)


def main(words):
    """One of them."""
    if words == ["exact"]:
        exact()
    elif words == ["pages"]:
        print(pages())
    elif words == ["kinds"]:
        print(*kinds())
    elif words == ["modules"]:
        print(modules())
    elif words == ["heads"]:
        return heads()
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
