#!/usr/bin/env python3
"""Measures a threshold: compares half and double its value with its value, on models, in turns.

usage: thresholds.py [--bin DIR] [--value V]... [--rounds N] [--seconds S] [--compile OPTION]... NAME MODEL.onnx...

NAME is a row of a table of thresholds. The build must have -DINGOT_TUNABLE_THRESHOLDS=ON. Each model is compiled with
each value. A value that gives the same artifact is not measured. The others take turns with the present value on one
thread. For each, the output has the median of the ratios of a round, other value by present value, and the range.
A ratio above 1 means that the present value is faster. The exit code is 0 if all models were measured.

example: thresholds.py --compile=--precision=w4 fewRows rows6.onnx
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "scripts"))

import measure  # noqa: E402
import models  # noqa: E402

TABLES = ("passes/support/Thresholds.inc", "passes/cpu/policy/Thresholds.inc", "passes/cpu/policy/KernelThresholds.inc")
NUMBERS = "dialects/ingot/TargetNumbers.inc"
VARIABLE = "INGOT_THRESHOLDS"


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def calculate(text):
    """Returns the value of an expression such as `1 << 14`, `0.85` or `32 * 1024`."""
    if not re.fullmatch(r"[\d.\s<*/()]+", text):
        raise ValueError(text)
    return eval(text)  # Only numbers and operators.


def present_value(name):
    """Returns the value of a row. A share of a cache has its value for the usual target."""
    for table in TABLES:
        found = re.search(r"^INGOT_(THRESHOLD|CACHE_SHARE)\(%s,([^\"]*)\"" % name, read(table), re.M)
        if not found:
            continue
        fields = [field.strip() for field in found.group(2).split(",")[:-1]]
        if found.group(1) == "THRESHOLD":
            return calculate(fields[0])
        usual = dict(re.findall(r"^INGOT_TARGET_NUMBER\((\w+), ([^,]+),", read(NUMBERS), re.M))
        below = re.sub(r"target\.(\w+)", lambda number: f"({usual[number.group(1)]})", fields[2])
        return calculate(usual[fields[0]]) * calculate(fields[1]) // calculate(below)
    raise measure.MeasureError(f"no table has a row {name}")


def compile_with(args, model, output, value):
    """Compiles a model with a value of the threshold. Returns the bytes of the artifact."""
    command = [os.path.join(args.bin, "ingot"), "compile", model, "-o", output, "--quiet", *args.compile]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, VARIABLE: f"{args.name}={value}"})
    if done.returncode:
        raise measure.MeasureError(f"{model}: {(done.stderr.strip() or 'ingot compile failed').splitlines()[0]}")
    with open(output, "rb") as f:
        return f.read()


def compare(args, model, folder, present):
    """Prints the ratio of each other value on one model."""
    artifacts = {present: os.path.join(folder, "present.so")}
    code = compile_with(args, model, artifacts[present], present)
    for i, value in enumerate(args.value or [present / 2, present * 2]):
        value = int(value) if isinstance(present, int) else value
        path = os.path.join(folder, f"other{i}.so")
        # The name of a file is a part of an artifact's manifest, so all have the same name while they are compiled.
        if value in artifacts or compile_with(args, model, artifacts[present], value) == code:
            print(f"{args.name}={value}\t{os.path.basename(model)}\tsame code")
            continue
        os.rename(artifacts[present], path)
        artifacts[value] = path
    compile_with(args, model, artifacts[present], present)
    if len(artifacts) == 1:
        return
    inputs = models.model_inputs(model)
    commands = {}
    for value, artifact in artifacts.items():
        case = measure.Case(folder, "case", model, artifact, inputs)
        commands[value] = [*measure.command_of("ingot", case, 1, args.seconds, args.bin), "--turns", "--iterations=2"]
    results = measure.take_turns(commands, args.rounds)
    for value in artifacts:
        if value == present:
            continue
        ratios = [other["median_ms"] / own["median_ms"] for other, own in zip(results[value], results[present])]
        print(f"{args.name}={value}\t{os.path.basename(model)}\t{statistics.median(ratios):.3f} "
              f"({min(ratios):.3f} to {max(ratios):.3f}) of {args.name}={present}, {measure.middle(results[present], 'median_ms'):.4f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="folder of the program ingot")
    parser.add_argument("--value", action="append", type=float, help="another value (default: half and double)")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.2, help="time of a turn")
    parser.add_argument("--compile", action="append", default=[], help="an option of ingot compile")
    parser.add_argument("name")
    parser.add_argument("models", nargs="+")
    args = parser.parse_args()
    try:
        with open(os.path.join(args.bin, "ingot"), "rb") as f:
            if VARIABLE.encode() not in f.read():
                raise measure.MeasureError("the build has fixed thresholds: configure it with -DINGOT_TUNABLE_THRESHOLDS=ON")
        present = present_value(args.name)
        with tempfile.TemporaryDirectory() as folder:
            for model in args.models:
                compare(args, model, folder, present)
    except (measure.MeasureError, OSError) as error:
        print(f"thresholds.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
