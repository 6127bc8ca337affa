//===- F32.cpp - products of f32 ------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/products/ProductKernel.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

SmallVector<Value> FloatKernel::prepareRow(IndexBuilder &b, const Tile &tile,
                                           const RowGroup &group) const {
  SmallVector<Value> parts;
  for (int64_t i = 0; i < group.count; ++i)
    parts.push_back(splat(b, tile.lanes,
                          memref::LoadOp::create(b.b, b.loc, group.data,
                                                 b.get(b.add(group.at, i)))));
  return parts;
}

Value FloatKernel::step(IndexBuilder &b, const Tile &tile, Value row,
                        Value weights, Value sum) const {
  return multiplyAddVectors(b, tile.hasFMA, row, weights, sum);
}

const ProductKernel &cpu::f32Kernel() {
  static const struct F32 final : FloatKernel {
  } kernel;
  return kernel;
}
