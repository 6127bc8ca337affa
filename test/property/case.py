"""A case of the property tests: nodes, data, and the tolerance of the result."""
import dataclasses

import numpy as np
from onnx import TensorProto, helper

# Tolerances relative to the largest absolute value of the output. A linear op may round each of its sums differently.
# The error of a function is added.
LINEAR = 1e-5
FUNCTIONS = {
    # Functions that are exact, or only as inexact as their arithmetic.
    "Relu": 0, "LeakyRelu": 0, "Clip": 0, "Neg": 0, "Abs": 0, "HardSigmoid": 0, "HardSwish": 0, "PRelu": 0,
    # Functions of e^x, which has an error of up to 2 ulps.
    "Sigmoid": 1e-6, "Swish": 2e-6, "Elu": 2e-6, "Selu": 2e-6, "Celu": 2e-6, "Exp": 1e-5,
    # Functions that are approximated by polynomials or quotients of them.
    "Tanh": 1e-5, "Erf": 1e-5, "Gelu": 1e-5, "Softplus": 1e-5, "Mish": 2e-5,
}
MAX_WORK = 3_000_000  # limit on the multiply-adds of a case; enough for several tasks


@dataclasses.dataclass
class Case:
    """Nodes to put into a model, and the tolerance of its output."""
    name: str
    text: str = ""
    nodes: list = dataclasses.field(default_factory=list)
    inputs: dict = dataclasses.field(default_factory=dict)  # name → array
    dynamic: dict = dataclasses.field(default_factory=dict)  # input or output → {axis: dimension's name}
    weights: dict = dataclasses.field(default_factory=dict)  # name → array
    output: str = ""
    rank: int = 0
    tolerance: float = LINEAR
    type: int = TensorProto.FLOAT  # type of the output
    opset: int = 17
    used: int = 0

    def value(self):
        self.used += 1
        return f"{self.name}_{self.used}"

    def node(self, op, inputs, **attributes):
        result = self.value()
        self.nodes.append(helper.make_node(op, inputs, [result], name=f"{result}_{op}", **attributes))
        return result

    def node_with(self, op, inputs, number, **attributes):
        """Adds a node whose output `number` is its only named output."""
        result = self.value()
        self.nodes.append(helper.make_node(op, inputs, [""] * number + [result], name=f"{result}_{op}", **attributes))
        return result

    def input(self, array):
        name = self.value()
        self.inputs[name] = array
        return name

    def weight(self, array):
        name = self.value()
        self.weights[name] = np.asarray(array)
        return name


def normal(rng, shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def some(rng, *choices, p=None):
    return choices[rng.choice(len(choices), p=p)]
