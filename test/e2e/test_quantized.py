"""Tests quantized graphs at every CPU level of this machine, against ONNX's reference implementation."""
import json
import os
import sys
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import quantized
from support import BIN, ROOT, Case, have, peer, tool
from test_levels import cap

sys.path.insert(0, os.path.join(ROOT, "test", "property"))

import harness  # noqa: E402
import integer  # noqa: E402

LEVELS = [level for level in integer.supported() if "@" not in level]
# Quantized values may differ by one step, but at most one in a thousand.
MOST_OFF = 1e-3


class Quantized(Case):
    def steps_off(self, got, want):
        """Returns the number of elements that differ, all by at most one step of their quantization."""
        if want.dtype.kind == "f":
            values = np.unique(np.concatenate([want.ravel(), got.ravel()]))
            step = np.diff(values).min(initial=np.inf) if values.size > 1 else 1.0
            off = np.abs(got - want) / step
        else:
            off = np.abs(got.astype(np.int64) - want.astype(np.int64))
        self.assertLessEqual(off.max(initial=0), 1.01)
        return np.count_nonzero(off > 0.01)

    def check(self, kinds, seeds):
        different = elements = 0
        for seed in seeds:
            graph = quantized.draw(kinds, seed)
            model = graph.model()
            want = dict(zip([o.name for o in model.graph.output], ReferenceEvaluator(model).run(None, graph.feeds)))
            artifact = self.compile(model, "--target", ",".join(LEVELS))
            for level in LEVELS:
                with cap(level), self.subTest(seed=seed, level=level):
                    got = self.run_model(artifact, graph.feeds)
                    for name, value in want.items():
                        self.assertEqual((got[name].shape, got[name].dtype), (value.shape, value.dtype), name)
                        if name in graph.exact:
                            np.testing.assert_array_equal(got[name], value, f"{name} of seed {seed}")
                        else:
                            with self.subTest(name=name):
                                different += self.steps_off(got[name], value)
                                elements += value.size
        if elements:
            self.assertLessEqual(different / elements, MOST_OFF)

    def test_integer_operators(self):
        self.check(quantized.EXACT, range(8))

    @unittest.skipUnless(have("ingot-guarded-run"), "built without ingot-guarded-run")
    def test_between_guard_pages(self):
        """No memory outside of a tensor is accessed, and threads give equal bytes."""
        for seed in range(4):
            graph = quantized.draw(quantized.EXACT, 3000 + seed, count=2)
            model = graph.model()
            want = dict(zip([o.name for o in model.graph.output], ReferenceEvaluator(model).run(None, graph.feeds)))
            for level in LEVELS:
                with self.subTest(seed=seed, level=level):
                    artifact = self.compile(model, "--weights=file", "--target", level)
                    got, notes = harness.run_guarded(BIN, artifact, self.dir, graph.feeds, want)
                    self.assertEqual(notes, [])
                    for name, value in want.items():
                        np.testing.assert_array_equal(got[name], value, name)

    def test_layers_tell(self):
        """The profile reports products of int8 as int8. Ops between Q/DQ pairs that only move data are not float
        layers."""
        graph = quantized.Graph(3)
        shape = [1, 8, 9, 9]
        x = graph.input(graph.rng.standard_normal(shape).astype(np.float32))
        _, value = graph.quantized_pair(x, np.uint8, 0.05)
        value = graph.node("MaxPool", [value], kernel_shape=[2, 2])
        _, value = graph.quantized_pair(graph.node("Conv", [value, graph.weights([16, 8, 3, 3], 0)]), np.uint8, 0.05)
        graph.output(value, 1, exact=False)
        done = tool("ingot", "inspect", "--json", self.compile(graph.model()))
        report = json.loads(done.stdout)
        kinds = {layer["kind"]: layer for layer in report["layers"]}
        self.assertEqual(report["precisions"], ["int8"])
        self.assertEqual(kinds["convolution"]["precision"], "int8")
        self.assertEqual(kinds["pooling"]["backend"], "native")

    def test_pairs(self):
        self.check(quantized.CLOSE, range(100, 110))

    def test_between_pairs(self):
        """Elementwise functions, transposed convolutions and means of int8."""
        self.check(quantized.BETWEEN, range(300, 312))

    def test_no_floats_between_pairs(self):
        """An elementwise function of int8 becomes one table, also with Q/DQ pairs inside. A transposed convolution
        multiplies int8."""
        graph = quantized.Graph(5)
        x = graph.input(graph.rng.standard_normal([1, 16, 9, 9]).astype(np.float32))
        pair = [graph.constant(np.float32(0.05)), graph.constant(np.uint8(40))]
        value = graph.node("DequantizeLinear", [graph.node("QuantizeLinear", [x, *pair]), *pair])
        value = graph.node("ConvTranspose", [value, graph.weights([16, 8, 2, 2], 1)], strides=[2, 2])
        _, value = graph.quantized_pair(value, np.uint8, 0.05)
        _, gate = graph.quantized_pair(graph.node("Sigmoid", [value]), np.uint8, 1 / 255)
        q, value = graph.quantized_pair(graph.node("Mul", [gate, value]), np.uint8, 0.05)
        graph.output(q, 2, exact=False)
        report = json.loads(tool("ingot", "inspect", "--json", self.compile(graph.model())).stdout)
        products = [layer["precision"] for layer in report["layers"] if layer["kind"] == "convolution"]
        self.assertEqual(products, ["int8"])
        done = tool("ingot", "compile", self.save(graph.model()), "--emit=mlir-linalg", "-o", self.path("m.mlir"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("m.mlir"), encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text.count("arith.index_castui"), 1)
        self.assertNotIn("math.exp", text)

    def test_few_channels(self):
        """One or two channels are multiplied as floats, others in groups of four; results are those of the reference.
        """
        rng = np.random.default_rng(0)
        for channels, outputs, kernel, stride in ((1, 40, 3, 1), (1, 7, 7, 2), (2, 33, 5, 1), (3, 64, 7, 2), (5, 32, 3, 1),
                                                  (6, 32, 3, 1), (10, 24, 5, 1), (18, 32, 3, 1), (18, 130, 1, 1),
                                                  (3, 8, (2, 1), 1), (7, 24, (5, 1), 2), (9, 8, (1, 2), 1)):
            kernel = np.broadcast_to(kernel, 2)
            weights = rng.integers(-128, 128, (outputs, channels, *kernel)).astype(np.int8)
            constants = {"xs": np.float32(0.02), "xz": np.uint8(rng.integers(256)), "w": weights,
                         "ws": rng.uniform(0.005, 0.02, outputs).astype(np.float32), "wz": np.zeros(outputs, np.int8),
                         "ys": np.float32(0.05 * np.sqrt(channels * np.prod(kernel))), "yz": np.uint8(120),
                         "b": rng.integers(-3000, 3000, outputs).astype(np.int32)}
            node = helper.make_node("QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["y"],
                                    strides=[stride] * 2, pads=[*kernel // 2] * 2)
            x = rng.integers(0, 256, (2, channels, 23, 19)).astype(np.uint8)
            for sizes in ([2, channels, 23, 19], ["n", channels, "h", "w"]):
                model = helper.make_model(helper.make_graph(
                    [node], "few", [helper.make_tensor_value_info("x", TensorProto.UINT8, sizes)],
                    [helper.make_tensor_value_info("y", TensorProto.UINT8, None)],
                    [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]),
                    opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
                want, = ReferenceEvaluator(model).run(None, {"x": x})
                artifact = self.compile(model, "--target", ",".join(LEVELS))
                for level in LEVELS:
                    with cap(level), self.subTest(channels=channels, kernel=[*kernel], sizes=sizes, level=level):
                        np.testing.assert_array_equal(self.run_model(artifact, {"x": x})["y"], want)

    def test_ties(self):
        """Ties are rounded after adding the zero point, even an odd one, as in the reference."""
        rng = np.random.default_rng(3)
        for zero, ratio in ((np.uint8(3), 2), (np.uint8(128), 512), (np.int8(-77), 1024), (np.int8(1), 512)):
            constants = {"xs": np.float32(1), "xz": np.uint8(120), "w": rng.integers(-128, 128, (8, 16)).astype(np.int8),
                         "ws": np.float32(1), "wz": np.int8(0), "ys": np.float32(ratio), "yz": zero}
            names = ["xs", "xz", "w", "ws", "wz", "ys", "yz"]
            for kind, turned, shape in (("QLinearConv", constants["w"].reshape(8, 16, 1, 1), [2, 16, 9, 10]),
                                        ("QLinearMatMul", constants["w"].T, [90, 16])):
                x = rng.integers(0, 256, shape).astype(np.uint8)
                graph = helper.make_graph(
                    [helper.make_node(kind, ["x", *names], ["y"])], "ties",
                    [helper.make_tensor_value_info("x", TensorProto.UINT8, shape)],
                    [helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(zero.dtype), None)],
                    [numpy_helper.from_array(np.ascontiguousarray({**constants, "w": turned}[name]), name)
                     for name in names])
                model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
                want, = ReferenceEvaluator(model).run(None, {"x": x})
                with self.subTest(kind=kind, zero=zero):
                    artifact = self.compile(self.save(model))
                    np.testing.assert_array_equal(self.run_model(artifact, {"x": x})["y"], want)

    def test_transposed_groups(self):
        """Groups of bytes with a zero point, against ONNX Runtime: the reference does not compute them."""
        for seed, (groups, inputs, outputs, zero) in enumerate([(2, 8, 5, 0), (3, 4, 16, 100), (2, 20, 40, 7)]):
            graph = quantized.Graph(seed)
            x = graph.input(graph.rng.standard_normal([2, groups * inputs, 7, 9]).astype(np.float32))
            pair = [graph.constant(np.float32(0.02)), graph.constant(np.uint8(zero))]
            value = graph.node("DequantizeLinear", [graph.node("QuantizeLinear", [x, *pair]), *pair])
            bias = graph.constant(graph.rng.standard_normal(groups * outputs).astype(np.float32))
            value = graph.node("ConvTranspose", [value, graph.weights([groups * inputs, outputs, 3, 4], 1), bias],
                               strides=[2, 3], pads=[1, 0, 0, 2], group=groups)
            q, _ = graph.quantized_pair(value, np.uint8, 0.05)
            graph.output(q, 2, exact=False)
            model = graph.model()
            want, = peer(model, as_written=True).run(None, graph.feeds)
            artifact = self.compile(model, "--target", ",".join(LEVELS))
            report = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)
            products = {layer["precision"] for layer in report["layers"] if layer["kind"] == "convolution"}
            self.assertEqual(products, {"int8"})
            for level in LEVELS:
                with cap(level), self.subTest(groups=groups, level=level):
                    got, = self.run_model(artifact, graph.feeds).values()
                    self.assertLessEqual(self.steps_off(got, want), MOST_OFF * want.size)

    def test_unsigned_weights(self):
        """Weights whose zero point needs nine bits are multiplied as bytes, too, at fixed and dynamic sizes."""
        cases = [("Conv", [24, 13, 3, 3], {"pads": [1, 0, 2, 1]}), ("Conv", [70, 16, 1, 1], {"strides": [2, 2]}),
                 ("Conv", [9, 40, 3, 2], {"dilations": [2, 3], "strides": [1, 2]}), ("Gemm", [50, 33], {}),
                 ("ConvTranspose", [12, 20, 4, 3], {"strides": [2, 3], "pads": [1, 0, 0, 1]})]
        for seed, (kind, shape, attributes) in enumerate(cases):
            for per_output in (False, True):
                graph = quantized.Graph(seed)
                channels = shape[1 if kind == "Conv" else 0]
                sizes = [5, channels] if kind == "Gemm" else [1, channels, 9, 11]
                x = graph.input(graph.rng.standard_normal(sizes).astype(np.float32))
                pair = [graph.constant(np.float32(0.02)), graph.constant(np.uint8(90 * seed % 256))]
                value = graph.node("DequantizeLinear", [graph.node("QuantizeLinear", [x, *pair]), *pair])
                axis = 0 if kind == "Conv" else 1
                zeros = graph.rng.integers(90, 170, shape[axis] if per_output else []).astype(np.uint8)
                scales = graph.rng.uniform(0.005, 0.02, zeros.shape).astype(np.float32)
                weights = graph.node("DequantizeLinear", [
                    graph.constant(graph.rng.integers(0, 256, shape).astype(np.uint8)), graph.constant(scales),
                    graph.constant(zeros)], axis=axis)
                q, _ = graph.quantized_pair(graph.node(kind, [value, weights], **attributes), np.uint8, 0.5)
                graph.output(q, 2, exact=False)
                model = graph.model()
                if seed % 2 == 0:
                    for d in (0, 2, 3) if kind.startswith("Conv") else (0,):
                        model.graph.input[0].type.tensor_type.shape.dim[d].dim_param = f"d{d}"
                want, = peer(model, as_written=True).run(None, graph.feeds)
                artifact = self.compile(model, "--target", ",".join(LEVELS))
                report = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)
                products = {layer["precision"] for layer in report["layers"]
                            if layer["kind"] in ("convolution", "matmul")}
                self.assertEqual(products, {"int8"})
                for level in LEVELS:
                    with cap(level), self.subTest(kind=kind, shape=shape, per_output=per_output, level=level):
                        got, = self.run_model(artifact, graph.feeds).values()
                        self.assertLessEqual(self.steps_off(got, want), max(1, MOST_OFF * want.size))

    def test_patches(self):
        """A convolution whose windows do not overlap becomes a matrix product. Pixels behind the last window are not
        read. Batches may be dynamic."""
        cases = [([2, 3, 17, 24], [40, 3, 4, 8]), ([1, 1, 130], [24, 1, 40]), ([1, 2, 6, 8, 9], [9, 2, 2, 4, 4])]
        for seed, (sizes, shape) in enumerate(cases):
            for open_batch in (False, True):
                graph = quantized.Graph(seed)
                x = graph.input(graph.rng.standard_normal(sizes).astype(np.float32))
                pair = [graph.constant(np.float32(0.02)), graph.constant(np.uint8(90 + seed))]
                value = graph.node("DequantizeLinear", [graph.node("QuantizeLinear", [x, *pair]), *pair])
                weights = graph.weights(shape, 0)
                bias = graph.constant(graph.rng.standard_normal(shape[0]).astype(np.float32))
                value = graph.node("Conv", [value, weights, bias], strides=shape[2:])
                q, _ = graph.quantized_pair(value, np.uint8, 0.05)
                graph.output(q, TensorProto.UINT8, exact=False)
                model = graph.model()
                if open_batch:
                    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
                want, = peer(model, as_written=True).run(None, graph.feeds)
                artifact = self.compile(model, "--target", ",".join(LEVELS))
                report = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)
                products = {(layer["kind"], layer["precision"]) for layer in report["layers"]
                            if layer["kind"] in ("convolution", "matmul")}
                self.assertEqual(products, {("matmul", "int8")})
                for level in LEVELS:
                    with cap(level), self.subTest(shape=shape, level=level):
                        got, = self.run_model(artifact, graph.feeds).values()
                        self.assertLessEqual(self.steps_off(got, want), max(1, MOST_OFF * want.size))

    def test_transposed_open_sizes(self):
        """The phases of images of any size pad with the zero point."""
        for stride, kernel in ((2, [3, 4]), (3, [2, 2]), (1, [3, 1])):
            graph = quantized.Graph(9)
            x = graph.input(graph.rng.standard_normal([1, 20, 1, 1]).astype(np.float32))
            pair = [graph.constant(np.float32(0.02)), graph.constant(np.uint8(100))]
            value = graph.node("DequantizeLinear", [graph.node("QuantizeLinear", [x, *pair]), *pair])
            y = graph.node("ConvTranspose", [value, graph.weights([20, 20, *kernel], 1)], strides=[stride, 2],
                           pads=[1, 0, 0, 1])
            q, _ = graph.quantized_pair(y, np.uint8, 0.05)
            graph.output(q, 2, exact=False)
            model = graph.model()
            for d, name in ((2, "h"), (3, "w")):
                model.graph.input[0].type.tensor_type.shape.dim[d].dim_param = name
            session = peer(model, as_written=True)
            artifact = self.compile(model, "--target", ",".join(LEVELS))
            for sizes in ((5, 7), (2, 3), (12, 16)):
                feeds = {x: graph.rng.standard_normal([1, 20, *sizes]).astype(np.float32)}
                want, = session.run(None, feeds)
                for level in LEVELS:
                    with cap(level), self.subTest(stride=stride, sizes=sizes, level=level):
                        got, = self.run_model(artifact, feeds).values()
                        self.assertLessEqual(self.steps_off(got, want), max(1, MOST_OFF * want.size))

    def test_trained(self):
        """Exports of training with simulated quantization; all products are of bytes."""
        self.check(quantized.TRAINED, range(200, 206))
        for seed in range(200, 203):
            with self.subTest(seed=seed):
                done = tool("ingot", "inspect", "--json", self.compile(quantized.draw(quantized.TRAINED, seed).model()))
                products = [layer for layer in json.loads(done.stdout)["layers"]
                            if layer["kind"] in ("convolution", "depthwise convolution", "matmul")]
                self.assertEqual(len(products), 6)
                self.assertEqual({layer["precision"] for layer in products}, {"int8"}, products)


if __name__ == "__main__":
    unittest.main()
