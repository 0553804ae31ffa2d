# SPDX-License-Identifier: GPL-2.0
"""agent: what is heard from a machine, and when it was said."""
import socket
import struct
import unittest

import agent


def frame(kind, data):
    """As the guest sends it."""
    return kind + struct.pack("<I", len(data)) + data


class Clock(unittest.TestCase):
    """The guest's, as the last frame has it."""

    def setUp(self):
        self.guest, host = socket.socketpair()
        self.addCleanup(self.guest.close)
        self.addCleanup(host.close)
        self.agent = agent.Agent(host, lambda: None)

    def test_behind(self):
        """All that has been said since, in pieces of any size."""
        said = b"".join(frame(b"H", b"%d" % (second * 1000))
                        for second in range(0, 5000, 2))
        self.guest.sendall(said)
        self.agent.catch_up()
        self.assertEqual(self.agent.clock, 4998)
        self.assertEqual(self.agent.frames, 2500)

    def test_part(self):
        """A frame whose end is still to come is kept."""
        said = frame(b"H", b"7000")
        self.guest.sendall(frame(b"H", b"5000") + said[:-2])
        self.agent.catch_up()
        self.assertEqual(self.agent.clock, 5)
        self.guest.sendall(said[-2:])
        self.agent.catch_up()
        self.assertEqual(self.agent.clock, 7)

    def test_nothing(self):
        """Nobody waits for what has not been said."""
        self.agent.catch_up()
        self.assertEqual((self.agent.clock, self.agent.frames), (0, 0))


if __name__ == "__main__":
    unittest.main()
