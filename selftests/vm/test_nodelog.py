# SPDX-License-Identifier: GPL-2.0
"""nodelog: a child's log in a made-up node's memory."""
import pathlib
import re
import struct
import tempfile
import unittest

import nodelog
import pulse

TOP = pathlib.Path(__file__).resolve().parents[2]
BASE, SIZE, LOG = 1 << 30, 1 << 20, 0x2000


class Node:
    """A node's memory, and the child that writes to it."""

    def __init__(self, size=256):
        self.data = bytearray(SIZE)
        self.size = size
        self.written = 0
        self.boots = 0

    def read(self, address, size):
        """As Machine.read_memory()."""
        return bytes(self.data[address - BASE:address - BASE + size])

    def boot(self, incarnation, instance=3, base=BASE):
        """What the loader leaves."""
        self.data[0:8] = nodelog.MANIFEST_MAGIC
        struct.pack_into("<Q", self.data, nodelog.AT_SELF, base)
        struct.pack_into("<I", self.data, nodelog.AT_INSTANCE, instance)
        struct.pack_into("<I", self.data, nodelog.AT_INCARNATION, incarnation)
        self.boots += 1
        struct.pack_into("<Q", self.data, nodelog.AT_STARTED, self.boots)
        struct.pack_into("<Q", self.data, nodelog.AT_LOG_BASE, BASE + LOG)
        self.data[LOG:LOG + 8] = nodelog.LOG_MAGIC
        struct.pack_into("<II", self.data, LOG + 8, self.size, 0)
        self.written = 0

    def say(self, text):
        """The child's console."""
        for byte in text.encode():
            at = LOG + nodelog.AT_TEXT + self.written % self.size
            self.data[at] = byte
            self.written += 1
        struct.pack_into("<I", self.data, LOG + nodelog.AT_HEAD,
                         self.written & 0xffffffff)


class Reading(unittest.TestCase):
    """NodeLogReader"""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name) / "log"
        self.node = Node()
        self.reader = nodelog.NodeLogReader(3, [(BASE, SIZE, 0)],
                                            self.node.read, self.path)

    def tearDown(self):
        self.folder.cleanup()

    def test_nothing_before_the_first_boot(self):
        self.assertEqual(self.reader.read(), "")
        self.assertFalse(self.path.exists())

    def test_follows_and_wraps(self):
        self.node.boot(1)
        self.node.say("first\n")
        self.assertEqual(self.reader.read(), "--- incarnation 1\nfirst\n")
        for number in range(100):
            self.node.say(f"line {number}\n")
            self.assertEqual(self.reader.read(), f"line {number}\n")
        self.assertEqual(self.reader.read(), "")
        self.assertIn("line 99\n", self.path.read_text())

    def test_fallen_behind(self):
        self.node.boot(1)
        self.node.say("x" * 1000 + "end")
        text = self.reader.read()
        self.assertEqual(text[-256:], "x" * 253 + "end")

    def test_next_incarnation_starts_anew(self):
        self.node.boot(1)
        self.node.say("old")
        self.reader.read()
        self.node.boot(2)
        self.node.say("new")
        self.assertEqual(self.reader.read(), "--- incarnation 2\nnew")

    def test_incarnations_counted_anew(self):
        self.node.boot(1)
        self.node.say("older than what follows")
        self.reader.read()
        self.node.boot(1)
        self.node.say("new")
        self.assertEqual(self.reader.read(), "--- incarnation 1\nnew")

    def test_half_written(self):
        """The time of the start is the loader's last word."""
        self.node.boot(1)
        struct.pack_into("<Q", self.node.data, nodelog.AT_STARTED, 0)
        self.assertEqual(self.reader.read(), "")

    def test_garbage_is_no_log(self):
        self.node.boot(1, instance=2)
        self.assertEqual(self.reader.read(), "")
        self.node.boot(1, base=BASE + 4096)
        self.assertEqual(self.reader.read(), "")
        self.node.boot(1)
        self.node.say("text")
        struct.pack_into("<I", self.node.data, LOG + 8, 1 << 31)
        self.assertEqual(self.reader.read(), "--- incarnation 1\n")

    def test_layout_is_the_series(self):
        """The offsets above, against the header that the series adds."""
        text = "".join(p.read_text() for p in
                       sorted((TOP / "linux").rglob("*.patch")))
        magic = {name: int(value, 16).to_bytes(8, "little") for name, value in
                 re.findall(r"#define MIOS_(\w+)_MAGIC\s+(0x\w+?)ULL", text)}
        self.assertEqual(magic["MANIFEST"], nodelog.MANIFEST_MAGIC)
        self.assertEqual(magic["LOG"], nodelog.LOG_MAGIC)
        offsets = fields(text, "mios_manifest")
        self.assertEqual(
            [offsets[n] for n in ("self", "instance", "incarnation",
                                  "wall_tsc", "log_base", "area_base")],
            [nodelog.AT_SELF, nodelog.AT_INSTANCE, nodelog.AT_INCARNATION,
             nodelog.AT_STARTED, nodelog.AT_LOG_BASE, nodelog.AT_AREA_BASE])
        offsets = fields(text, "mios_log")
        self.assertEqual([offsets[n] for n in ("size", "head", "text")],
                         [nodelog.AT_SIZE, nodelog.AT_HEAD, nodelog.AT_TEXT])


    def test_area(self):
        text = (TOP / "mios/include/mios/layout.h").read_text()
        pages = re.search(r"AREA_BLOCKS_AT\s+\((\d+) \* MIOS_AREA_PAGE\)",
                          text)
        self.assertEqual(int(pages[1]) * nodelog.PAGE, pulse.AREA_HEAD)


class Beating(unittest.TestCase):
    """Pulse, with a ring area at the end of the made-up node's memory"""

    AREA, BLOCK = BASE + 0x40000, 0x4000

    def setUp(self):
        self.node = Node()
        self.node.boot(7)
        struct.pack_into("<Q", self.node.data, nodelog.AT_AREA_BASE,
                         self.AREA)
        at = self.AREA - BASE
        self.node.data[at:at + 8] = pulse.AREA_MAGIC
        struct.pack_into("<Q", self.node.data, at + pulse.AT_AREA_SIZE,
                         pulse.AREA_HEAD + 4 * self.BLOCK)
        struct.pack_into("<I", self.node.data, at + pulse.AT_RING_SIZE, 4)
        self.block = at + pulse.AREA_HEAD + 3 * self.BLOCK
        self.describe(7, pulse.STATE_UP)
        reader = nodelog.NodeLogReader(3, [(BASE, SIZE, 0)], self.node.read,
                                       "/dev/null")
        self.pulse = pulse.Pulse(reader, 60)

    def describe(self, incarnation, state):
        """The instance's descriptor."""
        struct.pack_into("<II", self.node.data,
                         self.block + pulse.AT_INCARNATION, incarnation,
                         state)

    def beat(self, count):
        """Its heartbeat."""
        struct.pack_into("<Q", self.node.data,
                         self.block + pulse.AT_BEAT_COUNT, count)

    def test_beating(self):
        for now in range(0, 1000, 50):
            self.beat(now)
            self.assertIsNone(self.pulse.check(now))

    def test_standstill_is_told_once(self):
        self.beat(5)
        self.assertEqual([bool(self.pulse.check(now))
                          for now in (0, 59, 61, 100, 1000)],
                         [False, False, True, False, False])
        self.assertIsNone(self.pulse.check(2000))

    def test_dead_ones_need_not_beat(self):
        for incarnation, state in ((7, 7), (6, pulse.STATE_UP)):
            self.describe(incarnation, state)
            self.assertEqual([self.pulse.check(n) for n in (0, 100)],
                             [None, None])

    def test_layout_is_the_headers(self):
        text = "+" + (TOP / "mios/include/mios/layout.h").read_text() \
            .replace("\n", "\n+")
        head = fields(text, "mios_area_header")
        body = fields(text, "mios_desc_body")
        self.assertEqual((head["area_size"], head["nr"]),
                         (pulse.AT_AREA_SIZE, pulse.AT_RING_SIZE))
        self.assertEqual((8 + body["incarnation"], 8 + body["state"]),
                         (pulse.AT_INCARNATION, pulse.AT_STATE))
        self.assertEqual(nodelog.PAGE + 64 + fields(text, "mios_beat")
                         ["count"], pulse.AT_BEAT_COUNT)
        self.assertIn("offsetof(struct mios_lines, beat) == 64", text)


def fields(text, name):
    """Offset of each field of a structure of fixed-width words."""
    body = re.search(rf"^\+struct {name} {{\n(.*?)^\+}};", text, re.M | re.S)
    at, found = 0, {}
    for width, names in re.findall(r"__u(\d+) ([\w, ]+)", body[1]):
        for field in names.split(", "):
            found[field] = at
            at += int(width) // 8
    return found


if __name__ == "__main__":
    unittest.main()
