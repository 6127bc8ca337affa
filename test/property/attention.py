"""Random attentions in the forms that exporters write.

Heads are in the middle or in front; queries, keys and values are separate or slices of one tensor; scales and masks are
of all kinds. No single kernel computes some of these attentions."""
import numpy as np
from onnx import helper

from case import FUNCTIONS, LINEAR, MAX_WORK, Case, normal, some


def draw_sizes(rng):
    """Returns batch, heads, queries, keys, size of a head, and size of a value."""
    while True:
        batch, heads = some(rng, 1, 2, 3, p=[0.7, 0.2, 0.1]), int(rng.integers(1, 7))
        queries, keys = (int(n) for n in rng.integers(1, 160, 2))
        if rng.random() < 0.1:
            keys = some(rng, 1, 512, 1024, 1030)
        size = 16 * int(rng.integers(1, 9)) if rng.random() < 0.9 else int(rng.integers(1, 80))
        width = size if rng.random() < 0.6 else 16 * int(rng.integers(1, 9))
        if batch * heads * queries * keys * (size + width) <= MAX_WORK:
            return batch, heads, queries, keys, size, width


def scaled(rng, case, value, number):
    """Returns `value * number`, in one of the forms that models have."""
    if rng.random() < 0.4:
        return case.node("Div", [value, case.weight(np.float32(1 / number))])
    operands = [value, case.weight(np.float32(number))]
    return case.node("Mul", operands[::-1] if rng.random() < 0.3 else operands)


def add_mask(rng, case, scores, shape):
    dims = [d if rng.random() < 0.5 else 1 for d in shape[:3]] + [shape[3]]
    dims = dims[some(rng, 0, 0, 1, 2):] if rng.random() < 0.5 else dims
    mask = normal(rng, dims)
    if rng.random() < 0.5:
        # Masks some keys, but never all keys of a query.
        mask[..., 1:] = np.where(rng.random(mask[..., 1:].shape) < 0.3, np.float32(-1e9), mask[..., 1:])
    constant = rng.random() < 0.5
    case.text += f", mask {dims}{' const' if constant else ''}"
    operands = [scores, case.weight(mask) if constant else case.input(mask)]
    return case.node("Add", operands[::-1] if rng.random() < 0.3 else operands)


def split_heads(rng, case, shapes):
    """Returns queries, keys and values with heads in front."""
    batch, heads, queries, size = shapes[0]
    if len(set(map(tuple, shapes))) == 1 and rng.random() < 0.5:
        case.text += ", of one tensor"
        x = case.input(normal(rng, [batch, queries, 3, heads, size]))
        parts = [case.value() for _ in shapes]
        case.nodes.append(helper.make_node("Split", [x, case.weight(np.array([1, 1, 1], np.int64))], parts, axis=2,
                                           name=f"{case.name}_split"))
        squeezed = [case.node("Squeeze", [part, case.weight(np.array([2], np.int64))]) for part in parts]
        return [case.node("Transpose", [part], perm=[0, 2, 1, 3]) for part in squeezed]
    if rng.random() < 0.3:
        case.text += ", heads first"
        return [case.input(normal(rng, shape)) for shape in shapes]
    return [case.node("Transpose", [case.input(normal(rng, [shape[0], shape[2], shape[1], shape[3]]))], perm=[0, 2, 1, 3])
            for shape in shapes]


def attention_case(rng, name):
    case = Case(name)
    batch, heads, queries, keys, size, width = draw_sizes(rng)
    if rng.random() < 0.3:
        keys, width = queries, size
    case.text = f"attention {batch} x {heads} x {queries} x {keys}, heads {size}, {width}"
    query, key, value = split_heads(rng, case, [[batch, heads, queries, size], [batch, heads, keys, size],
                                                [batch, heads, keys, width]])
    scale, where = size ** -0.5, some(rng, "query", "both", "scores", "none")
    case.text += f", scale at {where}"
    if where == "query":
        query = scaled(rng, case, query, scale)
    elif where == "both":
        query, key = (scaled(rng, case, x, scale ** 0.5) for x in (query, key))
    scores = case.node("MatMul", [query, case.node("Transpose", [key], perm=[0, 1, 3, 2])])
    if where == "scores":
        scores = scaled(rng, case, scores, scale)
    elif where == "none":
        scores = scaled(rng, case, scores, 0.1)
    # Adds a mask and a position bias, and sometimes one more than the kernel supports.
    for _ in range(int(rng.choice(4, p=[0.4, 0.3, 0.2, 0.1]))):
        scores = add_mask(rng, case, scores, [batch, heads, queries, keys])
    y = case.node("MatMul", [case.node("Softmax", [scores], axis=-1), value])
    if rng.random() < 0.7:
        y = case.node("Transpose", [y], perm=[0, 2, 1, 3])
    if rng.random() < 0.5:
        y = case.node("Relu", [y])
    case.output, case.rank = y, 4
    case.tolerance = 3 * LINEAR + FUNCTIONS["Exp"]
    open_lengths(rng, case, batch, queries, keys)
    return case


def open_lengths(rng, case, batch, queries, keys):
    """In some cases makes the batch and the numbers of queries and keys dynamic."""
    if rng.random() >= 0.4:
        return
    names = {0: "b"} if rng.random() < 0.5 else {}
    case.text += f", open{' batch,' if names else ''} lengths"
    arrays = list(case.inputs.items())
    factors = 1 if arrays[0][1].ndim == 5 else 3
    for i, (name, array) in enumerate(arrays[:factors]):
        axis = 2 if "heads first" in case.text else 1
        lengths = {axis: "n" if i or queries == keys else "m"}
        case.dynamic[name] = {a: f"{case.name}_{n}" for a, n in (names | lengths).items()}
    for name, array in arrays[factors:]:
        if array.shape[-1] == keys > 1:
            case.dynamic[name] = {array.ndim - 1: f"{case.name}_n"}
