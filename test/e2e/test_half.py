"""Tests models of type float16 or bfloat16: right, and computed by the kernels for f32."""
import json
import unittest

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from support import EMULATED, Case, tool

TYPES = {TensorProto.FLOAT16: np.dtype(np.float16), TensorProto.BFLOAT16: np.dtype(ml_dtypes.bfloat16)}
# Relative error: the result is rounded, and bf16 kernels also round each factor.
TOLERANCE = {TensorProto.FLOAT16: 2.0 ** -9, TensorProto.BFLOAT16: 2.0 ** -6}
WIDE = np.float32


class Half(Case):
    def model(self, element):
        """Convolution, norm, activation, depthwise, pool, attention-like products. Returns the model and its results in
        f64."""
        rng = np.random.default_rng(0)
        dtype = TYPES[element]
        weights = {"w": rng.standard_normal((16, 8, 3, 3)) / 9, "d": rng.standard_normal((16, 1, 3, 3)) / 3,
                   "s": 0.5 + rng.random(16), "b": rng.standard_normal(16), "m": rng.standard_normal(16),
                   "v": 0.5 + rng.random(16), "f": rng.standard_normal((36, 24)) / 6, "g": 0.5 + rng.random(24)}
        weights = {name: array.astype(dtype) for name, array in weights.items()}
        nodes = [helper.make_node("Conv", ["x", "w"], ["c"], pads=[1] * 4, name="conv"),
                 helper.make_node("BatchNormalization", ["c", "s", "b", "m", "v"], ["n"], name="norm"),
                 helper.make_node("Relu", ["n"], ["r"], name="relu"),
                 helper.make_node("Conv", ["r", "d"], ["e"], pads=[1] * 4, group=16, name="depthwise"),
                 helper.make_node("Add", ["r", "e"], ["a"], name="residual"),
                 helper.make_node("MaxPool", ["a"], ["p"], kernel_shape=[2, 2], strides=[2, 2], name="pool"),
                 helper.make_node("Reshape", ["p", "shape"], ["t"], name="reshape"),
                 helper.make_node("MatMul", ["t", "f"], ["q"], name="product"),
                 helper.make_node("LayerNormalization", ["q", "g"], ["l"], name="layer_norm"),
                 helper.make_node("Softmax", ["l"], ["y"], name="softmax")]
        tensors = [helper.make_tensor(name, element, array.shape, array.tobytes(), raw=True)
                   for name, array in weights.items()]
        tensors.append(numpy_helper.from_array(np.array([1, 16, 36], np.int64), "shape"))
        graph = helper.make_graph(nodes, "half", [helper.make_tensor_value_info("x", element, [1, 8, 12, 12])],
                                  [helper.make_tensor_value_info("y", element, [1, 16, 24])], tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
        return model, rng.standard_normal((1, 8, 12, 12)).astype(dtype)

    def wide(self, model):
        """Returns the model in f32."""
        wide = type(model)()
        wide.CopyFrom(model)
        for tensor in wide.graph.initializer:
            if tensor.data_type in TYPES:
                array = np.frombuffer(tensor.raw_data, TYPES[tensor.data_type]).reshape(tuple(tensor.dims))
                tensor.CopyFrom(numpy_helper.from_array(array.astype(WIDE), tensor.name))
        for value in (*wide.graph.input, *wide.graph.output):
            value.type.tensor_type.elem_type = TensorProto.FLOAT
        return wide

    def check(self, element, *options):
        model, x = self.model(element)
        want = self.run_model(self.compile(self.wide(model), name="wide"), {"x": x.astype(WIDE)})["y"]
        artifact = self.compile(model, *options)
        layers = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)["layers"]
        loops = [layer for layer in layers if layer["backend"] == "loops" and layer["kind"] != "elementwise"]
        self.assertEqual(loops, [])
        # NumPy's files have no bfloat16, so the type "two raw bytes" takes its place.
        is_bfloat16 = element == TensorProto.BFLOAT16
        got = self.run_model(artifact, {"x": x.view("V2") if is_bfloat16 else x})["y"]
        got = got.view(TYPES[element]) if is_bfloat16 else got
        self.assertEqual(got.dtype, TYPES[element])
        error = np.abs(got.astype(WIDE) - want).max() / np.abs(want).max()
        self.assertLessEqual(error, TOLERANCE[element])
        return {layer["precision"] for layer in layers if layer["kind"] in ("convolution", "matmul")}

    def test_float16(self):
        # Small weights, which fit a cache, are widened to f32.
        self.assertEqual(self.check(TensorProto.FLOAT16), {""})

    def test_float16_is_stored_as_such(self):
        rng = np.random.default_rng(1)
        weights = {"w": (rng.standard_normal((512, 1024)) / 20).astype(np.float16),
                   "k": (rng.standard_normal((128, 128, 3, 3)) / 30).astype(np.float16),
                   "shape": np.array([512, 512], np.int64)}
        nodes = [helper.make_node("Conv", ["x", "k"], ["c"], pads=[1] * 4, name="conv"),
                 helper.make_node("Reshape", ["c", "shape"], ["t"]),
                 helper.make_node("MatMul", ["t", "w"], ["y"], name="product")]
        graph = helper.make_graph(
            nodes, "stored", [helper.make_tensor_value_info("x", TensorProto.FLOAT16, [1, 128, 32, 64])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT16, [512, 1024])],
            [numpy_helper.from_array(array, name) for name, array in weights.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        x = rng.standard_normal((1, 128, 32, 64)).astype(np.float16)
        wide = self.compile(self.wide(model), "--winograd=false", name="wide")
        want = self.run_model(wide, {"x": x.astype(WIDE)})["y"]
        # Tests direct convolution and Winograd. Winograd also rounds the transformed weights.
        for name, option, taps, last in (("plain", "--winograd=false", 9, 11), ("fewer", "--winograd=true", 36, 9)):
            with self.subTest(name):
                artifact = self.compile(model, option, name=name)
                half = 2 * (512 * 1024 + 128 * 128 * taps)
                stored = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)["weights_bytes"]
                self.assertTrue(half <= stored <= 1.05 * half, stored)
                got = self.run_model(artifact, {"x": x})["y"].astype(WIDE)
                self.assertLessEqual(np.abs(got - want).max() / np.abs(want).max(), 2.0 ** -last)

    def test_rows_from_the_end(self):
        """Slices with computed sizes a tensor of float16, whose elements are computed in f32 and rounded."""
        nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Slice", ["r", "a", "b", "c", "d"], ["y"])]
        graph = helper.make_graph(
            nodes, "rows", [helper.make_tensor_value_info("x", TensorProto.FLOAT16, ["N", "M"])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT16, ["K", "M"])],
            [numpy_helper.from_array(np.array([v], np.int64), n) for n, v in zip("abcd", (-7, -2, 0, 3))])
        artifact = self.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
        for shape in ((13, 14), (7, 1), (3, 40), (1, 5)):
            x = np.random.default_rng(2).standard_normal(shape).astype(np.float16)
            np.testing.assert_array_equal(self.run_model(artifact, {"x": x})["y"], np.maximum(x, 0)[-7:-2:3])

    def test_bfloat16(self):
        self.assertEqual(self.check(TensorProto.BFLOAT16, *EMULATED), {"bf16"})


if __name__ == "__main__":
    unittest.main()
