"""Draws operators that move elements, and the arithmetic on shapes for them."""
import math

import numpy as np
from onnx import numpy_helper

from graph import I64, Num, SETS, all_fixed, allowed, broadcast, elements, family_of, fixed, is_fixed, least

FAMILY, family = family_of()


def like(x, shape):
    """Returns the result of moving elements."""
    return (x.dtype, tuple(shape), x.num)


def with_dim(shape, axis, dim):
    return tuple(dim if i == axis else d for i, d in enumerate(shape))


def joined(num, other):
    """Returns the common range of two values."""
    grain = None if None in (num.grain, other.grain) else max(num.grain, other.grain)
    return Num(min(num.low, other.low), max(num.high, other.high), grain, max(num.error, other.error))


def signed(g, axis, rank):
    return axis - rank if g.chance(0.4) else axis


def some_axis(g, x):
    return g.between(0, x.rank - 1)


@family(14)
def transpose(g):
    x = g.pick(lambda v: v.rank >= 2)
    if not x:
        return None
    order = list(range(x.rank))
    g.random.shuffle(order)
    if g.chance(0.15):
        return g.node("Transpose", [x], [like(x, x.shape[::-1])])
    return g.node("Transpose", [x], [like(x, [x.shape[i] for i in order])], perm=order)


def size_of(g, x, axis):
    """Returns an int64 value of shape [1] with the size of a dimension, computed by nodes."""
    dim = x.shape[axis]
    num = Num(min(dim), max(dim))
    if g.chance(0.3):
        return g.node("Shape", [x], [(I64, [fixed(1)], num)], start=axis, end=axis + 1)
    whole = g.node("Shape", [x], [(I64, [fixed(x.rank)], Num(0, max(max(d) for d in x.shape)))])
    whole.uses += 1
    return g.node("Gather", [whole, g.ints(axis)], [(I64, [fixed(1)], num)], axis=0)


def merged(a, b):
    return tuple(i * j for i, j in zip(a, b))


@family(12)
def reshape(g):
    """Splits a dimension, merges two, or uses a list of sizes that partly comes from Shape."""
    x = g.pick(lambda v: v.rank >= 1)
    if not x:
        return None
    shape, axis = list(x.shape), some_axis(g, x)
    if g.chance(0.5) and x.rank >= 2 and axis + 1 < x.rank:
        new = shape[:axis] + [merged(shape[axis], shape[axis + 1])] + shape[axis + 2:]
    elif is_fixed(shape[axis]) and shape[axis][0] > 1:
        n = shape[axis][0]
        divisor = g.one(*[d for d in range(1, n + 1) if n % d == 0])
        new = shape[:axis] + [fixed(divisor), fixed(n // divisor)] + shape[axis + 1:]
    else:
        new = shape[:axis] + [fixed(1)] + shape[axis:]
    if len(new) > 6:
        return None
    # Each dynamic size is -1 (once), 0 (the size at this position), or computed.
    free = [i for i, d in enumerate(new) if not is_fixed(d)]
    minus = None
    if free or g.chance(0.4):
        others = [d for d in new]
        candidates = [i for i in (free or range(len(new)))
                      if all(least(d) > 0 for j, d in enumerate(others) if j != i)]
        minus = g.one(*candidates) if candidates and g.chance(0.7) else None
    parts = []
    for i, d in enumerate(new):
        if i == minus:
            parts.append(-1)
        elif i < x.rank and d == x.shape[i] and (g.chance(0.4) or not is_fixed(d)) and \
                (all(least(e) > 0 for e in new) or minus is None):
            parts.append(0)
        elif is_fixed(d):
            parts.append(d[0])
        elif d in x.shape and least(d) > 0:  # a computed 0 would copy the size at this position
            parts.append(("size", x.shape.index(d)))
        else:
            return None
    if 0 in parts and any(d == fixed(0) for d in new):
        return None
    if any(isinstance(p, tuple) for p in parts):
        pieces = [size_of(g, x, p[1]) if isinstance(p, tuple) else g.ints(p) for p in parts]
        sizes = g.node("Concat", pieces, [(I64, [fixed(len(pieces))], Num(-1, 100000))], axis=0) if len(pieces) > 1 \
            else pieces[0]
    else:
        sizes = g.ints(*parts)
    return g.node("Reshape", [x, sizes], [like(x, new)])


@family(4)
def flatten(g):
    x = g.pick(lambda v: v.rank >= 1)
    if not x:
        return None
    axis = g.between(0, x.rank)
    def product(dims):
        return tuple(math.prod(d[s] for d in dims) for s in range(SETS))
    return g.node("Flatten", [x], [like(x, [product(x.shape[:axis]), product(x.shape[axis:])])], axis=axis)


@family(8)
def squeeze(g):
    if g.chance(0.5):
        x = g.pick(lambda v: any(d == fixed(1) for d in v.shape))
        if not x:
            return None
        ones = [i for i, d in enumerate(x.shape) if d == fixed(1)]
        axes = sorted(g.random.sample(ones, g.between(1, len(ones))))
        shape = [d for i, d in enumerate(x.shape) if i not in axes]
        return g.node("Squeeze", [x, g.ints(*(signed(g, a, x.rank) for a in axes))], [like(x, shape)])
    x = g.pick(lambda v: v.rank <= 4)
    if not x:
        return None
    axes = sorted(g.random.sample(range(x.rank + 1), 1 if x.rank < 2 else g.between(1, 2)))
    shape = list(x.shape)
    for a in axes:
        shape.insert(a, fixed(1))
    return g.node("Unsqueeze", [x, g.ints(*axes)], [like(x, shape)])


@family(7)
def expand(g):
    x = g.pick(lambda v: 1 <= v.rank <= 4 and any(d == fixed(1) for d in v.shape))
    if not x:
        return None
    shape = [fixed(g.between(2, 4)) if d == fixed(1) and g.chance(0.7) else d for d in x.shape]
    def size(d):
        return d[0] if is_fixed(d) else 1
    sizes = [size(d) for d in shape]
    if g.chance(0.3):
        shape.insert(0, fixed(2))
        sizes.insert(0, 2)
    other = g.pick(lambda v: v.rank and v is not x and broadcast(x.shape, v.shape) is not None and
                   max(elements(broadcast(x.shape, v.shape))) < 8000)
    if other and g.chance(0.4):  # to the shape of another value
        of = g.node("Shape", [other], [(I64, [fixed(other.rank)], Num(0, 1000))])
        return g.node("Expand", [x, of], [like(x, broadcast(x.shape, other.shape))])
    return g.node("Expand", [x, g.ints(*sizes)], [like(x, shape)])


@family(5)
def tile(g):
    x = g.pick(lambda v: 1 <= v.rank <= 4 and max(elements(v.shape)) < 3000)
    if not x:
        return None
    repeats = [g.one(1, 1, 2, 3) for _ in x.shape]
    return g.node("Tile", [x, g.ints(*repeats)], [like(x, [tuple(n * r for n in d) for d, r in
                                                           zip(x.shape, repeats)])])


@family(12)
def concat(g):
    x = g.pick(lambda v: v.rank >= 1)
    if not x:
        return None
    axis = some_axis(g, x)
    def fits(v):
        return v.rank == x.rank and all(a == b for i, (a, b) in enumerate(zip(v.shape, x.shape)) if i != axis)
    values = [x]
    for _ in range(g.one(0, 1, 1, 1, 2, 3)):
        def make():
            shape = with_dim(x.shape, axis, g.dim())
            return g.input(x.dtype, shape) if not all_fixed(shape) or g.chance(0.5) else \
                g.weight(x.dtype, [d[0] for d in shape])
        values.append(g.pick(fits, types={x.dtype}, make=make))
    num = values[0].num
    for v in values[1:]:
        num = joined(num, v.num)
    g.random.shuffle(values)
    dim = tuple(sum(v.shape[axis][s] for v in values) for s in range(SETS))
    return g.node("Concat", values, [(x.dtype, with_dim(x.shape, axis, dim), num)], axis=signed(g, axis, x.rank))


@family(7)
def split(g):
    x = g.pick(lambda v: any(is_fixed(d) and d[0] >= 2 for d in v.shape) or v.rank and g.chance(0.1))
    if not x:
        return None
    axes = [i for i, d in enumerate(x.shape) if is_fixed(d) and d[0] >= 2]
    if not axes:  # a dynamic dimension, into equal parts except for the last
        axis, parts = some_axis(g, x), 2
        size = tuple(-(-n // parts) for n in x.shape[axis])
        rest = tuple(n - s for n, s in zip(x.shape[axis], size))
        if min(rest) < 0 or any(n < parts for n in x.shape[axis]):
            return None
        return g.node("Split", [x], [like(x, with_dim(x.shape, axis, d)) for d in (size, rest)],
                      axis=axis, num_outputs=parts)
    axis = g.one(*axes)
    n = x.shape[axis][0]
    if g.chance(0.5):
        cut = g.between(0 if g.chance(0.1) else 1, n - 1)
        sizes = [cut, n - cut]
        return g.node("Split", [x, g.ints(*sizes)], [like(x, with_dim(x.shape, axis, fixed(s))) for s in sizes],
                      axis=signed(g, axis, x.rank))
    parts = g.between(2, min(n, 4))
    size = -(-n // parts)
    sizes = [size] * (parts - 1) + [n - size * (parts - 1)]
    if sizes[-1] <= 0:
        return None
    return g.node("Split", [x], [like(x, with_dim(x.shape, axis, fixed(s))) for s in sizes], axis=axis,
                  num_outputs=parts)


def slice_size(n, start, end, step):
    return len(range(*slice(start, end, step).indices(n)))


@family(12)
def slice_(g):
    x = g.pick(lambda v: v.rank >= 1)
    if not x:
        return None
    axes = sorted(g.random.sample(range(x.rank), 1 if x.rank == 1 else g.between(1, 2)))
    starts, ends, steps, shape = [], [], [], list(x.shape)
    for a in axes:
        step = g.one(1, 1, 1, 2, 3, -1, -1, -2)
        n = x.shape[a][0]
        start, end = sorted(g.random.choices(range(0, n + 2), k=2))
        if g.chance(0.3):
            start, end = start - n - 1, end - n - 1 if end > n // 2 else end
        if g.chance(0.2):
            start, end = 0, 2**31 if g.chance(0.5) else 2**63 - 1
        if step < 0:
            start, end = end, start
            if g.chance(0.5):
                start, end = 2**31, -(2**63) if g.chance(0.5) else -(2**31)
        starts, ends, steps = starts + [start], ends + [end], steps + [step]
        def size(n):
            s, e = start, end
            if step < 0:  # as ONNX clamps; Python also reads -1 as the last element
                s = min(s + n if s < 0 else s, n - 1)
                e = max(e + n if e < 0 else e, -1)
                return max(0, -(-(e - max(s, 0)) // step)) if n > 0 else 0
            return slice_size(n, s, e, step)
        shape[a] = tuple(size(n) for n in x.shape[a])
    if any(max(d) < 1 for d in shape) and g.chance(0.9):
        return None
    operands = [x, g.ints(*starts), g.ints(*ends)]
    if axes != list(range(x.rank)) or steps != [1] * len(steps) or g.chance(0.5):
        operands.append(g.ints(*(signed(g, a, x.rank) for a in axes)))
        if set(steps) != {1}:
            operands.append(g.ints(*steps))
    return g.node("Slice", operands, [like(x, shape)])


@family(8)
def pad(g):
    mode = g.one("constant", "constant", "reflect", "edge", "wrap")
    x = g.pick(lambda v: 1 <= v.rank <= 5 and (mode == "constant" or all(least(d) >= 3 for d in v.shape)),
               types=allowed("Pad"))
    if not x:
        return None
    low = -1 if mode == "constant" and all(least(d) >= 3 for d in x.shape) else 0
    before = [g.between(low, 2) if g.chance(0.5) else 0 for _ in x.shape]
    behind = [g.between(low, 2) if g.chance(0.5) else 0 for _ in x.shape]
    shape = [tuple(n + b + e for n in d) for d, b, e in zip(x.shape, before, behind)]
    operands, num = [x, g.ints(*before, *behind)], x.num
    if mode == "constant":
        value = Num(0, 0)
        if g.chance(0.5):
            operands.append(g.constant(np.array(1, x.dtype)))
            value = Num(1, 1)
        num = joined(num, value)
        num.grain = x.num.grain
    return g.node("Pad", operands, [(x.dtype, shape, num)], mode=mode)


@family(2)
def crop(g):
    x = g.pick(lambda v: v.rank >= 2)
    if not x:
        return None
    axis = some_axis(g, x)
    size = g.between(1, 9)
    num = joined(x.num, Num(0, 0))
    num.grain = x.num.grain
    return g.node("CenterCropPad", [x, g.ints(size)], [(x.dtype, with_dim(x.shape, axis, fixed(size)), num)],
                  axes=[axis])


@family(3)
def blocks(g):
    b = 2
    if g.chance(0.5):
        x = g.pick(lambda v: v.rank == 4 and is_fixed(v.shape[1]) and v.shape[1][0] % 4 == 0 and v.shape[1][0],
                   types=allowed("DepthToSpace"))
        if not x:
            return None
        n, c, h, w = x.shape
        return g.node("DepthToSpace", [x], [like(x, [n, fixed(c[0] // 4), tuple(i * b for i in h),
                                                     tuple(i * b for i in w)])],
                      blocksize=b, mode=g.one("DCR", "CRD"))
    x = g.pick(lambda v: v.rank == 4 and all(i % 2 == 0 for d in v.shape[2:] for i in d), types=allowed("SpaceToDepth"))
    if not x:
        return None
    n, c, h, w = x.shape
    return g.node("SpaceToDepth", [x], [like(x, [n, tuple(i * 4 for i in c), tuple(i // b for i in h),
                                                 tuple(i // b for i in w)])], blocksize=b)


@family(2)
def triangle(g):
    x = g.pick(lambda v: v.rank >= 2, types=allowed("Trilu"))
    if not x:
        return None
    num = joined(x.num, Num(0, 0))
    num.grain = x.num.grain
    k = [g.ints(g.between(-2, 2))] if g.chance(0.5) else []
    if k:
        k = [g.constant(np.array(g.between(-2, 2), np.int64))]
    return g.node("Trilu", [x, *k], [(x.dtype, x.shape, num)], upper=g.between(0, 1))


@family(3)
def shapes(g):
    """Reads the sizes of a value, and computes values from them."""
    x = g.pick(lambda v: v.rank >= 1)
    if not x:
        return None
    kind = g.one("Shape", "Size", "ConstantOfShape", "Range", "EyeLike")
    if kind == "Size":
        count = elements(x.shape)
        return g.node("Size", [x], [(I64, [], Num(min(count), max(count)))])
    if kind == "Shape":
        return g.node("Shape", [x], [(I64, [fixed(x.rank)], Num(0, max(max(d) for d in x.shape)))])
    if kind == "ConstantOfShape":
        of = g.node("Shape", [x], [(I64, [fixed(x.rank)], Num(0, 1000))])
        value = numpy_helper.from_array(np.array([1.5], np.float32), "value")
        return g.node("ConstantOfShape", [of], [(np.dtype(np.float32), x.shape, Num(1.5, 1.5, 1))], value=value)
    if kind == "EyeLike":
        x = g.pick(lambda v: v.rank == 2, types=allowed("EyeLike"))
        return x and g.node("EyeLike", [x], [(x.dtype, x.shape, Num(0, 1))], k=g.between(-1, 1))
    axis = some_axis(g, x)
    size = size_of(g, x, axis)
    limit = g.node("Squeeze", [size, g.ints(0)], [(I64, [], size.num)])
    return g.node("Range", [g.constant(np.array(0, np.int64)), limit, g.constant(np.array(1, np.int64))],
                  [(I64, [x.shape[axis]], Num(0, max(max(x.shape[axis]) - 1, 0)))])


@family(2)
def reverse_sequence(g):
    x = g.pick(lambda v: v.rank >= 2 and is_fixed(v.shape[0]) and v.shape[0][0] and least(v.shape[1]) >= 1)
    if not x:
        return None
    n = x.shape[0][0]
    lengths = g.constant(np.random.default_rng(g.count).integers(1, least(x.shape[1]) + 1, n))
    return g.node("ReverseSequence", [x, lengths], [like(x, x.shape)], batch_axis=0, time_axis=1)
