//===- ResampleVerify.h - verifiers of resampling ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifies what the resamplings of all backends share: ops with the members of
// dialects/kernel/Resample.td.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_KERNEL_RESAMPLEVERIFY_H
#define INGOT_DIALECTS_KERNEL_RESAMPLEVERIFY_H

#include "dialects/kernel/Verify.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace ingot::kernel {

/// The most resampled dimensions, and taps in all of them together.
constexpr int64_t kMaxResampledDims = 3, kMaxTaps = 16;

/// Verifies the sizes of src, dst and of the tables of taps.
template <typename Op>
mlir::LogicalResult verifyResample(Op op) {
  mlir::ShapedType src = typeOf(op.getSrc()), dst = typeOf(op.getDst());
  const int64_t rank = src.getRank(), first = int64_t(op.getFirst()),
                dims = op.numDims();
  if (dims < 1 || dims > kMaxResampledDims)
    return op.emitOpError("expects 1 to ")
           << kMaxResampledDims << " positions, but got " << dims;
  if (!op.getWeights().empty() && int64_t(op.getWeights().size()) != dims)
    return op.emitOpError("expects ")
           << dims << " weights or none, but got " << op.getWeights().size();
  if (first < 0 || (rank != first + dims && rank != first + dims + 1))
    return op.emitOpError("expects src of rank ")
           << first + dims << " or " << first + dims + 1 << ", but got "
           << rank;
  if (mlir::failed(expectRank(op, "dst", op.getDst(), rank)))
    return mlir::failure();
  for (int64_t i = 0; i < rank; ++i)
    if ((i < first || i > op.lastDim()) &&
        mlir::failed(expectSize(op, "dst dimension " + llvm::Twine(i),
                                src.getDimSize(i), dst.getDimSize(i))))
      return mlir::failure();
  for (mlir::OperandRange tables : {op.getPositions(), op.getWeights()})
    for (auto [i, table] : llvm::enumerate(tables)) {
      llvm::StringRef name =
          tables == op.getPositions() ? "positions" : "weights";
      if (mlir::failed(expectRank(op, name, table, 2)) ||
          mlir::failed(expectSize(op, name + " dimension 0", op.numTaps(),
                                  typeOf(table).getDimSize(0))) ||
          mlir::failed(expectSize(op, name + " dimension 1",
                                  dst.getDimSize(first + int64_t(i)),
                                  typeOf(table).getDimSize(1))))
        return mlir::failure();
    }
  const int64_t taps = op.numAllTaps(),
                most = op.getWeights().empty() ? 1 : kMaxTaps;
  if (taps < 1 || taps > most)
    return op.emitOpError("expects 1 to ") << most << " taps, but got " << taps;
  return mlir::success();
}

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_RESAMPLEVERIFY_H
