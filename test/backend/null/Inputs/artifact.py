"""Writes a model with a Relu (make), or prints the variants of an artifact (show).

usage: artifact.py make|show FILE
"""
import ctypes
import sys

import onnx
from onnx import TensorProto, helper

U32, U64, POINTER = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p


class Table(ctypes.Structure):
    _fields_ = [("rows", POINTER), ("count", U32), ("row_bytes", U32)]


class Artifact(ctypes.Structure):
    """The first fields of ingot_abi_artifact."""

    _fields_ = [("magic", U64), ("version", U32), ("struct_size", U32), ("compiler", POINTER), ("model", POINTER),
                ("inputs", Table), ("outputs", Table), ("metadata", Table), ("uses", Table), ("variants", Table)]


class Variant(ctypes.Structure):
    """An ingot_abi_variant."""

    _fields_ = [("target", ctypes.c_char_p), ("device", U32), ("architecture", U32), ("features", U64),
                ("priority", U32), ("flags", U32), ("memories", U32), ("arena_memory", U32), ("arena_bytes", U64),
                ("code_bytes", U64), ("load", POINTER), ("unload", POINTER), ("run", POINTER), ("infer", POINTER),
                ("device_functions", POINTER)]


def make(path):
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "null", values[:1], values[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)


def show(path):
    query = ctypes.CDLL(path).ingot_artifact_v2
    query.restype = ctypes.POINTER(Artifact)
    table = query().contents.variants
    assert table.row_bytes == ctypes.sizeof(Variant)
    for row in (Variant * table.count).from_address(table.rows):
        print(f"{row.target.decode()}: device {row.device}, flags {row.flags}, memories {row.memories}, "
              f"loaded {bool(row.load)}, functions {bool(row.device_functions)}")


{"make": make, "show": show}[sys.argv[1]](sys.argv[2])
