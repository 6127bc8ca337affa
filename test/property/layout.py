"""Random graphs of ops that move, reduce and mix dimensions. Layouts must be correct, and passes must terminate.

Each graph has about ten nodes: spatial ops, transposes, reductions with and without their dimensions, gathers of one
entry, reshapes, concatenations, slices, elementwise ops with every kind of broadcasting, and decomposed attention. Half
of the graphs have dynamic dimensions.
"""
import numpy as np
from onnx import TensorProto, helper

from case import Case, normal, some

TOLERANCE = 2e-4
MAX_ELEMENTS = 4096
UNARY = ("Relu", "Sigmoid", "Tanh", "Abs", "Neg", "LeakyRelu", "HardSigmoid", "Softplus")


class Maker:
    """Builds a case: values with the shapes that they have in the run."""

    def __init__(self, rng, name, is_open):
        self.rng, self.case, self.is_open = rng, Case(name, tolerance=TOLERANCE), is_open
        self.shapes, self.used = {}, set()

    def value(self, op, inputs, shape, **attributes):
        y = self.case.node(op, inputs, **attributes)
        self.shapes[y] = tuple(shape)
        self.used.update(inputs)
        self.case.text += f" {op}{'x'.join(map(str, shape)) or '()'}"
        return y

    def weight(self, *shape, scale=1.0):
        return self.case.weight(normal(self.rng, shape, scale))

    def ints(self, *values):
        return self.case.weight(np.array(values, np.int64))

    def input(self, shape):
        x = self.case.input(normal(self.rng, shape))
        self.shapes[x] = tuple(shape)
        if self.is_open:
            axes = [i for i in range(len(shape)) if self.rng.random() < 0.4 and i != 1]
            self.case.dynamic[x] = {i: f"{x}_n{i}" for i in axes}
        self.case.text += f" input{'x'.join(map(str, shape))}{' open' if self.case.dynamic.get(x) else ''}"
        return x

    def pick(self, least=0):
        """Returns a value of at least `least` dimensions, preferably a recent one; None if there is none."""
        fit = [v for v, shape in self.shapes.items() if len(shape) >= least]
        if not fit:
            return None
        return fit[-1] if self.rng.random() < 0.6 else fit[self.rng.integers(len(fit))]

    def axis(self, x):
        return int(self.rng.integers(len(self.shapes[x])))

    def axes(self, x):
        rank = len(self.shapes[x])
        count = int(self.rng.integers(1, rank + 1)) if self.rng.random() < 0.5 else 1
        return sorted(int(a) for a in self.rng.choice(rank, count, replace=False))

    def perm(self, rank):
        usual = [p for p in ((0, 2, 3, 1), (0, 3, 1, 2), (0, 2, 1), (2, 0, 1, 3), (0, 2, 1, 3), (2, 0, 3, 1, 4), (1, 0))
                 if len(p) == rank]
        if usual and self.rng.random() < 0.5:
            return usual[self.rng.integers(len(usual))]
        return tuple(int(i) for i in self.rng.permutation(rank))


def reduced(shape, axes, keep):
    return [1 if i in axes else d for i, d in enumerate(shape) if keep or i not in axes]


# One function per op: takes the Maker and returns a new value, or None if the op does not fit -------------------------

def conv(m):
    x = m.pick(3)
    if not x or len(m.shapes[x]) > 4:
        return None
    n, c, *spatial = m.shapes[x]
    k = 3 if min(spatial) >= 3 and m.rng.random() < 0.6 else 1
    pad, stride, out = (k // 2 if m.rng.random() < 0.7 else 0), some(m.rng, 1, 1, 2), int(m.rng.integers(1, 9))
    group = c if c == out and m.rng.random() < 0.5 else 1
    w = m.weight(out, c // group, *[k] * len(spatial), scale=(1.0 / (c // group * k ** len(spatial))) ** 0.5)
    bias = [m.weight(out)] if m.rng.random() < 0.5 else []
    y = [(s + 2 * pad - k) // stride + 1 for s in spatial]
    return m.value("Conv", [x, w, *bias], [n, out, *y], group=group, pads=[pad] * 2 * len(spatial),
                   strides=[stride] * len(spatial))


def pool(m):
    x = m.pick(3)
    if not x or len(m.shapes[x]) > 4:
        return None
    n, c, *spatial = m.shapes[x]
    if m.rng.random() < 0.3:
        return m.value("GlobalAveragePool", [x], [n, c, *[1] * len(spatial)])
    if min(spatial) < 2:
        return None
    y = [(s - 2) // 2 + 1 for s in spatial]
    return m.value(some(m.rng, "MaxPool", "AveragePool"), [x], [n, c, *y], kernel_shape=[2] * len(spatial),
                   strides=[2] * len(spatial))


def norm(m):
    x = m.pick(3)
    if not x or len(m.shapes[x]) > 4:
        return None
    shape = m.shapes[x]
    c = shape[1]
    kind = some(m.rng, "batch", "instance", "layer", "lrn")
    scale, shift = m.case.weight(m.rng.uniform(0.5, 1.5, c).astype(np.float32)), m.weight(c)
    if kind == "batch":
        return m.value("BatchNormalization", [x, scale, shift, m.weight(c), scale], shape)
    if kind == "lrn" and len(shape) == 4:
        return m.value("LRN", [x], shape, size=3)
    if kind == "instance" and np.prod(shape[2:]) > 3:
        return m.value("InstanceNormalization", [x, scale, shift], shape, epsilon=1e-2)
    if kind == "layer" and shape[-1] > 2:
        return m.value("LayerNormalization", [x, m.weight(shape[-1]), m.weight(shape[-1])], shape, axis=-1, epsilon=1e-2)
    return None


def transpose(m):
    x = m.pick(2)
    if not x:
        return None
    perm = m.perm(len(m.shapes[x]))
    return m.value("Transpose", [x], [m.shapes[x][i] for i in perm], perm=list(perm))


def reduce(m):
    x = m.pick(1)
    if not x:
        return None
    kind = some(m.rng, "ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum", "ReduceL2")
    axes, keep = m.axes(x), int(m.rng.random() < 0.4)
    shape = reduced(m.shapes[x], axes, keep)
    if kind == "ReduceSum":
        return m.value(kind, [x, m.ints(*axes)], shape, keepdims=keep)
    return m.value(kind, [x], shape, axes=axes, keepdims=keep)


def reduce_all(m):
    """Subtracts the smallest or largest element of x from x, by a reduction of all axes with keepdims 0."""
    x = m.pick(1)
    least = m.value(some(m.rng, "ReduceMin", "ReduceMax"), [x], [], keepdims=0) if x else None
    return m.value("Sub", [x, least], m.shapes[x]) if x else None


def arg_reduce(m):
    x = m.pick(1)
    if not x:
        return None
    axis, keep = m.axis(x), int(m.rng.random() < 0.3)
    if m.rng.random() < 0.5 and len(m.shapes[x]) > 1:
        axis = 1
    shape = reduced(m.shapes[x], [axis], keep)
    at = m.value(some(m.rng, "ArgMax", "ArgMin"), [x], shape, axis=axis, keepdims=keep)
    del m.shapes[at]  # not f32
    return m.value("Cast", [at], shape, to=TensorProto.FLOAT)


def gather(m):
    x = m.pick(1)
    if not x:
        return None
    shape, axis = list(m.shapes[x]), m.axis(x)
    if m.rng.random() < 0.7:
        index = m.case.weight(np.int64(m.rng.integers(-shape[axis], shape[axis])))
        return m.value("Gather", [x, index], shape[:axis] + shape[axis + 1:], axis=axis)
    count = int(m.rng.integers(1, 4))
    return m.value("Gather", [x, m.ints(*m.rng.integers(0, shape[axis], count))],
                   shape[:axis] + [count] + shape[axis + 1:], axis=axis)


def squeeze(m):
    x = m.pick(1)
    ones = [i for i, d in enumerate(m.shapes[x]) if d == 1] if x else []
    open_axes = m.case.dynamic.get(x, {})
    ones = [i for i in ones if i not in open_axes]
    if not ones:
        return None
    axis = ones[m.rng.integers(len(ones))]
    return m.value("Squeeze", [x, m.ints(axis)], reduced(m.shapes[x], [axis], False))


def unsqueeze(m):
    x = m.pick()
    if len(m.shapes[x]) > 4:
        return None
    axis = int(m.rng.integers(len(m.shapes[x]) + 1))
    shape = list(m.shapes[x])
    return m.value("Unsqueeze", [x, m.ints(axis)], shape[:axis] + [1] + shape[axis:])


def reshape(m):
    """Merges neighboring dimensions or splits one. Other dimensions are given as 0 or as a number."""
    x = m.pick(1)
    if not x:
        return None
    shape, axis = list(m.shapes[x]), m.axis(x)
    factors = [f for f in range(1, shape[axis] + 1) if shape[axis] % f == 0]
    if m.rng.random() < 0.5 and len(shape) < 5 and factors:
        f = factors[m.rng.integers(len(factors))]
        shape[axis:axis + 1] = [f, shape[axis] // f]
        said = list(shape)
        said[axis + int(m.rng.integers(2))] = -1
    elif axis + 1 < len(shape):
        shape[axis:axis + 2] = [shape[axis] * shape[axis + 1]]
        said = list(shape)
        said[axis] = -1
    else:
        said = [-1]
        shape = [int(np.prod(shape))]
    said = [0 if i < axis and said[i] != -1 and m.rng.random() < 0.7 else s for i, s in enumerate(said)]
    return m.value("Reshape", [x, m.ints(*said)], shape)


def shuffle(m):
    """Adds a channel shuffle."""
    x = m.pick(3)
    if not x or len(m.shapes[x]) > 4 or m.shapes[x][1] % 2:
        return None
    n, c, *spatial = m.shapes[x]
    apart = m.value("Reshape", [x, m.ints(0, 2, c // 2, *spatial)], [n, 2, c // 2, *spatial])
    perm = [0, 2, 1, *range(3, 3 + len(spatial))]
    moved = m.value("Transpose", [apart], [n, c // 2, 2, *spatial], perm=perm)
    return m.value("Reshape", [moved, m.ints(0, c, *spatial)], [n, c, *spatial])


def softmax(m):
    x = m.pick(1)
    return m.value(some(m.rng, "Softmax", "LogSoftmax"), [x], m.shapes[x], axis=m.axis(x)) if x else None


def cumsum(m):
    x = m.pick(1)
    axis = m.axis(x) if x else 0
    return m.value("CumSum", [x, m.ints(axis)], m.shapes[x]) if x and m.shapes[x][axis] > 1 else None


def top_k(m):
    x = m.pick(1)
    if not x:
        return None
    shape, axis = list(m.shapes[x]), m.axis(x)
    shape[axis] = int(m.rng.integers(1, shape[axis] + 1))
    values, indices = m.case.value(), m.case.value()
    m.case.nodes.append(helper.make_node("TopK", [x, m.ints(shape[axis])], [values, indices], axis=axis))
    m.shapes[values] = tuple(shape)
    m.used.add(x)
    m.case.text += " TopK"
    return values


def concat(m):
    x = m.pick(1)
    if not x:
        return None
    shape, axis = list(m.shapes[x]), m.axis(x)
    others = [v for v, s in m.shapes.items()
              if len(s) == len(shape) and all(i == axis or a == b for i, (a, b) in enumerate(zip(s, shape)))]
    parts = [x] + [others[m.rng.integers(len(others))] for _ in range(m.rng.integers(1, 3))]
    if m.rng.random() < 0.3:
        parts.append(m.weight(*shape))
    sizes = [m.shapes[p][axis] if p in m.shapes else shape[axis] for p in parts]
    if np.prod(shape) // shape[axis] * sum(sizes) > MAX_ELEMENTS:
        return None
    shape[axis] = sum(sizes)
    return m.value("Concat", parts, shape, axis=axis)


def split(m):
    """Splits a value into two parts and swaps them."""
    x = m.pick(1)
    axis = m.axis(x) if x else 0
    if not x or m.shapes[x][axis] < 2:
        return None
    shape = list(m.shapes[x])
    first = int(m.rng.integers(1, shape[axis]))
    sizes = [first, shape[axis] - first]
    names = [m.case.value(), m.case.value()]
    m.case.nodes.append(helper.make_node("Split", [x, m.ints(*sizes)], names, axis=axis))
    m.used.add(x)
    for name, size in zip(names, sizes):
        m.shapes[name] = tuple(size if i == axis else d for i, d in enumerate(shape))
    m.case.text += " Split"
    return m.value("Concat", names[::-1], shape, axis=axis) if m.rng.random() < 0.6 else names[1]


def cut(m):
    x = m.pick(1)
    if not x:
        return None
    shape, axis = list(m.shapes[x]), m.axis(x)
    start = int(m.rng.integers(shape[axis]))
    if m.rng.random() < 0.3:
        spec = (start, -shape[axis] - 1, -1)
        shape[axis] = start + 1
    else:
        step = some(m.rng, 1, 2)
        spec = (start, shape[axis], step)
        shape[axis] = -(-(shape[axis] - start) // step)
    return m.value("Slice", [x, *(m.ints(v) for v in (spec[0], spec[1], axis, spec[2]))], shape)


def pad(m):
    x = m.pick(2)
    if not x or np.prod(m.shapes[x]) > MAX_ELEMENTS // 4:
        return None
    shape, axis, mode = list(m.shapes[x]), m.axis(x), some(m.rng, "constant", "edge", "reflect")
    if shape[axis] < 2:
        return None
    pads = [0] * 2 * len(shape)
    pads[axis], pads[len(shape) + axis] = 1, int(m.rng.integers(0, 2))
    shape[axis] += pads[axis] + pads[len(shape) + axis]
    return m.value("Pad", [x, m.ints(*pads)], shape, mode=mode)


def unary(m):
    x = m.pick()
    return m.value(some(m.rng, *UNARY), [x], m.shapes[x])


def broadcast(a, b):
    """Returns the broadcast shape; None if the shapes are incompatible."""
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b)
    if any(p != q and 1 not in (p, q) for p, q in zip(a, b)):
        return None
    return [max(p, q) for p, q in zip(a, b)]


def binary(m):
    x = m.pick()
    shape = m.shapes[x]
    kind = some(m.rng, "value", "value", "constant", "lower", "one")
    if kind == "value":
        fit = [v for v, s in m.shapes.items() if broadcast(s, shape) is not None]
        y = fit[m.rng.integers(len(fit))]
    else:
        dims = [d if m.rng.random() < 0.5 else 1 for d in shape]
        if kind == "lower" and shape:
            dims = dims[int(m.rng.integers(len(shape))):]
        y = m.weight(*([] if kind == "one" else dims))
        m.shapes[y] = () if kind == "one" else tuple(dims)
    result = broadcast(m.shapes[y], shape)
    if kind != "value":
        del m.shapes[y]
    if int(np.prod(result)) > MAX_ELEMENTS:
        return None
    pair = [x, y] if m.rng.random() < 0.5 else [y, x]
    return m.value(some(m.rng, "Add", "Mul", "Sub", "Max", "Min"), pair, result)


def where(m):
    x, y = m.pick(), m.pick()
    shape = broadcast(m.shapes[x], m.shapes[y])
    if shape is None or int(np.prod(shape)) > MAX_ELEMENTS:
        return None
    chosen = m.value("Greater", [x, m.case.weight(np.float32(0.1))], m.shapes[x])
    del m.shapes[chosen]
    return m.value("Where", [chosen, y, x], shape)


def matmul(m):
    x = m.pick(2)
    if not x:
        return None
    *batch, rows, inner = m.shapes[x]
    if m.rng.random() < 0.3:
        turned = list(range(len(batch))) + [len(batch) + 1, len(batch)]
        other = m.value("Transpose", [x], [*batch, inner, rows], perm=turned)
        return m.value("MatMul", [x, other], [*batch, rows, rows])
    out = int(m.rng.integers(1, 9))
    lead = batch if m.rng.random() < 0.3 else []
    return m.value("MatMul", [x, m.weight(*lead, inner, out, scale=inner ** -0.5)], [*batch, rows, out])


def attention(m):
    """Adds an attention whose q, k and v come from one product, as exporters write it."""
    n, s, heads, d = (int(v) for v in m.rng.integers(1, 5, 4))
    x = m.input((n, s, heads * d))
    m.case.dynamic.pop(x, None)
    if m.is_open:
        m.case.dynamic[x] = {some(m.rng, 0, 1): f"{x}_n"}
    qkv = m.value("MatMul", [x, m.weight(heads * d, 3 * heads * d, scale=(heads * d) ** -0.5)], [n, s, 3 * heads * d])
    first = [-1, s] if m.case.dynamic.get(x, {}).get(0) else [n, -1]
    apart = m.value("Reshape", [qkv, m.ints(*first, 3, heads, d)], [n, s, 3, heads, d])
    moved = m.value("Transpose", [apart], [3, n, heads, s, d], perm=[2, 0, 3, 1, 4])
    q, k, v = (m.value("Gather", [moved, m.case.weight(np.int64(i))], [n, heads, s, d], axis=0) for i in range(3))
    if m.rng.random() < 0.5:
        q = m.value("Mul", [q, m.case.weight(np.float32(d ** -0.5))], m.shapes[q])
    turned = m.value("Transpose", [k], [n, heads, d, s], perm=[0, 1, 3, 2])
    weights = m.value("Softmax", [m.value("MatMul", [q, turned], [n, heads, s, s])], [n, heads, s, s], axis=-1)
    y = m.value("MatMul", [weights, v], [n, heads, s, d])
    y = m.value("Transpose", [y], [n, s, heads, d], perm=[0, 2, 1, 3])
    return m.value("Reshape", [y, m.ints(0, 0, heads * d)], [n, s, heads * d])


def resize(m):
    x = m.pick(4)
    if not x or len(m.shapes[x]) != 4 or np.prod(m.shapes[x]) > MAX_ELEMENTS // 4:
        return None
    n, c, h, w = m.shapes[x]
    scales = m.case.weight(np.array([1, 1, 2, 2], np.float32))
    return m.value("Resize", [x, "", scales], [n, c, 2 * h, 2 * w], mode=some(m.rng, "nearest", "linear"),
                   coordinate_transformation_mode="asymmetric", nearest_mode="floor")


def expand(m):
    x = m.pick(1)
    ones = [i for i, d in enumerate(m.shapes[x]) if d == 1] if x else []
    if not ones or np.prod(m.shapes[x]) > MAX_ELEMENTS // 4:
        return None
    shape, said = list(m.shapes[x]), [1] * len(m.shapes[x])
    said[ones[-1]] = shape[ones[-1]] = 3
    return m.value("Expand", [x, m.ints(*said)], shape)


def depth_to_space(m):
    x = m.pick(4)
    if not x or len(m.shapes[x]) != 4 or m.shapes[x][1] % 4:
        return None
    n, c, h, w = m.shapes[x]
    return m.value("DepthToSpace", [x], [n, c // 4, 2 * h, 2 * w], blocksize=2, mode=some(m.rng, "DCR", "CRD"))


OPS = (conv, conv, conv, pool, norm, transpose, transpose, transpose, reduce, reduce, reduce, reduce_all, arg_reduce,
       gather, gather, squeeze, unsqueeze, reshape, reshape, shuffle, softmax, cumsum, top_k, concat, split, cut, pad,
       unary, unary, binary, binary, binary, where, matmul, resize, expand, depth_to_space, attention)


def layout_case(rng, name):
    m = Maker(rng, name, is_open=rng.random() < 0.5)
    sizes = [int(d) for d in rng.choice([1, 2, 3, 4, 5, 6, 8], int(rng.choice([2, 3, 4, 4, 4])))]
    m.input(sizes)
    if rng.random() < 0.3:
        m.input(sizes)
    for _ in range(int(rng.integers(4, 14))):
        OPS[rng.integers(len(OPS))](m)
    # Sums the last value and all unused values, with a weight per element, so that every element matters.
    y = list(m.shapes)[-1]
    loose = [v for v in m.shapes if v not in m.used and v != y]
    for v in loose[:4]:
        weighed = m.value("Mul", [v, m.weight(*m.shapes[v])], m.shapes[v])
        y = m.value("Add", [y, m.value("ReduceMean", [weighed], [], keepdims=0)], m.shapes[y])
    m.case.output = m.value("Add", [y, m.case.weight(np.float32(1))], m.shapes[y])
    m.case.rank = len(m.shapes[y])
    return m.case
