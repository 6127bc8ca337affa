//===- KernelInterfaces.cpp - interfaces of kernel ops --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/KernelInterfaces.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

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

StringRef kernel::backendOf(Operation *op) {
  auto kernelOp = dyn_cast<KernelOpInterface>(op);
  return kernelOp ? kernelOp.getBackend() : StringRef(kLoopsBackend);
}

bool kernel::mustBeStored(Value constant) {
  return llvm::any_of(constant.getUsers(), [](Operation *user) {
    if (isa<ViewLikeOpInterface, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
            tensor::CastOp>(user))
      return mustBeStored(user->getResult(0));
    auto kernelOp = dyn_cast<KernelOpInterface>(user);
    return kernelOp && kernelOp.readsStoredConstants();
  });
}
