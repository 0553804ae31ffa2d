# SPDX-License-Identifier: GPL-2.0
"""What lib/kills.py kills instances amid, for 34-kills, 70-kills and 71-reboots:
a robust mutex, a semaphore, System V segments and names of /dev/shm
(guest/shares.c)."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "lib"))
import kills                                                 # noqa: E402

SHARES = kills.Work(
    program=HERE / "guest/shares.c", folder="/dev/shm",
    prepare="[ -e $state ] || { truncate -s 8192 $state && "
            "/mnt/host/work /dev/shm make; }",
    remove="ipcrm -a && rm -r /dev/shm/*",
    knob="/sys/module/mios_fs/parameters/inject_no_owner_death")


def go(rounds, seed, broken=False, again=False):
    kills.go(SHARES, rounds, seed, broken, again)
