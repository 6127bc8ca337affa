"""Tests exports of PyTorch's trained quantization: bytes of seven bits, factors and normalizations after products."""
import json
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from support import Case, tool

# Quantized values may differ by one step, but at most one in a thousand.
MOST_OFF = 1e-3


class Trained:
    """A graph as `torch.ao.quantization` exports it: QuantizeLinear, Clip, DequantizeLinear; Conv, Div, Add,
    BatchNormalization, Relu."""

    def __init__(self, largest, seed=0):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.largest = [], [], largest

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, kind, inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def pair(self, value, scale, zero):
        scale, zero = self.constant(np.float32(scale)), self.constant(np.uint8(zero))
        value = self.node("QuantizeLinear", [value, scale, zero])
        value = self.node("Clip", [value, self.constant(np.uint8(0)), self.constant(np.uint8(self.largest))])
        return value, self.node("DequantizeLinear", [value, scale, zero])

    def block(self, value, channels, outputs, kernel, stride=1, extreme=None, activation="Relu"):
        shape = (outputs, channels, kernel, kernel)
        weights = self.rng.integers(-128, 128, shape) if extreme is None else np.full(shape, extreme)
        weights = self.node("DequantizeLinear", [
            self.constant(weights.astype(np.int8)), self.constant(self.rng.uniform(1e-3, 2e-3, outputs).astype(np.float32)),
            self.constant(np.zeros(outputs, np.int8))], axis=0)
        value = self.node("Conv", [value, weights], pads=[kernel // 2] * 4, strides=[stride] * 2)
        value = self.node("Div", [value, self.constant(self.rng.uniform(0.5, 2, (1, outputs, 1, 1)).astype(np.float32))])
        value = self.node("Add", [value, self.constant(self.rng.normal(0, 1, (1, outputs, 1, 1)).astype(np.float32))])
        value = self.node("BatchNormalization", [value] + [
            self.constant(self.rng.uniform(*bounds, outputs).astype(np.float32))
            for bounds in ((0.5, 2), (-1, 1), (-1, 1), (0.5, 2))])
        return self.node(activation, [value]) if activation else value

    def model(self, output, sizes, element=TensorProto.UINT8):
        graph = helper.make_graph(self.nodes, "trained", [helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)],
                                  [helper.make_tensor_value_info(output, element, [None] * 4)], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


class TrainedQuantization(Case):
    def check(self, model, x):
        want = ReferenceEvaluator(model).run(None, {"x": x})[0]
        got = self.run_model(self.compile(model), {"x": x})[model.graph.output[0].name]
        off = np.abs(got.astype(int) - want)
        self.assertLessEqual(off.max(), 1)
        self.assertLessEqual(np.count_nonzero(off), MOST_OFF * off.size)
        # Values must vary in size, or saturated sums would not be noticed.
        self.assertGreater(np.unique(want).size, 20)

    def test_blocks(self):
        for largest in (127, 255):
            for sizes in ([1, 16, 20, 20], ["n", 16, "h", "w"]):
                with self.subTest(largest=largest, sizes=sizes):
                    graph = Trained(largest)
                    _, value = graph.pair("x", 0.03, 60)
                    _, value = graph.pair(graph.block(value, 16, 32, 3), 0.1, 0)
                    value = graph.node("MaxPool", [value], kernel_shape=[2, 2], strides=[2, 2])
                    _, value = graph.pair(graph.block(value, 32, 46, 1), 0.1, 3)
                    result, _ = graph.pair(graph.block(value, 46, 32, 3, stride=2), 0.1, 0)
                    self.check(graph.model(result, sizes), graph.rng.normal(0, 1.5, (1, 16, 20, 20)).astype(np.float32))

    def test_activations_between_pairs(self):
        """Networks whose layers were not merged quantize before and after an activation, with one scale or two."""
        activations = (("Relu", {}, ()), ("Clip", {}, (0.0, 6.0)), ("Clip", {}, (-1.1, 2.3)), ("HardSwish", {}, ()))
        for largest in (127, 255):
            for kind, attributes, bounds in activations:
                for after in (0.1, 0.07):
                    with self.subTest(largest=largest, kind=kind, bounds=bounds, after=after):
                        graph = Trained(largest)
                        _, value = graph.pair("x", 0.03, 60)
                        for channels in (16, 32):
                            _, value = graph.pair(graph.block(value, channels, 32, 3, activation=None), 0.1, 50)
                            value = graph.node(kind, [value] + [graph.constant(np.float32(b)) for b in bounds], **attributes)
                            result, value = graph.pair(value, after, 50)
                        self.check(graph.model(result, [1, 16, 12, 12]),
                                   graph.rng.normal(0, 1.5, (1, 16, 12, 12)).astype(np.float32))

    def test_pair_after_every_module(self):
        """Networks may have a pair behind each module: a normalization, an activation, a sum, a mean and a gate."""
        for activation, element in (("Relu", np.uint8), ("HardSwish", np.uint8), ("Relu", np.int8), ("HardSwish", np.int8)):
            for seed in range(2):
                with self.subTest(activation=activation, element=element.__name__, seed=seed):
                    self.check_modules(activation, element, seed)

    def check_modules(self, activation, element, seed):
        graph = Trained(255, seed)
        shift = 0 if element == np.uint8 else -128

        def pair(value, scale, zero):
            """Quantizes with a scale that has no simple ratio to others."""
            scale = graph.constant(np.float32(scale * graph.rng.uniform(0.9, 1.1)))
            zero = graph.constant(element(zero + shift))
            byte = graph.node("QuantizeLinear", [value, scale, zero])
            return byte, graph.node("DequantizeLinear", [byte, scale, zero])

        def conv(value, channels, outputs, size):
            weights = graph.node("DequantizeLinear", [
                graph.constant(graph.rng.integers(-127, 128, (outputs, channels, size, size)).astype(np.int8)),
                graph.constant((graph.rng.uniform(1, 2, outputs) / (90 * size * channels ** 0.5)).astype(np.float32)),
                graph.constant(np.zeros(outputs, np.int8))], axis=0)
            return graph.node("Conv", [value, weights], pads=[size // 2] * 4)

        def normalized(value, channels):
            return graph.node("BatchNormalization", [value] + [
                graph.constant(graph.rng.uniform(*bounds, channels).astype(np.float32))
                for bounds in ((0.7, 1.4), (-0.3, 0.3), (-0.2, 0.2), (0.8, 1.3))])
        _, x = pair("x", 0.025, 128)
        _, y = pair(conv(x, 16, 16, 3), 0.03, 128)
        _, y = pair(normalized(y, 16), 0.035, 120)
        _, y = pair(graph.node(activation, [y]), 0.018, 21)
        _, mean = pair(graph.node("GlobalAveragePool", [y]), 0.01, 15)
        _, gate = pair(conv(mean, 16, 16, 1), 0.02, 128)
        _, gate = pair(graph.node("HardSigmoid", [gate], alpha=0.2, beta=0.5), 1 / 255, 0)
        _, y = pair(graph.node("Mul", [y, gate]), 0.012, 21)
        _, y = pair(graph.node("Add", [y, x]), 0.03, 110)
        result, _ = pair(graph.node("Relu", [y]), 0.017, 0)
        model = graph.model(result, [1, 16, 24, 24], TensorProto.UINT8 if element == np.uint8 else TensorProto.INT8)
        self.check(model, graph.rng.normal(0, 1, (1, 16, 24, 24)).astype(np.float32))

    def test_largest_sums(self):
        """The sum of two products 127 * 127 fits int16, the sum of two products 255 * 127 does not. Padding with a zero
        point may exceed 127."""
        for largest, zero in ((127, 0), (127, 120), (127, 200), (128, 0), (255, 0)):
            with self.subTest(largest=largest, zero=zero):
                graph = Trained(largest)
                _, value = graph.pair("x", 0.02, zero)
                # Weights have the sign of most of the data, so that results are positive and pass relu.
                block = graph.block(value, 32, 32, 3, stride=2, extreme=127 if zero < 64 else -128)
                result, _ = graph.pair(block, 2.0, 0)
                x = graph.rng.uniform(-6, 6, (1, 32, 24, 24)).astype(np.float32)
                x[:, :, :12] = 6
                self.check(graph.model(result, [1, 32, 24, 24]), x)

    def instructions(self, largest):
        graph = Trained(largest)
        _, value = graph.pair("x", 0.03, 0)
        result, _ = graph.pair(graph.block(value, 32, 32, 3, stride=2), 0.1, 0)
        path = self.save(graph.model(result, [1, 32, 24, 24]))
        done = tool("ingot", "compile", path, "--target=x86-64-v3", "--emit=asm", "-o", self.path("m.s"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("m.s"), encoding="utf-8") as file:
            return file.read()

    def test_instructions(self):
        """Bytes of seven bits are multiplied in pairs; no division follows a product."""
        narrow, wide = self.instructions(127), self.instructions(255)
        self.assertIn("vpmaddubsw", narrow)
        self.assertNotIn("vpmaddubsw", wide)

    def test_layers_name_all_nodes(self):
        graph = Trained(127)
        _, value = graph.pair("x", 0.03, 0)
        result, _ = graph.pair(graph.block(value, 32, 32, 3), 0.1, 0)
        model = graph.model(result, [1, 32, 24, 24])
        for node in model.graph.node:
            node.name = "the" + node.op_type
        report = json.loads(tool("ingot", "inspect", "--json", self.compile(model)).stdout)
        nodes = [layer["nodes"] for layer in report["layers"] if layer["kind"] == "convolution"][0]
        for name in ("theConv", "theDiv", "theAdd", "theBatchNormalization"):
            self.assertTrue(any(name in node for node in nodes), (name, nodes))


if __name__ == "__main__":
    unittest.main()
