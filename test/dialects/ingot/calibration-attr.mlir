// RUN: ingot-opt %s | ingot-opt | FileCheck %s
// MLIR renames a resource that one context reads twice.
// UNSUPPORTED: roundtrip

// CHECK: module attributes
// CHECK-SAME: ingot.calibration = #ingot.calibration<"m.json" tensors = [<"x", min = -1.500000e+00, max = 2.000000e+00, scale = 1.250000e-02, zero_point = 80>] biases = [<"a", [1.000000e+00]>] rounding = [<"b", dense_resource<up> : tensor<1xi8>>]>
module attributes {ingot.calibration = #ingot.calibration<"m.json"
  tensors = [#ingot.tensor_range<"x", min = -1.5, max = 2.0, scale = 0.0125, zero_point = 80>]
  biases = [<"a", [1.0]>] rounding = [<"b", dense_resource<up> : tensor<1xi8>>]>} {
}
