//===- Sites.cpp - where int8 stands in a model ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/Sites.h"

#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NodeName.h"
#include "passes/cpu/policy/SmallGroups.h"
#include "passes/quantize/FloatProducts.h"
#include "passes/quantize/Weights.h"
#include "passes/quantize/repair/Smoothable.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

static bool isF32(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF32();
}

/// A tensor that a run computes, as floats.
static bool isData(Value value) {
  return isF32(value) && !nn::getConstant(value) &&
         !value.getDefiningOp<nn::DequantizeOp>();
}

bool quantize::movesValues(Operation *op) {
  return isa<nn::MaxPoolOp, nn::ConcatOp, nn::ReshapeOp, nn::TransposeOp,
             nn::SliceOp>(op);
}

static bool isPool(Operation *op) {
  if (auto reduce = dyn_cast<nn::ReduceOp>(op))
    return reduce.getKind() == nn::ReduceKind::mean;
  return isa<nn::AvgPoolOp>(op);
}

bool quantize::isProduct(Operation *op) {
  // Of groups of one channel kernels multiply floats.
  auto transposed = dyn_cast<nn::ConvTransposeOp>(op);
  return isa<nn::ConvOp, nn::MatMulOp>(op) ||
         (transposed && !hasSingleChannels(transposed));
}

bool quantize::hasSingleChannels(nn::ConvTransposeOp conv) {
  const auto groups = int64_t(conv.getGroups());
  return groups != 1 &&
         groups == cast<RankedTensorType>(conv.getW().getType()).getDimSize(0);
}

unsigned quantize::weightsOperand(Operation *) { return 1; }

int64_t quantize::weightsAxis(Operation *product) {
  if (isa<nn::ConvTransposeOp>(product))
    return 1;
  auto matmul = dyn_cast<nn::MatMulOp>(product);
  return matmul && !matmul.getTransposeB() ? 1 : 0;
}

int64_t quantize::countOutputs(Operation *product) {
  Value weights = product->getOperand(weightsOperand(product));
  const int64_t outputs = cast<RankedTensorType>(weights.getType())
                              .getDimSize(weightsAxis(product));
  auto transposed = dyn_cast<nn::ConvTransposeOp>(product);
  return transposed ? outputs * int64_t(transposed.getGroups()) : outputs;
}

/// A product of floats that a run computes with constant weights.
static bool hasConstantWeights(Operation *op) {
  if (!quantize::isProduct(op) || !isData(op->getOperand(0)))
    return false;
  Value weights = op->getOperand(quantize::weightsOperand(op));
  auto type = dyn_cast<RankedTensorType>(weights.getType());
  return isF32(weights) && nn::getConstant(weights) &&
         (!isa<nn::MatMulOp>(op) || type.getRank() == 2);
}

SmallVector<Operation *>
quantize::findProducts(func::FuncOp function,
                       function_ref<bool(Operation *)> isWanted) {
  SmallVector<Operation *> products;
  for (Operation &op : function.getBody().front())
    if (hasConstantWeights(&op) && isWanted(&op))
      products.push_back(&op);
  return products;
}

SmallVector<Operation *>
quantize::findInnerProducts(func::FuncOp function, int64_t leastInLoop,
                            function_ref<bool(Operation *)> isWanted) {
  SmallVector<Operation *> products;
  llvm::DenseMap<Operation *, int64_t> weightsOf;
  auto loopOf = [](Operation *op) -> Operation * {
    return op->getParentOfType<LoopLikeOpInterface>();
  };
  function.walk([&](Operation *op) {
    if (op->getParentOp() == function || !hasConstantWeights(op) ||
        !isWanted(op))
      return;
    products.push_back(op);
    Value weights = op->getOperand(weightsOperand(op));
    weightsOf[loopOf(op)] +=
        cast<RankedTensorType>(weights.getType()).getNumElements();
  });
  llvm::erase_if(products, [&](Operation *op) {
    Operation *loop = loopOf(op);
    return loop && weightsOf[loop] < leastInLoop;
  });
  return products;
}

namespace {

/// Goes from what is read in bytes to what that is made of.
class Finder {
public:
  SmallVector<Site> run(ArrayRef<Operation *> products) {
    for (Operation *op : products)
      add(op->getOpOperand(0), op->getOperand(0), Value());
    for (size_t i = 0; i < sites.size(); ++i)
      follow(sites[i].use->get(), sites[i].range);
    return std::move(sites);
  }

private:
  void add(OpOperand &use, Value range, Value because) {
    if (isData(use.get()) && isData(range) && seen.insert(&use).second)
      sites.push_back({&use, range, because});
  }

  void follow(Value value, Value range) {
    Operation *op = value.getDefiningOp();
    if (!op || !followed.insert(value).second)
      return;
    if (movesValues(op)) {
      // Who reads it as floats as well would see the bytes' loss.
      if (llvm::all_of(value.getUses(), [&](OpOperand &use) {
            return seen.contains(&use) || isa<ObserveOp>(use.getOwner());
          }))
        for (OpOperand &operand : op->getOpOperands())
          add(operand, range, value);
    } else if (isPool(op)) {
      add(op->getOpOperand(0), op->getOperand(0), value);
    } else {
      followElementwise(op, value);
    }
  }

  /// Through activations to what joins two branches.
  void followElementwise(Operation *op, Value because) {
    if (scalesChannels(op))
      op = op->getOperand(0).getDefiningOp();
    while (isa_and_nonnull<nn::ElementwiseOpInterface>(op) &&
           !isa<nn::AddOp, nn::MulOp>(op)) {
      Value data;
      for (Value operand : op->getOperands()) {
        if (!isData(operand))
          continue;
        if (data)
          return;
        data = operand;
      }
      op = data ? data.getDefiningOp() : nullptr;
    }
    if (!isa_and_nonnull<nn::AddOp, nn::MulOp>(op))
      return;
    Value a = op->getOperand(0), b = op->getOperand(1);
    if (!isData(a) || !isData(b) || a.getType() != op->getResult(0).getType())
      return;
    // A product computes one operand just before, and keeps it in registers;
    // the other comes from memory, in bytes.
    unsigned fromMemory = isInRegisters(a) && !isInRegisters(b)   ? 1
                          : isInRegisters(b) && !isInRegisters(a) ? 0
                          : isBefore(a, b)                        ? 0
                                                                  : 1;
    OpOperand &operand = op->getOpOperand(fromMemory);
    // What channels are multiplied by again is done where bytes are read.
    if (Operation *scaling = operand.get().getDefiningOp();
        scalesChannels(scaling) && isReadInBytes(scaling->getOperand(0)))
      return add(scaling->getOpOperand(0), scaling->getOperand(0), because);
    if (operand.get().getType() == op->getResult(0).getType())
      add(operand, operand.get(), because);
  }

  /// Whether a product reads the tensor, or what is pooled before one.
  static bool isReadInBytes(Value value) {
    return llvm::any_of(value.getUses(), [](OpOperand &use) {
      return use.getOperandNumber() == 0 &&
             (isa<nn::ConvOp, nn::MatMulOp>(use.getOwner()) ||
              isPool(use.getOwner()));
    });
  }

  static bool isInRegisters(Value value) {
    Operation *op = value.getDefiningOp();
    const auto users = llvm::count_if(value.getUsers(), [](Operation *user) {
      return !isa<ObserveOp>(user);
    });
    return users == 1 && op && isProduct(op);
  }

  static bool isBefore(Value a, Value b) {
    Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
    return !first || (second && first->isBeforeInBlock(second));
  }

  SmallVector<Site> sites;
  llvm::DenseSet<OpOperand *> seen;
  llvm::DenseSet<Value> followed;
};

} // namespace

SmallVector<Site> quantize::findSites(ArrayRef<Operation *> products) {
  return Finder().run(products);
}

/// Whether a product reads what the model is given, as floats: to make bytes of
/// it is work of its own, which no kernel before does on the way.
static bool readsInput(Operation *product) {
  Value x = product->getOperand(0);
  while (Operation *op = x.getDefiningOp()) {
    if (!isa<nn::ReshapeOp, nn::TransposeOp>(op))
      return false;
    x = op->getOperand(0);
  }
  return true;
}

/// Whether a convolution multiplies no more in an instruction if its data are
/// bytes: channels so few that floats hold the bytes, and fewer than four where
/// words take two instructions for four.
static bool hasFewAtOnce(nn::ConvOp conv, bool asWords) {
  constexpr int64_t kFours = 4;
  return hasFewChannels(conv) ||
         (asWords && conv.getGroups() == 1 &&
          cast<ShapedType>(conv.getW().getType()).getDimSize(1) < kFours);
}

bool ByteGains::of(Operation *product) {
  if (auto known = gains.find(product); known != gains.end())
    return known->second;
  bool gain = decide(product);
  gains[product] = gain;
  return gain;
}

bool ByteGains::readsFloats(Operation *product) {
  Value x = product->getOperand(0);
  while (Operation *op = x.getDefiningOp()) {
    if (isProduct(op))
      return keep.keeps(op) || !of(op);
    auto isConstant = [](Value operand) {
      return static_cast<bool>(nn::getConstant(operand));
    };
    if (!(isa<nn::ElementwiseOpInterface>(op) || movesValues(op)) ||
        !llvm::all_of(llvm::drop_begin(op->getOperands()), isConstant))
      return false;
    x = op->getOperand(0);
  }
  return true;
}

bool ByteGains::decide(Operation *product) {
  if (keep.find({product->getLoc()}))
    return true;
  bool ofInput = readsInput(product);
  if (isAsFastInFloats(product, ofInput, asWords))
    return false;
  auto conv = dyn_cast<nn::ConvOp>(product);
  if (!conv)
    return true;
  if (hasFewAtOnce(conv, asWords) && ofInput)
    return false;
  auto type = cast<ShapedType>(conv.getX().getType());
  ArrayRef<int64_t> x = type.getShape();
  ArrayRef<int64_t> w = cast<ShapedType>(conv.getW().getType()).getShape();
  bool isDepthwise = int64_t(conv.getGroups()) == w[0] && w[1] == 1;
  if (!isDepthwise || x.size() != 4 || ShapedType::isDynamic(x[2]))
    return true;
  // Of single channels, four taps of which are multiplied at once, bytes gain
  // most where they come from memory. What the second-level cache holds as
  // floats is multiplied before it is rounded. Words, two taps at once, gain
  // nothing there: in a row of such convolutions all multiply floats.
  constexpr int64_t kTapsAtOnce = 4;
  ArrayRef<int64_t> strides = conv.getStrides();
  bool isInCache =
      type.hasStaticShape() && type.getNumElements() <= kFloatsInCache;
  if (isInCache && strides[0] == 1 && strides[1] == 1 &&
      (asWords ? readsFloats(conv) : ofInput && w[3] > kTapsAtOnce))
    return false;
  // Else where rows of taps are multiplied together. With few rows of pixels
  // most of these rows are padding, which floats leave out.
  constexpr double kLeastRows = 0.6;
  return double(x[2]) > kLeastRows * double(w[2]);
}

bool quantize::hasFewChannels(nn::ConvOp conv) {
  constexpr int64_t kFew = 2;
  ArrayRef<int64_t> weights =
      cast<RankedTensorType>(conv.getW().getType()).getShape();
  return conv.getGroups() == 1 ? weights[1] <= kFew
                               : cpu::areSmallGroups(weights, conv.getGroups());
}

namespace {
/// What is multiplied with each number of a tensor, by all products that read
/// it and share its range.
struct Readers {
  explicit Readers(Value x) {
    for (Operation *user : x.getUsers()) {
      int64_t outputs = 0;
      if (auto conv = dyn_cast<nn::ConvOp>(user);
          conv && conv.getGroups() == 1 &&
          cast<ShapedType>(conv.getW().getType()).hasStaticShape()) {
        auto w = cast<ShapedType>(conv.getW().getType());
        int64_t taps = support::productOf(w.getShape().drop_front(2));
        haveWindows |= taps > 1;
        weights += w.getNumElements();
        outputs =
            w.getDimSize(0) * taps / support::productOf(conv.getStrides());
      } else if (auto matmul = dyn_cast<nn::MatMulOp>(user)) {
        outputs = matmul.getType().getShape().back();
      }
      products += std::max<int64_t>(outputs, 0);
    }
  }

  /// Finding a range and rounding take 0.3 to 0.5 ns a number, where a product
  /// of bytes saves a hundredth of one; without VNNI, a third of that.
  bool multiplyLittle(bool asWords) const {
    return products < (asWords ? 96 : 32);
  }

  int64_t products = 0, weights = 0;
  bool haveWindows = false;
};
} // namespace

/// Finding a range takes as long as many numbers are multiplied by a small
/// matrix.
static constexpr int64_t kLeastWeights = 1 << 12;

static bool paysForRange(nn::ConvOp conv, bool asWords) {
  // Few terms leave most of the time to what is done once for a result.
  constexpr int64_t kLeastTerms = 8, kManyPixels = 1 << 7;
  ArrayRef<int64_t> w = cast<ShapedType>(conv.getW().getType()).getShape();
  int64_t terms = support::productOf(w.drop_front());
  Readers readers(conv.getX());
  if (readers.multiplyLittle(asWords) ||
      (!ShapedType::isDynamic(terms) && terms < kLeastTerms))
    return false;
  // What a zero point that only a run knows pads with is multiplied.
  if (conv.getX().getType().hasStaticShape() &&
      shareOfTaps(conv, w.size() - 2) < (asWords ? 0.55 : 0.35))
    return false;
  int64_t least = takesFewerProducts(conv, kManyPixels) ? 8 * kLeastWeights
                  : readers.haveWindows                 ? 2 * kLeastWeights
                                                        : kLeastWeights;
  return !asWords || readers.weights >= least;
}

/// Rows of open number may be a model's whose other products are larger. One
/// row waits for weights, but for small ones, of which words of few columns
/// take longer.
static bool paysForRange(nn::MatMulOp matmul, bool asWords) {
  RankedTensorType y = matmul.getType();
  auto b = cast<ShapedType>(matmul.getB().getType());
  if (!y.hasStaticShape() || !b.hasStaticShape())
    return true;
  int64_t columns = y.getShape().back(), weights = b.getNumElements();
  if (weights < (asWords ? 4 * kLeastWeights : kLeastWeights))
    return false;
  if (y.getNumElements() == columns)
    return columns >= (asWords ? 64 : 32) ||
           (!asWords && weights > kLeastWeights);
  // Fewer rows are not multiplied in pairs.
  constexpr int64_t kLeastForWords = 128;
  Readers readers(matmul.getA());
  return !readers.multiplyLittle(asWords) &&
         (!asWords || y.getNumElements() / columns >= kRowsOfPairs ||
          readers.products >= kLeastForWords);
}

bool quantize::isForDynamicBytes(Operation *product, const KeepRules &keep,
                                 bool asWords) {
  // Its data would need a zero point.
  if (isa<nn::ConvTransposeOp>(product))
    return false;
  auto conv = dyn_cast<nn::ConvOp>(product);
  auto matmul = dyn_cast<nn::MatMulOp>(product);
  // A single channel is multiplied with a few numbers.
  if (conv && (conv.getGroups() != 1 || hasFewChannels(conv)))
    return false;
  // A rule that names the product decides what is worth it.
  if (!keep.find({product->getLoc()}) &&
      ((conv && !paysForRange(conv, asWords)) ||
       (matmul && !paysForRange(matmul, asWords))))
    return false;
  return !keep.keeps(product) &&
         areFinite(product->getOperand(weightsOperand(product)));
}

// Means are computed of floats. Where something reads floats, a kernel stores
// them, rounded as bytes would be: that gains nothing for what else reads them.
void quantize::dropFloatReaders(SmallVector<Site> &sites) {
  llvm::DenseSet<OpOperand *> inBytes;
  llvm::DenseSet<Value> stored;
  for (const Site &site : sites) {
    Operation *reader = site.use->getOwner();
    if (isPool(reader))
      continue;
    inBytes.insert(site.use);
    if (isProduct(reader) || movesValues(reader))
      stored.insert(site.use->get());
  }
  llvm::erase_if(sites, [&](const Site &site) {
    Value value = site.use->get();
    return !stored.contains(value) &&
           llvm::any_of(value.getUses(), [&](OpOperand &use) {
             return !inBytes.contains(&use) && !isa<ObserveOp>(use.getOwner());
           });
  });
}

/// Of the model's input, or the nodes that compute it.
static std::string nameOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto name = function ? function.getArgAttrOfType<StringAttr>(
                               argument.getArgNumber(),
                               IngotDialect::NameAttrHelper::getNameStr())
                         : StringAttr();
    return name ? name.str() : "";
  }
  std::string name = nodeNameOf(value.getLoc());
  if (unsigned number = cast<OpResult>(value).getResultNumber())
    name += ":" + std::to_string(number);
  return name;
}

llvm::MapVector<Value, std::string>
quantize::nameTensors(ArrayRef<Site> sites) {
  llvm::SetVector<Value> tensors;
  for (const Site &site : sites)
    tensors.insert(site.range);
  SmallVector<Value> inOrder = tensors.takeVector();
  llvm::stable_sort(inOrder, [](Value a, Value b) {
    auto first = dyn_cast<BlockArgument>(a),
         second = dyn_cast<BlockArgument>(b);
    if (first || second)
      return first && (!second || first.getArgNumber() < second.getArgNumber());
    Operation *one = a.getDefiningOp(), *two = b.getDefiningOp();
    return one == two ? cast<OpResult>(a).getResultNumber() <
                            cast<OpResult>(b).getResultNumber()
                      : one->isBeforeInBlock(two);
  });
  llvm::MapVector<Value, std::string> names;
  llvm::StringSet<> taken;
  for (Value value : inOrder) {
    std::string base = nameOf(value), name;
    if (base.empty())
      base = "tensor";
    name = base;
    for (unsigned count = 2; !taken.insert(name).second; ++count)
      name = base + "#" + std::to_string(count);
    names.insert({value, name});
  }
  return names;
}
