# Every broken model gives one clear line and a failure, and nothing on stdout.
# RUN: rm -rf %t && mkdir -p %t
# RUN: %python %s %t
import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh
from onnx import parser

out = sys.argv[1]
failures = 0
passed = []


def check(name, content, *expected, args=()):
    """Imports `content` (bytes, text or a model) and looks for all `expected`."""
    global failures
    if isinstance(content, onnx.ModelProto):
        content = content.SerializeToString()
    if isinstance(content, str):
        path = os.path.join(out, name + ".onnxtxt")
        content = content.encode()
    else:
        path = os.path.join(out, name + ".onnx")
    if content is not None:
        with open(path, "wb") as f:
            f.write(content)
    run_check(name, path, expected, args)


def run_check(name, path, expected, args=()):
    global failures
    run = subprocess.run(["ingot-import", path, *args], capture_output=True,
                         timeout=120)
    error = run.stderr.decode(errors="replace")
    problems = [e for e in (os.path.basename(path), *expected) if e not in error]
    if run.returncode != 1 or run.stdout or error.count("\n") != 1 or problems:
        failures += 1
        print(f"FAILED {name}: exit code {run.returncode}, missing {problems}\n"
              f"{error}{run.stdout.decode(errors='replace')[:2000]}")
    else:
        passed.append(name)


def model(nodes, inputs=("x",), outputs=("y",), init=(), shape=(1, 4, 8, 8),
          opset=17, **kwargs):
    def info(names):
        return [n if not isinstance(n, str)
                else h.make_tensor_value_info(n, T.FLOAT, shape) for n in names]
    graph = h.make_graph(nodes, "g", info(inputs), info(outputs), list(init))
    kwargs.setdefault("opset_imports", [h.make_opsetid("", opset)])
    return h.make_model(graph, ir_version=8, **kwargs)


def relu(x="x", y="y", name="act"):
    return h.make_node("Relu", [x], [y], name=name)


good = model([relu()])

# ---- files that are no models
check("empty", b"", "the file is empty")
check("random", np.random.default_rng(0).bytes(5000), "not an ONNX model")
data = model([h.make_node("MatMul", ["x", "w"], ["y"])], shape=(64, 64),
             init=[nh.from_array(np.ones((64, 64), np.float32), "w")])
data = data.SerializeToString()
for cut in (3, 20, 40, 100, 2000, len(data) - 1):
    check(f"truncated-{cut}", data[:cut], "")
check("lfs", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
      "Git LFS pointer", "git lfs pull")
check("html", b"<!DOCTYPE html><html><body>404</body></html>", "web page")
check("zip", b"PK\x03\x04" + bytes(100), "zip archive")
check("tflite", b"\x1c\0\0\0TFL3" + bytes(100), "TensorFlow Lite")
check("text", "hello, world", "not an ONNX model", "the file is text")
check("json", '{"irVersion": "8"}', "not an ONNX model", "JSON")
check("elf", b"\x7fELF" + bytes(100), "a program or a library")
check("compiled", b"\x7fELF" + bytes(100) + b"\0ingot_artifact_v2\0",
      "a compiled model already", "ingot run", "ingot.load")
check("npy", b"\x93NUMPY\x01\0" + bytes(100), "an array of NumPy")
check("png", b"\x89PNG\r\n\x1a\n" + bytes(100), "a picture")
check("jpeg", b"\xff\xd8\xff\xe0" + bytes(100), "a picture")
check("gzip", b"\x1f\x8b\x08\0" + bytes(100), "with gzip; unpack it")
check("zstd", b"\x28\xb5\x2f\xfd" + bytes(100), "with zstd; unpack it")
check("xz", b"\xfd7zXZ\0" + bytes(100), "with xz; unpack it")
check("ort", b"\x1c\0\0\0ORTM" + bytes(100), "ONNX Runtime's own format")
check("hdf5", b"\x89HDF\r\n\x1a\n" + bytes(100), "HDF5")
run_check("missing", os.path.join(out, "missing.onnx"), ["No such file"])
os.mkdir(os.path.join(out, "folder.onnx"))
run_check("folder", os.path.join(out, "folder.onnx"), ["is a directory"])
os.mkfifo(os.path.join(out, "fifo.onnx"))
run_check("fifo", os.path.join(out, "fifo.onnx"), ["not a regular file"])
check("text-syntax", "<ir_version: 8, opset_import: [\"\": 17]>\n"
      "g (float[4] x) => (float[4] y) { y = Relu(x }", "ONNX text, line 2")
check("text-deep", "<ir_version: 8, opset_import: [\"\": 17]>\n"
      "g (" + "seq(" * 100000 + "float[4] x) => (float[4] y) { y = Relu(x) }",
      "nested more than")

# ---- versions
m = onnx.ModelProto()
m.CopyFrom(good)
m.ir_version = 99
check("ir-new", m, "IR version 99 is newer")
m.ir_version = 2
check("ir-old", m, "IR version 2 is older")
check("opset-new", model([relu()], opset=999), "opset 999 is newer")
check("opset-old", model([h.make_node("Pad", ["x"], ["y"], name="p", paddings=[1] * 8)], opset=1),
      "opset 1 is older than 7")
m = onnx.ModelProto()
m.ir_version = 8
check("no-graph", m, "no graph")
check("unknown-op", model([h.make_node("Frobnicate", ["x"], ["y"], name="frob")]),
      "node 'frob'", "Frobnicate")
check("experimental-op", model([h.make_node("Crop", ["x"], ["y"], name="crop")]),
      "node 'crop'", "experimental")
check("no-domain", model([h.make_node("Foo", ["x"], ["y"], domain="acme")]), "node 'Foo:y' (Foo)", "acme")

# ---- graphs
check("cycle", model([h.make_node("Add", ["x", "b"], ["a"], name="first"),
                      h.make_node("Relu", ["a"], ["b"], name="second"),
                      relu("b")]),
      "the graph has a cycle: node 'first' (Add) takes a result of node 'second' (Relu), "
      "which takes a result of node 'first' (Add)")
check("self-loop", model([h.make_node("Add", ["x", "y"], ["y"], name="loop")]), "cycle", "node 'loop' (Add) takes its own result")
check("missing-input", model([relu("nowhere")]), "node 'act' (Relu): input 'nowhere' is defined nowhere")
check("missing-output", model([relu("x", "z")]), "'y'")
check("duplicate-value", model([relu("x", "a"), relu("x", "a"), relu("a")]), "'a'")
check("duplicate-input", model([relu()], inputs=("x", "x")), "'x'")
check("shadowed-input", model([relu("x", "x"), relu()]), "'x'")
w = nh.from_array(np.ones(4, np.float32), "w")
check("duplicate-initializer",
      model([h.make_node("Add", ["x", "w"], ["y"])], init=[w, w]), "two initializers 'w'")
check("no-inputs", model([h.make_node("Conv", ["x"], ["y"], name="c")]), "'c'")
check("too-many-inputs", model([h.make_node("Relu", ["x", "x"], ["y"], name="r")]), "'r'")

# ---- attributes
def conv(**attrs):
    weight = nh.from_array(np.ones((4, 4, 3, 3), np.float32), "w")
    return model([h.make_node("Conv", ["x", "w"], ["y"], name="conv1", **attrs)],
                 init=[weight])

for attr, value in (("strides", [0, 1]), ("strides", [-1, 1]), ("dilations", [0, 0]),
                    ("kernel_shape", [3, 0]), ("kernel_shape", [-3, 3]), ("group", 0),
                    ("group", -2), ("strides", [2 ** 40, 1]), ("pads", [2 ** 60] * 4)):
    check(f"conv-{attr}-{np.ravel(value)[0]}", conv(**{attr: value}), "node 'conv1' (Conv)",
          f"attribute '{attr}'", str(np.ravel(value).min() if np.min(value) < 1 else np.max(value)))
for op in ("MaxPool", "AveragePool", "LpPool"):
    check(f"{op}-strides", model([h.make_node(op, ["x"], ["y"], name="p",
                                              kernel_shape=[2, 2], strides=[0, 1])]),
          f"node 'p' ({op})", "strides")
    check(f"{op}-kernel", model([h.make_node(op, ["x"], ["y"], name="p",
                                             kernel_shape=[0, 2])]),
          f"node 'p' ({op})", "kernel_shape")
check("depth-to-space", model([h.make_node("DepthToSpace", ["x"], ["y"], name="d",
                                           blocksize=0)]), "node 'd'", "blocksize")
check("attr-type", conv(group=1.5), "conv1", "group")
check("attr-type-2", conv(strides="abc"), "conv1", "strides")
check("attr-unknown", conv(colour=3), "conv1", "colour")
m = conv()
for _ in range(2):
    m.graph.node[0].attribute.add(name="group", type=onnx.AttributeProto.INT, i=1)
check("attr-twice", m, "conv1", "group")
m = conv()
m.graph.node[0].attribute.add(name="group", type=onnx.AttributeProto.FLOAT, i=1)
check("attr-mismatch", m, "conv1", "group")

# ---- tensors
def tensor(change):
    t = nh.from_array(np.ones((4, 4, 3, 3), np.float32), "w")
    change(t)
    return model([h.make_node("Conv", ["x", "w"], ["y"], name="conv1")], init=[t])

def edit(**fields):
    def change(t):
        for key, value in fields.items():
            if isinstance(value, list):
                del getattr(t, key)[:]
                getattr(t, key).extend(value)
            else:
                setattr(t, key, value)
    return change

check("raw-short", tensor(edit(raw_data=bytes(100))), "'w'", "100 bytes", "576")
check("raw-long", tensor(edit(raw_data=bytes(4000))), "'w'", "4000 bytes", "576")
check("raw-huge-dims", tensor(edit(dims=[2 ** 62, 4])), "'w'", "too large")
check("raw-overflow", tensor(edit(dims=[2 ** 32, 2 ** 32])), "'w'", "too large")
check("negative-dim", tensor(edit(dims=[4, -4, 3, 3])), "'w'", "negative")
check("element-count", tensor(edit(dims=[4, 4, 3, 2])), "'w'", "576 bytes", "384")
check("rank-huge", tensor(edit(dims=[1] * 1000)), "'w'", "1000 dimensions")
check("type-unknown", tensor(edit(data_type=77)), "'w'", "77")
check("type-undefined", tensor(edit(data_type=0)), "'w'", "0")
check("two-data", tensor(lambda t: t.float_data.append(1.0)), "w")
m = tensor(edit(raw_data=b"", float_data=[1.0, 2.0]))
check("float-count", m, "'w'", "2 values", "144")
big = nh.from_array(np.ones((64, 64), np.float32), "w")
big.dims[0] = 63
check("large-count", model([h.make_node("MatMul", ["x", "w"], ["y"])], shape=(64, 64),
                           init=[big]), "'w'", "16384 bytes", "16128")
m = conv()
m.graph.input.append(h.make_tensor_value_info("w", T.FLOAT, [4, 4]))
check("initializer-rank", m, "'w'", "rank 4", "rank 2")
m = conv()
m.graph.input.append(h.make_tensor_value_info("w", T.INT64, [4, 4, 3, 3]))
check("initializer-type", m, "'w'", "float", "int64")
m = model([relu()], inputs=[h.make_tensor_value_info("x", T.FLOAT, [2 ** 40, 2 ** 40])])
check("input-huge", m, "input 'x'", "too large")
m = model([relu()], inputs=[h.make_tensor_value_info("x", T.FLOAT, [2, -7])])
check("input-negative", m, "input 'x'", "-7")
m = model([relu()], inputs=[h.make_tensor_value_info("x", 55, [2])])
check("input-type", m, "input 'x'", "55")
m = model([relu()], inputs=[h.make_tensor_value_info("x", T.FLOAT, None)])
check("input-no-shape", m, "input 'x' has no shape", "--shape")

def sparse(indices, dims, values=2):
    v = nh.from_array(np.ones(values, np.float32), "s")
    i = nh.from_array(np.array(indices, np.int64), "i")
    m = model([h.make_node("Add", ["x", "s"], ["y"])])
    m.graph.sparse_initializer.append(h.make_sparse_tensor(v, i, dims))
    return m

check("sparse-bounds", sparse([0, 99], [8]), "out of range")
check("sparse-order", sparse([3, 1], [8]), "sorted")
check("sparse-huge", sparse([0, 1], [2 ** 30, 2 ** 9]), "too large")
check("sparse-overflow", sparse([0, 1], [2 ** 31, 2 ** 31, 4]), "")
check("sparse-twice", sparse([3, 3], [8]), "occurs twice")
check("sparse-count", sparse([3], [8]), "'s'", "[2] or [2, 1]")
check("sparse-grid", sparse([[0, 1, 2], [1, 1, 1]], [4, 4]), "'s'", "[2] or [2, 2]")
check("sparse-scalar", sparse([0, 1], []), "'s'", "no dimensions")
check("sparse-empty-dim", sparse([0, 1], [0, 4]), "'s'", "must be positive")
m = sparse([0, 1], [2 ** 27])
m.graph.sparse_initializer.extend(m.graph.sparse_initializer[0] for _ in range(2))
for i, s in enumerate(m.graph.sparse_initializer):
    s.values.name = f"s{i}" if i else "s"
check("sparse-many", m, "'s2'", "too large")
# 200 MB of indices and values are read, and rejected since an index is out of range.
big = np.arange(12_500_000, dtype=np.int64)
big[-1] = 0
m = sparse([0], [len(big)], len(big))
m.graph.sparse_initializer[0].indices.CopyFrom(nh.from_array(big, "i"))
check("sparse-200-mb", m, "'s'", "sorted")
os.remove(os.path.join(out, "sparse-200-mb.onnx"))
del m, big

# ---- forged tickets, as the importer writes them
def forged(*entries, tensors=1):
    m = model([h.make_node("Add", ["x", "w0"], ["y"])], shape=[5000],
              init=[nh.from_array(np.ones(5000, np.float32), f"w{i}") for i in range(tensors)])
    for key, value in entries:
        t = m.graph.initializer.add(name=f"f{len(m.graph.initializer)}", data_type=T.FLOAT, dims=[5000],
                                    data_location=T.EXTERNAL)
        t.external_data.add(key=key, value=value)
    return m

check("forged", forged(("ingot.blob", "0:20000")), "damaged")
check("forged-number", forged(("ingot.blob", "1:20000")), "'f1'", "'ingot.blob'", "reserved")
check("forged-size", forged(("ingot.blob", "0:20001")), "'f1'", "reserved")
check("forged-text", forged(("ingot.blob", "0")), "'f1'", "reserved")
m = forged()
m.graph.initializer[0].external_data.add(key="ingot.blob", value="0:20000")
m.graph.initializer[0].data_location = T.EXTERNAL
check("forged-beside-data", m, "")
# Gives a field twice. protobuf merges both, so that the tensor consists of two parts.
part = h.make_graph([], "g", [], [], [nh.from_array(np.ones(5000, np.float32), "w")])
node = h.make_node("Constant", [], ["w"], value=part.initializer[0])
data = node.attribute[0].t.SerializeToString()
size = len(data)
field = b"\x2a" + bytes([size & 0x7f | 0x80, size >> 7 & 0x7f | 0x80, size >> 14]) + data
attribute = b"\x0a\x05value\xa0\x01\x04" + field + field
node.ClearField("attribute")
m = model([node, h.make_node("Add", ["x", "w"], ["y"])], shape=[5000])

def varint(value):
    return bytes([value & 0x7f | 0x80]) + varint(value >> 7) if value >= 0x80 else bytes([value])
def delimited(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload
twice = delimited(1, node.SerializeToString() + delimited(5, attribute))
graph = m.graph.SerializeToString()
graph = graph.replace(delimited(1, node.SerializeToString()), twice, 1)
m.ClearField("graph")
check("merged-tensor", m.SerializeToString() + delimited(7, graph), "Constant", "reserved")

# ---- operands
for op in ("Max", "Min", "Mean", "Sum"):
    for opset in (8, 11, 17):
        for inputs in (["x", ""], ["", "x"], ["x", "", "x"]):
            check(f"absent-{op}-{opset}-{inputs.index('')}-{len(inputs)}",
                  model([h.make_node(op, inputs, ["y"], name="some")], opset=opset), "node 'some'", op, "is absent")
check("absent-conv", model([h.make_node("Conv", ["x", ""], ["y"], name="some")]), "node 'some'", "'W'", "is absent")
check("absent-gather", model([h.make_node("Gather", ["", "x"], ["y"], name="some")]), "'data'", "is absent")
check("few-inputs", model([h.make_node("Conv", ["x"], ["y"], name="some")]), "node 'some'")
check("many-inputs", model([h.make_node("Relu", ["x", "x"], ["y"], name="some")]), "node 'some'")

# ---- names
for place, m in {
        "value": model([relu("x\0a"), relu("x", "z", "b")], inputs=["x", "x\0a"]),
        "node": model([relu(name="act\0ion")]),
        "operator": model([h.make_node("Relu\0Abs", ["x"], ["y"])]),
        "dimension": model([relu()], shape=["n\0m", 4, 8, 8]),
        "initializer": model([h.make_node("Add", ["x", "w\0"], ["y"])],
                             init=[nh.from_array(np.ones(8, np.float32), "w\0")])}.items():
    check(f"nul-{place}", m, f"a{'n' if place[0] in 'aeiou' else ''} {place}", "\\x00", "NUL")
for place, name in {"newline": "a\nb", "control": "a\x1b[31mb", "backslash": "a\\nb", "long": "a" * 100000 + "b",
                    "direction": "a\u202eb"}.items():
    shown = {"newline": "a\\nb", "control": "a\\x1B[31mb", "backslash": "a\\\\nb", "long": "a" * 40 + "\u2026" + "a" * 30,
             "direction": "a\\xE2\\x80\\xAEb"}[place]
    shown = shown.replace("a" * 40 + "\u2026" + "a" * 30, "a" * 80 + "\u2026" + "a" * 39 + "b")
    check(f"name-{place}", model([h.make_node("Conv", ["x", ""], ["y"], name=name)]), f"node '{shown}'", "is absent")
    check(f"input-name-{place}", model([relu(name + "x")]), "is defined nowhere")

# ---- functions and nesting
def functions(*texts):
    return ('<ir_version: 8, opset_import: ["": 17, "local": 1]>\n'
            "g (float[4] x) => (float[4] y) { y = local.f0(x) }\n"
            + "\n".join('<domain: "local", opset_import: ["": 17, "local": 1]>\n' + t
                        for t in texts))

check("recursive", functions("f0 (a) => (b) { b = local.f0(a) }"), "recursive")
check("mutually-recursive", functions("f0 (a) => (b) { b = local.f1(a) }",
                                      "f1 (a) => (b) { b = local.f0(a) }"), "recursive")
check("few-arguments", functions("f0 (a, b) => (c) { c = Add(a, b) }"), "node 'Add:c'", "'B'", "is absent")

bomb = [f"f{i} (a) => (b) {{ t = local.f{i + 1}(a)  b = local.f{i + 1}(t) }}"
        for i in range(40)] + ["f40 (a) => (b) { b = Relu(a) }"]
check("exponential", functions(*bomb), "more than 100000 nodes", "--limit=function-nodes")

graph = h.make_graph([h.make_node("Identity", ["x"], ["z"])], "leaf", [],
                     [h.make_tensor_value_info("z", T.FLOAT, [4])])
for depth in range(31):
    graph = h.make_graph([h.make_node("If", ["c"], ["z"], then_branch=graph,
                                      else_branch=graph if depth < 2 else None)],
                         f"level{depth}", [],
                         [h.make_tensor_value_info("z", T.FLOAT, [4])])
m = model([h.make_node("If", ["c"], ["y"], name="if", then_branch=graph)], shape=[4],
          inputs=["x", h.make_tensor_value_info("c", T.BOOL, [])])
check("deep", m, "nested")

# ---- options
named = model([relu()], inputs=[h.make_tensor_value_info("x", T.FLOAT, ["N", 3, "H"])])
check("dim-unknown", named, "no dimension named 'M'", "N, H", args=["--dim", "M=1"])
check("dim-negative", named, "'N'", "-1", args=["--dim", "N=-1"])
check("shape-unknown", named, "no input named 'z'", "'x' (Nx3xH)", args=["--shape", "z=1"])
check("shape-rank", named, "2 dimensions", "3", args=["--shape", "x=1x3"])
check("shape-fixed", named, "dimension 1 4", "Nx3xH", args=["--shape", "x=1x4x2"])
check("dim-conflict", named, "'N'", args=["--shape", "x=1x3x2", "--dim", "N=2"])
check("control-characters", model([relu("no\nwhere\x1b[31m", name="a\tb")]), "where")

print(len(passed), "ok,", failures, "failed")
sys.exit(1 if failures else 0)
