"""Measures one task with one seed: accuracy on held-out labels and speed, for each precision."""
import json
import os
import random
import shlex
import subprocess
import sys
import time

import ingot
import numpy as np
import onnx

import metrics
import tasks

MAX_DROP = 0.5
EXTRAS = ("bf16", "int8 unrepaired", "w4")
# The least seconds and runs of measuring all artifacts in turns, and the quantile that counts.
SECONDS, LEAST_RUNS, QUANTILE = 2, 20, 0.1


class Refused(Exception):
    """A command of Ingot that ended with an error."""


class Trial:
    def __init__(self, name, seed, bin_dir, folder):
        self.name, self.seed, self.bin, self.folder = name, seed, bin_dir, folder
        self.task = tasks.load(name)
        os.makedirs(folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def ingot(self, *arguments):
        done = subprocess.run([os.path.join(self.bin, "ingot"), *arguments], capture_output=True, text=True)
        if done.returncode:
            raise Refused(message_of(done.stderr) or f"exit code {done.returncode}")
        return done.stdout

    def prepare(self):
        """Writes the model and the samples, and splits the data."""
        data = self.task.data(self.seed)
        self.model = self.path("model.onnx")
        onnx.save(data.model, self.model)
        self.outputs = [value.name for value in data.model.graph.output]
        order = np.random.default_rng(self.seed).permutation(len(data.labels))
        batch, first = self.task.batch, self.task.calibration
        half = (len(order) - first) // 2 // batch * batch
        self.save("calibration.npz", data, order[:first], with_labels=False)
        self.save("evaluation.npz", data, order[first:first + half])
        self.held = order[first + half:first + 2 * half]
        self.loaded = data

    def save(self, name, data, chosen, with_labels=True):
        arrays = {key: array[chosen] for key, array in data.inputs.items()}
        if with_labels:
            arrays["labels"] = data.labels[chosen]
        np.savez(self.path(name), **arrays)

    def run(self, artifact):
        """Returns the outputs of the held-out samples as a list of arrays, computed batch by batch."""
        model, batch, found = ingot.load(artifact), self.task.batch, []
        for first in range(0, len(self.held), batch):
            chosen = self.held[first:first + batch]
            outputs = model.run({key: array[chosen] for key, array in self.loaded.inputs.items()})
            found.append([np.asarray(outputs[name]) for name in self.outputs])
        return [np.concatenate(parts) for parts in zip(*found)]

    def parts(self, artifact):
        return self.task.metric.parts(self.run(artifact), self.loaded.labels[self.held])

    def compile(self, precision, result):
        """Returns the path of an artifact. Notes messages and seconds."""
        artifact = self.path(precision.replace(" ", "-") + ".so")
        calibration = self.path("model.calib.json")
        options, start = [f"--precision={precision.split()[0]}"], time.time()
        if precision in ("int8", "int8 unrepaired"):
            more = ["--repair=none"] if precision == "int8 unrepaired" else []
            calibration = self.path("unrepaired.calib.json") if more else calibration
            result["calibrate"] = self.ingot("calibrate", self.model, "--data", self.path("calibration.npz"), "-o",
                                             calibration, *more)
            result["calibrate_seconds"] = round(time.time() - start, 1)
            options.append(f"--calibration={calibration}")
        elif precision == "auto":
            options += ["--eval", self.path("evaluation.npz"), f"--max-drop={MAX_DROP}%", *self.metric_options()]
            if os.path.exists(calibration):
                options.append(f"--calibration={calibration}")
        start = time.time()
        said = json.loads(self.ingot("compile", self.model, "-o", artifact, "--json", *options))
        if precision == "auto":
            result["search"] = said["precision_study"]
        result["seconds"] = round(time.time() - start, 1)
        result["bytes"] = os.path.getsize(artifact)
        return artifact

    def metric_options(self):
        option = self.task.metric.option
        if option == "command":
            option = shlex.join([sys.executable, tasks.HERE, "--judge", self.name])
        return ["--metric", option] if option else []

    def measure_times(self, artifacts):
        """Returns the milliseconds of a run, measured in turns run by run. On a shared machine, low quantiles are those
        of runs that nothing has disturbed."""
        inputs = {key: array[:self.task.batch] for key, array in self.loaded.inputs.items()}
        models = {precision: ingot.load(artifact) for precision, artifact in artifacts.items()}
        times, end = {precision: [] for precision in models}, time.time() + SECONDS
        order = list(models)
        while time.time() < end or len(times["fp32"]) < LEAST_RUNS:
            for precision in order:
                start = time.perf_counter()
                models[precision].run(inputs)
                times[precision].append(1e3 * (time.perf_counter() - start))
            # Each model comes after each other one.
            order = random.sample(order, len(order))
        return {precision: float(np.quantile(values, QUANTILE)) for precision, values in times.items()}

    def measure(self, extras):
        """Returns all results of the task with this seed."""
        start = time.time()
        self.prepare()
        found = {"task": self.name, "seed": self.seed, "cpu": cpu(), "held": len(self.held), "rows": {}}
        metric, artifacts, wide = self.task.metric, {}, None
        for precision in ("fp32", "int8-dynamic", "int8", "auto", *extras):
            if precision == "w4" and not self.task.has_matrices:
                continue
            result = found["rows"][precision] = {}
            try:
                artifact = self.compile(precision, result)
                parts = self.parts(artifact)
                wide = parts if wide is None else wide
                result["held"] = float(metric.score(parts.sum(0)))
                result["noise"] = metrics.noise_of_drop(metric, wide, parts)
            except Refused as refused:
                if precision == "fp32":
                    raise
                result["refused"] = str(refused)
                continue
            if precision not in extras:
                artifacts[precision] = artifact
        for precision, time_ms in self.measure_times(artifacts).items():
            found["rows"][precision]["ms"] = time_ms
        found["seconds"] = round(time.time() - start, 1)
        return found


def cpu():
    """Returns the CPU's name and the instructions that decide which precisions are fast."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        facts = {key.strip(): value.split() for key, _, value in (line.partition(":") for line in file)}
    known = {"avx512_vnni": "AVX512-VNNI", "avx_vnni": "AVX-VNNI", "amx_int8": "AMX", "avx512f": "AVX-512", "avx2": "AVX2"}
    found = [name for flag, name in known.items() if flag in facts["flags"]]
    return " with ".join([" ".join(facts["model name"]), *found[:1]])


def message_of(text):
    """Returns the last message of a command. With --json, each is a line of JSON."""
    lines = text.strip().splitlines() or [""]
    return json.loads(lines[-1]).get("text", "") if lines[-1].startswith("{") else lines[-1]


def judge(name, folder):
    """Prints the score of outputs that Ingot has written to a folder, as a command of --metric."""
    with open(os.path.join(folder, "outputs.json"), encoding="utf-8") as file:
        about = json.load(file)
    outputs = [np.concatenate([np.load(os.path.join(folder, f"model.{sample:06d}.{one['file']}.npy"))
                               for sample in range(about["samples"])]) for one in about["outputs"]]
    metric = tasks.load(name).metric
    print(repr(float(metric.score(metric.parts(outputs, np.load(os.path.join(folder, "labels.npy"))).sum(0)))))
