// RUN: ingot-opt %s --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v3},nn-insert-dynamic-quantize{keep=named=int8})' --remarks-filter-analyse=decision --remark-format=emitRemark -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefixes=CHECK,WORDS
// RUN: ingot-opt %s --pass-pipeline='builtin.module(ingot-attach-targets{levels=znver4},nn-insert-dynamic-quantize{keep=named=int8})' --remarks-filter-analyse=decision --remark-format=emitRemark -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefixes=CHECK,DOTS

// Products of one state share its range, so their weights count together.
// CHECK-DAG: "gates"{{.*}}<precision, "int8", {{.*}}"uses each element in enough products to pay for finding the range">
// CHECK-DAG: "candidate"{{.*}}<precision, "int8", {{.*}}"uses each element in enough products to pay for finding the range">
// Sequences of two tasks, whose steps are short, stay floats on CPUs without VNNI. Two directions are two tasks, and a
// few sequences of one direction are one.
// CHECK-DAG: "alone"{{.*}}<precision, "int8", {{.*}}"uses each element in enough products to pay for finding the range">
// WORDS-DAG: "short"{{.*}}<precision, "float32", {{.*}}"is in a loop with short steps, where one kernel of floats gives each thread some sequences through all steps">
// DOTS-DAG: "short"{{.*}}<precision, "int8", {{.*}}"uses each element in enough products to pay for finding the range">
// CHECK-DAG: "single"{{.*}}<precision, "int8", {{.*}}"has one row, whose time is that of reading weights">
// WORDS-DAG: "small"{{.*}}<precision, "float32", {{.*}}"has few weights: finding a range takes longer than multiplying them">
// DOTS-DAG: "small"{{.*}}<precision, "float32", {{.*}}"is in a loop with few weights, where one kernel of floats computes all steps">
// A rule decides for loops, too.
// CHECK-DAG: "named"{{.*}}<precision, "int8", "is put in int8 by a rule">
func.func @loops(%x: tensor<50x96xf32>, %s: tensor<2x128xf32>, %one: tensor<1x128xf32>, %few: tensor<4x64xf32>, %n: index)
    -> (tensor<50x192xf32>, tensor<50x96xf32>, tensor<2x128xf32>, tensor<1x128xf32>, tensor<4x64xf32>, tensor<4x64xf32>,
        tensor<2x128xf32>, tensor<2x128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = arith.constant dense<0.5> : tensor<96x192xf32>
  %v = arith.constant dense<0.5> : tensor<96x96xf32>
  %u = arith.constant dense<0.5> : tensor<128x128xf32>
  %t = arith.constant dense<0.5> : tensor<64x64xf32>
  %g = tensor.empty() : tensor<50x192xf32>
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x, %y = %g) -> (tensor<50x96xf32>, tensor<50x192xf32>) {
    %a = nn.matmul %h, %w : (tensor<50x96xf32>, tensor<96x192xf32>) -> tensor<50x192xf32> loc("gates")
    %b = nn.matmul %h, %v : (tensor<50x96xf32>, tensor<96x96xf32>) -> tensor<50x96xf32> loc("candidate")
    scf.yield %b, %a : tensor<50x96xf32>, tensor<50x192xf32>
  }
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%h = %s) -> tensor<2x128xf32> {
    %a = nn.matmul %h, %u : (tensor<2x128xf32>, tensor<128x128xf32>) -> tensor<2x128xf32> loc("short")
    scf.yield %a : tensor<2x128xf32>
  }
  %2 = scf.for %i = %c0 to %n step %c1 iter_args(%h = %one) -> tensor<1x128xf32> {
    %a = nn.matmul %h, %u : (tensor<1x128xf32>, tensor<128x128xf32>) -> tensor<1x128xf32> loc("single")
    scf.yield %a : tensor<1x128xf32>
  }
  %3 = scf.for %i = %c0 to %n step %c1 iter_args(%h = %few) -> tensor<4x64xf32> {
    %a = nn.matmul %h, %t : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32> loc("small")
    scf.yield %a : tensor<4x64xf32>
  }
  %4 = scf.for %i = %c0 to %n step %c1 iter_args(%h = %few) -> tensor<4x64xf32> {
    %a = nn.matmul %h, %t : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32> loc("named")
    scf.yield %a : tensor<4x64xf32>
  }
  %5 = scf.for %i = %c0 to %n step %c1 iter_args(%h = %s) -> tensor<2x128xf32> {
    %a = nn.matmul %h, %u : (tensor<2x128xf32>, tensor<128x128xf32>) -> tensor<2x128xf32> loc("alone")
    scf.yield %a : tensor<2x128xf32>
  }
  %6 = scf.for %i = %c0 to %n step %c1 iter_args(%h = %s) -> tensor<2x128xf32> {
    %a = nn.matmul %h, %u : (tensor<2x128xf32>, tensor<128x128xf32>) -> tensor<2x128xf32> loc("short")
    scf.yield %a : tensor<2x128xf32>
  }
  return %0#1, %0#0, %1, %2, %3, %4, %5, %6 : tensor<50x192xf32>, tensor<50x96xf32>, tensor<2x128xf32>, tensor<1x128xf32>, tensor<4x64xf32>, tensor<4x64xf32>,
    tensor<2x128xf32>, tensor<2x128xf32>
}
