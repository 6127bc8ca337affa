//===- Int8Products.cpp - products of bytes -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/policy/Int8Products.h"

#include "dialects/cpu/CpuDialect.h"
#include "dialects/nn/Constants.h"
#include "passes/cpu/policy/FloatProducts.h"
#include "passes/cpu/policy/PairLimits.h"
#include "passes/cpu/policy/Scratch.h"
#include "passes/support/Convolutions.h"
#include "passes/support/Shapes.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using support::productOf;
using support::shapeOf;
using support::whyNotThreeByThree;

/// Says why a convolution of bytes multiplies no more elements in an
/// instruction than one of floats. With few channels, its kernel converts bytes
/// to floats. With three channels and int16, the four bytes of a group take two
/// instructions.
static Reason whyFewAtOnce(nn::ConvOp conv, const Machine &machine) {
  if (Reason reason = whyBytesAsFloats(conv))
    return reason;
  if (machine.asInt16 && conv.getGroups() == 1 &&
      shapeOf(conv.getW())[1] < threshold::byteChannelsAtOnce)
    return "has three channels, which are multiplied no faster as int16 than "
           "as floats";
  return std::nullopt;
}

/// Answers for depthwise convolutions of images. An instruction multiplies four
/// taps as bytes, or two as int16. Bytes gain most if the data come from
/// memory. If the second-level cache holds the data as floats, two cases with
/// stride 1 do not pay. One is int16 for data that come from floats. The other
/// is the model's input with many taps in a row.
static Answer<bool> isDepthwiseForBytes(nn::ConvOp conv,
                                        const Int8Candidate &candidate,
                                        const Machine &machine) {
  auto type = cast<ShapedType>(conv.getX().getType());
  ArrayRef<int64_t> x = type.getShape(), w = shapeOf(conv.getW());
  ArrayRef<int64_t> strides = conv.getStrides();
  bool isInCache =
      type.hasStaticShape() &&
      type.getNumElements() <= threshold::byteFloatsInCache(machine.numbers);
  if (isInCache && strides[0] == 1 && strides[1] == 1) {
    if (machine.asInt16 && candidate.readsFloats())
      return {false, "is depthwise, and the cache holds its data as floats, so "
                     "that int16 saves no time"};
    if (!machine.asInt16 && candidate.ofInput &&
        w[3] > threshold::byteTapsAtOnce)
      return {false, "is depthwise on the model's input with many taps in a "
                     "row, and the cache holds its data as floats"};
  }
  // Declines if there are few rows of pixels, because most rows of taps are
  // then in the padding. Floats skip such rows.
  if (double(x[2]) > threshold::byteLeastRowsPerTap * double(w[2]))
    return {true, "multiplies several taps of a channel in an instruction"};
  return {false, "is depthwise with few rows, so that most taps lie in the "
                 "padding, which floats skip"};
}

Answer<bool> cpu::isForInt8(Operation *product,
                            const Int8Candidate &candidate) {
  const Machine machine(product);
  if (Reason reason = whyAsFastInFloats(product, candidate.ofInput, machine))
    return {false, *reason};
  auto conv = dyn_cast<nn::ConvOp>(product);
  if (!conv)
    return {true, "multiplies several bytes in an instruction"};
  if (Reason reason = whyFewAtOnce(conv, machine); reason && candidate.ofInput)
    return {false, *reason + ", and reads the model's input"};
  ArrayRef<int64_t> x = shapeOf(conv.getX());
  if (!support::isDepthwise(conv) || x.size() != 4 ||
      ShapedType::isDynamic(x[2]))
    return {true, "multiplies several bytes in an instruction, or reads fewer "
                  "of them from memory"};
  return isDepthwiseForBytes(conv, candidate, machine);
}

namespace {
/// Counts how often an element of a tensor is multiplied. Adds up all products
/// that read the tensor, because they share the cost of the range.
struct Readers {
  explicit Readers(Value x) {
    for (Operation *user : x.getUsers()) {
      int64_t outputs = 0;
      if (auto conv = dyn_cast<nn::ConvOp>(user);
          conv && conv.getGroups() == 1 &&
          cast<ShapedType>(conv.getW().getType()).hasStaticShape()) {
        ArrayRef<int64_t> w = shapeOf(conv.getW());
        int64_t taps = productOf(w.drop_front(2));
        haveWindows |= taps > 1;
        weights += productOf(w);
        outputs = w[0] * taps / productOf(conv.getStrides());
      } else if (auto matmul = dyn_cast<nn::MatMulOp>(user)) {
        outputs = matmul.getType().getShape().back();
        auto b = cast<ShapedType>(matmul.getB().getType());
        weights += b.hasStaticShape() ? b.getNumElements() : 0;
      }
      products += std::max<int64_t>(outputs, 0);
    }
  }

  /// Returns true if elements have too few products to pay for finding a range
  /// and rounding.
  bool multiplyLittle(bool asInt16) const {
    return products < (asInt16 ? threshold::rangeFewestProductsAsInt16
                               : threshold::rangeFewestProducts);
  }

  int64_t products = 0, weights = 0;
  bool haveWindows = false;
};
} // namespace

static constexpr char kMultipliesLittle[] =
    "uses each element in so few products that finding the range takes longer "
    "than int8 saves";
static constexpr char kFewWeights[] =
    "has few weights: finding a range takes longer than multiplying them";
static constexpr char kPaysForRange[] =
    "uses each element in enough products to pay for finding the range";

static Answer<bool> paysForRange(nn::ConvOp conv, const Machine &machine) {
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  int64_t terms = productOf(w.drop_front());
  Readers readers(conv.getX());
  if (readers.multiplyLittle(machine.asInt16))
    return {false, kMultipliesLittle};
  if (!ShapedType::isDynamic(terms) && terms < threshold::rangeFewestTerms)
    return {
        false,
        "has few terms in each sum, so that products take little of the time"};
  // Declines if there is much padding. Bytes multiply the padding, too, because
  // its value is known only at run time.
  if (conv.getX().getType().hasStaticShape() &&
      shareOfTaps(conv, w.size() - 2) <
          (machine.asInt16 ? threshold::rangeLeastShareOfTapsAsInt16
                           : threshold::rangeLeastShareOfTaps))
    return {false, "has much padding, which floats skip"};
  const int64_t factor =
      takesFewerProducts(conv, threshold::rangeManyFilteredPixels)
          ? threshold::rangeFilterFactor
      : readers.haveWindows ? threshold::rangeWindowFactor
                            : 1;
  if (machine.asInt16 &&
      readers.weights < factor * threshold::rangeFewestWeights)
    return {false, kFewWeights};
  return {true, kPaysForRange};
}

/// Returns the rows of a result of known sizes.
static int64_t rowsOf(ShapedType y) {
  return y.getNumElements() / std::max<int64_t>(y.getShape().back(), 1);
}

/// Returns true if bytes save more time than finding a range takes. A dynamic
/// number of rows counts as large. With a single row, bytes save reading time,
/// so many weights or columns suffice. With int16, only the columns count.
static Answer<bool> paysForRange(nn::MatMulOp matmul, const Machine &machine) {
  RankedTensorType y = matmul.getType();
  auto b = cast<ShapedType>(matmul.getB().getType());
  if (!y.hasStaticShape() || !b.hasStaticShape())
    return {true, "has open sizes, which may be large"};
  const int64_t fewest = threshold::rangeFewestWeights;
  int64_t columns = y.getShape().back(), weights = b.getNumElements();
  Readers readers(matmul.getA());
  if (readers.weights <
      (machine.asInt16 ? threshold::rangeMatrixFactor * fewest : fewest))
    return {false, kFewWeights};
  if (y.getNumElements() == columns) {
    if (machine.asInt16
            ? columns >= threshold::rangeFewestColumnsAsInt16
            : columns >= threshold::rangeFewestColumns || weights > fewest)
      return {true, "has one row, whose time is that of reading weights"};
    return {false, "has one row and few columns: finding a range takes longer "
                   "than multiplying them"};
  }
  // With too few rows for pairs, bytes are multiplied as int16, which saves
  // less time. The tensor must then take part in more products to pay for the
  // range.
  if (readers.multiplyLittle(machine.asInt16))
    return {false, kMultipliesLittle};
  if (!machine.asInt16 || rowsOf(y) >= threshold::pairedFewestRows ||
      readers.products >= threshold::rangeFewestProductsUnpaired)
    return {true, kPaysForRange};
  return {false, "has too few rows for pairs of bytes, and uses each element "
                 "in too few products for int16"};
}

Answer<bool> cpu::isForDynamicInt8(Operation *product) {
  const Machine machine(product);
  if (auto conv = dyn_cast<nn::ConvOp>(product))
    return paysForRange(conv, machine);
  if (auto matmul = dyn_cast<nn::MatMulOp>(product))
    return paysForRange(matmul, machine);
  return {false, "is neither a convolution nor a matrix product"};
}

// The kernel of floats splits sequences into tasks, which are as long as all
// steps. Threads that share a step in bytes meet after each product instead. A
// single sequence is limited by reading weights, of which bytes have fewer.
Answer<bool> cpu::isLoopForInt8(Operation *product, int64_t weights,
                                int64_t numLoops) {
  if (weights < threshold::loopFewestByteWeights)
    return {false, "is in a loop with few weights, where one kernel of floats "
                   "computes all steps"};
  auto y = cast<ShapedType>(product->getResult(0).getType());
  const int64_t rows = y.hasStaticShape() ? rowsOf(y) : 1;
  const int64_t tasks =
      numLoops *
      int64_t(llvm::divideCeil(rows, threshold::loopSequencesOfTask));
  if (Machine(product).asInt16 && rows > 1 && tasks > 1 &&
      rows * weights <= threshold::loopFewByteProductsAsInt16)
    return {false, "is in a loop with short steps, where one kernel of floats "
                   "gives each thread some sequences through all steps"};
  return {true, "is in a loop with many weights"};
}

Answer<bool> cpu::isForComputedBytes(nn::MatMulOp product) {
  if (Machine(product).asInt16)
    return {false, "is for CPUs that widen bytes, where packing a computed "
                   "factor costs more than bytes save"};
  auto a = cast<ShapedType>(product.getA().getType()),
       b = cast<ShapedType>(product.getB().getType());
  if (!a.hasStaticShape() || !b.hasStaticShape())
    return {false, "has open sizes, for which no kernel packs a factor"};
  if (a.getRank() != b.getRank() ||
      a.getShape().drop_back(2) != b.getShape().drop_back(2))
    return {false, "broadcasts a factor"};
  ArrayRef<int64_t> y = product.getType().getShape();
  const int64_t depth = a.getShape().back(), rows = y[y.size() - 2];
  if (depth < threshold::computedBytesFewestTerms || depth % kPairGroup != 0)
    return {false, "has short sums, or sums that do not fill groups of four"};
  if (rows < threshold::computedBytesFewestRows ||
      y.back() < threshold::computedBytesFewestColumns)
    return {false, "has few rows or columns, which do not pay for packing"};
  return {true, "multiplies several bytes in an instruction"};
}

Answer<bool> cpu::isForByteAttention(RankedTensorType q, RankedTensorType k,
                                     RankedTensorType v) {
  auto fits = [](int64_t size) {
    return !ShapedType::isDynamic(size) && size > 0 && size % 16 == 0 &&
           size <= cpu::kMaxHeadSize;
  };
  if (!fits(q.getDimSize(3)) || !fits(v.getDimSize(3)))
    return {false, "has heads whose size the kernel does not support"};
  // The stack of a task with all keys has, for each key, a score and a
  // probability of each query. It also has the values and sums of the keys.
  constexpr int64_t kQueries = 32;
  const int64_t keys = k.getDimSize(1), queries = q.getDimSize(1),
                bytesOfKey = kQueries * 5 + v.getDimSize(3) + 4;
  const bool areAtOnce =
      !ShapedType::isDynamic(keys) && keys <= cpu::kMostKeysAtOnce;
  if (keys == 0 ||
      (areAtOnce &&
       keys * bytesOfKey + kQueries * q.getDimSize(3) > kMaxScratchBytes))
    return {false, "has no keys, or more than a task keeps scores of"};
  if (!ShapedType::isDynamic(queries) &&
      queries < threshold::byteAttentionFewestQueries)
    return {false, "has few queries, which do not fill vectors"};
  return {true, "keeps scores and probabilities in a task"};
}

Answer<bool> cpu::isForPadding(nn::ConvOp conv) {
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  const int64_t productsOfByte =
      w[0] * productOf(w.drop_front(2)) / productOf(conv.getStrides());
  if (productsOfByte < threshold::paddedFewestProducts)
    return {false, "uses each byte in too few products to pay for copying it"};
  return {true, "uses each byte in enough products to pay for copying it"};
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Says why a product with `depth` inputs for each tap is not multiplied in
/// pairs.
static Reason whyNotPairs(int64_t depth, int64_t ofRun, int64_t all,
                          int64_t rows, const Machine &machine) {
  if (depth % kPairGroup != 0)
    return "has inputs that do not fill groups of four";
  if (!suitsPairs(ofRun, all, machine.numbers))
    return "has too few or too many groups of inputs for pairs";
  if (!haveRowsForPairs(rows))
    return "has few rows, which do not pay for sorting pairs";
  return std::nullopt;
}

static Reason whyNotPairs(nn::ConvOp conv, const Machine &machine) {
  ArrayRef<int64_t> weights = shapeOf(conv.getW());
  ArrayRef<int64_t> taps = weights.drop_front(2);
  if (conv.getGroups() != 1)
    return "has groups";
  if (!whyNotThreeByThree(conv))
    return "has 3x3 taps, which need fewer products by Winograd with int16 "
           "than in pairs";
  // The rows of a convolution are the pixels of all images.
  int64_t groups = weights[1] / kPairGroup;
  ArrayRef<int64_t> y = shapeOf(conv.getY());
  return whyNotPairs(weights[1], groups * taps.back(), groups * productOf(taps),
                     productOf({y[0], productOf(y.drop_front(2))}), machine);
}

Answer<std::optional<int64_t>> cpu::findPairedAxis(Operation *product) {
  const Machine machine(product);
  if (!machine.asInt16)
    return {std::nullopt,
            "is for CPUs whose instructions add four products of bytes"};
  int64_t axis = 1;
  Reason reason;
  if (auto conv = dyn_cast<nn::ConvOp>(product)) {
    reason = whyNotPairs(conv, machine);
  } else if (auto matmul = dyn_cast<nn::MatMulOp>(product);
             matmul && shapeOf(matmul.getB()).size() > 2) {
    reason = "has a matrix of weights for each batch";
  } else if (matmul) {
    axis = matmul.getTransposeB() ? 1 : 0;
    int64_t depth = shapeOf(matmul.getB())[size_t(axis)];
    int64_t groups = depth / kPairGroup;
    reason = whyNotPairs(depth, groups, groups,
                         productOf(shapeOf(matmul.getResult()).drop_back()),
                         machine);
  } else {
    reason = "is transposed";
  }
  if (reason)
    return {std::nullopt, *reason};
  return {axis, "has enough rows and inputs for products of pairs of bytes"};
}

/// Returns true if all weights of `product` are known when compiling.
static bool hasConstantWeights(nn::PackedMatMulOp product) {
  return nn::getConstant(product.getCodes()) &&
         nn::getConstant(product.getScales()) &&
         (!product.getZeroPoints() || nn::getConstant(product.getZeroPoints()));
}

/// Returns the size of the blocks of `product`, at most the depth.
static int64_t blockOf(nn::PackedMatMulOp product) {
  return std::min(int64_t(product.getBlockSize()), int64_t(product.getDepth()));
}

/// Limit of elements of a block of split rows. i32 holds the sum of their two
/// lower digits times weights of 8 bits.
static constexpr int64_t kMaxSplitBlock = 256;
/// Number of elements of split rows that are rounded at once.
static constexpr int64_t kBytesAtOnce = 16;

int64_t cpu::splitBlockOf(nn::PackedMatMulOp product) {
  const int64_t block = blockOf(product);
  const int64_t most =
      std::min<int64_t>(threshold::roundedLargestBlock, kMaxSplitBlock);
  if (block <= most)
    return block;
  if (block != int64_t(product.getDepth()))
    return std::gcd(block, most);
  // Makes blocks of equal size, because the last one is extended by zeros.
  const int64_t parts = llvm::divideCeil(block, most);
  return int64_t(llvm::alignTo(llvm::divideCeil(block, parts), kBytesAtOnce));
}

Answer<bool> cpu::isForSplitRows(nn::PackedMatMulOp product) {
  const int64_t bits = product.getBits(), block = splitBlockOf(product);
  if (!addsByteDots(product))
    return {false, "is for CPUs without products of four bytes"};
  if (block < threshold::splitSmallestBlock)
    return {false, "has small blocks, whose sums take long to scale"};
  if (blockOf(product) != int64_t(product.getDepth()) && block % (32 / bits))
    return {false, "has blocks that do not fill 32-bit words"};
  if (shapeOf(product.getCodes())[0] < threshold::splitFewestColumns)
    return {false, "has few columns, which do not pay for splitting rows"};
  if (!hasConstantWeights(product))
    return {false, "has weights that a run computes"};
  return {true, "has enough columns to pay for splitting rows into bytes"};
}

Answer<bool> cpu::isForRoundedRows(nn::PackedMatMulOp product) {
  const auto bits = int64_t(product.getBits());
  const int64_t block = blockOf(product);
  const bool isOnlyBlock = block == int64_t(product.getDepth());
  if (bits >= 8 && !addsByteDots(product))
    return {false, "has weights of 8 bits, whose products do not fit in int16"};
  if (block > threshold::roundedLargestBlock)
    return {false, "has blocks too large for one scale of rounded rows"};
  if (!isOnlyBlock && block % (32 / bits) != 0)
    return {false, "has blocks that do not fill 32-bit words"};
  if (shapeOf(product.getCodes())[0] < threshold::roundedFewestColumns)
    return {false, "has few columns, which do not pay for rounding rows"};
  if (!hasConstantWeights(product))
    return {false, "has weights that a run computes"};
  return {true, "has enough columns to pay for rounding rows"};
}
