//===- PartsToNVVM.cpp - cuda-parts-to-nvvm -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/Passes.h"
#include "passes/cuda/kernels/KernelModule.h"
#include "passes/cuda/products/PartSum.h"
#include "passes/cuda/products/StoreRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
#define GEN_PASS_DEF_PARTSTONVVM
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

struct PartsToNVVMPass : ingot::impl::PartsToNVVMBase<PartsToNVVMPass> {
  void runOnOperation() override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

PartSum::PartSum(SumPartsOp op)
    : op(op), src(StridedLayout::of(op.getSrc())),
      dst(StridedLayout::of(op.getDst())) {
  for (Value operand : op.getEpilogueOperands())
    operands.push_back(StridedLayout::of(operand));
  const int64_t last = src.sizes.back().known();
  vector = storedElements(
      dst, operands,
      src.alignedElements(kAccessBytes / src.elementBytes(), last), last);
}

int64_t PartSum::vectors() const { return usualProduct(dst.sizes) / vector; }

int64_t PartSum::blocks() const {
  return int64_t(llvm::divideCeil(vectors(), kThreads));
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// Writes the kernel. A thread adds up a vector of all parts, in their order.
static void emitSum(OpBuilder &b, const PartSum &facts) {
  Code code(b, facts.op->getLoc());
  SumPartsOp op = facts.op;
  Value number =
      code.add(code.multiply(code.block(), PartSum::kThreads), code.thread());
  if (facts.vectors() % PartSum::kThreads != 0) {
    auto branch =
        scf::IfOp::create(b, code.loc, code.isWithin(number, facts.vectors()),
                          /*withElseRegion=*/false);
    b.setInsertionPoint(branch.thenYield());
  }
  SmallVector<Number> sizes(facts.dst.sizes);
  if (!sizes.empty())
    sizes.back() = sizes.back().known() / facts.vector;
  SmallVector<Value> indices = code.delinearize(number, sizes);
  if (!indices.empty())
    indices.back() = code.multiply(indices.back(), facts.vector);
  Value offset = code.number(0);
  for (auto [index, stride] :
       llvm::zip_equal(indices, ArrayRef(facts.src.strides).drop_front()))
    offset = code.add(offset, code.multiply(index, stride));
  Type f32 = b.getF32Type();
  Value src = code.shift(code.addressOf(op.getSrc()), f32, offset);
  SmallVector<Value> sums;
  for (int64_t part = 0; part < facts.src.sizes.front().known(); ++part) {
    Value from = code.shift(
        src, f32, code.number(part * facts.src.strides.front().known()));
    SmallVector<Value> values = loadElements(code, from, f32, facts.vector);
    if (part == 0) {
      sums = values;
      continue;
    }
    for (auto [sum, value] : llvm::zip_equal(sums, values))
      sum = arith::AddFOp::create(b, code.loc, sum, value);
  }
  storeThroughEpilogue(code, {code, op, facts.operands, facts.dst}, indices,
                       sums);
}

void PartsToNVVMPass::runOnOperation() {
  emitKernels(getOperation(), llvm::IsaPred<SumPartsOp>,
              [](OpBuilder &b, kernel::EpilogueOpInterface op) {
                emitSum(b, PartSum(cast<SumPartsOp>(*op)));
              });
}
