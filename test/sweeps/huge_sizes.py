#!/usr/bin/env python3
"""Operators at sizes that no tensor with elements has: 2^31, 2^40 and 2^62, beside a dimension of 0.

usage: huge_sizes.py [PATTERN ...] [--bin DIR] [--every N] [--json FILE] [-v]

Each case is a model of one node with dynamic dimensions. At each set of sizes `ingot inspect --shape` and `ingot run`
must give the sizes of the operator's definition, or end with one line that names the node. Each command may take a
second of CPU time and 2 GiB of memory. With these sizes fixed, the model must compile and give them, or be refused in
one line that names the node. The last line is `N passed, N failed, N skipped`.
"""
import argparse
import fnmatch
import itertools
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
NODE = "odd"
HUGE = (1 << 31, 1 << 40, 1 << 62)
LARGEST = (1 << 63) - 1
SECONDS = 1  # CPU time of one command
CASES = {}
F, I, U8 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.UINT8


def product(sizes):
    return math.prod(sizes)


class Case:
    """A node. `inputs` has the sizes or the constant of each input; dynamic dimensions of one name have one size.
    `expect` maps the sizes of the first input to those of the outputs; None if any result is valid."""

    def __init__(self, op, inputs, expect, domain="", types=(F,), opset=21, **attributes):
        self.op, self.inputs, self.expect, self.domain, self.types = op, inputs, expect, domain, types
        self.opset, self.attributes = opset, attributes

    def nodes(self, names, results):
        return [helper.make_node(self.op, names, results, name=NODE, domain=self.domain, **self.attributes)]

    def model(self, sizes):
        """Returns the model with the sizes of its inputs."""
        values, tensors, names = [], [], []
        for i, given in enumerate(self.inputs):
            names.append(f"x{i}")
            if isinstance(given, np.ndarray):
                tensors.append(numpy_helper.from_array(given, names[-1]))
                continue
            values.append(helper.make_tensor_value_info(names[-1], F, sizes[i]))
        results = [f"y{i}" for i in range(len(self.types))]
        graph = helper.make_graph(self.nodes(names, results), "g", values,
                                  [helper.make_tensor_value_info(r, t, None) for r, t in zip(results, self.types)],
                                  tensors)
        opsets = [helper.make_opsetid("", self.opset)] + ([helper.make_opsetid(self.domain, 1)] if self.domain else [])
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def open_dims(self):
        return sorted({d for g in self.inputs if isinstance(g, tuple) for d in g if isinstance(d, str)})

    def at(self, values):
        """Returns the sizes of all inputs for these values of dynamic dimensions; None for constants."""
        return [[values.get(d, d) for d in g] if isinstance(g, tuple) else None for g in self.inputs]

    def sizes(self):
        """Yields sets of sizes of all inputs: one or two huge dimensions, at most one of 0, and 1 elsewhere."""
        names = self.open_dims()
        for zero in [None] + names:
            for count in (1, 2):
                for chosen in itertools.combinations([d for d in names if d != zero], count):
                    for huge in HUGE:
                        sizes = self.at({d: 0 if d == zero else huge if d in chosen else 1 for d in names})
                        # A tensor with elements must not be huge.
                        if all(product(g) < 1000 for g in sizes if g is not None):
                            yield sizes


class Centered(Case):
    """Subtracts a reduction of rows from the data; nobody reads the reduction if rows are empty."""

    def nodes(self, names, results):
        return [helper.make_node(self.op, names, ["r"], name=NODE, **self.attributes),
                helper.make_node("Exp", ["r"], ["e"], name=NODE),
                helper.make_node("Sub", [names[0], "e"], results, name=NODE)]


def case(name, *arguments, **more):
    CASES[name] = Case(*arguments, **more)


def ints(*values):
    return np.array(values, np.int64)


def same(x):
    return [x]


def declare():
    """Declares all cases."""
    case("concat-twice", "Concat", [("a", "b"), ("a", "b")], lambda x: [[2 * x[0], x[1]]], axis=0)
    case("tile", "Tile", [("a", "b"), ints(3, 4)], lambda x: [[3 * x[0], 4 * x[1]]])
    case("pad", "Pad", [("a", "b"), ints(1, 2, 3, 4)], lambda x: [[x[0] + 4, x[1] + 6]])
    case("flatten", "Flatten", [("a", "b", "c")], lambda x: [[x[0] * x[1], x[2]]], axis=2)
    case("reshape-join", "Reshape", [("a", "b", "c"), ints(0, -1)],
         lambda x: None if x[0] == 0 else [[x[0], x[1] * x[2]]])
    case("depth-to-space", "DepthToSpace", [("a", 8, "c", "d")], lambda x: [[x[0], 2, 2 * x[2], 2 * x[3]]], blocksize=2)
    case("space-to-depth", "SpaceToDepth", [("a", "b", 2, 2)], lambda x: [[x[0], 4 * x[1], 1, 1]], blocksize=2)
    case("conv", "Conv", [("a", 3, "c", "d"), np.ones((4, 3, 1, 1), np.float32)],
         lambda x: [[x[0], 4, x[2] + 2, x[3] + 2]], pads=[1, 1, 1, 1])
    case("conv-transpose", "ConvTranspose", [("a", 3, "c", "d"), np.ones((3, 4, 3, 3), np.float32)],
         lambda x: [[x[0], 4, 3 * x[2], 3 * x[3]]] if x[2] and x[3] else None, strides=[3, 3])
    case("max-pool", "MaxPool", [("a", 3, "c", "d")], lambda x: [[x[0], 3, x[2] + 1, x[3] + 1]], kernel_shape=[2, 2],
         pads=[1, 1, 1, 1])
    case("average-pool", "AveragePool", [("a", 3, "c", "d")], lambda x: [[x[0], 3, x[2] + 1, x[3] + 1]],
         kernel_shape=[2, 2], pads=[1, 1, 1, 1])
    case("global-average-pool", "GlobalAveragePool", [("a", "b", "c", "d")], lambda x: [[x[0], x[1], 1, 1]])
    for mode in ("nearest", "linear", "cubic"):
        case("resize-" + mode, "Resize", [(1, "b", "c", "d"), np.float32([]), np.float32([1, 1, 2, 2])],
             lambda x: [[1, x[1], 2 * x[2], 2 * x[3]]] if x[2] < 2 ** 24 and x[3] < 2 ** 24 else None, mode=mode)
    for mode in ("linear", "cubic"):
        case("resize-antialiased-" + mode, "Resize", [(1, "b", "c", "d"), np.float32([]), np.float32([1, 1, 0.5, 0.5])],
             lambda x: [[1, x[1], x[2] // 2, x[3] // 2]] if x[2] < 2 ** 24 and x[3] < 2 ** 24 else None, mode=mode,
             antialias=1)
    case("gather", "Gather", [("a", "b"), ints(*([0] * 5))], lambda x: [[5, x[1]]] if x[0] else None, axis=0)
    case("expand", "Expand", [("a", "b"), ints(3, 1, 1)], lambda x: [[3, x[0], x[1]]])
    case("transpose", "Transpose", [("a", "b", "c")], lambda x: [[x[2], x[0], x[1]]], perm=[2, 0, 1])
    case("slice", "Slice", [("a", "b"), ints(1), ints(LARGEST), ints(0)], lambda x: [[max(x[0] - 1, 0), x[1]]])
    case("split", "Split", [("a", "b")], lambda x: [[(x[0] + 1) // 2, x[1]], [x[0] // 2, x[1]]], types=(F, F), axis=0,
         num_outputs=2)
    case("unsqueeze", "Unsqueeze", [("a", "b"), ints(0)], lambda x: [[1, x[0], x[1]]])
    case("relu", "Relu", [("a", "b")], same)
    case("add", "Add", [("a", "b"), ("a", "b")], same)
    for axis in (-1, 0):
        case(f"softmax{axis}", "Softmax", [("a", "b", "c")], same, axis=axis)
        case(f"log-softmax{axis}", "LogSoftmax", [("a", "b")], same, axis=axis)
        case(f"lp-normalization{axis}", "LpNormalization", [("a", "b")], same, axis=axis)
        case(f"cumsum{axis}", "CumSum", [("a", "b"), np.array(axis, np.int64)], same)
        case(f"hardmax{axis}", "Hardmax", [("a", "b")], same, axis=axis)
    case("layer-normalization", "LayerNormalization", [("a", "b", 4), np.ones(4, np.float32)], same)
    for op, inputs, opset in (("LayerNormalization", 3, 21), ("SimplifiedLayerNormalization", 2, 21),
                              ("RMSNormalization", 2, 23)):
        for outer in (("a",), ("a", "c")):
            case(f"{op}-of-{len(outer) + 1}", op, [(*outer, "b"), ("b",), ("b",)][:inputs], same, opset=opset)
    for op in ("ReduceSum", "ReduceMean", "ReduceL2", "ReduceLogSumExp"):
        for axis in (0, 1):
            CASES[f"{op}{axis}-centered"] = Centered(op, [("a", "b"), ints(axis)], same)
    case("instance-normalization", "InstanceNormalization",
         [("a", 3, "c", "d"), np.ones(3, np.float32), np.ones(3, np.float32)], same)
    case("group-normalization", "GroupNormalization", [("a", 4, "c"), np.ones(4, np.float32), np.ones(4, np.float32)],
         same, num_groups=2)
    case("batch-normalization", "BatchNormalization", [("a", 3, "c")] + [np.ones(3, np.float32)] * 4, same)
    case("mean-variance-normalization", "MeanVarianceNormalization", [("a", "b", "c", "d")], same)
    case("lrn", "LRN", [("a", 3, "c", "d")], same, size=3)
    case("matmul", "MatMul", [("a", "b", 3), np.ones((3, 5), np.float32)], lambda x: [[x[0], x[1], 5]])
    case("gemm", "Gemm", [("a", 3), np.ones((3, 5), np.float32)], lambda x: [[x[0], 5]])
    case("unique", "Unique", [("a", "b")], lambda x: [None], axis=0)
    case("unique-flat", "Unique", [("a", "b")], lambda x: [None])
    case("nonzero", "NonZero", [("a", "b")], lambda x: [[2, 0]], types=(I,))
    case("non-max-suppression", "NonMaxSuppression", [("a", "b", 4), ("a", "c", "b"), ints(3)], lambda x: [None],
         types=(I,))
    case("topk", "TopK", [("a", "b"), ints(0)], lambda x: [[x[0], 0], [x[0], 0]], types=(F, I))
    case("one-hot-rows", "EyeLike", [("a", "b")], same)
    case("shape", "Shape", [("a", "b")], lambda x: [[2]], types=(I,))
    case("size", "Size", [("a", "b")], lambda x: [[]], types=(I,))
    case("trilu", "Trilu", [("a", "b")], same)
    case("reverse", "ReverseSequence", [("a", 0, 4), ints()], same, batch_axis=1, time_axis=0)
    case("einsum", "Einsum", [("a", "b", "c")], lambda x: [[x[1], x[0], x[2]]], equation="abc->bac")
    case("dropout", "Dropout", [("a", "b")], same)
    case("clip", "Clip", [("a", "b"), np.array(0, np.float32), np.array(1, np.float32)], same)
    case("cast", "Cast", [("a", "b")], same, types=(TensorProto.INT8,), to=TensorProto.INT8)
    case("quantize", "QuantizeLinear", [("a", "b"), np.array(1, np.float32), np.array(0, np.uint8)], same, types=(U8,))
    case("dynamic-quantize", "DynamicQuantizeLinear", [("a", "b")], lambda x: [x, [], []],
         types=(U8, F, U8))
    case("gelu", "Gelu", [("a", "b")], same)
    case("scatter-elements", "ScatterElements", [("a", "b"), np.zeros((0, 0), np.int64), np.zeros((0, 0), np.float32)],
         same)
    case("gather-elements", "GatherElements", [("a", "b"), np.zeros((0, 0), np.int64)], lambda x: [[0, 0]])
    case("arg-max", "ArgMax", [("a", "b")], lambda x: None, types=(I,), axis=1)
    case("lstm", "LSTM", [("a", "b", 3), np.ones((1, 16, 3), np.float32), np.ones((1, 16, 4), np.float32)],
         lambda x: [[x[0], 1, x[1], 4]], hidden_size=4)
    case("grid-sample", "GridSample", [("a", "b", 2, 2), ("a", 0, 3, 2)], lambda x: [[x[0], x[1], 0, 3]])
    case("col2im", "Col2Im", [("a", 4, 9), ints(4, 4), ints(2, 2)], lambda x: [[x[0], 1, 4, 4]] if x[0] < 9 else None)
    case("rms-normalization", "SimplifiedLayerNormalization", [("a", "b", 4), np.ones(4, np.float32)], same)


# Commands -----------------------------------------------------------------------------------------------------------


class Outcome:
    """The result of one command."""

    def __init__(self, command):
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.code, self.out = done.returncode, done.stdout
        self.errors = [line for line in done.stderr.splitlines() if ": warning: " not in line]

    def refusal(self):
        """Returns the problem of a refusal; empty if there is none."""
        if self.code not in (1, 2):
            return f"ended with {self.code}"
        if len(self.errors) != 1 or ": error: " not in self.errors[0]:
            return f"said {self.errors[:3]}"
        if not re.search(rf"'{NODE}'|input 'x\d'", self.errors[0]):
            return f"does not name the node: {self.errors[0]}"
        return ""


def shapes_of(text):
    """Returns the sizes of outputs that a command printed, for example 2x0."""
    return [[-1 if s == "?" else int(s) for s in re.findall(r"-?\d+|\?", shape)] for shape in text]


class Sweep:
    def __init__(self, binaries, folder, verbose):
        self.ingot, self.folder, self.verbose = os.path.join(binaries, "ingot"), folder, verbose
        self.bad = []

    def complain(self, what, text):
        self.bad.append(f"{what}: {text}")

    def check(self, what, outcome, expected, read):
        """Judges a command that must print sizes with exit code 0; `read` finds them in its output."""
        if outcome.seconds > SECONDS + self.slack:
            self.complain(what, f"took {outcome.seconds:.1f} s")
        if outcome.code:
            if "do not fit into memory" in "".join(outcome.errors) and any(product(s) >= 2 ** 31 for s in expected or []):
                return
            if expected and not any(s is None or product(s) for s in expected) and \
                    "out of memory" in "".join(outcome.errors):
                self.complain(what, "has no memory for results without elements: " + outcome.errors[0])
            if wrong := outcome.refusal():
                self.complain(what, wrong)
            return
        given = read(outcome.out)
        for shape, right in zip(given, expected or [None] * len(given)):
            if any(size < -1 or size > LARGEST for size in shape) or \
                    (right is not None and -1 not in shape and shape != list(right)):
                self.complain(what, f"gives {shape}, not {right}")

    def arguments(self, case, sizes):
        return [f"x{i}=" + "x".join(map(str, given)) for i, given in enumerate(sizes) if given is not None and given]

    def compile(self, model, library):
        path = os.path.join(self.folder, "m.onnx")
        onnx.save(model, path)
        return Outcome([self.ingot, "compile", path, "-o", library])

    def run(self, name, every):
        case, library = CASES[name], os.path.join(self.folder, "m.so")
        self.bad = []
        built = self.compile(case.model(case.at({})), library)
        if built.code:
            return "skipped" if built.code == 1 else "failed"
        self.slack = 0
        fixed = os.path.join(self.folder, "fixed.so")
        for i, sizes in enumerate(case.sizes()):
            if (i + len(name)) % every:
                continue
            expected = case.expect(sizes[0])
            arguments = self.arguments(case, sizes)
            shapes = [part for a in arguments for part in ("--shape", a)]
            at = f"{name} at {' '.join(arguments)}"
            self.slack = 0
            self.check("inspect " + at, Outcome([self.ingot, "inspect", library, *shapes]), expected,
                       lambda out: shapes_of(re.findall(r"\by\d+=(\S+)", out)))
            self.check("run " + at, Outcome([self.ingot, "run", library, "--input", "random", *shapes]), expected,
                       lambda out: shapes_of(re.findall(r"^ +y\d+ +\S+ +(\S+)", out, re.M)))
            if (i + len(name)) % (4 * every):
                continue
            self.slack = built.seconds
            self.check("compile " + at, self.compile(case.model(sizes), fixed), None, lambda out: [])
        return "failed" if self.bad else "passed"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("patterns", nargs="*", default=["*"])
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--every", type=int, default=1, help="only each N-th set of sizes")
    parser.add_argument("--json")
    parser.add_argument("-v", action="store_true", help="print all that is wrong, and what passed")
    options = parser.parse_args()
    declare()
    counts, tests = {"passed": 0, "failed": 0, "skipped": 0}, []
    with tempfile.TemporaryDirectory() as folder:
        sweep = Sweep(options.bin, folder, options.v)
        for name in CASES:
            if not any(fnmatch.fnmatch(name, p) for p in options.patterns):
                continue
            outcome = sweep.run(name, options.every)
            counts[outcome] += 1
            tests.append({"name": name, "status": outcome, "detail": "; ".join(sweep.bad)})
            if options.v or outcome == "failed":
                print(outcome, name, flush=True)
            for line in sweep.bad[:None if options.v else 6]:
                print("  " + line, flush=True)
    if options.json:
        with open(options.json, "w") as f:
            json.dump({"tests": tests}, f)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
