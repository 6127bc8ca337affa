# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests operators that read data at computed positions: GridSample, RoiAlign, DeformConv, NonMaxSuppression."""
import itertools

import numpy as np
from onnx.reference import ReferenceEvaluator

from support import Case, TensorProto, helper, make_model, peer, tool

BAD = (np.nan, np.inf, -np.inf, 1e30, -1e30, 3e38)


class Places(Case):
    def reference(self, model, feeds):
        return peer(model).run(None, feeds)[0]

    def run_bad(self, model, feeds):
        """For any values, a run succeeds or ends with one line."""
        artifact, arguments = self.compile(model), []
        for name, value in feeds.items():
            np.save(self.path(name + ".npy"), value)
            arguments += ["--input", f"{name}={self.path(name + '.npy')}"]
        return tool("ingot", "run", artifact, *arguments)

    def check(self, model, feeds, want=None, tolerance=1e-4):
        want = self.reference(model, feeds) if want is None else want
        got = next(iter(self.run_model(self.compile(model), feeds).values()))
        self.assertEqual((got.shape, got.dtype), (want.shape, want.dtype))
        self.assertLessEqual(np.abs(got.astype(np.float64) - want).max(initial=0), tolerance)

    # GridSample

    def grid(self, x, grid, is_open=False, **attributes):
        rank = x.ndim
        shapes = [["n", x.shape[1]] + [f"s{i}" for i in range(rank - 2)],
                  ["n"] + [f"g{i}" for i in range(rank - 2)] + [rank - 2]] if is_open else [x.shape, grid.shape]
        node = helper.make_node("GridSample", ["x", "grid"], ["y"], name="node", **attributes)
        return make_model([node], [("x", shapes[0]), ("grid", shapes[1])], [("y", list("abcde")[:rank])], opset=20)

    def test_grid_sample(self):
        rng = np.random.default_rng(0)
        for mode, padding, corners in itertools.product(("nearest", "linear", "cubic"),
                                                        ("zeros", "border", "reflection"), (0, 1)):
            with self.subTest(mode=mode, padding=padding, corners=corners):
                x = rng.standard_normal((2, 3, 5, 6)).astype(np.float32)
                grid = rng.uniform(-1.7, 1.7, (2, 4, 7, 2)).astype(np.float32)
                self.check(self.grid(x, grid, is_open=corners == 0, mode=mode, padding_mode=padding,
                                     align_corners=corners), {"x": x, "grid": grid})
        x = rng.standard_normal((1, 2, 3, 4, 5)).astype(np.float32)
        grid = rng.uniform(-1.2, 1.2, (1, 2, 3, 4, 3)).astype(np.float32)
        self.check(self.grid(x, grid, mode="linear"), {"x": x, "grid": grid})

    def test_bad_grid(self):
        x = np.ones((1, 1, 4, 5), np.float32)
        grid = np.array([[a, b] for a in BAD for b in BAD], np.float32).reshape(1, 6, 6, 2)
        for mode, padding in itertools.product(("nearest", "linear", "cubic"), ("zeros", "border", "reflection")):
            done = self.run_bad(self.grid(x, grid, mode=mode, padding_mode=padding), {"x": x, "grid": grid})
            self.assertEqual(done.returncode, 0, done.stderr)
        model = self.grid(np.zeros((1, 1, 4, 5), np.float32), grid, is_open=True)
        done = self.run_bad(model, {"x": np.zeros((1, 1, 0, 5), np.float32), "grid": grid})
        self.assert_one_line(done, "node 'node'", "dimension 2 of the data has 0 elements")

    # RoiAlign

    def roi(self, shapes=((2, 3, 9, 8), (4, 4), (4,)), **attributes):
        node = helper.make_node("RoiAlign", ["x", "rois", "batches"], ["y"], name="node", **attributes)
        return make_model([node], [("x", shapes[0]), ("rois", shapes[1]), ("batches", shapes[2], TensorProto.INT64)],
                          [("y", list("abcd"))], opset=16)

    def test_roi_align(self):
        rng = np.random.default_rng(1)
        x = rng.standard_normal((2, 3, 9, 8)).astype(np.float32)
        rois = np.array([[0, 0, 7, 8], [1.5, 2, 6, 4.5], [-3, -2, 2, 3], [5, 5, 30, 22]], np.float32)
        feeds = {"x": x, "rois": rois, "batches": np.array([0, 1, 1, 0], np.int64)}
        opened = (["n", 3, "h", "w"], ["r", 4], ["r"])
        for mode, ratio, coordinates in itertools.product(("avg", "max"), (0, 2, 3),
                                                          ("half_pixel", "output_half_pixel")):
            with self.subTest(mode=mode, ratio=ratio, coordinates=coordinates):
                options = {"mode": mode, "sampling_ratio": ratio, "output_height": 3, "output_width": 2,
                           "spatial_scale": 0.7, "coordinate_transformation_mode": coordinates}
                want = self.reference(self.roi(**options), feeds)
                self.check(self.roi(opened if ratio == 2 else self.roi.__defaults__[0], **options), feeds, want)

    def test_bad_regions(self):
        x = np.ones((2, 1, 4, 4), np.float32)
        shapes = ([2, 1, 4, 4], ["r", 4], ["r"])
        good = np.array([[0, 0, 2, 2]], np.float32)
        for batch in (2, -1, 2**40):
            done = self.run_bad(self.roi(shapes), {"x": x, "rois": good, "batches": np.array([batch])})
            self.assert_one_line(done, "node 'node'", f"batch_indices has {batch}", "2 batches")
        for ratio in (0, 2):
            for value in BAD:
                rois = np.array([[0, 0, value, 2], [value, value, 2, 2], [value] * 4], np.float32)
                done = self.run_bad(self.roi(shapes, sampling_ratio=ratio),
                                    {"x": x, "rois": rois, "batches": np.zeros(3, np.int64)})
                if done.returncode:
                    self.assert_one_line(done, "node 'node'", "samples in a bin at most")
        done = self.run_bad(self.roi(shapes), {"x": x, "rois": np.zeros((0, 4), np.float32),
                                               "batches": np.zeros(0, np.int64)})
        self.assertEqual(done.returncode, 0, done.stderr)

    # DeformConv

    def test_deform_conv(self):
        rng = np.random.default_rng(2)
        for groups, offsets, masked, is_open in ((1, 1, 0, 0), (2, 1, 1, 1), (1, 2, 1, 0), (2, 2, 0, 1)):
            with self.subTest(groups=groups, offsets=offsets):
                x = rng.standard_normal((2, 4, 7, 6)).astype(np.float32)
                w = rng.standard_normal((6, 4 // groups, 3, 3)).astype(np.float32)
                offset = rng.uniform(-2, 2, (2, offsets * 18, 4, 3)).astype(np.float32)
                mask = rng.uniform(0, 1, (2, offsets * 9, 4, 3)).astype(np.float32)
                node = helper.make_node("DeformConv", ["x", "w", "o", "b"] + ["m"] * masked, ["y"], name="node",
                                        strides=[2, 2], pads=[1, 1, 1, 1], group=groups, offset_group=offsets)
                shapes = [["n", 4, "h", "v"], ["n", offsets * 18, "p", "q"], ["n", offsets * 9, "p", "q"]] \
                    if is_open else [x.shape, offset.shape, mask.shape]
                inputs = [("x", shapes[0]), ("o", shapes[1])] + [("m", shapes[2])] * masked
                model = make_model([node], inputs, [("y", list("abcd"))],
                                   {"w": w, "b": rng.standard_normal(6).astype(np.float32)}, opset=19)
                feeds = {"x": x, "o": offset, **({"m": mask} if masked else {})}
                want = ReferenceEvaluator(model).run(None, feeds)[0]
                self.check(model, feeds, want)
                for value in BAD:
                    done = self.run_bad(model, {**feeds, "o": np.full_like(offset, value)})
                    self.assertEqual(done.returncode, 0, done.stderr)

    # NonMaxSuppression

    def suppress(self, boxes, scores, is_open=False, **attributes):
        names = ["boxes", "scores", "most", "overlap", "threshold"]
        shapes = [["b", "n", 4], ["b", "c", "n"]] if is_open else [boxes.shape, scores.shape]
        node = helper.make_node("NonMaxSuppression", names, ["y"], name="node", **attributes)
        return make_model([node], [("boxes", shapes[0]), ("scores", shapes[1]), ("most", [1], TensorProto.INT64),
                                   ("overlap", [1]), ("threshold", [1])], [("y", ["k", 3], TensorProto.INT64)])

    def test_non_max_suppression(self):
        rng = np.random.default_rng(3)
        for seed in range(8):
            with self.subTest(seed=seed):
                batches, classes, count = rng.integers(1, 4, 3) * [1, 1, 20]
                corner = rng.uniform(0, 10, (batches, count, 2))
                boxes = np.concatenate([corner, corner + rng.uniform(-3, 3, (batches, count, 2))], -1)
                scores = np.round(rng.uniform(0, 1, (batches, classes, count)), seed % 3 + 1)  # some are equal
                feeds = {"boxes": boxes.astype(np.float32), "scores": scores.astype(np.float32),
                         "most": np.array([[3], [50], [0], [10**12]][seed % 4], np.int64),
                         "overlap": np.float32([0.3 + seed / 20]), "threshold": np.float32([seed / 10])}
                model = self.suppress(boxes, scores, is_open=seed % 2, center_point_box=int(seed > 5))
                self.check(model, feeds, tolerance=0)

    def test_many_boxes(self):
        """Boxes in one place and in distant places, as classes are; wide boxes among narrow ones; boxes without width;
        equal boxes; and invalid values."""
        rng = np.random.default_rng(4)
        count = 700
        corner, size = rng.uniform(0, 100, (count, 2)), rng.uniform(0, 40, (count, 2))
        places = {"one": 0, "far": (np.arange(count) % 9 * 1000)[:, None], "below": -1e6}
        wide, flat = size.copy(), size.copy()
        wide[::50, 1] *= 30
        flat[::3, 1] = 0
        cases = {**{name: np.concatenate([corner + at, corner + at + size], 1) for name, at in places.items()},
                 "wide": np.concatenate([corner, corner + wide], 1), "flat": np.concatenate([corner, corner + flat], 1),
                 "same": np.tile([[1.0, 2, 3, 4]], (count, 1)),
                 "points": np.concatenate([corner, corner], 1)}
        artifact = self.compile(self.suppress(None, None, is_open=True))
        feeds = {"scores": np.round(rng.uniform(0, 1, (1, 1, count)), 3).astype(np.float32),
                 "overlap": np.float32([0.4]), "threshold": np.float32([0.1])}
        for name, boxes in cases.items():
            for most in (10**6, 20):
                with self.subTest(name=name, most=most):
                    given = {"boxes": boxes[None].astype(np.float32), "most": np.array([most]), **feeds}
                    self.assert_agrees(self.suppress(boxes[None], feeds["scores"]), artifact, given)

    def test_known_boxes(self):
        """All inputs but boxes and scores are constants, so all lists have a known size."""
        rng = np.random.default_rng(4)
        corner = rng.uniform(0, 10, (1, 400, 2))
        feeds = {"boxes": np.concatenate([corner, corner + 1], -1).astype(np.float32),
                 "scores": rng.uniform(0, 1, (1, 2, 400)).astype(np.float32)}
        for most in (0, 1, 70, 1000):
            for opens in (False, True):
                with self.subTest(most=most, opens=opens):
                    shapes = [["b", "n", 4], ["b", "c", "n"]] if opens else [(1, 400, 4), (1, 2, 400)]
                    node = helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "threshold"], ["y"])
                    model = make_model([node], list(zip(feeds, shapes)), [("y", ["k", 3], TensorProto.INT64)],
                                       {"most": np.array([most]), "overlap": np.float32([0.4]), "threshold": np.float32([0.2])})
                    self.check(model, feeds, tolerance=0)

    def test_bad_boxes(self):
        for value in BAD:
            boxes = np.full((1, 6, 4), value, np.float32)
            scores = np.full((1, 1, 6), value, np.float32)
            feeds = {"boxes": boxes, "scores": scores, "most": np.array([4]), "overlap": np.float32([value]),
                     "threshold": np.float32([-np.inf])}
            done = self.run_bad(self.suppress(boxes, scores), feeds)
            self.assertEqual(done.returncode, 0, done.stderr)
        model = self.suppress(boxes, scores, is_open=True)
        feeds["scores"] = np.zeros((1, 2, 5), np.float32)
        self.assertNotEqual(self.run_bad(model, feeds).returncode, 0)


class Others(Places):
    """DFT, Col2Im, TensorScatter, Det, Inverse: results, and data with invalid positions."""

    def test_transforms(self):
        """Lengths with and without factors, cut and padded, forward and backward, half spectra, doubles."""
        rng = np.random.default_rng(0)
        float32, float64 = np.float32, np.float64
        for n, length, parts, dtype, attributes in (
                (512, None, 1, float32, {}), (512, None, 1, float32, {"onesided": 1}), (420, None, 2, float32, {"inverse": 1}),
                (131, None, 2, float32, {}), (300, 512, 2, float32, {}), (600, 512, 1, float32, {"onesided": 1}),
                (1000, None, 2, float64, {}), (4096, None, 2, float32, {}), (6000, None, 1, float32, {"onesided": 1})):
            with self.subTest(n=n, length=length, parts=parts, **attributes):
                x = rng.standard_normal((2, n, 3, parts)).astype(dtype)
                kind = helper.np_dtype_to_tensor_dtype(x.dtype)
                weights = {"length": np.array(length)} if length else {}
                node = helper.make_node("DFT", ["x", *weights], ["y"], axis=1, **attributes)
                model = make_model([node], [("x", ["b", n, "c", parts], kind)], [("y", None, kind)], weights)
                got = self.run_model(self.compile(model), {"x": x})["y"]
                transform = np.fft.ifft if "inverse" in attributes else np.fft.fft
                want = transform(x.astype(float64)[..., 0] + (1j * x[..., 1] if parts == 2 else 0), length, axis=1)
                if "onesided" in attributes:
                    want = want[:, :(length or n) // 2 + 1]
                want = np.stack([want.real, want.imag], -1)
                self.assertEqual(got.shape, want.shape)
                np.testing.assert_allclose(got, want, atol=(1e-6 if dtype == float32 else 1e-13) * np.abs(want).max())

    def check_open(self, shapes, axis, dtype=np.float32, length=None, inverse=0, onesided=0, opset=20, computes_axis=False):
        """DFT with every dimension dynamic, at several sizes, against numpy."""
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        dims = [f"d{i}" for i in range(len(shapes[0]) - 1)] + [shapes[0][-1]]
        inputs, given, attributes = [("x", dims, kind)], ["x", "", ""], {"inverse": inverse, "onesided": onesided}
        feeds, weights = {}, {}
        if length:
            given[1], feeds["n"] = "n", np.array(length)
            inputs.append(("n", [], TensorProto.INT64))
        if opset < 20:
            given, attributes["axis"] = given[:2], axis
        elif computes_axis:
            given[2], feeds["axis"] = "axis", np.array(axis)
            inputs.append(("axis", [], TensorProto.INT64))
        else:
            given[2], weights["axis"] = "axis", np.array(axis)
        artifact = self.compile(make_model([helper.make_node("DFT", given, ["y"], **attributes)], inputs,
                                           [("y", None, kind)], weights, opset=opset))
        for shape in shapes:
            with self.subTest(shape=shape, axis=axis, dtype=dtype, length=length, inverse=inverse, onesided=onesided):
                x = np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)
                got = self.run_model(artifact, {"x": x, **feeds})["y"]
                z, at = x[..., 0].astype(np.float64) + (1j * x[..., 1] if shape[-1] == 2 else 0), axis % len(shape)
                if inverse and onesided:
                    want = np.fft.irfft(z, length or 2 * (shape[at] - 1), at)[..., None]
                else:
                    want = (np.fft.ifft if inverse else np.fft.fft)(z, length, at)
                    want = np.take(want, range(want.shape[at] // 2 + 1), at) if onesided else want
                    want = np.stack([want.real, want.imag], -1)
                self.assertEqual(got.shape, want.shape)
                bound = {np.float64: 1e-14, np.float32: 1e-7, np.float16: 2e-3}[dtype]
                np.testing.assert_allclose(got, want, rtol=0, atol=bound * np.abs(want).max(initial=0))

    def test_open_lengths(self):
        """Powers of two and their neighbors, primes, lengths for each number of passes, one point."""
        lengths = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 64, 100, 127, 128, 256, 257, 512, 1000, 1021, 1024, 2048, 4096)
        for dtype in (np.float32, np.float64):
            for parts in (1, 2):
                for inverse in (0, 1):
                    self.check_open([(2, n, parts) for n in lengths], 1, dtype, inverse=inverse, opset=17 + 3 * inverse)
            self.check_open([(1, n, 2) for n in (10007, 32768, 65535, 65536)], 1, dtype)
        self.check_open([(2, 20, 2), (1, 16, 2)], 1, np.float16)

    def test_open_parts(self):
        """Half a spectrum, and the whole signal from it, cut and padded, along any axis."""
        self.check_open([(3, n, 1) for n in (1, 2, 7, 16, 100, 513)], 1, onesided=1)
        self.check_open([(3, n, 2) for n in (2, 3, 5, 9, 33, 201, 513)], 1, inverse=1, onesided=1)
        for n in (1, 2, 12, 16):
            shapes = [(2, size, 2) for size in (1, 5, 16, 20)]
            self.check_open(shapes, 1, length=n)
            self.check_open(shapes, 1, length=n, inverse=1, onesided=1, opset=17)
        for axis in (0, 1, 2, -2, -4):
            for computes_axis in (False, True):
                self.check_open([(5, 8, 12, 2), (16, 3, 1, 2), (8, 20, 64, 2)], axis, computes_axis=computes_axis)
        self.check_open([(2, 0, 3, 1), (0, 5, 3, 1)], 1, length=4)

    def test_bad_lengths(self):
        node = helper.make_node("DFT", ["x", "n"], ["y"], name="node")
        model = make_model([node], [("x", ["b", "s", 1]), ("n", [], TensorProto.INT64)], [("y", None)])
        x = np.ones((1, 4, 1), np.float32)
        for length in (0, -3, -2**63):
            done = self.run_bad(model, {"x": x, "n": np.array(length)})
            self.assert_one_line(done, f"dft_length is {length}, but must be at least 1")
        for length in (2**31 + 1, 2**62, 2**63 - 1):
            done = self.run_bad(model, {"x": x, "n": np.array(length)})
            self.assert_one_line(done, f"dft_length is {length}, but must be at most {2**31}")

    def test_open_frames(self):
        """STFT of frames of any length, with and without a window, also with static large sizes."""
        for parts, windowed, onesided, given in ((1, True, 1, True), (2, False, 0, True), (1, True, 0, False)):
            inputs = [("x", ["b", "n", parts]), ("step", [], TensorProto.INT64)]
            if windowed:
                inputs.append(("window", ["w"]))
            if given:
                inputs.append(("length", [], TensorProto.INT64))
            names = ["x", "step", "window" if windowed else "", "length" if given else ""]
            model = make_model([helper.make_node("STFT", names, ["y"], onesided=onesided)], inputs, [("y", None)])
            artifact = self.compile(model)
            for size, step, length in ((40, 3, 16), (40, 40, 12), (64, 1, 64), (9, 2, 1), (700, 100, 257)):
                with self.subTest(parts=parts, windowed=windowed, size=size, step=step, length=length):
                    rng = np.random.default_rng(size)
                    x = rng.standard_normal((2, size, parts)).astype(np.float32)
                    window = rng.standard_normal(length).astype(np.float32) if windowed else np.ones(length)
                    feeds = {"x": x, "step": np.array(step), "window": window, "length": np.array(length)}
                    got = self.run_model(artifact, {name: feeds[name] for name in names if name})["y"]
                    z = x[..., 0] + (1j * x[..., 1] if parts == 2 else 0)
                    frames = np.stack([z[:, at:at + length] for at in range(0, size - length + 1, step)], 1) * window
                    want = np.fft.fft(frames)[..., :length // 2 + 1 if onesided else length]
                    want = np.stack([want.real, want.imag], -1)
                    self.assertEqual(got.shape, want.shape)
                    np.testing.assert_allclose(got, want, rtol=0, atol=1e-6 * np.abs(want).max())

    def test_inverse(self):
        rng = np.random.default_rng(0)
        for shape, opened in (((3, 3), None), ((2, 5, 5), ["n", "m", "m"]), ((2, 1, 4, 4), None)):
            x = rng.standard_normal(shape).astype(np.float32)
            x[..., 0, 0] = 0  # requires another pivot
            for kind, domain, want in (("Det", "", np.linalg.det(x)), ("Inverse", "com.microsoft", np.linalg.inv(x))):
                with self.subTest(kind=kind, shape=shape):
                    model = make_model([helper.make_node(kind, ["x"], ["y"], name="node", domain=domain)],
                                       [("x", opened or shape)], [("y", None)])
                    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
                    got = self.run_model(self.compile(model), {"x": x})["y"]
                    self.assertEqual(got.shape, want.shape)
                    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
        zeros = make_model([helper.make_node("Det", ["x"], ["y"])], [("x", [2, 2])], [("y", [])])
        self.assertEqual(self.run_model(self.compile(zeros), {"x": np.zeros((2, 2), np.float32)})["y"], 0)
        self.assert_refuses(make_model([helper.make_node("Det", ["x"], ["y"], name="node")], [("x", [2, 3])],
                                       [("y", [])]), "node 'node'", "2 rows and 3 columns")

    def test_bad_cache(self):
        for mode, index, words in (("linear", 3, ["write_indices has 3", "2 places"]), ("linear", 2, None),
                                   ("linear", -1, ["write_indices has -1"]), ("circular", 3, None),
                                   ("circular", 4, ["write_indices has 4"])):
            with self.subTest(mode=mode, index=index):
                node = helper.make_node("TensorScatter", ["p", "u", "i"], ["y"], name="node", mode=mode)
                model = make_model([node], [("p", [1, 4, "d"]), ("u", [1, "s", "d"]), ("i", [1], TensorProto.INT64)],
                                   [("y", list("abc"))], opset=24)
                done = self.run_bad(model, {"p": np.zeros((1, 4, 2), np.float32), "u": np.ones((1, 2, 2), np.float32),
                                            "i": np.array([index])})
                if words is None:
                    self.assertEqual(done.returncode, 0, done.stderr)
                else:
                    self.assert_one_line(done, "node 'node'", *words)

    def test_columns(self):
        """Few and many elements of a block, apart, with strides, next to padding; images of static and computed sizes.
        """
        rng = np.random.default_rng(0)
        for image, block, strides, dilations, pads in (
                ([9], [3], [1], [1], [1, 1]), ([9, 7], [3, 2], [2, 1], [1, 2], [1, 0, 0, 2]), ([8, 8], [2, 2], [2, 2], [1, 1], [0] * 4),
                ([4, 5, 3], [2, 1, 3], [1, 3, 1], [1, 1, 1], [0, 1, 1, 0, 0, 1]), ([70, 3], [66, 2], [1, 1], [1, 1], [0] * 4)):
            n = len(image)
            padded = [i + low + high for i, low, high in zip(image, pads[:n], pads[n:])]
            counts = [(p - (b - 1) * d - 1) // s + 1 for p, b, d, s in zip(padded, block, dilations, strides)]
            x = rng.standard_normal((2, 3, int(np.prod(block)), *counts)).astype(np.float32)
            want = np.zeros((2, 3, *padded))
            for tap, at in enumerate(np.ndindex(*block)):
                want[(..., *[slice(k * d, k * d + (c - 1) * s + 1, s)
                             for k, d, c, s in zip(at, dilations, counts, strides)])] += x[:, :, tap]
            want = want[(..., *[slice(low, low + i) for low, i in zip(pads[:n], image)])]
            flat = x.reshape(2, -1, int(np.prod(counts)))
            node = helper.make_node("Col2Im", ["x", "image", "block"], ["y"], strides=strides, dilations=dilations, pads=pads)
            sizes = {"image": np.array(image), "block": np.array(block)}
            for computed, shape in (((), flat.shape), ((), "nck"), (("image",), "nck"), (("image", "block"), "nck")):
                with self.subTest(image=image, computed=computed, shape=shape):
                    model = make_model([node], [("x", list(shape)), *[(k, [n], TensorProto.INT64) for k in computed]],
                                       [("y", None)], {k: v for k, v in sizes.items() if k not in computed}, opset=18)
                    got = self.run_model(self.compile(model), {"x": flat, **{k: sizes[k] for k in computed}})["y"]
                    self.assertEqual(got.shape, want.shape)
                    np.testing.assert_allclose(got, want, atol=1e-5)

    def test_bad_columns(self):
        node = helper.make_node("Col2Im", ["x", "image", "block"], ["y"], name="node")
        model = make_model([node], [("x", [1, 4, "n"]), ("image", [2], TensorProto.INT64),
                                    ("block", [2], TensorProto.INT64)], [("y", list("abcd"))], opset=18)
        for image, block, words in (([3, 3], [2, 2], None), ([3, 3], [2, 3], ["4 columns", "2 blocks"]),
                                    ([0, 3], [2, 2], ["image_shape is 0"]), ([3, 3], [4, 1], ["larger than"]),
                                    ([3, 3], [-1, 2], ["block_shape is -1"]), ([2**40, 3], [2, 2], ["more than"]),
                                    ([4, 1], [1, 1], None), ([2, 4], [1, 3], ["no multiple of the 3"])):
            with self.subTest(image=image, block=block):
                done = self.run_bad(model, {"x": np.ones((1, 4, 4), np.float32), "image": np.array(image),
                                            "block": np.array(block)})
                if words is None:
                    self.assertEqual(done.returncode, 0, done.stderr)
                else:
                    self.assert_one_line(done, "node 'node'", *words)
