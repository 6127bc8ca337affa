//===- EvaluateMovement.cpp - data movement on constants ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates ops that move elements. Moves elements of all types as bytes.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/EvaluateImpl.h"
#include "dialects/nn/NNDialect.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::nn;

namespace {

/// The bytes of an operand.
struct Source {
  explicit Source(ElementsAttr attr)
      : shape(cast<RankedTensorType>(attr.getType()).getShape()),
        width(elementBytes(attr.getElementType())),
        bytes(getRawBytes(attr, storage)) {}

  const char *at(int64_t element) const {
    return bytes->data() + element * width;
  }

  ArrayRef<int64_t> shape;
  int64_t width;
  std::vector<char> storage;
  std::optional<ArrayRef<char>> bytes;
};

} // namespace

/// Reads `source` at every index of `type`, with `strides`, from offset
/// `start`.
static ElementsAttr readStrided(const Source &source, RankedTensorType type,
                                ArrayRef<int64_t> strides, int64_t start = 0) {
  int64_t count = type.getNumElements();
  std::vector<char> out;
  out.resize(count * source.width);
  StridedOffset offset(type.getShape(), strides, start);
  for (int64_t i = 0; i < count; ++i, ++offset)
    std::copy_n(source.at(*offset), source.width,
                out.begin() + i * source.width);
  return makeConstantAttr(type, std::move(out));
}

static ElementsAttr evaluateTranspose(TransposeOp op, const Source &x,
                                      RankedTensorType type) {
  SmallVector<int64_t> own = stridesOf(x.shape), strides;
  for (int64_t dim : op.getPerm())
    strides.push_back(own[dim]);
  return readStrided(x, type, strides);
}

static ElementsAttr evaluateSlice(SliceOp op, const Source &x,
                                  RankedTensorType type) {
  SmallVector<int64_t> own = stridesOf(x.shape), strides;
  int64_t start = 0;
  for (auto [d, stride] : llvm::enumerate(own)) {
    start += op.getStarts()[d] * stride;
    strides.push_back(op.getSteps()[d] * stride);
  }
  return readStrided(x, type, strides, start);
}

static ElementsAttr evaluateConcat(ConcatOp op, ArrayRef<ElementsAttr> operands,
                                   RankedTensorType type) {
  int64_t width = elementBytes(type.getElementType());
  int64_t outer = 1, inner = width;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (d < int64_t(op.getAxis()))
      outer *= type.getDimSize(d);
    else if (d > int64_t(op.getAxis()))
      inner *= type.getDimSize(d);
  }
  int64_t row = type.getDimSize(op.getAxis()) * inner, position = 0;
  std::vector<char> out;
  out.resize(outer * row);
  for (ElementsAttr operand : operands) {
    Source source(operand);
    if (!source.bytes)
      return {};
    int64_t part = source.shape[op.getAxis()] * inner;
    for (int64_t i = 0; i < outer; ++i)
      std::copy_n(source.bytes->data() + i * part, part,
                  out.begin() + i * row + position);
    position += part;
  }
  return makeConstantAttr(type, std::move(out));
}

static ElementsAttr evaluatePad(PadOp op, const Source &x, ElementsAttr value,
                                RankedTensorType type) {
  if (op.getMode() != PadMode::constant || !value)
    return {};
  Source fill(value);
  if (!fill.bytes)
    return {};
  int64_t count = type.getNumElements(), rank = type.getRank();
  SmallVector<int64_t> strides = stridesOf(x.shape), index(rank, 0);
  std::vector<char> out;
  out.resize(count * x.width);
  for (int64_t i = 0; i < count; ++i) {
    int64_t offset = 0;
    bool inside = true;
    for (int64_t d = 0; d < rank; ++d) {
      int64_t at = index[d] - op.getLow()[d];
      inside &= at >= 0 && at < x.shape[d];
      offset += at * strides[d];
    }
    std::copy_n(inside ? x.at(offset) : fill.at(0), x.width,
                out.begin() + i * x.width);
    for (int64_t d = rank - 1; d >= 0; --d) {
      if (++index[d] < type.getDimSize(d))
        break;
      index[d] = 0;
    }
  }
  return makeConstantAttr(type, std::move(out));
}

static ElementsAttr evaluateGather(GatherOp op, const Source &x,
                                   ElementsAttr indexAttr,
                                   RankedTensorType type) {
  auto indices = readInts(indexAttr);
  if (!indices)
    return {};
  int64_t axis = op.getAxis(), size = x.shape[axis], outer = 1, inner = x.width;
  for (auto [d, extent] : llvm::enumerate(x.shape))
    if (int64_t(d) != axis)
      (int64_t(d) < axis ? outer : inner) *= extent;
  std::vector<char> out;
  out.reserve(outer * indices->size() * inner);
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t index : *indices) {
      if (index < 0)
        index += size;
      if (index < 0 || index >= size)
        return {};
      const char *from = x.bytes->data() + (i * size + index) * inner;
      out.insert(out.end(), from, from + inner);
    }
  return makeConstantAttr(type, std::move(out));
}

/// Replaces slices. If several updates have equal positions, the last one wins.
static ElementsAttr evaluateScatter(ScatterNDOp op, const Source &x,
                                    ElementsAttr indexAttr,
                                    ElementsAttr updatesAttr,
                                    RankedTensorType type) {
  auto indices = readInts(indexAttr);
  Source updates(updatesAttr);
  if (op.getReduction() != ScatterReduction::none || !indices ||
      !updates.bytes)
    return {};
  auto places = cast<RankedTensorType>(indexAttr.getType());
  int64_t depth = places.getShape().back();
  SmallVector<int64_t> strides = stridesOf(x.shape);
  int64_t inner = x.width;
  for (int64_t size : x.shape.drop_front(depth))
    inner *= size;
  std::vector<char> out(x.bytes->begin(), x.bytes->end());
  for (int64_t i = 0; depth && i < int64_t(indices->size()) / depth; ++i) {
    int64_t at = 0;
    for (int64_t d = 0; d < depth; ++d) {
      int64_t index = (*indices)[i * depth + d], size = x.shape[d];
      if (index < 0)
        index += size;
      if (index < 0 || index >= size)
        return {};
      at += index * strides[d];
    }
    std::copy_n(updates.bytes->data() + i * inner, inner,
                out.begin() + at * x.width);
  }
  return depth ? makeConstantAttr(type, std::move(out)) : ElementsAttr();
}

static ElementsAttr evaluateSelect(ArrayRef<ElementsAttr> operands,
                                   RankedTensorType type) {
  Source condition(operands[0]), a(operands[1]), b(operands[2]);
  if (!condition.bytes || !a.bytes || !b.bytes)
    return {};
  ArrayRef<int64_t> shape = type.getShape();
  StridedOffset atCondition(shape, broadcastStrides(condition.shape, shape)),
      atA(shape, broadcastStrides(a.shape, shape)),
      atB(shape, broadcastStrides(b.shape, shape));
  std::vector<char> out;
  out.resize(type.getNumElements() * a.width);
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i) {
    const char *from = *condition.at(*atCondition) ? a.at(*atA) : b.at(*atB);
    std::copy_n(from, a.width, out.begin() + i * a.width);
    ++atCondition;
    ++atA;
    ++atB;
  }
  return makeConstantAttr(type, std::move(out));
}

/// Returns the elements with another shape.
static ElementsAttr retype(ElementsAttr attr, const Source &x,
                           RankedTensorType type) {
  if (auto dense = dyn_cast<DenseElementsAttr>(attr))
    return dense.reshape(type);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  return makeConstantAttr(type,
                          std::vector<char>(x.bytes->begin(), x.bytes->end()));
}

ElementsAttr nn::evaluateMovement(Operation *op,
                                  ArrayRef<ElementsAttr> operands,
                                  RankedTensorType type) {
  if (!isa<TransposeOp, ReshapeOp, BroadcastToOp, ConcatOp, SliceOp, PadOp,
           GatherOp, ScatterNDOp, SelectOp, tensor::CastOp>(op))
    return {};
  if (type.getNumElements() == 0)
    return makeConstantAttr(type, std::vector<char>());
  if (auto concat = dyn_cast<ConcatOp>(op))
    return evaluateConcat(concat, operands, type);
  if (isa<SelectOp>(op))
    return evaluateSelect(operands, type);

  // A splat stays a splat, which takes no memory.
  if (isSplat(operands[0]) &&
      isa<TransposeOp, ReshapeOp, BroadcastToOp, SliceOp, tensor::CastOp>(op))
    return cast<DenseElementsAttr>(operands[0]).resizeSplat(type);

  Source x(operands[0]);
  if (!x.bytes)
    return {};
  return llvm::TypeSwitch<Operation *, ElementsAttr>(op)
      .Case([&](TransposeOp op) { return evaluateTranspose(op, x, type); })
      .Case([&](SliceOp op) { return evaluateSlice(op, x, type); })
      .Case([&](PadOp op) {
        return evaluatePad(
            op, x, operands.size() > 1 ? operands[1] : ElementsAttr(), type);
      })
      .Case(
          [&](GatherOp op) { return evaluateGather(op, x, operands[1], type); })
      .Case([&](ScatterNDOp op) {
        return evaluateScatter(op, x, operands[1], operands[2], type);
      })
      .Case([&](BroadcastToOp) {
        return readStrided(x, type, broadcastStrides(x.shape, type.getShape()));
      })
      .Default([&](Operation *) { return retype(operands[0], x, type); });
}
