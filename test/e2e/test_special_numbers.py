"""Tests NaN, infinities, denormal values, -0, ties, and functions at the ends of their range.

There is a class for each section of docs/reference/special-numbers.md."""
import math
import os
import sys

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

from support import ROOT, Case, make_model, tool

sys.path.insert(0, os.path.join(ROOT, "test", "property"))

import integer  # noqa: E402

NAN, INF = np.nan, np.inf
LEVELS = integer.supported(("x86-64-v2", "x86-64-v3", "x86-64-v4"))
WIDE = np.longdouble


def node(op, inputs, outputs="y", **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, e) / (1 + e)


def elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def mish(x):
    e = np.exp(np.minimum(x, 60))  # tanh(ln(1 + e)) = e (e + 2) / (e (e + 2) + 2)
    return x * np.where(x > 60, 1, e * (e + 2) / (e * (e + 2) + 2))


def gelu(x):
    return x * np.vectorize(math.erfc, otypes=[float])(-x.astype(float) / math.sqrt(2)) / 2


def gelu_of_tanh(x):
    return x * sigmoid(2 * WIDE(0.7978845608028654) * (x + WIDE(0.044715) * x ** 3))


def product_with(gate):
    """Returns x times a gate that becomes 0 for small x: by definition -inf gives NaN."""
    return lambda x: np.where(x == -INF, NAN, gate(x))


class Function:
    """A function in WIDE, with its range, and the allowed error in f32 as units in the last place and absolute."""

    def __init__(self, compute, low=-INF, high=INF, units=3.0, absolute=0.0, op=None, **attributes):
        self.compute, self.low, self.high, self.units, self.absolute = compute, low, high, units, absolute
        self.op, self.attributes = op, attributes


SELU = (WIDE(np.float32(1.05070102)), WIDE(np.float32(1.67326324)))
FUNCTIONS = {
    "Exp": Function(np.exp, 0), "Log": Function(np.log), "Sqrt": Function(np.sqrt, 0),
    "Tanh": Function(np.tanh, -1, 1, 7), "Sigmoid": Function(sigmoid, 0, 1),
    "Erf": Function(lambda x: np.vectorize(math.erf, otypes=[float])(x.astype(float)).astype(WIDE), -1, 1, 7),
    "Softplus": Function(lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))), 0),
    "Sin": Function(np.sin, -1, 1), "Cos": Function(np.cos, -1, 1),
    "Asin": Function(np.arcsin, -np.pi / 2, np.pi / 2), "Acos": Function(np.arccos, 0, np.pi),
    "Atan": Function(np.arctan, -np.pi / 2, np.pi / 2), "Tan": Function(np.tan), "Sinh": Function(np.sinh),
    "Cosh": Function(np.cosh, 1), "Asinh": Function(np.arcsinh), "Acosh": Function(np.arccosh, 0),
    "Atanh": Function(np.arctanh), "Reciprocal": Function(lambda x: 1 / x), "Sign": Function(np.sign, -1, 1),
    "Elu": Function(elu, -1, absolute=1.2e-7), "Celu": Function(elu, -1, absolute=1.2e-7),
    "Selu": Function(lambda x: SELU[0] * elu(x, SELU[1]), -1.7581, absolute=3e-7),
    "HardSigmoid": Function(lambda x: np.clip(x * WIDE(np.float32(0.2)) + WIDE(0.5), 0, 1), 0, 1, absolute=6e-8),
    "HardSwish": Function(product_with(lambda x: x * np.clip(x / 6 + WIDE(0.5), 0, 1)), -0.3751, absolute=4e-7),
    "Softsign": Function(lambda x: np.where(np.isinf(x), NAN, x / (1 + np.abs(x))), -1, 1),
    "Swish": Function(product_with(lambda x: x * sigmoid(x)), -0.2785, absolute=1e-36),
    "Mish": Function(product_with(mish), -0.3089, units=8, absolute=1e-36),
    "Gelu": Function(product_with(gelu), -0.17, units=7, absolute=2e-6),
    "GeluOfTanh": Function(product_with(gelu_of_tanh), -0.1701, units=7, absolute=2e-6, op="Gelu", approximate="tanh"),
}
# Arguments beyond which a function is constant, up to rounding. It must not fall above the limit, or rise below the
# negative one.
BORDERS = {"Tanh": 9.1, "Erf": 3.95, "Sigmoid": 18, "Exp": 88, "Softplus": 20, "HardSigmoid": 2.6, "Atan": 1e8}
TYPES = {"float32": np.float32, "float64": np.float64, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


def hard_numbers(dtype):
    """Returns all values of a 16-bit type. For others, zeros, denormal values, limits, infinities, and steps around
    each point where an approximation changes."""
    if np.dtype(dtype).itemsize == 2:
        return np.arange(65536).astype(np.uint16).view(dtype)
    info = np.finfo(dtype)
    tiny, largest = float(info.tiny), float(info.max)
    least = float(info.smallest_subnormal)
    values = [[0, least, tiny / 2, tiny, 2 * tiny, largest / 2, largest, INF, 1e-30, 1e4, 1e10, 1e30],
              np.linspace(0, 12, 4001), np.linspace(80, 110, 1001), 10.0 ** np.linspace(-44, 38, 1001),
              np.linspace(690, 760, 1001)]
    for place in (0.5, 1, 2.4142137, 0.41421357, 3.6193018, 3.6556423, 5.55, 8.142681, 8.2151203, 9.02, 16.6, 17.3,
                  22, np.pi / 4, np.pi / 2, 88.7228394, 87.3365402, 103.97, 709.78, 708.4):
        values.append(np.float32(place) + np.arange(-40, 41) * np.spacing(np.float32(place)).astype(float))
    positive = np.unique(np.concatenate(values).astype(dtype))
    return np.concatenate([-positive[::-1], positive, np.array([NAN], dtype)])


class Bounds(Case):
    """Each function by type and CPU level: NaN and infinities where the function has them, values, range, limits."""

    def check(self, kind, level, subset=tuple(FUNCTIONS), **model):
        dtype = TYPES[kind]
        x = hard_numbers(dtype)
        element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        nodes = [node(FUNCTIONS[name].op or name, "x", name, **FUNCTIONS[name].attributes) for name in subset]
        made = make_model(nodes, [("x", [len(x)], element)], [(name, [len(x)], element) for name in subset], opset=24)
        made.ir_version = 10
        is_bfloat16 = kind == "bfloat16"
        got = self.run_model(self.compile(made, "--target", level), {"x": x.view("V2") if is_bfloat16 else x})
        for name in subset:
            with self.subTest(function=name, type=kind, level=level):
                self.assert_function(name, x, got[name].view(dtype) if is_bfloat16 else got[name])

    def assert_function(self, name, x, y):
        function, info = FUNCTIONS[name], ml_dtypes.finfo(x.dtype)
        arithmetic = np.finfo(np.float64 if x.dtype == np.float64 else np.float32)
        tiny = WIDE(max(float(info.smallest_subnormal), float(arithmetic.tiny)))
        with np.errstate(all="ignore"):
            wide, got = x.astype(WIDE), y.astype(WIDE)
            # libm does not flush denormal values.
            normal = (wide == 0) | ~(np.abs(wide) < arithmetic.tiny)
            want = function.compute(wide)
            rounded = want.astype(np.float64).astype(x.dtype).astype(WIDE)
        numbers = ~np.isnan(wide) & normal
        np.testing.assert_array_equal(np.isnan(got)[normal], np.isnan(want)[normal])
        numbers &= ~np.isnan(want)
        # Near the largest number, both results are right.
        certain = numbers & ~((np.abs(want) > float(info.max) * (1 - 1e-6)) & np.isfinite(want))
        np.testing.assert_array_equal(np.isinf(got)[certain], np.isinf(rounded)[certain])
        finite = certain & np.isfinite(rounded)
        unit = np.maximum(2.0 ** (np.floor(np.log2(np.maximum(np.abs(rounded[finite]), tiny))) - info.nmant), tiny)
        units = function.units if x.dtype == np.float32 else 1.01 + 4 * (x.dtype == np.float64)
        scale = 1 if arithmetic.dtype == np.float32 else 2e-9  # factor for the absolute error
        slack = np.abs(got[finite] - want[finite]) - units * unit - function.absolute * scale
        worst = np.argmax(slack)
        self.assertLessEqual(slack[worst], 0,
                             f"{x[finite][worst]} gives {got[finite][worst]}, not {want[finite][worst]}")
        low, high = (WIDE(np.array(end).astype(x.dtype)) for end in (function.low, function.high))
        self.assertGreaterEqual(got[numbers].min(), low)
        self.assertLessEqual(got[numbers].max(), high)
        if name in BORDERS:
            order = np.argsort(wide[numbers], kind="stable")
            ends = np.abs(wide[numbers][order]) >= BORDERS[name]
            for side in (wide[numbers][order] > 0, wide[numbers][order] < 0):
                values = got[numbers][order][ends & side]
                self.assertTrue((values[1:] >= values[:-1]).all())

    def test_float32(self):
        for level in LEVELS:
            self.check("float32", level)

    def test_saturation(self):
        """tanh and erf for all floats: no result exceeds 1, and all results beyond the limit are 1."""
        for name, least, most in (("Tanh", 7.9, 8.3), ("Erf", 3.55, 3.7)):
            first, last = np.array([least, most], np.float32).view(np.int32)
            x = np.arange(first, last, dtype=np.int32).view(np.float32)
            model = make_model([node(name, "x")], [("x", [len(x)])], [("y", None)])
            for level in LEVELS:
                with self.subTest(function=name, level=level):
                    y = self.run_model(self.compile(model, "--target", level), {"x": x})["y"]
                    self.assertEqual(y.max(), 1)
                    self.assertTrue((y[-1000:] == 1).all())
                    self.assertLess((np.abs(y - FUNCTIONS[name].compute(x.astype(WIDE))) * 2.0 ** 24).max(), 7)

    def test_float64(self):
        self.check("float64", "x86-64-v3")

    def test_16_bits(self):
        for kind in ("float16", "bfloat16"):
            for level in (LEVELS[0], LEVELS[-1]):
                self.check(kind, level, ("Exp", "Tanh", "Erf", "Sigmoid", "Sin", "Log", "Gelu", "GeluOfTanh", "Swish",
                                         "Sign"))


class Nan(Case):
    """ArgMax and ArgMin select NaN first. Arithmetic propagates NaN."""
    rows = np.array([[NAN, 1, NAN, 0], [1, NAN, 2, NAN], [1, 2, NAN, NAN], [-INF, -INF, NAN, -INF], [3, 3, 1, 1],
                     [NAN] * 4, [-INF] * 4, [INF, NAN, INF, -INF]], np.float32)

    def run_nodes(self, nodes, outputs, constants=(), x=None, opset=18):
        x = self.rows if x is None else x
        model = make_model(nodes, [("x", list(x.shape), helper.np_dtype_to_tensor_dtype(x.dtype))], outputs,
                           dict(constants), opset=opset)
        return self.run_model(self.compile(model), {"x": x})

    def test_positions(self):
        """ArgMax, ArgMin and Hardmax as in numpy: the first NaN, or the last."""
        for dtype in (np.float32, np.float64, np.float16):
            x = self.rows.astype(dtype)
            nodes = [node(op, "x", f"{op}{last}", axis=1, keepdims=0, select_last_index=last)
                     for op in ("ArgMax", "ArgMin") for last in (0, 1)] + [node("Hardmax", "x", "hard")]
            got = self.run_nodes(nodes, [(n.output[0], None, TensorProto.INT64) for n in nodes[:-1]] +
                                 [("hard", None, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))], x=x)
            for op, find in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
                np.testing.assert_array_equal(got[op + "0"], find(x, 1))
                np.testing.assert_array_equal(got[op + "1"], 3 - find(x[:, ::-1], 1))
            np.testing.assert_array_equal(got["hard"], np.eye(4)[np.argmax(x, 1)])

    def test_values(self):
        """ReduceMax, Max, Clip and both forms of MaxPool propagate NaN; TopK treats it as the largest value."""
        nodes = [node("ReduceMax", "x axis", "reduced", keepdims=0), node("Max", "x two", "max"),
                 node("Clip", "x low high", "clipped"), node("Unsqueeze", "x axis", "u"),
                 node("MaxPool", "u", "pooled", kernel_shape=[2]), node("MaxPool", "u", "found at", kernel_shape=[2]),
                 node("TopK", "x k", "best places")]
        constants = {"axis": np.array([1]), "two": np.float32(2), "low": np.float32(-1), "high": np.float32(1),
                     "k": np.array([3])}
        got = self.run_nodes(nodes, [(n, None) for n in ("reduced", "max", "clipped", "pooled", "found", "best")] +
                             [(n, None, TensorProto.INT64) for n in ("at", "places")], constants)
        x = self.rows
        pairs = np.stack([x[:, :-1], x[:, 1:]], 2)
        np.testing.assert_array_equal(got["reduced"], x.max(1))
        np.testing.assert_array_equal(got["max"], np.maximum(x, 2))
        np.testing.assert_array_equal(got["clipped"], np.clip(x, -1, 1))
        np.testing.assert_array_equal(got["pooled"][:, 0], pairs.max(2))
        np.testing.assert_array_equal(got["found"][:, 0], pairs.max(2))
        np.testing.assert_array_equal(got["at"][:, 0], pairs.argmax(2) + np.arange(3) + 4 * np.arange(len(x))[:, None])
        order = np.lexsort((np.broadcast_to(np.arange(4), x.shape), np.where(np.isnan(x), 0, -x), ~np.isnan(x)))[:, :3]
        np.testing.assert_array_equal(got["places"], order)
        np.testing.assert_array_equal(got["best"], np.take_along_axis(x, order, 1))

    def test_conditions(self):
        """A NaN is above no threshold, so selections give 0."""
        got = self.run_nodes([node("ThresholdedRelu", "x", "t"), node("Shrink", "x", "s")], [("t", None), ("s", None)])
        for y in got.values():
            self.assertFalse(y[np.isnan(self.rows)].any())

    def test_boxes(self):
        """NonMaxSuppression lists no NaN score; a box with a NaN suppresses no other box."""
        boxes = np.array([[[0, 0, 1, 1], [0, 0, 1, NAN], [0, 0, 1, 1], [0, 0, 1, 1], [5, 5, 6, 6]]], np.float32)
        scores = np.array([[[NAN, 0.9, 0.8, 0.7, 0.6]]], np.float32)
        model = make_model([node("NonMaxSuppression", "b s k t", "y")], [("b", [1, 5, 4]), ("s", [1, 1, 5])],
                           [("y", None, TensorProto.INT64)], {"k": np.array([9]), "t": np.float32([0.5])})
        got = self.run_model(self.compile(model), {"b": boxes, "s": scores})["y"]
        np.testing.assert_array_equal(got, [[0, 0, 1], [0, 0, 2], [0, 0, 4]])


class Denormals(Case):
    """Denormal values count as zero, on input and as results."""

    def test_sign(self):
        """The sign of a denormal value is 0, as of either zero; the sign of NaN is NaN."""
        x = np.array([1e-40, -1e-40, 0, -0.0, 1e-37, -1e-37, INF, -INF, NAN], np.float32)
        model = make_model([node("Sign", "x")], [("x", [9])], [("y", None)])
        want = np.array([0, 0, 0, 0, 1, -1, 1, -1, NAN], np.float32)
        got = self.run_model(self.compile(model), {"x": x})["y"]
        np.testing.assert_array_equal(got, want)
        self.assertFalse(np.signbit(got[:4]).any())

    def test_comparisons(self):
        x = np.array([1e-40, -1e-40, 1e-38], np.float32)
        nodes = [node("Greater", "x zero", "above"), node("Equal", "x zero", "equal"), node("Mul", "x one", "product")]
        model = make_model(nodes, [("x", [3]), ("one", [1])],
                           [("above", None, TensorProto.BOOL), ("equal", None, TensorProto.BOOL), ("product", None)],
                           {"zero": np.float32(0)})
        got = self.run_model(self.compile(model), {"x": x, "one": np.float32([1])})
        self.assertFalse(got["above"].any())
        self.assertTrue(got["equal"].all())
        self.assertFalse(got["product"].any())


class Zeros(Case):
    def test_sign_of_zero(self):
        """-0 stays -0 if a function is odd there, or returns its argument."""
        names = ["Tanh", "Erf", "Sin", "Asin", "Atan", "Sqrt", "Elu", "Gelu", "LeakyRelu", "Round", "Ceil", "Neg"]
        x = np.array([-0.0, 0.0], np.float32)
        model = make_model([node(name, "x", name) for name in names], [("x", [2])], [(n, None) for n in names],
                           opset=20)
        got = self.run_model(self.compile(model), {"x": x})
        for name in names:
            with self.subTest(name):
                np.testing.assert_array_equal(got[name], [0, 0])
                np.testing.assert_array_equal(np.signbit(got[name]), [name != "Neg", name == "Neg"])

    def test_equal_zeros(self):
        """Positions treat both zeros as equal; for two computed zeros, Max gives 0 and Min -0."""
        x = np.array([[-0.0, 0.0], [0.0, -0.0]], np.float32)
        nodes = [node("ArgMax", "x", "most", axis=1, keepdims=0), node("ArgMin", "x", "least", axis=1, keepdims=0),
                 node("Max", "x turned", "max"), node("Min", "x turned", "min"), node("Relu", "x", "relu")]
        model = make_model(nodes, [("x", [2, 2]), ("turned", [2, 2])],
                           [(n, None, TensorProto.INT64) for n in ("most", "least")] + [(n, None) for n in ("max", "min", "relu")])
        got = self.run_model(self.compile(model), {"x": x, "turned": x[::-1].copy()})
        self.assertFalse(got["most"].any() or got["least"].any() or got["relu"].any())
        self.assertFalse(np.signbit(got["max"]).any())
        self.assertTrue(np.signbit(got["min"]).all())


class Integers(Case):
    """Quotients that do not fit become the limits of an integer's range; so do infinities."""
    TYPES = {np.uint8: (0, 255), np.int8: (-128, 127), np.uint16: (0, 65535), np.int16: (-32768, 32767)}

    def test_quantize(self):
        """Constant scales and scales of the run, one or one per element, at each CPU level."""
        x = np.array([0, 0.5, 1.5, 2.5, -0.5, 127.5, -129, 256, 1e10, -1e10, 3e38, -3e38, INF, -INF] * 3, np.float32)
        scales = np.array([1.0, 0.3, 1e-30, 1e30], np.float32)
        for dtype, (least, most) in self.TYPES.items():
            kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
            with np.errstate(over="ignore"):
                want = [np.clip(np.rint(x / scale) + 3.0, least, most) for scale in scales]
            run = make_model([node("QuantizeLinear", "x scale zero")], [("x", ["n"]), ("scale", [])],
                             [("y", None, kind)], {"zero": np.array(3, dtype)}, opset=21)
            constants = {"zero": np.array(3, dtype), "zeros": np.full(len(x), 3, dtype)}
            nodes, outputs = [], []
            for i, scale in enumerate(scales):
                constants.update({f"one{i}": np.array(scale), f"each{i}": np.full(len(x), scale)})
                nodes += [node("QuantizeLinear", f"x one{i} zero", f"y{i}"),
                          node("QuantizeLinear", f"x each{i} zeros", f"z{i}", axis=0)]
                outputs += [(f"y{i}", None, kind), (f"z{i}", None, kind)]
            constant = make_model(nodes, [("x", [len(x)])], outputs, constants, opset=21)
            run.ir_version = constant.ir_version = 10
            for level in LEVELS:
                artifact = self.compile(run, "--target", level)
                got = self.run_model(self.compile(constant, "--target", level, name="constant"), {"x": x})
                for i, scale in enumerate(scales):
                    with self.subTest(type=dtype.__name__, level=level, scale=scale):
                        # Rows of a few elements, and of several vectors of bytes.
                        few, many = (self.run_model(artifact, {"x": np.tile(x, n)[n:], "scale": np.array(scale)})["y"]
                                     for n in (1, 4))
                        np.testing.assert_array_equal(few, want[i][1:])
                        np.testing.assert_array_equal(many, np.tile(want[i], 4)[4:])
                        for values in (got[f"y{i}"], got[f"z{i}"]):
                            np.testing.assert_array_equal(values, want[i])

    def test_casts(self):
        """Casts round toward zero."""
        x = np.array([0.5, 1.5, -0.5, -1.5, 2.99, -2.99, 127.9, -128.9], np.float32)
        model = make_model([node("Cast", "x", "y", to=TensorProto.INT8)], [("x", [8])], [("y", None, TensorProto.INT8)])
        got = self.run_model(self.compile(model), {"x": x})["y"]
        np.testing.assert_array_equal(got, np.trunc(x))


class Conventions(Case):
    """Behavior that ONNX leaves undefined, or that peers implement differently."""

    def test_affine_grid_of_one(self):
        """With align_corners, a dimension of one element has the coordinate 0."""
        theta = np.array([[[1, 2, 3], [4, 5, 6]]], np.float32)
        model = make_model([node("AffineGrid", "theta size", "y", align_corners=1)], [("theta", [1, 2, 3])],
                           [("y", None)], {"size": np.array([1, 3, 1, 3])}, opset=20)
        got = self.run_model(self.compile(model), {"theta": theta})["y"]
        np.testing.assert_array_equal(got, [[[[2, 2], [3, 6], [4, 10]]]])

    def test_pooled_indices(self):
        """The first of the largest elements of a window, or its first NaN; never in the padding."""
        rng = np.random.default_rng(4)
        for kernel, stride, pads, dilation, column_major in (
                (2, 2, 0, 1, 0), (3, 2, 1, 1, 0), (3, 1, 1, 1, 1), (2, 1, 1, 3, 0), (2, 3, 0, 2, 1), (2, 2, 1, 1, 0)):
            attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pads] * 4,
                          "dilations": [dilation] * 2}
            model = make_model([helper.make_node("MaxPool", ["x"], ["y", "i"], storage_order=column_major, **attributes)],
                               [("x", [2, 3, 9, 19])], [("y", None), ("i", None, TensorProto.INT64)])
            x = rng.integers(-2, 3, (2, 3, 9, 19)).astype(np.float32)
            x[rng.uniform(size=x.shape) < 0.3] = -np.inf
            x[1][rng.uniform(size=x[1].shape) < 0.3] = np.nan
            x[0, 0] = -np.inf
            sizes = [(s + 2 * pads - dilation * (kernel - 1) - 1) // stride + 1 for s in x.shape[2:]]
            y, i = np.zeros((2, 3, *sizes), np.float32), np.zeros((2, 3, *sizes), np.int64)
            for n, c, h, w in np.ndindex(y.shape):
                best = None
                for kh, kw in np.ndindex(kernel, kernel):
                    at = h * stride - pads + kh * dilation, w * stride - pads + kw * dilation
                    if not (0 <= at[0] < 9 and 0 <= at[1] < 19):
                        continue
                    value = x[n, c][at]
                    if best is None or value > best or (np.isnan(value) and not np.isnan(best)):
                        best = y[n, c, h, w] = value
                        i[n, c, h, w] = (n * 3 + c) * 9 * 19 + (at[0] + at[1] * 9 if column_major else at[0] * 19 + at[1])
            with self.subTest(**attributes, column_major=column_major):
                got = self.run_model(self.compile(model), {"x": x})
                np.testing.assert_array_equal(got["y"], y)
                np.testing.assert_array_equal(got["i"], i)

    def test_rows(self):
        """Tests short rows, and long rows whose parts are reduced in parallel. Several parts have equal elements or
        NaN."""
        rng = np.random.default_rng(6)
        for size in (12, 40, 300):
            for kind in (np.float32, np.float16, np.int32, np.uint8):
                x = rng.integers(0, 6, (2, 5, size)).astype(kind)
                x[0, 0] = 3
                if kind in (np.float32, np.float16):
                    x[rng.uniform(size=x.shape) < 0.1] = -0.0
                    x[0, 1] = -np.inf
                    x[1][rng.uniform(size=x[1].shape) < 0.01] = np.nan
                    x[1, 0, [size // 3, size // 2, size - 1]] = np.nan
                nodes = [helper.make_node(op, ["x"], [f"{op}{last}"], axis=-1, select_last_index=last)
                         for op in ("ArgMax", "ArgMin") for last in (0, 1)]
                model = make_model(nodes, [("x", [2, "n", size], helper.np_dtype_to_tensor_dtype(np.dtype(kind)))],
                                   [(n.output[0], None, TensorProto.INT64) for n in nodes])
                got = self.run_model(self.compile(model), {"x": x})
                for op, find in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
                    with self.subTest(op=op, size=size, kind=kind.__name__):
                        np.testing.assert_array_equal(got[op + "0"][..., 0], find(x, -1))
                        np.testing.assert_array_equal(got[op + "1"][..., 0], size - 1 - find(x[..., ::-1], -1))

    def test_rows_of_each_length(self):
        """Rows of 1 to 128 elements with equal elements and NaN, many and few: both ends of ties."""
        rng = np.random.default_rng(7)
        sizes = [*range(1, 70, 4), 16, 18, 24, 32, 47, 48, 63, 64, 80, 127, 128]
        for kind in (np.float32, np.int8, np.uint8):
            nodes = [helper.make_node(op, [f"x{size}"], [f"{op}{last}_{size}"], axis=-1, keepdims=last,
                                      select_last_index=last)
                     for size in sizes for op in ("ArgMax", "ArgMin") for last in (0, 1)]
            xs = {}
            for size in sizes:
                x = rng.integers(0, 6, (40, size)).astype(kind)
                if kind == np.float32:
                    x[rng.uniform(size=x.shape) < 0.2] *= -1
                    x[::3][rng.uniform(size=x[::3].shape) < 2 / size] = np.nan
                    x[1], x[2] = np.inf, -np.inf
                xs[f"x{size}"] = x
            element = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
            model = make_model(nodes, [(name, list(x.shape), element) for name, x in xs.items()],
                               [(n.output[0], None, TensorProto.INT64) for n in nodes])
            got = self.run_model(self.compile(model), xs)
            for size in sizes:
                x = xs[f"x{size}"]
                for op, find in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
                    with self.subTest(op=op, size=size, kind=kind.__name__):
                        np.testing.assert_array_equal(got[f"{op}0_{size}"], find(x, -1))
                        np.testing.assert_array_equal(got[f"{op}1_{size}"][..., 0], size - 1 - find(x[:, ::-1], -1))

    def test_unpool_without_room(self):
        model = make_model([helper.make_node("MaxUnpool", ["x", "i", "s"], ["y"], name="unpool", kernel_shape=[2, 2],
                                             strides=[2, 2])],
                           [("x", [1, 1, 2, 2]), ("i", [1, 1, 2, 2], TensorProto.INT64), ("s", [4], TensorProto.INT64)],
                           [("y", ["a", "b", "c", "d"])], opset=11)
        artifact = self.compile(model)
        x, i = np.ones((1, 1, 2, 2), np.float32), np.array([[[[0, 3], [8, 15]]]])
        for shape, refused in (([1, 1, 4, 4], False), ([1, 1, 2, 2], True)):
            arguments = []
            for name, value in (("x", x), ("i", i), ("s", np.array(shape))):
                np.save(self.path(name + ".npy"), value)
                arguments += ["--input", f"{name}={self.path(name + '.npy')}"]
            done = tool("ingot", "run", artifact, *arguments)
            if refused:
                self.assert_one_line(done, "node 'unpool'",
                                     "'output_shape' is 2 at [2], but the windows need at least 4")
            else:
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_lstm_clip(self):
        """The inputs of gates and candidates are clipped, the returned cell is not."""
        x = np.linspace(-1, 1, 18, dtype=np.float32).reshape(6, 1, 3)
        model = make_model([node("LSTM", "x w r", "y", hidden_size=2, clip=0.6)], [("x", [6, 1, 3])], [("y", None)],
                           {"w": np.full((1, 8, 3), 2, np.float32), "r": np.full((1, 8, 2), 0.1, np.float32)})
        self.assert_agrees(model, self.compile(model), {"x": x}, 1e-5)

    def test_boxes_of_negative_size(self):
        """Boxes of negative size, given by their centers, overlap nothing."""
        boxes = np.array([[[0, 0, -2, 2], [0, 0, -2, 2], [0, 0, 2, 2], [0, 0, 2, 2]]], np.float32)
        scores = np.array([[[0.9, 0.8, 0.7, 0.6]]], np.float32)
        model = make_model([node("NonMaxSuppression", "b s k t", "y", center_point_box=1)],
                           [("b", [1, 4, 4]), ("s", [1, 1, 4])], [("y", None, TensorProto.INT64)],
                           {"k": np.array([9]), "t": np.float32([0.5])})
        self.assert_agrees(model, self.compile(model), {"b": boxes, "s": scores})


class Positions(Case):
    """Resize by the nearest element where positions are integers or halves."""

    def test_resize(self):
        scales = [np.float32(v) for v in (0.5, 1 / 3, 2 / 3, 0.75, 1.5, 1.6, 2, 2.5, 3, 0.6, 1.7)]
        for size in (3, 5, 7, 10):
            nodes, constants = [], {}
            for mode in ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"):
                for nearest in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil"):
                    attributes = {"mode": "nearest", "coordinate_transformation_mode": mode, "nearest_mode": nearest}
                    # ONNX Runtime copies a tensor whose size stays, for any scale.
                    for i, scale in enumerate(s for s in scales if int(size * s) not in (0, size)):
                        constants[f"scale{i}"] = np.array([scale])
                        nodes.append(node("Resize", f"x  scale{i}", f"{mode}_{nearest}_s{i}", **attributes))
                    for to in (1, 2, 4, 6, 9, 12, 14):
                        if mode == "half_pixel_symmetric" and nearest == "floor" and size == 3 and to == 1:
                            continue
                        constants[f"size{to}"] = np.array([to])
                        nodes.append(node("Resize", f"x   size{to}", f"{mode}_{nearest}_{to}", **attributes))
            for n in nodes:
                n.input[:] = ["x", "", *([""] if n.input[-1].startswith("size") else []), n.input[-1]]
            model = make_model(nodes, [("x", [size])], [(n.output[0], None) for n in nodes], constants, opset=19)
            self.assert_agrees(model, self.compile(model), {"x": np.arange(size, dtype=np.float32)}, 0)

    def test_equal_elements(self):
        """ArgMax and ArgMin return the first of equal elements, or with `select_last_index` the last."""
        x = np.array([[1, 3, 3, 2], [2, 2, 2, 2], [0, -1, -1, 0]], np.float32)
        nodes = [node(op, "x", f"{op}{last}", axis=1, keepdims=0, select_last_index=last)
                 for op in ("ArgMax", "ArgMin") for last in (0, 1)]
        nodes += [node("Hardmax", "x", "hard"), node("Unsqueeze", "x axis", "u"),
                  node("MaxPool", "u", "m at", kernel_shape=[4]), node("TopK", "x k", "best places")]
        integers = [n.output[0] for n in nodes[:4]] + ["at", "places"]
        model = make_model(nodes, [("x", [3, 4])], [("hard", None)] + [(n, None, TensorProto.INT64) for n in integers],
                           {"axis": np.array([1]), "k": np.array([2])}, opset=18)
        got = self.run_model(self.compile(model), {"x": x})
        np.testing.assert_array_equal(got["ArgMax0"], [1, 0, 0])
        np.testing.assert_array_equal(got["ArgMax1"], [2, 3, 3])
        np.testing.assert_array_equal(got["ArgMin0"], [0, 0, 1])
        np.testing.assert_array_equal(got["ArgMin1"], [0, 3, 2])
        np.testing.assert_array_equal(got["hard"], np.eye(4)[[1, 0, 0]])
        np.testing.assert_array_equal(got["at"].ravel(), [1, 4, 8])
        np.testing.assert_array_equal(got["places"], [[1, 2], [0, 1], [0, 3]])
