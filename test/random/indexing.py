"""Draws gathers, scatters, sorting, and reductions."""
import math

import numpy as np

from graph import (BOOL, F32, F64, FLOATS, FRACTION, FUNCTION_ERROR, I32, I64, INTS, Num, SETS, allowed, elements,
                   family_of, fixed, is_fixed, least)
from movement import joined, like, signed, some_axis, with_dim

FAMILY, family = family_of()


def indices(g, size, shape):
    """Returns positions along a dimension of `size`, some from the end. They are a constant, or an input by chance or
    if the shape is dynamic."""
    n = least(size)
    num = Num(-n if g.chance(0.5) else 0, n - 1)
    if all(is_fixed(d) for d in shape) and g.chance(0.6):
        return g.constant(g.data(I64, [d[0] for d in shape], num, (3, g.count)).astype(g.one(I64, I64, I32)), num)
    return g.input(g.one(I64, I64, I32), shape, num)


@family(12)
def gather(g):
    x = g.pick(lambda v: any(least(d) >= 1 for d in v.shape))
    if not x:
        return None
    axis = g.one(*[i for i, d in enumerate(x.shape) if least(d) >= 1])
    shape = [g.dim() for _ in range(g.one(0, 0, 1, 1, 2))]
    def suits(v):
        return v.rank <= 2 and v.num.low >= -least(x.shape[axis]) and v.num.high < least(x.shape[axis])
    index = g.pick(suits, types={I64, I32}) if g.chance(0.3) else None
    index = index or indices(g, x.shape[axis], shape)
    return g.node("Gather", [x, index], [like(x, x.shape[:axis] + index.shape + x.shape[axis + 1:])],
                  axis=signed(g, axis, x.rank))


@family(4)
def gather_elements(g):
    x = g.pick(lambda v: v.rank and all(least(d) >= 1 for d in v.shape))
    if not x:
        return None
    axis = some_axis(g, x)
    shape = [d if is_fixed(d) and g.chance(0.7) else fixed(g.between(1, least(d))) for d in x.shape]
    shape[axis] = g.dim()
    index = indices(g, x.shape[axis], shape)
    return g.node("GatherElements", [x, index], [like(x, shape)], axis=axis)


@family(4)
def gather_nd(g):
    x = g.pick(lambda v: v.rank >= 2 and all(least(d) >= 1 for d in v.shape[:2]))
    if not x:
        return None
    depth = g.between(1, min(2, x.rank))
    n = min(least(d) for d in x.shape[:depth])
    index = indices(g, fixed(n), [g.dim(), fixed(depth)])
    if index.dtype != I64:
        return None
    return g.node("GatherND", [x, index], [like(x, index.shape[:-1] + x.shape[depth:])])


@family(5)
def scatter(g):
    x = g.pick(lambda v: v.rank and all(least(d) >= 1 for d in v.shape), types=allowed("ScatterElements"))
    if not x:
        return None
    axis = some_axis(g, x)
    adds = g.chance(0.4) and x.dtype in (F32, F64, I32, I64)
    shape = [fixed(g.between(1, least(d))) for d in x.shape]
    n = least(x.shape[axis])
    shape[axis] = fixed(g.between(1, n))
    # Each position occurs once, so that the order does not matter.
    flat = np.stack([np.random.default_rng([g.seed, g.count, i]).permutation(n)[:shape[axis][0]]
                     for i in range(math.prod(d[0] for i, d in enumerate(shape) if i != axis))])
    rest = [d[0] for i, d in enumerate(shape) if i != axis]
    index = np.moveaxis(flat.reshape(*rest, shape[axis][0]), -1, axis).astype(np.int64)
    updates = g.input(x.dtype, shape) if g.chance(0.4) else g.weight(x.dtype, [d[0] for d in shape])
    num = joined(x.num, updates.num)
    if adds:
        num = Num(x.num.low + min(updates.num.low, 0), x.num.high + max(updates.num.high, 0), num.grain, num.error)
    return g.node("ScatterElements", [x, g.constant(index), updates], [(x.dtype, x.shape, num)], axis=axis,
                  reduction="add" if adds else "none")


@family(4)
def scatter_nd(g):
    x = g.pick(lambda v: v.rank and least(v.shape[0]) >= 1, types=allowed("ScatterND"))
    if not x:
        return None
    n = least(x.shape[0])
    count = g.between(1, n)
    index = np.random.default_rng([g.seed, g.count]).permutation(n)[:count].reshape(count, 1)
    updates = g.input(x.dtype, [fixed(count), *x.shape[1:]])
    return g.node("ScatterND", [x, g.constant(index.astype(np.int64)), updates],
                  [(x.dtype, x.shape, joined(x.num, updates.num))])


@family(3)
def one_hot(g):
    x = g.pick(lambda v: v.rank <= 3 and -4 <= v.num.low and max(elements(v.shape)) < 1000, types={I64, I32, F32})
    if not x or not x.num.exact or x.num.grain:
        return None
    depth = g.between(4, 7)
    axis = g.between(0, x.rank)
    shape = list(x.shape)
    shape.insert(axis, fixed(depth))
    values = g.constant(np.array([0, 1], np.float32))
    return g.node("OneHot", [x, g.constant(np.array(depth, np.int64)), values], [(F32, shape, Num(0, 1))],
                  axis=-1 if axis == x.rank else axis)


@family(4)
def top_k(g):
    x = g.pick(lambda v: v.rank and v.num.exact and any(least(d) >= 1 for d in v.shape), types=allowed("TopK"))
    if not x:
        return None
    axis = g.one(*[i for i, d in enumerate(x.shape) if least(d) >= 1])
    k = g.between(1, least(x.shape[axis]))
    shape = with_dim(x.shape, axis, fixed(k))
    return g.node("TopK", [x, g.ints(k)], [like(x, shape), (I64, shape, Num(0, max(x.shape[axis]) - 1))],
                  axis=signed(g, axis, x.rank), largest=g.between(0, 1))


@family(4)
def arg(g):
    x = g.pick(lambda v: v.rank and v.num.exact and any(least(d) >= 1 for d in v.shape), types=allowed("ArgMax"))
    if not x:
        return None
    axis = g.one(*[i for i, d in enumerate(x.shape) if least(d) >= 1])
    keep = g.between(0, 1)
    shape = with_dim(x.shape, axis, fixed(1)) if keep else x.shape[:axis] + x.shape[axis + 1:]
    return g.node(g.one("ArgMax", "ArgMin"), [x], [(I64, shape, Num(0, max(x.shape[axis]) - 1))],
                  axis=signed(g, axis, x.rank), keepdims=keep, select_last_index=g.between(0, 1))


@family(4)
def cumulative(g):
    x = g.pick(lambda v: v.rank and max(max(d) for d in v.shape) <= 64, types=allowed("CumSum"))
    if not x:
        return None
    axis = some_axis(g, x)
    n = max(max(x.shape[axis]), 1)
    num = Num(min(0, n * x.num.low), max(0, n * x.num.high), x.num.grain, n * x.num.error)
    return g.node("CumSum", [x, g.constant(np.array(signed(g, axis, x.rank), g.one(I64, I32)))],
                  [(x.dtype, x.shape, num)], exclusive=g.between(0, 1), reverse=g.between(0, 1))


@family(2)
def compress(g):
    x = g.pick(lambda v: any(is_fixed(d) and d[0] >= 1 for d in v.shape))
    if not x:
        return None
    axis = g.one(*[i for i, d in enumerate(x.shape) if is_fixed(d) and d[0] >= 1])
    n = x.shape[axis][0]
    keep = np.random.default_rng([g.seed, g.count]).integers(0, 2, n).astype(bool)
    keep[0] = True
    return g.node("Compress", [x, g.constant(keep)], [like(x, with_dim(x.shape, axis, fixed(int(keep.sum()))))],
                  axis=axis)


@family(2)
def non_zero(g):
    """Adds a NonZero, whose sizes depend on data, so it is only an output."""
    x = g.pick(lambda v: v.rank and v.num.exact, types=allowed("NonZero"))
    result = x and g.node("NonZero", [x], [(I64, [fixed(x.rank), fixed(1)], Num(0, 0))])
    if result:
        result.num = Num(0, 1e18)
        result.shape = (fixed(x.rank), (-1,) * SETS)
        g.values.remove(result)
        g.unshaped.append(result)
    return result


REDUCTIONS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
              "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")


@family(18)
def reduce(g):
    op = g.one(*REDUCTIONS, "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin")
    empty = op in ("ReduceSum", "ReduceL1", "ReduceSumSquare")  # operators with an agreed result for empty data
    types = allowed(op) - set(INTS) if op in ("ReduceMean", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp") \
        else allowed(op)
    x = g.pick(lambda v: v.rank and v.dtype != BOOL and any(empty or least(d) >= 1 for d in v.shape), types=types)
    if not x:
        return None
    axes = [i for i, d in enumerate(x.shape) if empty or least(d) >= 1]
    axes = sorted(g.random.sample(axes, g.between(1, len(axes))))
    keep = g.between(0, 1)
    everything = len(axes) == x.rank and g.chance(0.6)
    shape = [fixed(1) if i in axes else d for i, d in enumerate(x.shape) if keep or i not in axes]
    k = max(math.prod(x.shape[a][s] for a in axes) for s in range(SETS))
    if op == "ReduceProd":
        x = g.bounded(x, 0.5 if x.dtype in FLOATS else 1, 1.5 if x.dtype in FLOATS else 1) if k <= 16 else None
    elif op == "ReduceLogSum":
        x = g.bounded(x, 0.25, 8)
    elif op == "ReduceLogSumExp":
        x = g.bounded(x, -8, 8)
    elif op == "ReduceSumSquare":
        x = g.bounded(x, -8, 8) if x.dtype.kind != "u" else g.bounded(x, 0, 8)
    if not x:
        return None
    low, high, grain, error, size = x.num.low, x.num.high, x.num.grain, x.num.error, x.num.size
    roundoff = 2.0**-20 if x.dtype == F32 else 2.0**-8 if x.dtype not in (F64,) else 2.0**-40
    if op == "ReduceSum":
        num = Num(min(k * low, 0), max(k * high, 0), grain, k * error + roundoff * size * k * (grain is None))
    elif op == "ReduceMean":
        num = Num(low, high, None, error + roundoff * size)
    elif op in ("ReduceMax", "ReduceMin"):
        num = Num(low, high, grain, error)
    elif op == "ReduceProd":
        top = 1.5**k if x.dtype in FLOATS else 1
        num = Num(0, top, None if x.dtype in FLOATS else 0, top * k * (error + roundoff))
    elif op == "ReduceL1":
        num = Num(0, k * size, grain, k * error + roundoff * size * k * (grain is None))
    elif op == "ReduceL2":
        num = Num(0, math.sqrt(k) * size, None, math.sqrt(k) * error + roundoff * size * k)
    elif op == "ReduceLogSum":
        num = Num(-2, math.log(k * 8 + 1), None, error * 5 + 4 * FUNCTION_ERROR)
    elif op == "ReduceLogSumExp":
        num = Num(-8, 8 + math.log(k + 1), None, error + 4 * FUNCTION_ERROR)
    else:
        num = Num(0, k * size * size, None if grain is None else 2 * grain,
                  k * 2 * size * error + roundoff * size * size * k * (grain is None))
    if x.dtype in INTS:
        num.grain = 0
    if num.grain is not None and settle_loses(x.dtype, num):
        num.error += roundoff * num.size
    operands = [x] if everything else [x, g.ints(*(signed(g, a, x.rank) for a in axes))]
    if everything:
        shape = [fixed(1)] * x.rank if keep else []
    return g.node(op, operands, [(x.dtype, shape, num)], keepdims=keep)


def settle_loses(dtype, num):
    """Returns True if a sum is rounded, and so depends on its order."""
    return dtype in FRACTION and num.size * 2.0**num.grain >= 2.0 ** (FRACTION[dtype] + 1)
