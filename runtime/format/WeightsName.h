//===- WeightsName.h - what a model's weights file is called ----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_FORMAT_WEIGHTSNAME_H
#define INGOT_RUNTIME_FORMAT_WEIGHTSNAME_H

#include <stddef.h>
#include <stdint.h>

namespace ingot::rt {

/// Room for a file name and its null.
constexpr size_t maxFileName = 256;

/// The name of the weights that belong to the library of that file name:
/// `<library>.<first 16 digits of the SHA-256>.weights`, the library's name cut
/// where all would have more than 255 bytes. Weights of two compilations so
/// never take each other's place.
void weightsName(const char *library, const uint8_t (&sha256)[32],
                 char (&name)[maxFileName]);

/// Whether `name` is that of weights of the library, whatever their SHA-256 is.
/// Never if the library's name is cut: then they may be another one's.
bool isWeightsName(const char *name, const char *library);

} // namespace ingot::rt

#endif // INGOT_RUNTIME_FORMAT_WEIGHTSNAME_H
