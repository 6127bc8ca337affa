// RUN: ingot-opt --cuda-schedule-attention --split-input-file %s | FileCheck %s
// RUN: ingot-opt --cuda-schedule-attention --split-input-file --remarks-filter-analyse=decision %s 2>&1 | FileCheck %s --check-prefix=DECISION
// RUN: ingot-opt --cuda-schedule-attention=seed=7 --split-input-file %s -o %t.drawn
// RUN: ingot-opt --cuda-schedule-attention=seed=7 --split-input-file %s | diff - %t.drawn

// The decisions have the times of all tiles, or why one does not serve.
// DECISION: remark: {{.*}} cuda.attention | Category:decision | Decision="#ingot.decision<schedule, "128x64"
// DECISION-SAME: [<"128x64", cycles = [[LARGE:[0-9]+]]>, <"128x32", cycles = [[LARGE]]>
// DECISION-SAME: "has 16 heads, 512 queries and 512 keys">"
// DECISION: remark: {{.*}} cuda.attention | Category:decision | Decision="#ingot.decision<schedule, "32x16"
// DECISION-SAME: <"64x16">, <"32x64", cycles = {{[0-9]+}}>
// DECISION-SAME: "has 2 heads, 20 queries and 9 keys">"
// DECISION-SAME: WhyNot="has too few queries"
// DECISION: remark: {{.*}} cuda.attention | Category:decision | Decision="#ingot.decision<schedule, "64x16"
// DECISION-SAME: <"128x64">
// DECISION-SAME: "has 2 heads, 300 queries and 300 keys">"
// DECISION-SAME: WhyNot="needs too much shared memory"

// Many heads and queries have large tiles.
// CHECK-LABEL: @large
// CHECK: schedule = #cuda.attention_schedule<rows = 128, keys = 64, stages = 2, src_bytes = 16, keys_bytes = 16, values_bytes = 16, stored = 2>
func.func @large(%q: memref<8x512x16x64xf16>, %y: memref<8x512x16x64xf16>) {
  cuda.attention ins(%q, %q, %q : memref<8x512x16x64xf16>, memref<8x512x16x64xf16>, memref<8x512x16x64xf16>)
      outs(%y : memref<8x512x16x64xf16>) attributes {scale = 1.25e-1 : f32} {
  ^bb0(%sum: f32):
    %0 = arith.truncf %sum : f32 to f16
    cuda.yield %0 : f16
  }
  return
}

// -----

// Few queries and keys have small tiles. Elements that are not neighbors in
// memory are copied and stored one by one.
// CHECK-LABEL: @small
// CHECK: schedule = #cuda.attention_schedule<rows = 32, keys = 16, stages = 2, src_bytes = 16, keys_bytes = 2, values_bytes = 16, stored = 1>
func.func @small(%q: memref<1x20x2x16xf16>, %k: memref<1x9x2x16xf16, strided<[640, 64, 32, 2]>>,
                 %v: memref<1x9x2x16xf16>, %y: memref<1x20x2x16xf32, strided<[640, 32, 16, 1], offset: 1>>) {
  cuda.attention ins(%q, %k, %v : memref<1x20x2x16xf16>, memref<1x9x2x16xf16, strided<[640, 64, 32, 2]>>, memref<1x9x2x16xf16>)
      outs(%y : memref<1x20x2x16xf32, strided<[640, 32, 16, 1], offset: 1>>) attributes {scale = 1.25e-1 : f32} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  }
  return
}

// -----

// Few heads have smaller tiles, so that more multiprocessors work. Large heads
// of f32 leave no room for large tiles.
// CHECK-LABEL: @few_heads
// CHECK: schedule = #cuda.attention_schedule<rows = 64, keys = 16, stages = 2
func.func @few_heads(%q: memref<1x300x2x128xf32>, %y: memref<1x300x2x128xf32>) {
  cuda.attention ins(%q, %q, %q : memref<1x300x2x128xf32>, memref<1x300x2x128xf32>, memref<1x300x2x128xf32>)
      outs(%y : memref<1x300x2x128xf32>) attributes {scale = 1.25e-1 : f32} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  }
  return
}

// -----

// A schedule that is there stays, and tensors get none.
// CHECK-LABEL: @given
// CHECK: stages = 3
// CHECK-LABEL: @tensors
// CHECK-NOT: cuda.attention_schedule
func.func @given(%q: memref<1x20x2x16xf16>, %y: memref<1x20x2x16xf32>) {
  cuda.attention ins(%q, %q, %q : memref<1x20x2x16xf16>, memref<1x20x2x16xf16>, memref<1x20x2x16xf16>)
      outs(%y : memref<1x20x2x16xf32>) attributes {scale = 1.25e-1 : f32, schedule =
      #cuda.attention_schedule<rows = 16, keys = 16, stages = 3, src_bytes = 16, keys_bytes = 16, values_bytes = 16, stored = 2>} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  }
  return
}
func.func @tensors(%q: tensor<1x20x2x16xf16>, %y: tensor<1x20x2x16xf32>) -> tensor<1x20x2x16xf32> {
  %0 = cuda.attention ins(%q, %q, %q : tensor<1x20x2x16xf16>, tensor<1x20x2x16xf16>, tensor<1x20x2x16xf16>)
      outs(%y : tensor<1x20x2x16xf32>) attributes {scale = 1.25e-1 : f32} {
  ^bb0(%sum: f32):
    cuda.yield %sum : f32
  } -> tensor<1x20x2x16xf32>
  return %0 : tensor<1x20x2x16xf32>
}
