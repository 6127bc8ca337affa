//===- ModelHash.h - which model a calibration is of ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_QUANTIZE_MODELHASH_H
#define INGOT_COMPILER_QUANTIZE_MODELHASH_H

#include <string>

namespace ingot::quantize {

/// SHA-256 of a model's file, in hexadecimal digits. Returns what is wrong, or
/// "".
std::string hashModel(const std::string &path, std::string &sha256);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_MODELHASH_H
