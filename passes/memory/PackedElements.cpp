//===- PackedElements.cpp - elements of less than a byte ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/memory/PackedElements.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;

namespace {

/// Builds scalar arithmetic on indices and integers.
struct Scalars {
  OpBuilder &b;
  Location loc;

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value number(Type type, int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  }
  template <typename Op> Value make(Value x, Value y) {
    return Op::create(b, loc, x, y);
  }
  Value toWord(Value x, Type word) {
    return arith::IndexCastUIOp::create(b, loc, word, x);
  }
};

} // namespace

OpFoldResult ingot::countElements(OpBuilder &b, Location loc,
                                  ArrayRef<OpFoldResult> sizes) {
  AffineExpr product = b.getAffineConstantExpr(1);
  for (size_t i = 0; i < sizes.size(); ++i)
    product = product * b.getAffineSymbolExpr(i);
  return affine::makeComposedFoldedAffineApply(b, loc, product, sizes);
}

OpFoldResult ingot::packedBytes(OpBuilder &b, Location loc, OpFoldResult count,
                                int64_t bits) {
  AffineExpr bytes = (b.getAffineSymbolExpr(0) * bits).ceilDiv(8);
  return affine::makeComposedFoldedAffineApply(b, loc, bytes, count);
}

/// Creates a linalg.generic that computes each element from its indices.
static Value
generate(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes,
         ValueRange inputs, ArrayRef<AffineMap> inputMaps,
         llvm::function_ref<Value(Scalars, ValueRange indices, ValueRange)>
             element) {
  Value init = tensor::EmptyOp::create(b, loc, sizes, b.getI8Type());
  SmallVector<AffineMap> maps(inputMaps);
  maps.push_back(b.getMultiDimIdentityMap(sizes.size()));
  SmallVector<utils::IteratorType> iterators(sizes.size(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, init.getType(), inputs, init, maps, iterators,
             [&](OpBuilder &nested, Location loc, ValueRange args) {
               SmallVector<Value> indices;
               for (size_t i = 0; i < sizes.size(); ++i)
                 indices.push_back(linalg::IndexOp::create(nested, loc, i));
               linalg::YieldOp::create(
                   nested, loc, element({nested, loc}, indices, args));
             })
      .getResult(0);
}

/// Unpacks elements of 1, 2 or 4 bits, which never span two bytes. Reads each
/// byte once.
static Value unpackWhole(OpBuilder &b, Location loc, Value bytes,
                         OpFoldResult count, int64_t bits) {
  OpFoldResult numBytes = tensor::getMixedSize(b, loc, bytes, 0);
  int64_t each = 8 / bits;
  Value groups = generate(
      b, loc, {numBytes, b.getIndexAttr(each)}, bytes,
      AffineMap::get(2, 0, b.getAffineDimExpr(0)),
      [&](Scalars s, ValueRange indices, ValueRange args) {
        Value shift = s.toWord(
            s.make<arith::MulIOp>(indices[1], s.index(bits)), b.getI8Type());
        return s.make<arith::ShRUIOp>(args[0], shift);
      });
  Value flat = tensor::CollapseShapeOp::create(
      b, loc, groups, ArrayRef<ReassociationIndices>{{0, 1}});
  // Return early, because a slice of an empty tensor has no valid offset.
  if (getConstantIntValue(count) ==
      cast<RankedTensorType>(flat.getType()).getDimSize(0))
    return flat;
  OpFoldResult none = b.getIndexAttr(0), one = b.getIndexAttr(1);
  return tensor::ExtractSliceOp::create(
      b, loc, flat, ArrayRef<OpFoldResult>{none}, ArrayRef<OpFoldResult>{count},
      ArrayRef<OpFoldResult>{one});
}

/// Unpacks elements that may span two bytes.
static Value unpackAcross(OpBuilder &b, Location loc, Value bytes,
                          OpFoldResult count, int64_t bits) {
  return generate(
      b, loc, count, {}, {},
      [&](Scalars s, ValueRange indices, ValueRange) -> Value {
        Type word = s.b.getI16Type();
        Value at = s.make<arith::MulIOp>(indices[0], s.index(bits));
        Value byte = s.make<arith::DivUIOp>(at, s.index(8));
        Value shift =
            s.toWord(s.make<arith::RemUIOp>(at, s.index(8)), word);
        Value last = s.make<arith::SubIOp>(
            tensor::DimOp::create(s.b, s.loc, bytes, 0), s.index(1));
        Value next = s.make<arith::MinUIOp>(
            s.make<arith::AddIOp>(byte, s.index(1)), last);
        auto read = [&](Value i) -> Value {
          Value x = tensor::ExtractOp::create(s.b, s.loc, bytes, i);
          return arith::ExtUIOp::create(s.b, s.loc, word, x);
        };
        Value both = s.make<arith::OrIOp>(
            read(byte),
            s.make<arith::ShLIOp>(read(next), s.number(word, 8)));
        return arith::TruncIOp::create(
            s.b, s.loc, s.b.getI8Type(),
            s.make<arith::ShRUIOp>(both, shift));
      });
}

/// Returns one reassociation group of all dimensions.
static SmallVector<ReassociationIndices> oneGroup(int64_t rank) {
  if (rank == 0)
    return {};
  return {llvm::to_vector<2>(llvm::seq<int64_t>(0, rank))};
}

Value ingot::unpackElements(OpBuilder &b, Location loc, Value bytes,
                            RankedTensorType type,
                            ArrayRef<OpFoldResult> sizes, int64_t bits) {
  OpFoldResult count = countElements(b, loc, sizes);
  Value flat = 8 % bits == 0 ? unpackWhole(b, loc, bytes, count, bits)
                             : unpackAcross(b, loc, bytes, count, bits);
  if (type.getRank() == 0)
    return tensor::CollapseShapeOp::create(b, loc, type, flat,
                                           ArrayRef<ReassociationIndices>());
  if (type.getRank() > 1)
    flat = tensor::ExpandShapeOp::create(b, loc, type, flat,
                                         oneGroup(type.getRank()), sizes);
  return flat;
}

Value ingot::packElements(OpBuilder &b, Location loc, Value elements,
                          int64_t bits) {
  auto type = cast<RankedTensorType>(elements.getType());
  Value flat = elements;
  if (type.getRank() == 0)
    flat = tensor::ExpandShapeOp::create(b, loc, type.clone({1}), elements,
                                         ArrayRef<ReassociationIndices>());
  else if (type.getRank() > 1)
    flat = tensor::CollapseShapeOp::create(b, loc, elements,
                                           oneGroup(type.getRank()));
  OpFoldResult count = tensor::getMixedSize(b, loc, flat, 0);
  return generate(
      b, loc, packedBytes(b, loc, count, bits), {}, {},
      [&](Scalars s, ValueRange indices, ValueRange) -> Value {
        Type word = s.b.getI16Type();
        Value from = s.make<arith::MulIOp>(indices[0], s.index(8));
        Value first = s.make<arith::DivUIOp>(from, s.index(bits));
        Value total = getValueOrCreateConstantIndexOp(s.b, s.loc, count);
        Value last = s.make<arith::SubIOp>(total, s.index(1));
        Value sum = s.number(word, 0);
        // Elements of six bits span bytes: parts of two elements make a byte.
        for (int64_t k = 0, e = 8 % bits ? 2 : 8 / bits; k < e; ++k) {
          Value i = s.make<arith::AddIOp>(first, s.index(k));
          Value code = tensor::ExtractOp::create(
              s.b, s.loc, flat, s.make<arith::MinUIOp>(i, last));
          code = arith::ExtUIOp::create(s.b, s.loc, word, code);
          code = s.make<arith::AndIOp>(code,
                                       s.number(word, (1 << bits) - 1));
          Value isThere = s.make<arith::MinUIOp>(
              s.make<arith::SubIOp>(total, s.make<arith::MinUIOp>(i, total)),
              s.index(1));
          code = s.make<arith::MulIOp>(code, s.toWord(isThere, word));
          sum = s.make<arith::OrIOp>(
              sum,
              s.make<arith::ShLIOp>(code, s.number(word, k * bits)));
        }
        Value skipped = s.make<arith::SubIOp>(
            from, s.make<arith::MulIOp>(first, s.index(bits)));
        sum = s.make<arith::ShRUIOp>(sum, s.toWord(skipped, word));
        return arith::TruncIOp::create(s.b, s.loc, s.b.getI8Type(), sum);
      });
}
