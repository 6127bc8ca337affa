//===- Legalize.cpp - onnx-legalize ---------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/ElementTypes.h"
#include "dialects/ingot/IngotDialect.h"
#include "passes/legalize/core/Legalize.h"

#include "dialects/nn/Evaluate.h"
#include "dialects/nn/NodeName.h"
#include "dialects/onnx/Domains.h"
#include "passes/legalize/Passes.h"
#include "passes/legalize/core/Attributes.h"

#include "llvm/ADT/StringSet.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

namespace ingot {
#define GEN_PASS_DEF_LEGALIZE
#include "passes/legalize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

//===----------------------------------------------------------------------===//
// Table of legalizers
//===----------------------------------------------------------------------===//

static std::string keyOf(StringRef domain, StringRef opType) {
  if (domain.empty() || domain == "ai.onnx")
    return opType.str();
  return (domain + "::" + opType).str();
}

void Legalizers::add(StringRef opType, Legalizer legalizer, StringRef domain) {
  bool isNew = table.try_emplace(keyOf(domain, opType), legalizer).second;
  (void)isNew;
  assert(isNew && "two legalizers for one operator");
  domains.insert(domain);
}

Legalizer Legalizers::lookup(StringRef domain, StringRef opType) const {
  return table.lookup(keyOf(domain, opType));
}

bool Legalizers::hasDomain(StringRef domain) const {
  return domains.contains(domain == "ai.onnx" ? "" : domain);
}

static const Legalizers &allLegalizers() {
  static const Legalizers legalizers = [] {
    Legalizers all;
    populateActivation(all);
    populateCol2Im(all);
    populateContracts(all);
    populateControlFlow(all);
    populateConvolution(all);
    populateDeformConv(all);
    populateEinsum(all);
    populateElementwise(all);
    populateDetInverse(all);
    populateFourier(all);
    populateGather(all);
    populateAffineGrid(all);
    populateGridSample(all);
    populateLabels(all);
    populateLoops(all);
    populateMachineLearning(all);
    populateMatMul(all);
    populateMelWeights(all);
    populateMicrosoftAttention(all);
    populateMicrosoftFused(all);
    populateMicrosoftGroupQuery(all);
    populateMicrosoftNorms(all);
    populateMicrosoftProducts(all);
    populateMicrosoftQuantized(all);
    populateNonMaxSuppression(all);
    populateNormalization(all);
    populatePad(all);
    populatePooling(all);
    populateQuantize(all);
    populateQuantizedProducts(all);
    populateRandom(all);
    populateRecurrent(all);
    populateReduction(all);
    populateResize(all);
    populateRoiAlign(all);
    populateRotary(all);
    populateSequences(all);
    populateShape(all);
    populateSlice(all);
    populateSupportVectors(all);
    populateTranspose(all);
    populateTreeEnsemble(all);
    return all;
  }();
  return legalizers;
}

bool ingot::isLegalizable(StringRef domain, StringRef opType) {
  return allLegalizers().lookup(domain, opType) != nullptr;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

/// Collects the ops that a legalizer creates, so that they can be folded.
struct CreatedOps : OpBuilder::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    ops.push_back(op);
  }
  SmallVector<Operation *> ops;
};

struct LegalizePass
    : ingot::impl::LegalizeBase<LegalizePass> {
  using LegalizeBase::LegalizeBase;
  void getDependentDialects(DialectRegistry &registry) const override {
    LegalizeBase::getDependentDialects(registry);
    registry.insert<IngotDialect>(); // The pass also creates run-time checks.
  }

  void runOnOperation() override;

  LogicalResult legalizeFunction(func::FuncOp function);
  LogicalResult legalizeBlock(Block &block);
  LogicalResult tryBlock(Block &block);
  LogicalResult legalizeNode(onnx::NodeOp op);
  LogicalResult checkCreated(Node &node, ArrayRef<Operation *> created);
  int64_t opsetOf(StringRef domain);
  int64_t statedOpsetOf(StringRef domain);

  /// Results of failed nodes and, in bodies, also the operands of failed nodes.
  /// Nodes that use such values are not reported, because their errors would
  /// have the same cause.
  llvm::DenseSet<Value> doubtful;
  /// Names of failed nodes. An operator that was expanded to several nodes is
  /// reported once.
  llvm::DenseSet<Location> failedNames;
  Progress progress;
};

} // namespace

/// The limit, in elements, of a constant that size arithmetic folds. The pass
/// nn-fold-constants folds larger constants.
static constexpr int64_t kMaxFoldedElements = 4096;

/// Returns true if a tensor has more than `most` elements. Counts without
/// overflow; dynamic sizes count as 1.
static bool hasMoreElements(Type type, int64_t most) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return false;
  int64_t elements = 1;
  for (int64_t size : tensor.getShape())
    if (!ShapedType::isDynamic(size) &&
        (llvm::MulOverflow(elements, std::max<int64_t>(size, 1), elements) ||
         elements > most))
      return true;
  return false;
}

/// Returns true if an operand is complex. Complex tensors can be moved, but not
/// computed with.
static bool hasComplexOperand(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), [](Type type) {
    return isa<ComplexType>(getElementTypeOrSelf(type));
  });
}

static bool hasStringOperand(Operation *op) {
  return llvm::any_of(op->getOperandTypes(),
                      [](Type type) { return isString(type); });
}

/// Returns true if an op computes with the ids of strings. Such a result is
/// meaningless, because only equality of ids is defined.
static bool computesStrings(Operation *op) {
  if (!hasStringOperand(op))
    return false;
  auto reduces = [](auto scatter) {
    return scatter.getReduction() != nn::ScatterReduction::none;
  };
  if (auto scatter = dyn_cast<nn::ScatterElementsOp>(op))
    return reduces(scatter);
  if (auto scatter = dyn_cast<nn::ScatterNDOp>(op))
    return reduces(scatter);
  return isa<nn::ElementwiseOpInterface>(op) &&
         !isa<nn::EqualOp, nn::SelectOp, nn::CastOp>(op);
}

/// Returns true for numeric operators whose ONNX schemas also allow strings.
static bool isOfNumbers(StringRef opType) {
  constexpr StringLiteral names[] = {"Col2Im",   "GridSample",
                                     "NonZero",  "RandomNormalLike",
                                     "Resize",   "RandomUniformLike",
                                     "Unique",   "Upsample"};
  return llvm::is_contained(names, opType);
}

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

int64_t LegalizePass::opsetOf(StringRef domain) {
  auto imports =
      getOperation()->getAttrOfType<DictionaryAttr>("onnx.opset_import");
  if (!imports)
    return 0;
  auto version =
      imports.getAs<IntegerAttr>(domain.empty() ? "ai.onnx" : domain);
  return version ? version.getInt() : 0;
}

/// Returns the opset that the model states. ONNX's own operators are converted
/// to the newest opset before this pass.
int64_t LegalizePass::statedOpsetOf(StringRef domain) {
  auto stated =
      getOperation()->getAttrOfType<IntegerAttr>("onnx.stated_opset");
  bool isConverted = stated && (domain.empty() || domain == kContractDomain);
  return isConverted ? stated.getInt() : opsetOf(domain);
}

/// Calls the legalizer and reports only its first error, because later errors
/// follow from it. Asserts that a failure is reported. Nodes in a body each
/// report an error.
static LogicalResult legalizeReported(Node &node, Legalizer legalizer) {
  if (node.op->getNumRegions() != 0)
    return legalizer(node);
  bool isReported = false;
  ScopedDiagnosticHandler listener(node.context(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return failure();
    return success(std::exchange(isReported, true));
  });
  LogicalResult legalized = legalizer(node);
  assert((succeeded(legalized) || isReported) && "says why it declines");
  return legalized;
}

/// Checks the ops that a legalizer created for a node.
LogicalResult LegalizePass::checkCreated(Node &node,
                                         ArrayRef<Operation *> created) {
  for (Operation *op : created) {
    if (computesStrings(op))
      return node.unsupported("arithmetic on strings");
    if (isa<nn::ElementwiseOpInterface>(op) && hasComplexOperand(op))
      return node.unsupported("arithmetic on complex numbers");
    for (Type type : op->getResultTypes())
      if (hasMoreElements(type, maxElements))
        return node.invalid("a tensor of type " + textOf(type) +
                            " is too large: more than " + Twine(maxElements) +
                            " elements (--limit=tensor-elements)");
  }
  return success();
}

LogicalResult LegalizePass::legalizeNode(onnx::NodeOp op) {
  int64_t opset = opsetOf(op.getDomain()),
          stated = statedOpsetOf(op.getDomain());
  CreatedOps created;
  OpBuilder builder(op->getContext(), &created);
  builder.setInsertionPoint(op);
  // Forgets stored origins after a failed attempt on a body, because the ops of
  // this attempt are erased.
  auto legalizeBody = [&](Block &body, bool quiet) {
    progress.roots.forget();
    LogicalResult result = quiet ? tryBlock(body) : legalizeBlock(body);
    progress.roots.forget();
    return result;
  };
  if (op->getNumRegions() == 0)
    for (Value operand : op.getInputs())
      progress.roots.keep(operand);
  Node node(op, builder, {opset, stated}, legalizeBody, maxLoopSteps, progress);
  Legalizer legalizer = allLegalizers().lookup(op.getDomain(), op.getOpType());
  if (!legalizer) {
    std::string name = keyOf(op.getDomain(), op.getOpType());
    progress.lacksSupport = true;
    auto error = emitError(op.getLoc())
                 << name << " (opset " << stated << ") is not supported";
    if (!allLegalizers().hasDomain(op.getDomain()))
      error.attachNote() << "domain '" << op.getDomain()
                         << "' is unknown: add a function for the operator to "
                            "the model";
    return error;
  }
  for (auto [i, operand] : llvm::enumerate(op.getInputs()))
    if (!isa<RankedTensorType, NoneType>(operand.getType()) &&
        !takesSequences(op.getOpType())) {
      auto opaque = dyn_cast<onnx::OpaqueType>(operand.getType());
      std::string type = opaque ? opaque.getText().str() : "";
      return node.unsupported(
          "input " + Twine(i) + " is " +
          (type.empty() ? "not a tensor" : "of type " + Twine(type)));
    }
  if (isOfNumbers(op.getOpType()) && hasStringOperand(op))
    return node.unsupported("of strings");
  if (failed(checkAttributes(node)) ||
      failed(legalizeReported(node, legalizer)))
    return failure();
  if (failed(checkCreated(node, created.ops))) {
    // The created ops already replace the node's results.
    for (Operation *op : created.ops)
      doubtful.insert_range(op->getResults());
    return failure();
  }
  if (op->getNumRegions() != 0)
    progress.roots.forget();
  op.erase();
  for (Operation *op : created.ops)
    nn::foldInPlace(op, kMaxFoldedElements);
  return success();
}

/// Returns true if the op, or an op nested in it, uses any of `values`.
static bool needsAny(Operation *op, const llvm::DenseSet<Value> &values) {
  if (values.empty())
    return false;
  WalkResult result = op->walk([&](Operation *inner) {
    bool fed = llvm::any_of(inner->getOperands(), [&](Value operand) {
      return values.contains(operand);
    });
    return fed ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

LogicalResult LegalizePass::legalizeBlock(Block &block) {
  LogicalResult result = success();
  bool isBody = !isa<func::FuncOp>(block.getParentOp());
  for (Operation *next = block.empty() ? nullptr : &block.front(); next;) {
    auto op = dyn_cast<onnx::NodeOp>(next);
    Operation *before = next->getPrevNode();
    next = next->getNextNode();
    if (!op)
      continue;
    // Skip a node that uses the result of a failed node, because its operands
    // may be wrong. An operator without a legalizer is still reported.
    bool known = allLegalizers().lookup(op.getDomain(), op.getOpType());
    if ((known && needsAny(op, doubtful)) ||
        failedNames.contains(op.getLoc()) || failed(legalizeNode(op))) {
      doubtful.insert_range(op->getResults());
      for (Value operand : op.getInputs())
        if (isBody && !matchPattern(operand, m_Constant()))
          doubtful.insert(operand);
      if (isa<NameLoc>(op.getLoc()))
        failedNames.insert(op.getLoc());
      result = failure();
      continue;
    }
    // Continues behind the previous op, because the nodes of a branch may have
    // been inlined in place of an If.
    next = before ? before->getNextNode() : &block.front();
  }
  if (failed(result))
    return failure();
  eraseUnusedPlaceholders(block);
  return success();
}

/// Legalizes a block without reports. A failure leaves no trace in the state.
LogicalResult LegalizePass::tryBlock(Block &block) {
  auto values = doubtful;
  auto names = failedNames;
  bool lacked = std::exchange(progress.lacksSupport, false);
  std::string why;
  ScopedDiagnosticHandler silence(&getContext(), [&](Diagnostic &diagnostic) {
    if (why.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error) {
      llvm::raw_string_ostream text(why);
      if (std::string name = nodeNameOf(diagnostic.getLocation());
          !name.empty())
        text << "node '" << name << "': ";
      text << diagnostic;
    }
    return success();
  });
  LogicalResult result = legalizeBlock(block);
  bool lacks = std::exchange(progress.lacksSupport, lacked);
  if (succeeded(result))
    return success();
  progress.whyQuiet = std::move(why);
  progress.quietLacksSupport = lacks;
  doubtful = std::move(values);
  failedNames = std::move(names);
  return failure();
}

/// Replaces an output that is a sequence by one output per element: `y.0`,
/// `y.1`, …
static LogicalResult spreadSequences(func::FuncOp function) {
  Operation *end = function.getBody().front().getTerminator();
  StringRef nameAttr = IngotDialect::NameAttrHelper::getNameStr(),
            dimsAttr = IngotDialect::DimNamesAttrHelper::getNameStr();
  Builder builder(function.getContext());
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> attrs;
  llvm::StringSet<> names;
  for (unsigned i = 0; i < end->getNumOperands(); ++i)
    if (auto name = function.getResultAttrOfType<StringAttr>(i, nameAttr))
      names.insert(name.getValue());
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    auto sequence = value.getDefiningOp<onnx::SequenceOp>();
    if (!sequence) {
      values.push_back(value);
      attrs.push_back(function.getResultAttrDict(i));
      continue;
    }
    auto name = function.getResultAttrOfType<StringAttr>(i, nameAttr);
    std::string text = name ? name.str() : "";
    for (auto [at, element] : llvm::enumerate(sequence.getElements())) {
      auto type = dyn_cast<RankedTensorType>(element.getType());
      std::string part = text + "." + std::to_string(at);
      if (!names.insert(part).second)
        return emitError(function.getLoc())
               << "element " << at << " of output '" << printable(text)
               << "' would be an output '" << printable(part)
               << "', but the model has one of that name";
      SmallVector<StringRef> dims(type ? type.getRank() : 0, "");
      values.push_back(element);
      attrs.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr(nameAttr, builder.getStringAttr(part)),
           builder.getNamedAttr(dimsAttr, builder.getStrArrayAttr(dims))}));
    }
  }
  if (ValueRange(end->getOperands()) == ValueRange(values))
    return success();
  end->setOperands(values);
  function.setFunctionType(builder.getFunctionType(
      function.getArgumentTypes(), end->getOperandTypes()));
  function.setAllResultAttrs(attrs);
  eraseUnusedPlaceholders(function.getBody().front());
  return success();
}

LogicalResult LegalizePass::legalizeFunction(func::FuncOp function) {
  doubtful.clear();
  failedNames.clear();
  progress = {};
  progress.roots.start(function);
  if (failed(legalizeBlock(function.getBody().front())))
    return failure();
  if (failed(spreadSequences(function)))
    return failure();
  auto results =
      function.getBody().front().getTerminator()->getOperandTypes();
  for (auto [i, type] : llvm::enumerate(results)) {
    auto name = function.getResultAttrOfType<StringAttr>(
        i, IngotDialect::NameAttrHelper::getNameStr());
    if (isa<onnx::OnnxDialect>(type.getDialect()))
      return emitError(function.getLoc())
             << "output '" << (name ? printable(name.getValue()) : "")
             << "' is a sequence or an optional that only the run knows, which "
                "an artifact cannot take or give";
    if (isa<NoneType>(type))
      return emitError(function.getLoc())
             << "output '" << (name ? printable(name.getValue()) : "")
             << "' is an empty optional, which an artifact cannot take or give";
  }
  function.setFunctionType(FunctionType::get(
      function.getContext(), function.getArgumentTypes(), results));
  // Legalization may have found a rank that ONNX's inference did not find.
  for (auto [i, type] : llvm::enumerate(results)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    StringRef dimNames = IngotDialect::DimNamesAttrHelper::getNameStr();
    auto names = function.getResultAttrOfType<ArrayAttr>(i, dimNames);
    if (tensor && names && int64_t(names.size()) != tensor.getRank())
      function.setResultAttr(
          i, dimNames,
          Builder(function.getContext())
              .getStrArrayAttr(SmallVector<StringRef>(tensor.getRank(), "")));
  }
  return success();
}

void LegalizePass::runOnOperation() {
  bool ok = true;
  for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal())
      ok &= succeeded(legalizeFunction(function));
  if (!ok)
    signalPassFailure();
}
