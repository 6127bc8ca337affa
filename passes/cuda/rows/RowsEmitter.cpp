//===- RowsEmitter.cpp - code of kernels on rows --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/rows/RowsEmitter.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Loads the elements of a vector as f32.
SmallVector<Value> RowsEmitter::load(Value vector) {
  Value isInside;
  SmallVector<Value> indices = rows.windows.empty()
                                   ? rows.indicesOf(code, row, vector)
                                   : tapOf(vector, isInside);
  Value offset = code.number(0);
  for (auto [index, size, stride] :
       llvm::zip_equal(indices, rows.src.sizes, rows.src.strides))
    if (!size.is(1))
      offset = code.add(offset, code.multiply(index, stride));
  // An address in the padding is not valid.
  if (isInside)
    offset = code.select(isInside, offset, code.number(0));
  Type element = rows.src.element;
  SmallVector<Value> values = loadElements(
      code, code.shift(src, element, offset), element, schedule.getVector());
  for (Value &value : values) {
    if (!element.isF32())
      value = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
    if (isInside)
      value = code.select(isInside, value, padding);
  }
  return values;
}

void RowsEmitter::findWindow(Fold kind) {
  padding = neutralOf(kind);
  SmallVector<Value> indices = rows.columnsOf(code, row);
  for (auto [i, window] : llvm::enumerate(rows.windows))
    starts.push_back(
        code.add(code.multiply(indices[i + 1], window.stride), -window.pad));
}

/// Returns the indices of a tap of the window. `isInside` is null if windows do
/// not leave src.
SmallVector<Value> RowsEmitter::tapOf(Value number, Value &isInside) {
  SmallVector<Number> taps;
  for (const WindowDim &window : rows.windows)
    taps.push_back(window.taps);
  SmallVector<Value> indices = rows.columnsOf(code, row);
  for (auto [i, tap] : llvm::enumerate(code.delinearize(number, taps))) {
    const WindowDim &window = rows.windows[i];
    indices[i + 1] = code.add(starts[i], code.multiply(tap, window.dilation));
    if (window.isPadded)
      isInside =
          code.both(isInside, code.isWithin(indices[i + 1], window.size));
  }
  return indices;
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
    scf::YieldOp::create(b, loc, SmallVector<Value>(types.size(), s.f(0)));
    held.emplace_back(branch.getResults());
  }
}

/// Returns how many elements of the window are not in the padding, but at
/// least 1.
Value RowsEmitter::countInside() {
  auto larger = [&](Value x, int64_t y) {
    return b.createOrFold<arith::MaxSIOp>(loc, x, code.number(y));
  };
  // Returns the taps that lie before a number of pixels.
  auto tapsBefore = [&](Value pixels, const WindowDim &window) {
    Value taps = code.divide(code.add(larger(pixels, 0), window.dilation - 1),
                             window.dilation);
    return b.createOrFold<arith::MinSIOp>(loc, taps, code.number(window.taps));
  };
  Value count = code.number(1);
  for (auto [start, window] : llvm::zip_equal(starts, rows.windows)) {
    if (!window.isPadded) {
      count = code.multiply(count, window.taps);
      continue;
    }
    Value first = tapsBefore(code.subtract(code.number(0), start), window);
    Value end =
        tapsBefore(code.subtract(code.valueOf(window.size), start), window);
    count = b.createOrFold<arith::MulIOp>(loc, count,
                                          larger(code.subtract(end, first), 0));
  }
  return larger(count, 1);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Value RowsEmitter::fold(Fold kind, Value x, Value y) {
  switch (kind) {
  case Fold::sum:
    return arith::AddFOp::create(b, loc, x, y);
  case Fold::product:
    return arith::MulFOp::create(b, loc, x, y);
  case Fold::maximum:
    return arith::MaximumFOp::create(b, loc, x, y);
  case Fold::minimum:
    return arith::MinimumFOp::create(b, loc, x, y);
  }
  llvm_unreachable("unknown fold");
}

Value RowsEmitter::neutralOf(Fold kind) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (kind) {
  case Fold::sum:
    return s.f(0);
  case Fold::product:
    return s.f(1);
  case Fold::maximum:
    return s.f(-kInfinity);
  case Fold::minimum:
    return s.f(kInfinity);
  }
  llvm_unreachable("unknown fold");
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
  auto loop = scf::ForOp::create(b, loc, member, end(),
                                 code.number(schedule.getThreads()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

/// Folds `element` of the thread's elements, which are in registers.
SmallVector<Value> RowsEmitter::reduceHeld(Fold kind, ElementFn element) {
  SmallVector<SmallVector<Value>> columns(numColumns());
  for (auto [i, vector] : llvm::enumerate(held)) {
    Value isInside = isHeldInside(int64_t(i));
    for (auto [j, x] : llvm::enumerate(vector)) {
      Value value = element(x, columnOf(j));
      columns[columnOf(j)].push_back(
          isInside ? code.select(isInside, value, neutralOf(kind)) : value);
    }
  }
  return llvm::map_to_vector(columns, [&](const SmallVector<Value> &column) {
    return foldAll(kind, column);
  });
}

/// Folds `element` of the thread's elements, which are read in a loop.
SmallVector<Value> RowsEmitter::reduceInLoop(Fold kind, ElementFn element) {
  SmallVector<Value> start(numColumns(), neutralOf(kind));
  auto loop = scf::ForOp::create(b, loc, member, end(),
                                 code.number(schedule.getThreads()), start);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<SmallVector<Value>> columns(numColumns());
  for (auto [i, x] : llvm::enumerate(load(loop.getInductionVar())))
    columns[columnOf(i)].push_back(element(x, columnOf(i)));
  SmallVector<Value> next;
  for (auto [before, column] :
       llvm::zip_equal(loop.getRegionIterArgs(), columns))
    next.push_back(fold(kind, before, foldAll(kind, column)));
  scf::YieldOp::create(b, loc, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

/// Folds `element` of all elements of each column. Rows that are no columns
/// have one result.
SmallVector<Value> RowsEmitter::reduce(Fold kind, ElementFn element) {
  SmallVector<Value> own =
      isHeld() ? reduceHeld(kind, element) : reduceInLoop(kind, element);
  const size_t first = numResults;
  numResults += own.size();
  return combineTeam(
      code, rows.team(), {rows.op->getParentOfType<ModuleOp>(), thread, first},
      own, [&](size_t, Value x, Value y) { return fold(kind, x, y); });
}

/// Replaces the held elements.
void RowsEmitter::update(ElementFn element) {
  for (SmallVector<Value> &vector : held)
    for (auto [i, x] : llvm::enumerate(vector))
      x = element(x, columnOf(i));
}

void RowsEmitter::storeVector(Value vector, ArrayRef<Value> elements,
                              ElementFn element) {
  SmallVector<Value> results;
  for (auto [i, x] : llvm::enumerate(elements))
    results.push_back(element(x, columnOf(i)));
  storeThroughEpilogue(code, *arrays, rows.indicesOf(code, row, vector),
                       results);
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

/// Lets the first thread of a row run the epilogue on neighboring results, and
/// store them from `indices` on.
void RowsEmitter::storeResults(ArrayRef<Value> indices,
                               ArrayRef<Value> results) {
  OpBuilder::InsertionGuard guard(b);
  Value isFirst;
  if (schedule.getThreads() > 1)
    isFirst = code.equals(member, 0);
  if (Value stores = code.both(isRow, isFirst)) {
    auto branch = scf::IfOp::create(b, loc, stores, /*withElseRegion=*/false);
    b.setInsertionPoint(branch.thenYield());
  }
  storeThroughEpilogue(code, *arrays, indices, results);
}
