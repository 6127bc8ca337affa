"""Tests networks that were trained for few bits and quantize in float operations, against ONNX Runtime."""
import json
import unittest

import numpy as np
from onnx import helper

from support import Case, NodeByNode, make_model, tool
from test_levels import cap
from test_quantized import LEVELS


class Net(NodeByNode):
    """A network with weights as training leaves them."""

    def __init__(self, seed):
        super().__init__(seed, channels=3)

    def conv(self, levels, channels, kernel=3, group=1, **attributes):
        """Adds a convolution; `levels(shape)` are its weights before the factor of each output channel."""
        weights = levels(self.rng, (channels, self.channels // group, kernel, kernel))
        self.value = self.node("Conv", self.value, self.constant(weights), pads=[kernel // 2] * 4, group=group,
                               **attributes)
        self.channels = channels

    def norm(self):
        values = [self.rng.uniform(0.5, 1.5, self.channels), self.rng.normal(0, 0.3, self.channels),
                  self.rng.normal(0, 0.3, self.channels), self.rng.uniform(0.5, 2, self.channels)]
        self.value = self.node("BatchNormalization", self.value, *map(self.constant, values))

    def dorefa(self, bits):
        n = self.constant(2**bits - 1)
        clipped = self.node("Clip", self.value, self.constant(0), self.constant(1))
        self.value = self.node("Div", self.node("Round", self.node("Mul", clipped, n)), n)

    def learned(self, step, least, most):
        step = self.constant(step)
        clipped = self.node("Clip", self.node("Div", self.value, step), self.constant(least), self.constant(most))
        self.value = self.node("Mul", self.node("Round", clipped), step)

    def halves_up(self, bits):
        """Adds floor(x n + 1/2) / n."""
        n = self.constant(2**bits - 1)
        scaled = self.node("Mul", self.node("Sigmoid", self.value), n)
        self.value = self.node("Div", self.node("Floor", self.node("Add", scaled, self.constant(0.5))), n)

    def binary(self, form):
        if form == "Sign":
            self.value = self.node("Sign", self.value)
            return
        self.nodes.append(helper.make_node("GreaterOrEqual", [self.value, self.constant(0)], ["is_positive"]))
        self.value = self.node("Where", "is_positive", self.constant(1), self.constant(-1))

    def close(self):
        """Ends the network with a float layer."""
        self.value = self.node("GlobalAveragePool", self.value)
        self.conv(float_weights, 10, kernel=1)
        return self

    def model(self, shape):
        return make_model([*self.nodes, helper.make_node("Identity", [self.value], ["y"])], [("x", shape)],
                          [("y", None)], self.constants, opset=16)


def dorefa_weights(bits):
    """2 quantize(tanh(w) / 2 max|tanh(w)| + 1/2) - 1."""
    def levels(rng, shape):
        n = np.float32(2**bits - 1)
        w = np.tanh(rng.normal(0, 1, shape)).astype(np.float32)
        return 2 * np.round((w / (2 * np.abs(w).max()) + np.float32(0.5)) * n) / n - 1
    return levels


def ternary_weights(rng, shape):
    return rng.choice([-1, 0, 1], shape) * rng.uniform(0.01, 0.3, (shape[0], 1, 1, 1))


def binary_weights(rng, shape):
    return rng.choice([-1, 1], shape) * rng.uniform(0.01, 0.3, (shape[0], 1, 1, 1))


def learned_weights(rng, shape):
    return np.clip(np.round(rng.normal(0, 3, shape)), -8, 7) * np.float32(0.0731)


def float_weights(rng, shape):
    return rng.normal(0, 0.2, shape)


def dorefa(bits):
    net = Net(bits)
    net.conv(float_weights, 24)
    net.norm()
    net.dorefa(bits)
    net.conv(dorefa_weights(bits), 32)
    net.norm()
    net.dorefa(bits)
    net.value = net.node("MaxPool", net.value, kernel_shape=[2, 2], strides=[2, 2])
    net.conv(dorefa_weights(bits), 40, strides=[2, 2])
    net.norm()
    net.dorefa(bits)
    net.conv(dorefa_weights(bits), 48, kernel=1)
    return net.close(), 3


def learned_steps():
    """A network with a depthwise convolution, negative values, and a residual."""
    net = Net(7)
    net.conv(float_weights, 32)
    net.norm()
    net.learned(0.21, 0, 15)
    skip = net.value
    net.conv(learned_weights, 32, group=32)
    net.norm()
    net.learned(0.13, -8, 7)
    net.conv(learned_weights, 32, kernel=1)
    net.value = net.node("Relu", net.node("Add", net.value, skip))
    net.learned(0.4, 0, 255)
    net.conv(learned_weights, 16)
    return net.close(), 3


def binary(form):
    net = Net(11)
    net.conv(float_weights, 32)
    net.norm()
    net.binary(form)
    net.conv(binary_weights, 64)
    net.norm()
    net.binary("Sign")
    net.conv(binary_weights, 48)
    return net.close(), 2


def ternary():
    """A network with data of another rounding, concatenated with itself."""
    net = Net(13)
    net.conv(float_weights, 16)
    net.halves_up(8)
    net.value = net.node("Concat", net.value, net.value, axis=1)
    net.channels = 32
    net.conv(ternary_weights, 24)
    return net.close(), 1


class FakeQuantize(Case):
    def check(self, made):
        net, products = made
        for shape, sizes in (([2, 3, 17, 20], [2, 3, 17, 20]), (["n", 3, "h", "w"], [1, 3, 14, 9])):
            model = net.model(shape)
            artifact = self.compile(model, "--target", ",".join(LEVELS))
            layers = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)["layers"]
            found = {node for layer in layers if "int8" in (layer["precision"] or "") for node in layer["nodes"]}
            self.assertEqual(len([node for node in found if "Conv" in node]), products, layers)
            x = np.random.default_rng(3).standard_normal(sizes).astype(np.float32)
            for level in LEVELS:
                with cap(level), self.subTest(shape=shape, level=level):
                    self.assert_agrees(model, artifact, {"x": x}, tolerance=1e-4)

    def test_dorefa_4(self):
        self.check(dorefa(4))

    def test_dorefa_2(self):
        self.check(dorefa(2))

    def test_learned_steps(self):
        self.check(learned_steps())

    def test_sign(self):
        self.check(binary("Sign"))

    def test_choice_of_two(self):
        self.check(binary("Where"))

    def test_ternary(self):
        self.check(ternary())

    def test_smaller(self):
        """Weights are bytes in the artifact; weights that are not on a grid stay floats."""
        sizes = []
        for levels in (dorefa_weights(4), float_weights):
            net = Net(1)
            net.conv(float_weights, 64)
            net.dorefa(4)
            net.conv(levels, 256)
            artifact = self.compile(net.close().model([1, 3, 16, 16]))
            sizes.append(json.loads(tool("ingot", "inspect", "--json", artifact).stdout)["weights_bytes"])
        self.assertLess(sizes[0], 0.3 * sizes[1])


if __name__ == "__main__":
    unittest.main()
