#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Which stores of real programs are emulated.

census.py LENGTHS FILE...: disassembles each file with objdump, asks the
decoder under test (the program LENGTHS) about every instruction, and requires
that it finds objdump's length and takes nothing for a store that writes no
memory.  Prints a row for each file: stores, and how many are emulated; then
what is most often not.
"""
import collections
import pathlib
import re
import subprocess
import sys

LINE = re.compile(r"^\s*[0-9a-f]+:\t((?:[0-9a-f]{2} )+)\s*\t?(.*)$")
PREFIX = {"lock", "rep", "repz", "repnz", "data16", "addr32", "cs", "ds", "es",
          "ss", "fs", "gs", "xacquire", "xrelease", "notrack", "bnd", "{evex}",
          "{vex}", "{vex3}", "{disp32}", "{store}", "{load}"}
# Their last operand is memory, and they only read it, or nothing.
READ = re.compile(
    r"(cmp(?!xchg)|test|bt[lqw]?$|lea|nop|prefetch|j|call|ljmp|lcall|ret|"
    r"loop|clflush|clwb|cldemote|v?ldmxcsr|fld|fild|fadd|fmul|fsub|fdiv|"
    r"fcom|fiadd|fimul|fisub|fidiv|ficom|fxrstor|xrstor|frstor|fbld|fxch|"
    r"mulq?|mul[bwl]|imul[bwlq]$|div[bwlq]?$|idiv|lods|scas|ud|lgdt|lidt|"
    r"lldt|ltr|verr|verw|invlpg|umonitor|ptwrite|vgather|out|xbegin|bound)")
# Not to be emulated, on purpose.
X87 = re.compile(r"f|v?stmxcsr")
# Two more ways to write: by implication.
PUSH = re.compile(r"push")
STRING = re.compile(r"(movs[bwlq] .*\(|stos|ins[bwl] )")
MEMORY = re.compile(r"(\)|^(%[fg]s:)?-?0x[0-9a-f]+)(\{%k\d\})?$")


def instructions(path):
    """(bytes as hex, text) of each; objdump splits long ones over lines."""
    text = subprocess.run(["objdump", "-d", "--insn-width=16", str(path)],
                          check=True, stdout=subprocess.PIPE).stdout.decode()
    for line in text.splitlines():
        match = LINE.match(line)
        if match and match[2] and "(bad)" not in match[2]:
            yield (match[1].replace(" ", ""),
                   re.sub(r"\s*[#<].*$", "", match[2]).strip())


def writes_memory(text):
    """(does it, its name), by objdump's text alone."""
    words = text.split()
    while words and (words[0] in PREFIX or words[0].startswith("rex")):
        words.pop(0)
    if not words:
        return False, text
    name, rest = words[0], " ".join(words[1:])
    plain = " ".join(words)
    if STRING.match(plain) or PUSH.match(name):
        return True, name
    if READ.match(name):
        return False, name
    operand = re.split(r",(?![^(]*\))", rest)[-1]
    if name.startswith("xchg") and "(" in rest:
        return True, name
    return bool(MEMORY.search(operand)), name


def census(lengths, path):
    """Stores, emulated ones, and a count of the names of the others."""
    insns = list(instructions(path))
    found = subprocess.run([lengths], check=True, stdout=subprocess.PIPE,
                           input="".join(h + "\n" for h, _ in insns).encode())
    stores, emulated, missed = 0, 0, collections.Counter()
    for (code, text), length in zip(insns, map(int, found.stdout.split())):
        store, name = writes_memory(text)
        if length and length * 2 != len(code):
            sys.exit(f"FAILED: {code} ({text}) is {len(code) // 2} bytes, "
                     f"not {length}")
        if length and not store:
            sys.exit(f"FAILED: {code} ({text}) is taken for a store")
        stores += store
        emulated += bool(length)
        if store and not length:
            missed[name] += 1
    return stores, emulated, missed


def main():
    """A row for each file, and the sum of what is missed."""
    missed = collections.Counter()
    print("| file | stores | emulated |\n| --- | --- | --- |")
    for path in map(pathlib.Path, sys.argv[2:]):
        stores, emulated, more = census(sys.argv[1], path)
        if not stores:
            sys.exit(f"FAILED: no store in {path}")
        share = 100 * emulated / stores
        missed += more
        left_out = sum(n for name, n in more.items() if not X87.match(name))
        print(f"| {path.name} | {stores:,} | {emulated:,} ({share:.1f} %) |")
        if left_out * 200 > stores:
            sys.exit(f"FAILED: of {path.name} {left_out} stores that are "
                     f"neither x87 nor control words are not emulated")
    print("not emulated: " + ", ".join(
        f"{name} {n}" for name, n in missed.most_common(25)))


main()
