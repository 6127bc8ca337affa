//===- ElfFile.h - looking into a shared object before loading it ---------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_ELFFILE_H
#define INGOT_RUNTIME_CORE_ELFFILE_H

#include "ingot/ingot.h"
#include "runtime/core/MappedFile.h"

namespace ingot::rt {

/// Checks that a file is a whole shared object for this machine that exports an
/// artifact, and that it has the content that it was compiled with, as `flags`
/// (INGOT_MODEL_...) say. The dynamic linker trusts what it maps: a truncated
/// file would end in SIGBUS, and code of a file that is no artifact would run
/// before we could look.
ingot_status checkElfFile(const MappedFile &file, const char *path,
                          uint32_t flags, ingot_error *error);

/// The same on `size` bytes in memory. `path` is for messages.
ingot_status checkElfImage(const unsigned char *image, uint64_t size,
                           const char *path, ingot_error *error);

/// Compares a checked image with its seal: code and tables always, unless
/// INGOT_MODEL_TRUST_FILE, weights with INGOT_MODEL_VERIFY.
ingot_status checkSeal(const unsigned char *image, uint64_t size,
                       const char *path, uint32_t flags, ingot_error *error);

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_ELFFILE_H
