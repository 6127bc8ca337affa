//===- RowsToNVVM.cpp - cuda-rows-to-nvvm ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/Passes.h"
#include "passes/cuda/kernels/KernelModule.h"
#include "passes/cuda/rows/RowsEmitter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace ingot {
#define GEN_PASS_DEF_ROWSTONVVM
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

struct RowsToNVVMPass : ingot::impl::RowsToNVVMBase<RowsToNVVMPass> {
  void runOnOperation() override;
};

} // namespace

static Fold foldOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::sum:
  case ReduceKind::mean:
  case ReduceKind::sum_square:
    return Fold::sum;
  case ReduceKind::prod:
    return Fold::product;
  case ReduceKind::max:
    return Fold::maximum;
  case ReduceKind::min:
    return Fold::minimum;
  }
  llvm_unreachable("unknown kind");
}

static Fold foldOf(PoolKind kind) {
  return kind == PoolKind::max ? Fold::maximum : Fold::sum;
}

void RowsEmitter::emitSoftmax(bool isLog) {
  SmallVector<Value> maximum =
      reduce(Fold::maximum, [](Value x, size_t) { return x; });
  auto shifted = [&](Value x, size_t column) {
    return s.sub(x, maximum[column]);
  };
  auto power = [&](Value x, size_t column) {
    return s.exp(shifted(x, column));
  };
  if (isLog) {
    SmallVector<Value> logarithm = reduce(Fold::sum, power);
    for (Value &sum : logarithm)
      sum = math::LogOp::create(b, loc, sum);
    return store([&](Value x, size_t column) {
      return s.sub(shifted(x, column), logarithm[column]);
    });
  }
  // Held exponentials replace the elements.
  update(power);
  auto powerOf = [&](Value x, size_t column) {
    return isHeld() ? x : power(x, column);
  };
  SmallVector<Value> factor = reduce(Fold::sum, powerOf);
  for (Value &sum : factor)
    sum = s.div(s.f(1), sum);
  store([&](Value x, size_t column) {
    return s.mul(powerOf(x, column), factor[column]);
  });
}

/// Returns what normalizes the distance from the mean.
Value RowsEmitter::factorOf(Value variance, const APFloat &epsilon) {
  Value shifted = s.add(variance, s.f(epsilon.convertToDouble()));
  return s.div(s.f(1), math::SqrtOp::create(b, loc, shifted));
}

void RowsEmitter::emitNorm(const APFloat &epsilon, bool isRms) {
  SmallVector<Value> mean;
  if (!isRms) {
    mean = reduce(Fold::sum, [](Value x, size_t) { return x; });
    for (Value &sum : mean)
      sum = meanOf(sum);
    update([&](Value x, size_t column) { return s.sub(x, mean[column]); });
  }
  auto centered = [&](Value x, size_t column) {
    return isRms || isHeld() ? x : s.sub(x, mean[column]);
  };
  SmallVector<Value> factor = reduce(Fold::sum, [&](Value x, size_t column) {
    Value distance = centered(x, column);
    return s.mul(distance, distance);
  });
  for (Value &squares : factor)
    squares = factorOf(meanOf(squares), epsilon);
  store([&](Value x, size_t column) {
    return s.mul(centered(x, column), factor[column]);
  });
}

void RowsEmitter::emitReduction(ReduceKind kind) {
  SmallVector<Value> results = reduce(foldOf(kind), [&](Value x, size_t) {
    return kind == ReduceKind::sum_square ? s.mul(x, x) : x;
  });
  if (kind == ReduceKind::mean)
    for (Value &sum : results)
      sum = meanOf(sum);
  storeResults(rows.columnsOf(code, row), results);
}

void RowsEmitter::emitPool(PoolOp op) {
  SmallVector<Value> results =
      reduce(foldOf(op.getKind()), [](Value x, size_t) { return x; });
  if (op.getKind() != PoolKind::max) {
    Value count =
        op.getKind() == PoolKind::mean ? toFloat(countInside()) : length();
    for (Value &sum : results)
      sum = s.div(sum, count);
  }
  storeResults(rows.columnsOf(code, row), results);
}

void RowsEmitter::emitMoments() {
  SmallVector<Value> mean =
      reduce(Fold::sum, [](Value x, size_t) { return x; });
  for (Value &sum : mean)
    sum = meanOf(sum);
  SmallVector<Value> squares = reduce(Fold::sum, [&](Value x, size_t column) {
    Value distance = s.sub(x, mean[column]);
    return s.mul(distance, distance);
  });
  SmallVector<Value> results;
  for (auto [own, sum] : llvm::zip_equal(mean, squares))
    llvm::append_values(results, own, meanOf(sum));
  storeResults({rows.indicesOf(code, row, code.number(0)).front(),
                rows.groupOf(code, row), code.number(0)},
               results);
}

/// Combines the moments of parts of equal size: the variance is the mean of the
/// parts' variances and of the squared distances of their means.
void RowsEmitter::emitNormalize(NormalizeOp op) {
  const auto parts = int64_t(op.getParts());
  const StridedLayout layout = StridedLayout::of(op.getMoments());
  Value sample = rows.indicesOf(code, row, code.number(0)).front();
  Value first = code.multiply(code.divide(sample, parts), parts);
  Value moments = code.shift(
      code.addressOf(op.getMoments()), layout.element,
      code.add(code.multiply(first, layout.strides[0]),
               code.multiply(rows.groupOf(code, row), layout.strides[1])));
  // There are no moments of a row that does not exist.
  Value numParts = code.number(parts);
  if (isRow)
    numParts = code.select(isRow, numParts, code.number(0));
  // Sums up what `term` returns for the mean and variance of each part.
  auto sumUp =
      [&](function_ref<Value(Value mean, Value variance, size_t)> term) {
        auto loop =
            scf::ForOp::create(b, loc, code.number(0), numParts, code.number(1),
                               SmallVector<Value>(numColumns(), s.f(0)));
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        SmallVector<Value> loaded =
            loadElements(code,
                         code.shift(moments, layout.element,
                                    code.multiply(loop.getInductionVar(),
                                                  layout.strides[0])),
                         layout.element, int64_t(2 * numColumns()));
        SmallVector<Value> next;
        for (auto [i, sum] : llvm::enumerate(loop.getRegionIterArgs()))
          next.push_back(
              fold(Fold::sum, sum, term(loaded[2 * i], loaded[2 * i + 1], i)));
        scf::YieldOp::create(b, loc, next);
        SmallVector<Value> sums(loop.getResults());
        b.setInsertionPointAfter(loop);
        for (Value &sum : sums)
          sum = s.div(sum, s.f(double(parts)));
        return sums;
      };
  SmallVector<Value> mean =
      sumUp([](Value mean, Value, size_t) { return mean; });
  SmallVector<Value> factor =
      sumUp([&](Value own, Value variance, size_t column) {
        Value distance = s.sub(own, mean[column]);
        return fold(Fold::sum, variance, s.mul(distance, distance));
      });
  for (Value &variance : factor)
    variance = factorOf(variance, op.getEpsilon());
  store([&](Value x, size_t column) {
    return s.mul(s.sub(x, mean[column]), factor[column]);
  });
}

void RowsEmitter::emit() {
  thread = code.thread();
  const int64_t rowsOfBlock = schedule.getRows();
  const Team team = rows.team();
  member = team.memberOf(code, thread);
  row = code.add(code.multiply(code.block(), rowsOfBlock),
                 team.teamOf(code, thread));
  const Number numRows = rows.rows(code);
  if (rowsOfBlock > 1 &&
      (numRows.isOpen() || numRows.known() % rowsOfBlock != 0))
    isRow = code.isWithin(row, numRows);
  kernel::EpilogueOpInterface op = rows.op;
  src = code.addressOf(op->getOperand(0));
  arrays.emplace(code, op, rows.operands, rows.dst);
  if (auto pool = dyn_cast<PoolOp>(*op))
    findWindow(foldOf(pool.getKind()));
  hold();
  if (auto softmax = dyn_cast<SoftmaxOp>(*op))
    emitSoftmax(softmax.getLog());
  else if (auto reduction = dyn_cast<ReduceOp>(*op))
    emitReduction(reduction.getKind());
  else if (auto pool = dyn_cast<PoolOp>(*op))
    emitPool(pool);
  else if (isa<MomentsOp>(*op))
    emitMoments();
  else if (auto normalize = dyn_cast<NormalizeOp>(*op))
    emitNormalize(normalize);
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
