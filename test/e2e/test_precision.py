"""Tests --precision=bf16: kernels on factors that bf16 holds exactly, and rounding otherwise."""
import json
import os
import re
import sys
import unittest
import unittest.mock

import numpy as np
from onnx import helper, numpy_helper

import support
from support import BIN, EMULATED, ROOT, make_model

sys.path.insert(0, os.path.join(ROOT, "test", "property"))

import cases as drawing  # noqa: E402
import harness  # noqa: E402
import integer  # noqa: E402

OPTIONS = ("--precision=bf16", "--keep=*=bf16")
# Relative to the largest value. A product of factors that bf16 holds is as exact as in f32, until it is stored for a
# following op. Then each rounding has an error of up to 2^-9, which the following ops may enlarge.
EXACT, ROUNDED = 1e-5, 4e-2


def rounded(array):
    """Rounds to bf16 and back."""
    if array.dtype != np.float32:
        return array
    bits = array.view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return np.ascontiguousarray(bits.astype(np.uint32).view(np.float32).reshape(array.shape))


class Kernels(support.Case):
    target = ""
    # The level that runs, if the artifact has several.
    level = None

    options = OPTIONS

    def check(self, kind, count):
        self.compare([drawing.draw(kind, number) for number in range(count)], kind)

    def test_attention(self):
        self.compare([drawing.draw("attention", number) for number in range(12)], "block")

    def compare(self, batch, kind):
        for case in batch:
            case.inputs = {name: rounded(array) for name, array in case.inputs.items()}
            case.weights = {name: rounded(array) for name, array in case.weights.items()}
            case.tolerance = EXACT if kind != "block" and case.text.endswith(":") else ROUNDED
        with unittest.mock.patch.dict(os.environ, {"INGOT_MAX_ISA": self.level} if self.level else {}):
            wrong = harness.check(BIN, batch, self.target, self.options)
        self.assertEqual([f"{case.name}: {what}\n{case.text}" for case, what in wrong], [])


class HalfWeights(support.Case):
    """--precision=fp16 on weights that f16 holds: as exact as f32, in any kernel."""
    target = "x86-64-v3"

    def check(self, kind, count):
        batch = [drawing.draw(kind, number) for number in range(count)]
        for case in batch:
            case.weights = {name: array.astype(np.float16).astype(np.float32) if array.dtype == np.float32 else array
                            for name, array in case.weights.items()}
            # Folding and Winograd change weights, which are rounded again. Tiles of 4x4 enlarge this error.
            if kind == "filter":
                case.tolerance = 2 ** -9
            elif " const" in case.text:
                case.tolerance = 2 ** -10
        wrong = harness.check(BIN, batch, self.target, ("--precision=fp16", "--keep=*=fp16"))
        self.assertEqual([f"{case.name}: {what}\n{case.text}" for case, what in wrong], [])

    def test_conv(self):
        self.check("conv", 16)

    def test_window(self):
        self.check("window", 16)

    def test_filter(self):
        self.check("filter", 12)

    def test_matmul(self):
        self.check("matmul", 12)

    def test_sequence(self):
        self.check("sequence", 12)


class HalfWeightsV4(HalfWeights):
    target = "x86-64-v4"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if "x86-64-v4" not in integer.supported(("x86-64-v4",)):
            raise unittest.SkipTest("no AVX-512")


class HalfWeightsV2(HalfWeights):
    target = "x86-64-v2"


class KernelsV3(Kernels):
    """bf16 is widened because another level of the artifact multiplies it."""
    target = "x86-64-v3,znver4"
    level = "x86-64-v3"

    def test_conv(self):
        self.check("conv", 24)

    def test_matmul(self):
        self.check("matmul", 16)

    def test_block(self):
        self.check("block", 8)


class KernelsNative(KernelsV3):
    target = "native"
    level = None


class KernelsV2(Kernels):
    target = "x86-64-v2,znver4"
    level = "x86-64-v2"

    def test_conv(self):
        self.check("conv", 8)


class KernelsEmulated(Kernels):
    """Kernels of vdpbf16ps, emulated on the highest level here."""
    target = "znver4"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        levels = integer.supported(("x86-64-v3", "x86-64-v4"))
        if not levels:
            raise unittest.SkipTest("no AVX2")
        cls.options = (*OPTIONS, f"--emulate-on={levels[-1]}")

    def test_conv(self):
        self.check("conv", 12)

    def test_matmul(self):
        self.check("matmul", 12)

    def test_drawn_schedules(self):
        for seed in (1, 2, 3):
            batch = [drawing.draw("attention", number) for number in range(8 * seed, 8 * seed + 8)]
            for case in batch:
                case.tolerance = ROUNDED
            wrong = harness.check(BIN, batch, self.target, (*self.options, f"--schedule-seed={seed}"))
            self.assertEqual([f"seed {seed}, {case.name}: {what}\n{case.text}" for case, what in wrong], [])

    def product(self, rows, depth, columns):
        rng = np.random.default_rng(rows)
        case = drawing.Case(f"product{rows}", text=f"matmul {rows} x {depth} x {columns}:", rank=2)
        x, w = f"{case.name}x", f"{case.name}w"
        case.inputs = {x: drawing.normal(rng, [rows, depth])}
        case.weights = {w: drawing.normal(rng, [depth, columns])}
        case.output = case.node("MatMul", [x, w])
        return case

    def test_long_rows(self):
        rng = np.random.default_rng(0)
        conv = drawing.Case("blocks", text="conv 7 x 7 x 515 -> 64, kernel 3:", rank=4)
        conv.inputs = {"blocksx": drawing.normal(rng, [1, 515, 7, 7])}
        conv.weights = {"blocksw": drawing.normal(rng, [64, 515, 3, 3])}
        conv.output = conv.node("Conv", ["blocksx", "blocksw"], kernel_shape=[3, 3], pads=[1] * 4)
        self.compare([conv], "conv")
        # Rows that collide in the cache are copied; few rows use blocks of weights.
        self.compare([self.product(28, 2048, 64), self.product(29, 2047, 40), self.product(7, 600, 512)], "matmul")


class Precision(support.Case):
    def model(self):
        rng = np.random.default_rng(0)
        nodes = [helper.make_node("MatMul", ["x", "w0"], ["a"], name="first"),
                 helper.make_node("Relu", ["a"], ["b"], name="relu"),
                 helper.make_node("MatMul", ["b", "w1"], ["y"], name="second")]
        weights = {name: (rng.standard_normal((64, 64)) / 8).astype(np.float32) for name in ("w0", "w1")}
        return make_model(nodes, [("x", [32, 64])], [("y", [32, 64])], weights), rng

    def test_rounds_and_stores_half(self):
        model, rng = self.model()
        inputs = {"x": rng.standard_normal((32, 64)).astype(np.float32)}
        whole = self.compile(model, "--kernels=native", name="whole")
        half = self.compile(model, "--kernels=native", *OPTIONS, *EMULATED, name="half")
        exact = self.assert_agrees(model, whole, inputs)["y"]
        got = self.assert_agrees(model, half, inputs, ROUNDED)["y"]
        self.assertGreater(np.abs(got - exact).max(), 1e-4 * np.abs(exact).max(), "nothing was rounded")
        stored = [json.loads(support.tool("ingot", "inspect", artifact, "--json").stdout)["weights_bytes"]
                  for artifact in (half, whole)]
        self.assertLessEqual(stored[0], stored[1] - 2 * 64 * 64 * 2)
        for artifact, precision in ((whole, "fp32"), (half, "bf16")):
            told = support.tool("ingot", "inspect", artifact)
            self.assertRegex(told.stdout, rf"(?m)^precision {precision}$")
            told = support.tool("ingot", "inspect", artifact, "--json")
            self.assertEqual(json.loads(told.stdout)["precisions"], ["bfloat16"] if precision == "bf16" else [])
            done = support.tool("ingot", "bench", artifact, "--json", "--iterations=2", "--duration=0", "--warm-up=0")
            self.assertEqual(json.loads(done.stdout)["precision"], precision, done.stderr)

    def test_numbers_that_bf16_rounds_to_infinity_or_nan(self):
        model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"], name="m")], [("x", [4, 2])],
                           [("y", [4, 2])], {"w": np.eye(2, dtype=np.float32)})
        x = np.array([[3.4e38, 0], [np.nan, 0], [-np.inf, 1], [1e-40, 1]], np.float32)
        got = self.run_model(self.compile(model, "--kernels=native", *OPTIONS, *EMULATED), {"x": x})["y"]
        self.assertTrue(np.isposinf(got[0, 0]) and np.isnan(got[1, 0]) and np.isneginf(got[2, 0]), got)
        self.assertEqual(got[3, 1], 1)

    def assembly(self, model, target):
        path = self.path(target + ".s")
        done = support.tool("ingot", "compile", self.save(model), "-o", path, "--emit=asm", "--kernels=native",
                            f"--target={target}", *OPTIONS)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path) as f:
            return f.read()

    def test_instructions(self):
        model, _ = self.model()
        for target, products in (("znver4", 2 * 11), ("sapphirerapids", 4)):
            text = self.assembly(model, target)
            # 32 rows are two tiles of 11 and one of 10, with two vectors, or 2 x 2 tiles of AMX: no product uses FMA.
            self.assertGreaterEqual(text.count("vdpbf16ps" if target == "znver4" else "tdpbf16ps"), products, target)
            self.assertIn("vcvtneps2bf16", text)
            self.assertNotIn("vfmadd", text)
        for target in ("x86-64-v3", "x86-64-v4"):
            text = self.assembly(model, target)
            self.assertNotIn("vdpbf16ps", text)
            self.assertNotIn("truncsfbf2", text)
            self.assertIn("vfmadd", text)

    def test_inner_loops(self):
        """A pair of bf16, loaded once into all lanes, is multiplied with both vectors of weights; sums stay in
        registers."""
        rng = np.random.default_rng(0)
        nodes = [helper.make_node("Conv", ["x", "k"], ["a"], kernel_shape=[3, 3], pads=[1] * 4, name="conv"),
                 helper.make_node("Reshape", ["a", "shape"], ["b"]),
                 # Rows of 4096 bytes are copied, because they would fall into one cache set.
                 helper.make_node("MatMul", ["b", "w"], ["y"], name="product")]
        weights = {"k": (rng.standard_normal((64, 64, 3, 3)) / 24).astype(np.float32),
                   "shape": np.array([98, 2048], np.int64),
                   "w": (rng.standard_normal((2048, 64)) / 45).astype(np.float32)}
        model = make_model(nodes, [("x", [1, 64, 56, 56])], [("y", [98, 64])], weights)
        text = self.assembly(model, "znver4")
        loops = [block for block in re.split(r"\n(?=\.LBB)", text)
                 if block.count("vdpbf16ps") >= 20
                 and re.search(rf"\tj\w+\s+{re.escape(block.split(':')[0])}\n", block)]
        self.assertGreaterEqual(len(loops), 2)
        for block in loops:
            loop = block[:re.search(r"\tj\w+", block).start()]
            self.assertEqual(loop.count("vdpbf16ps"), 2 * len(re.findall(r"vbroadcastss\s+-?\d*\(", loop)), loop)
            # A spilled value would be at a fixed offset of the stack pointer. The copied rows are not.
            self.assertNotRegex(loop, r"\(%rsp\)")

    def told(self, model, *options):
        layers = json.loads(support.tool("ingot", "inspect", "--json", self.compile(model, *options)).stdout)["layers"]
        return {node: layer["precision"] or "fp32" for layer in layers for node in layer["nodes"]}

    def test_rules_keep_nodes_wide(self):
        model, _ = self.model()
        path = self.path("rules.json")
        with open(path, "w") as f:
            json.dump({"ingot_rules": 1, "rules": [{"name": "sec*", "precision": "fp32"}]}, f)
        for options, wanted in (((), ("bf16", "bf16")), (("--keep=first=fp32",), ("fp32", "bf16")),
                                ((f"--rules={path}",), ("bf16", "fp32")), (("--keep=*=fp32",), ("fp32", "fp32")),
                                (("--keep=sec*=bf16", f"--rules={path}"), ("bf16", "bf16"))):
            for precision in ("bf16", "O1", "O2", "O3"):
                told = self.told(model, "--precision=" + precision, "--target=znver4", *options)
                self.assertEqual((told["first"], told["second"]), wanted, (precision, options))
        # The rule keeps all products in fp32, so that results are bit-equal to fp32.
        x = {"x": np.random.default_rng(1).standard_normal((32, 64)).astype(np.float32)}
        whole = self.run_model(self.compile(model, "--precision=O0", name="whole"), x)["y"]
        kept = self.run_model(self.compile(model, "--precision=O3", "--keep=*=fp32", name="kept"), x)["y"]
        np.testing.assert_array_equal(kept, whole)
        wide = "--target=znver4"  # has the instructions, so that no remark precedes the error
        self.assert_refuses(model, "--keep='first'", "GLOB=fp32", "GLOB=bf16",
                            options=("--precision=O2", "--keep=first", wide))
        self.assert_refuses(model, "--keep='first=int8'", "names int8", "compiled in bf16",
                            options=("--precision=bf16", "--keep=first=int8", wide))
        self.assert_refuses(model, "rule 'frist=fp32'", "similar names: 'first'",
                            options=("--precision=bf16", "--keep=frist=fp32", wide))
        with open(path, "w") as f:
            json.dump({"ingot_rules": 1, "rules": [{"name": "sec*", "precision": "int8"}]}, f)
        self.assert_refuses(model, "rules.json", "names int8", options=("--precision=bf16", f"--rules={path}", wide))
        for precision in ("fp32", "O0"):
            self.assert_refuses(model, "--keep is for", options=("--precision=" + precision, "--keep=first=fp32"))

    def test_fp16_weights(self):
        """Results are those of f32 products with weights rounded once to f16. Holds at every CPU level, also for small
        values."""
        model, rng = self.model()
        weights = {tensor.name: numpy_helper.to_array(tensor).copy() for tensor in model.graph.initializer}
        # Includes values that are denormal in f16, values halfway between two of them, and zeros.
        weights["w0"][:, :8] *= 2.0 ** -14
        weights["w0"][:, 8:12] *= 2.0 ** -26
        weights["w0"][::3, 12] = -0.0
        weights["w1"][0, 0] = 65519
        inputs = {"x": rng.standard_normal((32, 64)).astype(np.float32)}
        rounded_model, given = type(model)(), type(model)()
        for made, change in ((given, lambda w: w), (rounded_model, lambda w: w.astype(np.float16).astype(np.float32))):
            made.CopyFrom(model)
            for tensor in made.graph.initializer:
                tensor.CopyFrom(numpy_helper.from_array(change(weights[tensor.name]), tensor.name))
        for target in ("x86-64-v2", *integer.supported(("x86-64-v3", "x86-64-v4"))):
            half = self.compile(given, "--precision=fp16", "--keep=*=fp16", "--target=" + target, name=target)
            wanted = self.compile(rounded_model, "--target=" + target, name=target + "f32")
            got, want = (self.run_model(artifact, inputs)["y"] for artifact in (half, wanted))
            np.testing.assert_array_equal(got, want, target)
            self.assertLess(os.path.getsize(half), os.path.getsize(wanted) - 64 * 64 * 2)
            self.assertRegex(support.tool("ingot", "inspect", half).stdout, r"(?m)^precision fp16$")
        self.assertEqual(self.told(given, "--precision=fp16", "--keep=first=fp32", "--keep=*=fp16"), {
            "first": "fp32", "relu": "fp32", "second": "fp16"})

    def test_without_instructions(self):
        """If no level multiplies bf16, weights are stored as float16, and everything else is as in fp32."""
        rng = np.random.default_rng(5)
        nodes = [helper.make_node("MatMul", ["x", "w0"], ["a"], name="first"),
                 helper.make_node("Relu", ["a"], ["b"], name="relu"),
                 helper.make_node("Conv", ["b", "k"], ["c"], pads=[1] * 4, name="window"),
                 helper.make_node("MatMul", ["c", "w1"], ["y"], name="few")]
        weights = {"w0": rng.standard_normal((64, 64)) / 8, "k": rng.standard_normal((256, 256, 3, 3)) / 48,
                   "w1": rng.standard_normal((64, 16)) / 8}
        weights = {name: array.astype(np.float32) for name, array in weights.items()}
        large = make_model(nodes, [("x", [1, 256, 14, 64])], [("y", [1, 256, 14, 16])], weights)
        inputs = {"x": rng.standard_normal((1, 256, 14, 64)).astype(np.float32)}
        for target in ("x86-64-v2", *integer.supported(("x86-64-v3", "x86-64-v4"))):
            weights_only = self.compile(large, "--precision=fp16", "--target=" + target, name="fp16" + target)
            whole = self.compile(large, "--target=" + target, name="fp32" + target)
            for precision in ("bf16", "O1", "O2", "O3"):
                out = self.path(precision + target + ".so")
                done = support.tool("ingot", "compile", self.save(large), "-o", out, "--precision=" + precision,
                                    "--target=" + target, "--remarks")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("products in bf16 are computed in float32 with weights in float16: no level of --target", done.stderr)
                got = self.assert_agrees(large, out, inputs, 2.0 ** -10)["y"]
                np.testing.assert_array_equal(got, self.run_model(weights_only, inputs)["y"])
                self.assertLess(os.path.getsize(out), 0.6 * os.path.getsize(whole))
        # If a cache holds all weights, there is no gain, so nothing is rounded.
        small, rng = self.model()
        inputs = {"x": rng.standard_normal((32, 64)).astype(np.float32)}
        half, whole = (self.compile(small, "--precision=" + precision, "--target=x86-64-v3", name=precision)
                       for precision in ("O3", "fp32"))
        np.testing.assert_array_equal(self.run_model(half, inputs)["y"], self.run_model(whole, inputs)["y"])
        # If a single level multiplies bf16, all levels do so.
        self.assertEqual(set(self.told(small, "--precision=bf16", "--target=multi", "--keep=*=bf16").values()), {"bf16"})

    def check_wide(self, change, words):
        """The product whose weights were changed stays in fp32, and a warning says why."""
        model, rng = self.model()
        for tensor in model.graph.initializer:
            if tensor.name == "w1":
                array = numpy_helper.to_array(tensor).copy()
                change(array)
                tensor.CopyFrom(numpy_helper.from_array(array, "w1"))
        out = self.path("wide.so")
        done = support.tool("ingot", "compile", self.save(model), "-o", out, "--precision=fp16",
                            "--keep=*=fp16", "--target=x86-64-v3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, f"warning: .*second.*{words}.*stay float32")
        layers = json.loads(support.tool("ingot", "inspect", "--json", out).stdout)["layers"]
        told = {node: layer["precision"] or "fp32" for layer in layers for node in layer["nodes"]}
        self.assertEqual((told["first"], told["second"]), ("fp16", "fp32"))
        inputs = {"x": rng.standard_normal((32, 64)).astype(np.float32)}
        self.assert_agrees(model, out, inputs, 2.0 ** -9)

    def test_weights_beyond_fp16_stay_wide(self):
        def enlarge(array):
            array[3, 4] = -70000

        def shrink(array):
            array *= 2.0 ** -16 / np.abs(array).max()
        self.check_wide(enlarge, r" -7\.0+e\+04.*65504")
        self.check_wide(shrink, r" 1\.52.*e-05.*too few numbers")

    def test_levels(self):
        """O2 computes norms, softmax and means in f32. The error of each level is within the bound of its rounding."""
        rng = np.random.default_rng(2)
        nodes = [helper.make_node("MatMul", ["x", "w0"], ["a"], name="first"),
                 helper.make_node("LayerNormalization", ["a", "g"], ["n"], name="norm"),
                 helper.make_node("Softmax", ["n"], ["s"], name="softmax"),
                 helper.make_node("Add", ["s", "n"], ["r"], name="residual"),
                 helper.make_node("MatMul", ["r", "w1"], ["b"], name="second"),
                 helper.make_node("ReduceMean", ["b"], ["m"], axes=[1], keepdims=1, name="mean"),
                 helper.make_node("Sub", ["b", "m"], ["y"], name="centre")]
        weights = {name: (rng.standard_normal((64, 64)) / 8).astype(np.float32) for name in ("w0", "w1")}
        weights["g"] = np.ones(64, np.float32)
        model = make_model(nodes, [("x", [32, 64])], [("y", [32, 64])], weights, opset=17)
        inputs = {"x": rng.standard_normal((32, 64)).astype(np.float32)}
        self.assert_agrees(model, self.compile(model, "--precision=O0", name="O0"), inputs)
        results = {}
        for level in ("O1", "O2", "O3"):
            artifact = self.compile(model, "--precision=" + level, *EMULATED, name=level)
            results[level] = self.assert_agrees(model, artifact, inputs, ROUNDED)["y"]
            self.assertRegex(support.tool("ingot", "inspect", artifact).stdout, r"(?m)^precision bf16$")
        self.assertTrue((results["O2"] != results["O3"]).any(), "O2 stores what O3 stores")

    def test_needs_native_kernels(self):
        model, _ = self.model()
        for kernels in ("--kernels=onednn", "--kernels=auto"):
            self.assert_refuses(model, "--precision=bf16", kernels, options=(*OPTIONS, kernels))
        self.assert_refuses(model, "--precision", options=("--kernels=native", "--precision=fp8"))


del Kernels

if __name__ == "__main__":
    unittest.main()
