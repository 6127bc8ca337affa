// RUN: ingot-opt %s --ingot-canonicalize | FileCheck %s
// RUN: ingot-opt %s --ingot-canonicalize=simplify-regions=false \
// RUN:   | FileCheck %s --check-prefix=KEPT

// An argument of a block that nobody reads is removed, unless the regions stay.
// CHECK-LABEL: func.func @unread
// CHECK: ^bb2:
// KEPT-LABEL: func.func @unread
// KEPT: ^bb2(%{{.*}}: index):
func.func @unread(%x: index, %isLeft: i1) -> index {
  cf.cond_br %isLeft, ^left, ^right(%x : index)
^left:
  %next = arith.addi %x, %x : index
  return %next : index
^right(%y: index):
  %other = arith.muli %x, %x : index
  return %other : index
}
