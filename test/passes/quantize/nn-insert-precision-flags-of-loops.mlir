// RUN: split-file %s %t
// RUN: ingot-opt %t/nets.mlir --nn-insert-precision-flags | FileCheck %t/nets.mlir
// RUN: ingot-opt %t/rounded.mlir --ingot-attach-calibration=file=%t/up.json --nn-insert-precision-flags \
// RUN:   | FileCheck %t/rounded.mlir

//--- nets.mlir

// A recurrent net has one flag for the products of its input and of its state.
// A state without a product outside reads no observed tensor.
// CHECK: ingot.observed = ["x"]
// CHECK-SAME: ingot.precision_flags = [#ingot.precision_flag<0, nodes = "net">, #ingot.precision_flag<-1, nodes = "body">]
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

//--- rounded.mlir
// The rounding is that of the product before the loop. A product in the loop
// with the same node name has other weights, which are rounded to the nearest
// bytes.
// CHECK-LABEL: func.func @named
// CHECK-DAG: dense<{{\[\[}}127, 39], [-92, 127]]> : tensor<2x2xsi8>
// CHECK-DAG: dense<1> : tensor<128x128xsi8>
func.func @named(%x: tensor<1x2xf32> {ingot.name = "x"}, %s: tensor<1x128xf32> {ingot.name = "s"}, %n: index {ingot.name = "n"}) -> (tensor<1x2xf32>, tensor<1x128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = arith.constant dense<[[1.0, 0.3141], [-0.7182, 1.0]]> : tensor<2x2xf32>
  %r = arith.constant dense<0.5> : tensor<128x128xf32>
  %y = nn.matmul %x, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32> loc("net")
  %h = scf.for %i = %c0 to %n step %c1 iter_args(%state = %s) -> tensor<1x128xf32> {
    %0 = nn.matmul %state, %r : (tensor<1x128xf32>, tensor<128x128xf32>) -> tensor<1x128xf32> loc("net")
    scf.yield %0 : tensor<1x128xf32>
  }
  return %y, %h : tensor<1x2xf32>, tensor<1x128xf32>
}

//--- up.json
{"ingot_calibration": 3, "model": "m", "model_sha256": "0000000000000000000000000000000000000000000000000000000000000000",
 "method": "minmax", "samples": 1, "tensors": [{"name": "x", "min": -1, "max": 2, "scale": 0.25, "zero_point": 3}],
 "repair": {"adaround": [{"name": "net", "up": "CQ=="}]}}
