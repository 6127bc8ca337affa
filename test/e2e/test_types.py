"""Tests element types below 16 bits: exact conversions in a run and at compile time, packed inputs and outputs."""
import unittest

import ml_dtypes
import numpy as np
import onnx.numpy_helper
from onnx import TensorProto, helper, numpy_helper

from support import Case, tool

TINY = {"FLOAT8E4M3FN": "float8_e4m3fn", "FLOAT8E4M3FNUZ": "float8_e4m3fnuz", "FLOAT8E5M2": "float8_e5m2",
        "FLOAT8E5M2FNUZ": "float8_e5m2fnuz", "FLOAT8E8M0": "float8_e8m0fnu", "FLOAT4E2M1": "float4_e2m1fn"}


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, TINY.get(name, name.lower()), name.lower()))


def codes(name):
    """Returns every element of a type."""
    bits = 4 if "4E" in name and "8E" not in name or "INT4" in name else 2 if "INT2" in name else 8
    return np.arange(1 << bits, dtype=np.uint8).view(dtype_of(name))


def model_of(nodes, inputs, outputs, initializers=()):
    """Makes a model; inputs and outputs are (name, ONNX's name of the element type, shape)."""
    infos = [[helper.make_tensor_value_info(n, getattr(TensorProto, t), s) for n, t, s in values]
             for values in (inputs, outputs)]
    graph = helper.make_graph(nodes, "types", *infos, list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=13)


def numbers():
    """Returns f32 values of all sizes, including ties between 8-bit values, and NaN and infinities."""
    rng = np.random.default_rng(1)
    some = np.ldexp(rng.uniform(-2, 2, 3000), rng.integers(-20, 20, 3000)).astype(np.float32)
    exact = np.concatenate([codes(n).astype(np.float32) for n in TINY if n != "FLOAT8E8M0"])
    exact = np.unique(exact[np.isfinite(exact)])
    middle = (exact[1:] + exact[:-1]) / 2
    near = np.nextafter(middle, np.float32(np.inf)), np.nextafter(middle, np.float32(-np.inf))
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 448, 464, 465, 57344, 61440, 240, 248],
                       np.float32)
    return np.concatenate([some, exact, middle, *near, special]).astype(np.float32)


def same(got, want):
    """Returns where codes are equal; all NaNs are equal, and both zeros are for types without NaN."""
    a, b = got.astype(np.float32), want.astype(np.float32)
    return (a == b) | (np.isnan(a) & np.isnan(b))


class Types(Case):
    def cast(self, source, to, array, folded=False, shape=None, **attributes):
        """Casts `array` by one Cast; `folded`: at compile time."""
        nodes = [helper.make_node("Cast", ["x"], ["y"], to=getattr(TensorProto, to), name="cast", **attributes)]
        inputs, tensors = [("x", source, shape or list(array.shape))], []
        if folded:
            inputs, tensors = [], [numpy_helper.from_array(array, "x")]
        artifact = self.compile(model_of(nodes, inputs, [("y", to, shape or list(array.shape))], tensors))
        if array.dtype.name in ("float8_e5m2",):  # NumPy cannot read its own file of this type
            array = array.view("V1")
        got = self.run_model(artifact, {} if folded else {"x": array})["y"]
        return got.view(dtype_of(to))

    def test_to_integers(self):
        """Values that an integer does not hold wrap as x86's instructions do; values beyond i32 become its smallest
        value."""
        x = np.array([0, -0.0, 0.9, -0.9, 1.5, -127.6, 128, 255.5, 300, -32769, 65537.9, 2147483520, -2147483648,
                      2147483648, -2147483904, 3e9, 1e15, np.nan, np.inf, -np.inf, 12345.678], np.float32)
        for source, kind in (("FLOAT", np.float32), ("DOUBLE", np.float64)):
            data = np.tile(x.astype(kind), 5)
            held = (data >= -2.0 ** 31) & (data < 2.0 ** 31)
            words = np.where(held, np.trunc(np.where(held, data, 0)), -2.0 ** 31).astype(np.int64)
            for to in ("INT32", "INT16", "UINT16", "INT8", "UINT8"):
                for folded in (False, True):
                    with self.subTest(source=source, to=to, folded=folded):
                        got = self.cast(source, to, data, folded)
                        np.testing.assert_array_equal(got, words.astype(dtype_of(to)))
            whole = data[np.isfinite(data)]
            for to in ("UINT32", "INT64"):
                with self.subTest(source=source, to=to):
                    np.testing.assert_array_equal(self.cast(source, to, whole),
                                                  np.trunc(whole).astype(np.int64).astype(dtype_of(to)))

    def test_to_tiny_floats(self):
        x = numbers()
        for to in TINY:
            if to == "FLOAT8E8M0":
                continue
            for saturate in (1, 0):
                limited = onnx.numpy_helper.saturate_cast(x, dtype_of(to)) if saturate else x.astype(dtype_of(to))
                for folded in (False, True):
                    with self.subTest(to=to, saturate=saturate, folded=folded):
                        # The result of a NaN in a type without NaN is undefined.
                        judged = ~np.isnan(x) if to == "FLOAT4E2M1" else np.full(x.shape, True)
                        got = self.cast("FLOAT", to, x, folded, saturate=saturate)
                        self.assertTrue(same(got, limited)[judged].all())
                        if "UZ" not in to:  # the sign of a zero
                            np.testing.assert_array_equal(np.signbit(got.astype(np.float32))[judged],
                                                          np.signbit(limited.astype(np.float32))[judged])

    def test_from_tiny_floats(self):
        for name in TINY:
            x = codes(name)
            for to in ("FLOAT", "FLOAT16", "DOUBLE"):
                for folded in (False, True):
                    with self.subTest(name=name, to=to, folded=folded):
                        want = x.astype(np.float64)
                        with np.errstate(over="ignore"):
                            want = want.astype({"FLOAT": np.float32, "FLOAT16": np.float16, "DOUBLE": np.float64}[to])
                        np.testing.assert_array_equal(
                            self.cast(name, to, x, folded).view(want.dtype), want)

    def test_scales(self):
        x = np.array([1, 1.25, 1.5, 1.75, 3, 0.1, 2.0 ** 127 * 1.5, 2.0 ** -126, np.nan], np.float32)
        for mode, want in (("up", [1, 2, 2, 2, 4, 0.125, 2.0 ** 127, 2.0 ** -126, np.nan]),
                           ("down", [1, 1, 1, 1, 2, 0.0625, 2.0 ** 127, 2.0 ** -126, np.nan]),
                           ("nearest", [1, 1, 2, 2, 4, 0.125, 2.0 ** 127, 2.0 ** -126, np.nan])):
            for folded in (False, True):
                with self.subTest(mode=mode, folded=folded):
                    got = self.cast("FLOAT", "FLOAT8E8M0", x, folded, round_mode=mode)
                    np.testing.assert_array_equal(got.astype(np.float64), want)

    def test_packed_integers(self):
        for name in ("INT4", "UINT4", "INT2", "UINT2"):
            x = np.tile(codes(name), 9)[:15].reshape(3, 5)  # the last byte is not full
            for shape in ([3, 5], ["n", 5], ["n", "m"]):
                with self.subTest(name=name, shape=shape):
                    want = x.astype(np.int8)
                    np.testing.assert_array_equal(self.cast(name, "INT8", x, shape=shape), want)
                    back = self.cast("INT8", name, want, shape=shape)
                    np.testing.assert_array_equal(back.astype(np.int8), want)

    def test_packed_movement(self):
        nodes = [helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0]),
                 helper.make_node("Identity", ["x"], ["y"])]
        x = np.tile(codes("FLOAT4E2M1"), 2)[:21].reshape(7, 3)
        artifact = self.compile(model_of(nodes, [("x", "FLOAT4E2M1", ["n", 3])],
                                         [("t", "FLOAT4E2M1", [3, "n"]), ("y", "FLOAT4E2M1", ["n", 3])]))
        got = self.run_model(artifact, {"x": x})
        np.testing.assert_array_equal(got["t"].view(np.uint8), x.view(np.uint8).T)
        np.testing.assert_array_equal(got["y"].view(np.uint8), x.view(np.uint8))

    def test_packed_of_any_size(self):
        """Tests empty tensors, and tensors whose last byte is not full, in all ops that move or cast elements."""
        for name in ("INT4", "UINT2", "FLOAT4E2M1"):
            for shape in ([0], [3, 0], [], [7]):
                count = int(np.prod(shape))
                x = np.resize(codes(name), count).reshape(shape)
                nodes, inputs, outputs, want = [], [("x", name, shape), ("f", "FLOAT", shape)], [], {}

                def add(op, *operands, kind=name, value=None, **attributes):
                    output = f"y{len(nodes)}"
                    nodes.append(helper.make_node(op, list(operands), [output], **attributes))
                    outputs.append((output, kind, list(np.shape(value))))
                    want[output] = value
                f = x.astype(np.float32)
                add("Identity", "x", value=x)
                add("Transpose", "x", value=x.T)
                add("Unsqueeze", "x", "zero", value=x[None])
                add("Reshape", "x", "flat", value=x.reshape(-1, 1) if count else x)
                add("Flatten", "x", value=x.reshape(1, -1), axis=0)
                add("Shape", "x", kind="INT64", value=np.array(shape, np.int64))
                add("Size", "x", kind="INT64", value=np.array(count, np.int64))
                add("Cast", "x", kind="FLOAT", value=f, to=TensorProto.FLOAT)
                add("Cast", "f", value=x, to=getattr(TensorProto, name))
                add("CastLike", "f", "x", value=x)
                add("CastLike", "x", "f", kind="FLOAT", value=f)
                if name != "FLOAT4E2M1":
                    add("DequantizeLinear", "x", "one", kind="FLOAT", value=f)
                    add("QuantizeLinear", "f", "one", "none", value=x)
                tensors = [numpy_helper.from_array(v, n) for n, v in (
                    ("zero", np.array([0])), ("flat", np.array([count, 1] if count else [0] * len(shape))), ("one", np.array(1, np.float32)),
                    ("none", np.array(0, dtype_of(name))))]
                for is_open in (False, True):
                    with self.subTest(name=name, shape=shape, is_open=is_open):
                        given = [(n, t, [f"d{i}" for i in range(len(s))] if is_open else s) for n, t, s in inputs]
                        found = [(n, t, [f"{n}_{i}" for i in range(len(s))] if is_open and n not in ("y5",) else s)
                                 for n, t, s in outputs]
                        got = self.run_model(self.compile(model_of(nodes, given, found, tensors)), {"x": x, "f": f})
                        for output, value in want.items():
                            self.assertEqual(got[output].shape, value.shape, output)
                            np.testing.assert_array_equal(got[output].view(value.dtype).astype(np.float32),
                                                          value.astype(np.float32), nodes[int(output[1:])].op_type)

    def test_plain_bytes(self):
        """int4 from an int8 file, and a value that does not fit."""
        nodes = [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)]
        artifact = self.compile(model_of(nodes, [("x", "INT4", [3])], [("y", "FLOAT", [3])]))
        got = self.run_model(artifact, {"x": np.array([-8, 0, 7], np.int8)})
        np.testing.assert_array_equal(got["y"], [-8, 0, 7])
        np.save(self.path("bad.npy"), np.array([0, 8, 0], np.int8))
        done = tool("ingot", "run", artifact, "--input", f"x={self.path('bad.npy')}")
        self.assert_one_line(done, "element 1 is 8", "int4")

    def test_quantization_by_blocks(self):
        rng = np.random.default_rng(2)
        x = rng.standard_normal((4, 6)).astype(np.float32) * 3
        scale = (0.25 + rng.random((4, 2))).astype(np.float32)
        wide = np.repeat(scale, 3, axis=1)
        for to in ("FLOAT8E4M3FN", "FLOAT4E2M1", "INT4"):
            with self.subTest(to=to):
                zero = numpy_helper.from_array(np.zeros((4, 2), dtype_of(to)), "z")
                nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=1, block_size=3),
                         helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], axis=1, block_size=3)]
                artifact = self.compile(model_of(
                    nodes, [("x", "FLOAT", [4, 6]), ("s", "FLOAT", [4, 2])],
                    [("q", to, [4, 6]), ("y", "FLOAT", [4, 6])], [zero]))
                got = self.run_model(artifact, {"x": x, "s": scale})
                scaled = x / wide
                want = np.clip(np.rint(scaled), -8, 7) if to == "INT4" else scaled
                want = want.astype(dtype_of(to))
                np.testing.assert_array_equal(got["q"].view(np.uint8) & 255,
                                              want.view(np.uint8) & (15 if to == "INT4" else 255))
                np.testing.assert_allclose(got["y"], want.astype(np.float32) * wide, rtol=1e-6)

    def test_zero_blocks(self):
        """A block of zeros has the smallest scale, 2^-127, which is denormal in f32."""
        scale = np.array(2.0 ** -127).astype(ml_dtypes.float8_e8m0fnu)
        nodes = [helper.make_node("QuantizeLinear", ["x", "s"], ["q"], output_dtype=TensorProto.FLOAT4E2M1),
                 helper.make_node("DequantizeLinear", ["q", "s"], ["y"], output_dtype=TensorProto.FLOAT)]
        artifact = self.compile(model_of(nodes, [("x", "FLOAT", [3]), ("s", "FLOAT8E8M0", [])],
                                         [("q", "FLOAT4E2M1", [3]), ("y", "FLOAT", [3])]))
        got = self.run_model(artifact, {"x": np.zeros(3, np.float32), "s": scale})
        np.testing.assert_array_equal(got["q"].view(np.uint8), 0)
        np.testing.assert_array_equal(got["y"], 0)

    def test_values(self):
        nodes = [helper.make_node("Cast", ["v"], ["y"], to=TensorProto.FLOAT)]
        model = model_of(nodes, [("v", "FLOAT4E2M1", [3])], [("y", "FLOAT", [3])])
        got = self.run_model(self.compile(model, "--value=v=1.5,-6,0.4"), {})
        np.testing.assert_array_equal(got["y"], [1.5, -6, 0.5])
        self.assert_refuses(model, "'7' is not of type float4_e2m1fn", options=["--value=v=1,7,0"])
        model = model_of(nodes, [("v", "INT4", [3])], [("y", "FLOAT", [3])])
        got = self.run_model(self.compile(model, "--value=v=-8,7,1"), {})
        np.testing.assert_array_equal(got["y"], [-8, 7, 1])
        self.assert_refuses(model, "'8' is not of type int4", options=["--value=v=1,8,0"])


if __name__ == "__main__":
    unittest.main()
