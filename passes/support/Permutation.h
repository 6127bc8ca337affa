//===- Permutation.h - permutations of dimensions ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares helpers for permutations. Dimension i of a transpose's result is
// dimension perm[i] of its operand.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_PERMUTATION_H
#define INGOT_PASSES_SUPPORT_PERMUTATION_H

#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/BuiltinTypes.h"

namespace ingot::support {

using Perm = llvm::SmallVector<int64_t>;

inline Perm inverse(llvm::ArrayRef<int64_t> perm) {
  Perm result(perm.size());
  for (auto [i, dim] : llvm::enumerate(perm))
    result[dim] = i;
  return result;
}

/// Permutes a list with one element per operand dimension to result dimensions.
template <typename T>
llvm::SmallVector<T> permute(llvm::ArrayRef<T> list,
                             llvm::ArrayRef<int64_t> perm) {
  llvm::SmallVector<T> result;
  for (int64_t dim : perm)
    result.push_back(list[dim]);
  return result;
}

inline mlir::RankedTensorType permute(mlir::RankedTensorType type,
                                      llvm::ArrayRef<int64_t> perm) {
  return mlir::RankedTensorType::get(permute(type.getShape(), perm),
                                     type.getElementType());
}

inline bool isIdentity(llvm::ArrayRef<int64_t> perm) {
  return llvm::all_of(llvm::enumerate(perm), [](auto entry) {
    return int64_t(entry.index()) == entry.value();
  });
}

/// Returns the permutation from N, C, D1… to N, D1…, C.
inline Perm toChannelsLast(int64_t rank) {
  Perm perm{0};
  for (int64_t i = 2; i < rank; ++i)
    perm.push_back(i);
  perm.push_back(1);
  return perm;
}

/// Returns the permutation from N, D1…, C to N, C, D1….
inline Perm toChannelsFirst(int64_t rank) {
  return inverse(toChannelsLast(rank));
}

/// Returns true if the elements keep their order, because only dimensions of
/// size 1 move.
inline bool keepsOrder(llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> perm) {
  int64_t last = -1;
  for (int64_t dim : perm) {
    if (shape[dim] == 1)
      continue;
    if (dim < last)
      return false;
    last = dim;
  }
  return true;
}

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_PERMUTATION_H
