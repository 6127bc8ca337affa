//===- NNOps.cpp - nn op classes ------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDialect.h"

using namespace mlir;
using namespace ingot::nn;

// A separate file, because the generated code is slow to compile.
#define GET_OP_CLASSES
#include "dialects/nn/NNOps.cpp.inc"
