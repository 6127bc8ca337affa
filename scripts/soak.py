#!/usr/bin/env python3
"""Runs many contexts of three models in many threads, and watches results, memory and descriptors.

usage: soak.py [--bin DIR] [--seconds N] [--jobs N] [--plain]

Compiles a convolutional network, a recurrent one and one of open size, and runs ingot-soak on them
(test/soak/Soak.cpp). Then builds the runtime under AddressSanitizer and under ThreadSanitizer; with each, runs its unit
tests and a third of the soak. --plain leaves the sanitizers out. Exit code: 0 if every result had the right bits,
nothing grew and no sanitizer complained, else 1."""
import argparse
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "test", "models"))
MODELS = ("resnet", "ocr_lstm", "mlp_dynamic")
# Some tests allocate more memory than the machine has, on purpose.
SANITIZERS = {"asan-runtime": {"ASAN_OPTIONS": "allocator_may_return_null=1"},
              "tsan": {"TSAN_OPTIONS": "allocator_may_return_null=1:halt_on_error=1:suppressions="
                                       + os.path.join(ROOT, "test", "soak", "tsan.supp")}}


def run(command, environment=None):
    """Runs a command that should succeed. Returns True if it did."""
    code = subprocess.run(command, cwd=ROOT, env={**os.environ, **(environment or {})}).returncode
    if code:
        print(f"soak.py: {' '.join(command)}: exit code {code}", file=sys.stderr)
    return code == 0


def sanitized(preset, artifacts, seconds, jobs):
    """Builds the runtime with a sanitizer; runs its tests and a soak."""
    tree = os.path.join(ROOT, "build-" + preset)
    if not os.path.exists(os.path.join(tree, "build.ninja")) and not run(["cmake", "--preset", preset]):
        return False
    tests = os.path.join(tree, "bin", "runtime-tests")
    return (run(["ninja", "-C", tree, "-j", jobs, "runtime-tests", "runtime-test-artifacts", "ingot-soak"])
            and run([tests, "--gtest_brief=1"], SANITIZERS[preset])
            and run([os.path.join(tree, "bin", "ingot-soak"), str(seconds), *artifacts], SANITIZERS[preset]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog="example: scripts/soak.py --seconds 30")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="where the tools are")
    parser.add_argument("--seconds", type=float, default=180, help="how long")
    parser.add_argument("--jobs", default=str(os.cpu_count()), help="compilations at a time")
    parser.add_argument("--plain", action="store_true", help="without the sanitizers")
    args = parser.parse_args()
    import families
    import onnx
    with tempfile.TemporaryDirectory(prefix="ingot-soak-") as folder:
        artifacts = []
        for name in MODELS:
            source = os.path.join(folder, name + ".onnx")
            onnx.save(families.ALL[name]()[0], source)
            artifacts.append(os.path.join(folder, name + ".so"))
            subprocess.run([os.path.join(args.bin, "ingot"), "compile", source, "-o", artifacts[-1]], check=True)
        if not run([os.path.join(args.bin, "ingot-soak"), str(args.seconds), *artifacts]):
            return 1
        for preset in () if args.plain else SANITIZERS:
            if not sanitized(preset, artifacts, args.seconds / 3, args.jobs):
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
