# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests `ingot compare`: a compiled model against its ONNX file in fp32, by outputs and by inner tensors."""
import json
import os
import shlex

import numpy as np
import onnx
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

    def test_verdict(self):
        """The verdict also judges int8-dynamic, which no calibration has checked."""
        rng = np.random.default_rng(4)
        draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
        # Sums that nearly cancel.
        v = draw(48, 8)
        v -= v.mean(0)
        nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], "up"), helper.make_node("Relu", ["a"], ["b"], "relu0"),
                 helper.make_node("MatMul", ["b", "v"], ["y"], "down")]
        x = (2 + draw(64, 4) @ draw(4, 24)).astype(np.float32)
        np.savez(self.path("x.npz"), x=x)
        for fine, verdict in ((0.001, "useless"), (1, "good")):
            model = self.save(make_model(nodes, [("x", ["n", 24])], [("y", ["n", 8])],
                                         {"w": draw(24, 1) + np.float32(fine) * draw(24, 48), "v": v}))
            artifact = self.compile(model, "--precision=int8-dynamic", "--keep=*=int8")
            found = self.compare(artifact, model, "--data", self.path("x.npz"))
            self.assertEqual((found["verdict"]["name"], found["verdict"]["output"]), (verdict, "y"), found)
            done = tool("ingot", "compare", artifact, model, "--data", self.path("x.npz"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, f"\nverdict: {verdict}, (output 'y' has a relative error of|no output has)")
        # The model in fp32 needs no verdict.
        done = tool("ingot", "compare", self.compile(model), model, "--data", self.path("x.npz"))
        self.assertNotIn("verdict", done.stdout)

    def test_labels_that_are_an_input(self):
        """A model that computes a loss reads the labels. They judge nothing."""
        model = self.save(make_model([helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Sub", ["a", "labels"], ["d"]),
                                      helper.make_node("Mul", ["d", "d"], ["y"])],
                                     [("x", ["n", 4]), ("labels", ["n", 3])], [("y", ["n", 3])], {"w": np.ones((4, 3), np.float32)}))
        np.savez(self.path("x.npz"), x=np.ones((5, 4), np.float32), labels=np.zeros((5, 3), np.float32))
        done = tool("ingot", "compare", self.compile(model), model, "--data", self.path("x.npz"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("--metric", done.stdout)

    def test_by_tensor(self):
        """Errors are zero at the input, grow along the model, and come from quantized ops."""
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

    def test_as_compiled(self):
        """The command uses the artifact's precision, rules and calibration, unless the command line gives others."""
        model, _ = self.resnet(4)
        ranges = self.calibrate(model)
        data = ["--data", self.path("x.npz"), "--per-layer"]
        names = [node.name for node in onnx.load(model).graph.node if node.op_type == "Conv"]
        int8 = ["--precision=int8", f"--calibration={ranges}"]
        artifact = self.compile(model, *int8)
        self.assertEqual(self.compare(artifact, model, *data),
                         self.compare(artifact, model, *data, f"--calibration={ranges}"))
        keep = [*(f"--keep={name}=fp32" for name in names[1:]), "--keep=*=int8"]
        kept = self.compile(model, *int8, *keep)
        self.assertEqual(self.compare(kept, model, *data),
                         self.compare(kept, model, *data, f"--calibration={ranges}", *keep))
        left = self.compare(kept, model, *data[:2], "--sensitivity")["sensitivity"]["layers"]
        self.assertEqual({node for layer in left for node in layer["nodes"]} & set(names), {names[0]})
        # CPUs without the instructions leave a small model in fp32, unless a rule says otherwise.
        for precision, *rule in (("bf16", "--keep=*=bf16"), ("fp16", "--keep=*=fp16"), ("int8-dynamic", "--keep=*=int8"),
                                 ("O3", "--keep=*=bf16")):
            tensors = self.compare(self.compile(model, f"--precision={precision}", *rule), model, *data)["tensors"]
            errors = [t["relative_error"] for t in tensors]
            self.assertEqual(errors[0], 0)
            self.assertTrue(0 < errors[-1] and max(errors) < 0.1, (precision, tensors))

    def test_calibration_is_found(self):
        """The calibration is found beside the artifact or the model if it matches; otherwise the message names it."""
        model, _ = self.resnet(4)
        ranges = self.calibrate(model)
        os.makedirs(self.path("elsewhere"))
        artifact = self.compile(model, "--precision=int8", f"--calibration={ranges}", name="elsewhere/int8")
        command = ["ingot", "compare", artifact, model, "--data", self.path("x.npz")]
        for option in ("--per-layer", "--sensitivity"):
            self.assertEqual(tool(*command, option).returncode, 0)
        os.rename(ranges, self.path("elsewhere/ranges.json"))
        self.assertEqual(tool(*command, "--per-layer").returncode, 0)
        with open(self.path("elsewhere/ranges.json"), "a") as file:
            file.write(" ")
        for option in ("--per-layer", "--sensitivity"):
            self.assert_one_line(tool(*command, option), "'ranges.json'", "give --calibration=FILE")

    def test_the_worst_comes_first(self):
        """The command finds the one tensor whose scale is much too large."""
        model, _ = self.resnet()
        ranges = self.calibrate(model)
        with open(ranges) as f:
            text = json.load(f)
        text["tensors"][0]["scale"] *= 30
        with open(ranges, "w") as f:
            json.dump(text, f)
        artifact = self.compile(model, "--precision=int8", f"--calibration={ranges}", "--keep=*=int8")
        done = tool("ingot", "compare", artifact, model, "--data", self.path("x.npz"), "--per-layer", "--calibration",
                    ranges, "--keep=*=int8")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = done.stdout.split("the worst first:\n")[1].splitlines()[1:]
        errors = [float([cell for cell in row.split("  ") if cell.strip()][1]) for row in rows]
        self.assertEqual(errors, sorted(errors, reverse=True))
        self.assertGreater(errors[0], 0.2)
        self.assertIn("input", rows[-1], "which itself is not changed")

    def test_sensitivity(self):
        """The error measured for each choice of layers is that of an artifact compiled with this choice."""
        model, _ = self.resnet()
        ranges = self.calibrate(model)
        int8 = ["--precision=int8", f"--calibration={ranges}"]
        options = ["--data", self.path("x.npz"), "--sensitivity", "--calibration", ranges, "--samples", "12"]

        def error(artifact):
            return self.compare(artifact, model, "--data", self.path("x.npz"))["outputs"][0]["relative_error"]
        everything = self.compile(model, *int8)
        found = self.compare(everything, model, *options)["sensitivity"]
        self.assertEqual(found["samples"], 12)
        # Single layers agree to 1 %. With several layers, sums of floats and of integers sometimes round to different
        # bytes, which the following layers read. The errors of all layers then differ by several percent, for any scale
        # of the weights.
        self.assertAlmostEqual(found["relative_error"], error(everything), delta=0.08 * error(everything))
        alone = [layer["relative_error"] for layer in found["layers"]]
        self.assertEqual(alone, sorted(alone, reverse=True))
        self.assertGreater(alone[-1], 0)
        self.assertEqual([k["layers"] for k in found["kept"]], [2 ** i for i in range(len(found["kept"]))])
        for kept in found["kept"][:3]:
            artifact = self.compile(model, *int8, *shlex.split(kept["arguments"]), name="kept")
            self.assertAlmostEqual(kept["relative_error"], error(artifact), delta=0.08 * error(artifact))
        # Only one layer is quantized: all others are kept.
        for layer in (found["layers"][0], found["layers"][-1]):
            artifact = self.compile(model, *int8, *(f"--keep={other['keep']}" for other in found["layers"]
                                                    if other is not layer), name="alone")
            self.assertAlmostEqual(layer["relative_error"], error(artifact), delta=0.05 * error(artifact))
        # Kept layers are not measured.
        fewer = self.compare(everything, model, *options, "--keep", found["layers"][0]["keep"])["sensitivity"]
        self.assertEqual(len(fewer["layers"]), len(found["layers"]) - 1)
        self.assertNotIn(found["layers"][0]["nodes"], [layer["nodes"] for layer in fewer["layers"]])

    def test_sensitivity_of_nothing(self):
        """Kept layers need no ranges; if all layers are kept, there is nothing to measure."""
        model, _ = self.resnet()
        options = ["--data", self.path("x.npz"), "--sensitivity", "--calibration", self.calibrate(model)]
        artifact = self.compile(model)
        self.assert_one_line(tool("ingot", "compare", artifact, model, *options, "--keep", "*=fp32"),
                             "nothing to measure", "all layers are kept in fp32")
        found = self.compare(artifact, model, *options, "--samples", "2")["sensitivity"]["layers"]
        rules = [f"--keep={layer['keep']}" for layer in found[1:]]
        left = self.compare(artifact, model, *options, "--samples", "2", *rules)["sensitivity"]["layers"]
        self.assertEqual([layer["nodes"] for layer in left], [found[0]["nodes"]])
        self.assert_one_line(tool("ingot", "compare", artifact, model, *options, "--keep", "conv"), "--keep='conv'",
                             "GLOB=fp32")

    def test_sensitivity_of_families(self):
        """For these kinds of layers, the errors of the layers add up to the error of the artifact."""
        for name in ("mobilenet_v2", "shufflenet_v2", "densenet", "unet", "repvgg", "vit"):
            with self.subTest(name):
                proto, runs = families.ALL[name]()
                model, inputs = self.save(proto, name + ".onnx"), runs[0]
                rng = np.random.default_rng(1)
                np.savez(self.path("x.npz"), **{k: np.concatenate([rng.permutation(v.ravel()).reshape(v.shape)
                                                                   for _ in range(3)]) for k, v in inputs.items()})
                shapes = [f"--shape={k}={'x'.join(map(str, v.shape))}" for k, v in inputs.items()]
                done = tool("ingot", "calibrate", model, "--data", self.path("x.npz"), "-o", self.path("r.json"), *shapes)
                self.assertEqual(done.returncode, 0, done.stderr)
                artifact = self.compile(model, "--precision=int8", "--calibration=" + self.path("r.json"), *shapes)
                found = self.compare(artifact, model, "--data", self.path("x.npz"), "--sensitivity", "--calibration",
                                     self.path("r.json"), *shapes)
                wanted = np.sqrt(np.mean([o["relative_error"] ** 2 for o in found["outputs"]]))
                self.assertAlmostEqual(found["sensitivity"]["relative_error"], wanted, delta=0.1 * wanted)

    def test_names_of_any_kind(self):
        """The command line that keeps a node matches only this node."""
        rng = np.random.default_rng(3)
        names = ["a*", "a[b]", "it's", "a?", "back\\slash", "ab"]
        nodes, last = [], "x"
        for i, name in enumerate(names):
            nodes += [helper.make_node("Conv", [last, f"w{i}"], [f"c{i}"], name),
                      helper.make_node("Relu", [f"c{i}"], [f"y{i}"], f"relu{i}")]
            last = f"y{i}"
        model = self.save(make_model(nodes, [("x", [1, 4, 5, 5])], [(last, [1, 4, 5, 5])], {
            f"w{i}": rng.standard_normal((4, 4, 1, 1)).astype(np.float32) for i in range(len(names))}))
        np.savez(self.path("x.npz"), x=rng.standard_normal((12, 4, 5, 5)).astype(np.float32))
        ranges = self.calibrate(model)
        int8 = ["--precision=int8", f"--calibration={ranges}"]
        artifact = self.compile(model, *int8, "--keep=*=int8")
        found = self.compare(artifact, model, "--data", self.path("x.npz"), "--sensitivity", "--calibration", ranges,
                             "--keep=*=int8")
        kept = found["sensitivity"]["kept"][-1]
        worst = [layer["nodes"] for layer in found["sensitivity"]["layers"]][:kept["layers"]]
        self.assertEqual(kept["layers"], 4)
        dumped = tool("ingot", "inspect", "--json", self.compile(model, *int8, *shlex.split(kept["arguments"]), "--keep=*=int8"))
        layers = json.loads(dumped.stdout)["layers"]
        found = {n for layer in layers if layer["precision"] == "int8" for n in layer["nodes"] if n in names}
        self.assertEqual(found, set(names) - {n for nodes in worst for n in nodes})

    def test_refused(self):
        model, _ = self.resnet()
        artifact, data = self.compile(model), ["--data", self.path("x.npz")]

        def refuses(*arguments, words):
            self.assert_one_line(tool("ingot", "compare", *arguments), *words)
        refuses(artifact, words=["no model.onnx"])
        refuses(artifact, model, words=["--data is missing"])
        refuses(artifact, model, *data, "--per-layer", words=["is in fp32"])
        refuses(artifact, model, *data, "--calibration", "x", words=["is for --per-layer"])
        refuses(artifact, model, *data, "--keep", "x=fp32", words=["is for --per-layer"])
        refuses(artifact, model, *data, "--sensitivity", words=["is in fp32"])
        refuses(self.compile(model, "--precision=bf16", name="bf16"), model, *data, "--sensitivity",
                words=["--sensitivity needs int8", "give --calibration=FILE"])
        refuses(artifact, model, *data, "--samples", "3", words=["--samples is for --sensitivity"])
        refuses(artifact, model, *data, "--sensitivity", "--calibration", self.path("gone"), words=["gone"])
        refuses(self.path("gone.so"), model, *data, words=["gone.so"])
        refuses(artifact, self.path("gone.onnx"), *data, words=["gone.onnx"])
        other = self.save(make_model([helper.make_node("Relu", ["x"], ["y"], "relu0")], [("x", [1, 3])],
                                     [("y", [1, 3])]), "other.onnx")
        refuses(artifact, other, *data, words=["model.so", "other.onnx", "1x3x64x64", "1x3"])
