#!/usr/bin/env python3
"""Measures the bounds of the Python packages, beside ONNX Runtime and OpenVINO.

usage: python_bounds.py [--output FILE] [--only WORD] [--seconds S]

Runs in an environment with the wheels and scripts/requirements-python-bench.txt (`make python-bench`). Each number comes
from a process of its own. Rows with --only contain WORD. FILE gets a page of Markdown.
"""
import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile

import bounds_probe

HERE = os.path.dirname(os.path.abspath(__file__))
PROBE = os.path.join(HERE, "bounds_probe.py")
ENGINES = {"ingot": "Ingot", "onnxruntime": "ONNX Runtime", "openvino": "OpenVINO"}


class Bench:
    """A folder with the models, and what has been measured in it."""

    def __init__(self, folder, seconds):
        self.folder, self.seconds = folder, seconds

    def probe(self, name, engine="ingot", rounds=1):
        """Runs a probe in new processes. Returns the best of the rounds, or None if the engine lacks what it needs."""
        values = []
        for _ in range(rounds):
            done = subprocess.run([sys.executable, PROBE, name, engine, self.folder, str(self.seconds)],
                                  capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(f"python_bounds.py: {name} of {engine} failed:\n{done.stderr}")
            values.append(json.loads(done.stdout.splitlines()[-1]))
        if values[0] is None:
            return None
        return max(values) if name in bounds_probe.LARGER_IS_BETTER else min(values)

    def each(self, name, rounds=1):
        """Returns the probe's value of each engine."""
        return {engine: self.probe(name, engine, rounds) for engine in ENGINES}


class Row:
    """A row of the table: values by engine, the bound, and whether it holds."""

    def __init__(self, text, values, bound, holds, unit):
        self.text, self.values, self.bound, self.holds, self.unit = text, values, bound, holds, unit

    def line(self):
        def cell(value):
            if value is None:
                return "–"
            return f"{value:.2f} {self.unit}".strip() if abs(value) < 100 else f"{value:.0f} {self.unit}".strip()

        cells = [cell(self.values.get(engine)) for engine in ENGINES]
        return f"| {self.text} | {self.bound} | {' | '.join(cells)} | {'yes' if self.holds else '**no**'} |"


def imports(bench):
    times, memory = bench.each("import_ms", 15), bench.each("import_mb", 3)
    yield Row("import, above that of numpy", times, "15 ms", times["ingot"] <= 15, "ms")
    yield Row("memory of the import, above that of numpy", memory, "3 MB", memory["ingot"] <= 3, "MB")


def calls(bench):
    c = bench.probe("call_c_us", rounds=3)
    for name, text, limit in (("call_us", "call with a 1×4 input, above `ingot_context_run`", 2.0),
                              ("call_out_us", "with a given output, above `ingot_context_run`", 1.2)):
        values = bench.each(name, 3)
        above = {engine: None if value is None else value - c for engine, value in values.items()}
        yield Row(text, above, f"{limit} µs", above["ingot"] <= limit, "µs")
    values = bench.each("call_us", 3)
    share = values["ingot"] / values["onnxruntime"]
    yield Row("call with a 1×4 input", values, "half of ONNX Runtime's", share <= 0.5, "µs")


def first_answers(bench):
    # In turns, since the speed of a machine changes by more than the bound.
    pairs = [(bench.probe("first_answer_ms"), bench.probe("first_answer_c_ms")) for _ in range(25)]
    c = min(pair[1] for pair in pairs)
    values = {engine: bench.probe("first_answer_ms", engine, 5) for engine in ENGINES if engine != "ingot"}
    values["ingot"] = min(pair[0] for pair in pairs)
    yield Row("load and first answer of ResNet-50", values, f"that of C ({c:.1f} ms) + 1 ms",
              values["ingot"] <= c + 1, "ms")


def other_threads(bench):
    for name, text in (("counter_run", "a run"), ("counter_load", "a load")):
        values = bench.each(name, 3)
        yield Row(f"speed of another Python thread during {text}", values, "90 %", values["ingot"] >= 90, "%")
    value = bench.probe("counter_compile", rounds=3)
    yield Row("speed of another Python thread during a compilation", {"ingot": value}, "90 %", value >= 90, "%")


def shared_models(bench):
    values, c = bench.each("threads_per_s", 3), bench.probe("threads_c_per_s", rounds=3)
    yield Row("ResNet-50 a second, 8 threads on one model", values, f"0.95 × C with 8 contexts ({c:.1f})",
              values["ingot"] >= 0.95 * c, "")


def loops(bench):
    value = bench.probe("loop_ms", rounds=15)
    yield Row("longest wait of the event loop, 1,000 `run_async` at once", {"ingot": value}, "5 ms", value <= 5, "ms")


def commands(bench):
    value = bench.probe("version_ms", rounds=15)
    yield Row("`ingot --version`", {"ingot": value}, "10 ms", value <= 10, "ms")


def ray(bench):
    speed, memory = bench.probe("ray_speed"), bench.probe("ray_memory")
    if speed is None:
        return
    yield Row("Ray: 2 actors of one CPU, × the speed of one", {"ingot": speed}, "1.8 ×", speed >= 1.8, "×")
    yield Row("Ray: memory of the weights in 4 actors, × one", {"ingot": memory}, "1.2 ×", memory <= 1.2, "×")


PARTS = [imports, calls, first_answers, other_threads, shared_models, loops, commands, ray]


def cpu_name():
    with open("/proc/cpuinfo") as file:
        return next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))


def page(rows):
    from importlib.metadata import version
    versions = ", ".join(f"{name} {version(name)}" for name in ("ingot-runtime", "onnxruntime", "openvino", "numpy"))
    load = f"{statistics.fmean(os.getloadavg()[:2]):.1f}"
    return "\n".join([
        "# Python packages", "", "<!-- Written by `make python-bench`; do not edit. -->", "",
        f"{cpu_name()}, {os.cpu_count()} CPUs, {datetime.date.today()}. {versions}. Load of the machine at the end: "
        f"{load}.", "",
        "Each number is the best of some processes. A run uses one thread. C is `ingot bench`, which calls "
        "`ingot_context_run`. The last column says whether Ingot is within the bound.", "",
        f"| | bound | {' | '.join(ENGINES.values())} | within |", "|---|---|---|---|---|---|",
        *(row.line() for row in rows), ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", help="page to write (default: print it)")
    parser.add_argument("--only", default="", metavar="WORD", help=", ".join(part.__name__ for part in PARTS))
    parser.add_argument("--seconds", type=float, default=1, help="time of one measurement (default: 1)")
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="ingot-bounds-") as folder:
        bounds_probe.write_models(folder)
        for part in PARTS:
            if args.only in part.__name__:
                for row in part(Bench(folder, args.seconds)):
                    print(row.line(), flush=True)
                    rows.append(row)
    if args.output:
        with open(args.output, "w", encoding="utf-8") as file:
            file.write(page(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
