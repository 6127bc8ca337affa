//===- ByteBlocks.cpp - rows of bytes unpacked to fours -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/cpu/product/ByteBlocks.h"

#include "dialects/cpu/ByteFours.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;
using cpu::ByteFours;

static constexpr int64_t kBlock = ByteFours::kBlock,
                         kLanes = ByteFours::kVector,
                         kVectors = kBlock / kLanes, kTaps = ByteFours::kTaps;
/// Lanes of 128 bits, in which instructions unpack, and their bytes.
static constexpr int64_t kUnits = 4, kUnitBytes = 16;

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

/// The elements of both, one behind the other.
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

Value codegen::unpackVector(IndexBuilder &b, ArrayRef<Value> rows) {
  assert(!rows.empty() && rows.size() <= kTaps && "up to four rows");
  auto words = VectorType::get({kLanes}, b.b.getI32Type());
  if (rows.size() == 1)
    return arith::ExtUIOp::create(b.b, b.loc, words, rows[0]);
  SmallVector<Value> all = withZeroRows(b, rows);
  Value bytes = concat(b, concat(b, all[0], all[1]), concat(b, all[2], all[3]));
  // Four channels of each row to each unit, then these of each channel
  // together.
  SmallVector<int64_t> turned, within;
  for (int64_t unit = 0; unit < kUnits; ++unit)
    for (int64_t row = 0; row < kTaps; ++row)
      turned.push_back(row * kUnits + unit);
  Value units = bitcast(b, bytes, 32);
  units = bitcast(b, shuffle(b, units, units, turned), 8);
  for (int64_t unit = 0; unit < kUnits; ++unit)
    for (int64_t channel = 0; channel < ByteFours::kRun; ++channel)
      for (int64_t row = 0; row < kTaps; ++row)
        within.push_back(unit * kUnitBytes + row * ByteFours::kRun + channel);
  return bitcast(b, shuffle(b, units, units, within), 32);
}

/// The lower (0) or upper (1) half of each unit of x and y, element by element.
static Value unpackHalf(IndexBuilder &b, Value x, Value y, int64_t half) {
  int64_t size = cast<VectorType>(x.getType()).getDimSize(0);
  int64_t perUnit = size / kUnits;
  SmallVector<int64_t> from;
  for (int64_t unit = 0; unit < kUnits; ++unit)
    for (int64_t i = 0; i < perUnit / 2; ++i) {
      int64_t at = unit * perUnit + half * perUnit / 2 + i;
      from.append({at, size + at});
    }
  return shuffle(b, x, y, from);
}

SmallVector<Value> codegen::unpackBlock(IndexBuilder &b, ArrayRef<Value> rows) {
  SmallVector<Value> all = withZeroRows(b, rows), vectors;
  for (int64_t half : {0, 1}) {
    Value first = bitcast(b, unpackHalf(b, all[0], all[1], half), 16);
    Value second = bitcast(b, unpackHalf(b, all[2], all[3], half), 16);
    for (int64_t quarter : {0, 1})
      vectors.push_back(bitcast(b, unpackHalf(b, first, second, quarter), 32));
  }
  return vectors;
}

/// Vector `v` of a block as unpacking leaves it, of the block's channels in
/// their order.
static Value takeUnpacked(IndexBuilder &b, Value block, int64_t v) {
  SmallVector<int64_t> from(kLanes);
  for (int64_t channel = 0; channel < kBlock; ++channel) {
    int64_t place = ByteFours::unpackedPlace(channel);
    if (place / kLanes == v)
      from[place % kLanes] = channel;
  }
  return shuffle(b, block, block, from);
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

namespace {
/// Numbers that a value lies between.
struct Bounds {
  double low = -INFINITY, high = INFINITY;
};
} // namespace

static Bounds boundsOf(Value value) {
  APFloat number(0.0f);
  if (matchPattern(value, m_ConstantFloat(&number)))
    return {number.convertToDouble(), number.convertToDouble()};
  APInt whole;
  if (matchPattern(value, m_ConstantInt(&whole)))
    return {double(whole.getSExtValue()), double(whole.getSExtValue())};
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (isa<arith::FPToSIOp>(op)) {
    Bounds bounds = boundsOf(op->getOperand(0));
    return {std::trunc(bounds.low), std::trunc(bounds.high)};
  }
  if (isa<math::RoundEvenOp>(op)) {
    Bounds bounds = boundsOf(op->getOperand(0));
    return {std::nearbyint(bounds.low), std::nearbyint(bounds.high)};
  }
  if (!isa<arith::MaximumFOp, arith::MinimumFOp, arith::AddFOp, arith::AddIOp>(
          op))
    return {};
  Bounds x = boundsOf(op->getOperand(0)), y = boundsOf(op->getOperand(1));
  if (isa<arith::AddFOp, arith::AddIOp>(op))
    return {x.low + y.low, x.high + y.high};
  if (isa<arith::MaximumFOp>(op))
    return {std::max(x.low, y.low), std::max(x.high, y.high)};
  return {std::min(x.low, y.low), std::min(x.high, y.high)};
}

BlockStore::BlockStore(IndexBuilder &b, const Output &output, int64_t channels)
    : output(output) {
  cpu::EpilogueOpInterface op = output.op;
  for (const Flat &operand : output.operands) {
    bool isOfChannels = operand.shape.back() == output.dst.shape.back() &&
                        llvm::all_of(operand.shape.drop_back(),
                                     [](int64_t size) { return size == 1; });
    prepared.push_back(isOfChannels ? createScratch(b, op, channels,
                                                    getElementTypeOrSelf(
                                                        operand.data.getType()))
                                    : Value());
  }
  findPackable();
}

/// What bounds that are constants were put to.
static Value withoutBounds(Value value) {
  auto isConstant = [](Value value) {
    Bounds bounds = boundsOf(value);
    return bounds.low == bounds.high;
  };
  while (isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp>(
      value.getDefiningOp())) {
    Value x = value.getDefiningOp()->getOperand(0),
          y = value.getDefiningOp()->getOperand(1);
    if (!isConstant(x) && !isConstant(y))
      break;
    value = isConstant(y) ? x : y;
  }
  return value;
}

void BlockStore::findPackable() {
  Block &body = cpu::EpilogueOpInterface(output.op).getEpilogue().front();
  auto bytes =
      body.getTerminator()->getOperand(0).getDefiningOp<arith::TruncIOp>();
  if (!bytes || !bytes.getType().isInteger(8) ||
      !bytes.getIn().getType().isInteger(32))
    return;
  // A zero point may as well be added to bytes.
  APInt zeroPoint;
  auto sum = bytes.getIn().getDefiningOp<arith::AddIOp>();
  if (sum && matchPattern(sum.getRhs(), m_ConstantInt(&zeroPoint)) &&
      isPackable(sum.getLhs()))
    offset = zeroPoint.getSExtValue();
  else
    (void)isPackable(bytes.getIn());
}

/// Whether `whole`, of i32, is within a byte: then that is packed.
bool BlockStore::isPackable(Value whole) {
  Bounds bounds = boundsOf(whole);
  isSigned = bounds.low < 0;
  if (isSigned ? bounds.low < -128 || bounds.high > 127 : bounds.high > 255)
    return false;
  packable = whole;
  auto converted = whole.getDefiningOp<arith::FPToSIOp>();
  if (!converted || !converted.getIn().getType().isF32() ||
      bounds.low != (isSigned ? -128 : 0))
    return true;
  Value real = converted.getIn();
  auto round = real.getDefiningOp<math::RoundEvenOp>();
  isRounded = bool(round);
  if (round)
    real = round.getOperand();
  most = boundsOf(real).high;
  packable = withoutBounds(real);
  return true;
}

/// Of what is much too small the least integer is made, which packs to the
/// lower bound as well.
Value BlockStore::toInteger(IndexBuilder &b, Value result) const {
  auto type = cast<VectorType>(result.getType());
  if (!type.getElementType().isF32())
    return result;
  Value high = arith::ConstantOp::create(
      b.b, b.loc,
      DenseElementsAttr::get(type, b.b.getF32FloatAttr(float(most))));
  Value bounded = arith::MinNumFOp::create(b.b, b.loc, result, high);
  VectorType words = type.clone(b.b.getI32Type());
  auto constant = [&](TypedAttr value) -> Value {
    return arith::ConstantOp::create(b.b, b.loc, value);
  };
  // Of all lanes, and rounding as the CPU is set to: to the nearest.
  StringRef intrinsic = isRounded ? "llvm.x86.avx512.mask.cvtps2dq.512"
                                  : "llvm.x86.avx512.mask.cvttps2dq.512";
  return LLVM::CallIntrinsicOp::create(
             b.b, b.loc, words, b.b.getStringAttr(intrinsic),
             ValueRange{bounded, splatInt(b, words, 0),
                        constant(b.b.getI16IntegerAttr(-1)),
                        constant(b.b.getI32IntegerAttr(4))})
      .getResults();
}

static Value loadBlock(IndexBuilder &b, Value data, Index at) {
  auto type = VectorType::get(
      {kBlock}, cast<MemRefType>(data.getType()).getElementType());
  return vector::LoadOp::create(b.b, b.loc, type, data, b.get(at));
}

void BlockStore::prepare(IndexBuilder &b, Index first, Index end) {
  firstPrepared = first;
  Index back = b.mul(first, -1);
  for (size_t i = 0; i < prepared.size(); ++i) {
    Value scratch = prepared[i], data = output.operands[i].data;
    if (!scratch)
      continue;
    forEach(b, first, end, kBlock, [&](Value block) {
      Value channels = loadBlock(b, data, Index(block));
      for (int64_t v = 0; v < kVectors; ++v)
        vector::StoreOp::create(
            b.b, b.loc, takeUnpacked(b, channels, v), scratch,
            b.get(b.add(b.add(Index(block), back), v * kLanes)));
    });
  }
}

SmallVector<Value> BlockStore::loadOperand(IndexBuilder &b, size_t i,
                                           ArrayRef<Index> at) const {
  const Flat &operand = output.operands[i];
  Type element = cast<MemRefType>(operand.data.getType()).getElementType();
  auto type = VectorType::get({kLanes}, element);
  SmallVector<Value> vectors;
  if (Value scratch = prepared[i]) {
    Index from = b.add(at.back(), b.mul(firstPrepared, -1));
    for (int64_t v = 0; v < kVectors; ++v)
      vectors.push_back(vector::LoadOp::create(b.b, b.loc, type, scratch,
                                               b.get(b.add(from, v * kLanes))));
    return vectors;
  }
  SmallVector<Index> coordinates;
  for (auto [size, coordinate] : llvm::zip_equal(operand.shape, at))
    coordinates.push_back(size == 1 ? Index(0) : coordinate);
  Index from = operand.at(b, coordinates);
  if (operand.shape.back() == 1) {
    Value number =
        memref::LoadOp::create(b.b, b.loc, operand.data, b.get(from));
    vectors.assign(kVectors,
                   vector::BroadcastOp::create(b.b, b.loc, type, number));
    return vectors;
  }
  Value channels = loadBlock(b, operand.data, from);
  for (int64_t v = 0; v < kVectors; ++v)
    vectors.push_back(takeUnpacked(b, channels, v));
  return vectors;
}

static Value pack(IndexBuilder &b, StringRef instruction, Value x, Value y) {
  auto from = cast<VectorType>(x.getType());
  auto to =
      VectorType::get({2 * from.getDimSize(0)},
                      b.b.getIntegerType(from.getElementTypeBitWidth() / 2));
  return LLVM::CallIntrinsicOp::create(
             b.b, b.loc, to,
             b.b.getStringAttr("llvm.x86.avx512." + instruction + ".512"),
             ValueRange{x, y})
      .getResults();
}

void BlockStore::store(IndexBuilder &b, ArrayRef<Value> sums,
                       ArrayRef<Index> at) const {
  SmallVector<SmallVector<Value>> operands;
  for (size_t i = 0; i < output.operands.size(); ++i)
    operands.push_back(loadOperand(b, i, at));
  Block &body = cpu::EpilogueOpInterface(output.op).getEpilogue().front();
  Value wanted = packable ? packable : body.getTerminator()->getOperand(0);
  SmallVector<Value> results;
  for (auto [v, sum] : llvm::enumerate(sums)) {
    SmallVector<Value> arguments = {sum};
    for (ArrayRef<Value> vectors : operands)
      arguments.push_back(vectors[v]);
    Value result = evaluate(b, body, arguments, kLanes, wanted)[0];
    results.push_back(packable ? toInteger(b, result) : result);
  }
  Value block;
  if (packable) {
    Value low = pack(b, "packssdw", results[0], results[1]);
    Value high = pack(b, "packssdw", results[2], results[3]);
    block = pack(b, isSigned ? "packsswb" : "packuswb", low, high);
    auto type = cast<VectorType>(block.getType());
    if (offset != 0)
      block = arith::AddIOp::create(b.b, b.loc, block,
                                    splatInt(b, type, int8_t(offset)));
  } else {
    block = concat(b, concat(b, results[0], results[1]),
                   concat(b, results[2], results[3]));
    SmallVector<int64_t> from;
    for (int64_t channel = 0; channel < kBlock; ++channel)
      from.push_back(ByteFours::unpackedPlace(channel));
    block = shuffle(b, block, block, from);
  }
  vector::StoreOp::create(b.b, b.loc, block, output.dst.data,
                          b.get(output.dst.at(b, at)));
}
