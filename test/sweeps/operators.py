#!/usr/bin/env python3
"""Every operator of ONNX with absent operands, odd attributes, ranks, sizes and constants: the compiler must compile the
model or refuse it with one line, in bounded time and memory.

usage: operators.py [--bin DIR] [--jobs N] [--every N] [--phase NAME|so] [--keep DIR] [PATTERN ...]

Valid models are the first few different ones of ONNX's own tests of single nodes per operator, and loops of many steps.
Each is changed in one place at a time. --every N tries each N-th model; PATTERN is a part of a model's name. The last
line has the numbers of compiled, refused and failed models.
"""
import argparse
import collections
import concurrent.futures
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
import zlib

import numpy as np
import onnx
import onnx.parser
from onnx import AttributeProto, TensorProto, helper, numpy_helper

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BASES_PER_OPERATOR = 4
# A refusal must name the node, or the value that the graph states something about.
NAMES = re.compile(r"\b(node|input|output|initializer|value) '")
ODD_INTS = [-1, 0, 1, 2, 9, -9, 2**31 - 1, 2**31, -2**31, 2**63 - 1, -2**63]
ODD_LISTS = [[], [0], [-1], [1], [2, 2], [0, 0], [1, 2, 3], [-1, 2, -3, 4], [1] * 9, [2**31 - 1] * 2, [2**63 - 1],
             [-2**63, -2**63], list(range(70))]
ODD_FLOATS = [float("nan"), float("inf"), -1.0, 0.0, 1e38, -1e-38]
# ONNX's own tests have few steps, which are unrolled instead of a loop.
OF_MANY_STEPS = {
    "test_scan_of_many_steps": """<ir_version: 10, opset_import: ["": 21]>
        g (float[3] h, float[500,3] x, float[4,500] z) => (float[3] f, float[500,3] r, float[4,500] q) {
            f, r, q = Scan <num_scan_inputs=2, scan_input_axes=[0,1], scan_input_directions=[0,1],
                            scan_output_axes=[0,1], scan_output_directions=[1,0],
                            body = b (float[3] s, float[3] a, float[4] c) => (float[3] t, float[3] u, float[4] v) {
                t = Add(s, a)
                u = Cos(t)
                v = Neg(c)
            }>(h, x, z)
        }""",
    "test_scan_of_batches_of_many_steps": """<ir_version: 8, opset_import: ["": 8]>
        g (float[2,3] h, float[2,500,3] x) => (float[2,3] f, float[2,500,3] r, float[2,500,3] q) {
            f, r, q = Scan <num_scan_inputs=1, directions=[1],
                            body = b (float[3] s, float[3] a) => (float[3] t, float[3] u, float[3] v) {
                t = Add(s, a)
                u = Cos(t)
                v = Sub(s, a)
            }>(, h, x)
        }""",
    "test_loop_of_many_steps": """<ir_version: 10, opset_import: ["": 21]>
        g (int64 n, bool c, float[3] h, int64[2] k) => (float[3] f, int64[2] e, float[500,3] r, int64[500] q) {
            f, e, r, q = Loop (n, c, h, k) <body = b (int64 i, bool goes_on, float[3] s, int64[2] m)
                                                => (bool more, float[3] t, int64[2] o, float[3] u, int64 v) {
                more = Identity(goes_on)
                t = Cos(s)
                o = Add(m, i)
                u = Identity(t)
                v = Identity(i)
            }>
        }""",
}
SHAPES = [[], [1], [0], [2], [3, 2], [1, 0], [2, 1, 3], [1, 2, 3, 4], [2, 2, 2, 2, 2], [1, 1, 1, 1, 1, 1], [2**31],
          [2**31, 2], [2**20, 2**20], ["n"], ["n", "m"], [1, "c", "h", "w"], ["n", 0]]


def bases():
    """Returns {name: model} of ONNX's node tests: a few per operator, with different numbers of operands."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases
        cases = collect_testcases(None) if collect_testcases.__code__.co_argcount else collect_testcases()
    chosen, seen = {}, collections.defaultdict(set)
    for case in sorted(cases, key=lambda c: c.name):
        graph = case.model.graph if case.model else None
        if graph is None or len(graph.node) != 1 or "_expanded" in case.name:
            continue
        node = graph.node[0]
        operator = (node.domain, node.op_type)
        kind = (tuple(bool(i) for i in node.input), len(node.output), tuple(sorted(a.name for a in node.attribute)))
        if len(seen[operator]) >= BASES_PER_OPERATOR or kind in seen[operator]:
            continue
        seen[operator].add(kind)
        chosen[case.name] = (case.model, case.data_sets[0][0] if case.data_sets else [])
    for name, text in OF_MANY_STEPS.items():
        model = onnx.parser.parse_model(text)
        chosen[name] = (model, [like(i.type.tensor_type) for i in model.graph.input])
    return chosen


def like(info):
    """Returns a tensor for an input; numbers of steps are 500."""
    dtype = helper.tensor_dtype_to_np_dtype(info.elem_type)
    return np.full([d.dim_value for d in info.shape.dim], 500 if dtype == np.int64 else 1, dtype)


class Changer:
    """Makes all changed models of one base."""

    def __init__(self, name, model, values):
        self.name, self.model = name, model
        self.inputs = {i.name: v for i, v in zip(model.graph.input, values)}
        schema = None
        node = model.graph.node[0]
        version = next((o.version for o in model.opset_import if o.domain in (node.domain, node.domain or "ai.onnx")), 1)
        try:
            schema = onnx.defs.get_schema(node.op_type, version, node.domain)
        except onnx.defs.SchemaError:
            pass
        self.attributes = dict(schema.attributes) if schema else {}

    def copy(self):
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        return model, model.graph, model.graph.node[0]

    def all(self):
        yield "as-is", self.model
        constants = list(self.constants())
        for label, model in itertools.chain(self.absent(), self.odd_attributes(), self.shapes(), self.types(), constants):
            yield label, model

    def absent(self):
        node = self.model.graph.node[0]
        for i, name in enumerate(node.input):
            model, graph, new = self.copy()
            new.input[i] = ""
            yield f"absent-{i}", model
            if i == len(node.input) - 1 and not name:
                continue
            model, graph, new = self.copy()
            del new.input[i:]
            yield f"inputs-{i}", model
        for extra in (1, 9):
            model, graph, new = self.copy()
            if len(node.input):
                new.input.extend([node.input[0] or node.input[-1]] * extra)
                yield f"inputs+{extra}", model
        for i in range(len(node.output)):
            if len(node.output) > 1:
                model, graph, new = self.copy()
                new.output[i] = ""
                del graph.output[:]
                graph.output.extend(o for o in self.model.graph.output if o.name != node.output[i])
                if graph.output:
                    yield f"output-{i}", model
        model, graph, new = self.copy()
        new.output.append("extra_output")
        yield "outputs+1", model
        model, graph, new = self.copy()
        if not self.attributes:
            return
        del new.attribute[:]
        yield "no-attributes", model

    def odd_attributes(self):
        node = self.model.graph.node[0]
        for name, schema in self.attributes.items():
            kind = AttributeProto.AttributeType.Name(int(schema.type.value if hasattr(schema.type, "value")
                                                         else schema.type))
            values = {"INT": ODD_INTS, "INTS": ODD_LISTS, "FLOAT": ODD_FLOATS, "FLOATS": [[], [0.0], [1e38] * 9],
                      "STRING": ["", "bogus", "x" * 5000, "\u00e9\n"], "STRINGS": [[], ["bogus"], ["x"] * 9],
                      "TENSOR": [np.zeros(0, np.float32), np.zeros((2, 2), np.int64), np.array(b"text")]}.get(kind, [])
            given = next((a for a in node.attribute if a.name == name), None)
            if given is not None and kind == "INTS":
                ints = list(given.ints)
                values = values + [ints[:-1], ints + [1]] + [ints[:i] + [odd] + ints[i + 1:] for i in range(len(ints))
                                                             for odd in (-1, 0, 99, 2**31 - 1)]
            wrong = {"INT": "text", "INTS": 3, "FLOAT": 3, "STRING": 3}.get(kind)
            for i, value in enumerate(values + ([wrong] if wrong is not None else [])):
                model, graph, new = self.copy()
                for old in [a for a in new.attribute if a.name == name]:
                    new.attribute.remove(old)
                if isinstance(value, np.ndarray):
                    value = numpy_helper.from_array(value.astype(object) if value.dtype.kind == "S" else value)
                if value == []:
                    attribute = AttributeProto(name=name, type=getattr(AttributeProto, kind))
                else:
                    attribute = helper.make_attribute(name, value)
                new.attribute.append(attribute)
                yield f"{name}-{i}", model

    def shapes(self):
        def set_shape(info, shape):
            tensor = info.type.tensor_type
            kind = tensor.elem_type
            info.CopyFrom(helper.make_tensor_value_info(info.name, kind, shape))

        count = len(self.model.graph.input)
        tensors = [i for i in range(count) if self.model.graph.input[i].type.HasField("tensor_type")]
        for i in tensors:
            for j, shape in enumerate(SHAPES):
                model, graph, new = self.copy()
                set_shape(graph.input[i], shape)
                yield f"shape-{i}-{j}", model
            old = self.model.graph.input[i].type.tensor_type.shape.dim
            for d in range(len(old)):
                for size in (0, 1, old[d].dim_value + 1, 2**31 - 1, "open"):
                    model, graph, new = self.copy()
                    dim = graph.input[i].type.tensor_type.shape.dim[d]
                    if size == "open":
                        dim.dim_param = size
                    else:
                        dim.dim_value = size
                    yield f"dim-{i}-{d}-{size}", model
        if count > 1:
            for j, shape in enumerate(SHAPES):
                model, graph, new = self.copy()
                for i in tensors:
                    set_shape(graph.input[i], shape)
                yield f"shapes-{j}", model

    def types(self):
        for i, info in enumerate(self.model.graph.input):
            if not info.type.HasField("tensor_type"):
                continue
            for kind in (TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.STRING, TensorProto.INT4,
                         TensorProto.COMPLEX64, TensorProto.FLOAT8E5M2):
                if kind != info.type.tensor_type.elem_type:
                    model, graph, new = self.copy()
                    graph.input[i].type.tensor_type.elem_type = kind
                    yield f"type-{i}-{kind}", model

    def with_constants(self, changed):
        """Returns the model with these inputs as initializers: {name: array}."""
        model, graph, new = self.copy()
        for info in [i for i in graph.input if i.name in changed]:
            graph.input.remove(info)
        for name, value in changed.items():
            graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(value).reshape(value.shape), name))
        return model

    def constants(self):
        arrays = {n: v for n, v in self.inputs.items() if isinstance(v, np.ndarray) and v.dtype.kind in "iufb"
                  and v.dtype.name in ("int32", "int64", "float32", "float64", "bool", "uint8", "int8")}
        whole = {n: v for n, v in arrays.items() if v.dtype.name in ("int32", "int64")}
        if arrays:
            yield "constants", self.with_constants(arrays)
            yield "empty-constants", self.with_constants({n: v.reshape(-1)[:0] for n, v in arrays.items()})
            yield "scalar-constants", self.with_constants({n: np.zeros((), v.dtype) for n, v in arrays.items()})
        if whole:
            yield "ints", self.with_constants(whole)
        for n, v in whole.items():
            limits = np.iinfo(v.dtype)
            for label, odd in (("min", limits.min), ("max", limits.max), ("-1", -1), ("0", 0), ("99", 99), ("-99", -99),
                               ("2^31", min(2**31, limits.max)), ("2^40", min(2**40, limits.max))):
                yield f"value-{n}-{label}", self.with_constants({**whole, n: np.full_like(v, odd)})
                if v.size > 1:
                    one = v.copy().reshape(-1)
                    one[-1] = odd
                    yield f"last-{n}-{label}", self.with_constants({**whole, n: one.reshape(v.shape)})
            for label, odd in (("shorter", v.reshape(-1)[:-1]), ("longer", np.append(v.reshape(-1), v.reshape(-1)[:1])),
                               ("empty", v.reshape(-1)[:0]), ("scalar", np.zeros((), v.dtype)),
                               ("matrix", v.reshape(1, -1)), ("ranks", np.ones(70, v.dtype))):
                yield f"value-{n}-{label}", self.with_constants({**whole, n: odd})


def models(patterns=(), every=1):
    for name, (model, values) in bases().items():
        counts = collections.Counter()
        for label, changed in Changer(name, model, values).all():
            full = re.sub(r"[^A-Za-z0-9_+^-]", "_", f"{name}.{label}"[5:])
            if counts[full]:
                full += f"-{counts[full]}"
            counts[full] += 1
            if zlib.crc32(full.encode()) % every or (patterns and not any(p in full for p in patterns)):
                continue
            yield full, changed


class Worker:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        errors="replace")

    def ask(self, path):
        self.process.stdin.write(path + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().rstrip("\n").split("\t", 3)
        return answer if len(answer) == 4 else ["crash", "0", "0", "the worker itself ended"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def sweep(binaries, chosen, jobs=2, phase="llvm", keep=None, seconds=20, mebibytes=4096,
          options=()):
    """Returns [(name, kind, milliseconds, MiB, detail)] of all models."""
    folder = keep or tempfile.mkdtemp(prefix="ingot-sweep-")
    os.makedirs(folder, exist_ok=True)
    local, workers = threading.local(), []
    command = [os.path.join(binaries, "ingot-sweep"), f"--phase={phase}", f"--seconds={seconds}",
               f"--mebibytes={mebibytes}", *options]

    def one(item):
        name, data = item
        if not hasattr(local, "worker"):
            local.worker = Worker(command)
            workers.append(local.worker)
        path = os.path.join(folder, name + ".onnx")
        with open(path, "wb") as f:
            f.write(data)
        kind, ms, mib, detail = local.worker.ask(path)
        if kind == "refused" and not NAMES.search(detail):
            kind = "nameless"
        if kind in ("compiled", "refused") and int(ms) < 5000 or not keep:
            os.remove(path)
        return name, kind, int(ms), int(mib), detail

    try:
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            return list(pool.map(one, ((n, m.SerializeToString()) for n, m in chosen)))
    finally:
        for worker in workers:
            worker.close()
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def parser_of(description):
    """Returns the argument parser for a sweep of the compiler."""
    parser = argparse.ArgumentParser(description=description.split("\n")[0])
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--phase", default="llvm")
    parser.add_argument("--list", action="store_true", help="print the answer to each model")
    return parser


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--keep", help="a folder for the models that fail")
    args = parser.parse_args()
    results = sweep(args.bin, models(args.patterns, args.every), args.jobs, args.phase, args.keep)
    counts = collections.Counter(kind for _, kind, *_ in results)
    for name, kind, ms, mib, detail in results:
        if args.list or kind not in ("compiled", "refused"):
            print(f"{kind} {name}: {ms} ms, {mib} MiB: {detail[:300]}")
    slowest = max(results, key=lambda r: r[2], default=("", "", 0, 0, ""))
    largest = max(results, key=lambda r: r[3], default=("", "", 0, 0, ""))
    print(f"{len(results)} models: " + ", ".join(f"{n} {k}" for k, n in sorted(counts.items()))
          + f"; at most {slowest[2]} ms ({slowest[0]}), {largest[3]} MiB ({largest[0]})")
    return 0 if set(counts) <= {"compiled", "refused"} else 1


if __name__ == "__main__":
    sys.exit(main())
