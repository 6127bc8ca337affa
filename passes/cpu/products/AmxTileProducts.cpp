//===- AmxTileProducts.cpp - products of bf16 and of bytes in AMX tiles ---===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/isa/amx/AmxTiles.h"
#include "passes/cpu/products/ProductKernel.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {
struct AmxTileProduct final : ProductKernel {
  Accumulators multiplyRows(IndexBuilder &b, const TileWeights &weights,
                            const SrcRows &rows, int64_t depth,
                            const Accumulators &start,
                            const NextWeights &) const override {
    return multiplyAddAmx(b, weights, rows, depth, start);
  }
};
const AmxTileProduct kTiles;
} // namespace

const ProductKernel &cpu::bf16TilesKernel() { return kTiles; }
const ProductKernel &cpu::int8TilesKernel() { return kTiles; }
