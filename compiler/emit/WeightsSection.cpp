//===- WeightsSection.cpp - the weights' place in a shared library --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the weights into the linked library. The linker reserves a section of
// the weights' size, which is the last one in memory and has no bytes in the
// file. The weights are inserted behind the loaded part of the file. The part
// that is not loaded (symbols, section headers) moves behind the weights.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Emit.h"
#include "passes/support/Thresholds.h"

#include "runtime/format/Seal.h"
#include "runtime/format/XxHash64.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFTypes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ingot;

using ELF = llvm::object::ELF64LE;

static constexpr uint64_t kPage = 4096;

// Writes the object by hand, because an assembler would hold several copies of
// the weights in memory.
std::string ingot::makeWeightsObject(uint64_t weightsBytes) {
  // Symbol names and section names share one string table.
  const StringRef sectionNames("\0.ingot.weights\0.symtab\0.strtab\0", 32);
  const StringRef symbolName("ingot_weights\0", 14);
  enum { kNull, kWeights, kSymbols, kStrings, kSections };

  uint64_t symbolsAt = sizeof(ELF::Ehdr);
  uint64_t stringsAt = symbolsAt + 2 * sizeof(ELF::Sym);
  uint64_t stringsBytes = sectionNames.size() + symbolName.size();
  uint64_t headersAt = llvm::alignTo(stringsAt + stringsBytes, 8);

  ELF::Ehdr header = {};
  std::copy_n(llvm::ELF::ElfMagic, 4, header.e_ident);
  header.e_ident[llvm::ELF::EI_CLASS] = llvm::ELF::ELFCLASS64;
  header.e_ident[llvm::ELF::EI_DATA] = llvm::ELF::ELFDATA2LSB;
  header.e_ident[llvm::ELF::EI_VERSION] = llvm::ELF::EV_CURRENT;
  header.e_type = llvm::ELF::ET_REL;
  header.e_machine = llvm::ELF::EM_X86_64;
  header.e_version = llvm::ELF::EV_CURRENT;
  header.e_shoff = headersAt;
  header.e_ehsize = sizeof(ELF::Ehdr);
  header.e_shentsize = sizeof(ELF::Shdr);
  header.e_shnum = kSections;
  header.e_shstrndx = kStrings;

  ELF::Sym symbol = {};
  symbol.st_name = sectionNames.size();
  symbol.setBindingAndType(llvm::ELF::STB_GLOBAL, llvm::ELF::STT_OBJECT);
  symbol.st_other = llvm::ELF::STV_HIDDEN;
  symbol.st_shndx = kWeights;
  symbol.st_size = weightsBytes;

  ELF::Shdr sections[kSections] = {};
  ELF::Shdr &weights = sections[kWeights];
  weights.sh_name = 1;
  weights.sh_type = llvm::ELF::SHT_NOBITS;
  weights.sh_flags = llvm::ELF::SHF_ALLOC | llvm::ELF::SHF_X86_64_LARGE;
  weights.sh_offset = symbolsAt;
  weights.sh_size = weightsBytes;
  weights.sh_addralign = kPage;
  ELF::Shdr &symbols = sections[kSymbols];
  symbols.sh_name = 16;
  symbols.sh_type = llvm::ELF::SHT_SYMTAB;
  symbols.sh_offset = symbolsAt;
  symbols.sh_size = 2 * sizeof(ELF::Sym);
  symbols.sh_link = kStrings;
  symbols.sh_info = 1;
  symbols.sh_addralign = 8;
  symbols.sh_entsize = sizeof(ELF::Sym);
  ELF::Shdr &names = sections[kStrings];
  names.sh_name = 24;
  names.sh_type = llvm::ELF::SHT_STRTAB;
  names.sh_offset = stringsAt;
  names.sh_size = stringsBytes;
  names.sh_addralign = 1;

  std::string object;
  auto append = [&](const auto &value) {
    object.append(reinterpret_cast<const char *>(&value), sizeof(value));
  };
  append(header);
  append(ELF::Sym{});
  append(symbol);
  object += sectionNames;
  object += symbolName;
  object.resize(headersAt);
  append(sections);
  return object;
}

namespace {
/// The linker's file in two parts, and the position of the weights between
/// them.
struct Layout {
  std::string head, tail;
  uint64_t weightsAddress = 0, weightsAt = 0, weightsBytes = 0, tailAt = 0;
};
} // namespace

/// Splits the linker's file. Returns false if the file does not have the
/// expected layout.
static bool layOut(StringRef linked, Layout &layout) {
  std::string file = linked.str();
  auto *header = reinterpret_cast<ELF::Ehdr *>(file.data());
  auto *segments =
      reinterpret_cast<ELF::Phdr *>(file.data() + header->e_phoff);
  auto *sections =
      reinterpret_cast<ELF::Shdr *>(file.data() + header->e_shoff);
  StringRef names = linked.substr(sections[header->e_shstrndx].sh_offset);

  ELF::Shdr *weights = nullptr;
  for (ELF::Shdr &section : MutableArrayRef(sections, header->e_shnum))
    if (names.substr(section.sh_name).starts_with(".ingot.weights"))
      weights = &section;
  ELF::Phdr *segment = nullptr;
  uint64_t loadedEnd = 0;
  for (ELF::Phdr &other : MutableArrayRef(segments, header->e_phnum)) {
    if (other.p_type != llvm::ELF::PT_LOAD)
      continue;
    if (weights && other.p_vaddr == weights->sh_addr)
      segment = &other;
    else
      loadedEnd =
          std::max<uint64_t>(loadedEnd, other.p_offset + other.p_filesz);
  }
  if (!segment || segment->p_filesz != 0 ||
      segment->p_memsz != weights->sh_size)
    return false;

  // Aligns large weights in the file as in memory, so that the kernel can map
  // them with pages of 2 MiB. Small weights leave no gap.
  layout.weightsAddress = segment->p_vaddr;
  layout.weightsBytes = segment->p_memsz;
  layout.weightsAt = layout.weightsBytes < uint64_t(threshold::hugePagedWeights)
                         ? llvm::alignTo(loadedEnd, kPage)
                         : uint64_t(segment->p_vaddr);
  layout.tailAt =
      llvm::alignTo(layout.weightsAt + layout.weightsBytes, 64);
  uint64_t oldTailAt = header->e_shoff;
  for (ELF::Shdr &section : MutableArrayRef(sections, header->e_shnum))
    if (!(section.sh_flags & llvm::ELF::SHF_ALLOC) &&
        section.sh_type != llvm::ELF::SHT_NULL)
      oldTailAt = std::min<uint64_t>(oldTailAt, section.sh_offset);
  if (oldTailAt < loadedEnd || layout.weightsAt < loadedEnd)
    return false;
  // Preserves the alignment of the tail.
  oldTailAt = oldTailAt / 64 * 64;
  oldTailAt = std::max(oldTailAt, loadedEnd);
  layout.tailAt += oldTailAt % 64;

  segment->p_offset = layout.weightsAt;
  segment->p_filesz = layout.weightsBytes;
  for (ELF::Shdr &section : MutableArrayRef(sections, header->e_shnum))
    if (!(section.sh_flags & llvm::ELF::SHF_ALLOC) &&
        section.sh_type != llvm::ELF::SHT_NULL)
      section.sh_offset = section.sh_offset - oldTailAt + layout.tailAt;
  weights->sh_type = llvm::ELF::SHT_PROGBITS;
  weights->sh_offset = layout.weightsAt;
  header->e_shoff = header->e_shoff - oldTailAt + layout.tailAt;
  layout.head = file.substr(0, loadedEnd);
  layout.tail = file.substr(oldTailAt);
  return true;
}

static LogicalResult seal(Layout &layout, uint64_t weightsHash,
                          ModuleOp module) {
  if (rt::makeSeal(reinterpret_cast<unsigned char *>(layout.head.data()),
                   std::max<uint64_t>(layout.head.size(), layout.tailAt),
                   layout.weightsAddress, layout.weightsBytes, weightsHash))
    return success();
  return emitError(module.getLoc(),
                   "the linker has left no place for the checksums");
}

LogicalResult ingot::writeLibrary(StringRef linked, ModuleOp module,
                                  bool hasWeights, raw_ostream &out) {
  Layout layout;
  if (!hasWeights) {
    layout.head = linked.str();
    if (failed(seal(layout, rt::XxHash64().digest(), module)))
      return failure();
    out << layout.head;
    return success();
  }
  if (!layOut(linked, layout))
    return emitError(module.getLoc(),
                     "the linker placed the weights at a wrong address");
  if (failed(seal(layout, checksumWeights(module), module)))
    return failure();
  uint64_t start = out.tell();
  auto padTo = [&](uint64_t offset) {
    out.write_zeros(offset - (out.tell() - start));
  };
  out << layout.head;
  padTo(layout.weightsAt);
  if (failed(writeWeights(module, out)))
    return failure();
  if (out.tell() - start != layout.weightsAt + layout.weightsBytes)
    return emitError(module.getLoc(), "the weights have another size");
  padTo(layout.tailAt);
  out << layout.tail;
  return success();
}
