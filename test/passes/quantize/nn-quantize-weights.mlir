// RUN: ingot-opt --pass-pipeline='builtin.module(nn-quantize-weights{bits=4 block-size=8 least=0})' %s | FileCheck %s
// RUN: ingot-opt --nn-quantize-weights=least=0 %s | FileCheck %s --check-prefix=BYTES
// RUN: ingot-opt --nn-quantize-weights=least=1048576 %s --remarks-filter-analyse=decision 2> %t | FileCheck %s --check-prefix=FEW
// RUN: FileCheck %s --check-prefix=DECIDE < %t
// RUN: ingot-opt --ingot-attach-targets=levels=znver4 --nn-quantize-weights=least=524288 %s --remarks-filter-analyse=decision 2> %t.rows | FileCheck %s --check-prefix=ROWS
// RUN: FileCheck %s --check-prefix=DECIDE-ROWS < %t.rows
// RUN: ingot-opt --ingot-attach-targets=levels=x86-64-v4 --nn-quantize-weights=least=524288 %s | FileCheck %s --check-prefix=WIDE
// RUN: ingot-opt --nn-quantize-weights=least=65536 %s | FileCheck %s --check-prefix=MANY
// RUN: ingot-opt --pass-pipeline='builtin.module(nn-quantize-weights{bits=4 least=0 keep=m*=fp32})' %s | FileCheck %s --check-prefix=KEEP
// RUN: ingot-opt --pass-pipeline='builtin.module(nn-quantize-weights{bits=4 least=1048576 keep=m1=w4})' %s | FileCheck %s --check-prefix=CONVERT
// RUN: not ingot-opt --pass-pipeline='builtin.module(nn-quantize-weights{bits=4 keep=m1=w8})' %s 2>&1 | FileCheck %s --check-prefix=NARROW
// RUN: not ingot-opt --pass-pipeline='builtin.module(nn-quantize-weights{bits=3})' %s 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not ingot-opt --pass-pipeline='builtin.module(nn-quantize-weights{bits=4 block-size=12})' %s 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not ingot-opt --pass-pipeline='builtin.module(nn-quantize-weights{keep=n=fp32})' %s 2>&1 | FileCheck %s --check-prefix=RULE
// BITS: error: expects 4 or 8 bits and blocks of whole words of 8 elements, but got
// RULE: error: rule 'n=fp32' matches no node of the model

// NARROW: error: rule 'm1=w8' names w8, but the model is compiled in w4: use GLOB=fp32, or GLOB=w4 to except some from a later rule

// A rule packs weights that are too few for the policy, and no others.
// CONVERT-LABEL: @transposed
// CONVERT: nn.packed_matmul
// CONVERT-NOT: nn.packed_matmul

// Must not fire: the model has fewer weights than the option requires.
// FEW-NOT: packed_matmul
// DECIDE-DAG: nn.matmul {{.*}}Decision="#ingot.decision<precision, "float32", [<"float32", cycles = {{[0-9]+}}>, <"int8", cycles = {{[0-9]+}}>], "belongs to a model with fewer than 1048576 weights in products, which are read as fast as floats">", Sizes=4x256
// DECIDE-DAG: nn.matmul {{.*}}Decision="#ingot.decision<precision, "float32", "is in a loop with few weights, which a cache holds as floats for all steps">", Sizes=1x256

// Two blocks of a column, the second of one element. The value of largest magnitude is -8, so 0 is code 8.
// CHECK-LABEL: @transposed
// CHECK: %[[Q:.*]] = arith.constant dense<{{\[\[}}[{{[0-9]+, [0-9]+, [0-9]+, [0-9]+}}], [{{[0-9]+}}, 0, 0, 0]]]> : tensor<1x2x4xui8>
// CHECK: %[[S:.*]] = arith.constant {{.*}} : tensor<1x2xf32>
// CHECK: %[[Y:.*]] = nn.packed_matmul %arg0, %[[Q]], %[[S]] {bits = 4 : i64, block_size = 8 : i64, depth = 9 : i64} : (tensor<?x9xf32>, tensor<1x2x4xui8>, tensor<1x2xf32>) -> tensor<?x1xf32>
// CHECK: nn.add %[[Y]], %arg1

// One scale per column.
// BYTES-LABEL: @transposed
// BYTES: nn.packed_matmul {{.*}} {bits = 8 : i64, block_size = 9 : i64, depth = 9 : i64} : (tensor<?x9xf32>, tensor<1x1x9xui8>, tensor<1x1xf32>)
// KEEP-NOT: packed_matmul
func.func @transposed(%x: tensor<?x9xf32>, %b: tensor<1xf32>) -> tensor<?x1xf32> {
  %w = arith.constant dense<[[-8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 0.5]]> : tensor<1x9xf32>
  %0 = nn.matmul %x, %w bias(%b) {transpose_b} : (tensor<?x9xf32>, tensor<1x9xf32>, tensor<1xf32>) -> tensor<?x1xf32> loc("m1")
  return %0 : tensor<?x1xf32>
}

// In loops, weights that fit into the nearest caches stay floats.
// BYTES-LABEL: @steps
// BYTES: scf.for
// BYTES: nn.packed_matmul
// BYTES: scf.for
// BYTES-NOT: packed_matmul
// BYTES: nn.matmul
func.func @steps(%x: tensor<1x512xf32>, %z: tensor<1x256xf32>, %n: index) -> (tensor<1x512xf32>, tensor<1x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = arith.constant dense<1.0> : tensor<512x512xf32>
  %v = arith.constant dense<1.0> : tensor<256x256xf32>
  %h = scf.for %i = %c0 to %n step %c1 iter_args(%state = %x) -> tensor<1x512xf32> {
    %0 = nn.matmul %state, %w : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32> loc("m4")
    %1 = nn.matmul %0, %w : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32> loc("m4")
    scf.yield %1 : tensor<1x512xf32>
  }
  %k = scf.for %i = %c0 to %n step %c1 iter_args(%state = %z) -> tensor<1x256xf32> {
    %0 = nn.matmul %state, %v : (tensor<1x256xf32>, tensor<256x256xf32>) -> tensor<1x256xf32> loc("m4")
    scf.yield %0 : tensor<1x256xf32>
  }
  return %h, %k : tensor<1x512xf32>, tensor<1x256xf32>
}

// A large static number of rows does not wait for weights in caches: it needs
// four times as many weights. Products of bytes serve rows up to four.
// DECIDE-ROWS-DAG: nn.matmul {{.*}}Decision="#ingot.decision<precision, "float32", {{.*}}"has many rows, and belongs to a model with fewer than 2097152 weights in products, which are read as fast as floats">", Sizes=5x256
// DECIDE-ROWS-DAG: nn.matmul {{.*}}Decision="#ingot.decision<precision, "int8", {{.*}}"has weights whose bytes take time to read">", Sizes=4x256
// ROWS-LABEL: @rows
// ROWS: nn.packed_matmul {{.*}}tensor<4x256xf32>
// ROWS: nn.matmul {{.*}}tensor<5x256xf32>
// ROWS: nn.packed_matmul {{.*}}tensor<?x256xf32>
// WIDE-LABEL: @rows
// WIDE: nn.matmul {{.*}}tensor<4x256xf32>
// WIDE: nn.matmul {{.*}}tensor<5x256xf32>
// WIDE: nn.packed_matmul {{.*}}tensor<?x256xf32>
// MANY-LABEL: @rows
// MANY-NOT: nn.matmul
// MANY: return
func.func @rows(%x: tensor<4x256xf32>, %y: tensor<5x256xf32>, %z: tensor<?x256xf32>) -> (tensor<4x256xf32>, tensor<5x256xf32>, tensor<?x256xf32>) {
  %w = arith.constant dense<1.0> : tensor<256x256xf32>
  %0 = nn.matmul %x, %w : (tensor<4x256xf32>, tensor<256x256xf32>) -> tensor<4x256xf32> loc("m5")
  %1 = nn.matmul %y, %w : (tensor<5x256xf32>, tensor<256x256xf32>) -> tensor<5x256xf32> loc("m5")
  %2 = nn.matmul %z, %w : (tensor<?x256xf32>, tensor<256x256xf32>) -> tensor<?x256xf32> loc("m5")
  return %0, %1, %2 : tensor<4x256xf32>, tensor<5x256xf32>, tensor<?x256xf32>
}

// Must not fire: computed weights, weights that are not finite, and
// convolutions.
// CHECK-LABEL: @no
// CHECK-NOT: packed_matmul
func.func @no(%x: tensor<2x2xf32>, %v: tensor<2x2xf32>, %p: tensor<1x1x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<1x1x4xf32>) {
  %w = arith.constant dense<0x7F800000> : tensor<2x2xf32>
  %k = arith.constant dense<1.0> : tensor<1x1x1xf32>
  %0 = nn.matmul %x, %v : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("m2")
  %1 = nn.matmul %x, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("m3")
  %2 = nn.conv %p, %k {dilations = array<i64: 1>, groups = 1 : i64, pads = array<i64: 0, 0>, strides = array<i64: 1>} : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<1x1x4xf32>
}

// Must not fire: a matrix for each batch, and weights whose scales do not fit
// packed products. Columns of tiny weights beside usual ones count as zero.
// DECIDE-DAG: nn.matmul {{.*}}Decision="#ingot.decision<precision, "float32", "has a matrix of weights for each batch, and packed weights are one matrix">"
// DECIDE-DAG: nn.matmul {{.*}}Decision="#ingot.decision<precision, "float32", "has weights for each batch, to which its data are broadcast">"
// DECIDE-DAG: nn.matmul {{.*}}Decision="#ingot.decision<precision, "float32", "has weights so large or so small that packed products leave the range of float32">", Sizes=2x8
// DECIDE-DAG: nn.matmul {{.*}}Decision="#ingot.decision<precision, "float32", "has weights so large or so small that packed products leave the range of float32">", Sizes=3x8
// DECIDE-DAG: nn.matmul {{.*}}Decision="#ingot.decision<precision, "float32", "has weights that are not finite">"
// CHECK-LABEL: @ranges
// BYTES-LABEL: @ranges
// BYTES-COUNT-4: nn.matmul
// BYTES: nn.packed_matmul
// BYTES: return
func.func @ranges(%x: tensor<2x16xf32>, %y: tensor<3x16xf32>, %b: tensor<2x3x16xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x8xf32>, tensor<3x8xf32>, tensor<2x2xf32>) {
  %batches = arith.constant dense<1.0> : tensor<2x16x8xf32>
  %large = arith.constant dense<1.0e32> : tensor<16x8xf32>
  %small = arith.constant dense<1.0e-30> : tensor<16x8xf32>
  %column = arith.constant dense<[[1.0, 1.0e-35], [1.0, 1.0e-35], [1.0, 1.0e-35], [1.0, 1.0e-35], [1.0, 1.0e-35], [1.0, 1.0e-35], [1.0, 1.0e-35], [1.0, 1.0e-35], [1.0, 1.0e-35], [1.0, 1.0e-35], [1.0, 1.0e-35], [1.0, 1.0e-35], [1.0, 1.0e-35], [1.0, 1.0e-35], [1.0, 1.0e-35], [1.0, 1.0e-35]]> : tensor<16x2xf32>
  %0 = nn.matmul %b, %batches : (tensor<2x3x16xf32>, tensor<2x16x8xf32>) -> tensor<2x3x8xf32>
  %1 = nn.matmul %y, %batches : (tensor<3x16xf32>, tensor<2x16x8xf32>) -> tensor<2x3x8xf32>
  %2 = nn.matmul %x, %large : (tensor<2x16xf32>, tensor<16x8xf32>) -> tensor<2x8xf32>
  %3 = nn.matmul %y, %small : (tensor<3x16xf32>, tensor<16x8xf32>) -> tensor<3x8xf32>
  %4 = nn.matmul %x, %column : (tensor<2x16xf32>, tensor<16x2xf32>) -> tensor<2x2xf32> loc("m6")
  return %0, %1, %2, %3, %4 : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x8xf32>, tensor<3x8xf32>, tensor<2x2xf32>
}
