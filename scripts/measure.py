"""Measures Ingot and its peers in turns. The demo and the benchmark use this module.

Latencies come from processes that take short turns, so that changes of the machine's speed affect all engines. Loading,
first answers and memory are measured in fresh processes."""
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np

SCRIPTS = os.path.dirname(os.path.abspath(__file__))
PEERS = ("onnxruntime", "openvino")


class MeasureError(Exception):
    """A measurement failed. The message is one line that names the measurement and the cause."""


class Case:
    """A model with its inputs as .npy files; `precision` is what peers are asked for, fp32 or bf16.

    `files` has a peer's own file of the model, if that is not the ONNX file.
    """

    def __init__(self, directory, name, onnx_path, artifact, inputs, precision="fp32"):
        self.name, self.onnx_path, self.artifact = name, onnx_path, artifact
        self.precision, self.files = precision, {}
        self.inputs = {}
        self.inputs_mb = sum(value.nbytes for value in inputs.values()) / 2**20
        for i, (key, value) in enumerate(inputs.items()):
            stem = os.path.join(directory, f"{name}_{i}")
            np.save(stem + ".npy", np.ascontiguousarray(value))
            self.inputs[key] = stem + ".npy"


def run_quiet(command):
    """Runs a command and returns its output. Raises a failure with the last line of its errors."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()
        raise MeasureError(f"{os.path.basename(command[0])}: {lines[-1]}")
    return done.stdout


def run_json(command):
    """Returns the JSON document in a command's output: the whole output, or its last line."""
    printed = run_quiet(command)
    return json.loads(printed if printed.startswith("{") else printed.splitlines()[-1])


def command_of(engine, case, threads, seconds, bin_dir):
    """Returns the command that measures `engine`: ingot or one of PEERS."""
    if engine == "ingot":
        return [os.path.join(bin_dir, "ingot"), "bench", case.artifact, f"--threads={threads}",
                f"--warm-up={seconds / 4}s", f"--duration={seconds}s",
                *[f"--input={key}={file}" for key, file in case.inputs.items()]]
    hint = ["--precision=bf16"] if case.precision == "bf16" else []
    return [sys.executable, os.path.join(SCRIPTS, "measure_peer.py"), engine,
            case.files.get(engine, case.onnx_path), str(threads), str(seconds), *hint, *[f"{key}={file}" for key, file in case.inputs.items()]]


def measure_first(engine, case, threads, bin_dir, save=None):
    """Measures loading and the first answer in a fresh process."""
    command = command_of(engine, case, threads, 0, bin_dir)
    if engine != "ingot":
        return run_json(command + (["--save", save] if save else []))
    found = run_json(command + ["--json", "--iterations=1"])
    # The base includes the inputs, since the peers' memory is counted after they have read them.
    return {"load_ms": found["load_ms"], "first_ms": found["first_answer_ms"], "peak_mb": found["peak_rss_mb"],
            "base_mb": found["base_rss_mb"] + case.inputs_mb, "arena_mb": found["arena_mb"],
            "weights_mb": found["weights_mb"], "threads": found["threads"], "target": found["target"]}


def first_answers(engines, case, threads, rounds, bin_dir):
    """Returns {engine: [measure_first of each round]}. Engines are measured in the order A B C A B C …"""
    results = {engine: [] for engine in engines}
    for _ in range(rounds):
        for engine in engines:
            results[engine].append(measure_first(engine, case, threads, bin_dir))
    return results


class Turns:
    """A process that measures when it is its turn."""

    def __init__(self, engine, command):
        self.engine = engine
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)

    def measure(self):
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except (BrokenPipeError, ValueError):
            lines = (self.process.stderr.read().strip() or "no message").splitlines()
            raise MeasureError(f"{self.engine}: {lines[-1]}") from None

    def close(self):
        self.process.kill()
        self.process.communicate()


def take_turns(commands, rounds, failed=None):
    """Returns {engine: [{"median_ms", "min_ms", "runs"} of each round]}. Another engine is first in each round. An
    engine that cannot start is left out; its error is added to `failed`, if given."""
    results, turns = {}, []
    try:
        for engine, command in commands.items():
            turns.append(Turns(engine, command))
        for each in list(turns):
            try:
                each.measure()
                results[each.engine] = []
            except MeasureError as error:
                if failed is None:
                    raise
                failed[each.engine] = str(error)
                each.close()
                turns.remove(each)
        for n in range(rounds):
            for i in range(len(turns)):
                each = turns[(n + i) % len(turns)]
                # Wait until threads of the previous engine stop spinning and sleep.
                time.sleep(0.02)
                results[each.engine].append(each.measure())
    finally:
        for each in turns:
            each.close()
    return results


def latencies(engines, case, threads, seconds, rounds, bin_dir):
    """Measures `engines` (ingot or PEERS) in turns on one model."""
    commands = {}
    for engine in engines:
        extra = ["--turns", "--iterations=2"] if engine == "ingot" else ["--turns"]
        commands[engine] = command_of(engine, case, threads, seconds, bin_dir) + extra
    return take_turns(commands, rounds)


def middle(results, key):
    return statistics.median(r[key] for r in results)


def ratio(results, engines):
    """Returns (median, lower quartile, upper quartile) of the ratio per round: time of the fastest of `engines` / time
    of Ingot. Above 1, Ingot is faster."""
    values = [min(results[e][n]["median_ms"] for e in engines) / ours["median_ms"]
              for n, ours in enumerate(results["ingot"])]
    quartiles = np.quantile(values, [0.25, 0.75])
    return statistics.median(values), float(quartiles[0]), float(quartiles[1])


def ratio_at_best(results, engines):
    """Returns the ratio of each engine's fastest turns, which other load on the machine disturbs least."""
    best = {engine: min(r["median_ms"] for r in results[engine]) for engine in results}
    return min(best[e] for e in engines) / best["ingot"]


def cpu_name():
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return "unknown CPU"


def cpu_flags():
    with open("/proc/cpuinfo") as f:
        return next((set(line.partition(":")[2].split()) for line in f if line.startswith("flags")), set())


def print_table(rows, out=None):
    """Returns a table as text. Columns are as wide as their content. The first is text, the others are numbers."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for n, row in enumerate(rows):
        cells = [row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
        print("  ".join(cells).rstrip(), file=out)
        if n == 0:
            print("  ".join("-" * w for w in widths), file=out)
