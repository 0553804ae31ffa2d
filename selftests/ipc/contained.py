#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""contained.py TID PROGRAM FILE: in a PID namespace of its own, as a container
has one, a task with that TID holds the robust mutex of FILE, and another one
wants it (guest/futexes.c).  Says what became of that one within two seconds."""
import ctypes
import os
import signal
import subprocess
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE3 = 435
CLONE_NEWPID = 0x20000000


class Clone(ctypes.Structure):
    """struct clone_args"""
    _fields_ = [(name, ctypes.c_uint64) for name in (
        "flags", "pidfd", "child_tid", "parent_tid", "exit_signal", "stack",
        "stack_size", "tls", "set_tid", "set_tid_size", "cgroup")]


def checked(result):
    """A system call's result, which is no error."""
    if result < 0:
        sys.exit(f"FAILED: {os.strerror(ctypes.get_errno())}")
    return result


def hold(tid, command):
    """Starts it as task @tid; returns when it has the mutex."""
    tids = (ctypes.c_int * 1)(tid)
    how = Clone(exit_signal=signal.SIGCHLD, set_tid=ctypes.addressof(tids),
                set_tid_size=1)
    out, into = os.pipe()
    if not checked(LIBC.syscall(CLONE3, ctypes.byref(how),
                                ctypes.sizeof(how))):
        os.dup2(into, 1)
        os.execv(command[0], command)
    os.close(into)
    if os.read(out, 4) != b"held":
        sys.exit("FAILED: it does not hold the mutex")


def main():
    """Its first process, with whom all of it ends, is a child."""
    tid, *command = sys.argv[1:]
    checked(LIBC.unshare(CLONE_NEWPID))
    first = os.fork()
    if first:
        return os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
    hold(int(tid), [*command, "hold"])
    try:
        done = subprocess.run([*command, "lock"], timeout=2, text=True,
                              stdout=subprocess.PIPE, check=True)
        print(done.stdout.strip())
    except subprocess.TimeoutExpired:
        print("it waits")
    return 0


if __name__ == "__main__":
    sys.exit(main())
