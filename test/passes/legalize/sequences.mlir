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

// Parts of one element each, of a dynamic dimension, are the rows of a tensor.
// So are the values that each step of a loop appends, behind the existing rows.

// CHECK-LABEL: @rows
// CHECK-NOT: onnx.
// CHECK: %[[ROWS:.*]] = nn.transpose %arg0 {perm = array<i64: 1, 0>} : tensor<4x?xf32> -> tensor<?x4xf32>
// CHECK: %[[ROW:.*]] = nn.gather %[[ROWS]], %arg1
// CHECK: %[[LENGTH:.*]] = tensor.dim
// CHECK: %[[LIST:.*]] = ingot.list
// CHECK: ingot.append %[[LIST]], %[[ROW]]
// CHECK: scf.for
// CHECK:   ingot.append %[[LIST]]
// CHECK: %[[ALL:.*]] = ingot.stack %[[LIST]] : tensor<?x4xf32>
// CHECK: "the sequence has {0} elements, but needs {1}"
// CHECK: nn.transpose %[[ALL]]
func.func @rows(%x: tensor<4x?xf32>, %at: tensor<i64>) -> tensor<*xf32> {
  %s = onnx.node "SplitToSequence"(%x) {axis = 1 : i64, keepdims = 0 : i64} : (tensor<4x?xf32>) -> !seq
  %y = onnx.node "SequenceAt"(%s, %at) : (!seq, tensor<i64>) -> tensor<*xf32>
  %n = onnx.node "SequenceLength"(%s) : (!seq) -> tensor<i64>
  %none = onnx.absent
  %e = onnx.node "SequenceConstruct"(%y) : (tensor<*xf32>) -> !seq
  %t:2 = onnx.node "Loop"(%n, %none, %e, %y) graphs "body" {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %l: !seq, %h: tensor<4xf32>):
    %next = onnx.node "Neg"(%h) : (tensor<4xf32>) -> tensor<*xf32>
    %m = onnx.node "SequenceInsert"(%l, %next) : (!seq, tensor<*xf32>) -> !seq
    onnx.yield %c, %m, %next : tensor<i1>, !seq, tensor<*xf32>
  } : (tensor<i64>, none, !seq, tensor<*xf32>) -> (!seq, tensor<*xf32>)
  %z = onnx.node "ConcatFromSequence"(%t#0) {axis = 1 : i64, new_axis = 1 : i64} : (!seq) -> tensor<*xf32>
  return %z : tensor<*xf32>
}

// An element of a known list, at a computed position.
// CHECK-LABEL: @one_of
// CHECK: nn.concat
// CHECK: nn.gather
func.func @one_of(%x: tensor<4xf32>, %y: tensor<4xf32>, %at: tensor<i64>) -> tensor<*xf32> {
  %s = onnx.node "SequenceConstruct"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> !seq
  %0 = onnx.node "SequenceAt"(%s, %at) : (!seq, tensor<i64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// A list that steps read while it grows is a tensor that grows.
// CHECK-LABEL: @read
// CHECK: scf.for {{.*}} -> (tensor<?x4xf32>)
// CHECK:   nn.gather
// CHECK:   nn.concat {{.*}} -> tensor<?x4xf32>
// CHECK-NOT: onnx.rows
func.func @read(%x: tensor<4xf32>, %n: tensor<i64>) -> tensor<*xf32> {
  %none = onnx.absent
  %last = arith.constant dense<-1> : tensor<i64>
  %s = onnx.node "SequenceConstruct"(%x) : (tensor<4xf32>) -> !seq
  %l = onnx.node "Loop"(%n, %none, %s) graphs "body" {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %q: !seq):
    %e = onnx.node "SequenceAt"(%q, %last) : (!seq, tensor<i64>) -> tensor<*xf32>
    %f = onnx.node "Cos"(%e) : (tensor<*xf32>) -> tensor<*xf32>
    %r = onnx.node "SequenceInsert"(%q, %f) : (!seq, tensor<*xf32>) -> !seq
    onnx.yield %c, %r : tensor<i1>, !seq
  } : (tensor<i64>, none, !seq) -> !seq
  %0 = onnx.node "ConcatFromSequence"(%l) {axis = 0 : i64} : (!seq) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// Branches yield lists of different lengths; then an element among them, and
// one less.
// CHECK-LABEL: @chosen
// CHECK: %[[LIST:.*]] = scf.if {{.*}} -> (tensor<?x4xf32>)
// CHECK: "position {1} of the sequence can be at most {0}"
// CHECK: %[[FRONT:.*]] = tensor.extract_slice %[[LIST]]
// CHECK: %[[BACK:.*]] = tensor.extract_slice %[[LIST]]
// CHECK: %[[MORE:.*]] = nn.concat %[[FRONT]], %{{.*}}, %[[BACK]]
// CHECK: %[[LESS:.*]] = tensor.extract_slice %[[MORE]]
// CHECK: return %[[LESS]]
func.func @chosen(%x: tensor<4xf32>, %at: tensor<i64>, %n: tensor<i64>, %c: tensor<i1>) -> tensor<*xf32> {
  %none = onnx.absent
  %e = onnx.node "SequenceEmpty"() : () -> !seq
  %l = onnx.node "Loop"(%n, %none, %e) graphs "body" {
  ^bb0(%i: tensor<i64>, %d: tensor<i1>, %q: !seq):
    %r = onnx.node "SequenceInsert"(%q, %x) : (!seq, tensor<4xf32>) -> !seq
    onnx.yield %d, %r : tensor<i1>, !seq
  } : (tensor<i64>, none, !seq) -> !seq
  %s = onnx.node "If"(%c) graphs "then_branch" {
    onnx.yield %l : !seq
  }, "else_branch" {
    %o = onnx.node "SequenceEmpty"() : () -> !seq
    onnx.yield %o : !seq
  } : (tensor<i1>) -> !seq
  %m = onnx.node "SequenceInsert"(%s, %x, %at) : (!seq, tensor<4xf32>, tensor<i64>) -> !seq
  %f = onnx.node "SequenceErase"(%m) : (!seq) -> !seq
  %0 = onnx.node "ConcatFromSequence"(%f) {axis = 0 : i64, new_axis = 1 : i64} : (!seq) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// A loop of few steps makes a list that is known at compile time.

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
  %v = onnx.node "SequenceConstruct"(%x, %d) : (tensor<4xf32>, tensor<?xf32>) -> !seq
  // expected-error@+1 {{SequenceLength (opset 21) is not supported: input 0 is not a sequence whose elements are known when compiling}}
  %0 = onnx.node "SequenceLength"(%s) : (!seq) -> tensor<i64>
  // expected-error@+1 {{SequenceAt (opset 21) is invalid: 'position' is 3, but must be in [-2, 1]}}
  %1 = onnx.node "SequenceAt"(%q, %three) : (!seq, tensor<i64>) -> tensor<*xf32>
  // expected-error@+1 {{SequenceAt (opset 21) is not supported: a computed position in a sequence}}
  %2 = onnx.node "SequenceAt"(%v, %n) : (!seq, tensor<i64>) -> tensor<*xf32>
  // expected-error@+1 {{SequenceInsert (opset 21) is invalid: 'position' is 3, but must be in [-2, 2]}}
  %3 = onnx.node "SequenceInsert"(%q, %x, %three) : (!seq, tensor<4xf32>, tensor<i64>) -> !seq
  %e = onnx.node "SequenceEmpty"() : () -> !seq
  // expected-error@+1 {{SequenceErase (opset 21) is invalid: 'position' is -1, but must be left out: the sequence is empty}}
  %4 = onnx.node "SequenceErase"(%e) : (!seq) -> !seq
  // expected-error@+1 {{ConcatFromSequence (opset 21) is invalid: the sequence is empty}}
  %5 = onnx.node "ConcatFromSequence"(%e) {axis = 0 : i64} : (!seq) -> tensor<*xf32>
  // expected-error@+1 {{SplitToSequence (opset 21) is not supported: a dynamic dimension is split; fix it with --shape}}
  %6 = onnx.node "SplitToSequence"(%d, %three) : (tensor<?xf32>, tensor<i64>) -> !seq
  // expected-error@+1 {{SplitToSequence (opset 21) is not supported: a computed size of parts, so that only the run knows how many there are}}
  %7 = onnx.node "SplitToSequence"(%x, %n) : (tensor<4xf32>, tensor<i64>) -> !seq
  %none = onnx.node "Optional"() : () -> !onnx.opaque<"optional(tensor(float))">
  // expected-error@+1 {{OptionalGetElement (opset 21) is invalid: the optional has no element}}
  %8 = onnx.node "OptionalGetElement"(%none) : (!onnx.opaque<"optional(tensor(float))">) -> tensor<*xf32>
  // expected-error@+1 {{Loop (opset 21) is not supported: state 0 is a sequence whose shapes differ or are not known before the first step. The steps of a long loop may only append to it}}
  %9 = onnx.node "Loop"(%n, %absent, %v) graphs "body" {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %r: !seq):
    onnx.yield %c, %r : tensor<i1>, !seq
  } : (tensor<i64>, none, !seq) -> !seq
  return
}
}

// -----

!seq = !onnx.opaque<"seq(tensor(float))">
module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {
// An output that is a list becomes as many outputs as it has elements.
// CHECK-LABEL: @given
// CHECK-SAME: -> (tensor<4xf32> {ingot.dim_names = [""], ingot.name = "s.0"},
// CHECK-SAME: tensor<2xf32> {ingot.dim_names = [""], ingot.name = "s.1"},
// CHECK-SAME: tensor<4xf32> {ingot.name = "y"})
// CHECK: return %arg0, %arg1, %arg0 :
func.func @given(%x: tensor<4xf32>, %y: tensor<2xf32>) -> (!seq {ingot.name = "s"}, tensor<4xf32> {ingot.name = "y"}) {
  %q = onnx.node "SequenceConstruct"(%x, %y) : (tensor<4xf32>, tensor<2xf32>) -> !seq
  return %q, %x : !seq, tensor<4xf32>
}

// A list that both branches yield is a list of as many tensors.
// CHECK-LABEL: @branches
// CHECK: %[[Y:.*]]:2 = scf.if {{.*}} -> (tensor<?xf32>, tensor<2xf32>)
// CHECK: return %[[Y]]#0, %[[Y]]#1 : tensor<?xf32>, tensor<2xf32>
func.func @branches(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<2xf32>) -> (!seq {ingot.name = "s"}) {
  %q = onnx.node "If"(%c) graphs "then_branch" {
    %a = onnx.node "SequenceConstruct"(%x, %y) : (tensor<4xf32>, tensor<2xf32>) -> !seq
    onnx.yield %a : !seq
  }, "else_branch" {
    %b = onnx.node "SequenceConstruct"(%y, %y) : (tensor<2xf32>, tensor<2xf32>) -> !seq
    onnx.yield %b : !seq
  } : (tensor<i1>) -> !seq
  return %q : !seq
}

// Only the number of parts must be known.
// CHECK-LABEL: @parts
// CHECK: ingot.require %{{.*}}, "split adds up to {0} of {1} elements"
// CHECK-COUNT-2: tensor.extract_slice %arg0
func.func @parts(%x: tensor<?x3xf32>, %n: tensor<2xi64>) -> (!seq {ingot.name = "s"}) {
  %s = onnx.node "SplitToSequence"(%x, %n) : (tensor<?x3xf32>, tensor<2xi64>) -> !seq
  return %s : !seq
}
}

// -----

!seq = !onnx.opaque<"seq(tensor(float))">
module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {
// expected-error@+1 {{element 0 of output 's' would be an output 's.0', but the model has one of that name}}
func.func @taken(%x: tensor<4xf32>) -> (!seq {ingot.name = "s"}, tensor<4xf32> {ingot.name = "s.0"}) {
  %q = onnx.node "SequenceConstruct"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> !seq
  return %q, %x : !seq, tensor<4xf32>
}
}

// -----

!seq = !onnx.opaque<"seq(tensor(float))">
module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {
func.func @lengths(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<2x4xf32>) -> (!seq {ingot.name = "s"}) {
  // expected-error@+1 {{If (opset 21) is not supported: output 0 is a sequence of 2 tensors in one branch and of 1 in the other, with a computed condition}}
  %q = onnx.node "If"(%c) graphs "then_branch" {
    %a = onnx.node "SequenceConstruct"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> !seq
    onnx.yield %a : !seq
  }, "else_branch" {
    %b = onnx.node "SequenceConstruct"(%y) : (tensor<2x4xf32>) -> !seq
    onnx.yield %b : !seq
  } : (tensor<i1>) -> !seq
  return %q : !seq
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {
// expected-error@+1 {{output 's' is a sequence or an optional that only the run knows, which an artifact cannot take or give}}
func.func @unknown(%x: !onnx.opaque<"seq(tensor(float))"> {ingot.name = "x"}) -> (!onnx.opaque<"seq(tensor(float))"> {ingot.name = "s"}) {
  return %x : !onnx.opaque<"seq(tensor(float))">
}
}

// -----

// Values that are no numeric tensors are described by their type.

module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64}} {
func.func @map(%x: !onnx.opaque<"map(string,tensor(float))">, %i: tensor<i64>) -> tensor<*xf32> {
  // expected-error@+1 {{Gather (opset 21) is not supported: input 0 is of type map(string,tensor(float))}}
  %0 = onnx.node "Gather"(%x, %i) : (!onnx.opaque<"map(string,tensor(float))">, tensor<i64>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
}
