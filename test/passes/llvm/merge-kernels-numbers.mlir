// Numbers of elements are arguments, too: factors, bounds and zero points.
// RUN: ingot-opt %s --split-input-file --merge-kernels=fewest-ops=7 | FileCheck %s
// RUN: ingot-opt %s --split-input-file --merge-kernels | FileCheck %s --check-prefix=SHORT

// Must not fire: short functions are not worth a call.
// SHORT-NOT: common

// Factors and bounds of epilogues are arguments if kernels differ in them. A
// bound of zero stays, since a comparison would keep its sign.
// CHECK-LABEL: func.func private @scale.common(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?xf32>, %{{[^:]*}}: index, %[[FACTOR:[^:]*]]: f32, %[[BOUND:[^:]*]]: f32)
// CHECK-DAG:     %[[FACTORS:.*]] = vector.broadcast %[[FACTOR]] : f32 to vector<8xf32>
// CHECK-DAG:     %[[BOUNDS:.*]] = vector.broadcast %[[BOUND]] : f32 to vector<8xf32>
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00>
// CHECK:         %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[FACTORS]]
// CHECK:         %[[IS_LARGER:.*]] = arith.cmpf olt, %[[BOUNDS]], %[[SCALED]]
// CHECK:         %[[CUT:.*]] = arith.select %[[IS_LARGER]], %[[BOUNDS]], %[[SCALED]]
// CHECK:         arith.maximumf %[[CUT]], %[[ZERO]]
// CHECK-LABEL: func.func private @scale(
// CHECK-DAG:     %[[F:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-DAG:     %[[B:.*]] = arith.constant 6.000000e+00 : f32
// CHECK:         call @scale.common(%{{.*}}, %{{.*}}, %[[F]], %[[B]])
// CHECK-LABEL: func.func private @scales(
// CHECK-DAG:     %[[F:.*]] = arith.constant 2.500000e-01 : f32
// CHECK-DAG:     %[[B:.*]] = arith.constant 7.000000e+00 : f32
// CHECK:         call @scale.common(%{{.*}}, %{{.*}}, %[[F]], %[[B]])
// CHECK-LABEL: func.func private @zero(
// CHECK-NOT:     call
func.func private @scale(%x: memref<8xf32>, %task: index) attributes {ingot.kernel} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %factor = arith.constant dense<0.5> : vector<8xf32>
  %bound = arith.constant dense<6.0> : vector<8xf32>
  %v = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
  %scaled = arith.mulf %v, %factor : vector<8xf32>
  %cut = arith.minimumf %scaled, %bound : vector<8xf32>
  %w = arith.maximumf %cut, %zero : vector<8xf32>
  vector.store %w, %x[%c0] : memref<8xf32>, vector<8xf32>
  return
}
func.func private @scales(%x: memref<8xf32>, %task: index) attributes {ingot.kernel} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %factor = arith.constant dense<0.25> : vector<8xf32>
  %bound = arith.constant dense<7.0> : vector<8xf32>
  %v = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
  %scaled = arith.mulf %v, %factor : vector<8xf32>
  %cut = arith.minimumf %scaled, %bound : vector<8xf32>
  %w = arith.maximumf %cut, %zero : vector<8xf32>
  vector.store %w, %x[%c0] : memref<8xf32>, vector<8xf32>
  return
}
func.func private @zero(%x: memref<8xf32>, %task: index) attributes {ingot.kernel} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %factor = arith.constant dense<0.125> : vector<8xf32>
  %bound = arith.constant dense<0.0> : vector<8xf32>
  %v = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
  %scaled = arith.mulf %v, %factor : vector<8xf32>
  %cut = arith.minimumf %scaled, %bound : vector<8xf32>
  %w = arith.maximumf %cut, %zero : vector<8xf32>
  vector.store %w, %x[%c0] : memref<8xf32>, vector<8xf32>
  return
}

// -----

// Zero points of bytes are arguments: padding that a select or a shuffle takes,
// and factors of intrinsics and of fused multiply-adds. A mask stays, since
// LLVM selects instructions by it.
// CHECK-LABEL: func.func private @padded.common(
// CHECK-SAME:    %{{[^:]*}}: memref<?xi8>, %{{[^:]*}}: index, %[[BYTE:[^:]*]]: i8, %[[WORD:[^:]*]]: i16, %[[FACTOR:[^:]*]]: f32)
// CHECK-DAG:     %[[BYTES:.*]] = vector.broadcast %[[BYTE]] : i8 to vector<16xi8>
// CHECK-DAG:     %[[WORDS:.*]] = vector.broadcast %[[WORD]] : i16 to vector<8xi16>
// CHECK-DAG:     %[[FACTORS:.*]] = vector.broadcast %[[FACTOR]] : f32 to vector<4xf32>
// CHECK:         %[[THERE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[BYTES]]
// CHECK:         vector.shuffle %[[THERE]], %[[BYTES]]
// CHECK:         llvm.call_intrinsic "llvm.x86.sse2.pmadd.wd"(%{{.*}}, %[[WORDS]])
// CHECK:         math.fma %{{.*}}, %[[FACTORS]], %{{.*}}
// CHECK-LABEL: func.func private @padded(
// CHECK:         call @padded.common(
// CHECK-LABEL: func.func private @padded_more(
// CHECK-DAG:     %[[B:.*]] = arith.constant 7 : i8
// CHECK-DAG:     %[[W:.*]] = arith.constant 8 : i16
// CHECK-DAG:     %[[F:.*]] = arith.constant 2.500000e-01 : f32
// CHECK:         call @padded.common(%{{.*}}, %{{.*}}, %[[B]], %[[W]], %[[F]])
// CHECK-LABEL: func.func private @masked(
// CHECK-NOT:     call @
func.func private @padded(%x: memref<16xi8>, %task: index) attributes {ingot.kernel} {
  %c0 = arith.constant 0 : index
  %mask = arith.constant dense<15> : vector<16xi8>
  %zero = arith.constant dense<5> : vector<16xi8>
  %words = arith.constant dense<6> : vector<8xi16>
  %factor = arith.constant dense<0.5> : vector<4xf32>
  %v = vector.load %x[%c0] : memref<16xi8>, vector<16xi8>
  %low = arith.andi %v, %mask : vector<16xi8>
  %is = arith.cmpi eq, %low, %v : vector<16xi8>
  %there = arith.select %is, %low, %zero : vector<16xi1>, vector<16xi8>
  %both = vector.shuffle %there, %zero [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23] : vector<16xi8>, vector<16xi8>
  %pairs = vector.bitcast %both : vector<16xi8> to vector<8xi16>
  %sum = llvm.call_intrinsic "llvm.x86.sse2.pmadd.wd"(%pairs, %words) : (vector<8xi16>, vector<8xi16>) -> vector<4xi32>
  %f = arith.sitofp %sum : vector<4xi32> to vector<4xf32>
  %g = math.fma %f, %factor, %f : vector<4xf32>
  %w = vector.bitcast %g : vector<4xf32> to vector<16xi8>
  vector.store %w, %x[%c0] : memref<16xi8>, vector<16xi8>
  return
}
func.func private @padded_more(%x: memref<16xi8>, %task: index) attributes {ingot.kernel} {
  %c0 = arith.constant 0 : index
  %mask = arith.constant dense<15> : vector<16xi8>
  %zero = arith.constant dense<7> : vector<16xi8>
  %words = arith.constant dense<8> : vector<8xi16>
  %factor = arith.constant dense<0.25> : vector<4xf32>
  %v = vector.load %x[%c0] : memref<16xi8>, vector<16xi8>
  %low = arith.andi %v, %mask : vector<16xi8>
  %is = arith.cmpi eq, %low, %v : vector<16xi8>
  %there = arith.select %is, %low, %zero : vector<16xi1>, vector<16xi8>
  %both = vector.shuffle %there, %zero [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23] : vector<16xi8>, vector<16xi8>
  %pairs = vector.bitcast %both : vector<16xi8> to vector<8xi16>
  %sum = llvm.call_intrinsic "llvm.x86.sse2.pmadd.wd"(%pairs, %words) : (vector<8xi16>, vector<8xi16>) -> vector<4xi32>
  %f = arith.sitofp %sum : vector<4xi32> to vector<4xf32>
  %g = math.fma %f, %factor, %f : vector<4xf32>
  %w = vector.bitcast %g : vector<4xf32> to vector<16xi8>
  vector.store %w, %x[%c0] : memref<16xi8>, vector<16xi8>
  return
}
func.func private @masked(%x: memref<16xi8>, %task: index) attributes {ingot.kernel} {
  %c0 = arith.constant 0 : index
  %mask = arith.constant dense<7> : vector<16xi8>
  %zero = arith.constant dense<7> : vector<16xi8>
  %words = arith.constant dense<8> : vector<8xi16>
  %factor = arith.constant dense<0.25> : vector<4xf32>
  %v = vector.load %x[%c0] : memref<16xi8>, vector<16xi8>
  %low = arith.andi %v, %mask : vector<16xi8>
  %is = arith.cmpi eq, %low, %v : vector<16xi8>
  %there = arith.select %is, %low, %zero : vector<16xi1>, vector<16xi8>
  %both = vector.shuffle %there, %zero [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23] : vector<16xi8>, vector<16xi8>
  %pairs = vector.bitcast %both : vector<16xi8> to vector<8xi16>
  %sum = llvm.call_intrinsic "llvm.x86.sse2.pmadd.wd"(%pairs, %words) : (vector<8xi16>, vector<8xi16>) -> vector<4xi32>
  %f = arith.sitofp %sum : vector<4xi32> to vector<4xf32>
  %g = math.fma %f, %factor, %f : vector<4xf32>
  %w = vector.bitcast %g : vector<4xf32> to vector<16xi8>
  vector.store %w, %x[%c0] : memref<16xi8>, vector<16xi8>
  return
}

// -----

// Zero points are stored as padding, and loops start with them.
// CHECK-LABEL: func.func private @padding.common(
// CHECK: %[[V:.*]] = vector.broadcast %{{.*}} : i32 to vector<8xi32>
// CHECK: vector.store %[[V]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[V]])
// CHECK-LABEL: func.func private @padding(
// CHECK: call @padding.common(
// CHECK-LABEL: func.func private @other_padding(
// CHECK: call @padding.common(
func.func private @padding(%x: memref<64xi32>, %task: index) attributes {ingot.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %pad = arith.constant dense<5> : vector<8xi32>
  vector.store %pad, %x[%c0] : memref<64xi32>, vector<8xi32>
  %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%before = %pad) -> vector<8xi32> {
    %v = vector.load %x[%i] : memref<64xi32>, vector<8xi32>
    %next = arith.addi %before, %v : vector<8xi32>
    %more = arith.muli %next, %v : vector<8xi32>
    scf.yield %more : vector<8xi32>
  }
  vector.store %sum, %x[%c8] : memref<64xi32>, vector<8xi32>
  return
}
func.func private @other_padding(%x: memref<64xi32>, %task: index) attributes {ingot.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %pad = arith.constant dense<7> : vector<8xi32>
  vector.store %pad, %x[%c0] : memref<64xi32>, vector<8xi32>
  %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%before = %pad) -> vector<8xi32> {
    %v = vector.load %x[%i] : memref<64xi32>, vector<8xi32>
    %next = arith.addi %before, %v : vector<8xi32>
    %more = arith.muli %next, %v : vector<8xi32>
    scf.yield %more : vector<8xi32>
  }
  vector.store %sum, %x[%c8] : memref<64xi32>, vector<8xi32>
  return
}
