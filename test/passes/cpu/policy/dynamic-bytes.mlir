// RUN: ingot-opt %s --pass-pipeline='builtin.module(ingot-attach-targets{levels=x86-64-v3},nn-insert-dynamic-quantize)' --remarks-filter-analyse=decision --remark-format=emitRemark -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefixes=CHECK,WORDS
// RUN: ingot-opt %s --pass-pipeline='builtin.module(ingot-attach-targets{levels=znver4},nn-insert-dynamic-quantize{keep=kept=fp32,named=int8})' --remarks-filter-analyse=decision --remark-format=emitRemark -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefixes=CHECK,DOTS

// Every product has one decision, with a reason and two estimates.
// CHECK: "large"{{.*}}<precision, "int8", [<"float32", cycles = {{[0-9]+}}>, <"int8", cycles = {{[0-9]+}}>], "uses each element in enough products to pay for finding the range">
// CHECK-NOT: "large"
// WORDS: "row"{{.*}}<precision, "float32", {{.*}}"has one row and few columns: finding a range takes longer than multiplying them">
// DOTS: "row"{{.*}}<precision, "int8", {{.*}}"has one row, whose time is that of reading weights">
// CHECK: "depthwise"{{.*}}<precision, "float32", "has groups, so that each element is used in few products">
// CHECK: "two"{{.*}}<precision, "float32", "has one or two channels, so that most bytes of each group of four would be zeros">
// WORDS: "padded"{{.*}}<precision, "float32", {{.*}}"has much padding, which floats skip">
// DOTS: "padded"{{.*}}<precision, "int8", {{.*}}"uses each element in enough products
// WORDS: "kept"{{.*}}<precision, "int8"
// DOTS: "kept"{{.*}}<precision, "float32", "is kept in float32 by a rule">
// WORDS: "narrow"{{.*}}<precision, "float32", {{.*}}"has few weights: finding a range takes longer than multiplying them">
// DOTS: "narrow"{{.*}}<precision, "float32", {{.*}}"uses each element in so few products that finding the range takes longer than int8 saves">
// WORDS: "named"{{.*}}<precision, "float32"
// DOTS: "named"{{.*}}<precision, "int8", "is put in int8 by a rule">
// Dynamic sizes have no estimates.
// CHECK: "open"{{.*}}<precision, "int8", [<"float32">, <"int8">], "has open sizes, which may be large">
// CHECK-NOT: decision<
func.func @products(%x: tensor<64x256xf32>, %p: tensor<1x64x14x14xf32>, %two: tensor<1x2x32x32xf32>,
                    %small: tensor<1x64x2x2xf32>, %row: tensor<1x512xf32>, %open: tensor<?x256xf32>)
    -> (tensor<64x256xf32>, tensor<64x16xf32>, tensor<1x32xf32>, tensor<1x64x14x14xf32>, tensor<1x64x32x32xf32>,
        tensor<1x64x2x2xf32>, tensor<64x256xf32>, tensor<64x8xf32>, tensor<?x256xf32>) {
  %w = arith.constant dense<0.5> : tensor<256x256xf32>
  %c = arith.constant dense<0.5> : tensor<512x32xf32>
  %d = arith.constant dense<0.5> : tensor<64x1x3x3xf32>
  %t = arith.constant dense<0.5> : tensor<64x2x3x3xf32>
  %s = arith.constant dense<0.5> : tensor<64x64x3x3xf32>
  %n = arith.constant dense<0.5> : tensor<256x16xf32>
  %m = arith.constant dense<0.5> : tensor<256x8xf32>
  %0 = nn.matmul %x, %w : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32> loc("large")
  %2 = nn.matmul %row, %c : (tensor<1x512xf32>, tensor<512x32xf32>) -> tensor<1x32xf32> loc("row")
  %3 = nn.conv %p, %d {dilations = array<i64: 1, 1>, groups = 64 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x64x14x14xf32>, tensor<64x1x3x3xf32>) -> tensor<1x64x14x14xf32> loc("depthwise")
  %4 = nn.conv %two, %t {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x2x32x32xf32>, tensor<64x2x3x3xf32>) -> tensor<1x64x32x32xf32> loc("two")
  %5 = nn.conv %small, %s {dilations = array<i64: 1, 1>, groups = 1 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x64x2x2xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x2x2xf32> loc("padded")
  %6 = nn.matmul %0, %w : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32> loc("kept")
  %1 = nn.matmul %6, %n : (tensor<64x256xf32>, tensor<256x16xf32>) -> tensor<64x16xf32> loc("narrow")
  %7 = nn.matmul %6, %m : (tensor<64x256xf32>, tensor<256x8xf32>) -> tensor<64x8xf32> loc("named")
  %8 = nn.matmul %open, %w : (tensor<?x256xf32>, tensor<256x256xf32>) -> tensor<?x256xf32> loc("open")
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<64x256xf32>, tensor<64x16xf32>, tensor<1x32xf32>,
    tensor<1x64x14x14xf32>, tensor<1x64x32x32xf32>, tensor<1x64x2x2xf32>, tensor<64x256xf32>, tensor<64x8xf32>, tensor<?x256xf32>
}
