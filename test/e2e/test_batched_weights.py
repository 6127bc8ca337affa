# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products whose constant weights have a matrix for each batch: int8, int8-dynamic, Q/DQ, w8 and w4."""
import json

import numpy as np
from onnx.reference import ReferenceEvaluator

from support import Case, helper, make_model, tool
from test_levels import cap
from test_packed_weights import LEVELS

# The norm of the error over that of the result. Bytes of normally distributed numbers give half of it.
MOST = 0.025


def inspect(artifact):
    return json.loads(tool("ingot", "inspect", "--json", artifact).stdout)


class Batched(Case):
    """Weights of very different sizes in each batch, so that one scale for all batches would lose the small ones."""
    BATCHES, ROWS, K, N = 3, 24, 64, 48

    def weights(self, *shape):
        rng = np.random.default_rng(5)
        w = rng.standard_normal(shape or (self.BATCHES, self.K, self.N)) / 8
        return (w * np.array([1, 0.01, 30]).reshape(3, *[1] * (w.ndim - 1))).astype(np.float32)

    def x(self, *shape):
        return np.random.default_rng(6).standard_normal(shape or (self.BATCHES, self.ROWS, self.K)).astype(np.float32)

    def models(self):
        """Yields a name, a model and its input."""
        b, m, k, n = self.BATCHES, self.ROWS, self.K, self.N
        w, x, bias = self.weights(), self.x(), np.linspace(-1, 1, n).astype(np.float32)

        def made(nodes, weights, shape=x.shape, opset=17):
            return make_model(nodes, [("x", list(shape))], [("y", None)], weights, opset=opset)
        product = helper.make_node("MatMul", ["x", "w"], ["y"], "product")
        yield "plain", made([product], {"w": w}), x
        yield "open rows", made([product], {"w": w}, (b, "rows", k)), x
        yield "bias", made([helper.make_node("MatMul", ["x", "w"], ["p"], "product"),
                            helper.make_node("Add", ["p", "b"], ["s"], "add"),
                            helper.make_node("Relu", ["s"], ["y"], "relu")], {"w": w, "b": bias}), x
        turned = np.ascontiguousarray(w.transpose(0, 2, 1))
        yield "transposed", made([helper.make_node("Transpose", ["v"], ["w"], perm=[0, 2, 1]), product],
                                 {"v": turned}), x
        yield "einsum", made([helper.make_node("Einsum", ["x", "w"], ["y"], "product", equation="bij,bjk->bik")],
                             {"w": w}), x
        yield "groups", made([helper.make_node("Einsum", ["x", "w"], ["y"], "product", equation="ibj,bjk->ibk")],
                             {"w": w}, (m, b, k)), np.ascontiguousarray(x.transpose(1, 0, 2))
        yield "four dimensions", made([product], {"w": w.reshape(1, b, k, n)}, (1, b, m, k)), x[None]

    def check(self, model, x, *options):
        want = ReferenceEvaluator(model).run(None, {"x": x})[0]
        artifact = self.compile(model, "--target", ",".join(LEVELS), *options)
        for level in LEVELS:
            with cap(level), self.subTest(level=level):
                got = self.run_model(artifact, {"x": x})["y"]
                axes = tuple(a for a in range(want.ndim) if want.shape[a] != self.BATCHES)
                error = np.sqrt(np.square(got - want).sum(axes) / np.square(want).sum(axes))
                self.assertLessEqual(error.max(), MOST)
                self.assertGreater(error.min(), 0, "nothing was quantized")
        return artifact

    def precisions(self, artifact):
        return {layer["precision"] for layer in inspect(artifact)["layers"] if "product" in str(layer["nodes"])}

    def test_calibrated(self):
        for name, model, x in self.models():
            with self.subTest(name):
                source, ranges = self.save(model), self.path("r.json")
                np.savez(self.path("x.npz"), x=np.stack([x]) if name == "four dimensions" else x)
                done = tool("ingot", "calibrate", source, "--data", self.path("x.npz"), "-o", ranges, "--repair=none")
                self.assertEqual(done.returncode, 0, done.stderr)
                artifact = self.check(model, x, "--precision=int8", f"--calibration={ranges}", "--keep=*=int8")
                self.assertIn("int8", self.precisions(artifact))

    def test_dynamic(self):
        for name, model, x in self.models():
            with self.subTest(name):
                artifact = self.check(model, x, "--precision=int8-dynamic", "--keep=*=int8")
                self.assertIn("int8", self.precisions(artifact))

    def test_smaller(self):
        _, model, _ = next(self.models())
        sizes = [inspect(self.compile(model, *options))["weights_bytes"]
                 for options in ([], ["--precision=int8-dynamic", "--keep=*=int8"])]
        self.assertLess(sizes[1], 0.3 * sizes[0])

    def test_repairs(self):
        """All repairs of a calibration work on such products, or leave them as they are."""
        rng = np.random.default_rng(7)
        nodes = [helper.make_node("MatMul", ["x", "v"], ["h"], "first"), helper.make_node("Relu", ["h"], ["r"], "relu"),
                 helper.make_node("MatMul", ["r", "w"], ["y"], "product")]
        weights = {"v": (rng.standard_normal((3, 64, 64)) / 8 * np.exp2(rng.integers(-3, 4, 64))).astype(np.float32),
                   "w": self.weights()}
        model = make_model(nodes, [("x", [3, 24, 64])], [("y", None)], weights)
        np.savez(self.path("x.npz"), x=np.concatenate([self.x(), 2 * self.x(), 0.5 * self.x()]))
        done = tool("ingot", "calibrate", self.save(model), "--data", self.path("x.npz"), "-o", self.path("r.json"),
                    "--repair=equalize,smooth,round,bias,keep")
        self.assertEqual(done.returncode, 0, done.stderr)
        x = self.x()
        want = ReferenceEvaluator(model).run(None, {"x": x})[0]
        got = self.run_model(self.compile(model, "--precision=int8", "--calibration=" + self.path("r.json")), {"x": x})["y"]
        self.assertLessEqual(np.linalg.norm(got - want), 2 * MOST * np.linalg.norm(want))

    def test_weights_only(self):
        """Packed weights are one matrix: the product stays in floats, and a decision says so."""
        _, model, x = next(self.models())
        floats = self.run_model(self.compile(model), {"x": x})["y"]
        for precision in ("w8", "w4"):
            artifact = self.compile(model, f"--precision={precision}", f"--keep=*={precision}",
                                    "--decisions=" + self.path("d.json"))
            np.testing.assert_array_equal(self.run_model(artifact, {"x": x})["y"], floats)
            with open(self.path("d.json")) as f:
                self.assertIn("has a matrix of weights for each batch", f.read())

    def test_broadcast_data(self):
        """Data that broadcast to the batches of the weights stay in floats, and a decision says so."""
        model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"], "product")], [("x", [24, 64])], [("y", None)],
                           {"w": self.weights()})
        x = self.x()[0]
        artifact = self.compile(model, "--precision=int8-dynamic", "--keep=*=int8", "--decisions=" + self.path("d.json"))
        want = ReferenceEvaluator(model).run(None, {"x": x})[0]
        np.testing.assert_allclose(self.run_model(artifact, {"x": x})["y"], want, atol=1e-5 * np.abs(want).max())
        with open(self.path("d.json")) as f:
            self.assertIn("to which its data are broadcast", f.read())


class Files(Case):
    """Q/DQ files: exact up to rounding of the result."""

    def check(self, dtype, axis, scales, zeros, x_type=np.uint8, b=3, m=17, k=40, n=33):
        rng = np.random.default_rng(8)
        info = np.iinfo(dtype)
        w = rng.integers(info.min, info.max + 1, (b, k, n)).astype(dtype)
        weights = {"w": w, "ws": scales, "wz": zeros, "xs": np.float32(0.02), "xz": x_type(3),
                   "bias": rng.standard_normal(n).astype(np.float32)}
        attributes = {} if axis is None else {"axis": axis}
        nodes = [helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
                 helper.make_node("DequantizeLinear", ["q", "xs", "xz"], ["d"]),
                 helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["f"], **attributes),
                 helper.make_node("MatMul", ["d", "f"], ["p"], "product"),
                 helper.make_node("Add", ["p", "bias"], ["y"], "add")]
        model = make_model(nodes, [("x", [b, m, k])], [("y", None)], weights, opset=19)
        model.ir_version = 9
        x = rng.standard_normal((b, m, k)).astype(np.float32)
        want = ReferenceEvaluator(model).run(None, {"x": x})[0]
        artifact = self.compile(model, "--target", ",".join(LEVELS))
        for level in LEVELS:
            with cap(level), self.subTest(level=level, dtype=dtype, axis=axis):
                np.testing.assert_allclose(self.run_model(artifact, {"x": x})["y"], want, rtol=0,
                                           atol=2e-6 * np.abs(want).max())
        return {layer["precision"] for layer in inspect(artifact)["layers"] if "product" in str(layer["nodes"])}

    def test_parameters(self):
        rng = np.random.default_rng(9)

        def scales(*shape):
            return rng.uniform(0.001, 0.01, shape).astype(np.float32)
        for dtype in (np.int8, np.uint8):
            for axis, size in ((None, ()), (2, (33,)), (0, (3,))):
                zeros = rng.integers(-9, 9, size).astype(dtype) if dtype == np.int8 else \
                    rng.integers(100, 150, size).astype(dtype)
                for x_type in (np.uint8, np.int8):
                    with self.subTest(axis=axis, x_type=x_type):
                        self.assertIn("int8", self.check(dtype, axis, scales(*size), zeros, x_type))
        # Scales along k are no factors of the sums.
        self.check(np.int8, 1, scales(40), np.zeros(40, np.int8))
