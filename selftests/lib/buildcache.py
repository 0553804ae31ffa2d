# SPDX-License-Identifier: GPL-2.0
"""Things that are built once and kept outside the tree, by content.

linux/kernel and selftests/vm/rootfs call this for the cache directory, its
locks, and the progress lines on stderr.  A cache entry is a directory or a
file whose name holds the hash of all that went into it; two builders of one
entry wait for each other, builders of different entries do not.
"""
import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil
import sys
import time

START = time.monotonic()


def root():
    """The cache directory, created when missing."""
    base = os.environ.get("MIOS_CACHE")
    if not base:
        xdg = os.environ.get("XDG_CACHE_HOME") or \
            os.path.join(os.path.expanduser("~"), ".cache")
        base = os.path.join(xdg, "mios")
    path = pathlib.Path(base).absolute()
    path.mkdir(parents=True, exist_ok=True)
    return path


def say(text):
    """One progress line: elapsed time of this command, then the text."""
    took = int(time.monotonic() - START)
    print(f"[{took // 60:2d}:{took % 60:02d}] {text}", file=sys.stderr,
          flush=True)


def digest(*parts):
    """A short hash of strings, bytes and the contents of paths."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, pathlib.Path):
            part = part.read_bytes()
        elif isinstance(part, str):
            part = part.encode()
        total.update(len(part).to_bytes(8, "little") + part)
    return total.hexdigest()[:16]


@contextlib.contextmanager
def lock(name, wait=True):
    """Hold the lock of one cache entry; say so when another has it.

    Without wait, BlockingIOError then.
    """
    folder = root() / "lock"
    folder.mkdir(exist_ok=True)
    with open(folder / name.replace("/", "-"), "w", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not wait:
                raise
            say(f"waiting: another builder is making {name}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def lock_folder(path):
    """Hold a folder of outputs: tests in two lanes want the same ones."""
    path.mkdir(parents=True, exist_ok=True)
    with open(path / ".lock", "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def last_used(entry):
    """When it was; None when somebody else has removed it meanwhile."""
    try:
        return entry.stat().st_mtime
    except FileNotFoundError:
        return None


def retire(entry, limit):
    """Take an entry away from all who look for it, if it is still as old.

    Whoever uses an entry says so (utime) under its lock: with that lock held
    it is either in use by now or nobody will find it.  Returns what is left
    to be removed, None when that is another's or nobody's business.
    """
    gone = entry.with_name(f".gone-{os.getpid()}-{entry.name}")
    try:
        with lock(entry.name, wait=False):
            used = last_used(entry)
            if used is None or used >= limit:
                return None
            entry.rename(gone)
    except BlockingIOError:
        return None
    return gone


def prune(folder, keep, days):
    """Remove what has not been used for some days, beyond the newest few.

    Several may do so at once.  What begins with a dot is being made or
    removed, or was when somebody was killed: it is not among the newest.
    """
    used = {entry: last_used(entry) for entry in folder.iterdir()
            if entry.is_dir()}
    limit = time.time() - days * 86400
    entries = sorted((e for e in used if used[e] is not None),
                     key=lambda e: (e.name[0] != ".", used[e]), reverse=True)
    for entry in entries[keep:]:
        gone = retire(entry, limit) if used[entry] < limit else None
        if gone:
            say(f"removing {entry.name}, not used for {days * 24:.0f} h")
            shutil.rmtree(gone, ignore_errors=True)
