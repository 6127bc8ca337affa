"""Tests int8 kernels at every level of this machine: the first cases of test/property/integer.py."""
import os
import sys
import unittest

from support import BIN, ROOT

sys.path.insert(0, os.path.join(ROOT, "test", "property"))

import integer  # noqa: E402


class Integer(unittest.TestCase):
    def check(self, kind, seed=0):
        for target in integer.supported():
            # Only usual schedules are emulated.
            drawn = 0 if "@" in target else seed
            self.assertEqual(integer.check(BIN, [integer.draw(kind, n) for n in range(12)], target, drawn), [])

    def test_matmul(self):
        self.check("matmul")

    def test_conv(self):
        self.check("conv")

    def test_depthwise(self):
        self.check("depthwise")

    def test_filter(self):
        self.check("filter")

    def test_filter_with_drawn_schedules(self):
        self.check("filter", seed=1)
