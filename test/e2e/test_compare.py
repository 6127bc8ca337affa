# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`ingot compare`: a compiled model against its ONNX file in fp32, as a whole and by tensor."""
import json

import numpy as np
from onnx import helper

import families
from support import Case, make_model, tool


class Comparing(Case):
    def compare(self, *arguments):
        done = tool("ingot", "compare", *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def resnet(self, count=12):
        model = self.save(families.ALL["resnet"]()[0])
        x = np.random.default_rng(4).standard_normal((count, 3, 64, 64)).astype(np.float32)
        np.savez(self.path("x.npz"), input=x)
        return model, x

    def calibrate(self, model):
        done = tool("ingot", "calibrate", model, "--data", self.path("x.npz"), "--method", "minmax", "-o",
                    self.path("ranges.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path("ranges.json")

    def test_outputs(self):
        """The numbers are those of numpy."""
        model, x = self.resnet(4)
        ranges = self.calibrate(model)
        floats = self.compile(model, name="fp32")
        bytes_ = self.compile(model, "--precision=int8", f"--calibration={ranges}", name="int8")
        same = self.compare(floats, model, "--data", self.path("x.npz"))
        self.assertEqual((same["samples"], same["precision"]), (4, "fp32"))
        self.assertEqual(same["outputs"][0]["relative_error"], 0)
        self.assertEqual(same["outputs"][0]["same_largest"], 1)
        self.assertNotIn("tensors", same)
        found = self.compare(bytes_, model, "--data", self.path("x.npz"))
        self.assertEqual(found["precision"], "int8")
        want = np.concatenate([self.run_model(floats, {"input": x[i:i + 1]})["output"] for i in range(4)])
        got = np.concatenate([self.run_model(bytes_, {"input": x[i:i + 1]})["output"] for i in range(4)])
        output = found["outputs"][0]
        self.assertEqual(output["name"], "output")
        self.assertAlmostEqual(output["relative_error"], np.linalg.norm(got - want) / np.linalg.norm(want), places=6)
        self.assertAlmostEqual(output["largest_error"], np.abs(got - want).max(), places=5)
        self.assertAlmostEqual(output["cosine"], float((got * want).sum() / np.linalg.norm(got) /
                                                       np.linalg.norm(want)), places=6)
        self.assertAlmostEqual(output["same_largest"], (got.argmax(1) == want.argmax(1)).mean(), places=6)

    def test_by_tensor(self):
        """Errors are none at the input, grow on the way, and come from what is quantized."""
        model, _ = self.resnet()
        ranges = self.calibrate(model)
        artifact = self.compile(model, "--precision=int8", f"--calibration={ranges}")
        options = ["--data", self.path("x.npz"), "--per-layer", "--calibration", ranges]
        found = {t["name"]: t for t in self.compare(artifact, model, *options)["tensors"]}
        with open(ranges) as f:
            self.assertEqual(list(found), [t["name"] for t in json.load(f)["tensors"]])
        self.assertEqual(found["input"]["relative_error"], 0)
        errors = [t["relative_error"] for t in found.values()][1:]
        self.assertTrue(all(0 < e < 0.1 for e in errors), found)
        kept = self.compare(artifact, model, *options, "--keep", "*=fp32")["tensors"]
        self.assertTrue(all(t["relative_error"] < 1e-5 for t in kept), kept)

    def test_the_worst_comes_first(self):
        """One tensor whose file has a scale that is far too large."""
        model, _ = self.resnet()
        ranges = self.calibrate(model)
        with open(ranges) as f:
            text = json.load(f)
        text["tensors"][0]["scale"] *= 30
        with open(ranges, "w") as f:
            json.dump(text, f)
        artifact = self.compile(model, "--precision=int8", f"--calibration={ranges}")
        done = tool("ingot", "compare", artifact, model, "--data", self.path("x.npz"), "--per-layer", "--calibration",
                    ranges)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = done.stdout.split("the worst first:\n")[1].splitlines()[1:]
        errors = [float([cell for cell in row.split("  ") if cell.strip()][1]) for row in rows]
        self.assertEqual(errors, sorted(errors, reverse=True))
        self.assertGreater(errors[0], 0.2)
        self.assertIn("input", rows[-1], "which itself is not changed")

    def test_refused(self):
        model, _ = self.resnet()
        artifact, data = self.compile(model), ["--data", self.path("x.npz")]

        def refuses(*arguments, words):
            self.assert_one_line(tool("ingot", "compare", *arguments), *words)
        refuses(artifact, words=["no model.onnx"])
        refuses(artifact, model, words=["--data is missing"])
        refuses(artifact, model, *data, "--per-layer", words=["--per-layer needs --calibration"])
        refuses(artifact, model, *data, "--calibration", "x", words=["is for --per-layer"])
        refuses(artifact, model, *data, "--keep", "x=fp32", words=["is for --per-layer"])
        refuses(self.path("gone.so"), model, *data, words=["gone.so"])
        refuses(artifact, self.path("gone.onnx"), *data, words=["gone.onnx"])
        other = self.save(make_model([helper.make_node("Relu", ["x"], ["y"], "relu0")], [("x", [1, 3])],
                                     [("y", [1, 3])]), "other.onnx")
        refuses(artifact, other, *data, words=["model.so", "other.onnx", "1x3x64x64", "1x3"])
