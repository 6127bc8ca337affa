# Operators of old opsets keep their meaning when they are converted.
#
# RUN: %python %s %t && ingot-import %t.9 | FileCheck %s --check-prefix=UPSAMPLE
#
# RUN: ingot-import %t.10 | FileCheck %s --check-prefix=RESIZE
# RUN: ingot-import %t.12 | FileCheck %s --check-prefix=SOFTMAX
# RUN: ingot-import %t.hardmax | FileCheck %s --check-prefix=HARDMAX
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh


def save(name, opset, node, *init):
    graph = h.make_graph([node], "g", [h.make_tensor_value_info("x", T.FLOAT, [1, 2, 4, 4])],
                         [h.make_tensor_value_info("y", T.FLOAT, None)], init)
    onnx.save(h.make_model(graph, ir_version=6, opset_imports=[h.make_opsetid("", opset)]),
              f"{sys.argv[1]}.{name}")


def scales(*values):
    return nh.from_array(np.array(values, np.float32), "s")


# UPSAMPLE: ai.onnx = 28
# UPSAMPLE: "Resize"({{.*}}) {coordinate_transformation_mode = "asymmetric", mode = "linear", nearest_mode = "floor"}
# UPSAMPLE-SAME: -> tensor<1x2x8x8xf32>
save("9", 9, h.make_node("Upsample", ["x", "s"], ["y"], mode="linear"), scales(1, 1, 2, 2))
# RESIZE: ai.onnx = 28
# RESIZE: "Resize"({{.*}}) {coordinate_transformation_mode = "asymmetric", mode = "nearest", nearest_mode = "ceil"}
# RESIZE-SAME: -> tensor<1x2x2x2xf32>
save("10", 10, h.make_node("Resize", ["x", "s"], ["y"], mode="nearest"), scales(1, 1, 0.6, 0.6))
# Before opset 13, Softmax works on all dimensions from its axis on.
#
# SOFTMAX: ai.onnx = 28
# SOFTMAX: %[[F:.*]] = onnx.node "Flatten"(%{{.*}}) {axis = 2 : i64}
#
# SOFTMAX: %[[S:.*]] = onnx.node "Softmax"(%[[F]]) {axis = -1 : i64}
# SOFTMAX: onnx.node "Reshape"(%[[S]], %{{.*}}) {{.*}} -> tensor<1x2x4x4xf32>
save("12", 12, h.make_node("Softmax", ["x"], ["y"], axis=2))
# Operators that ONNX's converter converts wrongly are not converted.
#
# HARDMAX: ai.onnx = 12
save("hardmax", 12, h.make_node("Hardmax", ["x"], ["y"], axis=2))
