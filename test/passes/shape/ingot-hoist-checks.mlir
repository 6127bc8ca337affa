// RUN: ingot-opt %s -ingot-hoist-checks -split-input-file | FileCheck %s

// Checks of input sizes come before any computation.

// CHECK-LABEL: @entry
// CHECK: tensor.dim %arg0
// CHECK: tensor.dim %arg1
// CHECK: ingot.require
// CHECK: nn.relu
// CHECK: nn.add
func.func @entry(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %x = nn.relu %a : tensor<?xf32> -> tensor<?xf32>
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?xf32>
  %n = tensor.dim %b, %c0 : tensor<?xf32>
  %same = arith.cmpi eq, %m, %n : index
  ingot.require %same, "{0} is not {1}"(%m, %n) : index, index
  %y = nn.add %x, %b : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// Computations on data that a check needs move up with the check.

// CHECK-LABEL: @data
// CHECK: %[[N:.*]] = tensor.extract
// CHECK-NEXT: arith.cmpi
// CHECK-NEXT: ingot.require
// CHECK-NEXT: nn.relu
func.func @data(%a: tensor<?xf32>, %n: tensor<index>) -> tensor<?xf32> {
  %x = nn.relu %a : tensor<?xf32> -> tensor<?xf32>
  %y = nn.exp %x : tensor<?xf32> -> tensor<?xf32>
  %c0 = arith.constant 0 : index
  %count = tensor.extract %n[] : tensor<index>
  %holds = arith.cmpi sge, %count, %c0 : index
  ingot.require %holds, "{0} elements"(%count) : index
  return %y : tensor<?xf32>
}

// -----

// Arithmetic that no check needs does not move.

// CHECK-LABEL: @other
// CHECK: nn.relu
// CHECK-NEXT: arith.constant
// CHECK-NEXT: tensor.dim
func.func @other(%a: tensor<?xf32>) -> (tensor<?xf32>, index) {
  %x = nn.relu %a : tensor<?xf32> -> tensor<?xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  return %x, %n : tensor<?xf32>, index
}
