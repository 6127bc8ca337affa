# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests `ingot calibrate --repair`: what is kept, and the error that is measured."""
import json

import numpy as np
from onnx import helper

import digits
import families
from support import make_model, tool
from test_levels import cap
from test_post_training import PostTraining


class Repairs(PostTraining):
    """Tests `ingot calibrate --repair`: kept if the outputs' error falls, with the measured error in the artifact."""

    def repaired(self, model, data, *options):
        path = self.path("repaired.json")
        np.savez(self.path("data.npz"), **data)
        count = str(len(next(iter(data.values()))))
        done = tool("ingot", "calibrate", model, "--data", self.path("data.npz"), "--samples", count, "-o", path, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        trials = {}
        for line in done.stdout.splitlines():
            if line.startswith("repair "):
                words = line.replace(",", "").replace(":", "").split()
                trials[words[1]] = (float(words[words.index("from") + 1]), float(words[words.index("to") + 1]),
                                    line.endswith("kept"))
        return path, trials

    def error(self, model, calibration):
        done = tool("ingot", "compare", self.int8(model, calibration), model, "--data", self.path("data.npz"), "--json",
                    "--sensitivity", "--calibration", calibration, "--samples", "1000")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        return found["outputs"][0]["relative_error"], found["sensitivity"]["relative_error"]

    def assert_kept(self, repair, trials, files, share, tolerance):
        """A repair was kept, and left less than a share of the error. The artifact and the probe of `files`, a model and
        its calibration, have the error of the best trial."""
        before, after, kept = trials[repair]
        self.assertTrue(kept and after < share * before, trials)
        artifact, probe = self.error(*files)
        least = min(after for _, after, kept in trials.values() if kept)
        self.assertAlmostEqual(artifact, least, delta=tolerance * least)
        self.assertAlmostEqual(probe, least, delta=0.001 * least)

    def assert_same_in_fp32(self, model, path, x, tolerance):
        """With all nodes in fp32, a repair changes results by rounding errors alone."""
        same = self.int8(model, path, "--keep=*=fp32", name="same")
        want = self.run_model(self.compile(model, name="fp32"), {"x": x})["y"]
        np.testing.assert_allclose(self.run_model(same, {"x": x})["y"], want, rtol=0, atol=tolerance * np.abs(want).max())

    def test_layers_in_floats(self):
        """A CPU without VNNI computes this layer in floats, because it has few terms of the model's input. Its input has a
        range that no layer needs."""
        w = np.random.default_rng(3).standard_normal((8, 16, 1, 1)).astype(np.float32)
        model = self.save(make_model([helper.make_node("Conv", ["x", "w"], ["y"])], [("x", [1, 16, 6, 6])], [("y", [1, 8, 6, 6])],
                                     {"w": w}))
        with cap("x86-64-v3"):
            for repair in ("bias", "smooth", "keep"):
                with self.subTest(repair=repair):
                    _, trials = self.repaired(model, {"x": np.ones((4, 16, 6, 6), np.float32)}, f"--repair={repair}")
                    self.assertEqual(trials[repair], (0, 0, False))

    def test_bias(self):
        """The mean error of a convolution's channels is removed."""
        rng = np.random.default_rng(3)
        w = rng.standard_normal((8, 32, 1, 1)).astype(np.float32)
        model = self.save(make_model([helper.make_node("Conv", ["x", "w"], ["y"], "conv0")], [("x", ["n", 32, 6, 6])],
                                     [("y", ["n", 8, 6, 6])], {"w": w}))
        # Clipping changes the mean. The repair restores it.
        x = (rng.exponential(1, (24, 32, 6, 6)) ** 2).astype(np.float32)
        path, trials = self.repaired(model, {"x": x}, "--method=percentile", "--percentile=98", "--repair=bias")
        before, after, kept = trials["bias"]
        self.assertTrue(kept and after < before, trials)
        with open(path) as f:
            found = json.load(f)
        self.assertEqual((found["ingot_calibration"], list(found["repair"])), (3, ["biases"]))
        plain = self.calibrate(model, {"x": x}, "--method=percentile", "--percentile=98")
        want = np.einsum("oc,nchw->nohw", w[:, :, 0, 0].astype(np.float64), x)
        means = {}
        for name, calibration in (("plain", plain), ("repaired", path)):
            got = self.run_model(self.int8(model, calibration), {"x": x})["y"]
            means[name] = np.abs((got - want).mean((0, 2, 3))).max() / np.abs(want).mean()
        self.assertLess(means["repaired"], 0.05 * means["plain"])
        self.assertAlmostEqual(self.error(model, path)[0], after, delta=0.02 * after)

    def test_equalize(self):
        """Channels that are much larger than others between two convolutions, with a depthwise one between."""
        rng = np.random.default_rng(3)
        large = np.exp2(np.linspace(-4, 4, 16)).astype(np.float32)[:, None, None, None]
        weights = {"w": rng.standard_normal((16, 3, 3, 3)).astype(np.float32) * large,
                   "d": rng.standard_normal((16, 1, 3, 3)).astype(np.float32),
                   "v": rng.standard_normal((8, 16, 1, 1)).astype(np.float32) / large.reshape(1, 16, 1, 1)}
        nodes = [helper.make_node("Conv", ["x", "w"], ["a"], "conv0"), helper.make_node("Relu", ["a"], ["b"], "relu0"),
                 helper.make_node("Conv", ["b", "d"], ["c"], "conv1", group=16), helper.make_node("Relu", ["c"], ["e"], "relu1"),
                 helper.make_node("Conv", ["e", "v"], ["y"], "conv2")]
        model = self.save(make_model(nodes, [("x", ["n", 3, 12, 12])], [("y", ["n", 8, 8, 8])], weights))
        x = rng.standard_normal((16, 3, 12, 12)).astype(np.float32)
        path, trials = self.repaired(model, {"x": x}, "--method=minmax", "--repair=bias,equalize")
        self.assert_kept("equalize", trials, (model, path), share=0.5, tolerance=0.03)
        # With all nodes in fp32, the repair does not change a bit.
        same = self.int8(model, path, "--keep=*=fp32", name="same")
        np.testing.assert_array_equal(self.run_model(same, {"x": x})["y"],
                                      self.run_model(self.compile(model, name="fp32"), {"x": x})["y"])

    def test_smooth(self):
        """A normalization that makes some channels much larger than others, before products."""
        rng = np.random.default_rng(3)
        scale = np.exp2(np.linspace(-3, 5, 32)).astype(np.float32)
        nodes = [helper.make_node("LayerNormalization", ["x", "s", "b"], ["n"], "norm0"),
                 helper.make_node("MatMul", ["n", "w"], ["q"], "query"), helper.make_node("MatMul", ["n", "v"], ["k"], "key"),
                 helper.make_node("Add", ["q", "k"], ["y"], "add")]
        model = self.save(make_model(nodes, [("x", ["n", 6, 32])], [("y", ["n", 6, 16])], {
            "s": scale, "b": rng.standard_normal(32).astype(np.float32),
            "w": (rng.standard_normal((32, 16)) / scale[:, None]).astype(np.float32),
            "v": (rng.standard_normal((32, 16)) / scale[:, None]).astype(np.float32)}))
        x = rng.standard_normal((20, 6, 32)).astype(np.float32)
        path, trials = self.repaired(model, {"x": x}, "--method=minmax", "--repair=smooth,bias")
        self.assert_kept("smooth", trials, (model, path), share=0.5, tolerance=0.03)
        self.assert_same_in_fp32(model, path, x, 1e-6)

    def test_smooth_residual(self):
        """Equalizes channels of a residual stream, which a depthwise convolution, a sum, a gate and a mean read."""
        rng = np.random.default_rng(3)
        large = np.exp2(np.linspace(-4, 4, 16)).astype(np.float32)
        draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
        weights = {"d": draw(16, 1, 3, 3) * large[:, None, None, None], "b": draw(16) * large,
                   "u": draw(32, 16, 1, 1) / large[None, :, None, None], "v": draw(16, 32, 1, 1) * large[:, None, None, None],
                   "e": draw(16, 1, 3, 3), "s": draw(16, 16, 1, 1) / large[None, :, None, None] / 4,
                   "w": draw(8, 16, 1, 1) / large[None, :, None, None]}
        nodes = [helper.make_node("Conv", ["x", "d", "b"], ["t"], "first", group=16, pads=[1] * 4),
                 helper.make_node("Conv", ["t", "u"], ["h"], "up"), helper.make_node("Tanh", ["h"], ["g"], "tanh"),
                 helper.make_node("Conv", ["g", "v"], ["k"], "down"), helper.make_node("Add", ["t", "k"], ["r"], "sum"),
                 helper.make_node("Conv", ["r", "e"], ["z"], "second", group=16, pads=[1] * 4),
                 helper.make_node("GlobalAveragePool", ["z"], ["m"], "mean"), helper.make_node("Conv", ["m", "s"], ["n"], "gate"),
                 helper.make_node("Sigmoid", ["n"], ["o"], "sigmoid"), helper.make_node("Mul", ["z", "o"], ["p"], "gated"),
                 helper.make_node("Conv", ["p", "w"], ["y"], "last")]
        model = self.save(make_model(nodes, [("x", ["n", 16, 12, 12])], [("y", ["n", 8, 12, 12])], weights))
        x = rng.standard_normal((16, 16, 12, 12)).astype(np.float32)
        path, trials = self.repaired(model, {"x": x}, "--method=minmax", "--repair=smooth,round")
        self.assert_kept("smooth", trials, (model, path), share=0.6, tolerance=0.1)
        self.assert_same_in_fp32(model, path, x, 1e-5)

    def test_round(self):
        """Rounding errors of weights compensate for each other if the data is correlated. Tests grouped, strided,
        padded and transposed convolutions."""
        rng = np.random.default_rng(3)
        draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
        weights = {"w": draw(64, 8, 3, 3), "d": draw(64, 16, 2, 3), "v": draw(5, 64 * 5 * 2), "c": draw(5)}
        nodes = [helper.make_node("Conv", ["x", "w"], ["a"], "conv0", strides=[2, 2], pads=[1, 0, 1, 2]),
                 helper.make_node("Relu", ["a"], ["b"], "relu0"),
                 helper.make_node("Conv", ["b", "d"], ["e"], "conv1", group=4, dilations=[1, 2]),
                 helper.make_node("Flatten", ["e"], ["f"], "flatten"),
                 helper.make_node("Gemm", ["f", "v", "c"], ["y"], "fc", transB=1)]
        model = self.save(make_model(nodes, [("x", ["n", 8, 12, 12])], [("y", ["n", 5])], weights))
        # Makes images that are sums of few patterns, so that the channels are correlated.
        patterns = draw(6, 8 * 12 * 12)
        x = (2 + draw(64, 6) @ patterns + 0.1 * draw(64, 8 * 12 * 12)).reshape(64, 8, 12, 12).astype(np.float32)
        path, trials = self.repaired(model, {"x": x}, "--method=minmax", "--repair=round")
        before, after, kept = trials["round"]
        self.assertTrue(kept and after < 0.9 * before, trials)
        with open(path) as f:
            found = json.load(f)["repair"]["adaround"]
        self.assertEqual([entry["name"] for entry in found], ["conv0", "conv1", "fc"])
        # Five values are judged by their spread.
        done = tool("ingot", "compare", self.int8(model, path), model, "--data", self.path("data.npz"), "--metric=regression", "--json")
        score = json.loads(done.stdout)["score"]["percent"]
        self.assertAlmostEqual(np.sqrt(1 - score / 100), after, delta=0.03 * after)
        # The file does not depend on the number of threads.
        again, _ = self.repaired(model, {"x": x}, "--method=minmax", "--repair=round", "--threads=2")
        with open(again) as f:
            self.assertEqual(json.load(f)["repair"]["adaround"], found)

    def test_families(self):
        """The kept error is smaller, and is the artifact's error."""
        for name in ("repvgg", "mobilenet_v2", "vit"):
            with self.subTest(name):
                proto, runs = families.ALL[name]()
                model, inputs = self.save(proto, name + ".onnx"), runs[0]
                rng = np.random.default_rng(1)
                data = {k: np.concatenate([v] + [rng.permutation(v.ravel()).reshape(v.shape) for _ in range(9)])
                        for k, v in inputs.items()}
                path, trials = self.repaired(model, data, "--method=minmax", "--repair=equalize,smooth,round,bias")
                self.assertEqual(list(trials), ["round", "equalize", "smooth", "bias"])
                for before, after, kept in trials.values():
                    self.assertEqual(kept, after < before)
                least = min([before for before, _, _ in trials.values()] + [a for _, a, kept in trials.values() if kept])
                artifact, probe = self.error(model, path)
                self.assertAlmostEqual(artifact, least, delta=0.1 * least)
                self.assertAlmostEqual(probe, least, delta=0.001 * least)

    def test_refused(self):
        model = self.save(digits.Network(0).model())
        path, _ = self.repaired(model, {"x": digits.render(12, 1)[0]}, "--repair=bias")
        done = tool("ingot", "calibrate", model, "--data", self.path("data.npz"), "--repair=smoth", "-o",
                    self.path("none.json"))
        self.assert_one_line(done, "--repair", "auto, none", "equalize, smooth, round, bias and keep")
        done = tool("ingot", "calibrate", model, "--data", self.path("data.npz"), "--repair=bias,smooth,bias", "-o",
                    self.path("none.json"))
        self.assert_one_line(done, "--repair", "names bias more than once")
        with open(path) as f:
            found = json.load(f)
        for repair, *words in ((None, "no object \"repair\""), ({"equalize": 1}, "equalize"), ({"biases": {}}, "biases"),
                               ({"biases": [{"name": "conv0"}]}, "values"),
                               ({"biases": [{"name": "conv0", "values": ["x"]}]}, "conv0", "finite"),
                               ({"biases": [{"name": "conv0", "values": [1]}]}, "conv0", "6 channels"),
                               ({"adaround": {}}, "adaround"), ({"adaround": [{"name": "conv0"}]}, "name", "up"),
                               ({"adaround": [{"name": "conv0", "up": "A"}]}, "conv0", "base64"),
                               ({"adaround": [{"name": "conv0", "up": "AA=="}]}, "rounding of", "bytes"),
                               ({"adaround": [{"name": "nobody", "up": "AA=="}]}, "'nobody'", "no product"),
                               ({"biases": [{"name": "nobody", "values": [1]}]}, "the bias of 'nobody'", "no product"),
                               ({"channels": [{"name": "nobody", "values": [1]}]}, "'nobody'", "no tensor"),
                               ({"channels": [{"name": "conv0", "values": [-1]}]}, "conv0", "below 0"),
                               ({"biases": [{"name": "conv0", "values": [1] * 6}] * 2}, "'conv0'", "biases", "twice"),
                               ({"channels": [{"name": "x", "values": [1]}] * 2}, "'x'", "channels", "twice"),
                               ({"adaround": [{"name": "conv0", "up": "AA=="}] * 2}, "'conv0'", "adaround", "twice"),
                               ({"smoth": [], "equalize": True}, "smoth", "no repair is called")):
            with open(self.path("changed.json"), "w") as f:
                json.dump({**found, "repair": repair}, f)
            self.refuses(model, *words, options=["--precision=int8", "--calibration=" + self.path("changed.json"),
                                                 "--keep=*=int8"])
