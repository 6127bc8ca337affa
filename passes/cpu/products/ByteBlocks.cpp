//===- ByteBlocks.cpp - rows of bytes unpacked to fours -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/products/ByteBlocks.h"

#include "dialects/cpu/GroupsOfFour.h"
#include "passes/cpu/products/PairProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using cpu::GroupsOfFour;

static constexpr int64_t kTaps = GroupsOfFour::kTaps;
/// The number of bytes, and of 32-bit words, in a lane of 128 bits.
/// Instructions unpack within such lanes.
static constexpr int64_t kUnitBytes = 16, kUnitWords = 4;

static Value shuffle(IndexBuilder &b, Value x, Value y,
                     ArrayRef<int64_t> from) {
  return vector::ShuffleOp::create(b.b, b.loc, x, y, from);
}

static Value bitcast(IndexBuilder &b, Value vector, int64_t bits) {
  auto type = cast<VectorType>(vector.getType());
  int64_t all = type.getNumElements() * type.getElementTypeBitWidth();
  return vector::BitCastOp::create(
      b.b, b.loc,
      VectorType::get({all / bits}, b.b.getIntegerType(unsigned(bits))),
      vector);
}

/// Concatenates the elements of both vectors.
static Value concat(IndexBuilder &b, Value x, Value y) {
  int64_t size = cast<VectorType>(x.getType()).getDimSize(0);
  return shuffle(b, x, y, llvm::to_vector(llvm::seq<int64_t>(2 * size)));
}

static SmallVector<Value> withZeroRows(IndexBuilder &b, ArrayRef<Value> rows) {
  SmallVector<Value> all(rows);
  if (all.size() < kTaps)
    all.resize(kTaps, arith::ConstantOp::create(
                          b.b, b.loc, b.b.getZeroAttr(rows[0].getType())));
  return all;
}

//===----------------------------------------------------------------------===//
// Unpacking
//===----------------------------------------------------------------------===//

Value cpu::unpackVector(IndexBuilder &b, ArrayRef<Value> rows) {
  assert(!rows.empty() && rows.size() <= kTaps && "up to four rows");
  auto type = cast<VectorType>(rows[0].getType());
  int64_t units = type.getDimSize(0) / kUnitWords;
  if (rows.size() == 1)
    return arith::ExtUIOp::create(b.b, b.loc, type.clone(b.b.getI32Type()),
                                  rows[0]);
  SmallVector<Value> all = withZeroRows(b, rows);
  Value bytes = concat(b, concat(b, all[0], all[1]), concat(b, all[2], all[3]));
  // Bring four channels of each row to each lane, then join the bytes of each
  // channel.
  SmallVector<int64_t> turned, within;
  for (int64_t unit = 0; unit < units; ++unit)
    for (int64_t row = 0; row < kTaps; ++row)
      turned.push_back(row * units + unit);
  Value runs = bitcast(b, bytes, 32);
  runs = bitcast(b, shuffle(b, runs, runs, turned), 8);
  for (int64_t unit = 0; unit < units; ++unit)
    for (int64_t channel = 0; channel < GroupsOfFour::kRun; ++channel)
      for (int64_t row = 0; row < kTaps; ++row)
        within.push_back(unit * kUnitBytes + row * GroupsOfFour::kRun +
                         channel);
  return bitcast(b, shuffle(b, runs, runs, within), 32);
}

/// Interleaves the elements of the lower (0) or upper (1) half of each lane of
/// x and y.
static Value unpackHalf(IndexBuilder &b, Value x, Value y, int64_t half) {
  auto type = cast<VectorType>(x.getType());
  int64_t size = type.getDimSize(0);
  int64_t perUnit = kUnitBytes * 8 / type.getElementTypeBitWidth();
  SmallVector<int64_t> from;
  for (int64_t unit = 0; unit < size / perUnit; ++unit)
    for (int64_t i = 0; i < perUnit / 2; ++i) {
      int64_t at = unit * perUnit + half * perUnit / 2 + i;
      from.append({at, size + at});
    }
  return shuffle(b, x, y, from);
}

SmallVector<Value> cpu::unpackBlock(IndexBuilder &b, ArrayRef<Value> rows) {
  SmallVector<Value> all = withZeroRows(b, rows), vectors;
  for (int64_t half : {0, 1}) {
    Value first = bitcast(b, unpackHalf(b, all[0], all[1], half), 16);
    Value second = bitcast(b, unpackHalf(b, all[2], all[3], half), 16);
    for (int64_t quarter : {0, 1})
      vectors.push_back(bitcast(b, unpackHalf(b, first, second, quarter), 32));
  }
  return vectors;
}

SmallVector<Value> cpu::unpackPairs(IndexBuilder &b, const ByteBlock &block,
                                    Value first, Value second) {
  assert((first || second) && "a row");
  Value zeros = arith::ConstantOp::create(
      b.b, b.loc, b.b.getZeroAttr((first ? first : second).getType()));
  Value x = first ? first : zeros, y = second ? second : zeros;
  auto widen = [&](Value bytes) -> Value {
    auto type = cast<VectorType>(bytes.getType());
    return arith::ExtUIOp::create(b.b, b.loc, type.clone(b.b.getI16Type()),
                                  bytes);
  };
  switch (block.vectors) {
  case 1: {
    // Interleave both rows in their order.
    SmallVector<int64_t> from;
    for (int64_t i = 0; i < block.lanes; ++i)
      from.append({i, block.lanes + i});
    return {widen(shuffle(b, x, y, from))};
  }
  case 2:
    // Loads widen bytes to int16.
    x = widen(x), y = widen(y);
    return {unpackHalf(b, x, y, 0), unpackHalf(b, x, y, 1)};
  default: {
    SmallVector<Value> vectors;
    for (int64_t half : {0, 1}) {
      Value bytes = unpackHalf(b, x, y, half);
      for (int64_t quarter : {0, 1})
        vectors.push_back(
            bitcast(b, unpackHalf(b, bytes, zeros, quarter), 16));
    }
    return vectors;
  }
  }
}

SmallVector<Value> cpu::unpackGroupsOfFour(IndexBuilder &b,
                                           const ByteBlock &block,
                                           ArrayRef<Value> rows) {
  assert(rows.size() == kTaps && "four rows, some of them zeros");
  const Value *there = llvm::find_if(rows, [](Value row) { return row; });
  assert(there != rows.end() && "a row");
  Value zeros = arith::ConstantOp::create(
      b.b, b.loc, b.b.getZeroAttr(there->getType()));
  SmallVector<Value> all;
  for (Value row : rows)
    all.push_back(row ? row : zeros);
  switch (block.vectors) {
  case 1:
    return {unpackVector(b, all)};
  case 2: {
    // Interleave pairs of all channels as int16, then pairs of the pairs.
    SmallVector<int64_t> inTurn;
    for (int64_t i = 0; i < block.channels(); ++i)
      inTurn.append({i, block.channels() + i});
    Value first = bitcast(b, shuffle(b, all[0], all[1], inTurn), 16);
    Value second = bitcast(b, shuffle(b, all[2], all[3], inTurn), 16);
    return {bitcast(b, unpackHalf(b, first, second, 0), 32),
            bitcast(b, unpackHalf(b, first, second, 1), 32)};
  }
  default:
    return unpackBlock(b, all);
  }
}

int64_t ByteBlock::placeOf(int64_t channel) const {
  int64_t perUnit = kUnitWords * vectors;
  int64_t unit = channel / perUnit, vector = channel % perUnit / kUnitWords;
  return vector * lanes + unit * kUnitWords + channel % kUnitWords;
}

bool ByteBlock::isNatural() const {
  return vectors == 1 || lanes == kUnitWords;
}

SmallVector<Value> cpu::inUnpackedOrder(IndexBuilder &b, const ByteBlock &block,
                                        Value natural) {
  SmallVector<SmallVector<int64_t>> from(
      block.vectors, SmallVector<int64_t>(block.lanes));
  for (int64_t channel = 0; channel < block.channels(); ++channel) {
    int64_t place = block.placeOf(channel);
    from[place / block.lanes][place % block.lanes] = channel;
  }
  SmallVector<Value> vectors;
  for (ArrayRef<int64_t> channels : from)
    vectors.push_back(shuffle(b, natural, natural, channels));
  return vectors;
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

BlockStore::BlockStore(IndexBuilder &b, const Output &output,
                       const ByteBlock &block, int64_t channels)
    : output(output), block(block), packing(output.op) {
  for (const Flat &operand : output.operands) {
    bool isOfChannels = operand.shape.back() == output.dst.shape.back() &&
                        llvm::all_of(operand.shape.drop_back(),
                                     [](int64_t size) { return size == 1; }) &&
                        !block.isNatural();
    prepared.push_back(isOfChannels ? createScratch(b, channels,
                                                    getElementTypeOrSelf(
                                                        operand.data.getType()))
                                    : Value());
  }
}

Value BlockStore::loadBlock(IndexBuilder &b, Value data, Index at) const {
  auto type = VectorType::get(
      {block.channels()}, cast<MemRefType>(data.getType()).getElementType());
  return vector::LoadOp::create(b.b, b.loc, type, data, b.get(at));
}

void BlockStore::prepare(IndexBuilder &b, Index first, Index end) {
  firstPrepared = first;
  Index back = b.mul(first, -1);
  for (size_t i = 0; i < prepared.size(); ++i) {
    Value scratch = prepared[i], data = output.operands[i].data;
    if (!scratch)
      continue;
    forEach(b, first, end, block.channels(), [&](Value channel) {
      Value natural = loadBlock(b, data, Index(channel));
      for (auto [v, vector] :
           llvm::enumerate(inUnpackedOrder(b, block, natural)))
        vector::StoreOp::create(b.b, b.loc, vector, scratch,
                                b.get(b.add(b.add(Index(channel), back),
                                            int64_t(v) * block.lanes)));
    });
  }
}

SmallVector<Value> BlockStore::loadOperand(IndexBuilder &b, size_t i,
                                           ArrayRef<Index> at) const {
  const Flat &operand = output.operands[i];
  Type element = cast<MemRefType>(operand.data.getType()).getElementType();
  auto type = VectorType::get({block.lanes}, element);
  SmallVector<Value> vectors;
  if (Value scratch = prepared[i]) {
    Index from = b.sub(at.back(), firstPrepared);
    for (int64_t v = 0; v < block.vectors; ++v)
      vectors.push_back(
          vector::LoadOp::create(b.b, b.loc, type, scratch,
                                 b.get(b.add(from, v * block.lanes))));
    return vectors;
  }
  SmallVector<Index> coordinates;
  for (auto [size, coordinate] : llvm::zip_equal(operand.shape, at))
    coordinates.push_back(size == 1 ? Index(0) : coordinate);
  Index from = operand.at(b, coordinates);
  if (operand.shape.back() == 1) {
    Value number =
        memref::LoadOp::create(b.b, b.loc, operand.data, b.get(from));
    vectors.assign(block.vectors,
                   vector::BroadcastOp::create(b.b, b.loc, type, number));
    return vectors;
  }
  return inUnpackedOrder(b, block, loadBlock(b, operand.data, from));
}

void BlockStore::store(IndexBuilder &b, ArrayRef<Value> sums,
                       ArrayRef<Index> at) const {
  SmallVector<SmallVector<Value>> operands;
  for (size_t i = 0; i < output.operands.size(); ++i)
    operands.push_back(loadOperand(b, i, at));
  Block &body = kernel::EpilogueOpInterface(output.op).getEpilogue().front();
  SmallVector<Value> results;
  for (auto [v, sum] : llvm::enumerate(sums)) {
    SmallVector<Value> arguments = {sum};
    for (ArrayRef<Value> vectors : operands)
      arguments.push_back(vectors[v]);
    results.push_back(packing
                          ? packing.integersOf(b, body, arguments, block.lanes)
                          : evaluate(b, body, arguments, block.lanes)[0]);
  }
  Value stored;
  if (packing) {
    stored = packing.pack(b, results);
  } else {
    while (results.size() > 1) {
      SmallVector<Value> joined;
      for (size_t i = 0; i < results.size(); i += 2)
        joined.push_back(concat(b, results[i], results[i + 1]));
      results = joined;
    }
    SmallVector<int64_t> from;
    for (int64_t channel = 0; channel < block.channels(); ++channel)
      from.push_back(block.placeOf(channel));
    stored = shuffle(b, results[0], results[0], from);
  }
  vector::StoreOp::create(b.b, b.loc, stored, output.dst.data,
                          b.get(output.dst.at(b, at)));
}
