"""States results of the standard for runs for which peers have no result, or a known wrong one.

A run that only Ingot accepts is compared with one of these, in this order:

- a statement in numpy of the operator's specification (STATEMENTS), if peers are limited for the given reason;
- if all results are empty, the shapes that ONNX's own inference gives for these sizes.

Everything else is wrong.
"""
import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference.ops import op_attention

MAX_LISTED = 64  # limit on elements of an input whose values shape inference may need


def attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


class Unstated(Exception):
    """Raised if the statement does not cover the operands."""


class Forbidden(Exception):
    """Raised if the standard forbids the operands. Both peers run the function's body and have a result."""


# Statements ---------------------------------------------------------------------------------------------------------
# Each function takes a node and its operands (None if absent), and returns the results, or raises Unstated. A masked
# element of a masked array may have any value.


def reshape(node, x, shape):
    """A 0 copies its dimension, even an empty one, and a -1 is the quotient of the others. Both peers count all
    elements, so for empty data they find any number."""
    if attributes(node).get("allowzero", 0):
        raise Unstated
    wanted, left, taken = [], 1, 1
    for i, size in enumerate(map(int, shape)):
        is_kept = i < x.ndim and size in (0, x.shape[i])
        wanted.append(x.shape[i] if is_kept else size)
        left *= 1 if is_kept or i >= x.ndim else x.shape[i]
        taken *= 1 if is_kept or size == -1 else size
    left *= int(np.prod(x.shape[len(shape):], dtype=np.int64))
    if wanted.count(-1) != 1 or taken <= 0 or left % taken:
        raise Unstated
    wanted[wanted.index(-1)] = left // taken
    return [x.reshape(wanted)]


def loss_of(log_probabilities, target, weight, attrs):
    classes = log_probabilities.shape[1]
    ignored = target == attrs.get("ignore_index", np.iinfo(np.int64).min)
    safe = np.where(ignored, 0, target).astype(np.int64)
    if log_probabilities.shape[0] != target.shape[0] or log_probabilities.shape[2:] != target.shape[1:] or \
            (safe.size and safe.max() >= classes):
        raise Unstated
    if safe.size and safe.min() < 0:  # "target value shall be in range of [0, C)"
        raise Forbidden
    weights = np.ones(classes) if weight is None else weight.astype(np.float64)
    picked = -np.take_along_axis(log_probabilities, np.expand_dims(safe, 1), 1).squeeze(1) if safe.size else \
        np.zeros(target.shape)
    factors = np.where(ignored, 0.0, weights[safe])
    values = picked * factors
    reduction = attrs.get("reduction", b"mean").decode()
    if reduction == "none":
        return values
    return values.sum() if reduction == "sum" else values.sum() / factors.sum()


def negative_log_likelihood(node, x, target, weight=None):
    """The mean over nothing is 0 / 0, as for ReduceMean and in PyTorch. ONNX Runtime returns 0, and the reference
    implementation reshapes empty data."""
    return [np.asarray(loss_of(x.astype(np.float64), target, weight, attributes(node)), x.dtype)]


def softmax_cross_entropy(node, x, target, weight=None):
    """Equals negative_log_likelihood of the logarithm of softmax."""
    wide = x.astype(np.float64)
    shifted = wide - (wide.max(axis=1, keepdims=True) if wide.size else 0)
    logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    results = [np.asarray(loss_of(logs, target, weight, attributes(node)), x.dtype)]
    return results + [logs.astype(x.dtype)] * (len(node.output) - 1)


def power(node, x, y):
    """For an integer power that its type cannot hold, C leaves the conversion undefined, and peers return what the CPU
    does."""
    if x.dtype.kind not in "iu" or y.dtype.kind != "f":
        raise Unstated
    exact = x.astype(np.float64) ** y.astype(np.float64)
    limits = np.iinfo(x.dtype)
    fits = (exact >= limits.min) & (exact <= limits.max)
    return [np.ma.masked_array(np.where(fits, exact, 0).astype(x.dtype), mask=~fits)]


def group_normalization(node, x, *rest):
    """For empty data; both peers run the function's body, which cannot reshape empty data."""
    if x.size:
        raise Unstated
    return [x]


def attention(node, q, k, v, mask=None, past_key=None, past_value=None, nonpad=None):
    """The reference implementation with four-dimensional operands and a mask of all rows and keys. With a mask of one
    row, it uses the causal limit of the first query for all queries, although the limit is independent of the mask.
    Neither peer can reshape data without queries."""
    attrs = attributes(node)

    def split(x, heads):
        if x.ndim == 4:
            return x
        if x.shape[2] % heads:
            raise Unstated
        return x.reshape(*x.shape[:2], heads, x.shape[2] // heads).transpose(0, 2, 1, 3)

    is_flat = q.ndim == 3
    q = split(q, attrs.get("q_num_heads", 1))
    k, v = (split(x, attrs.get("kv_num_heads", 1)) for x in (k, v))
    (batch, heads, queries, width), keys = q.shape, k.shape[2] + (0 if past_key is None else past_key.shape[2])
    if k.shape != (batch, v.shape[1], v.shape[2], width) or v.shape[0] != batch or not k.shape[1] or heads % k.shape[1]:
        raise Unstated
    if mask is not None:
        more = keys - mask.shape[-1]
        if more < 0:
            raise Unstated
        mask = np.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, more)],
                      constant_values=False if mask.dtype == bool else -np.inf)
        np.broadcast_to(mask, (batch, heads, queries, keys))
        mask = np.broadcast_to(mask, (*mask.shape[:-2], queries, keys)).copy()
    if q.size:
        results = op_attention._compute_attention(
            q, k, v, mask, past_key, past_value, nonpad, attrs.get("scale"), attrs.get("is_causal", 0), None, None,
            attrs.get("softmax_precision"), attrs.get("softcap"), attrs.get("qk_matmul_output_mode"),
            attrs.get("left_window_size"), attrs.get("right_window_size"))
    else:
        present = [x if past is None else np.concatenate([past, x], 2) for past, x in ((past_key, k), (past_value, v))]
        results = [np.zeros((batch, heads, queries, v.shape[3]), q.dtype), *present,
                   np.zeros((batch, heads, queries, keys), q.dtype)]
    y, *others = results
    if is_flat:
        y = y.transpose(0, 2, 1, 3).reshape(batch, queries, heads * v.shape[3])
    return [r for r, name in zip([y, *others], node.output) if name]


def recurrence(node, x, w, r, b=None, lengths=None, *states):
    """Without steps the states are unchanged. ONNX Runtime aborts, or returns uninitialized memory."""
    batch_first = attributes(node).get("layout", 0)
    batch, steps = x.shape[:2] if batch_first else x.shape[1::-1]
    directions, _, hidden = r.shape
    if steps or w.shape[2] != x.shape[2] or lengths is not None and (lengths.shape != (batch,) or lengths.any()):
        raise Unstated
    shape = (batch, directions, hidden) if batch_first else (directions, batch, hidden)
    y = np.zeros((batch, 0, directions, hidden) if batch_first else (0, directions, batch, hidden), x.dtype)
    results = [y]
    for state in [*states[:2], None, None][:2]:
        results.append(np.zeros(shape, x.dtype) if state is None else state)
        if results[-1].shape != shape:
            raise Unstated
    return [r for r, name in zip(results, node.output) if name]


STATEMENTS = {"Attention": attention, "GRU": recurrence, "GroupNormalization": group_normalization, "LSTM": recurrence,
              "RNN": recurrence, "NegativeLogLikelihoodLoss": negative_log_likelihood, "Pow": power, "Reshape": reshape,
              "SoftmaxCrossEntropyLoss": softmax_cross_entropy}


def stated(node, operands):
    """Returns the stated results for a node, None, or Forbidden."""
    if node.op_type not in STATEMENTS or node.domain:
        return None
    try:
        with np.errstate(all="ignore"):
            return STATEMENTS[node.op_type](node, *operands)
    except Forbidden:
        return Forbidden
    except Exception:  # Unstated, or numpy cannot compute it
        return None


def agrees(got, want, tolerance, difference):
    """Returns True if a result agrees with the stated one as far as it is stated."""
    if isinstance(want, np.ma.MaskedArray):
        if got.shape != want.shape or got.dtype != want.dtype:
            return False
        got = np.where(np.ma.getmaskarray(want), want.data, got)
        want = want.data
    return not difference(got, want, tolerance(want))


# Shapes -------------------------------------------------------------------------------------------------------------


def inferred_shapes(model, arrays):
    """Returns the output shapes that ONNX's inference gives for these inputs ({name: array}), or None."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    for value in list(model.graph.input):
        if value.name not in arrays:
            continue
        array = arrays[value.name]
        if array.dtype.kind in "iu" and array.size <= MAX_LISTED:
            model.graph.initializer.append(numpy_helper.from_array(array, value.name))
        del value.type.tensor_type.shape.dim[:]
        for size in array.shape:
            value.type.tensor_type.shape.dim.add().dim_value = size
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    try:
        model = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except Exception:  # any problem with these sizes
        return None
    shapes = []
    for output in model.graph.output:
        dims = output.type.tensor_type.shape.dim
        if not output.type.tensor_type.HasField("shape") or any(not d.HasField("dim_value") for d in dims):
            return None
        shapes.append([d.dim_value for d in dims])
    return shapes


def are_empty_as_inferred(model, arrays, outputs):
    return all(o.size == 0 for o in outputs) and \
        inferred_shapes(model, arrays) == [list(o.shape) for o in outputs]


class Standard:
    """Statements about one of ONNX's tests. `model` is that of the operator, even if its function's body is run
    (`is_body`)."""

    def __init__(self, model, inputs, is_body=False):
        self.model, self.inputs, self.is_body = model, inputs, is_body
        self.node = model.graph.node[0] if len(model.graph.node) == 1 else None

    def stated(self, given):
        if self.node is None or any(n and n not in given for n in self.node.input):
            return None
        return stated(self.node, [given[n] if n else None for n in self.node.input])

    def forbids(self, arrays):
        return self.stated({**self.inputs, **arrays}) is Forbidden

    def holds(self, expected, tolerance, difference):
        """Returns True if the statement gives the test's own results, or does not cover them."""
        wanted = self.stated(self.inputs)
        return wanted is None or wanted is not Forbidden and all(agrees(e, w, tolerance, difference) for e, w in zip(expected, wanted))

    def agrees(self, arrays, outputs, tolerance, difference):
        given = {**self.inputs, **arrays}
        wanted = self.stated(given)
        if wanted is Forbidden:
            return False
        if wanted is not None:
            return len(wanted) == len(outputs) and \
                all(agrees(g, w, tolerance, difference) for g, w in zip(outputs, wanted))
        return are_empty_as_inferred(self.model, given, outputs)
