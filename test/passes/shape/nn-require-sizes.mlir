// RUN: ingot-opt %s -nn-require-sizes -split-input-file -verify-diagnostics | FileCheck %s

// Sizes that differ between inputs are checked at the entry, before any
// computation.

// CHECK: module attributes {ingot.size_rules = #ingot.size_rules<proved = 0, checked = 1>}
// CHECK-LABEL: @add
// CHECK-DAG: %[[N:.*]] = tensor.dim %arg0, %{{.*}}
// CHECK-DAG: %[[M:.*]] = tensor.dim %arg1, %{{.*}}
// CHECK: ingot.require %{{.*}}, "node 'sum': operand shapes do not broadcast: dimension 0 is {0} in one and {1} in the other"(%{{.*}}, %{{.*}}) : index, index
// CHECK: nn.relu
// CHECK: nn.add
module {
  func.func @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %x = nn.relu %a : tensor<?xf32> -> tensor<?xf32>
    %y = nn.add %x, %b : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32> loc("sum")
    return %y : tensor<?xf32>
  }
}

// -----

// Must not fire: no check for conditions that always hold.

// CHECK-LABEL: @residual
// CHECK-NOT: ingot.require
func.func @residual(%x: tensor<?x4x?x?xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<?x4x?x?xf32> {
  %y = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<?x4x?x?xf32>, tensor<4x4x3x3xf32>) -> tensor<?x4x?x?xf32>
  %z = nn.add %x, %y : tensor<?x4x?x?xf32>, tensor<?x4x?x?xf32> -> tensor<?x4x?x?xf32>
  return %z : tensor<?x4x?x?xf32>
}

// -----

// A window must overlap the data, whatever the padding is.

// CHECK-LABEL: @window
// CHECK: ingot.require %{{.*}}, "the dilated kernel is larger than the padded input: {1} against {0} in spatial dimension 0"
func.func @window(%x: tensor<1x4x?xf32>, %w: tensor<4x4x3xf32>) -> tensor<1x4x?xf32> {
  %y = nn.conv %x, %w {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>, strides = array<i64: 2>}
    : (tensor<1x4x?xf32>, tensor<4x4x3xf32>) -> tensor<1x4x?xf32>
  return %y : tensor<1x4x?xf32>
}

// -----

// A feature pyramid: twice the half is the whole only for even sizes.

// CHECK-LABEL: @pyramid
// CHECK: %[[HALF:.*]] = arith.floordivsi
// CHECK: ingot.require %{{.*}}, "operand shapes do not broadcast: dimension 2 is {0} in one and {1} in the other"
// CHECK: nn.max_pool
func.func @pyramid(%x: tensor<1x4x?xf32>) -> tensor<1x4x?xf32> {
  %small = nn.max_pool %x {dilations = array<i64: 1>, kernel = array<i64: 2>, pads = array<i64: 0, 0>, strides = array<i64: 2>}
    : tensor<1x4x?xf32> -> tensor<1x4x?xf32>
  %large = nn.resize nearest %small {coordinates = 4 : i32, nearest_mode = 2 : i32, scales = array<f32: 1.0, 1.0, 2.0>}
    : tensor<1x4x?xf32> -> tensor<1x4x?xf32>
  %y = nn.add %x, %large : tensor<1x4x?xf32>, tensor<1x4x?xf32> -> tensor<1x4x?xf32>
  return %y : tensor<1x4x?xf32>
}

// -----

// Dimensions of one name have one size: it is checked once, and then known.

// CHECK: module attributes {ingot.size_rules = #ingot.size_rules<proved = {{[1-9].*}}, checked = 1>}
// CHECK-LABEL: @named
// CHECK: ingot.require %{{.*}}, "input 'b': dimension 0 ('batch') is {0}, but {1} elsewhere"
// CHECK-NOT: ingot.require
module {
  func.func @named(%a: tensor<?x2xf32> {ingot.name = "a", ingot.dim_names = ["batch", ""]},
                   %b: tensor<?x2xf32> {ingot.name = "b", ingot.dim_names = ["batch", ""]}) -> tensor<?x2xf32> {
    %y = nn.add %a, %b : tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2xf32>
    %z = nn.mul %y, %b : tensor<?x2xf32>, tensor<?x2xf32> -> tensor<?x2xf32>
    return %z : tensor<?x2xf32>
  }
}

// -----

// A condition is checked once; later ops know that it holds.

// CHECK-LABEL: @once
// CHECK-COUNT-1: ingot.require
// CHECK-NOT: ingot.require
func.func @once(%a: tensor<2x?xf32>, %b: tensor<?x3xf32>) -> tensor<2x3xf32> {
  %y = nn.matmul %a, %b : (tensor<2x?xf32>, tensor<?x3xf32>) -> tensor<2x3xf32>
  %z = nn.matmul %a, %b : (tensor<2x?xf32>, tensor<?x3xf32>) -> tensor<2x3xf32>
  %sum = nn.add %y, %z : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
  return %sum : tensor<2x3xf32>
}

// -----

// A size that depends on data is checked before the op that needs it.

// CHECK-LABEL: @data
// CHECK: %[[FOUND:.*]] = tensor.extract_slice
// CHECK: ingot.require %{{.*}}, "operand shapes do not broadcast
// CHECK-NEXT: nn.add
func.func @data(%a: tensor<8xf32>, %b: tensor<?xf32>, %n: tensor<index>) -> tensor<?xf32> {
  %count = tensor.extract %n[] : tensor<index>
  %found = tensor.extract_slice %a[0] [%count] [1] : tensor<8xf32> to tensor<?xf32>
  %y = nn.add %found, %b : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// A type with more static sizes than the operands justify is checked.

// CHECK-LABEL: @stated
// CHECK: ingot.require %{{.*}}, "dimension 0 of the result is {0}, but {1} was inferred"(%{{.*}}, %c4) : index, index
func.func @stated(%a: tensor<?xf32>) -> tensor<4xf32> {
  %y = nn.relu %a : tensor<?xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A condition that fails for all sizes is an error.

func.func @never(%a: tensor<?x4xf32>) -> tensor<?x?xf32> {
  %y = tensor.cast %a : tensor<?x4xf32> to tensor<?x?xf32>
  // expected-error@+1 {{dimension 1 of the result is 4, but 3 was inferred}}
  %z = nn.relu %y : tensor<?x?xf32> -> tensor<?x3xf32>
  %s = tensor.cast %z : tensor<?x3xf32> to tensor<?x?xf32>
  return %s : tensor<?x?xf32>
}

// -----

// The index of a loop is below its bound, so one check says that all of its
// steps find an element. Other indices are checked in each step.
// CHECK-LABEL: @loop_numbers
// CHECK: scf.for
// CHECK-NOT: ingot.require
// CHECK: tensor.extract %{{.*}}[%c2, %{{.*}}]
// CHECK: tensor.extract %{{.*}}[%{{.*}}] : tensor<?xf32>
// CHECK: ingot.require {{.*}}elements, but {1} are needed
// CHECK: tensor.extract %{{.*}}[%{{.*}}] : tensor<?xf32>
func.func @loop_numbers(%x: tensor<?xf32>, %y: tensor<3x16xf32>, %n: tensor<index>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %at = tensor.extract %n[] : tensor<index>
  %0 = scf.for %i = %c0 to %c16 step %c1 iter_args(%s = %zero) -> (f32) {
    ingot.poll
    %1 = tensor.extract %y[%c2, %i] : tensor<3x16xf32>
    %2 = scf.for %j = %c0 to %size step %c1 iter_args(%t = %1) -> (f32) {
      ingot.poll
      %3 = tensor.extract %x[%j] : tensor<?xf32>
      %k = arith.addi %j, %at : index
      %4 = tensor.extract %x[%k] : tensor<?xf32>
      %5 = arith.addf %3, %4 : f32
      %6 = arith.addf %t, %5 : f32
      scf.yield %6 : f32
    }
    scf.yield %2 : f32
  }
  return %0 : f32
}

// -----

// As many rows of a table as the data has, or all of them. If the rows
// broadcast to the data, the numbers are equal, and later ops need no check.

// CHECK-LABEL: @cut
// CHECK-COUNT-1: ingot.require %{{.*}}, "operand shapes do not broadcast: dimension 0 is {0} in one and {1} in the other"
// CHECK-NOT: ingot.require
// CHECK-NOT: arith.select
// CHECK: return
func.func @cut(%x: tensor<?x4xf32>, %table: tensor<512x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %m = arith.minsi %n, %c512 : index
  %rows = tensor.extract_slice %table[0, 0] [%m, 4] [1, 1] : tensor<512x4xf32> to tensor<?x4xf32>
  %y = nn.add %rows, %x : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  %z = nn.relu %rows : tensor<?x4xf32> -> tensor<?x4xf32>
  %w = nn.add %y, %z : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  return %w : tensor<?x4xf32>
}

// -----

// A single row is broadcast to any number of rows.

// CHECK-LABEL: @row
// CHECK: ingot.require
// CHECK: return
func.func @row(%x: tensor<?x4xf32>, %table: tensor<1x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %m = arith.minsi %n, %c1 : index
  %rows = tensor.extract_slice %table[0, 0] [%m, 4] [1, 1] : tensor<1x4xf32> to tensor<?x4xf32>
  %y = nn.add %x, %rows : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  %z = nn.mul %y, %rows : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  return %z : tensor<?x4xf32>
}

// -----

// A condition that a legalizer required is known behind the check, not before
// it.

// CHECK: module attributes {ingot.size_rules = #ingot.size_rules<proved = {{[1-9].*}}, checked = 1>}
// CHECK-LABEL: @required
// CHECK: ingot.require %{{.*}}, "operand shapes do not broadcast
// CHECK: ingot.require %{{.*}}, "the caches turn {0}"
// CHECK-NOT: ingot.require
module {
  func.func @required(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %zero = arith.constant 0 : index
    %two = arith.constant 2 : index
    %x = nn.add %a, %c : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
    %n = tensor.dim %a, %zero : tensor<?xf32>
    %m = tensor.dim %b, %zero : tensor<?xf32>
    %twice = arith.muli %n, %two : index
    %same = arith.cmpi eq, %twice, %m : index
    ingot.require %same, "the caches turn {0}"(%twice) : index
    %d = nn.concat %a, %a {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %y = nn.add %d, %b : tensor<?xf32>, tensor<?xf32> -> tensor<?xf32>
    return %x, %y : tensor<?xf32>, tensor<?xf32>
  }
}
