#!/usr/bin/env python3
"""Runs ONNX's own backend tests through compile, load and run.

usage: run.py [--jobs N] [--list FILE] [--open] [--update] [--report FILE] [--engine ingot|python|onnxruntime]
              [--kernels native|onednn] [--target LEVELS] [--gpu] [--every N] [--threads N[,N...]] [PATTERN ...]

Results are compared as ONNX's own runner does: shape and element type exactly, values within the test's tolerances. The
file expected.txt has the expected result of each test; both a regression and an unexpected pass fail the command. With
--open every dimension of every input is dynamic (opened.py), in the tests that pass otherwise; see expected-open.txt.
With --gpu the code for GPUs runs on the emulated GPU; see expected-gpu.txt. With --engine python the tests go through
the package `ingot.onnxruntime` of this interpreter, with the same expected results.
The last line is `N passed, N failed, N skipped`. Skipped tests are those that the compiler refuses with a clear
message.

examples: run.py                         all 2,033 tests
          run.py 'node/test_conv_*' -v   some of them, with reasons
          run.py --update                accept today's results as expected
          run.py --kernels native --target x86-64-v3 --threads 1,2
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

import cases
import opened
import report

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
NAMES = {number: name for name, number in cases.DTYPES.items()}
SKIPPED = "unsupported"


class Outcome:
    """The result of a test. Kinds: pass, unsupported, compile-error, run-error, wrong, crash or timeout. With --open,
    also closed: no dimension can be dynamic."""

    form = None  # set of dynamic dimensions
    seconds = 0

    def __init__(self, kind, detail=""):
        self.kind, self.detail = kind, " ".join(detail.split())[:600]

    @property
    def status(self):
        return {"pass": "passed", SKIPPED: "skipped", "closed": "skipped"}.get(self.kind, "failed")


class Worker:
    """A warm process that forks a child for each case."""

    def __init__(self, command):
        self.command, self.process = command, None

    def ask(self, case, out):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                            errors="replace")
        try:
            self.process.stdin.write(f"{case}\t{out}\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            return "crash", f"the worker itself ended with {self.process.wait()}"
        kind, _, detail = answer.rstrip("\n").partition("\t")
        # A fault on a GPU makes all later calls of the process fail.
        if kind == "run-error" and os.environ.get("INGOT_DEVICE", "cpu") != "cpu":
            self.process.kill()
            self.process.wait()
        return kind, detail

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


def read_results(out):
    """Returns {(set, output): array} from the worker's files."""
    results = {}
    with open(os.path.join(out, "got.txt")) as f:
        for line in f:
            number, index, dtype, dims = line.split()
            name = NAMES[int(dtype)]
            shape = [] if dims == "scalar" else [int(d) for d in dims.split("x")]
            data = np.fromfile(os.path.join(out, f"{number}_got_{index}.bin"), np.uint8)
            results[int(number), int(index)] = cases.unpack(data, name, shape)
    return results


def compare(folder, case, results):
    """Returns None if all outputs agree, else the differences."""
    for number in range(case["sets"]):
        expected = cases.expected_outputs(folder, case, number)
        got = [results[key] for key in sorted(results) if key[0] == number]
        if len(got) != len(expected):
            return f"{len(got)} outputs, expected {len(expected)}"
        for i, (value, want) in enumerate(zip(got, expected)):
            if value.shape != want.shape:
                return f"output {i} has shape {list(value.shape)}, expected {list(want.shape)}"
            if cases.name_of(want.dtype) == "string":
                if value.tolist() != want.tolist():
                    return f"output {i} has other strings"
                continue
            if value.dtype != want.dtype:
                return f"output {i} is {value.dtype}, expected {want.dtype}"
            if cases.is_drawn(case["name"]):
                continue
            rtol = case["rtol"]
            if value.dtype.name == "bfloat16":  # as in ONNX's runner: two units in the last place
                rtol = max(rtol, 2**-6)
            if not cases.is_numpys(value.dtype.name):
                value, want = value.astype(np.float32), want.astype(np.float32)
            try:
                np.testing.assert_allclose(value, want, rtol=rtol, atol=case["atol"])
            except AssertionError as error:
                found = re.search(r"Max absolute difference[^\n]*", str(error))
                return f"output {i} differs: {found.group(0) if found else str(error).split(chr(10))[1]}"
    return None


def run_case(worker, folder, out):
    with open(os.path.join(folder, "case.json")) as f:
        case = json.load(f)
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    kind, detail = worker.ask(folder, out)
    if kind != "ran":
        return Outcome(kind, detail)
    if case["unfit"]:
        return Outcome("wrong", f"compiled, but {case['unfit']}")
    try:
        difference = compare(folder, case, read_results(out))
    except (OSError, ValueError) as error:
        difference = f"the outputs cannot be read: {error}"
    return Outcome("wrong", difference) if difference else Outcome("pass")


def run_open(worker, folder, out):
    """Runs the case with all dimensions dynamic. If the compiler refuses it, keeps the lengths of lists."""
    outcome = None
    for form in opened.FORMS:
        case = out + "-case"
        shutil.rmtree(case, ignore_errors=True)
        if not opened.write_case(folder, case, form):
            return outcome or Outcome("closed", "no input has a dimension")
        outcome = run_case(worker, case, out)
        outcome.form = form
        if outcome.kind not in (SKIPPED, "compile-error"):
            return outcome
    return outcome


def run_all(folders, command, jobs, show, run=run_case):
    """Returns {name: Outcome}, in the order of `folders`."""
    scratch = tempfile.mkdtemp(prefix="ingot-conformance-")
    workers, lock, done, results = {}, threading.Lock(), 0, {}

    def one(name):
        nonlocal done
        thread = threading.get_ident()
        if thread not in workers:
            workers[thread] = Worker(command)
        start = time.monotonic()
        outcome = run(workers[thread], folders[name], os.path.join(scratch, str(thread)))
        outcome.seconds = time.monotonic() - start
        with lock:
            done += 1
            results[name] = outcome
            show(done, name, outcome)

    try:
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for future in [pool.submit(one, name) for name in folders]:
                future.result()
    finally:
        for worker in workers.values():
            worker.close()
        shutil.rmtree(scratch, ignore_errors=True)
    return {name: results[name] for name in folders}


def read_expected(path):
    if not os.path.exists(path):
        return {}
    with open(path) as f:
        return dict(line.split() for line in f if line.strip() and not line.startswith("#"))


def write_expected(path, results):
    with open(path, "w") as f:
        f.write("# What each of ONNX's backend tests does today. Written by `run.py --update`; read by `make "
                "conformance`,\n# which fails when a test does anything else.\n")
        for name, outcome in results.items():
            f.write(f"{name} {outcome.kind}\n")


def read_results_of(path):
    """Returns {name: Outcome} from a file of --json."""
    results = {}
    with open(path) as f:
        for test in json.load(f)["tests"]:
            results[test["name"]] = Outcome(test["kind"], test["detail"])
            results[test["name"]].form = test["form"]
    return results


def choose(folders, args):
    chosen = folders
    if args.list:
        with open(args.list) as f:
            names = [line.strip() for line in f if line.strip() and not line.startswith("#")]
        missing = [n for n in names if n not in folders]
        if missing:
            sys.exit(f"run.py: {args.list} names a test that onnx does not have: {missing[0]}")
        chosen = {n: folders[n] for n in names}
    if args.patterns:
        chosen = {n: f for n, f in chosen.items() if any(fnmatch.fnmatch(n, p) for p in args.patterns)}
        if not chosen:
            sys.exit(f"run.py: no test matches {' '.join(args.patterns)}")
    return dict(list(chosen.items())[::args.every])


def thread_counts(text):
    if not re.fullmatch(r"[1-9]\d{0,2}(,[1-9]\d{0,2})*", text):
        raise argparse.ArgumentTypeError(f"not numbers with commas between them: '{text}'")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0],
                                     epilog="example: run.py 'node/test_conv_*' --verbose")
    parser.add_argument("patterns", nargs="*", help="names to run, * and ? stand for anything (default: all)")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="where ingot-conformance is")
    parser.add_argument("--work", default=os.path.join(ROOT, "build", "conformance"), help="where cases are written")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="worker processes")
    parser.add_argument("--list", help="file of test names: run these")
    parser.add_argument("--open", action="store_true", help="with all dimensions open, the tests that pass otherwise")
    parser.add_argument("--open-results", help="what --open --json wrote: goes into the report")
    parser.add_argument("--expected", help="expected results (expected.txt, with --open expected-open.txt)")
    parser.add_argument("--update", action="store_true", help="write today's results to the expected ones")
    parser.add_argument("--report", help="write a table per operator there (Markdown)")
    parser.add_argument("--readme", help="replace the summary in this file")
    parser.add_argument("--durations", type=int, default=0, metavar="N", help="print the N slowest tests")
    parser.add_argument("--json", help="write one entry a test there")
    parser.add_argument("--engine", choices=["ingot", "python", "onnxruntime"], default="ingot", help="what runs the models")
    parser.add_argument("--kernels", choices=["native", "onednn"], default="native", help="as for `ingot compile`")
    parser.add_argument("--target", default="native", help="CPU levels, as for `ingot compile`")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each Nth of the chosen tests")
    parser.add_argument("--gpu", action="store_true", help="compile for GPUs and run on the emulated one")
    parser.add_argument("--threads", default="1", type=thread_counts, metavar="N[,N...]",
                        help="threads of a run (default: 1); with native kernels all numbers must give the same bits")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for each test that does not pass")
    args = parser.parse_args()
    if "," in args.threads and args.kernels != "native":
        parser.error("only native kernels promise the same bits for several numbers of --threads")

    closed_expected = os.path.join(HERE, "expected.txt")
    args.expected = args.expected or (os.path.join(HERE, "expected-open.txt") if args.open else
                                      os.path.join(HERE, "expected-gpu.txt") if args.gpu else closed_expected)
    if args.gpu:
        args.target = "sm_80"
        os.environ["INGOT_DEVICE"] = "emulated"
        os.environ["INGOT_EMULATED_DRIVER"] = os.path.join(os.path.dirname(args.bin), "lib", "emugpu", "libcuda.so.1")

    start = time.monotonic()
    all_folders = cases.prepare(os.path.join(args.work, "cases"))
    if args.open:
        passing = read_expected(closed_expected)
        all_folders = {n: f for n, f in all_folders.items() if passing.get(n) == "pass"}
    folders = choose(all_folders, args)
    if args.engine == "ingot":
        command = [os.path.join(args.bin, "ingot-conformance")]
        if not os.path.exists(command[0]):
            sys.exit(f"run.py: {command[0]} is not there: build first (make build)")
        command += [f"--target={args.target}", f"--threads={args.threads}"]
        command += ["--kernels=native"] if args.kernels == "native" else []
    else:
        command = [sys.executable, os.path.join(HERE, "ort_worker.py"),
                   "ingot.onnxruntime" if args.engine == "python" else "onnxruntime"]

    def show(done, name, outcome):
        if args.verbose and outcome.kind != "pass":
            print(f"{outcome.kind:13} {name}: {outcome.detail}", flush=True)
        elif sys.stderr.isatty():
            print(f"\r\033[K{done}/{len(folders)} {name}", end="", file=sys.stderr, flush=True)

    results = run_all(folders, command, args.jobs, show, run_open if args.open else run_case)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)

    if args.update:
        known = read_expected(args.expected)
        merged = {n: results.get(n) or Outcome(known.get(n, SKIPPED)) for n in all_folders}
        write_expected(args.expected, merged)
    # Tests of a list must pass; otherwise the expectations decide.
    expected = dict.fromkeys(folders, "pass") if args.list else read_expected(args.expected)
    surprises = []
    if args.engine != "onnxruntime":
        surprises = [(n, expected.get(n, "nothing known"), o) for n, o in results.items() if o.kind != expected.get(n)]
    for name, wanted, outcome in surprises:
        print(f"{name}: {outcome.kind}, expected {wanted}{': ' if outcome.detail else ''}{outcome.detail}")
    placed = {n: (all_folders[n], o) for n, o in results.items()}
    if args.report:
        with open(args.report, "w") as f:
            f.write(report.markdown(placed, read_results_of(args.open_results) if args.open_results else {}))
    if args.readme:
        report.update_readme(args.readme, placed)
    if args.json:
        with open(args.json, "w") as f:
            wrong = {n: f"{o.kind}, expected {w}: {o.detail}" for n, w, o in surprises}
            json.dump({"tests": [{"name": n, "status": "failed" if n in wrong else
                                  "passed" if o.kind == "pass" else "skipped",
                                  "kind": o.kind, "form": o.form, "detail": wrong.get(n, o.detail)} for n, o in results.items()]}, f)
    for name, outcome in sorted(results.items(), key=lambda item: -item[1].seconds)[:args.durations]:
        print(f"{outcome.seconds:7.2f} s {name}")
    count = collections.Counter(o.kind for o in results.values())
    print(", ".join(f"{kind} {n}" for kind, n in sorted(count.items())) + f"   ({time.monotonic() - start:.0f} s)")
    if surprises:
        print(f"{len(surprises)} not as expected (run.py --update accepts them)")
    status = collections.Counter(o.status for o in results.values())
    print(f"{status['passed']} passed, {status['failed']} failed, {status['skipped']} skipped")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
