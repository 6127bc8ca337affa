//===- DeferChecks.cpp - cuda-defer-checks --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/host/HostMemory.h"
#include "passes/cuda/kernels/KernelModule.h"
#include "passes/loops/KernelTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace ingot {
#define GEN_PASS_DEF_DEFERCHECKS
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

/// The computation of a check: loads and sizes, and what follows from them.
struct Slice {
  /// In the order of the block.
  SmallVector<Operation *> ops;
  SmallVector<memref::LoadOp> loads;
  /// The memrefs of which a kernel takes elements or sizes.
  SetVector<Value> buffers;
};

struct DeferChecksPass : ingot::impl::DeferChecksBase<DeferChecksPass> {
  void runOnOperation() override;
  void defer(RequireOp check, const Slice &slice, loops::KernelTable &table);
  int64_t numberOf(StringAttr message);

  SmallVector<Attribute> messages;
};

} // namespace

/// Returns true if a kernel can take the memref: it is in GPU memory, and has
/// elements at regular distances.
static bool isPassable(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t offset;
  SmallVector<int64_t> strides;
  return !isOfHost(memref) &&
         succeeded(type.getStridesAndOffset(strides, offset));
}

/// Returns the memref of which `op` takes an element or a size; null for
/// another op.
static Value sourceOf(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return load.getMemref();
  auto size = dyn_cast<memref::DimOp>(op);
  return size ? size.getSource() : Value();
}

/// Returns true if `op` launches the kernel of another check, which writes the
/// status alone.
static bool isCheck(Operation *op) {
  auto launch = dyn_cast<cuda::LaunchOp>(op);
  return launch && launch.getWrites() == 1 &&
         launch.getArgs().back().getDefiningOp<StatusOp>();
}

/// Returns true if `op` is a check, or a value for checks alone.
static bool isForChecks(Operation *op) {
  return isa<RequireOp>(op) ||
         (isPure(op) && llvm::all_of(op->getUsers(), isForChecks));
}

/// Returns true if the host needs a value that follows from elements for more
/// than checks.
static bool isNeeded(const Slice &slice) {
  DenseSet<Operation *> follow;
  return llvm::any_of(slice.ops, [&](Operation *op) {
    const bool follows = isa<memref::LoadOp>(op) ||
                         llvm::any_of(op->getOperands(), [&](Value operand) {
                           return follow.contains(operand.getDefiningOp());
                         });
    if (follows)
      follow.insert(op);
    return follows && !llvm::all_of(op->getUsers(), isForChecks);
  });
}

/// Returns the computation of a check that a kernel can make: from elements in
/// GPU memory that the host does not need otherwise.
static FailureOr<Slice> sliceOf(RequireOp check) {
  SetVector<Operation *> found;
  SmallVector<Value> todo(check->getOperands());
  Slice slice;
  while (!todo.empty()) {
    Value value = todo.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op)
      return failure();
    if (matchPattern(value, m_Constant()) || !found.insert(op))
      continue;
    Value source = sourceOf(op);
    if (op->getBlock() != check->getBlock() || op->getNumRegions() != 0 ||
        (source ? !isPassable(source) : !isPure(op)))
      return failure();
    for (Value operand : op->getOperands())
      if (operand != source)
        todo.push_back(operand);
  }
  slice.ops = found.takeVector();
  llvm::sort(slice.ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : slice.ops) {
    if (Value source = sourceOf(op))
      slice.buffers.insert(source);
    if (auto load = dyn_cast<memref::LoadOp>(op))
      slice.loads.push_back(load);
  }
  if (slice.loads.empty() || isNeeded(slice))
    return failure();
  // The launch takes the place of the last load.
  if (llvm::any_of(slice.buffers, [&](Value buffer) {
        Operation *op = buffer.getDefiningOp();
        return op && op->getBlock() == check->getBlock() &&
               slice.loads.back()->isBeforeInBlock(op);
      }))
    return failure();
  // The kernel makes all loads at one time, so no write may lie between them.
  for (Operation *op = slice.loads.front(); op != slice.loads.back();
       op = op->getNextNode())
    if (!isa<memref::LoadOp>(op) && !isMemoryEffectFree(op) && !isCheck(op))
      return failure();
  return slice;
}

/// Returns the number of a message, from 1 on.
int64_t DeferChecksPass::numberOf(StringAttr message) {
  auto known = llvm::find(messages, message);
  const int64_t number = known - messages.begin() + 1;
  if (known == messages.end())
    messages.push_back(message);
  return number;
}

/// Adds the code of the kernel: thread 0 computes the condition, and stores the
/// number of the first check that fails.
static void addCode(OpBuilder &b, RequireOp check, const Slice &slice,
                    IRMapping &values, Value status, int64_t number) {
  Location loc = check.getLoc();
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto equal = [&](Value left, Value right) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, left, right);
  };
  auto i64 = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, value, 64);
  };
  auto enter = [&](Value condition) {
    auto branch =
        scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  };
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  enter(equal(thread, index(0)));
  auto copyConstant = [&](Value value) {
    if (!values.contains(value) && matchPattern(value, m_Constant()))
      values.map(value, b.clone(*value.getDefiningOp())->getResult(0));
  };
  for (Operation *op : slice.ops) {
    llvm::for_each(op->getOperands(), copyConstant);
    b.clone(*op, values);
  }
  llvm::for_each(check->getOperands(), copyConstant);
  Value no = arith::ConstantIntOp::create(b, loc, b.getI1Type(), 0);
  enter(equal(values.lookup(check.getHolds()), no));
  // An earlier check stays the first one.
  Value old = memref::LoadOp::create(b, loc, status, index(0));
  enter(equal(old, i64(0)));
  memref::StoreOp::create(b, loc, i64(number), status, index(0));
  for (auto [i, value] : llvm::enumerate(check.getValues())) {
    Value stored = arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                              values.lookup(value));
    memref::StoreOp::create(b, loc, stored, status, index(int64_t(i) + 1));
  }
}

void DeferChecksPass::defer(RequireOp check, const Slice &slice,
                            loops::KernelTable &table) {
  OpBuilder b(slice.loads.back());
  b.setInsertionPointAfter(slice.loads.back());
  Location loc = check.getLoc();
  SetVector<Value> buffers = slice.buffers;
  buffers.insert(StatusOp::create(
      b, loc, MemRefType::get({StatusOp::kWords}, b.getI64Type())));
  OpBuilder inside(&getContext());
  func::FuncOp kernel =
      loops::KernelTable::create(inside, loc, buffers.getArrayRef(), {});
  setBlock(kernel, kWarp, /*sharedBytes=*/0);
  IRMapping values;
  values.map(buffers.getArrayRef(), kernel.getArguments());
  {
    OpBuilder::InsertionGuard guard(inside);
    addCode(inside, check, slice, values, kernel.getArguments().back(),
            numberOf(check.getMessageAttr()));
  }
  kernel = table.insert(kernel, "check_");
  Value blocks = arith::ConstantIndexOp::create(b, loc, 1);
  launch(b, loc, kernel, buffers.getArrayRef(), blocks, /*writes=*/1);
  check.erase();
  // Other checks may need the same values.
  for (Operation *op : llvm::reverse(slice.ops))
    if (op->use_empty())
      op->erase();
  ++deferred;
}

/// Returns the checks of a function. Erases those of a condition that an
/// earlier check has, because the earlier one fails first.
static SmallVector<RequireOp> checksOf(func::FuncOp function) {
  SmallVector<RequireOp> checks;
  DenseSet<std::pair<Block *, Value>> conditions;
  function.walk([&](RequireOp check) {
    if (conditions.insert({check->getBlock(), check.getHolds()}).second)
      checks.push_back(check);
    else
      check.erase();
  });
  return checks;
}

void DeferChecksPass::runOnOperation() {
  messages.clear();
  SmallVector<RequireOp> checks;
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (findRunOperand(function, RunOperand::call))
      llvm::append_range(checks, checksOf(function));
  std::optional<loops::KernelTable> table;
  for (RequireOp check : checks) {
    FailureOr<Slice> slice = sliceOf(check);
    if (failed(slice))
      continue;
    if (!table)
      table.emplace(kernelsOf(getOperation()));
    defer(check, *slice, *table);
  }
  if (!messages.empty())
    CudaDialect::ChecksAttrHelper(&getContext())
        .setAttr(getOperation(), ArrayAttr::get(&getContext(), messages));
}
