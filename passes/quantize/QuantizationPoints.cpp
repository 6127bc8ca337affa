//===- QuantizationPoints.cpp - quantization points of a model ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/QuantizationPoints.h"

#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NodeName.h"
#include "passes/quantize/WeightQuantizer.h"
#include "passes/quantize/repair/Smoothable.h"
#include "passes/support/Convolutions.h"
#include "passes/support/Reason.h"
#include "passes/support/Shapes.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

static bool isF32(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF32();
}

/// Returns true if `value` is f32 data that a run computes.
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
  // A transposed convolution with one channel per group is excluded, because
  // its kernels multiply floats.
  auto transposed = dyn_cast<nn::ConvTransposeOp>(op);
  return isa<nn::ConvOp, nn::MatMulOp>(op) ||
         (transposed && !support::hasSingleChannels(transposed));
}

unsigned quantize::weightsOperand(Operation *) { return 1; }

int64_t quantize::weightsAxis(Operation *product) {
  if (isa<nn::ConvTransposeOp>(product))
    return 1;
  auto matmul = dyn_cast<nn::MatMulOp>(product);
  if (!matmul)
    return 0;
  return support::typeOf(matmul.getB()).getRank() -
         (matmul.getTransposeB() ? 2 : 1);
}

int64_t quantize::termsAxis(nn::MatMulOp product) {
  return support::typeOf(product.getB()).getRank() -
         (product.getTransposeB() ? 1 : 2);
}

bool quantize::hasMatrixPerBatch(nn::MatMulOp product) {
  RankedTensorType a = support::typeOf(product.getA()),
                   b = support::typeOf(product.getB());
  return !product.getTransposeA() && b.hasStaticShape() && b.getRank() > 2 &&
         a.getRank() == b.getRank() &&
         a.getShape().drop_back(2) == b.getShape().drop_back(2);
}

int64_t quantize::countOutputs(Operation *product) {
  Value weights = product->getOperand(weightsOperand(product));
  const int64_t outputs = cast<RankedTensorType>(weights.getType())
                              .getDimSize(weightsAxis(product));
  auto transposed = dyn_cast<nn::ConvTransposeOp>(product);
  return transposed ? outputs * int64_t(transposed.getGroups()) : outputs;
}

/// Returns true if each row of the left factor is multiplied by one matrix.
static bool hasOwnMatrix(Operation *op) {
  auto matmul = dyn_cast<nn::MatMulOp>(op);
  return !matmul || support::typeOf(matmul.getB()).getRank() == 2 ||
         quantize::hasMatrixPerBatch(matmul);
}

/// Returns true if `op` multiplies computed f32 data by constants.
static bool multipliesConstants(Operation *op) {
  if (!quantize::isProduct(op) || !isData(op->getOperand(0)))
    return false;
  Value weights = op->getOperand(quantize::weightsOperand(op));
  return isF32(weights) && nn::getConstant(weights);
}

/// Returns true if `op` is a product of computed f32 data by constant weights.
static bool hasConstantWeights(Operation *op) {
  return multipliesConstants(op) && hasOwnMatrix(op);
}

void quantize::recordBroadcastBatches(func::FuncOp function) {
  function.walk([](nn::MatMulOp op) {
    if (multipliesConstants(op) && !hasOwnMatrix(op))
      record(op, Question::precision, "float32",
             "has weights for each batch, to which its data are broadcast");
  });
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

Operation *quantize::loopOf(Operation *op) {
  return op->getParentOfType<LoopLikeOpInterface>();
}

llvm::DenseMap<Operation *, int64_t>
quantize::countWeightsInLoops(ArrayRef<Operation *> products) {
  llvm::DenseMap<Operation *, int64_t> counts;
  for (Operation *product : products)
    if (Operation *loop = loopOf(product)) {
      Value weights = product->getOperand(quantize::weightsOperand(product));
      counts[loop] +=
          cast<RankedTensorType>(weights.getType()).getNumElements();
    }
  return counts;
}

SmallVector<Operation *>
quantize::findInnerProducts(func::FuncOp function,
                            function_ref<bool(Operation *)> isWanted) {
  SmallVector<Operation *> products;
  function.walk([&](Operation *op) {
    if (op->getParentOp() != function && hasConstantWeights(op) && isWanted(op))
      products.push_back(op);
  });
  return products;
}

namespace {

/// Finds quantization points, going from operands that are read in int8 up to
/// the ops that compute them.
class Finder {
public:
  SmallVector<QuantizationPoint> run(ArrayRef<Operation *> products) {
    for (Operation *op : products)
      add(op->getOpOperand(0), op->getOperand(0), Value());
    for (size_t i = 0; i < points.size(); ++i)
      follow(points[i].use->get(), points[i].range);
    return std::move(points);
  }

private:
  void add(OpOperand &use, Value range, Value because) {
    if (isData(use.get()) && isData(range) && seen.insert(&use).second)
      points.push_back({&use, range, because});
  }

  void follow(Value value, Value range) {
    Operation *op = value.getDefiningOp();
    if (!op || !followed.insert(value).second)
      return;
    if (movesValues(op)) {
      // Do not quantize if another user reads floats, because this user would
      // see the quantization error.
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

  /// Follows unary elementwise ops up to the op that joins two branches.
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
    // An operand that a product computes just before the join is still in
    // registers. The other operand comes from memory, so quantizing it saves
    // bandwidth.
    unsigned fromMemory = isInRegisters(a) && !isInRegisters(b)   ? 1
                          : isInRegisters(b) && !isInRegisters(a) ? 0
                          : isBefore(a, b)                        ? 0
                                                                  : 1;
    OpOperand &operand = op->getOpOperand(fromMemory);
    // If products read the unscaled tensor in int8, quantize that tensor, and
    // scale its channels again here.
    if (Operation *scaling = operand.get().getDefiningOp();
        scalesChannels(scaling) && isReadInBytes(scaling->getOperand(0)))
      return add(scaling->getOpOperand(0), scaling->getOperand(0), because);
    if (operand.get().getType() == op->getResult(0).getType())
      add(operand, operand.get(), because);
  }

  /// Returns true if a product or a pool reads the tensor.
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

  SmallVector<QuantizationPoint> points;
  llvm::DenseSet<OpOperand *> seen;
  llvm::DenseSet<Value> followed;
};

} // namespace

SmallVector<QuantizationPoint>
quantize::findQuantizationPoints(ArrayRef<Operation *> products) {
  return Finder().run(products);
}

/// Returns true if a product reads a float input of the model. Quantizing such
/// an input needs a loop of its own, because no earlier kernel can do it.
static bool readsInput(Operation *product) {
  Value x = product->getOperand(0);
  while (Operation *op = x.getDefiningOp()) {
    if (!isa<nn::ReshapeOp, nn::TransposeOp>(op))
      return false;
    x = op->getOperand(0);
  }
  return true;
}

Answer<bool> ByteGains::answerTo(Operation *product) {
  if (auto known = answers.find(product); known != answers.end())
    return known->second;
  Answer<bool> answer = decide(product);
  answers.try_emplace(product, answer);
  return answer;
}

bool ByteGains::readsFloats(Operation *product) {
  Value x = product->getOperand(0);
  while (Operation *op = x.getDefiningOp()) {
    if (isProduct(op))
      return !of(op);
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

static constexpr char kRuleKeeps[] = "is kept in float32 by a rule",
                      kRuleNames[] = "is put in int8 by a rule",
                      kNotFinite[] = "has weights that are not finite",
                      kTooLarge[] = "has weights so large that int8 leaves "
                                    "the range of float32";

Answer<bool> ByteGains::decide(Operation *product) {
  if (std::optional<bool> isKept = keep.find({product->getLoc()}))
    return {!*isKept, *isKept ? kRuleKeeps : kRuleNames};
  auto comesFromFloats = [&] { return readsFloats(product); };
  return Policy::of(product).multiplyInt8(
      product, {readsInput(product), comesFromFloats});
}

Answer<bool> quantize::requireFitting(Answer<bool> answer, Operation *product) {
  answer = requireFinite(std::move(answer), product);
  if (answer.choice && !fitBytes(product->getOperand(weightsOperand(product))))
    return {false, kTooLarge, answer.alternatives};
  return answer;
}

Answer<bool> quantize::requireFinite(Answer<bool> answer, Operation *product) {
  if (answer.choice && !areFinite(product->getOperand(weightsOperand(product))))
    return {false, kNotFinite, answer.alternatives};
  return answer;
}

/// Returns why a product should not be computed in int8 with a range that each
/// run determines. Returns nullopt if there is no reason. One reason is that
/// kernels do not support a zero point that is only known at run time.
static Reason whyNoDynamicBytes(Operation *product) {
  if (isa<nn::ConvTransposeOp>(product))
    return "is transposed, so that its data would need a zero point";
  auto conv = dyn_cast<nn::ConvOp>(product);
  if (!conv)
    return std::nullopt;
  if (conv.getGroups() != 1)
    return "has groups, so that each element is used in few products";
  Answer<bool> asFloats = Policy::of(product).multiplyBytesAsFloats(conv);
  return asFloats.choice ? Reason(asFloats.reason) : std::nullopt;
}

static Answer<bool> answerDynamicBytes(Operation *product,
                                       const KeepRules &keep) {
  if (Reason reason = whyNoDynamicBytes(product))
    return {false, *reason};
  std::optional<bool> isKept = keep.find({product->getLoc()});
  if (isKept.value_or(false))
    return {false, kRuleKeeps};
  Answer<bool> answer = isKept
                            ? Answer<bool>{true, kRuleNames}
                            : Policy::of(product).multiplyDynamicBytes(product);
  return quantize::requireFinite(std::move(answer), product);
}

ProductAnswers quantize::answerDynamicBytes(ArrayRef<Operation *> products,
                                            const KeepRules &keep) {
  ProductAnswers answers;
  SmallVector<Operation *> chosen;
  for (Operation *product : products) {
    Answer<bool> answer = ::answerDynamicBytes(product, keep);
    if (answer.choice)
      chosen.push_back(product);
    answers.insert({product, std::move(answer)});
  }
  llvm::DenseMap<Operation *, int64_t> weightsOf = countWeightsInLoops(chosen);
  llvm::DenseMap<StringAttr, llvm::SmallPtrSet<Operation *, 2>> loopsOf;
  for (Operation *product : chosen)
    if (Operation *loop = loopOf(product))
      forEachNode(product->getLoc(),
                  [&](StringAttr node) { loopsOf[node].insert(loop); });
  for (auto &[product, answer] : answers) {
    Operation *loop = loopOf(product);
    if (!loop || !answer.choice || keep.converts(product))
      continue;
    size_t numLoops = 1;
    forEachNode(product->getLoc(), [&](StringAttr node) {
      numLoops = std::max<size_t>(numLoops, loopsOf[node].size());
    });
    Answer<bool> inLoop = Policy::of(product).multiplyBytesInLoop(
        product, weightsOf[loop], int64_t(numLoops));
    if (!inLoop.choice)
      answer = std::move(inLoop);
  }
  return answers;
}

// Pools compute floats, so a pool counts as a reader of floats. If one user
// reads floats, a kernel stores the tensor as floats anyway. Rounding the
// tensor then gains nothing for the other users.
void quantize::dropFloatReaders(SmallVector<QuantizationPoint> &points) {
  llvm::DenseSet<OpOperand *> inBytes;
  llvm::DenseSet<Value> stored;
  for (const QuantizationPoint &point : points) {
    Operation *reader = point.use->getOwner();
    if (isPool(reader))
      continue;
    inBytes.insert(point.use);
    if (isProduct(reader) || movesValues(reader))
      stored.insert(point.use->get());
  }
  llvm::erase_if(points, [&](const QuantizationPoint &point) {
    Value value = point.use->get();
    return !stored.contains(value) &&
           llvm::any_of(value.getUses(), [&](OpOperand &use) {
             return !inBytes.contains(&use) && !isa<ObserveOp>(use.getOwner());
           });
  });
}

/// Returns the name of the model's input, or of the nodes that compute `value`.
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
quantize::nameTensors(ArrayRef<QuantizationPoint> points) {
  llvm::SetVector<Value> tensors;
  for (const QuantizationPoint &point : points)
    tensors.insert(point.range);
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
