"""Draws matrix products, convolutions, windows, norms, recurrent networks, attention, and 8-bit values."""
import math

import numpy as np
from onnx import helper

from graph import (BF16, F16, F32, F64, FLOATS, FUNCTION_ERROR, I32, I64, I8, Num, SETS, TYPES, U8, allowed, broadcast,
                   elements, family_of, fixed, is_fixed, least)
from movement import like, signed, some_axis

FAMILY, family = family_of()
SUMS = {F32: 2.0**-20, F64: 2.0**-48, F16: 2.0**-8, BF16: 2.0**-6}


def product(k, x, y, dtype):
    """Returns the range of a sum of k products."""
    size = max(k, 1) * x.size * y.size
    error = max(k, 1) * (x.size * y.error + y.size * x.error) + SUMS.get(dtype, 0) * size
    return Num(-size, size, None if dtype in FLOATS else 0, error)


def small(k):
    """Returns the range of weights that are summed k times."""
    return Num(-1, 1, 3 + max(0, math.ceil(math.log2(max(k, 1)) / 2)))


def float_types(op):
    return allowed(op) & {F32, F64, F16, BF16}


@family(14)
def matmul(g):
    x = g.pick(lambda v: v.rank >= 1, types=allowed("MatMul"), make=lambda: g.input(g.favourite, g.shape(3)))
    k = x.shape[-1]
    n = g.dim()
    if g.chance(0.4):
        y = g.pick(lambda v: v.rank >= 2 and v.shape[-2] == k and (x.rank == 1 or broadcast(
            x.shape[:-2], v.shape[:-2]) is not None), types={x.dtype})
    else:
        y = None
    if y is None:
        batch = [d if g.chance(0.5) else fixed(1) for d in x.shape[:-2]]
        if g.chance(0.15):  # two dynamic sizes of a batch, one of them broadcast
            batch = [g.dim() if max(d) == 1 else d for d in batch]
        shape = [*batch[g.between(0, len(batch)) if batch else 0:], k, n] if g.chance(0.9) else [k]
        if all(is_fixed(d) for d in shape) and g.chance(0.7):
            y = g.weight(x.dtype, [d[0] for d in shape], small(k[0]) if x.dtype in FLOATS else None)
        else:
            y = g.input(x.dtype, shape, small(max(k)) if x.dtype in FLOATS else None)
    a, b = x.shape, y.shape
    batch = broadcast(a[:-2], b[:-2])
    if batch is None:
        return None
    shape = [*batch, *(a[-2:-1] if len(a) > 1 else []), *(b[-1:] if len(b) > 1 else [])]
    return g.node("MatMul", [x, y], [(x.dtype, shape, product(max(k), x.num, y.num, x.dtype))])


@family(8)
def gemm(g):
    x = g.pick(lambda v: v.rank == 2, types=float_types("Gemm"), make=lambda: g.input(g.favourite, g.shape(2)))
    ta, tb = g.between(0, 1), g.between(0, 1)
    m, k = x.shape[::-1] if ta else x.shape
    n = fixed(g.between(1, 17)) if g.chance(0.8) else g.dim()
    shape = [n, k] if tb else [k, n]
    y = g.weight(x.dtype, [d[0] for d in shape], small(k[0])) if all(map(is_fixed, shape)) and g.chance(0.7) else \
        g.input(x.dtype, shape, small(max(k)))
    alpha, beta = g.one(1.0, 0.5), g.one(1.0, 2.0)
    num = product(max(k), x.num, y.num, x.dtype)
    operands = [x, y]
    if g.chance(0.7):
        shape = g.one([n], [fixed(1), n], [m, n], [m, fixed(1)], [fixed(1)], [])
        c = g.weight(x.dtype, [d[0] for d in shape]) if all(map(is_fixed, shape)) else g.input(x.dtype, shape)
        operands.append(c)
        num = Num(num.low - 2 * c.num.size, num.high + 2 * c.num.size, None, num.error + 2 * c.num.error)
    return g.node("Gemm", operands, [(x.dtype, [m, n], num)], transA=ta, transB=tb, alpha=alpha, beta=beta)


@family(4)
def einsum(g):
    x = g.pick(lambda v: 2 <= v.rank <= 4, types={F32, F64})
    if not x:
        return None
    letters = "abcd"[:x.rank]
    order = list(letters)
    kind = g.one("transpose", "reduce", "matmul", "outer")
    size = dict(zip(letters, x.shape))
    if kind == "transpose":
        g.random.shuffle(order)
        return g.node("Einsum", [x], [like(x, [size[c] for c in order])], equation=f"{letters}->{''.join(order)}")
    if kind == "reduce":
        out = order[:-1]
        k = max(size[letters[-1]])
        return g.node("Einsum", [x], [(x.dtype, [size[c] for c in out], product(k, x.num, Num(1, 1), x.dtype))],
                      equation=f"{letters}->{''.join(out)}")
    k = size[letters[-1]]
    size["z"] = g.dim()
    other = [letters[-1], "z"] if kind == "matmul" else ["z"]
    if g.chance(0.4) and kind == "matmul":
        other.insert(0, letters[0])
    y = g.input(x.dtype, [size[c] for c in other], small(max(k)))
    out = [c for c in letters if c not in other or c == letters[0] and len(other) == 3] + ["z"]
    if kind == "outer":
        out, k = [*letters, "z"], fixed(1)
    g.random.shuffle(out)
    return g.node("Einsum", [x, y], [(x.dtype, [size[c] for c in out], product(max(k), x.num, y.num, x.dtype))],
                  equation=f"{letters},{''.join(other)}->{''.join(out)}")


def window(g, dims, ceil=False):
    """Returns kernel, strides, dilations and pads that fit the dimensions in every set, and the sizes of the result."""
    kernel, strides, dilations, before, behind, out = [], [], [], [], [], []
    for d in dims:
        k = g.one(1, 1, 2, 3, 3, 5)
        dilation = g.one(1, 1, 1, 2) if k > 1 else 1
        b, e = (g.between(0, min(2, k - 1)) for _ in range(2))
        while (k - 1) * dilation + 1 > least(d) + b + e and k > 1:
            k, dilation, b, e = k - 1, 1, 0, 0
        b, e = min(b, k - 1), min(e, k - 1)
        s = g.one(1, 1, 1, 2, 3)
        kernel.append(k), strides.append(s), dilations.append(dilation), before.append(b), behind.append(e)
        out.append(tuple((n + b + e - (k - 1) * dilation - 1) // s + 1 for n in d))
    return kernel, strides, dilations, before + behind, out


def image(g, types):
    """Returns an image, a row or a volume: [N, C fixed, spatial...]."""
    def make():
        rank = g.one(1, 2, 2, 2, 3)
        dtype = g.favourite if g.favourite in types else F32
        return g.input(dtype, [g.dim(), fixed(g.one(1, 2, 3, 4, 8, 16)), *[g.dim(long=True) for _ in range(rank)]])
    return g.pick(lambda v: 3 <= v.rank <= 5 and is_fixed(v.shape[1]) and v.shape[1][0] > 0 and
                  all(least(d) >= 2 for d in v.shape[2:]), types=types, make=make)


@family(12)
def conv(g):
    x = image(g, float_types("Conv"))
    channels = x.shape[1][0]
    group = g.one(1, 1, 1, *[d for d in range(1, channels + 1) if channels % d == 0])
    features = group * g.one(1, 2, 3, 4)
    kernel, strides, dilations, pads, out = window(g, x.shape[2:])
    k = channels // group * math.prod(kernel)
    w = g.weight(x.dtype, [features, channels // group, *kernel], small(k)) if g.chance(0.9) else \
        g.input(x.dtype, [fixed(d) for d in (features, channels // group, *kernel)], small(k))
    operands, num = [x, w], product(k, x.num, w.num, x.dtype)
    if g.chance(0.5):
        b = g.weight(x.dtype, [features])
        operands.append(b)
        num = Num(num.low - b.num.size, num.high + b.num.size, None, num.error)
    attributes = dict(pads=pads)
    if g.chance(0.15):
        attributes = dict(auto_pad="SAME_UPPER" if g.chance(0.5) else "SAME_LOWER")
        out = [tuple(-(-n // s) for n in d) for d, s in zip(x.shape[2:], strides)]
        dilations = [1] * len(kernel)
    if g.chance(0.5):
        attributes["kernel_shape"] = kernel
    return g.node("Conv", operands, [(x.dtype, [x.shape[0], fixed(features), *out], num)], strides=strides,
                  dilations=dilations, group=group, **attributes)


@family(5)
def conv_transpose(g):
    x = image(g, float_types("ConvTranspose"))
    channels = x.shape[1][0]
    group = g.one(1, 1, *[d for d in range(1, channels + 1) if channels % d == 0])
    per_group = g.one(1, 2, 3)
    rank = x.rank - 2
    kernel = [g.between(1, 4) for _ in range(rank)]
    strides = [g.between(1, 3) for _ in range(rank)]
    more = [g.between(0, s - 1) if g.chance(0.3) else 0 for s in strides]
    pads = [g.between(0, min(k - 1, 1)) for k in kernel * 2]
    out = [tuple((n - 1) * s + k + m - pads[i] - pads[rank + i] for n in d)
           for i, (d, s, k, m) in enumerate(zip(x.shape[2:], strides, kernel, more))]
    if any(least(d) < 1 for d in out):
        return None
    k = channels // group * math.prod(kernel)
    w = g.weight(x.dtype, [channels, per_group, *kernel], small(k))
    return g.node("ConvTranspose", [x, w], [(x.dtype, [x.shape[0], fixed(group * per_group), *out],
                                             product(k, x.num, w.num, x.dtype))],
                  strides=strides, group=group, pads=pads, output_padding=more, kernel_shape=kernel)


@family(8)
def pool(g):
    op = g.one("MaxPool", "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool", "MaxPool")
    types = {F32, F16, F64} & allowed(op)
    x = image(g, types)
    if op.startswith("Global"):
        exact = op == "GlobalMaxPool"
        num = x.num if exact else Num(x.num.low, x.num.high, None, x.num.error + SUMS[x.dtype] * x.num.size)
        return g.node(op, [x], [(x.dtype, [*x.shape[:2], *[fixed(1)] * (x.rank - 2)], num)])
    kernel, strides, dilations, pads, out = window(g, x.shape[2:])
    k = math.prod(kernel)
    results = [(x.dtype, [*x.shape[:2], *out], x.num)]
    attributes = dict(kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads)
    if op == "MaxPool" and x.num.exact and g.chance(0.15) and x.rank <= 5:
        results.append((I64, results[0][1], Num(0, max(elements(x.shape)))))
    elif op == "AveragePool":
        attributes["count_include_pad"] = g.between(0, 1)
        num = Num(min(x.num.low, 0), max(x.num.high, 0), None, x.num.error + SUMS[x.dtype] * x.num.size)
        results = [(x.dtype, results[0][1], num)]
    elif op == "LpPool":
        if x.dtype == F16:
            return None
        top = x.num.size * k
        results = [(x.dtype, results[0][1], Num(0, top, None, k * x.num.error + 1e-4 * top))]
        attributes["p"] = g.between(1, 2)
    return g.node(op, [x], results, **attributes)


@family(5)
def resize(g):
    x = image(g, {F32, F64, U8, I8} & allowed("Resize"))
    mode = g.one("nearest", "linear", "cubic") if x.dtype in (F32, F64) else "nearest"
    if mode == "cubic" and x.rank != 4 or mode == "linear" and x.rank > 4:
        mode = "nearest"
    rank = x.rank - 2
    attributes = dict(mode=mode, coordinate_transformation_mode=g.one("half_pixel", "asymmetric", "align_corners"))
    if mode == "nearest":
        attributes["coordinate_transformation_mode"] = "asymmetric"
        attributes["nearest_mode"] = "floor"
        scales = [g.one(1.0, 2.0, 0.5, 3.0) for _ in range(rank)]
    else:
        scales = [g.one(1.0, 2.0, 0.5, 1.5) for _ in range(rank)]
    out = [tuple(math.floor(n * s) for n in d) for d, s in zip(x.shape[2:], scales)]
    if any(least(d) < 1 for d in out):
        return None
    top = x.num.size * 2
    num = x.num if mode == "nearest" else Num(-top, top, None, 2 * x.num.error + 1e-4 * top)
    shape = [*x.shape[:2], *out]
    if all(is_fixed(d) for d in shape) and g.chance(0.5):
        return g.node("Resize", [x, None, None, g.ints(*[d[0] for d in shape])], [(x.dtype, shape, num)],
                      **attributes)
    return g.node("Resize", [x, None, g.constant(np.array([1.0, 1.0, *scales], np.float32))],
                  [(x.dtype, shape, num)], **attributes)


def channel_vector(g, dtype, n, low=-1, high=1):
    return g.weight(dtype, [n], Num(low, high, 3))


@family(8)
def norm(g):
    op = g.one("BatchNormalization", "InstanceNormalization", "LayerNormalization", "GroupNormalization",
               "RMSNormalization", "LpNormalization", "LRN", "MeanVarianceNormalization")
    error = 3e-4
    if op in ("LayerNormalization", "RMSNormalization"):
        x = g.pick(lambda v: v.rank and is_fixed(v.shape[-1]) and v.shape[-1][0] >= 2 and v.num.error < 1e-3,
                   types=float_types(op) & {F32, F64})
        if not x:
            return None
        n = x.shape[-1][0]
        operands = [x, channel_vector(g, x.dtype, n)]
        if op == "LayerNormalization" and g.chance(0.6):
            operands.append(channel_vector(g, x.dtype, n))
        top = math.sqrt(n) + 1
        blur = x.num.error * 30
        return g.node(op, operands, [(x.dtype, x.shape, Num(-top, top, None, error * top + blur * top))],
                      axis=-1, epsilon=0.01)
    x = image(g, float_types(op) & {F32, F64})
    c = x.shape[1][0]
    if x.num.error > 1e-3 or any(n == 0 for d in x.shape[2:] for n in d):
        return None
    if op == "BatchNormalization":
        operands = [x, channel_vector(g, x.dtype, c), channel_vector(g, x.dtype, c), channel_vector(g, x.dtype, c),
                    channel_vector(g, x.dtype, c, 1, 2)]
        top = x.num.size + 2
        return g.node(op, operands, [(x.dtype, x.shape, Num(-top, top, None, x.num.error + 1e-5 * top))])
    if op == "LRN":
        return g.node(op, [x], [(x.dtype, x.shape, Num(-x.num.size, x.num.size, None, x.num.error * 2 + error))],
                      size=g.one(1, 3, 5))
    if op == "LpNormalization":
        x = g.bounded(x, 0.5, max(2, x.num.high))
        if x is None or not x.rank:
            return None
        axis = some_axis(g, x)
        if least(x.shape[axis]) < 1:
            return None
        return g.node(op, [x], [(x.dtype, x.shape, Num(0, 1, None, 4 * x.num.error + error))], axis=axis,
                      p=g.between(1, 2))
    spread = max(math.prod(d[s] for d in x.shape[2:]) for s in range(SETS)) * c
    top = math.sqrt(max(spread, 1)) + 1
    result = (x.dtype, x.shape, Num(-top, top, None, (error + 30 * x.num.error) * top))
    if op == "MeanVarianceNormalization":
        return None  # without an epsilon, constant channels give arbitrary results
    if op == "GroupNormalization":
        groups = g.one(*[d for d in range(1, c + 1) if c % d == 0])
        return g.node(op, [x, channel_vector(g, x.dtype, c), channel_vector(g, x.dtype, c)], [result],
                      num_groups=groups, epsilon=0.01)
    return g.node(op, [x, channel_vector(g, x.dtype, c), channel_vector(g, x.dtype, c)], [result], epsilon=0.01)


@family(6)
def softmax(g):
    op = g.one("Softmax", "Softmax", "LogSoftmax", "Hardmax")
    x = g.pick(lambda v: v.rank and (op != "Hardmax" or v.num.exact), types=float_types(op))
    if not x:
        return None
    axis = some_axis(g, x)
    if op == "Hardmax":
        return least(x.shape[axis]) and g.node(op, [x], [(x.dtype, x.shape, Num(0, 1))], axis=axis)
    x = g.bounded(x, -20, 20)
    n = max(max(x.shape[axis]), 1)
    num = Num(0, 1, None, 2 * x.num.error + FUNCTION_ERROR) if op == "Softmax" else \
        Num(-40 - math.log(n), 0, None, 2 * x.num.error + 4 * FUNCTION_ERROR)
    return g.node(op, [x], [(x.dtype, x.shape, num)], axis=signed(g, axis, x.rank))


@family(3)
def recurrent(g):
    op = g.one("LSTM", "GRU", "RNN")
    def make():
        return g.input(F32, [g.dim(), g.dim(), fixed(g.between(1, 9))])
    x = g.pick(lambda v: v.rank == 3 and is_fixed(v.shape[2]) and v.shape[2][0] and max(v.shape[0]) <= 20 and
               v.num.error < 1e-3, types={F32}, make=make)
    length, batch, size = x.shape[0], x.shape[1], x.shape[2][0]
    hidden, gates = g.between(1, 9), {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    direction = g.one("forward", "reverse", "bidirectional")
    d = 2 if direction == "bidirectional" else 1
    w = g.weight(F32, [d, gates * hidden, size], small(size))
    r = g.weight(F32, [d, gates * hidden, hidden], small(hidden * 4))
    operands = [x, w, r]
    if g.chance(0.7):
        operands.append(g.weight(F32, [d, 2 * gates * hidden]))
    if g.chance(0.4):
        operands += [None] * (5 - len(operands))
        state = [fixed(d), batch, fixed(hidden)]
        operands.append(g.input(F32, state, Num(-1, 1, 3)))
        if op == "LSTM":
            operands.append(g.input(F32, state, Num(-1, 1, 3)))
    num = Num(-1, 1, None, 20 * x.num.error + 1e-4)
    last = (F32, [fixed(d), batch, fixed(hidden)], num)
    results = [(F32, [length, fixed(d), batch, fixed(hidden)], num), last if g.chance(0.6) else None]
    if op == "LSTM" and g.chance(0.5):
        top = max(max(length), 1) + 1
        results = [results[0], last, (F32, last[1], Num(-top, top, None, 1e-4 * top + 20 * x.num.error))]
    if results[-1] is None:
        results = results[:-1]
    attributes = dict(linear_before_reset=g.between(0, 1)) if op == "GRU" else {}
    return g.node(op, operands, results, direction=direction, hidden_size=hidden, **attributes)


@family(4)
def attention(g):
    """Draws an attention as separate nodes, or as ONNX's operator."""
    x = g.pick(lambda v: v.rank == 4 and is_fixed(v.shape[3]) and v.shape[3][0] and is_fixed(v.shape[1]),
               types={F32}, make=lambda: g.input(F32, [g.dim(), fixed(g.between(1, 3)), g.dim(),
                                                       fixed(g.one(2, 4, 8))]))
    batch, heads, rows, width = x.shape
    x = g.bounded(x, -4, 4)
    keys = g.dim()
    if min(keys) == 0:
        keys = fixed(3)
    k, v = g.input(F32, [batch, heads, keys, width], small(width[0])), g.input(F32, [batch, heads, keys, width])
    error = 50 * x.num.error + 1e-4
    if g.chance(0.5):
        operands, attributes = [x, k, v], dict(is_causal=g.between(0, 1))
        if g.chance(0.4):
            operands.append(g.input(F32, [rows, keys]))
        return g.node("Attention", operands, [(F32, [batch, heads, rows, width], Num(-2, 2, None, error))],
                      **attributes)
    kt = g.node("Transpose", [k], [(F32, [batch, heads, width, keys], k.num)], perm=[0, 1, 3, 2])
    scores = g.node("MatMul", [x, kt], [(F32, [batch, heads, rows, keys], product(width[0], x.num, k.num, F32))])
    if scores is None:
        return None
    if g.chance(0.5):
        mask = g.input(F32, g.one([rows, keys], [batch, fixed(1), fixed(1), keys], [fixed(1), heads, rows, keys]))
        scores = g.node("Add", [scores, mask], [(F32, scores.shape, Num(scores.num.low - 2, scores.num.high + 2, None,
                                                                        scores.num.error))])
    scores = g.bounded(scores, -30, 30)
    weights = g.node("Softmax", [scores], [(F32, scores.shape, Num(0, 1, None, 1e-5 + 2 * scores.num.error))], axis=-1)
    return g.node("MatMul", [weights, v], [(F32, [batch, heads, rows, width], Num(-2, 2, None, error))])


@family(5)
def quantize(g):
    kind = g.one("QuantizeLinear", "DequantizeLinear", "DequantizeLinear", "MatMulInteger", "ConvInteger")
    eights = {U8, I8}
    if kind == "QuantizeLinear":
        x = g.pick(lambda v: v.num.exact and v.num.grain <= 6, types={F32})
        if not x:
            return None
        to = g.one(U8, I8)
        zero = 16 if to == U8 else 0
        low, high = np.iinfo(to).min, np.iinfo(to).max
        num = Num(max(low, x.num.low * 8 + zero - 1), min(high, x.num.high * 8 + zero + 1))
        num.low, num.high = min(num.low, high), max(num.high, low)
        return g.node(kind, [x, g.constant(np.array(0.125, np.float32)), g.constant(np.array(zero, to))],
                      [(to, x.shape, num)])
    def make():
        return g.input(g.one(U8, I8), [g.dim(), fixed(g.between(1, 4)), g.dim(long=True), g.dim(long=True)])
    x = g.pick(lambda v: v.rank >= 2, types=eights, make=make)
    zero = g.constant(np.array(g.between(0, 3), x.dtype))
    if kind == "DequantizeLinear":
        if is_fixed(x.shape[1]) and g.chance(0.4) and x.shape[1][0]:
            n = x.shape[1][0]
            scale = g.constant((2.0 ** np.random.default_rng(g.count).integers(-4, 0, n)).astype(np.float32))
            zero = g.constant(np.full([n], 1, x.dtype))
            attributes = dict(axis=1)
        else:
            scale, attributes = g.constant(np.array(0.0625, np.float32)), {}
        return g.node(kind, [x, scale, zero], [(F32, x.shape, Num(-x.num.size - 3, x.num.size + 3, 4))], **attributes)
    if kind == "MatMulInteger":
        k = x.shape[-1]
        n = fixed(g.between(1, 17))
        y = g.weight(g.one(U8, I8), [k[0], n[0]], Num(0, 15)) if is_fixed(k) else g.input(g.one(U8, I8), [k, n])
        top = max(max(k), 1) * (x.num.size + 3) * (y.num.size + 3)
        return top < 2**30 and g.node(kind, [x, y, zero], [(I32, [*x.shape[:-1], n], Num(-top, top))])
    if x.rank != 4 or not is_fixed(x.shape[1]) or not x.shape[1][0] or any(least(d) < 3 for d in x.shape[2:]):
        return None
    kernel, strides, dilations, pads, out = window(g, x.shape[2:])
    w = g.weight(I8 if x.dtype == I8 else U8, [3, x.shape[1][0], *kernel], Num(0, 15))
    top = x.shape[1][0] * math.prod(kernel) * (x.num.size + 3) * 15
    return g.node(kind, [x, w, zero], [(I32, [x.shape[0], fixed(3), *out], Num(-top, top))], strides=strides,
                  dilations=dilations, pads=pads)


@family(2)
def branch(g):
    """Draws an If whose condition is a constant; its branches use outer values."""
    x = g.pick(types={F32, F64})
    if not x:
        return None
    condition = g.constant(np.array(g.chance(0.5)))
    def body(op, name):
        out = helper.make_tensor_value_info(f"{name}_out", TYPES[x.dtype], None)
        node = helper.make_node(op, [x.name], [f"{name}_out"], name=f"{name}_{op}")
        return helper.make_graph([node], name, [], [out])
    count = g.count
    size = x.num.size
    return g.node("If", [condition], [(x.dtype, x.shape, Num(-size, size, x.num.grain, x.num.error))],
                  then_branch=body("Abs", f"then{count}"), else_branch=body("Neg", f"else{count}"))
