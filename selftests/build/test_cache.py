# SPDX-License-Identifier: GPL-2.0
"""buildcache: what is removed from the cache, and what never is."""
import multiprocessing
import os
import pathlib
import sys
import tempfile
import time
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import buildcache                                            # noqa: E402

HOUR = 1 / 24
OLD = 7200              # seconds ago


def prune_when(start, folder, left):
    """One of several that remove at the same instant; says if it failed."""
    start.wait()
    try:
        buildcache.prune(folder, keep=2, days=HOUR)
    except OSError as error:
        left.put(str(error))
    else:
        left.put(None)


class Prune(unittest.TestCase):
    """prune() on folders that were used at known times"""

    def setUp(self):
        self.base = tempfile.TemporaryDirectory()
        self.addCleanup(self.base.cleanup)
        cache = mock.patch.dict(os.environ, MIOS_CACHE=self.base.name)
        cache.start()
        self.addCleanup(cache.stop)
        quiet = mock.patch.object(buildcache, "say")
        quiet.start()
        self.addCleanup(quiet.stop)
        self.folder = pathlib.Path(self.base.name) / "things"

    def entry(self, name, age):
        """An entry that was last used so long ago."""
        path = self.folder / name
        path.mkdir(parents=True)
        for count in range(20):
            (path / str(count)).touch()
        then = time.time() - age
        os.utime(path, (then, then))
        return path

    def names(self):
        """What is there."""
        return sorted(p.name for p in self.folder.iterdir())

    def test_keeps_the_newest_and_the_used(self):
        """Beyond the newest few only what is old goes"""
        for name, age in ("a", OLD), ("b", OLD + 1), ("c", OLD + 2):
            self.entry(name, age)
        buildcache.prune(self.folder, keep=2, days=HOUR)
        self.assertEqual(self.names(), ["a", "b"])
        buildcache.prune(self.folder, keep=0, days=1)
        self.assertEqual(self.names(), ["a", "b"])

    def test_remains_of_the_killed(self):
        """They take nobody's place, and go when they are old"""
        for name, age in (".part-a", 0), (".gone-b", OLD), ("c", OLD):
            self.entry(name, age)
        buildcache.prune(self.folder, keep=1, days=HOUR)
        self.assertEqual(self.names(), [".part-a", "c"])

    def test_many_at_once(self):
        """Each entry is removed by one, and the others do not mind"""
        for count in range(200):
            self.entry(f"old{count}", OLD + count)
        context = multiprocessing.get_context("fork")
        start, left = context.Event(), context.Queue()
        crowd = [context.Process(target=prune_when,
                                 args=(start, self.folder, left))
                 for _ in range(6)]
        for one in crowd:
            one.start()
        start.set()
        said = [left.get(timeout=60) for _ in crowd]
        for one in crowd:
            one.join()
        self.assertEqual(said, [None] * len(crowd))
        self.assertEqual(self.names(), ["old0", "old1"])

    def test_used_between_look_and_removal(self):
        """Somebody says that he uses it after prune() has seen it as old"""
        path = self.entry("late", OLD)
        used = buildcache.last_used

        def look(entry, seen=[]):       # pylint: disable=W0102
            when = used(entry)
            if not seen:
                os.utime(entry)
            seen.append(entry)
            return when

        with mock.patch.object(buildcache, "last_used", look):
            buildcache.prune(self.folder, keep=0, days=HOUR)
        self.assertTrue(path.exists())

    def test_locked_stays(self):
        """Who holds its lock is making or taking it"""
        self.entry("held", OLD)
        with buildcache.lock("held"):
            buildcache.prune(self.folder, keep=0, days=HOUR)
            self.assertEqual(self.names(), ["held"])
        buildcache.prune(self.folder, keep=0, days=HOUR)
        self.assertEqual(self.names(), [])
