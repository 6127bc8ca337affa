//===- Seal.cpp - checksums of an artifact's file -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/format/Seal.h"

#include "runtime/format/ElfImage.h"
#include "runtime/format/XxHash64.h"

#include <algorithm>

using namespace ingot::rt;

static uint64_t alignNote(uint64_t size) { return (size + 3) & ~uint64_t(3); }

/// Searches for the seal in the notes of a segment that is inside the file.
static bool findInNotes(const ElfImage &image, const Elf64_Phdr &notes,
                        ingot_abi_seal &seal, uint64_t &offset) {
  uint64_t at = notes.p_offset, end = at + notes.p_filesz;
  while (end - at >= sizeof(Elf64_Nhdr)) {
    auto note = image.at<Elf64_Nhdr>(at);
    uint64_t owner = at + sizeof(note);
    uint64_t content = owner + alignNote(note.n_namesz);
    uint64_t next = content + alignNote(note.n_descsz);
    if (next > end)
      return false;
    if (note.n_type == INGOT_ABI_NOTE_SEAL &&
        note.n_namesz == sizeof(INGOT_ABI_NOTE_OWNER) &&
        !memcmp(image.bytes + owner, INGOT_ABI_NOTE_OWNER, note.n_namesz) &&
        note.n_descsz >= sizeof(seal)) {
      seal = image.at<ingot_abi_seal>(content);
      offset = content;
      return seal.struct_size >= sizeof(seal);
    }
    at = next;
  }
  return false;
}

bool ingot::rt::findSeal(const ElfImage &image, ingot_abi_seal &seal,
                         uint64_t &offset) {
  if (!image.hasSegments())
    return false;
  for (unsigned i = 0; i < image.numSegments(); ++i) {
    Elf64_Phdr segment = image.segment(i);
    if (segment.p_type == PT_NOTE &&
        image.holds(segment.p_offset, segment.p_filesz) &&
        findInNotes(image, segment, seal, offset))
      return true;
  }
  return false;
}

namespace {
/// A part of the file that is skipped, or hashed as zeros.
struct Gap {
  uint64_t start, end;
  bool isSkipped;
};
} // namespace

/// Hashes [start, end) of the file. Skips the gaps, or hashes zeros for them.
/// The gaps are in ascending order.
static void hashAround(const ElfImage &image, uint64_t start, uint64_t end,
                       const Gap *gaps, size_t numGaps, XxHash64 &hash) {
  // Zeros for the largest gap that is hashed as zeros.
  static const uint8_t zeros[sizeof(ingot_abi_seal)] = {};
  for (size_t i = 0; i < numGaps; ++i) {
    uint64_t from = std::max(start, gaps[i].start);
    uint64_t to = std::min(end, gaps[i].end);
    if (from >= to)
      continue;
    hash.update(image.bytes + start, from - start);
    if (!gaps[i].isSkipped)
      hash.update(zeros, to - from);
    start = to;
  }
  // The rest is empty if the range ends with a skipped gap.
  if (start != end)
    hash.update(image.bytes + start, end - start);
}

bool ingot::rt::hashRest(const ElfImage &image, const ingot_abi_seal &seal,
                         uint64_t sealOffset, uint64_t &result) {
  uint64_t weights = 0;
  if (seal.weights_bytes) {
    weights = image.offsetOf(seal.weights_address, seal.weights_bytes);
    if (!image.holds(weights, seal.weights_bytes))
      return false;
  }
  Gap gaps[] = {
      // Exclude the position of the section headers, because a library may be
      // stripped after it is sealed. Running code does not read this position.
      {offsetof(Elf64_Ehdr, e_shoff), offsetof(Elf64_Ehdr, e_shoff) + 8, false},
      {offsetof(Elf64_Ehdr, e_shentsize), sizeof(Elf64_Ehdr), false},
      {sealOffset, sealOffset + sizeof(seal), false},
      {weights, weights + seal.weights_bytes, true}};
  constexpr size_t numGaps = sizeof(gaps) / sizeof(gaps[0]);
  std::sort(gaps, gaps + numGaps,
            [](const Gap &a, const Gap &b) { return a.start < b.start; });
  XxHash64 hash;
  for (unsigned i = 0; i < image.numSegments(); ++i) {
    Elf64_Phdr segment = image.segment(i);
    if (segment.p_type != PT_LOAD)
      continue;
    if (!image.holds(segment.p_offset, segment.p_filesz))
      return false;
    const uint64_t where[] = {segment.p_vaddr, segment.p_memsz,
                              segment.p_filesz, segment.p_flags};
    hash.update(where, sizeof(where));
    hashAround(image, segment.p_offset, segment.p_offset + segment.p_filesz,
               gaps, numGaps, hash);
  }
  result = hash.digest();
  return true;
}

bool ingot::rt::hashWeights(const ElfImage &image, const ingot_abi_seal &seal,
                            uint64_t &result) {
  XxHash64 hash;
  if (seal.weights_bytes) {
    uint64_t offset = image.offsetOf(seal.weights_address, seal.weights_bytes);
    if (!image.holds(offset, seal.weights_bytes))
      return false;
    hash.update(image.bytes + offset, seal.weights_bytes);
  }
  result = hash.digest();
  return true;
}

bool ingot::rt::makeSeal(unsigned char *bytes, uint64_t size,
                         uint64_t weightsAddress, uint64_t weightsBytes,
                         uint64_t weightsHash) {
  ElfImage image{bytes, size};
  ingot_abi_seal seal;
  uint64_t offset;
  if (!findSeal(image, seal, offset))
    return false;
  seal.weights_address = weightsAddress;
  seal.weights_bytes = weightsBytes;
  seal.weights_hash = weightsHash;
  if (!hashRest(image, seal, offset, seal.rest_hash))
    return false;
  memcpy(bytes + offset, &seal, sizeof(seal));
  return true;
}
