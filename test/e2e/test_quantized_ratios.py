"""Tests pairs of quantization whose scales have a simple ratio.

Every tie is rounded as ONNX defines it, to the even quotient, as ONNX Runtime does without fusion."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from support import Case, peer

TYPES = {"uint8": TensorProto.UINT8, "int8": TensorProto.INT8, "uint16": TensorProto.UINT16, "int16": TensorProto.INT16}
RATIOS = [(1, 2), (1, 3), (2, 3), (3, 4), (1, 1), (2, 1), (3, 2), (1, 4), (4, 3)]
MOST_OFF = 1e-3

# Operators between two pairs: (operator, attributes, True if it has a second operand).
BETWEEN = {
    "nothing": None, "relu": ("Relu", {}), "leaky_relu": ("LeakyRelu", {"alpha": 0.5}), "elu": ("Elu", {}),
    "swish": ("Swish", {}), "hard_swish": ("HardSwish", {}), "gelu": ("Gelu", {}), "softplus": ("Softplus", {}),
    "sigmoid": ("Sigmoid", {}), "tanh": ("Tanh", {}), "hard_sigmoid": ("HardSigmoid", {}),
    "add": ("Add", {}), "mul": ("Mul", {}), "concat": ("Concat", {"axis": 1}),
    "average_pool": ("AveragePool", {"kernel_shape": [2, 2], "strides": [2, 2]}),
    "nearest": ("Resize", {"mode": "nearest"}),
}
OF_TWO = ("add", "mul", "concat")


class Graph:
    """A pair for each scale, on the same bytes, with one operator between."""

    def __init__(self, kind, dtype, seed, is_open):
        self.kind, self.rng, self.nodes, self.tensors = kind, np.random.default_rng(seed), [], []
        self.limits, self.dtype = np.iinfo(dtype), np.dtype(dtype)
        shape = [1, 8, 8, 4] if self.dtype.itemsize == 1 else [1, 8, 64, 4]
        data = self.limits.min + np.arange(np.prod(shape)) * (1 if self.dtype.itemsize == 1 else 37)
        self.feeds = {"q": data.astype(dtype).reshape(shape)}
        if kind in OF_TWO:
            self.feeds["p"] = self.rng.integers(self.limits.min, self.limits.max + 1, shape).astype(dtype)
        self.outputs = [self.pair(i, *RATIOS[i % len(RATIOS)]) for i in range(len(RATIOS))]
        dims = ["n", 8, "h", "w"] if is_open else shape
        info = helper.make_tensor_value_info
        graph = helper.make_graph(self.nodes, "ratios", [info(n, TYPES[dtype], dims) for n in self.feeds],
                                  [info(n, TYPES[dtype], None) for n in self.outputs], self.tensors)
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=11)

    def constant(self, value, dtype=np.float32):
        name = f"c{len(self.tensors)}"
        self.tensors.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def node(self, op, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def pair(self, number, above, below):
        scale = np.float32(self.rng.uniform(0.005, 0.05))
        other = scale * np.float32(below) / np.float32(above)
        zeros = [self.constant(self.rng.integers(self.limits.min // 2, 100), self.dtype) for _ in range(2)]
        first, second = self.constant(scale), self.constant(other)
        operands = [self.node("DequantizeLinear", "q", first, zeros[0])]
        if "p" in self.feeds:
            operands.append(self.node("DequantizeLinear", "p", second, zeros[1]))
        if self.kind == "nearest":
            operands += ["", self.constant([1, 1, 2, 2])]
        between = BETWEEN[self.kind]
        y = self.node(between[0], *operands, **between[1]) if between else operands[0]
        self.nodes.append(helper.make_node("QuantizeLinear", [y, second, zeros[1]], [f"y{number}"]))
        return f"y{number}"


class Ratios(Case):
    def check(self, kind, dtype, seed, is_open=False, *options):
        graph = Graph(kind, dtype, seed, is_open)
        with self.subTest(kind=kind, dtype=dtype, is_open=is_open, options=options):
            want = peer(graph.model, as_written=True).run(graph.outputs, graph.feeds)
            got = self.run_model(self.compile(graph.model, *options), graph.feeds)
            off = np.concatenate([np.abs(got[n].astype(int) - w.astype(int)).ravel()
                                  for n, w in zip(graph.outputs, want)])
            self.assertLessEqual(off.max(), 1)
            self.assertLessEqual(np.count_nonzero(off) / off.size, MOST_OFF)

    def test_between(self):
        for seed, kind in enumerate(BETWEEN):
            for dtype in TYPES:
                self.check(kind, dtype, seed)

    def test_open_sizes(self):
        for seed, kind in enumerate(("relu", "add", "swish", "average_pool")):
            self.check(kind, "uint8", seed, True)

    def test_levels(self):
        """Without fused multiply-adds, and with oneDNN."""
        for options in (("--target=x86-64-v2",), ("--kernels=onednn",)):
            for seed, kind in enumerate(("relu", "add", "elu")):
                self.check(kind, "int8", seed, False, *options)
