# SPDX-License-Identifier: GPL-2.0
"""linux/kernel: the series on a tree, clones, and what configuration asks."""
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

TOP = pathlib.Path(__file__).resolve().parents[2]
LOADER = importlib.machinery.SourceFileLoader("kernel",
                                              str(TOP / "linux" / "kernel"))
kernel = importlib.util.module_from_spec(
    importlib.util.spec_from_loader("kernel", LOADER))
LOADER.exec_module(kernel)
import kconfig                                               # noqa: E402

CHANGE = """\
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: A <a@b>
Subject: [PATCH] change a line, add a file

---
diff --git a/dir/file b/dir/file
--- a/dir/file
+++ b/dir/file
@@ -1,3 +1,3 @@
 one
-two
+%s
 three
diff --git a/dir/new b/dir/new
new file mode 100644
--- /dev/null
+++ b/dir/new
@@ -0,0 +1 @@
+new
"""


class Series(unittest.TestCase):
    """apply_series() and clone() on a tree of three lines"""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.base = pathlib.Path(self.folder.name)
        self.pristine = self.base / "pristine"
        (self.pristine / "dir").mkdir(parents=True)
        (self.pristine / "tools").mkdir()
        (self.pristine / "dir/file").write_text("one\ntwo\nthree\n")
        self.tree = self.base / "tree"
        kernel.run(["cp", "-al", str(self.pristine), str(self.tree)])

    def tearDown(self):
        self.folder.cleanup()

    def patch(self, word):
        """A patch that makes line two say word."""
        path = self.base / f"{word}.patch"
        path.write_text(CHANGE % word)
        return path

    def read(self, tree):
        """The changed file in a tree."""
        return (tree / "dir/file").read_text()

    def test_change_and_change_back(self):
        kernel.apply_series(self.tree, self.pristine, [self.patch("zwei")])
        self.assertEqual(self.read(self.tree), "one\nzwei\nthree\n")
        self.assertEqual(self.read(self.pristine), "one\ntwo\nthree\n")
        self.assertTrue((self.tree / "dir/new").exists())
        kernel.apply_series(self.tree, self.pristine, [])
        self.assertEqual(self.read(self.tree), "one\ntwo\nthree\n")
        self.assertFalse((self.tree / "dir/new").exists())

    def test_same_content_keeps_its_time(self):
        kernel.apply_series(self.tree, self.pristine, [self.patch("zwei")])
        os.utime(self.tree / "dir/file", (1, 1))
        kernel.apply_series(self.tree, self.pristine, [self.patch("zwei")])
        self.assertEqual((self.tree / "dir/file").stat().st_mtime, 1)
        kernel.apply_series(self.tree, self.pristine, [self.patch("deux")])
        self.assertNotEqual((self.tree / "dir/file").stat().st_mtime, 1)

    def test_clone_leaves_the_old_tree_alone(self):
        kernel.apply_series(self.tree, self.pristine, [self.patch("zwei")])
        (self.tree / ".mios-complete").touch()
        (self.tree / "tools/.x.o.cmd").write_text(f"dep {self.tree}/x.h")
        new = self.base / "new"
        kernel.clone(self.tree, new)
        kernel.retarget(new, self.tree, new)
        kernel.apply_series(new, self.pristine, [self.patch("deux")])
        self.assertEqual(self.read(self.tree), "one\nzwei\nthree\n")
        self.assertEqual(self.read(new), "one\ndeux\nthree\n")
        self.assertFalse((new / ".mios-complete").exists())
        self.assertEqual((new / "tools/.x.o.cmd").read_text(),
                         f"dep {new}/x.h")

    def test_patch_that_does_not_apply_is_named(self):
        both = [self.patch("zwei"), self.patch("deux")]
        with self.assertRaisesRegex(kernel.BuildError,
                                    "deux.patch does not apply"):
            kernel.apply_series(self.tree, self.pristine, both)
        self.assertEqual(self.read(self.tree), "one\ntwo\nthree\n")


class Folders(unittest.TestCase):
    """series() of folders"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        top = pathlib.Path(folder.name)
        for name, text in (("boot", "# why\n1.patch\n2.patch # and why\n"),
                           ("swap", "1.patch\n")):
            (top / "linux" / name).mkdir(parents=True)
            (top / "linux" / name / "series").write_text(text)
        change = mock.patch.object(kernel, "TOP", top)
        change.start()
        self.addCleanup(change.stop)
        self.top = top / "linux"

    def patches(self, **environ):
        """What is taken, by folder and name."""
        with mock.patch.dict(os.environ, environ):
            return [str(p.relative_to(self.top)) for p in kernel.series()]

    def test_all_or_those_named(self):
        self.assertEqual(self.patches(),
                         ["boot/1.patch", "boot/2.patch", "swap/1.patch"])
        self.assertEqual(self.patches(SERIES="swap"), ["swap/1.patch"])
        self.assertEqual(self.patches(SERIES=""), [])
        with self.assertRaisesRegex(kernel.BuildError, "there are boot, swap"):
            self.patches(SERIES="wsap")

    def test_another_release(self):
        """A list of its own, if there is one; named for nothing it is refused."""
        (self.top / "boot" / "series-7.3").write_text("1.patch\n7.3/2.patch\n")
        self.assertEqual(self.patches(K="7.3"), ["boot/1.patch",
                                                 "boot/7.3/2.patch", "swap/1.patch"])
        self.assertEqual(self.patches(), ["boot/1.patch", "boot/2.patch",
                                          "swap/1.patch"])
        (self.top / "swap" / "series-7.3").write_text("# not yet\n")
        self.assertEqual(len(self.patches(K="7.3")), 2)
        with self.assertRaisesRegex(kernel.BuildError, "no series 'swap' on Linux 7.3"):
            self.patches(K="7.3", SERIES="swap")
        with self.assertRaisesRegex(kernel.BuildError, "no source '9': there are 6.12, 7.3"):
            self.patches(K="9")

    def test_options_of_patches_that_are_left_out(self):
        (self.top / "boot" / "1.patch").write_text("+config A\n+ config B\n")
        (self.top / "boot" / "2.patch").write_text(" config C\n")
        (self.top / "swap" / "1.patch").write_text("+menuconfig D\n")
        self.assertEqual(kernel.options_without(kernel.series()), set())
        self.assertEqual(kernel.options_without(kernel.series(["boot"])),
                         {"CONFIG_D"})
        self.assertEqual(kernel.options_without(kernel.series([])),
                         {"CONFIG_A", "CONFIG_D"})

    def test_each_series_alone(self):
        counts = [[p.parent.name[0] + p.name[0] for p in patches]
                  for patches in kernel.steps()]
        self.assertEqual(counts, [[], ["b1"], ["b1", "b2"], ["b1", "b2", "s1"],
                                  ["s1"]])


class Configuration(unittest.TestCase):
    """fragments"""

    def test_parse(self):
        self.assertEqual(
            kconfig.parse_config('# note\nCONFIG_A=y\nCONFIG_B="x=y"\n'
                                "# CONFIG_C is not set\n\n"),
            {"CONFIG_A": "y", "CONFIG_B": '"x=y"', "CONFIG_C": "n"})

    def test_lost_options(self):
        wanted = {"CONFIG_A": "y", "CONFIG_B": "n", "CONFIG_C": "y"}
        after = {"CONFIG_A": "m", "CONFIG_C": "y"}
        self.assertEqual(kconfig.lost_options(wanted, after),
                         ["CONFIG_A: asked y, got m"])

    def test_option_that_cannot_be_is_refused(self):
        """The whole way, with the kernel's own scripts."""
        tree = kernel.build("test")
        with tempfile.TemporaryDirectory(dir=tree.parent.parent) as folder:
            new = pathlib.Path(folder) / "tree"
            kernel.clone(tree, new)
            old = kconfig.FRAGMENTS["test"]
            extra = pathlib.Path(folder) / "extra.config"
            extra.write_text("CONFIG_NO_SUCH_OPTION=y\n")
            try:
                kconfig.FRAGMENTS["test"] = old + [str(extra)]
                with self.assertRaisesRegex(kernel.BuildError,
                                            "CONFIG_NO_SUCH_OPTION: asked y"):
                    kconfig.configure(new, "test")
            finally:
                kconfig.FRAGMENTS["test"] = old

    def test_debians_configuration(self):
        """It takes the fragment; LSMOD leaves the modules that it names, and
        those that the fragment asks for."""
        tree = kernel.build("test")
        with tempfile.TemporaryDirectory(dir=tree.parent.parent) as folder:
            new = pathlib.Path(folder) / "tree"
            kernel.clone(tree, new)
            kconfig.configure(new, "debian")
            text = (new / ".config").read_text()
            whole = kconfig.inputs("debian")
            listing = pathlib.Path(folder) / "lsmod"
            listing.write_text("Module Size Used by\next4 1 0\n")
            os.environ["LSMOD"] = str(listing)
            try:
                kconfig.configure(new, "debian")
                less = kconfig.inputs("debian")
            finally:
                del os.environ["LSMOD"]
            cut = (new / ".config").read_text()
        for line in "MIOS=y", "EXT4_FS=m", "NFSD=m", "BTRFS_FS=m":
            self.assertIn(f"CONFIG_{line}\n", text)
        for line in "MIOS=y", "EXT4_FS=m", "NFSD=m":
            self.assertIn(f"CONFIG_{line}\n", cut)
        self.assertNotIn("CONFIG_BTRFS_FS=m", cut)
        self.assertNotEqual(whole, less)

    def test_modules_that_are_not_there(self):
        """LSMOD names no file"""
        os.environ["LSMOD"] = "/no/such/file"
        try:
            with self.assertRaisesRegex(kernel.BuildError, "make it with lsmod"):
                kconfig.inputs("debian")
        finally:
            del os.environ["LSMOD"]


class OtherSource(unittest.TestCase):
    """A tree that KSRC names is copied, and cleaned if it was used."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(self.folder.name)
        self.source = path / "source"
        (self.source / "arch/x86").mkdir(parents=True)
        (self.source / "arch/x86/Makefile").touch()
        self.old = {name: os.environ.get(name)
                    for name in ("KSRC", "MIOS_CACHE")}
        os.environ["KSRC"] = str(self.source)
        os.environ["MIOS_CACHE"] = str(path / "cache")

    def tearDown(self):
        for name, value in self.old.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
        self.folder.cleanup()

    def test_one_that_is_clean_needs_no_rule(self):
        """Ours has not all that the kernel's own way of cleaning wants."""
        self.assertTrue((kernel.source_tree() / "arch/x86/Makefile").exists())

    def test_one_that_was_used_is_cleaned(self):
        """The copy, not the tree."""
        (self.source / "Makefile").write_text("mrproper:\n\trm .config\n")
        (self.source / ".config").touch()
        self.assertFalse((kernel.source_tree() / ".config").exists())
        self.assertTrue((self.source / ".config").exists())

    def test_it_goes_by_contents_not_by_date(self):
        """As anything that is built."""
        file = self.source / "a.c"
        file.write_text("one")
        first = kernel.source_id()
        os.utime(file, (1, 1))
        self.assertEqual(kernel.source_id(), first)
        file.write_text("two")
        os.utime(file, (1, 1))
        self.assertNotEqual(kernel.source_id(), first)

    def test_what_is_no_kernel_is_refused(self):
        """In one line that names it."""
        os.environ["KSRC"] = "/usr"
        with self.assertRaisesRegex(kernel.BuildError, "KSRC=/usr: not a"):
            kernel.source_tree()


class Cache(unittest.TestCase):
    """What makes a kernel another kernel."""

    def test_second_build_is_the_first(self):
        first = kernel.build("test")
        stamp = (first / "vmlinux").stat().st_mtime_ns
        self.assertEqual(kernel.build("test"), first)
        self.assertEqual((first / "vmlinux").stat().st_mtime_ns, stamp)

    def test_nothing_is_built_again(self):
        """What make check needs, the root file system too."""
        rootfs = [str(TOP / "selftests/vm/rootfs"), "build"]
        images = []
        for _ in range(2):
            files = [kernel.build(name) / "vmlinux"
                     for name in ("test", "next", "debug")]
            done = subprocess.run(rootfs, check=True, text=True,
                                  stdout=subprocess.PIPE)
            files.append(pathlib.Path(done.stdout.splitlines()[-1]))
            images.append([(f, f.stat().st_mtime_ns) for f in files])
        self.assertEqual(*images)

    def test_series_is_part_of_the_key(self):
        before = kernel.build("test")
        old = kernel.series
        with tempfile.NamedTemporaryFile(suffix=".patch") as patch:
            try:
                kernel.series = lambda: old() + [pathlib.Path(patch.name)]
                with self.assertRaisesRegex(kernel.BuildError, "not built"):
                    kernel.build("test", only_look=True)
            finally:
                kernel.series = old
        self.assertEqual(kernel.build("test", only_look=True), before)


if __name__ == "__main__":
    unittest.main()
