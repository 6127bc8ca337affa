"""Tests depthwise convolutions of data with a scale for each channel, as some quantizers write them, at every CPU level of
this machine. Results are at most one step off those of ONNX Runtime."""
import json
import unittest

import numpy as np
from onnx import TensorProto

import quantized
from support import Case, peer, tool
from test_levels import cap
from test_requantize import LEVELS

CHANNELS, SIDE = 48, 12
MOST_OFF = 1e-3


class ChannelScales(Case):
    def check(self, activation, dtype, stride, per_output):
        graph = quantized.Graph(len(activation) + stride)
        rng = graph.rng

        def pair(value, scales, zeros, axis=1):
            names = [graph.constant(scales), graph.constant(zeros)]
            return graph.node("DequantizeLinear", [graph.node("QuantizeLinear", [value, *names], axis=axis), *names],
                              axis=axis)

        def weights(shape):
            scales = rng.uniform(0.005, 0.02, shape[0] if per_output else []).astype(np.float32)
            return graph.node("DequantizeLinear", [
                graph.constant(rng.integers(-127, 128, shape).astype(np.int8)), graph.constant(scales),
                graph.constant(np.zeros(scales.shape, np.int8))], axis=0)
        x = pair(graph.input(rng.standard_normal([1, 16, SIDE, SIDE]).astype(np.float32)), np.float32(0.03), np.uint8(120))
        y = graph.node("Conv", [x, weights([CHANNELS, 16, 1, 1]),
                                graph.constant(rng.standard_normal(CHANNELS).astype(np.float32))])
        if activation == "Clip":
            y = graph.node("Clip", [y, graph.constant(np.float32(0)), graph.constant(np.float32(6))])
        elif activation:
            y = graph.node(activation, [y])
        largest = rng.uniform(2, 6, CHANNELS)
        largest[::5] = 6
        steps = 255 if dtype is np.uint8 else 127
        y = pair(y, (largest / steps).astype(np.float32), np.zeros(CHANNELS, dtype))
        y = graph.node("Conv", [y, weights([CHANNELS, 1, 3, 3])], group=CHANNELS, pads=[1] * 4, strides=[stride] * 2)
        q, _ = graph.quantized_pair(y, np.uint8, 0.2)
        graph.output(q, TensorProto.UINT8, exact=False)
        model = graph.model()
        want, = peer(model, as_written=True).run(None, graph.feeds)
        artifact = self.compile(model, "--target", ",".join(LEVELS))
        layers = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)["layers"]
        self.assertEqual([layer["precision"] for layer in layers if "matmul" in layer["kind"] or "conv" in layer["kind"]],
                         ["int8", "int8"])
        for level in LEVELS:
            with cap(level), self.subTest(activation=activation, dtype=dtype.__name__, level=level):
                got, = self.run_model(artifact, graph.feeds).values()
                off = np.abs(got.astype(int) - want.astype(int))
                self.assertLessEqual(off.max(), 1)
                self.assertLessEqual(np.count_nonzero(off), max(1, MOST_OFF * off.size))

    def test_activations(self):
        for activation in ("", "Relu", "Clip", "HardSwish", "Sigmoid"):
            for dtype in (np.uint8, np.int8):
                self.check(activation, dtype, 1 + (activation == "Relu"), dtype is np.uint8)


if __name__ == "__main__":
    unittest.main()
