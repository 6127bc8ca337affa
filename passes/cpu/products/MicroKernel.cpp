//===- MicroKernel.cpp - a register tile of a product ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/isa/amx/AmxTiles.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/cpu/products/BytePacking.h"
#include "passes/cpu/products/PairProducts.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

Type cpu::sumType(IndexBuilder &b, const Tile &tile) {
  return elementTypeOf(infoOf(tile.product).sum, b.b.getContext());
}

static VectorType accumulatorType(IndexBuilder &b, const Tile &tile) {
  return VectorType::get({tile.lanes}, sumType(b, tile));
}

Accumulators cpu::zeroAccumulators(IndexBuilder &b, const Tile &tile) {
  if (usesTiles(tile.product))
    return zeroAmxTiles(b, tile);
  Value zero = arith::ConstantOp::create(
      b.b, b.loc, b.b.getZeroAttr(accumulatorType(b, tile)));
  return Accumulators(tile.rows * tile.vectors, zero);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Accumulators
cpu::forEach(IndexBuilder &b, Index begin, Index end, const Accumulators &start,
             function_ref<Accumulators(Value, const Accumulators &)> body) {
  if (!begin.value && !end.value && end.constant == begin.constant + 1)
    return body(b.get(begin), start);
  // Creates no terminator for a loop that carries nothing, because it has one
  // already.
  if (start.empty()) {
    forEach(b, begin, end, 1, [&](Value i) { (void)body(i, start); });
    return {};
  }
  Value step = b.get(1);
  auto loop = scf::ForOp::create(b.b, b.loc, b.get(begin), b.get(end), step,
                                 start);
  OpBuilder::InsertionGuard guard(b.b);
  b.b.setInsertionPointToStart(loop.getBody());
  Accumulators next = body(loop.getInductionVar(),
                           Accumulators(loop.getRegionIterArgs()));
  scf::YieldOp::create(b.b, b.loc, next);
  return Accumulators(loop.getResults());
}

Accumulators cpu::choose(IndexBuilder &b, TypeRange types, Value condition,
                         function_ref<Accumulators()> then,
                         function_ref<Accumulators()> otherwise) {
  auto choice = scf::IfOp::create(b.b, b.loc, types, condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b.b);
  b.b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b.b, b.loc, then());
  b.b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b.b, b.loc, otherwise());
  return Accumulators(choice.getResults());
}

Accumulators cpu::updateIf(IndexBuilder &b, Value condition,
                           const Accumulators &sums,
                           function_ref<Accumulators()> body) {
  return choose(b, ValueRange(sums).getTypes(), condition, body,
                [&] { return sums; });
}

void cpu::forEach(IndexBuilder &b, Index begin, Index end, int64_t step,
                  function_ref<void(Value)> body) {
  if (!begin.value && !end.value && end.constant <= begin.constant + step) {
    if (end.constant > begin.constant)
      body(b.get(begin));
    return;
  }
  auto loop = scf::ForOp::create(b.b, b.loc, b.get(begin), b.get(end),
                                 b.get(step));
  OpBuilder::InsertionGuard guard(b.b);
  b.b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

Accumulators cpu::forEachBlock(
    IndexBuilder &b, int64_t depth, int64_t size, const Accumulators &start,
    function_ref<Accumulators(Index, int64_t, const Accumulators &)> body) {
  Accumulators sums = start;
  if (depth >= size)
    sums = forEach(b, 0, depth / size, sums,
                   [&](Value i, const Accumulators &sums) {
                     return body(b.mul(Index(i), size), size, sums);
                   });
  if (depth % size != 0)
    sums = body(depth / size * size, depth % size, sums);
  return sums;
}

void cpu::forEachBlock(IndexBuilder &b, int64_t depth, int64_t size,
                       function_ref<void(Index, int64_t)> body) {
  forEach(b, 0, depth / size, 1,
          [&](Value i) { body(b.mul(Index(i), size), size); });
  if (depth % size != 0)
    body(depth / size * size, depth % size);
}

void cpu::forEachPart(IndexBuilder &b, int64_t all, int64_t most,
                      function_ref<void(int64_t, Index)> body) {
  int64_t parts = llvm::divideCeil(all, most), size = all / parts;
  int64_t endLarger = all % parts * (size + 1);
  if (endLarger != 0)
    forEach(b, 0, endLarger, size + 1,
            [&](Value at) { body(size + 1, Index(at)); });
  forEach(b, endLarger, all, size, [&](Value at) { body(size, Index(at)); });
}

//===----------------------------------------------------------------------===//
// Parts of a tile
//===----------------------------------------------------------------------===//

Value cpu::multiplyAddVectors(IndexBuilder &b, bool hasFMA, Value x, Value y,
                              Value sum) {
  if (hasFMA)
    return vector::FMAOp::create(b.b, b.loc, x, y, sum);
  Value product = arith::MulFOp::create(b.b, b.loc, x, y);
  return arith::AddFOp::create(b.b, b.loc, sum, product);
}

Value cpu::widenFloats(IndexBuilder &b, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  if (!type.getElementType().isBF16() && !type.getElementType().isF16())
    return vector;
  return arith::ExtFOp::create(b.b, b.loc, type.clone(b.b.getF32Type()),
                               vector);
}

Value cpu::multiplyAddGroupsOfFour(IndexBuilder &b, Value bytes, Value weights,
                                   Value sum) {
  int64_t lanes = cast<VectorType>(sum.getType()).getDimSize(0);
  auto type = VectorType::get({lanes * 4}, b.b.getI8Type());
  auto asBytes = [&](Value value) -> Value {
    if (value.getType() == type)
      return value;
    return vector::BitCastOp::create(b.b, b.loc, type, value);
  };
  return callOfWidth(b, kFourTermDots, 32,
                     {sum, asBytes(bytes), asBytes(weights)});
}

Value cpu::splat(IndexBuilder &b, int64_t lanes, Value scalar) {
  return vector::BroadcastOp::create(
      b.b, b.loc, VectorType::get({lanes}, scalar.getType()), scalar);
}

Value cpu::splatInt(IndexBuilder &b, VectorType type, int64_t value) {
  return arith::ConstantOp::create(
      b.b, b.loc,
      DenseElementsAttr::get(
          type, b.b.getIntegerAttr(type.getElementType(), value)));
}

Value cpu::widenHalfOfVector(IndexBuilder &b, Value pairs, int64_t i) {
  auto type = cast<VectorType>(pairs.getType());
  // Moves the bits of a bf16 to the upper half of an f32.
  Value half =
      i == 0 ? arith::ShLIOp::create(b.b, b.loc, pairs, splatInt(b, type, 16))
                   .getResult()
             : arith::AndIOp::create(b.b, b.loc, pairs,
                                     splatInt(b, type, int32_t(0xffff0000)));
  return vector::BitCastOp::create(b.b, b.loc, type.clone(b.b.getF32Type()),
                                   half);
}

Block &cpu::entryOf(IndexBuilder &b) {
  Operation *at = b.b.getInsertionBlock()->getParentOp();
  auto kernel = dyn_cast<func::FuncOp>(at);
  if (!kernel)
    kernel = at->getParentOfType<func::FuncOp>();
  return kernel.getBody().front();
}

Value cpu::createScratch(IndexBuilder &b, MemRefType type) {
  OpBuilder::InsertionGuard guard(b.b);
  b.b.setInsertionPointToStart(&entryOf(b));
  return memref::AllocaOp::create(b.b, b.loc, type,
                                  b.b.getI64IntegerAttr(64));
}

Value cpu::createScratch(IndexBuilder &b, int64_t elements, Type type) {
  return createScratch(b, MemRefType::get({elements}, type));
}

void cpu::spill(IndexBuilder &b, const Tile &tile, const Accumulators &sums,
                Value scratch, Index at) {
  for (auto [i, sum] : llvm::enumerate(sums))
    vector::StoreOp::create(b.b, b.loc, sum, scratch,
                            b.get(b.add(at, int64_t(i) * tile.lanes)));
}

Accumulators cpu::reload(IndexBuilder &b, const Tile &tile, Value scratch,
                         Index at) {
  Accumulators sums;
  for (int64_t i = 0; i < tile.rows * tile.vectors; ++i)
    sums.push_back(
        vector::LoadOp::create(b.b, b.loc, accumulatorType(b, tile), scratch,
                               b.get(b.add(at, i * tile.lanes))));
  return sums;
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

Value cpu::maskOf(IndexBuilder &b, const VectorAt &place) {
  if (place.mask)
    return place.mask;
  auto type = VectorType::get({place.lanes}, b.b.getI1Type());
  SmallVector<bool> within(place.lanes, false);
  std::fill_n(within.begin(), place.valid, true);
  return arith::ConstantOp::create(b.b, b.loc,
                                   DenseElementsAttr::get(type, within));
}

static Value loadVector(IndexBuilder &b, Value data, Index at,
                        const VectorAt &place) {
  VectorType type = VectorType::get(
      {place.lanes}, cast<MemRefType>(data.getType()).getElementType());
  if (place.isWhole())
    return vector::LoadOp::create(b.b, b.loc, type, data, b.get(at));
  Value zero = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
  return vector::MaskedLoadOp::create(b.b, b.loc, type, data, b.get(at),
                                      maskOf(b, place), zero);
}

Value cpu::loadPart(IndexBuilder &b, const Tile &tile, Value data, Index at) {
  return loadVector(b, data, at, VectorAt{{}, tile.lanes, tile.lastLanes, {}});
}

/// Loads the vector of an epilogue operand at `place`.
static Value loadOperand(IndexBuilder &b, const Flat &operand,
                         const VectorAt &place) {
  SmallVector<Index> at;
  for (auto [size, coordinate] :
       llvm::zip_equal(operand.shape, place.coordinates))
    at.push_back(size == 1 ? Index(0) : coordinate);
  Index index = operand.at(b, at);
  if (operand.shape.back() != 1 || place.valid == 1)
    return loadVector(b, operand.data, index, place);
  Value element =
      memref::LoadOp::create(b.b, b.loc, operand.data, b.get(index));
  return vector::BroadcastOp::create(
      b.b, b.loc, VectorType::get({place.lanes}, element.getType()), element);
}

/// Vectorizes `op` of an epilogue.
static void vectorize(OpBuilder &b, Operation &op, int64_t lanes,
                      IRMapping &values) {
  auto widen = [&](Type type) -> Type {
    return VectorType::get({lanes}, type);
  };
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto type = cast<ShapedType>(widen(constant.getType()));
    values.map(constant.getResult(),
               Value(arith::ConstantOp::create(
                   b, op.getLoc(),
                   DenseElementsAttr::get(type, constant.getValue()))));
    return;
  }
  OperationState state(op.getLoc(), op.getName());
  for (Value operand : op.getOperands())
    state.operands.push_back(values.lookup(operand));
  for (Type type : op.getResultTypes())
    state.types.push_back(widen(type));
  state.attributes = op.getAttrDictionary();
  state.propertiesAttr = op.getPropertiesAsAttribute();
  Operation *wide = b.create(state);
  for (auto [from, to] : llvm::zip_equal(op.getResults(), wide->getResults()))
    values.map(from, to);
}

SmallVector<Value> cpu::evaluate(IndexBuilder &b, Block &body,
                                 ValueRange arguments, int64_t lanes,
                                 ValueRange wanted) {
  IRMapping values;
  values.map(body.getArguments(), arguments);
  for (Operation &step : body.without_terminator())
    vectorize(b.b, step, lanes, values);
  SmallVector<Value> results;
  for (Value value :
       wanted.empty() ? ValueRange(body.getTerminator()->getOperands())
                      : wanted)
    results.push_back(values.lookup(value));
  return results;
}

Output::Output(IndexBuilder &b, kernel::EpilogueOpInterface op)
    : op(op), dst(b, cast<DestinationStyleOpInterface>(*op).getDpsInits()[0]),
      operands(flatten(b, op.getEpilogueOperands())) {}

bool Output::mayStoreAgain() const {
  return llvm::all_of(operands, [](const Flat &operand) {
    return llvm::all_of(operand.shape.drop_back(),
                        [](int64_t size) { return size == 1; });
  });
}

SmallVector<Value> cpu::epilogueArguments(IndexBuilder &b, const Output &output,
                                          Value sum, const VectorAt &place) {
  SmallVector<Value> arguments = {sum};
  for (const Flat &operand : output.operands)
    arguments.push_back(loadOperand(b, operand, place));
  return arguments;
}

SmallVector<Value> cpu::runEpilogue(IndexBuilder &b, const Output &output,
                                    Value sum, const VectorAt &place) {
  Block &body = kernel::EpilogueOpInterface(output.op).getEpilogue().front();
  return evaluate(b, body, epilogueArguments(b, output, sum, place),
                  place.lanes);
}

static void storeResult(IndexBuilder &b, const Output &output, Value result,
                        const VectorAt &place) {
  const Flat &dst = output.dst;
  Value at = b.get(dst.at(b, place.coordinates));
  if (place.isWhole())
    vector::StoreOp::create(b.b, b.loc, result, dst.data, at);
  else
    vector::MaskedStoreOp::create(b.b, b.loc, dst.data, at, maskOf(b, place),
                                  result);
}

void cpu::storeVector(IndexBuilder &b, const Output &output, Value sum,
                      const VectorAt &place) {
  storeResult(b, output, runEpilogue(b, output, sum, place)[0], place);
}

/// Runs the epilogue over several vectors, and stores them. Each step is done
/// for all vectors before the next step, so that a core has work while it waits
/// for a result.
static void storeTogether(IndexBuilder &b, const Output &output,
                          ValueRange sums, ArrayRef<VectorAt> places) {
  Block &body = kernel::EpilogueOpInterface(output.op).getEpilogue().front();
  SmallVector<IRMapping> values(places.size());
  for (auto [sum, place, mapping] : llvm::zip_equal(sums, places, values))
    mapping.map(body.getArguments(),
                epilogueArguments(b, output, sum, place));
  for (Operation &step : body.without_terminator())
    for (auto [place, mapping] : llvm::zip_equal(places, values))
      vectorize(b.b, step, place.lanes, mapping);
  Value result = body.getTerminator()->getOperand(0);
  for (auto [place, mapping] : llvm::zip_equal(places, values))
    storeResult(b, output, mapping.lookup(result), place);
}

/// Returns a rough count of instructions for an epilogue op.
static int64_t costOf(Operation &op) {
  if (isa<arith::ConstantOp>(op))
    return 0;
  return isa<math::MathDialect>(op.getDialect()) &&
                 !isa<math::AbsFOp, math::FmaOp, math::RoundEvenOp,
                      math::SqrtOp>(op)
             ? cpu::threshold::functionOps
             : 1;
}

int64_t cpu::epilogueCost(kernel::EpilogueOpInterface op) {
  int64_t cost = 0;
  for (Operation &step : op.getEpilogue().front().without_terminator())
    cost += costOf(step);
  return cost;
}

/// Returns the number of signs in a pixel of dst, if the op stores signs.
static std::optional<int64_t> signsStoredBy(Operation *op) {
  if (auto conv = dyn_cast<cpu::ConvOp>(op))
    return conv.getDstSigns();
  if (auto product = dyn_cast<cpu::MatMulOp>(op))
    return product.getDstSigns();
  return std::nullopt;
}

void cpu::storeTile(
    IndexBuilder &b, const Tile &tile, const Output &output,
    const Accumulators &sums,
    function_ref<SmallVector<Index>(IndexBuilder &, Index row)> rowAt,
    const Accumulators &offsets) {
  assert((offsets.empty() || int64_t(offsets.size()) == tile.vectors) &&
         "an offset for each vector");
  auto placeOf = [&](Index row, int64_t v) {
    VectorAt place;
    place.coordinates = rowAt(b, row);
    Index &column = place.coordinates.back();
    column = b.add(column, v * tile.lanes);
    place.lanes = tile.lanes;
    place.valid = tile.lanes;
    if (v == tile.vectors - 1) {
      place.valid = tile.lastLanes;
      place.mask = tile.lastMask;
    }
    return place;
  };
  kernel::EpilogueOpInterface op = output.op;
  std::optional<int64_t> signs = signsStoredBy(op);
  // Packs several vectors at once only if they have at most eight lanes. For
  // wider vectors, there is an instruction that narrows a single vector.
  constexpr int64_t kWidestPacked = 8;
  bool isWhole = tile.lastLanes == tile.lanes &&
                 tile.lanes <= kWidestPacked &&
                 llvm::isPowerOf2_64(tile.vectors);
  BytePacking packing(op);
  const int64_t together = epilogueCost(op) < cpu::threshold::epilogueLongOps
                               ? 1
                               : cpu::threshold::epilogueVectors;
  const bool byRow = signs || (packing && isWhole);
  auto storeRow = [&](Index row, ValueRange sums) {
    if (signs)
      return storeSigns(b, tile, output, *signs, sums, rowAt(b, row));
    storePacked(b, tile, output, packing, sums, rowAt(b, row));
  };
  auto storeRows = [&](Index first, int64_t rows, ValueRange sums) {
    Accumulators whole(sums);
    if (!signs)
      for (auto [i, sum] : llvm::enumerate(whole))
        if (!offsets.empty())
          sum = arith::AddIOp::create(b.b, b.loc, sum,
                                      offsets[i % tile.vectors]);
    SmallVector<VectorAt> places;
    for (int64_t r = 0; r < rows; ++r) {
      Index row = b.add(first, r);
      if (byRow) {
        storeRow(row,
                 ArrayRef(whole).slice(r * tile.vectors, tile.vectors));
        continue;
      }
      for (int64_t v = 0; v < tile.vectors; ++v)
        places.push_back(placeOf(row, v));
    }
    for (size_t i = 0; i < places.size(); i += together) {
      size_t count = std::min<size_t>(together, places.size() - i);
      storeTogether(b, output, ArrayRef(whole).slice(i, count),
                    ArrayRef(places).slice(i, count));
    }
  };
  int64_t rowSize = tile.vectors * tile.lanes;
  auto storeSpilled = [&](Value spilled) {
    auto storeAt = [&](Index row, int64_t rows) {
      storeRows(row, rows,
                reload(b, tile.withRows(rows), spilled,
                       b.mul(row, rowSize)));
    };
    const int64_t step =
        byRow || tile.isPart()
            ? 1
            : std::min(std::max<int64_t>(together / tile.vectors, 1),
                       tile.rows);
    const int64_t whole = tile.rows / step * step;
    forEach(b, tile.done, tile.end.value_or(whole), step,
            [&](Value row) { storeAt(Index(row), step); });
    if (whole != tile.rows)
      storeAt(whole, tile.rows - whole);
  };
  if (usesTiles(tile.product))
    return storeSpilled(spillAmxTiles(b, tile, sums));
  if (!tile.isPart() && epilogueCost(op) * tile.rows * tile.vectors <=
                            cpu::threshold::epilogueUnrolledOps)
    return storeRows(0, tile.rows, sums);
  Value spilled = createScratch(b, tile.rows * rowSize, sumType(b, tile));
  spill(b, tile, sums, spilled, 0);
  storeSpilled(spilled);
}
