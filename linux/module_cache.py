# SPDX-License-Identifier: GPL-2.0
"""The modules of mios/ against a kernel, built once per content.

Called by linux/kernel.  A folder of outputs has all that make made, and goes on
from there; or, where the same sources have been built for the same kernel
before, in whatever clone, the modules only, from the cache.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import buildcache
from buildcache import say
from kconfig import STAMPS, BuildError

TOP = pathlib.Path(__file__).resolve().parent.parent
KEPT, KEPT_DAYS = 16, 2
TREE, MADE = ".mios-tree", ".mios-made"     # whose objects, which modules


def mirror(source, target):
    """A tree of links to the sources, so that outputs stay out of them."""
    target.mkdir(parents=True, exist_ok=True)
    wanted = {p.name for p in source.iterdir() if p.name != "__pycache__"}
    for path in target.iterdir():
        if path.is_symlink() and path.name not in wanted:
            path.unlink()
    for name in wanted:
        link = target / name
        if (source / name).is_dir():
            mirror(source / name, link)
        elif not link.is_symlink():
            link.unlink(missing_ok=True)
            link.symlink_to(source / name)


def clear(out):
    """A folder without outputs."""
    for path in out.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != ".lock":          # the caller holds it
            path.unlink()


def with_faults():
    """Whether the knobs for tests are built in: "1" or "0"."""
    return os.environ.get("MIOS_INJECT", "1")


def digest(tree):
    """A name for the modules that the sources make for the kernel in tree."""
    parts = [pathlib.Path(__file__), tree.name, with_faults(), TOP / "Kbuild"]
    for path in sorted((TOP / "mios").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            parts += [str(path.relative_to(TOP)), path]
    return buildcache.digest(*parts)


def read(path):
    """What it says; nothing if it is not there."""
    return path.read_text() if path.exists() else ""


def fill(out, tree):
    """Have the modules for the kernel in tree in out, which is the caller's."""
    made = digest(tree)
    if os.environ.get("CHECK"):             # sparse looks while they are built
        make(out, tree)
        return
    if read(out / MADE) == made:
        return
    kept = buildcache.root() / "modules" / f"{tree.name}-{made}"
    kept.parent.mkdir(exist_ok=True)
    with buildcache.lock(kept.name):
        if kept.exists():
            os.utime(kept)
            clear(out)
            copy(kept, out)
        else:
            (out / MADE).unlink(missing_ok=True)
            make(out, tree)
            keep(out, kept, made == digest(tree))
    (out / MADE).write_text(made)
    buildcache.prune(kept.parent, KEPT, KEPT_DAYS)


def copy(source, target):
    """The modules in one folder to the same places in another."""
    for module in source.rglob("*.ko"):
        place = target / module.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(module, place)


def keep(out, kept, unchanged):
    """Put the modules into the cache, if they are of what was hashed."""
    if not unchanged:
        return
    part = pathlib.Path(tempfile.mkdtemp(prefix=".part-", dir=kept.parent))
    copy(out, part)
    part.rename(kept)


def make(out, tree):
    """Build them in out; CHECK=1 in the environment has sparse look, too."""
    # Objects made for another kernel may look newer than its headers.
    if read(out / TREE) != tree.name:
        clear(out)
        (out / TREE).write_text(tree.name)
    mirror(TOP / "mios", out / "mios")
    link = out / "Kbuild"
    if not link.is_symlink():
        link.symlink_to(TOP / "Kbuild")
    jobs = os.environ.get("JOBS") or str(os.cpu_count() or 1)
    say(f"modules: building what has changed, for {tree.name}")
    check = ["C=2", "CF=-D__CHECK_ENDIAN__"] if os.environ.get("CHECK") else \
        ["-s"]
    done = subprocess.run(
        ["make", *check, f"-j{jobs}", "-C", str(tree), "ARCH=x86_64",
         f"M={out}", f"MIOS_INJECT={with_faults()}", "modules"],
        check=False, stdout=sys.stderr, env={**os.environ, **STAMPS})
    if done.returncode:
        raise BuildError(f"modules do not build against {tree.name}")
