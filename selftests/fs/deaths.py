# SPDX-License-Identifier: GPL-2.0
"""What lib/kills.py kills instances amid, for 34-kills and 65-kills: files of
/mios are made, written, mapped, cut, punched, renamed, linked and removed
(guest/churn.c), by a user who pays for them and has a share that is never used up."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "lib"))
import kills                                                 # noqa: E402

FILES = kills.Work(
    program=HERE / "guest/churn.c", folder="/mios",
    prepare="mios set shm.user=1G,1000000; cd /mios && mkdir -p 0 1 2 9 && "
            "truncate -s 4096 state && chown 1001 0 1 2 9 state",
    remove="rm -r /mios/*",
    knob="/sys/module/mios_fs/parameters/inject_deaf",
    become="setpriv --reuid=1001 --clear-groups")


def go(rounds, seed, broken=False):
    kills.go(FILES, rounds, seed, broken)
