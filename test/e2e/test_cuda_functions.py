# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of transcendental functions on GPUs in units in the last place, over the whole range of f32 and f64."""
import math

import ml_dtypes

from emulated import Emulated
from support import TensorProto, helper, make_model, np

WIDE = np.longdouble
OPTIONS = ("--target=sm_80", "--ptxas=none", "--cuda-fallback=error")
TYPES = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}

# Function: reference in 80 bits, errors in ulp of f32 and of f64. The others of f32 are those of all devices.
FUNCTIONS = {
    "Sinh": (np.sinh, 2, 2), "Cosh": (np.cosh, 2, 2), "Tan": (np.tan, 4, 1), "Asinh": (np.arcsinh, 2, 2),
    "Acosh": (np.arccosh, 2, 2), "Atanh": (np.arctanh, 2, 2), "Tanh": (np.tanh, 6, 4), "Exp": (np.exp, 2, 1),
    "Log": (np.log, 2, 1), "Sin": (np.sin, 3, 1), "Cos": (np.cos, 3, 1), "Atan": (np.arctan, 3, 1),
    "Asin": (np.arcsin, 3, 1), "Acos": (np.arccos, 3, 1),
    # The reference has an error of its own.
    "Erf": (lambda x: np.vectorize(math.erf, otypes=[float])(x.astype(float)).astype(WIDE), 6, 2),
}


def random_bits(rng, kind, count):
    """Returns floats of all magnitudes, infinities and NaN."""
    words = rng.integers(0, 1 << 32, (count, 2), dtype=np.uint64).astype(np.uint32)
    return words[:, 0].copy().view(np.float32) if kind == "float32" else words.view(np.float64)[:, 0].copy()


def special(kind):
    info = np.finfo(kind)
    positive = [0, 1, 2, 3, 0.5, 2.5, 1e-20, 1e20, info.max, info.tiny, np.inf, 2.0 ** info.nmant + 1, 2.0 ** (info.nmant + 2),
                np.nextafter(info.dtype.type(1), info.dtype.type(2)), np.nextafter(info.dtype.type(1), info.dtype.type(0))]
    return np.array([*positive, *(-np.array(positive)), np.nan]).astype(kind)


def arguments(kind):
    rng = np.random.default_rng(0)
    most = 90 if kind == "float32" else 711
    place = np.array([0.25, 0.4375, 0.5, 0.6744, 0.6875, 0.84375, 1, 1.1875, 1.25, 2.4375, 1 / 0.35, 6, math.pi / 4,
                      math.pi / 2, 88.72, 709.78, 2.0 ** 14, 2.0 ** 28])
    near = (place[:, None] * (1 + np.linspace(-1e-6, 1e-6, 41))).ravel()
    numbers = np.concatenate([special(kind).astype(float), rng.uniform(-most, most, 3000), rng.uniform(-4, 4, 6000),
                              rng.standard_normal(4000) * 2.0 ** rng.integers(-60, 10, 4000), near, -near,
                              np.arange(1, 2000) * (math.pi / 2)])
    return np.concatenate([numbers.astype(kind), random_bits(rng, kind, 6000)])


class CudaFunctions(Emulated):
    def run_functions(self, model, feeds):
        """The compilation fails if the CPU would compute a node."""
        return self.emulate(self.compile(model, *OPTIONS), feeds)

    def assert_ulps(self, got, want, bound, *inputs):
        """NaN and infinities are where the reference has them, zeros have its sign."""
        kind = got.dtype
        info = np.finfo(kind)
        with np.errstate(all="ignore"):
            rounded = want.astype(kind)
        known = np.ones(got.shape, bool)
        for x in inputs:  # Denormal values may count as zero.
            known &= (x == 0) | ~(np.abs(x) < info.tiny)
        np.testing.assert_array_equal(np.isnan(got)[known], np.isnan(rounded)[known])
        known &= ~np.isnan(rounded)
        # Near the largest number, both results are right.
        certain = known & ~((np.abs(want) > WIDE(info.max) * (1 - WIDE(1e-6))) & np.isfinite(want))
        np.testing.assert_array_equal(np.isinf(got)[certain], np.isinf(rounded)[certain])
        signed = certain & ((rounded == 0) | np.isinf(rounded))
        np.testing.assert_array_equal(np.signbit(got)[signed], np.signbit(rounded)[signed])
        finite = certain & np.isfinite(rounded)
        # A denormal result may be zero.
        unit = np.where(np.abs(rounded[finite]) < info.tiny, info.tiny, np.spacing(np.abs(rounded[finite]))).astype(WIDE)
        errors = np.abs(got[finite].astype(WIDE) - want[finite]) / unit
        worst = int(np.argmax(errors))
        place = [float(x[finite][worst]) for x in inputs]
        self.assertLessEqual(errors[worst], bound, f"{place} gives {got[finite][worst]}, not {want[finite][worst]}")

    def test_functions(self):
        """All in one model, each with an output."""
        for kind, element in TYPES.items():
            x = arguments(kind)
            nodes = [helper.make_node(op, ["x"], [op], name=op) for op in FUNCTIONS]
            model = make_model(nodes, [("x", [len(x)], element)], [(op, [len(x)], element) for op in FUNCTIONS], opset=20)
            got = self.run_functions(model, {"x": x})
            for op, (reference, *bounds) in FUNCTIONS.items():
                with self.subTest(op=op, type=kind), np.errstate(all="ignore"):
                    self.assert_ulps(got[op], reference(x.astype(WIDE)), bounds[kind == "float64"], x)

    def test_powers(self):
        """Each special number to the power of each, and results of all magnitudes."""
        for kind, element in TYPES.items():
            rng = np.random.default_rng(1)
            ends = special(kind)
            base = np.abs(random_bits(rng, kind, 12000))
            with np.errstate(all="ignore"):
                most = 90 if kind == "float32" else 745
                exponent = rng.uniform(-most, most, len(base)) / np.log(base.astype(float))
            a = np.concatenate([np.repeat(ends, len(ends)), base, rng.uniform(-10, 10, 4000), 1 + rng.uniform(-1e-3, 1e-3, 4000),
                                random_bits(rng, kind, 4000)]).astype(kind)
            b = np.concatenate([np.tile(ends, len(ends)), exponent, rng.integers(-30, 30, 4000), rng.uniform(-3e4, 3e4, 4000),
                                random_bits(rng, kind, 4000)]).astype(kind)
            model = make_model([helper.make_node("Pow", ["a", "b"], ["y"], name="power")],
                               [(name, [len(a)], element) for name in "ab"], [("y", [len(a)], element)])
            got = self.run_functions(model, {"a": a, "b": b})["y"]
            with self.subTest(kind), np.errstate(all="ignore"):
                self.assert_ulps(got, np.power(a.astype(WIDE), b.astype(WIDE)), 1, a, b)

    def test_exact_powers(self):
        """Powers that fit are exact, of floats and of integers. The exponent may have another type."""
        base, exponent = (values.ravel() for values in np.meshgrid(np.arange(-40, 41), np.arange(0, 16)))
        for left, right in (("float32", "float32"), ("float64", "float64"), ("int32", "int32"), ("int64", "int64"),
                            ("float32", "int64"), ("int32", "float32"), ("int64", "int32")):
            with self.subTest(base=left, exponent=right):
                most = {"float32": 2 ** 24, "int32": 2 ** 31 - 1}.get(left, 2 ** 53)
                want = base.astype(object) ** exponent.astype(object)
                fits = np.array([abs(value) <= most for value in want])
                a, b = base[fits].astype(left), exponent[fits].astype(right)
                types = [helper.np_dtype_to_tensor_dtype(np.dtype(kind)) for kind in (left, right)]
                model = make_model([helper.make_node("Pow", ["a", "b"], ["y"], name="power")],
                                   [("a", [len(a)], types[0]), ("b", [len(a)], types[1])], [("y", [len(a)], types[0])])
                got = self.run_functions(model, {"a": a, "b": b})["y"]
                np.testing.assert_array_equal(got, want[fits].astype(left))

    def test_halves(self):
        """Functions of 16 bits are computed in f32, and rounded once."""
        rng = np.random.default_rng(2)
        for kind in (np.float16, ml_dtypes.bfloat16):
            element = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
            ends = [0, -0.0, np.inf, -np.inf, np.nan]
            x = np.concatenate([rng.uniform(-5, 5, 2000), rng.uniform(0, 1, 1000), ends]).astype(kind)
            e = rng.uniform(-4, 4, len(x)).astype(kind)
            ops = [op for op in FUNCTIONS if op != "Erf"]
            nodes = [helper.make_node(op, ["x"], [op], name=op) for op in ops]
            nodes.append(helper.make_node("Pow", ["x", "e"], ["Pow"], name="Pow"))
            model = make_model(nodes, [(name, [len(x)], element) for name in "xe"],
                               [(op, [len(x)], element) for op in [*ops, "Pow"]], opset=24)
            model.ir_version = 10
            raw = (lambda v: v.view("V2")) if kind == ml_dtypes.bfloat16 else (lambda v: v)
            got = self.run_functions(model, {"x": raw(x), "e": raw(e)})
            for op in [*ops, "Pow"]:
                with self.subTest(op=op, type=kind), np.errstate(all="ignore"):
                    wide = x.astype(float)
                    want = np.power(wide, e.astype(float)) if op == "Pow" else FUNCTIONS[op][0](wide)
                    unit = ml_dtypes.finfo(kind).eps
                    np.testing.assert_allclose(got[op].view(kind).astype(float), want.astype(kind).astype(float),
                                               rtol=float(unit), atol=1e-7)
