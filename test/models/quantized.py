"""Quantized graphs, drawn at random: QLinear and Integer operators, and Q/DQ pairs around convolutions and products."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

U8, S8 = np.uint8, np.int8
ELEMENTS = {np.dtype(U8): TensorProto.UINT8, np.dtype(S8): TensorProto.INT8, np.dtype(np.float32): TensorProto.FLOAT}


class Graph:
    """Builds a graph: nodes, initializers and inputs. Every output gets a value info without a shape."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []
        self.feeds, self.exact, self.number = {}, set(), 0

    def name(self, kind):
        self.number += 1
        return f"{kind}_{self.number}"

    def constant(self, array):
        name = self.name("c")
        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, kind, inputs, **attributes):
        out = self.name(kind)
        self.nodes.append(helper.make_node(kind, inputs, [out], name=out, **attributes))
        return out

    def input(self, array):
        name = self.name("x")
        self.inputs.append(helper.make_tensor_value_info(name, ELEMENTS[array.dtype], array.shape))
        self.feeds[name] = array
        return name

    def output(self, value, element, exact):
        self.outputs.append(helper.make_tensor_value_info(value, element, None))
        if exact:
            self.exact.add(value)

    def model(self):
        graph = helper.make_graph(self.nodes, "quantized", self.inputs, self.outputs, self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)

    # Pieces

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def bytes(self, shape, dtype):
        info = np.iinfo(dtype)
        if self.rng.integers(3) == 0:
            return self.rng.choice(np.array([info.min, info.max], dtype), shape)
        return self.rng.integers(info.min, info.max + 1, shape).astype(dtype)

    def factors(self, shape, dtype):
        """Draws int8 weights: any values, or small values with and without outliers. The sum of two products of small
        values fits int16."""
        if self.rng.integers(2):
            return self.bytes(shape, dtype)
        info, center = np.iinfo(dtype), 128 if dtype == U8 else 0
        high = self.pick(20, 64)
        small = self.rng.integers(center - high, center + high + 1, shape)
        outside = self.rng.random(shape) < self.pick(0.0, 0.002, 0.02)
        return np.where(outside, self.rng.choice([info.min, info.max], shape), small).astype(dtype)

    def zero(self, dtype, shape=()):
        if self.rng.integers(3) == 0:
            return np.zeros(shape, dtype)
        info = np.iinfo(dtype)
        return self.rng.integers(info.min, info.max + 1, shape).astype(dtype)

    def scale(self, shape=(), around=0.05):
        return (around * (0.5 + self.rng.random(shape))).astype(np.float32)

    def window(self, dims=(1, 2, 2, 2, 3)):
        """Draws the sizes of a convolution that has at least one result: (data, weights, attributes)."""
        dims = int(self.pick(*dims))
        groups = int(self.pick(1, 1, 1, 2, 3))
        inputs, outputs = (int(self.rng.integers(1, most)) for most in (20, 40))
        kind = self.pick("plain", "plain", "depthwise", "wide", "fours", "fours")
        if kind == "depthwise":
            groups, inputs, outputs = int(self.rng.integers(2, 40)), 1, 1
        elif kind == "wide":
            groups, inputs = 1, int(self.rng.integers(60, 90))
        elif kind == "fours":
            groups, inputs = 1, 4 * int(self.rng.integers(5, 25))
        kernel = [int(self.rng.integers(1, 4)) for _ in range(dims)]
        dilations = [int(self.pick(1, 1, 2)) for _ in range(dims)]
        strides = [int(self.pick(1, 1, 2)) for _ in range(dims)]
        pads = [int(self.rng.integers(0, 1 + (k - 1) * d)) for k, d in zip(kernel * 2, dilations * 2)]
        sizes = [max(1, (k - 1) * d + 1 - pads[i] - pads[dims + i]) + int(self.rng.integers(0, 12 if dims < 3 else 4))
                 for i, (k, d) in enumerate(zip(kernel, dilations))]
        attributes = {"kernel_shape": kernel, "dilations": dilations, "strides": strides, "pads": pads, "group": groups}
        return ([int(self.pick(1, 1, 2)), groups * inputs, *sizes], [groups * outputs, inputs, *kernel], attributes)

    # Whole cases

    def qlinear_conv(self):
        # The reference implementation only supports scales per channel for images.
        data, weights, attributes = self.window(dims=(2,))
        x, w, y = self.pick((U8, S8, U8), (U8, U8, U8), (S8, S8, S8))
        per_channel = bool(self.rng.integers(2)) and w == S8
        count = (weights[0],) if per_channel else ()
        size = np.prod(weights[1:])
        zero_w = np.zeros(count, w) if per_channel else self.zero(w)
        inputs = [self.input(self.bytes(data, x)), self.constant(self.scale()), self.constant(self.zero(x)),
                  self.constant(self.factors(weights, w)), self.constant(self.scale(count)), self.constant(zero_w),
                  self.constant(self.scale(around=0.05 * 0.05 * 60 * np.sqrt(size) / 0.05)),
                  self.constant(self.zero(y))]
        if self.rng.integers(2):
            inputs.append(self.constant(self.rng.integers(-5000, 5000, weights[0]).astype(np.int32)))
        self.output(self.node("QLinearConv", inputs, **attributes), ELEMENTS[np.dtype(y)], exact=True)

    def conv_integer(self):
        data, weights, attributes = self.window()
        x, w = self.pick((U8, S8), (U8, U8), (S8, S8))
        inputs = [self.input(self.bytes(data, x)), self.constant(self.factors(weights, w)), self.constant(self.zero(x))]
        if self.rng.integers(2):
            inputs.append(self.constant(self.zero(w)))
        self.output(self.node("ConvInteger", inputs, **attributes), TensorProto.INT32, exact=True)

    def matrices(self):
        rows, depth, columns = (int(self.rng.integers(1, most)) for most in (40, 200, 70))
        if self.rng.integers(2):
            rows, depth = rows + 30, -(-depth // 4) * 4
        batch = [int(self.rng.integers(1, 4))] if self.rng.integers(3) == 0 else []
        batched = batch if self.rng.integers(2) else []
        return [*batch, rows, depth], [*batched, depth, columns]

    def matmul_integer(self):
        left, right = self.matrices()
        a, b = self.pick((U8, S8), (U8, U8), (S8, S8), (S8, U8))
        columns = self.factors(right, b)
        second = self.constant(columns) if self.rng.integers(2) else self.input(columns)
        inputs = [self.input(self.bytes(left, a)), second, self.constant(self.zero(a))]
        if self.rng.integers(2):
            inputs.append(self.constant(self.zero(b, self.pick((), (right[-1],)) if len(right) == 2 else ())))
        self.output(self.node("MatMulInteger", inputs), TensorProto.INT32, exact=True)

    def qlinear_matmul(self):
        left, right = self.matrices()
        a, b, y = self.pick((U8, S8, U8), (U8, U8, U8), (S8, S8, S8))
        columns = self.factors(right, b)
        second = self.constant(columns) if self.rng.integers(2) else self.input(columns)
        around = 0.05 * 0.05 * 60 * np.sqrt(left[-1]) / 0.05
        inputs = [self.input(self.bytes(left, a)), self.constant(self.scale()), self.constant(self.zero(a)), second,
                  self.constant(self.scale()), self.constant(self.zero(b)), self.constant(self.scale(around=around)),
                  self.constant(self.zero(y))]
        self.output(self.node("QLinearMatMul", inputs), ELEMENTS[np.dtype(y)], exact=True)

    def quantized_pair(self, value, dtype, scale):
        """Adds Q → DQ to a float tensor. Returns the quantized and the dequantized value."""
        pair = [self.constant(np.float32(scale)), self.constant(self.zero(dtype))]
        q = self.node("QuantizeLinear", [value, *pair])
        return q, self.node("DequantizeLinear", [q, *pair])

    def weights(self, shape, outputs_at):
        """Adds weights and a DequantizeLinear. Weights are stored as bytes, or as floats followed by a
        QuantizeLinear."""
        around = 1 / np.sqrt(np.prod(shape) / shape[outputs_at]) / 60
        scales = self.scale(self.pick((), (shape[outputs_at],)), around)
        pair = [self.constant(scales), self.constant(np.zeros(scales.shape, S8))]
        if self.rng.integers(2):
            quantized = self.constant(self.bytes(shape, S8))
        else:
            floats = self.constant((self.rng.standard_normal(shape) * around * 60).astype(np.float32))
            quantized = self.node("QuantizeLinear", [floats, *pair], axis=outputs_at)
        return self.node("DequantizeLinear", [quantized, *pair], axis=outputs_at)

    def finish(self, y, shape_of_y, dtype):
        """Adds ops behind a product: an activation, an int8 residual, and QuantizeLinear."""
        if self.rng.integers(3) == 0 and shape_of_y is not None:
            residual = self.input(self.bytes(shape_of_y, dtype))
            other = self.node("DequantizeLinear", [residual, self.constant(self.scale()), self.constant(self.zero(dtype))])
            y = self.node("Add", [y, other] if self.rng.integers(2) else [other, y])
        act = self.pick(None, "Relu", "Clip", "LeakyRelu", "Sigmoid")
        if act == "Clip":
            y = self.node("Clip", [y, self.constant(np.float32(0)), self.constant(np.float32(6))])
        elif act:
            y = self.node(act, [y])
        q, dq = self.quantized_pair(y, dtype, self.scale())
        if self.rng.integers(4) == 0:
            self.output(dq, TensorProto.FLOAT, exact=False)
        else:
            self.output(q, ELEMENTS[np.dtype(dtype)], exact=False)

    def sizes_after(self, data, attributes):
        """Returns the spatial sizes of a convolution's result."""
        kernel, dims = attributes["kernel_shape"], len(attributes["kernel_shape"])
        return [(data[2 + i] + attributes["pads"][i] + attributes["pads"][dims + i]
                 - attributes["dilations"][i] * (kernel[i] - 1) - 1) // attributes["strides"][i] + 1
                for i in range(dims)]

    def qdq_conv(self):
        data, weights, attributes = self.window()
        dtype = self.pick(U8, U8, S8)
        x = self.input(self.rng.standard_normal(data).astype(np.float32) * 3)
        _, dq = self.quantized_pair(x, dtype, self.scale())
        inputs = [dq, self.weights(weights, 0)]
        if self.rng.integers(2):
            inputs.append(self.constant(self.rng.standard_normal(weights[0]).astype(np.float32)))
        y = self.node("Conv", inputs, **attributes)
        self.finish(y, [data[0], weights[0], *self.sizes_after(data, attributes)], dtype)

    def qdq_matmul(self):
        left, right = self.matrices()
        dtype = self.pick(U8, U8, S8)
        _, dq = self.quantized_pair(self.input(self.rng.standard_normal(left).astype(np.float32) * 3), dtype,
                                    self.scale())
        right = right[-2:]
        y = self.node("MatMul", [dq, self.weights(right, 1)])
        if self.rng.integers(2):
            y = self.node("Add", [y, self.constant(self.rng.standard_normal(right[1]).astype(np.float32))])
        self.finish(y, [*left[:-1], right[1]], dtype)

    def qat_weights(self, shape, outputs_at):
        """Adds trained weights as PyTorch exports them: floats → Q → DQ. Some have a Clip to 7 bits in between, some
        are transposed or reshaped."""
        around = 1 / np.sqrt(np.prod(shape) / shape[outputs_at]) / 60
        moved = len(shape) == 2 and self.rng.integers(2)
        if moved:
            shape, outputs_at = shape[::-1], 1 - outputs_at
        scales = self.scale(self.pick((1,), (shape[outputs_at],)), around)
        pair = [self.constant(scales), self.constant(np.zeros(scales.shape, S8))]
        axis = {"axis": outputs_at} if scales.size > 1 else {}
        floats = self.constant((self.rng.standard_normal(shape) * around * 60).astype(np.float32))
        value = self.node("QuantizeLinear", [floats, *pair], **axis)
        if self.rng.integers(2):
            value = self.node("Clip", [value, self.constant(np.int8(-64)), self.constant(np.int8(63))])
        value = self.node("DequantizeLinear", [value, *pair], **axis)
        return self.node("Transpose", [value], perm=[1, 0]) if moved else value

    def qat_pair(self, value, scale):
        """Adds Q → DQ with scales of shape [1], sometimes with a Clip to 7 bits in between."""
        pair = [self.constant(np.full([1], scale, np.float32)), self.constant(self.zero(U8, (1,)))]
        value = self.node("QuantizeLinear", [value, *pair])
        if self.rng.integers(2):
            value = self.node("Clip", [value, "", self.constant(np.uint8(127))])
        return value, self.node("DequantizeLinear", [value, *pair])

    def qat_finish(self, y, shape_of_y):
        """Adds Conv → Div → Add → BatchNormalization → Relu → Q: training simulates the folded normalization in this
        way."""
        outputs = shape_of_y[1]
        ones = [1] * (len(shape_of_y) - 2)

        def positive():
            return (0.5 + self.rng.random(outputs)).astype(np.float32)

        y = self.node("Div", [y, self.constant(positive().reshape(1, outputs, *ones))])
        if self.rng.integers(2):
            y = self.node("Add", [y, self.constant((positive() - 1).reshape(1, outputs, *ones))])
        y = self.node("BatchNormalization",
                      [y, *(self.constant(v) for v in (positive(), positive() - 1, positive() - 1, positive()))])
        if self.rng.integers(2):
            y = self.node("Relu", [y])
        q, dq = self.qat_pair(y, self.scale())
        if self.rng.integers(2):
            q, _ = self.qat_pair(self.node("Relu", [dq]), self.scale())
        self.output(q, TensorProto.UINT8, exact=False)

    def qat_conv(self):
        data, weights, attributes = self.window()
        _, dq = self.qat_pair(self.input(self.rng.standard_normal(data).astype(np.float32) * 3), self.scale())
        y = self.node("Conv", [dq, self.qat_weights(weights, 0), self.constant(np.zeros(weights[0], np.float32))],
                      **attributes)
        self.qat_finish(y, [data[0], weights[0], *self.sizes_after(data, attributes)])

    def qat_linear(self):
        left, right = self.matrices()
        left, right = left[-2:], right[-2:]
        _, dq = self.qat_pair(self.input(self.rng.standard_normal(left).astype(np.float32) * 3), self.scale())
        y = self.node("MatMul", [dq, self.qat_weights(right, 1)])
        y = self.node("Add", [y, self.constant(self.rng.standard_normal(right[1]).astype(np.float32))])
        q, _ = self.qat_pair(y, self.scale())
        self.output(q, TensorProto.UINT8, exact=False)

    def qdq_movement(self):
        """Adds ops between two Q/DQ pairs that move int8 values: pool, transpose, concat or slice."""
        dtype = self.pick(U8, S8)
        shape = [int(self.rng.integers(1, 3)), int(self.rng.integers(1, 20)), 9, 7]
        x = self.input(self.rng.standard_normal(shape).astype(np.float32) * 3)
        _, value = self.quantized_pair(x, dtype, self.scale())
        for _ in range(int(self.rng.integers(1, 4))):
            kind = self.pick("MaxPool", "Transpose", "Concat", "Slice", "Relu", "AveragePool")
            if kind in ("MaxPool", "AveragePool"):
                value = self.node(kind, [value], kernel_shape=[3, 3], pads=[1] * 4)
            elif kind == "Transpose":
                value = self.node(kind, [value], perm=[0, 1, 3, 2])
            elif kind == "Concat":
                value = self.node(kind, [value, value], axis=1)
            elif kind == "Slice":
                value = self.node(kind, [value, *(self.constant(np.array([n], np.int64)) for n in (1, 5, 2, 1))])
            else:
                value = self.node(kind, [value])
        q, _ = self.quantized_pair(value, dtype, self.scale())
        self.output(q, ELEMENTS[np.dtype(dtype)], exact=False)

    def qdq_function(self):
        """Adds one or several elementwise functions between Q/DQ pairs, on whole and partial vectors."""
        dtype = self.pick(U8, S8)
        shape = [int(self.pick(1, 3)), int(self.pick(1, 7, 16, 64, 100)), int(self.pick(1, 5, 33))]
        _, value = self.quantized_pair(self.input(self.rng.standard_normal(shape).astype(np.float32) * 3), dtype,
                                       self.scale())
        for _ in range(int(self.rng.integers(1, 3))):
            kind = self.pick("Sigmoid", "Tanh", "HardSwish", "HardSigmoid", "Elu", "Softplus", "Erf", "LeakyRelu",
                             "Exp", "Swish")
            before = value
            y = self.node("Sigmoid" if kind == "Swish" else kind, [value])
            q, value = self.quantized_pair(y, dtype, self.scale(around=self.pick(0.005, 0.05)))
            if kind == "Swish":
                q, value = self.quantized_pair(self.node("Mul", [value, before]), dtype, self.scale())
        self.output(q, ELEMENTS[np.dtype(dtype)], exact=False)

    def qdq_conv_transpose(self):
        """Adds a transposed convolution of the result of a relu, or of int8 with any zero point."""
        dims = int(self.pick(1, 2, 2))
        inputs, outputs = int(self.pick(1, 4, 20, 64)), int(self.pick(1, 5, 16, 40))
        kernel, strides, dilations = ([int(self.pick(*of)) for _ in range(dims)]
                                      for of in ((1, 2, 3, 4), (1, 2, 2, 3), (1, 1, 2)))
        pads = [int(self.rng.integers(0, k)) for k in kernel * 2]
        sizes = [int(self.rng.integers(max(kernel), 12)) for _ in range(dims)]
        data = self.rng.standard_normal([int(self.pick(1, 2)), inputs, *sizes]).astype(np.float32) * 3
        dtype = self.pick(U8, U8, S8)
        is_positive = dtype == U8 and self.rng.integers(2)
        x = self.input(np.abs(data) if is_positive else data)
        zero = self.constant(dtype(0 if is_positive else self.pick(0, 7, 100)))
        pair = [self.constant(self.scale()), zero]
        value = self.node("DequantizeLinear", [self.node("QuantizeLinear", [x, *pair]), *pair])
        arguments = [value, self.weights([inputs, outputs, *kernel], 1)]
        if self.rng.integers(2):
            arguments.append(self.constant(self.rng.standard_normal(outputs).astype(np.float32)))
        y = self.node("ConvTranspose", arguments, kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads)
        self.finish(y, None, U8)

    def qdq_mean(self):
        """Averages int8: over windows, with or without their padding, or over all pixels."""
        dtype = self.pick(U8, S8)
        channels = int(self.pick(1, 3, 16, 40))
        x = self.input(self.rng.standard_normal([int(self.pick(1, 2)), channels, 9, 11]).astype(np.float32) * 3)
        other, value = self.quantized_pair(x, dtype, self.scale())
        self.output(other, ELEMENTS[np.dtype(dtype)], exact=False)
        kind = self.pick("AveragePool", "AveragePool", "GlobalAveragePool", "ReduceMean")
        if kind == "AveragePool":
            strides = [int(self.pick(1, 2)), int(self.pick(2, 3))]
            value = self.node(kind, [value], kernel_shape=[int(self.pick(1, 2, 3)), 3], strides=strides,
                              pads=self.pick([0] * 4, [0, 1, 0, 2]), count_include_pad=int(self.rng.integers(2)),
                              ceil_mode=int(self.rng.integers(2)))
        elif kind == "ReduceMean":
            value = self.node(kind, [value, self.constant(np.array([self.pick(1, 3)], np.int64))])
        else:
            value = self.node(kind, [value])
        q, _ = self.quantized_pair(value, dtype, self.scale())
        self.output(q, ELEMENTS[np.dtype(dtype)], exact=False)


EXACT = ("qlinear_conv", "conv_integer", "matmul_integer", "qlinear_matmul")
CLOSE = ("qdq_conv", "qdq_matmul", "qdq_movement")
BETWEEN = ("qdq_function", "qdq_conv_transpose", "qdq_mean")
TRAINED = ("qat_conv", "qat_linear")


def draw(kinds, seed, count=6):
    """Makes a model of `count` independent parts, each of a random kind."""
    graph = Graph(seed)
    for _ in range(count):
        getattr(graph, graph.pick(*kinds))()
    return graph
