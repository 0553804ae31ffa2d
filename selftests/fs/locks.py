#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Locks of files between processes of three instances: fs/32-locks.

"serve": one of the processes.  It is told what to do line by line: a word for an
open file, what is done with it, and more words.  What it says to that: the word, and
"fine" or the name of an error.  What may wait has a thread of its own.
"""
import errno
import fcntl
import os
import select
import struct
import subprocess
import sys
import threading

OFD_GETLK, OFD_SETLK, OFD_SETLKW = 36, 37, 38
TYPES = {"shared": fcntl.F_RDLCK, "exclusive": fcntl.F_WRLCK,
         "none": fcntl.F_UNLCK}
files = {}


def flock_struct(kind, first, length, pid=0):
    """struct flock of x86-64"""
    return struct.pack("hhqqi4x", kind, os.SEEK_SET, first, length, pid)


def range_lock(fd, command, kind, first, length):
    """fcntl() with a struct flock; what comes back"""
    return struct.unpack("hhqqi4x", fcntl.fcntl(
        fd, command, flock_struct(TYPES[kind], int(first), int(length))))


def race(fd):
    """Of two threads one lets go while the other one takes it."""
    for call in (fcntl.flock, fcntl.lockf):
        for _ in range(5):
            call(fd, fcntl.LOCK_EX)
            two = [threading.Thread(target=call, args=(fd, how))
                   for how in (fcntl.LOCK_UN, fcntl.LOCK_EX)]
            for thread in two:
                thread.start()
            for thread in two:
                thread.join()


def run(name, what, *words):
    """One line."""
    if what == "open":
        files[name] = os.open(words[0], os.O_RDWR | os.O_CREAT, 0o666)
        return "fine"
    if what == "folder":
        files[name] = os.open(words[0], os.O_RDONLY)
        return "fine"
    fd = files[name]
    if what == "close":
        os.close(files.pop(name))
    elif what == "flock":
        kind = {"shared": fcntl.LOCK_SH, "exclusive": fcntl.LOCK_EX,
                "none": fcntl.LOCK_UN}[words[0]]
        fcntl.flock(fd, kind | (0 if "wait" in words else fcntl.LOCK_NB))
    elif what == "fcntl":
        command = fcntl.F_SETLKW if "wait" in words else fcntl.F_SETLK
        range_lock(fd, command, *words[:3])
    elif what == "ofd":
        command = OFD_SETLKW if "wait" in words else OFD_SETLK
        range_lock(fd, command, *words[:3])
    elif what == "race":
        race(fd)
    elif what in ("who", "ofdwho"):
        command = fcntl.F_GETLK if what == "who" else OFD_GETLK
        kind, _, first, length, pid = range_lock(fd, command, *words[:3])
        kind = {number: text for text, number in TYPES.items()}[kind]
        if kind == "none":
            return kind
        return f"{kind} {first} {length} {pid}"
    return "fine"


def serve(name, what, words):
    """Says what came of it, beginning with the file."""
    try:
        said = run(name, what, *words)
    except OSError as error:
        said = errno.errorcode[error.errno]
    print(name, said, flush=True)


def serve_all():
    """Lines as they come."""
    for line in sys.stdin:
        name, what, *words = line.split()
        if "wait" in words:
            threading.Thread(target=serve, args=(name, what, words),
                             daemon=True).start()
        else:
            serve(name, what, words)


class Server:
    """A process on an instance."""

    def __init__(self, instance):
        self.instance = instance
        command = ["python3", "-u", os.path.abspath(__file__), "serve"]
        if instance:
            command = ["mios", "exec", str(instance), "--"] + command
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.pid = int(self.process.stdout.readline().split()[1])

    def begin(self, words):
        """It has been told."""
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()

    def says(self, wanted, what):
        """The next that it says."""
        said = self.process.stdout.readline().strip().split(maxsplit=1)
        if said[1:] != [wanted]:
            sys.exit(f"not ok: {what}, on instance {self.instance}: "
                     f"{' '.join(said)}, not {wanted}")

    def must(self, words, wanted="fine"):
        """A line, and what comes of it."""
        self.begin(words)
        self.says(wanted, words)

    def quiet(self, what):
        """It says nothing, for a second."""
        if select.select([self.process.stdout], [], [], 1)[0]:
            sys.exit(f"not ok: {what}, on instance {self.instance}: "
                     f"{self.process.stdout.readline().strip()}")

    def kill(self):
        """Its process is no more."""
        subprocess.run(["mios", "exec", str(self.instance), "--", "kill", "-9",
                        str(self.pid)], check=True)


def kinds(folder, zero, one, two):
    """What keeps out what."""
    path = f"{folder}/file"
    for server in (zero, one, two):
        server.must(f"f open {path}")
    zero.must("f flock shared")
    one.must("f flock shared")
    two.must("f flock exclusive", "EAGAIN")
    # A lock by flock() and one by fcntl() do not know of each other.
    two.must("f fcntl exclusive 10 10")
    one.must("f fcntl shared 19 1", "EAGAIN")
    one.must("f fcntl shared 20 1")
    one.must("f who exclusive 0 0", f"exclusive 10 10 {two.pid}")
    zero.must("f who exclusive 20 0", f"shared 20 1 {one.pid}")
    zero.must("f ofdwho exclusive 20 0", f"shared 20 1 {one.pid}")
    zero.must("f ofd exclusive 0 15", "EAGAIN")
    two.must("f fcntl none 12 2")
    zero.must("f ofd exclusive 12 2")
    two.must("f who shared 0 0", "exclusive 12 2 -1")
    two.must("f fcntl shared 0 30", "EAGAIN")
    zero.must("f close")
    two.must("f fcntl shared 0 30")
    one.must("f fcntl shared 0 0")
    for server in (one, two):
        server.must("f close")
    # Whatever two threads of a process do, its end is the end of its locks.
    one.must(f"f open {path}")
    one.must("f race")
    one.must("f close")
    two.must(f"f open {path}")
    two.must("f flock exclusive")
    two.must("f fcntl exclusive 0 0")
    two.must("f close")


def turns(folder, zero, one, two):
    """Who waits has it in turn, is told of himself, and can be killed."""
    path = f"{folder}/file"
    for server in (zero, one, two):
        for name in "fg":
            server.must(f"{name} open {path}.{name}")
    zero.must("f flock exclusive")
    one.begin("f flock exclusive wait")
    one.quiet("has a lock that another has")
    two.begin("f flock exclusive wait")
    two.quiet("has a lock that another has")
    zero.must("f flock none")
    one.says("fine", "a turn")
    two.quiet("has its turn too early")
    one.must("f close")
    two.says("fine", "a turn after the end of a file")
    # Each waits for the other one.
    one.must("g fcntl exclusive 0 1")
    two.must("g fcntl exclusive 1 1")
    one.begin("g fcntl exclusive 1 1 wait")
    one.quiet("has a lock that another has")
    two.must("g fcntl exclusive 0 1 wait", "EDEADLOCK")
    two.must("g fcntl none 1 1")
    one.says("fine", "a turn")
    # One that waits is killed, and one that has it.
    killed = Server(1)
    killed.must(f"g open {path}.g")
    killed.begin("g fcntl exclusive 1 1 wait")
    killed.quiet("has a lock that another has")
    killed.kill()
    two.begin("g fcntl exclusive 0 2 wait")
    two.quiet("has a lock that another has")
    one.kill()
    two.says("fine", "a turn after the end of a process")


def death(folder, zero, one, two):
    """Not before the fence, and then at once."""
    path = f"{folder}/file"
    for server in (zero, one):
        server.must(f"f open {path}")
        server.must(f"d folder {folder}")
    two.must(f"f open {path}")
    two.must("f fcntl exclusive 0 0")
    two.must(f"d folder {folder}")
    two.must("d flock exclusive")
    one.begin("f fcntl shared 5 5 wait")
    zero.must("d flock shared", "EAGAIN")
    one.quiet("has a lock that another has")
    killing = subprocess.Popen(["mios", "kill", "2"], stderr=subprocess.DEVNULL)
    one.says("fine", "a lock that a dead instance had")
    with open("/sys/kernel/mios/instance2/state", encoding="ascii") as state:
        if state.read().strip() in ("up", "fencing"):
            sys.exit("not ok: a lock is free before the fence")
    zero.must("d flock exclusive")
    killing.wait()


def main():
    """On instance 0."""
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    kinds(folder, Server(0), Server(1), Server(2))
    turns(folder, Server(0), Server(1), Server(2))
    if "kill" in sys.argv:
        death(folder, Server(0), Server(1), Server(2))


if sys.argv[1] == "serve":
    print("pid", os.getpid(), flush=True)
    serve_all()
else:
    main()
