//===- PackBlocks.cpp - weights of a few bits in panels -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/lower/PackBlocks.h"

#include "dialects/cpu/PackedWeights.h"
#include "dialects/nn/Constants.h"
#include "passes/cpu/lower/PackWeights.h"
#include "passes/support/PackedCodes.h"
#include "passes/support/Shapes.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using namespace ingot::support;

namespace {

/// The position of a code: the column of its 32-bit word, and its lowest bit.
struct CodePosition {
  int64_t column, bit;
};

/// The sizes of the weights, and their division into panels.
struct Layout {
  Layout(nn::PackedMatMulOp op, const PackedRows &rows)
      : areGroupsOfFour(rows.digits != 0), bits(op.getBits()),
        depth(op.getDepth()), block(std::min(rows.block, depth)),
        storedBlock(std::min<int64_t>(op.getBlockSize(), depth)) {
    ArrayRef<int64_t> codes = support::typeOf(op.getCodes()).getShape();
    columns = codes[0];
    storedBlocks = codes[1];
    bytes = codes[2];
    blocks = llvm::divideCeil(depth, block);
    width = cpu::panelWidth(columns);
    panels = llvm::divideCeil(columns, width);
    words = llvm::divideCeil(block, 32 / bits);
  }

  /// Returns the offset of entry `row` of a column, in panels of `rows` rows.
  int64_t at(int64_t column, int64_t row, int64_t rows) const {
    return (column / width * rows + row) * width + column % width;
  }

  /// Returns the position of code `i` of a column's word, among the words of a
  /// row.
  CodePosition placeOf(int64_t column, int64_t i) const {
    // Places groups of four neighbours in the bytes of a word.
    if (areGroupsOfFour)
      return {column, i % 4 * 8 + i / 4 * bits};
    if (bits != 8)
      return {column, i * bits};
    // Stores 16 bytes for each row of codes of 16 columns.
    int64_t perWord = 32 / bits, in = column % cpu::kByteColumns;
    int64_t first = column - in, byte = i * cpu::kByteColumns + in;
    return {first + byte / perWord, byte % perWord * bits};
  }

  /// True if words are multiplied as groups of four bytes.
  bool areGroupsOfFour;
  int64_t bits, depth;
  /// The size of a kernel's block, and of a block of the codes.
  int64_t block, storedBlock;
  int64_t columns, blocks, storedBlocks;
  /// The bytes of a column in a block of the codes.
  int64_t bytes;
  int64_t width, panels;
  /// The words of a column in a kernel's block.
  int64_t words;
};

} // namespace

/// Packs the words. If words are groups of four bytes, they hold the codes
/// unchanged. Otherwise they hold the codes minus `2^(bits - 1)`.
static ElementsAttr packWords(const Layout &layout, ElementsAttr codes) {
  std::vector<char> storage;
  std::optional<ArrayRef<char>> bytes = nn::getRawBytes(codes, storage);
  if (!bytes)
    return {};
  int64_t bits = layout.bits, perWord = 32 / bits;
  int64_t rows = layout.blocks * layout.words;
  uint32_t sign = layout.areGroupsOfFour ? 0 : uint32_t(1) << (bits - 1);
  std::vector<uint32_t> words(layout.panels * rows * layout.width, 0);
  for (int64_t column = 0; column < layout.columns; ++column)
    for (int64_t k = 0; k < layout.depth; ++k) {
      int64_t block = k / layout.block, in = k % layout.block;
      int64_t inStored = k % layout.storedBlock;
      int64_t from = (column * layout.storedBlocks + k / layout.storedBlock) *
                     layout.bytes;
      uint32_t code = support::readCode(&(*bytes)[from], inStored, bits);
      int64_t row = block * layout.words + in / perWord;
      CodePosition place = layout.placeOf(column, in % perWord);
      words[layout.at(place.column, row, rows)] |= (code ^ sign) << place.bit;
    }
  std::vector<char> raw(words.size() * sizeof(uint32_t));
  std::memcpy(raw.data(), words.data(), raw.size());
  return nn::makeConstantAttr(
      RankedTensorType::get({layout.panels, rows, layout.width},
                            IntegerType::get(codes.getContext(), 32)),
      std::move(raw));
}

/// Packs one value minus `offset` for each block and column. Blocks of the
/// kernel that a block of the codes holds share its value.
static ElementsAttr packPerBlock(const Layout &layout, ElementsAttr values,
                                 double offset, Type element) {
  std::optional<std::vector<double>> numbers = nn::readDoubles(values);
  if (!numbers)
    return {};
  std::vector<double> packed(layout.panels * layout.blocks * layout.width, 0);
  for (int64_t column = 0; column < layout.columns; ++column)
    for (int64_t block = 0; block < layout.blocks; ++block)
      packed[layout.at(column, block, layout.blocks)] =
          (*numbers)[column * layout.storedBlocks +
                     block * layout.block / layout.storedBlock] -
          offset;
  return nn::makeConstantAttr(
      RankedTensorType::get({layout.panels, layout.blocks, layout.width},
                            element),
      packed);
}

std::optional<cpu::PackedBlocks> cpu::packBlocks(nn::PackedMatMulOp op,
                                                 const PackedRows &rows) {
  Layout layout(op, rows);
  Builder builder(op.getContext());
  PackedBlocks packed;
  packed.words = packWords(layout, nn::getConstant(op.getCodes()));
  packed.scales = packPerBlock(layout, nn::getConstant(op.getScales()), 0,
                               builder.getF32Type());
  if (!packed.words || !packed.scales)
    return std::nullopt;
  double middle = double(1 << (layout.bits - 1));
  Value zeros = op.getZeroPoints();
  if (!zeros || nn::getSplat(zeros) == middle)
    return packed;
  bool isReal = isa<FloatType>(typeOf(zeros).getElementType());
  packed.zeroPoints =
      packPerBlock(layout, nn::getConstant(zeros), middle,
                   isReal ? Type(builder.getF32Type()) : builder.getI8Type());
  if (!packed.zeroPoints)
    return std::nullopt;
  return packed;
}
