# SPDX-License-Identifier: GPL-2.0
"""For tests that drive a program through a pseudo-terminal.  Used by
selftests/root/40-console, selftests/exec/35-top and selftests/vm."""
import contextlib
import os
import pty
import select
import subprocess
import termios
import time

from checks import fail

TIME_LIMIT = 200


def expect(fd, word, seen=b""):
    """Read until word has come; what was read."""
    end = time.monotonic() + TIME_LIMIT
    while word not in seen:
        if not select.select([fd], [], [], end - time.monotonic())[0]:
            fail(f"no {word!r}, but {seen[-400:]!r}")
        data = os.read(fd, 4096)
        if not data:
            fail(f"it ended before {word!r}, after {seen[-400:]!r}")
        seen += data
    return seen


@contextlib.contextmanager
def on_terminal(words):
    """A command on a terminal of its own: (our end, a function that tells
    whether the terminal is as it was before, the child)."""
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    with subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave,
                          process_group=0) as child:
        yield master, lambda: termios.tcgetattr(slave) == before, child
    if termios.tcgetattr(slave) != before:
        fail(f"the terminal is not what it was before {' '.join(words)}")
    os.close(master)
    os.close(slave)
