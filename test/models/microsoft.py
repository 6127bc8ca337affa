"""Draws single quantized operators of ONNX Runtime's domain com.microsoft."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

DOMAIN = "com.microsoft"
TYPES = {np.dtype(t): helper.np_dtype_to_tensor_dtype(np.dtype(t))
         for t in (np.float32, np.float16, np.uint8, np.int8, np.uint16, np.int16, np.int32, np.int64)}


def make(kind, inputs, outputs, constants=(), **attributes):
    """Returns (model, feeds) of one node. `inputs` is [(name, array or None)], `outputs` is [(name, dtype, rank)].
    Inputs named in `constants` become initializers."""
    given = [(name, np.asarray(value)) for name, value in inputs if value is not None]
    node = helper.make_node(kind, [name if value is not None else "" for name, value in inputs],
                            [name for name, _, _ in outputs], name="node", domain=DOMAIN, **attributes)
    graph = helper.make_graph(
        [node], "test",
        [helper.make_tensor_value_info(n, TYPES[v.dtype], v.shape) for n, v in given if n not in constants],
        [helper.make_tensor_value_info(n, TYPES[np.dtype(t)], [f"{n}{i}" for i in range(rank)])
         for n, t, rank in outputs],
        [numpy_helper.from_array(v, n) for n, v in given if n in constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)],
                              ir_version=8)
    return model, {n: v for n, v in given if n not in constants}


class Drawer:
    """Draws models of several operators."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def bytes(self, shape, dtype):
        info = np.iinfo(dtype)
        return self.rng.integers(info.min, info.max, shape, dtype, endpoint=True)

    def scale(self, around=0.05):
        return np.float32(around * np.exp(self.rng.uniform(-1, 1)))

    def zero(self, dtype):
        info = np.iinfo(dtype)
        middle = (int(info.min) + int(info.max)) // 2
        return dtype(middle + self.rng.integers(-20, 21))

    def tensor(self, name, shape, dtype, around=0.05):
        """Adds a tensor, and its scale and zero point as constants."""
        return [(name, self.bytes(shape, dtype)), (name + "_s", self.scale(around)), (name + "_z", self.zero(dtype))]

    def result(self, dtype, around=0.05):
        return [("y_s", self.scale(around)), ("y_z", self.zero(dtype))]

    def quantized(self, kind, inputs, dtype, rank, **attributes):
        return make(kind, inputs, [("y", dtype, rank)],
                    {n for n, _ in inputs if n.endswith(("_s", "_z"))}, **attributes)

    def binary(self, kind):
        dtype = self.pick(np.uint8, np.int8)
        shape = self.pick([2, 3, 5], [1, 17], [4, 1, 33])
        other = self.pick(shape, [shape[-1]], [1] * len(shape))
        inputs = self.tensor("a", shape, dtype) + self.tensor("b", other, dtype)
        return self.quantized(kind, inputs + self.result(dtype, 0.1 if kind == "QLinearAdd" else 0.4), dtype,
                              len(shape))

    def qlinear_add(self):
        return self.binary("QLinearAdd")

    def qlinear_mul(self):
        return self.binary("QLinearMul")

    def unary(self, kind, around, **attributes):
        dtype = self.pick(np.uint8, np.int8)
        shape = self.pick([2, 3, 5], [65])
        return self.quantized(kind, self.tensor("x", shape, dtype) + self.result(dtype, around), dtype, len(shape),
                              **attributes)

    def qlinear_sigmoid(self):
        return self.unary("QLinearSigmoid", 0.004)

    def qlinear_leaky_relu(self):
        return self.unary("QLinearLeakyRelu", 0.05, alpha=float(self.pick(0.01, 0.3)))

    def qlinear_softmax(self):
        dtype = self.pick(np.uint8, np.int8)
        shape = self.pick([2, 3, 5], [4, 40])
        zero = dtype(np.iinfo(dtype).min)
        return self.quantized("QLinearSoftmax", self.tensor("x", shape, dtype) +
                              [("y_s", np.float32(1 / 256)), ("y_z", zero)], dtype, len(shape),
                              axis=int(self.pick(-1, len(shape) - 1)), opset=int(self.pick(11, 13)))

    def qlinear_softmax_flat(self):
        return self.quantized("QLinearSoftmax", self.tensor("x", [2, 3, 5], np.uint8) +
                              [("y_s", np.float32(1 / 256)), ("y_z", np.uint8(0))], np.uint8, 3, axis=1, opset=11)

    def qlinear_concat(self):
        dtype = self.pick(np.uint8, np.int8)
        axis = int(self.pick(0, 1, -1))
        inputs = self.result(dtype)
        for i in range(self.pick(1, 2, 3)):
            shape = [2, 3, 4]
            shape[axis] = 1 + i
            inputs += self.tensor(f"x{i}", shape, dtype)
        return self.quantized("QLinearConcat", inputs, dtype, 3, axis=axis)

    def pool_shape(self, last):
        return [2, 8, 9, 5] if last else [2, 5, 8, 9]

    def qlinear_average_pool(self):
        dtype, last = self.pick(np.uint8, np.int8), int(self.pick(0, 1))
        attributes = self.pick({}, {"strides": [2, 1]}, {"pads": [1, 0, 1, 1]}, {"ceil_mode": 1, "strides": [2, 2]},
                               {"pads": [1, 1, 1, 1], "count_include_pad": 1})
        inputs = self.tensor("x", self.pool_shape(last), dtype)
        return self.quantized("QLinearAveragePool", inputs + self.result(dtype), dtype, 4, channels_last=last,
                              kernel_shape=[3, 2], **attributes)

    def qlinear_global_average_pool(self):
        dtype, last = self.pick(np.uint8, np.int8), int(self.pick(0, 1))
        inputs = self.tensor("x", self.pool_shape(last), dtype)
        return self.quantized("QLinearGlobalAveragePool", inputs + self.result(dtype, 0.02), dtype, 4,
                              channels_last=last)

    def qgemm(self):
        dtype = self.pick(np.uint8, np.int8)
        weights = np.int8 if dtype == np.int8 else self.pick(np.uint8, np.int8)
        m, k, n = self.rng.integers(1, 40, 3)
        flip_a, flip_b, per_column = (int(self.pick(0, 1)) for _ in range(3))
        a = self.tensor("a", [k, m] if flip_a else [m, k], dtype)
        columns = [n] if per_column else []
        b = [("b", self.bytes([n, k] if flip_b else [k, n], weights)),
             ("b_s", np.exp(self.rng.uniform(-4, -3, columns)).astype(np.float32)),
             ("b_z", np.full(columns, self.zero(weights), weights))]
        c = [("c", self.rng.integers(-5000, 5000, [n]).astype(np.int32) if self.pick(0, 1) else None)]
        constants = {"a_s", "a_z", "b", "b_s", "b_z", "c", "y_s", "y_z"}
        attributes = {"transA": flip_a, "transB": flip_b, "alpha": float(self.pick(1.0, 0.5))}
        if self.pick(0, 1):
            return make("QGemm", a + b + c, [("y", np.float32, 2)], constants, **attributes)
        return make("QGemm", a + b + c + self.result(dtype, 0.4), [("y", dtype, 2)], constants, **attributes)

    def floats(self, *shape):
        return self.rng.standard_normal(shape).astype(np.float32)

    def factors(self):
        m, k, n = (int(v) for v in self.rng.integers(1, 40, 3))
        weights = self.pick(np.uint8, np.int8)
        columns = [n] if self.pick(0, 1) else []
        scale = np.exp(self.rng.uniform(-4, -3, columns)).astype(np.float32)
        zero = np.full(columns, self.zero(weights), weights) if self.pick(0, 1) else None
        bias = self.floats(n) if self.pick(0, 1) else None
        return m, k, n, self.bytes([k, n], weights), scale, zero, bias

    def dynamic_quantize_matmul(self):
        m, k, n, b, scale, zero, bias = self.factors()
        return make("DynamicQuantizeMatMul",
                    [("a", self.floats(2, m, k)), ("b", b), ("b_s", scale), ("b_z", zero), ("bias", bias)],
                    [("y", np.float32, 3)], {"b", "b_s", "b_z", "bias"})

    def matmul_integer_to_float(self):
        m, k, n, b, scale, zero, bias = self.factors()
        dtype = np.int8 if b.dtype == np.int8 and self.pick(0, 1) else np.uint8
        return make("MatMulIntegerToFloat",
                    [("a", self.bytes([m, k], dtype)), ("b", b), ("a_s", self.scale()), ("b_s", scale),
                     ("a_z", self.zero(dtype) if self.pick(0, 1) else None), ("b_z", zero), ("bias", bias)],
                    [("y", np.float32, 2)], {"b", "b_s", "b_z", "bias"})

    def dynamic_quantize_lstm(self):
        steps, batch, width, hidden = (int(v) for v in self.rng.integers(1, 9, 4))
        direction = self.pick("forward", "reverse", "bidirectional")
        n = 2 if direction == "bidirectional" else 1
        dtype = self.pick(np.uint8, np.int8)
        shape = [n, 4 * hidden] if dtype == np.int8 and self.pick(0, 1) else [n]

        def scales():
            return np.exp(self.rng.uniform(-5, -4, shape)).astype(np.float32)

        def zeros():
            return np.full(shape, 0 if dtype == np.int8 else 128, dtype)
        inputs = [("x", self.floats(steps, batch, width)), ("w", self.bytes([n, width, 4 * hidden], dtype)),
                  ("r", self.bytes([n, hidden, 4 * hidden], dtype)),
                  ("b", self.floats(n, 8 * hidden) if self.pick(0, 1) else None), ("lengths", None), ("h", None),
                  ("c", None), ("p", None), ("w_s", scales()), ("w_z", zeros()), ("r_s", scales()), ("r_z", zeros())]
        return make("DynamicQuantizeLSTM", inputs,
                    [("y", np.float32, 4), ("y_h", np.float32, 3), ("y_c", np.float32, 3)],
                    {"w", "r", "b", "w_s", "w_z", "r_s", "r_z"}, direction=direction, hidden_size=hidden)

    def matmul_nbits(self, dynamic=False, accuracy_level=0, least_columns=1):
        """Returns (model, feeds). Sets `unpacked` to the weights in floats, and `block` to the block size."""
        bits, block = int(self.pick(4, 4, 8, 2)), int(self.pick(16, 32, 128))
        m, k, n = int(self.pick(1, 1, 3, 20, 150)), int(self.rng.integers(1, 300)), int(self.rng.integers(1, 70))
        n = max(n, least_columns)
        self.bits, self.block = bits, block
        blocks, per_byte = -(-k // block), 8 // bits
        codes = self.rng.integers(0, 1 << bits, (n, blocks * block), np.uint8)
        codes[:, k:] = 0
        scales = np.exp(self.rng.uniform(-4, -3, (n, blocks))).astype(np.float32)
        zeros = self.rng.integers(0, 1 << bits, (n, blocks)).astype(np.uint8)
        padded = np.zeros((n, -(-blocks // per_byte) * per_byte), np.uint8)
        padded[:, :blocks] = zeros

        def packed(values):
            split = values.reshape(n, -1, per_byte)
            return sum((split[:, :, i] << (bits * i)).astype(np.uint8) for i in range(per_byte)).astype(np.uint8)
        kind = self.pick("none", "packed", "floats")
        given = {"none": None, "packed": packed(padded), "floats": zeros.astype(np.float32)}[kind]
        points = np.full_like(zeros, 1 << (bits - 1)) if kind == "none" else zeros
        bias = self.floats(n) if self.pick(0, 1) else None
        spread = [np.repeat(v.astype(np.float64), block, 1)[:, :k] for v in (points, scales)]
        self.unpacked = (codes[:, :k] - spread[0]) * spread[1], bias
        model, feeds = make("MatMulNBits",
                            [("a", self.floats(2, m, k)), ("b", packed(codes).reshape(n, blocks, -1)), ("s", scales),
                             ("z", given), ("g", None), ("bias", bias)],
                            [("y", np.float32, 3)], {"b", "s", "z", "bias"}, K=k, N=n, bits=bits, block_size=block,
                            accuracy_level=accuracy_level)
        if dynamic:
            for i, name in enumerate(("batch", "rows")):
                model.graph.input[0].type.tensor_type.shape.dim[i].dim_param = name
        return model, feeds

    def linear(self, dtype):
        axis, zero = int(self.pick(0, 1)), self.zero(dtype)
        scale = np.exp(self.rng.uniform(-9, -8, [5])).astype(np.float32)
        return axis, scale, np.full([5], zero, dtype), [5, 7] if axis == 0 else [3, 5]

    def quantize_linear(self):
        dtype = self.pick(np.uint16, np.int16, np.uint8, np.int8)
        axis, scale, zero, shape = self.linear(dtype)
        return make("QuantizeLinear", [("x", self.floats(*shape)), ("s", scale), ("z", zero)],
                    [("y", dtype, 2)], {"s", "z"}, axis=axis)

    def dequantize_linear(self):
        dtype = self.pick(np.uint16, np.int16, np.uint8, np.int8)
        axis, scale, zero, shape = self.linear(dtype)
        return make("DequantizeLinear", [("x", self.bytes(shape, dtype)), ("s", scale), ("z", zero)],
                    [("y", np.float32, 2)], {"s", "z"}, axis=axis)


KINDS = [name for name in vars(Drawer)
         if name.startswith(("qlinear_", "qgemm", "dynamic_", "matmul_integer", "quantize_", "dequantize_"))]


def draw(kind, seed):
    return getattr(Drawer(seed), kind)()
