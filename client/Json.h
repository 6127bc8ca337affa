//===- Json.h - JSON that keeps its order -----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_JSON_H
#define INGOT_CLIENT_JSON_H

#include <nlohmann/json.hpp>

#include <string>

namespace ingot::tools {

/// JSON whose members keep their order.
using Json = nlohmann::ordered_json;

/// Returns one line of JSON, or indented lines. Bytes that are not UTF-8 become
/// U+FFFD.
std::string toLine(const Json &value);
std::string toLines(const Json &value);
/// Returns a number, or null if it is infinite or NaN.
Json toNumber(double value);

} // namespace ingot::tools

#endif // INGOT_CLIENT_JSON_H
