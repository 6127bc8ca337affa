// RUN: split-file %s %t
// RUN: ingot-opt %t/halves.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v3},nn-assign-precision{half=fp16})' --remarks-filter-analyse=decision --remark-format=emitRemark 2>&1 \
// RUN:   | FileCheck %s --check-prefix=USUAL
// RUN: ingot-opt %t/halves.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v3 numbers=l2=2M},nn-assign-precision{half=fp16})' --remarks-filter-analyse=decision --remark-format=emitRemark 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LARGE
// RUN: ingot-opt %t/bytes.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=znver4},ingot-attach-calibration{file=%t/bytes.json},nn-insert-quantize)' --remarks-filter-analyse=decision --remark-format=emitRemark 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BYTES-USUAL
// RUN: ingot-opt %t/bytes.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=znver4 numbers=l2=512K},ingot-attach-calibration{file=%t/bytes.json},nn-insert-quantize)' --remarks-filter-analyse=decision --remark-format=emitRemark 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BYTES-SMALL
// RUN: ingot-opt %t/rows.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=sapphirerapids},nn-assign-precision{half=bf16})' --remarks-filter-analyse=decision --remark-format=emitRemark 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ROWS-USUAL
// RUN: ingot-opt %t/rows.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=sapphirerapids numbers=l2=2M},nn-assign-precision{half=bf16})' --remarks-filter-analyse=decision --remark-format=emitRemark 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ROWS-LARGE
// RUN: ingot-opt %t/integers.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v3},func.func(nn-pack-weights{least=0}))' --remarks-filter-analyse=decision --remark-format=emitRemark 2>&1 \
// RUN:   | FileCheck %s --check-prefix=INTEGERS-USUAL
// RUN: ingot-opt %t/integers.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v3 numbers=l2=2M},func.func(nn-pack-weights{least=0}))' --remarks-filter-analyse=decision --remark-format=emitRemark 2>&1 \
// RUN:   | FileCheck %s --check-prefix=INTEGERS-LARGE

// The weights of the model are 2 MiB in float32. The default cache of 1 MiB is
// too small for them, one of 2 MiB is not.
// USUAL: <precision, "float16 weights", [<"float32", cycles = {{[0-9]+}}>, <"float16 weights", cycles = {{[0-9]+}}>], "has enough rows to hide the time of widening weights">
// USUAL: ingot.precision = #ingot.precision<fp16>
// LARGE: <precision, "float32", {{.*}}"belongs to a model whose weights fit in a cache as floats">
// LARGE-NOT: ingot.precision

// Half of the default cache holds the input.
// BYTES-USUAL: <precision, "float32", {{.*}}"is depthwise on the model's input with many taps in a row, and the cache holds its data as floats">
// BYTES-USUAL-NOT: nn.quantize
// BYTES-SMALL: <precision, "int8", {{.*}}"multiplies several taps of a channel in an instruction">
// BYTES-SMALL: nn.quantize

// An eighth of the default cache does not hold the weights of two rows.
// ROWS-USUAL: <precision, "bfloat16", {{.*}}"has enough terms and rows to pay for rounding">
// ROWS-LARGE: <precision, "float32", {{.*}}"multiplies few rows by weights that fit in a cache as floats">

// A sixteenth of the default cache does not hold the matrix.
// INTEGERS-USUAL: <precision, "int8", [<"float32", cycles = {{[0-9]+}}>, <"int8", cycles = {{[0-9]+}}>], "has weights whose bytes take time to read">
// INTEGERS-USUAL: nn.packed_matmul
// INTEGERS-LARGE: <precision, "float32", {{.*}}"has few weights, which a cache holds as floats">
// INTEGERS-LARGE-NOT: nn.packed_matmul

//--- rows.mlir
func.func @rows(%x: tensor<2x192xf32>) -> tensor<2x256xf32> {
  %w = arith.constant dense<0.5> : tensor<192x256xf32>
  %0 = nn.matmul %x, %w : (tensor<2x192xf32>, tensor<192x256xf32>) -> tensor<2x256xf32>
  return %0 : tensor<2x256xf32>
}

//--- integers.mlir
func.func @integers(%x: tensor<2x96xf32>) -> tensor<2x256xf32> {
  %v = arith.constant dense<100> : tensor<96x256xi8>
  %s = arith.constant dense<0.5> : tensor<256xf32>
  %0 = nn.dequantize %v, %s {axis = 1 : i64} : (tensor<96x256xi8>, tensor<256xf32>) -> tensor<96x256xf32>
  %1 = nn.matmul %x, %0 : (tensor<2x96xf32>, tensor<96x256xf32>) -> tensor<2x256xf32>
  return %1 : tensor<2x256xf32>
}

//--- halves.mlir
func.func @halves(%x: tensor<64x512xf32>) -> tensor<64x1024xf32> {
  %w = arith.constant dense<0.5> : tensor<512x1024xf32>
  %0 = nn.matmul %x, %w : (tensor<64x512xf32>, tensor<512x1024xf32>) -> tensor<64x1024xf32>
  return %0 : tensor<64x1024xf32>
}

//--- bytes.mlir
func.func @bytes(%x: tensor<1x32x64x64xf32> {ingot.name = "x"}) -> tensor<1x32x64x64xf32> {
  %w = arith.constant dense<0.5> : tensor<32x1x5x5xf32>
  %0 = nn.conv %x, %w {dilations = array<i64: 1, 1>, groups = 32 : i64, pads = array<i64: 2, 2, 2, 2>, strides = array<i64: 1, 1>}
    : (tensor<1x32x64x64xf32>, tensor<32x1x5x5xf32>) -> tensor<1x32x64x64xf32>
  return %0 : tensor<1x32x64x64xf32>
}

//--- bytes.json
{"ingot_calibration": 1, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [
  {"name": "x", "min": -1, "max": 2, "scale": 0.25, "zero_point": 3}]}
