"""Measures the accuracy of compiled models with trained weights on labelled data, in each precision.

usage: python scripts/accuracy [TASK ...] [--bin BIN] [--precision NAME,...] [--output FILE]

Each task is compiled in fp32 and in each precision and run on the same samples; the score is the share of right
answers. int8 is calibrated on the first samples, as `ingot calibrate` does it without further options, and without repairs.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx

import minilm
import ppocr

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TASKS = {task.name: task for task in (minilm.Task, ppocr.Task)}
PRECISIONS = ("fp32", "bf16", "int8", "int8 unrepaired", "int8-dynamic", "w4")


class Runner:
    def __init__(self, task, bin_dir, folder, extra):
        self.task, self.bin, self.folder, self.extra = task, bin_dir, folder, extra
        self.model = os.path.join(folder, "model.onnx")
        onnx.save(task.model(task.batch), self.model)

    def ingot(self, *arguments):
        done = subprocess.run([os.path.join(self.bin, "ingot"), *arguments], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"accuracy: ingot {arguments[0]}: {done.stderr.strip().splitlines()[-1]}")

    def options(self, precision, method):
        if not precision.startswith("int8") or precision == "int8-dynamic":
            return [f"--precision={precision}"]
        if precision == "int8 unrepaired":
            method = [*method, "--repair=none"]
        data, cache = (os.path.join(self.folder, name) for name in ("samples.npz", "model.calib.json"))
        np.savez(data, **{name: array[:self.task.calibration] for name, array in self.task.inputs.items()})
        self.ingot("calibrate", self.model, "--data", data, "-o", cache, *method)
        return ["--precision=int8", f"--calibration={cache}", *self.extra]

    def run(self, artifact):
        """Returns the outputs of all samples, computed batch by batch."""
        count = len(next(iter(self.task.inputs.values())))
        outputs = {}
        for first in range(0, count, self.task.batch):
            arguments = []
            for name, array in self.task.inputs.items():
                path = os.path.join(self.folder, f"{name}.npy")
                np.save(path, array[first:first + self.task.batch])
                arguments += ["--input", f"{name}={path}"]
            out = os.path.join(self.folder, "out")
            shutil.rmtree(out, ignore_errors=True)
            self.ingot("run", artifact, *arguments, "--output-dir", out)
            for name in os.listdir(out):
                outputs.setdefault(name[:-4], []).append(np.load(os.path.join(out, name)))
        return {name: np.concatenate(parts) for name, parts in outputs.items()}

    def measure(self, precision, method):
        """Returns (score, bytes of the artifact)."""
        artifact = os.path.join(self.folder, "model.so")
        self.ingot("compile", self.model, "-o", artifact, *self.options(precision, method))
        return self.task.score(self.run(artifact)), os.path.getsize(artifact)


HEAD = """# Accuracy of trained models

<!-- Written by `make accuracy`; do not edit. -->

Trained weights, real labels; int8 calibrated on the first 200 samples by `ingot calibrate` without further options, which repairs
what its error asks for; unrepaired: with `--repair=none`. Nothing is kept wider. w4 stores matrices in 4 bits, and multiplies float32.

- `minilm`: the sentence encoder all-MiniLM-L6-v2, texts of 64 tokens. 3,200 descriptions of Debian packages from 20 sections;
  right is one of the second half that is nearest to the centroid of its section's first half.
- `ppocr_rec`: PP-OCRv6's small recognizer on 2,000 lines rendered with noise, blur, low contrast and a tilt; right is a line
  without an error.

"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", choices=[[], *TASKS], help="default: all")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--precision", default=",".join(PRECISIONS))
    parser.add_argument("--calibrate", default="", help="options of `ingot calibrate`, such as --method=mse")
    parser.add_argument("--compile", default="", help="options of `ingot compile` for int8, such as --weight-bits=7")
    parser.add_argument("--output", help="write the table there, too (Markdown)")
    args = parser.parse_args()
    lines = ["| task | precision | right, % | against fp32 | artifact, MB |", "|---|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    for name in args.tasks or TASKS:
        with tempfile.TemporaryDirectory() as folder:
            runner, wide = Runner(TASKS[name](), args.bin, folder, args.compile.split()), None
            for precision in args.precision.split(","):
                if precision == "w4" and not runner.task.has_matrices:
                    continue
                score, size = runner.measure(precision, args.calibrate.split())
                wide = score if wide is None else wide
                lines.append(f"| {name} | {precision} | {score:.2f} | {score - wide:+.2f} | {size / 1e6:.1f} |")
                print(lines[-1], flush=True)
    if args.output:
        with open(args.output + ".part", "w") as f:
            f.write(HEAD + "\n".join(lines) + "\n")
        os.replace(args.output + ".part", args.output)


if __name__ == "__main__":
    sys.exit(main())
