//===- CpuWeights.cpp - formats of stored weights -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuVerify.h"
#include "dialects/cpu/PackedWeights.h"
#include "dialects/cpu/Signs.h"

using namespace mlir;
using namespace ingot::cpu;

//===----------------------------------------------------------------------===//
// The attribute
//===----------------------------------------------------------------------===//

int64_t WeightsAttr::getBits() const {
  assert(getKind() == WeightsKind::bits && "weights are of some bits");
  return getSize();
}

int64_t WeightsAttr::getSignChannels() const {
  assert(isSigns() && "weights are signs");
  return getSize();
}

int64_t WeightsAttr::getOutputs() const {
  assert(getKind() == WeightsKind::winograd && "weights are transformed");
  return getSize();
}

bool WeightsAttr::implies(StringRef name) const {
  return (name == "pairs" && getPairs()) || (name == "blocks" && isBlocks()) ||
         (name == "scales" && getKind() == WeightsKind::bits);
}

WeightsAttr WeightsAttr::withPairs(ArrayRef<int64_t> counts) const {
  return get(getContext(), getKind(), getSize(), getBlockSize(), true,
             DenseI64ArrayAttr::get(getContext(), counts), getExactTiles());
}

WeightsAttr WeightsAttr::withoutPairCounts() const {
  return get(getContext(), getKind(), getSize(), getBlockSize(), getPairs(),
             DenseI64ArrayAttr(), getExactTiles());
}

WeightsAttr WeightsAttr::withExactTiles(int64_t outputs) const {
  return get(getContext(), getKind(), getSize(), getBlockSize(), getPairs(),
             getPairCounts(), outputs);
}

WeightsAttr WeightsAttr::withoutStatements() const {
  return get(getContext(), getKind(), getSize(), getBlockSize());
}

/// Verifies the size that a format states: of a weight, of a pixel, or of a
/// tile.
static LogicalResult verifySize(function_ref<InFlightDiagnostic()> emitError,
                                WeightsKind kind, int64_t size) {
  switch (kind) {
  case WeightsKind::bits:
    if (size != 2 && size != 4 && size != 8)
      return emitError() << "expects 2, 4 or 8 bits, but got " << size;
    return success();
  case WeightsKind::signs:
    if (size < 1)
      return emitError() << "expects signs of at least 1 channel, but got "
                         << size;
    return success();
  case WeightsKind::winograd:
    if (size != 2 && size != 4)
      return emitError() << "expects Winograd tiles of 2 or 4, but got "
                         << size;
    return success();
  case WeightsKind::panels:
  case WeightsKind::blocks:
    if (size != 0)
      return emitError() << "expects no size of " << stringifyEnum(kind)
                         << ", but got " << size;
    return success();
  }
  llvm_unreachable("all kinds are listed");
}

LogicalResult WeightsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  WeightsKind kind, int64_t size,
                                  int64_t blockSize, bool pairs,
                                  DenseI64ArrayAttr pairCounts,
                                  int64_t exactTiles) {
  if (failed(verifySize(emitError, kind, size)))
    return failure();
  if (kind == WeightsKind::bits) {
    if (blockSize < 1)
      return emitError() << "expects block_size of at least 1, but got "
                         << blockSize;
  } else if (blockSize != 0) {
    return emitError() << "expects block_size only for bits, but got "
                       << blockSize << " for " << stringifyEnum(kind);
  }
  if (kind != WeightsKind::panels && (pairs || exactTiles != 0))
    return emitError() << "expects pairs and exact_tiles only for panels, but "
                          "got "
                       << stringifyEnum(kind);
  if (exactTiles != 0 && exactTiles != 2 && exactTiles != 4)
    return emitError() << "expects exact_tiles of 2 or 4, but got "
                       << exactTiles;
  if (!pairCounts)
    return success();
  if (!pairs)
    return emitError() << "expects pair_counts only beside pairs";
  if (pairCounts.size() != int64_t(kPairCounts))
    return emitError() << "expects " << kPairCounts << " pair_counts, but got "
                       << pairCounts.size();
  return success();
}

//===----------------------------------------------------------------------===//
// Ops with the attribute
//===----------------------------------------------------------------------===//

LogicalResult checks::verifyFormat(Operation *op, WeightsAttr format,
                                   ArrayRef<WeightsKind> kinds,
                                   ArrayRef<NamedOperand> operands) {
  if (!llvm::is_contained(kinds, format.getKind())) {
    InFlightDiagnostic diagnostic = op->emitOpError("expects weights in ");
    llvm::interleave(
        kinds, [&](WeightsKind kind) { diagnostic << stringifyEnum(kind); },
        [&] { diagnostic << " or "; });
    return diagnostic << ", but got " << stringifyEnum(format.getKind());
  }
  for (auto [name, value] : operands)
    if (bool(value) != format.implies(name))
      return op->emitOpError("expects ")
             << (value ? "no " : "") << name << " for weights in " << format;
  return success();
}

LogicalResult checks::verifyPairs(Operation *op, Value packed, Value pairs,
                                  int64_t depth) {
  if (!pairs)
    return success();
  PackedWeights weights(packed);
  if (!weights.element.isInteger(8) || depth % weights.group != 0)
    return op->emitOpError(
               "expects pairs for weights of i8 in groups of 4, but got ")
           << depth << " of " << weights.element;
  SmallVector<int64_t> want(weights.outer);
  want.push_back(weights.depth / weights.group);
  ShapedType type = typeOf(pairs);
  if (type.getElementType().isInteger(8) && type.getShape() == ArrayRef(want))
    return success();
  return op->emitOpError("expects pairs of i8 with an element for each four "
                         "weights of a column, but got ")
         << type;
}

LogicalResult checks::verifySigns(Operation *op, WeightsAttr format,
                                  Value weights, int64_t words) {
  int64_t signs = format.getSignChannels();
  if (planesOf(signs, words) == 0)
    return op->emitOpError("expects ")
           << signWords(signs) << " or " << pixelWords(signs)
           << " words of a pixel, but got " << words;
  return expectSize(op, "words of weights", signWords(signs),
                    PackedWeights(weights).depth);
}
