//===- KernelInterfaces.cpp - what ops that are kernels tell --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelInterfaces.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace ingot;

#include "dialects/kernel/KernelInterfaces.cpp.inc"

kernel::Work kernel::workPerElement(Value value, ArrayRef<Factor> each,
                                    int64_t drop) {
  Work work;
  int64_t rank = cast<ShapedType>(value.getType()).getRank();
  for (int64_t i = 0; i < rank - drop; ++i)
    work.push_back({value, i});
  llvm::append_range(work, each);
  return work;
}
