# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights of 2, 4 and 8 bits in blocks: MatMulNBits and DequantizeLinear, at every CPU level."""
import json
import os
import sys

import numpy as np

import microsoft
from support import BIN, ROOT, Case, TensorProto, have, helper, make_model, peer, tool
from test_levels import cap

sys.path.insert(0, os.path.join(ROOT, "test", "property"))

import harness  # noqa: E402
import integer  # noqa: E402

# Keeps few weights of several rows packed, which are floats otherwise.
PACKED = "--optimize=size"
LEVELS = [level for level in integer.supported() if level in ("x86-64-v2", "x86-64-v3", "x86-64-v4")]


def inspect(artifact):
    return json.loads(tool("ingot", "inspect", "--json", artifact).stdout)


def check_guarded(case, seed, model, feeds):
    """No level reads behind the end of a buffer. All levels give the results of the last level."""
    want = case.run_model(case.compile(model, PACKED, "--target", LEVELS[-1]), feeds)
    for level in LEVELS:
        artifact = case.compile(model, PACKED, "--weights=file", "--target", level)
        got, notes = harness.run_guarded(BIN, artifact, case.dir, feeds, want)
        with case.subTest(seed=seed, level=level):
            case.assertEqual(notes, [])
            np.testing.assert_allclose(got["y"], want["y"], atol=1e-4 * np.abs(want["y"]).max())


class MatMulNBits(Case):
    def check(self, seeds, *options, dynamic=False):
        for seed in seeds:
            drawer = microsoft.Drawer(seed)
            model, feeds = drawer.matmul_nbits(dynamic)
            weights, bias = drawer.unpacked
            want = feeds["a"].astype(np.float64) @ weights.T + (0 if bias is None else bias)
            artifact = self.compile(model, "--target", ",".join(LEVELS), *options)
            for level in LEVELS:
                with cap(level), self.subTest(seed=seed, level=level):
                    got = self.run_model(artifact, feeds)["y"]
                    np.testing.assert_allclose(got, want, atol=2e-6 * np.abs(feeds["a"]).max() *
                                               np.abs(weights).sum(1).max() + 1e-6)

    def test_random(self):
        self.check(range(12), PACKED)

    def test_as_floats(self):
        """Few weights of several rows are multiplied as floats."""
        self.check(range(12, 20))

    def test_open_rows(self):
        self.check(range(100, 108), dynamic=True)

    def test_schedules(self):
        for seed in range(1, 7):
            self.check([200 + seed], f"--schedule-seed={seed}", PACKED, dynamic=seed % 2 == 0)

    def test_against_onnxruntime(self):
        for seed in range(300, 306):
            model, feeds = microsoft.Drawer(seed).matmul_nbits()
            want = peer(model).run(None, feeds)[0]
            got = self.run_model(self.compile(model), feeds)["y"]
            with self.subTest(seed=seed):
                np.testing.assert_allclose(got, want, atol=1e-5 * np.abs(want).max())

    def test_rows_in_another_order(self):
        """g_idx gives the block of each row, as GPTQ writes it with act_order."""
        rng = np.random.default_rng(5)
        for bits, depth, block in ((4, 160, 32), (8, 70, 16), (2, 64, 64), (4, 50, 16)):
            blocks, per_byte = -(-depth // block), 8 // bits
            codes = rng.integers(0, 1 << bits, (6, blocks * block), np.uint8)
            split = codes.reshape(6, blocks, -1, per_byte)
            packed = sum((split[..., i] << (bits * i)).astype(np.uint8) for i in range(per_byte)).astype(np.uint8)
            scales = np.exp(rng.uniform(-4, -3, (6, blocks))).astype(np.float32)
            zeros = rng.integers(0, 1 << bits, (6, blocks)).astype(np.float32)
            for groups in (np.arange(depth) // block, rng.permutation(np.arange(depth) // block)):
                groups = groups.astype(np.int32)
                model, feeds = microsoft.make(
                    "MatMulNBits", [("a", rng.standard_normal((3, depth)).astype(np.float32)), ("b", packed),
                                    ("s", scales), ("z", zeros), ("g", groups)], [("y", np.float32, 2)],
                    {"b", "s", "z", "g"}, K=depth, N=6, bits=bits, block_size=block)
                weights = (codes[:, :depth] - zeros[:, groups].astype(np.float64)) * scales[:, groups]
                want = feeds["a"].astype(np.float64) @ weights.T
                got = self.run_model(self.compile(model), feeds)["y"]
                with self.subTest(bits=bits, depth=depth, groups=groups):
                    np.testing.assert_allclose(got, want, atol=1e-5 * np.abs(want).max())

    def test_loops(self):
        """The run unpacks weights for products without a kernel."""
        drawer = microsoft.Drawer(7)
        model, feeds = drawer.matmul_nbits()
        weights, bias = drawer.unpacked
        want = feeds["a"].astype(np.float64) @ weights.T + (0 if bias is None else bias)
        for name, value in (("b", 1), ("s", 2)):
            initializer = next(t for t in model.graph.initializer if t.name == name)
            model.graph.initializer.remove(initializer)
            array = microsoft.numpy_helper.to_array(initializer)
            model.graph.input.append(helper.make_tensor_value_info(name, initializer.data_type, array.shape))
            feeds[name] = array
        got = self.run_model(self.compile(model), feeds)["y"]
        np.testing.assert_allclose(got, want, atol=1e-4 * np.abs(want).max())

    def test_packed_in_the_file(self):
        """Weights stay in 4 bits, with a scale per 32 weights."""
        rng = np.random.default_rng(0)
        b = rng.integers(0, 256, (256, 16, 16), np.uint8)
        model, _ = microsoft.make("MatMulNBits", [("a", np.zeros((1, 512), np.float32)), ("b", b),
                                                  ("s", np.ones((256, 16), np.float32))],
                                  [("y", np.float32, 2)], {"b", "s"}, K=512, N=256, bits=4, block_size=32)
        report = inspect(self.compile(model))
        self.assertLessEqual(report["weights_bytes"], 1.01 * (b.size + 4 * 256 * 16) + 256)
        self.assertEqual([layer["backend"] for layer in report["layers"]], ["native"])

    def test_between_guard_pages(self):
        if not have("ingot-guarded-run"):
            self.skipTest("built without ingot-guarded-run")
        for seed in range(400, 404):
            drawer = microsoft.Drawer(seed)
            model, feeds = drawer.matmul_nbits()
            check_guarded(self, seed, model, feeds)

    def refuses(self, *words, b=(4, 2, 8), scales=(4, 2), zeros=None, g=None, bias=None, **attributes):
        attributes = {"K": 20, "N": 4, "bits": 4, "block_size": 16, **attributes}
        inputs = [("a", np.zeros((1, 20), np.float32)), ("b", np.zeros(b, np.uint8)),
                  ("s", np.ones(scales, np.float32)), ("z", zeros), ("g", g), ("bias", bias)]
        model, _ = microsoft.make("MatMulNBits", inputs, [("y", np.float32, 2)], {"b", "s", "z", "g", "bias"},
                                  **attributes)
        with self.subTest(words):
            self.assert_refuses(model, "node 'node'", "MatMulNBits", *words)

    def test_refused(self):
        self.refuses("3 bits; 2, 4 and 8 are", bits=3)
        self.refuses("block_size is 20", "power of 2", block_size=20)
        self.refuses("block_size is 8", "power of 2 of at least 16", block_size=8)
        self.refuses("block_size is 0", block_size=0)
        self.refuses("K and N are 0 and 4", K=0)
        self.refuses("input 1 is not of 4x2x8 uint8", b=(4, 2, 7))
        self.refuses("input 2", "2 blocks of 4 columns", scales=(4, 3))
        self.refuses("expects 4 bytes of zero points, but got 8", zeros=np.zeros(8, np.uint8))
        self.refuses("input 3", "zero point", zeros=np.zeros((4, 2), np.int32))
        self.refuses("g_idx that gives block 0 another number of rows", g=np.repeat([0, 1], [15, 5]).astype(np.int32))
        self.refuses("g_idx that gives block 1 another number of rows", g=np.repeat([0, 2], [16, 4]).astype(np.int32))
        self.refuses("expects a g_idx of 20 elements, but got 19", g=np.zeros(19, np.int32))
        self.refuses("input 5 is not a bias of 4 columns", bias=np.zeros(3, np.float32))


def round_rows(a, block):
    """Rounds each block of a row as `accuracy_level` 4 does: bytes times a scale, in the arithmetic of kernels."""
    a = np.asarray(a, np.float32)
    rounded = np.empty(a.shape)
    for at in range(0, a.shape[-1], block):
        part = a[..., at:at + block]
        largest = np.abs(part).max(-1, keepdims=True)
        with np.errstate(divide="ignore"):
            factor = np.where(largest == 0, np.float32(0), np.float32(127) / largest)
        rounded[..., at:at + block] = np.rint(part * factor).astype(np.float64) * (largest / np.float32(127))
    return rounded


class RoundedRows(Case):
    """With `accuracy_level` 4, a run rounds rows to int8, block by block. Sums of the products are exact."""
    LEVELS = [level for level in integer.supported() if "@" not in level]

    def check(self, seeds, *options, dynamic=False, levels=None, bits=(2, 4), level=4):
        for seed in seeds:
            drawer = microsoft.Drawer(seed)
            model, feeds = drawer.matmul_nbits(dynamic, accuracy_level=level, least_columns=32)
            weights, bias = drawer.unpacked
            a = round_rows(feeds["a"], drawer.block) if drawer.bits in bits else feeds["a"].astype(np.float64)
            want = a @ weights.T + (0 if bias is None else bias)
            most = 4e-7 * (np.abs(a) @ np.abs(weights).T + 1)
            levels = levels or LEVELS
            artifact = self.compile(model, "--target", ",".join(levels), *options)
            for level_ in levels:
                with cap(level_), self.subTest(seed=seed, level=level_, bits=drawer.bits):
                    got = self.run_model(artifact, feeds)["y"]
                    self.assertLessEqual((np.abs(got - want) / most).max(), 1)

    def test_random(self):
        self.check(range(500, 516))

    def test_open_rows(self):
        self.check(range(520, 530), dynamic=True)

    def test_between_guard_pages(self):
        """A kernel reads nothing behind the end of rows or weights."""
        if not have("ingot-guarded-run"):
            self.skipTest("built without ingot-guarded-run")
        for seed in range(600, 604):
            model, feeds = microsoft.Drawer(seed).matmul_nbits(accuracy_level=4, least_columns=32)
            check_guarded(self, seed, model, feeds)

    def test_vnni(self):
        """With products of bytes at all levels, weights of 8 bits use them, too."""
        self.check(range(540, 556), levels=self.dots(), bits=(2, 4, 8))

    def test_schedules(self):
        for seed in range(1, 13):
            dots = [] if seed % 2 else [level for level in self.LEVELS if level in ("alderlake", "cascadelake")]
            self.check([560 + seed], f"--schedule-seed={seed}", dynamic=seed % 3 == 0, levels=dots or LEVELS,
                       bits=(2, 4, 8) if dots else (2, 4))

    def product(self, rows, k, n, block, dtype=np.float32, level=4):
        """Makes (model, weights), with 4-bit weights. `rows` None means a dynamic number of rows."""
        rng = np.random.default_rng(k)
        blocks = -(-k // block)
        codes = rng.integers(0, 16, (n, blocks * block), np.uint8)
        scales = np.exp(rng.uniform(-4, -3, (n, blocks))).astype(dtype)
        packed = (codes[:, ::2] | codes[:, 1::2] << 4).reshape(n, blocks, block // 2)
        model, _ = microsoft.make("MatMulNBits", [("a", np.zeros((rows or 1, k), dtype)), ("b", packed), ("s", scales)],
                                  [("y", dtype, 2)], {"b", "s"}, K=k, N=n, bits=4, block_size=block,
                                  accuracy_level=level)
        if rows is None:
            model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "rows"
        return model, (codes[:, :k] - 8.0) * np.repeat(scales.astype(np.float64), block, 1)[:, :k]

    def assert_close(self, got, a, weights, what=""):
        most = 4e-7 * (np.abs(a) @ np.abs(weights).T + 1)
        self.assertLessEqual((np.abs(got - a @ weights.T) / most).max(), 1, what)

    def test_rows(self):
        """Any number of rows, fixed and dynamic, at all levels of this machine."""
        rng = np.random.default_rng(0)
        for block, k in ((16, 77), (32, 1100), (64, 512), (256, 700)):
            model, weights = self.product(None, k, 130, block)
            artifact = self.compile(model, "--target", ",".join(self.LEVELS))
            for rows in (1, 2, 5, 17, 64, 300):
                a = (rng.standard_normal((rows, k)) * np.exp(rng.uniform(-3, 3, k))).astype(np.float32)
                fixed = self.compile(self.product(rows, k, 130, block)[0], "--target", ",".join(LEVELS), name="fixed")
                want = round_rows(a, block)
                for level in self.LEVELS:
                    with cap(level), self.subTest(block=block, rows=rows, level=level):
                        self.assert_close(self.run_model(artifact, {"a": a})["y"], want, weights)
                        if level in LEVELS:
                            self.assert_close(self.run_model(fixed, {"a": a})["y"], want, weights, "fixed")

    def dots(self):
        """Returns the levels that multiply four bytes at once."""
        levels = [level for level in self.LEVELS if level in ("alderlake", "cascadelake", "sapphirerapids")]
        if not levels:
            self.skipTest("the machine has no VNNI")
        return levels

    def test_split_rows(self):
        """Without permission to round, rows have 24 bits of the largest element of a block. A block has at most 256."""
        rng, levels = np.random.default_rng(2), self.dots()
        for block, k in ((16, 77), (32, 1100), (256, 700), (512, 1024), (1024, 900)):
            model, weights = self.product(None, k, 130, block, level=0)
            artifact = self.compile(model, "--target", ",".join(levels))
            size = min(block, 256)
            if block > k:
                size = -(-k // -(-k // 256) // 16) * 16
            for rows in (1, 2, 3, 5, 17, 64):
                a = (rng.standard_normal((rows, k)) * np.exp(rng.uniform(-3, 3, k))).astype(np.float32)
                fixed = self.compile(self.product(rows, k, 130, block, level=0)[0], "--target", ",".join(levels),
                                     name="fixed")
                largest = np.concatenate([np.broadcast_to(np.abs(part).max(1, keepdims=True), part.shape) for part in
                                          np.split(a, range(size, k, size), axis=1)], axis=1)
                most = 2 ** -24 * largest @ np.abs(weights).T + 4e-7 * np.abs(a) @ np.abs(weights).T
                for level in levels:
                    for chosen in (artifact, fixed):
                        with cap(level), self.subTest(block=block, rows=rows, level=level, artifact=chosen):
                            got = self.run_model(chosen, {"a": a})["y"]
                            self.assertLessEqual((np.abs(got - a.astype(np.float64) @ weights.T) / most).max(), 1)

    def test_split_random(self):
        """Weights of 2, 4 and 8 bits, with zero points and biases."""
        levels = self.dots()
        for seed in range(640, 660):
            drawer = microsoft.Drawer(seed)
            model, feeds = drawer.matmul_nbits(dynamic=seed % 2 == 0, least_columns=96)
            weights, bias = drawer.unpacked
            want = feeds["a"].astype(np.float64) @ weights.T + (0 if bias is None else bias)
            most = 2e-6 * np.abs(feeds["a"]).max() * np.abs(weights).sum(1).max() + 1e-6
            options = [f"--schedule-seed={seed}"] if seed % 3 == 0 else []
            artifact = self.compile(model, "--target", ",".join(levels), *options)
            for level in levels:
                with cap(level), self.subTest(seed=seed, level=level, bits=drawer.bits):
                    np.testing.assert_allclose(self.run_model(artifact, feeds)["y"], want, atol=most)

    def test_split_special(self):
        """A NaN stays in its row, and an infinity stays infinite. Large and small numbers keep their digits."""
        levels = self.dots()
        model, weights = self.product(6, 96, 128, 32, level=0)
        a = np.random.default_rng(3).standard_normal((6, 96)).astype(np.float32)
        a[0, 5], a[1, 40], a[2], a[3] = np.nan, np.inf, a[2] * np.float32(1e34), a[3] * np.float32(1e-30)
        a[4] = 0
        artifact = self.compile(model, "--target", ",".join(levels))
        for level in levels:
            with cap(level), self.subTest(level=level):
                y = self.run_model(artifact, {"a": a})["y"]
                self.assertTrue(np.isnan(y[0]).all())
                sure = weights[:, 40] != 0
                np.testing.assert_array_equal(y[1][sure], np.inf * np.sign(weights[sure, 40]))
                for row in (2, 3, 4, 5):
                    want = a[row].astype(np.float64) @ weights.T
                    np.testing.assert_allclose(y[row], want, atol=1e-6 * np.abs(want).max())

    def test_epilogue(self):
        model, weights = self.product(9, 96, 64, 32)
        model.graph.node[0].output[0] = "h"
        model.graph.node.extend([helper.make_node("Add", ["h", "r"], ["i"], "add"),
                                 helper.make_node("Relu", ["i"], ["y"], "relu")])
        model.graph.input.append(helper.make_tensor_value_info("r", TensorProto.FLOAT, [9, 64]))
        rng = np.random.default_rng(1)
        a, r = (rng.standard_normal((9, n)).astype(np.float32) for n in (96, 64))
        artifact = self.compile(model, "--target", ",".join(LEVELS))
        self.assertEqual(len(inspect(artifact)["layers"]), 1)
        want = np.maximum(round_rows(a, 32) @ weights.T + r, 0)
        for level in LEVELS:
            with cap(level), self.subTest(level=level):
                np.testing.assert_allclose(self.run_model(artifact, {"a": a, "r": r})["y"], want, atol=2e-5)

    def test_half(self):
        model, weights = self.product(5, 96, 64, 32, np.float16)
        a = np.random.default_rng(1).standard_normal((5, 96)).astype(np.float16)
        got = self.run_model(self.compile(model), {"a": a})["y"]
        np.testing.assert_allclose(got, round_rows(a, 32) @ weights.T, rtol=2e-3, atol=2e-3)

    def test_odd_numbers(self):
        """Blocks of zeros, of the smallest and of the largest values; infinities and NaNs stay in their rows."""
        model, weights = self.product(8, 64, 32, 32)
        a = np.random.default_rng(1).standard_normal((8, 64)).astype(np.float32)
        a[0], a[1, :32], a[2] = 0, 0, 1e-40
        a[3] *= np.float32(1e35)
        a[4, 7], a[5, 9], a[6, 40] = np.inf, np.nan, -np.inf
        a[7] *= np.float32(3e38) / np.abs(a[7]).max()
        artifact = self.compile(model, "--target", ",".join(LEVELS))
        for level in LEVELS:
            with cap(level), self.subTest(level=level):
                got = self.run_model(artifact, {"a": a})["y"]
                self.assertTrue((got[0] == 0).all() and np.abs(got[2]).max() < 1e-37)
                self.assertFalse(np.isfinite(got[4:7]).any())
                for row, at, sign in ((4, 7, 1), (6, 40, -1)):
                    is_met = weights[:, at] != 0
                    np.testing.assert_array_equal(got[row, is_met], sign * np.sign(weights[is_met, at]) * np.inf)
                for row in (1, 3, 7):
                    largest = np.abs(a[row]).max().astype(np.float64)
                    self.assert_close(got[row] / largest, round_rows(a[row], 32) / largest, weights)

    def test_allowed_by_precision(self):
        """`int8-dynamic` also rounds rows that the model does not allow to round, except kept ones."""
        model, weights = self.product(3, 96, 64, 32, level=0)
        a = np.random.default_rng(1).standard_normal((3, 96)).astype(np.float32)
        exact, rounded = a.astype(np.float64), round_rows(a, 32)
        for options, want in (([], exact), (["--precision=int8-dynamic"], rounded),
                              (["--precision=int8-dynamic", "--keep=node=fp32"], exact)):
            artifact = self.compile(model, *options)
            with self.subTest(options):
                self.assert_close(self.run_model(artifact, {"a": a})["y"], want, weights)
                layer = inspect(artifact)["layers"][0]
                self.assertEqual((layer["kind"], layer["backend"]), ("matmul", "native"))

    def test_error(self):
        """The error equals that of ONNX Runtime, which rounds rows to the same bytes and differs only in the rounding
        of sums."""
        for k in (512, 1100):
            model, weights = self.product(16, k, 256, 32)
            a = np.random.default_rng(1).standard_normal((16, k)).astype(np.float32)
            want = a.astype(np.float64) @ weights.T

            def error(got):
                return np.linalg.norm(got - want) / np.linalg.norm(want)
            ours = error(self.run_model(self.compile(model), {"a": a})["y"])
            with self.subTest(k=k, error=ours):
                self.assertLess(ours, 1.05 * max(error(peer(model).run(None, {"a": a})[0]), 0.004))

    def test_other_levels_of_accuracy(self):
        for level in (0, 1):
            self.check(range(580, 583), bits=(), level=level)


class Blocks(Case):
    """DequantizeLinear of weights in blocks before a product."""

    def check(self, dtype, axis, zeros, block=32, kind="MatMul", signs=(1,)):
        rng = np.random.default_rng(0)
        k, n = 80, 24
        info = {TensorProto.INT4: (-8, 8), TensorProto.UINT4: (0, 16), TensorProto.INT8: (-128, 128),
                TensorProto.UINT8: (0, 256), TensorProto.INT2: (-2, 2), TensorProto.UINT2: (0, 4)}[dtype]
        inner = 0 if kind == "MatMul" else 1
        shape = [k, n] if inner == 0 else [n, k]
        per_block = list(shape)
        per_block[axis] = -(-per_block[axis] // block)
        w, z = rng.integers(*info, shape), rng.integers(*info, per_block)
        scales = (np.exp(rng.uniform(-4, -3, per_block)) * rng.choice(signs, per_block)).astype(np.float32)
        inputs = ["w", "s"] + (["z"] if zeros else [])
        nodes = [helper.make_node("DequantizeLinear", inputs, ["d"], name="dequantize", axis=axis, block_size=block),
                 helper.make_node(kind, ["x", "d"], ["y"], name="product", **({} if inner == 0 else {"transB": 1}))]
        model = make_model(nodes, [("x", [3, k])], [("y", [3, n])], {"s": scales}, opset=25)
        model.ir_version = 11
        for name, values in (("w", w), ("z", z))[:2 if zeros else 1]:
            model.graph.initializer.append(helper.make_tensor(name, dtype, values.shape, values.ravel().tolist()))

        def spread(v):
            return np.take(np.repeat(v, block, axis), range(shape[axis]), axis).astype(np.float64)
        weights = (w - (spread(z) if zeros else 0)) * spread(scales)
        x = rng.standard_normal((3, k)).astype(np.float32)
        want = x @ (weights if inner == 0 else weights.T)
        for options in ((), (PACKED,)):
            artifact = self.compile(model, *options)
            np.testing.assert_allclose(self.run_model(artifact, {"x": x})["y"], want, atol=1e-5 * np.abs(want).max())
        return inspect(artifact)["weights_bytes"], k * n

    def test_types(self):
        for dtype, bits in ((TensorProto.INT4, 4), (TensorProto.UINT4, 4), (TensorProto.INT8, 8),
                            (TensorProto.UINT8, 8), (TensorProto.INT2, 2), (TensorProto.UINT2, 2)):
            for zeros in (False, True):
                with self.subTest(dtype=dtype, zeros=zeros):
                    self.check(dtype, 0, zeros)
                    self.check(dtype, 1, zeros, kind="Gemm")

    def test_packed(self):
        size, elements = self.check(TensorProto.INT4, 0, False)
        self.assertLess(size, 2 * elements, "weights of f32 were stored")

    def test_scales_of_any_sign(self):
        """Scales as ONNX Runtime's quantizer writes them: with the sign of the largest weight, and 0 if all weights are
        0."""
        for zeros in (False, True):
            size, elements = self.check(TensorProto.INT4, 0, zeros, signs=(-1, 0, 1))
            self.assertLess(size, 2 * elements, "weights of f32 were stored")
        self.check(TensorProto.UINT4, 1, True, signs=(-1, 0, 1))

    def test_others(self):
        """Blocks along the outputs, and blocks that end inside of an i32 element."""
        self.check(TensorProto.INT4, 1, True)
        self.check(TensorProto.INT4, 0, True, block=20)


class Outputs(Case):
    """DequantizeLinear of weights with one scale, or one per output, before a product of floats."""

    def check(self, dtype, info, bits, rows=3, axis=1, kind="MatMul", zeros=False, k=600, n=480):
        rng = np.random.default_rng(0)
        inner = 0 if kind == "MatMul" else 1
        shape = [k, n] if inner == 0 else [n, k]
        each = [] if axis is None else [shape[axis]]
        w, z = rng.integers(*info, shape), rng.integers(*info, each)
        scales = np.exp(rng.uniform(-4, -3, each)).astype(np.float32)
        bias = rng.standard_normal(n).astype(np.float32)
        inputs = ["w", "s"] + (["z"] if zeros else [])
        product = ["x", "d"] if inner == 0 else ["x", "d", "b"]
        nodes = [helper.make_node("DequantizeLinear", inputs, ["d"], name="dequantize", axis=axis or 0),
                 helper.make_node(kind, product, ["y"], name="product", **({} if inner == 0 else {"transB": 1}))]
        model = make_model(nodes, [("x", [rows, k])], [("y", [rows, n])], {"s": scales, "b": bias}, opset=25)
        model.ir_version = 11
        for name, values in (("w", w), ("z", z))[:2 if zeros else 1]:
            model.graph.initializer.append(
                helper.make_tensor(name, dtype, np.shape(values), np.ravel(values).tolist()))

        def spread(v):
            return v if axis is None else np.expand_dims(v, 1 - axis)
        weights = (w - (spread(z) if zeros else 0)) * spread(scales).astype(np.float64)
        x = rng.standard_normal((rows, k)).astype(np.float32)
        want = x @ weights if inner == 0 else x @ weights.T + bias
        artifact = self.compile(model, PACKED, "--target", ",".join(LEVELS))
        for level in LEVELS:
            with cap(level), self.subTest(level=level):
                np.testing.assert_allclose(self.run_model(artifact, {"x": x})["y"], want,
                                           atol=1e-5 * np.abs(want).max())
        # The artifact holds the weights, padded to whole panels and blocks. It holds a scale, a zero point and a bias
        # per output.
        self.assertLessEqual(inspect(artifact)["weights_bytes"], len(LEVELS) * (1.1 * k * n * bits / 8 + 16 * n))

    def test_types(self):
        for dtype, info, bits in ((TensorProto.INT8, (-128, 128), 8), (TensorProto.UINT8, (0, 256), 8),
                                  (TensorProto.INT4, (-8, 8), 4), (TensorProto.UINT4, (0, 16), 4)):
            for zeros in (False, True):
                with self.subTest(dtype=dtype, zeros=zeros):
                    self.check(dtype, info, bits, zeros=zeros)
                    self.check(dtype, info, bits, zeros=zeros, kind="Gemm", axis=0)
                    self.check(dtype, info, bits, zeros=zeros, axis=None)

    def test_rows(self):
        for rows in (1, 2, 5, 16, 33):
            with self.subTest(rows=rows):
                self.check(TensorProto.INT8, (-128, 128), 8, rows)

    def test_bytes_of_few_bits(self):
        """Weights with few different values (ternary or 4 bits) that the model stores as int8."""
        self.check(TensorProto.INT8, (-1, 2), 2)
        self.check(TensorProto.INT8, (-7, 8), 4)
        self.check(TensorProto.UINT8, (120, 136), 4, zeros=True)

    def test_others(self):
        """Scales along the inner dimension, and weights of 16 bits, are dequantized."""
        self.check(TensorProto.INT8, (-128, 128), 32, axis=0)
        self.check(TensorProto.INT16, (-1000, 1000), 32)
