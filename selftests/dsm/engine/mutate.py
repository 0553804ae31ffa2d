#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Writes the engine's sources with every mutant in them, one chosen at run
time by DSM_MUTANT:
  negate, skip  the condition of an if negated; never true
  part          an operand of && or || left out of any condition
  choice        the condition of ?: negated
  return        the result of a function, if true or false, negated
  value         what is assigned, if true or false, negated
  loop          a loop not entered
  drop, double  a call that is a statement left out; a message sent twice
usage: mutate.py ENGINE_DIR OUT_DIR; the list goes to OUT_DIR/list, a line
each: number, file, function, kind, source, #N if it is the Nth so."""
import os
import re
import sys

FILES = ("engine.c queue.c fault.c request.c tag.c grant.c update.c merge.c "
         "order.c mode.c evict.c recovery.c membership.c assign.c handoff.c "
         "probowner.c dsm_link.c dsm_link_receive.c adapt.c usage.c").split()
FUNCTION = re.compile(r"^((?:static )?[a-z][\w *]*?\b\*?)(\w+)\([^;{]*?\)\n\{",
                      re.M)
CALL = re.compile(r"^(\t+)([a-z_]+)\((?=[^;{}]*\);)", re.M)
ASSIGN = re.compile(r"(\bbool |->|\.|^\t+)(\w+) [+|]?=\s+([^;]*);", re.M)
LOGIC = re.compile(r"&&|\|\||!|==|[<>]=|(?<![<>-])[<>](?![<>])")
mutants = []


def blank(text):
    """Comments and strings become spaces; all else stays where it is."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"',
                  lambda m: re.sub(r"[^\n]", " ", m.group()), text,
                  flags=re.S)


def closing(text, at):
    """Index of the parenthesis that closes the one at text[at]."""
    depth = 0
    for i in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
    raise ValueError("unbalanced")


def flat(code):
    """The same with all that is in parentheses or brackets blanked."""
    out, depth = "", 0
    for c in code:
        depth -= c in ")]"
        out += c if depth == 0 else " "
        depth += c in "(["
    return out


class Source:
    def __init__(self, name, text):
        self.name, self.text, self.code = name, text, blank(text)
        self.puts = []

    def add(self, at, end, kind):
        """One more mutant; its number."""
        names = [m.group(2) for m in FUNCTION.finditer(self.code[:at])]
        source = " ".join(self.code[at:end].split())
        what = (self.name, names[-1] if names else "-", kind, source)
        again = [m for m in mutants if m[:4] == what]
        mutants.append(what + (" #%d" % (len(again) + 1) if again else "",))
        return len(mutants)

    def wrap(self, at, end, head, tail=")"):
        """Inner ones close first and open last."""
        n = len(self.puts)
        self.puts.append((at, 1, -end, n, head))
        self.puts.append((end, 0, -at, -n, tail))

    def one(self, at, end, kind, call, tail=")"):
        self.wrap(at, end, "%s(%d, " % (call, self.add(at, end, kind)), tail)

    def result(self):
        out, last = "", 0
        for at, *_, what in sorted(self.puts):
            out += self.text[last:at] + what
            last = at
        return out + self.text[last:]


def trim(code, at, end):
    while at < end and code[at].isspace():
        at += 1
    while at < end and code[end - 1].isspace():
        end -= 1
    return at, end


def split(code, at, end, mark):
    """Ranges between the marks that are not in parentheses."""
    text, from_ = flat(code[at:end]), 0
    for m in re.finditer(mark, text):
        yield trim(code, at + from_, at + m.start())
        from_ = m.end()
    yield trim(code, at + from_, end)


def parts(src, at, end):
    """Every operand of && and ||, outer ones first."""
    for mark, none in ((r"[?:]", None), (r"\|\|", 0), (r"&&", 1)):
        ranges = list(split(src.code, at, end, mark))
        if len(ranges) < 2:
            continue
        for a, b in ranges:
            # A knob is a constant here: without it nothing changes.
            if none is not None and "_KNOB(" not in src.code[a:b]:
                src.one(a, b, "part", "mutant_part", ", %d)" % none)
            parts(src, a, b)
        return
    at += src.code[at] == "!"
    if src.code[at] == "(" and closing(src.code, at) == end - 1:
        parts(src, *trim(src.code, at + 1, end - 1))


def logical(code):
    return LOGIC.search(flat(code)) and "?" not in flat(code)


def conditions(src):
    """Of if and loops."""
    for m in re.finditer(r"\b(if|while|for|set_for_each) ?\(", src.code):
        at, end = m.end(), closing(src.code, m.end() - 1)
        if m.group(1) == "if":
            n = src.add(at, end, "negate")
            src.add(at, end, "skip")
            src.wrap(at, end, "mutant_if(%d, " % n)
        elif m.group(1) == "set_for_each":
            n = src.add(m.start(), end + 1, "loop")
            src.wrap(m.start(), m.start(), "if (dsm_mutant != %d) " % n, "")
            continue
        else:
            if m.group(1) == "for":
                at, end = list(split(src.code, at, end, ";"))[1]
            if at == end:
                continue
            src.one(at, end, "loop", "mutant_part", ", 0)")
        parts(src, at, end)


def choices(src):
    for m in re.finditer(r"\?", src.code):
        depth, at = 0, m.start()
        while True:
            at -= 1
            c = src.code[at]
            depth += {")": 1, "(": -1}.get(c, 0)
            if depth < 0 or (depth == 0 and (c in ",;{?:" or re.match(
                    r"[^=!<>]= |return\b", src.code[at - 1:at + 8]
                    if c == "=" else src.code[at:at + 7]))):
                break
        at += 6 if src.code[at] == "r" else 1
        at, end = trim(src.code, at, m.start())
        src.one(at, end, "choice", "mutant_not")
        parts(src, at, end)


def results(src):
    for m in re.finditer(r"\breturn\s+([^;]+);", src.code):
        at, end = m.span(1)
        names = list(FUNCTION.finditer(src.code[:at]))
        is_bool = names and re.search(r"\bbool $", names[-1].group(1))
        if not is_bool and not logical(src.code[at:end]):
            continue
        src.one(at, end, "return", "mutant_not")
        parts(src, at, end)


def assignments(src, fields):
    for m in ASSIGN.finditer(src.code):
        at, end = m.span(3)
        text = src.code[at:end]
        if (m.group(1) == "bool " or logical(text) or
                text in ("true", "false") or
                (m.group(1) in ("->", ".") and m.group(2) in fields)):
            src.one(at, end, "value", "mutant_not")
            parts(src, at, end)


def calls(src):
    for m in CALL.finditer(src.code):
        end = closing(src.code, m.end() - 1)
        before = src.code[:m.start()].rstrip()
        if src.code[end + 1] != ";" or not (
                before[-1] in ";{})/:" or before.endswith("else")):
            continue
        at, end = m.start(2), end + 1
        n = src.add(at, end, "drop")
        if m.group(2) in ("msg_send", "msg_cast"):
            src.add(at, end, "double")
            src.wrap(at, end, "MUTANT_SEND(%d, " % n)
        else:
            src.wrap(at, end, "MUTANT_CALL(%d, " % n)


HEAD = """
extern int dsm_mutant;
/* What is called with a condition has evaluated it, as without a mutant. */
static inline _Bool mutant_not(int n, _Bool c)
{
	return dsm_mutant == n ? !c : c;
}
static inline _Bool mutant_part(int n, _Bool c, _Bool none)
{
	return dsm_mutant == n ? none : c;
}
static inline _Bool mutant_if(int n, _Bool c)
{
	return mutant_part(n + 1, mutant_not(n, c), 0);
}
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
    texts = {name: open(os.path.join(engine, name)).read()
             for name in os.listdir(engine)
             if name.endswith((".c", ".h")) and name != "module.c"}
    fields = set(re.findall(r"^\tbool (\w+);", "".join(texts.values()), re.M))
    for name in sorted(texts, key=lambda n: (FILES + [n]).index(n)):
        text = texts[name]
        if name in FILES:
            src = Source(name, text)
            for find in (conditions, choices, results, calls):
                find(src)
            assignments(src, fields)
            text = HEAD + src.result()
        open(os.path.join(out, name), "w").write(text)
    open(os.path.join(out, "chosen.c"), "w").write(MAIN)
    with open(os.path.join(out, "list"), "w") as f:
        for i, what in enumerate(mutants, 1):
            f.write("%d\t%s\t%s\t%s\t%s%s\n" % (i, *what))
    print(len(mutants), "mutants")


main()
