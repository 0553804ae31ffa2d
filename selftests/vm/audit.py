# SPDX-License-Identifier: GPL-2.0
"""Which ports and device registers a child touches: none but its own.

QEMU tells of every access to a device by every CPU.  From the start-up
signal that instance 0 sends to the node's first CPU until its next INIT,
what the node's CPUs touch is the child's doing.  Whatever it does
not own may be in use by instance 0 at that moment, or reset the machine.
Called by 30-audit; the lists below are the child's whole allowance.
"""
import re

EVENTS = ("memory_region_ops_read", "memory_region_ops_write")
LINE = re.compile(r"memory_region_ops_(read|write) cpu (\d+) mr \S+ "
                  r"addr (0x[0-9a-f]+) value (0x[0-9a-f]+) size \d+"
                  r"(?: name '([^']*)')?")
LAPIC, LAPIC_SIZE, ICR = 0xfee00000, 0x1000, 0x300
INIT, STARTUP = 5, 6            # delivery modes in the ICR
# i8237A_init_ops() reads it once, to learn that there is no DMA controller.
ALLOWED_READS = {0x87}


class Access:
    """One line of QEMU's trace."""

    def __init__(self, found):
        self.write = found[1] == "write"
        self.cpu = int(found[2])
        self.address = int(found[3], 16)
        self.value = int(found[4], 16)
        self.region = found[5] or "?"

    def __str__(self):
        return f"CPU {self.cpu} {'writes' if self.write else 'reads'} " \
            f"{self.address:#x} ({self.region}), value {self.value:#x}"

    def in_lapic(self):
        """The local APIC belongs to the CPU that touches it."""
        return LAPIC <= self.address < LAPIC + LAPIC_SIZE

    def signal(self):
        """Delivery mode when this sends an interprocessor interrupt."""
        if self.write and self.address == LAPIC + ICR:
            return self.value >> 8 & 7
        return None

    def vector(self):
        """Of a start-up signal: the page that the CPU starts at."""
        return self.value & 0xff


def parse(lines):
    """Accesses in order."""
    for line in lines:
        found = LINE.search(line)
        if found:
            yield Access(found)


def judge(accesses, cpus):
    """(accesses of the child, those it had no right to).

    cpus: QEMU's numbers of the node's CPUs.  Instance 0 starts them from a
    CPU of its own, at the page in the node's slice: to see that they have
    stopped, and for the child.  From another page it starts them for itself.
    """
    alive, page = False, None
    count, bad = 0, []
    for access in accesses:
        ours = access.cpu in cpus
        if not ours and access.signal() == STARTUP:
            page = page or access.vector()
            alive = access.vector() == page
        elif not ours and access.signal() == INIT:
            alive = False
        if not alive or not ours:
            continue
        count += 1
        allowed = access.in_lapic() or \
            not access.write and access.address in ALLOWED_READS
        if not allowed:
            bad.append(access)
    return count, bad
