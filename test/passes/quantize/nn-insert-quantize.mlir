// RUN: split-file %s %t
// RUN: ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/all.json},nn-insert-quantize)' | FileCheck %s
// RUN: ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/all.json},nn-insert-quantize{keep=conv?=fp32})' \
// RUN:   | FileCheck %s --check-prefix=KEEP
// RUN: ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/all.json},nn-insert-quantize{int8-weights=7})' \
// RUN:   | FileCheck %s --check-prefix=SEVEN
// RUN: ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/part.json},nn-insert-quantize)' \
// RUN:   | FileCheck %s --check-prefix=PART
// RUN: ingot-opt %t/movement.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/movement.json},nn-insert-quantize)' \
// RUN:   | FileCheck %s --check-prefix=MOVE
// RUN: ingot-opt %t/channels.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/channels.json},nn-insert-quantize)' \
// RUN:   | FileCheck %s --check-prefix=CHANNELS
// RUN: ingot-opt %t/rounded.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/rounded.json},nn-insert-quantize)' \
// RUN:   | FileCheck %s --check-prefix=ROUND
// RUN: ingot-opt %t/rounded.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/rounded.json},nn-insert-quantize{int8-weights=7})' \
// RUN:   | FileCheck %s --check-prefix=SEVEN-BITS
// RUN: ingot-opt %t/pairs.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v3},ingot-attach-calibration{file=%t/pairs.json},nn-insert-quantize{int8-weights=auto keep=*=int8})' \
// RUN:   | FileCheck %s --check-prefix=PAIRS
// RUN: ingot-opt %t/pairs.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v3,znver4},ingot-attach-calibration{file=%t/pairs.json},nn-insert-quantize{int8-weights=auto keep=*=int8})' \
// RUN:   | FileCheck %s --check-prefix=NO-PAIRS
// RUN: ingot-opt %t/pairs.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v3},ingot-attach-calibration{file=%t/down.json},nn-insert-quantize{int8-weights=auto keep=*=int8})' \
// RUN:   | FileCheck %s --check-prefix=DOWN
// RUN: ingot-opt %t/inputs.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/inputs.json},nn-insert-quantize)' \
// RUN:   | FileCheck %s --check-prefixes=INPUTS,FOURS
// RUN: ingot-opt %t/inputs.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v3},ingot-attach-calibration{file=%t/inputs.json},nn-insert-quantize)' \
// RUN:   | FileCheck %s --check-prefixes=INPUTS,WORDS
// RUN: ingot-opt %t/chain.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v3},ingot-attach-calibration{file=%t/chain.json},nn-insert-quantize)' \
// RUN:   | FileCheck %s --check-prefixes=CHAIN
// RUN: ingot-opt %t/floats.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/floats.json},nn-insert-quantize)' \
// RUN:   | FileCheck %s --check-prefixes=FLOATS,OF-FOURS
// RUN: ingot-opt %t/floats.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v3},ingot-attach-calibration{file=%t/floats.json},nn-insert-quantize)' \
// RUN:   | FileCheck %s --check-prefixes=FLOATS,OF-WORDS
// RUN: ingot-opt %t/floats.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v3},ingot-attach-calibration{file=%t/floats.json},nn-insert-quantize{keep=*=int8})' \
// RUN:   | FileCheck %s --check-prefix=OF-RULE

// RUN: not ingot-opt %t/rounded.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/long.json},nn-insert-quantize)' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LONG
// RUN: not ingot-opt %t/rounded.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/base.json},nn-insert-quantize)' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BASE
// RUN: not ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/movement.json},nn-insert-quantize)' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN
// RUN: not ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/near.json},nn-insert-quantize)' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NEAR
// RUN: not ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/none.json},nn-insert-quantize)' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: not ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/all.json},nn-insert-quantize{keep=cnv1=fp32})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=RULE
// RUN: not ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/all.json},nn-insert-quantize{keep=conv1})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WHAT
// RUN: not ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-calibration{file=%t/all.json},nn-insert-quantize{keep=[=fp32})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=GLOB

// UNKNOWN: error: '{{.*}}movement.json' has a range of tensor 'flat', but no tensor that could be quantized has this name{{$}}
// LONG: error: {{.*}}expects the rounding of 4 weights in 1 bytes, but the calibration has 2
// BASE: error: '{{.*}}base.json': 'fc1' of its "adaround" is not base64
// NEAR: error: '{{.*}}near.json' has a range of tensor 'rel', but no tensor that could be quantized has this name; similar names: 'relu'
// NONE: error: cannot read '{{.*}}none.json': {{[Nn]}}o such file
// RULE: error: rule 'cnv1=fp32' matches no node of the model; similar names: 'conv1', 'conv2'
// WHAT: error: rule 'conv1' does not say what nodes are kept in: use GLOB=fp32, or GLOB=int8 to except some from a later rule
// GLOB: error: rule '[=fp32' is not a pattern

// Data is unsigned bytes. Weights are signed bytes with a scale for each output
// channel; a channel of zeros has any scale. The bias stays, and the summand of
// the product is read as bytes.
// CHECK-LABEL: func.func @residual
// CHECK-DAG: %[[IN:.*]] = nn.abs
// CHECK-DAG: %[[SX:.*]] = arith.constant dense<2.500000e-01> : tensor<f32>
// CHECK-DAG: %[[ZX:.*]] = arith.constant dense<3> : tensor<ui8>
// CHECK: %[[QX:.*]] = nn.quantize %[[IN]], %[[SX]] zero_point(%[[ZX]]) {axis = 0 : i64} : (tensor<1x2x2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2x2xui8>
// CHECK: %[[X:.*]] = nn.dequantize %[[QX]], %[[SX]] zero_point(%[[ZX]])
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[\[\[127\]\], \[\[-64\]\]\], \[\[\[0\]\], \[\[0\]\]\]\]}}> : tensor<2x2x1x1xsi8>
// CHECK-DAG: %[[SW:.*]] = arith.constant dense<[0.00787401571, 1.000000e+00]> : tensor<2xf32>
// CHECK: %[[DW:.*]] = nn.dequantize %[[W]], %[[SW]] {axis = 0 : i64} : (tensor<2x2x1x1xsi8>, tensor<2xf32>) -> tensor<2x2x1x1xf32>
// CHECK: %[[C:.*]] = nn.conv %[[X]], %[[DW]] bias(%{{.*}} : (tensor<1x2x2x2xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>)
// CHECK: %[[A:.*]] = nn.add %[[C]], %[[X]]
// CHECK: %[[R:.*]] = nn.relu %[[A]]
// CHECK: %[[QR:.*]] = nn.quantize %[[R]],
// CHECK: %[[DR:.*]] = nn.dequantize %[[QR]],
// CHECK: nn.conv %[[DR]], %[[DW]]

// The file gives the bytes below and above, for the product that it names and
// for those that share its weights.
// ROUND-LABEL: func.func @rounded
// ROUND-DAG: %[[W1:.*]] = arith.constant dense<{{\[\[127, 39\], \[-92, 127\]\]}}> : tensor<2x2xsi8>
// ROUND-DAG: %[[W2:.*]] = arith.constant dense<{{\[\[127, 40\], \[-91, 127\]\]}}> : tensor<2x2xsi8>
// ROUND-DAG: %[[D1:.*]] = nn.dequantize %[[W1]]
// ROUND-DAG: %[[D2:.*]] = nn.dequantize %[[W2]]
// ROUND: nn.matmul %{{.*}}, %[[D1]] :
// ROUND: nn.matmul %{{.*}}, %[[D2]] :
// ROUND: nn.matmul %{{.*}}, %[[D1]] :
// SEVEN-BITS: arith.constant dense<{{\[\[64, 20\], \[-46, 64\]\]}}> : tensor<2x2xsi8>

// Two products of weights up to 64 fit into 16 bits.
// SEVEN-LABEL: func.func @residual
// SEVEN-DAG: arith.constant dense<{{\[\[\[\[64\]\], \[\[-32\]\]\], \[\[\[0\]\], \[\[0\]\]\]\]}}> : tensor<2x2x1x1xsi8>
// SEVEN-DAG: arith.constant dense<[1.562500e-02, 1.000000e+00]> : tensor<2xf32>

// KEEP-LABEL: func.func @residual
// KEEP-NOT: nn.quantize

// Must not fire without a range.
// PART-LABEL: func.func @residual
// PART: %[[X:.*]] = nn.abs
// PART: nn.conv %[[X]], %cst
// PART: %[[R:.*]] = nn.relu
// PART: nn.quantize %[[R]]
// PART: nn.conv

// Ops that only move values use the range of their result.
// MOVE-LABEL: func.func @movement
// MOVE: %[[Q:.*]] = nn.quantize %arg0
// MOVE: %[[X:.*]] = nn.dequantize %[[Q]]
// MOVE: %[[P:.*]] = nn.reshape %[[X]]
// MOVE: %[[QP:.*]] = nn.quantize %[[P]]
// MOVE: %[[D:.*]] = nn.dequantize %[[QP]]
// MOVE: nn.matmul %[[D]]

// Depthwise convolutions on three rows of pixels stay floats with 5x5 taps; on
// four rows they are bytes. The input of a mean of floats is stored as floats:
// it is not rounded for a product.
// CHANNELS-LABEL: func.func @channels
// CHANNELS: %[[IN:.*]] = nn.abs %arg0
// CHANNELS: nn.quantize %[[IN]]
// CHANNELS: %[[X:.*]] = nn.dequantize
// CHANNELS: %[[FEW:.*]] = nn.abs %arg1
// CHANNELS: nn.conv %[[FEW]], %cst
// CHANNELS: %[[C:.*]] = nn.conv %[[X]]
// CHANNELS-NEXT: %[[R:.*]] = nn.relu %[[C]]
// CHANNELS-NEXT: nn.reduce mean %[[R]]
// CHANNELS-NEXT: %[[M:.*]] = nn.reshape
// CHANNELS-NEXT: %[[S:.*]] = nn.mul %[[R]], %[[M]]
// CHANNELS: nn.quantize %[[S]]

// Two neighbours of one sign sum to at most 128: 67 + 61, and scales are large
// enough for that. Must not fire for fewer than 32 rows, if all channels would
// lose as much as with 7 bits, or if the file gives the rounding.
// PAIRS-LABEL: func.func @pairs
// PAIRS-DAG: %[[FIT:.*]] = arith.constant dense<{{\[\[}}67, 127, 127], [61, -114, -13], [7, 13, 114], [-5, 35, 14], [7, 14, -9]
// PAIRS-DAG: %[[WIDE:.*]] = arith.constant dense<[0.0148437498, 0.00787401571, 0.00789062492]> : tensor<3xf32>
// PAIRS-DAG: %[[NEAREST:.*]] = arith.constant dense<{{\[\[}}127, 127, 127], [114, -114, -13], [13, 13, 114]
// PAIRS-DAG: %[[ONE:.*]] = arith.constant dense<{{\[\[}}127], [114], [13]
// PAIRS-DAG: %[[WFIT:.*]] = nn.dequantize %[[FIT]], %[[WIDE]]
// PAIRS-DAG: %[[WNEAREST:.*]] = nn.dequantize %[[NEAREST]]
// PAIRS-DAG: %[[WONE:.*]] = nn.dequantize %[[ONE]]
// PAIRS: nn.matmul %{{.*}}, %[[WFIT]]
// PAIRS: nn.matmul %{{.*}}, %[[WNEAREST]]
// PAIRS: nn.matmul %{{.*}}, %[[WONE]]
// PAIRS: nn.matmul %{{.*}}, %[[WFIT]]

// With byte dot products, or a repair, scales follow from the largest weights.
// NO-PAIRS-LABEL: func.func @pairs
// NO-PAIRS-NOT: [67, 127, 127]
// NO-PAIRS: return
// DOWN-LABEL: func.func @pairs
// DOWN-DAG: %[[NEAREST:.*]] = arith.constant dense<{{\[\[}}127], [114], [13]
// DOWN-DAG: %[[DOWN:.*]] = arith.constant dense<{{\[\[}}127, 127, 127], [114, -115, -13], [12, 12, 114]
// DOWN-DAG: %[[WNEAREST:.*]] = nn.dequantize %[[NEAREST]]
// DOWN-DAG: %[[WDOWN:.*]] = nn.dequantize %[[DOWN]]
// DOWN: nn.matmul %{{.*}}, %[[WDOWN]]
// DOWN: nn.matmul %{{.*}}, %[[WDOWN]]
// DOWN: nn.matmul %{{.*}}, %[[WNEAREST]]
// DOWN: nn.matmul %{{.*}}, %[[WDOWN]]

// Float inputs of the model stay floats for two channels, which are multiplied
// as floats. With int16, they do for three channels. So do inputs of depthwise
// convolutions that fit into a cache, with more than four taps or as int16.
// Values behind a product are bytes.
// INPUTS-LABEL: func.func @inputs
// FOURS: %[[Q:.*]] = nn.quantize %arg1
// FOURS: %[[Y:.*]] = nn.dequantize %[[Q]]
// INPUTS: %[[TWO:.*]] = nn.transpose %arg0
// INPUTS: %[[A:.*]] = nn.conv %[[TWO]], %cst
// INPUTS: %[[QA:.*]] = nn.quantize %[[A]]
// INPUTS: %[[DA:.*]] = nn.dequantize %[[QA]]
// FOURS: nn.conv %[[Y]]
// WORDS: nn.conv %arg1, %cst
// INPUTS: nn.conv %[[DA]]
// FOURS: nn.conv %[[Y]]
// WORDS: nn.conv %arg1, %cst
// INPUTS: nn.conv %arg1, %cst

// With int16, depthwise convolutions that fit into a cache stay floats behind
// others that do, also through functions. Behind bytes, with a stride, and
// behind two tensors they are bytes.
// CHAIN-LABEL: func.func @chain
// CHAIN: %[[A:.*]] = nn.conv %arg0, %cst
// CHAIN: %[[R:.*]] = nn.relu %[[A]]
// CHAIN: %[[B:.*]] = nn.conv %[[R]], %cst
// CHAIN: %[[QB:.*]] = nn.quantize %[[B]]
// CHAIN: %[[DB:.*]] = nn.dequantize %[[QB]]
// CHAIN: %[[C:.*]] = nn.conv %[[DB]], %{{.*}} strides = array<i64: 1, 1>} : (tensor<1x4x4x4xf32>, tensor<4x4x1x1xf32>)
// CHAIN: %[[QC:.*]] = nn.quantize %[[C]]
// CHAIN: %[[DC:.*]] = nn.dequantize %[[QC]]
// CHAIN: nn.conv %[[DC]], %{{.*}} strides = array<i64: 1, 1>} : (tensor<1x4x4x4xf32>, tensor<4x1x3x3xf32>)
// CHAIN: nn.conv %[[DB]], %{{.*}} strides = array<i64: 2, 2>}
// CHAIN: %[[S:.*]] = nn.add
// CHAIN: %[[QS:.*]] = nn.quantize %[[S]]
// CHAIN: %[[DS:.*]] = nn.dequantize %[[QS]]
// CHAIN: nn.conv %[[DS]]
// Products that kernels compute no faster as bytes stay floats. These are
// depthwise convolutions with one row of taps or on volumes, unless their input
// comes from memory. They also are groups of few channels, and transposed
// convolutions of few channels. With int16, they are inputs with few terms or
// columns, and 3x3 taps of few channels.
// FLOATS-LABEL: func.func @floats
// FLOATS: nn.conv {{%.*}}, %{{cst[_0-9]*}} {{.*}}(tensor<1x32x64xf32>, tensor<32x1x3xf32>)
// FLOATS: nn.conv {{%.*}}, %{{[0-9]+}} {{.*}}(tensor<1x64x4096xf32>, tensor<64x1x3xf32>)
// OF-FOURS: nn.conv {{%.*}}, %{{[0-9]+}} {{.*}}(tensor<1x64x4096xf32>, tensor<64x1x5xf32>)
// OF-WORDS: nn.conv {{%.*}}, %{{cst[_0-9]*}} {{.*}}(tensor<1x64x4096xf32>, tensor<64x1x5xf32>)
// FLOATS: nn.conv {{%.*}}, %{{cst[_0-9]*}} {{.*}}(tensor<1x64x?xf32>, tensor<64x1x3xf32>)
// FLOATS: nn.conv {{%.*}}, %{{cst[_0-9]*}} {{.*}}(tensor<1x16x8x8x8xf32>, tensor<16x1x3x3x3xf32>)
// OF-FOURS: nn.conv {{%.*}}, %{{[0-9]+}} {{.*}}(tensor<1x64x10x10x10xf32>, tensor<64x1x3x3x3xf32>)
// OF-WORDS: nn.conv {{%.*}}, %{{cst[_0-9]*}} {{.*}}(tensor<1x64x10x10x10xf32>, tensor<64x1x3x3x3xf32>)
// FLOATS: nn.conv {{%.*}}, %{{cst[_0-9]*}} {{.*}}(tensor<1x1024x6x6x6xf32>, tensor<1024x1x7x7x7xf32>)
// FLOATS: nn.conv {{%.*}}, %{{cst[_0-9]*}} {{.*}}(tensor<1x32x8x8xf32>, tensor<32x4x3x3xf32>)
// FLOATS: nn.conv {{%.*}}, %{{[0-9]+}} {{.*}}(tensor<1x32x96x96xf32>, tensor<32x4x3x3xf32>)
// FLOATS: nn.conv {{%.*}}, %{{[0-9]+}} {{.*}}(tensor<1x32x8x8xf32>, tensor<32x8x3x3xf32>)
// OF-FOURS: nn.conv {{%.*}}, %{{[0-9]+}} {{.*}}(tensor<1x24x8x8xf32>, tensor<8x24x1x1xf32>)
// OF-WORDS: nn.conv {{%.*}}, %{{cst[_0-9]*}} {{.*}}(tensor<1x24x8x8xf32>, tensor<8x24x1x1xf32>)
// FLOATS: nn.conv {{%.*}}, %{{[0-9]+}} {{.*}}(tensor<1x24x8x8xf32>, tensor<8x24x1x1xf32>)
// OF-FOURS: nn.conv {{%.*}}, %{{[0-9]+}} {{.*}}(tensor<1x6x14x14xf32>, tensor<8x6x3x3xf32>)
// OF-WORDS: nn.conv {{%.*}}, %{{cst[_0-9]*}} {{.*}}(tensor<1x6x14x14xf32>, tensor<8x6x3x3xf32>)
// FLOATS: nn.conv {{%.*}}, %{{[0-9]+}} {{.*}}(tensor<1x8x14x14xf32>, tensor<8x8x3x3xf32>)
// OF-FOURS: nn.conv {{%.*}}, %{{[0-9]+}} {{.*}}(tensor<1x8x28x28xf32>, tensor<8x8x3x3xf32>)
// OF-WORDS: nn.conv {{%.*}}, %{{cst[_0-9]*}} {{.*}}(tensor<1x8x28x28xf32>, tensor<8x8x3x3xf32>)
// FLOATS: nn.conv {{%.*}}, %{{[0-9]+}} {{.*}}(tensor<1x16x28x28xf32>, tensor<8x16x3x3xf32>)
// OF-FOURS: nn.matmul {{%.*}}, %{{[0-9]+}} : (tensor<16x64xf32>, tensor<64x32xf32>)
// OF-WORDS: nn.matmul {{%.*}}, %{{cst[_0-9]*}} : (tensor<16x64xf32>, tensor<64x32xf32>)
// FLOATS: nn.matmul {{%.*}}, %{{[0-9]+}} : (tensor<1x64xf32>, tensor<64x32xf32>)
// FLOATS: nn.matmul {{%.*}}, %{{[0-9]+}} : (tensor<16x64xf32>, tensor<64x48xf32>)
// FLOATS: nn.matmul {{%.*}}, %{{[0-9]+}} : (tensor<16x64xf32>, tensor<64x32xf32>)
// FLOATS: nn.matmul {{%.*}}, %{{[0-9]+}} : (tensor<32x64xf32>, tensor<64x32xf32>)
// OF-FOURS: nn.matmul {{%.*}}, %{{[0-9]+}} : (tensor<32x64xf32>, tensor<64x24xf32>)
// OF-WORDS: nn.matmul {{%.*}}, %{{cst[_0-9]*}} : (tensor<32x64xf32>, tensor<64x24xf32>)
// FLOATS: nn.conv_transpose {{%.*}}, %{{cst[_0-9]*}} {{.*}}(tensor<1x2x8xf32>, tensor<2x8x3xf32>)
// OF-FOURS: nn.conv_transpose {{%.*}}, %{{[0-9]+}} {{.*}}(tensor<1x3x8xf32>, tensor<3x8x3xf32>)
// OF-WORDS: nn.conv_transpose {{%.*}}, %{{cst[_0-9]*}} {{.*}}(tensor<1x3x8xf32>, tensor<3x8x3xf32>)
// FLOATS: nn.conv_transpose {{%.*}}, %{{[0-9]+}} {{.*}}(tensor<1x4x8xf32>, tensor<4x8x3xf32>)
// OF-RULE-LABEL: func.func @floats
// OF-RULE-NOT: nn.{{conv|matmul|conv_transpose}} {{.*}}, %cst

//--- model.mlir
func.func @residual(%in: tensor<1x2x2x2xf32> {ingot.name = "in"}) -> (tensor<1x2x2x2xf32> {ingot.name = "y"}) {
  %x = nn.abs %in : tensor<1x2x2x2xf32> -> tensor<1x2x2x2xf32> loc("x")
  %w = arith.constant dense<[[[[1.0]], [[-0.50393701]]], [[[0.0]], [[0.0]]]]> : tensor<2x2x1x1xf32>
  %b = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %c = nn.conv %x, %w bias(%b) {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x2x2x2xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32> loc("conv1")
  %a = nn.add %c, %x : tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32> -> tensor<1x2x2x2xf32> loc("add")
  %r = nn.relu %a : tensor<1x2x2x2xf32> -> tensor<1x2x2x2xf32> loc("relu")
  %y = nn.conv %r, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x2x2x2xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x2xf32> loc("conv2")
  return %y : tensor<1x2x2x2xf32>
}

//--- all.json
{"ingot_calibration": 1, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [
  {"name": "x", "min": -1, "max": 2, "scale": 0.25, "zero_point": 3},
  {"name": "relu", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0}]}

//--- part.json
{"ingot_calibration": 1, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [
  {"name": "relu", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0}]}

//--- movement.mlir
func.func @movement(%x: tensor<1x2x2xf32> {ingot.name = "x"}) -> tensor<1x2xf32> {
  %w = arith.constant dense<1.0> : tensor<4x2xf32>
  %r = nn.reshape %x : tensor<1x2x2xf32> -> tensor<1x4xf32> loc("flat")
  %y = nn.matmul %r, %w : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32> loc("fc")
  return %y : tensor<1x2xf32>
}

//--- movement.json
{"ingot_calibration": 1, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [
  {"name": "flat", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0}]}

//--- near.json
{"ingot_calibration": 1, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [
  {"name": "rel", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0}]}

//--- rounded.mlir
func.func @rounded(%y: tensor<1x2xf32> {ingot.name = "y"}) -> (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) {
  %w = arith.constant dense<[[1.0, 0.3141], [-0.7182, 1.0]]> : tensor<2x2xf32>
  %v = arith.constant dense<[[1.0, 0.3141], [-0.7182, 1.0]]> : tensor<2x2xf32>
  %0 = nn.matmul %y, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32> loc("fc1")
  %1 = nn.matmul %y, %v : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32> loc("fc2")
  // Shares its weights with fc1, and so the rounding.
  %2 = nn.matmul %y, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32> loc("fc3")
  return %0, %1, %2 : tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>
}

//--- rounded.json
{"ingot_calibration": 3, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [{"name": "y", "min": -1, "max": 2, "scale": 0.25, "zero_point": 3}],
 "repair": {"adaround": [{"name": "fc1", "up": "CQ=="}]}}

//--- long.json
{"ingot_calibration": 3, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [{"name": "y", "min": -1, "max": 2, "scale": 0.25, "zero_point": 3}],
 "repair": {"adaround": [{"name": "fc1", "up": "AwM="}]}}

//--- base.json
{"ingot_calibration": 3, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [{"name": "y", "min": -1, "max": 2, "scale": 0.25, "zero_point": 3}],
 "repair": {"adaround": [{"name": "fc1", "up": "A"}]}}

//--- channels.mlir
func.func @channels(%u: tensor<1x2x4x8xf32> {ingot.name = "u"}, %v: tensor<1x2x3x8xf32> {ingot.name = "v"}) -> (tensor<1x2x4x8xf32>, tensor<1x2x3x8xf32>) {
  %x = nn.abs %u : tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32> loc("x")
  %y = nn.abs %v : tensor<1x2x3x8xf32> -> tensor<1x2x3x8xf32> loc("y")
  %k = arith.constant dense<1.0> : tensor<2x1x5x5xf32>
  %w = arith.constant dense<1.0> : tensor<2x2x1x1xf32>
  %few = nn.conv %y, %k {dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 2, 2, 2, 2>, strides = array<i64: 1, 1>}
    : (tensor<1x2x3x8xf32>, tensor<2x1x5x5xf32>) -> tensor<1x2x3x8xf32> loc("few")
  %c = nn.conv %x, %k {dilations = array<i64: 1, 1>, groups = 2 : i64, pads = array<i64: 2, 2, 2, 2>, strides = array<i64: 1, 1>}
    : (tensor<1x2x4x8xf32>, tensor<2x1x5x5xf32>) -> tensor<1x2x4x8xf32> loc("many")
  %r = nn.relu %c : tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32> loc("relu")
  %f = nn.reduce mean %r {axes = array<i64: 2, 3>} : tensor<1x2x4x8xf32> -> tensor<1x2xf32> loc("mean")
  %m = nn.reshape %f : tensor<1x2xf32> -> tensor<1x2x1x1xf32> loc("means")
  %s = nn.mul %r, %m : tensor<1x2x4x8xf32>, tensor<1x2x1x1xf32> -> tensor<1x2x4x8xf32> loc("scaled")
  %z = nn.conv %s, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x2x4x8xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x8xf32> loc("last")
  return %z, %few : tensor<1x2x4x8xf32>, tensor<1x2x3x8xf32>
}

//--- channels.json
{"ingot_calibration": 1, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [
  {"name": "x", "min": -1, "max": 2, "scale": 0.25, "zero_point": 3},
  {"name": "y", "min": -1, "max": 2, "scale": 0.25, "zero_point": 3},
  {"name": "relu", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "scaled", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0}]}

//--- pairs.mlir
func.func @pairs(%y: tensor<32x32xf32> {ingot.name = "y"}, %z: tensor<31x32xf32> {ingot.name = "z"}) -> (tensor<32x3xf32>, tensor<31x3xf32>, tensor<32x1xf32>, tensor<32x3xf32>) {
  %w = arith.constant dense<[[1.0, 1.0, 1.0], [0.9, -0.9, -0.1], [0.1, 0.1, 0.9], [-0.07318, 0.2718, 0.11], [0.11, 0.11, -0.07318], [-0.07318, 0.2718, 0.11], [0.11, 0.11, -0.07318], [-0.07318, 0.2718, 0.11], [0.11, 0.11, -0.07318], [-0.07318, 0.2718, 0.11], [0.11, 0.11, -0.07318], [-0.07318, 0.2718, 0.11], [0.11, 0.11, -0.07318], [-0.07318, 0.2718, 0.11], [0.11, 0.11, -0.07318], [-0.07318, 0.2718, 0.11], [0.11, 0.11, -0.07318], [-0.07318, 0.2718, 0.11], [0.11, 0.11, -0.07318], [-0.07318, 0.2718, 0.11], [0.11, 0.11, -0.07318], [-0.07318, 0.2718, 0.11], [0.11, 0.11, -0.07318], [-0.07318, 0.2718, 0.11], [0.11, 0.11, -0.07318], [-0.07318, 0.2718, 0.11], [0.11, 0.11, -0.07318], [-0.07318, 0.2718, 0.11], [0.11, 0.11, -0.07318], [-0.07318, 0.2718, 0.11], [0.11, 0.11, -0.07318], [-0.07318, 0.2718, 0.11]]> : tensor<32x3xf32>
  %one = arith.constant dense<[[1.0], [0.9], [0.1], [-0.07318], [0.11], [-0.07318], [0.11], [-0.07318], [0.11], [-0.07318], [0.11], [-0.07318], [0.11], [-0.07318], [0.11], [-0.07318], [0.11], [-0.07318], [0.11], [-0.07318], [0.11], [-0.07318], [0.11], [-0.07318], [0.11], [-0.07318], [0.11], [-0.07318], [0.11], [-0.07318], [0.11], [-0.07318]]> : tensor<32x1xf32>
  %0 = nn.matmul %y, %w : (tensor<32x32xf32>, tensor<32x3xf32>) -> tensor<32x3xf32> loc("fc1")
  %1 = nn.matmul %z, %w : (tensor<31x32xf32>, tensor<32x3xf32>) -> tensor<31x3xf32> loc("fc2")
  %2 = nn.matmul %y, %one : (tensor<32x32xf32>, tensor<32x1xf32>) -> tensor<32x1xf32> loc("fc3")
  %3 = nn.matmul %y, %w : (tensor<32x32xf32>, tensor<32x3xf32>) -> tensor<32x3xf32> loc("fc4")
  return %0, %1, %2, %3 : tensor<32x3xf32>, tensor<31x3xf32>, tensor<32x1xf32>, tensor<32x3xf32>
}

//--- pairs.json
{"ingot_calibration": 1, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [
  {"name": "y", "min": -1, "max": 2, "scale": 0.25, "zero_point": 3}, {"name": "z", "min": -1, "max": 2, "scale": 0.25, "zero_point": 3}]}

//--- down.json
{"ingot_calibration": 3, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [
  {"name": "y", "min": -1, "max": 2, "scale": 0.25, "zero_point": 3}, {"name": "z", "min": -1, "max": 2, "scale": 0.25, "zero_point": 3}],
 "repair": {"adaround": [{"name": "fc4", "up": "AAAAAAAAAAAAAAAA"}]}}

//--- inputs.mlir
func.func @inputs(%x: tensor<1x4x4x2xf32> {ingot.name = "x"}, %y: tensor<1x3x4x4xf32> {ingot.name = "y"}) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>) {
  %three = arith.constant dense<1.0> : tensor<3x1x3x3xf32>
  %five = arith.constant dense<1.0> : tensor<3x1x5x5xf32>
  %w = arith.constant dense<1.0> : tensor<2x2x1x1xf32>
  %v = arith.constant dense<1.0> : tensor<2x3x1x1xf32>
  %t = nn.transpose %x {perm = array<i64: 0, 3, 1, 2>} : tensor<1x4x4x2xf32> -> tensor<1x2x4x4xf32> loc("t")
  %a = nn.conv %t, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> loc("a")
  %b = nn.conv %y, %v {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32> loc("b")
  %c = nn.conv %a, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> loc("c")
  %d = nn.conv %y, %three {dilations = array<i64: 1, 1>, groups = 3 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x3x4x4xf32>, tensor<3x1x3x3xf32>) -> tensor<1x3x4x4xf32> loc("d")
  %e = nn.conv %y, %five {dilations = array<i64: 1, 1>, groups = 3 : i64, pads = array<i64: 2, 2, 2, 2>, strides = array<i64: 1, 1>}
    : (tensor<1x3x4x4xf32>, tensor<3x1x5x5xf32>) -> tensor<1x3x4x4xf32> loc("e")
  return %b, %c, %d, %e : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>
}

//--- chain.mlir
func.func @chain(%x: tensor<1x4x4x4xf32> {ingot.name = "x"}) -> (tensor<1x4x4x4xf32>, tensor<1x4x2x2xf32>, tensor<1x4x4x4xf32>) {
  %three = arith.constant dense<1.0> : tensor<4x1x3x3xf32>
  %one = arith.constant dense<1.0> : tensor<4x4x1x1xf32>
  %a = nn.conv %x, %three {dilations = array<i64: 1, 1>, groups = 4 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x4x4x4xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x4x4xf32> loc("a")
  %r = nn.relu %a : tensor<1x4x4x4xf32> -> tensor<1x4x4x4xf32> loc("r")
  %b = nn.conv %r, %three {dilations = array<i64: 1, 1>, groups = 4 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x4x4x4xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x4x4xf32> loc("b")
  %c = nn.conv %b, %one {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x4x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x4x4xf32> loc("c")
  %d = nn.conv %c, %three {dilations = array<i64: 1, 1>, groups = 4 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x4x4x4xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x4x4xf32> loc("d")
  %e = nn.conv %b, %three {dilations = array<i64: 1, 1>, groups = 4 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
    : (tensor<1x4x4x4xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x2x2xf32> loc("e")
  %s = nn.add %a, %b : tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32> -> tensor<1x4x4x4xf32> loc("s")
  %f = nn.conv %s, %three {dilations = array<i64: 1, 1>, groups = 4 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x4x4x4xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x4x4xf32> loc("f")
  return %d, %e, %f : tensor<1x4x4x4xf32>, tensor<1x4x2x2xf32>, tensor<1x4x4x4xf32>
}

//--- chain.json
{"ingot_calibration": 1, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [
  {"name": "x", "min": -1, "max": 2, "scale": 0.25, "zero_point": 3},
  {"name": "r", "min": 0, "max": 2, "scale": 0.25, "zero_point": 0},
  {"name": "b", "min": -1, "max": 2, "scale": 0.25, "zero_point": 3},
  {"name": "c", "min": -1, "max": 2, "scale": 0.25, "zero_point": 3},
  {"name": "s", "min": -1, "max": 2, "scale": 0.5, "zero_point": 3}]}

//--- inputs.json
{"ingot_calibration": 1, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [
  {"name": "t", "min": -1, "max": 2, "scale": 0.25, "zero_point": 3},
  {"name": "y", "min": -1, "max": 2, "scale": 0.25, "zero_point": 3},
  {"name": "a", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0}]}

//--- floats.mlir
func.func @floats(%row: tensor<1x32x64xf32> {ingot.name = "row"},
    %long_row: tensor<1x64x4096xf32> {ingot.name = "long_row"},
    %long_taps: tensor<1x64x4096xf32> {ingot.name = "long_taps"},
    %open_row: tensor<1x64x?xf32> {ingot.name = "open_row"},
    %small_volume: tensor<1x16x8x8x8xf32> {ingot.name = "small_volume"},
    %volume: tensor<1x64x10x10x10xf32> {ingot.name = "volume"},
    %padding: tensor<1x1024x6x6x6xf32> {ingot.name = "padding"},
    %groups: tensor<1x32x8x8xf32> {ingot.name = "groups"},
    %large_groups: tensor<1x32x96x96xf32> {ingot.name = "large_groups"},
    %groups_of_eight: tensor<1x32x8x8xf32> {ingot.name = "groups_of_eight"},
    %terms: tensor<1x24x8x8xf32> {ingot.name = "terms"},
    %terms_behind: tensor<1x24x8x8xf32> {ingot.name = "terms_behind"},
    %six: tensor<1x6x14x14xf32> {ingot.name = "six"},
    %eight: tensor<1x8x14x14xf32> {ingot.name = "eight"},
    %eight_of_many: tensor<1x8x28x28xf32> {ingot.name = "eight_of_many"},
    %sixteen: tensor<1x16x28x28xf32> {ingot.name = "sixteen"},
    %columns: tensor<16x64xf32> {ingot.name = "columns"},
    %columns_of_row: tensor<1x64xf32> {ingot.name = "columns_of_row"},
    %more_columns: tensor<16x64xf32> {ingot.name = "more_columns"},
    %columns_behind: tensor<16x64xf32> {ingot.name = "columns_behind"},
    %columns_of_pairs: tensor<32x64xf32> {ingot.name = "columns_of_pairs"},
    %few_columns_of_pairs: tensor<32x64xf32> {ingot.name = "few_columns_of_pairs"},
    %up_two: tensor<1x2x8xf32> {ingot.name = "up_two"},
    %up_three: tensor<1x3x8xf32> {ingot.name = "up_three"},
    %up_four: tensor<1x4x8xf32> {ingot.name = "up_four"})
    -> (tensor<1x32x64xf32>, tensor<1x64x4096xf32>, tensor<1x64x4096xf32>, tensor<1x64x?xf32>, tensor<1x16x8x8x8xf32>, tensor<1x64x10x10x10xf32>, tensor<1x1024x6x6x6xf32>, tensor<1x32x8x8xf32>, tensor<1x32x96x96xf32>, tensor<1x32x8x8xf32>, tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>, tensor<1x8x14x14xf32>, tensor<1x8x14x14xf32>, tensor<1x8x28x28xf32>, tensor<1x8x28x28xf32>, tensor<16x32xf32>, tensor<1x32xf32>, tensor<16x48xf32>, tensor<16x32xf32>, tensor<32x32xf32>, tensor<32x24xf32>, tensor<1x8x10xf32>, tensor<1x8x10xf32>, tensor<1x8x10xf32>) {
  %m_row = nn.abs %row : tensor<1x32x64xf32> -> tensor<1x32x64xf32> loc("m_row")
  %w_row = arith.constant dense<1.0> : tensor<32x1x3xf32>
  %y_row = nn.conv %m_row, %w_row {dilations = array<i64: 1>, groups = 32 : i64, pads = array<i64: 1, 1>, strides = array<i64: 1>}
    : (tensor<1x32x64xf32>, tensor<32x1x3xf32>) -> tensor<1x32x64xf32> loc("y_row")
  %m_long_row = nn.abs %long_row : tensor<1x64x4096xf32> -> tensor<1x64x4096xf32> loc("m_long_row")
  %w_long_row = arith.constant dense<1.0> : tensor<64x1x3xf32>
  %y_long_row = nn.conv %m_long_row, %w_long_row {dilations = array<i64: 1>, groups = 64 : i64, pads = array<i64: 1, 1>, strides = array<i64: 1>}
    : (tensor<1x64x4096xf32>, tensor<64x1x3xf32>) -> tensor<1x64x4096xf32> loc("y_long_row")
  %m_long_taps = nn.abs %long_taps : tensor<1x64x4096xf32> -> tensor<1x64x4096xf32> loc("m_long_taps")
  %w_long_taps = arith.constant dense<1.0> : tensor<64x1x5xf32>
  %y_long_taps = nn.conv %m_long_taps, %w_long_taps {dilations = array<i64: 1>, groups = 64 : i64, pads = array<i64: 2, 2>, strides = array<i64: 1>}
    : (tensor<1x64x4096xf32>, tensor<64x1x5xf32>) -> tensor<1x64x4096xf32> loc("y_long_taps")
  %m_open_row = nn.abs %open_row : tensor<1x64x?xf32> -> tensor<1x64x?xf32> loc("m_open_row")
  %w_open_row = arith.constant dense<1.0> : tensor<64x1x3xf32>
  %y_open_row = nn.conv %m_open_row, %w_open_row {dilations = array<i64: 1>, groups = 64 : i64, pads = array<i64: 1, 1>, strides = array<i64: 1>}
    : (tensor<1x64x?xf32>, tensor<64x1x3xf32>) -> tensor<1x64x?xf32> loc("y_open_row")
  %m_small_volume = nn.abs %small_volume : tensor<1x16x8x8x8xf32> -> tensor<1x16x8x8x8xf32> loc("m_small_volume")
  %w_small_volume = arith.constant dense<1.0> : tensor<16x1x3x3x3xf32>
  %y_small_volume = nn.conv %m_small_volume, %w_small_volume {dilations = array<i64: 1, 1, 1>, groups = 16 : i64, pads = array<i64: 1, 1, 1, 1, 1, 1>, strides = array<i64: 1, 1, 1>}
    : (tensor<1x16x8x8x8xf32>, tensor<16x1x3x3x3xf32>) -> tensor<1x16x8x8x8xf32> loc("y_small_volume")
  %m_volume = nn.abs %volume : tensor<1x64x10x10x10xf32> -> tensor<1x64x10x10x10xf32> loc("m_volume")
  %w_volume = arith.constant dense<1.0> : tensor<64x1x3x3x3xf32>
  %y_volume = nn.conv %m_volume, %w_volume {dilations = array<i64: 1, 1, 1>, groups = 64 : i64, pads = array<i64: 1, 1, 1, 1, 1, 1>, strides = array<i64: 1, 1, 1>}
    : (tensor<1x64x10x10x10xf32>, tensor<64x1x3x3x3xf32>) -> tensor<1x64x10x10x10xf32> loc("y_volume")
  %m_padding = nn.abs %padding : tensor<1x1024x6x6x6xf32> -> tensor<1x1024x6x6x6xf32> loc("m_padding")
  %w_padding = arith.constant dense<1.0> : tensor<1024x1x7x7x7xf32>
  %y_padding = nn.conv %m_padding, %w_padding {dilations = array<i64: 1, 1, 1>, groups = 1024 : i64, pads = array<i64: 3, 3, 3, 3, 3, 3>, strides = array<i64: 1, 1, 1>}
    : (tensor<1x1024x6x6x6xf32>, tensor<1024x1x7x7x7xf32>) -> tensor<1x1024x6x6x6xf32> loc("y_padding")
  %m_groups = nn.abs %groups : tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32> loc("m_groups")
  %w_groups = arith.constant dense<1.0> : tensor<32x4x3x3xf32>
  %y_groups = nn.conv %m_groups, %w_groups {dilations = array<i64: 1, 1>, groups = 8 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x32x8x8xf32>, tensor<32x4x3x3xf32>) -> tensor<1x32x8x8xf32> loc("y_groups")
  %m_large_groups = nn.abs %large_groups : tensor<1x32x96x96xf32> -> tensor<1x32x96x96xf32> loc("m_large_groups")
  %w_large_groups = arith.constant dense<1.0> : tensor<32x4x3x3xf32>
  %y_large_groups = nn.conv %m_large_groups, %w_large_groups {dilations = array<i64: 1, 1>, groups = 8 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x32x96x96xf32>, tensor<32x4x3x3xf32>) -> tensor<1x32x96x96xf32> loc("y_large_groups")
  %m_groups_of_eight = nn.abs %groups_of_eight : tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32> loc("m_groups_of_eight")
  %w_groups_of_eight = arith.constant dense<1.0> : tensor<32x8x3x3xf32>
  %y_groups_of_eight = nn.conv %m_groups_of_eight, %w_groups_of_eight {dilations = array<i64: 1, 1>, groups = 4 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x32x8x8xf32>, tensor<32x8x3x3xf32>) -> tensor<1x32x8x8xf32> loc("y_groups_of_eight")
  %w_terms = arith.constant dense<1.0> : tensor<8x24x1x1xf32>
  %y_terms = nn.conv %terms, %w_terms {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x24x8x8xf32>, tensor<8x24x1x1xf32>) -> tensor<1x8x8x8xf32> loc("y_terms")
  %m_terms_behind = nn.abs %terms_behind : tensor<1x24x8x8xf32> -> tensor<1x24x8x8xf32> loc("m_terms_behind")
  %w_terms_behind = arith.constant dense<1.0> : tensor<8x24x1x1xf32>
  %y_terms_behind = nn.conv %m_terms_behind, %w_terms_behind {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<1x24x8x8xf32>, tensor<8x24x1x1xf32>) -> tensor<1x8x8x8xf32> loc("y_terms_behind")
  %m_six = nn.abs %six : tensor<1x6x14x14xf32> -> tensor<1x6x14x14xf32> loc("m_six")
  %w_six = arith.constant dense<1.0> : tensor<8x6x3x3xf32>
  %y_six = nn.conv %m_six, %w_six {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x6x14x14xf32>, tensor<8x6x3x3xf32>) -> tensor<1x8x14x14xf32> loc("y_six")
  %m_eight = nn.abs %eight : tensor<1x8x14x14xf32> -> tensor<1x8x14x14xf32> loc("m_eight")
  %w_eight = arith.constant dense<1.0> : tensor<8x8x3x3xf32>
  %y_eight = nn.conv %m_eight, %w_eight {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x8x14x14xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x14x14xf32> loc("y_eight")
  %m_eight_of_many = nn.abs %eight_of_many : tensor<1x8x28x28xf32> -> tensor<1x8x28x28xf32> loc("m_eight_of_many")
  %w_eight_of_many = arith.constant dense<1.0> : tensor<8x8x3x3xf32>
  %y_eight_of_many = nn.conv %m_eight_of_many, %w_eight_of_many {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x8x28x28xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x28x28xf32> loc("y_eight_of_many")
  %m_sixteen = nn.abs %sixteen : tensor<1x16x28x28xf32> -> tensor<1x16x28x28xf32> loc("m_sixteen")
  %w_sixteen = arith.constant dense<1.0> : tensor<8x16x3x3xf32>
  %y_sixteen = nn.conv %m_sixteen, %w_sixteen {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x16x28x28xf32>, tensor<8x16x3x3xf32>) -> tensor<1x8x28x28xf32> loc("y_sixteen")
  %w_columns = arith.constant dense<1.0> : tensor<64x32xf32>
  %y_columns = nn.matmul %columns, %w_columns
    : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32> loc("y_columns")
  %w_columns_of_row = arith.constant dense<1.0> : tensor<64x32xf32>
  %y_columns_of_row = nn.matmul %columns_of_row, %w_columns_of_row
    : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32> loc("y_columns_of_row")
  %w_more_columns = arith.constant dense<1.0> : tensor<64x48xf32>
  %y_more_columns = nn.matmul %more_columns, %w_more_columns
    : (tensor<16x64xf32>, tensor<64x48xf32>) -> tensor<16x48xf32> loc("y_more_columns")
  %m_columns_behind = nn.abs %columns_behind : tensor<16x64xf32> -> tensor<16x64xf32> loc("m_columns_behind")
  %w_columns_behind = arith.constant dense<1.0> : tensor<64x32xf32>
  %y_columns_behind = nn.matmul %m_columns_behind, %w_columns_behind
    : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32> loc("y_columns_behind")
  %w_columns_of_pairs = arith.constant dense<1.0> : tensor<64x32xf32>
  %y_columns_of_pairs = nn.matmul %columns_of_pairs, %w_columns_of_pairs
    : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32> loc("y_columns_of_pairs")
  %w_few_columns_of_pairs = arith.constant dense<1.0> : tensor<64x24xf32>
  %y_few_columns_of_pairs = nn.matmul %few_columns_of_pairs, %w_few_columns_of_pairs
    : (tensor<32x64xf32>, tensor<64x24xf32>) -> tensor<32x24xf32> loc("y_few_columns_of_pairs")
  %m_up_two = nn.abs %up_two : tensor<1x2x8xf32> -> tensor<1x2x8xf32> loc("m_up_two")
  %w_up_two = arith.constant dense<1.0> : tensor<2x8x3xf32>
  %y_up_two = nn.conv_transpose %m_up_two, %w_up_two {dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>, pads = array<i64: 0, 0>, strides = array<i64: 1>}
    : (tensor<1x2x8xf32>, tensor<2x8x3xf32>) -> tensor<1x8x10xf32> loc("y_up_two")
  %m_up_three = nn.abs %up_three : tensor<1x3x8xf32> -> tensor<1x3x8xf32> loc("m_up_three")
  %w_up_three = arith.constant dense<1.0> : tensor<3x8x3xf32>
  %y_up_three = nn.conv_transpose %m_up_three, %w_up_three {dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>, pads = array<i64: 0, 0>, strides = array<i64: 1>}
    : (tensor<1x3x8xf32>, tensor<3x8x3xf32>) -> tensor<1x8x10xf32> loc("y_up_three")
  %m_up_four = nn.abs %up_four : tensor<1x4x8xf32> -> tensor<1x4x8xf32> loc("m_up_four")
  %w_up_four = arith.constant dense<1.0> : tensor<4x8x3xf32>
  %y_up_four = nn.conv_transpose %m_up_four, %w_up_four {dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>, pads = array<i64: 0, 0>, strides = array<i64: 1>}
    : (tensor<1x4x8xf32>, tensor<4x8x3xf32>) -> tensor<1x8x10xf32> loc("y_up_four")
  return %y_row, %y_long_row, %y_long_taps, %y_open_row, %y_small_volume, %y_volume, %y_padding, %y_groups, %y_large_groups, %y_groups_of_eight, %y_terms, %y_terms_behind, %y_six, %y_eight, %y_eight_of_many, %y_sixteen, %y_columns, %y_columns_of_row, %y_more_columns, %y_columns_behind, %y_columns_of_pairs, %y_few_columns_of_pairs, %y_up_two, %y_up_three, %y_up_four
    : tensor<1x32x64xf32>, tensor<1x64x4096xf32>, tensor<1x64x4096xf32>, tensor<1x64x?xf32>, tensor<1x16x8x8x8xf32>, tensor<1x64x10x10x10xf32>, tensor<1x1024x6x6x6xf32>, tensor<1x32x8x8xf32>, tensor<1x32x96x96xf32>, tensor<1x32x8x8xf32>, tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>, tensor<1x8x14x14xf32>, tensor<1x8x14x14xf32>, tensor<1x8x28x28xf32>, tensor<1x8x28x28xf32>, tensor<16x32xf32>, tensor<1x32xf32>, tensor<16x48xf32>, tensor<16x32xf32>, tensor<32x32xf32>, tensor<32x24xf32>, tensor<1x8x10xf32>, tensor<1x8x10xf32>, tensor<1x8x10xf32>
}

//--- floats.json
{"ingot_calibration": 1, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [
  {"name": "m_row", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "m_long_row", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "m_long_taps", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "m_open_row", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "m_small_volume", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "m_volume", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "m_padding", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "m_groups", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "m_large_groups", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "m_groups_of_eight", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "terms", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "m_terms_behind", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "m_six", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "m_eight", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "m_eight_of_many", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "m_sixteen", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "columns", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "columns_of_row", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "more_columns", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "m_columns_behind", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "columns_of_pairs", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "few_columns_of_pairs", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "m_up_two", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "m_up_three", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0},
  {"name": "m_up_four", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0}]}
