//===- HostMemory.cpp - buffers of the host and of the GPU ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/host/HostMemory.h"

#include "dialects/cuda/CudaDialect.h"
#include "dialects/ingot/IngotDialect.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace ingot;

Value cuda::sourceOf(Value memref) {
  auto view = memref.getDefiningOp<ViewLikeOpInterface>();
  return view ? view.getViewSource() : Value();
}

Value cuda::baseOf(Value memref) {
  while (Value source = sourceOf(memref))
    memref = source;
  return memref;
}

Value cuda::wholeOf(Value memref) {
  while (Value source = sourceOf(memref)) {
    if (memref.getDefiningOp<memref::ViewOp>())
      break;
    memref = source;
  }
  return memref;
}

bool cuda::isOfHost(Value memref) {
  Operation *op = baseOf(memref).getDefiningOp();
  return op &&
         isa<memref::AllocaOp, memref::GetGlobalOp, ShadowOp, StackOp>(op);
}
