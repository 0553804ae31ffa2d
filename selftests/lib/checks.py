# SPDX-License-Identifier: GPL-2.0
"""For tests in Python: how one fails, and, inside instance 0 of a test
machine, what test.sh and instances.sh can do."""
import os
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]


def fail(why):
    """The one line that says what failed, and the end."""
    print(f"FAILED: {why}")
    sys.stdout.flush()
    os._exit(1)         # nothing may wait for a child that is stuck


def shell(script, library="lib/instances.sh"):
    """Output of a shell with the library; what fails there has said why."""
    done = subprocess.run(["sh", "-c", f". {TESTS}/{library}; {script}"],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(done.stdout.strip(), flush=True)
        os._exit(done.returncode)
    return done.stdout


def up(*instances):
    """Boots those that are not up."""
    shell(f"up {' '.join(map(str, instances))}")
