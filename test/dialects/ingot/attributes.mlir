// RUN: ingot-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK: module attributes
// CHECK-SAME: ingot.layers = [#ingot.layer<"convolution" by native, flops = 1024, bytes = 640, nodes = "Conv_0", "Relu_1">, #ingot.layer<"copy" by loops, reason = "native: is of i8", flops = 0, bytes = 8>]
// CHECK-SAME: ingot.memory_plan = [#ingot.slot<offset = 0, bytes = 64, first = 1, last = 2>]
// CHECK-SAME: ingot.outputs = [#ingot.tensor<"y" : tensor<?x3xui8>, dims = "N", "">, #ingot.tensor<"z" : tensor<f32>>]
// CHECK-SAME: ingot.size_rules = #ingot.size_rules<proved = 3, checked = 1>
// CHECK-SAME: ingot.target = #ingot.target<"znver4", l2 = 524288, fma_latency = 5>
// CHECK-SAME: ingot.weights = [#ingot.weight<64, dense<1.000000e+00> : tensor<2xf32>>]
module attributes {
  ingot.layers = [#ingot.layer<"convolution" by native, flops = 1024, bytes = 640, nodes = "Conv_0", "Relu_1">, #ingot.layer<"copy" by loops, reason = "native: is of i8", flops = 0, bytes = 8>],
  ingot.memory_plan = [#ingot.slot<offset = 0, bytes = 64, first = 1, last = 2>],
  ingot.outputs = [#ingot.tensor<"y" : tensor<?x3xui8>, dims = "N", "">, #ingot.tensor<"z" : tensor<f32>>],
  ingot.size_rules = #ingot.size_rules<proved = 3, checked = 1>,
  ingot.target = #ingot.target<"znver4", l1 = 32768, fma_latency = 5, l2 = 524288>,
  ingot.weights = [#ingot.weight<64, dense<1.0> : tensor<2xf32>>]} {
  // CHECK: func.func @run(%{{.*}}: memref<?xi8> {ingot.operand = #ingot.operand<arena>})
  func.func @run(%arena: memref<?xi8> {ingot.operand = #ingot.operand<arena>}) {
    return
  }
  // CHECK: nn.matmul {{.*}} {ingot.backend = #ingot.backend<onednn>, ingot.precision = #ingot.precision<bf16>}
  func.func @product(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
    %y = nn.matmul %a, %b {ingot.backend = #ingot.backend<onednn>, ingot.precision = #ingot.precision<bf16>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    return %y : tensor<2x4xf32>
  }
}

// -----

// expected-error @+1 {{unknown CPU level 'pentium': use one of x86-64-v2, x86-64-v3}}
module attributes {ingot.target = #ingot.target<"pentium">} {
}

// -----

// expected-error @+1 {{expects l1 of 4096 to 1073741824, but got 16}}
module attributes {ingot.target = #ingot.target<"znver4", l1 = 16>} {
}

// -----

// expected-error @+1 {{expects line to be a power of 2, but got 96}}
module attributes {ingot.target = #ingot.target<"znver4", line = 96>} {
}

// -----

// expected-error @+1 {{unknown property 'l3' of a target: use one of l1, l2, line, set_stride, fma_ports, fma_latency, task_flops, task_bytes, most_tasks, prefetch_steps, amx_speed, amx_rows}}
module attributes {ingot.target = #ingot.target<"znver4", l2 = 524288, l3 = 1048576>} {
}

// -----

// CHECK: module attributes
// CHECK-SAME: ingot.bodies = [#ingot.body<@forward_1 of 0, inputs = [#ingot.tensor<"x" : tensor<4xf32>>], outputs = [#ingot.tensor<"y" : tensor<4xf32>>]>]
// CHECK-SAME: ingot.layers = [#ingot.layer<"copy" by loops, usual_of = 0, in_loop = true, flops = 0, bytes = 8>]
// CHECK-SAME: ingot.shape_profiles = [#ingot.shape_profile<<input = 0, dim = 0, min = 1, usual = 4, max = 8, multiple = 2>>, #ingot.shape_profile<<input = 0, dim = 0, min = 0, usual = -1, max = 9, multiple = 1>>]
// CHECK-SAME: ingot.takes_general
module attributes {
  ingot.bodies = [#ingot.body<@forward_1 of 0, inputs = [#ingot.tensor<"x" : tensor<4xf32>>], outputs = [#ingot.tensor<"y" : tensor<4xf32>>]>],
  ingot.layers = [#ingot.layer<"copy" by loops, usual_of = 0, in_loop = true, flops = 0, bytes = 8>],
  ingot.shape_profiles = [#ingot.shape_profile<<input = 0, dim = 0, min = 1, usual = 4, max = 8, multiple = 2>>,
                          #ingot.shape_profile<<input = 0, dim = 0, min = 0, usual = -1, max = 9, multiple = 1>>],
  ingot.takes_general} {
  // CHECK: func.func private @forward_1() attributes {ingot.usual_of = 0 : i64}
  func.func private @forward_1() attributes {ingot.usual_of = 0 : i64}
}

// -----

// expected-error @+2 {{failed to parse Ingot_ShapeProfile parameter}}
// expected-error @+1 {{expects 0 <= min <= max and a positive multiple, but got 5, 4 and 1}}
module attributes {ingot.shape_profiles = [#ingot.shape_profile<<input = 0, dim = 0, min = 5, usual = 5, max = 4, multiple = 1>>]} {
}

// -----

// expected-error @+2 {{failed to parse Ingot_ShapeProfile parameter}}
// expected-error @+1 {{expects a usual size from 2 to 8, a multiple of 4, or -1, but got 6}}
module attributes {ingot.shape_profiles = [#ingot.shape_profile<<input = 0, dim = 0, min = 2, usual = 6, max = 8, multiple = 4>>]} {
}

// -----

// expected-error @+2 {{failed to parse Ingot_ShapeProfile parameter}}
// expected-error @+1 {{expects numbers of an input and a dimension, but got -1 and 0}}
module attributes {ingot.shape_profiles = [#ingot.shape_profile<<input = -1, dim = 0, min = 2, usual = 6, max = 8, multiple = 1>>]} {
}

// -----

// CHECK: module attributes {ingot.statistics = #ingot.statistics<channels = 0, zero_weights = 4>}
module attributes {ingot.statistics = #ingot.statistics<zero_weights = 4, channels = 0>} {
}

// -----

// expected-error @+1 {{unknown count 'ones'}}
module attributes {ingot.statistics = #ingot.statistics<ones = 4>} {
}

// -----

// expected-error @+1 {{expects counts that are not negative}}
module attributes {ingot.statistics = #ingot.statistics<weights = -2>} {
}

// -----

// expected-error @+1 {{expects names for the 2 dimensions of 'x', but got 1}}
module attributes {ingot.inputs = [#ingot.tensor<"x" : tensor<2x?xf32>, dims = "N">]} {
}

// -----

// expected-error @below {{no fact is called 'ingot.machine'}}
module attributes {ingot.machine = #ingot.target<"znver4">} {
}

// -----

// expected-error @below {{'ingot.target' has a value of another type}}
module attributes {ingot.target = "znver4"} {
}

// -----

// expected-error @below {{'ingot.strings' has a value of another type}}
module attributes {ingot.strings = ["", 1]} {
}

// -----

// expected-error @below {{'ingot.layers' has a value of another type}}
module attributes {ingot.layers = ["convolution"]} {
}

// -----

// expected-error @below {{'ingot.arena_bytes' does not belong here}}
func.func private @elsewhere() attributes {ingot.arena_bytes = 1 : i64}

// -----

// expected-error @below {{'ingot.target' does not belong here}}
func.func private @argument(tensor<1xf32> {ingot.target = #ingot.target<"znver4">})

// -----

// expected-error @below {{'ingot.name' has a value of another type}}
func.func private @result() -> (tensor<1xf32> {ingot.name = 1 : i64})

// -----

// expected-error @+1 {{expects a finite min <= max for 'x', but got 3.000000e+00 and 2.000000e+00}}
module attributes {range = #ingot.tensor_range<"x", min = 3.0, max = 2.0, scale = 1.0, zero_point = 0>} {
}

// -----

// expected-error @+1 {{expects a normal scale above 0 for 'x', but got 0.000000e+00}}
module attributes {range = #ingot.tensor_range<"x", min = 1.0, max = 2.0, scale = 0.0, zero_point = 0>} {
}

// -----

// expected-error @+1 {{expects a zero point from 0 to 255 for 'x', but got 256}}
module attributes {range = #ingot.tensor_range<"x", min = 1.0, max = 2.0, scale = 1.0, zero_point = 256>} {
}

// -----

// expected-error @+1 {{expects magnitudes of at least 0 for 'x', but got -1.000000e+00}}
module attributes {ingot.calibration = #ingot.calibration<"f" channels = [<"x", [-1.0]>]>} {
}

// -----

// expected-error @+1 {{expects finite numbers for 'x'}}
module attributes {values = #ingot.channel_values<"x", [0x7f800000]>} {
}

// -----

// expected-error @+1 {{expects 'x' once in biases}}
module attributes {ingot.calibration = #ingot.calibration<"f" biases = [<"x", [1.0]>, <"x", [2.0]>]>} {
}

// -----

// expected-error @+1 {{expects bytes in one dimension for 'x', but got 'tensor<1xf32>'}}
module attributes {rounding = #ingot.weight_rounding<"x", dense_resource<up> : tensor<1xf32>>} {
}
