//===- DepthwiseInt8Weights.cpp - depthwise weights in groups -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights in the form in which DepthwiseInt8.cpp multiplies them. Each element
// of a vector of channels holds the weights of two taps as int16, or of four
// taps as int8. They are on the stack of a task.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/depthwise/DepthwiseInt8.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/cpu/products/PairProducts.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

static VectorType integersOf(IndexBuilder &b, int64_t size) {
  return VectorType::get({size}, b.b.getI32Type());
}

/// Returns `sum` minus the zero point times the sum of each group of `weights`.
Value DepthwiseInt8::takeZeroPointOff(Value weights, Value sum) {
  int64_t zeroPoint = op.getSrcZeroPoint();
  auto type = cast<VectorType>(weights.getType());
  if (kernel.isGroupsOfFour()) {
    Value zeroPoints =
        splatInt(b, type, int32_t(uint32_t(zeroPoint) * 0x01010101u));
    Value products =
        multiplyAddGroupsOfFour(b, zeroPoints, weights, splatInt(b, type, 0));
    return arith::SubIOp::create(b.b, b.loc, sum, products);
  }
  Value words = asInt16(b, weights);
  Value zeroPoints = splatInt(b, cast<VectorType>(words.getType()), zeroPoint);
  return arith::SubIOp::create(b.b, b.loc, sum,
                               multiplyPairs(b, zeroPoints, words));
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

int64_t DepthwiseInt8::rowsAbove() const {
  int64_t rows = support::productOf(window.kernel.drop_back());
  return rows % groupTaps() == 1 ? rows - 1 : rows;
}

/// Returns the number of groups of rows above each other, for all taps of a
/// row.
int64_t DepthwiseInt8::groupsAbove() const {
  return llvm::divideCeil(rowsAbove(), groupTaps()) * window.kernel.back();
}

/// Returns the number of groups of taps of a last, single row.
int64_t DepthwiseInt8::groupsAlong() const {
  bool isSingle = rowsAbove() != support::productOf(window.kernel.drop_back());
  return isSingle ? llvm::divideCeil(window.kernel.back(), groupTaps()) : 0;
}

/// Returns the number of pixels that have partial sums when the pixel before
/// them is complete.
int64_t DepthwiseInt8::carriedPixels() const {
  int64_t inner = window.inner();
  return (window.kernel[inner] - 1) * window.dilations[inner] /
         window.strides[inner];
}

bool DepthwiseInt8::carriesSums() const {
  return plan.target.numRegisters == 16 &&
         groupsAbove() + groupsAlong() <=
             cpu::threshold::depthwiseUnrolledSteps;
}

/// Returns the number of prepared vectors for a vector of channels, including
/// the initial value of the sums.
int64_t DepthwiseInt8::preparedVectors() const {
  return groupsAbove() + groupsAlong() + (kernel.op.getSrcZeroPoint() != 0);
}

/// Splits the channels behind the last whole tile into blocks. A block may
/// overlap the previous one, and then computes some channels twice. This is not
/// allowed if dst may alias an operand of the epilogue.
void DepthwiseInt8::findLastBlocks() {
  int64_t channels = output.dst.shape.back(), lanes = plan.target.lanes;
  numPlaces = std::min(plan.tiles, plan.tilesPerBlock) * kernel.columns();
  endBlocks = channels / kernel.columns() * kernel.columns();
  bool mayOverlap = output.mayStoreAgain();
  while (channels - endBlocks >= (mayOverlap ? 1 : lanes)) {
    int64_t left = channels - endBlocks;
    int64_t vectors = mayOverlap ? llvm::divideCeil(left, lanes) : left / lanes;
    // Makes blocks of one, two or four vectors.
    vectors = mayOverlap ? llvm::bit_ceil(uint64_t(vectors))
                         : llvm::bit_floor(uint64_t(vectors));
    while (vectors * lanes > channels)
      vectors /= 2;
    if (vectors == 0)
      break;
    ByteBlock block{lanes, vectors};
    int64_t first = std::min(endBlocks, channels - block.channels());
    lastBlocks.push_back({first, vectors, numPlaces,
                          BlockStore(b, output, block, block.channels())});
    numPlaces += block.channels();
    endBlocks = first + block.channels();
  }
}

//===----------------------------------------------------------------------===//
// Filling the scratch
//===----------------------------------------------------------------------===//

void DepthwiseInt8::prepare(Index firstTile, Index endTile) {
  int64_t channels = output.dst.shape.back(), lanes = plan.target.lanes;
  if (!int16Weights)
    int16Weights =
        createScratch(b, 2 * numPlaces * preparedVectors(), b.b.getI32Type());
  firstWords = b.mul(firstTile, kernel.columns());
  endWords = b.min(b.mul(endTile, kernel.columns()),
                   channels / kernel.columns() * kernel.columns());
  ByteBlock block{lanes, plan.tile.vectors};
  forEach(b, firstWords, endWords, kernel.columns(), [&](Value channel) {
    prepareWeights(block, Index(channel), b.sub(Index(channel), firstWords));
  });
  if (kernel.blocks)
    kernel.blocks->prepare(b, firstWords, endWords);
  if (columns)
    columns->prepare();
  if (lastBlocks.empty())
    return;
  b.branch(b.compare(arith::CmpIPredicate::eq, endTile, plan.tiles), [&] {
    for (LastBlock &last : lastBlocks) {
      prepareWeights({lanes, last.vectors}, last.channel, last.place);
      last.store.prepare(b, last.channel, last.channel + last.vectors * lanes);
    }
  });
}

/// Prepares the weights of a block; `place` is the index of its first channel
/// in the scratch buffer.
void DepthwiseInt8::prepareWeights(const ByteBlock &block, Index channel,
                                   Index place) {
  int64_t along = window.kernel.back(), above = groupsAbove();
  int64_t taps = groupTaps(), bits = 32 / taps;
  Index tapStride = weights.strides[weights.strides.size() - 2];
  VectorType all = integersOf(b, block.channels());
  // Loads the weights of a tap, in the linear order of all dimensions.
  auto loadTap = [&](int64_t tap) -> Value {
    Type stored = cast<MemRefType>(weights.data.getType()).getElementType();
    Value loaded =
        vector::LoadOp::create(b.b, b.loc, all.clone(stored), weights.data,
                               b.get(b.add(b.mul(tapStride, tap), channel)));
    if (stored.isInteger())
      return arith::ExtSIOp::create(b.b, b.loc, all, loaded);
    return arith::FPToSIOp::create(b.b, b.loc, all, loaded);
  };
  SmallVector<Value> starts(block.vectors,
                            splatInt(b, integersOf(b, block.lanes), 0));
  int64_t zeroPoint = op.getSrcZeroPoint();
  Index to = b.mul(place, preparedVectors());
  auto store = [&](Value vector, int64_t v, int64_t i) {
    vector::StoreOp::create(
        b.b, b.loc, vector, int16Weights,
        b.get(b.add(to, (v * preparedVectors() + i) * block.lanes)));
  };
  // Returns the taps of a group, which lie above each other or along the last
  // row.
  auto tapsOf = [&](int64_t group) {
    SmallVector<int64_t> found;
    for (int64_t i = 0; i < taps; ++i) {
      bool isAbove = group < above;
      int64_t row = isAbove ? group / along * taps + i : rowsAbove();
      int64_t tap = isAbove ? group % along : (group - above) * taps + i;
      if (isAbove ? row < rowsAbove() : tap < along)
        found.push_back(row * along + tap);
    }
    return found;
  };
  for (int64_t group = 0; group < above + groupsAlong(); ++group) {
    Value joined;
    for (auto [i, tap] : llvm::enumerate(tapsOf(group))) {
      Value weight = loadTap(tap);
      // The last weight needs no mask, because its upper bits are shifted out.
      if (int64_t(i) != taps - 1)
        weight = arith::AndIOp::create(
            b.b, b.loc, weight, splatInt(b, all, (int64_t(1) << bits) - 1));
      if (i != 0)
        weight = arith::ShLIOp::create(b.b, b.loc, weight,
                                       splatInt(b, all, int64_t(i) * bits));
      if (joined)
        weight = arith::OrIOp::create(b.b, b.loc, joined, weight);
      joined = weight;
    }
    for (auto [v, vector] :
         llvm::enumerate(inUnpackedOrder(b, block, joined))) {
      store(vector, v, group);
      if (zeroPoint != 0)
        starts[v] = takeZeroPointOff(vector, starts[v]);
    }
  }
  if (zeroPoint != 0)
    for (auto [v, start] : llvm::enumerate(starts))
      store(start, v, preparedVectors() - 1);
}

/// Copies the weights and clears those of missing rows, if a row of src is
/// missing.
void DepthwiseInt8::maskWeights() {
  weightsOfRow = 0;
  Value all;
  for (Value isThere : kernel.sources.areThere)
    all = b.both(all, isThere);
  if (!all)
    return;
  int64_t lanes = plan.target.lanes, prepared = preparedVectors();
  int64_t copy = numPlaces * prepared;
  weightsOfRow = b.select(all, 0, copy);
  Type integer = b.b.getI32Type();
  VectorType type = integersOf(b, lanes);
  auto bitsIf = [&](Value isThere, int32_t bits) -> Value {
    Value set =
        arith::ConstantOp::create(b.b, b.loc, b.b.getI32IntegerAttr(bits));
    if (!isThere)
      return set;
    Value none =
        arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(integer));
    return arith::SelectOp::create(b.b, b.loc, isThere, set, none);
  };
  auto fill = [&] {
    SmallVector<Value> masks;
    int64_t taps = groupTaps(), bits = 32 / taps, above = rowsAbove();
    ArrayRef<Value> rows = kernel.sources.areThere;
    auto append = [&](int64_t count, Value mask) {
      masks.append(count, vector::BroadcastOp::create(b.b, b.loc, type, mask));
    };
    for (int64_t row = 0; row < above; row += taps) {
      Value mask;
      for (int64_t i = 0; i < std::min(taps, above - row); ++i) {
        int64_t ones = ((int64_t(1) << bits) - 1) << (i * bits);
        Value set = bitsIf(rows[row + i], int32_t(uint32_t(ones)));
        if (mask)
          set = arith::OrIOp::create(b.b, b.loc, mask, set);
        mask = set;
      }
      append(window.kernel.back(), mask);
    }
    if (groupsAlong() != 0)
      append(groupsAlong(), bitsIf(rows[above], -1));
    auto maskVector = [&](Value place) {
      Index from = b.mul(Index(place), prepared);
      Value start = splatInt(b, type, 0);
      bool isOffset = op.getSrcZeroPoint() != 0;
      for (auto [i, mask] : llvm::enumerate(masks)) {
        Index at = b.add(from, int64_t(i) * lanes);
        Value kept = arith::AndIOp::create(
            b.b, b.loc,
            vector::LoadOp::create(b.b, b.loc, type, int16Weights, b.get(at)),
            mask);
        vector::StoreOp::create(b.b, b.loc, kept, int16Weights,
                                b.get(b.add(at, copy)));
        if (isOffset)
          start = takeZeroPointOff(kept, start);
      }
      if (isOffset)
        vector::StoreOp::create(
            b.b, b.loc, start, int16Weights,
            b.get(b.add(from, copy + (prepared - 1) * lanes)));
    };
    forEach(b, 0, b.sub(endWords, firstWords), lanes, maskVector);
    if (!lastBlocks.empty())
      forEach(b, lastBlocks.front().place, numPlaces, lanes, maskVector);
  };
  b.branch(
      all, [] {}, fill);
}
