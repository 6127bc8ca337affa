# Initializers that are inputs, too, are constants.
# The model's types of intermediate values are ignored.
# Graphs without names are accepted.
#
# RUN: %python %s %t && ingot-import %t.3.onnx | FileCheck %s && ingot-import %t.8.onnx | FileCheck %s
#
# CHECK:       func.func @forward(%[[X:.*]]: tensor<?x2xf32> {ingot.dim_names = ["batch", ""], ingot.name = "x"})
# CHECK-SAME:    -> (tensor<?x3xf32> {ingot.dim_names = ["batch", ""], ingot.name = "y"})
#
# CHECK:         %[[W:.*]] = arith.constant dense<1.000000e+00> : tensor<2x3xf32>
# CHECK-NEXT:    onnx.node "MatMul"(%[[X]], %[[W]]) : (tensor<?x2xf32>, tensor<2x3xf32>) -> tensor<?x3xf32>
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

for version in (3, 8):
    graph = h.make_graph(
        [h.make_node("MatMul", ["x", "w"], ["m"]), h.make_node("Relu", ["m"], ["y"])], "",
        [h.make_tensor_value_info("x", T.FLOAT, ["batch", 2]),
         h.make_tensor_value_info("w", T.FLOAT, [2, 3])],
        [h.make_tensor_value_info("y", T.FLOAT, [7, 7, 7] if version == 8 else None)],
        [nh.from_array(np.ones((2, 3), np.float32), "w")],
        value_info=[h.make_tensor_value_info("m", T.INT64, [5, 5])])
    model = h.make_model(graph, ir_version=version, opset_imports=[h.make_opsetid("", 7)])
    onnx.save(model, f"{sys.argv[1]}.{version}.onnx")
