#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Writes litmus files, one for each critical cycle: threads that touch two
variables each, in turn, so that the order within each thread, what each load
reads and which of two stores comes last form a circle.  x86-TSO forbids the
outcome unless the circle has a store and then a load of another variable in
one thread without a fence; the tool's own oracle decides.
usage: cycles.py OUT_DIR"""
import itertools
import os
import sys

# What a thread does to its first and second variable, in program order.
THREADS = ("WW", "WR", "WfR", "RW", "RR")


def relation(last, first):
    """How one thread's last access comes before another's first one."""
    return {"WR": "rf", "RW": "fr", "WW": "co"}.get(last + first)


def cycle(kinds):
    """The file's text, or None if two loads meet: they have no order."""
    n = len(kinds)
    for i, kind in enumerate(kinds):
        if not relation(kind[-1], kinds[(i + 1) % n][0]):
            return None
    names = "xyz"[:n]
    # Variable i lies between thread i's last and thread i+1's first access.
    code, wants = [[] for _ in range(n)], []
    for i, kind in enumerate(kinds):
        source, target = names[(i - 1) % n], names[i]
        for at, (op, var) in enumerate(((kind[0], source),
                                        (kind[-1], target))):
            reg = ("EAX", "EBX")[at]
            if at and "f" in kind:
                code[i].append("MFENCE")
            code[i].append((op, var, reg))
    for i, kind in enumerate(kinds):
        how = relation(kind[-1], kinds[(i + 1) % n][0])
        # The one that comes first writes 1, the second one 2.
        one, two = (i, 1), ((i + 1) % n, 0)
        wants.append((how, names[i], one, two))
    values, conds = {}, []
    for how, var, one, two in wants:
        if how == "rf":
            values[one] = 1
            conds.append("%d:%s=1" % (two[0], "EAX"))
        elif how == "fr":
            values[two] = 1
            conds.append("%d:%s=0" % (one[0], "EBX"))
        else:
            values[one], values[two] = 1, 2
            conds.append("%s=2" % var)
    columns = []
    for i in range(n):
        lines, at = [], 0
        for op in code[i]:
            if op == "MFENCE":
                lines.append(op)
                continue
            kind, var, reg = op
            lines.append("MOV [%s],$%d" % (var, values[i, at])
                         if kind == "W" else "MOV %s,[%s]" % (reg, var))
            at += 1
        columns.append(lines)
    depth = max(map(len, columns))
    rows = [" | ".join("%-12s" % (c[r] if r < len(c) else "")
                       for c in columns) for r in range(depth)]
    name = "cycle-" + "-".join(kinds)
    return name, "X86 %s\n{ %s }\n %s ;\n%s\nexists (%s)\n" % (
        name, " ".join(v + "=0;" for v in names),
        " | ".join("%-12s" % ("P%d" % i) for i in range(n)),
        "\n".join(" %s ;" % row for row in rows), " /\\ ".join(conds))


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    for n in (2, 3):
        for kinds in itertools.product(THREADS, repeat=n):
            # One of all rotations is enough.
            if kinds != min(kinds[i:] + kinds[:i] for i in range(n)):
                continue
            made = cycle(kinds)
            if made:
                with open(os.path.join(out, made[0] + ".litmus"), "w") as f:
                    f.write(made[1])


main()
