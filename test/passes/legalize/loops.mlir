// RUN: ingot-opt --onnx-legalize="max-loop-steps=1000" --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {

// A loop of few steps is unrolled: step numbers are constants.

// CHECK-LABEL: @unrolled
// CHECK-NOT: scf.for
// CHECK: %[[A:.*]] = nn.relu %arg0
// CHECK: %[[B:.*]] = nn.relu %[[A]]
// CHECK: nn.concat
// CHECK: return %[[B]]
func.func @unrolled(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<*xf32>) {
  %n = arith.constant dense<2> : tensor<i64>
  %absent = onnx.absent
  %0:2 = onnx.node "Loop"(%n, %absent, %x) graphs "body" {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %s: tensor<4xf32>):
    %1 = onnx.node "Relu"(%s) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.yield %c, %1, %1 : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  } : (tensor<i64>, none, tensor<4xf32>) -> (tensor<4xf32>, tensor<*xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<*xf32>
}

// Must not fire: empty rows need no positions.

// CHECK-LABEL: @empty_rows
// CHECK: %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<?x0xf32>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %arg1, %[[R:.*]] = %[[E]])
// CHECK-NOT: tensor.insert_slice
// CHECK: scf.yield %{{.*}}, %[[R]]
func.func @empty_rows(%n: tensor<i64>, %x: tensor<0xf32>) -> (tensor<0xf32>, tensor<*xf32>) {
  %t = arith.constant dense<true> : tensor<i1>
  %0:2 = onnx.node "Loop"(%n, %t, %x) graphs "body" {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %s: tensor<0xf32>):
    %1 = onnx.node "Relu"(%s) : (tensor<0xf32>) -> tensor<0xf32>
    onnx.yield %c, %1, %1 : tensor<i1>, tensor<0xf32>, tensor<0xf32>
  } : (tensor<i64>, tensor<i1>, tensor<0xf32>) -> (tensor<0xf32>, tensor<*xf32>)
  return %0#0, %0#1 : tensor<0xf32>, tensor<*xf32>
}

// A trip count without a condition: rows get their positions before the first
// step.

// CHECK-LABEL: @counted
// CHECK: ingot.require %{{.*}}, "the loop has {0} steps, more than 1000 (--limit=loop-steps)"
// CHECK: %[[E:.*]] = tensor.empty(%[[N:.*]]) : tensor<?x4xf32>
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[N]] step %{{.*}} iter_args(%[[S:.*]] = %arg1, %[[R:.*]] = %[[E]])
// CHECK: ingot.poll
// CHECK: %[[Y:.*]] = nn.relu %[[S]]
// CHECK: %[[ALL:.*]] = tensor.insert_slice %[[Y]] into %[[R]][%[[I]], 0] [1, 4] [1, 1]
// CHECK: scf.yield %[[Y]], %[[ALL]]
func.func @counted(%n: tensor<i64>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<*xf32>) {
  %t = arith.constant dense<true> : tensor<i1>
  %0:2 = onnx.node "Loop"(%n, %t, %x) graphs "body" {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %s: tensor<4xf32>):
    %1 = onnx.node "Relu"(%s) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.yield %c, %1, %1 : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  } : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<*xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<*xf32>
}

// Each step decides if the next one runs; rows are appended.

// CHECK-LABEL: @conditional
// CHECK: %[[L:.*]] = ingot.list
// CHECK: scf.while
// CHECK: arith.cmpi slt
// CHECK: scf.condition
// CHECK: ingot.require %{{.*}}, "the loop takes more than {0} steps (--limit=loop-steps)"
// CHECK: ingot.append %[[L]], %{{.*}} : tensor<4xf32>
// CHECK: ingot.stack %[[L]] : tensor<?x4xf32>
func.func @conditional(%n: tensor<i64>, %x: tensor<4xf32>, %go: tensor<i1>) -> (tensor<4xf32>, tensor<*xf32>) {
  %0:2 = onnx.node "Loop"(%n, %go, %x) graphs "body" {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %s: tensor<4xf32>):
    %1 = onnx.node "Relu"(%s) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = onnx.node "Less"(%i, %n) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    onnx.yield %2, %1, %1 : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  } : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<*xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<*xf32>
}

// A state whose size changes between steps has a dynamic size.

// CHECK-LABEL: @grows
// CHECK: %[[INIT:.*]] = bufferization.alloc_tensor() copy(%{{.*}}) : tensor<?xf32>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[INIT]]) -> (tensor<?xf32>)
// CHECK: nn.concat
func.func @grows(%n: tensor<i64>, %x: tensor<4xf32>) -> tensor<*xf32> {
  %absent = onnx.absent
  %0 = onnx.node "Loop"(%n, %absent, %x) graphs "body" {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %s: tensor<?xf32>):
    %1 = onnx.node "Concat"(%s, %x) {axis = 0 : i64} : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
    onnx.yield %c, %1 : tensor<i1>, tensor<?xf32>
  } : (tensor<i64>, none, tensor<4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// CHECK-LABEL: @scan
// CHECK: scf.for
// CHECK: tensor.extract_slice %arg1[0, %{{.*}}] [4, 1] [1, 1] : tensor<4x900xf32> to tensor<4xf32>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, %{{.*}}] [4, 1]
func.func @scan(%h: tensor<4xf32>, %x: tensor<4x900xf32>) -> (tensor<4xf32>, tensor<4x900xf32>) {
  %0:2 = onnx.node "Scan"(%h, %x) {num_scan_inputs = 1 : i64, scan_input_axes = array<i64: 1>, scan_input_directions = array<i64: 1>, scan_output_axes = array<i64: -1>} graphs "body" {
  ^bb0(%s: tensor<4xf32>, %r: tensor<4xf32>):
    %1 = onnx.node "Add"(%s, %r) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    onnx.yield %1, %1 : tensor<4xf32>, tensor<4xf32>
  } : (tensor<4xf32>, tensor<4x900xf32>) -> (tensor<4xf32>, tensor<4x900xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4x900xf32>
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {
func.func @errors(%n: tensor<i64>, %x: tensor<4xf32>, %y: tensor<5xf32>) {
  %absent = onnx.absent
  %many = arith.constant dense<1001> : tensor<i64>
  // expected-error@+1 {{Loop (opset 21) is invalid: the body is missing}}
  onnx.node "Loop"(%n, %absent) : (tensor<i64>, none) -> ()
  // expected-error@+1 {{Loop (opset 21) is invalid: the trip count has the wrong type}}
  onnx.node "Loop"(%x, %absent) graphs "body" { onnx.yield } : (tensor<4xf32>, none) -> ()
  // expected-error@+1 {{Loop (opset 21) is invalid: the body takes 1 values, not 3}}
  %0 = onnx.node "Loop"(%n, %absent, %x) graphs "body" {
  ^bb0(%i: tensor<i64>):
    onnx.yield
  } : (tensor<i64>, none, tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{Loop (opset 21) is invalid: it never ends: it has no trip count, and its condition is always true}}
  %1 = onnx.node "Loop"(%absent, %absent, %x) graphs "body" {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %s: tensor<4xf32>):
    onnx.yield %c, %s : tensor<i1>, tensor<4xf32>
  } : (none, none, tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{Loop (opset 21) is invalid: it has 1001 steps, more than 1000 (--limit=loop-steps)}}
  %2 = onnx.node "Loop"(%many, %absent, %x) graphs "body" {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %s: tensor<4xf32>):
    onnx.yield %c, %s : tensor<i1>, tensor<4xf32>
  } : (tensor<i64>, none, tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{Loop (opset 21) is invalid: state 0 has another element type after a step}}
  %3 = onnx.node "Loop"(%n, %absent, %x) graphs "body" {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %s: tensor<4xf32>):
    onnx.yield %c, %i : tensor<i1>, tensor<i64>
  } : (tensor<i64>, none, tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{Loop (opset 21) is not supported: state 0 has rank 1 before a step and 0 after it}}
  %4 = onnx.node "Loop"(%n, %absent, %x) graphs "body" {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %s: tensor<4xf32>):
    %f = onnx.node "Cast"(%i) {to = 1 : i64} : (tensor<i64>) -> tensor<f32>
    onnx.yield %c, %f : tensor<i1>, tensor<f32>
  } : (tensor<i64>, none, tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{Scan (opset 21) is invalid: num_scan_inputs is 3, with 2 inputs}}
  %5 = onnx.node "Scan"(%x, %y) {num_scan_inputs = 3 : i64} graphs "body" {
    onnx.yield
  } : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  // expected-error@+1 {{Scan (opset 21) is invalid: scan input 1 has 5 steps, but the first has 4}}
  %6 = onnx.node "Scan"(%x, %y) {num_scan_inputs = 2 : i64} graphs "body" {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    onnx.yield %a : tensor<f32>
  } : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  %7 = onnx.node "Loop"(%n, %absent, %x) graphs "body" {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %s: tensor<4xf32>):
    // expected-error@+1 {{Foo (opset 21) is not supported}}
    %a = onnx.node "Foo"(%s) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.yield %c, %a : tensor<i1>, tensor<4xf32>
  } : (tensor<i64>, none, tensor<4xf32>) -> tensor<4xf32>
  return
}
}

// -----

// Before operator set 9, each batch has its own loop.
module attributes {onnx.opset_import = {"ai.onnx" = 8 : i64}, onnx.stated_opset = 8 : i64} {
// CHECK-LABEL: @batches
// CHECK-COUNT-6: nn.add
// CHECK: nn.concat
func.func @batches(%h: tensor<2x4xf32>, %x: tensor<2x3x4xf32>) -> tensor<*xf32> {
  %none = onnx.absent
  %0 = onnx.node "Scan"(%none, %h, %x) {num_scan_inputs = 1 : i64} graphs "body" {
  ^bb0(%s: tensor<4xf32>, %r: tensor<4xf32>):
    %t = onnx.node "Add"(%s, %r) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    onnx.yield %t : tensor<4xf32>
  } : (none, tensor<2x4xf32>, tensor<2x3x4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
}

// -----

// Rows without users are not kept.
module attributes {onnx.opset_import = {"ai.onnx" = 8 : i64}, onnx.stated_opset = 8 : i64} {
// CHECK-LABEL: @batches_of_many_steps
// CHECK-COUNT-2: scf.for %{{.*}} -> (tensor<4xf32>, tensor<500x4xf32>)
// CHECK: nn.concat {{.*}} -> tensor<2x500x4xf32>
func.func @batches_of_many_steps(%h: tensor<2x4xf32>, %x: tensor<2x500x4xf32>) -> tensor<*xf32> {
  %none = onnx.absent
  %0:3 = onnx.node "Scan"(%none, %h, %x) {num_scan_inputs = 1 : i64} graphs "body" {
  ^bb0(%s: tensor<4xf32>, %r: tensor<4xf32>):
    %t = onnx.node "Add"(%s, %r) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %u = onnx.node "Sub"(%s, %r) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    onnx.yield %t, %t, %u : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  } : (none, tensor<2x4xf32>, tensor<2x500x4xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %0#1 : tensor<*xf32>
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 8 : i64}, onnx.stated_opset = 8 : i64} {
func.func @wrong_batches(%n: tensor<2xi64>, %h: tensor<2x4xf32>, %x: tensor<3x3x4xf32>, %o: tensor<?x3x4xf32>) {
  %none = onnx.absent
  // expected-error@+1 {{Scan (opset 8) is not supported: with 'sequence_lens', as before operator set 9}}
  %0 = onnx.node "Scan"(%n, %h, %x) {num_scan_inputs = 1 : i64} graphs "body" {
  ^bb0(%s: tensor<4xf32>, %r: tensor<4xf32>):
    onnx.yield %r : tensor<4xf32>
  } : (tensor<2xi64>, tensor<2x4xf32>, tensor<3x3x4xf32>) -> tensor<*xf32>
  // expected-error@+1 {{Scan (opset 8) is invalid: input 2 has 3 batches, but the first has 2}}
  %1 = onnx.node "Scan"(%none, %h, %x) {num_scan_inputs = 1 : i64} graphs "body" {
  ^bb0(%s: tensor<4xf32>, %r: tensor<4xf32>):
    onnx.yield %r : tensor<4xf32>
  } : (none, tensor<2x4xf32>, tensor<3x3x4xf32>) -> tensor<*xf32>
  // expected-error@+1 {{Scan (opset 8) is not supported: with an open number of batches, as before operator set 9; fix it with --shape}}
  %2 = onnx.node "Scan"(%none, %h, %o) {num_scan_inputs = 1 : i64} graphs "body" {
  ^bb0(%s: tensor<4xf32>, %r: tensor<4xf32>):
    onnx.yield %r : tensor<4xf32>
  } : (none, tensor<2x4xf32>, tensor<?x3x4xf32>) -> tensor<*xf32>
  return
}
}

// -----

// A body computes on elements of its stated types.

module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {
func.func @other_types(%n: tensor<i64>, %h: tensor<4xi64>, %x: tensor<3x4xf16>) {
  %none = onnx.absent
  // expected-error @below {{Loop (opset 21) is invalid: input 2 of the body has elements of type f32, but is given i64}}
  %0 = onnx.node "Loop"(%n, %none, %h) graphs "body" {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %s: tensor<4xf32>):
    %t = onnx.node "Cos"(%s) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.yield %c, %t : tensor<i1>, tensor<4xf32>
  } : (tensor<i64>, none, tensor<4xi64>) -> tensor<*xf32>
  // expected-error @below {{Scan (opset 21) is invalid: input 1 of the body has elements of type f32, but is given f16}}
  %1:2 = onnx.node "Scan"(%h, %x) {num_scan_inputs = 1 : i64} graphs "body" {
  ^bb0(%s: tensor<4xi64>, %r: tensor<4xf32>):
    %t = onnx.node "Cos"(%r) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.yield %s, %t : tensor<4xi64>, tensor<4xf32>
  } : (tensor<4xi64>, tensor<3x4xf16>) -> (tensor<*xi64>, tensor<*xf32>)
  return
}
}

// -----

// A loop of few steps is not unrolled if its results have no position. The loop
// that is tried reports the reason once.

module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {
func.func @no_axis(%h: tensor<4xf32>, %x: tensor<3x4xf32>) {
  // expected-error @+1 {{'scan_output_axes' is 2 at [0], but must be in [-2, 1]}}
  %0:2 = onnx.node "Scan"(%h, %x) {num_scan_inputs = 1 : i64, scan_output_axes = array<i64: 2>} graphs "body" {
  ^bb0(%s: tensor<4xf32>, %r: tensor<4xf32>):
    %1 = onnx.node "Add"(%s, %r) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    onnx.yield %1, %1 : tensor<4xf32>, tensor<4xf32>
  } : (tensor<4xf32>, tensor<3x4xf32>) -> (tensor<4xf32>, tensor<*xf32>)
  return
}
}

// -----

// A row that two nodes of a body cannot take is one cause. A missing operator
// is another cause.

module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {
func.func @row(%h: tensor<2xf32>, %x: tensor<5x3xf32>) {
  %0:3 = onnx.node "Scan"(%h, %h, %x) {num_scan_inputs = 1 : i64} graphs "body" {
  ^bb0(%s: tensor<2xf32>, %t: tensor<2xf32>, %r: tensor<3xf32>):
    // expected-error @+1 {{Add (opset 21) is invalid: operand shapes do not broadcast: dimension 0 is 2 in one and 3 in the other}}
    %1 = onnx.node "Add"(%s, %r) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
    %2 = onnx.node "Mul"(%t, %r) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
    // expected-error @+1 {{Nothing (opset 21) is not supported}}
    %3 = onnx.node "Nothing"(%r) : (tensor<3xf32>) -> tensor<2xf32>
    onnx.yield %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  } : (tensor<2xf32>, tensor<2xf32>, tensor<5x3xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<*xf32>)
  return
}
}

// -----

// A list has one element for each input or output. A direction is 0 or 1.

module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {
func.func @lists(%h: tensor<4xf32>, %x: tensor<3x4xf32>) {
  // expected-error @+1 {{'scan_input_directions' has 3 elements, but must have 1, one for each input that is scanned}}
  %0:2 = onnx.node "Scan"(%h, %x) {num_scan_inputs = 1 : i64, scan_input_directions = array<i64: 0, 1, 0>} graphs "body" {
  ^bb0(%s: tensor<4xf32>, %r: tensor<4xf32>):
    onnx.yield %s, %r : tensor<4xf32>, tensor<4xf32>
  } : (tensor<4xf32>, tensor<3x4xf32>) -> (tensor<4xf32>, tensor<*xf32>)
  // expected-error @+1 {{'scan_output_directions' is 7 at [0], but must be 0 or 1}}
  %1:2 = onnx.node "Scan"(%h, %x) {num_scan_inputs = 1 : i64, scan_output_directions = array<i64: 7>} graphs "body" {
  ^bb0(%s: tensor<4xf32>, %r: tensor<4xf32>):
    onnx.yield %s, %r : tensor<4xf32>, tensor<4xf32>
  } : (tensor<4xf32>, tensor<3x4xf32>) -> (tensor<4xf32>, tensor<*xf32>)
  return
}
}
