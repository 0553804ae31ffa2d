#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Somebody else on the wire of a DSM cluster; says "ready" when it is.

usage: wire.py record INTERFACE FILE   writes all frames of a run, until killed
       wire.py replay INTERFACE FILE   sends what was recorded, again and again
       wire.py late INTERFACE FILE     when a run is quiet: of what was recorded the frame
                                       that each two nodes expect next; says how many
       wire.py garbage INTERFACE SEED  sends foreign, cut and scrambled frames
       wire.py version INTERFACE N     asks and says hello in version N
       wire.py liar INTERFACE PAGES    gives whoever asks a number, in a window of so many pages
       wire.py bad INTERFACE,... SEED  carries frames from each to all others; loses,
                                       doubles and holds back one in a hundred
       wire.py flip INTERFACE,... SEED carries them; changes a bit of the page in one of ten
       wire.py echo INTERFACE SEED     sends each frame that it sees once more
"""
import contextlib
import heapq
import pickle
import random
import select
import socket
import sys
import time

ETHER_TYPE = 0x88b5
HELLO_MAGIC = b"\x3b\xd5"
LINK_MAGIC = b"\x3a\xd5"
LINK_HEADER = 20
ALL = b"\xff" * 6


def record(wire, path):
    """Each frame as it was, with both addresses; notes are left out."""
    frames = []
    wire.settimeout(0.2)
    with open(path, "wb") as out:
        while True:
            frame = b""
            with contextlib.suppress(TimeoutError):
                frame = wire.recv(65536)
            if frame and frame[14:16] != HELLO_MAGIC and len(frames) < 20000:
                frames.append(frame)
            # When all is quiet; or early, if it never is.
            if not frame or len(frames) == 2000:
                out.seek(0)
                pickle.dump(frames, out)
                out.flush()


def replay(wire, path):
    """In the order in which they were sent."""
    with open(path, "rb") as source:
        frames = pickle.load(source)
    while True:
        for number, frame in enumerate(frames):
            wire.send(frame)
            if number % 32 == 0:
                time.sleep(0.0005)


def numbered(frame):
    """Who sends it to whom and its number; None if it is no message's."""
    length, number = (int.from_bytes(frame[a:b], "little")
                      for a, b in ((18, 20), (26, 30)))
    if frame[14:16] != LINK_MAGIC or length <= LINK_HEADER:
        return None
    return frame[:12], number


def late(wire, path):
    """It takes such numbers from what it sees."""
    with open(path, "rb") as source:
        frames = pickle.load(source)
    expected, quiet = {}, time.monotonic() + 3600
    wire.settimeout(0.1)
    while time.monotonic() < quiet:
        with contextlib.suppress(TimeoutError):
            seen = numbered(wire.recv(65536))
            if seen:
                way, number = seen
                expected[way] = max(expected.get(way, 0), number + 1)
                quiet = time.monotonic() + 1
    old = {numbered(frame): frame for frame in frames if numbered(frame)}
    found = [old[each] for each in expected.items() if each in old]
    for frame in found:
        wire.send(frame)
    print("late", len(found), flush=True)


def garbage(wire, seed):
    """Of our type and of another one; cut, too long, of all sorts."""
    random.seed(int(seed))
    head = ALL + b"\x02\x00\x00\x00\x00\x01"
    while True:
        kind = random.choice((ETHER_TYPE, ETHER_TYPE, 0x88b6))
        magic = random.choice((b"\x3a\xd5", HELLO_MAGIC, b"\x00\x00"))
        body = magic + bytes((random.choice((0, 1, 2)),)) + \
            random.randbytes(random.randrange(0, 1400))
        wire.send(head + kind.to_bytes(2, "big") +
                  body[:random.randrange(1, len(body) + 1)])
        time.sleep(0.0005)


def version(wire, number):
    """Notes that another version's nodes may send."""
    while True:
        for what in (0, 2):
            note = HELLO_MAGIC + bytes((int(number), what)) + bytes(68)
            wire.send(ALL + b"\x02\x00\x00\x00\x00\x01" +
                      ETHER_TYPE.to_bytes(2, "big") + note)
        time.sleep(0.05)


def liar(wire, pages):
    """A bootstrap node."""
    while True:
        frame = wire.recv(65536)
        if frame[14:16] != HELLO_MAGIC or frame[17] != 2:
            continue
        note = bytearray(frame[14:86])
        note[3] = 3
        note[8:10] = 2, 1               # of two nodes the second
        note[12:16] = int(pages).to_bytes(4, "little")
        wire.send(ALL + b"\x02\x00\x00\x00\x00\x01" + frame[12:14] + note)


def fates():
    """When, in seconds, copies of a frame go on."""
    if random.random() < 0.01:
        return ()
    late = random.uniform(0, 0.003) if random.random() < 0.01 else 0
    return (late, 0.001) if random.random() < 0.01 else (late,)


def bad(wires, seed):
    """What a switch between them would do, were it a bad one."""
    random.seed(int(seed))
    under_way, count = [], 0
    while True:
        soon = max(0, under_way[0][0] - time.monotonic()) if under_way else 1
        for wire in select.select(wires, [], [], soon)[0]:
            frame = b""
            with contextlib.suppress(OSError):      # a wire that is down
                frame = wire.recv(65536)
            for other in wires if frame else ():
                for late in fates() if other is not wire else ():
                    count += 1
                    heapq.heappush(under_way, (time.monotonic() + late, count,
                                               other, frame))
        while under_way and under_way[0][0] <= time.monotonic():
            _, _, other, frame = heapq.heappop(under_way)
            with contextlib.suppress(OSError):
                other.send(frame)


def flip(wires, seed):
    """Somebody between them who changes what they say; neither its head nor its end."""
    random.seed(int(seed))
    while True:
        for wire in select.select(wires, [], [])[0]:
            frame = bytearray(wire.recv(65536))
            if len(frame) > 1000 and random.random() < 0.1:
                bit = random.randrange(200 * 8, 900 * 8)
                frame[bit // 8] ^= 1 << bit % 8
            for other in wires:
                if other is not wire:
                    other.send(frame)


def echo(wire, _seed):
    """As they were: from the same address, to the same."""
    while True:
        wire.send(wire.recv(65536))


def listen(interface):
    """Its frames of our type."""
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                         socket.htons(ETHER_TYPE))
    wire.bind((interface, ETHER_TYPE))
    return wire


def main():
    """Runs until it is killed."""
    what, interface, arg = sys.argv[1:]
    wires = [listen(one) for one in interface.split(",")]
    print("ready", flush=True)
    if what in ("bad", "flip"):
        {"bad": bad, "flip": flip}[what](wires, arg)
    {"record": record, "replay": replay,
     "late": late, "garbage": garbage, "version": version,
     "liar": liar, "echo": echo}[what](wires[0], arg)


if __name__ == "__main__":
    main()
