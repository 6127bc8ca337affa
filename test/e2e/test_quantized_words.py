"""Tests Q/DQ of 16 bits at every CPU level of this machine, against sums of double precision."""
import os
import sys
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from support import ROOT, Case, tool
from test_levels import cap

sys.path.insert(0, os.path.join(ROOT, "test", "property"))

import integer  # noqa: E402

LEVELS = [level for level in integer.supported() if "@" not in level]
# Share of elements that may differ by one step: a value halfway between two steps may be rounded to either.
MOST_OFF = 1e-3
U16, S16 = np.uint16, np.int16
ELEMENTS = {np.dtype(U16): TensorProto.UINT16, np.dtype(S16): TensorProto.INT16}


def quantize(x, scale, zero):
    info = np.iinfo(zero.dtype)
    # QuantizeLinear divides in single precision.
    steps = np.rint((x.astype(np.float32) / np.float32(scale)).astype(np.float64)) + int(zero)
    return np.clip(steps, info.min, info.max).astype(zero.dtype)


def dequantize(q, scale, zero):
    return (q.astype(np.float64) - float(zero)) * float(np.float32(scale))


class Words(Case):
    """One product between pairs of 16 bits."""

    def model(self, op, x, w, scales, zeros, attributes, bias, axis, open_batch):
        made = []

        def constant(name, array):
            made.append(numpy_helper.from_array(np.asarray(array), name))
            return name

        count = w.shape[axis]
        nodes = [helper.make_node("QuantizeLinear", ["x", constant("xs", np.float32(scales[0])),
                                                     constant("xz", zeros[0])], ["xq"]),
                 helper.make_node("DequantizeLinear", ["xq", "xs", "xz"], ["xd"]),
                 helper.make_node("DequantizeLinear", [constant("wq", w), constant("ws", scales[1]),
                                                       constant("wz", np.zeros(count, w.dtype))], ["wd"], axis=axis)]
        inputs = ["xd", "wd"] + ([constant("b", bias)] if bias is not None else [])
        nodes += [helper.make_node(op, inputs, ["y"], **attributes),
                  helper.make_node("QuantizeLinear", ["y", constant("ys", np.float32(scales[2])),
                                                      constant("yz", zeros[1])], ["yq"])]
        shape = ["N" if open_batch else x.shape[0], *x.shape[1:]]
        graph = helper.make_graph(
            nodes, "words", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info("yq", ELEMENTS[zeros[1].dtype], None)], made)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)

    def product(self, op, x, w, attributes, bias, axis):
        """Computes the product in double precision."""
        inputs = {"x": x, "w": w, **({"b": bias.astype(np.float64)} if bias is not None else {})}
        graph = helper.make_graph(
            [helper.make_node(op, list(inputs), ["y"], **attributes)], "double",
            [helper.make_tensor_value_info(name, TensorProto.DOUBLE, value.shape) for name, value in inputs.items()],
            [helper.make_tensor_value_info("y", TensorProto.DOUBLE, None)])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        return ReferenceEvaluator(model).run(None, inputs)[0]

    def check(self, seed, op, shape, weights, attributes=None, axis=0, extreme=False, kind=U16, open_batch=False,
              precision="int16", of_weights=np.int8):
        rng = np.random.default_rng(seed)
        attributes = attributes or {}
        info = np.iinfo(kind)
        zero = kind([info.min, (info.min + info.max + 1) // 2, rng.integers(info.min, info.max + 1)][seed % 3])
        low, high = (info.min - int(zero)) * 1e-4, (info.max - int(zero)) * 1e-4
        # Some values exceed the range.
        x = (rng.random(shape) * (high - low) * 1.02 + low).astype(np.float32)
        largest = np.iinfo(of_weights).max
        w = rng.integers(-largest, largest + 1, weights).astype(of_weights)
        if extreme:
            w = np.full(weights, largest, of_weights)
            x = np.full(shape, high if seed % 2 else low, np.float32)
        count = weights[axis]
        w_scale = (0.01 * (0.5 + rng.random(count))).astype(np.float32)
        bias = None if op == "MatMul" else rng.standard_normal(count).astype(np.float32)
        along = [1] * len(weights)
        along[axis] = count
        xq = quantize(x, 1e-4, zero)
        real = self.product(op, dequantize(xq, 1e-4, zero), w.astype(np.float64) * w_scale.reshape(along), attributes,
                            bias, axis)
        y_scale = float(np.abs(real).max()) / 30000 + 1e-6
        results = np.iinfo(kind if info.bits == 16 else U16)
        y_zero = results.dtype.type((int(results.min) + int(results.max) + 1) // 2)
        want = quantize(real, y_scale, y_zero)
        model = self.model(op, x, w, (1e-4, w_scale, y_scale), (zero, y_zero), attributes, bias, axis, open_batch)
        artifact = self.compile(model, "--target", ",".join(LEVELS))
        if precision:
            listed = tool("ingot", "inspect", "--layers", artifact).stdout
            self.assertRegex(listed, rf"\nprecision {precision}\n")
        for level in LEVELS:
            with cap(level), self.subTest(level=level):
                got = self.run_model(artifact, {"x": x})["yq"]
                off = np.abs(got.astype(np.int64) - want.astype(np.int64))
                self.assertLessEqual(off.max(), 1)
                self.assertLessEqual(np.count_nonzero(off), max(1, MOST_OFF * off.size))

    def test_matrices(self):
        for seed, (shape, weights) in enumerate([([5, 64], [64, 33]), ([3, 7, 40], [40, 16]), ([40, 33], [33, 100]),
                                                 ([130, 768], [768, 64]), ([6, 1], [1, 20]), ([2, 3, 9, 24], [24, 48])]):
            with self.subTest(seed=seed):
                self.check(seed, "MatMul", shape, weights, axis=1)
                self.check(seed, "MatMul", shape, weights, axis=1, kind=S16)

    def test_transposed_matrices(self):
        self.check(1, "Gemm", [9, 72], [50, 72], {"transB": 1})

    def test_sums_in_parts(self):
        """i32 does not hold the sum of 1200 weights of 127."""
        for seed in range(3):
            self.check(seed, "MatMul", [6, 1200], [1200, 17], axis=1, extreme=True)
        self.check(4, "MatMul", [50, 3072], [3072, 64], axis=1)
        self.check(5, "Conv", [1, 600, 6, 6], [16, 600, 3, 3], {"pads": [1, 1, 1, 1]})

    def test_convolutions(self):
        cases = [([1, 16, 9, 9], [32, 16, 1, 1], {}),
                 ([2, 24, 11, 10], [40, 24, 3, 3], {"pads": [1, 1, 1, 1]}),
                 ([1, 9, 13, 12], [17, 9, 3, 3], {"pads": [0, 1, 1, 2], "strides": [2, 2]}),
                 ([1, 48, 8, 8], [64, 24, 3, 3], {"pads": [1, 1, 1, 1], "group": 2}),
                 ([1, 33, 30], [16, 33, 5], {"pads": [2, 2], "dilations": [2]}),
                 ([1, 16, 4, 5, 6], [16, 16, 2, 3, 3], {"pads": [0, 1, 1, 1, 1, 1]})]
        for seed, (shape, weights, attributes) in enumerate(cases):
            with self.subTest(seed=seed):
                self.check(seed, "Conv", shape, weights, attributes)
                self.check(seed + 1, "Conv", shape, weights, attributes, kind=S16)

    def test_wide_weights(self):
        """Weights of 16 bits by data of 8 bits."""
        for seed, kind in enumerate((np.uint8, np.int8, np.uint8)):
            with self.subTest(seed=seed):
                options = {"kind": kind, "of_weights": np.int16}
                self.check(seed, "MatMul", [5, 64], [64, 33], axis=1, **options)
                self.check(seed, "MatMul", [6, 1200], [1200, 17], axis=1, extreme=True, **options)
                self.check(seed, "Conv", [2, 24, 11, 10], [40, 24, 3, 3], {"pads": [1, 1, 1, 1]}, **options)
                self.check(seed, "Conv", [1, 9, 13, 12], [17, 9, 3, 3], {"pads": [0, 1, 1, 2], "strides": [2, 2]},
                           extreme=True, **options)
                self.check(seed, "Conv", [1, 24, 9, 9], [24, 1, 3, 3], {"pads": [1, 1, 1, 1], "group": 24},
                           precision="fp32", **options)

    def test_wide_data_and_weights(self):
        """i32 holds no sums of numbers of 16 bits."""
        self.check(1, "MatMul", [5, 64], [64, 33], axis=1, precision="fp32", of_weights=np.int16)

    def test_open_batch(self):
        self.check(2, "Conv", [3, 16, 9, 9], [16, 16, 3, 3], {"pads": [1, 1, 1, 1]}, open_batch=True)
        self.check(1, "MatMul", [7, 32], [32, 40], axis=1, open_batch=True)

    def test_floats(self):
        """Single channels, few channels and few rows."""
        self.check(1, "Conv", [1, 24, 9, 9], [24, 1, 3, 3], {"pads": [1, 1, 1, 1], "group": 24}, precision="fp32")
        self.check(2, "Conv", [1, 3, 12, 12], [16, 3, 3, 3], {}, precision="fp32")
        self.check(3, "MatMul", [1, 64], [64, 32], axis=1, precision="fp32")


def hard_sigmoid(x):
    return np.clip(np.float32(0.2) * x + np.float32(0.5), np.float32(0), np.float32(1))


def sigmoid(x):
    return np.float32(1) / (np.float32(1) + np.exp(-x))


class Activations(Case):
    """Functions x f(x) between Q/DQ pairs of 16 bits, alone and in the epilogue of an identity convolution."""

    def model(self, op, shape, parameters, groups, element, all_outputs):
        made, nodes = [], []

        def constant(name, array):
            made.append(numpy_helper.from_array(np.asarray(array), name))
            return name

        def pair(name, scale, zero):
            names = [constant(name + "s", np.float32(scale)), constant(name + "z", zero)]
            nodes.append(helper.make_node("QuantizeLinear", [name, *names], [name + "q"]))
            nodes.append(helper.make_node("DequantizeLinear", [name + "q", *names], [name + "d"]))
            return name + "d"

        x = pair("x", *parameters[0])
        if groups:
            channels = shape[1]
            w = np.zeros((channels, channels // groups, 1, 1), np.int8)
            w[np.arange(channels), np.arange(channels) % (channels // groups)] = 64
            nodes.append(helper.make_node("DequantizeLinear", [constant("w", w), constant("ws", np.float32(1 / 64))],
                                          ["wd"]))
            nodes.append(helper.make_node("Conv", [x, "wd"], ["c"], group=groups))
            x = pair("c", *parameters[0])
        nodes.append(helper.make_node(op, [x], ["h"]))
        nodes.append(helper.make_node("Mul", [x, pair("h", *parameters[1])], ["y"]))
        pair("y", *parameters[2])
        outputs = ["yd"] + (["hq"] if all_outputs else [])
        graph = helper.make_graph(
            nodes, "activations", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(name, element if name == "hq" else TensorProto.FLOAT, shape)
             for name in outputs], made)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)

    def check(self, seed, op, groups=0, kind=U16, most_off=MOST_OFF, all_outputs=False):
        rng = np.random.default_rng(seed)
        info = np.iinfo(kind)
        shape = [1, 32, 25, 26]
        x = (rng.standard_normal(shape) * 3).astype(np.float32)

        def parameters(values):
            # The last value may exceed the quantized range.
            scale = np.float32((values.max() - values.min()) / 65535 * rng.uniform(0.97, 1.03))
            return scale, kind(np.clip(info.min - np.rint(min(values.min(), 0) / scale), info.min, info.max))

        def through(values, scale, zero):
            return ((quantize(values, scale, zero).astype(np.int32) - np.int32(zero)).astype(np.float32) * scale)

        found = [parameters(x)]
        seen = through(x, *found[0])
        h = (sigmoid if op == "Sigmoid" else hard_sigmoid)(seen)
        found.append(parameters(h))
        y = seen * through(h, *found[1])
        found.append(parameters(y))
        want = through(y, *found[2])
        artifact = self.compile(self.model(op, shape, found, groups, ELEMENTS[np.dtype(kind)], all_outputs),
                                "--target", ",".join(LEVELS))
        for level in LEVELS:
            with cap(level), self.subTest(level=level):
                got = self.run_model(artifact, {"x": x})
                off = np.abs(np.rint((got["yd"] - want) / found[2][0]))
                self.assertLessEqual(off.max(), 1)
                self.assertLessEqual(np.count_nonzero(off), most_off * off.size)
                if all_outputs:
                    self.assertTrue(np.array_equal(got["hq"], quantize(h, *found[1])))

    def test_hard(self):
        for seed, groups in enumerate([0, 1, 32, 0, 1, 32]):
            with self.subTest(seed=seed):
                self.check(seed, "HardSigmoid", groups, kind=[U16, S16][seed % 2])

    def test_sigmoid(self):
        """The last bits of a sigmoid differ."""
        for seed, groups in enumerate([0, 1, 32]):
            with self.subTest(seed=seed):
                self.check(seed, "Sigmoid", groups, kind=[U16, S16][seed % 2], most_off=5e-3)

    def test_stored(self):
        """int16 values that the model returns are exactly those of the function."""
        for seed, groups in enumerate([0, 32]):
            with self.subTest(seed=seed):
                self.check(seed, "HardSigmoid", groups, all_outputs=True)


class Divisions(Case):
    """Tests that QuantizeLinear divides values of any magnitude by any scale as single precision does."""

    def test_scales(self):
        rng = np.random.default_rng(7)
        scales = [np.float32(scale) for scale in (*np.exp2(rng.uniform(-40, 40, 24)), 0.125, 1e-30, 3e-37)]
        nodes, made, outputs = [], [], []
        for i, scale in enumerate(scales):
            made += [numpy_helper.from_array(scale, f"s{i}"), numpy_helper.from_array(S16(rng.integers(-9, 9)), f"z{i}")]
            nodes += [helper.make_node("QuantizeLinear", [f"x{i}", f"s{i}", f"z{i}"], [f"q{i}"])]
            outputs.append(helper.make_tensor_value_info(f"q{i}", TensorProto.INT16, [4000]))
        inputs = [helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, [4000]) for i in range(len(scales))]
        model = helper.make_model(helper.make_graph(nodes, "divisions", inputs, outputs, made),
                                  opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        artifact = self.compile(model, "--target", ",".join(LEVELS))
        x = {}
        for i, scale in enumerate(scales):
            steps = rng.uniform(-40000, 40000, 4000)
            # Ties and their neighbors.
            steps[:2000] = np.rint(steps[:2000]) + 0.5
            x[f"x{i}"] = np.nextafter((steps * scale).astype(np.float32),
                                      rng.choice([-np.inf, 0, np.inf], 4000).astype(np.float32))
            x[f"x{i}"][:6] = [np.inf, -np.inf, 3e38, -3e38, 1e-45, -0.0]
        for level in LEVELS:
            with cap(level), self.subTest(level=level):
                got = self.run_model(artifact, x)
                for i, scale in enumerate(scales):
                    want = quantize(x[f"x{i}"], scale, numpy_helper.to_array(made[2 * i + 1])[()])
                    self.assertTrue(np.array_equal(got[f"q{i}"], want), (i, scale))


if __name__ == "__main__":
    unittest.main()
