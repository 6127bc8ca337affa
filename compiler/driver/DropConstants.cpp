//===- DropConstants.cpp - memory of constants during a compilation -------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/FreeMemory.h"
#include "compiler/driver/Compilation.h"
#include "dialects/nn/UnusedConstants.h"

using namespace mlir;
using namespace ingot;

/// Frees constants that the last phase has replaced.
void Compilation::dropConstants(ModuleOp current) {
  // Freed memory that is smaller is soon used again.
  constexpr uint64_t kLeastBytes = uint64_t(16) << 20;
  // Copies for a device or a level share the constants.
  if (current != module.get() || deviceModule)
    return;
  if (nn::dropUnusedConstants(current) >= kLeastBytes)
    returnFreeMemory();
}
