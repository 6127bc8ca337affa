//===- WeightsName.h - name of a weights file -------------------*- C++ -*-===//
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

/// Room for a file name and its terminating null.
constexpr size_t maxFileName = 256;

/// Writes the name of the weights file of a library: `<library>.<first 16
/// digits of the SHA-256>.weights`. The hash keeps weights of different
/// compilations apart. Shortens the library's name if the whole name would
/// exceed 255 bytes.
void weightsName(const char *library, const uint8_t (&sha256)[32],
                 char (&name)[maxFileName]);

/// Returns true if `name` is a weights file of the library, with any SHA-256.
/// Returns false if the library's name would be shortened, because the file may
/// then belong to another library.
bool isWeightsName(const char *name, const char *library);

} // namespace ingot::rt

#endif // INGOT_RUNTIME_FORMAT_WEIGHTSNAME_H
