#!/usr/bin/env python3
"""Measures time and memory of quantizing: `ingot calibrate`, `compile --precision=auto` and `compare`, beside the tools of
ONNX Runtime and of OpenVINO (NNCF).

usage: quantize_bench.py MODELS [NAME ...] [--samples N] [--rounds N] [--bin DIR] [--output FILE]

MODELS is a folder of .onnx files, as `make models` writes it. Each command is a process of its own. In each round all
commands of a model run in turns, and the best round counts. The unit of time is a plain inference of all samples with the
model in fp32, so that numbers are ratios. Samples are random arrays of the model's inputs; open sizes are those of models.py.
A tool whose package is missing has no numbers.
"""
import argparse
import glob
import importlib.util
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx

import measure as measuring
from models import SHAPES

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PEERS = {"onnxruntime": "onnxruntime", "openvino": "nncf"}
# Bounds of the default calibration: times the inference of the samples, plus seconds; and MB beyond the inference.
TIMES, SECONDS, MEGABYTES = 3, 20, 100
DRAW = {onnx.TensorProto.FLOAT: lambda rng, shape: rng.standard_normal(shape).astype(np.float32),
        onnx.TensorProto.INT64: lambda rng, shape: rng.integers(0, 2, shape)}


def write_samples(model, path, count):
    """Writes random samples. Returns the --shape options that they need, or None if an input has another type."""
    name = os.path.basename(model).removesuffix(".onnx")
    rng, arrays, options = np.random.default_rng(0), {}, []
    graph = onnx.load(model, load_external_data=False).graph
    weights = {one.name for one in graph.initializer}
    for value in graph.input:
        if value.name in weights:
            continue
        tensor = value.type.tensor_type
        if tensor.elem_type not in DRAW:
            return None
        sizes = SHAPES.get(name, (1,) * len(tensor.shape.dim))
        shape = [dim.dim_value if dim.dim_value > 0 else size for dim, size in zip(tensor.shape.dim, sizes)]
        arrays[value.name] = DRAW[tensor.elem_type](rng, [count * shape[0], *shape[1:]])
        if any(dim.dim_value < 1 for dim in tensor.shape.dim):
            options.append(f"--shape={value.name}=" + "x".join(map(str, shape)))
    np.savez(path, **arrays)
    return options


# Linux counts the memory of the process that forks as its child's, and this script is large. A small process starts the
# command, therefore, and prints its exit code, seconds and KiB.
RUN = """
import resource, subprocess, sys, time
started = time.monotonic()
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(code, time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def measure(command):
    """Runs a command. Returns its seconds and the most megabytes of it or one of its children."""
    done = subprocess.run([sys.executable, "-SEc", RUN, *command], capture_output=True, text=True, check=True)
    code, seconds, kilobytes = done.stdout.split()
    if code != "0":
        raise RuntimeError((done.stderr.strip().splitlines() or [f"exit code {code}"])[-1])
    return float(seconds), int(kilobytes) * 1024 / 1e6


class Model:
    """A model, its samples and the commands to measure."""

    def __init__(self, args, path, folder):
        self.name = os.path.basename(path).removesuffix(".onnx")
        self.ingot = os.path.join(args.bin, "ingot")
        at = lambda name: os.path.join(folder, name)
        samples, ranges, floats = at("samples.npz"), at("ranges.json"), at("fp32.so")
        self.sizes = write_samples(path, samples, args.samples)
        if self.sizes is None:
            raise RuntimeError("has inputs of other types")
        build = [self.ingot, "compile", path, *self.sizes, "--header=false", "--quiet"]
        self.compile_memory = measure([*build, "-o", floats])[1]
        self.commands = {
            "compare": [self.ingot, "compare", floats, path, *self.sizes, "--data", samples],
            "calibrate": [self.ingot, "calibrate", path, *self.sizes, "--data", samples, "-o", ranges],
            "without repairs": [self.ingot, "calibrate", path, *self.sizes, "--data", samples, "--repair=none", "-o", ranges],
            "auto": [*build, "--precision=auto", "--max-drop=5%", "--eval", samples, "-o", at("auto.so")],
        }
        for peer, package in PEERS.items():
            if importlib.util.find_spec(package):
                self.commands[peer] = [sys.executable, os.path.join(ROOT, "scripts", "quantize_models.py"), path, samples,
                                       peer, at(peer + (".xml" if peer == "openvino" else ".onnx"))]
        self.inference = [self.ingot, "bench", floats, *self.sizes, "--duration", "0", "--warm-up", "0", "--iterations", str(args.samples),
                          "--threads", str(os.cpu_count())]

    def run(self, rounds):
        """Returns {command: (seconds, megabytes)} of the best round, and errors as text."""
        best = {}
        for _ in range(rounds):
            for name, command in [("inference", self.inference), *self.commands.items()]:
                if isinstance(best.get(name), str):
                    continue
                try:
                    taken = measure(command)
                except RuntimeError as error:
                    best[name] = str(error)
                    continue
                had = best.get(name, taken)
                best[name] = (min(had[0], taken[0]), min(had[1], taken[1]))
        if isinstance(best["inference"], tuple):
            seconds, megabytes = best["inference"]
            best["inference"] = (seconds, max(megabytes, self.compile_memory))
        return best


def cell(best, name):
    found = best.get(name)
    if not isinstance(found, tuple):
        return "–"
    return f"{found[0] / best['inference'][0]:.1f} × ({found[1]:.0f} MB)"


def holds(best):
    """Returns "yes" if the default calibration is within its bounds."""
    if not all(isinstance(best.get(name), tuple) for name in ("inference", "calibrate")):
        return "–"
    seconds, megabytes = best["calibrate"]
    wanted = TIMES * best["inference"][0] + SECONDS, best["inference"][1] + MEGABYTES
    return "yes" if seconds <= wanted[0] and megabytes <= wanted[1] else "no"


def page(rows, args):
    columns = ["calibrate", "without repairs", "auto", "compare", *PEERS]
    text = ["# Times and memory of quantizing", "", "<!-- Written by `make quantize-bench`; do not edit. -->", "",
            f"{measuring.cpu_name()}, {os.cpu_count()} CPUs. Each number is the time of a command as a multiple of a plain inference of its {args.samples} samples in fp32, with",
            "the largest memory of a process. The memory of an inference includes the compilation. Commands run in turns on an",
            f"otherwise idle machine{', once' if args.rounds == 1 else f'; the best of {args.rounds} rounds counts'}.", "`calibrate` is the default, `auto` is `compile --precision=auto`. The last columns are "
            "ONNX Runtime's `quantize_static`", "and NNCF's `quantize`, which measure no error.", "",
            f"Bound: `calibrate` takes at most {TIMES} × the inference plus {SECONDS} s, and {MEGABYTES} MB more memory.", "",
            "| model | inference | " + " | ".join(columns) + " | within the bound |", "|" + "---|" * (len(columns) + 3)]
    for name, best in rows:
        inference = best["inference"]
        shown = f"{inference[0]:.1f} s ({inference[1]:.0f} MB)" if isinstance(inference, tuple) else "–"
        text.append(f"| {name} | {shown} | " + " | ".join(cell(best, column) for column in columns) + f" | {holds(best)} |")
    return "\n".join([*text, ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--output")
    args = parser.parse_args()
    rows = []
    for path in sorted(glob.glob(os.path.join(args.models, "*.onnx"))):
        name = os.path.basename(path).removesuffix(".onnx")
        if args.names and name not in args.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                best = Model(args, path, folder).run(args.rounds)
            except RuntimeError as error:
                print(f"quantize_bench: {name}: {error}", file=sys.stderr)
                continue
        for command, found in best.items():
            if isinstance(found, str):
                print(f"quantize_bench: {name}, {command}: {found}", file=sys.stderr)
        rows.append((name, best))
        print(page(rows[-1:], args).splitlines()[-1], flush=True)
    if not rows:
        raise SystemExit(f"quantize_bench: no models in '{args.models}'")
    if args.output:
        with open(args.output, "w", encoding="utf-8") as file:
            file.write(page(rows, args))


if __name__ == "__main__":
    main()
