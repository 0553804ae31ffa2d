# SPDX-License-Identifier: GPL-2.0
"""The kernel's source, unpacked in the cache, once per content.  Called by
linux/kernel.

It is that of a package of Debian's, linux-source-6.12 or -7.3, which make
packages has installed on this host, or else is downloaded; or a tree that KSRC
names.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile

import buildcache
import privateapt
from buildcache import say
from kconfig import RELEASES, BuildError, release, run

MIRROR = "http://deb.debian.org/debian"
# Many small files that no build for x86 reads.
UNPACK_WITHOUT = ["arch/*/boot/dts/*", "Documentation/translations/*",
                  "Documentation/devicetree/bindings/*/*"]


def package():
    """The package's name."""
    return f"linux-source-{release()}"


def tarball():
    """What the package has, if it is installed here."""
    return pathlib.Path(f"/usr/src/{package()}.tar.xz")


def unpack(part, stream):
    """The source from the package's archive, an open file."""
    leave = [f"--exclude={package()}/{p}" for p in UNPACK_WITHOUT]
    run(["tar", "-C", str(part), "--strip-components=1", "--anchored",
         "--wildcards", *leave, "-xJf", "-"], stdin=stream)


def download(folder):
    """The package, signed by Debian, into an empty folder."""
    suite = RELEASES[release()]
    apt = privateapt.command(folder, [f"deb {MIRROR} {suite} main"])
    say(f"source: downloading {package()} of {suite}, 160 MB")
    for words in ["update"], ["download", package()]:
        done = subprocess.run([*apt, *words], cwd=folder, text=True,
                              check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode:
            why = [t for t in done.stdout.splitlines() if t[:2] in ("E:", "W:")]
            raise BuildError(f"no {package()} from {MIRROR}: "
                             f"{why[0][3:] if why else 'apt-get failed'}")
    return next(folder.glob("*.deb"))


def fetched():
    """Its version, downloaded and unpacked unless that was done before.

    What was downloaded is used until somebody removes the note, whatever is
    newer by then: a kernel is not built anew because a mirror has changed.
    """
    folder = buildcache.root() / "source"
    folder.mkdir(exist_ok=True)
    note = folder / package()
    with buildcache.lock("source-" + package()):
        kept = note.read_text() if note.exists() else ""
        if kept.startswith("debian-") and (folder / kept).exists():
            return kept
        with tempfile.TemporaryDirectory(dir=folder, prefix=".part-") as work:
            work = pathlib.Path(work)
            deb = download(work)
            name = "debian-" + run(["dpkg-deb", "-f", str(deb), "Version"]).strip()
            if not (folder / name).exists():    # else somebody may be using it
                say(f"source: unpacking {package()} {name}")
                run(["dpkg-deb", "-x", str(deb), str(work / "deb")])
                (work / "tree").mkdir()
                with open(f"{work}/deb{tarball()}", "rb") as stream:
                    unpack(work / "tree", stream)
                (work / "tree").rename(folder / name)
            (work / "note").write_text(name)
            (work / "note").rename(note)
        return name


def source_id():
    """Names the source by content: package version, or hash of KSRC."""
    ksrc = os.environ.get("KSRC")
    if ksrc:
        if not os.path.exists(os.path.join(ksrc, "arch/x86/Makefile")):
            raise BuildError(f"KSRC={ksrc}: not a kernel source tree")
        return "ksrc-" + buildcache.digest(run(
            ["sh", "-c", "find . -name .git -prune -o -type f -print0 | "
             "LC_ALL=C sort -z | xargs -0 sha256sum"], cwd=ksrc))
    if tarball().exists():
        version = run(["dpkg-query", "-W", "-f", "${Version}", package()])
        return "debian-" + version
    if RELEASES[release()]:
        return fetched()
    raise BuildError(f"no kernel source: install {package()} "
                     "(make packages) or set KSRC=DIR")


def source_tree():
    """The unpatched source in the cache; its files are never written."""
    tree = buildcache.root() / "source" / source_id()
    with buildcache.lock("source-" + tree.name):
        if tree.exists():
            return tree
        part = tree.with_name(tree.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        ksrc = os.environ.get("KSRC")
        say(f"source: unpacking {ksrc or tarball()}")
        if ksrc:
            run(["cp", "-a", "--reflink=auto", f"{ksrc}/.", str(part)])
            if (part / ".config").exists() or \
                    (part / "include/config").exists():
                run(["make", "-C", str(part), "-s", "ARCH=x86_64",
                     "mrproper"])
        else:
            with open(tarball(), "rb") as stream:
                unpack(part, stream)
        part.rename(tree)
    return tree
