# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests how many bytes an int8 artifact has beside the fp32 artifact of the same model."""
import os

import numpy as np

from support import Case, NodeByNode, make_model, tool

# (expansion, channels, repeats, stride of the first one) as in MobileNetV2.
STAGES = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]

# (activation, taps of depthwise windows along a side, --target, largest ratio). A network of twice as many weights stays below 0.28 for one level.
BOUNDS = [("Clip", 3, "cascadelake", 0.28), ("Clip", 3, "x86-64-v3", 0.285), ("Clip", 3, "multi", 0.316),
          ("Gelu", 3, "cascadelake", 0.285), ("Gelu", 3, "x86-64-v3", 0.295), ("Clip", 7, "cascadelake", 0.285),
          ("Clip", 7, "x86-64-v3", 0.285)]


class InvertedResiduals(NodeByNode):
    """A network in the style of MobileNetV2. With GELU, zero points differ between layers. `taps` are those of depthwise
    windows along a side."""

    def __init__(self, seed, activation, taps):
        super().__init__(seed, 3)
        self.activation, self.taps = activation, taps

    def conv(self, filters, kernel, stride=1, depthwise=False, linear=False):
        inner = 1 if depthwise else self.channels
        scale = np.sqrt(2 / (inner * kernel * kernel))
        weights = self.constant(self.rng.normal(0, scale, (filters, inner, kernel, kernel)))
        bias = self.constant(self.rng.normal(0, 0.1, filters))
        self.value = self.node("Conv", self.value, weights, bias, kernel_shape=[kernel, kernel],
                               pads=[kernel // 2] * 4, strides=[stride, stride],
                               group=self.channels if depthwise else 1)
        self.channels = filters
        if not linear:
            bounds = [self.constant(0), self.constant(6)] if self.activation == "Clip" else []
            self.value = self.node(self.activation, self.value, *bounds)

    def block(self, expansion, channels, stride):
        before, entry = self.channels, self.value
        if expansion != 1:
            self.conv(before * expansion, 1)
        self.conv(self.channels, self.taps, stride, depthwise=True)
        self.conv(channels, 1, linear=True)
        if stride == 1 and channels == before:
            self.value = self.node("Add", entry, self.value)

    def model(self, size):
        self.conv(32, 3, 2)
        for expansion, channels, repeats, stride in STAGES:
            for i in range(repeats):
                self.block(expansion, channels, stride if i == 0 else 1)
        self.conv(1280, 1)
        self.value = self.node("GlobalAveragePool", self.value)
        self.nodes[-1].output[0] = "y"
        return make_model(self.nodes, [("x", [1, 3, size, size])], [("y", [1, 1280, 1, 1])], self.constants, opset=20)


class ArtifactSizes(Case):
    def ratio(self, activation, taps, *options):
        """Returns the bytes of the int8 artifact divided by those of the fp32 artifact."""
        size = 32 * taps
        model = self.save(InvertedResiduals(1, activation, taps).model(size))
        np.savez(self.path("data.npz"), x=np.random.default_rng(2).normal(size=(1, 3, size, size)).astype(np.float32))
        calibration = self.path("model.calib.json")
        done = tool("ingot", "calibrate", model, "--data", self.path("data.npz"), "-o", calibration, "--repair=none")
        self.assertEqual(done.returncode, 0, done.stderr)
        floats = self.compile(model, *options, name="fp32")
        bytes_ = self.compile(model, "--precision=int8", f"--calibration={calibration}", *options, name="int8")
        return os.path.getsize(bytes_) / os.path.getsize(floats)

    def test_ratio(self):
        for activation, taps, target, most in BOUNDS:
            with self.subTest(activation=activation, taps=taps, target=target):
                self.assertLess(self.ratio(activation, taps, f"--target={target}"), most)
