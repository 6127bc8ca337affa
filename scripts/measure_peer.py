#!/usr/bin/env python3
"""Measures one peer on one model in this fresh process; prints one JSON object. This file is embedded in `ingot`, which
calls it for `ingot bench`.

Python, numpy and the peer's library are loaded before the clock starts and before base_mb is read.
"""
import argparse
import json
import sys
import time

import numpy as np


def status_mb(key):
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(key)) / 1024


def open_onnxruntime(path, threads, inputs, precision, keep_open):
    import onnxruntime
    base, start = status_mb("VmRSS:"), time.perf_counter()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return base, start, lambda: session.run(None, inputs), onnxruntime.__version__


def open_openvino(path, threads, inputs, precision, keep_open):
    import openvino
    base, start = status_mb("VmRSS:"), time.perf_counter()
    core = openvino.Core()
    model = core.read_model(path)
    if not keep_open:
        model.reshape({name: list(value.shape) for name, value in inputs.items()})
    compiled = core.compile_model(model, "CPU", {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads,
                                                 "INFERENCE_PRECISION_HINT": precision})
    request = compiled.create_infer_request()
    for port in compiled.inputs:
        request.set_tensor(port, openvino.Tensor(inputs[port.get_any_name()]))

    def run():
        request.infer()
        return [request.get_output_tensor(i).data for i in range(len(compiled.outputs))]
    return base, start, run, openvino.__version__.partition('-')[0]


def timed(run, warm_up, seconds, least):
    """Returns the sorted times of all runs in milliseconds."""
    until = time.perf_counter() + warm_up
    while time.perf_counter() < until:
        run()
    times, until = [], time.perf_counter() + seconds
    while len(times) < 20000 and (len(times) < least or time.perf_counter() < until):
        t = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - t))
    return sorted(times)


def main():
    openers = {"onnxruntime": open_onnxruntime, "openvino": open_openvino}
    parser = argparse.ArgumentParser(prog="measure_peer.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=openers)
    parser.add_argument("model", metavar="MODEL.onnx")
    parser.add_argument("threads", type=int)
    parser.add_argument("seconds", type=float, help="0 stops after the first answer")
    parser.add_argument("inputs", nargs="*", metavar="NAME=FILE.npy")
    parser.add_argument("--turns", action="store_true",
                        help="measure SECONDS for every line on standard input, print an object each time")
    parser.add_argument("--precision", choices=["f32", "bf16"], default="f32",
                        help="OpenVINO's hint; ONNX Runtime has none for x86 and computes in fp32")
    parser.add_argument("--open", action="store_true", help="OpenVINO keeps the sizes open that the model leaves open")
    parser.add_argument("--save", metavar="OUTPUT.npy", help="where the first output goes")
    # Options may stand between and behind positional arguments.
    args = parser.parse_intermixed_args()
    inputs = {}
    for pair in args.inputs:
        name, _, file = pair.partition("=")
        inputs[name] = np.load(file)

    threads, seconds = args.threads, args.seconds
    base, start, run, version = openers[args.peer](args.model, threads, inputs, args.precision, args.open)
    opened = time.perf_counter()
    results = run()
    first = time.perf_counter()
    times = [1e3 * (first - opened)]
    if args.save:
        np.save(args.save, results[0])
    if args.turns:
        for _ in sys.stdin:
            times = timed(run, seconds / 4, seconds, 2)
            print(json.dumps({"median_ms": times[len(times) // 2], "min_ms": times[0], "runs": len(times)}), flush=True)
        return
    if seconds > 0:
        times = timed(run, seconds / 4, seconds, 5)
    print(json.dumps({"load_ms": 1e3 * (opened - start), "first_ms": 1e3 * (first - start),
                      "median_ms": times[len(times) // 2], "p95_ms": times[int(0.95 * (len(times) - 1))],
                      "min_ms": times[0], "runs": len(times), "base_mb": base, "peak_mb": status_mb("VmHWM:"),
                      "threads": threads, "version": version}))


if __name__ == "__main__":
    main()
