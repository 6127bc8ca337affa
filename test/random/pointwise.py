"""Draws elementwise operators with broadcasting."""
import math

import numpy as np

from graph import (BF16, BOOL, F16, F32, F64, FLOATS, FUNCTION_ERROR, INTS, LARGEST, TYPES, Num, allowed, broadcast,
                   elements, family_of, fixed, is_fixed)

FAMILY, family = family_of()


ERF = np.vectorize(math.erf)


def softplus(x):
    return np.log1p(np.exp(x))


# Function, its domain, and True if it keeps exact values exact.
UNARY = {
    "Abs": (np.abs, -1e9, 1e9, True), "Neg": (np.negative, -1e9, 1e9, True), "Relu": (lambda x: np.maximum(x, 0),
                                                                                      -1e9, 1e9, True),
    "Exp": (np.exp, -20, 5, False), "Log": (np.log, 0.05, 1e9, False), "Sqrt": (np.sqrt, 0.01, 1e9, False),
    "Reciprocal": (lambda x: 1 / x, 0.1, 1e9, False), "Sin": (np.sin, -30, 30, False), "Cos": (np.cos, -30, 30, False),
    "Tan": (np.tan, -1, 1, False), "Asin": (np.arcsin, -0.9, 0.9, False), "Acos": (np.arccos, -0.9, 0.9, False),
    "Atan": (np.arctan, -1e9, 1e9, False), "Sinh": (np.sinh, -4, 4, False), "Cosh": (np.cosh, -4, 4, False),
    "Asinh": (np.arcsinh, -1e9, 1e9, False), "Acosh": (np.arccosh, 1.1, 1e9, False),
    "Atanh": (np.arctanh, -0.9, 0.9, False), "Erf": (ERF, -1e9, 1e9, False), "Tanh": (np.tanh, -1e9, 1e9, False),
    "Sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -80, 80, False), "Softplus": (softplus, -80, 80, False),
    "Softsign": (lambda x: x / (1 + np.abs(x)), -1e9, 1e9, False),
    "HardSwish": (lambda x: x * np.clip(x / 6 + 0.5, 0, 1), -1e9, 1e9, False),
    "Mish": (lambda x: x * np.tanh(softplus(x)), -80, 80, False),
    "Gelu": (lambda x: 0.5 * x * (1 + ERF(x / math.sqrt(2))), -80, 80, False),
    "Elu": (lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), -80, 1e9, False),
    "Selu": (lambda x: 1.0507 * np.where(x > 0, x, 1.67326 * np.expm1(np.minimum(x, 0))), -80, 1e9, False),
    "Celu": (lambda x: np.maximum(x, 0) + np.minimum(0, np.expm1(np.minimum(x, 0))), -80, 1e9, False),
    "LeakyRelu": (lambda x: np.where(x > 0, x, 0.01 * x), -1e9, 1e9, False),
    "HardSigmoid": (lambda x: np.clip(0.2 * x + 0.5, 0, 1), -1e9, 1e9, False),
}
# The last bit of the operand decides the result of these functions.
STEPS = {"Ceil": np.ceil, "Floor": np.floor, "Round": np.round, "Sign": np.sign}


def image(function, num, dtype, exact):
    """Returns the range of a function, from samples."""
    x = np.linspace(num.low, num.high, 257)
    with np.errstate(all="ignore"):
        y = function(x).astype(np.float64)
    step = max((num.high - num.low) / 256, 1e-12)
    slope = np.abs(np.diff(y)).max() / step
    margin = 0 if exact else slope * step
    result = Num(float(y.min() - margin), float(y.max() + margin), num.grain if exact else None,
                 num.error * slope * 1.2)
    if not exact:
        result.error += FUNCTION_ERROR * result.size
    return result


@family(24)
def unary(g):
    op = g.one(*UNARY)
    function, low, high, exact = UNARY[op]
    types = allowed(op)
    x = g.pick(types=types if exact else types & set(FLOATS),
               fits=lambda v: v.dtype.kind != "u" or op != "Neg", make=lambda: g.input(g.favourite))
    x = x and g.bounded(x, max(low, -LARGEST.get(x.dtype, 1e9)), min(high, LARGEST.get(x.dtype, 1e9)))
    return x and g.node(op, [x], [(x.dtype, x.shape, image(function, x.num, x.dtype, exact))])


@family(4)
def steps(g):
    op = g.one(*STEPS)
    x = g.pick(types=allowed(op), fits=lambda v: v.num.exact)
    return x and g.node(op, [x], [(x.dtype, x.shape, Num(math.floor(x.num.low), math.ceil(x.num.high)))])


@family(2)
def parametric(g):
    """Draws activations with attributes."""
    op = g.one("ThresholdedRelu", "Shrink", "LeakyRelu", "Elu", "Celu", "HardSigmoid", "Gelu")
    discrete = op in ("ThresholdedRelu", "Shrink")
    x = g.pick(types=allowed(op) & set(FLOATS), fits=lambda v: v.num.exact or not discrete)
    if not x:
        return None
    x = g.bounded(x, -50, 50)
    attributes = {"ThresholdedRelu": dict(alpha=0.5), "Shrink": dict(lambd=0.5, bias=0.25), "Elu": dict(alpha=0.5),
                  "LeakyRelu": dict(alpha=0.25), "Celu": dict(alpha=2.0), "HardSigmoid": dict(alpha=0.25, beta=0.25),
                  "Gelu": dict(approximate="tanh")}[op]
    size = x and x.num.size
    return x and g.node(op, [x], [(x.dtype, x.shape, Num(-size, size + 1, None, (
        x.num.error * 2 + FUNCTION_ERROR * size)))], **attributes)


def partner(g, x, num=None, constants=True):
    """Returns a value that broadcasts with `x`."""
    def make():
        shape = [d if g.chance(0.6) else fixed(1) for d in x.shape]
        shape = shape[g.between(0, len(shape)) if shape and g.chance(0.4) else 0:]
        if not constants or g.chance(0.35):
            return g.input(x.dtype, shape, num)
        return g.weight(x.dtype, [d[0] if is_fixed(d) else 1 for d in shape], num)
    def fits(v):
        shape = broadcast(x.shape, v.shape) if v is not x or g.chance(0.1) else None
        return shape is not None and max(elements(shape), default=1) <= 8000
    found = g.pick(fits, types={x.dtype}, make=make) if g.chance(0.6) else make()
    return found if found.num and g.is_usable(found) else make()


def common(*values):
    return broadcast(*(v.shape for v in values))


def grain_of(*values):
    grains = [v.num.grain for v in values]
    return None if None in grains else max(grains)


@family(24)
def arithmetic(g):
    op = g.one("Add", "Sub", "Mul")
    a = g.pick(types=allowed(op), make=lambda: g.input())
    if a.dtype not in allowed(op):
        return None
    b = partner(g, a)
    if g.chance(0.3):
        a, b = b, a
    x, y = a.num, b.num
    grain = grain_of(a, b)
    if op == "Mul":
        ends = [i * j for i in (x.low, x.high) for j in (y.low, y.high)]
        grain = None if grain is None else x.grain + y.grain
        num = Num(min(ends), max(ends), grain, x.size * y.error + y.size * x.error + x.error * y.error)
    elif op == "Add":
        num = Num(x.low + y.low, x.high + y.high, grain, x.error + y.error)
    else:
        num = Num(x.low - y.high, x.high - y.low, grain, x.error + y.error)
    return g.node(op, [a, b], [(a.dtype, common(a, b), num)])


@family(5)
def division(g):
    a = g.pick(types=allowed("Div"), make=lambda: g.input())
    if a.dtype not in allowed("Div"):
        return None
    if a.dtype.kind in "iu":
        size = [d[0] if is_fixed(d) and g.chance(0.5) else 1 for d in a.shape]
        b = g.constant(g.data(a.dtype, size, Num(1, 4), (1, g.count)))
        op = g.one("Div", "Mod")
        if op == "Div":  # toward zero
            return g.node("Div", [a, b], [(a.dtype, common(a, b), Num(-a.num.size, a.num.size))])
        return g.node("Mod", [a, b], [(a.dtype, common(a, b), Num(0 if a.dtype.kind == "u" else -3, 3))],
                      fmod=0 if a.dtype.kind == "u" else g.between(0, 1))
    b = partner(g, a, Num(0.5, 4, 3))
    b = g.bounded(b, 0.5, max(4, b.num.high))
    size = a.num.size * 2
    return b and g.node("Div", [a, b], [(a.dtype, common(a, b), Num(-size, size, None, (
        2 * a.num.error + 4 * a.num.size * b.num.error)))])


@family(3)
def power(g):
    a = g.pick(types={F32, F64, F16} & allowed("Pow"))
    if not a:
        return None
    exponent = g.one(0.5, 2.0, 3.0, -1.0, 1.5)
    a = g.bounded(a, 0.1, 4.0) if exponent not in (2.0, 3.0) else g.bounded(a, -4.0, 4.0)
    if a is None:
        return None
    b = g.constant(np.array(exponent, a.dtype) if g.chance(0.6) else np.full([1] * a.rank, exponent, a.dtype))
    num = image(lambda x: x ** exponent, a.num, a.dtype, False)
    return g.node("Pow", [a, b], [(a.dtype, common(a, b), num)])


@family(8)
def variadic(g):
    op = g.one("Max", "Min", "Sum", "Mean", "Max", "Min")
    a = g.pick(types=allowed(op) & set(FLOATS) if op in ("Sum", "Mean") else allowed(op))
    if not a:
        return None
    values = [a]
    for _ in range(g.one(0, 1, 1, 2, 3)):
        b = partner(g, a)
        if broadcast(*(v.shape for v in values), b.shape) is not None:
            values.append(b)
    low, high = min(v.num.low for v in values), max(v.num.high for v in values)
    grain, error = grain_of(*values), sum(v.num.error for v in values)
    if op == "Sum":
        low, high = sum(v.num.low for v in values), sum(v.num.high for v in values)
    grain = None if op == "Mean" and len(values) > 1 else grain
    return g.node(op, values, [(a.dtype, common(*values), Num(low, high, grain, error))])


@family(6)
def comparison(g):
    op = g.one("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
    a = g.pick(types=allowed(op), fits=lambda v: v.num.exact)
    b = a and partner(g, a)
    if not b or not b.num.exact:
        return None
    return g.node(op, [a, b], [(BOOL, common(a, b), Num(0, 1))])


@family(4)
def logic(g):
    a = g.pick(types={BOOL}, make=lambda: g.input(BOOL))
    if g.chance(0.25):
        return g.node("Not", [a], [(BOOL, a.shape, Num(0, 1))])
    b = partner(g, a)
    return g.node(g.one("And", "Or", "Xor"), [a, b], [(BOOL, common(a, b), Num(0, 1))])


@family(3)
def bits(g):
    a = g.pick(types=set(INTS))
    if not a:
        return None
    info = np.iinfo(a.dtype)
    if a.num.low < 0 or g.chance(0.15):
        return a.dtype.kind == "i" and g.node("BitwiseNot", [a], [(a.dtype, a.shape, Num(
            -a.num.high - 1, -a.num.low - 1))])
    if a.dtype.kind == "u" and g.chance(0.4):
        b = g.constant(np.array(g.between(0, 2), a.dtype))
        direction = g.one("LEFT", "RIGHT")
        high = a.num.high * 4 if direction == "LEFT" else a.num.high
        return g.node("BitShift", [a, b], [(a.dtype, a.shape, Num(0, high))], direction=direction)
    b = partner(g, a, Num(0, 7))
    if b.num.low < 0:
        return None
    top = 2 ** math.ceil(math.log2(max(a.num.high, b.num.high, 1) + 1)) - 1
    op = g.one("BitwiseAnd", "BitwiseOr", "BitwiseXor")
    return top <= info.max and g.node(op, [a, b], [(a.dtype, common(a, b), Num(0, top))])


@family(6)
def where(g):
    a = g.pick(types=allowed("Where", 1), make=lambda: g.input())
    b = partner(g, a)
    shape = common(a, b)
    def make():
        return g.input(BOOL, [d if g.chance(0.7) else fixed(1) for d in shape])
    condition = g.pick(lambda v: broadcast(shape, v.shape) is not None, types={BOOL}, make=make)
    shape = broadcast(shape, condition.shape)
    return g.node("Where", [condition, a, b], [(a.dtype, shape, Num(
        min(a.num.low, b.num.low), max(a.num.high, b.num.high), grain_of(a, b), max(a.num.error, b.num.error)))])


@family(7)
def cast(g):
    x = g.pick()
    if not x:
        return None
    to = g.one(*(t for t in (F32, F32, F64, F16, BF16, BOOL, *INTS) if t != x.dtype))
    num = x.num
    if x.dtype in FLOATS and to not in FLOATS:
        if not num.exact:
            return None
        num = Num(math.trunc(num.low), math.trunc(num.high))
        if to != BOOL and not (np.iinfo(to).min <= num.low and num.high <= np.iinfo(to).max):
            return None
    elif to in INTS and not (np.iinfo(to).min <= num.low and num.high <= np.iinfo(to).max):
        return None
    if g.chance(0.2):
        like = g.constant(np.zeros([1], to))
        return g.node("CastLike", [x, like], [(to, x.shape, num)])
    return g.node("Cast", [x], [(to, x.shape, num)], to=TYPES[to])


@family(4)
def clip(g):
    x = g.pick(types=allowed("Clip"))
    if not x:
        return None
    low, high = (0, 3) if x.dtype.kind == "u" else (-1, 2)
    bounds = [g.constant(np.array(b, x.dtype)) if g.chance(0.75) else None for b in (low, high)]
    num = x.num
    new = Num(max(num.low, low) if bounds[0] else num.low, min(num.high, high) if bounds[1] else num.high, num.grain,
              num.error)
    new.low, new.high = min(new.low, high), max(new.high, low)
    return g.node("Clip", [x, *bounds], [(x.dtype, x.shape, new)])


@family(2)
def prelu(g):
    x = g.pick(types=allowed("PRelu") & set(FLOATS))
    if not x:
        return None
    slope = g.weight(x.dtype, [d[0] if is_fixed(d) and g.chance(0.6) else 1 for d in x.shape], Num(-1, 1, 3))
    return g.node("PRelu", [x, slope], [(x.dtype, x.shape, Num(-x.num.size, x.num.size, None, x.num.error))])


@family(2)
def questions(g):
    x = g.pick(types=set(FLOATS) & allowed("IsNaN"), fits=lambda v: v.num.exact)
    return x and g.node(g.one("IsNaN", "IsInf"), [x], [(BOOL, x.shape, Num(0, 1))])


@family(2)
def same(g):
    x = g.pick(types=set(FLOATS))
    return x and g.node(g.one("Identity", "Dropout"), [x], [(x.dtype, x.shape, x.num)])
