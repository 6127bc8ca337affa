//===- WidenRows.cpp - widen-rows -----------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Widens elementwise ops whose rows are short:
//
//     for all loops but the two innermost
//       repeat operands that are equal for each row to a long row's length
//       for each long row, of whole vectors
//         the op's computation
//       for the remaining rows, as one
//         the op's computation
//
// A row of 8 elements is half a vector of 16 lanes. A row of 20 ends within its
// second vector, and a masked load waits for the previous masked store. If rows
// are contiguous, as pixels of a few channels are, several rows form a long row
// of whole vectors. An operand with one value per channel is repeated to the
// length of a long row.
//
// If the length of rows is dynamic, the code decides at run time if they are
// short and contiguous.
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "dialects/ingot/TargetInfo.h"
#include "passes/loops/Passes.h"
#include "passes/support/Shapes.h"
#include "passes/support/Thresholds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <numeric>

namespace ingot {
#define GEN_PASS_DEF_WIDENROWS
#include "passes/loops/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

/// The length from which a row is long. Shorter rows are put together until
/// they are as long.
const int64_t &kLongRow = threshold::longRow;

/// The way in which the two innermost loops read an operand.
enum class Role { rows, oneRow, oneElement };

class Widener {
public:
  explicit Widener(linalg::GenericOp op)
      : op(op), b(op), loc(op.getLoc()), inner(op.getNumLoops() - 1) {}

  /// Returns true if the op was replaced, or got a widened copy.
  bool run();

private:
  using Layout = memref::ExtractStridedMetadataOp;

  bool findRoles();
  bool isWorthIt();
  void measure();
  Value isShort();
  void emit();
  Value repeat(OpOperand &operand, Value scratch);
  void compute(Value offset, Value count, Value columns);
  Value beginOf(OpOperand &operand);
  Value viewOf(Value buffer, Value offset, ValueRange sizes,
               ValueRange strides);

  Value constant(int64_t value) {
    return support::indexConstant(b, loc, value);
  }
  template <typename Op> Value make(Value x, Value y) {
    return b.createOrFold<Op>(loc, x, y);
  }

  linalg::GenericOp op;
  OpBuilder b;
  Location loc;
  int64_t inner;
  SmallVector<Role> roles;
  SmallVector<Layout> layouts;
  /// The sizes of the op's loops, and the number of rows in a long row.
  SmallVector<Value> ranges;
  Value together;
  /// The indices of the outer loops, and the repeated row of each operand that
  /// is one row.
  SmallVector<Value> outer;
  SmallVector<Value> repeated;
};

struct WidenRowsPass : ingot::impl::WidenRowsBase<WidenRowsPass> {
  void runOnOperation() override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Ops that are widened
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> stridesOf(OpOperand &operand) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(cast<MemRefType>(operand.get().getType())
                 .getStridesAndOffset(strides, offset)))
    strides.clear();
  return strides;
}

static std::optional<unsigned> positionOf(linalg::GenericOp op,
                                          OpOperand &operand, int64_t loop) {
  return op.getMatchingIndexingMap(&operand)
      .getResultPosition(getAffineDimExpr(loop, op.getContext()));
}

bool Widener::findRoles() {
  int64_t elements = op.getStaticLoopRanges().back();
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<unsigned> row = positionOf(op, operand, inner - 1);
    std::optional<unsigned> column = positionOf(op, operand, inner);
    SmallVector<int64_t> strides = stridesOf(operand);
    if (strides.empty() && (row || column))
      return false;
    if (row && column) {
      // If strides are dynamic, compare them at run time.
      int64_t apart = strides[*row];
      if (strides[*column] != 1 ||
          (ShapedType::isStatic(apart) && ShapedType::isStatic(elements) &&
           apart != elements))
        return false;
      roles.push_back(Role::rows);
    } else if (row || op.isDpsInit(&operand)) {
      return false;
    } else {
      roles.push_back(column ? Role::oneRow : Role::oneElement);
    }
  }
  // If all operands are rows of known length and contiguous, they are already
  // one row.
  return ShapedType::isDynamic(elements) ||
         llvm::is_contained(roles, Role::oneRow);
}

/// Returns the minimum number of elements of an operand that fills a vector.
static int64_t lanesOf(linalg::GenericOp op) {
  unsigned bits = 32;
  for (Type type : op->getOperandTypes())
    bits = std::min(bits, cast<MemRefType>(type).getElementTypeBitWidth());
  return TargetInfo::of(op).lanes * 32 / std::max(bits, 8u);
}

/// Returns the number of short rows that form a long row of whole vectors.
static int64_t countTogether(int64_t elements, int64_t lanes) {
  int64_t whole = lanes / std::gcd(elements, lanes);
  return whole * llvm::divideCeil(kLongRow, whole * elements);
}

bool Widener::isWorthIt() {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t elements = sizes[inner], count = sizes[inner - 1];
  if (ShapedType::isDynamic(elements))
    return true;
  int64_t lanes = lanesOf(op);
  if (elements == 0 || elements >= kLongRow ||
      (elements % lanes == 0 && elements > lanes))
    return false;
  return ShapedType::isDynamic(count) ||
         count >= threshold::fewestLongRows * countTogether(elements, lanes);
}

static bool canWiden(linalg::GenericOp op) {
  auto function = op->getParentOfType<func::FuncOp>();
  return function && !findRunOperand(function, RunOperand::call) &&
         op.hasPureBufferSemantics() && op.getNumLoops() > 1 &&
         op.getNumParallelLoops() == op.getNumLoops() &&
         !op.hasIndexSemantics() &&
         llvm::all_of(op->getOperandTypes(), [](Type type) {
           auto memref = dyn_cast<MemRefType>(type);
           return memref && memref.getElementType().isIntOrFloat();
         }) &&
         llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) {
                        return map.isProjectedPermutation();
                      }) &&
         llvm::all_of(*op.getBlock(), [](Operation &step) {
           return isMemoryEffectFree(&step);
         });
}

//===----------------------------------------------------------------------===//
// The code that is written
//===----------------------------------------------------------------------===//

void Widener::measure() {
  for (const Range &range :
       cast<linalg::LinalgOp>(*op).createLoopRanges(b, loc))
    ranges.push_back(getValueOrCreateConstantIndexOp(b, loc, range.size));
  for (Value operand : op->getOperands())
    layouts.push_back(Layout::create(b, loc, operand));
  int64_t elements = op.getStaticLoopRanges()[inner];
  int64_t lanes = lanesOf(op);
  if (ShapedType::isStatic(elements)) {
    together = constant(countTogether(elements, lanes));
    return;
  }
  Value least = make<arith::MaxUIOp>(ranges[inner], constant(1));
  Value vectors = make<arith::MulIOp>(least, constant(lanes));
  together = make<arith::MulIOp>(
      make<arith::CeilDivUIOp>(constant(kLongRow), vectors), constant(lanes));
}

/// Returns a condition that is true if rows are short, many, and contiguous.
/// Returns null if this is known to be so.
Value Widener::isShort() {
  Value all;
  auto also = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    Value holds = arith::CmpIOp::create(b, loc, predicate, x, y);
    all = all ? arith::AndIOp::create(b, loc, all, holds).getResult() : holds;
  };
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  bool isOpen = ShapedType::isDynamic(sizes[inner]);
  if (isOpen)
    also(arith::CmpIPredicate::ult, ranges[inner], constant(kLongRow));
  for (OpOperand &operand : op->getOpOperands()) {
    int64_t number = operand.getOperandNumber();
    if (roles[number] != Role::rows)
      continue;
    unsigned row = *positionOf(op, operand, inner - 1);
    if (isOpen || ShapedType::isDynamic(stridesOf(operand)[row]))
      also(arith::CmpIPredicate::eq, layouts[number].getStrides()[row],
           ranges[inner]);
  }
  if (isOpen || ShapedType::isDynamic(sizes[inner - 1]))
    also(arith::CmpIPredicate::uge, ranges[inner - 1],
         make<arith::MulIOp>(together, constant(threshold::fewestLongRows)));
  return all;
}

/// Returns the offset of the operand's first element in the current iteration
/// of the outer loops.
Value Widener::beginOf(OpOperand &operand) {
  Layout layout = layouts[operand.getOperandNumber()];
  Value begin = layout.getOffset();
  for (auto [loop, at] : llvm::enumerate(outer))
    if (std::optional<unsigned> dim = positionOf(op, operand, loop))
      begin = make<arith::AddIOp>(
          begin, make<arith::MulIOp>(at, layout.getStrides()[*dim]));
  return begin;
}

Value Widener::viewOf(Value buffer, Value offset, ValueRange sizes,
                      ValueRange strides) {
  return memref::ReinterpretCastOp::create(
      b, loc, buffer, getAsOpFoldResult(offset), getAsOpFoldResult(sizes),
      getAsOpFoldResult(strides));
}

/// Copies a row beside itself, as often as it fits.
Value Widener::repeat(OpOperand &operand, Value scratch) {
  unsigned column = *positionOf(op, operand, inner);
  Layout layout = layouts[operand.getOperandNumber()];
  Value row = viewOf(layout.getBaseBuffer(), beginOf(operand), ranges[inner],
                     layout.getStrides()[column]);
  Value rows = viewOf(scratch, constant(0), {together, ranges[inner]},
                      {ranges[inner], constant(1)});
  MLIRContext *context = op.getContext();
  AffineMap all = AffineMap::getMultiDimIdentityMap(2, context);
  SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
  linalg::GenericOp::create(
      b, loc, row, rows, ArrayRef{all.getMinorSubMap(1), all}, loops,
      [](OpBuilder &b, Location loc, ValueRange elements) {
        linalg::YieldOp::create(b, loc, elements[0]);
      });
  return scratch;
}

/// Builds the op's computation for `count` rows of `columns` elements.
void Widener::compute(Value offset, Value count, Value columns) {
  MLIRContext *context = op.getContext();
  AffineMap all = AffineMap::getMultiDimIdentityMap(2, context);
  SmallVector<Value> views;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    int64_t number = operand.getOperandNumber();
    Value buffer = layouts[number].getBaseBuffer();
    switch (roles[number]) {
    case Role::rows:
      views.push_back(viewOf(
          buffer, make<arith::AddIOp>(beginOf(operand), offset),
          {count, columns}, {columns, constant(1)}));
      maps.push_back(all);
      break;
    case Role::oneRow:
      views.push_back(
          viewOf(repeated[number], constant(0), columns, constant(1)));
      maps.push_back(all.getMinorSubMap(1));
      break;
    case Role::oneElement:
      views.push_back(viewOf(buffer, beginOf(operand), {}, {}));
      maps.push_back(AffineMap::get(2, 0, context));
      break;
    }
  }
  int64_t inputs = op.getNumDpsInputs();
  SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
  auto wide = linalg::GenericOp::create(
      b, loc, ArrayRef(views).take_front(inputs),
      ArrayRef(views).drop_front(inputs), maps, loops);
  IRMapping values;
  op.getRegion().cloneInto(&wide.getRegion(), values);
}

void Widener::emit() {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> scratch(op->getNumOperands());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(
        &op->getParentOfType<func::FuncOp>().getBody().front());
    int64_t elements = op.getStaticLoopRanges()[inner];
    int64_t lanes = lanesOf(op);
    int64_t size = ShapedType::isDynamic(elements)
                       ? kLongRow + kLongRow * lanes
                       : countTogether(elements, lanes) * elements;
    for (OpOperand &operand : op->getOpOperands())
      if (roles[operand.getOperandNumber()] == Role::oneRow)
        scratch[operand.getOperandNumber()] = memref::AllocaOp::create(
            b, loc,
            MemRefType::get(size, getElementTypeOrSelf(operand.get())),
            b.getI64IntegerAttr(64));
  }
  for (Value range : ArrayRef(ranges).drop_back(2)) {
    auto loop =
        scf::ForOp::create(b, loc, constant(0), range, constant(1));
    outer.push_back(loop.getInductionVar());
    b.setInsertionPointToStart(loop.getBody());
  }
  repeated.resize(op->getNumOperands());
  for (OpOperand &operand : op->getOpOperands())
    if (Value place = scratch[operand.getOperandNumber()])
      repeated[operand.getOperandNumber()] = repeat(operand, place);
  Value rows = ranges[inner - 1];
  Value whole = make<arith::DivUIOp>(rows, together);
  Value longRow = make<arith::MulIOp>(together, ranges[inner]);
  compute(constant(0), whole, longRow);
  Value left = make<arith::MulIOp>(make<arith::RemUIOp>(rows, together),
                                   ranges[inner]);
  if (getConstantIntValue(left) != 0)
    compute(make<arith::MulIOp>(whole, longRow), constant(1), left);
}

bool Widener::run() {
  if (!findRoles() || !isWorthIt())
    return false;
  measure();
  if (Value condition = isShort()) {
    auto branch = scf::IfOp::create(b, loc, condition, /*withElse=*/true);
    b.setInsertionPoint(branch.thenYield());
    emit();
    op->moveBefore(branch.elseYield());
    return true;
  }
  emit();
  op->erase();
  return true;
}

void WidenRowsPass::runOnOperation() {
  SmallVector<linalg::GenericOp> ops;
  getOperation()->walk([&](linalg::GenericOp op) {
    if (canWiden(op))
      ops.push_back(op);
  });
  for (linalg::GenericOp op : ops)
    if (Widener(op).run())
      ++numWidened;
}
