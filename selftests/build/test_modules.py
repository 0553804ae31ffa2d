# SPDX-License-Identifier: GPL-2.0
"""module_cache: when modules are built, and of which sources they are."""
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "linux"), str(TOP / "selftests" / "lib")]
import module_cache                                          # noqa: E402
from kconfig import BuildError                               # noqa: E402

# As a kernel's tree, but quick: a module is its source and the tree's name, and
# what make makes is seen in a file beside the tree.
MAKEFILE = """\
modules: $(M)/mios/a.ko
$(M)/mios/a.ko: $(M)/mios/a.c
	echo made >> ../times
	! grep -q wrong $<
	cat $< - > $@ <<< "$(notdir $(CURDIR)) $(MIOS_INJECT)"
SHELL := /bin/bash
"""


class Modules(unittest.TestCase):
    """fill() of two clones, for two kernels"""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.base = pathlib.Path(self.folder.name)
        for name in "first", "second":
            (self.base / name / "mios").mkdir(parents=True)
            (self.base / name / "Kbuild").touch()
        for name in "test-1", "test-2":
            (self.base / name).mkdir()
            (self.base / name / "Makefile").write_text(MAKEFILE)
        self.env = mock.patch.dict(os.environ,
                                   MIOS_CACHE=str(self.base / "cache"))
        self.env.start()

    def tearDown(self):
        self.env.stop()
        self.folder.cleanup()

    def times(self):
        """How often a module has been made."""
        path = self.base / "times"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def fill(self, clone, text, tree="test-1"):
        """The module of a clone whose source says text, and whether that took
        make."""
        source = self.base / clone / "mios/a.c"
        if not source.exists() or source.read_text() != text:
            source.write_text(text)
        out = self.base / clone / "build"
        out.mkdir(exist_ok=True)
        (out / ".lock").touch()
        before = self.times()
        with mock.patch.object(module_cache, "TOP", self.base / clone):
            module_cache.fill(out, self.base / tree)
        self.assertTrue((out / ".lock").exists())
        return (out / "mios/a.ko").read_text(), self.times() - before

    def test_made_once_for_all_clones(self):
        self.assertEqual(self.fill("first", "one\n"), ("one\ntest-1 1\n", 1))
        self.assertEqual(self.fill("first", "one\n"), ("one\ntest-1 1\n", 0))
        self.assertEqual(self.fill("second", "one\n"), ("one\ntest-1 1\n", 0))

    def test_of_the_sources_as_they_are(self):
        self.fill("first", "one\n")
        self.fill("second", "one\n")
        self.assertEqual(self.fill("second", "two\n"), ("two\ntest-1 1\n", 1))
        self.assertEqual(self.fill("second", "one\n"), ("one\ntest-1 1\n", 0))
        self.assertEqual(self.fill("first", "two\n"), ("two\ntest-1 1\n", 0))
        self.assertEqual(self.fill("first", "three\n")[1], 1)

    def test_of_one_kernel(self):
        self.fill("first", "one\n")
        self.assertEqual(self.fill("first", "one\n", "test-2"),
                         ("one\ntest-2 1\n", 1))

    def test_with_or_without_knobs(self):
        self.fill("first", "one\n")
        with mock.patch.dict(os.environ, MIOS_INJECT="0"):
            self.assertEqual(self.fill("second", "one\n"),
                             ("one\ntest-1 0\n", 1))

    def test_nothing_is_kept_of_what_does_not_build(self):
        for _ in range(2):
            with self.assertRaisesRegex(BuildError, "do not build"):
                self.fill("first", "wrong\n")
        self.assertEqual(self.times(), 2)

    def test_changed_while_it_was_built(self):
        """It is not in the cache under what it was when make began."""
        make = module_cache.make

        def change(out, tree):
            make(out, tree)
            (self.base / "first/mios/a.c").write_text("two\n")
        with mock.patch.object(module_cache, "make", change):
            self.fill("first", "one\n")
        self.assertEqual(self.fill("second", "one\n")[1], 1)

    def test_objects_of_the_same_kernel_stay(self):
        """make goes on from them, when a source has changed."""
        self.fill("first", "one\n")
        kept = self.base / "first/build/mios/a.o"
        kept.touch()
        self.assertEqual(self.fill("first", "two\n")[1], 1)
        self.assertTrue(kept.exists())

    def test_objects_of_another_kernel_go(self):
        out = self.base / "first/build"
        (out / "mios").mkdir(parents=True)
        (out / "mios/a.o").touch()
        self.fill("first", "one\n")
        self.assertFalse((out / "mios/a.o").exists())


if __name__ == "__main__":
    unittest.main()
