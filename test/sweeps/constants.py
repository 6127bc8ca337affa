#!/usr/bin/env python3
"""Tries invalid constants: positions, axes, sizes, counts and steps. The compiler must refuse each in one line that
names the node, the input, the value, its position and the valid range. It must compile values at the limits.

usage: constants.py [PATTERN ...] [--jobs N] [--bin DIR] [--every N] [--list] [--judge] [--json FILE]

Each case is stored in several ways: as an initializer, as a Constant, and in forms that only become constants by
folding. These are an Identity, a Cast, a Concat of parts, arithmetic on a Shape, and small parts of a larger constant.
--judge also asks ONNX Runtime and ONNX's reference implementation, and prints disagreements. The last line is `N
passed, N failed, N skipped`.
"""
import collections
import fnmatch
import json
import os
import sys
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import constant_cases
import engine
import operators

HERE = os.path.dirname(os.path.abspath(__file__))
NODE = "odd"


class Builder:
    """Builds a model of one node, with constants stored in one of the ways."""

    def __init__(self, case, way):
        self.case, self.way = case, way
        self.nodes, self.tensors, self.inputs = [], [], []
        self.possible = way in ("initializer", "Constant")

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))

    def tensor(self, array, name):
        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(array).reshape(np.shape(array)), name))
        return name

    def constant(self, name, array):
        """Makes the value `name`."""
        way, narrower = self.way, {"int64": np.int32, "float32": np.float64, "int32": np.int64, "bool": np.int32}
        if way == "Constant":
            self.node("Constant", [], name, value=numpy_helper.from_array(array))
        elif way == "Identity" and array.size:
            self.possible = True
            self.node("Identity", [self.tensor(array, name + "_held")], name)
        elif way == "Cast" and (other := array.astype(narrower[array.dtype.name])).astype(array.dtype).tobytes() == \
                array.tobytes():
            self.possible = True
            self.node("Cast", [self.tensor(other, name + "_held")], name,
                      to=helper.np_dtype_to_tensor_dtype(array.dtype))
        elif way == "Concat" and array.ndim and len(array) > 1:
            self.possible = True
            parts = [self.tensor(part, f"{name}_{i}") for i, part in enumerate((array[:1], array[1:]))]
            self.node("Concat", parts, name, axis=0)
        elif way == "Shape" and array.dtype in (np.int64, np.int32) and array.size:
            # An input's size provides the missing part.
            self.possible = True
            with np.errstate(over="ignore"):
                rest = array.astype(np.int64) - 7
            self.inputs.append(helper.make_tensor_value_info(name + "_sized", TensorProto.FLOAT, [7]))
            self.node("Size", [name + "_sized"], name + "_size")
            sum64 = name if array.dtype == np.int64 else name + "_wide"
            self.node("Add", [self.tensor(rest, name + "_rest"), name + "_size"], sum64)
            if array.dtype != np.int64:
                self.node("Cast", [sum64], name, to=TensorProto.INT32)
        elif way == "Slice" and array.ndim and array.size and self.case.opset > 9:
            # Takes the first elements of a tensor that is larger than the limit for folding.
            self.possible = True
            filled = np.concatenate([array, np.zeros([5000 // max(array[0].size, 1) + 1, *array.shape[1:]],
                                                     array.dtype)])
            bounds = [self.tensor(np.array([v], np.int64), f"{name}_{w}") for v, w in ((0, "from"), (len(array), "to"))]
            self.node("Slice", [self.tensor(filled, name + "_held"), *bounds], name)
        else:
            self.tensor(array, name)

    def build(self):
        """Returns the model, or None if this way does not apply to the case."""
        case = self.case
        for name, (shape, kind) in case.data.items():
            self.inputs.append(helper.make_tensor_value_info("v_" + name, kind, shape))
        for name, array in case.constants.items():
            self.constant("v_" + name, array)
        if not self.possible:
            return None
        outputs = [f"y{i}" for i in range(case.outputs)]
        self.nodes.append(helper.make_node(case.op, ["v_" + n if n else "" for n in case.order], outputs, name=NODE,
                                           **case.attributes))
        infos = [helper.make_tensor_value_info(o, TensorProto.INT64 if case.op in ("ArgMax", "ArgMin") or
                                               (case.op, o) == ("TopK", "y1") or
                                               (case.op == "Range" and case.constants["start"].dtype == np.int64)
                                               else TensorProto.INT32 if case.op == "Range" and
                                               case.constants["start"].dtype == np.int32
                                               else TensorProto.FLOAT, None) for o in outputs]
        graph = helper.make_graph(self.nodes, "constants", self.inputs, infos, self.tensors)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=8)


WAYS = ("initializer", "Constant", "Identity", "Cast", "Concat", "Shape", "Slice")


def verdict(case, kind, detail):
    """Returns the problem of the compiler's answer, or nothing."""
    if kind not in ("compiled", "refused"):
        return f"{kind}: {detail}"
    if word := engine.internals.find(detail):
        return f"shows the compiler's '{word}': {detail}"
    if case.valid:
        return "" if kind == "compiled" else f"refused though valid: {detail}"
    if kind == "compiled":
        return "compiled though invalid"
    if f"node '{NODE}" not in detail:
        return f"does not name the node: {detail}"
    missing = [w for w in case.words if w not in detail]
    return f"does not say {', '.join(missing)}: {detail}" if missing else ""


def judge(case):
    """Returns the peers that disagree about the case."""
    model = Builder(case, "initializer").build()
    peers = engine.Peers(model)
    rng = np.random.default_rng(0)
    arrays = [rng.random(shape).astype(np.float32) if kind == TensorProto.FLOAT else
              np.ones(shape, helper.tensor_dtype_to_np_dtype(kind)) for shape, kind in case.data.values()]
    for name, run in (("ONNX Runtime", peers.onnxruntime), ("reference", peers.reference)):
        if (run(arrays) is not None) != case.valid:
            reason = peers.why.get(name.lower().replace(" ", ""), "")
            print(f"{name} {'refuses' if case.valid else 'takes'} {case.name}: {reason}")


def main():
    parser = operators.parser_of(__doc__)
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--json")
    args = parser.parse_args()
    chosen = [c for c in constant_cases.all_cases()
              if not args.patterns or any(fnmatch.fnmatchcase(c.name, p) for p in args.patterns)]
    if args.judge:
        for case in chosen:
            judge(case)
        return 0
    models = {}
    for case in chosen:
        for way in WAYS:
            name = f"{case.name}.{way}"
            if zlib.crc32(name.encode()) % args.every:
                continue
            if model := Builder(case, way).build():
                models[name] = (case, model)
    answers = operators.sweep(args.bin, ((n, m) for n, (_, m) in models.items()), args.jobs, args.phase)
    tests, counts = [], collections.Counter()
    for name, kind, _, _, detail in answers:
        detail = detail.partition(".onnx: ")[2] or detail
        wrong = verdict(models[name][0], kind, detail)
        counts["failed" if wrong else kind] += 1
        tests.append({"name": name, "status": "failed" if wrong else "passed", "detail": wrong})
        if args.list or wrong:
            print(f"{'FAIL ' if wrong else ''}{name}: {wrong or kind + ' ' + detail}")
    if args.json:
        with open(args.json, "w") as f:
            json.dump({"tests": tests}, f)
    failed = counts.pop("failed", 0)
    print(f"{len(chosen)} cases, {len(models)} models: " + ", ".join(f"{n} {k}" for k, n in sorted(counts.items())))
    print(f"{len(models) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
