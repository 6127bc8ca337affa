#!/usr/bin/env python3
"""Runs the end-to-end tests: models through `ingot compile` and `ingot run`, held against ONNX Runtime.

usage: run.py [--bin DIR] [--jobs N] [--subset all|sanitize] [--json FILE] [--durations N] [PATTERN ...]

Tests are unittest classes in test_*.py. Each class runs in a separate process, so a crash ends only that class. PATTERN
is a part of module.Class or of a test's name. The last line is `N passed, N failed, N skipped`.
"""
import argparse
import glob
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "test", "models")]

import served  # noqa: E402 -- beside this file

CLASS_MINUTES = 15


class Result(unittest.TestResult):
    """Collects one entry per test, including subtests."""

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
    """Returns the CPU time of this process and of the processes that it has waited for."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(r.ru_utime + r.ru_stime for r in both) + served.seconds


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


def run_class(name, patterns, scratch):
    """Runs one class in the child, in a folder for its files, and writes its results there."""
    os.environ["TMPDIR"] = tempfile.tempdir = scratch
    signal.alarm(CLASS_MINUTES * 60)
    log = os.open(os.path.join(scratch, "log"), os.O_CREAT | os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(log, stream)
    result = Result()
    unittest.TestSuite(matching_tests(dict(test_classes(name.split(".")[0]))[name], patterns)).run(result)
    with open(os.path.join(scratch, "result.json"), "w") as f:
        json.dump({"tests": result.tests, "seconds": result.seconds}, f)


def results(name, status, scratch):
    """Returns a child's results in the parent; a crash becomes a failed test."""
    path = os.path.join(scratch, "result.json")
    if os.path.exists(path):
        with open(path) as f:
            return json.load(f)
    code = os.waitstatus_to_exitcode(status)
    ending = f"no end after {CLASS_MINUTES} minutes" if code == -signal.SIGALRM else f"exit code {code}"
    with open(os.path.join(scratch, "log"), errors="replace") as log:
        return {"tests": [{"name": name, "status": "failed", "detail": f"{log.read()}\n{ending}"}], "seconds": {}}


def run_classes(chosen, args, folder):
    """Runs each class in a forked child, which already has all modules. Returns {class: results}."""
    assert len(os.listdir("/proc/self/task")) == 1, "a child would find locks closed that other threads hold"
    waiting, running, found = list(enumerate(chosen)), {}, {}
    while waiting or running:
        if waiting and len(running) < args.jobs:
            number, name = waiting.pop(0)
            scratch = os.path.join(folder, str(number))
            os.mkdir(scratch)
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    run_class(name, args.patterns, scratch)
                    code = 0
                except BaseException:
                    traceback.print_exc()
                finally:
                    sys.stdout.flush()
                    os._exit(code)
            running[child] = name, scratch
            continue
        child, status = os.wait()
        if child in running:
            name, scratch = running.pop(child)
            found[name] = results(name, status, scratch)
            shutil.rmtree(scratch, ignore_errors=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog="example: run.py numerics resnet")
    parser.add_argument("patterns", nargs="*", help="run only tests whose module.Class.name contains one of these")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="where the tools are")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="classes at a time")
    parser.add_argument("--subset", choices=["all", "sanitize"], default="all", help="sanitize: what is worth running"
                        " on a sanitized build")
    parser.add_argument("--json", help="write one entry a test there")
    parser.add_argument("--durations", type=int, default=0, help="show the N tests that took most processor time")
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    os.environ["INGOT_BIN"] = args.bin
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    chosen = [name for name, value in test_classes()
              if (args.subset == "all" or getattr(value, "sanitize", False)) and matching_tests(value, args.patterns)]
    with tempfile.TemporaryDirectory(prefix="ingot-e2e-") as folder, \
            served.Server(os.path.join(args.bin, "ingot-serve"), folder) as server:
        os.environ["INGOT_SERVER"] = server.path
        found = run_classes(chosen, args, folder)
    tests = [test for name in chosen for test in found[name]["tests"]]
    seconds = {test: time for name in chosen for test, time in found[name]["seconds"].items()}
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
