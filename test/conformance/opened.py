"""Makes a test's model with dynamic dimensions.

Every dimension of every input gets a unique name, and the model states no shapes of outputs and inner values. The
lengths of integer lists may decide ranks. The second form therefore keeps these lengths.
"""
import os

import onnx

FORMS = ("all", "but lists")

# Dimensions that decide a rank, the number of outputs, or if numbers are complex: (operand, dimension). If they are
# dynamic, nothing can be inferred of the model.
DECIDING = {"GatherND": (1, -1), "ScatterND": (1, -1), "DFT": (0, -1), "STFT": (0, -1), "SplitToSequence": (0, None)}


def name_dims(value, tensor, kept=()):
    """Gives the dimensions of a tensor's type unique names; returns their number."""
    if not tensor.HasField("shape"):
        return 0
    count = 0
    for i, dim in enumerate(tensor.shape.dim):
        if i in kept:
            continue
        dim.Clear()
        dim.dim_param = f"{value.name}_{i}"
        count += 1
    return count


def deciding_dims(graph):
    """Returns {input: its dimensions of DECIDING}."""
    ranks = {value.name: len(tensor_of(value).shape.dim) for value in graph.input}
    kept = {}
    for node in graph.node:
        operand, dim = DECIDING.get(node.op_type, (0, 0))
        if node.op_type not in DECIDING or operand >= len(node.input) or not ranks.get(node.input[operand]):
            continue
        if dim is None:
            dim = next((a.i for a in node.attribute if a.name == "axis"), 0)
        kept.setdefault(node.input[operand], set()).add(dim % ranks[node.input[operand]])
    return kept


def forget_dims(tensor):
    if tensor.HasField("shape"):
        for dim in tensor.shape.dim:
            dim.Clear()


def is_list(tensor):
    """Returns True if the tensor may be a list of sizes, axes or positions whose length the compiler requires."""
    dims = tensor.shape.dim
    return tensor.elem_type in (onnx.TensorProto.INT64, onnx.TensorProto.INT32) and len(dims) == 1 and \
        dims[0].HasField("dim_value") and dims[0].dim_value <= 16


def tensor_of(value):
    """Returns the tensor type of a value, or of the elements of a sequence or optional."""
    kind = value.type
    while not kind.HasField("tensor_type"):
        if kind.HasField("optional_type"):
            kind = kind.optional_type.elem_type
        elif kind.HasField("sequence_type"):
            kind = kind.sequence_type.elem_type
        else:
            return onnx.TypeProto.Tensor()
    return kind.tensor_type


def open_model(model, form):
    """Returns (the model, number of dynamic dimensions)."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    del result.graph.value_info[:]
    for output in result.graph.output:
        forget_dims(tensor_of(output))
    weights = {i.name for i in result.graph.initializer}
    kept = deciding_dims(result.graph)
    count = sum(name_dims(value, tensor_of(value), kept.get(value.name, ()))
                for value in result.graph.input if value.name not in weights and
                not (form == "but lists" and is_list(tensor_of(value))))
    return result, count


def write_case(folder, out, form):
    """Writes the case of `folder` with dynamic dimensions to `out`. Returns False if there is none to make dynamic."""
    model, count = open_model(onnx.load(os.path.join(folder, "model.onnx"), load_external_data=False), form)
    lines = []
    with open(os.path.join(folder, "options.txt")) as f:
        for line in f:
            words = line.rstrip("\n").split("\t")
            if words[0] == "shape":
                rank = words[2].count("x") + 1
                words[2], count = "x".join(["-1"] * rank), count + rank
            lines.append("\t".join(words) + "\n")
    if not count:
        return False
    os.makedirs(out)
    for file in os.listdir(folder):
        if file not in ("model.onnx", "options.txt"):
            os.symlink(os.path.abspath(os.path.join(folder, file)), os.path.join(out, file))
    with open(os.path.join(out, "model.onnx"), "wb") as f:
        f.write(model.SerializeToString())
    with open(os.path.join(out, "options.txt"), "w") as f:
        f.write("".join(lines))
    return True
