#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# turns.py FILE ME TIMES: two that take turns, 0 and 1, each write a line into
# their kernel's log when the other one has written its own; FILE is shared.
import mmap
import os
import struct
import sys
import time

me, times = int(sys.argv[2]), int(sys.argv[3])
end = time.monotonic() + 60
with open(sys.argv[1], "r+b") as f:
    turn = mmap.mmap(f.fileno(), 4096)
log = os.open("/dev/kmsg", os.O_WRONLY)
for mine in range(me, 2 * times, 2):
    while struct.unpack_from("I", turn)[0] != mine:
        if time.monotonic() > end:
            sys.exit(f"turn {mine} does not come")
    os.write(log, b"turn %d\n" % mine)
    struct.pack_into("I", turn, 0, mine + 1)
