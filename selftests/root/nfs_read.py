# SPDX-License-Identifier: GPL-2.0
"""nfs_read SERVER PATH UID: reads a file of an NFS 4 server in user space, in
the name of UID, from a port below 1024, as a program with CAP_NET_BIND_SERVICE
can; prints what is in it, or why not."""
import socket
import struct
import sys

SECONDS = 5


def opaque(data):
    return struct.pack(">I", len(data)) + data + b"\0" * (-len(data) % 4)


def request(path, uid):
    """One COMPOUND of version 4.0: no client, no session, nothing opened."""
    cred = struct.pack(">I", 0) + opaque(b"x") + struct.pack(">3I", uid, uid, 0)
    names = [name.encode() for name in path.split("/") if name]
    ops = [struct.pack(">I", 24)]                           # PUTROOTFH
    ops += [struct.pack(">I", 15) + opaque(n) for n in names]   # LOOKUP
    ops += [struct.pack(">I16xQI", 25, 0, 4096)]            # READ
    call = struct.pack(">7I", 1, 0, 2, 100003, 4, 1, 1) + opaque(cred)
    call += struct.pack(">2I", 0, 0) + opaque(b"")
    call += struct.pack(">2I", 0, len(ops)) + b"".join(ops)
    return struct.pack(">I", 0x80000000 | len(call)) + call


def reserved_socket():
    for port in range(600, 1024):
        sock = socket.socket()
        try:
            sock.bind(("", port))
        except PermissionError:
            sock.close()
            sys.exit("no port below 1024")
        except OSError:
            sock.close()
            continue
        sock.settimeout(SECONDS)
        return sock
    sys.exit("no port is free")


def main(server, path, uid):
    sock = reserved_socket()
    try:
        sock.connect((server, 2049))
        sock.sendall(request(path, int(uid)))
        reply = sock.recv(65536)
    except OSError as err:
        sys.exit(f"no connection: {err}")
    if len(reply) < 32:
        sys.exit(f"refused: {reply.hex()}")
    accepted, status = struct.unpack_from(">II", reply, 12)[0], reply[24:32]
    if accepted or status != b"\0" * 8:
        sys.exit(f"refused: {reply[4:36].hex()}")
    sys.stdout.write(reply.decode(errors="replace").replace("\0", ""))


main(*sys.argv[1:])
