"""Operators in random shapes, with the work of each in vectors of eight floats: see test/bench/cliffs.py.

Shapes are those of models, and some that no model was tuned for. The work is the minimum that an operator needs. It is
multiply-adds if it multiplies, where the columns of each product fill whole vectors. It is elements if it does not
multiply, and vectors of 32 bytes if it only moves data. Padding counts as arithmetic. Each case is a model of one
operator with fixed sizes, and a second model with some sizes dynamic.
"""
import math

import numpy as np
from onnx import TensorProto, helper

from case import normal, some
from products import (LANES, Shape, attention, convolution, depthwise, few_pixels, grouped, image, line, odd_convolution,
                      pixels, product, recurrent, run_time_product, to_first, to_last, transposed, vectors, volume, window, x)


def some_shape(rng, least_rank=2, most=60000):
    """Draws dimensions with 20,000 to 60,000 elements."""
    while True:
        dims = [some(rng, int(rng.integers(2, 17)), int(rng.integers(16, 200)))
                for _ in range(int(rng.integers(least_rank, 5)))]
        if 20000 <= math.prod(dims) <= most:
            return dims


def open_some(rng, shape, value, dims):
    axes = [axis for axis in range(len(dims)) if rng.random() < 0.5] or [int(rng.integers(len(dims)))]
    shape.open(value, *axes)
    return f" open {axes}"


# Windows and rows -----------------------------------------------------------------------------------------------------

def pooling(rng, name):
    shape = Shape(name)
    channels = some(rng, 8 * int(rng.integers(1, 17)), int(rng.integers(8, 100)))
    n = some(rng, 1, 2, 3, p=[0.2, 0.6, 0.2])
    sizes = {1: [int(rng.integers(40, 300))], 2: pixels(rng, 1200), 3: [int(s) for s in rng.integers(4, 10, 3)]}[n]
    kernel, strides, _, _, _ = window(rng, sizes, [some(rng, 2, 3, 5)] * n)
    pads = [k // 2 if k % 2 else 0 for k in kernel]
    out = [(s + 2 * p - k) // st + 1 for s, p, k, st in zip(sizes, pads, kernel, strides)]
    op = some(rng, "MaxPool", "AveragePool")
    y = shape.case.node(op, [image(rng, shape, 1, channels, sizes)], kernel_shape=kernel, strides=strides,
                        pads=pads * 2)
    shape.rows = math.prod(out)
    # A maximum that propagates NaN takes two more operations.
    shape.work = shape.rows * math.prod(kernel) * vectors(channels) * (2 if op == "MaxPool" else 1)
    shape.text = f"{op} {channels} @{x(*sizes)}, {kernel[0]} /{strides[0]}"
    return shape.result(shape.case.node("Transpose", [y], perm=to_last(n + 2)), n + 2)


def global_pooling(rng, name):
    shape = Shape(name)
    channels, sizes = some(rng, 8 * int(rng.integers(4, 40)), int(rng.integers(16, 200))), pixels(rng, 600)
    op = some(rng, "GlobalAveragePool", "GlobalMaxPool")
    y = shape.case.node(op, [image(rng, shape, 1, channels, sizes)])
    shape.rows, shape.work = 1, math.prod(sizes) * vectors(channels) * (2 if "Max" in op else 1)
    shape.text = f"{op} {channels} @{x(*sizes)}"
    return shape.result(shape.case.node("Transpose", [y], perm=to_last(4)), 4)


def softmax(rng, name):
    shape = Shape(name)
    dims = some_shape(rng)
    axis = -1 if rng.random() < 0.6 else int(rng.integers(len(dims)))
    value = shape.case.input(normal(rng, dims))
    op = some(rng, "Softmax", "LogSoftmax", p=[0.8, 0.2])
    shape.text = f"{op} {x(*dims)} axis {axis}" + open_some(rng, shape, value, dims)
    outer, inner = math.prod(dims[:axis % len(dims)]), math.prod(dims[axis % len(dims) + 1:])
    shape.rows = outer * vectors(inner)
    shape.work = shape.rows * dims[axis] if inner > 1 else outer * vectors(dims[axis])
    return shape.result(shape.case.node(op, [value], axis=axis), len(dims))


def norm(rng, name):
    shape = Shape(name)
    dims = some_shape(rng)
    value = shape.case.input(normal(rng, dims))
    op = some(rng, "LayerNormalization", "RMSNormalization", "by hand")
    scale, bias = (shape.case.weight(normal(rng, [dims[-1]])) for _ in range(2))
    shape.open(value, *[axis for axis in range(len(dims) - 1) if rng.random() < 0.6] or [0])
    shape.text = f"{op} {x(*dims)} open {sorted(shape.case.dynamic[value])}"
    if op == "LayerNormalization":
        y = shape.case.node(op, [value, scale, bias], axis=-1)
    elif op == "RMSNormalization":
        y = shape.case.node(op, [value, scale], axis=-1)
    else:
        last = shape.case.weight(np.array([-1], np.int64))
        centred = shape.case.node("Sub", [value, shape.case.node("ReduceMean", [value, last])])
        power = shape.case.node("Mul", [centred, centred])
        variance = shape.case.node("ReduceMean", [power, last])
        root = shape.case.node("Sqrt", [shape.case.node("Add", [variance, shape.case.weight(np.float32(1e-5))])])
        y = shape.case.node("Mul", [shape.case.node("Div", [centred, root]), scale])
    shape.rows = math.prod(dims[:-1])
    shape.work = shape.rows * vectors(dims[-1])
    return shape.result(y, len(dims))


def group_norm(rng, name):
    shape = Shape(name)
    groups = int(rng.integers(1, 9))
    channels, sizes = groups * some(rng, 4, 8, int(rng.integers(2, 17))), pixels(rng, 900)
    scale, bias = (shape.case.weight(normal(rng, [channels])) for _ in range(2))
    data = image(rng, shape, 1, channels, sizes)
    if rng.random() < 0.5:
        y, op = shape.case.node("GroupNormalization", [data, scale, bias], num_groups=groups), "group norm"
    else:
        y, op = shape.case.node("InstanceNormalization", [data, scale, bias]), "instance norm"
    shape.rows, shape.work = math.prod(sizes), math.prod(sizes) * vectors(channels)
    shape.text = f"{op} {channels} @{x(*sizes)}, {groups} groups"
    return shape.result(shape.case.node("Transpose", [y], perm=to_last(4)), 4)


def reduction(rng, name):
    shape = Shape(name)
    dims = some_shape(rng)
    count = int(rng.integers(1, len(dims)))
    axes = sorted(int(a) for a in rng.choice(len(dims), count, replace=False))
    value = shape.case.input(normal(rng, dims))
    op = some(rng, "ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2", "ReduceProd")
    shape.text = f"{op} {x(*dims)} axes {axes}" + open_some(rng, shape, value, dims)
    keep = int(rng.integers(0, 2))
    y = shape.case.node(op, [value, shape.case.weight(np.array(axes, np.int64))], keepdims=keep)
    shape.work = math.prod(dims[:-1]) * vectors(dims[-1])
    shape.work *= 2 if op == "ReduceMax" else 1
    shape.rows = math.prod(dims) // math.prod(dims[a] for a in axes) if len(dims) - 1 in axes else 0
    return shape.result(y, len(dims) if keep else len(dims) - count)


def resize(rng, name):
    shape = Shape(name)
    channels, sizes = some(rng, 8 * int(rng.integers(1, 9)), int(rng.integers(3, 30))), pixels(rng, 300)
    mode = some(rng, "nearest", "linear")
    factor = some(rng, 2, 3, 4, 0.5)
    last = rng.random() < 0.7
    if last:
        data = image(rng, shape, 1, channels, sizes)
    else:
        data = shape.case.input(normal(rng, [1, channels, *sizes]))
        shape.open(data, 2, 3)
    y = shape.case.node("Resize", [data, "", shape.case.weight(np.array([1, 1, factor, factor], np.float32))],
                        mode=mode, coordinate_transformation_mode=some(rng, "half_pixel", "asymmetric"),
                        nearest_mode="floor")
    out = [int(s * factor) for s in sizes]
    if rng.random() < 0.3:
        # An upsampled map is added to another map, as in a feature pyramid.
        other = shape.case.input(normal(rng, [1, *out, channels] if last else [1, channels, *out]))
        shape.open(other, *((1, 2) if last else (2, 3)))
        added = shape.case.node("Transpose", [other], perm=to_first(4)) if last else other
        y = shape.case.node("Add", [y, added])
        shape.text = "added "
    if last:
        y = shape.case.node("Transpose", [y], perm=to_last(4))
        shape.work, shape.rows = math.prod(out) * vectors(channels), math.prod(out)
    else:
        shape.work, shape.rows = channels * out[0] * vectors(out[1]), channels * out[0]
    shape.text += f"{mode} {channels} @{x(*sizes)} x{factor}{', last' * last}"
    return shape.result(y, 4)


# Movement -------------------------------------------------------------------------------------------------------------

TYPES = ((TensorProto.FLOAT, np.float32), (TensorProto.FLOAT16, np.float16), (TensorProto.UINT8, np.uint8))


def typed(rng, shape, dims):
    kind, numpy = some(rng, *TYPES, p=[0.6, 0.2, 0.2])
    # Ops that only move elements must be exact.
    shape.case.type, shape.case.tolerance = kind, 0
    array = normal(rng, dims) if numpy != np.uint8 else rng.integers(0, 256, dims)
    return shape.case.input(array.astype(numpy)), np.dtype(numpy)


def moved(elements, dtype):
    return -(-elements * dtype.itemsize // 32)


def transpose(rng, name):
    shape = Shape(name)
    dims = some_shape(rng)
    value, dtype = typed(rng, shape, dims)
    while True:
        perm = [int(p) for p in rng.permutation(len(dims))]
        if perm != sorted(perm):
            break
    shape.text = f"{dtype} {x(*dims)} to {perm}" + open_some(rng, shape, value, dims)
    shape.work = moved(math.prod(dims), dtype)
    # Contiguous ranges are copied. Other elements are transposed in registers, at best a vector at a time.
    run = math.prod(dims[i] for i in range(len(dims)) if perm[i:] == list(range(i, len(dims))))
    shape.rows = math.prod(dims) // run if run > 1 else 0
    return shape.result(shape.case.node("Transpose", [value], perm=perm), len(dims))


def windows(rng, name):
    """Draws windows of a map and their merging, as in Swin; sometimes the map is rolled before."""
    shape = Shape(name)
    side, count, channels = some(rng, 4, 7), [int(n) for n in rng.integers(2, 6, 2)], 16 * int(rng.integers(1, 7))
    rows, columns = (side * n for n in count)
    value = shape.case.input(normal(rng, [1, rows, columns, channels]))
    shape.open(value, 0)
    y, times = value, 1
    if rng.random() < 0.5:
        for axis in (1, 2):
            parts = [shape.case.node("Slice", [y, *(shape.case.weight(np.array([v], np.int64)) for v in (a, b, axis))])
                     for a, b in ((side // 2, 1 << 30), (0, side // 2))]
            y = shape.case.node("Concat", parts, axis=axis)
        times = 3
    split = shape.case.weight(np.array([-1, count[0], side, count[1], side, channels], np.int64))
    y = shape.case.node("Transpose", [shape.case.node("Reshape", [y, split])], perm=[0, 1, 3, 2, 4, 5])
    y = shape.case.node("Reshape", [y, shape.case.weight(np.array([-1, side * side, channels], np.int64))])
    shape.work = times * moved(rows * columns * channels, np.dtype(np.float32))
    shape.rows = times * rows * count[1]
    shape.text = f"{count} windows of {side} of {channels}{', rolled' * (times > 1)}"
    return shape.result(y, 3)


def movement(rng, name):
    """Draws Concat, Split, Pad and Slice: rows are copied."""
    shape = Shape(name)
    dims = some_shape(rng)
    axis = int(rng.integers(len(dims)))
    op = some(rng, "Concat", "Split", "Pad", "Slice", "Expand")
    value, dtype = typed(rng, shape, dims)
    ints = lambda *v: shape.case.weight(np.array(v, np.int64))  # noqa: E731
    inner = math.prod(dims[axis + 1:])
    others = [a for a in range(len(dims)) if a != axis]
    shape.open(value, *[a for a in others if rng.random() < 0.6] or [others[0]])
    total = math.prod(dims)
    if op == "Concat":
        other, _ = shape.case.input(shape.case.inputs[value] + 0), None
        shape.case.dynamic[other] = dict(shape.case.dynamic[value])
        y = shape.case.node("Concat", [value, other], axis=axis)
        total, runs = 2 * total, 2 * math.prod(dims[:axis])
    elif op == "Split":
        if dims[axis] < 2:
            return movement(rng, name)
        first = int(rng.integers(1, dims[axis]))
        parts = [shape.case.value() for _ in range(2)]
        shape.case.nodes.append(helper.make_node("Split", [value, ints(first, dims[axis] - first)], parts, axis=axis))
        y = parts[0]
        total, runs = total // dims[axis] * first, math.prod(dims[:axis])
    elif op == "Pad":
        low, high = (int(n) for n in rng.integers(0, 4, 2))
        y = shape.case.node("Pad", [value, ints(low, high), "", ints(axis)])
        total, runs = total // dims[axis] * (dims[axis] + low + high), math.prod(dims[:axis])
    elif op == "Slice":
        begin, step = int(rng.integers(0, dims[axis] // 2)), some(rng, 1, 1, 2)
        y = shape.case.node("Slice", [value, ints(begin), ints(dims[axis]), ints(axis), ints(step)])
        kept = -(-(dims[axis] - begin) // step)
        total, runs = total // dims[axis] * kept, math.prod(dims[:axis]) * (kept if step > 1 else 1)
    else:
        many = int(rng.integers(2, 5))
        y = shape.case.node("Expand", [shape.case.node("Unsqueeze", [value, ints(axis)]),
                                       ints(*[many if a == axis else 1 for a in range(len(dims) + 1)])])
        total, runs = many * total, many * math.prod(dims[:axis])
        dims = [*dims, 1]
    # A range shorter than a vector takes one operation per element.
    shape.work, shape.rows = moved(total, dtype), runs
    if op == "Slice" and runs == total:
        shape.work = 2 * total // 8
    shape.text = f"{op} {dtype} {x(*dims)} axis {axis}, runs of {total // runs}, open {sorted(shape.case.dynamic[value])}"
    return shape.result(y, len(dims))


def gather(rng, name):
    shape = Shape(name)
    many, width = int(rng.integers(50, 400)), some(rng, 16 * int(rng.integers(1, 30)), int(rng.integers(1, 100)))
    count, axis = max(20, 40000 // width), some(rng, 0, 0, 1)
    outer = some(rng, 2, 5) if axis else 1
    count //= outer
    data = normal(rng, [*[outer] * axis, many, width])
    table = shape.case.input(data) if rng.random() < 0.5 else shape.case.weight(data)
    indices = shape.case.input(rng.integers(-many, many, [2, count // 2]).astype(np.int64))
    shape.open(indices, 1)
    shape.work = outer * (count // 2 * 2) * vectors(width)
    shape.rows = outer * (count // 2 * 2)
    shape.text = f"{count} of {x(*data.shape)} axis {axis}"
    return shape.result(shape.case.node("Gather", [table, indices], axis=axis), 3 + axis)


def selection(rng, name):
    """Draws TopK. Its work is the number of elements, plus ten vectors for each item that is kept temporarily.
    """
    shape = Shape(name)
    size, axis = int(rng.integers(20, 6000)), some(rng, 1, 1, 0)
    rows = max(1, int(rng.integers(20000, 60000)) // size)
    k = int(rng.integers(1, some(rng, 16, size, size)))
    value = shape.case.input(normal(rng, [rows, size] if axis else [size, rows]))
    shape.text = f"{k} of {size}, {rows} rows, axis {axis}" + open_some(rng, shape, value, [rows, size])
    kept = min(size, 2 * k + 256 if k > 16 else k)
    kept += k * math.log(size / kept)
    shape.rows, shape.work = rows, int(rows * (vectors(size) + 10 * kept + (400 if k > 16 else 0)))
    values, indices = shape.case.value(), shape.case.value()
    shape.case.nodes.append(helper.make_node("TopK", [value, shape.case.weight(np.array([k]))], [values, indices], axis=axis))
    return shape.result(values, 2)


# Elementwise ----------------------------------------------------------------------------------------------------------

# Operations per vector: functions of Ingot, and their parts.
UNARY = {"Relu": 1, "Neg": 1, "Abs": 1, "Sqrt": 1, "Exp": 16, "Tanh": 20, "Sigmoid": 20, "Erf": 20, "HardSwish": 5,
         "LeakyRelu": 3, "Log": 25, "Softplus": 60}


def elementwise(rng, name):
    """Draws a chain whose operands broadcast in all ways."""
    shape = Shape(name)
    dims = some_shape(rng)
    value = shape.case.input(normal(rng, dims))
    axes = [axis for axis in range(len(dims)) if rng.random() < 0.4]
    names = {axis: f"{shape.case.name}_n{axis}" for axis in axes}
    shape.open_as(value, names)
    y, each = value, 2
    shape.text = f"{x(*dims)} open {axes}:"
    for _ in range(int(rng.integers(1, 5))):
        if rng.random() < 0.5:
            op = some(rng, *UNARY)
            if op in ("Sqrt", "Log", "Exp"):
                y = shape.case.node("Abs", [y])
            if op == "Exp":
                y = shape.case.node("Neg", [y])
            if op == "Log":
                y = shape.case.node("Add", [y, shape.case.weight(np.float32(0.5))])
            y, each = shape.case.node(op, [y]), each + UNARY[op] + 2
        else:
            op = some(rng, "Add", "Mul", "Sub", "Max", "Min", "Div")
            kept = [rng.random() < 0.6 for _ in dims]
            other = shape.case.input(np.abs(normal(rng, [d if k else 1 for d, k in zip(dims, kept)])) + 0.5)
            shape.open_as(other, {a: n for a, n in names.items() if kept[a]})
            y, each = shape.case.node(op, [y, other]), each + 2
            op += "".join(map(str, map(int, kept)))
        shape.text += f" {op}"
    shape.rows = math.prod(dims[:-1])
    shape.work = each * shape.rows * vectors(dims[-1])
    return shape.result(y, len(dims))


def types(rng, name):
    """Draws conversions between types, selections and comparisons."""
    shape = Shape(name)
    dims = some_shape(rng)
    value = shape.case.input(normal(rng, dims))
    shape.text = f"{x(*dims)}" + open_some(rng, shape, value, dims)
    op = some(rng, "where", "mask", "half", "byte", "quantize")
    zero = shape.case.weight(np.float32(0))
    if op == "where":
        y = shape.case.node("Where", [shape.case.node("Greater", [value, zero]), value, zero])
    elif op == "mask":
        mask = shape.case.input(rng.random(dims) < 0.5)
        shape.open_as(mask, shape.case.dynamic[value])
        y = shape.case.node("Where", [shape.case.node("Not", [mask]), value, zero])
    elif op == "half":
        y = shape.case.node("Cast", [shape.case.node("Cast", [value], to=TensorProto.FLOAT16)], to=TensorProto.FLOAT)
    elif op == "byte":
        y = shape.case.node("Cast", [shape.case.node("Cast", [value], to=TensorProto.INT32)], to=TensorProto.FLOAT)
    else:
        parameters = [shape.case.weight(np.float32(0.1)), shape.case.weight(np.uint8(128))]
        y = shape.case.node("QuantizeLinear", [value, *parameters])
        y = shape.case.node("DequantizeLinear", [y, *parameters])
    shape.text = f"{op} {shape.text}"
    shape.rows, shape.work = math.prod(dims[:-1]), math.prod(dims) // LANES * (3 if op == "byte" else 1)
    return shape.result(y, len(dims))


# For each family: operations per vector of work and per row, and those for dynamic sizes.
FAMILIES = {
    convolution: (2.5, 60), odd_convolution: (2.5, 60), depthwise: (4, 60), grouped: (4, 60), line: (2.5, 60),
    volume: (3, 60), transposed: (2.5, 60), product: (3, 60), run_time_product: (3.2, 60), attention: (2.5, 60),
    recurrent: (3, 200), pooling: (3, 60), global_pooling: (4, 40), softmax: (40, 80), norm: (12, 60),
    group_norm: (12, 20), reduction: (5, 40), resize: (15, 30), transpose: (12, 20), windows: (5, 20),
    movement: (5, 30), gather: (5, 30), elementwise: (2, 40), types: (12, 30),
    selection: (24, 100), few_pixels: (3.3, 60),
}

# Families with known problems: they are counted, and skipped if they fail.
KNOWN = {
    "grouped": "groups of another number of channels than 2, 4 or whole vectors",
    "softmax": "open rows of three to eight vectors, and few rows of part of a vector of columns",
    "transpose": "open rows or columns of fewer elements than a square has, or few more",
    "resize": "added to a map whose open innermost size may be 1",
    "movement": "open runs of few elements",
}


def shape_case(rng, name):
    """Returns a case of any family, for the property tests; half of the cases have dynamic sizes."""
    shape = some(rng, *FAMILIES)(rng, name)
    if rng.random() < 0.5:
        shape.case.dynamic = {}
    shape.case.text = f"{shape.text}{' fixed' * (not shape.case.dynamic)}:"
    return shape.case


def draw(family, number, seed=0):
    """Returns a case of a family, by its number."""
    names = [f.__name__ for f in FAMILIES]
    rng = np.random.default_rng([seed, names.index(family), number])
    for _ in range(100):
        shape = next(f for f in FAMILIES if f.__name__ == family)(rng, f"{family}{number}")
        operations = FAMILIES[next(f for f in FAMILIES if f.__name__ == family)]
        if 30_000 <= operations[0] * shape.work <= 3_000_000:
            return shape
    raise ValueError(f"{family} {number} has no shape of fit size")
