//===- StoreRows.h - epilogues of products ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_PRODUCTS_STOREROWS_H
#define INGOT_PASSES_CUDA_PRODUCTS_STOREROWS_H

#include "passes/cuda/kernels/Code.h"
#include "passes/cuda/products/Product.h"

namespace ingot::cuda {

/// An op with an epilogue, and the arrays in global memory that the epilogue
/// reads and writes.
struct EpilogueArrays {
  /// Finds the addresses. The layouts must live as long as this object.
  EpilogueArrays(Code &code, kernel::EpilogueOpInterface op,
                 llvm::ArrayRef<StridedLayout> operands,
                 const StridedLayout &dst);

  kernel::EpilogueOpInterface op;
  llvm::ArrayRef<StridedLayout> operands;
  llvm::SmallVector<Value> addresses;
  const StridedLayout &dst;
  Value dstAddress;
};

/// Writes the end of a kernel. It runs the epilogue on the sums of a block,
/// which lie as rows of f32 in shared memory, and stores the results. Each
/// thread takes neighboring elements together.
class RowStorer {
public:
  /// The first element of a block's result. `part` is null if the product has
  /// no parts.
  struct Place {
    Value firstRow, firstColumn, batch, part;
  };

  RowStorer(Code &code, const Product &product, Value thread,
            const Place &place);

  void store(Value sums);

private:
  void storeVector(Value sums, Value row, Value column);
  /// Returns the offset of an element of a row of the result in an array that
  /// broadcasts to the result.
  Value offsetIn(const StridedLayout &layout, Value row, Value column);

  Code &code;
  const Product &product;
  ScheduleAttr schedule;
  int64_t stored;
  Number rows;
  Value thread;
  Place place;
  EpilogueArrays arrays;
};

/// Loads `count` neighboring elements.
llvm::SmallVector<Value> loadElements(Code &code, Value address, Type element,
                                      int64_t count);

/// Runs an epilogue on neighboring `sums`, the first of which is the element
/// with `indices`, and stores the results.
void storeThroughEpilogue(Code &code, const EpilogueArrays &arrays,
                          llvm::ArrayRef<Value> indices,
                          llvm::ArrayRef<Value> sums);

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_PRODUCTS_STOREROWS_H
