# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions with many taps: depthwise ones of bytes, whose sums f32 may not hold, and rows with much padding."""
import json
import unittest

import numpy as np
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from support import Case, make_model, tool
from test_levels import cap
from test_quantized import LEVELS

TARGET = ",".join(LEVELS)


def layers_of(artifact):
    return json.loads(tool("ingot", "inspect", "--json", artifact).stdout)["layers"]


class Depthwise(Case):
    """Windows of up to 31x31 bytes. All weights of some channels have one sign and the largest size."""

    def check(self, taps, zero, pads, dtype=np.uint8, spatial=2, dilation=1):
        rng = np.random.default_rng(taps[0])
        x = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (1, 5, *[20] * spatial), dtype, endpoint=True)
        w = rng.integers(-127, 128, (5, 1, *taps), np.int8)
        w[1], w[2] = 127, -128
        x[0, 1] = np.iinfo(dtype).max
        node = helper.make_node("ConvInteger", ["x", "w", "z"], ["y"], name="product", group=5, pads=pads,
                                dilations=[dilation] * spatial)
        for known in (True, False):
            kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
            inputs, z = [("x", x.shape, kind)], dtype(zero)
            model = make_model([node], inputs + ([] if known else [("z", [], kind)]), [("y", None, TensorProto.INT32)],
                               {"w": w, **({"z": z} if known else {})})
            feeds = {"x": x, **({} if known else {"z": z})}
            artifact = self.compile(model, f"--target={TARGET}")
            self.assertNotIn(("convolution", "loops"), {(each["kind"], each["backend"])
                                                        for each in layers_of(artifact)})
            # The sums in f64 are exact.
            want = reference(x.astype(np.float64) - zero, w.astype(np.float64), pads, dilation)
            for level in LEVELS:
                with cap(level), self.subTest(known=known, level=level):
                    np.testing.assert_array_equal(self.run_model(artifact, feeds)["y"], want)

    def test_padding(self):
        self.check([31, 31], 7, [15] * 4)

    def test_little_padding(self):
        """Taps that a part of the window leaves out are not all in the padding."""
        self.check([23, 25], 200, [2, 12, 3, 12])

    def test_dilated(self):
        self.check([17, 33], 0, [17, 32, 17, 32], dilation=2)

    def test_signed(self):
        self.check([25, 25], -5, [12] * 4, dtype=np.int8)

    def test_row(self):
        self.check([601], 3, [300, 300], spatial=1)

    def test_few_taps(self):
        self.check([13, 13], 3, [6] * 4)

    def test_float_layers(self):
        """With calibrated ranges, layers with many taps stay in floats, and the trace says why."""
        rng = np.random.default_rng(0)
        weights = {f"w{k}": rng.standard_normal((64, 1, k, k)).astype(np.float32) / k for k in (5, 15)}
        nodes = [helper.make_node("Conv", [x, f"w{k}"], [y], name=f"taps{k}", group=64, pads=[k // 2] * 4)
                 for x, k, y in (("x", 5, "h"), ("h", 15, "y"))]
        model = make_model(nodes, [("x", [1, 64, 48, 48])], [("y", [1, 64, 48, 48])], weights)
        data = self.path("x.npz")
        np.savez(data, x=rng.standard_normal((2, 64, 48, 48)).astype(np.float32))
        path = self.save(model)
        tool("ingot", "calibrate", path, "--data", data, "-o", self.path("ranges.json"), "--repair=none")
        decisions = self.path("decisions.json")
        self.compile(model, "--precision=int8", f"--calibration={self.path('ranges.json')}",
                     "--target=cascadelake", f"--decisions={decisions}")
        with open(decisions) as f:
            chosen = {entry["nodes"][0]: (entry["choice"], entry["reason"]) for entry in json.load(f)["decisions"]
                      if entry["question"] == "precision"}
        self.assertEqual(chosen["taps15"], ("float32", "is depthwise with many taps, for which the code of bytes is "
                                                       "too long"))


def reference(x, w, pads, dilation):
    """Returns the depthwise convolution of f64."""
    spatial = x.ndim - 2
    low, high = pads[:spatial], pads[spatial:]
    padded = np.pad(x, [(0, 0), (0, 0), *zip(low, high)])
    sizes = [padded.shape[2 + i] - dilation * (w.shape[2 + i] - 1) for i in range(spatial)]
    y = np.zeros([1, x.shape[1], *sizes])
    for tap in np.ndindex(*w.shape[2:]):
        part = tuple(slice(dilation * t, dilation * t + size) for t, size in zip(tap, sizes))
        y += w[:, 0][(slice(None), *tap)].reshape(1, -1, *[1] * spatial) * padded[(slice(None), slice(None), *part)]
    return y


class Rows(Case):
    """Rows of one channel and hundreds of taps, whose padding is stored."""

    def check(self, x, w, tolerance, **attributes):
        model = make_model([helper.make_node("Conv", ["x", "w"], ["y"], name="c", **attributes)],
                           [("x", ["n", *x.shape[1:]])], [("y", None)], {"w": w})
        artifact = self.compile(model, f"--target={TARGET}")
        want = ReferenceEvaluator(model).run(None, {"x": x})[0]
        for level in LEVELS:
            with cap(level), self.subTest(level=level):
                np.testing.assert_allclose(self.run_model(artifact, {"x": x})["y"], want, atol=tolerance, rtol=0)

    def test_row(self):
        rng = np.random.default_rng(0)
        for pads in ([254, 254], [0, 511], [300, 3]):
            with self.subTest(pads):
                self.check(rng.standard_normal((2, 1, 600)).astype(np.float32),
                           rng.standard_normal((64, 1, 512)).astype(np.float32) / 22, 1e-5, pads=pads, strides=[4])

    def test_picture(self):
        rng = np.random.default_rng(1)
        self.check(rng.standard_normal((1, 2, 4, 200)).astype(np.float32),
                   rng.standard_normal((96, 2, 3, 129)).astype(np.float32) / 28, 1e-5, pads=[1, 64, 1, 64])


if __name__ == "__main__":
    unittest.main()
