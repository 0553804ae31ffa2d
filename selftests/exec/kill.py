#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""kill.py send PID SIGNAL: says 0, or the name of the error.
kill.py send_as PID SIGNAL: its own PID before that.
kill.py receive: says "ready PID", and who sends SIGUSR1."""
import ctypes
import errno
import os
import signal
import sys


def send(pid, number):
    """By the C library: what is no signal is the kernel's to refuse."""
    libc = ctypes.CDLL(None, use_errno=True)
    return errno.errorcode[ctypes.get_errno()] if libc.kill(pid, number) else 0


def receive():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    print("ready", os.getpid(), flush=True)
    info = signal.sigwaitinfo({signal.SIGUSR1})
    print(f"signal {info.si_signo} from {info.si_pid} of {info.si_uid}")


what, *words = sys.argv[1:]
if what == "receive":
    receive()
elif what == "send":
    print(send(int(words[0]), int(words[1])))
else:
    print(os.getpid(), send(int(words[0]), int(words[1])))
