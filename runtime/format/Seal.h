//===- Seal.h - checksums of an artifact's file ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler writes them when the file is linked; the runtime compares them
// before the dynamic linker sees the file. See ingot_abi_seal.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_FORMAT_SEAL_H
#define INGOT_RUNTIME_FORMAT_SEAL_H

#include "runtime/include/ingot/abi/artifact.h"

namespace ingot::rt {

struct ElfImage;

/// Seals a linked file whose first bytes, up to the last that is mapped but the
/// weights, are at `bytes`; `size` counts the weights, too. The seal says where
/// these are and their checksum. False if there is no place for it.
bool makeSeal(unsigned char *bytes, uint64_t size, uint64_t weightsAddress,
              uint64_t weightsBytes, uint64_t weightsHash);

/// Reads the seal and the file offset where it stands; false if there is none.
bool findSeal(const ElfImage &image, ingot_abi_seal &seal, uint64_t &offset);

/// The checksum of all that is mapped but the weights that `seal` names; false
/// if the file contradicts itself.
bool hashRest(const ElfImage &image, const ingot_abi_seal &seal,
              uint64_t sealOffset, uint64_t &hash);

/// The checksum of these weights; false if they are not in the file.
bool hashWeights(const ElfImage &image, const ingot_abi_seal &seal,
                 uint64_t &hash);

} // namespace ingot::rt

#endif // INGOT_RUNTIME_FORMAT_SEAL_H
