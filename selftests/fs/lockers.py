#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Programs of three instances that count on locks of files: fs/64-lockers.

lockers.py KIND FOLDER, on instance 0: rows of SQLite, in the journal mode
"delete" or "wal", keys of "lmdb", commits of "git" pushed to one repository, or a
number in a file under "flock", "fcntl" or "ofd".  In the middle instance 2 is
killed.  What an instance has been told is done must be there.
"""
import fcntl
import itertools
import os
import pathlib
import sqlite3
import struct
import subprocess
import sys
import time

import lmdb

TIMES = {kind: 60 for kind in
         ("delete", "wal", "lmdb", "flock", "fcntl", "ofd")} | {"git": 9}
OFD_SETLKW = 38
KILLED = 2


def row_add(folder, instance, number):
    """One transaction, committed when this returns."""
    base = sqlite3.connect(f"{folder}/base", timeout=120, isolation_level=None)
    base.execute("BEGIN IMMEDIATE")
    base.execute("INSERT INTO t VALUES (?, ?)", (instance, number))
    base.execute("UPDATE sum SET n = n + 1")
    base.execute("COMMIT")
    base.close()


def lock(fd, kind, what):
    """All of a file."""
    if kind == "flock":
        fcntl.flock(fd, what)
    elif kind == "fcntl":
        fcntl.lockf(fd, what)
    else:
        kinds = {fcntl.LOCK_EX: fcntl.F_WRLCK, fcntl.LOCK_UN: fcntl.F_UNLCK}
        fcntl.fcntl(fd, OFD_SETLKW,
                    struct.pack("hhqqi4x", kinds[what], os.SEEK_SET, 0, 0, 0))


def number_add(folder, kind):
    """One more, with time for others to come between."""
    fd = os.open(f"{folder}/number", os.O_RDWR)
    lock(fd, kind, fcntl.LOCK_EX)
    number = int(os.pread(fd, 20, 0))
    time.sleep(0.001)
    os.pwrite(fd, b"%020d" % (number + 1), 0)
    lock(fd, kind, fcntl.LOCK_UN)
    os.close(fd)


def keys_open(folder):
    """Its writers take turns by a robust mutex in a file."""
    return lmdb.open(f"{folder}/keys", map_size=8 << 20, max_readers=20)


def key_add(folder, instance, number):
    """One transaction, committed when this returns."""
    with keys_open(folder) as base, base.begin(write=True) as change:
        change.put(b"sum", b"%d" % (int(change.get(b"sum")) + 1))
        change.put(b"%d %d" % (instance, number), b"here")


def git(folder, *words):
    """What it says; None if it fails."""
    done = subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b",
                           "-c", "gc.auto=0", "-c", "init.defaultBranch=main",
                           "-C", folder, *words], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True)
    return None if done.returncode else done.stdout


def commit_add(folder, instance, number):
    """A file more, seen by all when this returns."""
    own = pathlib.Path(folder, f"clone{instance}")
    if not own.exists():
        git(folder, "clone", "-q", "bare.git", own.name)
    (own / f"{instance} {number}").touch()
    git(own, "add", ".")
    git(own, "commit", "-qm", f"{instance} {number}")
    for _ in range(100):
        git(own, "pull", "-q", "--rebase", "origin", "main")
        if git(own, "push", "-q", "origin", "HEAD:main") is not None:
            return
    sys.exit(f"not ok: instance {instance} cannot push")


def work(kind, folder, instance):
    """On each instance: says what is done; without an end on the one that is killed,
    which is late to be if the host is busy."""
    numbers = itertools.count() if instance == KILLED else range(TIMES[kind])
    for number in numbers:
        if kind in ("delete", "wal"):
            row_add(folder, instance, number)
        elif kind == "lmdb":
            key_add(folder, instance, number)
        elif kind == "git":
            commit_add(folder, instance, number)
        else:
            number_add(folder, kind)
        print(number, flush=True)


def rows_prepare(kind, folder):
    """An empty table."""
    base = sqlite3.connect(f"{folder}/base")
    mode = base.execute(f"PRAGMA journal_mode={kind}").fetchone()[0]
    if mode != kind:
        sys.exit(f"not ok: the journal mode is {mode}, not {kind}")
    base.execute("CREATE TABLE t (instance, number)")
    base.execute("CREATE TABLE sum (n)")
    base.execute("INSERT INTO sum VALUES (0)")
    base.commit()
    base.close()


def pairs_check(pairs, total, done):
    """Each that was done is there once."""
    if len(pairs) != len(set(pairs)) or total != len(pairs):
        sys.exit(f"not ok: {len(pairs)} there, {len(set(pairs))} of them "
                 f"different, and counted as {total}")
    for instance, number in enumerate(done):
        missing = set(range(number)) - {n for i, n in pairs if i == instance}
        if missing:
            sys.exit(f"not ok: {len(missing)} that instance {instance} has done "
                     "are gone")


def rows_check(folder, done):
    """And the file is sound."""
    base = sqlite3.connect(f"{folder}/base", timeout=120)
    sound = base.execute("PRAGMA integrity_check").fetchone()[0]
    if sound != "ok":
        sys.exit(f"not ok: the database: {sound}")
    rows = base.execute("SELECT instance, number FROM t").fetchall()
    total = base.execute("SELECT n FROM sum").fetchone()[0]
    base.close()
    pairs_check(rows, total, done)


def keys_check(folder, done):
    """Of all pages, as all are read."""
    with keys_open(folder) as base, base.begin() as look:
        found = dict(look.cursor())
    total = int(found.pop(b"sum"))
    pairs_check([tuple(map(int, key.split())) for key in found], total, done)


def commits_check(folder, done):
    """And the repository is sound."""
    bare = f"{folder}/bare.git"
    if git(bare, "fsck", "--full", "--strict") is None:
        sys.exit("not ok: the repository is not sound")
    said = git(bare, "log", "--format=%s", "main").splitlines()
    pairs = [tuple(map(int, line.split())) for line in said if line != "first"]
    pairs_check(pairs, len(said) - 1, done)


def number_check(folder, done):
    """Of the one that was killed one more may be there."""
    with open(f"{folder}/number", encoding="ascii") as file:
        number = int(file.read())
    if not sum(done) <= number <= sum(done) + 1:
        sys.exit(f"not ok: counted to {number}, done was {done}")


def start(kind, folder, instance):
    """Its process, whose lines are counted."""
    command = ["python3", "-u", os.path.abspath(__file__), kind, folder,
               str(instance)]
    if instance:
        command = ["mios", "exec", str(instance), "--"] + command
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def locks_remove(bare):
    """A lock of git's is a file with a name, which people remove when who made
    it has been killed: those that stay."""
    def there():
        return {(path, path.stat().st_ino)
                for path in pathlib.Path(bare).glob("**/*.lock")
                if path.exists()}

    if first := there():
        time.sleep(5)
        for path, _ in first & there():
            path.unlink()


def prepare(kind, folder):
    """What they begin with."""
    os.makedirs(folder)
    if kind in ("delete", "wal"):
        rows_prepare(kind, folder)
    elif kind == "lmdb":
        with keys_open(folder) as base, base.begin(write=True) as change:
            change.put(b"sum", b"0")
    elif kind == "git":
        git(folder, "init", "-q", "--bare", "bare.git")
        git(folder, "clone", "-q", "bare.git", "first")
        git(f"{folder}/first", "commit", "-q", "--allow-empty", "-m", "first")
        git(f"{folder}/first", "push", "-q", "origin", "HEAD:main")
    else:
        with open(f"{folder}/number", "w", encoding="ascii") as file:
            file.write("%020d" % 0)


def check(kind, folder, done):
    """What they leave."""
    if kind in ("delete", "wal"):
        rows_check(folder, done)
    elif kind == "lmdb":
        keys_check(folder, done)
    elif kind == "git":
        commits_check(folder, done)
    else:
        number_check(folder, done)


def drive(kind, folder):
    """On instance 0."""
    times = TIMES[kind]
    prepare(kind, folder)
    workers = [start(kind, folder, instance) for instance in range(3)]
    done = [0, 0, 0]
    for _ in range(times // 3):
        done[KILLED] += bool(workers[KILLED].stdout.readline())
    subprocess.run(["mios", "kill", str(KILLED)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    locks_remove(f"{folder}/bare.git")
    for instance, worker in enumerate(workers):
        done[instance] += len(worker.stdout.read().splitlines())
        if worker.wait() and instance != KILLED:
            sys.exit(f"not ok: instance {instance} ends with {worker.returncode} "
                     f"after {done[instance]}")
    if done[:2] != [times, times] or done[KILLED] < times // 3:
        sys.exit(f"not ok: done was {done}")
    check(kind, folder, done)
    print(f"ok: {kind}: {done}")


if len(sys.argv) > 3:
    work(sys.argv[1], sys.argv[2], int(sys.argv[3]))
else:
    drive(sys.argv[1], sys.argv[2])
