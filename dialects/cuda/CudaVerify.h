//===- CudaVerify.h - verifiers that cuda ops share -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CUDA_CUDAVERIFY_H
#define INGOT_DIALECTS_CUDA_CUDAVERIFY_H

#include "dialects/cuda/CudaDialect.h"
#include "dialects/kernel/Verify.h"

namespace ingot::cuda {

/// Verifies the epilogue of a kernel whose sums are f32: its arguments, the
/// value that it yields, and its operands.
mlir::LogicalResult verifyEpilogue(kernel::EpilogueOpInterface op,
                                   mlir::Value dst);

/// The sizes of an op that a schedule of rows must fit.
struct RowSizes {
  /// Elements of a row, or of a column; dynamic if only a run knows them.
  int64_t length;
  /// Contiguous elements that the vectors of a schedule divide.
  int64_t part;
  /// True if a row is a vector of neighboring columns.
  bool areColumns = false;
};

/// Verifies the type of src, the schedule and the epilogue of an op on rows.
mlir::LogicalResult verifyRows(kernel::EpilogueOpInterface op,
                               const RowSizes &sizes);

/// Verifies src, `N, S, C`, and the schedule of an op on `groups` groups of
/// channels, and its epilogue.
mlir::LogicalResult verifyGroups(kernel::EpilogueOpInterface op,
                                 int64_t groups);

/// Verifies the windows of a convolution or pooling from `src` to `dst`, whose
/// channels are last.
template <typename Op>
mlir::LogicalResult verifyWindows(Op op, llvm::ArrayRef<int64_t> src,
                                  llvm::ArrayRef<int64_t> dst) {
  const int64_t spatial = int64_t(src.size()) - 2;
  if (mlir::failed(
          kernel::expectCount(op, "strides", op.getStrides(), spatial)) ||
      mlir::failed(
          kernel::expectCount(op, "dilations", op.getDilations(), spatial)) ||
      mlir::failed(kernel::expectCount(op, "pads", op.getPads(), 2 * spatial)))
    return mlir::failure();
  auto isBelow = [](llvm::ArrayRef<int64_t> sizes, int64_t least) {
    return llvm::any_of(sizes, [=](int64_t size) { return size < least; });
  };
  if (isBelow(op.getTaps(), 1) || isBelow(op.getStrides(), 1) ||
      isBelow(op.getDilations(), 1) || isBelow(op.getPads(), 0))
    return op.emitOpError("expects taps, strides and dilations of 1 or more, "
                          "and pads of 0 or more");
  if (mlir::failed(kernel::expectSize(op, "images", src.front(), dst.front())))
    return mlir::failure();
  for (int64_t i = 0; i < spatial; ++i) {
    if (mlir::ShapedType::isDynamic(src[i + 1]))
      continue;
    const int64_t window = (op.getTaps()[i] - 1) * op.getDilations()[i] + 1;
    const int64_t room =
        src[i + 1] + op.getPads()[i] + op.getPads()[spatial + i] - window;
    const int64_t windows = room < 0 ? 0 : room / op.getStrides()[i] + 1;
    if (mlir::failed(kernel::expectSize(op, "windows", windows, dst[i + 1])))
      return mlir::failure();
  }
  return mlir::success();
}

} // namespace ingot::cuda

#endif // INGOT_DIALECTS_CUDA_CUDAVERIFY_H
