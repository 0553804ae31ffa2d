#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Somebody else on the wire of a DSM cluster; says "ready" when it is.

usage: wire.py record INTERFACE FILE   writes all frames of a run, until killed
       wire.py replay INTERFACE FILE   sends what was recorded, again and again
       wire.py garbage INTERFACE SEED  sends foreign, cut and scrambled frames
"""
import pickle
import random
import socket
import sys
import time

ETHER_TYPE = 0x88b5
HELLO_MAGIC = b"\x3b\xd5"
ALL = b"\xff" * 6


def record(wire, path):
    """Each frame as it was, with both addresses; notes are left out."""
    frames = []
    wire.settimeout(0.2)
    with open(path, "wb") as out:
        while True:
            try:
                frame = wire.recv(65536)
            except TimeoutError:
                out.seek(0)
                pickle.dump(frames, out)
                out.flush()
                continue
            if frame[14:16] != HELLO_MAGIC and len(frames) < 20000:
                frames.append(frame)


def replay(wire, path):
    """In the order in which they were sent."""
    with open(path, "rb") as source:
        frames = pickle.load(source)
    while True:
        for number, frame in enumerate(frames):
            wire.send(frame)
            if number % 32 == 0:
                time.sleep(0.0005)


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


def main():
    """Runs until it is killed."""
    what, interface, arg = sys.argv[1:]
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                         socket.htons(ETHER_TYPE))
    wire.bind((interface, ETHER_TYPE))
    print("ready", flush=True)
    {"record": record, "replay": replay, "garbage": garbage}[what](wire, arg)


if __name__ == "__main__":
    main()
