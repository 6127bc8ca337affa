//===- ConstantPacker.h - constants in another order ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_CONSTANTPACKER_H
#define INGOT_PASSES_SUPPORT_CONSTANTPACKER_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <vector>

namespace ingot::support {

/// Fills a constant with elements of another one, in another order. Rounds f32
/// to bf16 or f16 if asked to. Elements that are not filled are zero.
class ConstantPacker {
public:
  ConstantPacker(mlir::ElementsAttr from, llvm::ArrayRef<int64_t> shape,
                 mlir::Type element);

  /// Returns false if the bytes of the constant cannot be read.
  bool isValid() const { return source.has_value(); }
  /// Copies element number `fromAt` of the constant to number `toAt`.
  void copy(int64_t fromAt, int64_t toAt);
  /// Returns the result, or null if the packer is not valid.
  mlir::ElementsAttr take();

private:
  mlir::RankedTensorType type;
  bool isF16;
  int64_t from, to;
  std::vector<char> storage;
  std::optional<llvm::ArrayRef<char>> source;
  std::vector<char> packed;
};

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_CONSTANTPACKER_H
