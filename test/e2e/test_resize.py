# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests Resize with computed sizes and scales, with a region and with filters, against ONNX Runtime or ONNX's
reference."""
import numpy as np
from onnx.reference import ReferenceEvaluator

from support import Case, TensorProto, helper, make_model, peer, tool
from test_levels import cap
from test_native_rows import supported_levels


def resize(shape, by, dtype=TensorProto.FLOAT, constants=(), opset=19, **attributes):
    """Makes a Resize of x by "scales" or "sizes", which a run brings unless they are in `constants`."""
    count = len(attributes.get("axes", shape))
    names = {"scales": ["x", "", "scales"], "sizes": ["x", "", "", "sizes"], "roi": ["x", "roi", "", "sizes"]}[by]
    types = {"scales": TensorProto.FLOAT, "sizes": TensorProto.INT64, "roi": TensorProto.FLOAT}
    inputs = [("x", shape, dtype)] + [(n, [2 * count if n == "roi" else count], types[n])
                                      for n in names[1:] if n and n not in constants]
    return make_model([helper.make_node("Resize", names, ["y"], name="node", **attributes)], inputs,
                      [("y", [f"d{i}" for i in range(len(shape))], dtype)], constants, opset=opset)


def picture(layout, kind, x, sizes, mode, flips, factor, opened=""):
    """Makes a model and its input. The model resizes x, N × C × H × W of bytes, in a layout, flips it along axes of
    NHWC, and scales its channels by `factor` less 3. The dimensions in `opened` are dynamic."""
    last = layout != "NCHW"
    data = x.transpose(0, 2, 3, 1) if last else x
    data = data[0] if layout == "HWC" else data
    axis = {1: layout.index("H"), 2: layout.index("W"), 3: layout.index("C")}
    constants = {"sizes": np.array(sizes, np.int64), "three": np.float32(3),
                 "factor": factor.reshape([-1 if d == axis[3] else 1 for d in range(len(layout))])}
    shape, nodes, at = [d.lower() if d in "N" + opened else n for d, n in zip(layout, data.shape)], [], "x"
    if kind == "u8":
        nodes, at = [helper.make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT)], "f"
    nodes.append(helper.make_node("Resize", [at, "", "", "sizes"], ["r"], mode=mode, antialias=1,
                                  axes=[axis[1], axis[2]]))
    at = "r"
    for flip in flips:
        for name, value in (("start", -1), ("end", -2**40), ("axis", axis[flip]), ("step", -1)):
            constants[f"{name}{flip}"] = np.array([value], np.int64)
        nodes.append(helper.make_node("Slice", [at, *[f"{n}{flip}" for n in ("start", "end", "axis", "step")]],
                                      [f"f{flip}"]))
        at = f"f{flip}"
    nodes += [helper.make_node("Mul", [at, "factor"], ["m"]), helper.make_node("Sub", ["m", "three"], ["y"])]
    dtype = TensorProto.UINT8 if kind == "u8" else TensorProto.FLOAT
    model = make_model(nodes, [("x", shape, dtype)], [("y", [f"d{i}" for i in range(len(shape))])], constants, opset=19)
    return model, {"x": np.ascontiguousarray(data).astype(np.uint8 if kind == "u8" else np.float32)}


def interpolate(x, axis, size, coordinates):
    """Interpolates x, of f64, linearly along an axis."""
    had, at = x.shape[axis], np.arange(size)
    position = {"half_pixel": (at + 0.5) * had / size - 0.5, "asymmetric": at * had / size,
                "align_corners": at * (had - 1) / (size - 1)}[coordinates]
    below = np.floor(position)
    share = (position - below).reshape([-1 if d == axis else 1 for d in range(x.ndim)])
    first, second = (np.clip(below + i, 0, had - 1).astype(int) for i in (0, 1))
    return np.take(x, first, axis) * (1 - share) + np.take(x, second, axis) * share


class Resize(Case):
    def check(self, model, feeds, wanted, tolerance=1e-5):
        got = self.run_model(self.compile(model), feeds)["y"]
        self.assertEqual((got.shape, got.dtype), (wanted.shape, wanted.dtype))
        error = np.abs(got.astype(np.float64) - wanted).max(initial=0)
        self.assertLessEqual(error, tolerance if wanted.dtype.kind == "f" else 1)

    def test_computed(self):
        """Compares with ONNX Runtime, which uses rounded-down sizes directly."""
        rng = np.random.default_rng(0)
        for mode in ("nearest", "linear", "cubic"):
            for coordinates in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"):
                for by, value in (("scales", [1, 1, 1.7, 0.6]), ("sizes", [2, 3, 9, 4]), ("scales", [1, 1, 2, 3])):
                    with self.subTest(mode=mode, coordinates=coordinates, by=by):
                        model = resize(["n", 3, "h", 7], by, mode=mode, coordinate_transformation_mode=coordinates)
                        feeds = {"x": rng.standard_normal((2, 3, 5, 7)).astype(np.float32),
                                 by: np.array(value, np.float32 if by == "scales" else np.int64)}
                        self.check(model, feeds, peer(model).run(None, feeds)[0], 1e-4)

    def test_filters(self):
        rng = np.random.default_rng(1)
        x = rng.standard_normal((1, 2, 11, 13)).astype(np.float32)
        for mode in ("linear", "cubic"):
            for by, value in (("scales", [1, 1, 0.45, 0.6]), ("sizes", [1, 2, 3, 20])):
                for outside in (0, 1):
                    for form in ("constant", "computed", "open"):
                        with self.subTest(mode=mode, by=by, outside=outside, form=form):
                            number = np.array(value, np.float32 if by == "scales" else np.int64)
                            model = resize(["n", 2, "h", "w"] if form == "open" else list(x.shape), by,
                                           constants={by: number} if form != "computed" else {}, mode=mode,
                                           antialias=1, exclude_outside=outside)
                            want = ReferenceEvaluator(resize(list(x.shape), by, mode=mode, antialias=1,
                                                             exclude_outside=outside)).run(None, {"x": x, by: number})
                            feeds = {"x": x} if form != "computed" else {"x": x, by: number}
                            self.check(model, feeds, want[0].astype(np.float32), 1e-4)

    def test_pictures(self):
        """Resizes images with filters, in both layouts and at each CPU level. Flips and a scale for each channel
        follow."""
        rng, levels = np.random.default_rng(4), ["x86-64-v2", *supported_levels()]
        for number in range(10):
            layout = ("NHWC", "NCHW", "HWC")[number % 3]
            size, channels = (int(rng.integers(20, 60)), int(rng.integers(165, 220))), 1 + number % 5
            wanted = [int(rng.integers(1, 18)), int(rng.integers(1, 90))]
            mode, kind = ("linear", "cubic")[number % 2], ("u8", "f32")[number // 2 % 2]
            batch = 1 if layout == "HWC" else 2
            with self.subTest(number=number, layout=layout, size=size, channels=channels, wanted=wanted):
                x = rng.integers(0, 256, (batch, channels, *size)).astype(np.uint8)
                first = resize(list(x.shape), "sizes", constants={"sizes": np.array(wanted, np.int64)}, mode=mode,
                               antialias=1, axes=[2, 3])
                want = peer(first).run(None, {"x": x.astype(np.float32)})[0].transpose(0, 2, 3, 1)
                flips = [axis for axis in (1, 2, 3) if rng.integers(2)]
                factor = rng.uniform(0.5, 2, channels).astype(np.float32)
                want = np.flip(want, flips) * factor - np.float32(3)
                model, feeds = picture(layout, kind, x, wanted, mode, flips, factor)
                if layout == "NCHW":
                    want = want.transpose(0, 3, 1, 2)
                want = want[0] if layout == "HWC" else want
                artifact = self.compile(model, "--target=" + ",".join(levels))
                for level in levels:
                    with cap(level):
                        got = self.run_model(artifact, feeds)["y"]
                    self.assertEqual(got.shape, want.shape)
                    self.assertLessEqual(np.abs(got - want).max(), 2e-3, level)

    def test_sampled_pictures(self):
        """Interpolation of images in both layouts: distant taps, pixels of few channels, bytes."""
        rng, levels = np.random.default_rng(5), ["x86-64-v2", *supported_levels()]
        for number in range(9):
            mode, last = ("cubic", "linear", "linear")[number % 3], number % 2 == 0
            kind = np.uint8 if number % 3 == 2 else np.float32
            channels, size = 1 + number % 5, [int(n) for n in rng.integers(1, 40, 2)]
            wanted = [int(n) for n in rng.integers(1, 40, 2)] if number < 5 else [9, 17]
            size = size if number < 5 else [size[0], 150]
            with self.subTest(number=number, mode=mode, size=size, channels=channels, wanted=wanted):
                x = rng.integers(0, 256, (2, channels, *size)).astype(kind)
                dtype = TensorProto.UINT8 if kind == np.uint8 else TensorProto.FLOAT
                options = {"constants": {"sizes": np.array(wanted, np.int64)}, "mode": mode}
                want = peer(resize(list(x.shape), "sizes", axes=[2, 3], **options)).run(
                    None, {"x": x.astype(np.float32)})[0]
                if last:
                    x, want = x.transpose(0, 2, 3, 1), want.transpose(0, 2, 3, 1)
                model = resize(list(x.shape), "sizes", dtype, axes=[1, 2] if last else [2, 3], **options)
                artifact = self.compile(model, "--target=" + ",".join(levels))
                for level in levels:
                    with cap(level):
                        got = self.run_model(artifact, {"x": np.ascontiguousarray(x)})["y"]
                    self.assertEqual((got.shape, got.dtype), (want.shape, kind))
                    error = np.abs(got - (np.clip(np.rint(want), 0, 255) if kind == np.uint8 else want)).max()
                    self.assertLessEqual(error, 1 if kind == np.uint8 else 2e-3, level)

    def test_between_quantizations(self):
        """Linear, with scales of 2: bytes differ from those of the definition, in f64, only at ties."""
        rng = np.random.default_rng(6)
        for coordinates in ("half_pixel", "align_corners", "asymmetric"):
            for first, second in ((0.02, 0.02), (0.02, 0.0173)):
                with self.subTest(coordinates=coordinates, first=first, second=second):
                    x = rng.integers(0, 256, (1, 4, 33, 32)).astype(np.uint8)
                    constants = {"a": np.float32(first), "za": np.uint8(128), "b": np.float32(second),
                                 "zb": np.uint8(120), "sizes": np.array([66, 64])}
                    model = make_model(
                        [helper.make_node("DequantizeLinear", ["x", "a", "za"], ["f"]),
                         helper.make_node("Resize", ["f", "", "", "sizes"], ["r"], mode="linear", axes=[2, 3],
                                          coordinate_transformation_mode=coordinates),
                         helper.make_node("QuantizeLinear", ["r", "b", "zb"], ["y"])],
                        [("x", x.shape, TensorProto.UINT8)], [("y", [1, 4, 66, 64], TensorProto.UINT8)], constants,
                        opset=19)
                    want = (x.astype(np.float64) - 128) * np.float64(constants["a"])
                    for axis, size in ((2, 66), (3, 64)):
                        want = interpolate(want, axis, size, coordinates)
                    want = want / np.float64(constants["b"]) + 120
                    is_tie = np.abs(want - np.floor(want) - 0.5) < 1e-3
                    got = self.run_model(self.compile(model), {"x": x})["y"]
                    np.testing.assert_array_equal(got[~is_tie], np.clip(np.rint(want), 0, 255)[~is_tie])
                    self.assertLessEqual(np.abs(got - np.clip(want, 0, 255)).max(), 0.501)

    def test_integers(self):
        x = np.arange(64, dtype=np.uint8).reshape(1, 1, 8, 8) * 4
        number = np.array([1, 1, 0.5, 1.5], np.float32)
        for antialias in (0, 1):
            model = resize([1, 1, 8, 8], "scales", TensorProto.UINT8, mode="linear", antialias=antialias)
            want = ReferenceEvaluator(resize([1, 1, 8, 8], "scales", mode="linear", antialias=antialias)).run(
                None, {"x": x.astype(np.float32), "scales": number})[0]
            self.check(model, {"x": x, "scales": number}, np.clip(np.rint(want), 0, 255).astype(np.uint8))

    def test_aspect(self):
        x = np.random.default_rng(2).standard_normal((1, 2, 10, 6)).astype(np.float32)
        for policy in ("not_larger", "not_smaller"):
            for value in ([7, 8], [20, 3]):
                with self.subTest(policy=policy, value=value):
                    options = {"mode": "linear", "axes": [2, 3], "keep_aspect_ratio_policy": policy}
                    feeds = {"x": x, "sizes": np.array(value, np.int64)}
                    want = ReferenceEvaluator(resize(list(x.shape), "sizes", **options)).run(None, feeds)[0]
                    for shape in (list(x.shape), [1, 2, "h", "w"]):
                        self.check(resize(shape, "sizes", **options), feeds, want.astype(np.float32))

    def test_region(self):
        x = np.random.default_rng(3).standard_normal((1, 2, 6, 8)).astype(np.float32)
        options = {"coordinate_transformation_mode": "tf_crop_and_resize", "axes": [2, 3],
                   "extrapolation_value": 7.5}
        for mode in ("nearest", "linear", "cubic"):
            for roi in ([0.21, 0.13, 0.83, 0.94], [-0.31, 0.52, 0.57, 1.43], [0.91, 0.83, 0.12, 0.23]):
                for value in ([4, 5], [1, 9]):
                    with self.subTest(mode=mode, roi=roi, value=value):
                        feeds = {"x": x, "roi": np.array(roi, np.float32), "sizes": np.array(value, np.int64)}
                        want = ReferenceEvaluator(resize(list(x.shape), "roi", mode=mode, **options)).run(None, feeds)
                        model = resize([1, 2, "h", 8], "roi", mode=mode, **options)
                        self.check(model, feeds, want[0].astype(np.float32))

    def test_bad_runs(self):
        """No scale, size or region leads outside of the data."""
        x = np.ones((1, 1, 4, 4), np.float32)

        def run(model, feeds):
            artifact, arguments = self.compile(model), []
            for name, value in feeds.items():
                np.save(self.path(name + ".npy"), value)
                arguments += ["--input", f"{name}={self.path(name + '.npy')}"]
            return tool("ingot", "run", artifact, *arguments)
        for scale in (0, -1, np.nan, np.inf, 1e30):
            for antialias in (0, 1):
                with self.subTest(scale=scale):
                    model = resize([1, 1, 4, "w"], "scales", mode="linear", antialias=antialias)
                    done = run(model, {"x": x, "scales": np.array([1, 1, 1, scale], np.float32)})
                    self.assert_one_line(done, "node 'node'", "element 3 of scales", "of 4")
        tiny = resize([1, 1, 4, "w"], "scales", mode="linear", antialias=1)
        self.assertEqual(run(tiny, {"x": x, "scales": np.array([1, 1, 1, 1e-30], np.float32)}).returncode, 0)
        done = run(resize([1, 1, 4, "w"], "sizes"), {"x": x, "sizes": np.array([1, 1, 4, -2], np.int64)})
        self.assert_one_line(done, "node 'node'", "dimension 3 of 4 elements cannot be resized to -2")
        done = run(resize([1, 1, 4, "w"], "sizes"), {"x": x, "sizes": np.array([1, 1, 4, 0], np.int64)})
        self.assert_one_line(done, "node 'node'", "dimension 3 of 4 elements cannot be resized to 0")
        model = resize([1, 1, 4, "w"], "roi", mode="linear", coordinate_transformation_mode="tf_crop_and_resize")
        for value in (np.nan, np.inf, -np.inf, 1e38):
            roi = np.array([0] * 4 + [1] * 3 + [value], np.float32)
            self.assertEqual(run(model, {"x": x, "roi": roi, "sizes": np.array([1, 1, 4, 3], np.int64)}).returncode, 0)

    def test_refused(self):
        x = [1, 1, 4, 4]
        for words, model in (
                (["'scales' is 0 at [2]"], resize(x, "scales", constants={"scales": np.float32([1, 1, 0, 1])})),
                (["'sizes' has 3 elements"], resize(x, "sizes", constants={"sizes": np.array([1, 1, 4])})),
                (["keep_aspect_ratio_policy is x"], resize(x, "sizes", keep_aspect_ratio_policy="x")),
                (["roi needs 8 elements"], resize(x, "sizes", coordinate_transformation_mode="tf_crop_and_resize")),
                (["antialias of tf_crop_and_resize", "Slice"],
                 resize(x, "roi", mode="linear", coordinate_transformation_mode="tf_crop_and_resize", antialias=1)),
                (["interpolated numbers"], resize(x, "scales", TensorProto.INT32, mode="linear"))):
            with self.subTest(words=words):
                self.assert_refuses(model, "node 'node'", *words)
