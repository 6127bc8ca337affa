//===- ModelHash.h - which model a calibration is of ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_QUANTIZE_MODELHASH_H
#define INGOT_COMPILER_QUANTIZE_MODELHASH_H

#include <string>
#include <vector>

namespace ingot::quantize {

/// SHA-256 of a model's file, in hexadecimal digits; of one with external data,
/// in files at `locations` beside it, of all their names and digests. Returns
/// what is wrong, or "".
std::string hashModel(const std::string &path,
                      std::vector<std::string> locations, std::string &sha256);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_MODELHASH_H
