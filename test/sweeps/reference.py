"""ONNX's reference implementation, with additions that some of its operators lack."""
import ml_dtypes
import numpy as np
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from onnx.reference.ops import (op_gru, op_lstm, op_reduce_l1, op_reduce_l2, op_reduce_log_sum, op_reduce_log_sum_exp,
                                op_reduce_mean, op_reduce_sum, op_reduce_sum_square, op_rnn)

NARROW = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))


class Flatten(OpRun):
    """Also accepts empty data, for which -1 would be ambiguous."""

    def _run(self, x, axis=None):
        axis = 1 if axis is None else axis
        axis += x.ndim if axis < 0 else 0
        return (x.reshape(int(np.prod(x.shape[:axis])), int(np.prod(x.shape[axis:]))),)


class GlobalAveragePool(OpRun):
    """Also accepts empty data: the result is 0 / 0, as for ReduceMean."""

    def _run(self, x):
        mean = x.astype(np.float32 if x.dtype in NARROW else x.dtype).mean(axis=tuple(range(2, x.ndim)), keepdims=True)
        return (mean.astype(x.dtype),)


class GatherElements(OpRun):
    """Also accepts fewer elements along any dimension."""

    def _run(self, data, indices, axis=None):
        axis = (axis or 0) % data.ndim
        at = list(np.indices(indices.shape))
        at[axis] = indices
        return (data[tuple(at)],)


class Steps(OpRun):
    """Common parts of Loop and Scan: a body that is run, and rows, of which there may be none."""

    def need_context(self):
        return True

    def step(self, context, operands, options):
        given = {**(context or {}), **dict(zip(self.body.input_names, operands))}
        return self._run_body(given, **options)

    def joined(self, rows, axes, sample):
        """Returns the tensors of the lists of rows. `sample()` is an additional step, which gives the shape if there
        are no rows."""
        if rows and not rows[0]:
            return [np.stack([np.zeros_like(x)], axis).take([], axis) for x, axis in zip(sample(), axes)]
        return [np.stack(some, axis) for some, axis in zip(rows, axes)]


class Loop(Steps):
    """Adds a dimension for rows of any rank."""

    def _run(self, most, goes_on, *states, context=None, body=None, attributes=None, bindings=None):
        options = {"attributes": attributes, "bindings": bindings}
        states, step = list(states), 0
        rows = [[] for _ in self.body.output_names[1 + len(states):]]
        while (goes_on is None or goes_on) and (most is None or step < most):
            operands = (np.array(step, np.int64), np.array(True), *states)
            goes_on, *results = self.step(context, operands, options)
            states, kept = results[:len(states)], results[len(states):]
            for all_of_one, row in zip(rows, kept):
                all_of_one.append(row)
            step += 1
        first = (np.array(0, np.int64), np.array(True), *states)
        return (*states, *self.joined(rows, [0] * len(rows),
                                      lambda: self.step(context, first, options)[1 + len(states):]))


class Scan(Steps):
    """Supports all axes and both directions."""

    def _run(self, *operands, context=None, body=None, num_scan_inputs=None, scan_input_axes=None,
             scan_input_directions=None, scan_output_axes=None, scan_output_directions=None, attributes=None,
             bindings=None):
        options = {"attributes": attributes, "bindings": bindings}
        states, scanned = list(operands[:-num_scan_inputs]), list(operands[-num_scan_inputs:])
        for i, (axis, backward) in enumerate(zip(scan_input_axes or [0] * len(scanned),
                                                 scan_input_directions or [0] * len(scanned))):
            scanned[i] = np.moveaxis(scanned[i], axis, 0)[::-1 if backward else 1]
        rows = [[] for _ in self.body.output_names[len(states):]]
        for at in range(len(scanned[0])):
            results = self.step(context, (*states, *(x[at] for x in scanned)), options)
            states, kept = results[:len(states)], results[len(states):]
            for all_of_one, row in zip(rows, kept):
                all_of_one.append(row)
        for row, backward in zip(rows, scan_output_directions or [0] * len(rows)):
            row[:] = row[::-1] if backward else row
        nothing = [np.zeros(x.shape[1:], x.dtype) for x in scanned]
        return (*states, *self.joined(rows, scan_output_axes or [0] * len(rows),
                                      lambda: self.step(context, (*states, *nothing), options)[len(states):]))


def summed_wide(base):
    """Sums narrow types in f32, because the error of long sums in bfloat16 is large."""

    def run(self, x, *args, **attributes):
        wide = x.astype(np.float32) if x.dtype in NARROW else x
        result, = base._run(self, wide, *args, **attributes)
        return (np.asarray(result).astype(x.dtype),)
    return run


def started(base, number_of_states):
    """Returns the initial states if there are no steps, because there is nothing to split."""

    def run(self, X, W, R, B=None, sequence_lens=None, initial_h=None, initial_c=None, *rest, **attributes):
        layout = attributes.get("layout") or 0
        if X.shape[1 if layout else 0]:
            operands = (X, W, R, B, sequence_lens, initial_h, initial_c)[:5 + number_of_states]
            return base._run(self, *operands, *rest, **attributes)
        directions, hidden, batch = R.shape[0], R.shape[2], X.shape[0 if layout else 1]
        shape = (batch, directions, hidden) if layout else (directions, batch, hidden)
        none = np.zeros((batch, 0, directions, hidden) if layout else (0, directions, batch, hidden), X.dtype)
        states = [np.zeros(shape, X.dtype) if s is None else s for s in (initial_h, initial_c)[:number_of_states]]
        return (none, *states)[:len(self.onnx_node.output)]
    return run


CORRECTED = [
    Flatten,
    GatherElements,
    GlobalAveragePool,
    Loop,
    Scan,
    *(type(base.__name__.split("_")[0], (base,), {"_run": summed_wide(base)}) for base in (
        op_reduce_sum.ReduceSum_13, op_reduce_mean.ReduceMean_18, op_reduce_sum_square.ReduceSumSquare_18,
        op_reduce_l1.ReduceL1_18, op_reduce_l2.ReduceL2_18, op_reduce_log_sum.ReduceLogSum_18,
        op_reduce_log_sum_exp.ReduceLogSumExp_18)),
    type("LSTM", (op_lstm.LSTM,), {"_run": started(op_lstm.LSTM, 2)}),
    type("GRU", (op_gru.GRU,), {"_run": started(op_gru.GRU, 1)}),
    type("RNN", (op_rnn.RNN_14,), {"_run": started(op_rnn.RNN_14, 1)}),
]


def evaluator(model):
    """Returns a ReferenceEvaluator. Operator sets before 18 pass the axes of reductions differently and are not
    changed."""
    version = max((o.version for o in model.opset_import if not o.domain), default=0)
    return ReferenceEvaluator(model, new_ops=CORRECTED if version >= 18 else CORRECTED[:3])
