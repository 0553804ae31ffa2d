#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""delays.py COMMAND: what the kernel says a task of this name has waited for, when
it ends: "swapin COUNT NS thrashing COUNT NS".

Listens for taskstats (Documentation/accounting/taskstats.rst); says "ready" first.
The places in the structure are those of include/uapi/linux/taskstats.h, version 11
and later.
"""
import os
import socket
import struct
import sys

GENL_ID_CTRL, CTRL_CMD_GETFAMILY = 16, 3
CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 1, 2
TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK = 1, 3
TASKSTATS_TYPE_STATS, TASKSTATS_TYPE_AGGR_PID = 3, 4
SWAPIN, COMM, THRASHING = 48, 80, 328


def attribute(kind, body):
    """One netlink attribute."""
    size = 4 + len(body)
    return struct.pack("HH", size, kind) + body + bytes(-size % 4)


def message(kind, command, body):
    """A generic netlink request."""
    body = struct.pack("BBH", command, 1, 0) + body
    return struct.pack("IHHII", 16 + len(body), kind, 1, 1, 0) + body


def attributes(data):
    """{kind: body}"""
    found = {}
    while len(data) >= 4:
        size, kind = struct.unpack_from("HH", data)
        if size < 4:
            break
        found[kind & 0x3fff] = data[4:size]
        data = data[size + -size % 4:]
    return found


def main(command):
    """Listen until it has ended."""
    link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
    link.send(message(GENL_ID_CTRL, CTRL_CMD_GETFAMILY,
                      attribute(CTRL_ATTR_FAMILY_NAME, b"TASKSTATS\0")))
    answer = attributes(link.recv(65536)[20:])
    family = struct.unpack("H", answer[CTRL_ATTR_FAMILY_ID])[0]
    cpus = f"0-{os.cpu_count() - 1}\0".encode()
    link.send(message(family, TASKSTATS_CMD_GET,
                      attribute(TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, cpus)))
    print("ready", flush=True)
    while True:
        data = attributes(link.recv(65536)[20:])
        if TASKSTATS_TYPE_AGGR_PID not in data:
            continue
        stats = attributes(data[TASKSTATS_TYPE_AGGR_PID])[TASKSTATS_TYPE_STATS]
        if stats[COMM:COMM + 32].split(b"\0")[0].decode() != command:
            continue
        print("swapin %d %d thrashing %d %d" % (
            *struct.unpack_from("QQ", stats, SWAPIN),
            *struct.unpack_from("QQ", stats, THRASHING)))
        return


main(sys.argv[1])
