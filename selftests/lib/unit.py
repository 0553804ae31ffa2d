# SPDX-License-Identifier: GPL-2.0
"""Run Python test cases by module name; the last line says what failed.  What
they need is installed: one that is skipped is a failure, too.

usage: python3 unit.py MODULE...   from the folder that holds them
"""
import os
import sys
import unittest


def main(names):
    """Exit status 0 or 1."""
    sys.path.insert(0, os.getcwd())
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2,
                                     failfast=True).run(suite)
    for test, text in result.failures + result.errors + result.skipped:
        print(f"{test.id()}: {text.strip().splitlines()[-1]}")
    return bool(not result.wasSuccessful() or result.skipped or
                not result.testsRun)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
