// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s
// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s -nn-require-sizes | FileCheck %s --check-prefix=SIZES

module attributes {onnx.opset_import = {ai.onnx = 23 : i64, com.microsoft = 1 : i64}} {

// Heads are rotated in place, whatever is known of their sizes. The sizes of
// the operator's caches determine the broadcasts.
// CHECK-LABEL: @heads
// CHECK: ingot.require %{{.*}}, "node 'turn': cos_cache rotates {0} elements, but X has {1} per step"
// CHECK-NOT: nn.transpose
// CHECK: %[[COS:.*]] = nn.gather %arg1, %arg3 {axis = 0 : i64}
// CHECK: tensor.reshape %[[COS]]({{.*}}) : {{.*}} -> tensor<?x1x?x?xf32>
// CHECK: %[[Y:.*]] = nn.concat %{{.*}}, %{{.*}} {axis = 3 : i64}
// CHECK: return %[[Y]]
// SIZES-LABEL: @heads
// SIZES-NOT: broadcast
// SIZES: nn.concat
func.func @heads(%x: tensor<?x?x?x?xf32>, %c: tensor<?x?xf32>, %s: tensor<?x?xf32>, %p: tensor<?x?xi64>) -> tensor<?x?x?x?xf32> {
  %y = onnx.node "RotaryEmbedding"(%x, %c, %s, %p) : (tensor<?x?x?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xi64>) -> tensor<?x?x?x?xf32> loc("turn")
  return %y : tensor<?x?x?x?xf32>
}

// The caches determine the number of heads.
// CHECK-LABEL: @flat
// CHECK: ingot.require %{{.*}}, "node 'turn': the last dimension of the input is {0}, no multiple of {1}"
// CHECK: tensor.reshape %arg0({{.*}}) : {{.*}} -> tensor<?x?x?x?xf32>
func.func @flat(%x: tensor<?x?x?xf32>, %p: tensor<?x?xi64>, %c: tensor<?x?xf32>, %s: tensor<?x?xf32>) -> tensor<?x?x?xf32> {
  %y = onnx.node "com.microsoft"::"RotaryEmbedding"(%x, %p, %c, %s) : (tensor<?x?x?xf32>, tensor<?x?xi64>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?x?xf32> loc("turn")
  return %y : tensor<?x?x?xf32>
}

// The part that is not rotated stays behind the rotated one.
// CHECK-LABEL: @part
// CHECK: nn.concat %{{.*}}, %{{.*}} {axis = 3 : i64} : (tensor<?x?x?x2xf32>, tensor<?x?x?x2xf32>) -> tensor<?x?x?x4xf32>
// CHECK: nn.concat %{{.*}}, %{{.*}} {axis = 3 : i64} : (tensor<?x?x?x4xf32>, tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
func.func @part(%x: tensor<?x?x?x?xf32>, %c: tensor<?x?x?xf32>, %s: tensor<?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %y = onnx.node "RotaryEmbedding"(%x, %c, %s) {rotary_embedding_dim = 4 : i64} : (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %y : tensor<?x?x?x?xf32>
}

}

// -----

module attributes {onnx.opset_import = {ai.onnx = 23 : i64}} {
func.func @wrong(%x: tensor<2x3x8xf32>, %c: tensor<2x3x4xf32>) -> tensor<2x3x8xf32> {
  // expected-error @+1 {{RotaryEmbedding (opset 23) is invalid: 'num_heads' is 0, but must be at least 1}}
  %y = onnx.node "RotaryEmbedding"(%x, %c, %c) : (tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}
}
