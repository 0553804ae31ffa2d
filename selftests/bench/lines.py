# SPDX-License-Identifier: GPL-2.0
"""Lines of the series, per hook, and of each module.  No machine is needed."""
import pathlib
import re

from figures import Count

TITLE = "Lines"
TOP = pathlib.Path(__file__).resolve().parents[2]
SERIES_AIMS = {"boot": 700, "ipc": 350, "swap": 300}
MODULES = {"mios.ko": ["core", "arch"], "mios_net.ko": ["net"],
           "mios_console.ko": ["console"], "mios_fs.ko": ["memory"],
           "mios_swap.ko": ["swap"], "mios_reglock.ko": ["reglock"],
           "mios_devices.ko": ["devices"]}


def added_lines(patch):
    """(file, added lines, removed lines) of each file of a patch."""
    text = patch.read_text(encoding="utf-8")
    for part in re.split(r"^diff --git ", text, flags=re.M)[1:]:
        name = re.search(r"^\+\+\+ b/(\S+)", part, re.M)
        body = part.split("\n@@", 1)[-1].split("\n-- \n")[0]
        yield (name[1] if name else "?",
               len(re.findall(r"^\+", body, re.M)),
               len(re.findall(r"^-", body, re.M)))


def series_lines(series):
    """Counts for each hook (a patch) and the sum."""
    total = 0
    for name in series.read_text().split("\n"):
        name = name.split("#")[0].strip()
        if not name:
            continue
        patch = series.parent / name
        files = list(added_lines(patch))
        added = sum(f[1] for f in files)
        total += added
        subject = re.search(r"^Subject: \[[^]]*\] (.*)", patch.read_text(),
                            re.M)
        removed = sum(f[2] for f in files)
        yield Count(subject[1] if subject else name, added, "lines",
                    None, f"{removed} removed; " + ", ".join(
                        f"{pathlib.Path(f[0]).name} {f[1]}" for f in files))
    yield Count(f"the series {series.parent.name}", total, "lines added",
                SERIES_AIMS.get(series.parent.name))


def module_lines():
    """Counts of .c, .h and .S lines of each module."""
    for module, parts in MODULES.items():
        total = 0
        for part in parts:
            path = TOP / "mios" / part
            files = [path] if path.is_file() else [
                f for f in path.rglob("*") if f.suffix in (".c", ".h", ".S")]
            total += sum(len(f.read_text(encoding="utf-8").splitlines())
                         for f in files)
        yield Count(module, total, "lines", None, "with comments")


def measure(_rounds):
    """(facts, figures)."""
    every = sorted(TOP.glob("linux/*/series"))
    return {}, [*(line for series in every for line in series_lines(series)),
                *module_lines()]
