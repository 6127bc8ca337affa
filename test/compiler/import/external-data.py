# Reads external data only from files beside the model, and in place.
# RUN: rm -rf %t && mkdir -p %t
# RUN: %python %s %t
import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h

out = sys.argv[1]
failures = 0
weights = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)


def external(tensor, location="w.bin", **fields):
    tensor.data_location = T.EXTERNAL
    for key, value in dict(location=location, **fields).items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def tensor(name="w", dims=(64, 64), dtype=T.FLOAT, **kwargs):
    return external(T(name=name, dims=dims, data_type=dtype), **kwargs)


def write(name, init=(), nodes=None):
    nodes = nodes or [h.make_node("MatMul", ["x", "w"], ["y"], name="mm")]
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", T.FLOAT, [1, 64])],
                         [h.make_tensor_value_info("y", T.FLOAT, None)], list(init))
    path = os.path.join(out, name + ".onnx")
    with open(path, "wb") as f:
        f.write(h.make_model(graph, ir_version=8, opset_imports=[h.make_opsetid("", 17)])
                .SerializeToString())
    return path


def check(name, expected, path, error=True, args=()):
    global failures
    run = subprocess.run(["ingot-import", path, *args], capture_output=True, text=True,
                         cwd=out, timeout=60)
    text = run.stderr if error else run.stdout
    missing = [e for e in expected if e not in text]
    if missing or (run.returncode == 1) != error or run.stderr.count("\n") != error:
        failures += 1
        print(f"FAILED {name}: missing {missing}\n{run.stderr}{run.stdout[:2000]}")
    else:
        print("ok", name, run.stderr.strip())


def refuse(name, expected, **kwargs):
    check(name, ["initializer 'w'", *expected], write(name, [tensor(**kwargs)]))


weights.tofile(os.path.join(out, "w.bin"))
os.makedirs(os.path.join(out, "sub", "dir"))
weights.tofile(os.path.join(out, "sub", "dir", "w.bin"))

# ---- what works
full = ["--elide", "1000000"]
check("plain", ["tensor<64x64xf32>"], write("plain", [tensor()]), False)
blob = weights.tobytes().hex().upper()
check("bytes", [blob], write("bytes", [tensor(length=16384)]), False, full)
check("sub", [blob], write("sub", [tensor(location="sub/dir/w.bin")]), False, full)
check("dot", [blob], write("dot", [tensor(location="./sub/./dir/w.bin")]), False, full)
check("offset", [weights[32:].tobytes().hex().upper()],
      write("offset", [tensor(dims=(32, 64), offset=8192, length=8192)],
            [h.make_node("Gemm", ["x", "w"], ["y"], transB=1)]), False, full)
check("misaligned", [weights.tobytes()[2:8194].hex().upper()],
      write("misaligned", [tensor(dims=(32, 64), offset=2)],
            [h.make_node("Gemm", ["x", "w"], ["y"], transB=1)]), False, full)
check("relative-path", ["tensor<64x64xf32>"], "plain.onnx", False)

# Small integer tensors are read, since shapes depend on them.
np.array([8, 8], np.int64).tofile(os.path.join(out, "shape.bin"))
shape = tensor("s", (2,), T.INT64, location="shape.bin")
check("shape", ["-> (tensor<8x8xf32>"],
      write("shape", [shape], [h.make_node("Reshape", ["x", "s"], ["y"])]), False)

# Attributes and subgraphs.
constant = h.make_node("Constant", [], ["w"], name="c")
constant.attribute.add(name="value", type=onnx.AttributeProto.TENSOR).t.CopyFrom(tensor())
mm = h.make_node("MatMul", ["x", "w"], ["y"])
check("constant", [blob], write("constant", nodes=[constant, mm]), False, full)


def branch(location):
    return h.make_graph([h.make_node("MatMul", ["x", "w"], ["z"])], "b", [],
                        [h.make_tensor_value_info("z", T.FLOAT, None)],
                        [tensor(location=location)])


def branches(location):
    return [h.make_node("Constant", [], ["c"], value=h.make_tensor("", T.BOOL, [], [1])),
            h.make_node("If", ["c"], ["y"], then_branch=branch(location),
                        else_branch=branch("w.bin"))]


check("subgraph", [blob], write("subgraph", nodes=branches("w.bin")), False, full)

# ---- what must be refused
outside = os.path.join(os.path.dirname(out), "outside.bin")
weights.tofile(outside)
refuse("absolute", ["absolute path"], location=outside)
refuse("parent", ["'..'"], location="../outside.bin")
refuse("parent-inside", ["'..'"], location="sub/../w.bin")
refuse("parent-deep", ["'..'"], location="sub/../../outside.bin")
refuse("backslash", ["backslash"], location="..\\outside.bin")
refuse("empty", ["not a file name"], location="")
refuse("folder", ["directory"], location="sub")
refuse("folder-slash", ["not a file name"], location="sub/")
refuse("missing-file", ["No such file", "'nowhere.bin'"], location="nowhere.bin")
refuse("nul", ["not a file name"], location="w.bin\0")
os.symlink(outside, os.path.join(out, "link.bin"))
os.symlink("w.bin", os.path.join(out, "inner-link.bin"))
os.symlink("sub", os.path.join(out, "link-dir"))
refuse("symlink", ["symbolic link 'link.bin'"], location="link.bin")
refuse("symlink-inside", ["symbolic link"], location="inner-link.bin")
refuse("symlink-folder", ["symbolic link 'link-dir'"], location="link-dir/dir/w.bin")
os.link(outside, os.path.join(out, "hard.bin"))
refuse("hard-link", ["hard link"], location="hard.bin")
os.mkfifo(os.path.join(out, "fifo.bin"))
refuse("fifo", ["not a regular file"], location="fifo.bin")
refuse("negative-offset", ["offset '-1'"], offset=-1)
refuse("large-offset", ["16384 bytes", "lies at 20000"], offset=20000)
refuse("huge-offset", ["lies at"], offset=2 ** 63 - 1)
refuse("overflow-offset", ["offset"], offset=2 ** 64)
refuse("text-offset", ["offset 'abc'"], offset="abc")
refuse("past-end", ["lies at 4"], offset=4)
refuse("negative-length", ["length '-5'"], length=-5)
refuse("wrong-length", ["length 100", "16384"], length=100)
refuse("large-shape", ["16384 bytes", "262144"], dims=(64, 1024))
refuse("overflowing-shape", ["size"], dims=(2 ** 40, 2 ** 40))
refuse("negative-shape", ["size"], dims=(-1, 64))
refuse("string", ["size"], dtype=T.STRING)
no_location = T(name="w", dims=[64, 64], data_type=T.FLOAT, data_location=T.EXTERNAL)
check("no-location", ["initializer 'w'", "no location"], write("no-location", [no_location]))
bad = h.make_node("Constant", [], ["w"], name="c")
bad.attribute.add(name="value", type=onnx.AttributeProto.TENSOR).t.CopyFrom(
    tensor(location="../outside.bin"))
check("constant-parent", ["node 'c' (Constant)", "'..'"], write("constant-parent", nodes=[bad, mm]))
check("subgraph-parent", ["'..'"], write("subgraph-parent", nodes=branches("../outside.bin")))

sys.exit(1 if failures else 0)
