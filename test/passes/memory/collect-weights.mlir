// RUN: ingot-opt --collect-weights %s | FileCheck %s

// Equal constants are stored once, whatever their shape, at multiples of 64
// bytes. Small constants stay in the code.

// CHECK: module attributes {ingot.weights = [#ingot.weight<0, dense<1.000000e+00> : tensor<100xf32>>, #ingot.weight<448, dense<2.000000e+00> : tensor<65xf32>>], ingot.weights_bytes = 768 : i64}
// CHECK-NOT: @a
// CHECK: memref.global "private" constant @small
module {
  memref.global "private" constant @a : memref<100xf32> = dense<1.0>
  memref.global "private" constant @b : memref<100xf32> = dense<1.0>
  memref.global "private" constant @again : memref<5x20xf32> = dense<1.0>
  memref.global "private" constant @c : memref<65xf32> = dense<2.0>
  memref.global "private" constant @small : memref<64xf32> = dense<3.0>

  // CHECK: func.func @forward(%[[W:.*]]: memref<?xi8> {ingot.operand = #ingot.operand<weights>})
  func.func @forward(%w: memref<?xi8> {ingot.operand = #ingot.operand<weights>}) -> (memref<100xf32>, memref<100xf32>, memref<65xf32>, memref<64xf32>, memref<5x20xf32>) {
    // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
    // CHECK-DAG: %[[C448:.*]] = arith.constant 448 : index
    // CHECK-DAG: memref.view %[[W]][%[[C0]]][] : memref<?xi8> to memref<100xf32>
    // CHECK-DAG: memref.view %[[W]][%{{c0.*}}][] : memref<?xi8> to memref<5x20xf32>
    // CHECK-DAG: memref.view %[[W]][%[[C448]]][] : memref<?xi8> to memref<65xf32>
    // CHECK-DAG: memref.get_global @small
    %a = memref.get_global @a : memref<100xf32>
    %b = memref.get_global @b : memref<100xf32>
    %c = memref.get_global @c : memref<65xf32>
    %s = memref.get_global @small : memref<64xf32>
    %again = memref.get_global @again : memref<5x20xf32>
    return %a, %b, %c, %s, %again : memref<100xf32>, memref<100xf32>, memref<65xf32>, memref<64xf32>, memref<5x20xf32>
  }

  // Must not fire without an argument for weights.
  // CHECK: func.func @other
  // CHECK: memref.get_global @small
  func.func @other() -> memref<64xf32> {
    %s = memref.get_global @small : memref<64xf32>
    return %s : memref<64xf32>
  }
}
