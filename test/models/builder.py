"""Builds ONNX graphs: nodes, seeded weights, and the blocks that model families share."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


class Graph:
    """Builds an ONNX graph. A value is represented by its name. `channels` has the number of channels of images."""

    def __init__(self, name, seed=0, opset=OPSET):
        self.name, self.opset = name, opset
        self.rng = np.random.default_rng(seed)
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []
        self.channels = {}
        self.count = 0

    # Values

    def input(self, name, shape, dtype=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        if len(shape) > 2 and isinstance(shape[1], int):
            self.channels[name] = shape[1]
        return name

    def constant(self, array, name=None):
        name = name or self.fresh("const")
        self.initializers.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def scalar(self, value):
        return self.constant(np.array(value, np.float32))

    def weight(self, *shape, fan_in=None):
        fan_in = fan_in or int(np.prod(shape[1:])) or 1
        return self.constant((self.rng.standard_normal(shape) * (2.0 / fan_in) ** 0.5).astype(np.float32))

    def vector(self, n, low, high):
        return self.constant(self.rng.uniform(low, high, n).astype(np.float32))

    def fresh(self, stem):
        self.count += 1
        return f"{stem}_{self.count}"

    def op(self, kind, *inputs, outputs=1, name=None, domain="", **attributes):
        """Adds a node; returns its output, or the list of them."""
        name = name or f"/{kind}_{len(self.nodes)}"
        results = [self.fresh(kind.lower()) for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), results, name=name, domain=domain, **attributes))
        if inputs and inputs[0] in self.channels:
            for result in results:
                self.channels[result] = self.channels[inputs[0]]
        return results[0] if outputs == 1 else results

    def output(self, value, name, shape=None, dtype=TensorProto.FLOAT):
        self.nodes.append(helper.make_node("Identity", [value], [name], name=f"/output_{name}"))
        self.outputs.append(helper.make_tensor_value_info(name, dtype, shape))

    def model(self, metadata=None):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8,
                                  producer_name="ingot-tests")
        if metadata:
            helper.set_model_props(model, metadata)
        onnx.checker.check_model(model)
        return model

    # Blocks

    def conv(self, x, out, k=3, stride=1, pad=None, group=1, bias=False, dilation=1):
        kernel = (k, k) if isinstance(k, int) else k
        pad = [dilation * (n // 2) for n in kernel] if pad is None else pad
        weight = self.weight(out, self.channels[x] // group, *kernel)
        extra = [self.vector(out, -0.2, 0.2)] if bias else []
        y = self.op("Conv", x, weight, *extra, kernel_shape=list(kernel), strides=[stride] * len(kernel),
                    pads=list(pad) * 2, group=group, dilations=[dilation] * len(kernel))
        self.channels[y] = out
        return y

    def norm(self, x):
        """BatchNormalization with statistics that keep activations near one."""
        n = self.channels[x]
        return self.op("BatchNormalization", x, self.vector(n, 0.8, 1.2), self.vector(n, -0.1, 0.1),
                       self.vector(n, -0.2, 0.2), self.vector(n, 0.8, 1.5), epsilon=1e-5)

    def conv_norm(self, x, out, k=3, **options):
        return self.norm(self.conv(x, out, k, **options))

    def relu(self, x):
        return self.op("Relu", x)

    def add(self, a, b):
        return self.op("Add", a, b)

    def mul(self, a, b):
        return self.op("Mul", a, b)

    def swish(self, x):
        return self.mul(x, self.op("Sigmoid", x))

    def linear(self, x, fan_in, out, bias=True):
        """MatMul + Add over the last axis."""
        y = self.op("MatMul", x, self.weight(fan_in, out, fan_in=2 * fan_in))
        return self.add(y, self.vector(out, -0.1, 0.1)) if bias else y

    def layer_norm(self, x, n):
        return self.op("LayerNormalization", x, self.vector(n, 0.8, 1.2), self.vector(n, -0.1, 0.1), axis=-1,
                       epsilon=1e-5)

    def decomposed_layer_norm(self, x, n):
        """LayerNormalization as exporters write it below opset 17: as single operators."""
        centred = self.op("Sub", x, self.op("ReduceMean", x, axes=[-1], keepdims=1))
        variance = self.op("ReduceMean", self.op("Pow", centred, self.scalar(2.0)), axes=[-1], keepdims=1)
        scale = self.op("Sqrt", self.add(variance, self.scalar(1e-5)))
        return self.add(self.mul(self.op("Div", centred, scale), self.vector(n, 0.8, 1.2)), self.vector(n, -0.1, 0.1))

    def gelu(self, x):
        """x * 0.5 * (1 + erf(x / sqrt(2))), decomposed."""
        erf = self.op("Erf", self.op("Div", x, self.scalar(2.0**0.5)))
        return self.mul(self.mul(x, self.add(erf, self.scalar(1.0))), self.scalar(0.5))

    def heads(self, x, batch, length, heads, size):
        shaped = self.op("Reshape", x, self.ints(batch, length, heads, size))
        return self.op("Transpose", shaped, perm=[0, 2, 1, 3])

    def attention(self, x, length, width, heads, mask=None, batch=-1):
        size = width // heads
        q, k, v = (self.heads(self.linear(x, width, width), batch, length, heads, size) for _ in range(3))
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self.op("Div", scores, self.scalar(size**0.5))
        if mask:
            scores = self.add(scores, mask)
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), v)
        mixed = self.op("Reshape", self.op("Transpose", mixed, perm=[0, 2, 1, 3]), self.ints(batch, length, width))
        return self.linear(mixed, width, width)

    def global_pool(self, x):
        return self.op("GlobalAveragePool", x)

    def squeeze_excite(self, x, reduced):
        """Channel attention with 1×1 convolutions and HardSigmoid."""
        s = self.conv(self.global_pool(x), reduced, 1, bias=True)
        s = self.conv(self.relu(s), self.channels[x], 1, bias=True)
        y = self.mul(x, self.op("HardSigmoid", s, alpha=1 / 6, beta=0.5))
        self.channels[y] = self.channels[x]
        return y
