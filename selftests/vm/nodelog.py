# SPDX-License-Identifier: GPL-2.0
"""A child's log, read from outside, straight from its node's memory.

The loader puts a manifest at the start of the node's largest range of
memory, and the manifest says where the log ring is (asm/mios.h in the
series has both).  So the first line and the last line before a crash are
seen without any help from a kernel that may be dead.  watch.py calls read().
"""
import struct

PAGE = 4096
MANIFEST_MAGIC = b"MIOSMST\0"
LOG_MAGIC = b"MIOSLOG\0"
LOG_LIMIT = 16 << 20
# Offsets in struct mios_manifest and struct mios_log.
AT_SELF, AT_INSTANCE, AT_INCARNATION, AT_STARTED = 16, 36, 44, 96
AT_LOG_BASE, AT_AREA_BASE = 112, 128
AT_SIZE, AT_HEAD, AT_TEXT = 8, 12, 16


class NodeLogReader:
    """Follows one node through all its incarnations, into a file."""

    def __init__(self, node, ranges, read_memory, path):
        self.name = f"instance {node}"
        self.node = node
        self.base = max(ranges, key=lambda r: r[1])[0]
        self.ranges = ranges
        self.read_memory = read_memory      # (address, size) -> bytes
        self.path = path
        self.started = None
        self.position = 0

    def follow(self, where):
        """Go on where a reader of the same log had got to."""
        self.started, self.position = where

    def manifest(self):
        """(incarnation, address of the log, time stamp of its start: modules
        that are loaded anew count incarnations anew), or None: no child."""
        page = self.read_memory(self.base, PAGE)
        place, = struct.unpack_from("<Q", page, AT_SELF)
        instance, = struct.unpack_from("<I", page, AT_INSTANCE)
        log, = struct.unpack_from("<Q", page, AT_LOG_BASE)
        started, = struct.unpack_from("<Q", page, AT_STARTED)
        if page[:8] != MANIFEST_MAGIC or place != self.base or \
                instance != self.node or not started:
            return None
        if not any(b <= log < b + s - PAGE for b, s, _ in self.ranges):
            return None
        return struct.unpack_from("<I", page, AT_INCARNATION)[0], log, started

    def new_bytes(self, log):
        """What the ring holds beyond our position."""
        head = self.read_memory(log, AT_TEXT)
        size, end = struct.unpack_from("<II", head, AT_SIZE)
        if head[:8] != LOG_MAGIC or not size or size & (size - 1) or \
                size > LOG_LIMIT:
            return b""
        count = (end - self.position) & 0xffffffff
        if count > size:                # fell behind: the oldest is gone
            count = size
        first = (end - count) & (size - 1)
        text = self.read_memory(log + AT_TEXT, size)
        self.position = end
        return (text + text)[first:first + count]

    def read(self):
        """Text since the last call; kept in the file as well."""
        found = self.manifest()
        if not found:
            return ""
        incarnation, log, started = found
        data = b""
        if started != self.started:
            data = f"--- incarnation {incarnation}\n".encode()
            self.started, self.position = started, 0
        data += self.new_bytes(log)
        if not data:
            return ""
        with open(self.path, "ab") as file:
            file.write(data)
        return data.decode("utf-8", "replace")
