//===- Commit.cpp - the commit of the compiler's source -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/PrecisionRecord.h"

#include "compiler/Commit.h"

llvm::StringRef ingot::compilerCommit() { return INGOT_COMMIT; }
