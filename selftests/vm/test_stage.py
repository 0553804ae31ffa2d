# SPDX-License-Identifier: GPL-2.0
"""stage: what goes into a machine is the same wherever it was built."""
import unittest

import stage


class Contents(unittest.TestCase):
    """What fingerprint() hashes: a checkpoint is used by every clone."""

    def test_no_path_of_this_clone(self):
        here = str(stage.TOP).encode()
        installed = [p for p in (stage.BUILD / "stage").rglob("*")
                     if p.is_file()]
        self.assertTrue(installed)
        modules = list((stage.BUILD / "modules-test").rglob("*.ko"))
        self.assertTrue(modules)
        for path in [*stage.guest_files(), *modules, *installed]:
            with self.subTest(path=path):
                self.assertNotIn(here, path.read_bytes())
