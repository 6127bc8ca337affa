//===- NullToLinalg.cpp - null-to-linalg ----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "test/backend/null/NullBackend.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ingot {
#define GEN_PASS_DEF_NULLTOLINALG
#include "test/backend/null/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct NullToLinalgPass : ingot::impl::NullToLinalgBase<NullToLinalgPass> {
  void runOnOperation() override;
};

} // namespace

static void replaceRelu(null::ReluOp op) {
  OpBuilder builder(op);
  auto type = cast<MemRefType>(op.getSrc().getType());
  const AffineMap map = builder.getMultiDimIdentityMap(type.getRank());
  const SmallVector<utils::IteratorType> loops(type.getRank(),
                                               utils::IteratorType::parallel);
  linalg::GenericOp::create(
      builder, op.getLoc(), op.getSrc(), op.getDst(), ArrayRef{map, map}, loops,
      [&](OpBuilder &body, Location loc, ValueRange scalars) {
        Value zero = arith::ConstantOp::create(
            body, loc, body.getZeroAttr(type.getElementType()));
        Value larger =
            arith::MaximumFOp::create(body, loc, scalars.front(), zero);
        linalg::YieldOp::create(body, loc, larger);
      });
  op.erase();
}

/// Writes the entry of the artifact's metadata that describes the code.
static void describe(ModuleOp module, size_t numKernels) {
  MLIRContext *context = module.getContext();
  IngotDialect::MetadataAttrHelper metadata(context);
  NamedAttrList entries(metadata.getAttr(module));
  entries.set(
      null::kRecord,
      StringAttr::get(context, std::to_string(numKernels) + " kernels"));
  metadata.setAttr(module, entries.getDictionary(context));
}

void NullToLinalgPass::runOnOperation() {
  SmallVector<null::ReluOp> ops;
  getOperation().walk([&](null::ReluOp op) { ops.push_back(op); });
  for (null::ReluOp op : ops)
    replaceRelu(op);
  describe(getOperation(), ops.size());
}
