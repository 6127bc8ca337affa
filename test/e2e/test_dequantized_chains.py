# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random chains of operations that dequantize constant integers: results are exact, and the artifact stores integers."""
import os

import numpy as np
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from support import Case, make_model

DRAWS = 48
FLOAT = TensorProto.FLOAT
ROW = "row"


class Chain:
    """The nodes that compute weights of `outputs` rows of `depth` elements from constants."""

    def __init__(self, seed, use):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.values = [], {}
        self.outputs = int(self.rng.choice([256, 320])) * (8 if use == "lookup" else 1)
        self.depth = int(self.rng.choice([256, 384, 512]))
        self.bits = int(self.rng.choice([4, 8, 8]))
        self.dtype = self.draw(np.int8, np.uint8)
        half = 1 << (self.bits - 1)
        self.low, self.high = (-half, half) if self.dtype == np.int8 else (0, 2 * half)
        # The elements that share a scale: all, those of a row, or blocks of a row.
        self.shared = self.draw(None, ROW, ROW, 32, 64, 128)
        self.is_turned = self.shared in (None, ROW) and self.draw(False, True)
        self.shape = (self.outputs, self.depth)
        if isinstance(self.shared, int):
            self.shape = (self.outputs, self.depth // self.shared, self.shared)

    def draw(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def constant(self, value):
        name = f"c{len(self.values)}"
        self.values[name] = np.ascontiguousarray(value)
        return name

    def node(self, kind, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, [i if isinstance(i, str) else self.constant(i) for i in inputs], [name],
                                           **attributes))
        return name

    def reshape(self, x, *shape):
        return self.node("Reshape", x, np.array(shape, np.int64))

    def make_integers(self):
        """Returns the integers, which may be unpacked from halves of bytes, and True if they have the shape of blocks."""
        w = self.rng.integers(self.low, self.high, (self.outputs, self.depth)).astype(self.dtype)
        if self.bits == 4 and self.dtype == np.uint8 and not self.is_turned and self.draw(False, True):
            packed = self.constant((w[:, 0::2] | (w[:, 1::2] << 4)).astype(np.uint8))
            halves = [self.node("BitwiseAnd", packed, np.uint8(15)),
                      self.node("BitShift", packed, np.uint8(4), direction="RIGHT")]
            last = self.constant(np.array([-1], np.int64))
            pairs = self.node("Concat", *(self.node("Unsqueeze", half, last) for half in halves), axis=-1)
            return self.reshape(pairs, *self.shape), True
        if self.is_turned:
            return self.constant(w.T), True
        is_split = self.draw(False, True)
        return self.constant(w.reshape(self.shape) if is_split else w), is_split or len(self.shape) == 2

    def make_parameter(self, values):
        """Returns a parameter with the dimensions of the integers, which may have fewer or be repeated."""
        if values.ndim == 0:
            return values.reshape(self.draw((), (1,), (1, 1)))
        if self.is_turned:
            return self.draw(values.T, values[:, 0])
        return values

    def make_scale(self):
        count = {None: (), ROW: (self.outputs, 1)}.get(self.shared, (*self.shape[:2], 1))
        return (0.01 * self.rng.random(count) + 0.001).astype(np.float32)

    def subtract_zeros(self, x, scales, is_float):
        """Subtracts one zero point, or one for each scale, as integers or floats."""
        shape = scales.shape if self.draw(False, True) else ()
        zeros = self.make_parameter(self.rng.integers(self.low, self.high, shape).astype(self.dtype))
        if not is_float:
            return self.node("Sub", x, self.node("Cast", zeros, to=TensorProto.INT32))
        return self.node("Sub", x, self.node("Cast", zeros, to=FLOAT) if self.draw(False, True)
                         else zeros.astype(np.float32))

    def multiply(self, x, scales):
        """Multiplies by scales in one of several ways, or divides by their reciprocals."""
        given = self.make_parameter(scales)
        way = self.draw("right", "left", "divide", "two", "coded")
        if way == "right":
            return self.node("Mul", x, given)
        if way == "left":
            return self.node("Mul", given, x)
        if way == "divide":
            return self.node("Div", x, 1 / given)
        if way == "two":
            return self.node("Mul", self.node("Mul", x, np.float32(0.25)), 4 * given)
        # The scales are dequantized themselves.
        codes = self.rng.integers(1, 256, given.shape).astype(np.uint8)
        return self.node("Mul", x, self.node("Mul", self.node("Cast", codes, to=FLOAT), np.float32(1e-4)))

    def dequantize(self):
        """Returns the float weights. They have a row for each output unless `is_turned` is true."""
        x, is_split = self.make_integers()
        if not is_split and self.draw(False, True):
            x, is_split = self.reshape(x, *self.shape), True
        scales = self.make_scale()
        if is_split and len(self.shape) == 2 and self.draw(False, False, True):
            x = self.node("DequantizeLinear", x, scales.reshape(-1) if scales.ndim else scales, axis=int(self.is_turned))
            return x
        zeros = self.draw(None, "integers", "floats", "floats")
        if zeros == "integers" and is_split:
            x = self.node("Cast", self.subtract_zeros(self.node("Cast", x, to=TensorProto.INT32), scales, False), to=FLOAT)
        else:
            x = self.node("Cast", x, to=FLOAT)
        if not is_split:
            x = self.reshape(x, *self.shape)
        if zeros == "floats":
            x = self.subtract_zeros(x, scales, True)
        x = self.multiply(x, scales)
        if len(self.shape) == 3:
            x = self.reshape(x, self.outputs, self.depth)
        return x


class DequantizedChains(Case):
    def check(self, seed, use):
        chain = Chain(seed, use)
        x = chain.dequantize()
        rng, columns = chain.rng, chain.outputs
        inputs, feeds = [("x", ["n", chain.depth])], {"x": rng.standard_normal((5, chain.depth)).astype(np.float32)}
        if use == "lookup":
            inputs, columns = [("x", ["n"], TensorProto.INT64)], chain.depth
            feeds = {"x": rng.integers(0, chain.outputs, 9)}
            x = chain.node("Transpose", x, perm=[1, 0]) if chain.is_turned else x
            y = chain.node("Gather", x, "x", axis=0)
        elif use == "gemm":
            y = chain.node("Gemm", "x", x, rng.standard_normal(columns).astype(np.float32), transB=int(not chain.is_turned))
        else:
            y = chain.node("MatMul", "x", x if chain.is_turned else chain.node("Transpose", x, perm=[1, 0]))
        proto = make_model(chain.nodes, inputs, [(y, ["n", columns])], chain.values, opset=21)
        # With a smaller cache, weights are worth being read as bytes.
        artifact = self.compile(self.save(proto), "--target=x86-64-v3,l2=64K")
        want = ReferenceEvaluator(proto).run(None, feeds)[0]
        got = self.run_model(artifact, feeds)[y]
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-5 * np.abs(want).max())
        weights = chain.outputs * chain.depth
        # Products store four bits, and lookups a byte. A scale and a zero point take 8 bytes.
        stored = weights if use == "lookup" else weights * chain.bits // 8
        shared = {None: weights, ROW: chain.depth}.get(chain.shared, chain.shared)
        self.assertLess(os.path.getsize(artifact), stored + 8 * weights // shared + (64 << 10))

    def test_random_chains(self):
        """Chains of Cast, Sub, Mul, Div, Reshape and Transpose before products and lookups."""
        for seed in range(DRAWS):
            use = ("product", "gemm", "lookup")[seed % 3]
            with self.subTest(seed=seed, use=use):
                self.check(seed, use)

    def test_gathered_parts(self):
        """A model that looks up bytes, scales and zero points itself, and dequantizes the rows that it found."""
        rng = np.random.default_rng(1)
        rows, depth, block = 4096, 256, 32
        w = rng.integers(-128, 128, (rows, depth // block, block)).astype(np.int8)
        scales = (0.01 * rng.random((rows, depth // block, 1))).astype(np.float32)
        zeros = rng.integers(-9, 9, (rows, depth // block, 1)).astype(np.int8)
        nodes = [helper.make_node("Gather", [each, "ids"], ["g" + each]) for each in "wsz"]
        nodes += [helper.make_node("Cast", ["g" + each], ["f" + each], to=FLOAT) for each in "wz"]
        nodes += [helper.make_node("Sub", ["fw", "fz"], ["d"]), helper.make_node("Mul", ["d", "gs"], ["m"]),
                  helper.make_node("Reshape", ["m", "shape"], ["y"])]
        values = {"w": w, "s": scales, "z": zeros, "shape": np.array([-1, depth])}
        artifact = self.compile(self.save(make_model(nodes, [("ids", ["n"], TensorProto.INT64)], [("y", ["n", depth])],
                                                     values)))
        ids = rng.integers(0, rows, 7)
        want = ((w[ids].astype(np.float32) - zeros[ids]) * scales[ids]).reshape(7, depth)
        np.testing.assert_allclose(self.run_model(artifact, {"ids": ids})["y"], want, rtol=0, atol=1e-6)
        self.assertLess(os.path.getsize(artifact), w.nbytes + scales.nbytes + zeros.nbytes + (64 << 10))
