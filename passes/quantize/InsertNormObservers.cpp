//===- InsertNormObservers.cpp - nn-insert-norm-observers -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "passes/quantize/Norms.h"
#include "passes/quantize/Passes.h"

#include "mlir/IR/BuiltinOps.h"

namespace ingot {
#define GEN_PASS_DEF_INSERTNORMOBSERVERS
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct InsertNormObserversPass
    : ingot::impl::InsertNormObserversBase<InsertNormObserversPass> {
  using InsertNormObserversBase::InsertNormObserversBase;

  void runOnOperation() override {
    OpBuilder builder(&getContext());
    SmallVector<Attribute> names;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      for (const quantize::NormBeforeProducts &norm :
           quantize::findNormsBeforeProducts(function)) {
        Location loc = norm.norm->getLoc();
        builder.setInsertionPointAfter(norm.norm);
        Value result = norm.norm->getResult(0);
        SmallVector<int64_t> axes;
        for (int64_t axis = 0,
                     rank = cast<RankedTensorType>(result.getType()).getRank();
             axis + 1 < rank; ++axis)
          axes.push_back(axis);
        Value largest = nn::AbsOp::create(builder, loc, result);
        largest = nn::ReduceOp::create(builder, loc, largest,
                                       nn::ReduceKind::max, axes,
                                       /*keep_dims=*/false);
        ObserveOp::create(builder, loc,
                          builder.getI64IntegerAttr(int64_t(names.size())),
                          largest);
        names.push_back(builder.getStringAttr(norm.name));
      }
    }
    IngotDialect::ObservedAttrHelper(&getContext())
        .setAttr(getOperation(), builder.getArrayAttr(names));
  }
};

} // namespace
