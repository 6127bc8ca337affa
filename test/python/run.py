#!/usr/bin/env python3
"""Installs the wheels of the Python packages into a new environment, and runs their tests there.

usage: run.py [--build DIR] [--json FILE] [--python PROGRAM] [PATTERN ...]

`make wheel` must have built the wheels. Each test_*.py runs in a process of its own, so a crash ends only its tests.
mypy --strict checks the packages and counts as a test, and so does a second build of the wheels, which must give the same
bytes. The last line is `N passed, N failed, N skipped`.
"""
import argparse
import calendar
import glob
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
REQUIREMENTS = os.path.join(ROOT, "scripts", "requirements-python.txt")
# Packages of scripts/requirements-python.txt that only building needs.
BUILDING = ("abi3audit", "auditwheel", "nanobind==", "scikit-build-core", "wheel")


class Result(unittest.TextTestResult):
    """Collects one entry per test."""

    def __init__(self, *args, **kw):
        super().__init__(*args, **kw)
        self.tests = []

    def note(self, test, status, detail=""):
        self.tests.append({"name": test.id(), "status": status, "detail": detail})

    def addSuccess(self, test):
        super().addSuccess(test)
        if not any(t["name"].startswith(test.id() + " ") for t in self.tests):
            self.note(test, "passed")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.note(subtest, "failed", self._exc_info_to_string(err, test))

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, "failed", self._exc_info_to_string(err, test))

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, "failed", self._exc_info_to_string(err, test))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "skipped", reason)


def run_module(module, patterns, output):
    """Runs the tests of a module in this process, which is one of the new environment."""
    sys.path.insert(0, HERE)
    loaded = unittest.defaultTestLoader.loadTestsFromName(module)
    chosen = unittest.TestSuite(t for t in flatten(loaded) if not patterns or any(p in t.id() for p in patterns))
    result = unittest.TextTestRunner(resultclass=Result, verbosity=0).run(chosen)
    with open(output, "w") as file:
        json.dump(result.tests, file)


def flatten(suite):
    for test in suite:
        yield from flatten(test) if isinstance(test, unittest.TestSuite) else [test]


def call(name, command, **kw):
    """Runs a command as a test."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **kw)
    return {"name": name, "status": "failed" if done.returncode else "passed", "detail": done.stdout}


def install(args, folder):
    """Makes an environment with the wheels. Returns its interpreter."""
    wheels = glob.glob(os.path.join(args.build, "wheels", "*.whl"))
    if len(wheels) != 2:
        sys.exit(f"run.py: no wheels in {args.build}/wheels; run `make wheel`")
    subprocess.run([args.python, "-m", "venv", folder], check=True)
    python = os.path.join(folder, "bin", "python")
    with open(REQUIREMENTS) as file:
        pins = [line.strip() for line in file if line[0] not in "#\n" and not line.startswith(BUILDING)]
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *wheels, *pins], check=True)
    return python


def check_repeated(args, folder):
    """Builds the wheels again and compares their bytes."""
    builder = os.path.join(args.build, "python-venv", "bin", "python")
    output = os.path.join(folder, "again")
    with zipfile.ZipFile(glob.glob(os.path.join(args.build, "wheels", "*.whl"))[0]) as wheel:
        date = calendar.timegm((*wheel.infolist()[0].date_time, 0, 0, 0))
    test = call("wheels.same_bytes", [builder, os.path.join(ROOT, "scripts", "wheels.py"), "--build", args.build,
                                      "--output", output], env={**os.environ, "SOURCE_DATE_EPOCH": str(date)})
    for path in glob.glob(os.path.join(args.build, "wheels", "*.whl")):
        again = os.path.join(output, os.path.basename(path))
        if test["status"] == "passed" and digest(path) != digest(again):
            test = {**test, "status": "failed", "detail": f"{os.path.basename(path)}: a second build has other bytes"}
    return test


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def main():
    if sys.argv[1:2] == ["--module"]:
        run_module(sys.argv[2], sys.argv[4:], sys.argv[3])
        return 0
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("patterns", nargs="*", help="run only tests whose module.Class.name contains one of these")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="build tree (default: build)")
    parser.add_argument("--json", help="write one entry a test there")
    parser.add_argument("--python", default="/usr/bin/python3", help="interpreter of the new environment")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    tests = []
    with tempfile.TemporaryDirectory(prefix="ingot-python-") as folder:
        python = install(args, os.path.join(folder, "venv"))
        environment = {**os.environ, "INGOT_BUILT": os.path.join(args.build, "bin", "ingot")}
        environment.pop("INGOT_COMPILER", None)
        for path in sorted(glob.glob(os.path.join(HERE, "test_*.py"))):
            module, output = os.path.basename(path)[:-3], os.path.join(folder, "result.json")
            done = call(module, [python, "-W", "ignore::ingot_compiler.CompilerWarning", os.path.abspath(__file__),
                                 "--module", module, output, *args.patterns], env=environment, cwd=folder)
            if os.path.exists(output):
                with open(output) as file:
                    tests += json.load(file)
                os.unlink(output)
            else:
                tests.append({**done, "status": "failed"})
        if not args.patterns:
            tests.append(call("types.mypy", [python, "-m", "mypy", "--strict", "--cache-dir", folder, "-p", "ingot", "-p",
                                             "ingot_compiler"], cwd=folder))
            tests.append(check_repeated(args, folder))
    for test in tests:
        if test["status"] == "failed":
            print(f"FAILED {test['name']}\n{test['detail']}")
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"tests": tests}, file)
    count = {s: sum(t["status"] == s for t in tests) for s in ("passed", "failed", "skipped")}
    print(", ".join(f"{n} {s}" for s, n in count.items()))
    return 1 if count["failed"] or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
