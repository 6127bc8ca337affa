"""Tests that QLinear operators round as ONNX's reference does, bit for bit, at every CPU level of this machine."""
import os
import sys
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from support import ROOT, Case
from test_levels import cap

sys.path.insert(0, os.path.join(ROOT, "test", "property"))

import integer  # noqa: E402

LEVELS = [level for level in integer.supported() if "@" not in level]
NAMES = ["xs", "xz", "w", "ws", "wz", "ys", "yz"]


def ratios(rng, count, largest):
    """Returns scales of weights whose ratios have few or many bits, so small that all bytes occur."""
    scale = largest / 2.0 ** rng.uniform(0, 2, count)
    short = np.ldexp(rng.integers(1, 64, count), np.floor(np.log2(scale)).astype(int) - 5)
    return np.where(rng.integers(0, 2, count) == 0, short, scale).astype(np.float32)


def model_of(kind, shape, constants, inputs=(), **attributes):
    """Makes a node of `kind` whose constants are initializers, except for `inputs`."""
    names = NAMES + (["b"] if "b" in constants else [])

    def info(name, value):
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)

    values = {name: np.asarray(constants[name]) for name in names}
    graph = helper.make_graph(
        [helper.make_node(kind, ["x", *names], ["y"], **attributes)], "requantize",
        [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(constants["xz"].dtype), shape)]
        + [info(name, values[name]) for name in inputs],
        [helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(constants["yz"].dtype), None)],
        [numpy_helper.from_array(value, name) for name, value in values.items() if name not in inputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


class Requantize(Case):
    def check(self, kind, shape, constants, rng, inputs=(), **attributes):
        model = model_of(kind, shape, constants, inputs, **attributes)
        limits = np.iinfo(constants["xz"].dtype)
        feeds = {"x": rng.integers(limits.min, limits.max + 1, shape).astype(limits.dtype),
                 **{name: np.asarray(constants[name]) for name in inputs}}
        want, = ReferenceEvaluator(model).run(None, feeds)
        artifact = self.compile(model, "--target", ",".join(LEVELS))
        for level in LEVELS:
            with cap(level), self.subTest(kind=kind, shape=shape, level=level, inputs=inputs):
                np.testing.assert_array_equal(self.run_model(artifact, feeds)["y"], want)
        return want.size

    def constants(self, rng, shape, outputs, depth, unsigned=True):
        """Returns scales for weights of `shape` whose results are mostly within bytes."""
        byte = np.uint8 if unsigned else np.int8
        limits = np.iinfo(byte)
        data = np.float32(2.0 ** rng.integers(-6, 0) * rng.uniform(1, 2))
        return {"xs": data,
                "xz": byte(rng.integers(limits.min, limits.max + 1)),
                "w": rng.integers(-128, 128, shape).astype(np.int8),
                "ws": ratios(rng, outputs, 1), "wz": np.zeros(outputs, np.int8),
                "ys": np.float32(data * rng.uniform(30, 100) * np.sqrt(depth)),
                "yz": byte(rng.integers(limits.min, limits.max + 1)),
                "b": rng.integers(-9000, 9000, outputs).astype(np.int32)}

    def test_convolutions(self):
        """Few and many taps, whose sums exceed f32, in groups and in single channels."""
        rng = np.random.default_rng(11)
        count = 0
        for inputs, outputs, kernel, groups, size in ((16, 24, 1, 1, 64), (3, 20, 3, 1, 60), (1, 16, 3, 1, 60), (32, 32, 3, 32, 40),
                                                      (32, 48, 3, 4, 28), (24, 40, 3, 1, 30), (640, 9, 3, 1, 12)):
            constants = self.constants(rng, (outputs, inputs // groups, kernel, kernel), outputs,
                                       inputs // groups * kernel ** 2, unsigned=count % 2 == 0)
            count += self.check("QLinearConv", [1, inputs, size, size], constants, rng, pads=[kernel // 2] * 4, group=groups)
        self.assertGreater(count, 250_000)

    def test_products(self):
        rng = np.random.default_rng(12)
        count = 0
        for rows, depth, columns in ((1500, 12, 72), (2000, 64, 40), (200, 96, 130), (1, 300, 64), (300, 1500, 24)):
            constants = self.constants(rng, (depth, columns), columns, depth, unsigned=rows % 3 == 0)
            del constants["b"]
            count += self.check("QLinearMatMul", [rows, depth], constants, rng)
        self.assertGreater(count, 200_000)

    def near_halves(self, rng, zero):
        """Returns scales 1 / 2m. A sum that is an odd multiple of m is halfway between two int8 values, except for the
        rounding of the scale."""
        return {"xs": np.float32(1), "xz": np.int8(-5), "wz": np.zeros(32, np.int8), "ws": (0.5 / rng.integers(4, 40, 32)).astype(np.float32),
                "ys": np.float32(1), "yz": zero}

    def test_near_halves(self):
        rng = np.random.default_rng(14)
        for zero in (np.uint8(0), np.uint8(127), np.int8(-3), np.int8(4)):
            few = self.near_halves(rng, zero)
            w = rng.integers(-3, 4, (32, 8)).astype(np.int8)
            self.check("QLinearMatMul", [1500, 8], {**few, "w": np.ascontiguousarray(w.T)}, rng)
            self.check("QLinearConv", [1, 8, 40, 40], {**few, "w": w.reshape(32, 8, 1, 1),
                                                       "b": rng.integers(-8, 8, 32).astype(np.int32)}, rng)
            self.check("QLinearConv", [1, 32, 40, 40], {**few, "w": w.reshape(32, 1, 2, 4)}, rng, group=32)

    def test_what_only_the_run_knows(self):
        """Tests zero points, scales, weights and biases that are inputs of the model."""
        rng = np.random.default_rng(13)
        for inputs in (("yz",), ("xz",), ("ys",), ("ws", "yz"), ("w",), ("b",)):
            few = self.near_halves(rng, np.uint8(101))
            w = rng.integers(-3, 4, (32, 8)).astype(np.int8)
            bias = rng.integers(-8, 8, 32).astype(np.int32)
            self.check("QLinearConv", [1, 8, 25, 25], {**few, "w": w.reshape(32, 8, 1, 1), "b": bias}, rng, inputs)
            if inputs != ("b",):
                self.check("QLinearMatMul", [300, 8], {**few, "w": np.ascontiguousarray(w.T)}, rng, inputs)

    def test_groups(self):
        """Groups with nine-bit weights, or with few channels, are computed in floats, for any requested precision."""
        rng = np.random.default_rng(17)
        for outputs, inputs, groups in ((12, 1, 4), (8, 2, 4), (16, 4, 4), (12, 6, 2), (24, 3, 8)):
            w = rng.integers(0, 256, (outputs, inputs, 3, 3)).astype(np.uint8)
            constants = self.constants(rng, (1,), outputs, inputs * 9)
            constants.update(w=w, wz=np.uint8(77))
            shape = [1, inputs * groups, 15, 14]
            self.check("QLinearConv", shape, constants, rng, pads=[1] * 4, group=groups)
            graph = helper.make_graph(
                [helper.make_node("ConvInteger", ["x", "w", "xz", "wz"], ["y"], pads=[1] * 4, group=groups)], "groups",
                [helper.make_tensor_value_info("x", TensorProto.UINT8, shape)],
                [helper.make_tensor_value_info("y", TensorProto.INT32, None)],
                [numpy_helper.from_array(np.asarray(constants[name]), name) for name in ("w", "xz", "wz")])
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
            feeds = {"x": rng.integers(0, 256, shape).astype(np.uint8)}
            want, = ReferenceEvaluator(model).run(None, feeds)
            for precision in ("fp32", "bf16", "fp16"):
                artifact = self.compile(model, "--target", ",".join(LEVELS), f"--precision={precision}")
                for level in LEVELS:
                    with cap(level), self.subTest(outputs=outputs, inputs=inputs, level=level, precision=precision):
                        np.testing.assert_array_equal(self.run_model(artifact, feeds)["y"], want)

    def test_repeated_channels(self):
        """Single channels with several outputs each, which are repeated, also for signed weights."""
        rng = np.random.default_rng(18)
        for outputs, channels, strides in ((12, 4, [1, 1]), (130, 65, [1, 2]), (64, 16, [2, 2])):
            constants = self.constants(rng, (1,), outputs, 9)
            constants.update(w=rng.integers(-127, 128, (outputs, 1, 3, 3)).astype(np.int8), wz=np.int8(0))
            self.check("QLinearConv", [2, channels, 15, 14], constants, rng, pads=[1] * 4, group=channels,
                       strides=strides)

    def test_far_zero_points(self):
        """Weights whose sums of bytes are far larger than the sums less zero points: few weights are not zero points."""
        rng = np.random.default_rng(19)
        for depth, zero in ((1200, 0), (1200, 255), (2400, 10)):
            w = np.full((depth, 32), zero, np.uint8)
            for row in rng.choice(depth, 12, replace=False):
                w[row] = rng.integers(0, 256, 32)
            few = {**self.near_halves(rng, np.uint8(120)), "xz": np.uint8(90), "wz": np.uint8(zero), "w": w}
            few["ws"] = (0.5 / rng.integers(400, 900, 32)).astype(np.float32)
            self.check("QLinearMatMul", [1500, depth], few, rng)
            few.update(w=np.ascontiguousarray(w.T).reshape(32, depth, 1, 1), b=rng.integers(-8, 8, 32).astype(np.int32))
            self.check("QLinearConv", [1, depth, 12, 12], few, rng)

    def test_small_ratios(self):
        """A ratio so small that f64 also rounds the sum with the zero point, and one of 2^-21 that is exact."""
        rng = np.random.default_rng(15)
        for exponent, zero in ((-21, 127), (-22, 127), (-24, 3), (-30, 1)):
            constants = self.constants(rng, (16, 256, 3, 3), 16, 2304)
            scales = (1 + rng.integers(0, 1 << 23, 16) / (1 << 23)) * 2.0 ** exponent
            constants.update(xs=np.float32(1), ys=np.float32(1), ws=scales.astype(np.float32), yz=np.uint8(zero), xz=np.uint8(0),
                             b=(0.5 / scales).astype(np.int64).clip(-2**30, 2**30).astype(np.int32))
            self.check("QLinearConv", [1, 256, 6, 6], constants, rng)

    def test_scales_of_halves(self):
        """For scales of f16 the ratio is rounded to f16."""
        rng = np.random.default_rng(16)
        constants = self.constants(rng, (32, 40), 40, 32)
        del constants["b"]
        constants.update(xs=np.float16(0.37), ws=rng.uniform(0.1, 1, 40).astype(np.float16), ys=np.float16(300.5))
        self.check("QLinearMatMul", [500, 32], constants, rng)


if __name__ == "__main__":
    unittest.main()
