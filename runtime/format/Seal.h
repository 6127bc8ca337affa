//===- Seal.h - checksums of an artifact's file ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes and checks the checksums in ingot_abi_seal. The compiler writes them
// when it links the file. The runtime compares them before the dynamic linker
// reads the file.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_FORMAT_SEAL_H
#define INGOT_RUNTIME_FORMAT_SEAL_H

#include "runtime/include/ingot/abi/artifact.h"

namespace ingot::rt {

struct ElfImage;

/// Seals a linked file. `bytes` holds its first bytes, up to the last mapped
/// byte before the weights. `size` also includes the weights. The seal contains
/// the address and the checksum of the weights. Returns false if the file has
/// no note for a seal.
bool makeSeal(unsigned char *bytes, uint64_t size, uint64_t weightsAddress,
              uint64_t weightsBytes, uint64_t weightsHash);

/// Reads the seal and its file offset. Returns false if there is none.
bool findSeal(const ElfImage &image, ingot_abi_seal &seal, uint64_t &offset);

/// Computes the checksum of all mapped bytes except for the weights, which
/// `seal` locates. Returns false if the file is inconsistent.
bool hashRest(const ElfImage &image, const ingot_abi_seal &seal,
              uint64_t sealOffset, uint64_t &hash);

/// Computes the checksum of the weights. Returns false if they are not in the
/// file.
bool hashWeights(const ElfImage &image, const ingot_abi_seal &seal,
                 uint64_t &hash);

} // namespace ingot::rt

#endif // INGOT_RUNTIME_FORMAT_SEAL_H
