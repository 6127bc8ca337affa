//===- ResampleToNVVM.cpp - cuda-resample-to-nvvm -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/Passes.h"
#include "passes/cuda/kernels/KernelModule.h"
#include "passes/cuda/products/StoreRows.h"
#include "passes/cuda/rows/Resample.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace ingot {
#define GEN_PASS_DEF_RESAMPLETONVVM
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

Resample::Resample(ResampleOp op)
    : op(op), src(StridedLayout::of(op.getSrc())),
      dst(StridedLayout::of(op.getDst())) {
  for (Value table : op.getPositions())
    positions.push_back(StridedLayout::of(table));
  for (Value table : op.getWeights())
    weights.push_back(StridedLayout::of(table));
  for (Value operand : op.getEpilogueOperands())
    operands.push_back(StridedLayout::of(operand));
}

void Resample::resolve(Code &code) {
  src.resolve(code, op.getSrc());
  dst.resolve(code, op.getDst());
  cuda::resolve(code, positions, op.getPositions());
  cuda::resolve(code, weights, op.getWeights());
  cuda::resolve(code, operands, op.getEpilogueOperands());
}

int64_t Resample::widestVector() const {
  ResampleOp kernel = op;
  if (!kernel.hasChannels() || dst.sizes.back().isOpen())
    return 1;
  const int64_t channels = dst.sizes.back().known();
  const int64_t most =
      kAccessBytes / std::max(src.elementBytes(), dst.elementBytes());
  return storedElements(dst, operands, src.alignedElements(most, channels),
                        channels);
}

SmallVector<Number> Resample::gridSizes(int64_t vector) const {
  SmallVector<Number> sizes(dst.sizes);
  if (vector > 1)
    sizes.back() = sizes.back().known() / vector;
  return sizes;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

namespace {

/// Writes the kernel of one op. All taps are unrolled.
class ResampleEmitter {
public:
  ResampleEmitter(OpBuilder &b, const Resample &facts)
      : code(b, facts.op->getLoc()), facts(facts), op(facts.op),
        vector(facts.schedule().getVector()) {}

  void emit();

private:
  /// The taps of the thread in a dimension: offsets in src, and weights.
  struct Taps {
    SmallVector<Value> offsets, weights;
  };

  Value loadTap(Value table, const StridedLayout &layout, int64_t tap,
                Value element);
  Taps loadTaps(size_t dim, Value element);
  SmallVector<Value> sum(size_t dim, Value offset);

  Code code;
  const Resample &facts;
  ResampleOp op;
  int64_t vector;
  Value src;
  SmallVector<Taps> taps;
};

struct ResampleToNVVMPass
    : ingot::impl::ResampleToNVVMBase<ResampleToNVVMPass> {
  void runOnOperation() override;
};

} // namespace

/// Loads a position or a weight.
Value ResampleEmitter::loadTap(Value table, const StridedLayout &layout,
                               int64_t tap, Value element) {
  Value offset = code.add(code.multiply(code.number(tap), layout.strides[0]),
                          code.multiply(element, layout.strides[1]));
  return code.load(code.shift(code.addressOf(table), layout.element, offset),
                   layout.element, layout.elementBytes());
}

ResampleEmitter::Taps ResampleEmitter::loadTaps(size_t dim, Value element) {
  const Number stride = facts.src.strides[size_t(op.getFirst()) + dim];
  Taps found;
  for (int64_t tap = 0; tap < op.numTaps(); ++tap) {
    Value position = loadTap(op.getPositions()[unsigned(dim)],
                             facts.positions[dim], tap, element);
    found.offsets.push_back(code.multiply(position, stride));
    if (!facts.weights.empty())
      found.weights.push_back(loadTap(op.getWeights()[unsigned(dim)],
                                      facts.weights[dim], tap, element));
  }
  return found;
}

/// Returns the sums over the taps of dimension `dim` and of those behind it.
SmallVector<Value> ResampleEmitter::sum(size_t dim, Value offset) {
  OpBuilder &b = code.b;
  if (dim == taps.size()) {
    Type element = facts.src.element;
    SmallVector<Value> elements =
        loadElements(code, code.shift(src, element, offset), element, vector);
    if (!element.isF32())
      for (Value &value : elements)
        value = arith::ExtFOp::create(b, code.loc, b.getF32Type(), value);
    return elements;
  }
  const Taps &own = taps[dim];
  SmallVector<Value> sums;
  for (auto [tap, behind] : llvm::enumerate(own.offsets)) {
    SmallVector<Value> parts = sum(dim + 1, code.add(offset, behind));
    if (own.weights.empty())
      return parts;
    Value weight = own.weights[tap];
    for (auto [i, part] : llvm::enumerate(parts))
      if (tap == 0)
        sums.push_back(arith::MulFOp::create(b, code.loc, part, weight));
      else
        sums[i] = LLVM::FMAOp::create(b, code.loc, part, weight, sums[i]);
  }
  return sums;
}

void ResampleEmitter::emit() {
  const int64_t blockThreads = facts.schedule().getBlockThreads();
  Value number =
      code.add(code.multiply(code.block(), blockThreads), code.thread());
  const SmallVector<Number> sizes = facts.gridSizes(vector);
  const Number threads = code.product(sizes);
  if (!threads.isMultipleOf(blockThreads)) {
    auto branch =
        scf::IfOp::create(code.b, code.loc, code.isWithin(number, threads),
                          /*withElseRegion=*/false);
    code.b.setInsertionPoint(branch.thenYield());
  }
  SmallVector<Value> indices = code.delinearize(number, sizes);
  if (vector > 1)
    indices.back() = code.multiply(indices.back(), vector);
  src = code.addressOf(op.getSrc());
  Value offset = code.number(0);
  for (auto [i, index] : llvm::enumerate(indices)) {
    const int64_t dim = int64_t(i) - int64_t(op.getFirst());
    if (dim >= 0 && dim < op.numDims())
      taps.push_back(loadTaps(size_t(dim), index));
    else
      offset = code.add(offset, code.multiply(index, facts.src.strides[i]));
  }
  storeThroughEpilogue(code, {code, op, facts.operands, facts.dst}, indices,
                       sum(0, offset));
}

void ResampleToNVVMPass::runOnOperation() {
  emitKernels(getOperation(), llvm::IsaPred<ResampleOp>,
              [](OpBuilder &b, kernel::EpilogueOpInterface op) {
                Resample facts(cast<ResampleOp>(*op));
                Code code(b, op.getLoc());
                facts.resolve(code);
                ResampleEmitter(b, facts).emit();
              });
}
