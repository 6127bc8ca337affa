// RUN: split-file %s %t
// RUN: ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=avx512fp16,sapphirerapids},ingot-attach-calibration{file=%t/large.json},nn-exclude-overflow)' 2>%t/told | FileCheck %s
// RUN: FileCheck %s --check-prefix=TOLD < %t/told
// RUN: ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=avx512fp16,sapphirerapids},ingot-attach-calibration{file=%t/small.json},nn-exclude-overflow)' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SMALL
// RUN: ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v4,avx512fp16},ingot-attach-calibration{file=%t/large.json},nn-exclude-overflow)' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SMALL
// RUN: not ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=avx512fp16,sapphirerapids},ingot-attach-calibration{file=%t/none.json},nn-exclude-overflow)' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: not ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=avx512fp16,sapphirerapids},ingot-attach-calibration{file=%t/mistyped.json},nn-exclude-overflow)' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MISTYPED
// RUN: not ingot-opt %t/model.mlir --pass-pipeline='builtin.module(ingot-attach-targets{levels=avx512fp16,sapphirerapids},ingot-attach-calibration{file=%t/repaired.json},nn-exclude-overflow)' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REPAIRED

// Readers of a tensor beyond half of f16's range stay f32, whatever their
// weights should be. Its writer may be narrow.
// CHECK-LABEL: func.func @two
// CHECK: nn.matmul {{.*}} {ingot.precision = #ingot.precision<fp16>}
// CHECK: nn.matmul {{.*}} {ingot.precision = #ingot.precision<fp32>}

// TOLD: warning: {{.*}}second{{.*}}: reads 'relu', which was up to 4.000000e+04 in the calibration, beyond half of what float16 holds: it stays float32
// TOLD-NOT: warning

// SMALL-NOT: warning
// SMALL-LABEL: func.func @two
// SMALL-COUNT-2: nn.matmul {{.*}} {ingot.precision = #ingot.precision<fp16>}

// NONE: error: cannot read '{{.*}}none.json': {{[Nn]}}o such file

// MISTYPED: error: '{{.*}}mistyped.json' has a range of tensor 'rellu', but no tensor that a product reads has this name{{.*}}'relu'
// REPAIRED: error: '{{.*}}repaired.json' has ranges of a model that was repaired for int8: calibrate with --repair=none

//--- model.mlir
func.func @two(%x: tensor<2x4xf32> {ingot.name = "x"}) -> tensor<2x4xf32> {
  %w = arith.constant dense<1.0> : tensor<4x4xf32>
  %0 = nn.matmul %x, %w {ingot.precision = #ingot.precision<fp16>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> loc("first")
  %1 = nn.relu %0 : tensor<2x4xf32> -> tensor<2x4xf32> loc("relu")
  %2 = nn.matmul %1, %w {ingot.precision = #ingot.precision<fp16>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> loc("second")
  return %2 : tensor<2x4xf32>
}

//--- large.json
{"ingot_calibration": 1, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [
  {"name": "x", "min": -32752, "max": 2, "scale": 0.25, "zero_point": 3},
  {"name": "relu", "min": 0, "max": 40000, "scale": 0.5, "zero_point": 0}]}

//--- small.json
{"ingot_calibration": 1, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [
  {"name": "relu", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0}]}

//--- mistyped.json
{"ingot_calibration": 1, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [
  {"name": "rellu", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0}]}

//--- repaired.json
{"ingot_calibration": 3, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [
  {"name": "relu", "min": 0, "max": 2, "scale": 0.5, "zero_point": 0}],
 "repair": {"channels": [{"name": "relu", "values": [2, 1, 1, 1]}]}}
