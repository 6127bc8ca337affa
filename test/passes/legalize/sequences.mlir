// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

!seq = !onnx.opaque<"seq(tensor(float))">
module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {

// CHECK-LABEL: @lists
// CHECK-NOT: onnx.
// CHECK: %[[N:.*]] = arith.constant dense<3> : tensor<i64>
// CHECK: %[[Y:.*]] = nn.concat %arg1, %arg0, %arg1
// CHECK: return %arg0, %[[N]], %[[Y]]
func.func @lists(%x: tensor<4xf32>, %y: tensor<2xf32>) -> (tensor<*xf32>, tensor<i64>, tensor<*xf32>) {
  %at = arith.constant dense<-2> : tensor<i64>
  %none = onnx.absent
  %e = onnx.node "SequenceEmpty"() : () -> !seq
  %a = onnx.node "SequenceInsert"(%e, %y, %none) : (!seq, tensor<2xf32>, none) -> !seq
  %b = onnx.node "SequenceInsert"(%a, %y) : (!seq, tensor<2xf32>) -> !seq
  %minus = arith.constant dense<-1> : tensor<i64>
  %c = onnx.node "SequenceInsert"(%b, %x, %minus) : (!seq, tensor<4xf32>, tensor<i64>) -> !seq
  %d = onnx.node "Identity"(%c) : (!seq) -> !seq
  %0 = onnx.node "SequenceAt"(%d, %at) : (!seq, tensor<i64>) -> tensor<*xf32>
  %1 = onnx.node "SequenceLength"(%d) : (!seq) -> tensor<i64>
  %2 = onnx.node "ConcatFromSequence"(%d) {axis = 0 : i64} : (!seq) -> tensor<*xf32>
  return %0, %1, %2 : tensor<*xf32>, tensor<i64>, tensor<*xf32>
}

// CHECK-LABEL: @split
// CHECK: nn.slice %arg0 {{.*}}starts = array<i64: 2, 0>
// CHECK: nn.slice %arg0 {{.*}}starts = array<i64: 4, 0>
func.func @split(%x: tensor<5x3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %two = arith.constant dense<2> : tensor<i64>
  %one = arith.constant dense<1> : tensor<i64>
  %s = onnx.node "SplitToSequence"(%x, %two) : (tensor<5x3xf32>, tensor<i64>) -> !seq
  %0 = onnx.node "SequenceAt"(%s, %one) : (!seq, tensor<i64>) -> tensor<*xf32>
  %1 = onnx.node "SequenceAt"(%s, %two) : (!seq, tensor<i64>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @optionals
// CHECK: %[[T:.*]] = arith.constant dense<true>
// CHECK: %[[F:.*]] = arith.constant dense<false>
// CHECK: return %[[T]], %[[F]], %arg0
func.func @optionals(%x: tensor<4xf32>) -> (tensor<i1>, tensor<i1>, tensor<*xf32>) {
  %o = onnx.node "Optional"(%x) : (tensor<4xf32>) -> !onnx.opaque<"optional(tensor(float))">
  %n = onnx.node "Optional"() : () -> !onnx.opaque<"optional(tensor(float))">
  %0 = onnx.node "OptionalHasElement"(%o) : (!onnx.opaque<"optional(tensor(float))">) -> tensor<i1>
  %1 = onnx.node "OptionalHasElement"(%n) : (!onnx.opaque<"optional(tensor(float))">) -> tensor<i1>
  %2 = onnx.node "OptionalGetElement"(%o) : (!onnx.opaque<"optional(tensor(float))">) -> tensor<*xf32>
  return %0, %1, %2 : tensor<i1>, tensor<i1>, tensor<*xf32>
}

// A loop of few steps makes a list that is known when compiling.

// CHECK-LABEL: @loop
// CHECK-NOT: scf.for
// CHECK: nn.concat
func.func @loop(%x: tensor<4xf32>) -> tensor<*xf32> {
  %n = arith.constant dense<3> : tensor<i64>
  %none = onnx.absent
  %e = onnx.node "SequenceEmpty"() : () -> !seq
  %s = onnx.node "Loop"(%n, %none, %e) graphs "body" {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %q: !seq):
    %f = onnx.node "Cast"(%i) {to = 1 : i64} : (tensor<i64>) -> tensor<f32>
    %a = onnx.node "Add"(%x, %f) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %r = onnx.node "SequenceInsert"(%q, %a) : (!seq, tensor<4xf32>) -> !seq
    onnx.yield %c, %r : tensor<i1>, !seq
  } : (tensor<i64>, none, !seq) -> !seq
  %0 = onnx.node "ConcatFromSequence"(%s) {axis = 0 : i64, new_axis = 1 : i64} : (!seq) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
}

// -----

!seq = !onnx.opaque<"seq(tensor(float))">
module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {
func.func @errors(%s: !seq, %x: tensor<4xf32>, %n: tensor<i64>, %d: tensor<?xf32>) {
  %three = arith.constant dense<3> : tensor<i64>
  %absent = onnx.absent
  %q = onnx.node "SequenceConstruct"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> !seq
  // expected-error@+1 {{SequenceLength (opset 21) is not supported: input 0 is no sequence whose elements are known when compiling}}
  %0 = onnx.node "SequenceLength"(%s) : (!seq) -> tensor<i64>
  // expected-error@+1 {{SequenceAt (opset 21) is invalid: 'position' is 3, but must be in [-2, 1]}}
  %1 = onnx.node "SequenceAt"(%q, %three) : (!seq, tensor<i64>) -> tensor<*xf32>
  // expected-error@+1 {{SequenceAt (opset 21) is not supported: a computed position in a sequence}}
  %2 = onnx.node "SequenceAt"(%q, %n) : (!seq, tensor<i64>) -> tensor<*xf32>
  // expected-error@+1 {{SequenceInsert (opset 21) is invalid: 'position' is 3, but must be in [-2, 2]}}
  %3 = onnx.node "SequenceInsert"(%q, %x, %three) : (!seq, tensor<4xf32>, tensor<i64>) -> !seq
  %e = onnx.node "SequenceEmpty"() : () -> !seq
  // expected-error@+1 {{SequenceErase (opset 21) is invalid: 'position' is -1, but must be left out: the sequence is empty}}
  %4 = onnx.node "SequenceErase"(%e) : (!seq) -> !seq
  // expected-error@+1 {{ConcatFromSequence (opset 21) is invalid: the sequence is empty}}
  %5 = onnx.node "ConcatFromSequence"(%e) {axis = 0 : i64} : (!seq) -> tensor<*xf32>
  // expected-error@+1 {{SplitToSequence (opset 21) is not supported: a dynamic dimension is split; fix it with --shape}}
  %6 = onnx.node "SplitToSequence"(%d) : (tensor<?xf32>) -> !seq
  // expected-error@+1 {{SplitToSequence (opset 21) is not supported: computed sizes of parts}}
  %7 = onnx.node "SplitToSequence"(%x, %n) : (tensor<4xf32>, tensor<i64>) -> !seq
  %none = onnx.node "Optional"() : () -> !onnx.opaque<"optional(tensor(float))">
  // expected-error@+1 {{OptionalGetElement (opset 21) is invalid: the optional has no element}}
  %8 = onnx.node "OptionalGetElement"(%none) : (!onnx.opaque<"optional(tensor(float))">) -> tensor<*xf32>
  // expected-error@+1 {{Loop (opset 21) is not supported: state 0 is not a tensor, in a loop of many steps}}
  %9 = onnx.node "Loop"(%n, %absent, %q) graphs "body" {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %r: !seq):
    onnx.yield %c, %r : tensor<i1>, !seq
  } : (tensor<i64>, none, !seq) -> !seq
  return
}
}

// -----

!seq = !onnx.opaque<"seq(tensor(float))">
module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {
// expected-error@+1 {{output 's' is a sequence, which an artifact cannot take or give}}
func.func @given(%x: tensor<4xf32>) -> (!seq {ingot.name = "s"}) {
  %q = onnx.node "SequenceConstruct"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> !seq
  return %q : !seq
}
}
