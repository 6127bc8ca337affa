# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which layers `--precision=int8` computes in bytes, beside convolutions and matrix products, and what that costs."""
import json

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from support import Case, tool


class Layers(Case):
    def check(self, nodes, weights, shape, data, wanted, opset=17):
        """Precisions of the layers by their first node, and the error of the output against fp32."""
        graph = helper.make_graph(nodes, "layers", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                                  [numpy_helper.from_array(value.astype(np.float32), name)
                                   for name, value in weights.items()])
        model = self.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8))
        np.savez(self.path("data.npz"), x=data)
        calibration = self.path("model.calib.json")
        done = tool("ingot", "calibrate", model, "--data", self.path("data.npz"), "--method", "minmax", "--repair=none",
                    "-o", calibration)
        self.assertEqual(done.returncode, 0, done.stderr)
        artifact = self.compile(model, "--precision=int8", f"--calibration={calibration}", name="int8")
        layers = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)["layers"]
        found = {layer["nodes"][0]: layer["precision"] for layer in layers if layer["nodes"]}
        self.assertEqual({node: found.get(node) for node in wanted}, wanted)
        feeds = {"x": data[:shape[0]]}
        floats = self.run_model(self.compile(model, name="fp32"), feeds)["y"]
        error = self.run_model(artifact, feeds)["y"] - floats
        self.assertLess(np.linalg.norm(error), 0.05 * np.linalg.norm(floats))

    def test_transposed_convolutions(self):
        """Of what a relu leaves, and of what may be negative, in bytes."""
        rng = np.random.default_rng(1)
        weights = {"w1": rng.standard_normal((32, 8, 3, 3)), "w2": rng.standard_normal((32, 16, 2, 2)),
                   "b2": rng.standard_normal(16), "w3": rng.standard_normal((16, 8, 4, 4))}
        nodes = [helper.make_node("Conv", ["x", "w1"], ["a"], name="down", pads=[1] * 4),
                 helper.make_node("Relu", ["a"], ["b"], name="relu"),
                 helper.make_node("ConvTranspose", ["b", "w2", "b2"], ["c"], name="up", strides=[2, 2]),
                 helper.make_node("ConvTranspose", ["c", "w3"], ["y"], name="signed", strides=[2, 2], pads=[1] * 4)]
        data = rng.standard_normal((4, 8, 12, 12)).astype(np.float32)
        self.check(nodes, weights, [1, 8, 12, 12], data, {"down": "int8", "up": "int8", "signed": "int8"})

    def test_recurrent_nets(self):
        """What the input adds to the gates is a product of bytes."""
        rng = np.random.default_rng(2)
        for kind, gates in (("LSTM", 4), ("GRU", 3)):
            with self.subTest(kind=kind):
                weights = {"w": 0.1 * rng.standard_normal((1, gates * 32, 48)),
                           "r": 0.1 * rng.standard_normal((1, gates * 32, 32))}
                nodes = [helper.make_node(kind, ["x", "w", "r"], ["y"], name="net", hidden_size=32)]
                data = rng.standard_normal((60, 1, 48)).astype(np.float32)
                self.check(nodes, weights, [20, 1, 48], data, {"net": "int8"})
