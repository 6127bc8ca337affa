// RUN: ingot-opt --nn-round-packed-rows --split-input-file %s | FileCheck %s
// RUN: ingot-opt --ingot-attach-targets=levels=znver4,sapphirerapids --nn-round-packed-rows=any --split-input-file %s | FileCheck %s --check-prefix=ANY
// RUN: ingot-opt --nn-round-packed-rows=keep=kept=fp32 --split-input-file %s | FileCheck %s --check-prefix=KEEP
// RUN: ingot-opt %s --nn-round-packed-rows --split-input-file --remarks-filter-analyse=decision 2>&1 >/dev/null | FileCheck %s --check-prefix=DECISION

// DECISION-DAG: nn.packed_matmul {{.*}} Decision="#ingot.decision<precision, "int8", [<"float32">, <"int8">], "has enough columns to pay for rounding rows">", Sizes=?x32
// DECISION-DAG: nn.packed_matmul {{.*}} Decision="#ingot.decision<precision, "float32", [<"float32">, <"int8">], "has few columns, which do not pay for rounding rows">", Sizes=?x8
// DECISION-DAG: nn.packed_matmul {{.*}} Decision="#ingot.decision<precision, "float32", [<"float32">, <"int8">], "has blocks too large for one scale of rounded rows">", Sizes=?x32

// Fires only if the model allows it.
// CHECK-LABEL: @allowed
// CHECK: nn.packed_matmul {{.*}} may_round_a, rounds_a}
// CHECK: nn.packed_matmul {{.*}} depth = 64 : i64}
// ANY-LABEL: @allowed
// ANY: nn.packed_matmul {{.*}} may_round_a, rounds_a}
// ANY: nn.packed_matmul {{.*}} depth = 64 : i64, rounds_a}
// KEEP-LABEL: @allowed
// KEEP: nn.packed_matmul {{.*}} may_round_a}
func.func @allowed(%x: tensor<?x64xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  %q = arith.constant dense<1> : tensor<32x2x16xui8>
  %s = arith.constant dense<0.5> : tensor<32x2xf32>
  %0 = nn.packed_matmul %x, %q, %s {bits = 4 : i64, block_size = 32 : i64, depth = 64 : i64, may_round_a} : (tensor<?x64xf32>, tensor<32x2x16xui8>, tensor<32x2xf32>) -> tensor<?x32xf32> loc("kept")
  %1 = nn.packed_matmul %x, %q, %s {bits = 4 : i64, block_size = 32 : i64, depth = 64 : i64} : (tensor<?x64xf32>, tensor<32x2x16xui8>, tensor<32x2xf32>) -> tensor<?x32xf32>
  return %0, %1 : tensor<?x32xf32>, tensor<?x32xf32>
}

// -----

// Must not fire without VNNI, for which bytes are too large.
// CHECK-LABEL: @bytes
// CHECK-NOT: rounds_a
// ANY-LABEL: @bytes
// ANY: rounds_a
func.func @bytes(%x: tensor<?x64xf32>) -> tensor<?x32xf32> {
  %q = arith.constant dense<1> : tensor<32x2x32xui8>
  %s = arith.constant dense<0.5> : tensor<32x2xf32>
  %0 = nn.packed_matmul %x, %q, %s {bits = 8 : i64, block_size = 32 : i64, depth = 64 : i64, may_round_a} : (tensor<?x64xf32>, tensor<32x2x32xui8>, tensor<32x2xf32>) -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}

// -----

// Must not fire: few columns, computed weights, a block of many elements,
// blocks that are not whole words.
// CHECK-LABEL: @no
// CHECK-NOT: rounds_a
// ANY-LABEL: @no
// ANY-NOT: rounds_a
func.func @no(%x: tensor<?x64xf32>, %y: tensor<?x512xf32>, %q: tensor<32x2x16xui8>) -> (tensor<?x8xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) {
  %few = arith.constant dense<1> : tensor<8x2x16xui8>
  %s8 = arith.constant dense<0.5> : tensor<8x2xf32>
  %s = arith.constant dense<0.5> : tensor<32x2xf32>
  %long = arith.constant dense<1> : tensor<32x1x256xui8>
  %s1 = arith.constant dense<0.5> : tensor<32x1xf32>
  %odd = arith.constant dense<1> : tensor<32x4x10xui8>
  %s4 = arith.constant dense<0.5> : tensor<32x4xf32>
  %0 = nn.packed_matmul %x, %few, %s8 {bits = 4 : i64, block_size = 32 : i64, depth = 64 : i64, may_round_a} : (tensor<?x64xf32>, tensor<8x2x16xui8>, tensor<8x2xf32>) -> tensor<?x8xf32>
  %1 = nn.packed_matmul %x, %q, %s {bits = 4 : i64, block_size = 32 : i64, depth = 64 : i64, may_round_a} : (tensor<?x64xf32>, tensor<32x2x16xui8>, tensor<32x2xf32>) -> tensor<?x32xf32>
  %2 = nn.packed_matmul %y, %long, %s1 {bits = 4 : i64, block_size = 512 : i64, depth = 512 : i64, may_round_a} : (tensor<?x512xf32>, tensor<32x1x256xui8>, tensor<32x1xf32>) -> tensor<?x32xf32>
  %3 = nn.packed_matmul %x, %odd, %s4 {bits = 4 : i64, block_size = 20 : i64, depth = 64 : i64, may_round_a} : (tensor<?x64xf32>, tensor<32x4x10xui8>, tensor<32x4xf32>) -> tensor<?x32xf32>
  return %0, %1, %2, %3 : tensor<?x8xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>
}
