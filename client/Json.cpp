//===- Json.cpp - JSON that keeps its order -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/Json.h"

#include <math.h>

using namespace ingot::tools;

static std::string textOf(const Json &value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string ingot::tools::toLine(const Json &value) {
  return textOf(value, /*indent=*/-1);
}

std::string ingot::tools::toLines(const Json &value) {
  return textOf(value, /*indent=*/2);
}

Json ingot::tools::toNumber(double value) {
  return isfinite(value) ? Json(value) : Json();
}
