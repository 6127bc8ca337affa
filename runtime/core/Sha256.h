//===- Sha256.h - SHA-256 (FIPS 180-4) ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_SHA256_H
#define INGOT_RUNTIME_CORE_SHA256_H

#include <stddef.h>
#include <stdint.h>

namespace ingot::rt {

/// Digest of `size` bytes. Uses the CPU's SHA instructions if it has them.
void sha256(const void *data, size_t size, uint8_t (&digest)[32]);

/// The same in portable code alone.
void sha256Portable(const void *data, size_t size, uint8_t (&digest)[32]);

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_SHA256_H
