"""Tests that merging branches and folding BatchNorm reduce the number of ops and do not change results."""
import re

import families

from support import Case, tool


def convolutions(case, name):
    """Returns (convolutions, batch norms) in the nn dialect after the graph passes."""
    model, _ = families.ALL[name]()
    done = tool("ingot", "compile", case.save(model), "--emit=mlir-graph", "-o", "-")
    case.assertEqual(done.returncode, 0, done.stderr)
    return len(re.findall(r"nn\.conv\b", done.stdout)), len(re.findall(r"nn\.batch_norm\b", done.stdout))


class Merging(Case):
    """Counts the remaining ops; test_numerics checks the results."""

    def test_repvgg(self):
        self.assertEqual(convolutions(self, "repvgg"), (4, 0))

    def test_acnet(self):
        self.assertEqual(convolutions(self, "acnet"), (3, 0))

    def test_diverse_branch(self):
        self.assertEqual(convolutions(self, "diverse_branch"), (2, 0))

    def test_resnet_keeps_its_convolutions(self):
        self.assertEqual(convolutions(self, "resnet"), (12, 0))
