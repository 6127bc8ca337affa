// RUN: ingot-opt --cpu-schedule --outline-kernels --cpu-attention-to-vector --canonicalize --split-input-file --verify-diagnostics %s | FileCheck %s

// 70 queries are two blocks of 32 and one of 6, which takes one vector; 9 keys one tile of scores. Two samples with
// three heads: 18 tasks.

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
// CHECK-LABEL: func.func @blocks
// CHECK: %[[TASKS:.*]] = arith.constant 18 : index
// CHECK: cpu.launch @attention.0({{.*}}) tasks(%[[TASKS]])
// CHECK-LABEL: func.func private @attention.0
// CHECK-DAG: memref.alloca() {{.*}} : memref<512xf32>
// CHECK-DAG: memref.alloca() {{.*}} : memref<288xf32>
// CHECK-DAG: memref.alloca() {{.*}} : memref<32xf32>
// CHECK: scf.if
// CHECK-COUNT-64: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK: vector.fma {{.*}} : vector<16xf32>
// CHECK: math.exp {{.*}} : vector<16xf32>
// CHECK: arith.divf {{.*}} : vector<16xf32>
// CHECK: vector.fma {{.*}} : vector<16xf32>
// CHECK: } else {
// CHECK: math.exp
// CHECK-NOT: cpu.attention
func.func @blocks(%q: memref<2x70x3x16xf32>, %k: memref<2x9x3x16xf32>, %v: memref<2x9x3x32xf32>,
                  %y: memref<2x70x3x32xf32>) {
  cpu.attention ins(%q, %k, %v : memref<2x70x3x16xf32>, memref<2x9x3x16xf32>, memref<2x9x3x32xf32>)
      outs(%y : memref<2x70x3x32xf32>) attributes {scale = 2.5e-1 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}
}

// -----

// If blocks divide evenly, there is only one path. A mask of keys is one value for all queries.

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func private @attention.0
// CHECK-NOT: scf.if
// CHECK: vector.fma {{.*}} : vector<8xf32>
// CHECK: memref.load
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK-NOT: vector.maskedload
// CHECK: math.exp {{.*}} : vector<8xf32>
func.func @key_mask(%q: memref<1x32x1x16xf32>, %k: memref<1x9x1x16xf32>, %v: memref<1x9x1x16xf32>,
                    %m: memref<1x1x9x1xf32>, %y: memref<1x32x1x16xf32>) {
  cpu.attention ins(%q, %k, %v : memref<1x32x1x16xf32>, memref<1x9x1x16xf32>, memref<1x9x1x16xf32>)
      mask(%m : memref<1x1x9x1xf32>) outs(%y : memref<1x32x1x16xf32>) attributes {scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}
}

// -----

// Nothing behind the end of a mask of queries is read.

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func private @attention.0
// CHECK: vector.maskedload {{.*}}, vector<8xi1>, vector<8xf32> into vector<8xf32>
// CHECK: math.exp
func.func @query_mask(%q: memref<1x5x1x16xf32>, %k: memref<1x9x1x16xf32>, %v: memref<1x9x1x16xf32>,
                      %m: memref<1x1x9x5xf32>, %y: memref<1x5x1x16xf32>) {
  cpu.attention ins(%q, %k, %v : memref<1x5x1x16xf32>, memref<1x9x1x16xf32>, memref<1x9x1x16xf32>)
      mask(%m : memref<1x1x9x5xf32>) outs(%y : memref<1x5x1x16xf32>) attributes {scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}
}

// -----

// Dynamic numbers of queries and keys. Keys come in blocks of 128. Each block
// scales the sums so far by the growth of the maxima. Queries behind the last
// repeat the last one, and nothing of them is stored. Nothing behind the end of
// a mask of queries is read.

module attributes {ingot.target = #ingot.target<"x86-64-v4">} {
// CHECK-LABEL: func.func @open
// CHECK: memref.dim
// CHECK: arith.divui
// CHECK: cpu.launch
// CHECK-LABEL: func.func private @attention.0
// CHECK-COUNT-32: arith.minsi
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %{{.*}} step %c128
// CHECK: scf.if
// CHECK: vector.maskedload
// CHECK: arith.maxnumf {{.*}} : vector<16xf32>
// CHECK: arith.cmpf oeq
// CHECK: math.exp {{.*}} : vector<16xf32>
// CHECK: math.exp {{.*}} : vector<16xf32>
// CHECK: vector.fma {{.*}} : vector<16xf32>
// CHECK: arith.divf
// CHECK-NOT: cpu.attention
func.func @open(%q: memref<?x?x3x16xf32>, %k: memref<?x?x3x16xf32>, %v: memref<?x?x3x32xf32>,
                %m: memref<1x1x?x?xf32>, %y: memref<?x?x3x32xf32>) {
  cpu.attention ins(%q, %k, %v : memref<?x?x3x16xf32>, memref<?x?x3x16xf32>, memref<?x?x3x32xf32>)
      mask(%m : memref<1x1x?x?xf32>) outs(%y : memref<?x?x3x32xf32>) attributes {scale = 2.5e-1 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}
}

// -----

// If the reciprocal of a sum of powers is infinite, the result is 0.

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func private @attention.0
// CHECK-DAG: %[[INF:.*]] = arith.constant 0x7F800000 : f32
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK: %[[OK:.*]] = arith.cmpf olt, %{{.*}}, %[[INF]] : f32
// CHECK-NEXT: arith.select %[[OK]], %{{.*}}, %[[ZERO]] : vector<8xf32>
func.func @safe(%q: memref<1x1x1x16xf32>, %k: memref<1x9x1x16xf32>, %v: memref<1x9x1x16xf32>,
                %y: memref<1x1x1x16xf32>) {
  cpu.attention ins(%q, %k, %v : memref<1x1x1x16xf32>, memref<1x9x1x16xf32>, memref<1x9x1x16xf32>)
      outs(%y : memref<1x1x1x16xf32>) attributes {safe, scale = 2.5e-1 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}
}

// -----

// bf16 products use AMX tiles if the CPU has them. Queries, keys, powers and values are rounded. A mask is added behind
// the products. 40 keys are one block, of two steps of 32.

module attributes {ingot.target = #ingot.target<"sapphirerapids">} {
// CHECK-LABEL: func.func private @attention.0
// CHECK-DAG: memref.alloca() {{.*}} : memref<1024xbf16>
// CHECK-DAG: memref.alloca() {{.*}} : memref<4096xbf16>
// CHECK-COUNT-16: vector.interleave {{.*}} : vector<16xbf16> -> vector<32xbf16>
// CHECK: amx.tile_mulf {{.*}} : !amx.tile<16x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<16x16xf32>
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: math.exp {{.*}} : vector<16xf32>
// CHECK: amx.tile_mulf
// CHECK: arith.divf
func.func @of_bf16(%q: memref<1x40x2x16xf32>, %k: memref<1x40x2x16xf32>, %v: memref<1x40x2x32xf32>,
                   %m: memref<1x1x40x1xf32>, %y: memref<1x40x2x32xf32>) {
  cpu.attention ins(%q, %k, %v : memref<1x40x2x16xf32>, memref<1x40x2x16xf32>, memref<1x40x2x32xf32>)
      mask(%m : memref<1x1x40x1xf32>) outs(%y : memref<1x40x2x32xf32>)
      attributes {ingot.precision = #ingot.precision<bf16>, scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}
}

// -----

// Without AMX, bf16 products use pairs in vectors.

module attributes {ingot.target = #ingot.target<"znver4">} {
// CHECK-LABEL: func.func private @attention.0
// CHECK: x86vector.avx512.dot
// CHECK: math.exp
// CHECK: x86vector.avx512.dot
func.func @in_vectors(%q: memref<1x40x2x16xf32>, %k: memref<1x40x2x16xf32>, %v: memref<1x40x2x32xf32>,
                      %y: memref<1x40x2x32xf32>) {
  cpu.attention ins(%q, %k, %v : memref<1x40x2x16xf32>, memref<1x40x2x16xf32>, memref<1x40x2x32xf32>)
      outs(%y : memref<1x40x2x32xf32>) attributes {ingot.precision = #ingot.precision<bf16>, scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}
}

// -----

// Must not fire for few queries, or without instructions for bf16.

module attributes {ingot.target = #ingot.target<"sapphirerapids">} {
// CHECK-LABEL: func.func private @attention.0
// CHECK-NOT: bf16
// CHECK: vector.fma
func.func @few(%q: memref<1x4x2x16xf32>, %k: memref<1x40x2x16xf32>, %v: memref<1x40x2x32xf32>,
               %y: memref<1x4x2x32xf32>) {
  cpu.attention ins(%q, %k, %v : memref<1x4x2x16xf32>, memref<1x40x2x16xf32>, memref<1x40x2x32xf32>)
      outs(%y : memref<1x4x2x32xf32>) attributes {ingot.precision = #ingot.precision<bf16>, scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}
}

// -----

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func private @attention.0
// CHECK-NOT: bf16
// CHECK: vector.fma
func.func @without(%q: memref<1x40x2x16xf32>, %k: memref<1x40x2x16xf32>, %v: memref<1x40x2x32xf32>,
                   %y: memref<1x40x2x32xf32>) {
  cpu.attention ins(%q, %k, %v : memref<1x40x2x16xf32>, memref<1x40x2x16xf32>, memref<1x40x2x32xf32>)
      outs(%y : memref<1x40x2x32xf32>) attributes {ingot.precision = #ingot.precision<bf16>, scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}
}

// -----

// Bytes by VNNI. Queries of the keys' sign are flipped. A rounding of the scores is kept, and so is the rounding of the
// probabilities, which are packed in words of four keys. Without zero points there are no sums of bytes.

module attributes {ingot.target = #ingot.target<"znver4">} {
// CHECK-LABEL: func.func private @attention.0
// CHECK-DAG: memref.alloca() {{.*}} : memref<256xi32>
// CHECK: arith.xori
// CHECK-NOT: vector.reduction
// CHECK: vpdpbusd.512
// CHECK: arith.sitofp
// CHECK: math.roundeven
// CHECK: math.exp
// CHECK: math.roundeven
// CHECK: arith.shli
// CHECK: vpdpbusd.512
// CHECK-NOT: cpu.attention
func.func @bytes(%q: memref<1x40x2x32xi8>, %k: memref<1x12x2x32xi8>, %v: memref<1x12x2x32xi8>, %y: memref<1x40x2x32xf32>) {
  cpu.attention ins(%q, %k, %v : memref<1x40x2x32xi8>, memref<1x12x2x32xi8>, memref<1x12x2x32xi8>)
      outs(%y : memref<1x40x2x32xf32>) attributes {bytes = #cpu.attention_bytes<src_signed = true, keys_signed = true, values_signed = true, src_zero = -128, product_scale = 1.0e-2 : f32, product_rounding = [0.5, -128.0, 127.0], p_scale = 4.0e-3 : f32, p_most = 255, result_scale = 1.0e-4 : f32>, scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}
}

// -----

// Without VNNI bytes are widened. Zero points need sums: of the queries and of the probabilities by products with
// ones, of a key by a reduction.

module attributes {ingot.target = #ingot.target<"x86-64-v3">} {
// CHECK-LABEL: func.func private @attention.0
// CHECK-NOT: vpdpbusd
// CHECK: pmadd.wd
// CHECK: vector.reduction <add>
// CHECK: math.exp
// CHECK-NOT: vpdpbusd
func.func @widened(%q: memref<1x40x2x32xi8>, %k: memref<1x12x2x32xi8>, %v: memref<1x12x2x32xi8>, %y: memref<1x40x2x32xf32>) {
  cpu.attention ins(%q, %k, %v : memref<1x40x2x32xi8>, memref<1x12x2x32xi8>, memref<1x12x2x32xi8>)
      outs(%y : memref<1x40x2x32xf32>) attributes {bytes = #cpu.attention_bytes<src_zero = 3, keys_zero = 4, values_zero = 5, product_scale = 1.0e-2 : f32, p_scale = 4.0e-3 : f32, p_most = 255, result_scale = 1.0e-4 : f32>, scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}
}

// -----

// More than 1024 keys come in blocks of 128, twice.

module attributes {ingot.target = #ingot.target<"znver4">} {
// CHECK-LABEL: func.func private @attention.0
// CHECK-DAG: memref.alloca() {{.*}} : memref<1024xi32>
// CHECK: scf.for
// CHECK: math.exp
// CHECK: scf.for
// CHECK: math.exp
// CHECK: math.roundeven
// CHECK-NOT: cpu.attention
func.func @many(%q: memref<1x40x2x32xi8>, %k: memref<1x1500x2x32xi8>, %v: memref<1x1500x2x32xi8>, %y: memref<1x40x2x32xf32>) {
  cpu.attention ins(%q, %k, %v : memref<1x40x2x32xi8>, memref<1x1500x2x32xi8>, memref<1x1500x2x32xi8>)
      outs(%y : memref<1x40x2x32xf32>) attributes {bytes = #cpu.attention_bytes<product_scale = 1.0e-2 : f32, p_scale = 4.0e-3 : f32, p_most = 255, result_scale = 1.0e-4 : f32>, scale = 1.0 : f32} {
  ^bb0(%sum: f32):
    cpu.yield %sum : f32
  }
  return
}
}
