//===- RowsToNVVM.cpp - cuda-rows-to-nvvm ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/Passes.h"
#include "passes/cuda/kernels/KernelModule.h"
#include "passes/cuda/products/StoreRows.h"
#include "passes/cuda/rows/Rows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
#define GEN_PASS_DEF_ROWSTONVVM
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

using ElementFn = function_ref<Value(Value x)>;

enum class Fold { sum, maximum };

/// Writes the kernel of a softmax or norm. Each thread of a row has every n-th
/// vector of the row, in registers or read again in each step.
class RowsEmitter {
public:
  RowsEmitter(OpBuilder &b, const Rows &rows)
      : code(b, rows.op->getLoc()), b(b), loc(rows.op->getLoc()), rows(rows),
        schedule(rows.schedule()),
        vectors(rows.length() / schedule.getVector()) {}

  void emit();

private:
  void emitSoftmax(bool isLog);
  void emitNorm(const APFloat &epsilon, bool isRms);

  Value number(double value) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(float(value)));
  }
  Value subtract(Value x, Value y) {
    return arith::SubFOp::create(b, loc, x, y);
  }
  Value multiply(Value x, Value y) {
    return arith::MulFOp::create(b, loc, x, y);
  }
  Value divide(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
  Value exponential(Value x) { return math::ExpOp::create(b, loc, x); }
  /// Returns the mean of a row whose elements have this sum.
  Value meanOf(Value sum) { return divide(sum, number(double(rows.length()))); }

  bool isHeld() const { return schedule.getHeld() != 0; }
  bool mayBeOutside(int64_t i) const {
    return (i + 1) * schedule.getThreads() > vectors;
  }
  Value heldNumber(int64_t i) {
    return code.add(member, i * schedule.getThreads());
  }
  Value isHeldInside(int64_t i) {
    return mayBeOutside(i) ? code.isWithin(heldNumber(i), vectors) : Value();
  }
  SmallVector<Value> load(Value vector);
  void hold();
  Value fold(Fold kind, Value x, Value y);
  Value foldAll(Fold kind, SmallVector<Value> values);
  Value reduce(Fold kind, ElementFn element);
  void update(ElementFn element);
  void forEachVector(function_ref<void(Value vector)> body);
  void storeVector(Value vector, ArrayRef<Value> elements, ElementFn element);
  void store(ElementFn element);

  Code code;
  OpBuilder &b;
  Location loc;
  const Rows &rows;
  RowScheduleAttr schedule;
  /// Vectors of a row.
  const int64_t vectors;
  /// Reductions so far.
  size_t numReductions = 0;
  Value thread, member, row;
  /// True if the row exists; null if all rows do.
  Value isRow;
  Value src, dst;
  SmallVector<Value> operands;
  /// The elements of each vector that the thread holds.
  SmallVector<SmallVector<Value>> held;
};

struct RowsToNVVMPass : ingot::impl::RowsToNVVMBase<RowsToNVVMPass> {
  void runOnOperation() override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Loads the elements of a vector as f32.
SmallVector<Value> RowsEmitter::load(Value vector) {
  Value offset = code.number(0);
  for (auto [index, size, stride] : llvm::zip_equal(
           rows.indicesOf(code, row, vector), rows.src.sizes, rows.src.strides))
    if (!size.is(1))
      offset = code.add(offset, code.multiply(index, stride));
  Type element = rows.src.element;
  SmallVector<Value> values = loadElements(
      code, code.shift(src, element, offset), element, schedule.getVector());
  if (!element.isF32())
    for (Value &value : values)
      value = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
  return values;
}

/// Loads the vectors of the thread. Vectors outside of the row are 0.
void RowsEmitter::hold() {
  for (int64_t i = 0; i < schedule.getHeld(); ++i) {
    Value isInside = code.both(isRow, isHeldInside(i));
    if (!isInside) {
      held.push_back(load(heldNumber(i)));
      continue;
    }
    SmallVector<Type> types(size_t(schedule.getVector()), b.getF32Type());
    auto branch = scf::IfOp::create(b, loc, types, isInside,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loc, load(heldNumber(i)));
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, SmallVector<Value>(types.size(), number(0)));
    held.emplace_back(branch.getResults());
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Value RowsEmitter::fold(Fold kind, Value x, Value y) {
  if (kind == Fold::sum)
    return arith::AddFOp::create(b, loc, x, y);
  return arith::MaximumFOp::create(b, loc, x, y);
}

/// Folds values pairwise.
Value RowsEmitter::foldAll(Fold kind, SmallVector<Value> values) {
  while (values.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      next.push_back(fold(kind, values[i], values[i + 1]));
    if (values.size() % 2 != 0)
      next.push_back(values.back());
    values = next;
  }
  return values.front();
}

/// Runs `body` for each vector of the thread.
void RowsEmitter::forEachVector(function_ref<void(Value vector)> body) {
  Value end = code.number(vectors);
  if (isRow)
    end = code.select(isRow, end, code.number(0));
  auto loop = scf::ForOp::create(b, loc, member, end,
                                 code.number(schedule.getThreads()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

/// Folds `element` of all elements of the row.
Value RowsEmitter::reduce(Fold kind, ElementFn element) {
  Value neutral =
      number(kind == Fold::sum ? 0 : -std::numeric_limits<double>::infinity());
  Value own;
  if (isHeld()) {
    SmallVector<Value> values;
    for (auto [i, vector] : llvm::enumerate(held)) {
      Value isInside = isHeldInside(int64_t(i));
      for (Value x : vector) {
        Value value = element(x);
        values.push_back(isInside ? code.select(isInside, value, neutral)
                                  : value);
      }
    }
    own = foldAll(kind, values);
  } else {
    Value end = code.number(vectors);
    if (isRow)
      end = code.select(isRow, end, code.number(0));
    auto loop = scf::ForOp::create(b, loc, member, end,
                                   code.number(schedule.getThreads()), neutral);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> values = load(loop.getInductionVar());
    for (Value &value : values)
      value = element(value);
    scf::YieldOp::create(
        b, loc, fold(kind, loop.getRegionIterArg(0), foldAll(kind, values)));
    own = loop.getResult(0);
  }
  return combineTeam(
             code, rows.team(),
             {rows.op->getParentOfType<ModuleOp>(), thread, numReductions++},
             {own}, [&](size_t, Value x, Value y) { return fold(kind, x, y); })
      .front();
}

/// Replaces the held elements.
void RowsEmitter::update(ElementFn element) {
  for (SmallVector<Value> &vector : held)
    for (Value &x : vector)
      x = element(x);
}

void RowsEmitter::storeVector(Value vector, ArrayRef<Value> elements,
                              ElementFn element) {
  SmallVector<Value> results;
  for (Value x : elements)
    results.push_back(element(x));
  storeThroughEpilogue(code, {rows.op, rows.operands, operands, rows.dst, dst},
                       rows.indicesOf(code, row, vector), results);
}

/// Runs the epilogue on `element` of all elements, and stores the results.
void RowsEmitter::store(ElementFn element) {
  if (!isHeld())
    return forEachVector(
        [&](Value vector) { storeVector(vector, load(vector), element); });
  for (auto [i, vector] : llvm::enumerate(held)) {
    OpBuilder::InsertionGuard guard(b);
    if (Value isInside = code.both(isRow, isHeldInside(int64_t(i)))) {
      auto branch =
          scf::IfOp::create(b, loc, isInside, /*withElseRegion=*/false);
      b.setInsertionPoint(branch.thenYield());
    }
    storeVector(heldNumber(int64_t(i)), vector, element);
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void RowsEmitter::emitSoftmax(bool isLog) {
  Value maximum = reduce(Fold::maximum, [](Value x) { return x; });
  auto shifted = [&](Value x) { return subtract(x, maximum); };
  auto power = [&](Value x) { return exponential(shifted(x)); };
  if (isLog) {
    Value sum = reduce(Fold::sum, power);
    Value logarithm = math::LogOp::create(b, loc, sum);
    return store([&](Value x) { return subtract(shifted(x), logarithm); });
  }
  // Held exponentials replace the elements.
  update(power);
  auto powerOf = [&](Value x) { return isHeld() ? x : power(x); };
  Value factor = divide(number(1), reduce(Fold::sum, powerOf));
  store([&](Value x) { return multiply(powerOf(x), factor); });
}

void RowsEmitter::emitNorm(const APFloat &epsilon, bool isRms) {
  Value mean;
  if (!isRms) {
    mean = meanOf(reduce(Fold::sum, [](Value x) { return x; }));
    update([&](Value x) { return subtract(x, mean); });
  }
  auto centered = [&](Value x) {
    return isRms || isHeld() ? x : subtract(x, mean);
  };
  Value squares = reduce(Fold::sum, [&](Value x) {
    Value distance = centered(x);
    return multiply(distance, distance);
  });
  Value shifted = arith::AddFOp::create(b, loc, meanOf(squares),
                                        number(epsilon.convertToDouble()));
  Value factor = divide(number(1), math::SqrtOp::create(b, loc, shifted));
  store([&](Value x) { return multiply(centered(x), factor); });
}

void RowsEmitter::emit() {
  thread = code.thread();
  row = code.block();
  member = thread;
  const int64_t rowsOfBlock = schedule.getRows();
  if (rowsOfBlock > 1) {
    row = code.add(code.multiply(row, rowsOfBlock),
                   code.divide(thread, schedule.getThreads()));
    member = code.remainder(thread, schedule.getThreads());
  }
  const Number numRows = rows.rows(code);
  if (rowsOfBlock > 1 &&
      (numRows.isOpen() || numRows.known() % rowsOfBlock != 0))
    isRow = code.isWithin(row, numRows);
  kernel::EpilogueOpInterface op = rows.op;
  src = code.addressOf(op->getOperand(0));
  for (Value operand : op.getEpilogueOperands())
    operands.push_back(code.addressOf(operand));
  dst = code.addressOf(dstOf(op));
  hold();
  if (auto softmax = dyn_cast<SoftmaxOp>(*op))
    emitSoftmax(softmax.getLog());
  else if (auto norm = dyn_cast<RowNormOp>(*op))
    emitNorm(norm.getEpsilon(), norm.getRms());
  else
    emitNorm(cast<GroupNormOp>(*op).getEpsilon(), /*isRms=*/false);
}

void RowsToNVVMPass::runOnOperation() {
  emitKernels(getOperation(), isRowKernel,
              [](OpBuilder &b, kernel::EpilogueOpInterface op) {
                Rows facts(op);
                Code code(b, op.getLoc());
                facts.resolve(code);
                RowsEmitter(b, facts).emit();
              });
}
