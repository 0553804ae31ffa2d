# SPDX-License-Identifier: GPL-2.0
"""raw_syn KIND SOURCE SERVER: begins a connection to SERVER's NFS port by hand
and says whether it was answered.  KIND: ip, a raw socket that writes its own
IP header; packet, a frame of its own; tagged, the same with a VLAN tag of 0."""
import socket
import struct
import sys

DEVICE = "mios0"
PORT = 721
SECONDS = 3


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    total = (total & 0xffff) + (total >> 16)
    return ~(total + (total >> 16)) & 0xffff


def packet(source, server):
    ends = socket.inet_aton(source) + socket.inet_aton(server)
    tcp = struct.pack(">HHIIBBHHH", PORT, 2049, 7, 0, 5 << 4, 2, 8192, 0, 0)
    pseudo = ends + struct.pack(">BBH", 0, 6, len(tcp))
    tcp = tcp[:16] + struct.pack(">H", checksum(pseudo + tcp)) + tcp[18:]
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 1, 0, 64, 6, 0)
    head = head[:10] + struct.pack(">H", checksum(head + ends))
    return head + ends + tcp


def send(kind, source, server):
    text = packet(source, server)
    if kind == "ip":
        sock = socket.socket(socket.AF_INET, socket.SOCK_RAW,
                             socket.IPPROTO_RAW)
        sock.sendto(text, (server, 0))
        return
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sock.bind((DEVICE, 0))
    member = int(server.split(".")[3]) - 1
    frame = bytes([2, 0x4d, 0x49, 0x4f, 0, member]) + sock.getsockname()[4]
    frame += b"\x81\0\0\0" if kind == "tagged" else b""
    sock.send(frame + b"\x08\0" + text)


def main(kind, source, server):
    heard = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
    heard.settimeout(SECONDS)
    send(kind, source, server)
    while True:
        try:
            text, (sender, _) = heard.recvfrom(65536)
        except TimeoutError:
            print("no answer")
            return
        ports = text[(text[0] & 15) * 4:][:4]
        if sender == server and ports == struct.pack(">HH", 2049, PORT):
            print("answered")
            return


main(*sys.argv[1:])
