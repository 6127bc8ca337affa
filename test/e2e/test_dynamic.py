# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`ingot compile --precision=int8-dynamic`, and models that quantize what they read in each run."""
import json

import numpy as np
from onnx.reference import ReferenceEvaluator

import families
from support import Case, TensorProto, helper, make_model, tool


def inspect(artifact):
    return json.loads(tool("ingot", "inspect", "--json", artifact).stdout)


class Precision(Case):
    # Larger bounds of the error, for networks that do not average rounding errors out.
    MOST = {"bert": 0.1, "vit": 0.05, "resnet": 0.05, "mobilenet_v2": 0.12, "speech_gru": 0.05}

    def test_families(self):
        """Random networks: the error of 8 bits, relative to the norm of all outputs."""
        for name, most in self.MOST.items():
            with self.subTest(name):
                model, runs = families.ALL[name]()
                feeds = runs[0]
                shapes = [f"--shape={k}={'x'.join(map(str, v.shape))}" for k, v in feeds.items()]
                floats = self.run_model(self.compile(model, *shapes, name="fp32"), feeds)
                # Small products stay floats unless a rule names them.
                rules = ["--keep=*=int8"] if name in ("bert", "vit") else []
                artifact = self.compile(model, *shapes, "--precision=int8-dynamic", *rules, name="int8")
                got = self.run_model(artifact, feeds)
                for output, want in floats.items():
                    if want.dtype.kind == "f":
                        error = np.linalg.norm(got[output].astype(np.float64) - want)
                        self.assertGreater(error, 0, "nothing was quantized")
                        self.assertLessEqual(error, most * np.linalg.norm(want), output)
                self.assertEqual(inspect(artifact)["precisions"], ["int8"])

    def test_it_is_smaller(self):
        rng = np.random.default_rng(0)
        model = make_model([helper.make_node("Gemm", ["x", "w", "b"], ["y"], name="g")], [("x", [4, 512])],
                           [("y", [4, 512])], {"w": rng.standard_normal((512, 512)).astype(np.float32),
                                               "b": np.zeros(512, np.float32)})
        sizes = [inspect(self.compile(model, *options))["weights_bytes"]
                 for options in ([], ["--precision=int8-dynamic"])]
        self.assertLessEqual(sizes[1], 0.27 * sizes[0])

    def test_keep(self):
        rng = np.random.default_rng(0)
        weights = {n: rng.standard_normal((64, 64)).astype(np.float32) for n in ("v", "w")}
        model = make_model([helper.make_node("MatMul", ["x", "v"], ["h"], name="first"),
                            helper.make_node("MatMul", ["h", "w"], ["y"], name="second")],
                           [("x", [4, 64])], [("y", [4, 64])], weights)
        artifact = self.compile(model, "--precision=int8-dynamic", "--keep=sec*=fp32")
        layers = {tuple(layer["nodes"]): layer["precision"] for layer in inspect(artifact)["layers"]
                  if layer["kind"] == "matmul"}
        self.assertEqual(layers, {("first",): "int8", ("second",): ""})

    def test_extremes(self):
        """Inputs of zeros only, of one sign only, and with a dynamic batch."""
        model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"], name="m")], [("x", ["n", 8])],
                           [("y", ["n", 4])], {"w": np.eye(8, 4, dtype=np.float32)})
        artifact = self.compile(model, "--precision=int8-dynamic")
        for x in (np.zeros((3, 8)), np.full((1, 8), 7.0), np.full((5, 8), -3.0), np.arange(16).reshape(2, 8) - 4.0):
            x = x.astype(np.float32)
            got = self.run_model(artifact, {"x": x})["y"]
            step = max(x.max(), 0) - min(x.min(), 0)
            np.testing.assert_allclose(got, x[:, :4], atol=step / 255 + 1e-6)

    def test_rows(self):
        """Each row of a matrix has a range of its own, so that a token of large numbers leaves the others exact."""
        rng = np.random.default_rng(0)
        weights = {"v": (rng.standard_normal((256, 512)) / 16).astype(np.float32),
                   "b": rng.standard_normal(512).astype(np.float32),
                   "w": (rng.standard_normal((512, 256)) / 22).astype(np.float32)}
        nodes = [helper.make_node("MatMul", ["x", "v"], ["h"], name="first"),
                 helper.make_node("Add", ["h", "b"], ["s"], name="add"),
                 helper.make_node("Relu", ["s"], ["r"], name="relu"),
                 helper.make_node("MatMul", ["r", "w"], ["y"], name="second")]
        x = rng.standard_normal((2, 24, 256)).astype(np.float32)
        x[:, 3] *= 80
        x[0, 5] = 0
        for shape in ([2, 24, 256], ["n", 24, 256], ["n", "rows", 256]):
            with self.subTest(shape):
                model = make_model(nodes, [("x", shape)], [("y", shape)], weights)
                want = ReferenceEvaluator(model).run(None, {"x": x})[0]
                artifact = self.compile(model, "--precision=int8-dynamic", "--keep=*=int8")
                self.assertEqual(inspect(artifact)["precisions"], ["int8"])
                got = self.run_model(artifact, {"x": x})["y"]
                errors = np.linalg.norm(got - want, axis=-1) / np.linalg.norm(want, axis=-1)
                self.assertGreater(errors.min(), 0, "nothing was quantized")
                # A range of all rows has an error of 0.4 here.
                self.assertLessEqual(errors.max(), 0.025)

    def refuses(self, *options, words):
        model = make_model([helper.make_node("Relu", ["x"], ["y"], name="act")], [("x", [1, 4])], [("y", [1, 4])])
        self.assert_refuses(model, *words, options=options)

    def test_refused(self):
        self.refuses("--precision=int8-dynamic", "--calibration=x.json", words=["--calibration is for"])
        self.refuses("--precision=int8-dynamic", "--kernels=onednn", words=["--precision=int8-dynamic", "native"])
        self.refuses("--precision=int8-dynamic", "--keep=nothing=fp32", words=["rule 'nothing=fp32'", "no node"])
        self.refuses("--precision=int8dynamic", words=["unknown --precision=int8dynamic", "int8-dynamic"])


class Files(Case):
    """DynamicQuantizeLinear before products of integers, as ONNX Runtime's quantize_dynamic writes it."""

    def check(self, nodes, x, weights, limit):
        model = make_model(
            [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"], name="quantize"), *nodes,
             helper.make_node("Cast", ["i"], ["f"], name="cast", to=1),
             helper.make_node("Mul", ["s", "ws"], ["scales"], name="scales"),
             helper.make_node("Mul", ["f", "scales"], ["y"], name="scale")],
            [("x", ["n", *x.shape[1:]])], [("y", None)], {**weights, "ws": np.float32(0.01)})
        artifact = self.compile(model)
        for scale in (1, 0.01, 100):
            feeds = {"x": (x * scale).astype(np.float32)}
            want = ReferenceEvaluator(model).run(None, feeds)[0]
            got = self.run_model(artifact, feeds)["y"]
            # If a value lies halfway between two int8 values, both are right.
            np.testing.assert_allclose(got, want, atol=2e-3 * np.abs(want).max(), rtol=0)
        report = inspect(artifact)
        self.assertEqual(report["precisions"], ["int8"])
        self.assertLessEqual(report["weights_bytes"], limit)

    def test_matmul(self):
        rng = np.random.default_rng(0)
        x = rng.standard_normal((3, 5, 96))
        for dtype, zeros in ((np.int8, [0]), (np.uint8, [128, 131])):
            for zero in zeros:
                with self.subTest(dtype=dtype, zero=zero):
                    info = np.iinfo(dtype)
                    w = rng.integers(info.min, info.max, (96, 128), dtype, endpoint=True)
                    self.check([helper.make_node("MatMulInteger", ["q", "w", "z", "wz"], ["i"], name="product")], x,
                               {"w": w, "wz": dtype(zero)}, 1.1 * w.size + 2048)

    def test_conv(self):
        rng = np.random.default_rng(1)
        x = rng.standard_normal((2, 16, 9, 7))
        w = rng.integers(-127, 128, (32, 16, 3, 3), np.int8)
        for attributes in ({}, {"pads": [1, 0, 2, 1]}, {"strides": [2, 2], "auto_pad": "SAME_UPPER"}):
            with self.subTest(attributes):
                self.check([helper.make_node("ConvInteger", ["q", "w", "z"], ["i"], name="product", **attributes)], x,
                           {"w": w}, 1.1 * w.size + 2048)

    def test_conv_of_unsigned_weights(self):
        """Weights that exceed int8 after their zero points are subtracted. The results are bit-exact."""
        rng = np.random.default_rng(2)
        x = rng.integers(0, 256, (2, 32, 9, 7), np.uint8)
        many = rng.integers(0, 256, 48, np.uint8)
        many[:2] = 0, 255
        shapes = {"plain": ([48, 32, 3, 3], 1, many), "one": ([48, 32, 1, 1], 1, np.uint8(113)),
                  "depthwise": ([32, 1, 3, 3], 32, many[:32]), "grouped": ([48, 8, 3, 3], 4, many)}
        for name, (shape, group, zero) in shapes.items():
            pads = {} if name == "one" else {"pads": [1, 0, 2, 1]}
            node = helper.make_node("ConvInteger", ["x", "w", "z", "wz"], ["y"], name="product", group=group, **pads)
            weights = {"w": rng.integers(0, 256, shape, np.uint8), "wz": zero}
            for known in (True, False):
                with self.subTest(name=name, known=known):
                    inputs, z = [("x", x.shape, TensorProto.UINT8)], np.uint8(131)
                    model = make_model([node], inputs + ([] if known else [("z", [], TensorProto.UINT8)]),
                                       [("y", None, TensorProto.INT32)], {**weights, **({"z": z} if known else {})})
                    feeds = {"x": x, **({} if known else {"z": z})}
                    artifact = self.compile(model)
                    want = ReferenceEvaluator(model).run(None, feeds)[0]
                    np.testing.assert_array_equal(self.run_model(artifact, feeds)["y"], want)
                    if name != "grouped":
                        self.assertIn("int8", inspect(artifact)["precisions"])
