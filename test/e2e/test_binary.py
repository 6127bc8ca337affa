"""Tests networks of signs, whose products count bits, against ONNX Runtime and against integers."""
import json
import unittest

import numpy as np
from onnx import helper

from support import Case, NodeByNode, make_model, tool
from test_levels import cap
from test_quantized import LEVELS

with open("/proc/cpuinfo") as cpuinfo:
    flags = cpuinfo.read().split()
if {"avx512_vpopcntdq", "avx512_bf16"} <= set(flags):
    # The level znver4 counts bits with vector instructions.
    LEVELS = LEVELS + ["znver4"]
# f32 holds all sums of these values, in any order.
BINARY = np.array([-1, 1], np.float32)


class Net(NodeByNode):
    def conv(self, channels, kernel=3, pads=None, scale=True, **attributes):
        """Adds a convolution with signs as weights, times a power of two per output channel."""
        shape = (channels, self.channels // attributes.get("group", 1), kernel, kernel)
        weights = self.rng.choice(BINARY, shape)
        if scale:
            weights = weights * np.float32(2) ** self.rng.integers(-3, 2, (channels, 1, 1, 1))
        self.value = self.node("Conv", self.value, self.constant(weights), kernel_shape=[kernel] * 2,
                               pads=pads or [kernel // 2] * 4, **attributes)
        self.channels = channels

    def norm(self):
        """Adds a normalization by values that f32 holds, so that many results are exactly 0."""
        values = [2.0 ** self.rng.integers(-2, 2, self.channels), self.rng.integers(-2, 3, self.channels),
                  self.rng.integers(-3, 4, self.channels), np.ones(self.channels)]
        values[0] *= self.rng.choice([-1, 1], self.channels)
        self.value = self.node("BatchNormalization", self.value, *map(self.constant, values), epsilon=0.0)

    def sign(self, form="Sign"):
        if form == "Sign":
            self.value = self.node("Sign", self.value)
            return
        kind, positive, other = {"Where": ("GreaterOrEqual", 1, -1), "Half": ("Greater", 0.5, -0.5),
                                 "Relu": ("Greater", 1, 0)}[form]
        condition = self.node(kind, self.value, self.constant(0))
        self.value = self.node("Where", condition, self.constant(positive), self.constant(other))

    def matmul(self, columns):
        weights = self.rng.choice(BINARY, (self.channels, columns))
        self.value = self.node("MatMul", self.value, self.constant(weights))
        self.channels = columns

    def model(self, shape):
        return make_model([*self.nodes, helper.make_node("Identity", [self.value], ["y"])], [("x", shape)],
                          [("y", None)], self.constants, opset=16)


def with_zeros(rng, sizes, share=0.2):
    x = rng.integers(-4, 5, sizes).astype(np.float32)
    x[rng.random(sizes) < share] = 0
    return x


class Binary(Case):
    def count_products(self, model, word="#cpu.weights<signs"):
        """Returns the number of products that count bits, or that compare their sums (`dst_signs`)."""
        lowered = self.path("lowered.mlir")
        self.save(model)
        tool("ingot", "compile", self.path("model.onnx"), "--emit=mlir-linalg", "-o", lowered)
        with open(lowered) as file:
            return file.read().count(word)

    def check(self, net, shape, products, sizes=None, levels=LEVELS, compared=None):
        """Every result equals that of ONNX Runtime, bit for bit. `products` of them count bits, and `compared` store
        them."""
        model = net.model(shape)
        # The second and the last level may be equal.
        levels = list(dict.fromkeys(levels))
        artifact = self.compile(model, "--target", ",".join(levels))
        self.assertEqual(self.count_products(model), products)
        if compared is not None:
            self.assertEqual(self.count_products(model, "dst_signs"), compared)
        rng = np.random.default_rng(5)
        sizes = sizes or shape
        cases = [with_zeros(rng, sizes), with_zeros(rng, sizes, 0.002), rng.choice(BINARY, sizes)]
        for level in levels:
            for i, x in enumerate(cases):
                with cap(level), self.subTest(level=level, case=i):
                    self.assert_agrees(model, artifact, {"x": x}, tolerance=0)

    def test_channels(self):
        """Numbers of channels that do not fill the last i32 of a pixel, or the last pair of i32."""
        for channels in (48, 64, 65, 97, 128, 200, 300):
            with self.subTest(channels=channels):
                net = Net(channels, channels)
                net.sign()
                net.conv(40)
                self.check(net, [1, channels, 5, 9], 1, levels=LEVELS[:2] + LEVELS[-1:])

    def test_few_channels(self):
        """With few channels, signs are multiplied as bytes, because counting bits is not faster."""
        net = Net(1, 32)
        net.sign()
        net.conv(64)
        self.check(net, [1, 32, 6, 6], 0, levels=LEVELS[-1:])

    def test_outputs(self):
        for channels in (8, 16, 33, 70):
            with self.subTest(channels=channels):
                net = Net(channels, 64)
                net.sign()
                net.conv(channels)
                self.check(net, [1, 64, 4, 7], 1, levels=LEVELS[:1] + LEVELS[-1:])

    def test_windows(self):
        """Strides, dilations, and padding of one side, of none, and of more than the data."""
        for attributes in ({"strides": [2, 2]}, {"dilations": [2, 3]}, {"pads": [0, 2, 1, 0]}, {"pads": [0, 0, 0, 0]},
                           {"kernel": 1, "strides": [2, 1]}, {"kernel": 5, "pads": [4, 4, 4, 4]}, {"kernel": 1}):
            with self.subTest(attributes):
                net = Net(3, 100)
                net.sign()
                net.conv(70, **attributes)
                self.check(net, [2, 100, 7, 17], 1)

    def test_batches(self):
        net = Net(4, 64)
        net.sign()
        net.conv(64)
        self.check(net, ["n", 64, 6, 15], 1, sizes=[3, 64, 6, 15])

    def test_groups(self):
        """Groups stay bytes."""
        net = Net(4, 128)
        net.sign()
        net.conv(128, group=2)
        self.check(net, [1, 128, 6, 6], 0, levels=LEVELS[-1:])

    def test_open_rows(self):
        net = Net(4, 64)
        net.sign()
        net.conv(64)
        self.check(net, [1, 64, "h", "w"], 0, sizes=[1, 64, 5, 8], levels=LEVELS[-1:])

    def test_blocks(self):
        """A whole network: signs of normalized sums of other layers, and a residual."""
        for form in ("Sign", "Where", "Half", "Relu"):
            with self.subTest(form):
                net = Net(6, 64)
                net.sign(form)
                net.conv(96)
                net.norm()
                skip = net.value
                net.sign(form)
                net.conv(96)
                net.norm()
                net.value = net.node("Add", net.value, skip)
                net.sign(form)
                net.value = net.node("MaxPool", net.value, kernel_shape=[2, 2], strides=[2, 2])
                net.conv(80, kernel=1)
                net.norm()
                self.check(net, [2, 64, 12, 10], 3)

    def test_scaled(self):
        """Signs are multiplied by one common factor, and by a factor for each output, as in XNOR-Net."""
        net = Net(7, 128)
        net.sign()
        net.value = net.node("Mul", net.value, net.constant(0.125))
        net.conv(64)
        net.norm()
        self.check(net, [1, 128, 8, 8], 1)

    def test_matmul(self):
        for rows, depth, columns in ((1, 256, 1000), (1, 4096, 64), (7, 100, 70), (65, 513, 64)):
            with self.subTest(rows=rows, depth=depth):
                net = Net(depth, depth)
                net.sign()
                net.matmul(columns)
                net.sign()
                net.matmul(64)
                self.check(net, [rows, depth], 2 if columns >= 48 else 1)

    def test_open_matmul(self):
        net = Net(8, 192)
        net.sign("Where")
        net.matmul(100)
        for rows in (1, 5, 40):
            with self.subTest(rows=rows):
                self.check(net, ["n", 192], 1, sizes=[rows, 192])

    def test_other_weights(self):
        """Weights that contain 0, or data with more than three values, are multiplied as bytes."""
        net = Net(9, 64)
        net.sign()
        net.conv(64)
        net.constants["c0"][0, 0, 0, 0] = 0
        self.check(net, [1, 64, 5, 5], 0, levels=LEVELS[-1:])
        net = Net(9, 64)
        net.value = net.node("Round", net.node("Clip", net.value, net.constant(-2), net.constant(2)))
        net.conv(64)
        self.check(net, [1, 64, 5, 5], 0, levels=LEVELS[-1:])

    def test_emulated(self):
        """Runs code that counts bits with vector instructions. A CPU without these instructions emulates them."""
        net = Net(10, 100)
        net.sign()
        net.conv(70)
        net.norm()
        net.sign()
        net.conv(64)
        model = net.model([1, 100, 6, 9])
        artifact = self.compile(model, "--target=sapphirerapids", "--emulate-on=x86-64-v3")
        x = with_zeros(np.random.default_rng(1), [1, 100, 6, 9])
        self.assert_agrees(model, artifact, {"x": x}, tolerance=0)

    def chain(self, seed, channels, forms, between=lambda net: None, **attributes):
        """Makes a chain of convolutions. All but the last one store only the signs of their sums."""
        net = Net(seed, channels[0])
        net.sign(forms[0])
        for wanted, form in zip(channels[1:], forms[1:]):
            net.conv(wanted, **attributes)
            net.norm()
            between(net)
            net.sign(form)
        net.conv(40)
        return net

    def test_stored_channels(self):
        """Numbers of channels that do not fill the last stored i32, pair of i32, or vector. Results may be 0."""
        for channels in (48, 64, 65, 97, 129, 200, 300):
            with self.subTest(channels=channels):
                net = self.chain(channels, [64, channels, channels], ["Sign"] * 3)
                self.check(net, [1, 64, 5, 9], 3, compared=2, levels=LEVELS[:2] + LEVELS[-1:])

    def test_stored_bits(self):
        """No result is 0, so each has one bit."""
        for form in ("Where", "Half"):
            for channels in (48, 80, 113, 256):
                with self.subTest(form, channels=channels):
                    net = self.chain(channels, [96, channels, channels, channels], [form] * 4)
                    self.check(net, [2, 96, 7, 6], 4, compared=3, levels=LEVELS[:2] + LEVELS[-1:])

    def test_stored_forms(self):
        """Any monotonic function may be between a sum and its sign."""
        betweens = {"Relu": lambda net: net.node("Relu", net.value),
                    "Clip": lambda net: net.node("Clip", net.value, net.constant(-2), net.constant(3)),
                    "Neg": lambda net: net.node("Neg", net.value),
                    "LeakyRelu": lambda net: net.node("LeakyRelu", net.value, alpha=0.25)}
        for name, make in betweens.items():
            with self.subTest(name):
                def between(net, make=make):
                    net.value = make(net)
                net = self.chain(12, [64, 96, 70], ["Sign", "Sign", "Relu"], between)
                self.check(net, [1, 64, 6, 8], 3, compared=2, levels=LEVELS[:1] + LEVELS[-1:])

    def test_stored_windows(self):
        for attributes in ({"strides": [2, 2]}, {"dilations": [2, 1]}, {"pads": [0, 2, 1, 0]}, {"kernel": 1}):
            with self.subTest(attributes):
                net = self.chain(13, [64, 128, 96], ["Sign", "Sign", "Where"], **attributes)
                self.check(net, [2, 64, 17, 20], 3, compared=2, levels=LEVELS[:1] + LEVELS[-1:])

    def test_not_stored(self):
        """A magnitude is not monotonic; a maximum of pixels reads bytes."""
        def magnitude(net):
            net.value = net.node("Add", net.node("Abs", net.value), net.constant(-9))

        net = self.chain(14, [64, 64], ["Sign", "Sign"], magnitude)
        self.check(net, [1, 64, 6, 6], 2, compared=0, levels=LEVELS[-1:])
        net = self.chain(14, [64, 64], ["Sign", "Sign"])
        net.nodes.insert(-1, helper.make_node("MaxPool", [net.nodes[-1].input[0]], ["pooled"], kernel_shape=[2, 2]))
        net.nodes[-1].input[0] = "pooled"
        self.check(net, [1, 64, 6, 6], 2, compared=0, levels=LEVELS[-1:])

    def test_stored_matmul(self):
        for rows, depth, columns in ((1, 256, 1000), (7, 100, 70), (65, 513, 128), (40, 64, 64)):
            with self.subTest(rows=rows, columns=columns):
                net = Net(depth, depth)
                net.sign()
                net.matmul(columns)
                net.norm()
                net.sign("Where")
                net.matmul(64)
                self.check(net, [rows, depth], 2, compared=1)

    def test_stored_open_matmul(self):
        net = Net(8, 192)
        net.sign("Where")
        net.matmul(100)
        net.sign("Where")
        net.matmul(64)
        for rows in (1, 5, 40):
            with self.subTest(rows=rows):
                self.check(net, ["n", 192], 2, sizes=[rows, 192], compared=1)

    def test_stored_rounding(self):
        """A sum's sign is the sign after the rounding of the following f32 ops, also for scales that no float
        represents."""
        rng = np.random.default_rng(15)
        scale = rng.choice([0.1, -0.1, 1 / 3, -0.7], 64).astype(np.float32)
        # Makes thresholds at possible sums, or the next float above or below.
        shift = np.float32(-scale * rng.integers(-9, 10, 64).astype(np.float32))
        shift = np.where(rng.random(64) < 0.5, shift, np.nextafter(shift, rng.choice([-1, 1], 64), dtype=np.float32))
        shape = [1, 96, 5, 10]
        net = Net(16, 96)
        net.sign()
        net.conv(64, kernel=1, scale=False)
        net.value = net.node("Mul", net.value, net.constant(scale.reshape(64, 1, 1)))
        net.value = net.node("Add", net.value, net.constant(shift.reshape(64, 1, 1)))
        net.sign()
        net.conv(64, kernel=1, scale=False)
        model = net.model(shape)
        self.assertEqual(self.count_products(model, "dst_signs"), 1)
        first, second = (value[:, :, 0, 0] for value in net.constants.values() if value.ndim == 4)
        x = with_zeros(rng, shape)
        sums = np.einsum("oc,nchw->nohw", first, np.sign(x))
        signs = np.sign(sums * scale.reshape(64, 1, 1) + shift.reshape(64, 1, 1))
        self.assertGreater((signs == 0).sum(), 10)
        want = np.einsum("oc,nchw->nohw", second, signs)
        artifact = self.compile(model, "--target", ",".join(LEVELS))
        for level in LEVELS:
            with cap(level), self.subTest(level=level):
                np.testing.assert_array_equal(self.run_model(artifact, {"x": x})["y"], want)

    def test_smaller(self):
        """Each weight takes one bit."""
        sizes = []
        for share in (True, False):
            net = Net(11, 256)
            net.sign()
            net.conv(256)
            if not share:
                net.constants["c0"][:] = net.rng.normal(0, 1, net.constants["c0"].shape)
            artifact = self.compile(net.model([1, 256, 8, 8]))
            sizes.append(json.loads(tool("ingot", "inspect", "--json", artifact).stdout)["weights_bytes"])
        self.assertLess(sizes[0], sizes[1] / 30)


if __name__ == "__main__":
    unittest.main()
