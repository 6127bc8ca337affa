"""Models of any number of nodes, with one family for each way in which graphs grow."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
FLOAT = TensorProto.FLOAT
FAMILIES = {}


def family(function):
    FAMILIES[function.__name__.replace("_", "-")] = function
    return function


class Net:
    """Builds a graph. Values are represented by their names, and weights are seeded."""

    def __init__(self, prefix=""):
        self.prefix = prefix
        self.rng = np.random.default_rng(1)
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []
        self.functions = []

    def input(self, *shape, name=None):
        name = name or f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, FLOAT, shape))
        return name

    def output(self, name, *shape):
        self.outputs.append(helper.make_tensor_value_info(name, FLOAT, shape))

    def constant(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weight(self, *shape, scale=0.1):
        return self.constant((self.rng.standard_normal(shape) * scale).astype(np.float32))

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def op(self, kind, *inputs, outputs=1, **attributes):
        results = [f"{self.prefix}v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), results, name=f"{self.prefix}{kind}_{len(self.nodes)}",
                                           **attributes))
        return results[0] if outputs == 1 else results

    def model(self):
        graph = helper.make_graph(self.nodes, "scaling", self.inputs, self.outputs, self.weights)
        opsets = [helper.make_opsetid("", OPSET)] + [helper.make_opsetid("own", 1)] * bool(self.functions)
        return helper.make_model(graph, opset_imports=opsets, functions=self.functions, ir_version=8)


def chain(n, step, shape=(4, 16)):
    """Passes x through `step(net, x, i)` until there are n nodes."""
    net = Net()
    x = net.input(*shape)
    i = 0
    while len(net.nodes) < n:
        x = step(net, x, i)
        i += 1
    net.output(x, *shape)
    return net.model()


@family
def matmul(n):
    """products, each with other weights"""
    return chain(n, in_turn(product))


@family
def softmax(n):
    """softmaxes behind each other"""
    return chain(n, lambda net, x, i: net.op("Softmax", x))


@family
def neg(n):
    """elementwise nodes of one kind"""
    return chain(n, lambda net, x, i: net.op("Neg", x))


@family
def elementwise(n):
    """elementwise nodes that do not cancel each other"""
    kinds = ["Tanh", "Sigmoid", "Softplus"]
    return chain(n, lambda net, x, i: net.op(kinds[i % 3], x))


@family
def residual(n):
    """x + relu(x · W + b)"""

    def step(net, x, i):
        y = net.op("MatMul", x, net.weight(16, 16, scale=0.05))
        y = net.op("Relu", net.op("Add", y, net.weight(16)))
        return net.op("Add", x, y)

    return chain(n, step)


@family
def conv(n):
    """convolutions and relus"""
    return chain(n, lambda net, x, i: net.op("Relu", net.op("Conv", x, net.weight(8, 8, 3, 3, scale=0.15),
                                                             pads=[1, 1, 1, 1])), (1, 8, 6, 6))


def product(net, x):
    return net.op("MatMul", x, net.weight(16, 16, scale=0.25))


def shift(net, x):
    return net.op("Add", x, net.weight(16))


def swap_halves(net, x):
    a, b = net.op("Split", x, outputs=2, axis=1)
    return net.op("Concat", b, a, axis=1)


def center(net, x):
    return net.op("Sub", x, net.op("ReduceMean", x, axes=[1], keepdims=1))


def transpose_twice(net, x):
    return net.op("Transpose", net.op("Transpose", x, perm=[1, 0]), perm=[1, 0])


def normalize(net, x):
    return net.op("LayerNormalization", x, net.weight(16), net.weight(16))


def reshape(net, x):
    y = net.op("Reshape", x, net.ints(8, 8))
    return net.op("Reshape", net.op("Tanh", y), net.ints(4, 16))


def in_turn(*steps):
    return lambda net, x, i: steps[i % len(steps)](net, x)


@family
def mixed(n):
    """eight kinds of nodes in turn"""
    return chain(n, in_turn(product, shift, lambda net, x: net.op("Softmax", x), transpose_twice, swap_halves, center,
                            normalize, reshape))


@family
def open_sizes(n):
    """six kinds of nodes in turn, the first dimension open"""
    return chain(n, in_turn(product, shift, lambda net, x: net.op("Softmax", x), swap_halves, center,
                            lambda net, x: net.op("Tanh", x)), ("N", 16))


@family
def open_shapes(n):
    """Reshapes to computed shapes: Shape, Gather, Concat, Reshape"""

    def step(net, x, i):
        shape = net.op("Shape", x)
        rows = net.op("Gather", shape, net.ints(0), axis=0)
        y = net.op("Reshape", x, net.op("Concat", rows, net.ints(4), net.ints(4), axis=0))
        return net.op("Reshape", net.op("Softmax", y), shape)

    return chain(n, step, ("N", 16))


def fan_out_of(n, rows):
    net = Net()
    x = net.input(rows, 16)
    leaves = [net.op("MatMul", x, net.weight(16, 16)) for _ in range(max(1, n // 2))]
    total = leaves[0]
    for leaf in leaves[1:]:
        total = net.op("Add", total, leaf)
    net.output(total, rows, 16)
    return net.model()


@family
def fan_out(n):
    """one value that n / 2 nodes read, summed in a chain"""
    return fan_out_of(n, 4)


@family
def open_fan_out(n):
    """one value that n / 2 nodes read, with an open number of rows: the run allocates n / 2 buffers, which live at the
    same time"""
    return fan_out_of(n, "N")


@family
def sum_of_all(n):
    """one node with n operands"""
    net = Net()
    x = net.input(4, 16)
    leaves = [net.op("MatMul", x, net.weight(16, 16)) for _ in range(n)]
    net.output(net.op("Sum", *leaves), 4, 16)
    return net.model()


@family
def concat(n):
    """one node that joins n results"""
    net = Net()
    x = net.input(1, 16)
    leaves = [net.op("MatMul", x, net.weight(16, 4)) for _ in range(n)]
    net.output(net.op("Concat", *leaves, axis=1), 1, 4 * n)
    return net.model()


@family
def concat_reversed(n):
    """one node that joins n results, the last one first"""
    net = Net()
    x = net.input(1, 16)
    leaves = [net.op("MatMul", x, net.weight(16, 4)) for _ in range(n)]
    net.output(net.op("Concat", *reversed(leaves), axis=1), 1, 4 * n)
    return net.model()


@family
def concat_input(n):
    """one node that joins one input n times"""
    net = Net()
    x = net.input(1, 4)
    net.output(net.op("Concat", *[x] * n, axis=1), 1, 4 * n)
    return net.model()


@family
def split(n):
    """one node with n results, each read by one"""
    net = Net()
    x = net.input(1, 4 * n)
    parts = net.op("Split", x, outputs=max(2, n), axis=1)
    total = net.op("Softmax", parts[0])
    for part in parts[1:]:
        total = net.op("Add", total, part)
    net.output(total, 1, 4)
    return net.model()


@family
def split_out(n):
    """one node whose n results are outputs of the model"""
    net = Net()
    x = net.input(1, 4 * n)
    for part in net.op("Split", x, outputs=max(2, n), axis=1):
        net.output(part, 1, 4)
    return net.model()


@family
def inputs_outputs(n):
    """n inputs, n outputs"""
    net = Net()
    for i in range(n):
        net.output(net.op("Softmax", net.input(1, 8)), 1, 8)
    return net.model()


@family
def open_inputs_outputs(n):
    """n inputs and n outputs, each with an open size that all share and one of its own"""
    net = Net()
    for i in range(n):
        net.output(net.op("Softmax", net.input("N", f"M{i}")), "N", f"M{i}")
    return net.model()


@family
def initializers(n):
    """x + w, n times"""
    return chain(n, lambda net, x, i: net.op("Add", x, net.weight(4, 16)))


@family
def branches(n):
    """a chain of Ifs with a constant condition, with two nodes in each branch"""

    def branch(x, name, kind):
        inner = Net(name)
        y = inner.op("Neg", inner.op(kind, x))
        return helper.make_graph(inner.nodes, name, [], [helper.make_tensor_value_info(y, FLOAT, (4, 16))])

    def step(net, x, i):
        if i % 5:
            return net.op("Tanh", x)
        return net.op("If", "flag", then_branch=branch(x, f"then{i}_", "Sigmoid"),
                      else_branch=branch(x, f"else{i}_", "Softplus"))

    net = Net()
    x = net.input(4, 16)
    net.weights.append(numpy_helper.from_array(np.array(True), "flag"))
    for i in range(max(1, n // 9 * 5)):  # four nodes outside for five in and around an If
        x = step(net, x, i)
    net.output(x, 4, 16)
    return net.model()


@family
def nested_branches(n):
    """a chain of Ifs with a constant condition, nested eight deep"""
    DEPTH = 8

    def nest(x, name, depth):
        """Returns a graph with an If, and two further nodes besides the graphs in it."""
        inner = Net(name)
        y = inner.op("Tanh", x)
        if depth:
            other = Net(name + "o")
            z = other.op("Neg", y)
            otherwise = helper.make_graph(other.nodes, name + "o", [],
                                          [helper.make_tensor_value_info(z, FLOAT, (4, 16))])
            y = inner.op("If", "flag", then_branch=nest(y, name + "t", depth - 1), else_branch=otherwise)
        return helper.make_graph(inner.nodes, name, [], [helper.make_tensor_value_info(y, FLOAT, (4, 16))])

    net = Net()
    x = net.input(4, 16)
    net.weights.append(numpy_helper.from_array(np.array(True), "flag"))
    for i in range(max(1, n // (3 * DEPTH + 2))):
        graph = nest(x, f"n{i}_", DEPTH)
        net.nodes.extend(graph.node)
        x = graph.output[0].name
    net.output(x, 4, 16)
    return net.model()


@family
def functions(n):
    """calls of the model's own functions: eight of five nodes each"""
    net = Net()
    for k in range(8):
        body = Net()
        y = "x"
        for kind in ("Tanh", "Softmax", "Sigmoid", "Softplus"):
            y = body.op(kind, y)
        y = body.op("Add", y, "x")
        net.functions.append(helper.make_function("own", f"F{k}", ["x"], [y], body.nodes,
                                                  [helper.make_opsetid("", OPSET)]))
    x = net.input(4, 16)
    for i in range(max(1, n // 5)):
        x = net.op(f"F{i % 8}", x, domain="own")
    net.output(x, 4, 16)
    return net.model()


@family
def open_outputs(n):
    """n outputs of open sizes, all different, of one input"""
    net = Net()
    x = net.input("N", 16)
    for i in range(n):
        net.output(net.op("Pad", x, net.ints(i, 0, 0, 0)), f"M{i}", 16)
    return net.model()


def write(name, n, path):
    model = FAMILIES[name](n)
    with open(path, "wb") as f:
        f.write(model.SerializeToString())
