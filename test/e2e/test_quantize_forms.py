# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""QuantizeLinear and DequantizeLinear of every type and granularity, and weights in blocks of every form."""
import json
import os
import sys
import unittest

import ml_dtypes
import numpy as np

from support import BIN, ROOT, Case, TensorProto, have, helper, numpy_helper, peer, tool

sys.path.insert(0, os.path.join(ROOT, "test", "property"))

import harness  # noqa: E402
import integer  # noqa: E402

LEVELS = [level for level in integer.supported() if level in ("x86-64-v2", "x86-64-v3", "x86-64-v4")] + ["native"]
INTEGERS = {"INT2": (-2, 1), "UINT2": (0, 3), "INT4": (-8, 7), "UINT4": (0, 15), "INT8": (-128, 127),
            "UINT8": (0, 255), "INT16": (-2**15, 2**15 - 1), "UINT16": (0, 2**16 - 1), "INT32": (-2**31, 2**31 - 1)}
SMALL = ["FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT4E2M1"]
# Relative rounding errors of results.
ERRORS = {"FLOAT": 2e-7, "FLOAT16": 1.5e-3, "BFLOAT16": 1.2e-2}


def dtype_of(name):
    """Returns NumPy's type of a type of ONNX."""
    return helper.tensor_dtype_to_np_dtype(getattr(TensorProto, name))


def array(values, name):
    return np.asarray(values).astype(np.float32 if name not in INTEGERS else np.float64).astype(dtype_of(name))


def model_of(nodes, inputs, outputs, constants):
    """Makes a model. Inputs and outputs are (name, type, shape)."""
    def infos(values):
        return [helper.make_tensor_value_info(n, getattr(TensorProto, t), list(s)) for n, t, s in values]
    graph = helper.make_graph(nodes, "test", infos(inputs), infos(outputs),
                              [numpy_helper.from_array(v, n) for n, v in constants])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=12)


class Drawn:
    """A random node, its inputs, and the output as NumPy computes it."""

    def __init__(self, rng, number, types=(*INTEGERS, *SMALL)):
        self.rng = rng
        rank = int(self.pick(0, 1, 2, 2, 3, 4))
        self.shape = [int(v) for v in rng.integers(1, 8, rank)]
        self.type, self.scale_type = self.pick(*types), self.pick("FLOAT", "FLOAT", "FLOAT16", "BFLOAT16", "FLOAT8E8M0")
        self.attributes, self.scales, self.spread = {}, [], np.asarray
        getattr(self, self.pick("tensor", "axis", "blocks", "blocks") if rank else "tensor")()
        exponent = rng.uniform(-4, 1, self.scales)
        self.scale = array(np.exp2(exponent if self.scale_type != "FLOAT8E8M0" else np.round(exponent)),
                           self.scale_type)
        operator = self.pick("DequantizeLinear", "QuantizeLinear")
        if operator == "QuantizeLinear" and self.type == "INT32":
            self.type = "INT16"
        self.draw_zero()
        self.tolerance = (self.dequantize if operator == "DequantizeLinear" else self.quantize)()
        names = [f"x{number}", f"s{number}"] + [f"z{number}"] * (self.zero is not None)
        self.node = helper.make_node(operator, names, [f"y{number}"], name=f"n{number}", **self.attributes)
        given = list(zip(names, (self.x, self.scale, self.zero), (self.x_type, self.scale_type, self.type)))
        self.constants = [(n, v) for n, v, _ in given if rng.random() < 0.5]
        fixed = {n for n, _ in self.constants}
        self.inputs = [(n, v, t) for n, v, t in given if n not in fixed]
        self.output = (f"y{number}", self.y_type, self.shape)

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def tensor(self):
        self.scales = self.pick([], [1])
        self.spread = lambda v: v.reshape([])

    def choose_axis(self):
        rank = len(self.shape)
        axis = self.attributes["axis"] = int(self.rng.integers(-rank, rank))
        return axis

    def axis(self):
        axis = self.choose_axis()
        self.scales = [self.shape[axis]]
        line = [1] * len(self.shape)
        line[axis] = -1
        self.spread = lambda v: v.reshape(line)

    def blocks(self):
        axis = self.choose_axis()
        size = self.shape[axis]
        block = self.attributes["block_size"] = int(self.rng.integers(1, size + 2))
        self.scales = list(self.shape)
        self.scales[axis] = -(-size // block)
        self.spread = lambda v: np.repeat(v, block, axis).take(np.arange(size), axis)

    def draw_zero(self):
        kind = self.pick("none", "zero", "any")
        self.zero = None if kind == "none" else array(np.zeros(self.scales), self.type)
        if kind == "any" and self.type in INTEGERS and self.type != "INT32":
            low, high = INTEGERS[self.type]
            self.zero = array(self.rng.integers(low, high, self.scales, endpoint=True), self.type)
        self.factor = self.spread(self.scale.astype(np.float64))
        self.shift = 0 if self.zero is None else self.spread(self.zero.astype(np.float64))

    def dequantize(self):
        self.x_type = self.type
        if self.type in INTEGERS:
            self.x = array(self.rng.integers(*INTEGERS[self.type], self.shape, endpoint=True), self.type)
        else:
            self.x = array(self.rng.standard_normal(self.shape) * 3, self.type)
        self.y_type = self.scale_type
        if self.scale_type == "FLOAT8E8M0" or self.rng.random() < 0.4:
            self.y_type = self.pick(*ERRORS)
            self.attributes["output_dtype"] = getattr(TensorProto, self.y_type)
        with np.errstate(over="ignore"):
            self.want = array((self.x.astype(np.float64) - self.shift) * self.factor, self.y_type)
        return ERRORS[self.y_type] * np.abs(self.want.astype(np.float64))

    def quantize(self):
        self.x_type = self.pick("FLOAT", "FLOAT", "FLOAT16", "BFLOAT16")
        self.x = array(self.rng.standard_normal(self.shape) * 8, self.x_type)
        self.y_type = self.type
        if self.zero is None or self.rng.random() < 0.3:
            self.attributes["output_dtype"] = getattr(TensorProto, self.type)
        precision = self.scale_type if self.scale_type != "FLOAT8E8M0" else "FLOAT"
        if self.rng.random() < 0.3:
            precision = self.pick(*ERRORS)
            self.attributes["precision"] = getattr(TensorProto, precision)
        quotient = array(array(self.x, precision).astype(np.float32) / array(self.factor, precision).astype(np.float32),
                         precision).astype(np.float32)
        if self.type in INTEGERS:
            self.want = array(np.clip(np.rint(quotient.astype(np.float64)) + self.shift, *INTEGERS[self.type]),
                              self.type)
            # A quotient may be more precise than its type.
            return 0 if precision == "FLOAT" else 1 + 0.01 * np.abs(self.want.astype(np.float64) - self.shift)
        most = float(ml_dtypes.finfo(dtype_of(self.type)).max)
        self.want = array(np.clip(quotient, -most, most), self.type)
        return 0 if precision == "FLOAT" else 0.3 * np.abs(self.want.astype(np.float64)) + 0.5

    def is_wrong(self, got):
        if got.dtype.kind == "V":
            got = got.view(self.want.dtype)
        with np.errstate(invalid="ignore"):
            got, want = got.astype(np.float64), self.want.astype(np.float64)
            return got.shape != want.shape or bool(np.any(~((got == want) | (np.abs(got - want) <= self.tolerance))))


def draw(seed, count, **options):
    rng = np.random.default_rng(seed)
    drawn = [Drawn(rng, i, **options) for i in range(count)]
    model = model_of([d.node for d in drawn], [(n, t, v.shape) for d in drawn for n, v, t in d.inputs],
                     [d.output for d in drawn], [c for d in drawn for c in d.constants])
    return drawn, model, {n: v for d in drawn for n, v, _ in d.inputs}


class Nodes(Case):
    def test_random(self):
        for seed in range(10):
            drawn, model, feeds = draw(seed, 15)
            got = self.run_model(self.compile(model), feeds)
            for d in drawn:
                with self.subTest(seed=seed, node=str(d.node), shape=d.shape):
                    self.assertFalse(d.is_wrong(got[d.output[0]]))

    def test_between_guard_pages(self):
        """No level writes behind an output, whose rows end with any rest of a vector."""
        if not have("ingot-guarded-run"):
            self.skipTest("built without ingot-guarded-run")
        whole = [t for t in (*INTEGERS, *SMALL) if dtype_of(t).itemsize > 1 or "8" in t]
        for seed in (1000, 1001, 1002):
            drawn, model, feeds = draw(seed, 15, types=whole)
            for level in LEVELS:
                artifact = self.compile(model, "--weights=file", "--target", level)
                got, notes = harness.run_guarded(BIN, artifact, self.dir, feeds, {d.output[0]: d.want for d in drawn})
                with self.subTest(seed=seed, level=level):
                    self.assertEqual(notes, [])
                    self.assertEqual([str(d.node) for d in drawn if d.is_wrong(got[d.output[0]])], [])

    def test_one_element_behind_vectors(self):
        """A row of five bytes is a vector and one element. LLVM's masked store of this element writes four bytes."""
        if not have("ingot-guarded-run"):
            self.skipTest("built without ingot-guarded-run")
        x = array(np.arange(35).reshape(7, 5) - 17, "BFLOAT16")
        scale = array(np.ones((7, 1)), "FLOAT16")
        node = helper.make_node("QuantizeLinear", ["x", "s"], ["y"], axis=1, block_size=6,
                                precision=TensorProto.BFLOAT16, output_dtype=TensorProto.FLOAT8E5M2)
        model = model_of([node], [("x", "BFLOAT16", x.shape), ("s", "FLOAT16", scale.shape)],
                         [("y", "FLOAT8E5M2", x.shape)], [])
        want = {"y": array(x, "FLOAT8E5M2")}
        for level in LEVELS:
            with self.subTest(level=level):
                artifact = self.compile(model, "--weights=file", "--target", level)
                got, notes = harness.run_guarded(BIN, artifact, self.dir, {"x": x, "s": scale}, want)
                self.assertEqual(notes, [])
                np.testing.assert_array_equal(got["y"].view(np.uint8), want["y"].view(np.uint8))


class BlockWeights(Case):
    """Weights in blocks are packed, or multiplied out by the compiler. No run multiplies them out."""
    SIZE = 256

    def weights(self, codes, axis, block, scale_type="FLOAT", out="FLOAT"):
        """Returns (node, constants, values) of weights of SIZE x SIZE."""
        rng = np.random.default_rng(3)
        shape = [self.SIZE, self.SIZE]
        if codes in INTEGERS:
            low, high = INTEGERS[codes]
            numbers, width = array(rng.integers(low, high, shape, endpoint=True), codes), (high - low) / 3
        else:
            numbers, width = array(rng.standard_normal(shape), codes), 1
        scales = list(shape)
        scales[axis] = -(-self.SIZE // block)
        scale = array(np.exp2(rng.uniform(-1, 1, scales)) / width / self.SIZE ** 0.5, scale_type)
        zeros = array(rng.integers(0, 2, scales), codes) if codes in INTEGERS else None

        def spread(values):
            return np.repeat(values.astype(np.float64), block, axis).take(np.arange(self.SIZE), axis)
        values = (numbers.astype(np.float64) - (0 if zeros is None else spread(zeros))) * spread(scale)
        constants = [(n, v) for n, v in (("w", numbers), ("s", scale), ("z", zeros)) if v is not None]
        node = helper.make_node("DequantizeLinear", [n for n, _ in constants], ["d"], axis=axis, block_size=block,
                                output_dtype=getattr(TensorProto, out))
        return node, constants, values

    def check(self, nodes, constants, x, want, kind="FLOAT", most=1.0, is_product=False):
        """`most` limits the weights in bytes, in multiples of dense f32."""
        x_kind = "INT64" if x.dtype == np.int64 else kind
        artifact = self.compile(model_of(nodes, [("x", x_kind, x.shape)], [("y", kind, want.shape)], constants))
        got = self.run_model(artifact, {"x": x})["y"]
        got = got.view(dtype_of(kind)).astype(np.float64)
        error = {"FLOAT": 2e-6, "FLOAT16": 3e-3, "BFLOAT16": 2e-2}[kind]
        np.testing.assert_allclose(got, want, atol=error * np.abs(want).max())
        report = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)
        self.assertLessEqual(report["weights_bytes"], most * 4 * self.SIZE ** 2 + 4096)
        if is_product:
            backends = [layer["backend"] for layer in report["layers"]]
            # Rows of 16 bits may be widened first.
            self.assertIn(backends, [["native"]] + [["loops", "native"]] * (kind != "FLOAT"))

    def product(self, transposed, rows, kind="FLOAT", most=1.0, **form):
        node, constants, values = self.weights(out=kind, **form)
        x = array(np.random.default_rng(4).standard_normal((rows, self.SIZE)), kind)
        product = helper.make_node("Gemm", ["x", "d"], ["y"], transB=int(transposed))
        want = x.astype(np.float64) @ (values.T if transposed else values)
        with self.subTest(transposed=transposed, rows=rows, kind=kind, **form):
            self.check([node, product], constants, x, want, kind, most, is_product=True)

    def test_blocks_along_outputs(self):
        for transposed in (False, True):
            for rows in (1, 16):
                for kind in ("INT4", "UINT8"):
                    self.product(transposed, rows, codes=kind, axis=1 - transposed, block=32)

    def test_uneven_blocks(self):
        for block in (7, 20, 24, 60):
            self.product(False, 1, codes="INT4", axis=0, block=block)

    def test_small_floats_and_words(self):
        for kind in (*SMALL, "INT16", "UINT16"):
            self.product(False, 3, codes=kind, axis=0, block=32)

    def test_half_precision(self):
        """Weights of f16 and bf16 models stay in a few bits."""
        for kind in ("FLOAT16", "BFLOAT16"):
            for transposed in (False, True):
                self.product(transposed, 1, kind, 0.2, codes="INT4", scale_type=kind, axis=int(transposed), block=32)
            self.product(False, 3, kind, 1.0, codes="INT4", scale_type=kind, axis=1, block=32)

    def test_lookups(self):
        ids = np.array([[3, 0, 255], [7, 7, 1]])
        for kind in ("FLOAT", "FLOAT16"):
            for weights in ("INT4", "UINT8", "FLOAT8E4M3FN"):
                for block in (32, 48):
                    node, constants, values = self.weights(weights, 1, block, kind, kind)
                    gather = helper.make_node("Gather", ["d", "x"], ["y"])
                    with self.subTest(kind=kind, weights=weights, block=block):
                        self.check([node, gather], constants, ids, values[ids], kind, 0.5)
            node, constants, values = self.weights("INT8", 0, 32, kind, kind)
            self.check([node, helper.make_node("Gather", ["d", "x"], ["y"])], constants, ids, values[ids], kind)


class BlockLookups(Case):
    """GatherBlockQuantized, whose table may have two numbers of 4 bits in each byte."""

    def make(self, table, indices, scale, zero=None, **attributes):
        constants = [(n, v) for n, v in (("d", table), ("s", scale), ("z", zero)) if v is not None]
        node = helper.make_node("GatherBlockQuantized", ["d", "x", "s"] + ["z"] * (zero is not None), ["y"],
                                domain="com.microsoft", name="node", **attributes)
        rank = table.ndim + indices.ndim - 1
        kind = helper.np_dtype_to_tensor_dtype(scale.dtype)
        graph = helper.make_graph(
            [node], "test",
            [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(indices.dtype), indices.shape)],
            [helper.make_tensor_value_info("y", kind, [f"y{i}" for i in range(rank)])],
            [numpy_helper.from_array(v, n) for n, v in constants])
        imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=imports, ir_version=10)

    def check(self, model, indices, error=1e-6):
        want = peer(model).run(None, {"x": indices})[0].astype(np.float64)
        got = self.run_model(self.compile(model), {"x": indices})["y"].astype(np.float64)
        np.testing.assert_allclose(got, want, atol=error * np.abs(want).max())

    def test_bytes(self):
        rng = np.random.default_rng(0)
        indices = np.array([[3, -1, 0], [7, -8, 1]])
        for bits, width, block in ((4, 64, 16), (4, 40, 16), (4, 48, 128), (8, 64, 16), (8, 40, 32)):
            blocks, per_byte = -(-width // block), 8 // bits
            scale = np.exp(rng.uniform(-3, 0, (8, blocks))).astype(np.float32)
            table = rng.integers(0, 256, (8, width // per_byte), np.uint8)
            for zero in (None, rng.integers(0, 256, (8, -(-blocks // per_byte)), np.uint8)):
                for kind in (np.float32, np.float16):
                    model = self.make(table, indices, scale.astype(kind), zero, bits=bits, block_size=block)
                    with self.subTest(bits=bits, width=width, block=block, zero=zero is not None, kind=kind):
                        self.check(model, indices, 1e-6 if kind == np.float32 else 1e-3)

    def test_axes(self):
        rng = np.random.default_rng(1)
        indices = np.array([2, 0, -1], np.int32)
        for kind in ("INT4", "UINT4"):
            for lookup, blocks in ((0, 1), (1, 0), (1, 2), (2, 1)):
                shape = [16, 9] if (lookup, blocks) == (1, 0) else [9, 32, 16]
                scales = list(shape)
                scales[blocks] = -(-shape[blocks] // 16)
                low, high = INTEGERS[kind]
                table, zero = (array(rng.integers(low, high, s, endpoint=True), kind) for s in (shape, scales))
                scale = np.exp(rng.uniform(-3, 0, scales)).astype(np.float32)
                model = self.make(table, indices, scale, zero, gather_axis=lookup, quantize_axis=blocks, block_size=16)
                with self.subTest(kind=kind, lookup=lookup, blocks=blocks):
                    self.check(model, indices)

    def test_refused(self):
        table, scale, ids = np.zeros((4, 16), np.uint8), np.ones((4, 2), np.float32), np.array([0])
        for words, model in (
                ("no scale for each block of 32", self.make(table, ids, scale, block_size=32)),
                ("expects 1 bytes in the last dimension of input 3",
                 self.make(table, ids, scale, table, block_size=16)),
                ("expects 1 bytes in the last dimension of input 3",
                 self.make(table, ids, scale, np.zeros((), np.uint8), block_size=16)),
                ("input 3 is of another type", self.make(table, ids, scale, scale, block_size=16)),
                ("blocks along this dimension", self.make(table, ids, scale, block_size=16, quantize_axis=0)),
                ("uint8 of 4 or 8 bits", self.make(table, ids, scale, block_size=16, bits=2)),
                ("input 2 is not of floats", self.make(table, ids, table, block_size=16))):
            with self.subTest(words):
                self.assert_refuses(model, "node 'node'", "GatherBlockQuantized", words)


if __name__ == "__main__":
    unittest.main()
