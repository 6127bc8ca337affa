//===- OutlineLinalg.cpp - outline-linalg ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/ingot/TargetInfo.h"
#include "passes/codegen/common/Passes.h"
#include "passes/codegen/common/KernelTable.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace ingot {
#define GEN_PASS_DEF_OUTLINELINALG
#include "passes/codegen/common/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

/// How an op is split into tasks: `chunk` iterations of loop `loop` each.
struct Split {
  int64_t loop = -1;
  int64_t chunk = 0;
  int64_t tasks = 1;
};

/// What an op takes from around it.
struct Captures {
  SetVector<Value> memrefs;
  SetVector<Value> constants;
  bool areComplete = true;

  explicit Captures(linalg::LinalgOp op) {
    for (Value operand : op->getOperands())
      add(operand);
    SetVector<Value> inside;
    getUsedValuesDefinedAbove(op->getRegions(), inside);
    for (Value value : inside)
      add(value);
  }

  void add(Value value) {
    if (isa<MemRefType>(value.getType()))
      memrefs.insert(value);
    else if (matchPattern(value, m_Constant()))
      constants.insert(value);
    else
      areComplete = false;
  }
};

struct OutlineLinalgPass : ingot::impl::OutlineLinalgBase<OutlineLinalgPass> {
  void runOnOperation() override;
  void outline(linalg::LinalgOp op, codegen::KernelTable &table,
               bool isParallel);
};

} // namespace

/// An iteration of a loop takes, operation by operation, about as long as this
/// much arithmetic of a kernel.
static constexpr int64_t kOpCost = 40;

static Split splitOf(linalg::LinalgOp op) {
  Split split;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t iterations = 1;
  for (int64_t range : ranges) {
    if (ShapedType::isDynamic(range) || range == 0)
      return split;
    iterations *= range;
  }
  int64_t ops = 0;
  op->getRegion(0).walk([&](Operation *) { ++ops; });
  // Loops wait for memory more than kernels do: half as many tasks serve it.
  TargetInfo target = TargetInfo::of(op);
  int64_t tasks = std::min(iterations * ops * kOpCost / target.task_flops,
                           target.most_tasks / 2);
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (auto [i, range] : llvm::enumerate(ranges)) {
    if (range == 1)
      continue;
    if (iterators[i] != utils::IteratorType::parallel || tasks <= 1)
      return split;
    split.loop = i;
    split.chunk = llvm::divideCeil(range, std::min(tasks, range));
    split.tasks = llvm::divideCeil(range, split.chunk);
    return split;
  }
  return split;
}

/// The buffer that a view is of: a place in the arena or in the weights, an
/// argument, memory of the host.
static Value bufferOf(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (!isa<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp,
             memref::ReinterpretCastOp, memref::SubViewOp>(op))
      break;
    memref = op->getOperand(0);
  }
  return memref;
}

/// Buffers that live at one time do not overlap: views of different ones do not
/// alias.
static bool areDistinct(ArrayRef<Value> memrefs) {
  llvm::SmallDenseSet<Value> buffers;
  return llvm::all_of(memrefs, [&](Value memref) {
    return buffers.insert(bufferOf(memref)).second;
  });
}

/// The iterations of task `number` of a copy of `op`.
static LogicalResult buildTask(OpBuilder &builder, linalg::LinalgOp copy,
                               const Split &split, Value number) {
  if (split.loop < 0)
    return success();
  Location loc = copy.getLoc();
  SmallVector<int64_t> ranges = copy.getStaticLoopRanges();
  SmallVector<OpFoldResult> offsets, sizes;
  for (int64_t range : ranges) {
    offsets.push_back(builder.getIndexAttr(0));
    sizes.push_back(builder.getIndexAttr(range));
  }
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  int64_t range = ranges[split.loop];
  Value offset =
      arith::MulIOp::create(builder, loc, number, constant(split.chunk));
  offsets[split.loop] = offset;
  if (range % split.chunk == 0) {
    sizes[split.loop] = builder.getIndexAttr(split.chunk);
  } else {
    Value rest =
        arith::SubIOp::create(builder, loc, constant(range), offset);
    sizes[split.loop] = Value(arith::MinSIOp::create(builder, loc, rest,
                                                     constant(split.chunk)));
  }
  auto tiling = cast<TilingInterface>(*copy);
  if (failed(tiling.getTiledImplementation(builder, offsets, sizes)))
    return failure();
  copy->erase();
  return success();
}

void OutlineLinalgPass::outline(linalg::LinalgOp op,
                                codegen::KernelTable &table, bool isParallel) {
  Captures captures(op);
  if (!captures.areComplete)
    return;
  Split split = isParallel ? splitOf(op) : Split();
  ArrayRef<Value> memrefs = captures.memrefs.getArrayRef();
  OpBuilder builder(&getContext());
  func::FuncOp kernel =
      codegen::KernelTable::create(builder, op.getLoc(), memrefs);
  Block &body = kernel.getBody().front();
  IRMapping values;
  values.map(memrefs, body.getArguments().drop_back());
  for (Value constant : captures.constants)
    builder.clone(*constant.getDefiningOp(), values);
  auto copy = cast<linalg::LinalgOp>(builder.clone(*op, values));
  // The types of views may differ in the offset.
  builder.setInsertionPoint(copy);
  if (failed(buildTask(builder, copy, split, body.getArguments().back()))) {
    kernel->erase();
    return;
  }
  if (areDistinct(memrefs))
    for (size_t i = 0; i < memrefs.size(); ++i)
      kernel.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
  kernel = table.insert(kernel, "loops");
  builder.setInsertionPoint(op);
  Value tasks = arith::ConstantIndexOp::create(builder, op.getLoc(),
                                               split.tasks);
  cpu::LaunchOp::create(builder, op.getLoc(),
                        FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
                        memrefs, tasks,
                        builder.getI64IntegerAttr(memrefs.size()));
  op->erase();
}

void OutlineLinalgPass::runOnOperation() {
  ModuleOp module = getOperation();
  // oneDNN's threads still wait actively for their next work when an op of its
  // ends: two pools would get in each other's way.
  bool isParallel =
      !IngotDialect::NeedsOnednnAttrHelper(&getContext()).isAttrPresent(module);
  codegen::KernelTable table(module);
  SmallVector<linalg::LinalgOp> ops;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (findRunOperand(function, RunOperand::call))
      for (auto op : function.getBody().front().getOps<linalg::LinalgOp>())
        if (op.hasPureBufferSemantics())
          ops.push_back(op);
  }
  for (linalg::LinalgOp op : ops)
    outline(op, table, isParallel);
  shared += table.numShared;
}
