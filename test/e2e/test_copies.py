# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests that no layer of a network copies or transposes pixels, for any sizes."""
import json

import numpy as np
from onnx import helper

from support import Case, make_model, tool

X = [("x", ["n", 3, "h", "w"])]


class Copies(Case):
    def weights(self, **shapes):
        rng = np.random.default_rng(7)
        return {name: (rng.standard_normal(shape) / np.prod(shape[1:]) ** 0.5).astype(np.float32)
                for name, shape in shapes.items()}

    def check(self, nodes, weights, largest_copy=4096):
        """The result is right at two sizes, fixed and dynamic. No copy has the size of an image, except for the image's
        transpose."""
        model = make_model(nodes, X, [("y", ["n", None, None, None])], weights)
        for options in (["--shape=x=1x3x24x20"], []):
            artifact = self.compile(model, *options)
            for shape in [(1, 3, 24, 20)] + [(2, 3, 17, 33)] * (not options):
                x = np.random.default_rng(8).standard_normal(shape).astype(np.float32)
                self.assert_agrees(model, artifact, {"x": x})
            report = json.loads(tool("ingot", "bench", artifact, "--json", "--profile", "--shape", "x=1x3x24x20",
                                     "--duration", "1ms", "--warm-up", "0ms", "--iterations", "1").stdout)
            text = open(self.compile(model, *options, "--compile-to=layout")).read()
            self.assertLessEqual(text.count(" = nn.transpose "), 2, "but for the model's input and output")
            moved = [layer["nodes"] for layer in report["layers"] if layer["kind"] in ("copy", "transpose") and
                     layer["bytes"] > largest_copy and not {"first", "last"} & set(layer["nodes"])]
            self.assertEqual(moved, [])

    def test_products_are_joined(self):
        """A fire module: 1x1 and 3x3 convolutions, and another matrix, side by side."""
        nodes = [helper.make_node("Conv", ["x", "w"], ["a"], "first", pads=[1] * 4)]
        for name, pad in (("p", 0), ("q", 1), ("r", 0)):
            nodes += [helper.make_node("Conv", ["a", name], [f"{name}0"], f"conv_{name}", pads=[pad] * 4),
                      helper.make_node("Relu", [f"{name}0"], [f"{name}1"], f"relu_{name}")]
        nodes += [helper.make_node("Concat", ["r1", "q1", "p1"], ["b"], "concat", axis=1),
                  helper.make_node("Conv", ["b", "v"], ["y"], "last", pads=[1] * 4)]
        self.check(nodes, self.weights(w=(24, 3, 3, 3), p=(32, 24, 1, 1), q=(40, 24, 3, 3), r=(20, 24, 1, 1),
                                       v=(8, 92, 3, 3)))

    def test_channels_are_weighted(self):
        """Efficient channel attention: the model expands the weights of a 1-D convolution to all pixels."""
        nodes = [helper.make_node("Conv", ["x", "w"], ["a"], "first", pads=[1] * 4),
                 helper.make_node("ReduceMean", ["a"], ["mean"], "mean", axes=[2, 3], keepdims=0),
                 helper.make_node("Unsqueeze", ["mean", "one"], ["row"], "row"),
                 helper.make_node("Conv", ["row", "taps"], ["mixed"], "mix", pads=[1, 1]),
                 helper.make_node("Sigmoid", ["mixed"], ["gate"], "gate"),
                 helper.make_node("Unsqueeze", ["gate", "ends"], ["column"], "column"),
                 helper.make_node("Transpose", ["column"], ["pixel"], "pixel", perm=[0, 2, 1, 3]),
                 helper.make_node("Shape", ["a"], ["sizes"], "sizes"),
                 helper.make_node("Expand", ["pixel", "sizes"], ["gates"], "expand"),
                 helper.make_node("Mul", ["a", "gates"], ["b"], "mul"),
                 helper.make_node("Add", ["a", "b"], ["c"], "add"),
                 helper.make_node("Conv", ["c", "v"], ["y"], "last", pads=[1] * 4)]
        weights = self.weights(w=(24, 3, 3, 3), v=(8, 24, 3, 3), taps=(1, 1, 3))
        self.check(nodes, weights | {"one": np.array([1], np.int64), "ends": np.array([3], np.int64)})
