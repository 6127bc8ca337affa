#!/usr/bin/env python3
"""Holds the instructions of operators in random shapes against what they have to compute: there are no cliffs.

usage: cliffs.py [--cases N] [--seed S] [--json RESULT] [FAMILY[:NUMBER] ...]

The shapes are those of test/property/shapes.py. Each is compiled for x86-64-v3 with fixed sizes and again with some
dynamic sizes. Both run once on one thread under Valgrind, which counts instructions, so the machine's load does not
matter. A count fails if it is above the family's limit for its vectors of work and its rows. The last line is `N
passed, N failed, N skipped`.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import helper, numpy_helper

import callgrind
import cases

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.join(ROOT, "test", "property"))

import shapes  # noqa: E402

TARGET = "x86-64-v3"
# Instructions per run for counting tasks, checking sizes and calling kernels.
OVERHEAD = 20_000
# Limit on the relative cost of dynamic sizes, in addition to a copy of a result of dynamic size.
OPEN = 1.3


def make_model(shape, is_open):
    case = shape.case
    infos = []
    for name, array in case.inputs.items():
        dims = [case.dynamic.get(name, {}).get(i, d) if is_open else d for i, d in enumerate(array.shape)]
        infos.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), dims))
    tensors = [numpy_helper.from_array(array, name) for name, array in case.weights.items()]
    result = helper.make_tensor_value_info(case.output, case.type, [f"d{i}" for i in range(case.rank)])
    graph = helper.make_graph(case.nodes, "shape", infos, [result], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)


class Count:
    """A way to compile a shape, with the interface of a kernel of cases.py."""

    def __init__(self, shape, family, is_open):
        self.shape, self.family, self.is_open = shape, family, is_open
        self.name = f"{shape.case.name} {'open' if is_open else 'fixed'}"
        self.flops = self.bytes = 0
        each, row = next(v for f, v in shapes.FAMILIES.items() if f.__name__ == family)
        self.most = int((OVERHEAD + each * shape.work + row * shape.rows) * (OPEN if is_open else 1))

    def write(self, folder):
        stem = os.path.join(folder, self.name.replace(" ", "_"))
        onnx.save(make_model(self.shape, self.is_open), stem + ".onnx")
        files = []
        for name, array in self.shape.case.inputs.items():
            np.save(f"{stem}.{name}.npy", np.ascontiguousarray(array))
            files.append(f"{name}={stem}.{name}.npy")
        return stem + ".onnx", files


def chosen(args):
    families = [f.__name__ for f in shapes.FAMILIES]
    for family in families:
        wanted = [w.partition(":") for w in args.only if w.partition(":")[0] == family]
        numbers = {int(n) for _, _, n in wanted if n}
        if not args.only or any(not n for _, _, n in wanted):
            numbers |= set(range(args.cases))
        for number in sorted(numbers):
            for is_open in (False, True):
                yield Count(shapes.draw(family, number, args.seed), family, is_open)


def count_all(args, counts, folder):
    """Returns {name: instructions}, from as many runs of Valgrind as there are jobs."""
    program = cases.program(args.bin, "ingot-kernel-count", "valgrind")
    cases.compile_all(args.bin, counts, folder, TARGET, args.jobs)
    with open(os.path.join(folder, "cases.tsv")) as f:
        lines = f.readlines()
    lists = []
    for i in range(args.jobs):
        if lines[i::args.jobs]:
            lists.append(os.path.join(folder, f"list{i}.tsv"))
            with open(lists[-1], "w") as f:
                f.writelines(lines[i::args.jobs])
    found = {}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for part in pool.map(lambda listing: callgrind.count(program, listing), lists):
            found.update(part)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog="example: cliffs.py pooling:3 --cases 100")
    parser.add_argument("only", nargs="*", metavar="FAMILY[:NUMBER]", help="what to count (default: all families)")
    parser.add_argument("--cases", type=int, default=3, help="shapes of each family (default: 3)")
    parser.add_argument("--seed", type=int, default=0, help="draws other shapes (default: 0)")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="where the tools are")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="models at a time")
    parser.add_argument("--json", help="write the outcome of each shape here")
    parser.add_argument("-v", "--verbose", action="store_true", help="print those that pass, too")
    args = parser.parse_args()
    for word in args.only:
        family, colon, number = word.partition(":")
        if family not in [f.__name__ for f in shapes.FAMILIES] or (colon and not number.isdigit()):
            parser.error(f"no such shape: {word}")

    start = time.monotonic()
    counts = list(chosen(args))
    skipped, found = "", {}
    try:
        with tempfile.TemporaryDirectory(prefix="ingot-cliffs-") as folder:
            found = count_all(args, counts, folder)
    except (cases.BenchError, OSError) as error:
        if not args.json or "is missing" not in str(error):
            print(f"cliffs.py: error: {error}", file=sys.stderr)
            return 1
        skipped = str(error)  # Valgrind is optional, because other suites do not need it
    results = []
    for one in counts:
        got, work = found.get(one.name, 0), max(1, one.shape.work)
        detail = (f"{got} instructions, {one.most} allowed: {got / work:.1f} for each of {work} vectors, {one.shape.rows} "
                  f"rows: {one.shape.text}")
        status = "skipped" if skipped else "passed" if 0 < got <= one.most else "failed"
        if status == "failed" and got and one.family in shapes.KNOWN:
            status, detail = "skipped", f"{shapes.KNOWN[one.family]}: {detail}"
        results.append((one.name, status, skipped or detail))
    if args.json:
        with open(args.json, "w") as f:
            json.dump({"tests": [{"name": n, "status": s, "detail": d} for n, s, d in results]}, f)
    for name, status, detail in results:
        if status != "passed" or args.verbose:
            print(f"{status:7} {name}: {detail}")
    total = {status: sum(r[1] == status for r in results) for status in ("passed", "failed", "skipped")}
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped   "
          f"({time.monotonic() - start:.0f} s)")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
