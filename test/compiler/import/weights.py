# Imported tensors must have the bits that were stored. Tensors are stored in every way that ONNX allows, with every
# element type, below and above every size threshold, in old and new operator sets.
# RUN: rm -rf %t && mkdir -p %t
# RUN: %python %s %t
# `weights.py FOLDER --all` tries more sizes and operator sets.
import concurrent.futures
import hashlib
import os
import subprocess
import sys
import zlib
from collections import Counter

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto as T
from onnx import helper as h

OUT = sys.argv[1] if len(sys.argv) > 1 else ""
ALL = "--all" in sys.argv[2:]
NEWEST = onnx.defs.onnx_opset_version()
# Numbers of elements: few, around 1 KiB of floats, around 32 KiB of integers, and more than the importer ever keeps
# inline.
SIZES = [0, 1, 3, 255, 257, 2049, 8193, 20000] if ALL else [257, 20000]
OPSETS = [1, 7, 10, 12, 13, 17, 21, NEWEST] if ALL else [7, NEWEST]

# MLIR's name of each element type, and its bits.
TYPES = {
    "FLOAT": ("f32", 32), "DOUBLE": ("f64", 64), "FLOAT16": ("f16", 16), "BFLOAT16": ("bf16", 16), "BOOL": ("i1", 8),
    "INT2": ("i2", 2), "INT4": ("i4", 4), "INT8": ("i8", 8), "INT16": ("i16", 16), "INT32": ("i32", 32),
    "INT64": ("i64", 64), "UINT2": ("ui2", 2), "UINT4": ("ui4", 4), "UINT8": ("ui8", 8), "UINT16": ("ui16", 16),
    "UINT32": ("ui32", 32), "UINT64": ("ui64", 64), "COMPLEX64": ("complex<f32>", 64),
    "COMPLEX128": ("complex<f64>", 128), "FLOAT8E4M3FN": ("f8E4M3FN", 8), "FLOAT8E4M3FNUZ": ("f8E4M3FNUZ", 8),
    "FLOAT8E5M2": ("f8E5M2", 8), "FLOAT8E5M2FNUZ": ("f8E5M2FNUZ", 8), "FLOAT8E8M0": ("f8E8M0FNU", 8),
    "FLOAT6E2M3": ("f6E2M3FN", 6), "FLOAT6E3M2": ("f6E3M2FN", 6), "FLOAT4E2M1": ("f4E2M1FN", 4),
}


def make_values(kind, count, rng):
    """Returns the bits of the elements: one row of bytes per element."""
    bits = TYPES[kind][1]
    rows = rng.integers(0, 256, (count, max(bits // 8, 1)), dtype=np.uint8)
    if kind == "BOOL":
        rows &= 1
    if bits < 8:
        rows &= (1 << bits) - 1
    # Avoid NaN in types for which Python would change its bits while writing the file.
    if kind in ("FLOAT", "COMPLEX64"):
        rows[:, 3::4] &= 0xbf
    if kind in ("DOUBLE", "COMPLEX128"):
        rows[:, 7::8] &= 0xbf
    return rows


def pack(rows, bits):
    """Returns raw_data: elements of less than a byte are packed, low bits first."""
    if bits >= 8:
        return rows.tobytes()
    flat = ((rows[:, :1] >> np.arange(bits, dtype=np.uint8)) & 1).reshape(-1)
    return np.packbits(flat, bitorder="little").tobytes()


def set_typed(tensor, kind, rows):
    bits = TYPES[kind][1]
    data = rows.tobytes()
    if kind in ("FLOAT", "COMPLEX64"):
        tensor.float_data.extend(np.frombuffer(data, np.float32).tolist())
    elif kind in ("DOUBLE", "COMPLEX128"):
        tensor.double_data.extend(np.frombuffer(data, np.float64).tolist())
    elif kind == "INT64":
        tensor.int64_data.extend(np.frombuffer(data, np.int64).tolist())
    elif kind in ("UINT32", "UINT64"):
        tensor.uint64_data.extend(np.frombuffer(data, f"<u{bits // 8}").tolist())
    elif bits in (2, 4):
        tensor.int32_data.extend(pack(rows, bits))
    else:
        signed = kind.startswith("INT")
        width = max(bits // 8, 1)
        tensor.int32_data.extend(np.frombuffer(data, f"<{'i' if signed else 'u'}{width}").tolist())


class Files:
    """The external data of one model."""

    def __init__(self, name):
        self.name = name
        self.data = bytearray(b"\xa5")  # so that nothing is aligned by itself

    def add(self, tensor, data, aligned):
        if aligned:
            self.data += b"\x5a" * (-len(self.data) % 64)
        tensor.data_location = T.EXTERNAL
        for key, value in (("location", self.name), ("offset", len(self.data)), ("length", len(data))):
            tensor.external_data.add(key=key, value=str(value))
        self.data += data


def store(tensor, kind, rows, shape, way, files):
    """Fills a TensorProto: raw, typed, external or aligned; `stated` says that the data is in the model."""
    tensor.data_type = getattr(T, kind)
    tensor.dims.extend(shape)
    raw = pack(rows, TYPES[kind][1])
    form = way.split("-")[0]
    if form == "raw":
        tensor.raw_data = raw
    elif form == "typed":
        set_typed(tensor, kind, rows)
    else:
        files.add(tensor, raw, form == "aligned")
    if way.endswith("-stated"):
        tensor.data_location = T.DEFAULT
    return tensor


def store_sparse(sparse, kind, rows, shape, way, files, name=""):
    """Makes a sparse tensor: every third element is kept, the rest is zero. Indices count elements, or are coordinates
    ("grid")."""
    count = len(rows)
    at = np.arange(0, count, 3, dtype=np.int64)
    form, stored = way.split("/")
    store(sparse.values, kind, rows[at], [len(at)], stored, files)
    sparse.values.name = name
    sparse.dims.extend(shape)
    index = at if form == "linear" else np.stack(np.unravel_index(at, shape), 1).astype(np.int64)
    sparse.indices.data_type = T.INT64
    sparse.indices.dims.extend(index.shape)
    if stored.startswith("typed"):
        sparse.indices.int64_data.extend(index.reshape(-1).tolist())
    elif stored.startswith("raw"):
        sparse.indices.raw_data = index.tobytes()
    else:
        files.add(sparse.indices, index.tobytes(), stored == "aligned")
    dense = np.zeros_like(rows)
    dense[at] = rows[at]
    return dense


STORED = ["raw", "raw-stated", "typed", "typed-stated", "external", "aligned"]
SPARSE = ["linear/raw", "linear/raw-stated", "linear/typed", "grid/raw", "grid/typed", "grid/external",
          "linear/aligned"]


class Model:
    """One model in which a way to store tensors is used once for each element type."""

    def __init__(self, place, way, opset, count):
        self.label = f"{place}-{way}-{opset}-{count}".replace("/", "_")
        self.place, self.way, self.opset, self.count = place, way, opset, count
        self.expected = Counter()
        self.files = Files(self.label + ".data")
        self.functions = []
        self.rng = np.random.default_rng(zlib.crc32(self.label.encode()))
        # Use rank 2 if the count allows it.
        self.shape = [count // 3, 3] if count % 3 == 0 and count else [count]

    def values(self, kind):
        return make_values(kind, self.count, self.rng)

    def expect(self, kind, rows, shape=None):
        shape = self.shape if shape is None else shape
        text = "x".join([str(d) for d in shape] + [TYPES[kind][0]])
        self.expected[(hashlib.sha256(rows.tobytes()).hexdigest(), f"tensor<{text}>")] += 1

    def tensor(self, kind, name=""):
        rows = self.values(kind)
        self.expect(kind, rows)
        tensor = T()
        if name:
            tensor.name = name
        return store(tensor, kind, rows, self.shape, self.way, self.files)

    def sparse(self, kind, name=""):
        sparse = onnx.SparseTensorProto()
        self.expect(kind, store_sparse(sparse, kind, self.values(kind), self.shape, self.way, self.files, name))
        return sparse

    def kinds(self):
        kinds = [k for k in TYPES if not ("/" in self.way and TYPES[k][1] < 8)]
        # Identity does not take every type.
        return [k for k in kinds if self.place != "captured" or "FLOAT6" not in k]

    def info(self, name, kind):
        return h.make_tensor_value_info(name, getattr(T, kind), self.shape)

    # -- places

    def build(self):
        graph = getattr(self, "place_" + self.place)()
        imports = [h.make_opsetid("", self.opset)]
        if self.functions or self.place.startswith("attribute"):
            imports.append(h.make_opsetid("local", 1))
        model = h.make_model(graph, opset_imports=imports, functions=self.functions,
                             ir_version=10 if self.functions else (3 if self.place == "old_input" else 8))
        self.path = os.path.join(OUT, self.label + ".onnx")
        with open(self.path, "wb") as f:
            f.write(model.SerializeToString())
        with open(os.path.join(OUT, self.files.name), "wb") as f:
            f.write(self.files.data)
        return self

    def graph(self, nodes=(), inputs=(), **kwargs):
        return h.make_graph(list(nodes), "g", list(inputs), [self.info(k, k) for k in self.kinds()], **kwargs)

    def place_initializer(self):
        return self.graph(initializer=[self.tensor(k, k) for k in self.kinds()])

    def place_input(self):
        """Initializers that are also listed as inputs. They are the inputs' default values."""
        return self.graph(initializer=[self.tensor(k, k) for k in self.kinds()],
                          inputs=[self.info(k, k) for k in self.kinds()])

    place_old_input = place_input

    def place_sparse_initializer(self):
        return self.graph(sparse_initializer=[self.sparse(k, k) for k in self.kinds()])

    def constant(self, kind, output):
        node = h.make_node("Constant", [], [output], name="make_" + output)
        attr = node.attribute.add()
        if "/" in self.way:
            attr.name, attr.type = "sparse_value", AttributeProto.SPARSE_TENSOR
            attr.sparse_tensor.CopyFrom(self.sparse(kind))
        else:
            attr.name, attr.type = "value", AttributeProto.TENSOR
            attr.t.CopyFrom(self.tensor(kind))
        return node

    def place_constant(self):
        return self.graph([self.constant(k, k) for k in self.kinds()])

    def place_constant_numbers(self):
        """value_floats, value_ints, value_float and value_int."""
        nodes = []
        for kind, many, one in (("FLOAT", "value_floats", "value_float"), ("INT64", "value_ints", "value_int")):
            rows = self.values(kind)
            self.expect(kind, rows, [self.count])
            numbers = np.frombuffer(rows.tobytes(), np.float32 if kind == "FLOAT" else np.int64).tolist()
            nodes.append(h.make_node("Constant", [], [kind]))
            # An empty list does not determine its element type.
            attr = nodes[-1].attribute.add()
            attr.name, attr.type = many, AttributeProto.FLOATS if kind == "FLOAT" else AttributeProto.INTS
            getattr(attr, many[6:]).extend(numbers)
            row = make_values(kind, 1, self.rng)
            self.expect(kind, row, [])
            number = np.frombuffer(row.tobytes(), np.float32 if kind == "FLOAT" else np.int64)[0].item()
            nodes.append(h.make_node("Constant", [], ["one_" + kind], **{one: number}))
        infos = [h.make_tensor_value_info(n, getattr(T, n.split("_")[-1]), None) for n in
                 ("FLOAT", "one_FLOAT", "INT64", "one_INT64")]
        return h.make_graph(nodes, "g", [], infos)

    def branches(self, graph):
        """Wraps this graph in an If, as its then-branch. The else-branch yields other tensors."""
        condition = h.make_tensor_value_info("condition", T.BOOL, [])
        other = h.make_graph([], "else", [], [h.make_tensor_value_info(k + "_else", getattr(T, k), None)
                                              for k in self.kinds()],
                             [self.else_tensor(k) for k in self.kinds()])
        node = h.make_node("If", ["condition"], self.kinds(), name="choose", then_branch=graph, else_branch=other)
        return self.graph([node], [condition])

    def else_tensor(self, kind):
        rows = self.values(kind)
        self.expect(kind, rows)
        tensor = store(T(), kind, rows, self.shape, "raw", self.files)
        tensor.name = kind + "_else"
        return tensor

    def then(self, **kwargs):
        nodes = kwargs.pop("nodes", [])
        return h.make_graph(nodes, "then", [], [h.make_tensor_value_info(k + "_then", getattr(T, k), None)
                                                for k in self.kinds()], **kwargs)

    def place_branch_initializer(self):
        if "/" in self.way:
            return self.branches(self.then(sparse_initializer=[self.sparse(k, k + "_then") for k in self.kinds()]))
        return self.branches(self.then(initializer=[self.tensor(k, k + "_then") for k in self.kinds()]))

    def place_branch_constant(self):
        return self.branches(self.then(nodes=[self.constant(k, k + "_then") for k in self.kinds()]))

    def place_captured(self):
        """Branches that yield values of the outer graph."""
        inner = h.make_graph([h.make_node("Identity", [k], [k + "_then"]) for k in self.kinds()], "then", [],
                             [h.make_tensor_value_info(k + "_then", getattr(T, k), None) for k in self.kinds()])
        graph = self.branches(inner)
        for output, node_output in zip(graph.output, self.kinds()):
            output.name = "out_" + node_output
        graph.node[0].output[:] = ["out_" + k for k in self.kinds()]
        graph.initializer.extend(self.tensor(k, k) for k in self.kinds())
        return graph

    def call(self, body, attributes=(), protos=(), **given):
        imports = [h.make_opsetid("", self.opset)]
        function = h.make_function("local", "Tensors", [], self.kinds(), body, imports, attributes=attributes,
                                   attribute_protos=protos)
        self.functions.append(function)
        node = h.make_node("Tensors", [], self.kinds(), name="call", domain="local")
        for name, tensor in given.items():
            attr = node.attribute.add()
            attr.name, attr.type = name, AttributeProto.TENSOR
            attr.t.CopyFrom(tensor)
        return self.graph([node])

    def place_function(self):
        return self.call([self.constant(k, k) for k in self.kinds()])

    def referring(self, kind):
        node = h.make_node("Constant", [], [kind])
        attr = node.attribute.add()
        attr.name, attr.type, attr.ref_attr_name = "value", AttributeProto.TENSOR, "t" + kind
        return node

    def place_function_attribute(self):
        return self.call([self.referring(k) for k in self.kinds()], attributes=["t" + k for k in self.kinds()],
                         **{"t" + k: self.tensor(k) for k in self.kinds()})

    def place_function_default(self):
        protos = []
        for kind in self.kinds():
            attr = AttributeProto(name="t" + kind, type=AttributeProto.TENSOR)
            attr.t.CopyFrom(self.tensor(kind))
            protos.append(attr)
        return self.call([self.referring(k) for k in self.kinds()], protos=protos)

    def place_attribute(self):
        """Tensors in the attributes of a node that the importer knows nothing about."""
        node = h.make_node("Custom", [], self.kinds(), name="custom", domain="local")
        for kind in self.kinds():
            attr = node.attribute.add()
            attr.name = "a" + kind
            if "/" in self.way:
                attr.type = AttributeProto.SPARSE_TENSOR
                attr.sparse_tensor.CopyFrom(self.sparse(kind))
            else:
                attr.type = AttributeProto.TENSOR
                attr.t.CopyFrom(self.tensor(kind))
        return self.graph([node])

    def place_attribute_list(self):
        node = h.make_node("Custom", [], self.kinds(), name="custom", domain="local")
        attr = node.attribute.add()
        attr.name, attr.type = "list", AttributeProto.TENSORS
        attr.tensors.extend(self.tensor(k) for k in self.kinds())
        return self.graph([node])

    # -- the check

    def check(self):
        """Returns "equal", or an error message."""
        run = subprocess.run(["ingot-import", "--constants", self.path], capture_output=True, timeout=300,
                             env={**os.environ, "MALLOC_PERTURB_": "165"})
        error = run.stderr.decode(errors="replace")
        if run.returncode:
            return f"exit code {run.returncode}: {error.strip()[:300]}"
        got = Counter(tuple(line.split(" ")[:2]) for line in run.stdout.decode().splitlines())
        missing, extra = self.expected - got, got - self.expected
        if missing or extra:
            return f"WRONG: {len(missing)} tensors of {len(self.expected)}: {sorted(t for _, t in missing)}"
        return "equal"


def cases():
    for opset in OPSETS:
        for count in SIZES:
            for way in STORED:
                for place in ("initializer", "input", "old_input", "constant", "branch_initializer",
                              "branch_constant", "captured", "function", "function_attribute", "function_default",
                              "attribute", "attribute_list"):
                    yield place, way, opset, count
            for way in SPARSE if count else ():
                for place in ("sparse_initializer", "branch_initializer", "attribute"):
                    yield place, way, opset, count
                # Opset 11 introduced these ways to store tensors.
                for place in ("constant", "branch_constant", "function") if opset >= 11 else ():
                    yield place, way, opset, count
            if opset >= 12:
                yield "constant_numbers", "typed", opset, count


def try_case(case):
    model = Model(*case).build()
    result = model.check()
    if result == "equal":
        os.remove(model.path)
        os.remove(os.path.join(OUT, model.files.name))
    return model, result


def main():
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(try_case, cases()))
    bad = [(model, result) for model, result in results if result != "equal"]
    for model, result in bad[:400 if ALL else 40]:
        print(f"{model.label}: {result}")
    tensors = sum(sum(model.expected.values()) for model, _ in results)
    print(f"{len(results)} models, {tensors} tensors: {len(results) - len(bad)} models equal, {len(bad)} not")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
