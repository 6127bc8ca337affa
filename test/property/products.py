"""Convolutions, products, attention and recurrent networks in random shapes, with their work: see shapes.py."""
import math

import numpy as np

from case import Case, normal, some

LANES = 8


class Shape:
    """A model of one operator, and its work."""

    def __init__(self, name):
        self.case, self.work, self.rows, self.text = Case(name, opset=23, tolerance=1e-4), 0, 0, ""

    def open(self, value, *axes):
        """Makes sizes of an input dynamic."""
        self.case.dynamic.setdefault(value, {}).update({axis: f"{value}_n{axis}" for axis in axes})

    def open_as(self, value, names):
        self.case.dynamic.setdefault(value, {}).update(names)

    def result(self, value, rank):
        self.case.output, self.case.rank = value, rank
        return self


def vectors(columns):
    return -(-columns // LANES)


def x(*dims):
    return "x".join(map(str, dims))


def to_first(rank):
    return [0, rank - 1, *range(1, rank - 1)]


def to_last(rank):
    return [0, *range(2, rank), 1]


def image(rng, shape, batch, channels, sizes):
    """Adds a channels-last input, which is the layout inside of a compiled model."""
    rank = len(sizes) + 2
    value = shape.case.input(normal(rng, [batch, *sizes, channels]))
    axes = [axis for axis in range(1, rank - 1) if sizes[axis - 1] > 1]
    shape.open(value, *axes[rng.integers(len(axes)):] if rng.random() < 0.3 else axes, *[0] * (rng.random() < 0.3))
    return shape.case.node("Transpose", [value], perm=to_first(rank))


# Convolutions ---------------------------------------------------------------------------------------------------------

def window(rng, sizes, kernel=None):
    n = len(sizes)
    kernel = kernel or [some(rng, 1, 3, 5, p=[0.3, 0.5, 0.2])] * n
    kernel = [min(k, s) for k, s in zip(kernel, sizes)]
    strides = [some(rng, 1, 2, p=[0.7, 0.3])] * n
    dilations = [some(rng, 1, 2, p=[0.9, 0.1])] * n
    pads = [(k - 1) * d // 2 for k, d in zip(kernel, dilations)]
    out = [(s + 2 * p - (k - 1) * d - 1) // st + 1 for s, p, k, d, st in zip(sizes, pads, kernel, dilations, strides)]
    return kernel, strides, dilations, pads, out


def make_conv(rng, name, channels, outputs, sizes, groups=1, kernel=None):
    shape = Shape(name)
    kernel, strides, dilations, pads, out = window(rng, sizes, kernel)
    inner = channels // groups * math.prod(kernel)
    data = image(rng, shape, 1, channels, sizes)
    inputs = [data, shape.case.weight(normal(rng, [outputs, channels // groups, *kernel], inner ** -0.5))]
    inputs.append(shape.case.weight(normal(rng, [outputs])))
    y = shape.case.node("Conv", inputs, kernel_shape=kernel, strides=strides, dilations=dilations, group=groups,
                        pads=pads * 2)
    if rng.random() < 0.5:
        y = shape.case.node("Relu", [y])
    rank = len(sizes) + 2
    shape.rows = math.prod(out)
    # Several groups of few channels fill a vector together.
    shape.work = shape.rows * inner * vectors(outputs)
    shape.text = (f"{channels} -> {outputs} @{x(*sizes)}, {x(*kernel)} /{strides[0]} dilated {dilations[0]}, "
                  f"{groups} groups")
    return shape.result(shape.case.node("Transpose", [y], perm=to_last(rank)), rank)


def pixels(rng, most=1200):
    """Draws height and width."""
    height = int(rng.integers(4, 40))
    return [height, int(rng.integers(4, max(5, most // height)))]


def convolution(rng, name):
    channels, outputs = (8 * int(rng.integers(1, 9)) for _ in range(2))
    return make_conv(rng, name, channels, outputs, pixels(rng, 500))


def odd_convolution(rng, name):
    channels, outputs = int(rng.integers(1, 40)), int(rng.integers(1, 70))
    return make_conv(rng, name, channels, outputs, pixels(rng, 800))


def depthwise(rng, name):
    channels = some(rng, 8 * int(rng.integers(1, 24)), int(rng.integers(8, 100)))
    return make_conv(rng, name, channels, channels, pixels(rng, 1600), channels, [some(rng, 3, 5)] * 2)


def grouped(rng, name):
    each, groups = some(rng, 2, 3, 4, 8, 16), int(rng.integers(2, 17))
    wide = each * some(rng, 1, 1, 2)
    return make_conv(rng, name, each * groups, wide * groups, pixels(rng, 800), groups, [some(rng, 1, 3)] * 2)


def line(rng, name):
    channels, outputs = (8 * int(rng.integers(1, 9)) for _ in range(2))
    steps = int(rng.integers(40, 400))
    sizes = some(rng, [steps], [steps, 1], [1, steps])
    kernel = [some(rng, 1, 3, 5) if s > 1 else 1 for s in sizes]
    return make_conv(rng, name, channels, outputs, sizes, 1, kernel)


def few_pixels(rng, name):
    """Draws fewer pixels than the rows of a register tile, as short windows of sound have."""
    channels, outputs = (32 * int(rng.integers(2, 9)) for _ in range(2))
    sizes = [[2], [3], [1, 2], [2, 1]][rng.integers(4)]
    return make_conv(rng, name, channels, outputs, sizes, 1, [3] * len(sizes))


def volume(rng, name):
    channels, outputs = (8 * int(rng.integers(1, 5)) for _ in range(2))
    return make_conv(rng, name, channels, outputs, [int(n) for n in rng.integers(4, 12, 3)], 1, [some(rng, 1, 3)] * 3)


def transposed(rng, name):
    shape = Shape(name)
    channels, outputs = 8 * int(rng.integers(1, 9)), some(rng, 8 * int(rng.integers(1, 9)), int(rng.integers(5, 20)))
    n = some(rng, 1, 2, p=[0.2, 0.8])
    sizes = pixels(rng, 300) if n == 2 else [int(rng.integers(40, 200))]
    kernel, stride, pad = some(rng, (2, 2, 0), (4, 2, 1), (3, 2, 1), (3, 1, 1), (8, 4, 2))
    data = image(rng, shape, 1, channels, sizes)
    inner = channels * kernel ** n / stride ** n
    weights = [normal(rng, [channels, outputs, *[kernel] * n], inner ** -0.5), normal(rng, [outputs])]
    y = shape.case.node("ConvTranspose", [data, *map(shape.case.weight, weights)], kernel_shape=[kernel] * n,
                        strides=[stride] * n, pads=[pad] * 2 * n)
    shape.rows = math.prod((s - 1) * stride - 2 * pad + kernel for s in sizes)
    shape.work = int(shape.rows * inner * vectors(outputs))
    shape.text = f"{channels} -> {outputs} @{x(*sizes)}, {kernel} /{stride}"
    return shape.result(shape.case.node("Transpose", [y], perm=to_last(n + 2)), n + 2)


# Products -------------------------------------------------------------------------------------------------------------

def product(rng, name):
    """Draws a product by constant weights."""
    shape = Shape(name)
    rows = some(rng, 1, int(rng.integers(2, 16)), int(rng.integers(16, 300)), p=[0.15, 0.25, 0.6])
    inner, columns = (some(rng, 8 * int(rng.integers(2, 33)), int(rng.integers(8, 200))) for _ in range(2))
    if rows == 1:
        inner, columns = inner * 2, columns * 4
    a = shape.case.input(normal(rng, [rows, inner]))
    if rows > 1:
        shape.open(a, 0)
    w = normal(rng, [inner, columns], inner ** -0.5)
    if rng.random() < 0.5:
        y = shape.case.node("MatMul", [a, shape.case.weight(w)])
    else:
        y = shape.case.node("Gemm", [a, shape.case.weight(w.T), shape.case.weight(normal(rng, [columns]))], transB=1)
    # A single row loads all weights for itself.
    shape.rows, shape.work = rows, rows * inner * vectors(columns) * (2 if rows == 1 else 1)
    shape.text = f"{rows}x{inner}x{columns}"
    return shape.result(y, 2)


def run_time_product(rng, name):
    """Draws a product of two tensors of the run; any size may be dynamic."""
    shape = Shape(name)
    rows, inner, columns = (some(rng, int(rng.integers(2, 16)), int(rng.integers(16, 120)), p=[0.2, 0.8])
                            for _ in range(3))
    batch = some(rng, [], [int(rng.integers(2, 9))], [2, int(rng.integers(2, 5))])
    shared = bool(batch) and rng.random() < 0.2
    a = shape.case.input(normal(rng, [*batch, rows, inner]))
    is_transposed = rng.random() < 0.4
    b = shape.case.input(normal(rng, [*([] if shared else batch), *((columns, inner) if is_transposed else
                                                                    (inner, columns))], inner ** -0.5))
    n, depth = len(batch), shape.case.name + "_k"
    b_rank = n * (not shared) + 2
    names = [some(rng, {"n"}, {"k"}, {"m"}, {"m", "n"}, {"n", "k"}, {"m", "n", "k"})][0]
    if "m" in names:
        shape.open(a, n)
    if "k" in names:
        shape.open_as(a, {n + 1: depth})
        shape.open_as(b, {b_rank - 1 if is_transposed else b_rank - 2: depth})
    if "n" in names:
        shape.open(b, b_rank - 2 if is_transposed else b_rank - 1)
    if batch and not shared and rng.random() < 0.3:
        for value in (a, b):
            shape.open_as(value, {0: shape.case.name + "_b"})
    y = b
    if is_transposed:
        y = shape.case.node("Transpose", [b], perm=[*range(b_rank - 2), b_rank - 1, b_rank - 2])
    times = math.prod(batch)
    shape.rows, shape.work = times * rows, times * rows * inner * vectors(columns)
    # The right factor is packed, or its rows are read in place.
    shape.work += 4 * (1 if shared else times) * inner * vectors(columns)
    shape.text = f"{x(*batch)} {rows}x{inner}x{columns}{' transposed' * is_transposed}{' shared' * shared}, open {names}"
    return shape.result(shape.case.node("MatMul", [a, y]), n + 2)


def attention(rng, name):
    shape = Shape(name)
    heads, size = int(rng.integers(1, 5)), some(rng, 16, 32, 64)
    queries = int(rng.integers(16, 130))
    keys = queries if rng.random() < 0.5 else int(rng.integers(16, 130))
    parts = []
    for length, letter in ((queries, "q"), (keys, "k"), (keys, "k")):
        value = shape.case.input(normal(rng, [1, length, heads, size]))
        shape.open_as(value, {1: shape.case.name + letter})
        parts.append(value)
    q, k, v = (shape.case.node("Transpose", [p], perm=perm)
               for p, perm in zip(parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])))
    scores = shape.case.node("Mul", [shape.case.node("MatMul", [q, k]), shape.case.weight(np.float32(size ** -0.5))])
    y = shape.case.node("MatMul", [shape.case.node("Softmax", [scores], axis=-1), v])
    shape.rows = heads * queries
    # Counts two products, and about 20 operations per vector of exponentials.
    shape.work = heads * vectors(queries) * keys * (2 * size + 10)
    shape.text = f"{heads} heads of {size}, {queries} x {keys}"
    return shape.result(shape.case.node("Transpose", [y], perm=[0, 2, 1, 3]), 4)


def recurrent(rng, name):
    shape = Shape(name)
    op, gates = some(rng, ("LSTM", 4), ("GRU", 3), ("RNN", 1))
    steps, batch = int(rng.integers(5, 20)), some(rng, 1, int(rng.integers(2, 9)))
    width, hidden = int(rng.integers(8, 100)), some(rng, 8 * int(rng.integers(2, 13)), int(rng.integers(16, 100)))
    direction, directions = some(rng, ("forward", 1), ("reverse", 1), ("bidirectional", 2))
    data = shape.case.input(normal(rng, [steps, batch, width]))
    shape.open(data, *some(rng, (0,), (1,), (0, 1)))
    weights = [normal(rng, [directions, gates * hidden, n], n ** -0.5) for n in (width, hidden)]
    weights.append(normal(rng, [directions, 2 * gates * hidden]))
    attributes = {"linear_before_reset": int(rng.integers(0, 2))} if op == "GRU" else {}
    y = shape.case.node(op, [data, *map(shape.case.weight, weights)], hidden_size=hidden, direction=direction,
                        **attributes)
    shape.rows = directions * steps * batch
    # Counts about 15 operations per vector for the function of a gate.
    shape.work = shape.rows * gates * vectors(hidden) * (width + hidden + 15)
    shape.text = f"{op} {steps}x{batch}x{width} -> {hidden} {direction}"
    return shape.result(y, 4)
