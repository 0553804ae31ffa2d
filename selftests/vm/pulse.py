# SPDX-License-Identifier: GPL-2.0
"""Does a child still make progress?  Its heartbeat in the ring area tells.

Read from outside, as nodelog.py reads the log: the manifest in the node's
memory says where the ring area is, the area has a block per instance with
its descriptor and its heartbeat (mios/include/mios/layout.h).  An instance
that is up by its own word and whose count stands still for the limit hangs.
machine.py calls check().
"""
import struct

from nodelog import AT_AREA_BASE, PAGE

AREA_MAGIC = b"MIOSAREA"
AT_AREA_SIZE, AT_RING_SIZE = 24, 36         # in struct mios_area_header
AREA_HEAD = 21 * PAGE                       # MIOS_AREA_BLOCKS_AT
AT_INCARNATION, AT_STATE = 8 + 24, 8 + 28   # in struct mios_desc
AT_BEAT_COUNT = PAGE + 64 + 8               # of a block
STATE_UP = 1
INSTANCES_MAX = 64


class Pulse:
    """The heartbeat of one node's instance, through all incarnations."""

    def __init__(self, reader, limit):
        self.reader = reader                # its NodeLogReader
        self.limit = limit
        self.last = None                    # (incarnation, count)
        self.since = 0.0

    def beat(self):
        """(incarnation, count) of an instance that is up, else None."""
        found = self.reader.manifest()
        if not found:
            return None
        read = self.reader.read_memory
        area, = struct.unpack("<Q", read(self.reader.base + AT_AREA_BASE, 8))
        try:
            head = read(area, PAGE)
            size, = struct.unpack_from("<Q", head, AT_AREA_SIZE)
            count, = struct.unpack_from("<I", head, AT_RING_SIZE)
            if head[:8] != AREA_MAGIC or \
                    not self.reader.node < count <= INSTANCES_MAX:
                return None
            block = area + AREA_HEAD + \
                self.reader.node * ((size - AREA_HEAD) // count)
            data = read(block, 2 * PAGE)
        except ValueError:                  # no memory there
            return None
        incarnation, = struct.unpack_from("<I", data, AT_INCARNATION)
        state, = struct.unpack_from("<I", data, AT_STATE)
        if state != STATE_UP or incarnation != found[0]:
            return None
        return incarnation, struct.unpack_from("<Q", data, AT_BEAT_COUNT)[0]

    def check(self, now):
        """What is wrong, once per standstill, or None."""
        beat = self.beat()
        if beat != self.last or beat is None:
            self.last, self.since = beat, now
            return None
        if now - self.since < self.limit:
            return None
        self.since = float("inf")
        return f"hangs: no heartbeat for {self.limit:.0f} s"
