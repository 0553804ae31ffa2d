#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Programs of three instances that count on locks of files: fs/64-lockers.

lockers.py KIND FOLDER, on instance 0: rows of a database, in the journal mode
"delete" or "wal", or a number in a file under "flock", "fcntl" or "ofd".  In the
middle instance 2 is killed.  What an instance has been told is done must be there.
"""
import fcntl
import os
import sqlite3
import struct
import subprocess
import sys
import time

TIMES = 60
OFD_SETLKW = 38


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


def work(kind, folder, instance):
    """On each instance: says what is done."""
    for number in range(TIMES):
        if kind in ("delete", "wal"):
            row_add(folder, instance, number)
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


def rows_check(folder, done):
    """Each that was done is there once, and the file is sound."""
    base = sqlite3.connect(f"{folder}/base", timeout=120)
    sound = base.execute("PRAGMA integrity_check").fetchone()[0]
    if sound != "ok":
        sys.exit(f"not ok: the database: {sound}")
    rows = base.execute("SELECT instance, number FROM t").fetchall()
    total = base.execute("SELECT n FROM sum").fetchone()[0]
    base.close()
    if len(rows) != len(set(rows)) or total != len(rows):
        sys.exit(f"not ok: {len(rows)} rows, {len(set(rows))} of them different, "
                 f"and counted as {total}")
    for instance, number in enumerate(done):
        missing = set(range(number)) - {n for i, n in rows if i == instance}
        if missing:
            sys.exit(f"not ok: {len(missing)} rows that instance {instance} has "
                     "committed are gone")


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


def drive(kind, folder):
    """On instance 0."""
    os.makedirs(folder)
    if kind in ("delete", "wal"):
        rows_prepare(kind, folder)
    else:
        with open(f"{folder}/number", "w", encoding="ascii") as file:
            file.write("%020d" % 0)
    workers = [start(kind, folder, instance) for instance in range(3)]
    done = [0, 0, 0]
    for _ in range(TIMES // 3):
        done[2] += bool(workers[2].stdout.readline())
    subprocess.run(["mios", "kill", "2"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for instance, worker in enumerate(workers):
        done[instance] += len(worker.stdout.read().splitlines())
        if worker.wait() and instance < 2:
            sys.exit(f"not ok: instance {instance} ends with {worker.returncode} "
                     f"after {done[instance]}")
    if done[:2] != [TIMES, TIMES] or not TIMES // 3 <= done[2] < TIMES:
        sys.exit(f"not ok: done was {done}")
    if kind in ("delete", "wal"):
        rows_check(folder, done)
    else:
        number_check(folder, done)
    print(f"ok: {kind}: {done}")


if len(sys.argv) > 3:
    work(sys.argv[1], sys.argv[2], int(sys.argv[3]))
else:
    drive(sys.argv[1], sys.argv[2])
