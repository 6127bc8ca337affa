#!/usr/bin/env python3
"""Records size, hash, results and compile time of the ten models' artifacts, and compares two such records.

usage: record_artifacts.py record OUT.json --models DIR [--bin DIR] [--only TEXT]
       record_artifacts.py compare OLD.json NEW.json

Shows that a change of the compiler's structure changes no code. Each model is compiled in each precision for each
target. The hash leaves out the compiler's commit. Calibrations are made once, beside OUT.json, and used again.
A record that exists is continued: artifacts that it holds are not compiled again.
Exit code of compare: 0 if all results are equal and sizes within 1 %, else 1.
"""
import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from models import NAMES, SHAPES  # noqa: E402

PRECISIONS = ["fp32", "bf16", "fp16", "int8", "int8-dynamic", "w4"]
TARGETS = ["x86-64-v3", "x86-64-v4", "multi"]
MOST_GROWTH = 1.01  # Of an artifact's bytes.


class RecordError(Exception):
    """A step failed. The message is one line that names the step and the cause."""


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise RecordError(f"{' '.join(command)}: {lines[-1]}")
    return done.stdout


def cpu_seconds(command):
    """Runs a command; returns the CPU time of it and its children, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def shape_options(name):
    return [f"--shape={key}={'x'.join(map(str, SHAPES[name]))}" for key in ["x"] if name in SHAPES]


def calibrate(ingot, model, name, folder):
    """Returns the calibration of a model by one random sample."""
    import numpy as np
    import onnx
    path = os.path.join(folder, name + ".calib.json")
    if os.path.exists(path):
        return path
    samples, rng = {}, np.random.default_rng(0)
    graph = onnx.load(model, load_external_data=False).graph
    constants = {tensor.name for tensor in graph.initializer}
    for value in graph.input:
        if value.name in constants:
            continue
        kind = value.type.tensor_type
        shape = SHAPES.get(name) or [d.dim_value or 1 for d in kind.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
        samples[value.name] = rng.standard_normal(shape).astype(dtype)
    with tempfile.TemporaryDirectory() as scratch:
        data = os.path.join(scratch, "samples.npz")
        np.savez(data, **samples)
        run([ingot, "calibrate", model, "--data", data, "-o", path, "--repair", "none", *shape_options(name)])
    return path


def hash_of(path, commit):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read().replace(commit.encode(), b"")).hexdigest()


def record_one(ingot, model, name, precision, target, folder):
    options = [f"--target={target}", "--weights=embed", "--quiet", *shape_options(name)]
    if precision != "fp32":
        options.append(f"--precision={precision}")
    if precision == "int8":
        options.append("--calibration=" + calibrate(ingot, model, name, folder))
    with tempfile.TemporaryDirectory() as scratch:
        library, outputs = os.path.join(scratch, "model.so"), os.path.join(scratch, "outputs")
        seconds = cpu_seconds([ingot, "compile", model, "-o", library, *options])
        found = json.loads(run([ingot, "inspect", "--json", library]))
        os.mkdir(outputs)
        run([ingot, "run", library, "--input=random:1", "--output-dir", outputs])
        results = hashlib.sha256()
        for file in sorted(os.listdir(outputs)):
            with open(os.path.join(outputs, file), "rb") as stream:
                results.update(file.encode() + stream.read())
        return {"bytes": os.path.getsize(library), "sha256": hash_of(library, found["metadata"]["ingot.commit"]),
                "results": results.hexdigest(), "seconds": round(seconds, 3)}


def record(args):
    ingot = os.path.join(args.bin, "ingot")
    rows = {}
    if os.path.exists(args.record):
        with open(args.record, encoding="utf-8") as file:
            rows = json.load(file)
    for name in NAMES:
        for precision in PRECISIONS:
            for target in TARGETS:
                key = f"{name} {precision} {target}"
                if args.only not in key or key in rows:
                    continue
                rows[key] = record_one(ingot, os.path.join(args.models, name + ".onnx"), name, precision, target,
                                       os.path.dirname(os.path.abspath(args.record)))
                with open(args.record + ".part", "w", encoding="utf-8") as file:
                    json.dump(rows, file, indent=1)
                os.replace(args.record + ".part", args.record)
    print(f"{len(rows)} artifacts recorded")
    return 0


def compare(args):
    old, new = ({}, {})
    for rows, path in ((old, args.old), (new, args.new)):
        with open(path, encoding="utf-8") as file:
            rows.update(json.load(file))
    keys = [key for key in old if key in new]
    if not keys:
        raise RecordError("the two records have no artifact in common")
    wrong = 0
    for key in keys:
        a, b = old[key], new[key]
        if a["sha256"] == b["sha256"]:
            continue
        is_wrong = a["results"] != b["results"] or b["bytes"] > MOST_GROWTH * a["bytes"]
        wrong += is_wrong
        print(f"{key}: {'WRONG: ' if is_wrong else ''}results {'equal' if a['results'] == b['results'] else 'differ'}, "
              f"{a['bytes']} -> {b['bytes']} bytes")
    same = sum(old[key]["sha256"] == new[key]["sha256"] for key in keys)
    times = [sum(rows[key]["seconds"] for key in keys) for rows in (old, new)]
    print(f"{len(keys)} artifacts: {same} with equal bytes, {wrong} wrong; "
          f"compile time {times[0]:.1f} -> {times[1]:.1f} CPU s")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    recording = commands.add_parser("record")
    recording.add_argument("record", metavar="OUT.json")
    recording.add_argument("--models", required=True, metavar="DIR", help="the folder that models.py wrote")
    recording.add_argument("--bin", default=os.path.join(ROOT, "build/bin"), metavar="DIR")
    recording.add_argument("--only", default="", metavar="TEXT", help="artifacts whose 'MODEL PRECISION TARGET' has it")
    recording.set_defaults(do=record)
    comparing = commands.add_parser("compare")
    comparing.add_argument("old", metavar="OLD.json")
    comparing.add_argument("new", metavar="NEW.json")
    comparing.set_defaults(do=compare)
    args = parser.parse_args()
    try:
        return args.do(args)
    except RecordError as error:
        print(f"record_artifacts: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
