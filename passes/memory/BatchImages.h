//===- BatchImages.h - buffers that one image of a batch needs --*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_BATCHIMAGES_H
#define INGOT_PASSES_MEMORY_BATCHIMAGES_H

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace ingot {

/// The use of a buffer by an op for one image.
struct ImageUse {
  /// Number of the operand.
  unsigned operand = 0;
  /// The underlying buffer, without views.
  mlir::Value root;
  /// Bytes of one image, or of the whole buffer if `isPart` is false.
  int64_t bytes = 0;
  /// True if the op accesses only the image's rows, not the whole buffer.
  bool isPart = false;
  bool isWritten = false;
};

/// Finds the rows of buffers that belong to each of `count` images. Dimension 0
/// has the rows of the first image, then the rows of the second image, and so
/// on. All images have an equal number of rows.
class BatchImages {
public:
  explicit BatchImages(mlir::OpFoldResult count) : count(count) {}

  /// Returns the number of images of an op with windows, or null.
  static mlir::OpFoldResult countOf(mlir::Operation *op);

  mlir::OpFoldResult getCount() const { return count; }

  /// Returns the number of rows of each image in dimension 0. Returns nullopt
  /// if it is unknown, if the rows are not contiguous, or if they have open
  /// sizes.
  std::optional<int64_t> rowsOf(mlir::Value memref) const;

  /// Returns the uses of all memrefs of an op. Returns nullopt if an image of
  /// the results depends on other images.
  std::optional<llvm::SmallVector<ImageUse>> usesOf(mlir::Operation *op) const;

private:
  bool isCount(mlir::OpFoldResult size) const;
  std::optional<int64_t> rowsOfView(mlir::Operation *view) const;

  mlir::OpFoldResult count;
};

/// Returns true if the op is a loop of `chain-images`, which passes chunks of
/// images through several layers.
bool isImageLoop(mlir::Operation *op);

/// Returns the number of images of the image loop that `op` is or is in, if the
/// number is known. An observed run takes all images in one step, so open sizes
/// of layers equal this number in such a run.
std::optional<int64_t> knownImagesAt(mlir::Operation *op);

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_BATCHIMAGES_H
