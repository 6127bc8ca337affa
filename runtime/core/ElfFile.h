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

/// Checks that a file is a complete shared object for this machine and exports
/// an artifact. Also compares its content with its seal, as `flags`
/// (INGOT_MODEL_...) require. The dynamic linker makes no such checks. It would
/// crash with SIGBUS on a truncated file, and run code of any shared object.
ingot_status checkElfFile(const MappedFile &file, const char *path,
                          uint32_t flags, ingot_error *error);

/// Makes the checks of checkElfFile on `size` bytes in memory, except for the
/// seal. `path` is for messages.
ingot_status checkElfImage(const unsigned char *image, uint64_t size,
                           const char *path, ingot_error *error);

/// Compares a checked image with its seal. Compares code and tables unless
/// INGOT_MODEL_TRUST_FILE is set, and weights only if INGOT_MODEL_VERIFY is
/// set.
ingot_status checkSeal(const unsigned char *image, uint64_t size,
                       const char *path, uint32_t flags, ingot_error *error);

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_ELFFILE_H
