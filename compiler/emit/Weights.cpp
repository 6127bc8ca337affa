//===- Weights.cpp - the block of weights ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Emit.h"

#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Constants.h"
#include "runtime/format/Sha256.h"
#include "runtime/format/XxHash64.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ingot;

/// Calls `write` with the bytes of the weights in order, and with zeros for
/// gaps. Does not copy large constants.
static LogicalResult
forEachPiece(ModuleOp module, function_ref<void(ArrayRef<char>)> write) {
  MLIRContext *context = module.getContext();
  ArrayAttr weights = IngotDialect::WeightsAttrHelper(context).getAttr(module);
  if (!weights)
    return success();
  static const char zeros[64] = {};
  int64_t at = 0;
  auto padTo = [&](int64_t offset) {
    for (; at < offset; at += std::min<int64_t>(offset - at, 64))
      write(ArrayRef(zeros, std::min<int64_t>(offset - at, 64)));
  };
  for (auto weight : weights.getAsRange<WeightAttr>()) {
    ElementsAttr value = weight.getValue();
    padTo(weight.getOffset());
    // A large splat constant is not stored in full, so write it in pieces.
    int64_t left = value.getNumElements();
    constexpr int64_t kMaxPiece = 1 << 16;
    if (auto dense = dyn_cast<DenseElementsAttr>(value);
        dense && dense.isSplat() && left > kMaxPiece)
      value = dense.resizeSplat(
          RankedTensorType::get({kMaxPiece}, dense.getElementType()));
    std::vector<char> storage;
    std::optional<ArrayRef<char>> bytes = nn::getRawBytes(value, storage);
    if (!bytes)
      return emitError(module.getLoc(), "weights cannot be read");
    int64_t width = nn::elementBytes(value.getElementType());
    for (int64_t bytesLeft = left * width; bytesLeft > 0;) {
      ArrayRef<char> piece =
          bytes->take_front(std::min<int64_t>(bytesLeft, bytes->size()));
      write(piece);
      at += piece.size();
      bytesLeft -= piece.size();
    }
  }
  padTo(IngotDialect::WeightsBytesAttrHelper(context).getAttr(module).getInt());
  return success();
}

uint64_t ingot::appendWeights(ModuleOp module, ModuleOp further) {
  MLIRContext *context = module.getContext();
  IngotDialect::WeightsAttrHelper weights(context);
  IngotDialect::WeightsBytesAttrHelper size(context);
  auto bytesOf = [&](ModuleOp one) {
    IntegerAttr bytes = size.getAttr(one);
    return bytes ? bytes.getInt() : 0;
  };
  const int64_t offset =
      llvm::alignTo(bytesOf(module), uint64_t(INGOT_ABI_ALIGNMENT));
  SmallVector<Attribute> all;
  if (ArrayAttr own = weights.getAttr(module))
    llvm::append_range(all, own);
  if (ArrayAttr added = weights.getAttr(further))
    for (auto weight : added.getAsRange<WeightAttr>())
      all.push_back(WeightAttr::get(context, offset + weight.getOffset(),
                                    weight.getValue()));
  Builder b(context);
  weights.setAttr(module, b.getArrayAttr(all));
  size.setAttr(module, b.getI64IntegerAttr(offset + bytesOf(further)));
  return uint64_t(offset);
}

LogicalResult ingot::writeWeights(ModuleOp module, raw_ostream &out) {
  return forEachPiece(module, [&](ArrayRef<char> bytes) {
    out.write(bytes.data(), bytes.size());
  });
}

// Does not use llvm::SHA256, whose bit counter has only 32 bits.
std::array<uint8_t, 32> ingot::hashWeights(ModuleOp module) {
  rt::Sha256 hash;
  (void)forEachPiece(module, [&](ArrayRef<char> bytes) {
    hash.update(bytes.data(), bytes.size());
  });
  uint8_t digest[32];
  hash.finish(digest);
  std::array<uint8_t, 32> result;
  llvm::copy(digest, result.begin());
  return result;
}

uint64_t ingot::checksumWeights(ModuleOp module) {
  rt::XxHash64 hash;
  (void)forEachPiece(module, [&](ArrayRef<char> bytes) {
    hash.update(bytes.data(), bytes.size());
  });
  return hash.digest();
}
