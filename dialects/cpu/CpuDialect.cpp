//===- CpuDialect.cpp - cpu dialect registration --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"

using namespace ingot::cpu;

#include "dialects/cpu/CpuDialect.cpp.inc"
#include "dialects/cpu/CpuEnums.cpp.inc"
#include "dialects/cpu/CpuInterfaces.cpp.inc"

void CpuDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/cpu/CpuOps.cpp.inc"
      >();
}
