#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""kill.py send PID SIGNAL: says 0, or the name of the error.
kill.py send_as PID SIGNAL: its own PID before that.
kill.py timed PID SIGNAL: and how many milliseconds it took.
kill.py flood PID PROCESSES SECONDS: so many send signal 0 all the time.
kill.py killed PID: is killed while it sends signal 0; when it has gone, in ms.
kill.py receive: says "ready PID", and who sends SIGUSR1."""
import ctypes
import errno
import os
import signal
import sys
import time


def send(pid, number):
    """By the C library: what is no signal is the kernel's to refuse."""
    libc = ctypes.CDLL(None, use_errno=True)
    return errno.errorcode[ctypes.get_errno()] if libc.kill(pid, number) else 0


def receive():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    print("ready", os.getpid(), flush=True)
    info = signal.sigwaitinfo({signal.SIGUSR1})
    print(f"signal {info.si_signo} from {info.si_pid} of {info.si_uid}")


def since(begin):
    return round((time.monotonic() - begin) * 1000)


def timed(pid, number):
    begin = time.monotonic()
    print(send(pid, number), since(begin))


def flood(pid, processes, seconds):
    end = time.monotonic() + seconds
    while processes > 1 and os.fork():
        processes -= 1
    while time.monotonic() < end:
        send(pid, 0)


def killed(pid):
    child = os.fork()
    if not child:
        send(pid, 0)
        os._exit(0)
    time.sleep(0.3)
    begin = time.monotonic()
    os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    print("killed" if os.WIFSIGNALED(status) else "not killed", since(begin))


what, *words = sys.argv[1:]
if what == "receive":
    receive()
elif what in ("timed", "flood", "killed"):
    globals()[what](*(int(word) for word in words))
elif what == "send":
    print(send(int(words[0]), int(words[1])))
else:
    print(os.getpid(), send(int(words[0]), int(words[1])))
