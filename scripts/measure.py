"""Measurements in fresh processes, Ingot and its peers in turn: what the demo and the benchmark share."""
import json
import os
import statistics
import subprocess
import sys

import numpy as np

SCRIPTS = os.path.dirname(os.path.abspath(__file__))
PEERS = ("onnxruntime", "openvino")


class MeasureError(Exception):
    """One line that says which measurement failed and how."""


class Case:
    """A model with its inputs as .npy files."""

    def __init__(self, directory, name, onnx_path, artifact, inputs):
        self.name, self.onnx_path, self.artifact = name, onnx_path, artifact
        self.inputs = {}
        self.inputs_mb = sum(value.nbytes for value in inputs.values()) / 2**20
        for i, (key, value) in enumerate(inputs.items()):
            stem = os.path.join(directory, f"{name}_{i}")
            np.save(stem + ".npy", np.ascontiguousarray(value))
            self.inputs[key] = stem + ".npy"


def run_json(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()
        raise MeasureError(f"{os.path.basename(command[0])}: {lines[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def measure_ingot(case, threads, seconds, bin_dir):
    """`ingot bench`, in the words of measure_peer.py."""
    found = run_json([os.path.join(bin_dir, "ingot"), "bench", case.artifact, "--json", f"--threads={threads}",
                      f"--iterations={5 if seconds else 1}", f"--warm-up={seconds / 4}s", f"--duration={seconds}s",
                      *[f"--load-inputs={key}:{file}" for key, file in case.inputs.items()]])
    latency = found["latency_ms"]
    # The peers' memory is counted from where they have their inputs.
    return {"median_ms": latency["median"], "p95_ms": latency["p95"], "min_ms": latency["min"],
            "load_ms": found["load_ms"], "first_ms": found["first_answer_ms"], "peak_mb": found["peak_rss_mb"],
            "base_mb": found["base_rss_mb"] + case.inputs_mb, "arena_mb": found["arena_mb"],
            "weights_mb": found["weights_mb"], "threads": found["threads"], "target": found["target"]}


def measure(engine, case, threads, seconds, bin_dir, save=None):
    """One fresh process. `engine` is ingot or one of PEERS."""
    if engine == "ingot":
        return measure_ingot(case, threads, seconds, bin_dir)
    extra = ["--save", save] if save else []
    return run_json([sys.executable, os.path.join(SCRIPTS, "measure_peer.py"), engine, case.onnx_path, str(threads),
                     str(seconds), *extra, *[f"{key}={file}" for key, file in case.inputs.items()]])


def interleave(engines, case, threads, seconds, rounds, bin_dir):
    """{engine: [result of each round]}, measured A B C A B C …"""
    results = {engine: [] for engine in engines}
    for _ in range(rounds):
        for engine in engines:
            results[engine].append(measure(engine, case, threads, seconds, bin_dir))
    return results


def middle(results, key):
    return statistics.median(r[key] for r in results)


def spread(results, key):
    """(lowest, highest) over the rounds."""
    values = [r[key] for r in results]
    return min(values), max(values)


def cpu_name():
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return "unknown CPU"


def print_table(rows, out=sys.stdout):
    """Columns as wide as they need; the first is text, the others are numbers."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for n, row in enumerate(rows):
        cells = [row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
        print("  ".join(cells).rstrip(), file=out)
        if n == 0:
            print("  ".join("-" * w for w in widths), file=out)
