"""Tests products whose unsigned weights exceed int8 at few places, at every CPU level of this machine.

Integer operators give the bits of ONNX's reference, pairs of quantization at most one step off those of ONNX Runtime."""
import json
import unittest

import numpy as np
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

import quantized
from support import Case, peer, tool
from test_levels import cap
from test_requantize import LEVELS, model_of

# The operator, the shape of its weights, that of its data, and its attributes.
CASES = [
    ("Conv", [24, 13, 3, 3], [1, 13, 9, 11], {"pads": [1, 0, 2, 1]}),
    ("Conv", [70, 16, 1, 1], [2, 16, 9, 11], {"strides": [2, 2]}),
    ("Conv", [9, 40, 3, 2], [1, 40, 9, 11], {"dilations": [2, 3], "strides": [1, 2]}),
    ("Conv", [32, 1, 5, 5], [1, 32, 14, 14], {"pads": [2, 2, 2, 2], "group": 32}),
    ("Conv", [16, 8, 9], [1, 16, 40], {"pads": [4, 4], "group": 2}),
    ("MatMul", [50, 33], [7, 50], {}),
    ("MatMul", [64, 16], [1, 64], {}),
]
MOST_OFF = 1e-3


def weights_of(rng, shape, is_conv, places):
    """Returns unsigned weights and their zero point. Those of `places` inputs are far from it, the others are near."""
    zero = int(rng.integers(110, 146))
    weights = rng.integers(max(zero - 128, 0), min(zero + 127, 255) + 1, shape)
    flat = weights.reshape(shape[0], -1) if is_conv else weights.T
    for place in rng.choice(flat.shape[1], places, replace=False):
        flat[rng.integers(flat.shape[0]), place] = 255 if zero < 128 else 0
    return weights.astype(np.uint8), np.uint8(zero)


class ExcessWeights(Case):
    def run_levels(self, model, feeds, check):
        artifact = self.compile(model, "--target", ",".join(LEVELS))
        layers = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)["layers"]
        products = [layer for layer in layers if layer["kind"] in ("convolution", "depthwise convolution", "matmul")]
        self.assertEqual({layer["precision"] for layer in products}, {"int8"})
        self.assertEqual(len(products), 1, "sums of the data are a product of their own")
        for level in LEVELS:
            with cap(level), self.subTest(level=level):
                check(next(iter(self.run_model(artifact, feeds).values())))

    def test_operators(self):
        rng = np.random.default_rng(3)
        for kind, shape, sizes, attributes in CASES:
            for places in (1, 4):
                weights, zero = weights_of(rng, shape, kind == "Conv", places)
                outputs = shape[0] if kind == "Conv" else shape[1]
                constants = {"xs": np.float32(0.02), "xz": np.uint8(rng.integers(256)), "w": weights,
                             "ws": np.float32(0.01), "wz": zero,
                             "ys": np.float32(0.03 * np.sqrt(weights.size / outputs)), "yz": np.uint8(120)}
                model = model_of("QLinear" + kind, sizes, constants, **attributes)
                feeds = {"x": rng.integers(0, 256, sizes).astype(np.uint8)}
                want, = ReferenceEvaluator(model).run(None, feeds)
                with self.subTest(kind=kind, shape=shape, places=places):
                    self.run_levels(model, feeds, lambda got, want=want: np.testing.assert_array_equal(got, want))

    def test_pairs(self):
        for seed, (kind, shape, sizes, attributes) in enumerate(CASES):
            for places in (1, 4):
                graph = quantized.Graph(seed)
                weights, zero = weights_of(graph.rng, shape, kind == "Conv", places)
                x = graph.input(graph.rng.standard_normal(sizes).astype(np.float32))
                pair = [graph.constant(np.float32(0.02)), graph.constant(np.uint8(90 * seed % 256))]
                value = graph.node("DequantizeLinear", [graph.node("QuantizeLinear", [x, *pair]), *pair])
                floats = graph.node("DequantizeLinear", [graph.constant(weights), graph.constant(np.float32(0.01)),
                                                         graph.constant(zero)])
                q, _ = graph.quantized_pair(graph.node(kind, [value, floats], **attributes), np.uint8, 0.5)
                graph.output(q, TensorProto.UINT8, exact=False)
                model = graph.model()
                want, = peer(model, as_written=True).run(None, graph.feeds)

                def check(got, want=want):
                    off = np.abs(got.astype(int) - want.astype(int))
                    self.assertLessEqual(off.max(), 1)
                    self.assertLessEqual(np.count_nonzero(off), max(1, MOST_OFF * off.size))
                with self.subTest(kind=kind, shape=shape, places=places):
                    self.run_levels(model, graph.feeds, check)


if __name__ == "__main__":
    unittest.main()
