#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Rights that another instance changes while one waits: fs/14-rights runs it on
instance 0.

On instance 1 a user's call is judged, and comes to the lock a second later
(inject_linger); meanwhile instance 2 changes what it was judged by.  The call must
be refused as if it had come after that, or do no more than was asked for.
"""
import os
import subprocess
import sys
import time

TOP = "/mios/rights"
USER, OTHER = 1001, 1002

# Each line: who, a function, its arguments.
SERVER = """
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
held = []
def make(name, mode):
    os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, int(mode, 8)))
    os.chmod(name, int(mode, 8))
def create(name, mode):
    os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, int(mode, 8)))
def mkdir(name, mode):
    os.mkdir(name)
    os.chmod(name, int(mode, 8))
def chmod(name, mode):
    os.chmod(name, int(mode, 8))
def chown(name, uid, gid):
    os.chown(name, int(uid), int(gid))
def hold(name):
    held.append(os.open(name, os.O_WRONLY))
def write():
    os.write(held[-1], b"x")
def utime(name):
    os.utime(name)
def exchange(one, two):
    if libc.renameat2(-100, one.encode(), -100, two.encode(), 2):
        raise OSError(ctypes.get_errno(), "renameat2")
def attribute(name):
    os.setxattr(name, "user.x", b"x")
def shm(call, *arguments):
    said = call(*arguments)
    if said < 0:
        raise OSError(ctypes.get_errno(), "shm")
    return said
def segment(key):
    return shm(libc.shmget, int(key), 4096, 0o1600)
def owned(key, uid):
    buffer = ctypes.create_string_buffer(256)
    shm(libc.shmctl, segment(key), 2, buffer)
    buffer[4:8] = int(uid).to_bytes(4, "little")
    shm(libc.shmctl, segment(key), 1, buffer)
def removed(key):
    shm(libc.shmctl, segment(key), 0, None)
unlink, rename, link, rmdir, symlink = (
    os.unlink, os.rename, os.link, os.rmdir, os.symlink)
os.umask(0)
for line in sys.stdin:
    who, call, *words = line.split()
    os.seteuid(0)
    os.setegid(int(who))
    os.setgroups([])
    os.seteuid(int(who))
    said = "done"
    try:
        globals()[call](*words)
    except OSError as error:
        said = errno.errorcode[error.errno]
    print(said, flush=True)
"""


class Server:
    """A program on another instance."""

    def __init__(self, number):
        # It ends when its input does.
        there = ["mios", "exec", str(number), "--"] if number else []
        self.process = subprocess.Popen(
            [*there, "sh", "-c",
             f"cd {TOP} && exec python3 -u -c '{SERVER}'"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def begin(self, who, words):
        """It has been told."""
        self.process.stdin.write(f"{who} {words}\n")
        self.process.stdin.flush()

    def said(self):
        """What it answers to that."""
        return self.process.stdout.readline().strip()

    def must(self, who, words):
        """A call that succeeds."""
        self.begin(who, words)
        said = self.said()
        if said != "done":
            sys.exit(f"not ok: {words} by {who} on instance 2: {said}")


def linger(milliseconds):
    """What instance 1 lets pass between judging and the lock."""
    subprocess.run(["mios", "exec", "1", "--", "sh", "-c",
                    f"echo {milliseconds} > /sys/module/mios_fs/parameters/"
                    "inject_linger"], check=True)


def seen(name):
    """Owner, group and mode, or nothing."""
    try:
        info = os.lstat(f"{TOP}/{name}")
    except FileNotFoundError:
        return "nothing"
    return f"{info.st_uid}:{info.st_gid} {info.st_mode & 0o7777:o}"


# Name: before, the call of USER, meanwhile, what it says, a file, and that one then
CASES = {
    "unlink": (["1001 make x 644"], "unlink x",
               ["1001 unlink x", "1002 make x 600"],
               "EPERM", "x", "1002:1002 600"),
    "rename over": (["1001 make a 644", "1001 make x 644"], "rename a x",
                    ["1001 unlink x", "1002 make x 600"],
                    "EPERM", "x", "1002:1002 600"),
    "rename to a new name": (["1001 make a 644"], "rename a x",
                             ["1002 make x 600"],
                             "EPERM", "x", "1002:1002 600"),
    "rename of": (["1001 make x 644"], "rename x a",
                  ["1001 unlink x", "1002 make x 600"],
                  "EPERM", "x", "1002:1002 600"),
    "exchange with": (["1001 make a 644", "1001 make x 644"], "exchange a x",
                      ["1001 unlink x", "1002 make x 600"],
                      "EPERM", "x", "1002:1002 600"),
    "exchange of": (["1001 make a 644", "1001 make x 644"], "exchange x a",
                    ["1001 unlink x", "1002 make x 600"],
                    "EPERM", "x", "1002:1002 600"),
    "attribute": (["1001 make f 644"], "attribute f",
                  ["0 chown f 0 0", "0 chmod f 600"],
                  "EACCES", "f", "0:0 600"),
    "rmdir": (["1001 mkdir x 755"], "rmdir x",
              ["1001 rmdir x", "1002 mkdir x 700"],
              "EPERM", "x", "1002:1002 700"),
    "one's own, another one": (["1001 make x 644"], "unlink x",
                               ["1001 unlink x", "1001 make x 600"],
                               "done", "x", "nothing"),
    "chgrp": (["1001 make f 644"], "chown f -1 1001",
              ["0 chown f 0 0", "0 chmod f 600"],
              "EPERM", "f", "0:0 600"),
    "chmod": (["1001 make f 644"], "chmod f 666", ["0 chown f 0 0"],
              "EPERM", "f", "0:0 644"),
    "chown by nobody": (["1002 make f 755"], "chown f -1 -1",
                        ["1002 chmod f 4755"],
                        "EPERM", "f", "1002:1002 4755"),
    "chmod, another group": (["1001 make f 644"], "chmod f 640",
                             ["0 chown f -1 1002"],
                             "done", "f", "1001:1002 640"),
    "chgrp drops what came since": (["1001 make f 755"], "chown f -1 1001",
                                    ["1001 chmod f 6755"],
                                    "done", "f", "1001:1001 755"),
    "utime": (["0 make f 666"], "utime f", ["0 chmod f 600"],
              "EACCES", "f", "0:0 600"),
    "create": (["0 mkdir d 777"], "make d/n 644", ["0 chmod d 700"],
               "EACCES", "d/n", "nothing"),
    "mkdir": (["0 mkdir d 777"], "mkdir d/n 755", ["0 chmod d 700"],
              "EACCES", "d/n", "nothing"),
    "symlink": (["0 mkdir d 777"], "symlink a d/n", ["0 chmod d 700"],
                "EACCES", "d/n", "nothing"),
    "a directory moves": (["0 mkdir d 777", "1001 mkdir x 600"],
                          "rename x d/n", ["0 chmod d 755", "0 chmod d 777"],
                          "done", "d/n", "1001:1001 600"),
    "one that is written to no more": (["0 mkdir d 777", "1001 mkdir x 700"],
                                       "rename x d/n", ["1001 chmod x 500"],
                                       "EACCES", "d/n", "nothing"),
    "link": (["0 mkdir d 777", "1001 make f 644"], "link f d/n",
             ["0 chmod d 700"], "EACCES", "d/n", "nothing"),
    "a link to what is not safe": (["0 make f 666"], "link f x",
                                   ["0 chmod f 4755"],
                                   "EPERM", "x", "nothing"),
}


def clean(two):
    """Nothing is left of the last one."""
    for top, dirs, files in os.walk(TOP, topdown=False):
        for name in files:
            two.must(0, f"unlink {top}/{name}")
        for name in dirs:
            two.must(0, f"rmdir {top}/{name}")


def check(one, two, name):
    """Judged, changed elsewhere, and then done or not."""
    before, call, meanwhile, wanted, file, then = CASES[name]
    for words in before:
        two.must(*words.split(maxsplit=1))
    one.begin(USER, call)
    time.sleep(0.5)
    for words in meanwhile:
        two.must(*words.split(maxsplit=1))
    said = one.said()
    if (said, seen(file)) != (wanted, then):
        sys.exit(f"not ok: {name}: {said}, and {file} is {seen(file)}; "
                 f"not {wanted}, and {then}")
    clean(two)


def write_drops(one, two):
    """Who writes to what has become setuid since makes that undone."""
    two.must(OTHER, "make f 666")
    one.begin(USER, "hold f")
    one.said()
    one.begin(USER, "write")
    time.sleep(0.5)
    two.must(OTHER, "chmod f 6777")
    if (one.said(), seen("f")) != ("done", f"{OTHER}:{OTHER} 777"):
        sys.exit(f"not ok: write: f is {seen('f')}")
    clean(two)


def segments(one, two):
    """Who was judged as a segment's owner has it no more."""
    for call in "removed 77", f"owned 77 {USER}":
        two.must(0, f"owned 77 {USER}")
        one.begin(USER, call)
        time.sleep(0.5)
        two.must(0, "owned 77 0")
        said = one.said()
        if said != "EPERM":
            sys.exit(f"not ok: {call}: {said}")
    two.must(0, "removed 77")


def begin(*instances):
    """A server on each, in a directory where all may make files."""
    os.mkdir(TOP)
    os.chmod(TOP, 0o1777)
    return [Server(number) for number in instances]


def end(servers):
    """They end, and the directory goes."""
    for server in servers:
        server.process.stdin.close()
        server.process.wait()
    os.rmdir(TOP)


def main():
    """All of them."""
    one, two = servers = begin(1, 2)
    linger(1000)
    for name in CASES:
        check(one, two, name)
    write_drops(one, two)
    segments(one, two)
    linger(0)
    end(servers)


if __name__ == "__main__":
    main()
