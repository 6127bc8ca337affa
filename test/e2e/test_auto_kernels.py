# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""--kernels=auto and the files it writes."""
import json
import os

import numpy as np
from onnx import helper

from support import Case, make_model, tool


def small_model(shape=(1, 4, 12, 12)):
    """Two convolutions, a residual, a matrix product."""
    rng = np.random.default_rng(7)
    nodes = [helper.make_node("Conv", ["x", "w0"], ["c0"], "conv0", pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["c0"], ["r0"], "relu0"),
             helper.make_node("Conv", ["r0", "w1"], ["c1"], "conv1", pads=[1, 1, 1, 1]),
             helper.make_node("Add", ["c1", "x"], ["s"], "add0"),
             helper.make_node("GlobalAveragePool", ["s"], ["g"], "pool0"),
             helper.make_node("Flatten", ["g"], ["f"], "flatten0"),
             helper.make_node("Gemm", ["f", "w2"], ["y"], "gemm0")]
    weights = {"w0": rng.standard_normal((4, 4, 3, 3)).astype(np.float32),
               "w1": rng.standard_normal((4, 4, 3, 3)).astype(np.float32),
               "w2": rng.standard_normal((4, 3)).astype(np.float32)}
    return make_model(nodes, [("x", shape)], [("y", [shape[0], 3])], weights)


def uses_onednn(artifact):
    return "onednn" in tool("ingot", "inspect", artifact).stdout.lower()


def has_onednn(case):
    return uses_onednn(case.compile(small_model(), "--kernels=onednn", name="probe"))


class AutoKernels(Case):
    def setUp(self):
        super().setUp()
        if not has_onednn(self):
            self.skipTest("oneDNN is not here")
        self.inputs = {"x": np.random.default_rng(0).standard_normal((1, 4, 12, 12)).astype(np.float32)}

    def write(self, kernels, onednn=(), name="choice.json"):
        layers = [{"nodes": [node], "kernels": "onednn"} for node in onednn]
        path = self.path(name)
        with open(path, "w") as f:
            json.dump({"ingot_kernels": 1, "kernels": kernels, "layers": layers}, f)
        return path

    def test_auto_measures_and_writes(self):
        model = small_model()
        self.assert_agrees(model, self.compile(model, "--kernels=auto"), self.inputs)
        with open(self.path("model.kernels.json")) as f:
            found = json.load(f)
        self.assertIn(found["kernels"], ("native", "onednn", "mixed"))
        self.assertGreater(found["latency_ms"]["native"], 0)
        self.assertGreater(found["latency_ms"]["onednn"], 0)
        nodes = [node for layer in found["layers"] for node in layer["nodes"]]
        self.assertEqual(len(nodes), len(set(nodes)), "a node is in two layers")
        self.assertTrue({"conv0", "conv1", "gemm0"} <= set(nodes), nodes)

    def test_file_makes_the_same_artifact(self):
        model = small_model()
        with open(self.compile(model, "--kernels=auto"), "rb") as f:
            measured = f.read()
        os.rename(self.path("model.kernels.json"), self.path("kept.json"))
        with open(self.compile(model, "--kernels", self.path("kept.json")), "rb") as f:
            self.assertEqual(f.read(), measured)

    def test_mixed(self):
        model = small_model()
        artifact = self.compile(model, "--kernels", self.write("mixed", ["conv1"]))
        self.assertTrue(uses_onednn(artifact))
        self.assert_agrees(model, artifact, self.inputs)
        done = tool("ingot", "compile", self.path("model.onnx"), "--kernels", self.path("choice.json"),
                    "--emit=mlir-linalg", "-o", "-")
        self.assertEqual((done.stdout.count("dnnl.convolution"), done.stdout.count("cpu.conv")), (1, 1))

    def test_native_and_onednn(self):
        self.assertFalse(uses_onednn(self.compile(small_model(), "--kernels", self.write("native"))))
        self.assertTrue(uses_onednn(self.compile(small_model(), "--kernels", self.write("onednn"))))

    def test_file_of_another_model(self):
        self.assert_refuses(small_model(), "another model", "conv9",
                            options=("--kernels", self.write("mixed", ["conv9"])))

    def test_dynamic_shape(self):
        self.assert_refuses(small_model(("n", 4, 12, 12)), "--kernels=auto", "--shape", "'x'",
                            options=("--kernels=auto",))


class KernelsFiles(Case):
    """Files that are none."""
    sanitize = True

    def refuse(self, text, *words):
        path = self.path("bad.json")
        with open(path, "w") as f:
            f.write(text)
        self.assert_refuses(small_model(), "bad.json", *words, options=("--kernels", path))

    def test_bad_files(self):
        self.refuse("", "json")
        self.refuse("[1]", "not a file")
        self.refuse('{"ingot_kernels": 2}', "not a file")
        self.refuse('{"ingot_kernels": 1, "kernels": "fast"}', "native, onednn, mixed")
        self.refuse('{"ingot_kernels": 1, "kernels": "mixed"}', "layers")
        self.refuse('{"ingot_kernels": 1, "kernels": "mixed", "layers": [3]}', "a layer lacks")
        self.refuse('{"ingot_kernels": 1, "kernels": "mixed", "layers": [{"kernels": "onednn", "nodes": [1]}]}',
                    "string")

    def test_missing_file_and_unknown_name(self):
        self.assert_refuses(small_model(), "nowhere.json", options=("--kernels", self.path("nowhere.json")))
        self.assert_refuses(small_model(), "--kernels=fast", "auto", options=("--kernels=fast",))

    def test_auto_makes_libraries_only(self):
        self.assert_refuses(small_model(), "--kernels=auto", options=("--kernels=auto", "--emit=asm"))

