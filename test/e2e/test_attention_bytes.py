# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of bytes between QuantizeLinear and DequantizeLinear: results equal ONNX Runtime's, node by node.

A probability may lie between two steps, where the last bits of an exponential decide. A result may thus differ by a few
steps of one probability; on average it differs by less than a tenth of a step.
"""
import re

import numpy as np
from onnx import TensorProto

import quantized
from support import Case, peer, tool

U8, S8 = np.uint8, np.int8
# The instructions of these levels are replaced by arithmetic of x86-64-v3.
LEVELS = {level: [f"--target={level}", "--emulate-on=x86-64-v3"] for level in ("alderlake", "znver4", "sapphirerapids")}
LEVELS |= {level: [f"--target={level}"] for level in ("x86-64-v2", "x86-64-v3")}
VNNI = LEVELS["znver4"]
# Steps of a result: how many it may differ at most, and on average.
MOST_STEPS, MEAN_STEPS = 4, 0.1
P_SCALE = 1 / 255


class Attention:
    """A model of one attention: the types and zero points of its factors, roundings of scores, and a mask."""

    def __init__(self, seed, batch=1, heads=2, queries=20, keys=24, size=32, values=32, types=(U8, U8, U8),
                 zeros=(120, 131, 127), p=(U8, 0), rounds=(), mask=None, kv_heads=None):
        graph = quantized.Graph(seed)
        self.graph, self.batch, self.heads, self.kv_heads = graph, batch, heads, kv_heads or heads
        q = self.factor(types[0], zeros[0], heads, queries, size, (0, 2, 1, 3))
        k = self.factor(types[1], zeros[1], self.kv_heads, keys, size, (0, 2, 3, 1))
        v = self.factor(types[2], zeros[2], self.kv_heads, keys, values, (0, 2, 1, 3), scale=0.01)
        x = self.rounded(graph.node("MatMul", [q, k]), 0.02 * size ** 0.5, "product" in rounds)
        x = graph.node("Div", [x, graph.constant(np.float32(4 * size ** 0.5))])
        x = self.rounded(x, 0.01, "scores" in rounds)
        if mask is not None:
            added = np.where(graph.rng.random(mask) < 0.2, -2.0, 0.0).astype(np.float32)
            x = graph.node("Add", [x, graph.input(added)])
            x = self.rounded(x, 0.02, "masked" in rounds)
        x = graph.node("Softmax", [x], axis=-1)
        y = graph.node("MatMul", [self.pair(x, p[0], P_SCALE, p[1]), v])
        graph.output(graph.node("Transpose", [y], perm=[0, 2, 1, 3]), TensorProto.FLOAT, exact=False)
        self.step = P_SCALE * 0.01 * 128

    def pair(self, x, dtype, scale, zero):
        """Quantizes and dequantizes."""
        scale, zero = self.graph.constant(np.float32(scale)), self.graph.constant(np.array(zero, dtype))
        return self.graph.node("DequantizeLinear", [self.graph.node("QuantizeLinear", [x, scale, zero]), scale, zero])

    def rounded(self, x, scale, is_rounded):
        return self.pair(x, S8, scale, -3) if is_rounded else x

    def factor(self, dtype, zero, heads, length, size, perm, scale=0.02):
        """Returns an input of bytes, dequantized, with its heads in front. Heads are repeated if there are fewer."""
        graph, info = self.graph, np.iinfo(dtype)
        data = graph.rng.integers(info.min, info.max + 1, (self.batch, length, heads, size)).astype(dtype)
        x = graph.node("DequantizeLinear", [graph.input(data), graph.constant(np.float32(scale)),
                                            graph.constant(np.array(zero, dtype))])
        if heads != self.heads:
            indices = np.repeat(np.arange(heads), self.heads // heads)
            x = graph.node("Gather", [x, graph.constant(indices)], axis=2)
        return graph.node("Transpose", [x], perm=perm)


class Bytes(Case):
    def check(self, attention, *options, fused=True):
        """Compares with ONNX Runtime, and checks if one kernel computes the attention of bytes."""
        model, feeds = attention.graph.model(), attention.graph.feeds
        done = tool("ingot", "compile", self.save(model), "-o", "-", "--emit=mlir-linalg", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual("#cpu.attention_bytes" in done.stdout, fused)
        got = self.run_model(self.compile(model, *options), feeds)
        session = peer(model, as_written=True)
        for output, want in zip(session.get_outputs(), session.run(None, feeds)):
            steps = np.abs(got[output.name] - want) / attention.step
            self.assertLessEqual(steps.max(), MOST_STEPS)
            self.assertLessEqual(steps.mean(), MEAN_STEPS)

    def test_types(self):
        """Signs and zero points of the factors and of the probabilities."""
        for seed, (types, zeros, p) in enumerate((((U8, U8, U8), (120, 131, 127), (U8, 0)),
                                                  ((S8, S8, S8), (0, 0, 0), (S8, 0)),
                                                  ((S8, S8, S8), (-7, 5, 3), (S8, -128)),
                                                  ((U8, S8, S8), (128, 0, 0), (U8, 0)),
                                                  ((S8, U8, U8), (3, 0, 128), (U8, 9)))):
            for level in ("znver4", "x86-64-v3"):
                with self.subTest(types=types, zeros=zeros, level=level):
                    self.check(Attention(seed, types=types, zeros=zeros, p=p), *LEVELS[level])

    def test_sizes(self):
        """Few keys, keys and columns that do not fill tiles, self and cross attention, long heads, several samples."""
        for seed, sizes in enumerate((dict(queries=8, keys=1, size=16, values=16), dict(queries=33, keys=7, values=48),
                                      dict(queries=64, keys=64, size=64, values=64), dict(queries=50, keys=50, heads=3),
                                      dict(queries=9, keys=130, size=80, values=16, batch=2),
                                      dict(queries=17, keys=1024, size=128, values=64))):
            with self.subTest(**sizes):
                self.check(Attention(10 + seed, **sizes), *VNNI)

    def test_masks_and_roundings(self):
        """Masks of keys, of heads and of all scores, between each rounding."""
        for seed, (mask, rounds) in enumerate((((2, 1, 1, 24), ("product",)), ((20, 24), ("product", "scores", "masked")),
                                               ((1, 2, 20, 24), ("scores",)), ((24,), ("masked",)),
                                               (None, ("product", "scores")))):
            with self.subTest(mask=mask, rounds=rounds):
                self.check(Attention(20 + seed, batch=2, mask=mask, rounds=rounds), *VNNI)

    def test_open_sizes(self):
        """Open numbers of samples, queries and keys, and more keys than a task keeps scores of."""
        for seed, sizes in enumerate((dict(batch=2, queries=20, keys=24, mask=(2, 1, 1, 24), rounds=("product",)),
                                      dict(queries=70, keys=131, values=64, rounds=("product", "scores")),
                                      dict(queries=1, keys=3), dict(queries=33, keys=300, zeros=(128, 0, 128)))):
            attention = Attention(60 + seed, **sizes)
            for info, length in zip(attention.graph.inputs, ("M", "N", "N")):
                for dim, name in zip(info.type.tensor_type.shape.dim, ("B", length)):
                    dim.dim_param = name
            for info in attention.graph.inputs[3:]:
                for dim, name in zip(info.type.tensor_type.shape.dim, ("B", "", "", "N")):
                    if name:
                        dim.dim_param = name
            for level in ("znver4", "x86-64-v3"):
                with self.subTest(level=level, **sizes):
                    self.check(attention, *LEVELS[level])
        with self.subTest("many keys"):
            self.check(Attention(70, heads=1, queries=9, keys=1500), *VNNI)

    def test_shared_heads(self):
        """Several heads of queries share keys and values."""
        self.check(Attention(30, heads=6, kv_heads=2), *VNNI)

    def test_levels(self):
        """All levels have the same results."""
        attention = Attention(40, queries=40, keys=45, size=48, values=64, rounds=("product",))
        model, results = attention.graph.model(), []
        for options in LEVELS.values():
            artifact = self.compile(model, *options)
            results.append(next(iter(self.run_model(artifact, attention.graph.feeds).values())))
        for level, result in zip(LEVELS, results):
            self.assertLessEqual(np.abs(result - results[0]).mean() / attention.step, MEAN_STEPS, level)

    def test_declined(self):
        """Few queries and odd heads stay separate products, with the same results."""
        for seed, sizes in enumerate((dict(queries=3), dict(size=20), dict(values=40))):
            with self.subTest(**sizes):
                self.check(Attention(50 + seed, **sizes), *VNNI, fused=False)

    def test_computed_products(self):
        """A product of two computed factors of bytes, without a softmax."""
        for seed, (left, right) in enumerate(((U8, U8), (S8, S8), (U8, S8), (S8, U8))):
            graph = quantized.Graph(80 + seed)
            factors = []
            for dtype, shape in ((left, (2, 40, 72)), (right, (2, 72, 48))):
                info = np.iinfo(dtype)
                data = graph.rng.integers(info.min, info.max + 1, shape).astype(dtype)
                factors.append(graph.node("DequantizeLinear", [graph.input(data), graph.constant(np.float32(0.02)),
                                                               graph.constant(np.array(info.min + 100, dtype))]))
            graph.output(graph.node("MatMul", factors), TensorProto.FLOAT, exact=False)
            model = graph.model()
            done = tool("ingot", "compile", self.save(model), "-o", "-", "--emit=mlir-linalg", *VNNI)
            self.assertIn("xi8>", re.search(r"cpu\.matmul.*", done.stdout).group())
            # ONNX Runtime's product of bytes saturates on CPUs without VNNI.
            self.assert_agrees(model, self.compile(model, *VNNI), graph.feeds, as_written=True)
