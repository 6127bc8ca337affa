# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constant integers that Cast, Sub and Mul dequantize stay integers in the artifact, and results are exact."""
import os

import numpy as np
from onnx import TensorProto, helper

from support import Case, make_model

DEPTH, COLUMNS, ROWS = 192, 256, 1500


class DequantizedByHand(Case):
    def check(self, nodes, inputs, outputs, initializers, feeds, want, stored, extra=64 << 10):
        """The artifact has at most `extra` bytes beside the `stored` bytes of integers."""
        model = self.save(make_model(nodes, inputs, outputs, initializers))
        # With a smaller cache, weights are worth being read as bytes.
        artifact = self.compile(model, "--target=x86-64-v3,l2=64K")
        got = self.run_model(artifact, feeds)["y"]
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-5 * np.abs(want).max())
        self.assertLess(os.path.getsize(artifact), stored + extra)

    def test_products(self):
        """Weights of signed and unsigned bytes, with a scale and a zero point for all or for each column."""
        rng = np.random.default_rng(1)
        x = rng.standard_normal((7, DEPTH)).astype(np.float32)
        each = (0.01 * rng.random(COLUMNS) + 0.001).astype(np.float32)
        for dtype, zero in ((np.int8, None), (np.uint8, 128), (np.uint8, 3), (np.int8, -4)):
            info = np.iinfo(dtype)
            w = rng.integers(info.min, info.max + 1, (DEPTH, COLUMNS)).astype(dtype)
            zeros = {} if zero is None else {"one": np.float32(zero), "each": rng.integers(0, 9, COLUMNS).astype(np.float32)}
            for scale in (np.float32(0.02), each, each[None, :]):
                for kind, z in (zeros or {"none": None}).items():
                    with self.subTest(dtype=dtype.__name__, scale=scale.shape, zero=kind, value=zero):
                        nodes = [helper.make_node("Cast", ["w"], ["c"], to=TensorProto.FLOAT)]
                        values = {"w": w, "s": scale}
                        if z is not None:
                            nodes.append(helper.make_node("Sub", ["c", "z"], ["d"]))
                            values["z"] = z
                        nodes += [helper.make_node("Mul", [nodes[-1].output[0], "s"], ["f"]),
                                  helper.make_node("MatMul", ["x", "f"], ["y"])]
                        weights = (w.astype(np.float32) - (0 if z is None else z)) * scale
                        self.check(nodes, [("x", ["n", DEPTH])], [("y", ["n", COLUMNS])], values, {"x": x}, x @ weights, w.nbytes)

    def test_transposed(self):
        """A scale for each row of weights that a Transpose turns."""
        rng = np.random.default_rng(2)
        x = rng.standard_normal((7, DEPTH)).astype(np.float32)
        w = rng.integers(-127, 128, (COLUMNS, DEPTH)).astype(np.int8)
        scale = (0.01 * rng.random((COLUMNS, 1))).astype(np.float32)
        nodes = [helper.make_node("Cast", ["w"], ["c"], to=TensorProto.FLOAT), helper.make_node("Mul", ["s", "c"], ["f"]),
                 helper.make_node("Transpose", ["f"], ["t"], perm=[1, 0]), helper.make_node("MatMul", ["x", "t"], ["y"])]
        self.check(nodes, [("x", ["n", DEPTH])], [("y", ["n", COLUMNS])], {"w": w, "s": scale}, {"x": x},
                   x @ (w * scale).T, w.nbytes)

    def test_tables(self):
        """Lookups in tables with a scale for all, for each row and for each column, by hand and by DequantizeLinear."""
        rng = np.random.default_rng(3)
        w = rng.integers(-128, 128, (ROWS, DEPTH)).astype(np.int8)
        ids = rng.integers(0, ROWS, (2, 9)).astype(np.int64)
        rows = (0.01 * rng.random((ROWS, 1)) + 0.001).astype(np.float32)
        columns = (0.01 * rng.random(DEPTH) + 0.001).astype(np.float32)
        zeros = rng.integers(-9, 9, ROWS).astype(np.int8)
        for kind, scale in (("all", np.float32(0.5)), ("rows", rows), ("columns", columns)):
            with self.subTest(kind):
                nodes = [helper.make_node("Cast", ["w"], ["c"], to=TensorProto.FLOAT), helper.make_node("Mul", ["c", "s"], ["f"]),
                         helper.make_node("Gather", ["f", "ids"], ["y"])]
                self.check(nodes, [("ids", [2, "n"], TensorProto.INT64)], [("y", [2, "n", DEPTH])], {"w": w, "s": scale},
                           {"ids": ids}, (w * scale)[ids], w.nbytes + 4 * ROWS)
        nodes = [helper.make_node("DequantizeLinear", ["w", "s", "z"], ["f"], axis=0), helper.make_node("Gather", ["f", "ids"], ["y"])]
        self.check(nodes, [("ids", [2, "n"], TensorProto.INT64)], [("y", [2, "n", DEPTH])],
                   {"w": w, "s": rows[:, 0], "z": zeros}, {"ids": ids},
                   ((w.astype(np.float32) - zeros[:, None].astype(np.float32)) * rows)[ids], w.nbytes + 5 * ROWS)
