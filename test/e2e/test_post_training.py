# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests `ingot compile --precision=int8`: accuracy with trained and random weights, rules, and wrong uses."""
import json
import os

import numpy as np
import onnx
from onnx import helper, numpy_helper

import digits
import families
from support import Case, make_model, tool


class PostTraining(Case):
    def calibrate(self, model, data, *options):
        path = self.path("model.calib.json")
        np.savez(self.path("data.npz"), **data)
        done = tool("ingot", "calibrate", model, "--data", self.path("data.npz"), "-o", path, "--repair=none", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def int8(self, model, calibration, *options, name="int8"):
        return self.compile(model, "--precision=int8", f"--calibration={calibration}", *options, name=name)

    def refuses(self, model, *words, options=()):
        out = self.path("refused")
        os.makedirs(out, exist_ok=True)
        done = tool("ingot", "compile", model, "-o", os.path.join(out, "model.so"), *options)
        self.assert_one_line(done, *words)
        self.assertEqual(os.listdir(out), [], "something was left behind")

    def quantized_nodes(self, model, calibration, *options):
        """Returns the quantized nodes in the IR after graph simplification, as compiled for a CPU with VNNI."""
        done = tool("ingot", "compile", model, "-o", "-", "--precision=int8", f"--calibration={calibration}",
                    "--dump-after=nn-insert-quantize", "--emit=mlir-quantize", "--target=znver4", "-q", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr


class Trained(PostTraining):
    """Trains a network and measures the cost of int8."""
    TEST = 2000
    SEEDS = (0, 1)

    def test_digits(self):
        x, labels = digits.render(2000, 1)
        tx, wanted = digits.render(self.TEST, 2)
        drops = {}
        for seed in self.SEEDS:
            network = digits.Network(seed)
            network.train(x, labels, seed=seed)
            model = self.save(network.model(), f"digits{seed}.onnx")

            def accuracy(artifact):
                got = self.run_model(artifact, {"x": tx})["y"]
                return float((got.argmax(1) == wanted).mean()) * 100
            floats = accuracy(self.compile(model, name="fp32"))
            self.assertGreater(floats, 85, "it was trained")
            self.assertLess(floats, 99.5, "it is hard")
            for method in ("entropy", "percentile", "mse", "minmax"):
                calibration = self.calibrate(model, {"x": x[:200]}, "--method", method)
                drops.setdefault(method, []).append(floats - accuracy(self.int8(model, calibration)))
                if method == "mse":
                    seven = self.int8(model, calibration, "--weight-bits=7", name="seven")
                    drops.setdefault("mse, 7 bits", []).append(floats - accuracy(seven))
        for method, points in drops.items():
            self.assertLessEqual(np.mean(points), 0.5, f"{method}: {drops}")

    def test_it_is_smaller(self):
        network = digits.Network(0, channels=(32, 64))
        model = self.save(network.model())
        calibration = self.calibrate(model, {"x": digits.render(20, 1)[0]})

        def weights(artifact):
            return json.loads(tool("ingot", "inspect", "--json", artifact).stdout)["weights_bytes"]
        self.assertLess(weights(self.int8(model, calibration)), 0.3 * weights(self.compile(model, name="fp32")))


class Random(PostTraining):
    """Families of models with random weights: errors of 8 bits, relative to the norm of all outputs."""
    # Larger bounds of the error, for networks that do not average rounding errors out.
    MOST = {"resnet": 0.05, "repvgg": 0.05, "acnet": 0.06, "diverse_branch": 0.05, "mobilenet_v2": 0.15,
            "shufflenet_v2": 0.12, "efficientnet": 0.05, "densenet": 0.06, "unet": 0.08, "vit": 0.06, "bert": 0.12,
            "ocr_attention": 0.06, "speech_gru": 0.05}

    def test_families(self):
        for name, most in self.MOST.items():
            with self.subTest(name):
                proto, runs = families.ALL[name]()
                model, inputs = self.save(proto, name + ".onnx"), runs[0]
                rng = np.random.default_rng(1)

                def shuffled(v):
                    return rng.permutation(v.ravel()).reshape(v.shape) if v.dtype.kind == "f" else v
                data = {k: np.concatenate([v] + [shuffled(v) for _ in range(11)]) for k, v in inputs.items()}
                shapes = [f"--shape={k}={'x'.join(map(str, v.shape))}" for k, v in inputs.items()]
                calibration = self.calibrate(model, data, "--method", "minmax", *shapes)
                floats = self.run_model(self.compile(model, *shapes, name="fp32"), inputs)
                bytes_ = self.run_model(self.int8(model, calibration, *shapes), inputs)
                for output, want in floats.items():
                    if want.dtype.kind == "f":
                        error = np.linalg.norm(bytes_[output] - want) / np.linalg.norm(want)
                        self.assertGreater(error, 0, "nothing was quantized")
                        self.assertLess(error, most, output)

    def test_pairs(self):
        """If all targets lack VNNI, weights get larger scales. They do not if one target has VNNI, or with
        --weight-bits=8."""
        rng = np.random.default_rng(3)
        weights = rng.normal(size=(32, 64, 1, 1)).astype(np.float32)
        model = self.save(make_model([helper.make_node("Conv", ["x", "w"], ["y"], "conv0")], [("x", [1, 64, 16, 16])],
                                     [("y", [None] * 4)], {"w": weights}))
        x = rng.normal(size=(8, 64, 16, 16)).astype(np.float32)
        calibration = self.calibrate(model, {"x": x})
        want = np.einsum("oc,nchw->nohw", weights[:, :, 0, 0], x[:1])

        def run(*options):
            return self.run_model(self.int8(model, calibration, *options), {"x": x[:1]})["y"]

        def error(y):
            return np.linalg.norm(y - want) / np.linalg.norm(want)
        fitted, eight = run("--target=x86-64-v3"), run("--target=x86-64-v3", "--weight-bits=8")
        seven, both = run("--target=x86-64-v3", "--weight-bits=7"), run("--target=x86-64-v3,cascadelake")
        self.assertGreater(np.abs(fitted - eight).max(), 0)
        np.testing.assert_allclose(both, eight, rtol=1e-6, atol=1e-6)
        self.assertLess(error(fitted), 1.4 * error(eight))
        self.assertLess(error(fitted), 0.9 * error(seven))

    def test_kinds_of_convolutions(self):
        """Convolutions: depthwise, grouped, dilated, strided, 1-D and 3-D, with unequal pads."""
        rng = np.random.default_rng(8)
        kinds = [((2, 6, 9, 9), (6, 1, 3, 3), {"group": 6, "pads": [1, 1, 1, 1]}),
                 ((2, 6, 9, 9), (4, 3, 3, 3), {"group": 2, "strides": [2, 2]}),
                 ((2, 3, 12, 12), (5, 3, 3, 3), {"dilations": [2, 2], "pads": [2, 0, 1, 3]}),
                 ((2, 3, 20), (4, 3, 5), {"pads": [2, 2]}),
                 ((1, 3, 5, 6, 7), (4, 3, 3, 3, 3), {"pads": [1] * 6})]
        for shape, weight, attributes in kinds:
            with self.subTest(str((shape, weight))):
                w = rng.standard_normal(weight).astype(np.float32) * np.float32(0.3)
                w[0] *= 50  # a large channel, for which a single scale would be too coarse
                model = self.save(make_model(
                    [helper.make_node("Conv", ["x", "w", "b"], ["y"], "conv0", **attributes)], [("x", list(shape))],
                    [("y", [None] * len(shape))], {"w": w, "b": rng.standard_normal(weight[0]).astype(np.float32)}))
                # Data with negative values, so that the zero point, which pads, is not the smallest byte.
                x = rng.uniform(-1, 3, (12 * shape[0], *shape[1:])).astype(np.float32)
                calibration = self.calibrate(model, {"x": x}, "--method", "minmax")
                inputs = {"x": x[:shape[0]]}
                want = self.run_model(self.compile(model, name="fp32"), inputs)["y"]
                got = self.run_model(self.int8(model, calibration, "--keep=conv0=int8"), inputs)["y"]
                axes = (0, *range(2, want.ndim))
                error = np.sqrt(((got - want) ** 2).mean(axes) / (want ** 2).mean(axes))
                self.assertLess(error.max(), 0.02, "of a channel")
                self.assertGreater(error.max(), 0)


class Rules(PostTraining):
    def model(self):
        return self.save(digits.Network(0).model())

    def data(self):
        return {"x": digits.render(12, 1)[0]}

    def test_keep(self):
        model = self.model()
        calibration = self.calibrate(model, self.data())
        self.assertEqual(self.quantized_nodes(model, calibration).count("= nn.conv"), 3)
        everything = self.quantized_nodes(model, calibration, "--keep=*=int8")
        self.assertEqual(everything.count("xsi8>, tensor<"), 4, "weights of four products")
        chosen = self.quantized_nodes(model, calibration)
        self.assertEqual(chosen.count("xsi8>, tensor<"), 3, "all but that of one channel of the input")
        for rules, products in ((["conv0=fp32"], 3), (["conv*=fp32"], 1), (["conv0=fp32", "fc=fp32"], 2),
                                (["*=fp32"], 0)):
            kept = self.quantized_nodes(model, calibration, *(f"--keep={rule}" for rule in rules))
            self.assertEqual(kept.count("xsi8>, tensor<"), products, rules)
        # If rules keep all nodes in fp32, the results are bit-equal to fp32.
        x = {"x": digits.render(3, 2)[0]}
        np.testing.assert_array_equal(self.run_model(self.int8(model, calibration, "--keep=*=fp32"), x)["y"],
                                      self.run_model(self.compile(model, name="fp32"), x)["y"])

    def test_edited(self):
        """The file may be edited. A tensor without an entry is not quantized, and a changed scale is used."""
        model = self.model()
        path = self.calibrate(model, self.data())
        with open(path) as f:
            found = json.load(f)
        self.assertEqual([t["name"] for t in found["tensors"]], ["x", "pool0", "pool1", "flat"])
        del found["tensors"][0]
        found["tensors"][0]["scale"] = 0.12345
        with open(path, "w") as f:
            json.dump(found, f)
        dumped = self.quantized_nodes(model, path)
        self.assertEqual(dumped.count("xsi8>, tensor<"), 3)
        self.assertIn("dense<1.234500e-01>", dumped)

    def test_the_models_own_quantization_wins(self):
        """A convolution between QuantizeLinear and DequantizeLinear keeps the model's quantization."""
        rng = np.random.default_rng(2)
        nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], "q0"),
                 helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"], "d0"),
                 helper.make_node("Conv", ["d", "w"], ["c"], "conv0"), helper.make_node("Relu", ["c"], ["r"], "relu0"),
                 helper.make_node("Conv", ["r", "v"], ["y"], "conv1")]
        model = self.save(make_model(nodes, [("x", ["n", 3, 4, 4])], [("y", ["n", 2, 4, 4])], {
            "s": np.float32(0.05), "z": np.uint8(100), "w": rng.standard_normal((4, 3, 1, 1)).astype(np.float32),
            "v": rng.standard_normal((2, 4, 1, 1)).astype(np.float32)}))
        x = rng.standard_normal((12, 3, 4, 4)).astype(np.float32)
        path = self.calibrate(model, {"x": x})
        with open(path) as f:
            self.assertEqual([t["name"] for t in json.load(f)["tensors"]], ["relu0"])
        self.assertEqual(self.quantized_nodes(model, path).count("xsi8>, tensor<"), 1)
        self.int8(model, path)


class FileOfRules(PostTraining):
    """Tests `--rules`: precision by node, method by tensor."""

    def setUp(self):
        super().setUp()
        self.model = self.save(digits.Network(0).model())

    def rules(self, *rules, version=1):
        with open(self.path("rules.json"), "w") as f:
            json.dump({"ingot_rules": version, "rules": rules}, f)
        return "--rules=" + self.path("rules.json")

    def ranges(self, *options):
        with open(self.calibrate(self.model, {"x": digits.render(12, 1)[0]}, *options)) as f:
            return {t["name"]: t for t in json.load(f)["tensors"]}

    def test_precision(self):
        """Rules work like --keep. The first matching rule decides, and --keep has precedence."""
        path = self.calibrate(self.model, {"x": digits.render(12, 1)[0]})

        def products(*options):
            return self.quantized_nodes(self.model, path, *options).count("xsi8>, tensor<")
        fp32, int8 = ({"name": "conv*", "precision": p} for p in ("fp32", "int8"))
        self.assertEqual(products(self.rules(fp32)), 1)
        self.assertEqual(products(self.rules({"name": "conv0", "precision": "int8"}, fp32)), 2)
        self.assertEqual(products(self.rules(fp32, {"name": "conv0", "precision": "int8"})), 1)
        self.assertEqual(products(self.rules(int8), "--keep=conv0=fp32"), 3)
        self.assertEqual(products(self.rules({"name": "conv0", "method": "mse"})), 3)
        self.assertEqual(products(self.rules({"name": "conv0", "method": "mse"}, int8)), 4)

    def test_methods(self):
        """A named tensor has the range of its method, all others that of the command line."""
        plain, minmax = self.ranges("--method=entropy"), self.ranges("--method=minmax")
        cut = self.ranges("--method=percentile", "--percentile=90")
        mixed = self.ranges("--method=entropy", self.rules(
            {"name": "pool0", "method": "minmax"}, {"name": "pool?", "method": "percentile", "percentile": 90},
            {"name": "x", "method": "moving-average"}))
        self.assertEqual(mixed["pool0"], {**minmax["pool0"], "method": "minmax"})
        self.assertEqual(mixed["pool1"], {**cut["pool1"], "method": "percentile"})
        self.assertEqual(mixed["x"]["method"], "moving-average")
        self.assertEqual(mixed["flat"], plain["flat"])
        self.assertNotEqual(plain["pool0"]["scale"], minmax["pool0"]["scale"])

    def test_best(self):
        """`best` has the smallest effect of all methods on the outputs, tensor by tensor."""
        data, methods = {"x": digits.render(40, 1)[0]}, ("entropy", "percentile", "mse", "minmax", "moving-average")

        def error(*options):
            path = self.calibrate(self.model, data, *options)
            done = tool("ingot", "compare", self.int8(self.model, path), self.model, "--data", self.path("data.npz"),
                        "--json")
            with open(path) as f:
                return json.loads(done.stdout)["outputs"][0]["relative_error"], json.load(f)
        alone = {m: error("--method", m)[0] for m in methods}
        least, found = error("--method=best", "--samples=40")
        self.assertLessEqual(least, 1.1 * min(alone.values()), alone)
        self.assertEqual(found["method"], "best")
        self.assertTrue(all(t["method"] in methods for t in found["tensors"]), found)
        again = self.ranges("--method=minmax", self.rules({"name": "flat", "method": "best"}))
        self.assertEqual([n for n, t in again.items() if "method" in t and n != "flat"], [])
        done = tool("ingot", "calibrate", self.model, "--data", self.path("data.npz"), "--samples", "3",
                    "--repair=none", "-o", self.path("none.json"))
        self.assert_one_line(done, "--samples is for --method=best")

    def test_refused(self):
        path = self.calibrate(self.model, {"x": digits.render(12, 1)[0]})

        def refuses(*words, rules=None, text=None):
            option = self.rules(*rules or ())
            if text is not None:
                with open(self.path("rules.json"), "w") as f:
                    f.write(text)
            for command in (["compile", self.model, "--precision=int8", f"--calibration={path}", "-o",
                             self.path("none.so")],
                            ["calibrate", self.model, "--data", self.path("data.npz"), "-o", self.path("none.json")]):
                done = tool("ingot", *command, option)
                self.assert_one_line(done, "rules.json", *words)
                self.assertFalse(os.path.exists(command[-1]), "something was left behind")
        refuses("not a whole JSON", text='{"ingot_rules": 1, "rules": [')
        refuses("not a file of rules", text="{}")
        refuses("version 2", "version 1", text='{"ingot_rules": 2, "rules": []}')
        refuses("no list", text='{"ingot_rules": 1}')
        refuses("rule", "no such file", text='{"ingot_rules": 1, "rules": [], "rule": []}')
        refuses('"rules" more than once', text='{"ingot_rules": 1, "rules": [], "rules": []}')
        refuses('"name" more than once',
                text='{"ingot_rules": 1, "rules": [{"name": "a", "precision": "fp32", "name": "*"}]}')
        refuses("rule 2", "no \"name\"", rules=[{"name": "*", "precision": "fp32"}, {"precision": "fp32"}])
        refuses("'*'", "says nothing", rules=[{"name": "*"}])
        refuses("'['", "not a pattern", rules=[{"name": "[", "precision": "fp32"}])
        refuses("'x'", "'int3'", "fp32, int8, bf16, fp16, w4 or w8", rules=[{"name": "x", "precision": "int3"}])
        refuses("'x'", "'median'", "entropy", "minmax", rules=[{"name": "x", "method": "median"}])
        refuses("'x'", "\"precison\"", "use name, precision", rules=[{"name": "x", "precison": "fp32"}])
        refuses("'x'", "\"percentile\"", "for method percentile", rules=[{"name": "x", "method": "mse",
                                                                          "percentile": 99}])
        refuses("'x'", "\"percentile\"", "above 50", rules=[{"name": "x", "method": "percentile", "percentile": 9}])
        # The rule matches no node and no tensor.
        self.refuses(self.model, "'cnv0=fp32'", "no node", "'conv0'", options=[
            "--precision=int8", f"--calibration={path}", self.rules({"name": "cnv0", "precision": "fp32"})])
        done = tool("ingot", "calibrate", self.model, "--data", self.path("data.npz"), "-o", self.path("none.json"),
                    self.rules({"name": "pol0", "method": "mse"}))
        self.assert_one_line(done, "'pol0'", "no calibrated tensor", "'pool0'")
        self.refuses(self.model, "--rules is for --precision=", "bf16", options=[self.rules()])
        # Nesting that would exhaust the stack; an input file is not overwritten.
        with open(self.path("deep.json"), "w") as f:
            f.write('{"ingot_rules": 1, "rules": ' + "[" * 200000)
        self.refuses(self.model, "deep.json", "nested deeper", options=[
            "--precision=int8", f"--calibration={path}", "--rules=" + self.path("deep.json")])
        self.refuses(self.model, "deep.json", "nested deeper", options=[
            "--precision=int8", "--calibration=" + self.path("deep.json")])
        with open(path, "rb") as f:
            before = f.read()
        done = tool("ingot", "compile", self.model, "--precision=int8", f"--calibration={path}", "-o", path)
        self.assert_one_line(done, "cannot write", "is read")
        with open(path, "rb") as f:
            self.assertEqual(f.read(), before)
        self.refuses(self.model, "--report", "name of the library", options=[
            "--precision=int8", f"--calibration={path}", "--report=" + self.path("refused/model.h")])
        self.refuses(self.model, "--weight-bits=6", "7 or 8", options=[
            "--precision=int8", f"--calibration={path}", "--weight-bits=6"])
        self.refuses(self.model, "--weight-bits is for", "int8-dynamic", options=["--precision=w8", "--weight-bits=7"])
        self.refuses(self.model, "gone.json", "no such file", options=[
            "--precision=int8", f"--calibration={path}", "--rules=" + self.path("gone.json")])


class Refused(PostTraining):
    def test_calibrations(self):
        model = self.save(digits.Network(0).model())
        path = self.calibrate(model, {"x": digits.render(12, 1)[0]})
        with open(path) as f:
            text = f.read()
        found = json.loads(text)

        def with_text(text, *words, of=model):
            with open(self.path("changed.json"), "w") as f:
                f.write(text)
            self.refuses(of, "changed.json", *words,
                         options=["--precision=int8", f"--calibration={self.path('changed.json')}"])
        with_text(text[:len(text) // 2], "not a whole JSON file")
        with_text("", "not a whole JSON file")
        with_text("{}", "not a file of ingot calibrate")
        with_text(json.dumps({**found, "ingot_calibration": 7}), "version 7", "version 1")
        with_text(json.dumps({**found, "tensors": [{**found["tensors"][0], "name": "pol0"}]}), "'pol0'", "'pool0'")
        with_text(json.dumps({**found, "tensors": [{**found["tensors"][0], "scale": 0}]}), "'x'", "above 0")
        other = self.save(digits.Network(1).model(), "other.onnx")
        with_text(text, "other.onnx", "model.onnx", "calibrate this model", of=other)
        self.refuses(model, "gone.json", "no such file",
                     options=["--precision=int8", f"--calibration={self.path('gone.json')}"])
        # The command does not wait for a pipe that may never end.
        os.mkfifo(self.path("pipe.json"))
        self.refuses(model, "pipe.json", "not a regular file",
                     options=["--precision=int8", f"--calibration={self.path('pipe.json')}"])

    def test_other_external_data(self):
        """A retrained model, in files beside an equal graph, is another model."""
        proto = digits.Network(0).model()
        model = self.path("model.onnx")

        def save(name):
            onnx.save_model(proto, model, save_as_external_data=True, location=name, size_threshold=0)
        save("weights.bin")
        path = self.calibrate(model, {"x": digits.render(12, 1)[0]})
        int8 = ["--precision=int8", f"--calibration={path}"]
        self.compile(model, *int8)
        with open(self.path("weights.bin"), "r+b") as f:
            f.seek(40)
            f.write(b"\1")
        self.refuses(model, "model.calib.json", "calibrate this model", options=int8)

    def test_use(self):
        model = self.save(digits.Network(0).model())
        path = self.calibrate(model, {"x": digits.render(12, 1)[0]})
        int8 = ["--precision=int8", f"--calibration={path}"]
        self.refuses(model, "--precision=int8 needs --calibration", options=["--precision=int8"])
        self.refuses(model, "--calibration is for --precision=int8", options=[f"--calibration={path}"])
        self.refuses(model, "--keep is for --precision=", "bf16", "int8", options=["--keep=a=fp32"])
        self.refuses(model, "int8", "native kernels", "onednn", options=[*int8, "--kernels=onednn"])
        self.refuses(model, "'cnv0=fp32'", "no node", "'conv0'", options=[*int8, "--keep=cnv0=fp32"])
        self.refuses(model, "'conv0=int4'", "use GLOB=fp32", options=[*int8, "--keep=conv0=int4"])

    def test_weights_that_are_not_finite_stay(self):
        w = np.ones((2, 3, 1, 1), np.float32)
        w[0, 0] = np.inf
        nodes = [helper.make_node("Conv", ["x", "w"], ["y"], "conv0")]
        proto = make_model(nodes, [("x", ["n", 3, 4, 4])], [("y", ["n", 2, 4, 4])],
                           {"v": np.zeros(1, np.float32)})
        proto.graph.initializer.append(numpy_helper.from_array(w, "w"))
        model = self.save(proto)
        path = self.calibrate(model, {"x": np.random.default_rng(1).uniform(1, 2, (12, 3, 4, 4)).astype(np.float32)})
        self.assertNotIn("xsi8>, tensor<", self.quantized_nodes(model, path))
