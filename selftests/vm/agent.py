# SPDX-License-Identifier: GPL-2.0
"""The host's end of a command port; guest/agent.c is the other.

One Agent is one virtio-serial port and runs one command at a time.  The
caller supplies `tick`, called several times a second while waiting, which
raises when the machine is beyond hope; see machine.py.
"""
import os
import select
import struct

FRAME_MAX = 65536
CHUNK = 16384
BEHIND = 100000         # frames at most, of a machine that sends without end


class AgentGone(Exception):
    """The guest closed the port, or the machine ended."""


class Agent:
    """Frames over a connected socket."""

    def __init__(self, sock, tick):
        self.sock = sock
        self.tick = tick
        self.buffer = b""
        self.frames = 0         # heard so far; the guest sends one each 2 s
        self.clock = 0.0        # the guest's, as last heard of

    def send(self, kind, data=b""):
        """One frame to the guest."""
        self.sock.sendall(kind.encode() + struct.pack("<I", len(data)) + data)

    def has_frame(self):
        """Has a whole one come that nobody has taken?"""
        if len(self.buffer) < 5:
            return False
        size = struct.unpack_from("<I", self.buffer, 1)[0]
        if size > FRAME_MAX:
            raise AgentGone("the guest sent a frame without sense")
        return len(self.buffer) >= 5 + size

    def next_frame(self, extra=()):
        """A frame (kind, data), or a ready descriptor of extra, or None.

        Returns None after a while in which nothing came.
        """
        while True:
            if self.has_frame():
                end = 5 + struct.unpack_from("<I", self.buffer, 1)[0]
                frame = self.buffer[:end]
                self.buffer = self.buffer[end:]
                self.frames += 1
                if frame[:1] == b"H":
                    self.clock = int(frame[5:]) / 1000
                return chr(frame[0]), frame[5:]
            self.tick()
            ready, _, _ = select.select([self.sock, *extra], [], [], 0.1)
            if self.sock in ready:
                data = self.sock.recv(FRAME_MAX)
                if not data:
                    raise AgentGone("the machine ended")
                self.buffer += data
            elif ready:
                return "input", ready[0]
            else:
                return None

    def catch_up(self):
        """Hear what has come meanwhile, so that the clock is that of now.

        Under icount a machine that is idle lets hours pass while nobody
        listens.
        """
        for _ in range(BEHIND):
            if not self.has_frame() and \
                    not select.select([self.sock], [], [], 0)[0]:
                return
            self.next_frame()

    def wait_ready(self):
        """Until the guest's agent says that it lives, and what time it is."""
        while True:
            frame = self.next_frame()
            if frame and frame[0] == "H":
                return

    def wait_start(self):
        """Until another one has started, after the guest's next boot."""
        while True:
            frame = self.next_frame()
            if frame and frame[0] == "R":
                self.clock = 0.0
                return

    def run(self, words, output, error, stdin=None, terminal=None):
        """Run a command; its exit status.

        output and error are called with bytes; stdin is a descriptor or
        None; terminal is (rows, columns) when the command gets a terminal.
        """
        head = "1 %d %d" % terminal if terminal else "0 0 0"
        data = b"".join(os.fsencode(w) + b"\0" for w in (head, *words))
        if len(data) >= FRAME_MAX:
            raise ValueError("the command is too long")
        self.send("X", data)
        if stdin is None:
            self.send("E")
        sources = [stdin] if stdin is not None else []
        while True:
            frame = self.next_frame(sources)
            if frame is None:
                continue
            kind, data = frame
            if kind == "O":
                output(data)
            elif kind == "F":
                error(data)
            elif kind == "S":
                return int(data)
            elif kind == "input":
                text = os.read(data, CHUNK)
                if text:
                    self.send("I", text)
                else:
                    self.send("E")
                    sources = []

    def window(self, rows, columns):
        """Tell the command's terminal its size."""
        self.send("W", b"%d %d" % (rows, columns))

    def signal(self, number):
        """Send a signal to the command's process group."""
        self.send("K", b"%d" % number)
