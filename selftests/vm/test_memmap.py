# SPDX-License-Identifier: GPL-2.0
"""memmap: the physical map of the machine, against what QEMU is known to do."""
import unittest

import memmap
import qemu

MIB, GIB = memmap.MIB, memmap.GIB


class Sizes(unittest.TestCase):
    """parse_size()"""

    def test_units(self):
        self.assertEqual(memmap.parse_size("1G"), GIB)
        self.assertEqual(memmap.parse_size("512m"), 512 * MIB)
        self.assertEqual(memmap.parse_size("256"), 256 * MIB)

    def test_refused(self):
        for text in ("", "0", "100M", "-1G", "1.5G", "1T", "G"):
            with self.assertRaises(ValueError, msg=text):
                memmap.parse_size(text)


class Ranges(unittest.TestCase):
    """node_ranges() and what is made from it"""

    def test_four_gigabytes_split_at_two(self):
        self.assertEqual(
            [[(b, s) for b, s, _ in r]
             for r in memmap.node_ranges([GIB] * 4)],
            [[(0, GIB)], [(GIB, GIB)], [(4 * GIB, GIB)], [(5 * GIB, GIB)]])

    def test_small_machine_is_below_the_hole(self):
        self.assertEqual(memmap.node_ranges([GIB, GIB]),
                         [[(0, GIB, 0)], [(GIB, GIB, 0)]])

    def test_node_across_the_hole(self):
        ranges = memmap.node_ranges([GIB, 2 * GIB, GIB])
        self.assertEqual(ranges[1], [(GIB, GIB, 0), (4 * GIB, GIB, GIB)])
        self.assertEqual(ranges[2], [(5 * GIB, GIB, 0)])

    def test_nothing_lost(self):
        sizes = [768 * MIB, 640 * MIB, 2 * GIB, 128 * MIB]
        for size, ranges in zip(sizes, memmap.node_ranges(sizes)):
            self.assertEqual(sum(s for _, s, _ in ranges), size)

    def test_reserved_words(self):
        self.assertEqual(memmap.reserve_words([GIB] * 3),
                         ["memmap=1024M$0x40000000",
                          "memmap=1024M$0x100000000"])

    def test_pool(self):
        self.assertEqual(memmap.pool_words([GIB] * 3),
                         ["memmap=32M$0x3e000000",
                          "mios.pool=32M@0x3e000000,16M@0x7e800000,"
                          "16M@0x13f000000"])
        self.assertEqual(memmap.pool_words([3 * GIB, GIB]),
                         ["memmap=32M$0x13e000000",
                          "mios.pool=32M@0x13e000000,16M@0x17f000000"])
        self.assertEqual(memmap.pool_words([GIB] + [512 * MIB] * 2),
                         ["memmap=32M$0x3e000000", "mios.pool=32M@0x3e000000"])
        self.assertEqual(memmap.pool_words([GIB] * 2),
                         ["memmap=32M$0x3e000000",
                          "mios.pool=32M@0x3e000000,16M@0x7e800000"])
        self.assertEqual(memmap.pool_words([GIB]), [])

    def test_parts(self):
        self.assertEqual(memmap.part_words([GIB, 2 * GIB, GIB], 2),
                         ["mios.parts=2-3/1016M@0x40000000+1024M@0x100000000,"
                          "4-5/1024M@0x140000000"])
        self.assertEqual(memmap.part_words([GIB], 2), [])

    def test_find(self):
        ranges = memmap.node_ranges([GIB, 2 * GIB, GIB])[1]
        self.assertEqual(memmap.find(ranges, 4 * GIB + 5), GIB + 5)
        self.assertEqual(memmap.find(ranges, GIB + 5), 5)
        self.assertIsNone(memmap.find(ranges, 3 * GIB))

    def test_files(self):
        """With one node all of it lies in one file, in the same order."""
        for one, files, place in ((False, [GIB, 2 * GIB, GIB], (2, 5)),
                                  (True, [4 * GIB], (0, 3 * GIB + 5))):
            shape = qemu.Shape(3, memory=[GIB, 2 * GIB, GIB], one_node=one)
            self.assertEqual(shape.files(), files)
            self.assertEqual(shape.place(5 * GIB + 5), place)
            self.assertIsNone(shape.place(3 * GIB))


if __name__ == "__main__":
    unittest.main()
