# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests `--precision=w8` and `w4`: error, size and rules."""
import numpy as np

from support import Case, TensorProto, helper, make_model
from test_levels import cap
from test_packed_weights import LEVELS, inspect


class Precision(Case):
    """Tests `--precision=w8` and `w4`."""

    def model(self, k=600, n=320):
        rng = np.random.default_rng(0)
        weights = {"w": rng.standard_normal((k, n)).astype(np.float32), "b": rng.standard_normal(n).astype(np.float32),
                   "v": rng.standard_normal((n, n)).astype(np.float32)}
        nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["g"], name="first"),
                 helper.make_node("Relu", ["g"], ["h"], name="act"),
                 helper.make_node("MatMul", ["h", "v"], ["y"], name="second")]
        return make_model(nodes, [("x", ["rows", k])], [("y", ["rows", n])], weights)

    def test_error_and_size(self):
        model = self.model()
        floats = self.compile(model, name="fp32")
        for precision, most, share in (("w8", 0.013, 0.27), ("w4", 0.15, 0.17)):
            artifact = self.compile(model, f"--precision={precision}", name=precision)
            self.assertLessEqual(inspect(artifact)["weights_bytes"], share * inspect(floats)["weights_bytes"] + 1024)
            for rows in (1, 3, 64, 200):
                x = np.random.default_rng(rows).standard_normal((rows, 600)).astype(np.float32)
                want = self.run_model(floats, {"x": x})["y"]
                got = self.run_model(artifact, {"x": x})["y"]
                error = np.linalg.norm(got - want) / np.linalg.norm(want)
                with self.subTest(precision=precision, rows=rows):
                    self.assertGreater(error, 0)
                    self.assertLess(error, most)

    def test_few_weights(self):
        """Weights that fit the second-level cache as floats stay floats."""
        model = self.model(300, 96)
        floats = self.compile(model, name="fp32")
        x = np.random.default_rng(1).standard_normal((7, 300)).astype(np.float32)
        for precision in ("w8", "w4"):
            artifact = self.compile(model, f"--precision={precision}", name=precision)
            with self.subTest(precision=precision):
                self.assertEqual(inspect(artifact)["weights_bytes"], inspect(floats)["weights_bytes"])
                np.testing.assert_array_equal(self.run_model(artifact, {"x": x})["y"],
                                              self.run_model(floats, {"x": x})["y"])

    def test_rows(self):
        """One tile of rows, in registers, and more rows, through the stack, for any number of k."""
        for k in (96, 261, 600):
            rng = np.random.default_rng(k)
            weights = rng.standard_normal((k, 3000)).astype(np.float32)
            for rows in (1, 5, 7, 14, 16, 29, 90):
                model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"], name="m")], [("x", [rows, k])],
                                   [("y", [rows, 3000])], {"w": weights})
                x = rng.standard_normal((rows, k)).astype(np.float32)
                for precision, most in (("w8", 0.01), ("w4", 0.12)):
                    artifact = self.compile(model, f"--precision={precision}", "--target", ",".join(LEVELS))
                    for level in LEVELS:
                        with cap(level), self.subTest(k=k, rows=rows, precision=precision, level=level):
                            got, want = self.run_model(artifact, {"x": x})["y"], x @ weights
                            self.assertLess(np.linalg.norm(got - want) / np.linalg.norm(want), most)

    def test_largest_weights(self):
        """No scale turns a finite weight into infinity."""
        most = np.finfo(np.float32).max
        weights = np.zeros((64, 32), np.float32)
        for column in range(32):
            # The largest value is positive or negative, and other values are close to it. So each candidate scale is
            # the best for some column.
            weights[:, column] = np.linspace(-1, 1, 64, dtype=np.float32) * most * np.float32(1 - column / 500)
            weights[column, column] = most * (-1) ** column
        # Adds a second, larger product, because the weights of the first alone are too small to be packed.
        others = np.ones((64, 1 << 12), np.float32)
        model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"], name="m"),
                            helper.make_node("MatMul", ["x", "v"], ["z"], name="n")], [("x", [64, 64])],
                           [("y", [64, 32]), ("z", [64, 1 << 12])], {"w": weights, "v": others})
        for precision in ("w4", "w8"):
            got = self.run_model(self.compile(model, "--precision=" + precision, name=precision),
                                 {"x": np.eye(64, dtype=np.float32)})["y"]
            self.assertTrue(np.isfinite(got).all(), precision)
            # The largest int4 is 7 and the smallest -8, so positive values have an error of up to 1/8.
            self.assertLessEqual(np.abs(got / most - weights / most).max(), 0.126)

    def test_odd_weights(self):
        """Columns of weights from tiny to huge, denormal weights, infinities and NaN give the results of floats, within
        the error of few bits. Weights that packed products do not hold stay floats, and a decision says why."""
        rng = np.random.default_rng(3)
        usual = rng.standard_normal((96, 64)).astype(np.float32)
        for name, factors, why in (
                ("usual", [1, 1e-7, 1e10, 1e20], None), ("huge", [1, 1e10, 1e31, 1e37], "leave the range of float32"),
                ("tiny", [1e-30, 1e-33, 1e-37, 1e-30], "leave the range of float32"),
                ("denormal", [1, 1e-39, 1e-42, 1e-45], None), ("infinite", [1, np.inf, 1, 1], "not finite"),
                ("NaN", [1, np.nan, 1, 1], "not finite"), ("zero", [0, 0, 0, 0], None)):
            with np.errstate(all="ignore"):
                w = (usual * np.repeat(factors, 16)).astype(np.float32)
            model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"], name="m")], [("x", ["n", 96])],
                               [("y", ["n", 64])], {"w": w})
            floats = self.compile(model, "--target", ",".join(LEVELS), name="fp32")
            for precision, most in (("w8", 0.02), ("w4", 0.25)):
                artifact = self.compile(model, f"--precision={precision}", f"--keep=*={precision}", "--target",
                                        ",".join(LEVELS), "--decisions=" + self.path("d.json"), name=precision)
                with open(self.path("d.json")) as f:
                    reasons = f.read()
                if why:
                    self.assertIn(why, reasons)
                for scale in (1, 1e-20, 1e20):
                    x = (rng.standard_normal((40, 96)) * scale).astype(np.float32)
                    for level in LEVELS:
                        with cap(level), self.subTest(name=name, precision=precision, scale=scale, level=level):
                            got, want = (self.run_model(a, {"x": x})["y"] for a in (artifact, floats))
                            if why:
                                np.testing.assert_array_equal(got, want)
                                continue
                            self.assertTrue(np.isfinite(got[np.isfinite(want)]).all())
                            got, want = (np.where(np.isfinite(want), y, 0).astype(np.float64) for y in (got, want))
                            error = np.linalg.norm(got - want, axis=0)
                            # Weights that are denormal beside usual ones count as zero.
                            self.assertTrue((error <= most * np.linalg.norm(want, axis=0) + 1e-27 * scale).all(), error)

    def test_keep(self):
        model = self.model()
        kept, all_ = (inspect(self.compile(model, "--precision=w4", *options))["weights_bytes"]
                      for options in (["--keep=second=fp32"], []))
        self.assertGreater(kept, all_ + 3 * 320 * 320)

    def test_small_weights_by_rule(self):
        """A rule packs small weights and tables, which are floats otherwise. Products in a loop are small, too."""
        rng = np.random.default_rng(7)
        weights = {"w": rng.standard_normal((64, 64)).astype(np.float32), "t": rng.standard_normal((40, 64)).astype(np.float32)}
        model = make_model([helper.make_node("Gather", ["t", "i"], ["x"], name="table"),
                            helper.make_node("MatMul", ["x", "w"], ["y"], name="m")],
                           [("i", ["n"], TensorProto.INT64)], [("y", ["n", 64])], weights)
        wide = sum(w.nbytes for w in weights.values())
        ids = np.arange(40)
        want = weights["t"] @ weights["w"]
        for precision, small, error in (("w8", wide // 4, 0.02), ("w4", 64 * 64 // 2 + 40 * 64, 0.2)):
            sizes = {}
            for rule in ("", f"--keep=*={precision}", f"--keep=m={precision}"):
                artifact = self.compile(model, "--precision=" + precision, *([rule] if rule else []), name="small")
                sizes[rule[7:8]] = inspect(artifact)["weights_bytes"]
                got = self.run_model(artifact, {"i": ids})["y"]
                np.testing.assert_allclose(got, want, rtol=0, atol=error * np.abs(want).max())
            self.assertGreaterEqual(sizes[""], wide)
            self.assertLess(sizes["*"], small + 2048)
            self.assertTrue(sizes["*"] + 3 * 40 * 64 - 1024 < sizes["m"] < wide, sizes)
        self.assert_refuses(model, "--keep='m=int8'", "compiled in w8", "GLOB=w8",
                            options=["--precision=w8", "--keep=m=int8"])

    def test_refused(self):
        model = self.model()
        self.assert_refuses(model, "rule 'third=fp32' matches no node", options=["--precision=w4", "--keep=third=fp32"])
        self.assert_refuses(model, "unknown --precision=w3", options=["--precision=w3"])
        self.assert_refuses(model, "--precision=w8", "native", options=["--precision=w8", "--kernels=onednn"])


class Odd(Case):
    """Products that packed weights do not fit are compiled as in f32."""

    def test_nothing_to_sum_and_open_rows(self):
        for shape, weights in (([3, 0], (0, 4)), (["m", "k"], (33, 4))):
            model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"], "product")], [("x", shape)],
                               [("y", [shape[0], 4])], {"w": np.ones(weights, np.float32)})
            x = np.ones([3, weights[0]], np.float32)
            for precision in ("w8", "w4"):
                with self.subTest(shape=shape, precision=precision):
                    got = self.run_model(self.compile(model, f"--precision={precision}"), {"x": x})["y"]
                    np.testing.assert_array_equal(got, np.full((3, 4), weights[0], np.float32))
