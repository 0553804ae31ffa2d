# SPDX-License-Identifier: GPL-2.0
"""What a kernel is configured with: fragments of linux/config, on top of
nothing or of Debian's own configuration.  Called by linux/kernel."""
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from buildcache import say

FOLDER = pathlib.Path(__file__).resolve().parent / "config"
DEBIAN_CONFIG = pathlib.Path(
    "/usr/src/linux-config-6.12/config.amd64_none_amd64.xz")
# The sources that there are; which suite has what this host's apt need not have.
RELEASES = {"6.12": None, "7.3": "trixie-backports"}
FRAGMENTS = {
    "test": ["test.config"],
    "debug": ["test.config", "debug.config"],
    "next": ["test.config", "next.config"],
    "distro": ["test.config", "distro.config"],
    "debian": ["debian.config"],
}
STAMPS = {"KBUILD_BUILD_TIMESTAMP": "2025-01-01", "KBUILD_BUILD_USER": "mios",
          "KBUILD_BUILD_HOST": "mios", "KBUILD_BUILD_VERSION": "1",
          "LOCALVERSION": "", "LC_ALL": "C"}


class BuildError(Exception):
    """What went wrong, in one line for the person who called."""


def run(command, **options):
    """Run a quiet helper; its output becomes the error when it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, check=False, **options)
    if done.returncode:
        raise BuildError(f"{' '.join(map(str, command))}:\n{done.stdout}")
    return done.stdout


def release():
    """The source that is meant: K of the environment, which --source sets."""
    name = os.environ.get("K") or "6.12"
    if name not in RELEASES:
        raise BuildError(f"no source '{name}': there are "
                         f"{', '.join(RELEASES)}")
    return name


def fragments(name):
    """Configuration fragments of a kernel, the first one applied first; last
    what is another option in this release."""
    own = FOLDER / f"{release()}.config"
    return [FOLDER / fragment for fragment in FRAGMENTS[name]] + \
        [own] * own.exists()


def base_config(name):
    """What the fragments go on top of: nothing, or Debian's own."""
    if name != "debian":
        return b""
    if release() != "6.12":
        raise BuildError(f"no kernel 'debian' of Linux {release()}: Debian's "
                         "own configuration is known of 6.12 only")
    if not DEBIAN_CONFIG.exists():
        raise BuildError("install linux-config-6.12 for Debian's own "
                         "configuration")
    return lzma.decompress(DEBIAN_CONFIG.read_bytes())


def lsmod():
    """The file with the modules that Debian's configuration is cut to."""
    path = os.environ.get("LSMOD")
    if path and not os.path.isfile(path):
        raise BuildError(f"LSMOD={path}: no such file: make it with lsmod")
    return pathlib.Path(path).absolute() if path else None


def inputs(name):
    """All that decides how a kernel is configured, but for its source."""
    base = base_config(name)
    return [base, *fragments(name), *([lsmod()] if base and lsmod() else [])]


def cut(tree, base, env):
    """A configuration without the modules that lsmod does not name."""
    (tree / ".config").write_bytes(base)
    for target in "olddefconfig", "localmodconfig":
        # What it asks for has a default.
        run(["make", "-s", "ARCH=x86_64", f"LSMOD={lsmod()}", target],
            cwd=tree, env=env, input="\n" * 1000)
    return (tree / ".config").read_bytes()


def parse_config(text):
    """CONFIG_X -> value; 'is not set' counts as n."""
    found = {}
    for line in text.splitlines():
        unset = re.match(r"# (CONFIG_\w+) is not set", line)
        if unset:
            found[unset[1]] = "n"
        elif line.startswith("CONFIG_"):
            key, value = line.split("=", 1)
            found[key] = value.strip()
    return found


def lost_options(wanted, after):
    """What was asked for and is not so, one line each."""
    return [f"{key}: asked {value}, got {after.get(key, 'n')}"
            for key, value in wanted.items() if after.get(key, "n") != value]


def configure(tree, name, without=()):
    """Write .config; fail when an option that was asked for is not there,
    but for those that this source does not have."""
    wanted = {}
    for path in fragments(name):
        wanted.update(parse_config(path.read_text(encoding="utf-8")))
    for key in without:
        wanted.pop(key, None)
    env = {**os.environ, **STAMPS}
    old = tree / ".config"
    before = old.read_bytes() if old.exists() else b""
    base = base_config(name)
    if base and lsmod():
        base = cut(tree, base, env)
    with tempfile.TemporaryDirectory() as folder:
        start = pathlib.Path(folder) / "base.config"
        start.write_bytes(base)
        run(["scripts/kconfig/merge_config.sh", "-m", "-O", folder,
             str(start), *map(str, fragments(name))], cwd=tree)
        merged = pathlib.Path(folder) / ".config"
        target = "olddefconfig" if base else "allnoconfig"
        if base:
            shutil.copyfile(merged, old)
        else:
            env["KCONFIG_ALLCONFIG"] = str(merged)
        run(["make", "-s", "ARCH=x86_64", target], cwd=tree, env=env)
    after = parse_config(old.read_text())
    lost = lost_options(wanted, after)
    if lost:
        raise BuildError("configuration did not stick:\n  "
                         + "\n  ".join(lost))
    changed = "unchanged" if before == old.read_bytes() else "new"
    say(f"config: {len(wanted)} options asked for, all there ({changed})")
