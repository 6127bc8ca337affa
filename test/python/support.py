"""Common parts of the tests of the Python packages: small models, and a folder for each test."""
import os
import shutil
import signal
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

import ingot


def make(nodes, inputs, outputs, constants=(), opset=21, name="model"):
    """Returns an ONNX model. Inputs and outputs are (name, type, shape)."""
    values = [[helper.make_tensor_value_info(*one) for one in side] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, name, *values, list(constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def node(operator, inputs, outputs, **attributes):
    return helper.make_node(operator, inputs, outputs, **attributes)


def add_one(shape=(1, 4), kind=TensorProto.FLOAT):
    """y = x + 1."""
    one = helper.make_tensor("one", kind, [], [1])
    return make([node("Add", ["x", "one"], ["y"])], [("x", kind, shape)], [("y", kind, shape)], [one])


def identity(kind, shape=(2, 3)):
    return make([node("Identity", ["x"], ["y"])], [("x", kind, shape)], [("y", kind, shape)])


def slow(size=768, layers=40):
    """A chain of matrix products that takes long enough to be ended early."""
    weights = np.full((size, size), 1 / size, np.float32)
    constant = onnx.numpy_helper.from_array(weights, "w")
    nodes = []
    for i in range(layers):
        nodes += [node("MatMul", [f"x{i}" if i else "x", "w"], [f"m{i}"]),
                  node("Softmax", [f"m{i}"], [f"x{i + 1}" if i + 1 < layers else "y"], axis=1)]
    return make(nodes, [("x", TensorProto.FLOAT, (size, size))], [("y", TensorProto.FLOAT, (size, size))], [constant])


def endless(steps=10**9, rows=1):
    """A loop of so many steps that only an interrupt ends a run."""
    scalars = [helper.make_tensor(name, kind, [], [value]) for name, kind, value in
               (("steps", TensorProto.INT64, steps), ("true", TensorProto.BOOL, True))]
    factor = helper.make_tensor("factor", TensorProto.FLOAT, [], [0.999])
    body = helper.make_graph(
        [node("Mul", ["v", "factor"], ["w"]), node("Identity", ["go"], ["goes"])], "body",
        [helper.make_tensor_value_info(*one) for one in (("i", TensorProto.INT64, []), ("go", TensorProto.BOOL, []),
                                                         ("v", TensorProto.FLOAT, (rows, 4)))],
        [helper.make_tensor_value_info(*one) for one in (("goes", TensorProto.BOOL, []),
                                                         ("w", TensorProto.FLOAT, (rows, 4)))], [factor])
    return make([node("Loop", ["steps", "true", "x"], ["y"], body=body)], [("x", TensorProto.FLOAT, (rows, 4))],
                [("y", TensorProto.FLOAT, (rows, 4))], scalars)


class Exported:
    """An object that has only DLPack."""

    def __init__(self, value):
        self.value = value

    def __dlpack__(self, **kw):
        return self.value.__dlpack__(**kw)

    def __dlpack_device__(self):
        return self.value.__dlpack_device__()


# A shell starts jobs in the background with SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Case(unittest.TestCase):
    """A test with a folder of its own. Models are compiled once for each class."""

    @classmethod
    def setUpClass(cls):
        cls.models = tempfile.mkdtemp(prefix="ingot-python-")
        cls.addClassCleanup(shutil.rmtree, cls.models, ignore_errors=True)
        os.environ["INGOT_CACHE"] = os.path.join(cls.models, "cache")

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ingot-python-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def at(self, name):
        return os.path.join(self.folder, name)

    def assert_fails(self, kinds, pattern, function, *args, **kw):
        """Asserts that a call raises one exception of all the given classes, whose message matches."""
        with self.assertRaisesRegex(ingot.Error, pattern) as caught:
            function(*args, **kw)
        for kind in kinds if isinstance(kinds, tuple) else (kinds,):
            self.assertIsInstance(caught.exception, kind)
        return caught.exception
