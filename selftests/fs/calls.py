#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Calls that a tmpfs has, too, and what other instances see of them:
fs/16-calls runs it on instance 0, which has it run on the others.

Each line that such a server reads is a function of this file and its arguments; it
prints what that returns, or the name of an error.
"""
import ctypes
import errno
import hashlib
import mmap
import os
import subprocess
import sys

TOP = "/mios/calls"
PAGE = 4096
NOREPLACE, EXCHANGE, WHITEOUT = 1, 2, 4
KEEP, COLLAPSE, ZERO, INSERT = 1, 8, 16, 32
AT_FDCWD, AT_SYMLINK_FOLLOW = -100, 0x400
USER = 65534
LARGE = 60000

libc = ctypes.CDLL(None, use_errno=True)
held = {}


def call(function, *arguments):
    """Of the C library, where this has none of its own."""
    if function(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def rename2(old, new, flags):
    """renameat2()"""
    call(libc.renameat2, AT_FDCWD, old.encode(), AT_FDCWD, new.encode(),
         int(flags))


def nameless(name, text, flags="0"):
    """A file without a name, which is known here as that."""
    held[name] = os.open(TOP, os.O_TMPFILE | os.O_RDWR | int(flags), 0o644)
    os.write(held[name], text.encode())


def named(name, path):
    """It has one from now on."""
    call(libc.linkat, AT_FDCWD, f"/proc/self/fd/{held[name]}".encode(),
         AT_FDCWD, path.encode(), AT_SYMLINK_FOLLOW)


def hold(path):
    """Open, until that is named again."""
    held[path] = os.open(path, os.O_RDWR)


def reads(name):
    """What an open file has, after its removal, too."""
    return os.pread(held[name], 100, 0).decode()


def maps(path):
    """All of a file."""
    hold(path)
    held[path + " mapped"] = mmap.mmap(held[path], 0)


def mapped(path, at):
    """Bytes at @at of what is mapped: how many are not zero, of a page."""
    at = int(at)
    return PAGE - held[path + " mapped"][at:at + PAGE].count(0)


def allocate(path, mode, at, size):
    """fallocate(), and then the size and the pages of the file."""
    fd = os.open(path, os.O_RDWR)
    try:
        call(libc.fallocate, fd, int(mode), ctypes.c_long(int(at)),
             ctypes.c_long(int(size)))
        return pages(path)
    finally:
        os.close(fd)


def pages(path):
    """Its size, and how many pages it has."""
    seen = os.stat(path)
    return f"{seen.st_size} {seen.st_blocks // (PAGE // 512)}"


def read(path):
    """Its contents."""
    with open(path, encoding="ascii") as file:
        return file.read()


def write(path, text):
    """A file with these."""
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def fill(path, nr):
    """A file of so many pages."""
    with open(path, "wb") as file:
        file.write(b"x" * PAGE * int(nr))


def attribute(path, name):
    """Its value."""
    return os.getxattr(path, name).decode()


def attribute_set(path, name, value, flags="0"):
    """Another one."""
    os.setxattr(path, name, value.encode(), int(flags))


def attributes(path):
    """All names of them."""
    return " ".join(sorted(os.listxattr(path))) or "none"


def attributes_many(path, prefix, nr):
    """So many, one after the other."""
    for i in range(int(nr)):
        os.setxattr(path, f"user.{prefix}{i}", prefix.encode())


def large(path, name, size):
    """One of so many bytes, other ones for each name."""
    value = hashlib.shake_128(name.encode()).digest(int(size))
    os.setxattr(path, name, value)
    return large_is(path, name)


def large_is(path, name):
    """Is it that, and how long?"""
    value = os.getxattr(path, name)
    fine = value == hashlib.shake_128(name.encode()).digest(len(value))
    return len(value) if fine else "another one"


def as_user(function, *arguments):
    """By somebody else."""
    os.seteuid(USER)
    try:
        return globals()[function](*arguments)
    finally:
        os.seteuid(0)


mkdir, unlink, rmdir, symlink = os.mkdir, os.unlink, os.rmdir, os.symlink


def answer(line):
    """What a function says."""
    function, *arguments = line.split()
    try:
        return globals()[function](*arguments)
    except OSError as error:
        return errno.errorcode[error.errno]


def serve():
    """Until there is nothing more to read."""
    os.chdir(TOP)
    for line in sys.stdin:
        print(answer(line), flush=True)


class Server:
    """This file on an instance."""

    def __init__(self, number):
        there = ["mios", "exec", str(number), "--"] if number else []
        self.number = number
        self.process = subprocess.Popen(
            [*there, "python3", "-u", os.path.abspath(__file__), "serve"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def begin(self, words):
        """It has been told."""
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()

    def ends(self, words, wanted="None"):
        """And answers that."""
        said = self.process.stdout.readline().strip()
        if said != wanted:
            sys.exit(f"not ok: {words} on instance {self.number}: {said}, "
                     f"not {wanted}")

    def __call__(self, words, wanted="None"):
        self.begin(words)
        self.ends(words, wanted)


def renames(zero, one, two):
    """Names that change places, and those that must not be there."""
    one("write a first")
    one("write b second")
    for who in (zero, two):
        who("read a", "first")
        who("read c", "ENOENT")
    two("hold a")
    one(f"rename2 a b {EXCHANGE}")
    for who in (zero, one, two):
        who("read a", "second")
        who("read b", "first")
    one("unlink b")
    two("reads a", "first")
    one("mkdir d")
    one("write d/in inside")
    zero("read d/in", "inside")
    two(f"rename2 a d {EXCHANGE}")
    for who in (zero, one, two):
        who("read a/in", "inside")
        who("read d", "second")
    one(f"rename2 a a/in {EXCHANGE}", "EINVAL")
    one(f"rename2 a/in a {EXCHANGE}", "EINVAL")
    one(f"rename2 a none {EXCHANGE}", "ENOENT")
    one(f"rename2 d z {WHITEOUT}", "EINVAL")
    two("read c", "ENOENT")
    one("write c third")
    two(f"rename2 d c {NOREPLACE}", "EEXIST")
    two("read c", "third")
    for words in ("unlink a/in", "rmdir a", "unlink c", "unlink d"):
        two(words)


def without_names(zero, one, two):
    """A file that gets its name later, or never."""
    one("nameless f inside")
    zero("read n", "ENOENT")
    one("named f n")
    for who in (zero, two):
        who("read n", "inside")
    one("named f n", "EEXIST")
    one("named f m")
    two("unlink n")
    zero("read m", "inside")
    zero("unlink m")
    one("reads f", "inside")
    one(f"nameless g alone {os.O_EXCL}")
    one("named g n", "ENOENT")
    # A name goes while another instance gives it: then it is as on one kernel.
    one("named f n", "ENOENT")


def allocates(zero, one, two):
    """Pages and zeroes, as all see them."""
    one("fill f 4")
    two("maps f")
    one(f"allocate f {ZERO} {PAGE + 96} {PAGE}", f"{4 * PAGE} 4")
    for at, left in ((0, PAGE), (PAGE, 96), (2 * PAGE, PAGE - 96)):
        two(f"mapped f {at}", str(left))
    one(f"allocate f {ZERO} {3 * PAGE} {2 * PAGE}", f"{5 * PAGE} 5")
    zero("pages f", f"{5 * PAGE} 5")
    one(f"allocate f {ZERO | KEEP} 0 {PAGE}", f"{5 * PAGE} 5")
    two("mapped f 0", "0")
    one("rename2 f g 0")
    one("nameless h x")
    one("named h f")
    zero(f"allocate f 0 {7 * PAGE} 1", f"{7 * PAGE + 1} 2")
    one(f"allocate f {KEEP} {PAGE} {2 * PAGE}", f"{7 * PAGE + 1} 4")
    one(f"allocate f {KEEP} 0 {8 * PAGE}", f"{7 * PAGE + 1} 8")
    two("pages f", f"{7 * PAGE + 1} 8")
    for mode in (KEEP, ZERO | KEEP):
        one(f"allocate f {mode} 0 {9 * PAGE}", "ENOTSUP")
    for mode in (COLLAPSE, INSERT):
        one(f"allocate f {mode} 0 {PAGE}", "ENOTSUP")
    two("unlink f")
    two("unlink g")


def attributes_are(zero, one, two):
    """The same everywhere, whoever sets them."""
    one("write f x")
    two("attribute f user.a", "ENODATA")
    zero("attributes f", "none")
    one("attribute_set f user.a one")
    two("attribute f user.a", "one")
    two("attribute_set f user.a another")
    two("attribute_set f user.b two")
    zero("attributes f", "user.a user.b")
    one("attribute f user.a", "another")
    one(f"attribute_set f user.a x {os.XATTR_CREATE}", "EEXIST")
    one(f"attribute_set f user.c x {os.XATTR_REPLACE}", "ENODATA")
    one("as_user attribute f user.a", "another")
    one("as_user attribute_set f user.a x", "EACCES")
    one("attribute_set f trusted.a x", "ENOTSUP")
    one(f"large f user.large {LARGE}", str(LARGE))
    two("large_is f user.large", str(LARGE))
    two(f"large f user.more {LARGE}", str(LARGE))
    one("large f user.most 20000", "ENOSPC")
    zero("attribute f user.b", "two")
    one("mkdir d")
    one("attribute_set d user.a directory")
    two("rename2 d e 0")
    zero("attribute e user.a", "directory")
    one("symlink f s")
    one("attribute_set s user.link x")
    zero("attribute f user.link", "x")
    two("removexattr f user.more")
    two("removexattr f user.none", "ENODATA")
    # Neither undoes what the other one does.
    for who in (one, two):
        who.begin(f"attributes_many f {who.number}_ 8")
    for who in (one, two):
        who.ends("attributes_many")
    zero("attributes f", " ".join(sorted(
        [f"user.{i}_{j}" for i in (1, 2) for j in range(8)] +
        ["user.a", "user.b", "user.large", "user.link"])))
    one("unlink s")
    two("unlink f")
    zero("rmdir e")


removexattr = os.removexattr


def used():
    """Files and pages."""
    all_of = os.statvfs("/mios")
    return all_of.f_files - all_of.f_ffree, all_of.f_blocks - all_of.f_bfree


def main():
    """All of it, and nothing is left."""
    os.makedirs(TOP, exist_ok=True)
    before = used()
    servers = [Server(number) for number in (0, 1, 2)]
    for part in (renames, without_names, allocates, attributes_are):
        part(*servers)
        print(f"ok {part.__name__}")
    for server in servers:
        server.process.stdin.close()
        server.process.wait()
    if used() != before:
        sys.exit(f"not ok: files and pages {used()}, before {before}")
    os.rmdir(TOP)


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else main()
