#!/usr/bin/env python3
"""Builds the wheels of the Python packages, and checks their tags and sizes.

usage: wheels.py [--build DIR] [--output DIR] [--python PROGRAM]

The build tree must have ingot-static and the runtime. PYTHON is an interpreter with scripts/requirements-python.txt, by
default the one that runs this script. The same sources give the same bytes: SOURCE_DATE_EPOCH is by default the date of
the last commit.
"""
import argparse
import copy
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

import deflate

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLATFORM = "manylinux_2_34_x86_64"
# The most bytes of each wheel.
LIMITS = {"ingot_runtime": 400_000, "ingot_compiler": 32_000_000}


class WheelError(Exception):
    """A wheel that is not as it must be."""


def run(*command, **kw):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **kw)
    if done.returncode:
        raise WheelError(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def source_date():
    """Returns the date of the last commit in seconds, or that of the first ZIP files."""
    done = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True)
    return done.stdout.strip() or "315619200"


def install_c_runtime(build):
    """Installs the runtime for programs in C, as the compiler's wheel has it."""
    prefix = os.path.join(build, "python", "c")
    shutil.rmtree(prefix, ignore_errors=True)
    run("cmake", "--install", build, "--component", "runtime", "--prefix", prefix)


def build_wheel(package, args, environment):
    """Builds a wheel and returns its path."""
    with tempfile.TemporaryDirectory() as folder:
        run(args.python, "-m", "pip", "wheel", os.path.join(ROOT, "python", package), "--no-build-isolation",
            "--no-deps", "--disable-pip-version-check", "-w", folder,
            f"--config-settings=build-dir={args.build}/python/{package}",
            f"--config-settings=cmake.define.INGOT_BUILD={args.build}",
            "--config-settings=cmake.define.CMAKE_CXX_COMPILER=/usr/bin/clang++-22",
            "--config-settings=cmake.define.CMAKE_MODULE_LINKER_FLAGS=-fuse-ld=lld", env=environment)
        built, = os.listdir(folder)
        run(args.python, "-m", "wheel", "tags", "--remove", "--platform-tag", PLATFORM, os.path.join(folder, built),
            env=environment)
        name, = os.listdir(folder)
        path = os.path.join(args.output, name)
        shutil.move(os.path.join(folder, name), path)
    compress(path)
    return path


class Whole:
    """A compressor for zipfile that compresses a file as a whole, with libdeflate's slowest level."""

    def __init__(self):
        self._parts = []

    def compress(self, data):
        self._parts.append(bytes(data))
        return b""

    def flush(self):
        return deflate.deflate_compress(b"".join(self._parts), 12)


def compress(path):
    """Compresses the files of a wheel anew, by some percent better than zlib does."""
    with zipfile.ZipFile(path) as wheel, zipfile.ZipFile(path + ".new", "w") as made:
        for entry in wheel.infolist():
            content = wheel.read(entry)
            with made.open(copy.copy(entry), "w") as file:
                file._compressor = Whole()
                file.write(content)
    with zipfile.ZipFile(path + ".new") as made:
        damaged = made.testzip()
    if damaged:
        raise WheelError(f"{path}: {damaged} is damaged")
    os.replace(path + ".new", path)


def check_wheel(path, args):
    """Raises WheelError if a wheel is too large, or not for the platforms that its name states."""
    name = os.path.basename(path)
    size, limit = os.path.getsize(path), LIMITS[name.partition("-")[0]]
    if size > limit:
        raise WheelError(f"{name} has {size} bytes, but at most {limit} are allowed")
    shown = run(args.python, "-m", "auditwheel", "show", path)
    if PLATFORM not in shown:
        raise WheelError(f"{name} is not for {PLATFORM}:\n{shown}")
    if "abi3" in name:
        run(args.python, "-m", "abi3audit", "--strict", path)
    with zipfile.ZipFile(path) as wheel:
        unpacked = sum(entry.file_size for entry in wheel.infolist())
    print(f"{name}: {size / 1e6:.2f} MB, {unpacked / 1e6:.2f} MB unpacked")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="build tree (default: build)")
    parser.add_argument("--output", help="folder of the wheels (default: wheels in the build tree)")
    parser.add_argument("--python", default=sys.executable, help="interpreter with the packages to build with")
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    args.output = os.path.abspath(args.output or os.path.join(args.build, "wheels"))
    shutil.rmtree(args.output, ignore_errors=True)
    os.makedirs(args.output)
    # With CI, scikit-build-core waits longer for the first answer of CMake, which a busy machine may need.
    environment = {**os.environ, "CI": "true", "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH") or source_date()}
    try:
        install_c_runtime(args.build)
        for package in ("runtime", "compiler"):
            check_wheel(build_wheel(package, args, environment), args)
    except WheelError as error:
        print(f"wheels.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
