#!/usr/bin/env python3
"""Runs ONNX Runtime in a separate process: reference.py MODEL.onnx INPUTS.npz OUTPUTS.npz [--as-written | --nudged].

--as-written turns its optimizations off, --nudged changes the inputs by a hundred-thousandth.
"""
import sys

import numpy as np
import onnxruntime


def as_array(result):
    """Returns ZipMap's maps as rows of their values, with strings as numpy has them."""
    if isinstance(result, list) and result and isinstance(result[0], dict):
        return np.array([list(row.values()) for row in result], np.float32)
    result = np.asarray(result)
    return result.astype(str) if result.dtype == object else result


def main():
    model, inputs, outputs, *rest = sys.argv[1:]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    if rest == ["--as-written"]:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    values = {key: value.astype(object) if value.dtype.kind == "U" else value for key, value in np.load(inputs).items()}
    if rest == ["--nudged"]:
        rng = np.random.default_rng(0)
        values = {key: value * (1 + 1e-5 * rng.standard_normal(value.shape)).astype(value.dtype)
                  if value.dtype.kind == "f" else value for key, value in values.items()}
    known = {i.name for i in session.get_inputs()}
    results = session.run(None, {key: value for key, value in values.items() if key in known})
    np.savez(outputs, **{f"{n}:{o.name}": as_array(r) for n, (o, r) in enumerate(zip(session.get_outputs(), results))})


if __name__ == "__main__":
    main()
