# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests `ingot calibrate` without further options. It repairs only if the error of the outputs is large."""
import json
import os
import re

import numpy as np
from onnx import helper

import digits
from support import Case, make_model, tool

BOUND = 0.07
NUMBER = r"(\d+\.\d+)"
TRIAL = re.compile(rf"repair ([a-z ]+): relative error of the outputs from {NUMBER} to {NUMBER}, (kept|left out)$")
INTERVAL = rf"(?: \(95 % interval {NUMBER} to {NUMBER}\))?"
REPAIRED = re.compile(rf"int8: relative error of output '[^']*' {NUMBER}{INTERVAL} on (\d+) of \d+ samples, {NUMBER} before repairs$")


class AutoRepair(Case):
    def calibrate(self, model, data, *options):
        """Returns (the file's bytes, all lines of the output but the first)."""
        np.savez(self.path("data.npz"), x=data)
        done = tool("ingot", "calibrate", model, "--data", self.path("data.npz"), "-o", self.path("c.json"), *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("c.json"), "rb") as f:
            return f.read(), done.stdout.splitlines()[1:]

    def trials(self, lines):
        """Returns [(name, before, after, kept)] of all lines but the last ones, and (before, after, samples) of these.
        """
        found = [TRIAL.match(line) for line in lines]
        lines, found = zip(*[(line, match) for line, match in zip(lines, found) if not line.startswith("  the layer of ")])
        count = sum(map(bool, found))
        self.assertTrue(all(found[:count]), lines)
        last = REPAIRED.match(lines[count])
        self.assertTrue(last, lines)
        return ([(m[1], float(m[2]), float(m[3]), m[4] == "kept") for m in found[:count]],
                (float(last[5]), float(last[1]), int(last[4])), list(lines[count + 1:]))

    def error(self, model):
        artifact = self.compile(model, "--precision=int8", "--calibration=" + self.path("c.json"), name="int8")
        done = tool("ingot", "compare", artifact, model, "--data", self.path("data.npz"), "--json")
        return json.loads(done.stdout)["outputs"][0]["relative_error"]

    def digits(self):
        return self.save(digits.Network(0).model()), digits.render(40, 1)[0]

    def norm(self):
        """A normalization makes some channels much larger than others; the weights compensate."""
        rng = np.random.default_rng(3)
        scale = np.exp2(np.linspace(-4, 6, 32)).astype(np.float32)
        nodes = [helper.make_node("LayerNormalization", ["x", "s", "b"], ["n"], "norm0"),
                 helper.make_node("MatMul", ["n", "w"], ["y"], "query")]
        model = self.save(make_model(nodes, [("x", ["n", 6, 32])], [("y", ["n", 6, 16])], {
            "s": scale, "b": rng.standard_normal(32).astype(np.float32),
            "w": (rng.standard_normal((32, 16)) / scale[:, None]).astype(np.float32)}))
        return model, rng.standard_normal((20, 6, 32)).astype(np.float32)

    def deep(self, fine):
        """Matrix products whose results nearly cancel, which bytes cannot represent well."""
        rng = np.random.default_rng(4)
        draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
        nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], "up"), helper.make_node("Relu", ["a"], ["b"], "relu0"),
                 helper.make_node("MatMul", ["b", "v"], ["y"], "down")]
        v = draw(48, 8)
        v -= v.mean(0)
        model = self.save(make_model(nodes, [("x", ["n", 24])], [("y", ["n", 8])],
                                     {"w": draw(24, 1) + np.float32(fine) * draw(24, 48), "v": v}))
        return model, (2 + draw(64, 4) @ draw(4, 24)).astype(np.float32)

    def test_what_is_fine_is_left_alone(self):
        model, data = self.digits()
        written, lines = self.calibrate(model, data)
        self.assertRegex(lines[0], rf"^int8: relative error of output '[^']*' {NUMBER}{INTERVAL} on 32 of 40 samples, at most 0.07: "
                         "nothing to repair$")
        self.assertEqual(len(lines), 1, lines)
        self.assertLess(float(re.search(NUMBER, lines[0])[1]), BOUND)
        # The interval contains the error that `compare` finds on all samples.
        low, high = map(float, re.search(rf"interval {NUMBER} to {NUMBER}", lines[0]).groups())
        self.assertLess(low, self.error(model))
        self.assertGreater(high, self.error(model))
        self.assertEqual((written, lines), self.calibrate(model, data, "--repair=auto"))
        plain, lines = self.calibrate(model, data, "--repair=none")
        self.assertEqual((plain, lines), (written, []))
        _, lines = self.calibrate(model, data, "--samples=3")
        self.assertIn(" on 3 of 40 samples, ", lines[0])
        self.assertIn("95 % interval", lines[0])

    def test_what_costs_little_is_enough(self):
        model, data = self.norm()
        written, lines = self.calibrate(model, data, "--method=minmax")
        trials, (before, after, samples), rest = self.trials(lines)
        self.assertEqual([name for name, *_ in trials], ["equalize", "smooth"])
        self.assertTrue(trials[1][3], trials)
        self.assertGreater(before, BOUND)
        self.assertLess(after, BOUND)
        self.assertEqual((samples, rest), (20, []))
        self.assertEqual(json.loads(written)["ingot_calibration"], 3)
        self.assertAlmostEqual(self.error(model), after, delta=2e-6)
        # Without repairs, the measured error equals the reported one.
        plain, lines = self.calibrate(model, data, "--method=minmax", "--repair=none")
        self.assertEqual((json.loads(plain)["ingot_calibration"], lines), (1, []))
        self.assertAlmostEqual(self.error(model), before, delta=2e-6)

    def test_weights_are_rounded_where_that_is_not_enough(self):
        model, data = self.deep(0.01)
        written, lines = self.calibrate(model, data, "--method=minmax", "--max-error=1")
        trials, (before, after, samples), rest = self.trials(lines)
        self.assertEqual([name for name, *_ in trials][:5], ["equalize", "smooth", "bias", "keep", "round"])
        self.assertGreaterEqual(samples, 32)
        self.assertLess(after, 0.9 * before)
        self.assertTrue(any(kept for _, _, _, kept in trials[4:]), trials)
        self.assertIn("adaround", json.loads(written)["repair"])
        if after > BOUND:
            self.assertIn("above 0.07: `ingot compare --sensitivity`", rest[0])
        else:
            self.assertEqual(rest, [])

    def two(self, rounds_badly):
        """A small output that int8 hurts beside a large one that it does not, as a probability beside a state."""
        rng = np.random.default_rng(7)
        draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
        v = draw(48, 8)
        if rounds_badly:
            v -= v.mean(0)
        nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], "up"), helper.make_node("Relu", ["a"], ["b"], "relu0"),
                 helper.make_node("MatMul", ["b", "v"], ["small"], "down"),
                 helper.make_node("MatMul", ["x", "s"], ["large"], "state")]
        model = self.save(make_model(nodes, [("x", ["n", 24])], [("large", ["n", 64]), ("small", ["n", 8])],
                                     {"w": draw(24, 1) + np.float32(0.01) * draw(24, 48), "v": v, "s": 100 * draw(24, 64)}))
        return model, (2 + draw(64, 4) @ draw(4, 24)).astype(np.float32)

    def test_an_error_of_all_samples_is_repaired(self):
        """Repairs are compared on 32 samples. They are tried although the error is too large on all samples only."""
        rng = np.random.default_rng(7)
        draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
        w = draw(24, 48)
        w[0] = 0
        model = self.save(make_model([helper.make_node("MatMul", ["x", "w"], ["y"], "up")], [("x", ["n", 24])],
                                     [("y", ["n", 48])], {"w": w}))
        data = draw(200, 24) * np.exp(0.7 * draw(200, 1))
        # Widens the range of all numbers by one that no output depends on.
        data[0, 0] = 91
        _, lines = self.calibrate(model, data, "--method=minmax")
        trials, (before, _, samples), _ = self.trials(lines)
        self.assertGreater(before, BOUND)
        self.assertGreater(samples, 32)
        self.assertLess(trials[0][1], BOUND)
        self.assertEqual([name for name, *_ in trials][:2], ["equalize", "smooth"])

    def test_each_output_counts_by_itself(self):
        model, data = self.two(True)
        _, lines = self.calibrate(model, data, "--method=minmax")
        last = next(line for line in lines if line.startswith("int8: "))
        self.assertIn("output 'small'", last)
        self.assertGreater(self.trials(lines)[1][0], BOUND)
        model, data = self.two(False)
        _, lines = self.calibrate(model, data)
        self.assertIn("nothing to repair", lines[0])

    def values(self):
        """A temperature that varies little around 200, from one column in pascals and others near 0."""
        rng = np.random.default_rng(11)
        draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
        w, u, v = draw(8, 64), draw(64, 64) / 8, draw(64, 1) / 4
        w[0] *= 1e-3
        nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], "up"), helper.make_node("Relu", ["a"], ["b"], "relu0"),
                 helper.make_node("MatMul", ["b", "u"], ["d"], "wide"), helper.make_node("Relu", ["d"], ["e"], "relu1"),
                 helper.make_node("Gemm", ["e", "v", "c"], ["y"], "down")]
        model = self.save(make_model(nodes, [("x", ["n", 8])], [("y", ["n", 1])],
                                     {"w": w, "u": u, "v": v, "c": np.float32([200])}))
        # So few samples are all measured.
        data = draw(32, 8)
        data[:, 0] *= 1000
        return model, data

    def test_values_are_judged_by_their_spread(self):
        """The error is small beside the values, but as large as their spread."""
        model, data = self.values()
        plain, _ = self.calibrate(model, data, "--repair=none")
        self.assertLess(self.error(model), BOUND)
        _, lines = self.calibrate(model, data)
        trials, (before, after, _), rest = self.trials(lines)
        self.assertGreater(before, 0.5)
        self.assertLess(after, BOUND)
        self.assertEqual(rest, ["  the error of column 0, relative to the spread of its values"])
        self.assertIn(("keep", True), [(name, kept) for name, _, _, kept in trials])
        artifact = self.compile(model, "--precision=int8", "--calibration=" + self.path("c.json"), name="int8")
        done = tool("ingot", "compare", artifact, model, "--data", self.path("data.npz"), "--metric=regression", "--json")
        score = json.loads(done.stdout)["score"]["percent"]
        self.assertAlmostEqual(np.sqrt(1 - score / 100), after, delta=1e-3)

    def test_one_wrong_sample_hides_nothing(self):
        """A sample of a broken sensor leaves int8 no steps for the others. Its large outputs do not hide that."""
        model, data = self.two(False)
        data[20, 3] = 1e9
        np.savez(self.path("data.npz"), x=data)
        # An error of this size is refused, unless the user accepts it.
        command = ("ingot", "calibrate", model, "--data", self.path("data.npz"), "-o", self.path("c.json"))
        done = tool(*command)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"error: int8 does not fit this model: output 'large' has a relative error of [0-9.e+]+ in all "
                         r"samples but one that is far larger, above --max-error=0.2; .*--precision=auto --eval`\n$")
        self.assertFalse(os.path.exists(self.path("c.json")))
        self.assert_one_line(tool(*command, "--max-error=nan"), "option --max-error must be a number of at least 0")
        done = tool(*command, "--max-error=10")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"warning: tensor 'x' reaches 1e\+09 in sample 21, but only [0-9.]+ in all others: "
                         "int8 has few steps for these; leave the sample out if it is wrong\n$")
        self.assertNotIn("nothing to repair", done.stdout)
        self.assertIn("all samples but one that is far larger", done.stdout)
        self.assertIn("above 0.07: `ingot compare --sensitivity`", done.stdout)

    def test_several_wrong_samples_hide_nothing(self):
        model, data = self.two(False)
        data[[7, 20, 41], 3] = [1e9, 2e9, 3e12]
        np.savez(self.path("data.npz"), x=data)
        command = ("ingot", "calibrate", model, "--data", self.path("data.npz"), "-o", self.path("c.json"))
        done = tool(*command)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, "warning: tensor 'x' reaches 3e\\+12 in 3 of 64 samples, the first is sample 8, but only "
                                      "[0-9.]+ in all others: int8 has few steps for these; leave these samples out if they are wrong")
        self.assertRegex(done.stderr, "error: int8 does not fit this model: output 'large' has a relative error of [0-9.e+]+ in all "
                                      "samples but 3 that are far larger, above --max-error=0.2")
        self.assertFalse(os.path.exists(self.path("c.json")))

    def test_few_samples_are_not_trusted(self):
        """If the error depends on the sample, samples are added until the interval is narrow."""
        model, data = self.deep(0.05)
        rng = np.random.default_rng(8)
        data = np.tile(data, (8, 1)) * np.exp(rng.uniform(-3, 1, (512, 1))).astype(np.float32)
        np.savez(self.path("data.npz"), x=data)
        done = tool("ingot", "calibrate", model, "--data", self.path("data.npz"), "-o", self.path("c.json"),
                    "--method=minmax", "--json")
        result = json.loads(done.stdout)["int8"]
        self.assertLessEqual(result["relative_error_low"], result["relative_error"])
        self.assertGreaterEqual(result["relative_error_high"], result["relative_error"])
        self.assertGreater(result["samples"], 32)
        found = self.error(model)
        self.assertLess(0.9 * result["relative_error_low"], found)
        self.assertGreater(1.1 * result["relative_error_high"], found)

    def test_few_layers_stay_wide(self):
        """One layer of twelve makes the error. It stays in fp32, and the artifact says so."""
        rng = np.random.default_rng(9)
        draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
        nodes, weights, last = [], {}, "x"
        for i in range(10):
            weights[f"w{i}"] = draw(64, 64) / 8
            nodes += [helper.make_node("MatMul", [last, f"w{i}"], [f"a{i}"], f"layer{i}"),
                      helper.make_node("Relu", [f"a{i}"], [f"b{i}"], f"relu{i}")]
            last = f"b{i}"
        # Adds values that nearly cancel, on few channels.
        weights["up"] = draw(64, 1) + np.float32(0.002) * draw(64, 16)
        v = draw(16, 8)
        weights["down"] = v - v.mean(0)
        nodes += [helper.make_node("MatMul", [last, "up"], ["u"], "up"), helper.make_node("MatMul", ["u", "down"], ["y"], "down")]
        model = self.save(make_model(nodes, [("x", ["n", 64])], [("y", ["n", 8])], weights))
        written, lines = self.calibrate(model, draw(48, 64), "--repair=keep")
        self.assertRegex(lines[0], rf"^repair keep: .* from {NUMBER} to {NUMBER}, kept$")
        kept = json.loads(written)["repair"]["keep"]
        self.assertTrue(set(kept) <= {"up", "down"}, kept)
        self.assertEqual(lines[1:], [f"  the layer of node '{node}' stays in fp32" for node in kept])
        artifact = self.compile(model, "--precision=int8", "--calibration=" + self.path("c.json"), name="int8")
        done = tool("ingot", "inspect", artifact, "--json")
        layers = {tuple(layer["nodes"]): layer["precision"] for layer in json.loads(done.stdout)["layers"]}
        for nodes, precision in layers.items():
            if set(kept) & set(nodes):
                self.assertNotEqual(precision, "int8", layers)
        self.assertGreaterEqual(sum(precision == "int8" for precision in layers.values()), 10, layers)
        # A node that the model does not have is an error.
        found = json.loads(written)
        found["repair"]["keep"].append("layerX")
        with open(self.path("other.json"), "w") as f:
            json.dump(found, f)
        self.assert_refuses(model, "other.json", "'layerX'", "no such node", "layer1",
                            options=["--precision=int8", "--calibration=" + self.path("other.json")])
        # The user's rule is stronger.
        artifact = self.compile(model, "--precision=int8", "--calibration=" + self.path("c.json"), "--keep", "*=int8", name="all")
        done = tool("ingot", "inspect", artifact, "--json")
        for layer in json.loads(done.stdout)["layers"]:
            if set(kept) & set(layer["nodes"]):
                self.assertEqual(layer["precision"], "int8", layer)

    def test_outliers_wherever_they_are(self):
        """The choice and the report cover all samples, in any order."""
        rng = np.random.default_rng(6)
        draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
        nodes = [helper.make_node("Conv", ["x", "w"], ["a"], "conv0", pads=[1, 1, 1, 1]),
                 helper.make_node("Relu", ["a"], ["b"], "relu0"),
                 helper.make_node("Conv", ["b", "v"], ["c"], "conv1", pads=[1, 1, 1, 1]),
                 helper.make_node("Relu", ["c"], ["d"], "relu1"),
                 helper.make_node("GlobalAveragePool", ["d"], ["y"], "pool")]
        model = self.save(make_model(nodes, [("x", ["n", 3, 12, 12])], [("y", ["n", 32, 1, 1])],
                                     {"w": draw(16, 3, 3, 3) / 5, "v": draw(32, 16, 3, 3) / 12}))
        ordinary = draw(64, 3, 12, 12)
        for method in ("best", "mse"):
            for large in ([0], [45], [63], [33, 45, 50], list(range(32, 48))):
                data = ordinary.copy()
                data[large] *= 30
                _, lines = self.calibrate(model, data, "--method=" + method)
                self.assertIn("nothing to repair", lines[0], (method, large))
                said, found = float(re.search(NUMBER, lines[0])[1]), self.error(model)
                self.assertLess(found, 0.05, (method, large))
                self.assertLess(abs(said - found), 0.1 * found, (method, large))

    def test_what_is_not_finite_asks_for_nothing(self):
        """An output that becomes infinite, or stops being so, does not affect repairs. One that stays infinite is no error."""
        nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], "product"), helper.make_node("Relu", ["a"], ["b"], "relu0"),
                 helper.make_node("Log", ["b"], ["y"], "log")]
        rng = np.random.default_rng(5)
        model = self.save(make_model(nodes, [("x", ["n", 16])], [("y", ["n", 16])],
                                     {"w": rng.standard_normal((16, 16)).astype(np.float32)}))
        _, lines = self.calibrate(model, rng.standard_normal((12, 16)).astype(np.float32))
        self.assertRegex(lines[0], rf"^int8: relative error of output 'y' {NUMBER} on 12 of 12 samples, at most 0.07: nothing")
        # A small sum of large products changes its sign.
        _, lines = self.calibrate(model, rng.standard_normal((500, 16)).astype(np.float32), "--samples=500")
        self.assertEqual(lines, ["int8: output 'y' is infinite or not a number on the samples: no repair can be measured"])

    def test_refused(self):
        model, data = self.digits()
        np.savez(self.path("data.npz"), x=data)
        for options, *words in ((["--repair=auto,smooth"], "auto, none, or of equalize"), (["--repair="], "--repair is empty"),
                                (["--repair=none,none"], "auto, none"),
                                (["--repair=none", "--samples=3"], "--samples is for --method=best and --repair")):
            done = tool("ingot", "calibrate", model, "--data", self.path("data.npz"), "-o", self.path("none.json"),
                        *options)
            self.assert_one_line(done, *words)
