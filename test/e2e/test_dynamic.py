# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`ingot compile --precision=int8-dynamic`, and models that quantize what they read in each run."""
import json

import numpy as np
from onnx.reference import ReferenceEvaluator

import families
from support import EMULATED, Case, TensorProto, helper, make_model, tool
from test_levels import cap
from test_packed_weights import LEVELS


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
                artifact = self.compile(model, *shapes, "--precision=int8-dynamic", *rules, *EMULATED, name="int8")
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
        artifact = self.compile(model, "--precision=int8-dynamic", "--keep=sec*=fp32", *EMULATED)
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

    def test_odd_rows(self):
        """Infinities have the sign of the product, NaN stays NaN, and large numbers do not overflow; all of them stay in
        their rows. All levels give the same bits."""
        rng = np.random.default_rng(0)
        # Some weights are exactly 1 step of their scale, others 0. Columns have scales from tiny to huge.
        w = rng.uniform(0.1, 1, (256, 96)).astype(np.float32) * rng.choice([-1, 1], (256, 96)).astype(np.float32)
        w *= np.exp2(rng.integers(-3, 4, 96)).astype(np.float32)
        w[:, 5] *= np.float32(1e30)
        w[:, 6] *= np.float32(1e-30)
        for rows in ([9], ["n"], [1], [2, 9]):
            model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"], name="m")], [("x", [*rows, 256])],
                               [("y", [*rows, 96])], {"w": w})
            artifact = self.compile(model, "--precision=int8-dynamic", "--keep=m=int8", "--target", ",".join(LEVELS))
            self.assertEqual(inspect(artifact)["precisions"], ["int8"])
            x = rng.standard_normal((2, 9, 256)).astype(np.float32)
            x[:, 1, 7], x[:, 2, 200], x[:, 3, 31] = np.inf, -np.inf, np.nan
            x[:, 4, 3], x[:, 4, 4] = np.inf, -np.inf
            x[:, 5] = np.float32(3e38) * np.sign(x[:, 5])
            x[:, 6] *= np.float32(1e-30)
            x[:, 7, 0] = np.float32(-3.4e38)
            for x in {1: [row[None] for row in x[0]], 2: [x]}.get(rows[0], [x[0]]):
                with np.errstate(all="ignore"):
                    want = x.astype(np.float64) @ w.astype(np.float64)
                    largest = np.abs(x).max(-1, keepdims=True) * np.abs(w).max(0) * 255 / 127
                outcomes = []
                for level in LEVELS:
                    with cap(level), self.subTest(rows=rows, level=level):
                        outcomes.append(got := self.run_model(artifact, {"x": x})["y"])
                        np.testing.assert_array_equal(got, outcomes[0])
                        self.assertFalse(np.isfinite(got[~np.isfinite(want)]).any())
                        # A row with infinities of both signs is NaN.
                        is_inf = np.isinf(want) & ~(np.isposinf(x).any(-1) & np.isneginf(x).any(-1))[..., None]
                        np.testing.assert_array_equal(got[is_inf], want[is_inf])
                        fits = np.isfinite(want) & (np.abs(want) + largest < 3.4e38)
                        self.assertTrue(np.isfinite(got[fits]).all())
                        # Denormal results are 0.
                        self.assertLessEqual((np.abs(got - want)[fits] / (largest[fits] + 1e-36)).max(initial=0), 2)

    def test_odd_pictures(self):
        """A picture has one range. An infinity makes its windows infinite, and a NaN makes all NaN."""
        rng = np.random.default_rng(0)
        w = rng.uniform(0.001, 0.01, (32, 64, 3, 3)).astype(np.float32)
        w[::2] *= -1
        model = make_model([helper.make_node("Conv", ["x", "w"], ["y"], name="c", pads=[1, 1, 1, 1])],
                           [("x", [1, 64, 8, 8])], [("y", [1, 32, 8, 8])], {"w": w})
        artifact = self.compile(model, "--precision=int8-dynamic", "--keep=c=int8", "--target", ",".join(LEVELS))
        x = rng.standard_normal((1, 64, 8, 8)).astype(np.float32)
        floats = self.run_model(self.compile(model, name="fp32"), {"x": x})["y"]
        for level in LEVELS:
            with cap(level), self.subTest(level=level):
                run = lambda x: self.run_model(artifact, {"x": x})["y"]
                large = run(x * np.float32(5e37))
                np.testing.assert_allclose(large / 5e37, floats, atol=0.05 * np.abs(floats).max())
                for value in (np.inf, -np.inf):
                    odd = x.copy()
                    odd[0, 3, 4, 4] = value
                    got = run(odd)
                    self.assertFalse(np.isfinite(got).any())
                    np.testing.assert_array_equal(got[0, :, 3:6, 3:6], np.broadcast_to(
                        np.where(np.arange(32) % 2, value, -value)[:, None, None], (32, 3, 3)))
                odd = x.copy()
                odd[0, 3, 4, 4] = np.nan
                self.assertTrue(np.isnan(run(odd)).all())

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

    def test_bytes(self):
        """The bytes, scale and zero point of DynamicQuantizeLinear at each level, of sizes around those of vectors."""
        rng = np.random.default_rng(0)
        model = make_model([helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"], name="quantize")],
                           [("x", ["n"])], [("q", None, TensorProto.UINT8), ("s", None), ("z", None, TensorProto.UINT8)])
        artifact = self.compile(model, "--target", ",".join(LEVELS))
        for size in (1, 7, 31, 33, 64, 67, 1000, 5003):
            x = rng.standard_normal(size).astype(np.float32)
            halves = np.concatenate([(np.arange(size) % 256 - 100 + 0.5)[1:], [155]]).astype(np.float32)
            for name, x in {"both": x, "least": -np.abs(x), "most": np.abs(x) + 1, "halves": halves, "zeros": 0 * x,
                            "large": x * np.float32(1e37), "small": x * np.float32(1e-30)}.items():
                low, high = np.float32(min(x.min(), 0)), np.float32(max(x.max(), 0))
                scale = (high - low) / np.float32(255) if high != low else np.float32(1)
                zero = np.rint(np.clip(-low / scale, 0, 255)).astype(np.uint8)
                want = np.clip(np.rint(x / scale) + zero, 0, 255)
                for level in LEVELS:
                    with cap(level), self.subTest(name, size=size, level=level):
                        got = self.run_model(artifact, {"x": x})
                        self.assertEqual((got["s"], got["z"]), (scale, zero))
                        np.testing.assert_array_equal(got["q"], want)

    def test_ends(self):
        """A NaN of either sign at any place makes the scale NaN; an infinity makes it infinite, and is the last byte."""
        rng = np.random.default_rng(0)
        model = make_model([helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"], name="quantize")],
                           [("x", ["n"])], [("q", None, TensorProto.UINT8), ("s", None), ("z", None, TensorProto.UINT8)])
        artifact = self.compile(model, "--target", ",".join(LEVELS))
        nan = np.array([0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF], np.uint32).view(np.float32)
        for level in LEVELS:
            with cap(level):
                for size, place in ((1, 0), (5, 4), (67, 66), (1000, 0), (1000, 999), (1000, 300)):
                    x = rng.standard_normal(size).astype(np.float32)
                    for value in nan:
                        x[place] = value
                        with self.subTest(level=level, size=size, place=place, bits=hex(value.view(np.uint32))):
                            self.assertTrue(np.isnan(self.run_model(artifact, {"x": x})["s"]))
                    for value, byte in ((np.inf, 255), (-np.inf, 0)):
                        x[place] = value
                        with self.subTest(level=level, size=size, place=place, value=value):
                            got = self.run_model(artifact, {"x": x})
                            self.assertEqual((got["s"], got["q"][place]), (np.inf, byte))

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

    def test_conv_of_few_wide_weights(self):
        """Of weights less their zero point, only a few exceed int8. The results are bit-exact at all levels."""
        rng = np.random.default_rng(3)
        forms = {"plain": ([48, 32, 3, 3], {"pads": [1, 0, 2, 1]}), "rows": ([24, 32, 1, 1], {}),
                 "strides": ([48, 32, 3, 2], {"strides": [2, 3], "dilations": [1, 2], "pads": [0, 1, 1, 2]}),
                 "auto": ([48, 32, 3, 3], {"auto_pad": "SAME_UPPER", "strides": [2, 1]}),
                 "depthwise": ([32, 1, 3, 3], {"group": 32, "pads": [1, 0, 2, 1]}),
                 "pairs": ([64, 2, 3, 3], {"group": 16, "strides": [2, 1]})}
        for name, (shape, attributes) in forms.items():
            w = rng.integers(20, 230, shape, np.uint8)
            w[3, 0, -1, 0], w[20, -1, 0, -1], w[7, 0, 0, 0], w[9, 0, 0, 0] = 255, 254, 255, 253
            x = rng.integers(0, 256, (2, shape[1] * attributes.get("group", 1), 9, 7), np.uint8)
            node = helper.make_node("ConvInteger", ["x", "w", "z", "wz"], ["y"], name="product", **attributes)
            for known, batch in ((True, 2), (False, 2), (False, "n")):
                with self.subTest(name=name, known=known, batch=batch):
                    inputs, z = [("x", [batch, *x.shape[1:]], TensorProto.UINT8)], np.uint8(131)
                    model = make_model([node], inputs + ([] if known else [("z", [], TensorProto.UINT8)]),
                                       [("y", None, TensorProto.INT32)],
                                       {"w": w, "wz": np.uint8(119), **({"z": z} if known else {})})
                    feeds = {"x": x, **({} if known else {"z": z})}
                    artifact = self.compile(model, "--target", ",".join(LEVELS))
                    want = ReferenceEvaluator(model).run(None, feeds)[0]
                    for level in LEVELS:
                        with cap(level):
                            np.testing.assert_array_equal(self.run_model(artifact, feeds)["y"], want)
                    kinds = [layer["kind"] for layer in inspect(artifact)["layers"]]
                    self.assertEqual(sum("conv" in kind or kind == "matmul" for kind in kinds), 1, kinds)
