//===- ModelHash.h - hash of a calibrated model -----------------*- C++ -*-===//
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

/// Computes the SHA-256 of a model's file, in hexadecimal digits. If files at
/// `locations` hold external data, the hash is over the names and digests of
/// all files. Returns an error message, or "".
std::string hashModel(const std::string &path,
                      std::vector<std::string> locations, std::string &sha256);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_MODELHASH_H
