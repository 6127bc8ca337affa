# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests `ingot calibrate` without further options. It repairs only if the error of the outputs is large."""
import json
import re

import numpy as np
from onnx import helper

import digits
from support import Case, make_model, tool

BOUND = 0.08
NUMBER = r"(\d+\.\d+)"
TRIAL = re.compile(rf"repair ([a-z ]+): relative error of the outputs from {NUMBER} to {NUMBER}, (kept|left out)$")
REPAIRED = re.compile(rf"int8: relative error of the outputs {NUMBER} on (\d+) samples, {NUMBER} before repairs$")


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
        count = sum(map(bool, found))
        self.assertTrue(all(found[:count]), lines)
        last = REPAIRED.match(lines[count])
        self.assertTrue(last, lines)
        return ([(m[1], float(m[2]), float(m[3]), m[4] == "kept") for m in found[:count]],
                (float(last[3]), float(last[1]), int(last[2])), lines[count + 1:])

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
        self.assertRegex(lines[0], rf"^int8: relative error of the outputs {NUMBER} on 8 samples, no more than 0.08: "
                         "nothing to repair$")
        self.assertEqual(len(lines), 1, lines)
        self.assertLess(float(re.search(NUMBER, lines[0])[1]), BOUND)
        self.assertEqual((written, lines), self.calibrate(model, data, "--repair=auto"))
        plain, lines = self.calibrate(model, data, "--repair=none")
        self.assertEqual((plain, lines), (written, []))
        _, lines = self.calibrate(model, data, "--samples=3")
        self.assertIn(" on 3 samples, ", lines[0])

    def test_what_costs_little_is_enough(self):
        model, data = self.norm()
        written, lines = self.calibrate(model, data, "--method=minmax")
        trials, (before, after, samples), rest = self.trials(lines)
        self.assertEqual([name for name, *_ in trials], ["equalize", "smooth"])
        self.assertTrue(trials[1][3], trials)
        self.assertGreater(before, BOUND)
        self.assertLess(after, BOUND)
        self.assertEqual((trials[0][1], trials[1][2], samples, rest), (before, after, 20, []))
        self.assertEqual(json.loads(written)["ingot_calibration"], 3)
        self.assertAlmostEqual(self.error(model), after, delta=0.05 * after)
        # Without repairs, the measured error equals the reported one.
        plain, lines = self.calibrate(model, data, "--method=minmax", "--repair=none")
        self.assertEqual((json.loads(plain)["ingot_calibration"], lines), (1, []))
        self.assertAlmostEqual(self.error(model), before, delta=0.05 * before)

    def test_weights_are_rounded_where_that_is_not_enough(self):
        model, data = self.deep(0.01)
        written, lines = self.calibrate(model, data, "--method=minmax")
        trials, (before, after, samples), rest = self.trials(lines)
        self.assertEqual([name for name, *_ in trials][:4], ["equalize", "smooth", "bias", "round"])
        self.assertEqual(samples, 32)
        self.assertLess(after, before)
        self.assertTrue(any(kept for _, _, _, kept in trials[3:]), trials)
        self.assertIn("adaround", json.loads(written)["repair"])
        if after > BOUND:
            self.assertIn("more than 0.08: `ingot compare --sensitivity`", rest[0])
        else:
            self.assertEqual(rest, [])

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
                self.assertLess(abs(said - found), 0.25 * found, (method, large))

    def test_what_is_not_finite_asks_for_nothing(self):
        """An infinite output does not affect repairs."""
        nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], "product"), helper.make_node("Relu", ["a"], ["b"], "relu0"),
                 helper.make_node("Log", ["b"], ["y"], "log")]
        rng = np.random.default_rng(5)
        model = self.save(make_model(nodes, [("x", ["n", 16])], [("y", ["n", 16])],
                                     {"w": rng.standard_normal((16, 16)).astype(np.float32)}))
        _, lines = self.calibrate(model, rng.standard_normal((12, 16)).astype(np.float32))
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("nothing that repairs could be measured by", lines[0])

    def test_refused(self):
        model, data = self.digits()
        np.savez(self.path("data.npz"), x=data)
        for options, *words in ((["--repair=auto,smooth"], "auto, none, or of equalize"), (["--repair="], "--repair is empty"),
                                (["--repair=none,none"], "auto, none"),
                                (["--repair=none", "--samples=3"], "--samples is for --method=best and --repair")):
            done = tool("ingot", "calibrate", model, "--data", self.path("data.npz"), "-o", self.path("none.json"),
                        *options)
            self.assert_one_line(done, *words)
