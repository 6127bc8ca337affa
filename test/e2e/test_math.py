# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of transcendental functions in units in the last place, against double precision."""
import math

import numpy as np
from onnx import TensorProto, helper

from support import Case, make_model

# Function: double precision, least and greatest argument, error in ulp.
FUNCTIONS = {
    "Exp": (np.exp, -87.3, 88.7, 2),
    "Log": (np.log, 1.2e-38, 3e38, 2),
    "Erf": (np.vectorize(math.erf), -6, 6, 6),
    "Tanh": (np.tanh, -12, 12, 6),
    "Sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -87, 40, 3),
    "Softplus": (lambda x: np.logaddexp(0, x), -87, 88, 3),
    "Sin": (np.sin, -3.4e38, 3.4e38, 3),
    "Cos": (np.cos, -3.4e38, 3.4e38, 3),
    "Atan": (np.arctan, -3.4e38, 3.4e38, 3),
    "Asin": (np.arcsin, -1, 1, 3),
    "Acos": (np.arccos, -1, 1, 3),
}
# The highest level here, a level without 512-bit vectors, and one without fused multiply-adds, which has larger errors.
LEVELS = {"native": 0, "x86-64-v3": 0, "x86-64-v2": 1}


def arguments(least, greatest):
    """Returns arguments that are evenly spaced, also among small ones, and of all magnitudes, and close to multiples of
    pi/2."""
    even = np.linspace(least, greatest, 100_000)
    if greatest > 100:
        even = np.concatenate([even, np.linspace(-20, 20, 50_000), np.arange(-5000, 5000) * (np.pi / 2)])
    powers = 10.0 ** np.linspace(-37, 38, 50_000)
    values = np.concatenate([even, powers, -powers]).astype(np.float32)
    return values[(values >= least) & (values <= greatest)]


class Accuracy(Case):
    def model(self, op, count):
        return make_model([helper.make_node(op, ["x"], ["y"])], [("x", [count])], [("y", [count])])

    def test_error_bounds(self):
        for level, more in LEVELS.items():
            for op, (reference, least, greatest, bound) in FUNCTIONS.items():
                with self.subTest(op=op, level=level):
                    x = arguments(least, greatest)
                    artifact = self.compile(self.model(op, len(x)), "--kernels=native", "--target", level)
                    got = self.run_model(artifact, {"x": x})["y"].astype(np.float64)
                    expected = reference(x.astype(np.float64))
                    # Denormal values count as zero.
                    normal = np.abs(expected) > 1.2e-38
                    unit = np.spacing(np.abs(expected[normal]).astype(np.float32)).astype(np.float64)
                    self.assertLess(np.max(np.abs(got - expected)[normal] / unit), bound + more)
                    np.testing.assert_allclose(got[~normal], 0, atol=2.4e-38)

    def test_limits(self):
        x = np.array([np.inf, -np.inf, np.nan, 89, 1e30, -88, -1e30, 0], np.float32)
        expected = {"Exp": [np.inf, 0, np.nan, np.inf, np.inf, 0, 0, 1],
                    "Erf": [1, -1, np.nan, 1, 1, -1, -1, 0],
                    "Tanh": [1, -1, np.nan, 1, 1, -1, -1, 0],
                    "Sigmoid": [1, 0, np.nan, 1, 1, 0, 0, 0.5],
                    "Sin": [np.nan, np.nan, np.nan, *np.sin(x[3:].astype(np.float64))],
                    "Cos": [np.nan, np.nan, np.nan, *np.cos(x[3:].astype(np.float64))],
                    "Atan": np.arctan(x), "Asin": [np.nan] * 7 + [0], "Acos": [np.nan] * 7 + [np.pi / 2]}
        for level in LEVELS:
            for op, values in expected.items():
                with self.subTest(op=op, level=level):
                    artifact = self.compile(self.model(op, len(x)), "--kernels=native", "--target", level)
                    got = self.run_model(artifact, {"x": x})["y"]
                    np.testing.assert_allclose(got, np.array(values, np.float32), rtol=3e-7, atol=1.2e-38)

    def test_doubles(self):
        """tanh of f64, against 64 bits of precision; near 0 and where it becomes 1."""
        rng = np.random.default_rng(0)
        x = np.concatenate([rng.uniform(-25, 25, 50_001), rng.standard_normal(50_000) * 10.0 ** rng.integers(-300, 3, 50_000),
                            [0, -0.0, np.inf, -np.inf, np.nan, 0.34657, -0.17328, 22]])
        model = make_model([helper.make_node("Tanh", ["x"], ["y"])], [("x", [len(x)], TensorProto.DOUBLE)],
                           [("y", [len(x)], TensorProto.DOUBLE)])
        expected = np.tanh(x.astype(np.longdouble))
        unit = np.spacing(np.abs(expected).astype(np.float64))
        for level, more in LEVELS.items():
            with self.subTest(level=level):
                got = self.run_model(self.compile(model, "--target", level), {"x": x})["y"]
                self.assertLess(np.nanmax(np.abs(got - expected) / unit), 4 + more)
                np.testing.assert_array_equal(np.isnan(got), np.isnan(x))
                np.testing.assert_array_equal(np.signbit(got), np.signbit(x))

    def test_remainder(self):
        """Exact, with the sign of the dividend; for quotients of few and many bits, and of 0."""
        rng = np.random.default_rng(0)
        special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2.5, 1e-30, 3e38, 6, -6, 3], np.float32)
        for level in LEVELS:
            for shape in ((20_000,), (500, 11)):
                model = make_model([helper.make_node("Mod", ["a", "b"], ["y"], fmod=1)],
                                   [(name, list(shape)) for name in "ab"], [("y", list(shape))])
                artifact = self.compile(model, "--target", level)
                whole = rng.integers(1, 1 << 24, shape).astype(np.float32)
                wide = [(rng.standard_normal(shape) * 10.0 ** rng.integers(-30, 30, shape)).astype(np.float32)
                        for _ in "ab"]
                for a, b in ((rng.standard_normal(shape) * 10, rng.standard_normal(shape)), wide,
                             (whole * rng.integers(1, 1 << 23, shape), whole),
                             (rng.choice(special, shape), rng.choice(special, shape))):
                    a, b = a.astype(np.float32), b.astype(np.float32)
                    got = self.run_model(artifact, {"a": a, "b": b})["y"]
                    with np.errstate(invalid="ignore"):
                        expected = np.fmod(a, b)
                    np.testing.assert_array_equal(got, expected)
                    numbers = ~np.isnan(expected)
                    np.testing.assert_array_equal(np.signbit(got[numbers]), np.signbit(expected[numbers]))
