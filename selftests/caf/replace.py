#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Where a program that is linked with OpenCoarrays' static library has it.

usage: replace.py LIBRARY.a PROGRAM...

Prints a line for each program and function of the library: the program's name,
the offset of the function from the program's first byte, its name.  Programs
are stripped, so the library's code is looked for in them, but for the bytes
that the linker has filled in.  guest/replace.c makes these functions those of
another library.
"""
import os
import pathlib
import struct
import sys

OBJECT = b"mpi_caf.c.o"
# Bytes that a relocation of that type fills in.
WIDTHS = {1: 8}


def member(archive, name):
    """A file in an ar archive."""
    at = 8
    while at < len(archive):
        head = archive[at:at + 60]
        size = int(head[48:58])
        if head.startswith(name):
            return archive[at + 60:at + 60 + size]
        at += 60 + size + size % 2
    raise SystemExit(f"there is no {name.decode()} in the library")


def sections(elf):
    """Name -> (type, address, offset, size, link) of an ELF file's sections."""
    start, = struct.unpack_from("<Q", elf, 40)
    count, names = struct.unpack_from("<HH", elf, 60)
    heads = [struct.unpack_from("<IIQQQQIIQQ", elf, start + 64 * i)
             for i in range(count)]
    text = heads[names][4]

    def name(at):
        return elf[text + at:elf.index(b"\0", text + at)].decode()
    return {name(h[0]): (h[1], h[3], h[4], h[5], i)
            for i, h in enumerate(heads)}


def functions(elf, parts):
    """(name, offset) of each global function in .text."""
    text = parts[".text"][4]
    strings = parts[".strtab"][2]
    _, _, at, size, _ = parts[".symtab"]
    for i in range(at, at + size, 24):
        name, info, _, section, value, _ = struct.unpack_from("<IBBHQQ", elf, i)
        if info == 0x12 and section == text:
            end = elf.index(b"\0", strings + name)
            yield elf[strings + name:end].decode(), value


def pattern(elf, parts):
    """The bytes of .text, and which of them are the linker's."""
    _, _, at, size, _ = parts[".text"]
    _, _, relocations, length, _ = parts[".rela.text"]
    filled = bytearray(size)
    for i in range(relocations, relocations + length, 24):
        where, kind = struct.unpack_from("<QI", elf, i)
        width = WIDTHS.get(kind, 4)
        # A call through a table may have become a direct one.
        filled[max(where - 2, 0):where + width] = b"\1" * (
            min(where, 2) + width)
    return elf[at:at + size], filled


def longest(filled):
    """(start, end) of the longest run that the linker leaves alone."""
    best = start = 0, 0
    begin = 0
    for i, byte in enumerate(bytes(filled) + b"\1"):
        if byte:
            if i - begin > best[1] - best[0]:
                best = start = begin, i
            begin = i + 1
    return start


def find(program, code, filled):
    """The offset in the file at which the library's code begins."""
    start, end = longest(filled)
    at = program.find(code[start:end])
    while at >= 0:
        base = at - start
        if base >= 0 and all(program[base + i] == code[i] or filled[i]
                             for i in range(len(code))):
            return base
        at = program.find(code[start:end], at + 1)
    return None


def main(words):
    """Print the tables."""
    library = member(pathlib.Path(words[0]).read_bytes(), OBJECT)
    parts = sections(library)
    code, filled = pattern(library, parts)
    names = [(n, v) for n, v in functions(library, parts)
             if n.startswith("_gfortran_caf_")]
    for path in words[1:]:
        program = pathlib.Path(path).read_bytes()
        base = find(program, code, filled)
        if base is None:
            print(f"{path}: the library is not in it", file=sys.stderr)
            continue
        _, address, offset, _, _ = sections(program)[".text"]
        for name, value in names:
            print(os.path.basename(path), base + value - offset + address,
                  name)


if __name__ == "__main__":
    main(sys.argv[1:])
