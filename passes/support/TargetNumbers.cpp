//===- TargetNumbers.cpp - numbers in options of passes -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/TargetNumbers.h"

using namespace mlir;
using namespace ingot;

FailureOr<TargetNumbers>
ingot::parseTargetNumbers(ModuleOp module, ArrayRef<std::string> texts) {
  TargetNumbers numbers;
  for (const std::string &text : texts)
    if (std::optional<std::string> wrong = numbers.parse(text))
      return module.emitError() << *wrong;
  return numbers;
}
