// RUN: ingot-opt --nn-to-linalg --split-input-file --verify-diagnostics %s | FileCheck %s
// The pass as a whole. The lowering of each op is tested in the files beside this one.

// Unsigned types become signless. The entry keeps the model's types.
// CHECK-LABEL: func.func @signs(
// CHECK-SAME: %{{.*}}: tensor<4xi8> {ingot.type = tensor<4xui8>}) -> (tensor<4xi8> {ingot.type = tensor<4xui8>})
func.func @signs(%x: tensor<4xui8>) -> tensor<4xui8> {
  // CHECK: arith.constant dense<[1, 2, 3, -1]> : tensor<4xi8>
  %c = arith.constant dense<[1, 2, 3, 255]> : tensor<4xui8>
  // CHECK: arith.divui
  // CHECK-NOT: nn.
  %0 = nn.div %x, %c : tensor<4xui8>, tensor<4xui8> -> tensor<4xui8>
  return %0 : tensor<4xui8>
}

// -----

// Ops of other dialects do not change.
// CHECK-LABEL: func.func @others
func.func @others(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[Y:.*]] = arith.addf %{{.*}}, %{{.*}} : tensor<4xf32>
  // CHECK-NEXT: return %[[Y]]
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Each op without a lowering is reported once.
func.func @no_lowering(%x: tensor<4xi32>, %l: tensor<2x?x3xf32>, %s: tensor<?xf32>) -> (tensor<4xi32>, tensor<2x?x3xf32>) {
  // expected-error @below {{has no lowering for operands of type 'tensor<4xi32>'}}
  %0 = nn.tanh %x : tensor<4xi32> -> tensor<4xi32>
  // expected-error @below {{has no lowering for operands of type 'tensor<2x?x3xf32>', 'tensor<?xf32>', 'tensor<?xf32>'}}
  %1 = nn.group_norm %l, %s, %s {epsilon = 1.0e-5 : f32, groups = 2 : i64} : (tensor<2x?x3xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<2x?x3xf32>
  return %0, %1 : tensor<4xi32>, tensor<2x?x3xf32>
}
