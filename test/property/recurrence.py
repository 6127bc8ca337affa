"""Recurrent networks of dynamic and fixed sizes, with all of ONNX's options."""
import numpy as np
from onnx import TensorProto

from case import FUNCTIONS, LINEAR, Case, normal, some

# Functions without parameters, or with the defaults of ONNX Runtime. They have no jumps, where a difference in the last
# place would become large.
BOUNDED = ("Tanh", "Sigmoid", "Softsign", "HardSigmoid")
ACTIVATIONS = BOUNDED + ("Relu", "Softplus", "Elu", "LeakyRelu")


def sequence_case(rng, name):
    """Draws one output of RNN, GRU or LSTM: all steps, or the last state, so that no steps are stored."""
    case = Case(name)
    op, gates, count = some(rng, ("LSTM", 4, 3), ("GRU", 3, 2), ("RNN", 1, 1), p=[0.45, 0.4, 0.15])
    steps, width = int(rng.integers(1, 9)), int(rng.integers(1, 40))
    batch = some(rng, 1, 2, 3, 7, 8, 9, 16, 21, 31)
    hidden = int(rng.integers(1, 20)) if rng.random() < 0.5 else some(rng, 31, 32, 33, 64, 70, 128)
    direction = some(rng, "forward", "reverse", "bidirectional", p=[0.3, 0.2, 0.5])
    directions = 2 if direction == "bidirectional" else 1
    open_axes = {axis: f"{name}_{letter}" for axis, letter in ((0, "t"), (1, "b")) if rng.random() < 0.5}
    bias, initial, lengths, peepholes = (rng.random() < 0.7, rng.random() < 0.4, rng.random() < 0.4,
                                         op == "LSTM" and rng.random() < 0.4)
    attributes = {"hidden_size": hidden, "direction": direction}
    if op == "GRU":
        attributes["linear_before_reset"] = int(rng.integers(0, 2))
    if op == "LSTM" and rng.random() < 0.2:
        attributes["input_forget"] = 1
    if rng.random() < 0.4:
        # Draws the functions of one direction; the second direction sometimes has others.
        def draw():
            # The first function is bounded: a state times an unbounded gate would grow without limit.
            return [some(rng, *(BOUNDED if i == 0 else ACTIVATIONS)) for i in range(count)]
        own = draw()
        other = draw() if rng.random() < 0.3 else own
        attributes["activations"] = (own + other)[:count * directions]
    shown = int(rng.integers(0, 3 if op == "LSTM" else 2))
    case.text = (f"{op} {steps} x {batch} x {width} -> {hidden}, open {sorted(open_axes)}{', bias' * bias}"
                 f"{', initial state' * initial}{', lengths' * lengths}{', peepholes' * peepholes}, output {shown}, "
                 f"{attributes}:")
    x = case.input(normal(rng, [steps, batch, width]))
    case.dynamic[x] = open_axes
    of_batch = {0: open_axes[1]} if 1 in open_axes else {}
    scale = 0.5 * hidden ** -0.5
    inputs = [x, case.weight(normal(rng, [directions, gates * hidden, width], width ** -0.5)),
              case.weight(normal(rng, [directions, gates * hidden, hidden], scale)),
              case.weight(normal(rng, [directions, 2 * gates * hidden], 0.5)) if bias else ""]
    if lengths:
        given = case.input(rng.uniform(1, steps + 0.9, batch).astype(np.float32))
        case.dynamic[given] = of_batch
        inputs.append(case.node("Cast", [given], to=TensorProto.INT32))
    else:
        inputs.append("")
    for _ in range(2 if op == "LSTM" else 1):
        if initial:
            inputs.append(case.input(normal(rng, [directions, batch, hidden], 0.5)))
            if of_batch:
                case.dynamic[inputs[-1]] = {1: open_axes[1]}
        else:
            inputs.append("")
    if peepholes:
        inputs.append(case.weight(normal(rng, [directions, 3 * hidden], 0.5)))
    y = case.node_with(op, inputs, shown, **attributes)
    case.output = case.node("Neg", [y])
    # Each step adds errors of its sums and function to the state, and mostly damps earlier errors.
    case.tolerance = 3 * (LINEAR + FUNCTIONS["Tanh"] + FUNCTIONS["Softplus"])
    case.rank = 4 if shown == 0 else 3
    return case
