"""The interface of a task: a trained model, and data with labels."""
import importlib
import importlib.util
import os
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))


@dataclass
class Data:
    model: onnx.ModelProto
    # An array for each input; the first dimension counts samples.
    inputs: dict
    labels: np.ndarray


class Task:
    # A line for the page: the model, the data and the meaning of a right result.
    about = ""
    metric = None
    # The samples in a run of the model, and the samples for calibration. Half of the rest is for `auto`, and half is
    # held out.
    batch, calibration = 1, 200
    # True if `data` trains the model, with another seed each time.
    is_trained_here = False
    # True if most of the weights are matrices, which w4 quantizes.
    has_matrices = False

    def data(self, seed):
        raise NotImplementedError


def names():
    return sorted(name[:-3] for name in os.listdir(os.path.join(HERE, "models")) if name.endswith(".py"))


def load(name):
    """Returns the task of models/NAME.py."""
    return importlib.import_module(f"models.{name}").Task()


def file_of(package, *parts):
    """Returns a file of an installed package, without importing the package."""
    found = importlib.util.find_spec(package)
    if not found or not found.origin:
        raise SystemExit(f"accuracy: the package of {package} is missing: run `make accuracy`")
    return os.path.join(os.path.dirname(found.origin), *parts)


def with_sizes(model, sizes):
    """Returns a copy of a model whose inputs have these sizes."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for value in copy.graph.input:
        if value.name in sizes:
            del value.type.tensor_type.shape.dim[:]
            for size in sizes[value.name]:
                value.type.tensor_type.shape.dim.add().dim_value = size
    return copy


def with_constants(model, values):
    """Turns inputs of a model into constants."""
    kept = [value for value in model.graph.input if value.name not in values]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray(array), name) for name, array in values.items())
    return model


def with_outputs(model, names):
    """Keeps the named outputs, and gives them plain names: y0, y1 and so on."""
    known = {value.name: value for value in model.graph.output}
    del model.graph.output[:]
    for i, name in enumerate(names):
        model.graph.node.append(onnx.helper.make_node("Identity", [name], [f"y{i}"], name=f"/output/{i}"))
        value = onnx.ValueInfoProto()
        value.CopyFrom(known[name])
        value.name = f"y{i}"
        model.graph.output.append(value)
    return model


def run_onnxruntime(model, inputs, batch):
    """Returns the first output of ONNX Runtime for all samples."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    count = len(next(iter(inputs.values())))
    return np.concatenate([session.run(None, {n: a[i:i + batch] for n, a in inputs.items()})[0]
                           for i in range(0, count, batch)])
