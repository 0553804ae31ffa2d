# SPDX-License-Identifier: GPL-2.0
"""What lib/kills.py kills instances amid, for 34-kills and 65-kills: files of
/mios are made, written, mapped, cut, punched, renamed, linked and removed
(guest/churn.c)."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "lib"))
import kills                                                 # noqa: E402

FILES = kills.Work(
    program=HERE / "guest/churn.c", folder="/mios",
    prepare="mkdir -p /mios/0 /mios/1 /mios/2 /mios/9; truncate -s 4096 $state",
    remove="rm -r /mios/*",
    knob="/sys/module/mios_fs/parameters/inject_deaf")


def go(rounds, seed, broken=False):
    kills.go(FILES, rounds, seed, broken)
