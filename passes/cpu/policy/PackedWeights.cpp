//===- PackedWeights.cpp - weights of few bits --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/policy/PackedWeights.h"

#include "passes/cpu/policy/Int8Products.h"
#include "passes/cpu/policy/Machine.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Shapes.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using support::productOf;
using support::shapeOf;

/// Returns true if the product has so many rows that arithmetic limits its
/// speed. This must hold even for float weights that do not fit in the L2
/// cache. Products of bytes serve more rows. An unknown number of rows counts
/// as few.
static bool haveManyRows(nn::MatMulOp op) {
  const int64_t rows = productOf(shapeOf(op.getA()).drop_back());
  return !ShapedType::isDynamic(rows) &&
         rows > (addsByteDots(op) ? threshold::fewRows
                                  : threshold::unpackedFewRows);
}

Answer<bool> cpu::isForPackedWeights(nn::MatMulOp product,
                                     const PackCandidate &candidate) {
  const Machine machine(product);
  const int64_t fewest = candidate.least < 0
                             ? threshold::packedWeights(machine.numbers)
                             : candidate.least;
  auto isOfFew = [](int64_t least) {
    return "belongs to a model with fewer than " + std::to_string(least) +
           " weights in products, which are read as fast as floats";
  };
  if (candidate.allWeights < fewest)
    return {false, isOfFew(fewest)};
  if (candidate.areIntegers) {
    if (productOf(shapeOf(product.getB())) <
        threshold::packedMatrix(machine.numbers))
      return {false, "has few weights, which a cache holds as floats"};
  } else if (haveManyRows(product)) {
    const int64_t many = threshold::packedRowsFactor * fewest;
    if (candidate.allWeights < many)
      return {false, "has many rows, and " + isOfFew(many)};
  }
  return {true, "has weights whose bytes take time to read"};
}

Answer<bool> cpu::isForUnpackedWeights(nn::PackedMatMulOp product,
                                       int64_t allWeights, OptimizeFor goal) {
  if (goal == OptimizeFor::size)
    return {false, "takes less space packed, which --optimize=size asks for"};
  if (product.getRoundsA() || isForSplitRows(product).choice)
    return {false, "multiplies its rows as bytes"};
  const int64_t rows = productOf(shapeOf(product.getA()).drop_back());
  if (ShapedType::isDynamic(rows))
    return {false, "has an open number of rows"};
  if (rows <= threshold::unpackedFewRows)
    return {false, "has few rows, which wait for weights"};
  const int64_t most = threshold::packedRowsFactor *
                       threshold::packedWeights(Machine(product).numbers);
  if (allWeights > most)
    return {false, "belongs to a model with more than " + std::to_string(most) +
                       " weights of few bits, which take much space as floats"};
  return {true, "has several rows and few weights, which are read as floats"};
}

Answer<bool> cpu::isLoopForPackedWeights(nn::MatMulOp product,
                                         int64_t weights) {
  if (weights > threshold::packedWeights(Machine(product).numbers))
    return {true, "is in a loop with many weights"};
  return {false, "is in a loop with few weights, which a cache holds as floats "
                 "for all steps"};
}

Answer<bool> cpu::isForPackedTable(nn::GatherOp op) {
  if (productOf(shapeOf(op.getX())) < threshold::packedTable)
    return {false, "has a small table, which does not pay for converting rows"};
  return {true, "has a large table"};
}
