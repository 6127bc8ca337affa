//===- CudaDialect.cpp - cuda dialect -------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/kernel/Verify.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

#include "dialects/cuda/CudaDialect.cpp.inc"
#include "dialects/cuda/CudaEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/cuda/CudaAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/cuda/CudaOps.cpp.inc"

void CudaDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/cuda/CudaAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/cuda/CudaOps.cpp.inc"
      >();
}

bool cuda::canEpilogueRead(Type element) {
  return element.isF32() || element.isF16() || element.isBF16() ||
         element.isInteger(32) || element.isInteger(16) || element.isInteger(8);
}

LogicalResult BlockAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t threads, int64_t shared) {
  if (threads < kWarp || threads > kMaxThreads || threads % kWarp)
    return emitError() << "expects a multiple of " << kWarp
                       << " threads, at most " << kMaxThreads << ", but got "
                       << threads;
  if (shared < 0 || shared > kMaxSharedBytes)
    return emitError() << "expects at most " << kMaxSharedBytes
                       << " bytes of shared memory, but got " << shared;
  return success();
}

LogicalResult CyclesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t count) {
  if (count < 0)
    return emitError() << "expects at least 0 cycles, but got " << count;
  return success();
}

void LaunchOp::getEffects(kernel::Effects &effects) {
  kernel::collectLaunchEffects(*this, getWrites(), effects);
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getKernelAttr());
  if (!kernel || kernel.getNumResults() != 0 ||
      !CudaDialect::BlockAttrHelper(getContext()).getAttr(kernel))
    return emitOpError("expects a function with cuda.block called ")
           << getKernelAttr();
  return kernel::verifyLaunch(*this, getArgs(), kernel.getArgumentTypes(),
                              getWrites());
}
