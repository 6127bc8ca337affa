//===- CpuOps.cpp - verifiers and effects of cpu ops ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuVerify.h"
#include "dialects/cpu/PackedWeights.h"
#include "dialects/cpu/Signs.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot::cpu;
using namespace ingot::cpu::checks;

#define GET_OP_CLASSES
#include "dialects/cpu/CpuOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

void AttentionOp::getEffects(Effects &effects) {
  collectEffects(*this, effects);
}
void ConvOp::getEffects(Effects &effects) { collectEffects(*this, effects); }
void ConvTransposeOp::getEffects(Effects &effects) {
  collectEffects(*this, effects);
}
void DepthwiseConvOp::getEffects(Effects &effects) {
  collectEffects(*this, effects);
}
void MatMulOp::getEffects(Effects &effects) { collectEffects(*this, effects); }

void LaunchOp::getEffects(Effects &effects) {
  collectLaunchEffects(*this, getWrites(), effects);
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// Verifies the element types of a product. The weights' type determines the
/// types of src and of the sum. Grouped weights have an additional dimension.
template <typename Op>
static LogicalResult verifyProduct(Op op, int64_t rank) {
  Type weights = typeOf(op.getWeights()).getElementType();
  bool isInteger = weights.isInteger();
  if (!weights.isF32() && !weights.isF16() && !weights.isBF16() &&
      !weights.isInteger(8) && !weights.isInteger(16) && !weights.isInteger(32))
    return op.emitOpError("expects weights of f32, f16, bf16, i8, i16 or i32, "
                          "but got ")
           << weights;
  if (op.getFormat().isSigns() != weights.isInteger(32))
    return op.emitOpError("expects signs as weights of i32 and only as these, "
                          "but got weights of ")
           << weights;
  Type src = typeOf(op.getSrc()).getElementType();
  Builder builder(op.getContext());
  Type wanted =
      weights.isF16() && !src.isF16() ? Type(builder.getF32Type()) : weights;
  if (signless(src) != wanted)
    return op.emitOpError("expects src of ") << wanted << ", but got " << src;
  Type want = isInteger ? Type(builder.getI32Type()) : builder.getF32Type();
  Block &body = op.getEpilogue().front();
  if (body.getNumArguments() != 0 && body.getArgument(0).getType() != want)
    return op.emitOpError("expects a sum of ")
           << want << ", but got " << body.getArgument(0).getType();
  int64_t group = groupOf(wanted);
  if (failed(expectRank(op, "weights", op.getWeights(), rank + (group > 1))))
    return failure();
  if (group == 1)
    return success();
  return expectSize(op, "a group of weights", group,
                    typeOf(op.getWeights()).getShape().back());
}

/// Verifies the epilogue and the stored type.
template <typename Op> static LogicalResult verifyStored(Op op) {
  if constexpr (std::is_same_v<Op, ConvOp> || std::is_same_v<Op, MatMulOp>)
    if (std::optional<uint64_t> signs = op.getDstSigns()) {
      if (!op.getFormat().isSigns())
        return op.emitOpError("expects dst_signs for weights of signs only");
      if (int64_t(*signs) < 1)
        return op.emitOpError("expects dst_signs of at least 1, but got ")
               << int64_t(*signs);
      return verifySignEpilogue(op, op.getDst(), *signs);
    }
  return verifyEpilogue(op, op.getDst());
}

/// Verifies the common parts of convolutions: windows, batch, destination and
/// epilogue.
template <typename Op>
static LogicalResult verifyWindows(Op op, int64_t padsPerDim) {
  int64_t rank = typeOf(op.getSrc()).getRank();
  if (rank < 3 || rank > 5)
    return op.emitOpError("expects src of rank 3 to 5, but got ") << rank;
  if (failed(expectRank(op, "dst", op.getDst(), rank)) ||
      failed(expectCount(op, "strides", op.getStrides(), rank - 2)) ||
      failed(expectCount(op, "dilations", op.getDilations(), rank - 2)) ||
      failed(expectCount(op, "pads", op.getPads(), padsPerDim * (rank - 2))) ||
      failed(expectAtLeast(op, "strides", 1, op.getStrides())) ||
      failed(expectAtLeast(op, "dilations", 1, op.getDilations())) ||
      failed(expectKnown(op, "channels of src",
                         typeOf(op.getSrc()).getShape().back())) ||
      failed(expectKnown(op, "channels of dst",
                         typeOf(op.getDst()).getShape().back())) ||
      failed(expectKnown(op, "weights", typeOf(op.getWeights()).getShape())) ||
      failed(expectSize(op, "dst batch", typeOf(op.getSrc()).getDimSize(0),
                        typeOf(op.getDst()).getDimSize(0))) ||
      failed(verifyDst(op, op.getDst())))
    return failure();
  return verifyStored(op);
}

/// Verifies a convolution that reads windows of src directly.
template <typename Op>
static LogicalResult verifyConv(Op op) {
  return failure(failed(verifyWindows(op, 2)) ||
                 failed(expectAtLeast(op, "pads", 0, op.getPads())));
}

/// Verifies that a zero point belongs to int8 or int16 data and is a value of
/// the data type.
template <typename Op> static LogicalResult verifyZeroPoint(Op op) {
  int64_t zero = op.getSrcZeroPoint();
  Type src = signless(typeOf(op.getSrc()).getElementType());
  if (zero == 0 || (src.isInteger(8) && zero > 0 && zero <= 255) ||
      (src.isInteger(16) && llvm::isInt<16>(zero)))
    return success();
  return op.emitOpError("expects src_zero_point of 1 to 255 for bytes, -32768 "
                        "to 32767 for words, else 0, but got ")
         << zero << " for src of " << typeOf(op.getSrc()).getElementType();
}

static LogicalResult verifyCompensation(ConvOp op) {
  if (failed(verifyZeroPoint(op)))
    return failure();
  Value compensation = op.getCompensation();
  if (bool(compensation) != (op.getSrcZeroPoint() != 0))
    return op.emitOpError(
        "expects a compensation where src_zero_point is not 0, "
        "and only there");
  if (!compensation)
    return success();
  PackedWeights weights(op.getWeights());
  SmallVector<int64_t> want(weights.outer.drop_back());
  want.push_back(weights.width);
  ShapedType type = typeOf(compensation);
  if (!type.getElementType().isInteger(32) || type.getShape() != ArrayRef(want))
    return op.emitOpError(
               "expects a compensation of i32 with an element for each "
               "row of taps and column of a panel, but got ")
           << type;
  return success();
}

template <typename Op> static int64_t dstChannelsOf(Op op) {
  return op.getDstSigns().value_or(typeOf(op.getDst()).getShape().back());
}

template <typename Op>
static int64_t tilesOfWordsOf(Op op, int64_t columns) {
  std::optional<uint64_t> signs = op.getDstSigns();
  if (!signs)
    return 1;
  bool hasZeros = planesOf(*signs, typeOf(op.getDst()).getShape().back()) == 2;
  return llvm::divideCeil(hasZeros ? int64_t(*signs) : kSignsOfPair, columns);
}

int64_t ConvOp::dstChannels() { return dstChannelsOf(*this); }
int64_t MatMulOp::dstChannels() { return dstChannelsOf(*this); }
int64_t ConvOp::tilesOfWords(int64_t columns) {
  return tilesOfWordsOf(*this, columns);
}
int64_t MatMulOp::tilesOfWords(int64_t columns) {
  return tilesOfWordsOf(*this, columns);
}

LogicalResult ConvOp::verify() {
  if (failed(verifyFormat(*this, getFormat(),
                          {WeightsKind::panels, WeightsKind::signs},
                          {{"pairs", getPairs()}})) ||
      failed(verifyConv(*this)))
    return failure();
  int64_t rank = typeOf(getSrc()).getRank(), groups = getGroups();
  if (groups < 1)
    return emitOpError("expects groups of at least 1, but got ") << groups;
  if (failed(verifyProduct(*this, rank + 1)))
    return failure();
  PackedWeights weights(getWeights());
  int64_t channels = typeOf(getSrc()).getDimSize(rank - 1);
  if (getFormat().isSigns()) {
    if (failed(verifySigns(*this, getFormat(), getWeights(), channels)))
      return failure();
    if (groups != 1)
      return emitOpError("expects signs of one group, but got ") << groups;
    if (failed(expectKnown(*this, "rows of signs",
                           {typeOf(getSrc()).getDimSize(rank - 2),
                            typeOf(getDst()).getDimSize(rank - 2)})))
      return failure();
  } else if (weights.group == 1) {
    if (failed(expectSize(*this, "src channels", weights.depth * groups,
                          channels)))
      return failure();
  } else if (channels % groups != 0) {
    return emitOpError("expects src channels that ")
           << groups << " groups divide, but got " << channels;
  } else if (failed(expectSize(*this, "weight channels",
                               llvm::alignTo(channels / groups, weights.group),
                               weights.depth))) {
    return failure();
  }
  int64_t outputs = dstChannels(), panel = weights.width;
  if (outputs % groups != 0)
    return emitOpError("expects dst channels that ")
           << groups << " groups divide, but got " << outputs;
  if (failed(expectPanel(*this, panel)))
    return failure();
  if (failed(expectSize(*this, "weight panels",
                        groups * llvm::divideCeil(outputs / groups, panel),
                        weights.outer.front())))
    return failure();
  if (getPairs() && groups != 1)
    return emitOpError("expects pairs for one group, but got ") << groups;
  if (failed(verifyWinogradConv(*this)))
    return failure();
  return failure(
      failed(verifyPairs(*this, getWeights(), getPairs(), channels)) ||
      failed(verifyCompensation(*this)));
}

int64_t ConvTransposeOp::sizeBeyond(int64_t d) {
  int64_t kernel = typeOf(getWeights()).getDimSize(2 + d);
  int64_t rank = getStrides().size();
  return getDilations()[d] * (kernel - 1) + 1 - getStrides()[d] -
         getPads()[d] - getPads()[rank + d];
}

LogicalResult ConvTransposeOp::verify() {
  if (failed(verifyWindows(*this, 2)) || failed(verifyZeroPoint(*this)))
    return failure();
  if (!isa<RankedTensorType>(getDst().getType()))
    return emitOpError("expects tensors");
  ShapedType weights = typeOf(getWeights());
  int64_t rank = typeOf(getSrc()).getRank(), groups = getGroups();
  if (groups < 1)
    return emitOpError("expects groups of at least 1, but got ") << groups;
  if (failed(expectRank(*this, "weights", getWeights(), rank)) ||
      failed(expectSize(*this, "src channels", weights.getDimSize(0),
                        typeOf(getSrc()).getDimSize(rank - 1))))
    return failure();
  if (weights.getDimSize(0) % groups != 0)
    return emitOpError("expects src channels that ")
           << groups << " groups divide, but got " << weights.getDimSize(0);
  return expectSize(*this, "dst channels", weights.getDimSize(1) * groups,
                    typeOf(getDst()).getDimSize(rank - 1));
}

int64_t DepthwiseConvOp::groupSize() {
  return typeOf(getWeights()).getShape().back() /
         typeOf(getSrc()).getShape().back();
}

LogicalResult DepthwiseConvOp::verify() {
  if (failed(verifyConv(*this)))
    return failure();
  int64_t rank = typeOf(getSrc()).getRank();
  if (failed(expectRank(*this, "weights", getWeights(), rank - 1)))
    return failure();
  Type weights = typeOf(getWeights()).getElementType();
  const bool isOfBytes =
      checks::signless(typeOf(getSrc()).getElementType()).isInteger(8);
  if (!weights.isF32() && !(isOfBytes && weights.isInteger(8)))
    return emitOpError("expects weights of f32, or of i8 for src of ui8, but "
                       "got ")
           << weights;
  if (failed(verifyZeroPoint(*this)))
    return failure();
  int64_t channels = typeOf(getSrc()).getDimSize(rank - 1);
  int64_t columns = typeOf(getWeights()).getDimSize(rank - 2);
  int64_t size = channels > 0 ? groupSize() : 1;
  if (size * channels != columns || (size != 1 && size != 2 && size != 4))
    return emitOpError("expects weight channels of 1, 2 or 4 times ")
           << channels << ", but got " << columns;
  if (channels % size != 0)
    return emitOpError("expects channels in groups of ")
           << size << ", but got " << channels;
  return expectSize(*this, "dst channels", channels,
                    typeOf(getDst()).getDimSize(rank - 1));
}

int64_t MatMulOp::numPanels() {
  return llvm::divideCeil(dstChannels(), PackedWeights(getWeights()).width);
}

/// Verifies the depth and the number of panels of weights. The weights are a
/// matrix, or those blocks of a matrix that are not all zero. `depth` includes
/// the padding to whole groups of src.
static LogicalResult verifyMatrix(MatMulOp op, int64_t depth) {
  PackedWeights weights(op.getWeights());
  if (!op.getFormat().isBlocks())
    return failure(failed(expectSize(op, "inner dimension", depth,
                                     weights.depth)) ||
                   failed(expectSize(op, "weight panels", op.numPanels(),
                                     weights.outer.back())));
  if (weights.outer.size() != 1)
    return op.emitOpError("expects blocks of one matrix of weights");
  int64_t count = weights.outer[0], k = typeOf(op.getSrc()).getShape().back();
  if (count < 1 || weights.depth < 1 || weights.depth > k)
    return op.emitOpError("expects 1 block or more of 1 to ")
           << k << " k, but got " << count << " of " << weights.depth;
  int64_t want = op.numPanels() + 1 + count;
  ShapedType type = typeOf(op.getBlocks());
  if (type.getElementType().isInteger(32) && type.getShape() == ArrayRef(want))
    return success();
  return op.emitOpError("expects blocks of ")
         << want << " i32, but got " << type;
}

LogicalResult MatMulOp::verify() {
  if (failed(verifyFormat(
          *this, getFormat(),
          {WeightsKind::panels, WeightsKind::blocks, WeightsKind::signs},
          {{"blocks", getBlocks()}, {"pairs", getPairs()}})))
    return failure();
  ShapedType src = typeOf(getSrc()), dst = typeOf(getDst());
  int64_t rank = src.getRank();
  if (rank < 2)
    return emitOpError("expects src of rank 2 or more, but got ") << rank;
  if (failed(expectRank(*this, "dst", getDst(), rank)))
    return failure();
  ShapedType packed = typeOf(getWeights());
  bool isShared =
      packed.getRank() == 3 + (groupOf(src.getElementType()) > 1);
  if (failed(verifyProduct(*this, isShared ? 3 : rank + 1)))
    return failure();
  auto fromEnd = [](ShapedType type, int64_t i) {
    return type.getDimSize(type.getRank() - i);
  };
  PackedWeights weights(getWeights());
  // The depth K is stored either as it is, or rounded up to whole groups.
  int64_t depth = fromEnd(src, 1);
  if (weights.group > 1 && !ShapedType::isDynamic(depth))
    depth = llvm::alignTo(depth, weights.group);
  int64_t columns = dstChannels();
  if (failed(expectKnown(*this, "weights", packed.getShape())) ||
      failed(expectKnown(*this, "columns of dst", columns)) ||
      failed(expectKnown(*this, "inner dimension", fromEnd(src, 1))) ||
      failed(expectPanel(*this, weights.width)) ||
      failed(expectSize(*this, "dst rows", fromEnd(src, 2), fromEnd(dst, 2))))
    return failure();
  bool areSigns = getFormat().isSigns();
  if (areSigns && failed(verifySigns(*this, getFormat(), getWeights(), depth)))
    return failure();
  if (failed(verifyMatrix(*this, areSigns ? weights.depth : depth)))
    return failure();
  for (int64_t i = 0; i < rank - 2; ++i) {
    if (failed(expectSize(*this, "dst batch", src.getDimSize(i),
                          dst.getDimSize(i))))
      return failure();
    if (!isShared &&
        failed(expectSize(*this, "weight batch", src.getDimSize(i),
                          weights.outer[i])))
      return failure();
  }
  if (getPairs() && !isShared)
    return emitOpError("expects pairs for one matrix of weights");
  if (areSigns && !isShared)
    return emitOpError("expects signs of one matrix of weights");
  if (failed(verifyDst(*this, getDst())) ||
      failed(verifyPairs(*this, getWeights(), getPairs(), fromEnd(src, 1))))
    return failure();
  return verifyStored(*this);
}

LogicalResult
LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getKernelAttr());
  if (!kernel)
    return emitOpError("expects a function called ") << getKernel();
  ArrayRef<Type> types = kernel.getArgumentTypes();
  if (types.size() != getNumOperands() || kernel.getNumResults() != 0 ||
      !types.back().isIndex())
    return emitOpError("expects a kernel that takes ")
           << getArgs().size() << " memrefs and an index";
  return verifyLaunch(*this, getArgs(), types.drop_back(), getWrites());
}
