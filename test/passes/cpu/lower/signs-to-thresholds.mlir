// RUN: ingot-opt %s --pass-pipeline='builtin.module(func.func(signs-to-thresholds))' --split-input-file | FileCheck %s

// Half of the sum plus 3.25 is above 0 for sums of at least -6, and never 0:
// one bit per channel.
// CHECK-LABEL: @grows
// CHECK: %[[LOW:.*]] = arith.constant dense<-6> : tensor<1x64xi32>
// CHECK: %[[D:.*]] = tensor.empty() : tensor<4x2xi32>
// CHECK: %[[BITS:.*]] = cpu.matmul ins(%{{.*}}, %{{.*}} : tensor<4x5xi32>, tensor<2x2x32xi32>) operands(%[[LOW]] : tensor<1x64xi32>) outs(%[[D]] : tensor<4x2xi32>)
// CHECK-SAME: dst_signs = 64 : i64
// CHECK-SAME: format = #cpu.weights<signs<64>>
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: i32, %[[T:.*]]: i32):
// CHECK-NEXT: %[[U:.*]] = arith.cmpi slt, %[[SUM]], %[[T]] : i32
// CHECK-NEXT: cpu.yield %[[U]] : i1
// CHECK-NOT: cpu.pack_signs
// CHECK: cpu.matmul ins(%[[BITS]], %{{.*}} : tensor<4x2xi32>, tensor<1x2x32xi32>)
func.func @grows(%x: tensor<4x5xi32>, %w: tensor<2x2x32xi32>, %v: tensor<1x2x32xi32>) -> tensor<4x16xi32> {
  %zero = arith.constant 0.000000e+00 : f32
  %one = arith.constant 1.000000e+00 : f32
  %minus = arith.constant -1.000000e+00 : f32
  %c128 = arith.constant 128 : i32
  %k = arith.constant dense<5.000000e-01> : tensor<1x64xf32>
  %h = arith.constant dense<3.250000e+00> : tensor<1x64xf32>
  %bytes = tensor.empty() : tensor<4x64xi8>
  %words = tensor.empty() : tensor<4x5xi32>
  %d = tensor.empty() : tensor<4x16xi32>
  %0 = cpu.matmul ins(%x, %w : tensor<4x5xi32>, tensor<2x2x32xi32>) operands(%k, %h : tensor<1x64xf32>, tensor<1x64xf32>)
      outs(%bytes : tensor<4x64xi8>) attributes {format = #cpu.weights<signs<64>>} {
  ^bb0(%sum: i32, %scale: f32, %shift: f32):
    %f = arith.sitofp %sum : i32 to f32
    %m = arith.mulf %f, %scale : f32
    %y = arith.addf %m, %shift : f32
    %above = arith.cmpf olt, %zero, %y : f32
    %a = arith.select %above, %one, %y : f32
    %below = arith.cmpf olt, %y, %zero : f32
    %s = arith.select %below, %minus, %a : f32
    %i = arith.fptosi %s : f32 to i32
    %z = arith.addi %i, %c128 : i32
    %byte = arith.trunci %z : i32 to i8
    cpu.yield %byte : i8
  } -> tensor<4x64xi8>
  %1 = cpu.pack_signs ins(%0 : tensor<4x64xi8>) outs(%words : tensor<4x5xi32>) attributes {zero_point = 128 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  } -> tensor<4x5xi32>
  %2 = cpu.matmul ins(%1, %v : tensor<4x5xi32>, tensor<1x2x32xi32>) outs(%d : tensor<4x16xi32>)
      attributes {format = #cpu.weights<signs<64>>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<4x16xi32>
  return %2 : tensor<4x16xi32>
}

// -----

// With 3 instead of 3.25, it is 0 for -6: both signs, which change at different
// sums.
// CHECK-LABEL: @zeros
// CHECK-DAG: %[[LOW:.*]] = arith.constant dense<-6> : tensor<1x64xi32>
// CHECK-DAG: %[[HIGH:.*]] = arith.constant dense<-5> : tensor<1x64xi32>
// CHECK: %[[BITS:.*]] = cpu.matmul {{.*}} operands(%[[LOW]], %[[HIGH]] : {{.*}}) outs({{.*}} : tensor<4x5xi32>)
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: i32, %[[L:.*]]: i32, %[[H:.*]]: i32):
// CHECK-NEXT: %[[U:.*]] = arith.cmpi slt, %[[SUM]], %[[L]] : i32
// CHECK-NEXT: %[[V:.*]] = arith.cmpi slt, %[[SUM]], %[[H]] : i32
// CHECK-NEXT: cpu.yield %[[U]], %[[V]] : i1, i1
// CHECK-NOT: cpu.pack_signs
// CHECK: cpu.matmul ins(%[[BITS]], %{{.*}} : tensor<4x5xi32>,
func.func @zeros(%x: tensor<4x5xi32>, %w: tensor<2x2x32xi32>, %v: tensor<1x2x32xi32>) -> tensor<4x16xi32> {
  %zero = arith.constant 0.000000e+00 : f32
  %one = arith.constant 1.000000e+00 : f32
  %minus = arith.constant -1.000000e+00 : f32
  %c128 = arith.constant 128 : i32
  %k = arith.constant dense<5.000000e-01> : tensor<1x64xf32>
  %h = arith.constant dense<3.000000e+00> : tensor<1x64xf32>
  %bytes = tensor.empty() : tensor<4x64xi8>
  %words = tensor.empty() : tensor<4x5xi32>
  %d = tensor.empty() : tensor<4x16xi32>
  %0 = cpu.matmul ins(%x, %w : tensor<4x5xi32>, tensor<2x2x32xi32>) operands(%k, %h : tensor<1x64xf32>, tensor<1x64xf32>)
      outs(%bytes : tensor<4x64xi8>) attributes {format = #cpu.weights<signs<64>>} {
  ^bb0(%sum: i32, %scale: f32, %shift: f32):
    %f = arith.sitofp %sum : i32 to f32
    %m = arith.mulf %f, %scale : f32
    %y = arith.addf %m, %shift : f32
    %above = arith.cmpf olt, %zero, %y : f32
    %a = arith.select %above, %one, %y : f32
    %below = arith.cmpf olt, %y, %zero : f32
    %s = arith.select %below, %minus, %a : f32
    %i = arith.fptosi %s : f32 to i32
    %z = arith.addi %i, %c128 : i32
    %byte = arith.trunci %z : i32 to i8
    cpu.yield %byte : i8
  } -> tensor<4x64xi8>
  %1 = cpu.pack_signs ins(%0 : tensor<4x64xi8>) outs(%words : tensor<4x5xi32>) attributes {zero_point = 128 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  } -> tensor<4x5xi32>
  %2 = cpu.matmul ins(%1, %v : tensor<4x5xi32>, tensor<1x2x32xi32>) outs(%d : tensor<4x16xi32>)
      attributes {format = #cpu.weights<signs<64>>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<4x16xi32>
  return %2 : tensor<4x16xi32>
}

// -----

// f32 rounds: 25 times 0.1 is 2.5 in f32, and a little more in f64.
// CHECK-LABEL: @rounded
// CHECK-DAG: arith.constant dense<25> : tensor<1x64xi32>
// CHECK-DAG: arith.constant dense<26> : tensor<1x64xi32>
// CHECK: outs({{.*}} : tensor<4x5xi32>)
func.func @rounded(%x: tensor<4x5xi32>, %w: tensor<2x2x32xi32>, %v: tensor<1x2x32xi32>) -> tensor<4x16xi32> {
  %zero = arith.constant 0.000000e+00 : f32
  %one = arith.constant 1.000000e+00 : f32
  %minus = arith.constant -1.000000e+00 : f32
  %c128 = arith.constant 128 : i32
  %k = arith.constant dense<1.000000e-01> : tensor<1x64xf32>
  %h = arith.constant dense<-2.500000e+00> : tensor<1x64xf32>
  %bytes = tensor.empty() : tensor<4x64xi8>
  %words = tensor.empty() : tensor<4x5xi32>
  %d = tensor.empty() : tensor<4x16xi32>
  %0 = cpu.matmul ins(%x, %w : tensor<4x5xi32>, tensor<2x2x32xi32>) operands(%k, %h : tensor<1x64xf32>, tensor<1x64xf32>)
      outs(%bytes : tensor<4x64xi8>) attributes {format = #cpu.weights<signs<64>>} {
  ^bb0(%sum: i32, %scale: f32, %shift: f32):
    %f = arith.sitofp %sum : i32 to f32
    %m = arith.mulf %f, %scale : f32
    %y = arith.addf %m, %shift : f32
    %above = arith.cmpf olt, %zero, %y : f32
    %a = arith.select %above, %one, %y : f32
    %below = arith.cmpf olt, %y, %zero : f32
    %s = arith.select %below, %minus, %a : f32
    %i = arith.fptosi %s : f32 to i32
    %z = arith.addi %i, %c128 : i32
    %byte = arith.trunci %z : i32 to i8
    cpu.yield %byte : i8
  } -> tensor<4x64xi8>
  %1 = cpu.pack_signs ins(%0 : tensor<4x64xi8>) outs(%words : tensor<4x5xi32>) attributes {zero_point = 128 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  } -> tensor<4x5xi32>
  %2 = cpu.matmul ins(%1, %v : tensor<4x5xi32>, tensor<1x2x32xi32>) outs(%d : tensor<4x16xi32>)
      attributes {format = #cpu.weights<signs<64>>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<4x16xi32>
  return %2 : tensor<4x16xi32>
}

// -----

// A positive scale; a channel that is always -1, since 64 products are at most
// 64; and a negative scale. For the latter, sums of at least 7 are -1, and
// their complements are below -7.
// CHECK-LABEL: @mixed
// CHECK-DAG: %[[LOW:.*]] = arith.constant dense<{{\[\[}}-6, 65, -7]]> : tensor<1x3xi32>
// CHECK-DAG: %[[FLIP:.*]] = arith.constant dense<{{\[\[}}0, 0, -1]]> : tensor<1x3xi32>
// CHECK: cpu.matmul {{.*}} operands(%[[LOW]], %[[FLIP]] : {{.*}}) outs({{.*}} : tensor<4x1xi32>)
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: i32, %[[T:.*]]: i32, %[[F:.*]]: i32):
// CHECK-NEXT: %[[FLIPPED:.*]] = arith.xori %[[SUM]], %[[F]] : i32
// CHECK-NEXT: %[[U:.*]] = arith.cmpi slt, %[[FLIPPED]], %[[T]] : i32
// CHECK-NEXT: cpu.yield %[[U]] : i1
func.func @mixed(%x: tensor<4x5xi32>, %w: tensor<1x2x32xi32>, %v: tensor<1x1x32xi32>) -> tensor<4x16xi32> {
  %zero = arith.constant 0.000000e+00 : f32
  %one = arith.constant 1.000000e+00 : f32
  %minus = arith.constant -1.000000e+00 : f32
  %c128 = arith.constant 128 : i32
  %k = arith.constant dense<[[5.000000e-01, 0.000000e+00, -5.000000e-01]]> : tensor<1x3xf32>
  %h = arith.constant dense<[[3.250000e+00, -1.000000e+00, 3.250000e+00]]> : tensor<1x3xf32>
  %bytes = tensor.empty() : tensor<4x3xi8>
  %words = tensor.empty() : tensor<4x3xi32>
  %d = tensor.empty() : tensor<4x16xi32>
  %0 = cpu.matmul ins(%x, %w : tensor<4x5xi32>, tensor<1x2x32xi32>) operands(%k, %h : tensor<1x3xf32>, tensor<1x3xf32>)
      outs(%bytes : tensor<4x3xi8>) attributes {format = #cpu.weights<signs<64>>} {
  ^bb0(%sum: i32, %scale: f32, %shift: f32):
    %f = arith.sitofp %sum : i32 to f32
    %m = arith.mulf %f, %scale : f32
    %y = arith.addf %m, %shift : f32
    %above = arith.cmpf olt, %zero, %y : f32
    %a = arith.select %above, %one, %y : f32
    %below = arith.cmpf olt, %y, %zero : f32
    %s = arith.select %below, %minus, %a : f32
    %i = arith.fptosi %s : f32 to i32
    %z = arith.addi %i, %c128 : i32
    %byte = arith.trunci %z : i32 to i8
    cpu.yield %byte : i8
  } -> tensor<4x3xi8>
  %1 = cpu.pack_signs ins(%0 : tensor<4x3xi8>) outs(%words : tensor<4x3xi32>) attributes {zero_point = 128 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  } -> tensor<4x3xi32>
  %2 = cpu.matmul ins(%1, %v : tensor<4x3xi32>, tensor<1x1x32xi32>) outs(%d : tensor<4x16xi32>)
      attributes {format = #cpu.weights<signs<3>>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<4x16xi32>
  return %2 : tensor<4x16xi32>
}

// -----

// A convolution: sums are over all taps.
// CHECK-LABEL: @conv
// CHECK: arith.constant dense<577> : tensor<1x1x1x32xi32>
// CHECK: cpu.conv {{.*}} outs({{.*}} : tensor<1x4x4x1xi32>)
// CHECK-SAME: dst_signs = 32 : i64
// CHECK-NOT: cpu.pack_signs
// CHECK: return
func.func @conv(%x: tensor<1x4x4x5xi32>, %w: tensor<1x3x3x2x32xi32>, %v: tensor<1x3x3x1x32xi32>) -> tensor<1x4x4x32xi32> {
  %bytes = tensor.empty() : tensor<1x4x4x32xi8>
  %words = tensor.empty() : tensor<1x4x4x3xi32>
  %d = tensor.empty() : tensor<1x4x4x32xi32>
  %0 = cpu.conv ins(%x, %w : tensor<1x4x4x5xi32>, tensor<1x3x3x2x32xi32>) outs(%bytes : tensor<1x4x4x32xi8>)
      attributes {format = #cpu.weights<signs<64>>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    %c127 = arith.constant 127 : i8
    cpu.yield %c127 : i8
  } -> tensor<1x4x4x32xi8>
  %1 = cpu.pack_signs ins(%0 : tensor<1x4x4x32xi8>) outs(%words : tensor<1x4x4x3xi32>) attributes {zero_point = 128 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  } -> tensor<1x4x4x3xi32>
  %2 = cpu.conv ins(%1, %v : tensor<1x4x4x3xi32>, tensor<1x3x3x1x32xi32>) outs(%d : tensor<1x4x4x32xi32>)
      attributes {format = #cpu.weights<signs<32>>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<1x4x4x32xi32>
  return %2 : tensor<1x4x4x32xi32>
}

// -----

// Must not fire: the magnitude of a sum falls and grows again.
// CHECK-LABEL: @magnitude
// CHECK: cpu.pack_signs
func.func @magnitude(%x: tensor<4x5xi32>, %w: tensor<2x2x32xi32>, %v: tensor<1x2x32xi32>) -> tensor<4x16xi32> {
  %zero = arith.constant 0.000000e+00 : f32
  %one = arith.constant 1.000000e+00 : f32
  %minus = arith.constant -1.000000e+00 : f32
  %c128 = arith.constant 128 : i32
  %k = arith.constant dense<5.000000e-01> : tensor<1x64xf32>
  %h = arith.constant dense<-3.250000e+00> : tensor<1x64xf32>
  %bytes = tensor.empty() : tensor<4x64xi8>
  %words = tensor.empty() : tensor<4x5xi32>
  %d = tensor.empty() : tensor<4x16xi32>
  %0 = cpu.matmul ins(%x, %w : tensor<4x5xi32>, tensor<2x2x32xi32>) operands(%k, %h : tensor<1x64xf32>, tensor<1x64xf32>)
      outs(%bytes : tensor<4x64xi8>) attributes {format = #cpu.weights<signs<64>>} {
  ^bb0(%sum: i32, %scale: f32, %shift: f32):
    %f = arith.sitofp %sum : i32 to f32
    %m = math.absf %f : f32
    %k2 = arith.mulf %m, %scale : f32
    %y = arith.addf %k2, %shift : f32
    %above = arith.cmpf olt, %zero, %y : f32
    %a = arith.select %above, %one, %y : f32
    %below = arith.cmpf olt, %y, %zero : f32
    %s = arith.select %below, %minus, %a : f32
    %i = arith.fptosi %s : f32 to i32
    %z = arith.addi %i, %c128 : i32
    %byte = arith.trunci %z : i32 to i8
    cpu.yield %byte : i8
  } -> tensor<4x64xi8>
  %1 = cpu.pack_signs ins(%0 : tensor<4x64xi8>) outs(%words : tensor<4x5xi32>) attributes {zero_point = 128 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  } -> tensor<4x5xi32>
  %2 = cpu.matmul ins(%1, %v : tensor<4x5xi32>, tensor<1x2x32xi32>) outs(%d : tensor<4x16xi32>)
      attributes {format = #cpu.weights<signs<64>>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<4x16xi32>
  return %2 : tensor<4x16xi32>
}

// -----

// Must not fire: functions that a run approximates.
// CHECK-LABEL: @approximated
// CHECK: cpu.pack_signs
func.func @approximated(%x: tensor<4x5xi32>, %w: tensor<2x2x32xi32>, %v: tensor<1x2x32xi32>) -> tensor<4x16xi32> {
  %zero = arith.constant 0.000000e+00 : f32
  %one = arith.constant 1.000000e+00 : f32
  %minus = arith.constant -1.000000e+00 : f32
  %c128 = arith.constant 128 : i32
  %k = arith.constant dense<5.000000e-01> : tensor<1x64xf32>
  %h = arith.constant dense<-3.250000e+00> : tensor<1x64xf32>
  %bytes = tensor.empty() : tensor<4x64xi8>
  %words = tensor.empty() : tensor<4x5xi32>
  %d = tensor.empty() : tensor<4x16xi32>
  %0 = cpu.matmul ins(%x, %w : tensor<4x5xi32>, tensor<2x2x32xi32>) operands(%k, %h : tensor<1x64xf32>, tensor<1x64xf32>)
      outs(%bytes : tensor<4x64xi8>) attributes {format = #cpu.weights<signs<64>>} {
  ^bb0(%sum: i32, %scale: f32, %shift: f32):
    %f = arith.sitofp %sum : i32 to f32
    %m = math.tanh %f : f32
    %k2 = arith.mulf %m, %scale : f32
    %y = arith.addf %k2, %shift : f32
    %above = arith.cmpf olt, %zero, %y : f32
    %a = arith.select %above, %one, %y : f32
    %below = arith.cmpf olt, %y, %zero : f32
    %s = arith.select %below, %minus, %a : f32
    %i = arith.fptosi %s : f32 to i32
    %z = arith.addi %i, %c128 : i32
    %byte = arith.trunci %z : i32 to i8
    cpu.yield %byte : i8
  } -> tensor<4x64xi8>
  %1 = cpu.pack_signs ins(%0 : tensor<4x64xi8>) outs(%words : tensor<4x5xi32>) attributes {zero_point = 128 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  } -> tensor<4x5xi32>
  %2 = cpu.matmul ins(%1, %v : tensor<4x5xi32>, tensor<1x2x32xi32>) outs(%d : tensor<4x16xi32>)
      attributes {format = #cpu.weights<signs<64>>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<4x16xi32>
  return %2 : tensor<4x16xi32>
}

// -----

// Must not fire: NaN is no integer.
// CHECK-LABEL: @undefined
// CHECK: cpu.pack_signs
func.func @undefined(%x: tensor<4x5xi32>, %w: tensor<2x2x32xi32>, %v: tensor<1x2x32xi32>) -> tensor<4x16xi32> {
  %zero = arith.constant 0.000000e+00 : f32
  %one = arith.constant 1.000000e+00 : f32
  %minus = arith.constant -1.000000e+00 : f32
  %c128 = arith.constant 128 : i32
  %k = arith.constant dense<0x7FC00000> : tensor<1x64xf32>
  %h = arith.constant dense<-3.250000e+00> : tensor<1x64xf32>
  %bytes = tensor.empty() : tensor<4x64xi8>
  %words = tensor.empty() : tensor<4x5xi32>
  %d = tensor.empty() : tensor<4x16xi32>
  %0 = cpu.matmul ins(%x, %w : tensor<4x5xi32>, tensor<2x2x32xi32>) operands(%k, %h : tensor<1x64xf32>, tensor<1x64xf32>)
      outs(%bytes : tensor<4x64xi8>) attributes {format = #cpu.weights<signs<64>>} {
  ^bb0(%sum: i32, %scale: f32, %shift: f32):
    %f = arith.sitofp %sum : i32 to f32
    %m = arith.mulf %f, %scale : f32
    %y = arith.addf %m, %shift : f32
    %above = arith.cmpf olt, %zero, %y : f32
    %a = arith.select %above, %one, %y : f32
    %below = arith.cmpf olt, %y, %zero : f32
    %s = arith.select %below, %minus, %a : f32
    %i = arith.fptosi %s : f32 to i32
    %z = arith.addi %i, %c128 : i32
    %byte = arith.trunci %z : i32 to i8
    cpu.yield %byte : i8
  } -> tensor<4x64xi8>
  %1 = cpu.pack_signs ins(%0 : tensor<4x64xi8>) outs(%words : tensor<4x5xi32>) attributes {zero_point = 128 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  } -> tensor<4x5xi32>
  %2 = cpu.matmul ins(%1, %v : tensor<4x5xi32>, tensor<1x2x32xi32>) outs(%d : tensor<4x16xi32>)
      attributes {format = #cpu.weights<signs<64>>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<4x16xi32>
  return %2 : tensor<4x16xi32>
}

// -----

// CHECK-LABEL: @unknown
// CHECK: cpu.pack_signs
func.func @unknown(%x: tensor<4x5xi32>, %w: tensor<2x2x32xi32>, %v: tensor<1x2x32xi32>, %u: tensor<1x64xf32>) -> tensor<4x16xi32> {
  %zero = arith.constant 0.000000e+00 : f32
  %one = arith.constant 1.000000e+00 : f32
  %minus = arith.constant -1.000000e+00 : f32
  %c128 = arith.constant 128 : i32
  %k = arith.constant dense<5.000000e-01> : tensor<1x64xf32>
  %h = arith.constant dense<-3.250000e+00> : tensor<1x64xf32>
  %bytes = tensor.empty() : tensor<4x64xi8>
  %words = tensor.empty() : tensor<4x5xi32>
  %d = tensor.empty() : tensor<4x16xi32>
  %0 = cpu.matmul ins(%x, %w : tensor<4x5xi32>, tensor<2x2x32xi32>) operands(%u, %h : tensor<1x64xf32>, tensor<1x64xf32>)
      outs(%bytes : tensor<4x64xi8>) attributes {format = #cpu.weights<signs<64>>} {
  ^bb0(%sum: i32, %scale: f32, %shift: f32):
    %f = arith.sitofp %sum : i32 to f32
    %m = arith.mulf %f, %scale : f32
    %y = arith.addf %m, %shift : f32
    %above = arith.cmpf olt, %zero, %y : f32
    %a = arith.select %above, %one, %y : f32
    %below = arith.cmpf olt, %y, %zero : f32
    %s = arith.select %below, %minus, %a : f32
    %i = arith.fptosi %s : f32 to i32
    %z = arith.addi %i, %c128 : i32
    %byte = arith.trunci %z : i32 to i8
    cpu.yield %byte : i8
  } -> tensor<4x64xi8>
  %1 = cpu.pack_signs ins(%0 : tensor<4x64xi8>) outs(%words : tensor<4x5xi32>) attributes {zero_point = 128 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  } -> tensor<4x5xi32>
  %2 = cpu.matmul ins(%1, %v : tensor<4x5xi32>, tensor<1x2x32xi32>) outs(%d : tensor<4x16xi32>)
      attributes {format = #cpu.weights<signs<64>>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<4x16xi32>
  return %2 : tensor<4x16xi32>
}

// -----

// Must not fire: bytes with other users.
// CHECK-LABEL: @read
// CHECK: cpu.pack_signs
func.func @read(%x: tensor<4x5xi32>, %w: tensor<2x2x32xi32>, %v: tensor<1x2x32xi32>) -> (tensor<4x16xi32>, tensor<4x64xi8>) {
  %zero = arith.constant 0.000000e+00 : f32
  %one = arith.constant 1.000000e+00 : f32
  %minus = arith.constant -1.000000e+00 : f32
  %c128 = arith.constant 128 : i32
  %k = arith.constant dense<5.000000e-01> : tensor<1x64xf32>
  %h = arith.constant dense<-3.250000e+00> : tensor<1x64xf32>
  %bytes = tensor.empty() : tensor<4x64xi8>
  %words = tensor.empty() : tensor<4x5xi32>
  %d = tensor.empty() : tensor<4x16xi32>
  %0 = cpu.matmul ins(%x, %w : tensor<4x5xi32>, tensor<2x2x32xi32>) operands(%k, %h : tensor<1x64xf32>, tensor<1x64xf32>)
      outs(%bytes : tensor<4x64xi8>) attributes {format = #cpu.weights<signs<64>>} {
  ^bb0(%sum: i32, %scale: f32, %shift: f32):
    %f = arith.sitofp %sum : i32 to f32
    %m = arith.mulf %f, %scale : f32
    %y = arith.addf %m, %shift : f32
    %above = arith.cmpf olt, %zero, %y : f32
    %a = arith.select %above, %one, %y : f32
    %below = arith.cmpf olt, %y, %zero : f32
    %s = arith.select %below, %minus, %a : f32
    %i = arith.fptosi %s : f32 to i32
    %z = arith.addi %i, %c128 : i32
    %byte = arith.trunci %z : i32 to i8
    cpu.yield %byte : i8
  } -> tensor<4x64xi8>
  %1 = cpu.pack_signs ins(%0 : tensor<4x64xi8>) outs(%words : tensor<4x5xi32>) attributes {zero_point = 128 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  } -> tensor<4x5xi32>
  %2 = cpu.matmul ins(%1, %v : tensor<4x5xi32>, tensor<1x2x32xi32>) outs(%d : tensor<4x16xi32>)
      attributes {format = #cpu.weights<signs<64>>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<4x16xi32>
  return %2, %0 : tensor<4x16xi32>, tensor<4x64xi8>
}

// -----

// A dynamic number of rows: the bytes first lose their sign. A user of the
// sizes reads no bytes.
// CHECK-LABEL: @open
// CHECK: %[[BITS:.*]] = cpu.matmul {{.*}} outs({{.*}} : tensor<?x2xi32>)
// CHECK-SAME: dst_signs = 64 : i64
// CHECK-NOT: nn.cast
// CHECK-NOT: cpu.pack_signs
// CHECK: cpu.matmul ins(%[[BITS]],
func.func @open(%x: tensor<?x5xi32>, %w: tensor<2x2x32xi32>, %v: tensor<1x2x32xi32>, %n: index) -> tensor<?x16xi32> {
  %c0 = arith.constant 0 : index
  %bytes = tensor.empty(%n) : tensor<?x64xui8>
  %d = tensor.empty(%n) : tensor<?x16xi32>
  %0 = cpu.matmul ins(%x, %w : tensor<?x5xi32>, tensor<2x2x32xi32>) outs(%bytes : tensor<?x64xui8>) attributes {format = #cpu.weights<signs<64>>} {
  ^bb0(%sum: i32):
    %zero = arith.constant 0 : i32
    %plus = arith.constant 129 : i32
    %minus = arith.constant 127 : i32
    %is = arith.cmpi sge, %sum, %zero : i32
    %s = arith.select %is, %plus, %minus : i32
    %byte = arith.trunci %s : i32 to i8
    cpu.yield %byte : i8
  } -> tensor<?x64xui8>
  %rows = tensor.dim %0, %c0 : tensor<?x64xui8>
  %words = tensor.empty(%rows) : tensor<?x5xi32>
  %1 = nn.cast %0 : tensor<?x64xui8> -> tensor<?x64xi8>
  %2 = cpu.pack_signs ins(%1 : tensor<?x64xi8>) outs(%words : tensor<?x5xi32>) attributes {zero_point = 128 : i64} {
  ^bb0(%word: i32):
    cpu.yield %word : i32
  } -> tensor<?x5xi32>
  %3 = cpu.matmul ins(%2, %v : tensor<?x5xi32>, tensor<1x2x32xi32>) outs(%d : tensor<?x16xi32>) attributes {format = #cpu.weights<signs<64>>} {
  ^bb0(%sum: i32):
    cpu.yield %sum : i32
  } -> tensor<?x16xi32>
  return %3 : tensor<?x16xi32>
}
