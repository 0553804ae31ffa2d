# SPDX-License-Identifier: GPL-2.0
"""Where QEMU's q35 puts each node's memory.

Used to build instance 0's command line (memmap=SIZE$BASE for what it must
leave alone) and to find a physical address in a node's backing file.  QEMU
lays the nodes' memory end to end, and cuts the whole once: up to the hole
below 4 GiB, the rest from 4 GiB on.  Where it cuts depends on the total.
"""
MIB = 1 << 20
GIB = 1 << 30
BLOCK = 128 * MIB       # Linux adds and removes memory in blocks of this
FOUR_GIB = 4 * GIB
POOL = 32 * MIB         # of node 0, for what all instances share,
NODE_POOL = 16 * MIB    # and of others
TABLES = 8 * MIB        # at most, the firmware's, at the end of low memory


def parse_size(text):
    """'512M', '1G' or a plain count of MiB, in bytes."""
    units = {"M": MIB, "G": GIB}
    unit = units.get(text[-1:].upper())
    number = text[:-1] if unit else text
    if not number.isdigit():
        raise ValueError(f"not a memory size: '{text}' (as in 512M, 1G)")
    size = int(number) * (unit or MIB)
    if not size or size % BLOCK:
        raise ValueError(f"memory of a node must be a multiple of 128M, "
                         f"not '{text}'")
    return size


def low_end(total):
    """End of the memory below the hole (hw/i386/pc_q35.c decides so)."""
    return 2 * GIB if total >= 2816 * MIB else 2816 * MIB


def node_ranges(sizes):
    """For each node, its list of (base, size, offset in its own memory)."""
    cut = low_end(sum(sizes))
    start = 0
    nodes = []
    for size in sizes:
        end = start + size
        ranges = []
        if start < cut:
            ranges.append((start, min(end, cut) - start, 0))
        if end > cut:
            first = max(start, cut)
            ranges.append((first - cut + FOUR_GIB, end - first,
                           first - start))
        nodes.append(ranges)
        start = end
    return nodes


def pool_places(sizes):
    """Of each node (base, size) of what is for all instances: at its end, where
    the firmware has no tables.  Small nodes but node 0 have none."""
    places = []
    for node, ranges in enumerate(node_ranges(sizes)):
        base, size, _ = ranges[-1]
        end = base + size
        if end == min(low_end(sum(sizes)), sum(sizes)):
            end -= TABLES
        want = NODE_POOL if node else POOL
        if not node or sizes[node] >= GIB:
            places.append((end - want, want))
    return places


def pool_words(sizes):
    """Command line that sets the pools aside; the other nodes' memory is."""
    base, size, _ = node_ranges(sizes)[0][-1]
    if base + size == low_end(sum(sizes)) or len(sizes) == 1:
        return []
    places = pool_places(sizes)
    words = ",".join(f"{size // MIB}M@{base:#x}" for base, size in places)
    return [f"memmap={POOL // MIB}M${places[0][0]:#x}", f"mios.pool={words}"]


def reserve_words(sizes):
    """Command line that keeps instance 0 out of every node but its own."""
    return [f"memmap={size // MIB}M${base:#x}"
            for ranges in node_ranges(sizes)[1:]
            for base, size, _ in ranges]


def part_words(sizes, cpus):
    """Command line of a machine of one node: its parts have the CPUs and the
    memory that nodes would have, without the firmware's tables."""
    tables = min(low_end(sum(sizes)), sum(sizes))
    parts = []
    for part, ranges in enumerate(node_ranges(sizes)):
        memory = "+".join(
            f"{(size - TABLES * (base + size == tables)) // MIB}M@{base:#x}"
            for base, size, _ in ranges)
        parts.append(f"{part * cpus}-{part * cpus + cpus - 1}/{memory}")
    return ["mios.parts=" + ",".join(parts[1:])] if parts[1:] else []


def find(ranges, address):
    """Offset of a physical address in a node's memory, or None."""
    for base, size, offset in ranges:
        if base <= address < base + size:
            return offset + address - base
    return None
