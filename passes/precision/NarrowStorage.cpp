//===- NarrowStorage.cpp - narrow-storage ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensors that must have the same type form a class, e.g. the source and the
// result of a reshape. A class becomes half precision, bf16 or f16, on two
// conditions. First, no op that makes or uses its tensors needs f32. Second,
// one tensor of the class is an operand of a half product, or is computed from
// such an operand. All ops in between must accept inputs of either type. No
// class contains a tensor.empty, because many ops share it.
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelInterfaces.h"
#include "passes/backend/Policy.h"
#include "passes/precision/Passes.h"
#include "passes/precision/PrecisionTable.h"
#include "passes/support/Rules.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_NARROWSTORAGE
#include "passes/precision/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using precision::Storage;

static bool isTensorOf(Value value, bool (Type::*isElement)() const) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && (type.getElementType().*isElement)();
}
static bool isF32(Value value) {
  return isTensorOf(value, &Type::isF32) &&
         !value.getDefiningOp<tensor::EmptyOp>();
}

/// Returns true if the op only moves elements between tensors of one type.
static bool isMovement(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return generic.getNumDpsInputs() == 1 && generic.getNumResults() == 1 &&
           generic.getBlock()->getTerminator()->getOperand(0) ==
               generic.getBlock()->getArgument(0);
  return isa<linalg::BroadcastOp, linalg::CopyOp, linalg::FillOp,
             linalg::TransposeOp, tensor::CastOp, tensor::CollapseShapeOp,
             tensor::ConcatOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp,
             tensor::InsertSliceOp, tensor::PadOp, tensor::ReshapeOp>(op);
}

/// Returns true if the body of a generic op maps floats to floats.
static bool isFloatOnly(linalg::GenericOp op) {
  for (Value yielded : op.getBlock()->getTerminator()->getOperands())
    if (!isa<FloatType>(yielded.getType()))
      return false;
  return !op.getBlock()
              ->walk([](Operation *inner) {
                return isa<arith::FPToSIOp, arith::FPToUIOp, tensor::ExtractOp>(
                           inner)
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted();
}

/// Returns true for a generic op that only rounds its input to `half`.
static bool isCast(Operation *op, Type half) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 1 ||
      generic.getNumDpsInits() != 1 ||
      getElementTypeOrSelf(generic.getResult(0)) != half ||
      !isF32(generic.getDpsInputs()[0]) ||
      generic.getNumParallelLoops() != generic.getNumLoops() ||
      !llvm::all_of(generic.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return false;
  Block &body = *generic.getBlock();
  auto rounding = dyn_cast<arith::TruncFOp>(body.front());
  return rounding && body.getOperations().size() == 2 &&
         rounding.getIn() == body.getArgument(0) &&
         body.getTerminator()->getOperand(0) == rounding.getResult();
}

static bool isProduct(Operation *op) {
  auto kernel = dyn_cast<kernel::KernelOpInterface>(op);
  return kernel && kernel.getKernelClass() == kernel::KernelClass::product;
}

/// Returns true if `op` computes with a finite constant that f16 cannot
/// represent, e.g. the constant of a mask.
static bool hasLargeConstant(Operation *op) {
  return op
      ->walk([](arith::ConstantOp constant) {
        auto number = dyn_cast<FloatAttr>(constant.getValue());
        double size = number ? std::abs(number.getValueAsDouble()) : 0;
        return size >= 65520 && !std::isinf(size) ? WalkResult::interrupt()
                                                  : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns true if a kernel reads only f32, except for its epilogue's operands.
static bool readsOnlyF32(Operation *op) {
  auto kernel = dyn_cast<kernel::KernelOpInterface>(op);
  return kernel && kernel.readsOnlyF32();
}

namespace {

struct NarrowStoragePass : ingot::impl::NarrowStorageBase<NarrowStoragePass> {
  using NarrowStorageBase::NarrowStorageBase;

  void runOnOperation() override;

private:
  Storage storageFor(Operation *op) const;
  void constrain(Operation *op);
  void constrainResult(Value init, Value result, bool isFixed);
  void touch(Value value) { touched.insert(leaderOf(value)); }
  bool spread(Operation *op);
  void spreadAll(ArrayRef<Operation *> ops);
  bool isHalf(Value value) const {
    return isa<RankedTensorType>(value.getType()) &&
           getElementTypeOrSelf(value) == element;
  }
  bool isOnlyRounded(Value value) const;
  bool becomesHalf(Value value) {
    return isF32(value) && touched.contains(leaderOf(value)) &&
           !fixed.contains(leaderOf(value));
  }
  Value leaderOf(Value value) { return classes.getOrInsertLeaderValue(value); }

  KeepRules rules;
  /// The half type, bf16 or f16.
  Type element;
  llvm::EquivalenceClasses<Value> classes;
  /// Tensors that stay f32.
  SmallVector<Value> kept;
  /// Tensors that become half if their class allows it.
  SmallVector<Value> wanted;
  /// Leaders of the classes that stay f32, and of classes around half products.
  llvm::DenseSet<Value> fixed, touched;
};

} // namespace

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

/// Returns the table's rule for the op, or a `keep` rule of one of its nodes.
Storage NarrowStoragePass::storageFor(Operation *op) const {
  SmallVector<Location> locations = {op->getLoc()};
  op->walk([&](Operation *inner) {
    if (!inner->hasTrait<OpTrait::ConstantLike>())
      locations.push_back(inner->getLoc());
  });
  if (std::optional<bool> isKept = rules.find(locations))
    return *isKept ? Storage::deny : Storage::allow;
  return precision::storageOf(op, half == Precision::fp16 ? 0 : level);
}

/// Returns true if all users round `value` to half, so that no op reads it in
/// higher precision.
bool NarrowStoragePass::isOnlyRounded(Value value) const {
  return !value.use_empty() &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           return isCast(user, element);
         });
}

/// Joins the classes of `init` and `result`, because the result is stored in
/// `init`.
void NarrowStoragePass::constrainResult(Value init, Value result,
                                        bool isFixed) {
  if (!isF32(result))
    return;
  if (isF32(init))
    classes.unionSets(init, result);
  if (isFixed)
    kept.push_back(result);
}

/// Adds the constraints of `op` on the tensors that it makes and uses.
void NarrowStoragePass::constrain(Operation *op) {
  auto keepOperands = [&](ValueRange values) {
    llvm::copy_if(values, std::back_inserter(kept), isF32);
  };
  if (isa<tensor::DimOp, tensor::EmptyOp>(op))
    return;
  if (isMovement(op)) {
    SmallVector<Value> same;
    llvm::copy_if(op->getOperands(), std::back_inserter(same), isF32);
    llvm::copy_if(op->getResults(), std::back_inserter(same), isF32);
    for (Value value : same)
      classes.unionSets(same.front(), value);
    return;
  }
  if (auto kernel = dyn_cast<kernel::EpilogueOpInterface>(op)) {
    // The factors of a product come before the operands of its epilogue.
    if (isProduct(op)) {
      auto count = cast<DestinationStyleOpInterface>(op).getNumDpsInputs() -
                   int64_t(kernel.getEpilogueOperands().size());
      keepOperands(
          op->getOperands().take_front(size_t(std::min<int64_t>(2, count))));
    }
    if (readsOnlyF32(op))
      for (OpOperand *operand :
           cast<DestinationStyleOpInterface>(op).getDpsInputOperands())
        if (!llvm::is_contained(kernel.getEpilogueOperands(), operand->get()))
          keepOperands(operand->get());
    auto dst = cast<DestinationStyleOpInterface>(op).getDpsInits()[0];
    return constrainResult(dst, op->getResult(0), /*isFixed=*/false);
  }
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (generic && isFloatOnly(generic)) {
    for (auto [init, result] :
         llvm::zip_equal(generic.getDpsInits(), generic.getResults())) {
      auto argument = generic.getMatchingBlockArgument(
          generic.getDpsInitOperand(result.getResultNumber()));
      constrainResult(init, result,
                      generic.getNumReductionLoops() != 0 ||
                          !argument.use_empty());
    }
    return;
  }
  keepOperands(op->getOperands());
  keepOperands(op->getResults());
  // Keeps operands in regions as f32, except in loops and branches, which the
  // walk visits.
  if (generic || !op->hasTrait<OpTrait::NoRegionArguments>())
    for (Region &region : op->getRegions())
      region.walk(
          [&](Operation *inner) { keepOperands(inner->getOperands()); });
}

/// Propagates half precision to a fixed point. An op is visited again only when
/// a class that it reads is touched; each class is touched once.
void NarrowStoragePass::spreadAll(ArrayRef<Operation *> ops) {
  llvm::DenseMap<Value, SmallVector<Operation *>> readers;
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (isF32(operand))
        readers[leaderOf(operand)].push_back(op);
  SmallVector<Operation *> waiting(llvm::reverse(ops));
  while (!waiting.empty()) {
    Operation *op = waiting.pop_back_val();
    if (!spread(op))
      continue;
    for (Value result : op->getResults())
      if (isF32(result))
        llvm::append_range(waiting, readers[leaderOf(result)]);
  }
}

/// Propagates half precision from the operands of `op` to its results. Returns
/// false if nothing changed.
bool NarrowStoragePass::spread(Operation *op) {
  bool reads = llvm::any_of(op->getOperands(), [&](Value operand) {
    return isHalf(operand) || becomesHalf(operand);
  });
  bool isNew = false;
  if (reads && (isMovement(op) ||
                isa<linalg::GenericOp, kernel::EpilogueOpInterface>(op)))
    for (Value result : op->getResults())
      if (isF32(result))
        isNew |= touched.insert(leaderOf(result)).second;
  return isNew;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// Changes `argument` to `type`, and widens it for a body that computes in f32.
static void widenArgument(BlockArgument argument, Type type) {
  if (argument.getType() == type)
    return;
  Type wide = argument.getType();
  argument.setType(type);
  if (argument.use_empty())
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
  auto widened =
      arith::ExtFOp::create(builder, argument.getLoc(), wide, argument);
  argument.replaceAllUsesExcept(widened, widened);
}

/// Rounds the yielded value to `type`.
static void roundYielded(OpOperand &yielded, Type type) {
  if (yielded.get().getType() == type)
    return;
  OpBuilder builder(yielded.getOwner());
  yielded.set(arith::TruncFOp::create(builder, yielded.getOwner()->getLoc(),
                                      type, yielded.get()));
}

/// Gives `op` a destination of its result type.
static void replaceEmpty(Operation *op) {
  if (op->getNumResults() == 0 || isa<tensor::DimOp>(op))
    return;
  auto destinations = dyn_cast<DestinationStyleOpInterface>(op);
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands()) {
    auto empty = operand.get().getDefiningOp<tensor::EmptyOp>();
    if (!empty)
      continue;
    if (destinations && !destinations.isDpsInit(&operand))
      continue;
    Value result = destinations ? destinations.getTiedOpResult(&operand)
                                : op->getResult(0);
    Type element = getElementTypeOrSelf(result);
    if ((element.isBF16() || element.isF16()) &&
        empty.getType().getElementType().isF32())
      operand.set(tensor::EmptyOp::create(builder, empty.getLoc(),
                                          empty.getMixedSizes(), element));
  }
}

/// Adapts `op` to the present types of its operands and results.
static void adapt(Operation *op) {
  replaceEmpty(op);
  OpBuilder builder(op);
  auto replace = [&](Operation *other) {
    op->replaceAllUsesWith(other);
    op->erase();
  };
  if (auto kernel = dyn_cast<kernel::EpilogueOpInterface>(op)) {
    Block &body = kernel.getEpilogue().front();
    for (auto [operand, argument] :
         llvm::zip_equal(kernel.getEpilogueOperands(),
                         body.getArguments().drop_front()))
      widenArgument(argument, getElementTypeOrSelf(operand));
    roundYielded(body.getTerminator()->getOpOperand(0),
                 getElementTypeOrSelf(op->getResult(0)));
  } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    for (auto [operand, argument] :
         llvm::zip_equal(op->getOperands(), generic.getBlock()->getArguments()))
      widenArgument(argument, getElementTypeOrSelf(operand));
    for (auto [result, yielded] : llvm::zip_equal(
             op->getResults(),
             generic.getBlock()->getTerminator()->getOpOperands()))
      roundYielded(yielded, getElementTypeOrSelf(result));
  } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    roundYielded(pad.getBody()->getTerminator()->getOpOperand(0),
                 getElementTypeOrSelf(pad.getResult()));
  } else if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    Value number = fill.getInputs()[0];
    Type element = getElementTypeOrSelf(fill.getOutputs()[0]);
    if (number.getType() != element)
      number = arith::TruncFOp::create(builder, op->getLoc(), element, number);
    replace(linalg::FillOp::create(builder, op->getLoc(), number,
                                   fill.getOutputs()));
  } else if (auto copy = dyn_cast<linalg::CopyOp>(op)) {
    replace(linalg::CopyOp::create(builder, op->getLoc(), copy.getInputs(),
                                   copy.getOutputs()));
  } else if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    replace(linalg::TransposeOp::create(builder, op->getLoc(),
                                        transpose.getInput(),
                                        transpose.getInit(),
                                        transpose.getPermutation()));
  } else if (auto broadcast = dyn_cast<linalg::BroadcastOp>(op)) {
    replace(linalg::BroadcastOp::create(builder, op->getLoc(),
                                        broadcast.getInput(),
                                        broadcast.getInit(),
                                        broadcast.getDimensions()));
  }
}

void NarrowStoragePass::runOnOperation() {
  const HalfPrecisionForm form = half == Precision::fp16
                                     ? HalfPrecisionForm::f16
                                     : HalfPrecisionForm::bf16;
  if (Policy::of(getOperation()).halfPrecisionForm(getOperation(), half) !=
      form)
    return;
  rules = KeepRules::again(keep);
  element = half == Precision::fp16 ? Type(Float16Type::get(&getContext()))
                                    : BFloat16Type::get(&getContext());
  SmallVector<Operation *> ops;
  getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (isa<func::FuncOp>(op) || !isa<linalg::LinalgOp>(op))
          llvm::copy_if(block.getArguments(), std::back_inserter(kept), isF32);
    if (op == getOperation())
      return WalkResult::advance();
    ops.push_back(op);
    bool hasBody = isa<linalg::LinalgOp, kernel::EpilogueOpInterface>(op);
    return hasBody ? WalkResult::skip() : WalkResult::advance();
  });
  for (Operation *op : ops) {
    constrain(op);
    // Skips data movement, because its result has the type of its input.
    if (!isa<linalg::GenericOp, kernel::EpilogueOpInterface>(op) ||
        isMovement(op))
      continue;
    const Storage storage = element.isF16() && hasLargeConstant(op)
                                ? Storage::deny
                                : storageFor(op);
    for (Value result : op->getResults()) {
      if (!isF32(result))
        continue;
      if (storage == Storage::deny && !isOnlyRounded(result))
        kept.push_back(result);
      // Excludes products. A product that is still f32 was not assigned half
      // precision, so its result stays f32.
      if (storage == Storage::allow && !isProduct(op))
        wanted.push_back(result);
    }
  }
  for (Value value : wanted)
    touch(value);
  for (Value value : kept)
    fixed.insert(leaderOf(value));

  llvm::DenseSet<Operation *> casts;
  for (Operation *op : ops) {
    if (isCast(op, element)) {
      casts.insert(op);
      touch(op->getOperand(0));
    } else if (isProduct(op) && isHalf(op->getOperand(0)) &&
               isF32(op->getResult(0))) {
      touch(op->getResult(0));
    }
  }
  spreadAll(ops);

  llvm::SetVector<Operation *> changed;
  SmallVector<Value> values;
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (becomesHalf(result)) {
        values.push_back(result);
        changed.insert(op);
        changed.insert(result.user_begin(), result.user_end());
      }
  for (Value value : values)
    value.setType(cast<RankedTensorType>(value.getType()).clone(element));
  narrowed += values.size();
  for (Operation *op : changed) {
    if (!casts.contains(op)) {
      adapt(op);
      continue;
    }
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  }
  classes = {};
  kept.clear();
  wanted.clear();
  fixed.clear();
  touched.clear();
}
