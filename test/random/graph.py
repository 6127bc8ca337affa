"""Builds a random ONNX graph: values of known type, shape and range, and the nodes that make them.

A value's shape is known for every set of sizes of the graph. A dimension is a tuple with one size per set, all equal if
it is fixed. So ordinary arithmetic decides which operators fit, also at sizes 0 and 1.

A value's range is known, too, so that functions stay in their domain and nothing overflows. It is also known if two
correct implementations give equal bits. Only such values may be rounded, compared or sorted, because there the last bit
decides.
"""
import dataclasses
import functools
import math
import random

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper

SETS = 3
OPSET = 23
BF16 = np.dtype(ml_dtypes.bfloat16)
F16, F32, F64 = (np.dtype(t) for t in ("float16", "float32", "float64"))
BOOL, I32, I64, U8, I8 = (np.dtype(t) for t in ("bool", "int32", "int64", "uint8", "int8"))
FLOATS = (F32, F64, F16, BF16)
TYPES = {F32: 1, np.dtype("uint8"): 2, np.dtype("int8"): 3, np.dtype("uint16"): 4, np.dtype("int16"): 5, I32: 6,
         I64: 7, BOOL: 9, F16: 10, F64: 11, np.dtype("uint32"): 12, np.dtype("uint64"): 13, BF16: 16}
INTS = tuple(t for t in TYPES if t.kind in "iu")
NAMES = {"float": F32, "float16": F16, "double": F64, "bfloat16": BF16, **{t.name: t for t in (*INTS, BOOL)}}
# Bits of the fraction, and the largest range that values are kept in.
FRACTION = {F32: 23, F64: 52, F16: 10, BF16: 7}
LARGEST = {F32: 500.0, F64: 500.0, F16: 60.0, BF16: 500.0}
# Largest difference between two implementations of a function, relative to its largest value.
FUNCTION_ERROR = 2e-5
# Relative error above which a value may only be an output.
TIRED = {F32: 2e-3, F64: 2e-3, F16: 3e-2, BF16: 1e-1}


def rounding(dtype):
    return 2.0 ** -FRACTION[dtype]


@dataclasses.dataclass
class Num:
    """Facts about a value's elements: their range, the grain (elements are multiples of 2^-grain, or None if the last
    bits are unknown), and the largest difference between two implementations."""
    low: float
    high: float
    grain: object = 0
    error: float = 0.0

    @property
    def size(self):
        return max(abs(self.low), abs(self.high), 1e-30)

    @property
    def exact(self):
        return self.grain is not None


def settle(dtype, num):
    """Returns the range of a result that is rounded to `dtype`; None if it does not fit."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        limit = min(info.max, 2**53)
        return num if info.min <= num.low and num.high <= limit else None
    if dtype == BOOL:
        return Num(0, 1)
    if num.size > 1e4 * LARGEST[dtype] or (dtype == F16 and num.size > 6e4):
        return None
    if num.exact and num.size * 2.0**num.grain >= 2.0 ** (FRACTION[dtype] + 1):
        num = dataclasses.replace(num, grain=None)
    if not num.exact:
        num = dataclasses.replace(num, error=num.error + rounding(dtype) * num.size)
    return num


@dataclasses.dataclass(eq=False)
class Value:
    name: str
    dtype: np.dtype
    shape: tuple  # tuples with a size for each set
    num: Num
    constant: object = None  # array of an initializer
    uses: int = 0

    @property
    def rank(self):
        return len(self.shape)


def family_of():
    """Returns a list of (weight, function that adds nodes), and the decorator that adds an entry."""
    entries = []
    def enter(weight):
        def put(function):
            entries.append((weight, function))
            return function
        return put
    return entries, enter


def fixed(n):
    return (n,) * SETS


def is_fixed(dim):
    return len(set(dim)) == 1


def all_fixed(shape):
    return all(is_fixed(d) for d in shape)


def least(dim):
    return min(dim)


def broadcast_dim(a, b):
    result = []
    for x, y in zip(a, b):
        if x != y and x != 1 and y != 1:
            return None
        result.append(y if x == 1 else x)
    return tuple(result)


def broadcast(*shapes):
    """Returns the common shape, or None."""
    rank = max(len(s) for s in shapes)
    result = [fixed(1)] * rank
    for shape in shapes:
        for i, dim in enumerate(shape):
            at = rank - len(shape) + i
            result[at] = broadcast_dim(result[at], dim)
            if result[at] is None:
                return None
    return tuple(result)


def elements(shape):
    """Returns the number of elements for each set."""
    return tuple(math.prod(d[s] for d in shape) for s in range(SETS))


@functools.lru_cache(None)
def allowed(op, operand=0):
    """Returns the element types of an operator's input, by ONNX's schema."""
    schema = onnx.defs.get_schema(op, OPSET)
    formal = schema.inputs[min(operand, len(schema.inputs) - 1)]
    names = {t[len("tensor("):-1] for t in formal.types if t.startswith("tensor(")}
    return frozenset(t for n, t in NAMES.items() if n in names)


class Graph:
    MAX_ELEMENTS = 60_000

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed = seed
        self.nodes, self.initializers, self.inputs, self.values = [], [], [], []
        self.is_open = seed % 2 == 1
        self.one_name = self.random.random() < 0.5  # true if a dynamic size has one name in all inputs
        self.count = 0
        self.batches = [self.batch_dim() for _ in range(2)] if self.is_open else []
        self.lengths = [self.length_dim() for _ in range(2)] if self.is_open else []
        # Draws one type for most values of the graph.
        self.favourite = self.random.choices(FLOATS, (80, 6, 8, 6))[0]

    # Choices

    def chance(self, p):
        return self.random.random() < p

    def one(self, *choices):
        return self.random.choice(choices)

    def between(self, low, high):
        return self.random.randint(low, high)

    # Sizes

    def batch_dim(self):
        """Returns a dynamic size that is 0 or 1 in some set."""
        sizes = [self.between(2, 9), self.one(1, 1, 1, self.between(2, 9)), self.one(0, 0, 1, 3)]
        if len(set(sizes)) == 1:
            sizes[1] = 1
        return tuple(sizes)

    def length_dim(self):
        sizes = [self.between(4, 20), self.between(4, 9), self.between(4, 33)]
        if len(set(sizes)) == 1:
            sizes[0] += 1
        return tuple(sizes)

    def dim(self, long=False):
        if self.is_open and self.chance(0.5):
            return self.one(*(self.lengths if long else self.batches + self.lengths))
        if long:
            return fixed(self.one(4, 5, 6, 7, 8, 9, 12, 16, 17))
        return fixed(self.one(1, 2, 3, 4, 5, 6, 7, 8, 16, 17) if self.chance(0.97) else self.one(0, 33, 64))

    def shape(self, rank=None):
        rank = self.random.choices(range(6), (2, 12, 25, 25, 30, 6))[0] if rank is None else rank
        dims = tuple(self.dim() for _ in range(rank))
        while max(elements(dims)) > 4000:
            # If the first set of sizes is small, makes another one large.
            size = max if all(d[0] <= 4 for d in dims) else lambda d: d[0]
            dims = tuple(fixed(self.between(1, 4)) if size(d) > 4 and self.chance(0.5) else d for d in dims)
        return dims

    # Values

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def add(self, value):
        self.values.append(value)
        return value

    def element_type(self):
        return self.favourite if self.chance(0.85) else self.one(*TYPES)

    def range_of(self, dtype):
        if dtype == BOOL:
            return Num(0, 1)
        if dtype.kind == "u":
            return Num(0, self.one(3, 7, 15))
        return Num(-4, 4) if dtype.kind == "i" else Num(-2, 2, 3)

    def data(self, dtype, shape, num, key):
        """Returns random elements in the range; `key` identifies them."""
        rng = np.random.default_rng([self.seed, *key])
        if dtype == BOOL:
            return np.asarray(rng.integers(0, 2, shape)).astype(bool)
        step = 2.0**num.grain
        values = rng.integers(math.ceil(num.low * step), math.floor(num.high * step) + 1, shape) / step
        return np.asarray(values).astype(dtype)

    def input(self, dtype=None, shape=None, num=None):
        dtype = dtype or self.element_type()
        shape = self.shape() if shape is None else shape
        value = Value(self.name("x"), dtype, tuple(shape), num or self.range_of(dtype))
        self.inputs.append(value)
        return self.add(value)

    def constant(self, array, num=None, pool=False):
        """Adds an initializer or a Constant node. With `pool`, other nodes may use it, too."""
        array = np.asarray(array)
        if num is None and array.size:
            num = Num(float(array.min()), float(array.max()), None if array.dtype.kind not in "biu" else 0)
        value = Value(self.name("w"), array.dtype, tuple(fixed(d) for d in array.shape), num or Num(0, 0), array)
        tensor = numpy_helper.from_array(array, value.name)
        if self.chance(0.15):
            self.nodes.append(helper.make_node("Constant", [], [value.name], name=f"n_{value.name}", value=tensor))
        else:
            self.initializers.append(tensor)
        return self.add(value) if pool else value

    def weight(self, dtype, shape, num=None):
        num = num or self.range_of(dtype)
        return self.constant(self.data(dtype, shape, num, (1, self.count)), num)

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def pick(self, fits=lambda v: True, types=None, make=None):
        """Returns a value that fits, preferably an unused one; else the result of `make`, or None."""
        def good(v):
            return (types is None or v.dtype in types) and self.is_usable(v) and fits(v)
        found = [v for v in self.values if good(v)]
        fresh = [v for v in found if not v.uses]
        if fresh and self.chance(0.7):
            found = fresh
        if found and not (make and self.chance(0.1)):
            return found[min(int(len(found) * self.random.random() ** 0.6), len(found) - 1)]
        return make() if make else None

    def is_usable(self, value):
        return value.dtype not in TIRED or value.num.exact or \
            value.num.error <= TIRED[value.dtype] * value.num.size

    # Nodes

    def node(self, op, operands, results, domain="", **attributes):
        """Adds a node. `results` are (element type, shape, Num) of each output, or None for an absent output. Returns
        the values, or None if one would be too large or outside of its type."""
        settled = []
        for result in results:
            if result is None:
                settled.append(None)
                continue
            dtype, shape, num = result
            num = settle(dtype, num)
            if num is None or max(elements(shape), default=1) > self.MAX_ELEMENTS:
                return None
            settled.append((dtype, tuple(shape), num))
        names = [self.name("v") if r else "" for r in settled]
        for operand in operands:
            if operand is not None:
                operand.uses += 1
        while operands and operands[-1] is None:
            operands = operands[:-1]
        self.nodes.append(helper.make_node(op, [o.name if o else "" for o in operands], names, domain=domain,
                                           name=f"n_{self.count}", **attributes))
        values = [self.tamed(self.add(Value(n, *r))) if r else None for n, r in zip(names, settled)]
        return values[0] if len(values) == 1 else values

    def tamed(self, value):
        """Returns the value, scaled down if it may become large."""
        if value.dtype in LARGEST and value.num.size > LARGEST[value.dtype]:
            shift = math.ceil(math.log2(value.num.size / LARGEST[value.dtype]))
            self.scaled(value, -shift)
            value.uses += 1
            value.num.error = math.inf if not value.num.exact else value.num.error  # nothing uses it directly
        return value

    def scaled(self, value, shift):
        factor = self.constant(np.array(2.0**shift, value.dtype))
        num = value.num
        return self.node("Mul", [value, factor], [(value.dtype, value.shape, Num(
            num.low * 2.0**shift, num.high * 2.0**shift, None if num.grain is None else num.grain - shift,
            num.error * 2.0**shift))])

    def bounded(self, value, low, high):
        """Returns the value, clipped if necessary."""
        if low <= value.num.low and value.num.high <= high:
            return value
        bounds = [self.constant(np.array(b, value.dtype)) for b in (low, high)]
        def clip(x):
            return min(max(x, low), high)
        grain = value.num.grain
        if grain is not None and any(b * 2.0**grain % 1 for b in (low, high)):
            grain = 10 if all(b * 1024 % 1 == 0 for b in (low, high)) and grain <= 10 else None
        return self.node("Clip", [value, *bounds], [(value.dtype, value.shape, Num(
            clip(value.num.low), clip(value.num.high), grain, value.num.error))])

    # The model

    def finish(self):
        self.outputs = [v for v in self.values if v.constant is None and v not in self.inputs and
                        (not v.uses or self.chance(0.08))]

    def model(self):
        names = {d: f"{kind}{i}" for kind, dims in (("N", self.batches), ("L", self.lengths))
                 for i, d in enumerate(dims)}
        def dims(value):
            def called(d, i):
                name = names.setdefault(d, f"D{len(names)}")  # a computed size
                return name if self.one_name else f"{name}_{value.name}_{i}"
            return [d[0] if is_fixed(d) else called(d, i) for i, d in enumerate(value.shape)]
        infos = [helper.make_tensor_value_info(v.name, TYPES[v.dtype], dims(v)) for v in self.inputs]
        outputs = [helper.make_tensor_value_info(v.name, TYPES[v.dtype], [None] * v.rank) for v in self.outputs]
        graph = helper.make_graph(self.nodes, f"random-{self.seed}", infos, outputs, self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)

    def arrays(self, number):
        """Returns the inputs of set `number`; set SETS has contradicting sizes."""
        shapes = {v.name: tuple(d[min(number, SETS - 1)] for d in v.shape) for v in self.inputs}
        if number == SETS:
            shapes = {v.name: tuple(d[0] for d in v.shape) for v in self.inputs}
            shapes.update(self.contradiction(shapes))
        return [self.data(v.dtype, shapes[v.name], v.num, (2, i, number)) for i, v in enumerate(self.inputs)]

    def contradiction(self, shapes):
        """Changes one or two dynamic dimensions."""
        rng = random.Random(f"contradiction {self.seed}")
        places = [(v.name, i) for v in self.inputs for i, d in enumerate(v.shape) if not is_fixed(d)]
        changed = {}
        for name, axis in rng.sample(places, min(len(places), rng.choice((1, 1, 2)))):
            shape = list(changed.get(name, shapes[name]))
            old = shape[axis]
            shape[axis] = rng.choice([s for s in (0, 1, old - 1, old + 1, 2 * old, old + 37) if s != old and s >= 0])
            changed[name] = tuple(shape)
        return changed
