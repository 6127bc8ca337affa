//===- PlaceShapes.cpp - cuda-place-shapes --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "passes/cuda/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace ingot {
#define GEN_PASS_DEF_PLACESHAPES
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

struct PlaceShapesPass : ingot::impl::PlaceShapesBase<PlaceShapesPass> {
  void runOnOperation() override;
};

} // namespace

/// The most elements of a buffer on the host's stack.
static constexpr int64_t kMaxElements = 64;

/// Returns true if host code alone reads and writes the elements of `buffer`.
static bool isForHost(Value buffer) {
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    // The body of a linalg op may become a kernel.
    if (user->getParentOfType<linalg::LinalgOp>())
      return false;
    if (auto store = dyn_cast<memref::StoreOp>(user))
      return store.getMemRef() == buffer;
    if (auto reshape = dyn_cast<memref::ReshapeOp>(user))
      return reshape.getShape() == buffer && reshape.getSource() != buffer;
    return isa<memref::DimOp, memref::LoadOp>(user);
  });
}

void PlaceShapesPass::runOnOperation() {
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    BlockArgument arena = findRunOperand(function, RunOperand::arena);
    if (!arena || !findRunOperand(function, RunOperand::call))
      continue;
    for (Operation *user : llvm::to_vector(arena.getUsers())) {
      auto view = dyn_cast<memref::ViewOp>(user);
      if (!view || !view.getType().hasStaticShape() ||
          view.getType().getNumElements() > kMaxElements || !isForHost(view))
        continue;
      OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
      Value buffer = memref::AllocaOp::create(b, view.getLoc(), view.getType());
      view.replaceAllUsesWith(buffer);
      view.erase();
      ++numPlaced;
    }
  }
}
