#!/usr/bin/env python3
"""Draws networks, quantizes them as other projects do, and lists files that are slower than the network in fp32.

usage: int8_networks.py [--seeds N] [--first SEED] [--levels L,…] [--kinds K,…] [--rounds N] [--peers] [FAMILY ...]

Families and kinds of files are those of networks.py: ONNX Runtime's quantize_static, quantize_dynamic and MatMulNBits,
NNCF, and fake-quantize operators as PyTorch exports them. A file and its network in fp32 run in turns, on one thread;
the ratio is that of the least times. `ptq` is Ingot's own quantization of the same network.

The lists at the end have the files whose time is above --most (1.03) times that of fp32, the trained files whose time is
above --most-trained (1.10) times that of `ptq`, and the files whose error against ONNX Runtime is above --most-error.
The error is the norm of the difference by the norm of the result. With --peers, the peers' times of each file are
measured too. The script needs the packages of scripts/requirements-bench.txt.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

import networks
from int8_sweep import LEVELS, ROOT, Tool, list_worst, run, write_json

PEERS = ("onnxruntime", "openvino")


def answer_of_onnxruntime(path, x):
    """Returns the result of each node computed as ONNX defines it, because fused kernels may saturate."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 3, 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


def error_of(tool, artifact, source, x, folder):
    data, results = os.path.join(folder, "in.npy"), os.path.join(folder, "results")
    np.save(data, x)
    tool("run", artifact, f"--input=x={data}", f"--output-dir={results}", "--threads=1")
    got = np.load(os.path.join(results, os.listdir(results)[0]))
    want = answer_of_onnxruntime(source, x)
    return float(np.linalg.norm(got - want) / max(np.linalg.norm(want), 1e-12))


def time_of_peer(peer, source, x, folder, seconds):
    """Returns the least time, or None if the peer cannot read the file."""
    data = os.path.join(folder, "in.npy")
    np.save(data, x)
    done = subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "measure_peer.py"), peer, source, "1",
                           str(seconds), f"x={data}", "--turns"], input="\n", capture_output=True, text=True)
    try:
        return json.loads(done.stdout.splitlines()[-1])["min_ms"]
    except (IndexError, KeyError, ValueError):
        return None


class Sweep:
    def __init__(self, args):
        self.args = args
        self.tool = Tool(os.path.join(args.bin, "ingot"), args.milliseconds)
        self.found = []

    def compile(self, source, name, level, folder, *options):
        artifact = os.path.join(folder, f"{name}.{level}.so")
        self.tool("compile", source, "-o", artifact, "--quiet", f"--target={level}", *options)
        return artifact

    def network(self, family, seed):
        with tempfile.TemporaryDirectory() as folder:
            source, samples = networks.write(family, seed, folder)
            files, data = {}, os.path.join(folder, "samples.npz")
            np.savez(data, x=samples.reshape(-1, *samples.shape[2:]))
            ranges = os.path.join(folder, "ranges.json")
            self.tool("calibrate", source, "--data", data, "-o", ranges, "--repair=none")
            for kind in networks.kinds_of(family):
                if kind not in self.args.kinds:
                    continue
                files[kind] = os.path.join(folder, kind + ".onnx")
                try:
                    networks.quantize(source, samples, kind, files[kind])
                except Exception as error:  # pylint: disable=broad-except
                    print(f"{family} {seed}: {kind} is not written: {error}", flush=True)
                    del files[kind]
            for level in self.args.levels:
                self.level(family, seed, level, {"fp32": source, **files}, ranges, samples[0], folder)

    def level(self, family, seed, level, files, ranges, x, folder):
        artifacts = {kind: self.compile(path, kind, level, folder) for kind, path in files.items()}
        artifacts["ptq"] = self.compile(files["fp32"], "ptq", level, folder, "--precision=int8", f"--calibration={ranges}")
        least = dict.fromkeys(artifacts, float("inf"))
        for _ in range(self.args.rounds):
            for kind, artifact in artifacts.items():
                least[kind] = min(least[kind], self.tool.time(artifact))
        for kind in artifacts:
            entry = {"family": family, "seed": seed, "level": level, "kind": kind, "ms": least[kind],
                     "ratio": round(least[kind] / least["fp32"], 3), "of_ptq": round(least[kind] / least["ptq"], 3)}
            if kind in files:
                entry["error"] = error_of(self.tool, artifacts[kind], files[kind], x, folder)
                if self.args.peers:
                    entry["peers"] = {p: time_of_peer(p, files[kind], x, folder, 0.1) for p in PEERS}
            self.found.append(entry)
        print(f"{family} {seed}, {level}, fp32 {least['fp32']:.3f} ms: " + ", ".join(
            f"{kind} {least[kind] / least['fp32']:.2f}" for kind in artifacts if kind != "fp32"), flush=True)

    def report(self):
        args = self.args
        lists = (
            (f"slower than fp32 by more than {args.most}", "ratio", args.most, lambda e: e["kind"] != "fp32"),
            (f"trained files slower than ptq by more than {args.most_trained}", "of_ptq", args.most_trained,
             lambda e: e["kind"] in networks.TRAINED),
            (f"errors above {args.most_error}", "error", args.most_error, lambda e: "error" in e))
        for title, key, most, is_meant in lists:
            list_worst(filter(is_meant, self.found), key, most, title,
                       lambda e: f"{e['kind']:18} {e['level']:10} {e['family']} {e['seed']}")
        gains = {}
        for entry in self.found:
            times = [t for t in entry.get("peers", {}).values() if t]
            if times and entry["kind"] != "fp32":
                gains.setdefault(entry["kind"], []).append(min(times) / entry["ms"])
        if gains:
            print("\ntime of the faster peer by that of Ingot, geometric mean and least:")
        for kind, values in gains.items():
            print(f"{float(np.exp(np.mean(np.log(values)))):8.2f} {min(values):8.2f}  {kind}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("families", nargs="*", metavar="FAMILY", help="of " + ", ".join(networks.FAMILIES))
    parser.add_argument("--seeds", type=int, default=3, help="networks of each family (default: 3)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default: 0)")
    parser.add_argument("--levels", default=",".join(LEVELS), help="CPU levels (default: %(default)s)")
    parser.add_argument("--kinds", default=",".join(networks.KINDS), help="kinds of files (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=4, help="turns of each file (default: 4)")
    parser.add_argument("--milliseconds", type=int, default=25, help="time of a turn (default: 25)")
    parser.add_argument("--most", type=float, default=1.03, help="list files above this ratio to fp32 (default: 1.03)")
    parser.add_argument("--most-trained", type=float, default=1.10, help="list trained files above it (default: 1.10)")
    parser.add_argument("--most-error", type=float, default=0.02, help="list files with a larger error (default: 0.02)")
    parser.add_argument("--peers", action="store_true", help="measure ONNX Runtime and OpenVINO too")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="where the tools are")
    parser.add_argument("--json", help="write all ratios here")
    args = parser.parse_args()
    args.levels, args.kinds = args.levels.split(","), args.kinds.split(",")
    for word, known in [(f, networks.FAMILIES) for f in args.families] + [(k, networks.KINDS) for k in args.kinds]:
        if word not in known:
            parser.error(f"unknown word: {word}; known ones are {', '.join(known)}")
    warnings.filterwarnings("ignore")
    sweep, start = Sweep(args), time.monotonic()
    for seed in range(args.first, args.first + args.seeds):
        for family in args.families or networks.FAMILIES:
            sweep.network(family, seed)
    sweep.report()
    write_json(args.json, {"most": args.most, "files": sweep.found})
    print(f"{len(sweep.found)} files after {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    run(main, "int8_networks.py")
