#!/usr/bin/env python3
"""Runs ONNX Runtime on samples, saves the outputs, and prints its version. This file is embedded in `ingot`, which
calls it for `ingot compare`.

usage: run_onnxruntime.py MODEL.onnx FOLDER SAMPLES THREADS INPUT... -- OUTPUT...

Input i of sample s is FOLDER/s.in.i.npy, output i becomes FOLDER/s.out.i.npy.
"""
import sys

import numpy as np
import onnxruntime


def main():
    model, folder, samples, threads, *names = sys.argv[1:]
    end = names.index("--")
    inputs, outputs = names[:end], names[end + 1:]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = int(threads), 1, 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    known = [i.name for i in session.get_inputs()]
    missing = [name for name in known if name not in inputs]
    if missing:
        sys.exit(f"the compiled model has no input '{missing[0]}', which ONNX Runtime needs")
    for sample in range(int(samples)):
        feed = {}
        for i, name in enumerate(inputs):
            if name in known:
                value = np.load(f"{folder}/{sample}.in.{i}.npy")
                feed[name] = value.astype(object) if value.dtype.kind == "U" else value
        for i, value in enumerate(session.run(outputs, feed)):
            if not isinstance(value, np.ndarray):
                sys.exit(f"output '{outputs[i]}' is no tensor")
            np.save(f"{folder}/{sample}.out.{i}.npy", value.astype(str) if value.dtype == object else value)
    print(onnxruntime.__version__)


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # one line, whatever is wrong with the model
        sys.exit(" ".join(str(error).split()))
