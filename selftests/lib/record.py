# SPDX-License-Identifier: GPL-2.0
"""What has been run of which commit.

selftests/run adds a line to the file "checks" of the cache for each whole run
of the gate or of everything, so that nobody has to ask whether a commit is
green, wherever it lay when it was tested; and keeps which tests of "full" have
passed on a commit, so that a run that was ended goes on where it stopped.
"""
import json
import os
import pathlib
import subprocess

import buildcache

TOP = pathlib.Path(__file__).resolve().parents[2]
NOBODY = "0" * 40       # not in a repository: from a tarball, say


def git(*words):
    """What it prints, or None."""
    done = subprocess.run(["git", "-C", str(TOP), *words], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return None if done.returncode else done.stdout.decode().strip()


def commit():
    """(the whole commit id, whether the tree is exactly that commit)."""
    head = git("rev-parse", "HEAD")
    changed = git("status", "--porcelain")
    return head or NOBODY, head is not None and changed == ""


class Run:
    """One run of the gate or of everything, of the commit it begins with."""

    def __init__(self, size):
        self.size = size                # "gate" or "full"
        self.commit, self.clean = commit()

    def passed_before(self):
        """Names of tests of "full" that have passed on this very commit."""
        if self.size != "full" or not self.clean:
            return set()
        try:
            return set(json.loads(self.state().read_text()))
        except (FileNotFoundError, ValueError):
            return set()

    def keep(self, names):
        """These have passed, too."""
        if self.size != "full" or not self.clean:
            return
        with buildcache.lock("full"):
            known = self.passed_before() | set(names)
            part = self.state().with_suffix(".part")
            part.write_text(json.dumps(sorted(known), indent=0))
            os.replace(part, self.state())

    def state(self):
        """Where that is kept."""
        folder = buildcache.root() / "full"
        folder.mkdir(exist_ok=True)
        return folder / f"{self.commit}.json"

    def write(self, report, left_out, seconds):
        """The line of a whole run.  A tree that was changed meanwhile is no
        commit's."""
        now = commit()
        clean = self.clean and now == (self.commit, True)
        with buildcache.lock("checks"), \
                open(buildcache.root() / "checks", "a",
                     encoding="ascii") as file:
            file.write(f"{self.commit} {'clean' if clean else 'dirty'} "
                       f"{self.size} passed {report.passed} "
                       f"failed {report.failed} left-out {left_out} "
                       f"seconds {seconds:.0f}\n")
