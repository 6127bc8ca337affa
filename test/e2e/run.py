#!/usr/bin/env python3
"""Runs the end-to-end tests: models through `ingot compile` and `ingot run`, held against ONNX Runtime.

usage: run.py [--bin DIR] [--jobs N] [--subset all|sanitize] [--json FILE] [--durations N] [PATTERN ...]

Tests are unittest classes in test_*.py; each class runs in a process of its own, so a crash ends only that class.
PATTERN is a part of module.Class or of a test's name. Closes with `N passed, N failed, N skipped`.
"""
import argparse
import concurrent.futures
import glob
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "test", "models")]
CLASS_MINUTES = 15


class Result(unittest.TestResult):
    """Collects one entry a test, subtests included."""

    def __init__(self):
        super().__init__()
        self.tests, self.seconds = [], {}

    def startTest(self, test):
        super().startTest(test)
        self.seconds[test.id()] = -processor_seconds()

    def stopTest(self, test):
        super().stopTest(test)
        self.seconds[test.id()] += processor_seconds()

    def note(self, test, status, detail=""):
        self.tests.append({"name": test.id(), "status": status, "detail": detail})

    def addSuccess(self, test):
        if not any(t["name"].startswith(test.id() + " ") for t in self.tests):
            self.note(test, "passed")

    def addSubTest(self, test, subtest, err):
        self.note(subtest, "failed" if err else "passed", self._exc_info_to_string(err, test) if err else "")

    def addFailure(self, test, err):
        self.note(test, "failed", self._exc_info_to_string(err, test))

    addError = addFailure

    def addSkip(self, test, reason):
        self.note(test, "skipped", reason)


def processor_seconds():
    """Of this process and of those that it has waited for."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(r.ru_utime + r.ru_stime for r in both)


def test_classes(module_name="test_*"):
    for path in sorted(glob.glob(os.path.join(HERE, f"{module_name}.py"))):
        module = importlib.import_module(os.path.basename(path)[:-3])
        for name, value in sorted(vars(module).items()):
            if isinstance(value, type) and issubclass(value, unittest.TestCase) and value.__module__ == module.__name__:
                yield f"{module.__name__}.{name}", value


def flatten(suite):
    for test in suite:
        yield from flatten(test) if isinstance(test, unittest.TestSuite) else [test]


def matching_tests(found, patterns):
    return [t for t in flatten(unittest.defaultTestLoader.loadTestsFromTestCase(found))
            if not patterns or any(p in t.id() for p in patterns)]


def run_class(name, patterns, json_path):
    """In the child: runs one class and writes its results."""
    found = dict(test_classes(name.split(".")[0]))[name]
    result = Result()
    unittest.TestSuite(matching_tests(found, patterns)).run(result)
    with open(json_path, "w") as f:
        json.dump({"tests": result.tests, "seconds": result.seconds}, f)


def spawn(name, args):
    """In the parent: runs one class in a child; a crash becomes a failed test."""
    with tempfile.TemporaryDirectory(prefix="ingot-e2e-") as scratch:
        path = os.path.join(scratch, "result.json")
        command = [sys.executable, __file__, "--bin", args.bin, "--run-class", name, "--json", path, *args.patterns]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="replace", timeout=CLASS_MINUTES * 60,
                                  env={**os.environ, "TMPDIR": scratch})
            output = f"{done.stdout}\nexit code {done.returncode}"
        except subprocess.TimeoutExpired:
            output = f"no end after {CLASS_MINUTES} minutes"
        if not os.path.exists(path):
            return {"tests": [{"name": name, "status": "failed", "detail": output}], "seconds": {}}
        with open(path) as f:
            return json.load(f)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog="example: run.py numerics resnet")
    parser.add_argument("patterns", nargs="*", help="run only tests whose module.Class.name contains one of these")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="where the tools are")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="classes at a time")
    parser.add_argument("--subset", choices=["all", "sanitize"], default="all", help="sanitize: what is worth running"
                        " on a sanitized build")
    parser.add_argument("--json", help="write one entry a test there")
    parser.add_argument("--durations", type=int, default=0, help="show the N tests that took most processor time")
    parser.add_argument("--run-class", help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    os.environ["INGOT_BIN"] = args.bin
    if args.run_class:
        return run_class(args.run_class, args.patterns, args.json)

    chosen = [name for name, value in test_classes()
              if (args.subset == "all" or getattr(value, "sanitize", False)) and matching_tests(value, args.patterns)]
    tests, seconds = [], {}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for found in pool.map(lambda name: spawn(name, args), chosen):
            tests += found["tests"]
            seconds.update(found["seconds"])
    for test in tests:
        if test["status"] == "failed":
            print(f"FAILED {test['name']}\n{test['detail']}")
    for name in sorted(seconds, key=seconds.get, reverse=True)[:args.durations]:
        print(f"{seconds[name]:7.1f} s {name}")
    if args.json:
        with open(args.json, "w") as f:
            json.dump({"tests": tests}, f)
    count = {s: sum(t["status"] == s for t in tests) for s in ("passed", "failed", "skipped")}
    print(", ".join(f"{n} {s}" for s, n in count.items()))
    return 1 if count["failed"] or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
