# Every element type and every way to write a tensor gives the same constant.
# RUN: %python %s %t.onnx && ingot-import %t.onnx --elide 100 | FileCheck %s
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

nodes, inits, sparse = [], [], []


def use(name):
    nodes.append(h.make_node("Identity", [name], [name + "_out"]))


def init(name, dtype, dims, **data):
    tensor = T(name=name, data_type=dtype, dims=dims)
    for key, value in data.items():
        if key == "raw_data":
            tensor.raw_data = value
        else:
            getattr(tensor, key).extend(value)
    inits.append(tensor)
    use(name)


def constant(name, **value):
    nodes.append(h.make_node("Constant", [], [name], name="const_" + name, **value))
    use(name)


# Constants are checked in the order of the nodes: initializers stand first.
# CHECK-DAG: dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf32>
init("f32_raw", T.FLOAT, [2], raw_data=np.array([1, -2], np.float32).tobytes())
# CHECK-DAG: dense<[3.000000e+00, -4.000000e+00]> : tensor<2xf32>
init("f32", T.FLOAT, [2], float_data=[3, -4])
# CHECK-DAG: dense<[5.000000e+00, 6.000000e+00]> : tensor<2xf64>
init("f64", T.DOUBLE, [2], double_data=[5, 6])
# CHECK-DAG: dense<[1.500000e+00, -2.000000e+00]> : tensor<2xf16>
init("f16", T.FLOAT16, [2], int32_data=[0x3E00, 0xC000])
# CHECK-DAG: dense<[2.500000e+00, -2.000000e+00]> : tensor<2xf16>
init("f16_raw", T.FLOAT16, [2], raw_data=np.array([2.5, -2], np.float16).tobytes())
# CHECK-DAG: dense<[1.000000e+00, -2.000000e+00]> : tensor<2xbf16>
init("bf16", T.BFLOAT16, [2], int32_data=[0x3F80, 0xC000])
# CHECK-DAG: dense<[true, false, true]> : tensor<3xi1>
init("bool", T.BOOL, [3], int32_data=[1, 0, 1])
# CHECK-DAG: dense<[false, true, true]> : tensor<3xi1>
init("bool_raw", T.BOOL, [3], raw_data=bytes([0, 7, 1]))
# CHECK-DAG: dense<[-1, 127]> : tensor<2xi8>
init("i8", T.INT8, [2], int32_data=[-1, 127])
# CHECK-DAG: dense<[255, 1]> : tensor<2xui8>
init("u8", T.UINT8, [2], int32_data=[255, 1])
# CHECK-DAG: dense<[-1, 300]> : tensor<2xi16>
init("i16", T.INT16, [2], int32_data=[-1, 300])
# CHECK-DAG: dense<[65535, 300]> : tensor<2xui16>
init("u16", T.UINT16, [2], int32_data=[65535, 300])
# CHECK-DAG: dense<[-7, 70000]> : tensor<2xi32>
init("i32", T.INT32, [2], int32_data=[-7, 70000])
# CHECK-DAG: dense<[4294967295, 7]> : tensor<2xui32>
init("u32", T.UINT32, [2], uint64_data=[2 ** 32 - 1, 7])
# CHECK-DAG: dense<[-9, 9]> : tensor<2xi64>
init("i64", T.INT64, [2], int64_data=[-9, 9])
# CHECK-DAG: dense<[18446744073709551615, 9]> : tensor<2xui64>
init("u64", T.UINT64, [2], uint64_data=[2 ** 64 - 1, 9])
# CHECK-DAG: dense<[(1.000000e+00,2.000000e+00), (3.000000e+00,4.000000e+00)]> : tensor<2xcomplex<f32>>
init("c64", T.COMPLEX64, [2], float_data=[1, 2, 3, 4])
# CHECK-DAG: dense<(1.000000e+00,2.000000e+00)> : tensor<1xcomplex<f64>>
init("c128", T.COMPLEX128, [1], raw_data=np.array([1 + 2j], np.complex128).tobytes())
# Packed types: low bits first, the last byte padded.
# CHECK-DAG: dense<[1, -1, 7]> : tensor<3xi4>
init("i4", T.INT4, [3], raw_data=bytes([0xF1, 0x07]))
# CHECK-DAG: dense<[2, -8, 3]> : tensor<3xi4>
init("i4_typed", T.INT4, [3], int32_data=[0x82, 0x03])
# CHECK-DAG: dense<[1, 15, 7]> : tensor<3xui4>
init("u4", T.UINT4, [3], raw_data=bytes([0xF1, 0x07]))
# CHECK-DAG: dense<[1, 0, -1, -2, 1]> : tensor<5xi2>
init("i2", T.INT2, [5], raw_data=bytes([0b10110001, 0b01]))
# CHECK-DAG: dense<[5.000000e-01, -6.000000e+00, 1.000000e+00]> : tensor<3xf4E2M1FN>
init("f4", T.FLOAT4E2M1, [3], raw_data=bytes([0xF1, 0x02]))
# CHECK-DAG: dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf8E4M3FN>
init("f8", T.FLOAT8E4M3FN, [2], raw_data=bytes([0x38, 0xC0]))
# CHECK-DAG: dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf8E5M2>
init("f8e5", T.FLOAT8E5M2, [2], int32_data=[0x3C, 0xC0])
# CHECK-DAG: tensor<2xf8E4M3FNUZ>
init("f8z", T.FLOAT8E4M3FNUZ, [2], int32_data=[0x38, 0xC0])
# CHECK-DAG: tensor<2xf8E5M2FNUZ>
init("f8e5z", T.FLOAT8E5M2FNUZ, [2], int32_data=[0x3C, 0xC0])
# CHECK-DAG: dense<2.000000e+00> : tensor<1xf8E8M0FNU>
init("f8e8", T.FLOAT8E8M0, [1], int32_data=[128])
# CHECK-DAG: dense<> : tensor<0x3xf32>
init("none", T.FLOAT, [0, 3])
# CHECK-DAG: dense<8.000000e+00> : tensor<f32>
init("scalar", T.FLOAT, [], float_data=[8])
# Sparse tensors become dense.
# CHECK-DAG: dense<{{\[}}[0.000000e+00, 5.000000e+00], [0.000000e+00, 6.000000e+00]]> : tensor<2x2xf32>
sparse.append(h.make_sparse_tensor(nh.from_array(np.array([5, 6], np.float32), "sparse"),
                                   nh.from_array(np.array([1, 3], np.int64), "at"), [2, 2]))
use("sparse")

# CHECK: arith.constant dense<[1.100000e+01, 1.200000e+01]> : tensor<2xf32>
constant("c_value", value=nh.from_array(np.array([11, 12], np.float32)))
# CHECK: arith.constant dense<1.300000e+01> : tensor<f32>
constant("c_float", value_float=13.0)
# CHECK: arith.constant dense<[1.400000e+01, 1.500000e+01]> : tensor<2xf32>
constant("c_floats", value_floats=[14.0, 15.0])
# CHECK: arith.constant dense<16> : tensor<i64>
constant("c_int", value_int=16)
# CHECK: arith.constant dense<[17, 18]> : tensor<2xi64>
constant("c_ints", value_ints=[17, 18])
# CHECK: arith.constant dense<{{\[}}[0, 21], [22, 0]]> : tensor<2x2xi64>
constant("c_sparse", sparse_value=h.make_sparse_tensor(
    nh.from_array(np.array([21, 22], np.int64), "s"),
    nh.from_array(np.array([[0, 1], [1, 0]], np.int64), "i"), [2, 2]))
# Strings are indices into the module's list of strings.
# CHECK: arith.constant dense<[1, 2]> : tensor<2xsi32>
constant("c_strings", value_strings=["a", "b"])
# CHECK: arith.constant dense<3> : tensor<si32>
constant("c_string", value_string="c")
# CHECK: arith.constant dense<{{\[}}[2], [0]]> : tensor<2x1xsi32>
constant("c_tensor", value=h.make_tensor("t", T.STRING, [2, 1], ["b", ""]))

outputs = [h.make_tensor_value_info("f32_out", T.FLOAT, [2])]
graph = h.make_graph(nodes, "values", [], outputs, inits, sparse_initializer=sparse)
model = h.make_model(graph, ir_version=13, opset_imports=[h.make_opsetid("", 25)])
onnx.save(model, sys.argv[1])
