//===- BlockSort.cpp - sort of a block in shared memory -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/kernels/BlockSort.h"

#include "dialects/cuda/CudaDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

template <typename Op>
static Value binary(Code &code, Value x, Value y) {
  return code.b.createOrFold<Op>(code.loc, x, y);
}

BlockSort::BlockSort(Code &code, int64_t items)
    : code(code), items(items), threads(std::min(kMaxThreads, items / 2)) {
  assert(llvm::isPowerOf2_64(uint64_t(items)) && items >= 2 * kWarp &&
         "a block sorts a power of two of items, two for each thread");
}

void BlockSort::begin(ModuleOp kernels) {
  shared = code.sharedMemory(kernels);
  ownThread = code.thread();
}

Value BlockSort::place(Value slot) {
  return code.shift(shared, code.b.getI64Type(), slot);
}

Value BlockSort::load(Value slot) {
  return code.load(place(slot), code.b.getI64Type(), kItemBytes);
}

void BlockSort::store(Value item, Value slot) {
  code.store(item, place(slot), kItemBytes);
}

Value BlockSort::last() {
  return arith::ConstantIntOp::create(code.b, code.loc, code.b.getI64Type(),
                                      -1);
}

void BlockSort::forEach(Value from, Number end, int64_t step,
                        function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(code.b, code.loc, from, code.valueOf(end),
                                 code.number(step));
  OpBuilder::InsertionGuard guard(code.b);
  code.b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

/// Sorts two items that are 2^`distance` apart. Sequences of 2^`stage` items
/// are sorted up and down in turn.
void BlockSort::exchange(Value pair, Value stage, Value distance,
                         IsGreater isGreater) {
  OpBuilder &b = code.b;
  Value one = code.number(1);
  Value step = binary<arith::ShLIOp>(code, one, distance);
  Value high = binary<arith::ShRUIOp>(code, pair, distance);
  Value low = code.subtract(pair, binary<arith::ShLIOp>(code, high, distance));
  Value first =
      code.add(binary<arith::ShLIOp>(code, high, code.add(distance, 1)), low);
  Value second = code.add(first, step);
  Value isDown =
      code.equals(binary<arith::AndIOp>(
                      code, binary<arith::ShRUIOp>(code, first, stage), one),
                  1);
  Value x = load(first), y = load(second);
  auto branch =
      scf::IfOp::create(b, code.loc, code.exclusiveOr(isGreater(x, y), isDown),
                        /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  store(y, first);
  store(x, second);
}

void BlockSort::sort(IsGreater isGreater) {
  OpBuilder &b = code.b;
  NVVM::BarrierOp::create(b, code.loc);
  const int64_t stages = llvm::Log2_64(uint64_t(items));
  forEach(code.number(1), stages + 1, 1, [&](Value stage) {
    auto loop =
        scf::ForOp::create(b, code.loc, code.number(0), stage, code.number(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value distance = code.add(code.subtract(stage, loop.getInductionVar()), -1);
    forEach(thread(), items / 2, threads,
            [&](Value pair) { exchange(pair, stage, distance, isGreater); });
    NVVM::BarrierOp::create(b, code.loc);
  });
}
