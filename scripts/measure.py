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
    """A model with its inputs as files, for Ingot (raw) and for the peers (.npy)."""

    def __init__(self, directory, name, onnx_path, artifact, inputs):
        self.name, self.onnx_path, self.artifact = name, onnx_path, artifact
        self.raw, self.npy = [], []
        for i, (key, value) in enumerate(inputs.items()):
            stem = os.path.join(directory, f"{name}_{i}")
            np.ascontiguousarray(value).tofile(stem + ".bin")
            np.save(stem + ".npy", value)
            self.raw.append(f"{key}={stem}.bin")
            self.npy.append(f"{key}={stem}.npy")


def run_json(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()
        raise MeasureError(f"{os.path.basename(command[0])}: {lines[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def measure(engine, case, threads, seconds, bin_dir, save=None):
    """One fresh process. `engine` is ingot or one of PEERS."""
    if engine == "ingot":
        return run_json([os.path.join(bin_dir, "ingot-measure"), case.artifact, str(threads), str(seconds),
                         *case.raw])
    extra = ["--save", save] if save else []
    return run_json([sys.executable, os.path.join(SCRIPTS, "measure_peer.py"), engine, case.onnx_path, str(threads),
                     str(seconds), *extra, *case.npy])


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
