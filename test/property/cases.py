"""Draws models of a heavy op and the ops after it, or of a block of ops. The seed, a number, identifies a case.

Data is channels-last in most convolutions: the compiler removes the transposes around the op. So the kernel itself
reads and writes the buffers of the run.
"""
import numpy as np
from onnx import helper, numpy_helper

from attention import attention_case
from blocks import block_case
from case import FUNCTIONS, LINEAR, MAX_WORK, Case, normal, some
from layout import layout_case
from recurrence import sequence_case
from shapes import shape_case
from signs import sign_case


# Ops after the heavy op ---------------------------------------------------------------------------------------------

def unary(rng, case, x, channels, channel_axis, rank):
    name = some(rng, *FUNCTIONS)
    case.tolerance += FUNCTIONS[name]
    case.text += f" {name}"
    if name == "LeakyRelu":
        return case.node(name, [x], alpha=0.1)
    if name == "Clip":
        return case.node(name, [x, case.weight(np.float32(-0.5)), case.weight(np.float32(1.5))])
    if name == "PRelu":
        shape = [1] * rank
        shape[channel_axis] = channels
        return case.node(name, [x, case.weight(normal(rng, shape[1:], 0.3))])
    if name == "Swish":
        return case.node("Mul", [x, case.node("Sigmoid", [x])])
    if name == "Mish":
        return case.node("Mul", [x, case.node("Tanh", [case.node("Softplus", [x])])])
    if name == "Gelu":
        erf = case.node("Erf", [case.node("Mul", [x, case.weight(np.float32(0.70710678))])])
        half = case.node("Mul", [x, case.weight(np.float32(0.5))])
        return case.node("Mul", [half, case.node("Add", [erf, case.weight(np.float32(1))])])
    return case.node(name, [x])


def binary(rng, case, x, shape, place):
    """Adds a binary op with a number, or with a tensor that broadcasts; `place(array)` makes an input of this tensor.
    """
    name = some(rng, "Add", "Mul", "Sub", "Max", "Min", "Div")
    kind = some(rng, "number", "channel", "same", "mixed")
    dims = list(shape)
    if kind == "number":
        dims = []
    elif kind == "channel":
        dims = [1] * len(shape)
        dims[case.channel_axis] = shape[case.channel_axis]
    elif kind == "mixed":
        dims = [d if rng.random() < 0.5 else 1 for d in shape]
    array = normal(rng, dims)
    if name == "Div":
        array = np.asarray(np.sign(array) * np.maximum(np.abs(array), 0.5), np.float32)
    constant = kind == "number" or rng.random() < 0.5
    other = case.weight(array) if constant else place(array)
    swap = name != "Div" and rng.random() < 0.4
    shape = "x".join(map(str, dims)) or "number"
    case.text += f" {name}({shape}{' const' if constant else ''}{' swapped' if swap else ''})"
    return case.node(name, [other, x] if swap else [x, other])


def epilogue(rng, case, x, shape, place):
    for _ in range(some(rng, 0, 1, 2, 3, 4, p=[0.25, 0.3, 0.2, 0.15, 0.1])):
        if rng.random() < 0.5:
            x = unary(rng, case, x, shape[case.channel_axis], case.channel_axis, len(shape))
        else:
            x = binary(rng, case, x, shape, place)
    return x


# Convolutions ---------------------------------------------------------------------------------------------------------

def draw_window(rng, ndim):
    kernel = [int(k) for k in rng.integers(1, 8 if ndim < 3 else 4, ndim)]
    if rng.random() < 0.3:
        kernel = [some(rng, 1, 3)] * ndim
    strides = [int(s) for s in rng.choice([1, 2, 3, 4], ndim, p=[0.6, 0.25, 0.1, 0.05])]
    dilations = [int(d) for d in rng.choice([1, 2, 3], ndim, p=[0.75, 0.15, 0.1])]
    style = some(rng, "none", "same", "any", p=[0.25, 0.4, 0.35])
    pads = []
    for k, d in zip(kernel, dilations):
        extent = (k - 1) * d
        low, high = {"none": (0, 0), "same": (extent // 2, extent - extent // 2)}.get(style) or \
            rng.integers(0, extent + 3, 2)
        pads.append((int(low), int(high)))
    return kernel, strides, dilations, pads


def draw_conv(rng):
    """Draws sizes of a convolution that has an output and not too much work."""
    while True:
        ndim = some(rng, 1, 2, 3, p=[0.2, 0.6, 0.2])
        kernel, strides, dilations, pads = draw_window(rng, ndim)
        kind = some(rng, "dense", "narrow", "depthwise", "grouped", p=[0.45, 0.1, 0.25, 0.2])
        # Short rows of many channels use blocks of weights.
        sizes = [int(s) for s in rng.integers(1, 12, ndim - 1)] + [int(rng.integers(1, 11 if kind == "narrow" else 41))]
        out = [(s + lo + hi - (k - 1) * d - 1) // st + 1 if s + lo + hi > (k - 1) * d else 0
               for s, (lo, hi), k, d, st in zip(sizes, pads, kernel, dilations, strides)]
        channels, outputs, groups = int(rng.integers(1, 71)), int(rng.integers(1, 71)), 1
        if kind == "depthwise":
            groups = channels
            outputs = channels * some(rng, 1, 2, 3, p=[0.8, 0.1, 0.1])
        elif kind == "narrow":
            channels = int(rng.integers(100, 400))
        elif kind == "grouped":
            groups = int(rng.integers(2, 9))
            channels, outputs = groups * int(rng.integers(1, 10)), groups * int(rng.integers(1, 40))
        batch = some(rng, 1, 2, 3, p=[0.6, 0.3, 0.1])
        work = batch * int(np.prod(out)) * outputs * (channels // groups) * int(np.prod(kernel))
        if min(out) > 0 and work <= MAX_WORK:
            return batch, sizes, out, kernel, strides, dilations, pads, channels, outputs, groups


def draw_window_conv(rng):
    """Draws windows of any stride and dilation on any size, without preferring useful ones. They are often wider than
    the data."""
    while True:
        ndim = some(rng, 1, 2, 3, p=[0.2, 0.65, 0.15])
        kernel, strides, dilations = ([int(v) for v in rng.integers(1, most + 1, ndim)] for most in (7, 7, 5))
        sizes = [int(s) for s in rng.integers(1, 41, ndim)]
        pads = [tuple(int(p) for p in rng.integers(0, (k - 1) * d + 4, 2)) for k, d in zip(kernel, dilations)]
        out = [(s + lo + hi - (k - 1) * d - 1) // st + 1 if s + lo + hi > (k - 1) * d else 0
               for s, (lo, hi), k, d, st in zip(sizes, pads, kernel, dilations, strides)]
        channels, outputs = int(rng.integers(1, 71)), int(rng.integers(1, 71))
        groups = 1
        if rng.random() < 0.4:
            groups = some(rng, *[g for g in range(1, channels + 1) if channels % g == 0])
            outputs = groups * int(rng.integers(1, 1 + max(1, 70 // groups)))
        batch = int(rng.integers(1, 5))
        work = batch * int(np.prod(out)) * outputs * (channels // groups) * int(np.prod(kernel))
        if min(out) > 0 and work <= MAX_WORK:
            return batch, sizes, out, kernel, strides, dilations, pads, channels, outputs, groups


def spatial(rng, case, rank):
    """Returns a function that makes an input of an array, and the permutation if the run brings channels-last data."""
    case.channel_axis = 1
    if rng.random() >= 0.75:
        return case.input, None
    to_first, to_last = [0, rank - 1, *range(1, rank - 1)], [0, *range(2, rank), 1]

    def place(array):
        if array.ndim == rank:
            return case.node("Transpose", [case.input(array.transpose(to_last))], perm=to_first)
        return case.input(array)

    return place, to_last


def conv_case(rng, name, sizes_of=draw_conv):
    batch, sizes, out, kernel, strides, dilations, pads, channels, outputs, groups = sizes_of(rng)
    case = Case(name)
    rank = len(sizes) + 2
    place, to_last = spatial(rng, case, rank)
    bias = rng.random() < 0.5
    dynamic = rng.random() < 0.15
    case.text = (f"conv {batch}{' dynamic' if dynamic else ''} x {channels} x {sizes} -> {outputs} x {out}, kernel "
                 f"{kernel}, strides {strides}, dilations {dilations}, pads {pads}, groups {groups}"
                 f"{', bias' if bias else ''}{', channels last' if to_last else ''}:")
    x = place(normal(rng, [batch, channels, *sizes]))
    inputs = [x, case.weight(normal(rng, [outputs, channels // groups, *kernel],
                                    (channels // groups * np.prod(kernel)) ** -0.5))]
    if bias:
        inputs.append(case.weight(normal(rng, [outputs])))
    y = case.node("Conv", inputs, kernel_shape=kernel, strides=strides, dilations=dilations, group=groups,
                  pads=[p[0] for p in pads] + [p[1] for p in pads])
    y = epilogue(rng, case, y, [batch, outputs, *out], place)
    case.output = case.node("Transpose", [y], perm=to_last) if to_last else y
    finish(case, rank, dynamic and batch)
    open_pixels(rng, case, rank, to_last)
    return case


def window_case(rng, name):
    return conv_case(rng, name, draw_window_conv)


def draw_filter(rng):
    """Draws 3x3 taps with more channels and pixels, for Winograd."""
    while True:
        sizes = [int(s) for s in rng.integers(1, 25, 2)]
        pads = [tuple(int(p) for p in rng.integers(0, 4, 2)) for _ in sizes]
        if rng.random() < 0.5:
            pads = [(1, 1), (1, 1)]
        out = [s + low + high - 2 for s, (low, high) in zip(sizes, pads)]
        channels, outputs = (int(c) for c in rng.integers(16, some(rng, 50, 100, 300), 2))
        batch = some(rng, 1, 2, 3, p=[0.7, 0.2, 0.1])
        if min(out) > 0 and batch * out[0] * out[1] * channels * outputs * 9 <= 10 * MAX_WORK:
            return batch, sizes, out, [3, 3], [1, 1], [1, 1], pads, channels, outputs, 1


def filter_case(rng, name):
    return conv_case(rng, name, draw_filter)


# Transposed convolutions ----------------------------------------------------------------------------------------------

def draw_deconv(rng):
    """Draws sizes of a transposed convolution that has an output and not too much work."""
    while True:
        ndim = some(rng, 1, 2, 3, p=[0.2, 0.65, 0.15])
        kernel, strides, dilations, _ = draw_window(rng, ndim)
        if rng.random() < 0.4:
            strides = [some(rng, 1, 2, 3)] * ndim
            kernel = [k * some(rng, 1, 1, 2) for k in strides]
        sizes = [int(s) for s in rng.integers(1, 9, ndim - 1)] + [int(rng.integers(1, 33))]
        style = some(rng, "none", "same", "any", p=[0.35, 0.35, 0.3])
        pads, beyond = [], []
        for k, s, d in zip(kernel, strides, dilations):
            extent = (k - 1) * d
            most = max(0, extent + 1 - s)
            low, high = {"none": (0, 0), "same": (most // 2, most - most // 2)}.get(style) or \
                rng.integers(0, extent + 2, 2)
            pads.append((int(low), int(high)))
            # ONNX Runtime requires output padding below the stride; ONNX requires it below the larger of stride and
            # dilation.
            beyond.append(int(rng.integers(0, s)) if rng.random() < 0.3 else 0)
        out = [(n - 1) * s + (k - 1) * d + 1 + b - lo - hi
               for n, k, s, d, (lo, hi), b in zip(sizes, kernel, strides, dilations, pads, beyond)]
        kind = some(rng, "dense", "depthwise", "grouped", p=[0.65, 0.15, 0.2])
        channels, outputs, groups = int(rng.integers(1, 71)), int(rng.integers(1, 71)), 1
        if kind == "depthwise":
            groups = channels
            outputs = channels * some(rng, 1, 2, p=[0.8, 0.2])
        elif kind == "grouped":
            groups = int(rng.integers(2, 9))
            channels, outputs = groups * int(rng.integers(1, 10)), groups * int(rng.integers(1, 20))
        batch = some(rng, 1, 2, 3, p=[0.6, 0.3, 0.1])
        work = batch * int(np.prod(sizes)) * channels * (outputs // groups) * int(np.prod(kernel))
        if min(out) > 0 and work <= MAX_WORK and np.prod(out) * outputs <= MAX_WORK // 8:
            return batch, sizes, out, kernel, strides, dilations, pads, beyond, channels, outputs, groups


def deconv_case(rng, name):
    batch, sizes, out, kernel, strides, dilations, pads, beyond, channels, outputs, groups = draw_deconv(rng)
    case = Case(name)
    bias, dynamic = rng.random() < 0.5, rng.random() < 0.15
    place, to_last = spatial(rng, case, len(sizes) + 2)
    case.text = (f"deconv {batch}{' dynamic' if dynamic else ''} x {channels} x {sizes} -> {outputs} x {out}, kernel "
                 f"{kernel}, strides {strides}, dilations {dilations}, pads {pads}, output padding {beyond}, groups "
                 f"{groups}{', bias' if bias else ''}{', channels last' if to_last else ''}:")
    x = place(normal(rng, [batch, channels, *sizes]))
    inputs = [x, case.weight(normal(rng, [channels, outputs // groups, *kernel],
                                    (channels // groups * np.prod(kernel)) ** -0.5))]
    if bias:
        inputs.append(case.weight(normal(rng, [outputs])))
    y = case.node("ConvTranspose", inputs, kernel_shape=kernel, strides=strides, dilations=dilations, group=groups,
                  output_padding=beyond, pads=[p[0] for p in pads] + [p[1] for p in pads])
    y = epilogue(rng, case, y, [batch, outputs, *out], place)
    case.output = case.node("Transpose", [y], perm=to_last) if to_last else y
    finish(case, len(sizes) + 2, dynamic and batch)
    open_pixels(rng, case, len(sizes) + 2, to_last)
    return case


# Matrix products ------------------------------------------------------------------------------------------------------

def prune(rng, case, matrix):
    """Sets blocks of `matrix`, k by columns, to zero: most blocks, all blocks of a column, or a few."""
    blocks = [some(rng, 4, 8, 16, 32), some(rng, 16, 32)]
    kept = rng.random([-(-size // block) for size, block in zip(matrix.shape, blocks)]) < some(rng, 0.1, 0.3, 0.6)
    kept[:, rng.random(kept.shape[1]) < 0.1] = False
    mask = np.repeat(np.repeat(kept, blocks[0], 0), blocks[1], 1)
    matrix *= mask[:matrix.shape[0], :matrix.shape[1]]
    case.text += f" pruned {blocks[0]} x {blocks[1]}"


def matmul_case(rng, name):
    case = Case(name)
    while True:
        rows, inner, columns = (int(v) for v in rng.integers(1, 201, 3))
        if rng.random() < 0.4:
            rows = int(rng.integers(1, 20))
        if rng.random() < 0.1:  # rows that fall into the same cache sets
            inner = some(rng, 1024, 2048)
        batch = some(rng, [], [int(rng.integers(1, 13))], [int(v) for v in rng.integers(1, 5, 2)], p=[0.4, 0.4, 0.2])
        if rows * inner * columns * int(np.prod(batch)) <= MAX_WORK:
            break
    b_batch = some(rng, [], batch)
    constant = rng.random() < 0.5
    transposed, a_transposed = rng.random() < 0.35, rng.random() < 0.1
    dynamic = rng.random() < 0.3 and (constant or not b_batch)
    shape_b = [*b_batch, columns, inner] if transposed else [*b_batch, inner, columns]
    case.text = (f"matmul {batch}{' dynamic' if dynamic else ''} {rows} x {inner} x {columns}, b {shape_b}"
                 f"{' const' if constant else ''}{' transposed' if transposed else ''}"
                 f"{', a transposed' if a_transposed else ''}")
    a = case.input(normal(rng, [*batch, inner, rows] if a_transposed else [*batch, rows, inner]))
    b = normal(rng, shape_b, inner ** -0.5)
    weights = b = case.weight(b) if constant else case.input(b)
    shape = [*batch, rows, columns]
    case.channel_axis = len(shape) - 1
    if not batch and rng.random() < 0.5:
        case.text += " gemm"
        inputs = [a, b]
        if rng.random() < 0.7:
            bias = some(rng, [columns], [1, columns], [rows, 1], [1], [rows, columns])
            case.text += f" c {bias}"
            inputs.append(case.weight(normal(rng, bias)) if rng.random() < 0.7 else case.input(normal(rng, bias)))
            dynamic = dynamic and rows not in bias
        y = case.node("Gemm", inputs, transA=int(a_transposed), transB=int(transposed),
                      alpha=some(rng, 1.0, 0.5), beta=some(rng, 1.0, 2.0))
    else:
        swap = [*range(len(batch)), len(batch) + 1, len(batch)]
        if a_transposed:
            a = case.node("Transpose", [a], perm=swap)
        if transposed:
            b = case.node("Transpose", [b], perm=[*range(len(b_batch)), len(b_batch) + 1, len(b_batch)])
        y = case.node("MatMul", [a, b])
    case.text += ":"
    case.output = epilogue(rng, case, y, shape, case.input)
    if constant and not b_batch and rng.random() < 0.4:
        weights = case.weights[weights]
        prune(rng, case, weights.T if transposed else weights)
    finish(case, len(shape), dynamic and shape[0], axis=1 if dynamic and a_transposed and not batch else 0)
    return case


# Blocks ---------------------------------------------------------------------------------------------------------------

# Resizing -------------------------------------------------------------------------------------------------------------

def resize_case(rng, name):
    case = Case(name)
    place, to_last = spatial(rng, case, 4)
    batch, channels = some(rng, 1, 2), some(rng, int(rng.integers(1, 40)), 16, 32)
    sizes = [int(s) for s in rng.integers(1, 16, 2)]
    scales = [float(rng.choice([0.5, 0.6, 1, 1.5, 2, 3, 4, 8])) for _ in sizes]
    if rng.random() < 0.5:
        scales = [scales[0]] * 2
    out = [int(n * s) for n, s in zip(sizes, scales)]
    if min(out) < 1:
        scales, out = [1.0, 2.0], [sizes[0], 2 * sizes[1]]
    mode = some(rng, "nearest", "linear", "cubic", p=[0.3, 0.5, 0.2])
    coordinates = some(rng, "half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
    case.text = (f"resize {mode} {coordinates} {batch} x {channels} x {sizes} -> {out}"
                 f"{', channels last' if to_last else ''}:")
    x = place(normal(rng, [batch, channels, *sizes]))
    # Sometimes sizes are an input. Scales are then the quotients of these sizes and the sizes of x.
    wanted = [x, "", case.weight(np.array([1, 1, *scales], np.float32))]
    if rng.random() < 0.3:
        wanted = [x, "", "", case.input(np.array([batch, channels, *out], np.int64))]
        case.text += " sizes of the run"
    y = case.node("Resize", wanted, mode=mode, coordinate_transformation_mode=coordinates, nearest_mode="floor")
    y = epilogue(rng, case, y, [batch, channels, *out], place)
    case.output = case.node("Transpose", [y], perm=to_last) if to_last else y
    case.rank = 4
    return case


# Recurrent networks ------------------------------------------------------------------------------------------------

def recurrent_case(rng, name):
    case = Case(name)
    op, gates = some(rng, ("LSTM", 4), ("GRU", 3), ("RNN", 1), p=[0.45, 0.4, 0.15])
    steps, batch = int(rng.integers(1, 10)), some(rng, 1, 2, 5, p=[0.7, 0.2, 0.1])
    width, hidden = int(rng.integers(1, 70)), int(rng.integers(1, 97))
    direction = some(rng, "forward", "reverse", "bidirectional", p=[0.4, 0.2, 0.4])
    directions = 2 if direction == "bidirectional" else 1
    bias, initial, lengths = rng.random() < 0.7, rng.random() < 0.3, rng.random() < 0.3
    attributes = {"linear_before_reset": int(rng.integers(0, 2))} if op == "GRU" else {}
    case.text = (f"{op} {steps} x {batch} x {width} -> {hidden} {direction}{', bias' if bias else ''}"
                 f"{', initial state' if initial else ''}{', lengths' if lengths else ''} {attributes or ''}:")
    x = case.input(normal(rng, [steps, batch, width]))
    inputs = [x, case.weight(normal(rng, [directions, gates * hidden, width], width ** -0.5)),
              case.weight(normal(rng, [directions, gates * hidden, hidden], hidden ** -0.5)),
              case.weight(normal(rng, [directions, 2 * gates * hidden])) if bias else "",
              case.weight(rng.integers(1, steps + 1, batch).astype(np.int32)) if lengths else ""]
    if initial:
        inputs += [case.input(normal(rng, [directions, batch, hidden])) for _ in range(2 if op == "LSTM" else 1)]
    y = case.node(op, inputs, hidden_size=hidden, direction=direction, **attributes)
    case.output = case.node("Relu", [y])
    # Each step adds errors of its sums and function to the state, and mostly damps earlier errors.
    case.tolerance = 2 * (LINEAR + FUNCTIONS["Tanh"] + FUNCTIONS["Sigmoid"])
    case.rank = 4
    return case


def finish(case, rank, dynamic, axis=0):
    """Sets the output, and the inputs whose first dimension is dynamic."""
    case.rank = rank
    if not dynamic:
        return
    first = next(iter(case.inputs))
    case.dynamic[first] = {axis: f"{case.name}_n"}
    case.dynamic[case.output] = {0: f"{case.name}_n"}
    for name, array in list(case.inputs.items())[1:]:
        if array.ndim == rank and array.shape[0] == dynamic and dynamic > 1:
            case.dynamic[name] = {0: f"{case.name}_n"}


def open_pixels(rng, case, rank, channels_last):
    """In some cases makes the sizes of pixels dynamic."""
    if rng.random() >= 0.4:
        return
    axes = [1 + i + (not channels_last) for i in range(rank - 2) if rng.random() < 0.7]
    first = next(iter(case.inputs))
    case.text += f" open {axes}"
    case.dynamic[first] = {**case.dynamic.get(first, {}), **{axis: f"{case.name}_x{axis}" for axis in axes}}


# Add new kinds at the end: the index is part of the seed.
KINDS = {"conv": conv_case, "matmul": matmul_case, "block": block_case, "deconv": deconv_case,
         "recurrent": recurrent_case, "resize": resize_case, "attention": attention_case, "window": window_case,
         "layout": layout_case, "sequence": sequence_case, "shape": shape_case, "filter": filter_case,
         "signs": sign_case}


def draw(kind, number, seed=0):
    rng = np.random.default_rng([seed, list(KINDS).index(kind), number])
    return KINDS[kind](rng, f"{kind}{number}")


def make_model(cases):
    """Makes one model of many cases."""
    def info(name, kind, shape, dynamic):
        dims = [dynamic.get(i, d) for i, d in enumerate(shape)]
        return helper.make_tensor_value_info(name, kind, dims)
    inputs = [info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape, c.dynamic.get(n, {}))
              for c in cases for n, a in c.inputs.items()]
    outputs = [info(c.output, c.type, [f"{c.name}_d{i}" for i in range(c.rank)], c.dynamic.get(c.output, {}))
               for c in cases]
    opset = max(c.opset for c in cases)
    tensors = [numpy_helper.from_array(a, n) for c in cases for n, a in c.weights.items()]
    graph = helper.make_graph([n for c in cases for n in c.nodes], "kernels", inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
