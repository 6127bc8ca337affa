# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized operators of ONNX Runtime's own domain, against ONNX Runtime where it is exact at every CPU level."""
import numpy as np

import microsoft
import microsoft_reference
from support import Case, peer


class Microsoft(Case):
    SEEDS = range(6)

    def peer(self, model, feeds):
        session = peer(model, as_written=True)
        return dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))

    def check(self, kind):
        for seed in self.SEEDS:
            with self.subTest(kind=kind, seed=seed):
                model, feeds = microsoft.draw(kind, seed)
                wanted = microsoft_reference.run(model, feeds) or self.peer(model, feeds)
                got = self.run_model(self.compile(model), feeds)
                self.assertEqual(sorted(got), sorted(wanted))
                for name, want in wanted.items():
                    self.assertEqual((got[name].shape, got[name].dtype), (want.shape, want.dtype), name)
                    self.compare(got[name].astype(np.float64), want.astype(np.float64), want.dtype.kind)

    def compare(self, got, want, dtype):
        error = np.abs(got - want).max(initial=0)
        if dtype != "f":
            self.assertLessEqual(error, 1, "one step")
            return
        self.assertLessEqual(error, 1e-5 * np.abs(want).max(initial=1e-30))

    def test_scales_at_the_ends_of_the_range(self):
        """Sums of 0 are 0, and no scale overflows or underflows before the product of both does."""
        rng = np.random.default_rng(2)
        b = rng.integers(-9, 9, (16, 5)).astype(np.int8)
        b[:, 1] = 0
        a = rng.integers(1, 200, (4, 16)).astype(np.uint8)
        for left, right in ((1e25, 1e25), (1e-25, 1e-18), (3e38, 2e-38), (2e-38, 3e38), (2e20, 1e17), (1e-30, 1e-9),
                            (1e30, 1e-30), (1, 1e36), (1e36, 1)):
            one, other = np.float32(left), np.float32(right)
            with np.errstate(all="ignore"):
                exact = a.astype(np.int64) @ b.astype(np.int64) * (float(one) * float(other))
                want = exact.astype(np.float32)
            want[np.abs(want) < np.finfo(np.float32).tiny] = 0  # denormal results are 0
            for columns in (other, np.full(5, other)):
                inputs = [("a", a), ("b", b), ("a_s", one), ("b_s", columns)]
                for constants in ({"b", "a_s", "b_s"}, {"b", "b_s"}, {"b", "a_s"}, {"b"}):
                    model, feeds = microsoft.make("MatMulIntegerToFloat", inputs, [("y", np.float32, 2)], constants)
                    with self.subTest(left=left, right=right, constants=constants):
                        got = self.run_model(self.compile(model), feeds)["y"]
                        np.testing.assert_allclose(got, want, rtol=1e-6)
                # A row of 0 and 255 has the scale of 1.
                x = (np.where(rng.random((1, 16)) < 0.5, 0, 255) * one).astype(np.float32)
                if not np.isfinite(x).all():
                    continue
                model, feeds = microsoft.make("DynamicQuantizeMatMul", [("a", x), ("b", b), ("b_s", columns)],
                                              [("y", np.float32, 2)], {"b", "b_s"})
                with np.errstate(all="ignore"):
                    want_dynamic = (x.astype(np.float64) @ b.astype(np.float64) * float(other)).astype(np.float32)
                want_dynamic[np.abs(want_dynamic) < np.finfo(np.float32).tiny] = 0
                with self.subTest(kind="dynamic", left=left, right=right):
                    np.testing.assert_allclose(self.run_model(self.compile(model), feeds)["y"], want_dynamic, rtol=2e-6)

    def refuses(self, kind, inputs, *words, outputs=(("y", np.uint8, 2),), **attributes):
        constants = {name for name, _ in inputs if name not in ("a", "x")}
        model, _ = microsoft.make(kind, inputs, outputs, constants, **attributes)
        with self.subTest(kind=kind, words=words):
            self.assert_refuses(model, "node 'node'", kind, *words)

    def test_refused(self):
        bytes_, s, z = np.zeros((2, 3), np.uint8), np.float32(0.5), np.uint8(3)

        def unary(scale=s, zero=z, x=bytes_, y_scale=s):
            return [("x", x), ("x_s", scale), ("x_z", zero), ("y_s", y_scale), ("y_z", z)]
        self.refuses("QLinearSigmoid", unary(scale=np.float32(0)), "'input 1' is 0.000000", "above 0")
        self.refuses("QLinearSigmoid", unary(scale=np.float32(-1)), "'input 1' is -1.000000", "above 0")
        self.refuses("QLinearSigmoid", unary(y_scale=np.float32(np.nan)), "'input 3' is nan", "above 0")
        self.refuses("QLinearSigmoid", unary(y_scale=np.float32(np.inf)), "'input 3' is inf", "above 0")
        self.refuses("QLinearSigmoid", unary(zero=np.int8(3)), "input 2, a zero point, is of another type")
        self.refuses("QLinearSigmoid", unary(scale=np.ones(3, np.float32)), "input 1 is not a scale of one float")
        self.refuses("QLinearSigmoid", unary(x=bytes_.astype(np.float32)), "input 0 is not of integers of 8 or 16 bits")
        self.refuses("QLinearSigmoid", unary()[:3], "input 3 is missing")
        a, b = [("a", bytes_), ("a_s", s), ("a_z", z)], [("b", bytes_), ("b_s", s), ("b_z", z)]
        self.refuses("QLinearAdd", a + [("b", np.zeros((4, 3), np.uint8))] + b[1:] + [("y_s", s)], "broadcast")
        self.refuses("QLinearConcat", [("y_s", s), ("y_z", z)] + a, "axis is missing")
        self.refuses("QLinearConcat", [("y_s", s), ("y_z", z)] + a, "'axis' is 2", "[-2, 1]", axis=2)
        self.refuses("QLinearConcat", [("y_s", s), ("y_z", z)] + a + b[:2], "three inputs for each", axis=0)
        self.refuses("QLinearAveragePool", unary(), "rank 3 or more")
        pixels = np.zeros((1, 2, 4, 4), np.uint8)
        self.refuses("QLinearAveragePool", unary(x=pixels), "kernel_shape is missing", outputs=[("y", np.uint8, 4)])
        weights, columns = np.zeros((3, 4), np.int8), np.ones(5, np.float32)
        for kind, at in (("DynamicQuantizeMatMul", 2), ("MatMulIntegerToFloat", 3)):
            data = bytes_ if at == 3 else bytes_.astype(np.float32)
            scales = [("a_s", s)] if at == 3 else []
            self.refuses(kind, [("a", data), ("b", weights)] + scales + [("b_s", columns)],
                         f"input {at} has no scale for each of 4 columns", outputs=[("y", np.float32, 2)])
            self.refuses(kind, [("a", data), ("b", weights.astype(np.int32))] + scales + [("b_s", s)],
                         "input 1 is not of bytes", outputs=[("y", np.float32, 2)])
        self.refuses("QGemm", a + [("b", weights), ("b_s", s), ("b_z", z)], "input 5", "another type than input 3",
                     outputs=[("y", np.float32, 2)])
        self.refuses("QGemm", a + [("b", weights), ("b_s", s), ("b_z", np.int8(0)), ("c", np.float32(1))],
                     "C is not of 32-bit integers", outputs=[("y", np.float32, 2)])
        x = np.zeros((2, 1, 3), np.float32)
        lstm = [("x", x), ("w", np.zeros((1, 3, 8), np.int8)), ("r", np.zeros((1, 2, 8), np.int8)), ("b", None),
                ("lengths", None), ("h", None), ("c", None), ("p", None), ("w_s", np.ones(1, np.float32)),
                ("w_z", np.zeros(1, np.int8)), ("r_s", np.ones(1, np.float32)), ("r_z", np.zeros(1, np.int8))]

        def changed(at, value):
            return [(name, value if i == at else given) for i, (name, given) in enumerate(lstm)]
        steps = {"outputs": [("y", np.float32, 4)], "hidden_size": 2}
        self.refuses("DynamicQuantizeLSTM", changed(8, np.ones(7, np.float32)), "input 8", "scale for each direction",
                     **steps)
        self.refuses("DynamicQuantizeLSTM", changed(9, np.zeros(1, np.uint8)), "input 9", "type of weights", **steps)
        self.refuses("DynamicQuantizeLSTM", changed(1, np.zeros((1, 3, 7), np.int8)), "W does not have the shape",
                     **steps)
        self.refuses("DynamicQuantizeLSTM", changed(10, np.zeros(1, np.float32)), "R_scale", "above 0", **steps)


for _kind in microsoft.KINDS:
    setattr(Microsoft, f"test_{_kind}", lambda self, kind=_kind: self.check(kind))
