//===- OutlineTopK.cpp - cuda-outline-top-k -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/kernels/Code.h"
#include "passes/cuda/kernels/KernelModule.h"
#include "passes/loops/KernelTable.h"
#include "passes/support/KeyOrder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
#define GEN_PASS_DEF_OUTLINETOPK
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

/// Bytes of an item: the key of an element and its position.
static constexpr int64_t kItemBytes = 8;

namespace {

/// Writes the kernel of a `cuda.top_k`. A block sorts the items of a row in
/// shared memory (bitonic sort: Batcher, Sorting networks and their
/// applications, 1968). A row with more items than fit is taken in pieces. The
/// best items so far are sorted together with those of the next piece.
class TopKEmitter {
public:
  TopKEmitter(OpBuilder &b, TopKOp op)
      : code(b, op.getLoc()), b(b),
        loc(op.getLoc()), order{b, loc, b.getF32Type(), /*isUnsigned=*/false,
                                /*descends=*/!op.getSmallest()},
        length(sizeOf(op.getSrc())), k(sizeOf(op.getValues())) {
    const bool isWhole = length <= kMaxItems;
    items = isWhole
                ? std::max<int64_t>(
                      int64_t(llvm::PowerOf2Ceil(uint64_t(length))), 2 * kWarp)
                : kMaxItems;
    kept = isWhole ? 0 : k;
    threads = std::min(kMaxThreads, items / 2);
  }

  int64_t numThreads() const { return threads; }
  int64_t sharedBytes() const { return items * kItemBytes; }
  void emit(ModuleOp kernels, ValueRange memrefs);

private:
  static constexpr int64_t kMaxItems = 2 * TopKOp::kMaxK;
  static int64_t sizeOf(Value memref) {
    return cast<MemRefType>(memref.getType()).getDimSize(1);
  }
  Value place(Value slot) { return code.shift(shared, b.getI64Type(), slot); }
  Value load(Value slot) {
    return code.load(place(slot), b.getI64Type(), kItemBytes);
  }
  void store(Value item, Value slot) {
    code.store(item, place(slot), kItemBytes);
  }
  Value toIndex(Value number) {
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), number);
  }
  template <typename Op>
  Value binary(Value x, Value y) {
    return b.createOrFold<Op>(loc, x, y);
  }
  /// Returns an item behind those of all elements.
  Value last() {
    return arith::ConstantIntOp::create(b, loc, b.getI64Type(), -1);
  }
  void forEach(Value from, int64_t end, int64_t step,
               function_ref<void(Value)> body);
  void fill(Value start);
  void exchange(Value pair, Value stage, Value distance);
  void sort();
  void storeResults();

  Code code;
  OpBuilder &b;
  Location loc;
  support::KeyOrder order;
  /// Elements of a row, and results.
  int64_t length, k;
  /// Items in shared memory. The first `kept` of them stay from one piece to
  /// the next.
  int64_t items, kept;
  int64_t threads;
  Value shared, thread, row, src, values, indices;
};

struct OutlineTopKPass : ingot::impl::OutlineTopKBase<OutlineTopKPass> {
  void runOnOperation() override;
};

} // namespace

/// Runs `body` for numbers from `from` to before `end`.
void TopKEmitter::forEach(Value from, int64_t end, int64_t step,
                          function_ref<void(Value)> body) {
  auto loop =
      scf::ForOp::create(b, loc, from, code.number(end), code.number(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

/// Stores the items of the piece that starts with element `start`.
void TopKEmitter::fill(Value start) {
  forEach(code.add(thread, kept), items, threads, [&](Value slot) {
    Value position = code.add(start, code.add(slot, -kept));
    auto branch = scf::IfOp::create(b, loc, b.getI64Type(),
                                    code.isWithin(position, length),
                                    /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      Value at = toIndex(position);
      Value element = memref::LoadOp::create(b, loc, src, ValueRange{row, at});
      scf::YieldOp::create(b, loc, order.itemOf(element, at));
      b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(b, loc, last());
    }
    store(branch.getResult(0), slot);
  });
  NVVM::BarrierOp::create(b, loc);
}

/// Sorts two items that are 2^`distance` apart. Sequences of 2^`stage` items
/// are sorted up and down in turn.
void TopKEmitter::exchange(Value pair, Value stage, Value distance) {
  Value one = code.number(1);
  Value step = binary<arith::ShLIOp>(one, distance);
  Value high = binary<arith::ShRUIOp>(pair, distance);
  Value low = code.subtract(pair, binary<arith::ShLIOp>(high, distance));
  Value first =
      code.add(binary<arith::ShLIOp>(high, code.add(distance, 1)), low);
  Value second = code.add(first, step);
  Value isDown = code.equals(
      binary<arith::AndIOp>(binary<arith::ShRUIOp>(first, stage), one), 1);
  Value x = load(first), y = load(second);
  Value isGreater =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, x, y);
  auto branch = scf::IfOp::create(b, loc, code.exclusiveOr(isGreater, isDown),
                                  /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  store(y, first);
  store(x, second);
}

void TopKEmitter::sort() {
  const int64_t stages = llvm::Log2_64(uint64_t(items));
  forEach(code.number(1), stages + 1, 1, [&](Value stage) {
    auto loop =
        scf::ForOp::create(b, loc, code.number(0), stage, code.number(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value distance = code.add(code.subtract(stage, loop.getInductionVar()), -1);
    forEach(thread, items / 2, threads,
            [&](Value pair) { exchange(pair, stage, distance); });
    NVVM::BarrierOp::create(b, loc);
  });
}

void TopKEmitter::storeResults() {
  forEach(thread, k, threads, [&](Value slot) {
    Value at = order.positionOf(load(slot)), to = toIndex(slot);
    Value value = memref::LoadOp::create(b, loc, src, ValueRange{row, at});
    memref::StoreOp::create(b, loc, value, values, ValueRange{row, to});
    Value index = arith::IndexCastOp::create(b, loc, b.getI64Type(), at);
    memref::StoreOp::create(b, loc, index, indices, ValueRange{row, to});
  });
}

void TopKEmitter::emit(ModuleOp kernels, ValueRange memrefs) {
  src = memrefs[0];
  values = memrefs[1];
  indices = memrefs[2];
  shared = code.sharedMemory(kernels);
  thread = code.thread();
  row = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  if (kept == 0) {
    fill(code.number(0));
    sort();
  } else {
    forEach(thread, kept, threads, [&](Value slot) { store(last(), slot); });
    forEach(code.number(0), length, items - kept, [&](Value start) {
      fill(start);
      sort();
    });
  }
  storeResults();
}

static void outline(TopKOp op, ModuleOp kernels, loops::KernelTable &table) {
  Location loc = op.getLoc();
  OpBuilder b(op->getContext());
  func::FuncOp kernel =
      loops::KernelTable::create(b, loc, op->getOperands(), {});
  TopKEmitter emitter(b, op);
  setBlock(kernel, emitter.numThreads(), emitter.sharedBytes());
  emitter.emit(kernels, kernel.getArguments());
  kernel = table.insert(kernel, "top_k_");
  b.setInsertionPoint(op);
  Value blocks = b.createOrFold<memref::DimOp>(loc, op.getSrc(), 0);
  launch(b, loc, kernel, op->getOperands(), blocks, /*writes=*/2);
  op->erase();
}

void OutlineTopKPass::runOnOperation() {
  SmallVector<TopKOp> ops;
  getOperation()->walk([&](TopKOp op) {
    if (op->getNumResults() == 0)
      ops.push_back(op);
  });
  if (ops.empty())
    return;
  ModuleOp kernels = kernelsOf(getOperation());
  loops::KernelTable table(kernels);
  for (TopKOp op : ops)
    outline(op, kernels, table);
  launched += int64_t(ops.size());
  shared += table.numShared;
}
