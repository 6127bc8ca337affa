//===- LayerCost.cpp - work and traffic of an op --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/memory/LayerCost.h"

#include "dialects/ingot/IngotDialect.h"
#include "dialects/kernel/KernelInterfaces.h"
#include "passes/memory/BatchImages.h"
#include "passes/support/Thresholds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ingot;

//===----------------------------------------------------------------------===//
// Kinds of ops
//===----------------------------------------------------------------------===//

static StringRef linalgKind(linalg::LinalgOp op) {
  if (linalg::isaConvolutionOpInterface(op))
    return "convolution";
  if (linalg::isaContractionOpInterface(op))
    return "matmul";
  if (op.getNumReductionLoops() != 0)
    return "reduction";
  return op.getBlock()->getOperations().size() == 1 ? "copy" : "elementwise";
}

StringRef ingot::layerKind(Operation *op) {
  if (StringAttr kind =
          IngotDialect::KindAttrHelper(op->getContext()).getAttr(op))
    return kind.getValue();
  return TypeSwitch<Operation *, StringRef>(op)
      .Case([](kernel::KernelOpInterface op) { return op.getKernelKind(); })
      .Case([](linalg::FillOp) { return "fill"; })
      .Case([](linalg::LinalgOp op) { return linalgKind(op); })
      .Case([](memref::CopyOp) { return "copy"; })
      .Case<scf::ForOp, scf::ForallOp, scf::ParallelOp, scf::WhileOp>(
          [](auto) { return "loop"; })
      .Case([](scf::IfOp) { return "branch"; })
      .Case<func::CallOp, memref::StoreOp>([](auto) { return "output"; })
      .Default(
          [](Operation *other) { return other->getName().stripDialect(); });
}

int ingot::layerWeight(Operation *op) {
  if (isa<func::CallOp, memref::StoreOp>(op))
    return 0;
  if (isa<memref::CopyOp, linalg::FillOp>(op))
    return 1;
  // Rank a product before reductions, because a reduction may only find the
  // ranges of the product's operands.
  auto kernelOp = dyn_cast<kernel::KernelOpInterface>(op);
  // If a product is split by precision, rank the int8 part before the f32 part.
  if (Type type = kernelOp ? kernelOp.getProductType() : Type())
    return type.isF32() ? 7 : 8;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return isa<scf::SCFDialect>(op->getDialect()) ? 5 : 6;
  StringRef kind = linalgKind(linalgOp);
  if (kind == "copy")
    return 2;
  if (kind == "elementwise")
    return 3;
  return kind == "reduction" ? 4 : 6;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

OpFoldResult LayerCost::dim(Value memref, int64_t i) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(i))
    return constant(type.getDimSize(i));
  if (std::optional<int64_t> images =
          knownImagesAt(builder.getInsertionBlock()->getParentOp()))
    return constant(*images);
  Value &size = dims[{memref, i}];
  if (!size)
    size = builder.createOrFold<memref::DimOp>(loc, memref, i);
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return constant(*known);
  open.insert(size);
  return size;
}

/// Adds the sizes of a memref except for the last `drop` dimensions.
void LayerCost::addDims(Value memref, Factors &factors, int64_t drop) {
  int64_t rank = cast<MemRefType>(memref.getType()).getRank();
  for (int64_t i = 0; i < rank - drop; ++i)
    factors.push_back(dim(memref, i));
}

OpFoldResult LayerCost::product(ArrayRef<OpFoldResult> factors,
                                OpBuilder &builder,
                                const IRMapping &sizes) const {
  int64_t known = 1;
  Value unknown;
  for (OpFoldResult factor : factors) {
    if (std::optional<int64_t> size = getConstantIntValue(factor)) {
      if (llvm::MulOverflow(known, *size, known))
        return constant(0);
      continue;
    }
    Value value = sizes.lookup(cast<Value>(factor));
    unknown = unknown
                  ? arith::MulIOp::create(builder, loc, unknown, value)
                        .getResult()
                  : value;
  }
  if (!unknown || known == 0)
    return constant(known);
  if (known == 1)
    return unknown;
  Value scale = arith::ConstantIndexOp::create(builder, loc, known);
  return arith::MulIOp::create(builder, loc, unknown, scale).getResult();
}

OpFoldResult LayerCost::total(ArrayRef<Factors> terms, OpBuilder &builder,
                              const IRMapping &sizes) const {
  int64_t known = 0;
  Value unknown;
  for (ArrayRef<OpFoldResult> term : terms) {
    OpFoldResult value = product(term, builder, sizes);
    if (std::optional<int64_t> size = getConstantIntValue(value)) {
      if (llvm::AddOverflow(known, *size, known))
        return constant(0);
      continue;
    }
    unknown = unknown ? arith::AddIOp::create(builder, loc, unknown,
                                              cast<Value>(value))
                            .getResult()
                      : cast<Value>(value);
  }
  if (!unknown)
    return constant(known);
  if (known == 0)
    return unknown;
  Value rest = arith::ConstantIndexOp::create(builder, loc, known);
  return arith::AddIOp::create(builder, loc, unknown, rest).getResult();
}

double LayerCost::estimateFlops() const {
  double flops = 0;
  for (const Factors &term : flopTerms) {
    double product = 1;
    for (OpFoldResult factor : term)
      product *=
          double(getConstantIntValue(factor).value_or(threshold::openSize));
    flops += product;
  }
  return flops;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Returns true if a scalar op computes. Conversions and selects only move
/// data.
static bool isArithmetic(Operation *op) {
  if (isa<math::MathDialect>(op->getDialect()))
    return true;
  return isa<arith::ArithDialect>(op->getDialect()) &&
         !isa<arith::ConstantOp, arith::SelectOp, CastOpInterface>(op) &&
         op->getNumResults() == 1 &&
         op->getResult(0).getType().isIntOrFloat();
}

static int64_t countArithmetic(Block &body) {
  return llvm::count_if(body, [](Operation &op) { return isArithmetic(&op); });
}

/// Returns the sizes of the loops of a linalg op, as dimensions of operands.
/// Returns an empty list if they are not plain dimensions.
static SmallVector<std::pair<OpOperand *, int64_t>>
loopSizes(linalg::LinalgOp op) {
  SmallVector<std::pair<OpOperand *, int64_t>> flat, sizes;
  for (OpOperand &operand : op->getOpOperands())
    for (int64_t i = 0; i < op.getRank(&operand); ++i)
      flat.push_back({&operand, i});
  AffineMap map = op.getShapesToLoopsMap();
  if (!map)
    return {};
  for (AffineExpr expr : map.getResults()) {
    auto position = dyn_cast<AffineDimExpr>(expr);
    if (!position)
      return {};
    sizes.push_back(flat[position.getPosition()]);
  }
  return sizes;
}

void LayerCost::addFlops(Operation *op) {
  if (IntegerAttr given =
          IngotDialect::FlopsAttrHelper(op->getContext()).getAttr(op)) {
    flopTerms.push_back({constant(given.getInt())});
    return;
  }
  Factors factors;
  TypeSwitch<Operation *>(op)
      .Case([&](kernel::KernelOpInterface kernelOp) {
        for (const kernel::Factor &factor : kernelOp.getWork())
          factors.push_back(factor.value ? dim(factor.value, factor.dim)
                                         : constant(factor.number));
      })
      .Case([&](linalg::LinalgOp linalgOp) {
        int64_t scalar = countArithmetic(*linalgOp.getBlock());
        auto sizes = loopSizes(linalgOp);
        if (scalar == 0 || sizes.size() != linalgOp.getNumLoops())
          return;
        factors.push_back(constant(scalar));
        for (auto [operand, i] : sizes)
          factors.push_back(dim(operand->get(), i));
      })
      .Case<scf::ForOp, scf::ParallelOp, scf::ForallOp>(
          [&](auto) { addNested(op, 1); });
  if (!factors.empty())
    flopTerms.push_back(std::move(factors));
}

/// Counts the operations in loops with constant bounds, multiplied by `times`.
/// Loops with other bounds are left out.
void LayerCost::addNested(Operation *op, int64_t times) {
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  if (!loop)
    return;
  std::optional<SmallVector<OpFoldResult>> lower = loop.getLoopLowerBounds(),
                                           upper = loop.getLoopUpperBounds(),
                                           steps = loop.getLoopSteps();
  if (!lower || !upper || !steps)
    return;
  for (auto [from, to, by] : llvm::zip_equal(*lower, *upper, *steps)) {
    std::optional<int64_t> begin = getConstantIntValue(from),
                           end = getConstantIntValue(to),
                           step = getConstantIntValue(by);
    if (!begin || !end || !step || *step <= 0 ||
        llvm::MulOverflow(times,
                          std::max<int64_t>(
                              0, llvm::divideCeil(*end - *begin, *step)),
                          times))
      return;
  }
  int64_t scalar = 0;
  for (Region *region : loop.getLoopRegions())
    for (Operation &inner : region->front()) {
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(&inner)) {
        SmallVector<int64_t> ranges = linalgOp.getStaticLoopRanges();
        if (ShapedType::isDynamicShape(ranges))
          continue;
        Factors factors{constant(times),
                        constant(countArithmetic(*linalgOp.getBlock()))};
        for (int64_t range : ranges)
          factors.push_back(constant(range));
        flopTerms.push_back(std::move(factors));
      } else if (isa<LoopLikeOpInterface>(inner)) {
        addNested(&inner, times);
      } else {
        scalar += isArithmetic(&inner);
      }
    }
  flopTerms.push_back({constant(times), constant(scalar)});
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

void LayerCost::addBytes(Operation *op) {
  // Count operands that are read and written in place twice, because their
  // bytes move twice.
  SmallVector<Value> values(op->getOperands());
  // Includes the buffers that loops and branches access from outside.
  llvm::SetVector<Value> captured;
  if (!isa<linalg::LinalgOp>(op))
    getUsedValuesDefinedAbove(op->getRegions(), captured);
  llvm::append_range(values, captured);
  for (Value value : values) {
    auto type = dyn_cast<MemRefType>(value.getType());
    if (!type || !type.getElementType().isIntOrIndexOrFloat())
      continue;
    Type element = type.getElementType();
    int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    Factors factors{constant(std::max<int64_t>(1, bits / 8))};
    addDims(value, factors);
    byteTerms.push_back(std::move(factors));
  }
}

void LayerCost::add(Operation *op) {
  addFlops(op);
  addBytes(op);
}
