//===- ElfFile.cpp - looking into a shared object before loading it -------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/ElfFile.h"

#include "runtime/core/Artifact.h"
#include "runtime/core/Error.h"
#include "runtime/format/ElfImage.h"
#include "runtime/format/Seal.h"

using namespace ingot::rt;

#if defined(__x86_64__)
static constexpr uint16_t thisMachine = EM_X86_64;
#elif defined(__aarch64__)
static constexpr uint16_t thisMachine = EM_AARCH64;
#else
#error "unknown machine"
#endif

static ingot_status truncated(const char *path, const char *what,
                              ingot_error *error) {
  return fail(error, INGOT_BAD_ARTIFACT,
              "'%s' is truncated or damaged: its %s reach past the end of the "
              "file; compile or copy it again",
              path, what);
}

/// Returns the version of a query symbol in the strings, or 0 if there is none.
/// If there are several, prefers this library's version.
static uint64_t findVersion(const unsigned char *strings, uint64_t length) {
  constexpr size_t prefix = sizeof(INGOT_ABI_QUERY_PREFIX) - 1;
  uint64_t found = 0;
  const unsigned char *at = strings, *end = strings + length;
  while (found != INGOT_ABI_VERSION &&
         (at = static_cast<const unsigned char *>(
              memmem(at, size_t(end - at), INGOT_ABI_QUERY_PREFIX, prefix)))) {
    at += prefix;
    uint64_t version = 0;
    const unsigned char *digit = at;
    for (; digit < end && *digit >= '0' && *digit <= '9' && version < 1000000;
         ++digit)
      version = version * 10 + (*digit - '0');
    if (digit > at && digit < end && !*digit && version)
      found = version;
  }
  return found;
}

/// Returns the version of the query symbol in the dynamic string table, or 0.
static uint64_t exportedVersion(const ElfImage &image,
                                const Elf64_Phdr &dynamic) {
  uint64_t address = 0, length = 0;
  uint64_t entries = dynamic.p_filesz / sizeof(Elf64_Dyn);
  for (uint64_t i = 0; i < entries; ++i) {
    auto entry = image.at<Elf64_Dyn>(dynamic.p_offset + i * sizeof(Elf64_Dyn));
    if (entry.d_tag == DT_NULL)
      break;
    if (entry.d_tag == DT_STRTAB)
      address = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ)
      length = entry.d_un.d_val;
  }
  uint64_t offset = image.offsetOf(address, length);
  return image.holds(offset, length) ? findVersion(image.bytes + offset, length)
                                     : 0;
}

ingot_status ingot::rt::checkElfImage(const unsigned char *bytes, uint64_t size,
                                      const char *path, ingot_error *error) {
  ElfImage image{bytes, size};
  if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG))
    return fail(error, INGOT_BAD_ARTIFACT,
                "'%s' is not a compiled model (not an ELF shared object); "
                "compile one with: ingot compile model.onnx -o model.so",
                path);
  if (size < sizeof(Elf64_Ehdr))
    return truncated(path, "headers", error);
  auto header = image.at<Elf64_Ehdr>(0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != thisMachine)
    return fail(error, INGOT_BAD_ARTIFACT,
                "'%s' was compiled for another kind of machine (ELF class %u, "
                "machine %u)",
                path, header.e_ident[EI_CLASS], header.e_machine);
  if (header.e_type != ET_DYN)
    return fail(error, INGOT_BAD_ARTIFACT,
                "'%s' is not a compiled model (an ELF file, but not a shared "
                "object)",
                path);
  if (!image.hasSegments())
    return truncated(path, "program headers", error);
  // Linkers put the section headers at the end of the file, so this check finds
  // nearly every truncation.
  if (header.e_shoff &&
      !image.holds(header.e_shoff,
                   uint64_t(header.e_shnum) * header.e_shentsize))
    return truncated(path, "section headers", error);

  Elf64_Phdr dynamic = {};
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment = image.segment(i);
    if (segment.p_type == PT_NULL)
      continue;
    if (segment.p_filesz && !image.holds(segment.p_offset, segment.p_filesz))
      return truncated(path, "segments", error);
    if (segment.p_type == PT_LOAD &&
        (segment.p_filesz > segment.p_memsz ||
         segment.p_vaddr + segment.p_memsz < segment.p_vaddr ||
         (segment.p_align > 1 &&
          ((segment.p_align & (segment.p_align - 1)) ||
           (segment.p_vaddr - segment.p_offset) % segment.p_align))))
      return fail(error, INGOT_BAD_ARTIFACT,
                  "'%s' is damaged: its program headers contradict each other; "
                  "compile or copy it again",
                  path);
    if (segment.p_type == PT_DYNAMIC)
      dynamic = segment;
  }
  uint64_t version = exportedVersion(image, dynamic);
  if (version && version != INGOT_ABI_VERSION)
    return refuseVersion(path, version, error);
  if (!version)
    return fail(error, INGOT_BAD_ARTIFACT,
                "'%s' is a shared object but not a compiled model (no symbol "
                "%s)",
                path, INGOT_ABI_QUERY_SYMBOL);
  return INGOT_OK;
}

ingot_status ingot::rt::checkSeal(const unsigned char *bytes, uint64_t size,
                                  const char *path, uint32_t flags,
                                  ingot_error *error) {
  bool isTrusted = flags & INGOT_MODEL_TRUST_FILE;
  bool verifies = flags & INGOT_MODEL_VERIFY;
  if (isTrusted && !verifies)
    return INGOT_OK;
  ElfImage image{bytes, size};
  ingot_abi_seal seal;
  uint64_t offset, hash;
  if (!findSeal(image, seal, offset)) {
    if (!verifies)
      return INGOT_OK;
    return fail(error, INGOT_BAD_ARTIFACT,
                "'%s' has no checksums to verify; compile it again", path);
  }
  if (!isTrusted &&
      (!hashRest(image, seal, offset, hash) || hash != seal.rest_hash))
    return fail(error, INGOT_BAD_ARTIFACT,
                "'%s' is damaged: its code and tables are not what was "
                "compiled (checksum differs); compile or copy it again",
                path);
  if (verifies &&
      (!hashWeights(image, seal, hash) || hash != seal.weights_hash))
    return fail(error, INGOT_BAD_ARTIFACT,
                "'%s' is damaged: its weights are not what was compiled "
                "(checksum differs); compile or copy it again",
                path);
  return INGOT_OK;
}

ingot_status ingot::rt::checkElfFile(const MappedFile &file, const char *path,
                                     uint32_t flags, ingot_error *error) {
  if (ingot_status status =
          checkElfImage(file.data(), file.size(), path, error))
    return status;
  return checkSeal(file.data(), file.size(), path, flags, error);
}
