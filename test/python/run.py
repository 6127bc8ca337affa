#!/usr/bin/env python3
"""Installs the wheels of the Python packages into a new environment, and runs their tests there.

usage: run.py [--build DIR] [--json FILE] [--python PROGRAM] [--jobs N] [--part NAME[,NAME...]] [--long]
              [--also FILE] [PATTERN ...]

`make wheel` must have built the wheels. The parts:
  tests        each test_*.py in a process of its own, so that a crash ends only its tests
  types        mypy --strict, stubtest and pyright on the packages
  conformance  ONNX's backend tests through ingot.onnxruntime: each 15th, with --long all
  sequences    random sequences of loads, runs, failures, threads and forks: 2,000, with --long 100,000, and as many under
               AddressSanitizer and UndefinedBehaviorSanitizer
  wheels       a second build of the wheels, which must give the same bytes
The last line is `N passed, N failed, N skipped`.
"""
import argparse
import calendar
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
REQUIREMENTS = os.path.join(ROOT, "scripts", "requirements-python.txt")
# Packages of scripts/requirements-python.txt that only building needs.
BUILDING = ("abi3audit", "auditwheel", "deflate", "nanobind==", "pyright", "scikit-build-core", "wheel")
EVERY = 15
SEQUENCES = 2000, 100_000
PACKAGES = "ingot", "ingot_compiler"


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


class Environment:
    """A new environment with the wheels, and the folder that it is in."""

    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.wheels = glob.glob(os.path.join(args.build, "wheels", "*.whl"))
        if len(self.wheels) != 2:
            sys.exit(f"run.py: no wheels in {args.build}/wheels; run `make wheel`")
        self.builder = os.path.join(args.build, "python-venv", "bin", "python")
        venv = os.path.join(folder, "venv")
        subprocess.run([args.python, "-m", "venv", venv], check=True)
        self.python = os.path.join(venv, "bin", "python")
        site, = glob.glob(os.path.join(venv, "lib", "python*", "site-packages"))
        with open(os.path.join(site, "dependencies.pth"), "w") as file:
            file.write(self.dependencies() + "\n")
        subprocess.run([self.python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *self.wheels],
                       check=True)
        self.variables = {**os.environ, "INGOT_BUILT": os.path.join(args.build, "bin", "ingot")}
        self.variables.pop("INGOT_COMPILER", None)

    def dependencies(self):
        """Returns the folder of the packages that tests need. It is filled once for each list of packages."""
        pins = []
        for path in [REQUIREMENTS, *self.args.also]:
            with open(path) as file:
                pins += [line.strip() for line in file if line[0] not in "#\n" and not line.startswith(BUILDING)]
        version = subprocess.run([self.args.python, "--version"], capture_output=True, text=True, check=True).stdout
        key = hashlib.sha256("\n".join([version, *pins]).encode()).hexdigest()[:12]
        target = os.path.join(self.args.build, "python-dependencies", key)
        if not os.path.exists(target):
            shutil.rmtree(target + ".new", ignore_errors=True)
            pip = [self.python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target"]
            subprocess.run([*pip, target + ".new", *pins], check=True)
            os.rename(target + ".new", target)
        return target

    def call(self, name, *command, errors=subprocess.STDOUT, **variables):
        """Runs a command as a test, outside of the source tree. `errors` None shows its standard error at once."""
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=self.folder,
                              env={**self.variables, **variables})
        return {"name": name, "status": "failed" if done.returncode else "passed", "detail": done.stdout}

    def collect(self, done, output):
        """Returns the tests that a command left in a file, or the command as a failed test."""
        if not os.path.exists(output):
            return [{**done, "status": "failed"}]
        with open(output) as file:
            tests = json.load(file)
        os.unlink(output)
        return tests


def run_tests(env):
    tests, output = [], os.path.join(env.folder, "result.json")
    for path in sorted(glob.glob(os.path.join(HERE, "test_*.py"))):
        module = os.path.basename(path)[:-3]
        done = env.call(module, env.python, "-W", "ignore::ingot_compiler.CompilerWarning", os.path.abspath(__file__),
                        "--module", module, output, *env.args.patterns)
        tests += env.collect(done, output)
    return tests


def check_types(env):
    packages = [word for name in PACKAGES for word in ("-p", name)]
    site = os.path.dirname(glob.glob(os.path.join(env.folder, "venv/lib/python*/site-packages/ingot"))[0])
    return [env.call("types.mypy", env.python, "-m", "mypy", "--strict", "--cache-dir", env.folder, *packages),
            env.call("types.stubtest", env.python, "-m", "mypy.stubtest", *PACKAGES, "--allowlist",
                     os.path.join(HERE, "stubtest-allowed.txt")),
            env.call("types.pyright", env.builder, "-m", "pyright", "--pythonpath", env.python,
                     *(os.path.join(site, name) for name in PACKAGES))]


def run_conformance(env):
    output = os.path.join(env.folder, "conformance.json")
    done = env.call("conformance", env.python, os.path.join(ROOT, "test", "conformance", "run.py"), "--engine", "python",
                    "--work", os.path.join(env.args.build, "conformance"), "--jobs", str(env.args.jobs), "--every",
                    "1" if env.args.long else str(EVERY), "--json", output,
                    INGOT_CACHE=os.path.join(env.folder, "conformance-cache"))
    tests = env.collect(done, output)
    return [{**test, "name": "conformance." + test["name"]} for test in tests["tests"]] if tests != [done] else tests


def run_sequences(env):
    script = os.path.join(HERE, "sequences.py")
    if not env.args.long:
        return [env.call("sequences", env.python, script, "--count", str(SEQUENCES[0]))]
    import sanitized
    long = (env.python, script, "--count", str(SEQUENCES[1]))
    plain = env.call("sequences", *long, errors=None)
    print(plain["detail"], end="", flush=True)
    variables = sanitized.build(env.builder, str(env.args.jobs))
    # The allocator of the sanitizer keeps memory that was freed.
    test = env.call("sequences.sanitized", *long, "--growth", "32", "--slope", "inf", errors=None, **variables)
    print(test["detail"], end="")
    return [plain, test]


def check_repeated(env):
    """Builds the wheels again and compares their bytes."""
    output = os.path.join(env.folder, "again")
    with zipfile.ZipFile(env.wheels[0]) as wheel:
        date = calendar.timegm((*wheel.infolist()[0].date_time, 0, 0, 0))
    test = env.call("wheels.same_bytes", env.builder, os.path.join(ROOT, "scripts", "wheels.py"), "--build",
                    env.args.build, "--output", output, SOURCE_DATE_EPOCH=str(date))
    for path in env.wheels:
        again = os.path.join(output, os.path.basename(path))
        if test["status"] == "passed" and digest(path) != digest(again):
            test = {**test, "status": "failed", "detail": f"{os.path.basename(path)}: a second build has other bytes"}
    return [test]


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


PARTS = {"tests": run_tests, "types": check_types, "conformance": run_conformance, "sequences": run_sequences,
         "wheels": check_repeated}


def main():
    if sys.argv[1:2] == ["--module"]:
        run_module(sys.argv[2], sys.argv[4:], sys.argv[3])
        return 0
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("patterns", nargs="*", help="run only tests whose module.Class.name contains one of these")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="build tree (default: build)")
    parser.add_argument("--json", help="write one entry a test there")
    parser.add_argument("--python", default="/usr/bin/python3", help="interpreter of the new environment")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="conformance tests at a time")
    parser.add_argument("--part", help="parts to run, comma-separated (default: all; with a pattern: tests)")
    parser.add_argument("--also", action="append", default=[], metavar="FILE", help="list of more packages to install")
    parser.add_argument("--long", action="store_true", help="run all cases of conformance and sequences")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    chosen = args.part.split(",") if args.part else ["tests"] if args.patterns else list(PARTS)
    unknown = set(chosen) - set(PARTS)
    if unknown:
        parser.error(f"no part {', '.join(sorted(unknown))}; the parts are {', '.join(PARTS)}")
    tests = []
    with tempfile.TemporaryDirectory(prefix="ingot-python-") as folder:
        env = Environment(args, folder)
        for part in chosen:
            start = time.monotonic()
            made = PARTS[part](env)
            tests += made
            print(f"{part:12} {len(made):4} tests   ({time.monotonic() - start:.0f} s)", flush=True)
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
