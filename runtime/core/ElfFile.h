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

/// Checks that a file is a whole shared object for this machine and exports an
/// artifact. Also checks its content against its seal, as `flags`
/// (INGOT_MODEL_...) say. The dynamic linker trusts files: it would crash with
/// SIGBUS on a truncated file. It would also run code of a file that is not an
/// artifact before any check.
ingot_status checkElfFile(const MappedFile &file, const char *path,
                          uint32_t flags, ingot_error *error);

/// Checks `size` bytes in memory as checkElfFile does, except for the seal.
/// `path` is for messages.
ingot_status checkElfImage(const unsigned char *image, uint64_t size,
                           const char *path, ingot_error *error);

/// Compares a checked image with its seal. Code and tables are compared unless
/// INGOT_MODEL_TRUST_FILE is set; weights only with INGOT_MODEL_VERIFY.
ingot_status checkSeal(const unsigned char *image, uint64_t size,
                       const char *path, uint32_t flags, ingot_error *error);

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_ELFFILE_H
