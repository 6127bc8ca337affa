# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests --kernels=auto and the files that it writes."""
import json
import os
import subprocess
import time

import numpy as np
from onnx import helper

from support import BIN, Case, make_model, tool
from test_levels import LEVELS, cap


def small_model(shape=(1, 4, 12, 12)):
    """Two convolutions, a residual and a matrix product."""
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
    return "onednn" in json.loads(tool("ingot", "inspect", "--json", artifact).stdout)["libraries"]


def has_onednn(case):
    return uses_onednn(case.compile(small_model(), "--kernels=onednn", name="probe"))


class Choosing(Case):
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


class AutoKernels(Choosing):
    def test_auto_measures_and_writes(self):
        model = small_model()
        artifact = self.path("model.so")
        done = tool("ingot", "compile", self.save(model), "-o", artifact, "--kernels=auto")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_agrees(model, artifact, self.inputs)
        with open(self.path("model.kernels.json")) as f:
            found = json.load(f)
        self.assertIn(found["kernels"], ("native", "onednn", "mixed"))
        self.assertGreater(found["latency_ms"]["native"], 0)
        self.assertGreater(found["latency_ms"]["onednn"], 0)
        chosen = {"native": "native kernels are", "onednn": "oneDNN's kernels are", "mixed": "native kernels and oneDNN's"}
        self.assertIn(f"model.so: {chosen[found['kernels']]}", done.stdout)
        self.assertIn(f"(native {found['latency_ms']['native']:.3f} ms, oneDNN {found['latency_ms']['onednn']:.3f} ms",
                      done.stdout)
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

    def test_nothing_changes_when_a_later_step_fails(self):
        """The record is written together with the library or not at all; an older record stays."""
        source, scratch, out = self.save(small_model()), self.path("scratch"), self.path("out")
        os.makedirs(scratch)
        os.makedirs(out)
        record = os.path.join(out, "m.kernels.json")
        with open(record, "w") as f:
            f.write("old")
        compiler = subprocess.Popen([os.path.join(BIN, "ingot"), "compile", source, "--kernels=auto", "-o",
                                     os.path.join(out, "m.so")], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    text=True, env={**os.environ, "TMPDIR": scratch})
        while compiler.poll() is None and not any("oneDNN.so" in files for _, _, files in os.walk(scratch)):
            time.sleep(0.01)
        os.remove(source)  # while it is measured, which takes a second or two
        stdout, stderr = compiler.communicate(timeout=300)
        done = subprocess.CompletedProcess(compiler.args, compiler.returncode, stdout, stderr)
        self.assert_one_line(done, "model.onnx", "no such file")
        self.assertEqual(os.listdir(out), ["m.kernels.json"])
        with open(record) as f:
            self.assertEqual(f.read(), "old")
        self.assertEqual(os.listdir(scratch), [])

    def test_record_that_cannot_be_written(self):
        """This error is reported before the measurement."""
        os.makedirs(self.path("model.kernels.json"))
        done = tool("ingot", "compile", self.save(small_model()), "--kernels=auto", "-o", self.path("model.so"))
        self.assert_one_line(done, "model.kernels.json", "it is a directory")

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
        model = small_model(("n", 4, 12, 12))
        self.assert_refuses(model, "--kernels=auto", "--shape", "'x'", options=("--kernels=auto",))
        # With a shape profile, kernels are measured at its usual sizes.
        artifact = self.compile(model, "--kernels=auto", "--dim", "n=1:2:3")
        for n in (2, 3):
            self.assert_agrees(model, artifact, {"x": np.ones((n, 4, 12, 12), np.float32)})


class SeveralLevels(Choosing):
    """One choice serves all CPU levels of an artifact."""

    def setUp(self):
        super().setUp()
        with cap(None):
            here = json.loads(tool("ingot", "inspect", "--json", self.compile(small_model(), name="here")).stdout)
        self.native = here["target"]
        self.levels = [level for level in ("x86-64-v2", "x86-64-v3", "x86-64-v4")
                       if LEVELS.index(level) <= LEVELS.index(self.native)]

    def check(self, model, artifact):
        """Every level agrees with ONNX Runtime on one thread and on two."""
        info = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)
        self.assertEqual([variant["target"] for variant in info["variants"]], self.levels)
        for level in self.levels:
            with self.subTest(level), cap(level):
                self.assertEqual(json.loads(tool("ingot", "inspect", "--json", artifact).stdout)["target"], level)
                one = self.assert_agrees(model, artifact, self.inputs)
                two = self.run_model(artifact, self.inputs, "--threads", "2")
                np.testing.assert_allclose(two["y"], one["y"], rtol=1e-4, atol=1e-5)

    def test_auto_measures_and_writes(self):
        model, target = small_model(), "--target=" + ",".join(self.levels)
        artifact = self.compile(model, "--kernels=auto", target)
        self.check(model, artifact)
        with open(artifact, "rb") as f:
            measured = f.read()
        with open(self.path("model.kernels.json")) as f:
            self.assertEqual(json.load(f)["target"], self.levels[-1])
        os.rename(self.path("model.kernels.json"), self.path("kept.json"))
        with open(self.compile(model, "--kernels", self.path("kept.json"), target), "rb") as f:
            self.assertEqual(f.read(), measured)

    def test_measures_what_runs(self):
        """INGOT_MAX_ISA also applies to the measurement."""
        with cap(self.levels[0]):
            self.compile(small_model(), "--kernels=auto", "--target=" + ",".join(self.levels))
        with open(self.path("model.kernels.json")) as f:
            self.assertEqual(json.load(f)["target"], self.levels[0])

    def test_mixed(self):
        model = small_model()
        artifact = self.compile(model, "--kernels", self.write("mixed", ["conv1"]), "--target=" + ",".join(self.levels))
        self.assertTrue(uses_onednn(artifact))
        self.check(model, artifact)

    def test_level_that_cannot_be_measured(self):
        if self.native == LEVELS[-1]:
            self.skipTest("this machine runs every level")
        above = LEVELS[LEVELS.index(self.native) + 1]
        self.assert_refuses(small_model(), "measures", f"this machine ({self.native})", above,
                            options=("--kernels=auto", f"--target={above}"))


class KernelsFiles(Case):
    """Tests invalid kernel records."""
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
        self.refuse('{"ingot_kernels": 1, "kernels": "mixed", "layers": [{"kernels": "fast", "nodes": ["a"]}]}',
                    "neither native nor onednn")

    def test_missing_file_and_unknown_name(self):
        self.assert_refuses(small_model(), "nowhere.json", options=("--kernels", self.path("nowhere.json")))
        self.assert_refuses(small_model(), "--kernels=fast", "auto", options=("--kernels=fast",))

    def test_auto_makes_libraries_only(self):
        self.assert_refuses(small_model(), "--kernels=auto", options=("--kernels=auto", "--emit=asm"))

