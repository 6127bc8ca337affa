//===- QuantizeTables.cpp - nn-quantize-tables ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "passes/backend/Policy.h"
#include "passes/quantize/Passes.h"
#include "passes/support/Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"

#include <cmath>
#include <cstring>

namespace ingot {
#define GEN_PASS_DEF_QUANTIZETABLES
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

/// A table as signed bytes, with a scale for each row.
struct Table {
  Value bytes, scales;
};

struct QuantizeTablesPass
    : ingot::impl::QuantizeTablesBase<QuantizeTablesPass> {
  using QuantizeTablesBase::QuantizeTablesBase;

  void runOnOperation() override;
  Table getTable(Value table);
  void quantize(nn::GatherOp op);

  llvm::DenseMap<Value, Table> tables;
};

} // namespace

/// The elements of an f32 constant. They are not copied, because a table of a
/// vocabulary takes much memory.
class Floats {
public:
  explicit Floats(Value value) {
    if (ElementsAttr attr = nn::getConstant(value))
      bytes = nn::getRawBytes(attr, storage);
  }
  Floats(const Floats &) = delete;

  explicit operator bool() const { return bytes.has_value(); }
  int64_t size() const { return int64_t(bytes->size() / sizeof(float)); }
  /// The bytes of a file need not be aligned.
  double operator[](int64_t i) const {
    float value;
    std::memcpy(&value, bytes->data() + i * int64_t(sizeof(float)),
                sizeof(float));
    return double(value);
  }

private:
  std::vector<char> storage;
  std::optional<ArrayRef<char>> bytes;
};

/// Returns true if `op` gathers rows of a constant f32 matrix without
/// infinities and NaNs.
static bool picksRows(nn::GatherOp op) {
  auto type = cast<RankedTensorType>(op.getX().getType());
  if (op.getAxis() != 0 || type.getRank() != 2 || !type.hasStaticShape() ||
      !type.getElementType().isF32())
    return false;
  Floats values(op.getX());
  return values && llvm::all_of(llvm::seq(values.size()), [&](int64_t i) {
           return std::isfinite(values[i]);
         });
}

Table QuantizeTablesPass::getTable(Value table) {
  Table &done = tables[table];
  if (done.bytes)
    return done;
  constexpr double kMax = 127;
  auto type = cast<RankedTensorType>(table.getType());
  Floats values(table);
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  std::vector<double> scales(rows, 1);
  std::vector<char> bytes(rows * columns);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t first = row * columns;
    double most = 0;
    for (int64_t column = 0; column < columns; ++column)
      most = std::max(most, std::abs(values[first + column]));
    // If a row is all zero or almost zero, any scale will do.
    auto scale = float(most / kMax);
    // Decrease the scale until the largest dequantized number is finite.
    while (!std::isfinite(scale * float(kMax)))
      scale = std::nextafter(scale, 0.0f);
    if (std::isnormal(scale))
      scales[row] = double(scale);
    for (int64_t column = 0; column < columns; ++column)
      bytes[first + column] = static_cast<char>(std::clamp(
          std::nearbyint(values[first + column] / scales[row]), -kMax, kMax));
  }
  OpBuilder builder(&getContext());
  builder.setInsertionPointAfterValue(table);
  Location loc = table.getLoc();
  const RankedTensorType byteType = type.clone(builder.getI8Type());
  done.bytes = arith::ConstantOp::create(
      builder, loc, byteType, nn::makeConstantAttr(byteType, std::move(bytes)));
  done.scales = nn::makeConstant(
      builder, loc, RankedTensorType::get({rows, 1}, type.getElementType()),
      scales);
  return done;
}

void QuantizeTablesPass::quantize(nn::GatherOp op) {
  Table table = getTable(op.getX());
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getY().getType());
  SmallVector<int64_t> perRow(type.getShape());
  perRow.back() = 1;
  Value bytes =
      nn::GatherOp::create(builder, loc, type.clone(builder.getI8Type()),
                           table.bytes, op.getIndices(), op.getAxis());
  Value scales = nn::GatherOp::create(builder, loc, type.clone(perRow),
                                      table.scales, op.getIndices(),
                                      op.getAxis());
  Value numbers = nn::CastOp::create(builder, loc, type, bytes);
  op.replaceAllUsesWith(
      nn::MulOp::create(builder, loc, type, numbers, scales).getResult());
  op.erase();
  ++quantized;
}

void QuantizeTablesPass::runOnOperation() {
  tables.clear();
  FailureOr<KeepRules> rules = KeepRules::parse(getOperation(), keep, narrow);
  if (failed(rules))
    return signalPassFailure();
  SmallVector<nn::GatherOp> ops;
  getOperation()->walk([&](nn::GatherOp op) {
    if (!rules->keeps(op) && picksRows(op))
      ops.push_back(op);
  });
  for (nn::GatherOp op : ops)
    if (record(op, Question::precision,
               rules->converts(op) ? Answer<bool>{true, kRuleConverts}
                                   : Policy::of(op).packTable(op),
               "int8", "float32"))
      quantize(op);
}
