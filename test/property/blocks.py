"""Draws blocks of ops: several kernels that read each other's results."""
import numpy as np
from onnx import helper

from case import FUNCTIONS, LINEAR, Case, normal, some


def conv(rng, case, x, inputs, outputs, kernel, groups=1):
    """Adds a convolution that keeps its input's height and width."""
    scale = (inputs // groups * kernel * kernel) ** -0.5
    weights = [case.weight(normal(rng, [outputs, inputs // groups, kernel, kernel], scale))]
    if rng.random() < 0.5:
        weights.append(case.weight(normal(rng, [outputs])))
    pads = [(kernel - 1) // 2] * 2 + [kernel // 2] * 2
    return case.node("Conv", [x, *weights], kernel_shape=[kernel] * 2, pads=pads, group=groups)


def block_case(rng, name):
    """Makes several kernels that read each other's results: in shared memory, in slices, and in place."""
    case = Case(name, rank=4)
    channels, height, width = (int(v) for v in (2 * rng.integers(1, 20), rng.integers(1, 10), rng.integers(1, 24)))
    batch, kernel = int(rng.integers(1, 3)), some(rng, 1, 2, 3, 5)
    kind = some(rng, "residual", "bottleneck", "concat", "split", "attention", "long rows")
    case.text = f"{kind} {batch} x {channels} x {height} x {width}, kernel {kernel}"
    if kind == "long rows":
        return long_rows(rng, case)
    if kind == "attention":
        return attention(rng, case, batch, height * width, channels)
    last = rng.random() < 0.75
    case.text += " channels last" if last else ""
    x = case.input(normal(rng, [batch, height, width, channels] if last else [batch, channels, height, width]))
    if last:
        x = case.node("Transpose", [x], perm=[0, 3, 1, 2])
    if rng.random() < 0.5:
        x = case.node("Relu", [x])
    if kind == "residual":
        y = x
        for _ in range(int(rng.integers(1, 4))):
            y = case.node("Relu", [conv(rng, case, y, channels, channels, kernel, some(rng, 1, 2, channels))])
        y = case.node("Add", [y, x] if rng.random() < 0.5 else [x, y])
    elif kind == "bottleneck":
        wide = int(channels * rng.integers(1, 4))
        y = case.node("HardSwish", [conv(rng, case, x, channels, wide, 1)])
        y = case.node("HardSwish", [conv(rng, case, y, wide, wide, kernel, wide)])
        gate = case.node("GlobalAveragePool", [y])
        y = case.node("Mul", [y, case.node("Sigmoid", [conv(rng, case, gate, wide, wide, 1)])])
        y = case.node("Add", [conv(rng, case, y, wide, channels, 1), x])
    elif kind == "concat":
        parts = [conv(rng, case, x, channels, int(rng.integers(1, 40)), some(rng, 1, 3)) for _ in range(3)]
        y = case.node("Concat", [case.node("Relu", [p]) for p in parts], axis=1)
    else:
        half = channels // 2
        case.nodes.append(helper.make_node("Split", [x], [f"{name}_left", f"{name}_right"], axis=1,
                                           name=f"{name}_split"))
        case.nodes[-1].input.append(case.weight(np.array([half, half], np.int64)))
        right = conv(rng, case, f"{name}_right", half, half, kernel, some(rng, 1, half))
        y = case.node("Concat", [f"{name}_left", case.node("Relu", [right])], axis=1)
    y = case.node("LeakyRelu", [y], alpha=0.1)
    case.output = case.node("Transpose", [y], perm=[0, 2, 3, 1]) if last else y
    # The gate is a function with an error of its own, and sums of sums are rounded several times.
    case.tolerance = 3 * LINEAR + FUNCTIONS["Sigmoid"]
    return case


def long_rows(rng, case):
    """Makes rows at a distance of a power of two, whole or in two slices. They collide in a cache, and some kernels
    copy them."""
    rows, inner, columns = int(rng.integers(9, 40)), some(rng, 1024, 2048), int(rng.integers(1, 41))
    cut = int(rng.integers(1, inner)) if rng.random() < 0.5 else 0
    if cut and rng.random() < 0.3:
        cut = 256 * max(1, cut // 256)
    case.text = f"long rows {rows} x {inner} x {columns}, cut at {cut}"
    parts = [case.input(normal(rng, [rows, inner]))]
    if cut:
        parts = [case.value(), case.value()]
        case.nodes.append(helper.make_node("Split", [*case.inputs, case.weight(np.array([cut, inner - cut], np.int64))],
                                           parts, axis=1, name=f"{case.name}_split"))
    sizes = [cut, inner - cut] if cut else [inner]
    products = [case.node("MatMul", [part, case.weight(normal(rng, [size, columns], size ** -0.5))])
                for part, size in zip(parts, sizes)]
    case.output = case.node("Add", products) if cut else case.node("Relu", products)
    case.rank = 2
    return case


def attention(rng, case, batch, tokens, width):
    heads = some(rng, 1, 2, 3)
    shape = [batch, heads, tokens, width]
    query, key, value = (case.input(normal(rng, shape)) for _ in range(3))
    scores = case.node("MatMul", [query, case.node("Transpose", [key], perm=[0, 1, 3, 2])])
    scores = case.node("Mul", [scores, case.weight(np.float32(width ** -0.5))])
    y = case.node("MatMul", [case.node("Softmax", [scores], axis=-1), value])
    y = case.node("MatMul", [y, case.weight(normal(rng, [width, 2 * width], width ** -0.5))])
    case.output = case.node("Add", [y, case.weight(normal(rng, [2 * width]))])
    case.tolerance = 3 * LINEAR + FUNCTIONS["Exp"]
    return case
