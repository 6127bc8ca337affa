#!/usr/bin/env python3
"""Runs every operator of ONNX's backend node tests with open dimensions, at sizes that fit and at sizes that do not.

usage: open_sizes.py [PATTERN ...] [--subsets] [--jobs N] [--bin DIR] [--list FILE] [--report FILE] [--json FILE]

All dimensions of a test's inputs become dynamic, each with a unique name. If the compiler must know the length or the
values of a list of sizes or axes, only the other dimensions do. At the test's own sizes the results must be the
expected ones. Then single dimensions, and all dimensions of one size together, become 0, 1, one less, one more and
twice as large. Two dimensions of an input are swapped, which keeps the number of elements. One-dimensional inputs get
5,000,000 elements. Single elements of small integer inputs (indices, counts, sizes) get invalid values. Each run must
give the result of ONNX Runtime or of ONNX's reference implementation, or end with a clean error if the sizes do not
fit. Runs are between guard pages, on one thread and on two. With --subsets only some of the inputs become dynamic, in
all combinations. The others keep their sizes, or are constants, so a size may be static on one operand and dynamic on
another. Prints the results of the runs, and `N passed, N failed, N skipped` by tests.

examples: open_sizes.py                       all node tests (some 20 minutes)
          open_sizes.py 'test_add*' 'test_*concat*'
"""
import argparse
import collections
import fnmatch
import itertools
import json
import os
import re
import sys
import time

import numpy as np
import onnx

import engine
import statements
import cases  # engine.py has added its folder to the path

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

LARGE = 5_000_000
MAX_ELEMENTS = 20_000  # limit for an input that is made larger
MAX_DECIDING = 64  # limit for an integer input whose values are changed, too
MAX_RESULT = 100_000_000  # bytes, with such inputs
MAX_STEPS = 1_000_000  # limit on the steps of a loop that peers run
FAILED = ("wrong", "refused though valid", "crashed", "hung")


# Models -------------------------------------------------------------------------------------------------------------


def open_dims(value, keep):
    """Gives all dimensions of a graph's input or output unique names, or removes its shape."""
    shape = value.type.tensor_type.shape
    for i, dim in enumerate(shape.dim):
        if keep is None:
            dim.Clear()
        elif not keep:
            dim.Clear()
            dim.dim_param = f"{value.name}_{i}"


def is_list(array):
    """Returns True if an input may be a list of sizes, axes or positions whose length the compiler requires."""
    return array.ndim == 1 and array.size <= 16 and array.dtype in (np.int64, np.int32)


MOST_SUBSETS = 30


def subsets_of(names):
    """Returns subsets of the names: all of them; for many names, single names and all but one."""
    if len(names) <= 4:
        return [s for n in range(1, len(names)) for s in itertools.combinations(names, n)]
    ones = [(name,) for name in names] + [tuple(n for n in names if n != name) for name in names]
    return ones[:MOST_SUBSETS]


def opened_in_part(model, inputs):
    """Yields (dynamic inputs, model, names of its inputs). Some inputs have dynamic dimensions; the others are static,
    or all of them are constants."""
    shaped = [value.name for value in engine.inputs_of(model) if inputs[value.name].ndim]
    for subset, others in itertools.product(subsets_of(shaped), ("fixed", "constant")):
        result = onnx.ModelProto()
        result.CopyFrom(model)
        del result.graph.value_info[:]
        for output in result.graph.output:
            open_dims(output, None)
        for value in engine.inputs_of(result):
            if value.name in subset:
                open_dims(value, False)
            elif others == "constant":
                result.graph.initializer.append(onnx.numpy_helper.from_array(inputs[value.name], value.name))
                result.graph.input.remove(value)
        what = f"{' and '.join(subset)} open, the others {others}"
        yield what, result, [value.name for value in engine.inputs_of(result)]


def opened(model, inputs):
    """Yields (amount of dynamic dimensions, model, names of its inputs), from all dimensions to the fewest."""
    for how in ("all", "but lists", "but constant lists"):
        result = onnx.ModelProto()
        result.CopyFrom(model)
        del result.graph.value_info[:]
        for output in result.graph.output:
            open_dims(output, None)
        names = []
        for value in list(engine.inputs_of(result)):
            array = inputs[value.name]
            if how != "all" and is_list(array):
                if how == "but constant lists":
                    result.graph.initializer.append(onnx.numpy_helper.from_array(array, value.name))
                    result.graph.input.remove(value)
                    continue
                open_dims(value, True)
            else:
                open_dims(value, False)
            names.append(value.name)
        yield how, result, names


# Sizes --------------------------------------------------------------------------------------------------------------


def resized(array, axis, size):
    """Returns the array with another size of one axis: cut, or repeated."""
    if array.shape[axis] == 0:
        return np.ones([size if i == axis else d for i, d in enumerate(array.shape)], array.dtype)
    return np.take(array, np.arange(size) % array.shape[axis], axis=axis)


def other_sizes(size):
    return sorted({0, 1, size - 1, size + 1, 2 * size} - {size, -1})


def variants(model, inputs, names):
    """Yields (change, arrays in the order of `names`)."""
    fixed = {v.name for v in model.graph.input if v.type.tensor_type.shape.dim and
             all(d.HasField("dim_value") for d in v.type.tensor_type.shape.dim)}
    dims = [(n, axis, size) for n in names if n not in fixed for axis, size in enumerate(inputs[n].shape)]

    def changed(which, size):
        arrays = dict(inputs)
        for name, axis in which:
            if arrays[name].size // max(arrays[name].shape[axis], 1) * size > MAX_ELEMENTS:
                return None
            arrays[name] = resized(arrays[name], axis, size)
        return [arrays[n] for n in names]

    seen = set()
    for old in sorted({size for _, _, size in dims}):
        which = [(n, axis) for n, axis, size in dims if size == old]
        groups = [which] + [[one] for one in which if len(which) > 1]
        # A batch is one axis of all inputs, which changes together.
        for axis in {axis for _, axis in which}:
            groups.append([(n, a) for n, a in which if a == axis])
        for group in groups:
            for new in other_sizes(old):
                arrays = changed(group, new)
                key = (tuple(sorted(group)), new)
                if arrays is None or key in seen:
                    continue
                seen.add(key)
                places = ", ".join(f"{n}[{axis}]" for n, axis in group)
                yield f"{places}: {old} → {new}", arrays
    for name in names:
        shape = inputs[name].shape
        for a, b in itertools.combinations(range(len(shape)), 2):
            if name not in fixed and shape[a] != shape[b]:
                arrays = dict(inputs)
                arrays[name] = np.ascontiguousarray(np.swapaxes(inputs[name], a, b))
                yield f"{name}[{a}] ↔ {name}[{b}]", [arrays[n] for n in names]
    for name in names:
        if name not in fixed and inputs[name].ndim == 1 and inputs[name].dtype.itemsize <= 8:
            arrays = dict(inputs)
            arrays[name] = resized(inputs[name], 0, LARGE)
            yield f"{name}[0]: → {LARGE}", [arrays[n] for n in names]
    # Values that decide sizes: invalid positions, counts and sizes.
    for name in names:
        old = inputs[name]
        if old.dtype not in (np.int64, np.int32) or not 0 < old.size <= MAX_DECIDING:
            continue
        least, most = np.iinfo(old.dtype).min, np.iinfo(old.dtype).max
        for value in (-1, 0, int(old.max()) + 1, -int(abs(old).max()) - 1, least, most, min(most, 1 << 40)):
            for at in {0, old.size - 1}:
                arrays = dict(inputs)
                arrays[name] = old.copy()
                arrays[name].flat[at] = value
                yield f"{name}.flat[{at}] = {value}", [arrays[n] for n in names]


# One test -----------------------------------------------------------------------------------------------------------


def tolerance(want, rtol=1e-3, atol=1e-5):
    if want.dtype.kind in "biu":
        return 0
    if want.dtype.itemsize == 2:
        rtol = 2**-6 if want.dtype.name == "bfloat16" else 2**-9
    values = np.abs(want.astype(np.float64))
    return atol + rtol * values[np.isfinite(values)].max(initial=0)


def mismatch(got, want):
    for i, (g, w) in enumerate(zip(got, want)):
        if text := engine.difference(g, w, tolerance(w)):
            return f"output {i}: {text}"
    return ""


def trip_counts(model):
    """Returns the inputs of a model that are trip counts of a Loop."""
    return {node.input[0] for node in model.graph.node if node.op_type == "Loop"}


def judge(run, arrays, peers, standard):
    """Returns (class, detail) of a run at sizes without expected results. `standard` has the stated results for
    operators where peers have none, or known wrong ones (statements.py)."""
    if run.kind in ("fault", "broken"):
        return "crashed", run.detail
    if run.kind == "hang":
        return "hung", run.detail
    if run.kind == "differs":
        return "wrong", run.detail
    if standard.forbids(dict(zip(peers.names, arrays))):
        if run.kind == "refused":
            return "refused", run.detail
        if not standard.is_body:  # the nodes of a body decide
            return "wrong", "a result of what the standard forbids"
    if not peers.able:
        return ("not compared", "") if run.kind == "ran" else ("refused", run.detail)
    if any(name in peers.trip_counts and array.size and array.max() > MAX_STEPS
           for name, array in zip(peers.names, arrays)):
        return ("not compared", "") if run.kind == "ran" else ("refused", run.detail)
    peer = peers.onnxruntime(arrays)
    if run.kind == "ran" and peer is not None and not mismatch(run.outputs, peer):
        return "equal", ""
    if run.kind == "refused" and peer is None:
        return "refused", run.detail
    reference = peers.reference(arrays) if max(a.size for a in arrays) < LARGE else None
    if run.kind == "ran":
        if reference is not None and not mismatch(run.outputs, reference):
            return "equal", ""
        if standard.agrees(dict(zip(peers.names, arrays)), run.outputs, tolerance, engine.difference):
            return "as stated", ""
        if peer is not None and reference is not None and mismatch(peer, reference):
            return "not compared", "the peers do not agree"
        known = peer if peer is not None else reference
        if known is None and not peers.able_at_large and max(a.size for a in arrays) >= LARGE:
            return "not compared", ""
        if known is None and "bfloat16" in peers.why.get("onnxruntime", ""):
            return "not compared", "only the reference could, and does not"  # tests of f32 cover this
        if known is None:
            return "wrong", "a result where nobody else has one: " + (peers.why.get("onnxruntime") or "")[-160:]
        return "wrong", mismatch(run.outputs, known)
    if peer is not None and reference is not None and not mismatch(peer, reference):
        if "is larger than the padded input" in run.detail and not any(p.size for p in peer):
            return "refused", run.detail  # no window fits: peers return an empty result, Ingot an error
        return "refused though valid", run.detail
    return "refused", run.detail


def expected_result(folder, case, outputs):
    for i, (got, want) in enumerate(zip(outputs, cases.expected_outputs(folder, case, 0))):
        limit = case["atol"] + case["rtol"] * np.abs(want.astype(np.float64)).max(initial=0) \
            if want.dtype.kind not in "biu" else 0
        if text := engine.difference(got, want, max(limit, tolerance(want))):
            return f"output {i}: {text}"
    return ""


def read_inputs(folder):
    names = {number: name for name, number in cases.DTYPES.items()}
    inputs = {}
    with open(os.path.join(folder, "plan.txt")) as plan:
        for line in plan:
            number, name, dtype, dims, file = line.rstrip("\n").split("\t")
            if number == "0":
                shape = [] if dims == "scalar" else [int(d) for d in dims.split("x")]
                inputs[name] = cases.unpack(np.fromfile(os.path.join(folder, file), np.uint8), names[int(dtype)], shape)
    return inputs


class Sweep:
    """Tries one test after another; see engine.crew."""

    def __init__(self, binaries, folder, folders, subsets):
        self.ingot, self.folders, self.subsets = engine.Ingot(binaries, folder), folders, subsets

    def close(self):
        self.ingot.close()

    def operator_of(self, name, model):
        """Returns the model of the operator whose function's body a test runs, or else the test's own model."""
        folder = self.folders.get(re.sub(r"_expanded(_ver\d+)?$", "", name))
        return onnx.load(os.path.join(folder, "model.onnx")) if folder else model

    def try_subsets(self, folder, case, model, inputs):
        """Runs the model with some dynamic inputs, at the test's own sizes. A model must not be called invalid, or
        refused, if it is accepted with all dimensions dynamic."""
        runs, takes_all = [], None
        for what, candidate, names in opened_in_part(model, inputs):
            done = self.ingot.compile(candidate)
            if done.kind in ("unsupported", "compile-error"):
                detail = done.detail
                if takes_all is None:
                    _, whole, _ = next(opened(model, inputs))
                    takes_all = self.ingot.compile(whole).kind == "compiled"
                needless = takes_all or " is invalid: " in detail
                runs.append(("refused though valid" if needless else "refused", what, detail))
            elif done.kind != "compiled":
                runs.append(("hung" if done.kind == "timeout" else "crashed", what, done.detail))
            else:
                run, = self.ingot.run(candidate, [[inputs[n] for n in names]])
                text = expected_result(folder, case, run.outputs) if run.kind == "ran" else run.detail
                runs.append(({"ran": "wrong" if text else "equal", "refused": "refused though valid", "hang": "hung",
                              "differs": "wrong"}.get(run.kind, "crashed"), what, text))
        return runs

    def __call__(self, name):
        """Returns {"open": how, "runs": [(class, change, detail)]}, or {"skipped": reason}."""
        folder = self.folders[name]
        with open(os.path.join(folder, "case.json")) as f:
            case = json.load(f)
        if case["unfit"]:
            return {"skipped": case["unfit"], "subject": case["subject"]}
        if cases.is_drawn(os.path.basename(name)):
            return {"skipped": "draws random numbers", "subject": case["subject"]}
        if os.path.getsize(os.path.join(folder, "options.txt")):
            return {"skipped": "takes a sequence or an optional", "subject": case["subject"]}
        model = onnx.load(os.path.join(folder, "model.onnx"))
        inputs = read_inputs(folder)
        result = {"subject": case["subject"] or "several"}
        if not any(a.ndim for a in inputs.values()):
            return {**result, "skipped": "no input has a dimension"}
        if self.subsets:
            if any(not o.type.HasField("tensor_type") for o in model.graph.output):
                return {**result, "skipped": "gives a sequence or an optional"}
            return {**result, "open": "in part", "runs": self.try_subsets(folder, case, model, inputs)}
        for how, candidate, names in opened(model, inputs):
            done = self.ingot.compile(candidate)
            if done.kind not in ("unsupported", "compile-error"):
                break
            if case["kind"] == "node" and any(word in done.detail for word in ("opset",)) and \
                    done.detail.endswith("is not supported"):
                return {**result, "skipped": done.detail}
        result["open"] = how
        if done.kind in ("unsupported", "compile-error"):
            return {**result, "skipped": done.detail}
        if done.kind != "compiled":
            return {**result, "runs": [("hung" if done.kind == "timeout" else "crashed", "compiling", done.detail)]}
        candidate_inputs = [inputs[n] for n in names]
        peers = engine.Peers(candidate)
        peers.trip_counts = trip_counts(candidate)
        peers.able_at_large = peers.onnxruntime(candidate_inputs) is not None
        peers.able = peers.able_at_large or peers.reference(candidate_inputs) is not None
        tried = [("the test's own sizes", candidate_inputs)]
        for what, arrays in variants(candidate, inputs, names):
            if max(a.size for a in arrays) >= LARGE:
                outputs = peers.onnxruntime(arrays)
                if outputs and sum(o.nbytes for o in outputs) > MAX_RESULT:
                    continue
            tried.append((what, arrays))
        standard = statements.Standard(self.operator_of(name, model), inputs, "_expanded" in name)
        runs = self.ingot.run(candidate, [arrays for _, arrays in tried])
        judged = []
        if not standard.holds(cases.expected_outputs(folder, case, 0), tolerance, engine.difference):
            judged.append(("wrong", "statements.py", "the statement does not give the test's own results"))
        for (what, arrays), run in zip(tried, runs):
            if arrays is candidate_inputs:
                text = expected_result(folder, case, run.outputs) if run.kind == "ran" else run.detail
                kind = {"ran": "wrong" if text else "equal", "refused": "refused though valid", "hang": "hung",
                        "differs": "wrong"}.get(run.kind, "crashed")
                judged.append((kind, what, text))
            else:
                kind, text = judge(run, arrays, peers, standard)
                judged.append((kind, what, text))
        return {**result, "runs": judged}


# All of them --------------------------------------------------------------------------------------------------------


def write_report(path, results):
    """Writes the failures by operator, with an example of each message."""
    groups = collections.defaultdict(list)
    for name, result in results.items():
        for kind, what, detail in result.get("runs", []):
            if kind in FAILED:
                groups[result["subject"]].append((kind, name, what, detail))
    with open(path, "w") as f:
        f.write("# Open sizes: runs that failed, by operator\n\n")
        for subject, rows in sorted(groups.items()):
            count = collections.Counter(kind for kind, *_ in rows)
            f.write(f"## {subject}: {', '.join(f'{k} {n}' for k, n in count.items())} "
                    f"(in {len({name for _, name, *_ in rows})} tests)\n\n")
            shown = collections.Counter()
            for kind, name, what, detail in rows:
                if (shown[kind] < 6 and shown[kind, name] < 2):
                    f.write(f"- {kind}: `{name.removeprefix('node/')}`, {what}: {detail[:220]}\n")
                shown[kind] += 1
                shown[kind, name] += 1
            f.write("\n")


def sampled(names, folders, count):
    """Returns some tests of each operator: the first, the last and some between, without function bodies."""
    by_operator = collections.defaultdict(list)
    for name in names:
        with open(os.path.join(folders[name], "case.json")) as f:
            case = json.load(f)
        if not name.endswith("_expanded") and not case["unfit"]:
            by_operator[case["subject"] or name].append(name)
    chosen = set()
    for found in by_operator.values():
        step = max(len(found) - 1, 1) / max(count - 1, 1)
        chosen |= {found[min(round(i * step), len(found) - 1)] for i in range(count)}
    return [n for n in names if n in chosen]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0],
                                     epilog="example: open_sizes.py 'test_add*' --verbose")
    parser.add_argument("patterns", nargs="*", help="names of tests, * and ? stand for anything (default: all)")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="where the tools are")
    parser.add_argument("--work", default=os.path.join(ROOT, "build", "conformance"), help="where ONNX's tests are")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--subsets", action="store_true", help="open some inputs only, and run at the test's own sizes")
    parser.add_argument("--sample", type=int, metavar="N", help="only N tests of each operator, evenly spread")
    parser.add_argument("--list", help="file of test names: run these")
    parser.add_argument("--report", help="write what failed there (Markdown), by operator")
    parser.add_argument("--json", help="write one entry a test there")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for each test")
    args = parser.parse_args()

    start = time.monotonic()
    folders = {n: f for n, f in cases.prepare(os.path.join(args.work, "cases")).items() if n.startswith("node/")}
    names = list(folders)
    if args.list:
        with open(args.list) as f:
            names = [line.strip() for line in f if line.strip() and not line.startswith("#")]
        if missing := [n for n in names if n not in folders]:
            sys.exit(f"open_sizes.py: {args.list} names a test that onnx does not have: {missing[0]}")
    if args.patterns:
        names = [n for n in names if any(fnmatch.fnmatch(n.removeprefix("node/"), p) for p in args.patterns)]
    if not names:
        sys.exit(f"open_sizes.py: no test matches {' '.join(args.patterns)}")

    if args.sample:
        names = sampled(names, folders, args.sample)
    results, count = {}, collections.Counter()
    for name, result in engine.crew(args.jobs, lambda folder: Sweep(args.bin, folder, folders, args.subsets), names, seconds=2000):
        if isinstance(result, engine.Run):
            result = {"subject": "?", "skipped": f"the test's process: {result.detail}"}
            count["peer died"] += 1
        results[name] = result
        bad = [run for run in result.get("runs", []) if run[0] in FAILED]
        count.update(run[0] for run in result.get("runs", []))
        for kind, what, detail in bad[:None if args.verbose else 3]:
            print(f"FAILED {name}: {kind}: {what}: {detail[:300]}", flush=True)
        if args.verbose and args.subsets:
            for kind, what, detail in result.get("runs", []):
                if kind == "refused":
                    print(f"refused {name}: {what}: {detail[:300]}", flush=True)
        if args.verbose and "skipped" in result:
            print(f"skipped {name}: {result['skipped'][:300]}", flush=True)
        engine.say(f"{len(results)}/{len(names)} {name}")
    engine.say("")
    results = {n: results[n] for n in names}
    if args.report:
        write_report(args.report, results)
    tests = []
    for name, result in results.items():
        bad = [f"{kind}: {what}: {detail}" for kind, what, detail in result.get("runs", []) if kind in FAILED]
        tests.append({"name": name, "status": "failed" if bad else "skipped" if "skipped" in result else "passed",
                      "detail": "\n".join(bad) or result.get("skipped", "")})
    if args.json:
        with open(args.json, "w") as f:
            json.dump({"tests": tests}, f)
    tried = sum(n for kind, n in count.items() if kind != "peer died")
    how = collections.Counter(r["open"] for r in results.values() if "runs" in r)
    print(f"open: {', '.join(f'{k} {n}' for k, n in how.items())}")
    print(f"{tried} runs: {', '.join(f'{kind} {n}' for kind, n in sorted(count.items()))}   "
          f"({time.monotonic() - start:.0f} s)")
    status = collections.Counter(t["status"] for t in tests)
    print(f"{status['passed']} passed, {status['failed']} failed, {status['skipped']} skipped")
    return 1 if status["failed"] or not status["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
