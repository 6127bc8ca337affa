# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests that layers which differ only in their numbers of channels share code, against ONNX Runtime."""
import re

from support import Case, NodeByNode, helper, make_model, np


class Blocks(NodeByNode):
    """Inverted residuals as in a mobile network: a product, a depthwise convolution, a product."""

    def conv(self, outputs, kernel=1, groups=1):
        shape = (outputs, self.channels // groups, kernel, kernel)
        weights = self.rng.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))
        self.value = self.node("Conv", self.value, self.constant(weights),
                               self.constant(self.rng.standard_normal(outputs)), group=groups, pads=[kernel // 2] * 4)
        self.channels = outputs

    def activate(self):
        self.value = self.node("HardSwish", self.value)

    def block(self, width):
        self.conv(width)
        self.activate()
        self.conv(width, 3, width)
        self.activate()
        self.conv(width // 4)


def blocks(widths, batch, height, width):
    net = Blocks(5, 16)
    for number in widths:
        net.block(number)
    return make_model(net.nodes, [("x", [batch, 16, height, width])],
                      [(net.value, [batch, net.channels, height, width])], net.constants)


class SimilarKernels(Case):
    WIDTHS = (192, 256, 320, 384, 448)

    def shared(self, model, *options):
        """Returns {common code: number of kernels that call it}."""
        listing = self.compile(model, "--emit=llvm", "--target=x86-64-v3", *options, name="code")
        with open(listing) as f:
            calls = re.findall(r"call void @([\w.]+\.common)\(", f.read())
        return {name: calls.count(name) for name in calls}

    def test_open_sizes(self):
        model = blocks(self.WIDTHS, "n", "h", "w")
        shared = self.shared(model)
        for kind in ("matmul", "depthwise_conv"):
            most = max((n for name, n in shared.items() if name.startswith(kind)), default=0)
            self.assertGreaterEqual(most, 3, f"{kind}: {shared}")
        for target in ("x86-64-v3", "native"):
            artifact = self.compile(model, f"--target={target}")
            for n, h, w in ((1, 14, 14), (2, 9, 23), (1, 1, 2)):
                x = np.random.default_rng(h).standard_normal((n, 16, h, w)).astype(np.float32)
                self.assert_agrees(model, artifact, {"x": x})

    def test_fixed_sizes(self):
        model = blocks(self.WIDTHS, 1, 14, 14)
        x = np.random.default_rng(1).standard_normal((1, 16, 14, 14)).astype(np.float32)
        self.assert_agrees(model, self.compile(model), {"x": x})

    def test_sums_stay_in_registers(self):
        """Products of 14 rows by 2 vectors have 28 sums; if code is shared, none may be on the stack."""
        depths = (288, 320, 352)
        nodes, weights = [], {}
        for k in depths:
            weights[f"w{k}"] = np.random.default_rng(k).standard_normal((k, 128)).astype(np.float32)
            nodes.append(helper.make_node("MatMul", [f"x{k}", f"w{k}"], [f"y{k}"]))
        for rows in (784, "n"):
            model = make_model(nodes, [(f"x{k}", [rows, k]) for k in depths], [(f"y{k}", [rows, 128]) for k in depths],
                               weights)
            with open(self.compile(model, "--emit=asm", "--target=x86-64-v4", name="code")) as f:
                code = f.read()
            self.assertGreaterEqual(len(re.findall(r"vfmadd", code)), 28)
            self.assertEqual(re.findall(r"vmov[au]ps\s+-?\d*\(%rsp\), %zmm\d+", code), [], rows)

    def test_different_kernels(self):
        """Two products, one with an activation, and a depthwise convolution."""
        model = blocks((192,), "n", "h", "w")
        self.assertEqual(self.shared(model), {})
