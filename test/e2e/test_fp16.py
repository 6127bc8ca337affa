"""Tests --precision=fp16 on CPUs that multiply f16: products of f16, a few of which are added as f16, and storage
between products."""
import json
import os
import re
import sys
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import support
from support import BIN, ROOT, make_model

sys.path.insert(0, os.path.join(ROOT, "test", "property"))

import cases as drawing  # noqa: E402
import harness  # noqa: E402
import integer  # noqa: E402

LEVEL = "avx512fp16"
OPTIONS = ("--precision=fp16", f"--target={LEVEL}")
# Error relative to the largest value. Factors, and sums of 64 products, are rounded to 11 bits.
ROUNDED = 2.0 ** -8


def has_level():
    with open("/proc/cpuinfo") as f:
        return "avx512_fp16" in f.read()


class Kernels(support.Case):
    """Tests kernels of AVX512-FP16, emulated if the CPU lacks it."""
    options = ("--precision=fp16",)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if has_level():
            return
        levels = integer.supported(("x86-64-v3", "x86-64-v4"))
        if not levels:
            raise unittest.SkipTest("no AVX2")
        cls.options = (*cls.options, f"--emulate-on={levels[-1]}")

    def compare(self, batch, *options):
        for case in batch:
            case.tolerance = ROUNDED if case.text.endswith(":") else 4 * ROUNDED
        wrong = harness.check(BIN, batch, LEVEL, (*self.options, *options))
        self.assertEqual([f"{case.name}: {what}\n{case.text}" for case, what in wrong], [])

    def check(self, kind, count):
        self.compare([drawing.draw(kind, number) for number in range(count)])

    def test_conv(self):
        self.check("conv", 24)

    def test_filter(self):
        self.check("filter", 8)

    def test_matmul(self):
        self.check("matmul", 16)

    def test_block(self):
        self.check("block", 8)

    def product(self, rows, depth, columns):
        rng = np.random.default_rng(rows)
        case = drawing.Case(f"product{rows}x{depth}", text=f"matmul {rows} x {depth} x {columns}:", rank=2)
        x, w = f"{case.name}x", f"{case.name}w"
        case.inputs = {x: drawing.normal(rng, [rows, depth])}
        case.weights = {w: drawing.normal(rng, [depth, columns])}
        case.output = case.node("MatMul", [x, w])
        return case

    def conv(self, channels, pixels, kernel, outputs=64, **window):
        rng = np.random.default_rng(channels)
        case = drawing.Case(f"conv{channels}k{kernel}o{outputs}", rank=4,
                            text=f"conv {pixels} x {pixels} x {channels} -> {outputs}, kernel {kernel}:")
        x, w = f"{case.name}x", f"{case.name}w"
        case.inputs = {x: drawing.normal(rng, [1, channels, pixels, pixels])}
        case.weights = {w: drawing.normal(rng, [outputs, channels // window.get("group", 1), kernel, kernel])}
        case.output = case.node("Conv", [x, w], kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4, **window)
        return case

    def test_sizes(self):
        """Even and odd blocks of k, an odd last k, tiles of one vector, few rows, rows in one cache set, and short rows
        with blocks of weights."""
        self.compare([self.product(28, 2048, 64), self.product(29, 2047, 40), self.product(7, 600, 512),
                      self.product(1, 333, 96), self.product(5, 65, 16), self.product(40, 64, 33),
                      self.product(3, 127, 31)])
        self.compare([self.conv(64, 9, 3), self.conv(48, 14, 3, outputs=40), self.conv(33, 7, 5, outputs=17),
                      self.conv(515, 7, 3), self.conv(130, 8, 1), self.conv(64, 15, 3, outputs=96, strides=[2, 2]),
                      self.conv(96, 10, 3, outputs=64, dilations=[2, 2]), self.conv(128, 9, 3, group=2)])

    def test_drawn_schedules(self):
        batch = [self.conv(64, 9, 3), self.conv(37, 12, 1, outputs=72), self.product(29, 200, 64)]
        for seed in range(1, 7):
            self.compare(batch, f"--schedule-seed={seed}")


class Products(support.Case):
    def setUp(self):
        super().setUp()
        self.options = OPTIONS
        if not has_level():
            levels = integer.supported(("x86-64-v3", "x86-64-v4"))
            if not levels:
                self.skipTest("no AVX2")
            self.options = (*OPTIONS, f"--emulate-on={levels[-1]}")

    def model(self, sizes=(256, 256), scales=(1, 1), rows=32):
        rng = np.random.default_rng(0)
        nodes = [helper.make_node("MatMul", ["x", "w0"], ["a"], name="first"),
                 helper.make_node("Relu", ["a"], ["b"], name="relu"),
                 helper.make_node("MatMul", ["b", "w1"], ["y"], name="second")]
        depth, hidden = sizes
        weights = {"w0": rng.standard_normal((depth, hidden)) * scales[0] / depth ** 0.5,
                   "w1": rng.standard_normal((hidden, 64)) * scales[1] / hidden ** 0.5}
        weights = {name: array.astype(np.float32) for name, array in weights.items()}
        model = make_model(nodes, [("x", [rows, depth])], [("y", [rows, 64])], weights)
        return model, rng.standard_normal((rows, depth)).astype(np.float32)

    def errors(self, model, inputs, *options):
        """Returns the root mean square of the error, relative to that of the values."""
        exact = self.run_model(self.compile(model, "--precision=fp32", "--target=x86-64-v3", name="whole"), inputs)["y"]
        got = self.run_model(self.compile(model, *options, name="half"), inputs)["y"]
        self.assertTrue(np.isfinite(got).all())
        return float(np.sqrt(((got - exact) ** 2).mean() / (exact ** 2).mean()))

    def test_more_exact_than_bf16(self):
        for depth in (64, 256, 4096):
            with self.subTest(depth):
                model, x = self.model((depth, depth))
                half = self.errors(model, {"x": x}, *self.options)
                other = self.errors(model, {"x": x}, "--precision=bf16", "--target=x86-64-v3,znver4")
                self.assertGreater(half, 1e-5, "nothing was rounded")
                self.assertLess(half, 0.8 * other)
                self.assertLess(half, 2.0 ** -9)

    def test_terms_of_one_sign(self):
        """Each f16 sum grows steadily and becomes as large as possible."""
        model, x = self.model((4096, 64))
        for tensor in model.graph.initializer:
            tensor.CopyFrom(numpy_helper.from_array(np.abs(numpy_helper.to_array(tensor)), tensor.name))
        self.assertLess(self.errors(model, {"x": np.abs(x)}, *self.options), 2.0 ** -9)

    def test_no_sum_is_beyond_float16(self):
        """Any f16 values may be multiplied by weights of any size, because weights are scaled per column."""
        rng = np.random.default_rng(1)
        w = rng.standard_normal((256, 64)).astype(np.float32)
        w[:, :16] *= 1e9
        w[:, 16:32] *= 1e-9
        w[:, 32] = 0
        w[3, 33] = -1e25
        model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"], name="only")], [("x", [16, 256])],
                           [("y", [16, 64])], {"w": w})
        for scale in (65504, 1, 1e-3):
            x = (np.sign(rng.standard_normal((16, 256))) * rng.uniform(0.5, 1, (16, 256)) * scale).astype(np.float32)
            wanted = x.astype(np.float64) @ w.astype(np.float64)
            got = self.run_model(self.compile(model, *self.options, name=f"s{scale}"), {"x": x})["y"]
            held = np.abs(wanted) < 3e38
            self.assertTrue(np.isfinite(got[held]).all())
            sizes = np.abs(x).astype(np.float64) @ np.abs(w).astype(np.float64)
            self.assertLess((np.abs(got - wanted)[held] / (sizes + 1e-30)[held]).max(), 2.0 ** -10)

    def test_weights_that_are_no_numbers_stay_wide(self):
        model, x = self.model()
        for tensor in model.graph.initializer:
            if tensor.name == "w1":
                array = numpy_helper.to_array(tensor).copy()
                array[3, 4] = np.inf
                tensor.CopyFrom(numpy_helper.from_array(array, "w1"))
        out = self.path("inf.so")
        done = support.tool("ingot", "compile", self.save(model), "-o", out, *self.options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"warning: .*second.*float16 does not hold, however.*: it stays float32")
        self.assertEqual(self.told(out)["second"], "fp32")

    def told(self, artifact):
        layers = json.loads(support.tool("ingot", "inspect", "--json", artifact).stdout)["layers"]
        return {node: layer["precision"] or "fp32" for layer in layers for node in layer["nodes"]}

    def test_rules_keep_nodes_wide(self):
        model, x = self.model()
        kept = self.compile(model, *self.options, "--keep=second=fp32", name="kept")
        self.assertEqual(self.told(kept), {"first": "fp16", "relu": "fp16", "second": "fp32"})
        whole = self.compile(model, "--precision=fp32", "--target=x86-64-v4", name="O0")
        all_kept = self.compile(model, *OPTIONS, "--keep=*=fp32", name="none")
        if has_level():
            np.testing.assert_array_equal(self.run_model(all_kept, {"x": x})["y"], self.run_model(whole, {"x": x})["y"])

    def text(self, model, kind, *options):
        path = self.path("text." + kind)
        done = support.tool("ingot", "compile", self.save(model), "-o", path, f"--emit={kind}", "--kernels=native",
                            *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path) as f:
            return f.read()

    def test_stores_half_between_products(self):
        model, _ = self.model((256, 512))
        text = self.text(
            model, "mlir-linalg", *OPTIONS)
        self.assertRegex(text, r"cpu\.matmul .*outs\(%\S+ : tensor<32x512xf16>\)")
        # The result keeps the type that the model declares.
        self.assertRegex(text, r"cpu\.matmul .*outs\(%\S+ : tensor<32x64xf32>\)")

    def test_instructions(self):
        model, _ = self.model()
        text = self.text(model, "asm", *OPTIONS)
        loops = [block for block in re.split(r"\n(?=\.LBB)", text)
                 if block.count("vfmadd231ph") + block.count("vfmadd213ph") >= 20
                 and re.search(rf"\tj\w+\s+{re.escape(block.split(':')[0])}\n", block)]
        self.assertGreaterEqual(len(loops), 1)
        for block in loops:
            loop = block[:re.search(r"\tj\w+", block).start()]
            # The sums of the loop stay in registers.
            self.assertNotRegex(loop, r"vmov\S+\s+%zmm\d+, -?\d*\(%rsp\)")
        for target in ("x86-64-v3", "x86-64-v4", "znver4", "x86-64-v4," + LEVEL):
            emitted = self.compile(model, "--precision=fp16", "--keep=*=fp16", "--target=" + target, name="wide")
            self.assertEqual(self.told(emitted)["first"], "fp16")
        # If one of the levels does not multiply f16, all levels are as exact as their weights.
        self.assertNotIn("vfmadd231ph", self.text(model, "asm", "--precision=fp16", "--target=x86-64-v4"))
        done = support.tool("ingot", "compile", self.save(model), "-o", self.path("both.so"), "--precision=fp16",
                            "--target=x86-64-v4," + LEVEL, "--remarks")
        self.assertIn("float16 weights are multiplied as float32: x86-64-v4 has no arithmetic on float16", done.stderr)

    def test_model_stored_in_float16(self):
        """Weights that the model stores as f16 are multiplied as f16 on request."""
        rng = np.random.default_rng(4)
        weights = {"k": rng.standard_normal((64, 64, 3, 3)) / 24, "d": rng.standard_normal((64, 1, 3, 3)) / 3,
                   "w": rng.standard_normal((64, 32)) / 8}
        x = rng.standard_normal((1, 64, 12, 12)).astype(np.float16)
        models = []
        for element, dtype in ((TensorProto.FLOAT, np.float32), (TensorProto.FLOAT16, np.float16)):
            nodes = [helper.make_node("Conv", ["x", "k"], ["a"], pads=[1] * 4, name="conv"),
                     helper.make_node("Relu", ["a"], ["b"], name="relu"),
                     helper.make_node("Conv", ["b", "d"], ["c"], pads=[1] * 4, group=64, name="depthwise"),
                     helper.make_node("GlobalAveragePool", ["c"], ["p"], name="pool"),
                     helper.make_node("Flatten", ["p"], ["f"], name="flatten"),
                     helper.make_node("MatMul", ["f", "w"], ["y"], name="product")]
            graph = helper.make_graph(
                nodes, "stored", [helper.make_tensor_value_info("x", element, [1, 64, 12, 12])],
                [helper.make_tensor_value_info("y", element, [1, 32])],
                [numpy_helper.from_array(array.astype(np.float16).astype(dtype), name)
                 for name, array in weights.items()])
            models.append(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
        want = self.run_model(self.compile(models[0], name="wide"), {"x": x.astype(np.float32)})["y"]
        half = self.compile(models[1], *self.options, name="half")
        got = self.run_model(half, {"x": x})["y"]
        self.assertEqual(got.dtype, np.float16)
        self.assertLess(np.abs(got.astype(np.float32) - want).max(), ROUNDED * np.abs(want).max())
        text = self.text(models[1], "mlir-linalg", *OPTIONS, "--winograd=false")
        self.assertRegex(text, r"cpu\.conv ins\(%\S+, %\S+ : tensor<1x12x12x64xf16>")
        self.assertRegex(text, r"cpu\.depthwise_conv ins\(%\S+, %\S+ : tensor<1x12x12x64xf16>")

    def test_masks(self):
        """Computation with a value beyond f16 stays f32."""
        rng = np.random.default_rng(3)
        nodes = [helper.make_node("MatMul", ["x", "w0"], ["a"], name="first"),
                 helper.make_node("Where", ["keep", "a", "low"], ["m"], name="mask"),
                 helper.make_node("Max", ["m", "x"], ["n"], name="max"),
                 helper.make_node("MatMul", ["n", "w1"], ["y"], name="second")]
        weights = {name: (rng.standard_normal((64, 64)) / 8).astype(np.float32) for name in ("w0", "w1")}
        weights["low"] = np.array(-1e30, np.float32)
        weights["keep"] = rng.random((32, 64)) < 0.5
        model = make_model(nodes, [("x", [32, 64])], [("y", [32, 64])], weights)
        x = rng.standard_normal((32, 64)).astype(np.float32)
        self.assert_agrees(model, self.compile(model, *self.options), {"x": x}, 2.0 ** -8)

    def test_calibration(self):
        """Tensors whose calibrated range exceeds half of f16's range stay f32, with a message."""
        model, x = self.model((256, 256), scales=(1, 1e-4))
        samples = self.path("samples.npz")
        np.savez(samples, x=x * 40000)
        ranges = self.path("ranges.json")
        done = support.tool("ingot", "calibrate", self.save(model), "--data", samples, "-o", ranges)
        self.assertEqual(done.returncode, 0, done.stderr)
        out = self.path("kept.so")
        done = support.tool("ingot", "compile", self.save(model), "-o", out, *self.options, f"--calibration={ranges}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"warning: .*second.*reads '.*', which was up to .* stays float32")
        self.assertEqual(self.told(out)["second"], "fp32")
        small = self.path("small.npz")
        np.savez(small, x=x)
        done = support.tool("ingot", "calibrate", self.save(model), "--data", small, "-o", ranges)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = support.tool("ingot", "compile", self.save(model), "-o", out, *self.options, f"--calibration={ranges}")
        self.assertNotIn("stays float32", done.stderr)
        self.assertEqual(self.told(out), {"first": "fp16", "relu": "fp16", "second": "fp16"})
        # If only weights are float16, ranges do not matter.
        done = support.tool("ingot", "compile", self.save(model), "-o", out, "--precision=fp16", "--target=x86-64-v3",
                            f"--calibration={ranges}")
        self.assertIn("--calibration has no effect", done.stderr)


if __name__ == "__main__":
    unittest.main()
