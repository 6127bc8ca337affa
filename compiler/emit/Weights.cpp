//===- Weights.cpp - the block of weights, alone or as an ELF object ------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Emit.h"

#include "dialects/nn/Constants.h"
#include "runtime/format/Sha256.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFTypes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ingot;

/// Calls `write` with the bytes of the weights, in order, gaps as zeros. No
/// copy of a large constant is made.
static LogicalResult
forEachPiece(ModuleOp module, function_ref<void(ArrayRef<char>)> write) {
  auto weights = module->getAttrOfType<ArrayAttr>("ingot.weights");
  if (!weights)
    return success();
  static const char zeros[64] = {};
  int64_t at = 0;
  auto padTo = [&](int64_t offset) {
    for (; at < offset; at += std::min<int64_t>(offset - at, 64))
      write(ArrayRef(zeros, std::min<int64_t>(offset - at, 64)));
  };
  for (Attribute row : weights) {
    int64_t offset = cast<IntegerAttr>(cast<ArrayAttr>(row)[0]).getInt();
    auto value = cast<ElementsAttr>(cast<ArrayAttr>(row)[1]);
    padTo(offset);
    // A large constant that is one number everywhere exists only as that: it
    // is written a piece at a time.
    int64_t left = value.getNumElements();
    constexpr int64_t kPiece = 1 << 16;
    if (auto dense = dyn_cast<DenseElementsAttr>(value);
        dense && dense.isSplat() && left > kPiece)
      value = dense.resizeSplat(
          RankedTensorType::get({kPiece}, dense.getElementType()));
    std::vector<char> storage;
    std::optional<ArrayRef<char>> bytes = nn::getRawBytes(value, storage);
    if (!bytes)
      return emitError(module.getLoc(), "weights cannot be read");
    int64_t width = nn::elementBytes(value.getElementType());
    for (int64_t bytesLeft = left * width; bytesLeft > 0;) {
      ArrayRef<char> piece =
          bytes->take_front(std::min<int64_t>(bytesLeft, bytes->size()));
      write(piece);
      at += piece.size();
      bytesLeft -= piece.size();
    }
  }
  padTo(module->getAttrOfType<IntegerAttr>("ingot.weights_bytes").getInt());
  return success();
}

LogicalResult ingot::writeWeights(ModuleOp module, raw_ostream &out) {
  return forEachPiece(module, [&](ArrayRef<char> bytes) {
    out.write(bytes.data(), bytes.size());
  });
}

// Not llvm::SHA256, which counts bits in 32 bits.
std::array<uint8_t, 32> ingot::hashWeights(ModuleOp module) {
  rt::Sha256 hash;
  (void)forEachPiece(module, [&](ArrayRef<char> bytes) {
    hash.update(bytes.data(), bytes.size());
  });
  uint8_t digest[32];
  hash.finish(digest);
  std::array<uint8_t, 32> result;
  llvm::copy(digest, result.begin());
  return result;
}

// The object is written by hand: an assembler would hold the weights in memory,
// several times.
LogicalResult ingot::writeWeightsObject(ModuleOp module, uint64_t weightsBytes,
                                        raw_ostream &out) {
  using ELF = llvm::object::ELF64LE;
  constexpr uint64_t kPage = 4096;
  const StringRef sectionNames("\0.ingot.weights\0.symtab\0.strtab\0", 32);
  const StringRef symbolNames("\0ingot_weights\0", 15);
  enum { kNull, kWeights, kSymbols, kStrings, kSections };

  uint64_t symbolsAt = llvm::alignTo(kPage + weightsBytes, 8);
  uint64_t stringsAt = symbolsAt + 2 * sizeof(ELF::Sym);
  uint64_t headersAt = llvm::alignTo(
      stringsAt + symbolNames.size() + sectionNames.size(), 8);

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
  symbol.st_name = 1;
  symbol.setBindingAndType(llvm::ELF::STB_GLOBAL, llvm::ELF::STT_OBJECT);
  symbol.st_other = llvm::ELF::STV_HIDDEN;
  symbol.st_shndx = kWeights;
  symbol.st_size = weightsBytes;

  // Names of symbols and sections share one string table.
  std::string strings = (sectionNames + symbolNames.drop_front()).str();
  symbol.st_name = sectionNames.size();

  ELF::Shdr sections[kSections] = {};
  ELF::Shdr &weights = sections[kWeights];
  weights.sh_name = 1;
  weights.sh_type = llvm::ELF::SHT_PROGBITS;
  weights.sh_flags = llvm::ELF::SHF_ALLOC;
  weights.sh_offset = kPage;
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
  names.sh_size = strings.size();
  names.sh_addralign = 1;

  auto write = [&](const auto &value) {
    out.write(reinterpret_cast<const char *>(&value), sizeof(value));
  };
  uint64_t start = out.tell();
  auto padTo = [&](uint64_t offset) {
    out.write_zeros(offset - (out.tell() - start));
  };
  write(header);
  padTo(kPage);
  if (failed(writeWeights(module, out)))
    return failure();
  padTo(symbolsAt);
  write(ELF::Sym{});
  write(symbol);
  out << strings;
  padTo(headersAt);
  write(sections);
  return success();
}
