"""ONNX's own backend tests, as files: a model, its inputs, the expected outputs.

The tests come from the `onnx` Python package: its code makes the node tests, and its data folder has the others. They
are written once per version of `onnx`, one folder per test:
    model.onnx
    plan.txt            for the runner: one line per input, `SET NAME DTYPE DIMS FILE`
    options.txt         options for compiling, one per line: `length NAME N`, `absent NAME`, `shape NAME DIMS`
    case.json           kind, operators, tolerances, expected outputs
    SET_in_N.bin        raw elements, row-major, little-endian
    SET_out_N.npy       the expected output
"""
import fnmatch
import glob
import json
import os
import shutil
import warnings

import numpy as np
import onnx
from onnx import numpy_helper

KINDS = {"node": "node", "simple": "simple", "pytorch-converted": "pytorch-converted",
         "pytorch-operator": "pytorch-operator", "light": "real"}
FORMAT = 5  # version of the files; increase it when they change

# ONNX's numbers of the element types in a compiled model's interface, by numpy's names.
DTYPES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "string": 8, "bool": 9,
          "float16": 10, "float64": 11, "uint32": 12, "uint64": 13, "bfloat16": 16, "float8_e4m3fn": 17,
          "float8_e4m3fnuz": 18, "float8_e5m2": 19, "float8_e5m2fnuz": 20, "uint4": 21, "int4": 22,
          "float4_e2m1fn": 23, "float8_e8m0fnu": 24, "uint2": 25, "int2": 26, "float6_e2m3fn": 27, "float6_e3m2fn": 28}

# Bits of types below a byte, whose elements share bytes in a model's interface.
PACKED = {"uint4": 4, "int4": 4, "float4_e2m1fn": 4, "uint2": 2, "int2": 2, "float6_e2m3fn": 6, "float6_e3m2fn": 6}


def load_tests():
    """Returns (kind, test) for every test, sorted by kind and name."""
    from onnx.backend.test.loader import load_model_tests
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the node tests overflow and divide by zero on purpose
        found = [(kind, test) for kind, loader in KINDS.items() for test in load_model_tests(kind=loader)]
    return sorted(found, key=lambda pair: (list(KINDS).index(pair[0]), pair[1].name))


def read_proto(path, value_type):
    with open(path, "rb") as f:
        data = f.read()
    if value_type.HasField("sequence_type"):
        proto = onnx.SequenceProto.FromString(data)
        return numpy_helper.to_list(proto)
    if value_type.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


def light_set(path, model):
    """Makes the data set of a light model, which has only expected outputs. Its input is a ramp, as in ONNX's runner.
    """
    weights = {i.name for i in model.graph.initializer}
    inputs = []
    for value in model.graph.input:
        if value.name in weights:
            continue
        shape = [d.dim_value if d.HasField("dim_value") else 1 for d in value.type.tensor_type.shape.dim]
        count = int(np.prod(shape))
        inputs.append((np.arange(count).reshape(shape) / count).astype(np.float32))
    prefix = os.path.splitext(path)[0]
    outputs = [read_proto(f"{prefix}_output_{i}.pb", o.type) for i, o in enumerate(model.graph.output)]
    return [(inputs, outputs)]


def read_test(kind, test):
    """Returns (model bytes, data sets) of a test."""
    if test.model is not None:
        fix = lambda v: numpy_helper.to_array(v) if isinstance(v, onnx.TensorProto) else v
        sets = [([fix(v) for v in ins], [fix(v) for v in outs]) for ins, outs in test.data_sets]
        return test.model.SerializeToString(), sets
    if kind == "light":
        path = os.path.join(os.path.dirname(onnx.__file__), os.path.relpath(test.url, "onnx"))
        with open(path, "rb") as f:
            data = f.read()
        return data, light_set(path, onnx.load_from_string(data))
    with open(os.path.join(test.model_dir, "model.onnx"), "rb") as f:
        data = f.read()
    model = onnx.load_from_string(data)
    sets = []
    for folder in sorted(glob.glob(os.path.join(test.model_dir, "test_data_set*"))):
        def values(what, declared):
            count = len(glob.glob(os.path.join(folder, what + "_*.pb")))
            return [read_proto(os.path.join(folder, f"{what}_{i}.pb"), declared[i].type) for i in range(count)]
        sets.append((values("input", model.graph.input), values("output", model.graph.output)))
    return data, sets


def operators(model):
    """Returns the domain-qualified operator types of the model, including subgraphs."""
    found = set()

    def visit(graph):
        for node in graph.node:
            found.add(node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}")
            for attribute in node.attribute:
                for inner in ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs):
                    visit(inner)

    visit(model.graph)
    return sorted(found)


def subject(kind, name, ops):
    """Returns the operator that a node test is about. Tests of function bodies ("_expanded") contain other operators,
    and some tests contain helpers. Then the test's name decides."""
    if kind != "node":
        return None
    if len(ops) == 1:
        return ops[0]
    words = name.removeprefix("test_").removeprefix("ai_onnx_ml_").replace("_", "").lower()
    known = {s.name if s.domain == "" else f"{s.domain}.{s.name}" for s in onnx.defs.get_all_schemas()} | set(ops)
    fitting = [op for op in known if words.startswith(op.split(".")[-1].lower())]
    return max(fitting, key=len) if fitting else None


def name_of(dtype):
    """Returns the type's name in DTYPES. NumPy has strings of a fixed length, and objects."""
    return "string" if dtype.kind in "OUS" else dtype.name


def is_tensor(value):
    return isinstance(value, (np.ndarray, np.generic)) and name_of(np.asarray(value).dtype) in DTYPES


def spread(values):
    """Flattens sequences, because a compiled model returns each element of a sequence as a separate output."""
    return [e for v in values for e in (spread(v) if isinstance(v, list) else [v])]


def spread_inputs(names, values):
    """Yields (name, tensor). A compiled model takes the elements of a sequence as `x.0`, `x.1`, …, and no absent
    optional."""
    for name, value in zip(names, values):
        if isinstance(value, list):
            yield from ((f"{name}.{i}", element) for i, element in enumerate(value))
        elif value is not None:
            yield name, value


def compile_options(model, names, weights, sets):
    """Returns the lengths of sequences, the absent optionals, and the shapes of tensors that the model does not state.
    """
    options = []
    inputs = sets[0][0] if sets else []
    fed = names if len(inputs) == len(names) else [n for n in names if n not in weights]
    types = {value.name: value.type for value in model.graph.input}
    for name, value in zip(fed, inputs):
        inner = types[name].optional_type.elem_type if types[name].HasField("optional_type") else types[name]
        if value is None and types[name].HasField("optional_type"):
            options.append(("absent", name))
        elif isinstance(value, list):
            options.append(("length", name, str(len(value))))
            inner = inner.sequence_type.elem_type
        if inner is not types[name] and inner.HasField("tensor_type") and not inner.tensor_type.HasField("shape"):
            for part, tensor in spread_inputs([name], [value]):
                if np.ndim(tensor):
                    options.append(("shape", part, "x".join(map(str, np.shape(tensor)))))
    return options


def write_test(folder, kind, test):
    data, sets = read_test(kind, test)
    model = onnx.load_from_string(data)
    os.makedirs(folder)
    with open(os.path.join(folder, "model.onnx"), "wb") as f:
        f.write(data)
    weights = {i.name for i in model.graph.initializer}
    names = [i.name for i in model.graph.input]
    plan, unfit = [], None
    sets = [(list(inputs), spread(outputs)) for inputs, outputs in sets]
    options = compile_options(model, names, weights, sets)
    for s, (inputs, outputs) in enumerate(sets):
        # IR version 3 also lists weights as inputs. Weights are not fed, unless values for all inputs are given.
        fed = names if len(inputs) == len(names) else [n for n in names if n not in weights]
        for i, (name, value) in enumerate(spread_inputs(fed, inputs)):
            if not is_tensor(value):
                unfit = unfit or f"input {name} is not a tensor of a supported type"
                continue
            array = np.asarray(value)
            dims = "x".join(map(str, array.shape)) if array.ndim else "scalar"
            file = f"{s}_in_{i}.bin"
            pack(array).tofile(os.path.join(folder, file))
            plan.append(f"{s}\t{name}\t{DTYPES[name_of(array.dtype)]}\t{dims}\t{file}\n")
        for i, value in enumerate(outputs):
            if not is_tensor(value):
                unfit = unfit or f"output {i} is not a tensor of a supported type"
                continue
            # Types that numpy lacks are stored as bits; case.json has the type's name.
            array = np.ascontiguousarray(value).reshape(np.shape(value))
            if name_of(array.dtype) == "string":
                array = array.astype(str)
            stored = array if is_numpys(name_of(array.dtype)) else array.view(f"u{array.dtype.itemsize}")
            np.save(os.path.join(folder, f"{s}_out_{i}.npy"), stored)
    with open(os.path.join(folder, "plan.txt"), "w") as f:
        f.write("".join(plan))
    with open(os.path.join(folder, "options.txt"), "w") as f:
        f.write("".join("\t".join(option) + "\n" for option in options))
    ops = operators(model)
    with open(os.path.join(folder, "case.json"), "w") as f:
        json.dump({"name": test.name, "kind": kind, "ops": ops, "subject": subject(kind, test.name, ops),
                   "rtol": test.rtol, "atol": test.atol, "unfit": unfit, "sets": len(sets),
                   "outputs": [[name_of(np.asarray(v).dtype) if is_tensor(v) else "?" for v in outs]
                               for _, outs in sets]}, f)


def prepare(root):
    """Writes all tests under `root`, unless they exist, and returns their folders by name."""
    stamp = os.path.join(root, "stamp")
    wanted = f"onnx {onnx.__version__}, format {FORMAT}\n"
    if not os.path.exists(stamp) or open(stamp).read() != wanted:
        shutil.rmtree(root, ignore_errors=True)
        os.makedirs(root)
        for kind, test in load_tests():
            write_test(os.path.join(root, kind, test.name), kind, test)
        with open(stamp, "w") as f:
            f.write(wanted)
    return {f"{kind}/{name}": os.path.join(root, kind, name)
            for kind in KINDS for name in sorted(os.listdir(os.path.join(root, kind)))}


# The random results of these tests do not follow from the operator's specification, so only shapes and types are
# compared.
DRAWN = ("test_bernoulli*", "test_training_dropout*")


def is_drawn(name):
    return "zero_ratio" not in name and any(fnmatch.fnmatch(name, p) for p in DRAWN)


def expected_outputs(folder, case, data_set):
    values = []
    for i, dtype in enumerate(case["outputs"][data_set]):
        array = np.load(os.path.join(folder, f"{data_set}_out_{i}.npy"), allow_pickle=False)
        values.append(array if dtype == "string" or is_numpys(dtype) else array.view(dtype_of(dtype)))
    return values


def is_numpys(name):
    return np.dtype(dtype_of(name)).type.__module__ == "numpy"


def dtype_of(name):
    import ml_dtypes
    if name == "string":
        return "str"
    return getattr(ml_dtypes, name, name)


def pack(array):
    """Returns the bytes that a model takes."""
    array = np.ascontiguousarray(array)
    if name_of(array.dtype) == "string":
        words = [text.encode() for text in array.astype(str).reshape(-1)]
        offsets = np.cumsum([0] + [len(word) for word in words], dtype=np.int64)
        return np.frombuffer(offsets.tobytes() + b"".join(words), np.uint8)
    bits = PACKED.get(array.dtype.name)
    if not bits:
        return array
    codes = array.reshape(-1).view(np.uint8)
    return np.packbits(np.unpackbits(codes[:, None], axis=1, count=bits, bitorder="little"), bitorder="little")


def unpack(data, name, shape):
    """Returns the array in a model's bytes."""
    if name == "string":
        count = int(np.prod(shape))
        offsets, text = data[:8 * (count + 1)].view(np.int64), data[8 * (count + 1):].tobytes()
        words = [text[start:end].decode() for start, end in zip(offsets, offsets[1:])]
        return np.array(words, dtype=str).reshape(shape)
    bits = PACKED.get(name)
    if not bits:
        return data.view(dtype_of(name)).reshape(shape)
    codes = np.unpackbits(data, count=int(np.prod(shape)) * bits, bitorder="little").reshape(-1, bits)
    return np.packbits(codes, axis=1, bitorder="little").reshape(-1).view(dtype_of(name)).reshape(shape)
