//===- PassSizes.cpp - cuda-pass-sizes ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/kernels/OpenWords.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace ingot {
#define GEN_PASS_DEF_PASSSIZES
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

OpenWords::OpenWords(MemRefType type) {
  for (unsigned i = 0; i < unsigned(type.getRank()); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(i);
  int64_t offset;
  SmallVector<int64_t> steps;
  if (type.getLayout().isIdentity() ||
      failed(type.getStridesAndOffset(steps, offset)))
    return;
  for (auto [i, step] : llvm::enumerate(steps))
    if (ShapedType::isDynamic(step))
      strides.push_back(unsigned(i));
}

namespace {

struct PassSizesPass : ingot::impl::PassSizesBase<PassSizesPass> {
  void runOnOperation() override;
  void convert(func::FuncOp kernel);
};

} // namespace

/// Returns the strides of a contiguous memref of these sizes.
static SmallVector<OpFoldResult> stridesOf(OpBuilder &b, Location loc,
                                           ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> strides(sizes.size());
  Value step;
  int64_t known = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step ? OpFoldResult(step) : b.getIndexAttr(known);
    if (auto size = dyn_cast<Attribute>(sizes[i]); size && !step) {
      known *= cast<IntegerAttr>(size).getInt();
      continue;
    }
    if (!step)
      step = arith::ConstantIndexOp::create(b, loc, known);
    auto attr = dyn_cast<Attribute>(sizes[i]);
    Value size = attr ? arith::ConstantIndexOp::create(
                            b, loc, cast<IntegerAttr>(attr).getInt())
                            .getResult()
                      : cast<Value>(sizes[i]);
    step = arith::MulIOp::create(b, loc, step, size);
  }
  return strides;
}

/// Turns each memref of open sizes into the address of its first element, and
/// adds parameters for its sizes.
void PassSizesPass::convert(func::FuncOp kernel) {
  Block &body = kernel.getBody().front();
  Location loc = kernel.getLoc();
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  for (BlockArgument argument : llvm::to_vector(body.getArguments())) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type)
      continue;
    OpenWords words(type);
    if (words.count() == 0)
      continue;
    int64_t offset;
    SmallVector<int64_t> steps;
    LogicalResult found = type.getStridesAndOffset(steps, offset);
    assert(succeeded(found) && "kernels take strided memrefs");
    (void)found;
    auto mixed = [&](ArrayRef<int64_t> numbers) {
      return llvm::map_to_vector(numbers, [&](int64_t number) {
        return OpFoldResult(b.getIndexAttr(number));
      });
    };
    auto add = [&] { return body.addArgument(b.getIndexType(), loc); };
    SmallVector<OpFoldResult> sizes = mixed(type.getShape());
    for (unsigned i : words.sizes)
      sizes[i] = add();
    SmallVector<OpFoldResult> strides =
        words.strides.empty() && type.getLayout().isIdentity()
            ? stridesOf(b, loc, sizes)
            : mixed(steps);
    for (unsigned i : words.strides)
      strides[i] = add();
    argument.setType(MemRefType::get({}, type.getElementType()));
    auto cast = memref::ReinterpretCastOp::create(
        b, loc, type, argument, b.getIndexAttr(0), sizes, strides);
    argument.replaceAllUsesExcept(cast, cast);
  }
  SmallVector<Attribute> attrs(kernel.getNumArguments());
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    attrs[i] = kernel.getArgAttrDict(i);
  attrs.resize(body.getNumArguments(), b.getDictionaryAttr({}));
  for (Attribute &attr : attrs)
    if (!attr)
      attr = b.getDictionaryAttr({});
  kernel.setFunctionType(b.getFunctionType(body.getArgumentTypes(), {}));
  kernel.setAllArgAttrs(attrs);
}

void PassSizesPass::runOnOperation() {
  for (auto kernel : getOperation().getOps<func::FuncOp>())
    if (CudaDialect::BlockAttrHelper(&getContext()).isAttrPresent(kernel))
      convert(kernel);
}
