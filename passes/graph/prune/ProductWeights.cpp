//===- ProductWeights.cpp - weights by output and input channel -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/graph/prune/ProductWeights.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"

#include "llvm/Support/Endian.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cstring>

using namespace mlir;
using namespace ingot;
using namespace ingot::graph;

std::optional<ProductWeights> ProductWeights::of(Operation *op) {
  if (!isa<nn::ConvOp, nn::ConvTransposeOp, nn::MatMulOp>(op))
    return std::nullopt;
  ProductWeights weights;
  weights.attr = nn::getConstant(op->getOperand(1));
  if (!weights.attr)
    return std::nullopt;
  auto type = cast<RankedTensorType>(weights.attr.getType());
  Type element = type.getElementType();
  if ((!element.isF32() && !element.isF64()) || type.getNumElements() == 0)
    return std::nullopt;
  weights.width = nn::elementBytes(element);
  if (auto conv = dyn_cast<nn::ConvOp>(op)) {
    weights.groups = conv.getGroups();
  } else if (auto transposed = dyn_cast<nn::ConvTransposeOp>(op)) {
    weights.groups = transposed.getGroups();
    weights.outputsFirst = false;
  } else {
    if (type.getRank() != 2)
      return std::nullopt;
    weights.outputsFirst = cast<nn::MatMulOp>(op).getTransposeB();
  }
  int64_t rows = type.getDimSize(0),
          columns = type.getDimSize(1) * weights.groups;
  weights.outputs = weights.outputsFirst ? rows : columns;
  weights.inputs = weights.outputsFirst ? columns : rows;
  weights.taps = type.getNumElements() / (rows * type.getDimSize(1));
  if (auto dense = dyn_cast<DenseElementsAttr>(weights.attr)) {
    weights.isSplat = dense.isSplat();
    weights.data = dense.getRawData().data();
    return weights;
  }
  std::vector<char> storage;
  auto bytes = nn::getRawBytes(weights.attr, storage);
  if (!bytes || !storage.empty())
    return std::nullopt;
  weights.data = bytes->data();
  return weights;
}

const char *ProductWeights::at(int64_t output, int64_t input) const {
  if (isSplat)
    return data;
  int64_t index = outputsFirst
                      ? output * inputsOfGroup() + input % inputsOfGroup()
                      : input * outputsOfGroup() + output % outputsOfGroup();
  return data + index * taps * width;
}

double ProductWeights::read(const char *element) const {
  using namespace llvm::support::endian;
  return width == 4 ? double(llvm::bit_cast<float>(read32le(element)))
                    : llvm::bit_cast<double>(read64le(element));
}

bool ProductWeights::isZero(int64_t output, int64_t input) const {
  const char *element = at(output, input);
  for (int64_t t = 0; t < (isSplat ? 1 : taps); ++t)
    if (read(element + t * width) != 0)
      return false;
  return true;
}

double ProductWeights::sum(int64_t output, int64_t input) const {
  const char *element = at(output, input);
  if (isSplat)
    return taps * read(element);
  double sum = 0;
  for (int64_t t = 0; t < taps; ++t)
    sum += read(element + t * width);
  return sum;
}

/// Counts zeros by comparing bits without the sign bit, a form that compilers
/// can vectorize.
template <typename Bits>
static int64_t countZerosIn(const char *data, int64_t count) {
  int64_t zeros = 0;
  for (int64_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, data + i * sizeof(Bits), sizeof(Bits));
    zeros += Bits(bits << 1) == 0;
  }
  return zeros;
}

int64_t ProductWeights::countZeros() const {
  if (isSplat)
    return read(data) == 0 ? count() : 0;
  return width == 4 ? countZerosIn<uint32_t>(data, count())
                    : countZerosIn<uint64_t>(data, count());
}

Value ProductWeights::select(OpBuilder &builder, Location loc,
                             ArrayRef<int64_t> keptOutputs,
                             ArrayRef<int64_t> keptInputs) const {
  auto groupOf = [&](int64_t channel, bool isOutput) {
    return isOutput ? groupOfOutput(channel) : groupOfInput(channel);
  };
  ArrayRef<int64_t> rows = outputsFirst ? keptOutputs : keptInputs;
  std::vector<SmallVector<int64_t>> columns(groups);
  for (int64_t column : outputsFirst ? keptInputs : keptOutputs)
    columns[groupOf(column, !outputsFirst)].push_back(column);

  auto old = cast<RankedTensorType>(attr.getType());
  SmallVector<int64_t> shape(old.getShape());
  shape[0] = rows.size();
  shape[1] = columns[groupOf(rows.front(), outputsFirst)].size();
  auto type = RankedTensorType::get(shape, old.getElementType());
  ElementsAttr selected;
  if (isSplat) {
    selected = cast<DenseElementsAttr>(attr).resizeSplat(type);
  } else {
    std::vector<char> bytes;
    bytes.reserve(type.getNumElements() * width);
    for (int64_t row : rows)
      for (int64_t column : columns[groupOf(row, outputsFirst)]) {
        const char *from =
            outputsFirst ? at(row, column) : at(column, row);
        bytes.insert(bytes.end(), from, from + taps * width);
      }
    selected = nn::makeConstantAttr(type, std::move(bytes));
  }
  return arith::ConstantOp::create(builder, loc, type, selected);
}
