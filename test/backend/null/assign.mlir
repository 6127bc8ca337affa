// RUN: ingot-opt-null --nn-assign-backends='backends=null' --split-input-file --verify-diagnostics %s | FileCheck %s
// RUN: not ingot-opt-null --nn-assign-backends='backends=gpu' %s 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not ingot-opt --nn-assign-backends='backends=null' %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// The row of the list.
// ROWS: error: no backend is called 'gpu': use one of onednn, native, loops, cuda, null
// UNKNOWN: error: no backend is called 'null': use one of onednn, native, loops, cuda{{$}}

// CHECK-LABEL: func.func @takes
// CHECK: nn.relu {{.*}}ingot.backend = #ingot.backend<null>
func.func @takes(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.relu %x : tensor<2x3xf32> -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @declines(%x: tensor<2x3xf32>, %y: tensor<2x3xf64>) -> (tensor<2x3xf32>, tensor<2x3xf64>) {
  // expected-error@+1 {{no backend of device 'nowhere' computes it: null: is not an nn.relu}}
  %0 = nn.tanh %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // expected-error@+1 {{no backend of device 'nowhere' computes it: null: computes float64[2,3], where kernels compute float32}}
  %1 = nn.relu %y : tensor<2x3xf64> -> tensor<2x3xf64>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf64>
}
