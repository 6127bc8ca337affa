// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {ai.onnx = 20 : i64}} {

// A real signal: two products, the second one negated.
// CHECK-LABEL: @forward
func.func @forward(%x: tensor<2x6x1xf32>) -> tensor<2x4x2xf32> {
  %none = onnx.absent
  %axis = arith.constant dense<1> : tensor<i64>
  // CHECK: nn.matmul %{{.*}} : (tensor<2x6xf32>, tensor<6x4xf32>) -> tensor<2x4xf32>
  // CHECK: nn.matmul
  // CHECK: nn.neg
  // CHECK: nn.concat %{{.*}} {axis = 2 : i64}
  %0 = onnx.node "DFT"(%x, %none, %axis) {onesided = 1 : i64} : (tensor<2x6x1xf32>, none, tensor<i64>) -> tensor<2x4x2xf32>
  return %0 : tensor<2x4x2xf32>
}

// Half a spectrum becomes a real signal again.
// CHECK-LABEL: @inverse
func.func @inverse(%x: tensor<2x4x2xf32>) -> tensor<2x6x1xf32> {
  // CHECK: nn.matmul %{{.*}} : (tensor<2x4xf32>, tensor<4x6xf32>) -> tensor<2x6xf32>
  // CHECK: return %{{.*}} : tensor<2x6x1xf32>
  %0 = onnx.node "DFT"(%x) {inverse = 1 : i64, onesided = 1 : i64} : (tensor<2x4x2xf32>) -> tensor<2x6x1xf32>
  return %0 : tensor<2x6x1xf32>
}

// CHECK-LABEL: @stft
func.func @stft(%x: tensor<1x16x1xf32>, %w: tensor<8xf32>) -> tensor<1x3x5x2xf32> {
  %step = arith.constant dense<4> : tensor<i64>
  // CHECK: nn.gather %{{.*}} : (tensor<1x16xf32>, tensor<3x8xi64>) -> tensor<1x3x8xf32>
  // CHECK: nn.mul %{{.*}} : tensor<1x3x8xf32>, tensor<8xf32>
  // CHECK: nn.matmul %{{.*}} : (tensor<1x3x8xf32>, tensor<8x5xf32>) -> tensor<1x3x5xf32>
  %0 = onnx.node "STFT"(%x, %step, %w) : (tensor<1x16x1xf32>, tensor<i64>, tensor<8xf32>) -> tensor<1x3x5x2xf32>
  return %0 : tensor<1x3x5x2xf32>
}

// Many points are split into two factors: 512 points by 32 and 16. Half of the
// points and one more are wanted.
// CHECK-LABEL: @factors
// CHECK: nn.transpose %{{.*}} : tensor<?x[[A:[0-9]+]]x[[B:[0-9]+]]xf32> -> tensor<?x[[B]]x[[A]]xf32>
// CHECK-COUNT-2: nn.matmul %{{.*}} : (tensor<?x[[B]]x[[A]]xf32>, tensor<[[A]]x[[A]]xf32>)
// CHECK-COUNT-4: nn.mul %{{.*}} : tensor<?x[[B]]x[[A]]xf32>, tensor<[[B]]x[[A]]xf32>
// CHECK-COUNT-4: nn.matmul %{{.*}} : (tensor<?x[[A]]x[[B]]xf32>, tensor<[[B]]x[[C:[0-9]+]]xf32>)
// CHECK: nn.slice %{{.*}} -> tensor<?x257xf32>
func.func @factors(%x: tensor<?x512x1xf32>) -> tensor<?x257x2xf32> {
  %none = onnx.absent
  %axis = arith.constant dense<1> : tensor<i64>
  %0 = onnx.node "DFT"(%x, %none, %axis) {onesided = 1 : i64} : (tensor<?x512x1xf32>, none, tensor<i64>) -> tensor<?x257x2xf32>
  return %0 : tensor<?x257x2xf32>
}

// A short transform, or one without such factors, is a single product.
// CHECK-LABEL: @prime
// CHECK: nn.matmul %{{.*}} : (tensor<2x509xf32>, tensor<509x509xf32>)
func.func @prime(%x: tensor<2x509x1xf32>) -> tensor<2x509x2xf32> {
  %none = onnx.absent
  %axis = arith.constant dense<1> : tensor<i64>
  %0 = onnx.node "DFT"(%x, %none, %axis) : (tensor<2x509x1xf32>, none, tensor<i64>) -> tensor<2x509x2xf32>
  return %0 : tensor<2x509x2xf32>
}

// More points without factors use fast transforms. The result's sizes are
// static nevertheless.
// CHECK-LABEL: @large_prime
// CHECK-NOT: nn.matmul
// CHECK: vector.transfer_write
// CHECK: return %{{.*}} : tensor<2x1021x2xf32>
func.func @large_prime(%x: tensor<2x1021x1xf32>) -> tensor<2x1021x2xf32> {
  %none = onnx.absent
  %axis = arith.constant dense<1> : tensor<i64>
  %0 = onnx.node "DFT"(%x, %none, %axis) : (tensor<2x1021x1xf32>, none, tensor<i64>) -> tensor<2x1021x2xf32>
  return %0 : tensor<2x1021x2xf32>
}

// CHECK-LABEL: @large_frames
// CHECK-NOT: nn.matmul
// CHECK: vector.transfer_write
// CHECK: return %{{.*}} : tensor<1x2x511x2xf32>
func.func @large_frames(%x: tensor<1x1531xf32>) -> tensor<1x2x511x2xf32> {
  %none = onnx.absent
  %step = arith.constant dense<510> : tensor<i64>
  %length = arith.constant dense<1021> : tensor<i64>
  %0 = onnx.node "STFT"(%x, %step, %none, %length) : (tensor<1x1531xf32>, tensor<i64>, none, tensor<i64>) -> tensor<1x2x511x2xf32>
  return %0 : tensor<1x2x511x2xf32>
}

// A signal without its last dimension of 1, of dynamic length.
// CHECK-LABEL: @stft_dynamic
func.func @stft_dynamic(%x: tensor<?x?xf32>, %w: tensor<8xf32>) -> tensor<?x?x5x2xf32> {
  %step = arith.constant dense<4> : tensor<i64>
  // CHECK: %[[AT:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x8xi64>)
  // CHECK: nn.gather %{{.*}}, {{.*}} : (tensor<?x?xf32>, tensor<?x8xi64>) -> tensor<?x?x8xf32>
  %0 = onnx.node "STFT"(%x, %step, %w) : (tensor<?x?xf32>, tensor<i64>, tensor<8xf32>) -> tensor<?x?x5x2xf32>
  return %0 : tensor<?x?x5x2xf32>
}
}

// -----

module attributes {onnx.opset_import = {ai.onnx = 20 : i64}} {
func.func @wrong(%x: tensor<2x6x3xf32>, %z: tensor<1x16x1xf32>) -> tensor<2x6x2xf32> {
  // expected-error @+1 {{DFT (opset 20) is invalid: expects a last dimension of 1 or 2}}
  %0 = onnx.node "DFT"(%x) : (tensor<2x6x3xf32>) -> tensor<2x6x2xf32>
  %step = arith.constant dense<0> : tensor<i64>
  // expected-error @+1 {{STFT (opset 20) is invalid: 'frame_step' is 0, but must be at least 1}}
  %2 = onnx.node "STFT"(%z, %step) : (tensor<1x16x1xf32>, tensor<i64>) -> tensor<1x1x9x2xf32>
  return %0 : tensor<2x6x2xf32>
}
}

// -----

// Dynamic sizes: passes of radix 8, 4 and 2 over vectors. A line whose length is
// no power of two goes through them twice.

module attributes {onnx.opset_import = {ai.onnx = 20 : i64}} {
// CHECK-LABEL: func.func @computed_axis(
func.func @computed_axis(%x: tensor<2x6x1xf32>, %axis: tensor<i64>) -> tensor<2x6x2xf32> {
  %none = onnx.absent
  // CHECK: ingot.require {{.*}} "axis {0} is outside of {1} dimensions"
  // CHECK: ingot.require {{.*}} "axis {0} is that of real and imaginary parts"
  // CHECK: vector.transfer_write
  %0 = onnx.node "DFT"(%x, %none, %axis) : (tensor<2x6x1xf32>, none, tensor<i64>) -> tensor<2x6x2xf32>
  return %0 : tensor<2x6x2xf32>
}

// CHECK-LABEL: func.func @open(
func.func @open(%y: tensor<2x?x1xf32>) -> tensor<2x?x2xf32> {
  // CHECK: ingot.require {{.*}} "dft_length is {0}, but must be at least 1"
  // CHECK: ingot.require {{.*}} "dft_length is {0}, but must be at most {1}"
  // CHECK: math.ctlz
  // CHECK: math.cos
  // CHECK: math.sin
  // CHECK: arith.remsi %{{.*}}, %{{.*}} : index
  // The lines, with the filter as line -1.
  // CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step
  // CHECK: scf.for %{{.*}} -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)
  // The first pass makes vectors of elements that are contiguous in its result.
  // CHECK: vector.from_elements
  // CHECK: vector.transfer_write {{.*}} : vector<4xf64>, tensor<?xf64>
  // CHECK: vector.broadcast
  // CHECK: vector.transfer_read {{.*}} : tensor<?xf64>, vector<4xf64>
  // CHECK: arith.truncf {{.*}} : f64 to f32
  // CHECK: return %{{.*}} : tensor<2x?x2xf32>
  %1 = onnx.node "DFT"(%y) : (tensor<2x?x1xf32>) -> tensor<2x?x2xf32>
  return %1 : tensor<2x?x2xf32>
}

// CHECK-LABEL: func.func @doubles(
func.func @doubles(%y: tensor<2x?x1xf64>) -> tensor<2x?x2xf64> {
  // CHECK-NOT: arith.truncf
  // CHECK: vector.transfer_write {{.*}} : vector<4xf64>, tensor<?xf64>
  %1 = onnx.node "DFT"(%y) : (tensor<2x?x1xf64>) -> tensor<2x?x2xf64>
  return %1 : tensor<2x?x2xf64>
}

// CHECK-LABEL: func.func @frames(
func.func @frames(%z: tensor<1x16x1xf32>, %step: tensor<i64>, %length: tensor<i64>) -> tensor<1x?x?x2xf32> {
  %none = onnx.absent
  // CHECK: ingot.require {{.*}} "frame_step is {0}, but must be at least 1"
  // CHECK: ingot.require {{.*}} "frame_length is {0}, but must be at least 1"
  // CHECK: ingot.require {{.*}} "frames of {0} of {1} samples"
  // CHECK: vector.transfer_write
  %2 = onnx.node "STFT"(%z, %step, %none, %length) : (tensor<1x16x1xf32>, tensor<i64>, none, tensor<i64>) -> tensor<1x?x?x2xf32>
  return %2 : tensor<1x?x?x2xf32>
}
}
