"""Native kernels on random models: the first cases of `make property`."""
import os
import sys

import numpy as np
from onnx import helper

import families
from support import BIN, ROOT, TOLERANCE, Case, make_model

sys.path.insert(0, os.path.join(ROOT, "test", "property"))

import cases as drawing  # noqa: E402
import harness  # noqa: E402

CONVS, WINDOWS, DECONVS, MATMULS, RESIZES, RECURRENTS, BLOCKS, ATTENTIONS = 14, 10, 10, 10, 10, 8, 6, 12
SEQUENCES = 16
FILTERS = 16


class Kernels(Case):
    """Of one CPU level; each is a class of its own, so that they run at the same time."""
    target = ""

    def check(self, kind, count):
        batch = [drawing.draw(kind, number) for number in range(count)]
        wrong = harness.check(BIN, batch, self.target)
        self.assertEqual([f"{case.name}: {what}\n{case.text}" for case, what in wrong], [])


class KernelsV3(Kernels):
    target = "x86-64-v3"

    def test_conv(self):
        self.check("conv", CONVS)

    def test_window(self):
        self.check("window", WINDOWS)

    def test_filter(self):
        self.check("filter", FILTERS)

    def test_deconv(self):
        self.check("deconv", DECONVS)

    def test_matmul(self):
        self.check("matmul", MATMULS)

    def test_resize(self):
        self.check("resize", RESIZES)

    def test_recurrent(self):
        self.check("recurrent", RECURRENTS)

    def test_sequence(self):
        self.check("sequence", SEQUENCES)

    def test_block(self):
        self.check("block", BLOCKS)

    def test_attention(self):
        self.check("attention", ATTENTIONS)


class KernelsNative(KernelsV3):
    target = "native"


class DrawnSchedules(Case):
    """Tiles of any height, tasks of any size, every kind of product: the numbers are right, however odd a schedule is."""

    def check(self, kind, target, *options):
        for seed in range(1, 4):
            batch = [drawing.draw(kind, number) for number in range(6 * seed, 6 * seed + 6)]
            wrong = harness.check(BIN, batch, target, (f"--schedule-seed={seed}", *options))
            self.assertEqual([f"seed {seed}, {case.name}: {what}\n{case.text}" for case, what in wrong], [])

    def test_conv(self):
        self.check("conv", "x86-64-v3")

    def test_filter(self):
        self.check("filter", "x86-64-v3")

    def test_matmul(self):
        self.check("matmul", "native")

    def test_attention(self):
        self.check("attention", "native")

    def test_block(self):
        self.check("block", "x86-64-v3")

    def test_families(self):
        """What has rows, channels and groups to reduce, too, and tasks on two threads."""
        for seed, name in enumerate(("vit", "segmentation", "shufflenet_v2"), 1):
            model, runs = families.ALL[name]()
            artifact = self.compile(model, "--weights=file", "--target=x86-64-v3", f"--schedule-seed={seed}", name=name)
            folder = self.path("run-" + name)
            os.makedirs(folder)
            inputs = {value.name: runs[-1][value.name] for value in model.graph.input}
            wanted = harness.expected(model, inputs)
            got, notes = harness.run_guarded(BIN, artifact, folder, inputs, wanted)
            self.assertEqual(notes, [])
            for output, array in wanted.items():
                self.assertEqual(harness.error_of(got[output], array, TOLERANCE), "", f"{name} {output}")


class EqualColumns(Case):
    """Columns of equal weights have equal sums, whichever tile they are in: a softmax of large ones tells."""

    def test_matmul(self):
        rng = np.random.default_rng(3)
        for rows, columns in ((1, 1000), (1, 40), (2, 41), (3, 1000), (5, 77), (17, 49)):
            weights = np.repeat(rng.standard_normal((515, 1)).astype(np.float32), columns, axis=1)
            model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"], name="product")],
                               [("x", [rows, 515])], [("y", [rows, columns])], {"w": weights})
            x = rng.standard_normal((rows, 515)).astype(np.float32)
            for target in ("x86-64-v3", "native"):
                with self.subTest(rows=rows, columns=columns, target=target):
                    artifact = self.compile(model, "--kernels=native", f"--target={target}")
                    y = self.run_model(artifact, {"x": x})["y"]
                    np.testing.assert_array_equal(y, np.repeat(y[:, :1], columns, axis=1))


class GuardPages(Case):
    """What finds a bad access must itself be seen to find one."""

    def test_finds_a_read_behind_an_input(self):
        case = drawing.draw("matmul", 2)
        folder = self.path("run")
        os.makedirs(folder)
        artifact = self.compile(drawing.make_model([case]), "--kernels=native")
        # The plan's input is a row short of what the model reads.
        inputs = {name: array[:-1] if array.ndim == 2 else array for name, array in case.inputs.items()}
        outputs = harness.expected(drawing.make_model([case]), case.inputs)
        with self.assertRaisesRegex(harness.Broken, "touches a byte [0-9]+ behind input"):
            harness.run_guarded(BIN, artifact, folder, inputs, outputs)


class GuardedV3(Case):
    """Whole models between guard pages, on one thread and on two: the families, one run each."""
    target = "x86-64-v3"


class GuardedNative(GuardedV3):
    target = "native"


def guarded_test(name):
    def test(self):
        model, runs = families.ALL[name]()
        artifact = self.compile(model, "--weights=file", f"--target={self.target}")
        os.makedirs(self.path("run"))
        inputs = {value.name: runs[-1][value.name] for value in model.graph.input}
        wanted = harness.expected(model, inputs)
        got, notes = harness.run_guarded(BIN, artifact, self.path("run"), inputs, wanted)
        self.assertEqual(notes, [])
        for output, want in wanted.items():
            self.assertEqual(harness.error_of(got[output], want, TOLERANCE), "", output)
    return test


for _name in families.ALL:
    setattr(GuardedV3, "test_" + _name, guarded_test(_name))

del Kernels
