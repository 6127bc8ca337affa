// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(nn-promote-floats))' | FileCheck %s
// RUN: ingot-opt %s --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v3},func.func(nn-promote-floats))' | FileCheck %s --check-prefix=LACKING
// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(nn-promote-floats))' --remarks-filter-analyse=decision 2>&1 >/dev/null | FileCheck %s --check-prefix=DECISION

// DECISION-DAG: nn.matmul {{.*}} Decision="#ingot.decision<precision, "bfloat16", "has factors that the model declares as bfloat16">", Sizes=2x3
// DECISION-DAG: nn.matmul {{.*}} Decision="#ingot.decision<precision, "float16 weights", [<"float32", cycles = 1572864>, <"float16 weights", cycles = 1572864>], "has enough rows to hide the time of widening weights">", Sizes=48x512

// Values are computed in f32, and rounded at the results.
// CHECK-LABEL: @chain
// CHECK-SAME:    (%[[X:.*]]: tensor<2x4xf16>)
// CHECK:       %[[WIDE:.*]] = nn.cast %[[X]] : tensor<2x4xf16> -> tensor<2x4xf32>
// CHECK-NEXT:  %[[EXP:.*]] = nn.exp %[[WIDE]] : tensor<2x4xf32>
// CHECK-NEXT:  %[[SUM:.*]] = nn.add %[[EXP]], %[[WIDE]] : tensor<2x4xf32>
// CHECK-NEXT:  %[[Y:.*]] = nn.cast %[[SUM]] : tensor<2x4xf32> -> tensor<2x4xf16>
// CHECK-NEXT:  return %[[Y]]
func.func @chain(%x: tensor<2x4xf16>) -> tensor<2x4xf16> {
  %0 = nn.exp %x : tensor<2x4xf16> -> tensor<2x4xf16>
  %1 = nn.add %0, %x : tensor<2x4xf16>, tensor<2x4xf16> -> tensor<2x4xf16>
  return %1 : tensor<2x4xf16>
}

// Constants are widened here; products of bf16 are marked.
// CHECK-LABEL: @product
// CHECK:       %[[W:.*]] = arith.constant dense<1.500000e+00> : tensor<4x3xf32>
// CHECK:       nn.matmul %{{.*}}, %[[W]] {ingot.precision = #ingot.precision<bf16>} : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
func.func @product(%x: tensor<2x4xbf16>) -> tensor<2x3xbf16> {
  %w = arith.constant dense<1.5> : tensor<4x3xbf16>
  %0 = nn.relu %x : tensor<2x4xbf16> -> tensor<2x4xbf16>
  %1 = nn.matmul %0, %w : (tensor<2x4xbf16>, tensor<4x3xbf16>) -> tensor<2x3xbf16>
  return %1 : tensor<2x3xbf16>
}

// Values that are only moved stay 16 bits wide; computed ones are moved in f32.
// CHECK-LABEL: @movement
// CHECK:       nn.transpose %{{.*}} : tensor<2x4xf16> -> tensor<4x2xf16>
// CHECK:       nn.cast %{{.*}} : tensor<4x2xf16> -> tensor<4x2xf32>
// CHECK:       nn.neg %{{.*}} : tensor<4x2xf32>
// CHECK:       nn.transpose %{{.*}} : tensor<4x2xf32> -> tensor<2x4xf32>
func.func @movement(%x: tensor<2x4xf16>) -> tensor<2x4xf16> {
  %0 = nn.transpose %x {perm = array<i64: 1, 0>} : tensor<2x4xf16> -> tensor<4x2xf16>
  %1 = nn.neg %0 : tensor<4x2xf16> -> tensor<4x2xf16>
  %2 = nn.transpose %1 {perm = array<i64: 1, 0>} : tensor<4x2xf16> -> tensor<2x4xf16>
  return %2 : tensor<2x4xf16>
}

// The model's own casts round, and read rounded values.
// CHECK-LABEL: @casts
// CHECK:       %[[HALF:.*]] = nn.cast %{{.*}} : tensor<4xf32> -> tensor<4xf16>
// CHECK-NEXT:  %[[WIDE:.*]] = nn.cast %[[HALF]] : tensor<4xf16> -> tensor<4xf32>
// CHECK-NEXT:  %[[NEG:.*]] = nn.neg %[[WIDE]] : tensor<4xf32>
// CHECK-NEXT:  %[[ROUND:.*]] = nn.cast %[[NEG]] : tensor<4xf32> -> tensor<4xf16>
// CHECK-NEXT:  %[[INT:.*]] = nn.cast %[[ROUND]] : tensor<4xf16> -> tensor<4xi32>
// CHECK-NEXT:  return %[[INT]]
func.func @casts(%x: tensor<4xf32>) -> tensor<4xi32> {
  %0 = nn.cast %x : tensor<4xf32> -> tensor<4xf16>
  %1 = nn.neg %0 : tensor<4xf16> -> tensor<4xf16>
  %2 = nn.cast %1 : tensor<4xf16> -> tensor<4xi32>
  return %2 : tensor<4xi32>
}

// A comparison has a result of another type. Must not fire for f32 and f64.
// CHECK-LABEL: @others
// CHECK:       nn.less %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32> -> tensor<4xi1>
// CHECK:       nn.exp %{{.*}} : tensor<4xf64>
func.func @others(%x: tensor<4xf16>, %y: tensor<4xf64>) -> (tensor<4xi1>, tensor<4xf64>) {
  %0 = nn.less %x, %x : tensor<4xf16>, tensor<4xf16> -> tensor<4xi1>
  %1 = nn.exp %y : tensor<4xf64> -> tensor<4xf64>
  return %0, %1 : tensor<4xi1>, tensor<4xf64>
}

// The state of a loop is rounded in each step.
// CHECK-LABEL: @loop
// CHECK:       scf.for {{.*}} iter_args(%[[S:.*]] = %{{.*}}) -> (tensor<4xf16>)
// CHECK-NEXT:    %[[WIDE:.*]] = nn.cast %[[S]] : tensor<4xf16> -> tensor<4xf32>
// CHECK-NEXT:    %[[EXP:.*]] = nn.exp %[[WIDE]] : tensor<4xf32>
// CHECK-NEXT:    %[[NEXT:.*]] = nn.cast %[[EXP]] : tensor<4xf32> -> tensor<4xf16>
// CHECK-NEXT:    scf.yield %[[NEXT]]
func.func @loop(%x: tensor<4xf16>, %n: index) -> tensor<4xf16> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %r = scf.for %i = %0 to %n step %1 iter_args(%s = %x) -> tensor<4xf16> {
    %e = nn.exp %s : tensor<4xf16> -> tensor<4xf16>
    scf.yield %e : tensor<4xf16>
  }
  return %r : tensor<4xf16>
}

// Constant weights of 16 bits are stored as f16 if that is no slower. This is
// so for many rows, in a model that no cache holds. bf16 is not multiplied
// then.
// CHECK-LABEL: @stored
// CHECK:       nn.matmul %{{.*}}, %{{.*}} {ingot.precision = #ingot.precision<fp16>} : (tensor<48x1024xf32>, tensor<1024x512xf32>) -> tensor<48x512xf32>
// CHECK:       nn.matmul %{{.*}}, %{{[^{]*}} : (tensor<48x512xf32>, tensor<512x3xf32>)
// CHECK:       nn.matmul %{{.*}}, %{{[^{]*}} : (tensor<48x512xf32>, tensor<512x512xf32>)
func.func @stored(%x: tensor<48x1024xf16>, %v: tensor<512x512xf16>) -> (tensor<48x3xf16>, tensor<48x512xf16>) {
  %w = arith.constant dense<1.5> : tensor<1024x512xf16>
  %u = arith.constant dense<1.5> : tensor<512x3xf16>
  %0 = nn.matmul %x, %w : (tensor<48x1024xf16>, tensor<1024x512xf16>) -> tensor<48x512xf16>
  %1 = nn.matmul %0, %u : (tensor<48x512xf16>, tensor<512x3xf16>) -> tensor<48x3xf16>
  %2 = nn.matmul %0, %v : (tensor<48x512xf16>, tensor<512x512xf16>) -> tensor<48x512xf16>
  return %1, %2 : tensor<48x3xf16>, tensor<48x512xf16>
}

// CHECK-LABEL: @stored_bf16
// CHECK:       #ingot.precision<bf16>
// CHECK:       #ingot.precision<bf16>
// LACKING-LABEL: @stored_bf16
// LACKING:     nn.matmul %{{.*}}, %{{.*}} {ingot.precision = #ingot.precision<fp16>} : (tensor<48x1024xf32>, tensor<1024x512xf32>) -> tensor<48x512xf32>
// LACKING:     nn.matmul %{{.*}}, %{{[^{]*}} : (tensor<48x512xf32>, tensor<512x3xf32>)
func.func @stored_bf16(%x: tensor<48x1024xbf16>) -> tensor<48x3xbf16> {
  %w = arith.constant dense<1.5> : tensor<1024x512xbf16>
  %u = arith.constant dense<1.5> : tensor<512x3xbf16>
  %0 = nn.matmul %x, %w : (tensor<48x1024xbf16>, tensor<1024x512xbf16>) -> tensor<48x512xbf16>
  %1 = nn.matmul %0, %u : (tensor<48x512xbf16>, tensor<512x3xbf16>) -> tensor<48x3xbf16>
  return %1 : tensor<48x3xbf16>
}

// A whole tensor is rounded in front of the loop that reads it, not each
// element.
// CHECK-LABEL: @read_by_loops
// CHECK:       %[[NEG:.*]] = nn.neg %{{.*}} : tensor<?xf32>
// CHECK:       %[[ROUND:.*]] = nn.cast %[[NEG]] : tensor<?xf32> -> tensor<?xf16>
// CHECK:       linalg.generic
// CHECK-NOT:   nn.cast
// CHECK:         tensor.extract %[[ROUND]]
// CHECK:       return
func.func @read_by_loops(%x: tensor<?xf16>, %y: tensor<?xf16>) -> tensor<?xf16> {
  %0 = nn.neg %x : tensor<?xf16> -> tensor<?xf16>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%y : tensor<?xf16>) {
  ^bb0(%out: f16):
    %at = linalg.index 0 : index
    %element = tensor.extract %0[%at] : tensor<?xf16>
    linalg.yield %element : f16
  } -> tensor<?xf16>
  return %1 : tensor<?xf16>
}
