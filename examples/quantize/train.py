#!/usr/bin/env python3
"""Trains a small model that tells the state of a machine from twelve sensors, and writes it with samples.

usage: train.py [FOLDER]

Writes sensors.onnx, samples.npz for calibration, and eval.npz with labels. The model reads the sensors in their units, so
that some numbers are a thousand times larger than others. Needs only numpy and onnx.
"""
import os
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

SENSORS, HIDDEN, STATES = 12, 64, 8


def draw(rng, count, centers):
    """Returns readings without units, and the state of the machine in each."""
    states = rng.integers(0, STATES, count)
    return centers[states] + rng.standard_normal((count, SENSORS)), states


def train(x, states, rng, steps=800):
    """Returns weights and biases of two hidden layers, after gradient descent with momentum."""
    sizes = [SENSORS, HIDDEN, HIDDEN, STATES]
    weights = [rng.standard_normal(shape) * np.sqrt(2 / shape[0]) for shape in zip(sizes, sizes[1:])]
    parameters = weights + [np.zeros(size) for size in sizes[1:]]
    speeds = [np.zeros_like(one) for one in parameters]
    for _ in range(steps):
        batch = rng.integers(0, len(x), 128)
        layers = [x[batch]]
        for i in range(3):
            product = layers[-1] @ parameters[i] + parameters[3 + i]
            layers.append(np.maximum(product, 0) if i < 2 else product)
        shares = np.exp(layers[3] - layers[3].max(1, keepdims=True))
        slope = shares / shares.sum(1, keepdims=True)
        slope[np.arange(len(batch)), states[batch]] -= 1
        slope /= len(batch)
        for i in (2, 1, 0):
            changes = {i: layers[i].T @ slope, 3 + i: slope.sum(0)}
            slope = slope @ parameters[i].T * (layers[i] > 0)
            for at, change in changes.items():
                speeds[at] = 0.9 * speeds[at] - 0.05 * change
                parameters[at] += speeds[at]
    return parameters


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    rng = np.random.default_rng(7)
    centers = 1.5 * rng.standard_normal((STATES, SENSORS))
    x, states = draw(rng, 8000, centers)
    parameters = train(x, states, rng)
    # The units of the sensors become a part of the first layer.
    units = np.geomspace(0.005, 2, SENSORS)
    offsets = units * rng.uniform(-2, 2, SENSORS)
    parameters[3] = parameters[3] - (offsets / units) @ parameters[0]
    parameters[0] = parameters[0] / units[:, None]
    names = [f"w{i}" for i in range(3)] + [f"b{i}" for i in range(3)]
    nodes = []
    for i, source in enumerate(["sensors", "hidden0", "hidden1"]):
        target = "states" if i == 2 else f"product{i}"
        nodes.append(helper.make_node("Gemm", [source, f"w{i}", f"b{i}"], [target], f"layer{i}"))
        if i < 2:
            nodes.append(helper.make_node("Relu", [target], [f"hidden{i}"], f"relu{i}"))
    value = lambda name, size: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", size])
    graph = helper.make_graph(nodes, "sensors", [value("sensors", SENSORS)], [value("states", STATES)],
                              [numpy_helper.from_array(one.astype(np.float32), name)
                               for name, one in zip(names, parameters)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, os.path.join(folder, "sensors.onnx"))
    for name, count, has_labels in (("samples.npz", 300, False), ("eval.npz", 2000, True)):
        x, states = draw(rng, count, centers)
        np.savez(os.path.join(folder, name), sensors=(x * units + offsets).astype(np.float32),
                 **({"labels": states} if has_labels else {}))


if __name__ == "__main__":
    main()
