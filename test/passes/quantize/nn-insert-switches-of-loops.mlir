// RUN: ingot-opt %s --nn-insert-switches | FileCheck %s

// A recurrent net has one switch for what its input and its state are
// multiplied by; a state without a product outside reads no observed tensor.
// CHECK: ingot.observed = ["x"]
// CHECK-SAME: ingot.switches = [#ingot.switch<0, nodes = "net">, #ingot.switch<-1, nodes = "body">]
// CHECK-LABEL: func.func @recurrent
// CHECK-SAME: %[[S1:[a-z0-9]*]]: tensor<i1> {ingot.name = "ingot.switch.0"}
// CHECK-SAME: %[[S2:[a-z0-9]*]]: tensor<i1> {ingot.name = "ingot.switch.1"}
// CHECK: scf.for {{.*}} iter_args(%[[H:.*]] =
// CHECK: nn.quantize %[[H]]
// CHECK: %[[R:.*]] = nn.dequantize
// CHECK: %[[Y:.*]] = nn.matmul %[[H]]
// CHECK: %[[Y8:.*]] = nn.matmul %[[R]]
// CHECK: nn.select %[[S1]], %[[Y8]], %[[Y]]
// CHECK: scf.for
// CHECK: nn.select %[[S2]]
func.func @recurrent(%x: tensor<1x128xf32> {ingot.name = "x"}, %n: index {ingot.name = "n"}) -> (tensor<1x128xf32>, tensor<1x128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = arith.constant dense<0.5> : tensor<128x128xf32>
  %y = nn.matmul %x, %w : (tensor<1x128xf32>, tensor<128x128xf32>) -> tensor<1x128xf32> loc("net")
  %h = scf.for %i = %c0 to %n step %c1 iter_args(%state = %y) -> tensor<1x128xf32> {
    %0 = nn.matmul %state, %w : (tensor<1x128xf32>, tensor<128x128xf32>) -> tensor<1x128xf32> loc("net")
    scf.yield %0 : tensor<1x128xf32>
  }
  %k = scf.for %i = %c0 to %n step %c1 iter_args(%state = %y) -> tensor<1x128xf32> {
    %0 = nn.matmul %state, %w : (tensor<1x128xf32>, tensor<128x128xf32>) -> tensor<1x128xf32> loc("body")
    scf.yield %0 : tensor<1x128xf32>
  }
  return %h, %k : tensor<1x128xf32>, tensor<1x128xf32>
}
