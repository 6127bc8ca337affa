//===- BytePacking.cpp - bytes packed from vectors of integers ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/products/BytePacking.h"

#include "passes/cpu/products/PairProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

/// Instructions for vectors of 128, 256 and 512 bits.
static constexpr StringRef
    kRound[] = {"llvm.x86.sse2.cvtps2dq", "llvm.x86.avx.cvt.ps2dq.256"},
    kTruncate[] = {"llvm.x86.sse2.cvttps2dq", "llvm.x86.avx.cvtt.ps2dq.256"},
    kPackWords[] = {"llvm.x86.sse2.packssdw.128", "llvm.x86.avx2.packssdw",
                    "llvm.x86.avx512.packssdw.512"},
    kPackSigned[] = {"llvm.x86.sse2.packsswb.128", "llvm.x86.avx2.packsswb",
                     "llvm.x86.avx512.packsswb.512"},
    kPackUnsigned[] = {"llvm.x86.sse2.packuswb.128", "llvm.x86.avx2.packuswb",
                       "llvm.x86.avx512.packuswb.512"};
/// The bytes of a lane of 128 bits, and the integers of the widest vector.
static constexpr int64_t kUnitBytes = 16, kWidestLanes = 16;
/// The largest size of a zero point of bytes.
static constexpr int64_t kMaxZeroPoint = 255;

//===----------------------------------------------------------------------===//
// Packable values
//===----------------------------------------------------------------------===//

namespace {
/// The bounds of a value.
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
  if (!isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp,
           arith::MinSIOp, arith::AddFOp, arith::AddIOp>(op))
    return {};
  Bounds x = boundsOf(op->getOperand(0)), y = boundsOf(op->getOperand(1));
  if (isa<arith::AddFOp, arith::AddIOp>(op))
    return {x.low + y.low, x.high + y.high};
  if (isa<arith::MaximumFOp, arith::MaxSIOp>(op))
    return {std::max(x.low, y.low), std::max(x.high, y.high)};
  return {std::min(x.low, y.low), std::min(x.high, y.high)};
}

/// Returns the value before constant bounds were applied.
static Value withoutBounds(Value value) {
  auto isConstant = [](Value value) {
    Bounds bounds = boundsOf(value);
    return bounds.low == bounds.high;
  };
  while (isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp,
                         arith::MinSIOp>(value.getDefiningOp())) {
    Value x = value.getDefiningOp()->getOperand(0),
          y = value.getDefiningOp()->getOperand(1);
    if (!isConstant(x) && !isConstant(y))
      break;
    value = isConstant(y) ? x : y;
  }
  return value;
}

BytePacking::BytePacking(kernel::EpilogueOpInterface op) {
  Block &body = op.getEpilogue().front();
  auto bytes =
      body.getTerminator()->getOperand(0).getDefiningOp<arith::TruncIOp>();
  if (!bytes || !bytes.getType().isInteger(8) ||
      !bytes.getIn().getType().isInteger(32))
    return;
  // Looks through the addition of a zero point. It may follow the packing to
  // bytes if these hold the other number. Otherwise it follows the packing to
  // words, which saturate to far more than any byte.
  APInt number;
  auto sum = bytes.getIn().getDefiningOp<arith::AddIOp>();
  int64_t zeroPoint = 0;
  if (sum && matchPattern(sum.getRhs(), m_ConstantInt(&number)) &&
      std::abs(number.getSExtValue()) <= kMaxZeroPoint)
    zeroPoint = number.getSExtValue();
  if (zeroPoint == 0)
    (void)isPackable(bytes.getIn(), 0);
  else if (isPackable(sum.getLhs(), 0))
    offset = zeroPoint;
  else if (isPackable(sum.getLhs(), zeroPoint))
    offsetOfWords = zeroPoint;
  if (packable)
    return;
  // The model's bounds hold integers that no op of the epilogue bounds.
  isSigned = bitEnumContainsAny(bytes.getOverflowFlags(),
                                arith::IntegerOverflowFlags::nsw);
  if (!isSigned && !bitEnumContainsAny(bytes.getOverflowFlags(),
                                       arith::IntegerOverflowFlags::nuw))
    return;
  packable = zeroPoint != 0 ? sum.getLhs() : bytes.getIn();
  offsetOfWords = zeroPoint;
}

/// Returns true if `whole`, an i32, plus `zeroPoint` always fits a byte. If so,
/// it becomes the value to pack.
bool BytePacking::isPackable(Value whole, int64_t zeroPoint) {
  Bounds bounds = boundsOf(whole);
  bounds.low += double(zeroPoint);
  bounds.high += double(zeroPoint);
  isSigned = bounds.low < 0;
  if (isSigned ? bounds.low < -128 || bounds.high > 127 : bounds.high > 255)
    return false;
  packable = whole;
  // Drops bounds that equal those of a byte, because packing saturates to them.
  if (bounds.low == (isSigned ? -128 : 0) &&
      bounds.high == (isSigned ? 127 : 255))
    packable = withoutBounds(whole);
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

/// Converts floats to integers. Floats far below the range become the minimum
/// integer, which packs to the lower bound as well.
Value BytePacking::toInteger(IndexBuilder &b, Value result) const {
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
  // Relies on the CPU's rounding mode, which is to nearest.
  if (type.getNumElements() < kWidestLanes)
    return callOfWidth(b, isRounded ? kRound : kTruncate, 32, bounded);
  // Passes a mask that selects all lanes.
  StringRef intrinsic = isRounded ? "llvm.x86.avx512.mask.cvtps2dq.512"
                                  : "llvm.x86.avx512.mask.cvttps2dq.512";
  return LLVM::CallIntrinsicOp::create(
             b.b, b.loc, words, b.b.getStringAttr(intrinsic),
             ValueRange{bounded, splatInt(b, words, 0),
                        constant(b.b.getI16IntegerAttr(-1)),
                        constant(b.b.getI32IntegerAttr(4))})
      .getResults();
}

Value BytePacking::integersOf(IndexBuilder &b, Block &body,
                              ValueRange arguments, int64_t lanes) const {
  return toInteger(b, evaluate(b, body, arguments, lanes, packable)[0]);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

static Value shuffle(IndexBuilder &b, Value vector, ArrayRef<int64_t> from) {
  return vector::ShuffleOp::create(b.b, b.loc, vector, vector, from);
}

static Value part(IndexBuilder &b, Value vector, int64_t first, int64_t size) {
  return shuffle(b, vector,
                 llvm::to_vector(llvm::seq<int64_t>(first, first + size)));
}

/// Packs the integers of both vectors to half their bits.
static Value pack(IndexBuilder &b, ArrayRef<StringRef> names, Value x,
                  Value y) {
  int64_t bits =
      cast<VectorType>(x.getType()).getElementTypeBitWidth() / 2;
  return callOfWidth(b, names, bits, {x, y});
}

/// Packs an even number of vectors, or a single vector.
static SmallVector<Value> packAll(IndexBuilder &b, ArrayRef<StringRef> names,
                                  ArrayRef<Value> vectors) {
  SmallVector<Value> packed;
  if (vectors.size() == 1) {
    auto type = cast<VectorType>(vectors[0].getType());
    int64_t size = type.getNumElements();
    int64_t perUnit = kUnitBytes * 8 / type.getElementTypeBitWidth();
    // Packs a single lane of 128 bits with itself, and cuts off the surplus
    // half at the end. Packs even lanes with odd ones, so that the elements
    // keep their order.
    SmallVector<int64_t> even, odd;
    for (int64_t i = 0; i < size; ++i)
      (i / perUnit % 2 == 0 ? even : odd).push_back(i);
    packed.push_back(odd.empty() ? pack(b, names, vectors[0], vectors[0])
                                 : pack(b, names, shuffle(b, vectors[0], even),
                                        shuffle(b, vectors[0], odd)));
  }
  for (size_t i = 0; i + 1 < vectors.size(); i += 2)
    packed.push_back(pack(b, names, vectors[i], vectors[i + 1]));
  return packed;
}

Value BytePacking::pack(IndexBuilder &b, ArrayRef<Value> integers) const {
  SmallVector<Value> words = packAll(b, kPackWords, integers);
  if (offsetOfWords != 0)
    for (Value &vector : words) {
      auto type = cast<VectorType>(vector.getType());
      vector = LLVM::SAddSat::create(b.b, b.loc, vector,
                                     splatInt(b, type, offsetOfWords));
    }
  Value bytes = packAll(b, isSigned ? kPackSigned : kPackUnsigned, words)[0];
  if (offset != 0)
    bytes = arith::AddIOp::create(
        b.b, b.loc, bytes,
        splatInt(b, cast<VectorType>(bytes.getType()), int8_t(offset)));
  int64_t all = 0;
  for (Value vector : integers)
    all += cast<VectorType>(vector.getType()).getNumElements();
  if (cast<VectorType>(bytes.getType()).getNumElements() == all)
    return bytes;
  return part(b, bytes, 0, all);
}

void cpu::storePacked(IndexBuilder &b, const Tile &tile, const Output &output,
                      const BytePacking &packing, ValueRange sums,
                      ArrayRef<Index> coordinates) {
  Block &body = kernel::EpilogueOpInterface(output.op).getEpilogue().front();
  SmallVector<Value> integers;
  for (int64_t v = 0; v < tile.vectors; ++v) {
    VectorAt place{SmallVector<Index>(coordinates), tile.lanes, tile.lanes, {}};
    Index &column = place.coordinates.back();
    column = b.add(column, v * tile.lanes);
    SmallVector<Value> arguments = epilogueArguments(b, output, sums[v], place);
    integers.push_back(packing.integersOf(b, body, arguments, tile.lanes));
  }
  Value bytes = packing.pack(b, integers);
  // Moves groups of four neighbours to their positions in the vectors.
  int64_t columns = tile.vectors * tile.lanes, units = tile.lanes / 4;
  SmallVector<int64_t> from;
  for (int64_t v = 0; v < tile.vectors; ++v)
    for (int64_t unit = 0; unit < units; ++unit)
      from.push_back(unit * tile.vectors + v);
  if (!llvm::is_sorted(from)) {
    Value fours = vector::BitCastOp::create(
        b.b, b.loc, VectorType::get({columns / 4}, b.b.getI32Type()), bytes);
    bytes = vector::BitCastOp::create(b.b, b.loc, bytes.getType(),
                                      shuffle(b, fours, from));
  }
  vector::StoreOp::create(b.b, b.loc, bytes, output.dst.data,
                          b.get(output.dst.at(b, coordinates)));
}
