//===- OutlineTopK.cpp - cuda-outline-top-k -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/kernels/BlockSort.h"
#include "passes/cuda/kernels/KernelModule.h"
#include "passes/cuda/schedule/Machine.h"
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

namespace {

/// Writes the kernel of a `cuda.top_k`. A block sorts the items of a row in
/// shared memory. A row with more items than fit, or whose length only a run
/// knows, is taken in pieces. The best items so far are sorted together with
/// those of the next piece.
class TopKEmitter {
public:
  TopKEmitter(OpBuilder &b, TopKOp op)
      : code(b, op.getLoc()), b(b), loc(op.getLoc()),
        order{b, loc, cast<MemRefType>(op.getSrc().getType()).getElementType(),
              op.getIsUnsigned(), /*descends=*/!op.getSmallest()},
        knownLength(cast<MemRefType>(op.getSrc().getType()).getDimSize(1)),
        sort(code, itemsOf(op)), kept(isWhole() ? 0 : op.mostResults()) {}

  int64_t numThreads() const { return sort.numThreads(); }
  int64_t sharedBytes() const { return sort.sharedBytes(); }
  void emit(ModuleOp kernels, ValueRange memrefs);

private:
  static constexpr int64_t kMaxItems = 2 * TopKOp::kMaxK;

  static int64_t itemsOf(TopKOp op);
  bool isWhole() const {
    return !ShapedType::isDynamic(knownLength) && knownLength <= kMaxItems;
  }
  Value toIndex(Value number) {
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), number);
  }
  Value elementAt(Value position) {
    return memref::LoadOp::create(b, loc, src, ValueRange{row, position});
  }
  /// Returns the position of an item, or the last position of the row for an
  /// item behind those of all elements.
  Value positionOf(Value item) {
    Value last = toIndex(code.add(code.valueOf(length), -1));
    return arith::MinUIOp::create(b, loc, order.positionOf(item), last);
  }
  Value isGreater(Value x, Value y);
  void fill(Value start);
  void storeResults();

  Code code;
  OpBuilder &b;
  Location loc;
  support::KeyOrder order;
  /// Elements of a row.
  int64_t knownLength;
  Number length = 0;
  BlockSort sort;
  /// The first `kept` items in shared memory stay from one piece to the next.
  int64_t kept;
  Value row, src, values, indices;
};

struct OutlineTopKPass : ingot::impl::OutlineTopKBase<OutlineTopKPass> {
  void runOnOperation() override;
};

} // namespace

/// Returns the items that a block sorts together.
int64_t TopKEmitter::itemsOf(TopKOp op) {
  const int64_t length = cast<MemRefType>(op.getSrc().getType()).getDimSize(1);
  auto powerOf = [](int64_t count) {
    return int64_t(llvm::PowerOf2Ceil(uint64_t(count)));
  };
  if (ShapedType::isDynamic(length))
    return std::max(kOpenRowItems, 2 * powerOf(op.mostResults()));
  return std::min(std::max(powerOf(length), 2 * kWarp), kMaxItems);
}

/// Returns true if item `x` comes behind item `y`.
Value TopKEmitter::isGreater(Value x, Value y) {
  auto compare = [&](arith::CmpIPredicate predicate, Value x,
                     Value y) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  };
  Value isBehind = compare(arith::CmpIPredicate::ugt, x, y);
  if (order.hasKeyInItem())
    return isBehind;
  // Keys of 64 bits are made from the elements again. An item behind those of
  // all elements has no element, and the items themselves tell the order.
  auto keyOf = [&](Value item) {
    return order.keyOf(elementAt(positionOf(item)));
  };
  Value p = keyOf(x), q = keyOf(y);
  Value isBehindByKey = arith::OrIOp::create(
      b, loc, compare(arith::CmpIPredicate::ugt, p, q),
      code.both(compare(arith::CmpIPredicate::eq, p, q), isBehind));
  Value last = sort.last();
  Value areElements = code.both(compare(arith::CmpIPredicate::ne, x, last),
                                compare(arith::CmpIPredicate::ne, y, last));
  return code.select(areElements, isBehindByKey, isBehind);
}

/// Stores the items of the piece that starts with element `start`.
void TopKEmitter::fill(Value start) {
  sort.forEach(
      code.add(sort.thread(), kept), sort.numItems(), sort.numThreads(),
      [&](Value slot) {
        Value position = code.add(start, code.add(slot, -kept));
        auto branch = scf::IfOp::create(b, loc, b.getI64Type(),
                                        code.isWithin(position, length),
                                        /*withElseRegion=*/true);
        {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToStart(branch.thenBlock());
          Value at = toIndex(position);
          scf::YieldOp::create(b, loc, order.itemOf(elementAt(at), at));
          b.setInsertionPointToStart(branch.elseBlock());
          scf::YieldOp::create(b, loc, sort.last());
        }
        sort.store(branch.getResult(0), slot);
      });
  sort.sort([&](Value x, Value y) { return isGreater(x, y); });
}

void TopKEmitter::storeResults() {
  sort.forEach(
      sort.thread(), code.sizeOf(values, 1), sort.numThreads(),
      [&](Value slot) {
        Value at = positionOf(sort.load(slot)), to = toIndex(slot);
        memref::StoreOp::create(b, loc, elementAt(at), values,
                                ValueRange{row, to});
        Value index = arith::IndexCastOp::create(b, loc, b.getI64Type(), at);
        memref::StoreOp::create(b, loc, index, indices, ValueRange{row, to});
      });
}

void TopKEmitter::emit(ModuleOp kernels, ValueRange memrefs) {
  src = memrefs[0];
  values = memrefs[1];
  indices = memrefs[2];
  length = code.sizeOf(src, 1);
  sort.begin(kernels);
  row = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  if (kept == 0) {
    fill(code.number(0));
  } else {
    sort.forEach(sort.thread(), kept, sort.numThreads(),
                 [&](Value slot) { sort.store(sort.last(), slot); });
    sort.forEach(code.number(0), length, sort.numItems() - kept,
                 [&](Value start) { fill(start); });
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
  requireCounted(b, loc, op.getSrc());
  Value blocks = b.createOrFold<memref::DimOp>(loc, op.getSrc(), 0);
  launch(b, loc, kernel, op->getOperands(), blocks, /*writes=*/2);
  op->erase();
}

void OutlineTopKPass::runOnOperation() {
  shared +=
      outlineOps(getOperation(), llvm::IsaPred<TopKOp>,
                 [&](Operation *op, loops::KernelTable &table) {
                   outline(cast<TopKOp>(op), kernelsOf(getOperation()), table);
                   ++launched;
                 });
}
