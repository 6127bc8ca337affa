//===- Pictures.h - what one picture of a batch needs -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_PICTURES_H
#define INGOT_PASSES_MEMORY_PICTURES_H

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace ingot {

/// The use that an op makes of a buffer for one picture.
struct PictureUse {
  /// The operand of the op.
  unsigned operand = 0;
  /// The buffer itself, without the views of it.
  mlir::Value root;
  /// Bytes of a picture, or of all of it where `isPart` is false.
  int64_t bytes = 0;
  /// True if the op touches only the rows of the picture, not all of the
  /// buffer.
  bool isPart = false;
  bool isWritten = false;
};

/// Knows which rows of buffers belong to one of `count` pictures: dimension 0
/// has as many rows of each picture, one picture behind the other.
class Pictures {
public:
  explicit Pictures(mlir::OpFoldResult count) : count(count) {}

  /// Returns the number of pictures that an op with windows has, or null.
  static mlir::OpFoldResult countOf(mlir::Operation *op);

  mlir::OpFoldResult getCount() const { return count; }

  /// Returns the rows that each picture has in dimension 0, or nothing where
  /// they are unknown, lie apart, or have open sizes.
  std::optional<int64_t> rowsOf(mlir::Value memref) const;

  /// Returns what an op does to each memref, or nothing where a picture of its
  /// results depends on other pictures.
  std::optional<llvm::SmallVector<PictureUse>>
  usesOf(mlir::Operation *op) const;

private:
  bool isCount(mlir::OpFoldResult size) const;
  std::optional<int64_t> rowsOfView(mlir::Operation *view) const;

  mlir::OpFoldResult count;
};

/// Returns whether the op is a loop of `chain-pictures`, which takes chunks of
/// pictures through layers.
bool isPictureLoop(mlir::Operation *op);

/// Returns the number of pictures of the loop over pictures that `op` is or is
/// in, if it is known. An observed run takes all of them in one step, so open
/// sizes of layers there are this number.
std::optional<int64_t> knownPicturesAt(mlir::Operation *op);

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_PICTURES_H
