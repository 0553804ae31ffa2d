#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Writes the engine's sources with every mutant in them, one chosen at run
time by DSM_MUTANT: each condition of an if negated (negate) or never true
(skip), each call that is a statement left out (drop), each message sent
twice (double).  usage: mutate.py ENGINE_DIR OUT_DIR; the list goes to
OUT_DIR/list, a line each: number, file, function, kind, source."""
import os
import re
import sys

FILES = ("engine.c fault.c request.c grant.c update.c merge.c mode.c "
         "evict.c recover.c").split()
mutants = []


def closing(text, at):
    """Index of the parenthesis that closes the one at text[at]."""
    depth = 0
    for i in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
    raise ValueError("unbalanced")


def function_at(text, at):
    names = re.findall(r"^(?:static )?[a-z][\w *]*?\b\*?(\w+)\([^;{]*?\)\n\{",
                       text[:at], re.M)
    return names[-1] if names else "-"


def add(name, text, at, kind, source):
    mutants.append((name, function_at(text, at), kind,
                    " ".join(source.split())))
    return len(mutants)


def mutate(name, text):
    out, last = "", 0
    pattern = re.compile(r"\bif \(|^(\t+)([a-z_]+)\((?=[^;{}]*\);)", re.M)
    for m in pattern.finditer(text):
        if m.start() < last:
            continue
        if m.group(0) == "if (":
            end = closing(text, m.end() - 1)
            cond = text[m.end():end]
            n = add(name, text, m.start(), "negate", cond)
            add(name, text, m.start(), "skip", cond)
            out += text[last:m.end()] + "MUTANT_IF(%d, %s)" % (n, cond)
            last = end
            continue
        end = closing(text, m.end() - 1)
        before = text[:m.start()].rstrip()
        if text[end + 1] != ";" or not (
                before[-1] in ";{})/:" or before.endswith("else")):
            continue
        call = text[m.start(2):end + 1]
        n = add(name, text, m.start(2), "drop", call)
        if m.group(2) in ("msg_send", "msg_cast"):
            add(name, text, m.start(2), "double", call)
            out += text[last:m.start(2)] + "MUTANT_SEND(%d, %s)" % (n, call)
        else:
            out += text[last:m.start(2)] + "MUTANT_CALL(%d, %s)" % (n, call)
        last = end + 1
    return out + text[last:]


HEAD = """
extern int dsm_mutant;
#define MUTANT_IF(n, c) (dsm_mutant == (n) ? !(c) : \\
	dsm_mutant == (n) + 1 ? ((void)(c), 0) : !!(c))
#define MUTANT_CALL(n, ...) do { \\
	if (dsm_mutant != (n)) __VA_ARGS__; } while (0)
#define MUTANT_SEND(n, ...) do { \\
	if (dsm_mutant != (n)) __VA_ARGS__; \\
	if (dsm_mutant == (n) + 1) __VA_ARGS__; } while (0)
"""

MAIN = """
#include <stdlib.h>
int dsm_mutant;
__attribute__((constructor)) static void choose(void)
{
	if (getenv("DSM_MUTANT"))
		dsm_mutant = atoi(getenv("DSM_MUTANT"));
}
"""


def main():
    engine, out = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    for name in os.listdir(engine):
        if name.endswith((".c", ".h")) and name != "module.c":
            text = open(os.path.join(engine, name)).read()
            if name in FILES:
                text = HEAD + mutate(name, text)
            open(os.path.join(out, name), "w").write(text)
    open(os.path.join(out, "chosen.c"), "w").write(MAIN)
    with open(os.path.join(out, "list"), "w") as f:
        for i, (name, func, kind, source) in enumerate(mutants, 1):
            f.write("%d\t%s\t%s\t%s\t%s\n" % (i, name, func, kind, source))
    print(len(mutants), "mutants")


main()
