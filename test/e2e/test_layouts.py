"""Random graphs of ops that move, reduce and mix dimensions: the first cases of this kind in `make property`."""
import os
import sys

from support import BIN, ROOT, Case

sys.path.insert(0, os.path.join(ROOT, "test", "property"))

import cases as drawing  # noqa: E402
import harness  # noqa: E402

BATCH = 30  # graphs per model


class Layouts(Case):
    """Ten batches in two classes, so that they run at the same time."""
    first = 0

    def test_graphs(self):
        for start in range(self.first, self.first + 150, BATCH):
            with self.subTest(start=start):
                batch = [drawing.draw("layout", number) for number in range(start, start + BATCH)]
                wrong = harness.check(BIN, batch, "native")
                self.assertEqual([f"{case.name}: {what}\n{case.text}" for case, what in wrong], [])


class MoreLayouts(Layouts):
    first = 150
