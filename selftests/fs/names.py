#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Names that other instances know: fs/13-names runs it on instance 0.

A server on each other instance is asked what it finds under a name, twice, so
that its kernel knows it; then instance 0 changes something, and the server is
asked again.  Nobody sleeps in between.
"""
import os
import shutil
import subprocess
import sys

TOP = "/mios/names"
TURNS = 20
USER = 65534
KNOBS = "/sys/module/mios_fs/parameters/inject"

# One word of each line is a function, the rest its arguments.
SERVER = """
import os, sys
def stat(name):
    s = os.stat(name)
    return s.st_ino, oct(s.st_mode), s.st_uid, s.st_size, s.st_nlink
def read(name):
    with open(name, "rb") as file:
        return len(file.read())
def move(name, to):
    os.rename(name, to)
def enter(name):
    os.chdir(name)
def files(name, count):
    for number in range(int(count)):
        os.stat(f"{name}/{number}")
def asked():
    with open("/sys/module/mios_fs/parameters/inject_asked") as file:
        return int(file.read())
def user(name):
    os.seteuid(%d)
    try:
        return read(name)
    finally:
        os.seteuid(0)
for line in sys.stdin:
    words = line.split()
    try:
        said = globals()[words[0]](*words[1:])
    except OSError as error:
        said = error.strerror
    print(said, flush=True)
""" % USER


class Server:
    """A program on another instance."""

    def __init__(self, number):
        self.number = number
        # It ends when its input does.
        self.process = subprocess.Popen(
            ["mios", "exec", str(number), "--", "python3", "-u", "-c", SERVER],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, words):
        """What it finds, as text."""
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self):
        """Its status."""
        self.process.stdin.close()
        return self.process.wait()


def need(servers, words, wanted, when):
    """Each finds what is wanted."""
    for server in servers:
        for _ in range(2):
            found = server.ask(words)
            if found != str(wanted):
                sys.exit(f"not ok: {when}: instance {server.number} says of "
                         f"{words}: {found}, not {wanted}")


def seen(path):
    """What stat says of it here."""
    info = os.stat(path)
    return (info.st_ino, oct(info.st_mode), info.st_uid, info.st_size,
            info.st_nlink)


def write(path, length):
    """A file of so many bytes."""
    with open(path, "wb") as file:
        file.write(b"x" * length)


def free():
    """Free pages of /mios."""
    return os.statvfs("/mios").f_bfree


def openers(fd):
    """Who else has it open, or knows names in it; 0 does if more than FD has."""
    return os.getxattr(fd, "mios.open").decode()


NONE = "No such file or directory"


def names(servers, turn):
    """Made, changed, renamed, replaced, removed."""
    one, two = f"{TOP}/one{turn}", f"{TOP}/two{turn}"
    need(servers, f"stat {one}", NONE, "before it is made")
    write(one, 10)
    need(servers, f"stat {one}", seen(one), "made")
    write(one, 4000 + turn)
    need(servers, f"read {one}", 4000 + turn, "written to")
    os.chmod(one, 0o600)
    need(servers, f"stat {one}", seen(one), "after chmod")
    need(servers, f"user {one}", "Permission denied", "after chmod")
    os.chmod(one, 0o644)
    need(servers, f"user {one}", 4000 + turn, "after the second chmod")
    need(servers, f"stat {two}", NONE, "before the new name")
    os.rename(one, two)
    need(servers, f"stat {one}", NONE, "after rename")
    need(servers, f"stat {two}", seen(two), "after rename")
    os.link(two, one)
    need(servers, f"stat {one}", seen(two), "after link")
    os.unlink(two)
    need(servers, f"stat {two}", NONE, "after unlink")
    need(servers, f"stat {one}", seen(one), "after unlink of the other name")
    write(two, 5)
    os.rename(two, one)
    need(servers, f"read {one}", 5, "replaced")
    os.unlink(one)
    need(servers, f"stat {one}", NONE, "after the last unlink")


def closed(servers):
    """A name that is known does not keep the file."""
    path = f"{TOP}/large"
    before = free()
    write(path, 1 << 20)
    need(servers, f"read {path}", 1 << 20, "a large one")
    fd = os.open(path, os.O_RDONLY)
    if openers(fd):
        sys.exit(f"not ok: open on {openers(fd)}, where it has been read")
    os.close(fd)
    os.unlink(path)
    if free() != before:
        sys.exit(f"not ok: {before - free()} pages kept by a known name")
    need(servers, f"stat {path}", NONE, "after unlink of the large one")


def directories(servers):
    """Nor do names in a directory keep that."""
    path = f"{TOP}/dir"
    for known in (f"{path}/none", f"{path}/file"):
        os.mkdir(path)
        write(f"{path}/file", 1)
        need(servers, f"stat {known}",
             NONE if known.endswith("none") else seen(known), "in a directory")
        fd = os.open(path, os.O_RDONLY)
        if openers(fd) != "0 " + " ".join(str(s.number) for s in servers):
            sys.exit(f"not ok: names in it are known on {openers(fd)}")
        os.unlink(f"{path}/file")
        os.rmdir(path)
        if openers(fd):
            sys.exit(f"not ok: {known} keeps its directory: {openers(fd)}")
        os.close(fd)
        need(servers, f"stat {known}", NONE, "where the directory has gone")
    # Who is in it keeps it.
    os.mkdir(path)
    need(servers, f"enter {path}", None, "into it")
    fd = os.open(path, os.O_RDONLY)
    os.rmdir(path)
    if openers(fd) != " ".join(str(s.number) for s in servers):
        sys.exit("not ok: a directory that others are in has gone")
    need(servers, "stat file", NONE, "in a directory that has gone")
    need(servers, "enter /", None, "out of it")
    if openers(fd):
        sys.exit(f"not ok: who has left a directory keeps it: {openers(fd)}")
    os.close(fd)


def quiet(servers):
    """Names where nobody changes any are not asked for, whatever changes beside."""
    path, busy, count = f"{TOP}/quiet", f"{TOP}/busy", 10
    os.mkdir(path)
    os.mkdir(busy)
    for number in range(count):
        write(f"{path}/{number}", 1)
    need(servers, f"files {path} {count}", None, "before")
    before = [server.ask("asked") for server in servers]
    for turn in range(TURNS):
        write(f"{busy}/{turn}", turn)
        os.rename(f"{busy}/{turn}", f"{busy}/last")
        need(servers, f"files {path} {count}", None, "beside changes")
    for server, was in zip(servers, before):
        now = server.ask("asked")
        # Without knobs nobody counts.
        if os.path.exists(f"{KNOBS}_stale") and not was.isdigit():
            sys.exit(f"not ok: instance {server.number} does not count: {was}")
        # One of 4,096 groups changes with a name.
        if was.isdigit() and int(now) - int(was) > count:
            sys.exit(f"not ok: asked: instance {server.number} asks for "
                     f"{int(now) - int(was)} names in {2 * TURNS * count} files")
    for name in [f"{path}/{number}" for number in range(count)]:
        os.unlink(name)
    os.unlink(f"{busy}/last")
    os.rmdir(path)
    os.rmdir(busy)


def moved(servers):
    """A name that a server has moved is another one, too."""
    one, two = f"{TOP}/one", f"{TOP}/two"
    for turn, server in enumerate(servers):
        write(one, 100 + turn)
        need(servers, f"read {one}", 100 + turn, "before it is moved")
        if server.ask(f"move {one} {two}") != "None":
            sys.exit(f"not ok: instance {server.number} cannot move {one}")
        need(servers, f"read {two}", 100 + turn, "moved elsewhere")
        write(one, 200 + turn)
        os.rename(one, two)
        need(servers, f"read {two}", 200 + turn, "moved, and replaced")
        need(servers, f"stat {one}", NONE, "moved twice")
        os.unlink(two)
        need(servers, f"stat {two}", NONE, "moved, and gone")


def main():
    """All of it."""
    # the image outlives its mounts, and what a run that failed has left
    shutil.rmtree(TOP, ignore_errors=True)
    os.mkdir(TOP)
    servers = [Server(1), Server(2)]
    for turn in range(TURNS):
        names(servers, turn)
    closed(servers)
    directories(servers)
    moved(servers)
    quiet(servers)
    for server in servers:
        if server.end():
            sys.exit(f"not ok: the server on instance {server.number}")
    os.rmdir(TOP)


main()
