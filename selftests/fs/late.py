# SPDX-License-Identifier: GPL-2.0
"""Opens /mios/old; told so, removes it and makes /mios/new, which it maps; says
what a futex there answers at once, and when a call that was late has been served."""
import ctypes
import errno
import mmap
import os
import pathlib
import time

FUTEX, FUTEX_WAKE = 202, 1
FREE, LATER = 3, 12
GO = pathlib.Path("/tmp/late.go")
libc = ctypes.CDLL(None, use_errno=True)


def wakes(memory):
    """0, nobody waits; else the error."""
    word = ctypes.c_uint32.from_buffer(memory)
    if libc.syscall(FUTEX, ctypes.byref(word), FUTEX_WAKE, 1, None, None, 0) < 0:
        return errno.errorcode[ctypes.get_errno()]
    return 0


def main():
    old = os.open("/mios/old", os.O_CREAT | os.O_RDWR, 0o600)
    os.write(old, b"o" * 4096)
    print("open", flush=True)
    while not GO.exists():
        time.sleep(0.05)
    GO.unlink()
    os.close(old)
    os.unlink("/mios/old")
    # The other one has let go of it by then, and its number is the next one's.
    time.sleep(FREE)
    new = os.open("/mios/new", os.O_CREAT | os.O_RDWR, 0o600)
    os.ftruncate(new, 4096)
    memory = mmap.mmap(new, 4096)
    memory[0:4] = b"new!"
    before = wakes(memory)
    time.sleep(LATER)
    print(f"before {before}, later {wakes(memory)}", flush=True)
    os.unlink("/mios/new")


main()
