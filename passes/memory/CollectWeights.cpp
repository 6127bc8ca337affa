//===- CollectWeights.cpp - collect-weights -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "dialects/kernel/KernelInterfaces.h"
#include "dialects/nn/Constants.h"
#include "passes/memory/ArenaPlan.h"
#include "passes/memory/Passes.h"
#include "passes/support/Thresholds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/xxhash.h"

#include <map>

namespace ingot {
#define GEN_PASS_DEF_COLLECTWEIGHTS
#include "passes/memory/Passes.h.inc"
} // namespace ingot

using namespace mlir;

namespace {

struct CollectWeightsPass
    : ingot::impl::CollectWeightsBase<CollectWeightsPass> {
  using CollectWeightsBase::CollectWeightsBase;
  void runOnOperation() override;

  /// Returns the offset of a constant in the weights. Appends the constant if
  /// it is new.
  int64_t offsetOf(ElementsAttr value, int64_t bytes);
  /// Returns an earlier constant with equal bytes, or null.
  ElementsAttr findEqual(ElementsAttr value);

  DenseMap<Attribute, int64_t> offsets;
  /// Constants by the hash of their bytes. Comparing attributes is not enough,
  /// because MLIR does not unique blobs. Weights that a model uses twice are
  /// also packed twice.
  std::map<uint64_t, SmallVector<ElementsAttr>> byContent;
  SmallVector<Attribute> weights;
  int64_t end = 0;
};

} // namespace

ElementsAttr CollectWeightsPass::findEqual(ElementsAttr value) {
  std::vector<char> storage, otherStorage;
  std::optional<ArrayRef<char>> bytes =
      ingot::nn::getRawBytes(value, storage);
  if (!bytes)
    return {};
  ArrayRef<uint8_t> data(reinterpret_cast<const uint8_t *>(bytes->data()),
                         bytes->size());
  SmallVector<ElementsAttr> &candidates = byContent[llvm::xxh3_64bits(data)];
  for (ElementsAttr other : candidates)
    if (ingot::nn::getRawBytes(other, otherStorage) == bytes)
      return other;
  candidates.push_back(value);
  return {};
}

int64_t CollectWeightsPass::offsetOf(ElementsAttr value, int64_t bytes) {
  auto known = offsets.find(value);
  if (known != offsets.end())
    return known->second;
  ElementsAttr equal = findEqual(value);
  int64_t at = equal ? offsets.lookup(equal) : end;
  offsets[value] = at;
  if (!equal) {
    weights.push_back(ingot::WeightAttr::get(&getContext(), end, value));
    end = llvm::alignTo(end + bytes, ingot::kAlignment);
  }
  return at;
}

void CollectWeightsPass::runOnOperation() {
  ModuleOp module = getOperation();
  offsets.clear();
  byContent.clear();
  weights.clear();
  end = 0;
  SymbolTable symbols(module);
  for (auto function : module.getOps<func::FuncOp>()) {
    BlockArgument base =
        ingot::findRunOperand(function, ingot::RunOperand::weights);
    if (!base)
      continue;
    function.walk([&](memref::GetGlobalOp op) {
      auto global = symbols.lookup<memref::GlobalOp>(op.getName());
      auto value = dyn_cast_or_null<ElementsAttr>(
          global.getInitialValue().value_or(Attribute()));
      if (!value || !global.getConstant())
        return;
      int64_t bytes = value.getNumElements() *
                      ingot::nn::elementBytes(value.getElementType());
      if (!takeAll && bytes <= ingot::threshold::inlineConstant &&
          !ingot::kernel::mustBeStored(op))
        return;
      OpBuilder builder(op);
      Value offset = arith::ConstantIndexOp::create(builder, op.getLoc(),
                                                    offsetOf(value, bytes));
      Value view = memref::ViewOp::create(builder, op.getLoc(), op.getType(),
                                          base, offset, ValueRange());
      op.replaceAllUsesWith(view);
      op.erase();
    });
  }
  llvm::DenseSet<StringAttr> used;
  module.walk([&](memref::GetGlobalOp op) {
    used.insert(op.getNameAttr().getAttr());
  });
  for (auto global :
       llvm::make_early_inc_range(module.getOps<memref::GlobalOp>()))
    if (!used.contains(global.getSymNameAttr()))
      symbols.erase(global);
  Builder builder(&getContext());
  ingot::IngotDialect::WeightsAttrHelper(&getContext())
      .setAttr(module, builder.getArrayAttr(weights));
  ingot::IngotDialect::WeightsBytesAttrHelper(&getContext())
      .setAttr(module, builder.getI64IntegerAttr(end));
}
