"""Tests Winograd convolutions of bytes with 3x3 taps, as CPUs without VNNI use them: bit-exact by ONNX's definitions.
"""
import os
import sys

import numpy as np
from onnx import TensorProto, helper

from support import ROOT, Case, make_model, tool
from test_levels import cap

sys.path.insert(0, os.path.join(ROOT, "test", "property"))

import integer  # noqa: E402

LEVELS = [level for level in integer.supported() if "@" not in level]
PADS = [1, 1, 1, 1]


def sums_of(x, zero, w, pads):
    """Returns the sums that ConvInteger defines, as [N, C, H, W]."""
    x = np.pad(x.astype(np.int64) - zero, ((0, 0), (0, 0), pads[::2], pads[1::2]))
    height, width = (n - 2 for n in x.shape[2:])
    result = np.zeros((x.shape[0], w.shape[0], height, width), np.int64)
    for i in range(3):
        for j in range(3):
            result += np.einsum("nchw,oc->nohw", x[:, :, i:i + height, j:j + width], w[:, :, i, j].astype(np.int64))
    return result


def quantized(sums, scale, zero, dtype, rounds_zero=False):
    """Quantizes sums by scales that are powers of two, so that the order of multiplications does not matter. With
    `rounds_zero`, ties are rounded after adding the zero point, as ONNX's reference does for QLinear operators."""
    limits = np.iinfo(dtype)
    scaled = sums.astype(np.float32) * np.float32(scale)
    scaled = np.rint(scaled.astype(np.float64) + zero) if rounds_zero else np.rint(scaled) + zero
    return np.clip(scaled, limits.min, limits.max).astype(dtype)


class FilteredBytes(Case):
    def data(self, rng, channels, outputs, size, batch, is_extreme):
        x = rng.integers(0, 256, (batch, channels, *size), np.uint8)
        w = rng.integers(-128, 128, (outputs, channels, 3, 3), np.int8)
        if is_extreme:
            x[:, :, :, :size[1] // 2] = 255
            x[:, :, :, size[1] // 2:] = rng.choice([0, 255], x[:, :, :, size[1] // 2:].shape)
            # Columns whose weights have one sign, and columns with both signs.
            w[0], w[1] = -128, 127
            w[2:outputs // 2] = rng.choice([-128, 127], w[2:outputs // 2].shape)
        return x, w

    def check(self, nodes, initializers, x, want, dtype):
        """A model gives equal results with dynamic and static sizes, with and without Winograd."""
        runs = list(zip(x, want))
        for shape, some in ((("n", x[0].shape[1], "h", "w"), runs), (x[1].shape, runs[1:])):
            model = make_model(nodes, [("x", shape, TensorProto.UINT8)], [("y", None, dtype)], initializers)
            for options in ([], ["--winograd=false"]):
                artifact = self.compile(model, "--target", ",".join(LEVELS), *options)
                for level in LEVELS:
                    for each, expected in some:
                        with cap(level), self.subTest(level=level, shape=shape, options=options, size=each.shape):
                            got = self.run_model(artifact, {"x": each})["y"]
                            self.assertEqual(got.dtype, expected.dtype)
                            np.testing.assert_array_equal(got, expected)

    def forms(self):
        """Returns data and weights. With 64 channels, the larger tiles do not overflow. With 160 channels, only the
        smaller ones do not."""
        for number, (channels, outputs, is_extreme) in enumerate([(64, 24, True), (160, 16, True), (36, 40, False)]):
            rng = np.random.default_rng(number)
            made = [self.data(rng, channels, outputs, size, batch, is_extreme)
                    for size, batch in (((14, 13), 1), ((9, 18), 3))]
            w = made[0][1]
            zero = (0, 255, 131)[number]
            yield [x for x, _ in made], w, zero

    def test_sums(self):
        for x, w, zero in self.forms():
            pads = [2, 0, 1, 3]
            node = helper.make_node("ConvInteger", ["x", "w", "z"], ["y"], pads=pads)
            want = [sums_of(each, zero, w, pads).astype(np.int32) for each in x]
            self.check([node], {"w": w, "z": np.uint8(zero)}, x, want, TensorProto.INT32)

    def test_quantized_operator(self):
        for x, w, zero in self.forms():
            scale = 2.0 ** -17
            bias = np.arange(w.shape[0], dtype=np.int32) * 1001 - 9000
            constants = {"xs": np.float32(0.25), "xz": np.uint8(zero), "w": w, "ws": np.float32(2 ** -9),
                         "wz": np.int8(0), "ys": np.float32(2.0 ** -11 / scale), "yz": np.uint8(99), "b": bias}
            node = helper.make_node("QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["y"], pads=PADS)
            want = [quantized(sums_of(each, zero, w, PADS) + bias[:, None, None], scale, 99, np.uint8, rounds_zero=True)
                    for each in x]
            self.check([node], constants, x, want, TensorProto.UINT8)

    def test_between_pairs(self):
        for x, w, zero in self.forms():
            scale = 2.0 ** -17
            constants = {"xs": np.float32(0.25), "xz": np.uint8(zero), "w": w, "ws": np.float32(2 ** -9),
                         "wz": np.int8(0), "ys": np.float32(2.0 ** -11 / scale), "yz": np.uint8(99)}
            nodes = [helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["xf"]),
                     helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wf"]),
                     helper.make_node("Conv", ["xf", "wf"], ["c"], pads=PADS), helper.make_node("Relu", ["c"], ["r"]),
                     helper.make_node("QuantizeLinear", ["r", "ys", "yz"], ["y"])]
            want = [quantized(np.maximum(sums_of(each, zero, w, PADS), 0), scale, 99, np.uint8) for each in x]
            self.check(nodes, constants, x, want, TensorProto.UINT8)

    def test_option(self):
        """The option changes kernels but not the weights, which are transformed in the run."""
        for (x, w, _), tiles in zip(self.forms(), (4, 2, 4)):
            model = make_model([helper.make_node("ConvInteger", ["x", "w"], ["y"], pads=PADS)],
                               [("x", x[0].shape, TensorProto.UINT8)], [("y", None, TensorProto.INT32)], {"w": w})
            weights = []
            for options, words in (([], f"winograd = {tiles}>"), (["--winograd=false"], "tile = <")):
                kernels = self.path("kernels.mlir")
                tool("ingot", "compile", self.save(model), "--target=x86-64-v3", "--compile-to=kernels", "-o", kernels,
                     *options)
                with open(kernels) as f:
                    text = f.read()
                self.assertIn(words, text)
                self.assertEqual("winograd" in text, not options)
                artifact = self.compile(model, "--target=x86-64-v3", "--weights=file", *options)
                with open(self.weights_of(artifact), "rb") as f:
                    weights.append(f.read())
            self.assertEqual(*weights)
