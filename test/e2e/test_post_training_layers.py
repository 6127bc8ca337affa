# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests layers other than convolutions and matrix products with `--precision=int8`: their precision and their error."""
import json
import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from support import Case, tool


class Layers(Case):
    def check(self, nodes, weights, shape, data, wanted, opset=17):
        """Checks the precisions of the layers by node, the error of the output against fp32, and the relative size of
        the artifact."""
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
        found = {node: layer["precision"] for layer in layers for node in layer["nodes"]}
        self.assertEqual({node: found.get(node) for node in wanted}, wanted)
        fp32 = self.compile(model, name="fp32")
        feeds = {"x": data[:shape[0]]}
        floats = self.run_model(fp32, feeds)["y"]
        error = self.run_model(artifact, feeds)["y"] - floats
        self.assertLess(np.linalg.norm(error), 0.05 * np.linalg.norm(floats))
        return os.path.getsize(artifact) / os.path.getsize(fp32)

    def test_transposed_convolutions(self):
        """Transposed convolutions are computed in int8, for data after a relu and for data that may be negative."""
        rng = np.random.default_rng(1)
        weights = {"w1": rng.standard_normal((32, 8, 3, 3)), "w2": rng.standard_normal((32, 16, 2, 2)),
                   "b2": rng.standard_normal(16), "w3": rng.standard_normal((16, 8, 4, 4))}
        nodes = [helper.make_node("Conv", ["x", "w1"], ["a"], name="down", pads=[1] * 4),
                 helper.make_node("Relu", ["a"], ["b"], name="relu"),
                 helper.make_node("ConvTranspose", ["b", "w2", "b2"], ["c"], name="up", strides=[2, 2]),
                 helper.make_node("ConvTranspose", ["c", "w3"], ["y"], name="signed", strides=[2, 2], pads=[1] * 4)]
        data = rng.standard_normal((4, 8, 12, 12)).astype(np.float32)
        self.check(nodes, weights, [1, 8, 12, 12], data, {"down": "int8", "up": "int8", "signed": "int8"})

    def test_grouped_transposed_convolutions(self):
        """Groups of several channels are in bytes; groups of one channel stay floats."""
        rng = np.random.default_rng(9)
        weights = {"w1": rng.standard_normal((32, 8, 3, 3)), "w2": rng.standard_normal((32, 16, 4, 4)),
                   "b2": rng.standard_normal(32), "w3": rng.standard_normal((32, 3, 2, 2)),
                   "w4": rng.standard_normal((12, 1, 3, 3))}
        nodes = [helper.make_node("Conv", ["x", "w1"], ["a"], name="down", pads=[1] * 4),
                 helper.make_node("Relu", ["a"], ["b"], name="relu"),
                 helper.make_node("ConvTranspose", ["b", "w2", "b2"], ["c"], name="two", strides=[2, 2], pads=[1] * 4,
                                  group=2),
                 helper.make_node("ConvTranspose", ["c", "w3"], ["d"], name="four", strides=[2, 2], group=4),
                 helper.make_node("ConvTranspose", ["d", "w4"], ["y"], name="single", strides=[2, 2], group=12)]
        data = rng.standard_normal((4, 8, 12, 12)).astype(np.float32)
        self.check(nodes, weights, [1, 8, 12, 12], data,
                   {"down": "int8", "two": "int8", "four": "int8", "single": ""})

    def test_recurrent_nets(self):
        """The product of the input and the gates' weights is computed in int8."""
        rng = np.random.default_rng(2)
        for kind, gates in (("LSTM", 4), ("GRU", 3)):
            with self.subTest(kind=kind):
                weights = {"w": 0.1 * rng.standard_normal((1, gates * 32, 48)),
                           "r": 0.1 * rng.standard_normal((1, gates * 32, 32))}
                nodes = [helper.make_node(kind, ["x", "w", "r"], ["y"], name="net", hidden_size=32)]
                data = rng.standard_normal((60, 1, 48)).astype(np.float32)
                self.check(nodes, weights, [20, 1, 48], data, {"net": "int8"})

    def test_states(self):
        """Recurrent products of 64 units or more are in bytes, too, in each kind of network, direction and batch."""
        rng = np.random.default_rng(3)
        for kind, gates, directions, batch in (("LSTM", 4, 1, 1), ("LSTM", 4, 2, 3), ("GRU", 3, 1, 2), ("GRU", 3, 2, 1),
                                               ("RNN", 1, 1, 1)):
            with self.subTest(kind=kind, directions=directions, batch=batch):
                units = 192
                weights = {"w": 0.1 * rng.standard_normal((directions, gates * units, 64)),
                           "r": 0.1 * rng.standard_normal((directions, gates * units, units))}
                nodes = [helper.make_node(kind, ["x", "w", "r"], ["y"], name="net", hidden_size=units,
                                          direction=["forward", "bidirectional"][directions - 1])]
                data = rng.standard_normal((60, batch, 64)).astype(np.float32)
                self.assertLess(self.check(nodes, weights, [20, batch, 64], data, {"net": "int8"}), 0.4)

    def test_loops(self):
        """The product in a Loop's body is quantized, and a rule can keep it in fp32."""
        rng = np.random.default_rng(4)
        body = helper.make_graph(
            [helper.make_node("MatMul", ["h", "r"], ["p"], name="step"), helper.make_node("Add", ["p", "x"], ["s"]),
             helper.make_node("Tanh", ["s"], ["next"]), helper.make_node("Identity", ["c"], ["go"])], "body",
            [helper.make_tensor_value_info("i", TensorProto.INT64, []),
             helper.make_tensor_value_info("c", TensorProto.BOOL, []),
             helper.make_tensor_value_info("h", TensorProto.FLOAT, [1, 128])],
            [helper.make_tensor_value_info("go", TensorProto.BOOL, []),
             helper.make_tensor_value_info("next", TensorProto.FLOAT, [1, 128])])
        weights = {"r": 0.1 * rng.standard_normal((128, 128)), "v": 0.1 * rng.standard_normal((128, 128))}
        nodes = [helper.make_node("Constant", [], ["n"], value_int=60),
                 helper.make_node("MatMul", ["x", "v"], ["h0"], name="first"),
                 helper.make_node("Loop", ["n", "", "h0"], ["y"], name="loop", body=body)]
        data = rng.standard_normal((12, 128)).astype(np.float32)
        self.assertLess(self.check(nodes, weights, [1, 128], data, {"first": "int8", "step": "int8"}), 0.5)
        calibration = f"--calibration={self.path('model.calib.json')}"
        kept = self.compile(self.path("model.onnx"), "--precision=int8", calibration, "--keep=step=fp32", name="kept")
        self.assertGreater(os.path.getsize(kept), os.path.getsize(self.path("int8.so")) + 128 * 128 * 2)
        # The sensitivity of each product, and of both together, equals the error of an artifact.
        done = tool("ingot", "compare", self.path("int8.so"), self.path("model.onnx"), "--data", self.path("data.npz"),
                    "--sensitivity", calibration, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        found = {layer["nodes"][0]: layer for layer in report["sensitivity"]["layers"]}
        self.assertEqual(found["step"]["tensor"], "")
        self.assertGreater(found["step"]["relative_error"], 0)
        made = report["outputs"][0]["relative_error"]
        self.assertAlmostEqual(report["sensitivity"]["relative_error"], made, delta=0.1 * made)
