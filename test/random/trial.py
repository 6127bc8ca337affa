"""Judges Ingot's results for one model at several sets of inputs."""
import dataclasses

import numpy as np
import onnx

import engine
from graph import FLOATS, rounding

# Operators for which ONNX's reference implementation is known to be wrong, so that it alone does not count.
DOUBTFUL = {"GlobalMaxPool": "gives other shapes for one or three spatial dimensions",
            "MaxPool": "takes pads of each end for another's, and Indices of one dimension within their channel",
            "Slice": "is numpy's, to which a backward slice that begins before the first element is empty",
            "Resize": "takes a size that a scale gives for a fraction where it aligns corners"}

# Cases that ONNX defines but Ingot refuses, by words of the message.
LIMITS = {"which would copy another dimension":
          "a size that is 0 in this run stands for itself in a Reshape, not for a copy of the dimension at its place: "
          "what was compiled for other sizes would be of another shape",
          "' stands for": "a label of Einsum gives way only where its size is known to be 1: else each run might be "
          "another program"}


@dataclasses.dataclass
class Case:
    """A model with its inputs. `tolerances` are the allowed errors by name. `sets` from index `contradictory` on have
    contradicting sizes. With `one_name`, two inputs with a common dimension use one name for it, which may be checked.
    """
    model: object
    sets: list
    tolerances: dict
    contradictory: int
    one_name: bool = False


def tolerance(value):
    if value.dtype not in FLOATS:
        return 0.0
    exact = value.num.exact and not value.num.error
    return 0.0 if exact else 4 * value.num.error + 8 * rounding(value.dtype) * value.num.size + 1e-6


def mismatch(case, got, want):
    for value, g, w in zip(case.model.graph.output, got, want):
        limit = case.tolerances.get(value.name, 0.0)
        if limit == float("inf"):
            limit = 0.0
        if w.dtype.kind not in "biu" and w.size:
            size = np.abs(w.astype(np.float64))
            # Allowed difference of such a sum due to its order, even if each term is exact.
            limit += (1e-5 if w.dtype.itemsize > 2 else 2e-3 if w.dtype.name == "float16" else 1.6e-2) * \
                size[np.isfinite(size)].max(initial=0)
        if text := engine.difference(g, w, limit):
            return f"output {value.name}: {text}"
    return ""


def is_unknown_by_sizes_alone(model, name, known):
    """Returns True if no peer knows a value only because of nodes whose sizes the value needs. Ingot computes sizes
    without values, and ignores unread nodes."""
    maker = next((n for n in model.graph.node if name in n.output), None)
    if name in known or maker is None or maker.op_type in ("Shape", "Size"):
        return True
    unknown = [i for i in maker.input if i and i not in known]
    return bool(unknown) and all(is_unknown_by_sizes_alone(model, i, known) for i in unknown)


def node_by_node(case, arrays, outputs, peer=None):
    """Judges results that no peer has completely, or that differ from ONNX Runtime's if the reference cannot run the
    whole graph. Each such result is compared node by node with the reference, or else with ONNX Runtime. Returns the
    problems."""
    import shrink  # imported here, because shrink imports this file

    known = None
    for i, (value, got) in enumerate(zip(case.model.graph.output, outputs)):
        one = dataclasses.replace(case, model=onnx.ModelProto(graph=onnx.GraphProto(output=[value])))
        text = mismatch(one, [got], [peer[i]]) if peer is not None else \
            "a result where nobody else has one" if got.size else ""
        if not text:
            continue
        known = known or shrink.Values(case.model, arrays).known
        if value.name not in known and is_unknown_by_sizes_alone(case.model, value.name, known):
            continue
        if value.name not in known or mismatch(one, [got], [known[value.name]]):
            return f"output {value.name}: {text}"
    return ""


def judge(case, number, run, peers):
    """Returns (kind, detail) of the run with set `number`."""
    arrays = case.sets[number]
    if run.kind in ("fault", "hang", "broken"):
        return run.kind, run.detail
    if run.kind == "differs":
        return "wrong", run.detail
    peer = peers.onnxruntime(arrays)
    if run.kind == "ran" and peer is not None and not (text := mismatch(case, run.outputs, peer)):
        return "equal", ""
    if run.kind == "refused" and peer is None and number >= case.contradictory:
        return "refused", run.detail
    reference = peers.reference(arrays)
    if run.kind == "ran":
        if reference is not None and not mismatch(case, run.outputs, reference):
            return "equal", ""
        # ONNX Runtime gives wrong shapes to reductions of empty data.
        if peer is not None and reference is None and any(g.shape != w.shape and g.size == w.size == 0
                                                          for g, w in zip(run.outputs, peer)):
            return "not compared", text
        if peer is not None and reference is None:
            text = node_by_node(case, arrays, run.outputs, peer)
            return ("wrong", text) if text else ("not compared", "the peers do not agree")
        if peer is not None and not mismatch(case, peer, reference):
            return "wrong", text
        if peer is None and reference is not None and not any(n.op_type in DOUBTFUL for n in case.model.graph.node):
            return "wrong", mismatch(case, run.outputs, reference) + " (reference)"
        if peer is None and reference is None and number >= case.contradictory and peers.able and \
                (text := node_by_node(case, arrays, run.outputs)):
            return "wrong", text
        return "not compared", ""  # no peer can run it, or the peers disagree
    if peer is None or reference is None or mismatch(case, peer, reference):
        return "refused", run.detail
    if number >= case.contradictory and case.one_name or any(words in run.detail for words in LIMITS):
        return "refused", run.detail
    return "refused though valid", run.detail


def attempt(ingot, case):
    """Returns [(kind, set, detail)]: one entry for a failed compilation, else one per set."""
    done = ingot.compile(case.model)
    if done.kind != "compiled":
        return [(done.kind, "compiling", done.detail)]
    runs, peers = ingot.run(case.model, case.sets), engine.Peers(case.model)
    peers.able = True
    results = []
    for number, run in enumerate(runs):
        kind, detail = judge(case, number, run, peers)
        if number == 0:
            peers.able = kind == "equal"
        results.append((kind, f"set {number}", detail))
    return results
