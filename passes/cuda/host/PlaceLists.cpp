//===- PlaceLists.cpp - cuda-place-lists ----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "passes/cuda/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace ingot {
#define GEN_PASS_DEF_PLACELISTS
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

struct PlaceListsPass : ingot::impl::PlaceListsBase<PlaceListsPass> {
  void runOnOperation() override;
};

} // namespace

void PlaceListsPass::runOnOperation() {
  getOperation()->walk([&](StackOp stack) {
    auto function = stack->getParentOfType<func::FuncOp>();
    if (!findRunOperand(function, RunOperand::call))
      return;
    OpBuilder b(&getContext());
    b.setInsertionPointAfter(stack);
    Location loc = stack.getLoc();
    Value host = stack.getResult();
    auto type = cast<MemRefType>(host.getType());
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : host.getUses())
      uses.push_back(&use);
    SmallVector<Value> sizes;
    for (int64_t i = 0; i < type.getRank(); ++i)
      if (type.isDynamicDim(unsigned(i)))
        sizes.push_back(memref::DimOp::create(b, loc, host, i));
    Value device = memref::AllocOp::create(b, loc, type, sizes);
    ToDeviceOp::create(b, loc, host, device);
    WaitOp::create(b, loc);
    memref::DeallocOp::create(b, loc, host);
    for (OpOperand *use : uses)
      use->set(device);
    ++numPlaced;
  });
}
