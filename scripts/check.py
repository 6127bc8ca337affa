#!/usr/bin/env python3
"""Runs every test suite of Ingot and adds up the results.

usage: check.py [--build DIR] [--jobs N] [--only SUITE[,SUITE...]] [--sanitize] [--list]

Each suite runs in a process of its own and leaves a machine-readable result; a suite that crashes, times out or
leaves none counts as one failed test. Closes with a line `N passed, N failed, N skipped`.
Exit code: 0 if nothing failed, else 1.
"""
import argparse
import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


class SuiteError(Exception):
    """An error of the suite itself, not of a test."""


class Suite:
    """A command, and the reader of its result file."""

    def __init__(self, name, command, read, result, env=None, minutes=20, preset=None):
        self.name, self.command, self.read, self.result = name, command, read, result
        self.env, self.minutes = env or {}, minutes
        self.preset = preset  # the CMake preset that its tree is built with first; None: make has built it

    def run(self, log_path):
        if os.path.exists(self.result):
            os.remove(self.result)
        with open(log_path, "w") as log:
            process = subprocess.Popen(self.command, stdout=log, stderr=subprocess.STDOUT, cwd=ROOT,
                                       env={**os.environ, **self.env}, start_new_session=True)
            try:
                code = process.wait(timeout=self.minutes * 60)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                raise SuiteError(f"no end after {self.minutes} minutes") from None
        if not os.path.exists(self.result):
            raise SuiteError(f"exit code {code} and no result")
        tests = self.read(self.result)
        if not tests:
            raise SuiteError(f"exit code {code} and not a single test")
        if code and not any(status == FAILED for _, status, _ in tests):
            raise SuiteError(f"exit code {code} though no test failed")
        return tests


def read_junit(path):
    """Reads ctest's --output-junit, with one entry per GoogleTest."""
    tests = []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        skipped = case.find("skipped")
        status = {"run": PASSED, "disabled": SKIPPED}.get(case.get("status"), FAILED)
        # "notrun" means GTEST_SKIP, or a missing test program.
        if skipped is not None and skipped.get("message", "").startswith("SKIP_"):
            status = SKIPPED
        tests.append((case.get("name"), status, (case.findtext("system-out") or "").strip()))
    return tests


def read_lit(path):
    codes = {"PASS": PASSED, "FLAKYPASS": PASSED, "XFAIL": PASSED, "UNSUPPORTED": SKIPPED, "SKIPPED": SKIPPED,
             "EXCLUDED": SKIPPED}
    with open(path) as f:
        return [(t["name"], codes.get(t["code"], FAILED), t["output"].strip()) for t in json.load(f)["tests"]]


def read_json(path):
    """Reads the result file of this project's suites: {"tests": [{"name", "status", "detail"}]}."""
    with open(path) as f:
        return [(t["name"], t["status"], t.get("detail", "")) for t in json.load(f)["tests"]]


def suites(build, jobs):
    asan, asan_runtime = (os.path.join(ROOT, "build-" + preset) for preset in ("asan", "asan-runtime"))
    out = os.path.join(build, "check")
    os.makedirs(out, exist_ok=True)
    python = sys.executable

    def at(name):
        return os.path.join(out, name)

    def ctest(name, tree, **kw):
        return Suite(name, ["ctest", "--test-dir", tree, "-j", jobs, "--timeout", "300", "--output-junit",
                            at(name + ".xml"), "--output-on-failure"], read_junit, at(name + ".xml"), **kw)

    def lit(name, tree, *options, **kw):
        return Suite(name, ["lit", "-j", jobs, "-o", at(name + ".json"), *options, os.path.join(tree, "test")],
                     read_lit, at(name + ".json"), **kw)

    def own(name, script, *options, **kw):
        return Suite(name, [python, os.path.join(ROOT, script), "--json", at(name + ".json"), *options], read_json,
                     at(name + ".json"), **kw)

    # Looks for leaks only in the runtime: LLVM's registries live as long as the process. LLVM's libraries are not
    # instrumented, so they would not unpoison memory that LLVM's headers poison in our code.
    sanitizers = {"ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0:allow_user_poisoning=0",
                  "UBSAN_OPTIONS": "print_stacktrace=1"}
    runtime = {"UBSAN_OPTIONS": "print_stacktrace=1"}
    return [
        own("layers", "scripts/check-layers.py"),
        own("comments", "scripts/check-comments.py"),
        ctest("unit", build),
        own("e2e", "test/e2e/run.py", "--bin", os.path.join(build, "bin"), "--jobs", jobs, minutes=45),
        own("open-sizes", "test/sweeps/open_sizes.py", "--bin", os.path.join(build, "bin"), "--jobs", jobs,
            "--list", os.path.join(ROOT, "test/sweeps/fast.txt")),
        own("open-in-part", "test/sweeps/open_sizes.py", "--bin", os.path.join(build, "bin"), "--jobs", jobs,
            "--subsets", "--list", os.path.join(ROOT, "test/sweeps/fast-subsets.txt")),
        own("constants", "test/sweeps/constants.py", "--bin", os.path.join(build, "bin"), "--jobs", jobs,
            "--phase", "linalg", "--every", "9"),
        own("huge-sizes", "test/sweeps/huge_sizes.py", "--bin", os.path.join(build, "bin"), "--every", "23"),
        own("callgrind", "test/bench/callgrind.py", "--fast", "--bin", os.path.join(build, "bin"), "--jobs", jobs),
        own("cliffs", "test/bench/cliffs.py", "--bin", os.path.join(build, "bin"), "--jobs", jobs),
        lit("lit", build),
        lit("round-trip", build, "--param", "roundtrip=1", "--filter", "dialects/|passes/"),
        own("attributes", "test/sweeps/attributes.py", "--bin", os.path.join(build, "bin"), "--jobs", jobs,
            "--every", "4"),
        own("conformance", "test/conformance/run.py", "--bin", os.path.join(build, "bin"), "--jobs", jobs),
        own("conformance-open", "test/conformance/run.py", "--bin", os.path.join(build, "bin"), "--jobs", jobs,
            "--open", "--list", os.path.join(ROOT, "test/conformance/fast-open.txt")),
        own("onednn", "test/conformance/run.py", "--bin", os.path.join(build, "bin"), "--jobs", jobs, "--kernels",
            "onednn", "--list", os.path.join(ROOT, "test/conformance/fast.txt")),
        own("random", "test/random/run.py", "--bin", os.path.join(build, "bin"), "--jobs", jobs),
        own("python", "test/python/run.py", "--build", build, "--jobs", jobs),
        own("conformance-gpu", "test/conformance/run.py", "--bin", os.path.join(build, "bin"), "--jobs", jobs, "--gpu",
            "--every", "4", "node/*"),
        ctest("asan-runtime", asan_runtime, env=runtime, preset="asan-runtime"),
        ctest("asan-unit", asan, env=sanitizers, preset="asan"),
        lit("asan-lit", asan, env=sanitizers, minutes=30, preset="asan"),
        own("asan-e2e", "test/e2e/run.py", "--bin", os.path.join(asan, "bin"), "--jobs", jobs, "--subset",
            "sanitize", env=sanitizers, minutes=30, preset="asan"),
        own("asan-conformance", "test/conformance/run.py", "--bin", os.path.join(asan, "bin"), "--jobs", jobs,
            env=sanitizers, minutes=60, preset="asan"),
    ]


def build_preset(preset, jobs):
    """Builds the tree of a CMake preset; returns what went wrong."""
    tree = os.path.join(ROOT, "build-" + preset)
    log_path = os.path.join(ROOT, "build", "check", preset + "-build.log")
    with open(log_path, "w") as log:
        steps = [] if os.path.exists(os.path.join(tree, "build.ninja")) else [["cmake", "--preset", preset]]
        for step in steps + [["ninja", "-C", tree, "-j", jobs]]:
            if subprocess.run(step, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT).returncode:
                return f"{' '.join(step)}: failed, see {os.path.relpath(log_path, ROOT)}"
    return ""


def tail(text, lines=25):
    rows = text.splitlines()
    return "\n".join(["    ..."] * (len(rows) > lines) + ["    " + r for r in rows[-lines:]])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0],
                                     epilog="example: scripts/check.py --only lit,e2e")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="build tree (default: build)")
    parser.add_argument("--jobs", default=str(os.cpu_count()), help="tests at a time")
    parser.add_argument("--only", default="", help="suites to run, comma-separated")
    parser.add_argument("--sanitize", action="store_true", help="build with ASan and UBSan too and run its suites")
    parser.add_argument("--list", action="store_true", help="print the suites' names")
    args = parser.parse_args()

    chosen = [s for s in suites(args.build, args.jobs) if args.sanitize or args.only or s.preset != "asan"]
    if args.list:
        print("\n".join(s.name for s in chosen))
        return 0
    if args.only:
        names = args.only.split(",")
        unknown = set(names) - {s.name for s in chosen}
        if unknown:
            parser.error(f"no suite {', '.join(sorted(unknown))}; --list shows them")
        chosen = [s for s in chosen if s.name in names]

    total = {PASSED: 0, FAILED: 0, SKIPPED: 0}
    failures = []
    built = {None: ""}  # what went wrong, by preset
    for suite in chosen:
        start = time.monotonic()
        log_path = os.path.join(args.build, "check", suite.name + ".log")
        try:
            if suite.preset not in built:
                built[suite.preset] = build_preset(suite.preset, args.jobs)
            if built[suite.preset]:
                raise SuiteError(built[suite.preset])
            tests = suite.run(log_path)
        except (SuiteError, OSError, ValueError, KeyError, ElementTree.ParseError) as error:
            output = ""
            if os.path.exists(log_path):
                with open(log_path, errors="replace") as f:
                    output = f.read()
            tests = [("the suite itself", FAILED, f"{output}\n{error}")]
        count = {s: sum(t[1] == s for t in tests) for s in total}
        for status in total:
            total[status] += count[status]
        failures += [(suite.name, name, detail) for name, status, detail in tests if status == FAILED]
        print(f"{suite.name:12} {count[PASSED]:5} passed, {count[FAILED]} failed, {count[SKIPPED]} skipped"
              f"   ({time.monotonic() - start:.0f} s)", flush=True)
    for suite, name, detail in failures:
        print(f"\nFAILED {suite}: {name}\n{tail(detail)}")
    if failures:
        print()
    print(f"{total[PASSED]} passed, {total[FAILED]} failed, {total[SKIPPED]} skipped")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
