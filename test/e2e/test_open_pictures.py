# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Resize of pictures whose height and width only a run knows: one artifact for sizes of every kind, against ONNX Runtime,
at each CPU level."""
import numpy as np

from support import Case, TensorProto, peer
from test_levels import cap
from test_native_rows import supported_levels
from test_resize import picture, resize

# Heights and widths: usual ones, one pixel, fewer pixels than a filter has taps, and fewer than a vector holds.
SIZES = ((37, 150), (1, 1), (5, 3), (90, 7), (2, 70))


class OpenPictures(Case):
    def at_each_level(self, model, runs, tolerance):
        """Runs the model at each CPU level. `runs` are pairs of an input and the wanted output."""
        levels = ["x86-64-v2", *supported_levels()]
        artifact = self.compile(model, "--target=" + ",".join(levels))
        for x, want in runs:
            for level in levels:
                with self.subTest(level=level, shape=x.shape), cap(level):
                    got = self.run_model(artifact, {"x": np.ascontiguousarray(x)})["y"]
                    self.assertEqual((got.shape, got.dtype), (want.shape, want.dtype))
                    self.assertLessEqual(np.abs(got.astype(np.float64) - want).max(initial=0), tolerance)

    def test_filters(self):
        """Filters, followed by flips and a scale for each channel."""
        rng = np.random.default_rng(0)
        for number in range(8):
            layout, channels = ("NHWC", "NCHW", "HWC")[number % 3], (3, 1, 4, 2, 3, 9, 3, 5)[number]
            mode, kind, batch = ("linear", "cubic")[number // 3 % 2], ("u8", "f32")[number % 2], 1 + (layout == "NCHW")
            wanted = [int(rng.integers(1, 18)), int(rng.integers(1, 40))]
            flips = [axis for axis in (1, 2, 3) if rng.integers(2)]
            factor, runs = rng.uniform(0.5, 2, channels).astype(np.float32), []
            for height, width in SIZES:
                x = rng.integers(0, 256, (batch, channels, height, width)).astype(np.uint8)
                model, feeds = picture(layout, kind, x, wanted, mode, flips, factor, opened="HW")
                fixed = resize(list(x.shape), "sizes", constants={"sizes": np.array(wanted, np.int64)}, mode=mode,
                               antialias=1, axes=[2, 3])
                want = peer(fixed).run(None, {"x": x.astype(np.float32)})[0].transpose(0, 2, 3, 1)
                want = np.flip(want, flips) * factor - np.float32(3)
                want = want.transpose(0, 3, 1, 2) if layout == "NCHW" else want[0] if layout == "HWC" else want
                runs.append((feeds["x"], want))
            with self.subTest(number=number, layout=layout, channels=channels, mode=mode, kind=kind, wanted=wanted,
                              flips=flips):
                self.at_each_level(model, runs, 2e-3)

    def test_sampled(self):
        """Resizes by scales, linearly or to the nearest pixel."""
        rng = np.random.default_rng(1)
        for number in range(9):
            mode, channels = ("linear", "cubic", "nearest")[number % 3], (3, 4, 3, 1, 2, 1, 9, 3, 5)[number]
            kind = np.uint8 if number % 2 == 0 and mode != "cubic" else np.float32
            dtype = TensorProto.UINT8 if kind == np.uint8 else TensorProto.FLOAT
            last, runs = number % 4 < 2, []
            scales = [float(n) for n in rng.choice([1.5, 2, 3.25, 1], 2)]
            options = {"constants": {"scales": np.array(scales, np.float32)}, "mode": mode}
            for height, width in SIZES:
                x = rng.integers(0, 256, (2, channels, height, width)).astype(kind)
                want = peer(resize(list(x.shape), "scales", axes=[2, 3], **options)).run(
                    None, {"x": x.astype(np.float32)})[0]
                want = np.clip(np.rint(want), 0, 255).astype(kind) if kind == np.uint8 else want
                runs.append([each.transpose(0, 2, 3, 1) if last else each for each in (x, want)])
            shape = ["n", "h", "w", channels] if last else ["n", channels, "h", "w"]
            model = resize(shape, "scales", dtype, axes=[1, 2] if last else [2, 3], **options)
            with self.subTest(number=number, mode=mode, channels=channels, kind=kind, scales=scales):
                self.at_each_level(model, runs, 2e-3 if kind == np.float32 else mode == "linear")
