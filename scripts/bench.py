#!/usr/bin/env python3
"""Measures compiled models beside ONNX Runtime and OpenVINO: batch 1, 1 and 2 threads.

usage: bench.py MODEL_DIR [NAME ...] [--precision=bf16|int8] [--kernels KERNELS] [--rounds N] [--seconds S] [--output FILE]

With --precision=bf16, Ingot compiles for bf16 and OpenVINO gets its hint for bf16. ONNX Runtime has no bf16 and
computes in fp32. With --precision=int8, each engine quantizes the fp32 file with its own tool and the same samples.

Latencies: the engines' processes take short turns (A B C B C A …). Ratios are taken within a round, so that a slower
machine affects all engines. Prints medians over the rounds, with the quartiles of the ratios.
Loading, first answers and memory come from fresh processes.
"""
import argparse
import datetime
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import measure
import models

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENGINES = ["ingot", "onnxruntime", "openvino"]
# The number of samples for calibrating int8.
SAMPLES = 16
# The number of new processes of each engine that measure its first answer.
FIRST_ROUNDS = 5


def compile_model(bin_dir, path, artifact, options):
    """Returns (seconds, peak MB) of `ingot compile`."""
    start = time.monotonic()
    process = subprocess.Popen([os.path.join(bin_dir, "ingot"), "compile", path, "-o", artifact, *options],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise measure.MeasureError(f"ingot compile: {(errors.strip() or 'no message').splitlines()[0]}")
    return time.monotonic() - start, usage.ru_maxrss / 1024


def samples_for(path, inputs):
    """Writes a file of calibration samples beside `path`: random arrays like the inputs."""
    file = path + ".samples.npz"
    stacks = {}
    for seed in range(SAMPLES):
        rng = np.random.default_rng(1000 + seed)
        for name, value in inputs.items():
            drawn = (rng.standard_normal(value.shape) * 0.7).astype(value.dtype) if value.dtype.kind == "f" \
                else rng.permutation(value.ravel()).reshape(value.shape)
            stacks.setdefault(name, []).append(drawn)
    np.savez(file, **{name: np.concatenate(drawn) for name, drawn in stacks.items()})
    return file


def quantize_for(engine, path, samples, folder):
    """Returns the file that `engine` runs instead of the ONNX file."""
    output = os.path.join(folder, f"{os.path.basename(path)}.{engine}." + ("xml" if engine == "openvino" else "onnx"))
    done = subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "quantize_models.py"), path, samples, engine,
                           output], capture_output=True, text=True)
    if done.returncode:
        raise measure.MeasureError(f"quantizing for {engine}: {(done.stderr.strip() or 'failed').splitlines()[-1]}")
    return output


def usable_engines():
    """Returns Ingot and the installed peers."""
    import importlib.util
    return [e for e in ENGINES if e == "ingot" or importlib.util.find_spec(e)]


def show(triple):
    return f"{triple[0]:.2f} ({triple[1]:.2f}–{triple[2]:.2f})"


class Model:
    """Returns all measurements of one model."""

    def __init__(self, name, args, scratch, engines):
        self.name, self.peers = name, [e for e in engines if e != "ingot"]
        path = os.path.join(args.directory, name + ".onnx")
        artifact = os.path.join(scratch, name + ".so")
        inputs = models.model_inputs(path, name)
        options = models.shape_options(name, inputs)
        if args.kernels:
            options += ["--kernels", args.kernels]
        files = {}
        if args.precision == "int8":
            samples = samples_for(os.path.join(scratch, name), inputs)
            cache = os.path.join(scratch, name + ".calib.json")
            measure.run_quiet([os.path.join(args.bin, "ingot"), "calibrate", path, "--data", samples, "-o", cache,
                               "--repair=none", *options])
            options += [f"--calibration={cache}"]
            files = {peer: quantize_for(peer, path, samples, scratch) for peer in self.peers}
        if args.precision != "fp32":
            options += [f"--precision={args.precision}"]
        self.compile_s, self.compile_mb = compile_model(args.bin, path, artifact, options)
        self.artifact_mb, self.model_mb = os.path.getsize(artifact) / 1e6, os.path.getsize(path) / 1e6
        case = measure.Case(scratch, name, path, artifact, inputs, args.precision)
        case.files = files
        self.latency = {threads: measure.latencies(engines, case, threads, args.seconds, args.rounds, args.bin)
                        for threads in args.threads}
        self.first = measure.first_answers(engines, case, max(args.threads), FIRST_ROUNDS, args.bin)
        os.remove(artifact)

    def latency_row(self, threads):
        results = self.latency[threads]
        cells = [self.name, f"{measure.middle(results['ingot'], 'median_ms'):.2f}"]
        cells += [f"{measure.middle(results[p], 'median_ms'):.2f}" for p in self.peers]
        cells += [show(measure.ratio(results, [p])) for p in self.peers]
        return cells + [show(measure.ratio(results, self.peers)), f"{measure.ratio_at_best(results, self.peers):.2f}"]

    def start_row(self):
        cells = [self.name]
        for engine in ["ingot", *self.peers]:
            memory = statistics.median(r["peak_mb"] - r["base_mb"] for r in self.first[engine])
            cells.append(f"{measure.middle(self.first[engine], 'first_ms'):.0f} ms, {memory:.0f} MB")
        weights = self.first["ingot"][0]["weights_mb"]
        arena = self.first["ingot"][0]["arena_mb"]
        return cells + [f"{weights:.1f} + {arena:.1f} MB"]

    def compile_row(self):
        return [self.name, f"{self.compile_s:.1f} s", f"{self.compile_mb:.0f} MB", f"{self.model_mb:.1f} MB",
                f"{self.artifact_mb:.1f} MB"]


def markdown_table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def versions(done, peers):
    ingot = subprocess.run([os.path.join(ROOT, "build", "bin", "ingot"), "--version"], capture_output=True, text=True)
    found = [ingot.stdout.split("\n")[0].strip()]
    found += [f"{peer} {done[0].first[peer][0]['version']}" for peer in peers]
    return ", ".join(found)


def geometric_mean(values):
    return statistics.geometric_mean(values) if values else float("nan")


def precision_note(precision):
    """Returns the precisions that are compared, if they are not f32 everywhere."""
    if precision == "fp32":
        return []
    if precision == "int8":
        return ["", f"Each engine runs what its own tool made of the fp32 file with the same {SAMPLES} random samples: "
                "`ingot calibrate --repair=none`, `onnxruntime.quantization` (Q/DQ, u8 activations, s8 weights for each channel) and "
                "NNCF."]
    text = "ONNX Runtime has no bf16 kernels for these models and runs fp32."
    if not measure.cpu_flags() & {"avx512_bf16", "amx_bf16"}:
        text += (" This CPU has no bf16 instructions: Ingot widens to f32 in registers, OpenVINO (inference precision "
                 "bf16) as it sees fit.")
    return ["", text]


def page(done, failed, peers, args):
    lines = [f"# Benchmarks{'' if args.precision == 'fp32' else ' in ' + args.precision}", "", "<!-- Written by `make bench`; do not edit. -->", "",
             f"{args.precision}, batch 1, models as exported from training (BatchNorm and branches in place). "
             f"{measure.cpu_name()}, {len(os.sched_getaffinity(0))} CPUs, {datetime.date.today()}. "
             f"{versions(done, peers)}.", *precision_note(args.precision), "",
             f"Engines take turns of {args.seconds:g} s, {args.rounds} each; a turn's latency is the median of its "
             "runs. Shown are medians over the turns. A ratio is a peer's time over Ingot's within a round, above 1 Ingot "
             "is faster; in brackets its quartiles; `at best` compares the fastest turns of each. Compare ratios, not "
             "times: times move from machine to machine, and from minute to minute."]
    names = {"onnxruntime": "ONNX Runtime", "openvino": "OpenVINO"}
    for threads in args.threads:
        header = ["model", "Ingot ms", *[f"{names[p]} ms" for p in peers], *[f"× {names[p]}" for p in peers],
                  "× the faster peer", "at best"]
        lines += ["", f"## Latency, {threads} thread{'s' if threads > 1 else ''}", ""]
        lines += markdown_table(header, [m.latency_row(threads) for m in done])
        mean = geometric_mean([measure.ratio(m.latency[threads], peers)[0] for m in done])
        best = geometric_mean([measure.ratio_at_best(m.latency[threads], peers) for m in done])
        lines += ["", f"Geometric mean against the faster peer: {mean:.2f}, at best {best:.2f}."]
    lines += ["", "## From opening the model to its first answer, and memory", "",
              f"{max(args.threads)} threads, files in the page cache, medians of {FIRST_ROUNDS} fresh "
              "processes. Memory is the peak above what the process had before opening. The peers run inside "
              "Python, whose start and whose loading of their libraries is not counted.", ""]
    lines += markdown_table(["model", "Ingot", *[names[p] for p in peers], "weights + arena"],
                            [m.start_row() for m in done])
    lines += ["", "## Compiling", ""]
    lines += markdown_table(["model", "time", "peak memory", "ONNX file", "artifact"], [m.compile_row() for m in done])
    if failed:
        lines += ["", "## Not measured", ""] + [f"- {name}: {why}" for name, why in failed]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0],
                                     epilog="example: bench.py build/models resnet50 --rounds 5")
    parser.add_argument("directory", help="where scripts/models.py wrote the models")
    parser.add_argument("names", nargs="*", metavar="NAME", help="models to measure (default: all ten)")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="where the tools are")
    parser.add_argument("--precision", default="fp32", choices=["fp32", "bf16", "int8"], help="of heavy ops (default: fp32)")
    parser.add_argument("--kernels", help="compile with --kernels=KERNELS (default: the compiler's)")
    parser.add_argument("--rounds", type=int, default=15, help="turns of each engine and setting")
    parser.add_argument("--seconds", type=float, default=0.2, help="time measured in each")
    parser.add_argument("--threads", type=lambda t: [int(n) for n in t.split(",")], default=[1, 2],
                        help="thread counts, e.g. 1,2")
    parser.add_argument("--output", help="write the tables there (Markdown); otherwise to standard output")
    args = parser.parse_args()
    unknown = set(args.names) - set(models.NAMES)
    if unknown:
        parser.error(f"no model {', '.join(sorted(unknown))}")
    if args.rounds < 1:
        parser.error("--rounds must be at least 1")

    engines = usable_engines()
    peers = [e for e in engines if e != "ingot"]
    if not peers:
        sys.exit("bench.py: no peer is installed: pip install -r scripts/requirements-bench.txt")
    done, failed = [], []
    with tempfile.TemporaryDirectory(prefix="ingot-bench-") as scratch:
        for name in args.names or models.NAMES:
            try:
                model = Model(name, args, scratch, engines)
            except measure.MeasureError as error:
                failed.append((name, str(error)))
                print(f"{name:22} not measured: {error}", file=sys.stderr, flush=True)
                continue
            done.append(model)
            best = ", ".join(f"{t} thread{'s' if t > 1 else ''} {show(measure.ratio(model.latency[t], peers))}"
                             for t in args.threads)
            print(f"{name:22} × the faster peer: {best}", file=sys.stderr, flush=True)
    if done:
        text = page(done, failed, peers, args)
        if args.output:
            with open(args.output, "w") as f:
                f.write(text)
        else:
            print(text, end="")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
