"""Tests native kernels on random models: the first cases of `make property`."""
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
    """Tests one CPU level; each level is a separate class, so that they run at the same time."""
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
    """Tiles of any height, tasks of any size, every kind of product: results are right for any schedule."""

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
        """Ops that reduce rows, channels and groups, and tasks on two threads."""
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


class ManyBorders(Case):
    """Convolutions with so many or so distant taps that most tiles of a row read padding: dilated, strided and grouped,
    1-D and 2-D, followed by a residual."""
    PRECISIONS = {"fp32": TOLERANCE, "bf16": 3e-2, "int8-dynamic": 5e-2}

    def test(self):
        rng = np.random.default_rng(5)
        for channels, out, groups, taps, dilation, stride, size, rank in (
                (32, 32, 1, 11, 5, 1, 61, 1), (16, 40, 1, 7, 5, 1, 50, 1), (3, 16, 1, 21, 1, 2, 90, 1), (64, 64, 4, 11, 3, 1, 45, 1),
                (32, 24, 1, 11, 2, 1, 33, 2), (8, 8, 1, 9, 4, 1, 20, 2)):
            kernel = [taps] if rank == 1 else [2, taps]
            pads = [0] * (rank - 1) + [dilation * (taps // 2)]
            weight = (rng.standard_normal((out, channels // groups, *kernel)) / np.sqrt(channels * taps / groups)).astype(np.float32)
            shape = [1, channels] + [3] * (rank - 1) + [size]
            conv = helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv", pads=[*pads, *pads], group=groups,
                                    dilations=[1] * (rank - 1) + [dilation], strides=[1] * (rank - 1) + [stride])
            model = make_model([conv, helper.make_node("LeakyRelu", ["c"], ["r"], name="leaky"),
                                helper.make_node("Add", ["r", "c"], ["y"], name="residual")], [("x", shape)], [("y", None)],
                               {"w": weight, "b": rng.standard_normal(out).astype(np.float32)})
            inputs = {"x": rng.standard_normal(shape).astype(np.float32)}
            for precision, tolerance in self.PRECISIONS.items():
                forced = [] if precision == "fp32" else [f"--keep=*={precision.removesuffix('-dynamic')}"]
                for target in ("x86-64-v2", "x86-64-v3", "native"):
                    with self.subTest(channels=channels, taps=taps, dilation=dilation, rank=rank, precision=precision, target=target):
                        artifact = self.compile(model, "--kernels=native", f"--precision={precision}", f"--target={target}", *forced)
                        self.assert_agrees(model, artifact, inputs, tolerance)


class EqualColumns(Case):
    """Columns with equal weights have bit-equal sums in all tiles. A softmax of large sums would show differences."""

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
    """The guard pages themselves must find a bad access."""

    def test_finds_a_read_behind_an_input(self):
        case = drawing.draw("matmul", 2)
        folder = self.path("run")
        os.makedirs(folder)
        artifact = self.compile(drawing.make_model([case]), "--kernels=native")
        # Calls the model with an input that is one row too short.
        inputs = {name: array[:-1] if array.ndim == 2 else array for name, array in case.inputs.items()}
        outputs = harness.expected(drawing.make_model([case]), case.inputs)
        with self.assertRaisesRegex(harness.Broken, "touches a byte [0-9]+ behind input"):
            harness.run_guarded(BIN, artifact, folder, inputs, outputs)


class GuardedV3(Case):
    """Whole models between guard pages, on one thread and on two: one run of each family."""
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
