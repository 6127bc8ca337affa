"""Reduces a failing case to the nodes that matter.

Computes every value of the graph once for the failing set of inputs. Then any subset of the nodes is a model, whose
missing values become inputs. Halves of the nodes are left out, then quarters, down to single ones, as long as the
failure stays of the same kind.
"""
import dataclasses
import os
import time

import numpy as np
import onnx
from onnx import helper, numpy_helper

import engine
import trial

SECONDS = 120


def is_same(a, b):
    """Returns True if two failures are of one kind."""
    if a[0] != b[0]:
        return False
    if a[0] in ("compile-error", "unsupported"):  # equal messages, except for names and numbers
        def words(text):
            return [w for w in text.split(":")[-1].split() if w.isalpha()][:4]
        return words(a[2]) == words(b[2])
    return True


class Values:
    """All values of a model for one set of inputs, as far as any engine can compute them."""

    def __init__(self, model, arrays):
        self.known = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
        self.known.update(zip([i.name for i in engine.inputs_of(model)], arrays))
        opset = model.opset_import
        for node in model.graph.node:
            names = [n for n in [*node.input, *outer_names(node)] if n]
            if any(n not in self.known for n in names):
                continue
            names = list(dict.fromkeys(names))
            graph = helper.make_graph([node], "one", [self.info(n) for n in names],
                                      [helper.make_empty_tensor_value_info(o) for o in node.output if o])
            one = helper.make_model(graph, opset_imports=opset, ir_version=model.ir_version)
            peers = engine.Peers(one)
            given = [self.known[n] for n in names]
            results = peers.reference(given)
            if results is None:
                results = engine.Peers(one).onnxruntime(given)
            if results is not None:
                self.known.update(zip([o for o in node.output if o], results))

    def info(self, name, shape=None):
        array = self.known[name]
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype),
                                             shape or list(array.shape))


def outer_names(node):
    """Returns the outer values that the subgraphs of a node use."""
    names = []
    for attribute in node.attribute:
        if attribute.HasField("g"):
            graph = attribute.g
            made = {o for inner in graph.node for o in inner.output}
            made |= {v.name for v in (*graph.input, *graph.initializer)}
            names += [n for inner in graph.node for n in [*inner.input, *outer_names(inner)] if n and n not in made]
    return names


def subset(case, values, nodes, is_open):
    """Returns the case with only these nodes, or None if a value is unknown."""
    made = {o for n in nodes for o in n.output if o}
    needed = list(dict.fromkeys(n for node in nodes for n in [*node.input, *outer_names(node)] if n and n not in made))
    used = {n for node in nodes for n in [*node.input, *outer_names(node)]}
    initializers = [i for i in case.model.graph.initializer if i.name in needed]
    constant = {i.name for i in initializers}
    declared = {i.name: i for i in case.model.graph.input}
    inputs = []
    for name in needed:
        if name in constant:
            continue
        if name not in values.known:
            return None
        open_shape = [f"{name}_{i}" for i in range(values.known[name].ndim)] if is_open else None
        inputs.append(declared.get(name) or values.info(name, open_shape))
    wanted = {o.name: o for o in case.model.graph.output}
    outputs = []
    for name in (o for n in nodes for o in n.output if o):
        if name in used:
            continue
        outputs.append(wanted.get(name) or (values.info(name, [None] * values.known[name].ndim)
                                            if name in values.known else helper.make_empty_tensor_value_info(name)))
    if not outputs or any(not o.type.tensor_type.elem_type for o in outputs):
        return None
    graph = helper.make_graph(nodes, "shrunk", inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=case.model.opset_import, ir_version=case.model.ir_version)
    arrays = [values.known[i.name] for i in inputs]
    return dataclasses.replace(case, model=model, sets=[arrays], contradictory=min(case.contradictory, 1))


def shrink(ingot, case, failure):
    """Returns (smaller case, its failure) for the failure of one set, or of the compilation."""
    deadline = time.monotonic() + SECONDS
    number = int(failure[1].split()[1]) if failure[1].startswith("set") else 0
    is_open = any(d.HasField("dim_param") for i in case.model.graph.input for d in i.type.tensor_type.shape.dim)
    values = Values(case.model, case.sets[number])
    alone = dataclasses.replace(case, sets=[case.sets[number]],
                                contradictory=0 if number >= case.contradictory else 1)
    def fails(candidate):
        if candidate is None:
            return None
        if failure[1] == "compiling":
            done = ingot.compile(candidate.model)
            result = (done.kind, "compiling", done.detail)
        else:
            result = trial.attempt(ingot, candidate)[0]
        return result if is_same(result, failure) else None

    best, found = alone, fails(alone)
    if found is None:
        return case, failure
    nodes = list(case.model.graph.node)
    size = max(len(nodes) // 2, 1)
    while time.monotonic() < deadline:
        start, smaller = 0, False
        while start < len(nodes) and time.monotonic() < deadline:
            rest = nodes[:start] + nodes[start + size:]
            candidate = subset(alone, values, rest, is_open) if rest else None
            if result := fails(candidate):
                nodes, best, found, smaller = rest, candidate, result, True
            else:
                start += size
        if size == 1 and not smaller:
            break
        size = max(size // 2, 1)
    return best, found


def text(case, failure):
    """Returns the model and its inputs as text for people."""
    lines = [f"  {failure[0]} ({failure[1]}): {failure[2][:400]}"]
    for value in engine.inputs_of(case.model):
        dims = [d.dim_param or str(d.dim_value) for d in value.type.tensor_type.shape.dim]
        given = [list(s[[i.name for i in engine.inputs_of(case.model)].index(value.name)].shape) for s in case.sets]
        kind = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type).name
        lines.append(f"  {value.name}: {kind}[{', '.join(dims)}] given {' '.join(map(str, given))}")
    for tensor in case.model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        what = f" = {array.tolist()}" if array.size <= 8 else ""
        lines.append(f"  {tensor.name}: {array.dtype.name}{list(array.shape)}{what}")
    for node in case.model.graph.node:
        attributes = ", ".join(f"{a.name}={brief(a)}" for a in node.attribute)
        lines.append(f"  {', '.join(node.output)} = {node.op_type}({', '.join(node.input)}"
                     f"{'; ' if attributes else ''}{attributes})")
    return "\n".join(lines)


def brief(attribute):
    value = helper.get_attribute_value(attribute)
    if isinstance(value, onnx.TensorProto):
        array = numpy_helper.to_array(value)
        return f"{array.dtype.name}{list(array.shape)}" + (f" {array.tolist()}" if array.size <= 8 else "")
    if isinstance(value, onnx.GraphProto):
        return "{" + "; ".join(n.op_type for n in value.node) + "}"
    return value.decode() if isinstance(value, bytes) else value


def keep(folder, case, failure):
    os.makedirs(folder, exist_ok=True)
    onnx.save(case.model, os.path.join(folder, "model.onnx"))
    for i, value in enumerate(engine.inputs_of(case.model)):
        np.save(os.path.join(folder, f"{value.name}.npy"), case.sets[0][i])
    with open(os.path.join(folder, "what.txt"), "w") as f:
        f.write(text(case, failure) + "\n")
