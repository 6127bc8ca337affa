"""Products of signs and zeros, which kernels compute on bits. f32 holds all values, so results are exact."""
import numpy as np

from case import MAX_WORK, Case, some


def data(rng, shape):
    """Returns integers with few, many or no zeros."""
    x = rng.integers(1, 5, shape) * rng.choice([-1, 1], shape)
    return np.where(rng.random(shape) < some(rng, 0, 0.002, 0.3), 0, x).astype(np.float32)


def weights(rng, shape, axis):
    """Returns signs times a power of two per output."""
    scales = [1] * len(shape)
    scales[axis] = shape[axis]
    return (rng.choice([-1, 1], shape) * 2.0 ** rng.integers(-2, 3, scales)).astype(np.float32)


def signs(rng, case, x):
    form = some(rng, "Sign", "Where", "scaled", "bits")
    case.text += f" {form}"
    if form in ("Sign", "scaled"):
        y = case.node("Sign", [x])
        return case.node("Mul", [y, case.weight(np.float32(0.25))]) if form == "scaled" else y
    positive = case.node("Greater", [x, case.weight(np.float32(0))])
    other = 0 if form == "bits" else -1
    return case.node("Where", [positive, case.weight(np.float32(1)), case.weight(np.float32(other))])


def draw_sizes(rng):
    while True:
        ndim = some(rng, 1, 2, 3, p=[0.2, 0.6, 0.2])
        kernel = [int(k) for k in rng.integers(1, 4, ndim)]
        strides = [some(rng, 1, 2, p=[0.7, 0.3]) for _ in kernel]
        dilations = [some(rng, 1, 2, p=[0.8, 0.2]) for _ in kernel]
        sizes = [int(s) for s in rng.integers(1, 9, ndim - 1)] + [int(rng.integers(1, 30))]
        pads = [tuple(int(p) for p in rng.integers(0, 3, 2)) for _ in kernel]
        out = [(s + lo + hi - (k - 1) * d - 1) // st + 1 if s + lo + hi > (k - 1) * d else 0
               for s, (lo, hi), k, d, st in zip(sizes, pads, kernel, dilations, strides)]
        channels, outputs, batch = int(rng.integers(48, 301)), int(rng.integers(8, 100)), some(rng, 1, 2)
        work = batch * int(np.prod(out)) * outputs * channels * int(np.prod(kernel))
        if min(out) > 0 and work <= 4 * MAX_WORK and outputs * np.prod(kernel) >= 64:
            return batch, sizes, out, kernel, strides, dilations, pads, channels, outputs


def conv(rng, case):
    batch, sizes, out, kernel, strides, dilations, pads, channels, outputs = draw_sizes(rng)
    case.text = (f"signs {batch} x {channels} x {sizes} -> {outputs} x {out}, kernel {kernel}, strides {strides}, "
                 f"dilations {dilations}, pads {pads}:")
    rank = len(sizes) + 2
    last = rng.random() < 0.75
    shape = [batch, *sizes, channels] if last else [batch, channels, *sizes]
    x = case.input(data(rng, shape))
    if last:
        x = case.node("Transpose", [x], perm=[0, rank - 1, *range(1, rank - 1)])
    y = case.node("Conv", [signs(rng, case, x), case.weight(weights(rng, [outputs, channels, *kernel], 0))],
                  kernel_shape=kernel, strides=strides, dilations=dilations,
                  pads=[p[0] for p in pads] + [p[1] for p in pads])
    if rng.random() < 0.6:
        shift = rng.integers(-3, 4, [outputs, *[1] * len(sizes)]).astype(np.float32)
        y = case.node("Add", [y, case.weight(shift)])
        y = signs(rng, case, case.node("Neg", [y]) if rng.random() < 0.3 else y)
        # Bits pass from one product to the next.
        if outputs >= 48 and rng.random() < 0.8:
            more, kernel = int(rng.integers(64, 130)), [some(rng, 1, 2) for _ in sizes]
            case.text += f" -> {more}, kernel {kernel}"
            y = case.node("Conv", [y, case.weight(weights(rng, [more, outputs, *kernel], 0))], kernel_shape=kernel,
                          pads=[k - 1 for k in kernel] * 2)
    case.output = case.node("Transpose", [y], perm=[0, *range(2, rank), 1]) if last else y
    case.rank = rank


def product(rng, case):
    rows, depth, columns = (int(v) for v in rng.integers((1, 48, 64), (60, 700, 200)))
    if rng.random() < 0.3:
        rows = 1
    case.text = f"signs {rows} x {depth} x {columns}:"
    x = signs(rng, case, case.input(data(rng, [rows, depth])))
    case.output = case.node("MatMul", [x, case.weight(weights(rng, [depth, columns], 1))])
    if rng.random() < 0.5:
        case.text += " -> 70"
        y = signs(rng, case, case.output)
        case.output = case.node("MatMul", [y, case.weight(weights(rng, [columns, 70], 1))])
    case.rank = 2
    if rng.random() < 0.3:
        case.text += " dynamic"
        case.dynamic[next(iter(case.inputs))] = case.dynamic[case.output] = {0: f"{case.name}_n"}


def sign_case(rng, name):
    case = Case(name, tolerance=0)
    (product if rng.random() < 0.3 else conv)(rng, case)
    return case
