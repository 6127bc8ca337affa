# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests `ingot compare --reference=onnxruntime`, with tolerances and their exit code."""
import json
import os
import sys

from PIL import Image

from support import Case, TensorProto, helper, make_model, np, tool

PEER = ["--reference=onnxruntime", f"--python={sys.executable}"]


def scaled(factor, shape=("n", 4)):
    """Makes a model: y = factor x, and a mask of the elements of x above 0."""
    nodes = [helper.make_node("Mul", ["x", "f"], ["y"], name="scale"),
             helper.make_node("Greater", ["x", "z"], ["above"], name="above")]
    return make_model(nodes, [("x", shape)], [("y", shape), ("above", shape, TensorProto.BOOL)],
                      {"f": np.array(factor, np.float32), "z": np.array(0, np.float32)})


class Reference(Case):
    def compare(self, *arguments, code=0):
        done = tool("ingot", "compare", *arguments, "--json")
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def setUp(self):
        super().setUp()
        self.right, self.wrong = self.save(scaled(2)), self.save(scaled(2.5), "wrong.onnx")
        self.artifact = self.compile(self.right)
        np.savez(self.path("x.npz"), x=np.arange(-12, 12, dtype=np.float32).reshape(6, 4))
        self.data = ["--data", self.path("x.npz")]

    def test_onnxruntime(self):
        found = self.compare(self.artifact, self.right, *self.data, *PEER, "--atol=0")
        self.assertEqual((found["samples"], found["reference"], found["within_tolerance"]), (6, "onnxruntime", True))
        self.assertRegex(found["reference_version"], r"^\d+\.\d+")
        self.assertEqual([o["name"] for o in found["outputs"]], ["y", "above"])
        self.assertEqual([o["elements_beyond"] for o in found["outputs"]], [0, 0])
        text = tool("ingot", "compare", self.artifact, self.right, *self.data, *PEER, "--rtol=1e-6").stdout
        self.assertIn("against ONNX Runtime " + found["reference_version"], text)
        self.assertIn("all outputs are within the tolerance", text)

    def test_without_data(self):
        """One sample of random values."""
        found = self.compare(self.artifact, self.right, "--shape=x=3x4", *PEER, "--max-error=1e-6")
        self.assertEqual((found["samples"], found["within_tolerance"]), (1, True))
        self.compare(self.artifact, self.wrong, "--shape=x=3x4", *PEER, "--max-error=0.1", code=3)

    def test_both_references_have_the_exit_code(self):
        for peer in (PEER, []):
            with self.subTest(peer=peer):
                options = [self.artifact, self.wrong, *self.data, *peer]
                # The error |2 x - 2.5 x| is 0.2 times |2.5 x|, and at most 6.
                for bounds, code in (([], 0), (["--atol=6"], 0), (["--atol=5.9"], 3), (["--rtol=0.21"], 0),
                                     (["--rtol=0.19"], 3), (["--atol=1", "--rtol=0.19"], 0), (["--max-error=0.21"], 0),
                                     (["--max-error=0.19"], 3), (["--max-error=0.21", "--atol=0"], 3)):
                    found = self.compare(*options, *bounds, code=code)
                    self.assertEqual(found.get("within_tolerance", True), code == 0, bounds)
                done = tool("ingot", "compare", *options, "--atol=5.9")
                self.assertEqual((done.returncode, done.stderr), (3, ""))
                self.assertIn("output 'y': 1 of 24 elements are beyond the tolerance, the first is element 0 of "
                              f"sample 1 of '{self.path('x.npz')}': -24, but -30 in the reference", done.stdout)
                self.assertNotIn("'above'", done.stdout)

    def test_not_a_number(self):
        np.savez(self.path("x.npz"), x=np.full((1, 4), 3e38, np.float32))
        found = self.compare(self.artifact, self.right, *self.data, *PEER, "--atol=0")
        self.assertEqual(found["outputs"][0]["elements_beyond"], 0)  # both are infinite
        small = self.save(scaled(0.5), "small.onnx")
        found = self.compare(self.artifact, small, *self.data, *PEER, "--rtol=10", code=3)
        self.assertEqual(found["outputs"][0]["elements_beyond"], 4)
        self.assertIsNone(found["outputs"][0]["relative_error"])
        self.compare(self.artifact, small, *self.data, *PEER, "--max-error=10", code=3)

    def test_one_input(self):
        """A sample of --input: dynamic sizes of the artifact are those of the run."""
        for peer in (PEER, []):
            for options in (["random", "--shape", "x=3x4"], ["zeros", "--dim", "n=3"], [self.path("x.npy")]):
                np.save(self.path("x.npy"), np.ones((3, 4), np.float32))
                found = self.compare(self.artifact, self.right, "--input", *options, *peer, "--atol=0")
                self.assertEqual((found["samples"], found["within_tolerance"]), (1, True))
        fixed = self.compile(scaled(2, ("n", 3, "h", "w")), "--shape", "x=1x3x6x8", name="fixed")
        Image.fromarray(np.arange(5 * 9 * 3, dtype=np.uint8).reshape(5, 9, 3)).save(self.path("a.png"))
        for peer in (PEER, []):
            found = self.compare(fixed, self.path("fixed.onnx"), "--input", self.path("a.png"), "--shape", "x=1x3x6x8",
                                 *peer, "--atol=0")
            self.assertTrue(found["within_tolerance"])

    def test_strings_and_more_inputs(self):
        node = helper.make_node("LabelEncoder", ["s"], ["y"], domain="ai.onnx.ml", keys_strings=["a", "b"],
                                values_int64s=[1, 2], default_int64=0)
        model = make_model([node, helper.make_node("Identity", ["s"], ["t"])], [("s", (3,), TensorProto.STRING)],
                           [("y", (3,), TensorProto.INT64), ("t", (3,), TensorProto.STRING)])
        model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 2))
        artifact = self.compile(model, name="strings")
        np.save(self.path("s.npy"), np.array(["a", "b", "other"]))
        found = self.compare(artifact, self.path("strings.onnx"), "--input", "s=" + self.path("s.npy"), *PEER, "--atol=0")
        self.assertTrue(found["within_tolerance"])

    def test_refused(self):
        def refuses(*options, words, model=self.right):
            self.assert_one_line(tool("ingot", "compare", self.artifact, model, *options), *words)
        refuses(*self.data, "--reference=onnxruntime", "--python=/no/python", words=["/no/python", "--python"])
        refuses(*self.data, "--reference=onnxruntime", "--python=true", words=["'true' is no Python interpreter", "--python"])
        with open(self.path("python"), "w") as f:
            f.write("#!/bin/sh\necho \"ModuleNotFoundError: No module named 'onnxruntime'\" >&2\nexit 1\n")
        os.chmod(self.path("python"), 0o755)
        refuses(*self.data, "--reference=onnxruntime", "--python=" + self.path("python"),
                words=["cannot use onnxruntime", "No module named", "pip install"])
        with open(self.path("bad.onnx"), "w") as f:
            f.write("no model")
        refuses(*self.data, *PEER, words=["onnxruntime cannot run", "bad.onnx"], model=self.path("bad.onnx"))
        refuses(*self.data, *PEER, words=["cannot read", "none.onnx"], model=self.path("none.onnx"))
        other = make_model([helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Identity", ["b"], ["above"])],
                           [("x", (1, 4)), ("b", (1, 4))], [("y", (1, 4)), ("above", (1, 4))])
        refuses(*self.data, *PEER, words=["has no input 'b'"], model=self.save(other, "other.onnx"))
        shorter = make_model([helper.make_node("ReduceSum", ["x"], ["y"]), helper.make_node("Identity", ["x"], ["above"])],
                             [("x", (1, 4))], [("y", (1, 1)), ("above", (1, 4))])
        refuses(*self.data, *PEER, words=["output 'y' is float32 1x4, but float32 1x1"],
                model=self.save(shorter, "shorter.onnx"))
        for options, word in ((["--reference=torch"], "fp32 or onnxruntime"), (["--python=x"], "--python is for"),
                              ([*PEER, "--per-layer"], "--reference=onnxruntime and --per-layer exclude each other"), (["--atol=-1"], "--atol"),
                              (["--rtol=inf"], "--rtol"), (["--max-error=x"], "--max-error"),
                              (["--input=random"], "exclude")):
            refuses(*self.data, *options, words=[word])
        refuses(words=["--data is missing"])
        refuses("--input=random", "--sensitivity", words=["--sensitivity is for --data"])
