#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Programs of Debian's packages, as works.cc's are of papers.

usage: packages.py linpack|learn MIB GROUP

linpack solves a system of equations by LAPACK's dgesv; what is left of it is
measured as HPL does.  learn is scikit-learn's SGDClassifier on points that a
plane separates.  For each line of input a child enters the control group,
works, and says "PROGRAM right|wrong sum N faults N cpu_us N wall_ms N"; so what
has been imported is not the group's, and is imported once.
"""
import os
import resource
import sys
import time
import zlib

import numpy


def linpack(size):
    """(right, result); the matrix is there twice, dgesv overwrites one."""
    n = int((size / 16) ** 0.5)
    draw = numpy.random.default_rng(1)
    a = draw.random((n, n)) - 0.5
    b = draw.random(n) - 0.5
    x = numpy.linalg.solve(a, b)
    scale = abs(a).sum(axis=1).max() * abs(x).max() + abs(b).max()
    left = abs(a @ x - b).max() / (numpy.finfo(float).eps * scale * n)
    return left < 16, x


def learn(size):
    """(right, what has been learnt)."""
    draw = numpy.random.default_rng(1)
    points = draw.standard_normal((size // 256, 32))
    side = points @ draw.standard_normal(32) > 0
    model = linear_model.SGDClassifier(max_iter=2, tol=None, random_state=1)
    model.fit(points, side)
    return model.score(points, side) > 0.9, model.coef_


PROGRAMS = {"linpack": linpack, "learn": learn}
if sys.argv[1:2] == ["learn"]:
    from sklearn import linear_model


def child(name, size, group):
    """In the group: all that it says, and its exit status."""
    with open(group + "/cgroup.procs", "w", encoding="ascii") as file:
        file.write("0")
    begun = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_SELF)
    right, result = PROGRAMS[name](size)
    wall = time.monotonic() - begun
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    print(name, "right" if right else "wrong", "sum",
          zlib.crc32(numpy.ascontiguousarray(result)), "faults",
          used.ru_majflt - before.ru_majflt, "cpu_us", round(cpu * 1e6),
          "wall_ms", round(wall * 1e3), flush=True)
    return not right


def main(name, mib, group):
    """A child for each line."""
    for _ in sys.stdin:
        pid = os.fork()
        if not pid:
            os._exit(child(name, int(mib) << 20, group))
        if os.waitpid(pid, 0)[1]:
            print("killed", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
