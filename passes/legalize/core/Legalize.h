//===- Legalize.h - nodes and their legalizers ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares how one onnx.node op is legalized: the node, its legalizer, and the
// table of legalizers. A legalizer creates ops by node.create<Op>(). It ends in
// node.replace(values) or node.unsupported("missing feature"). Nodes are
// visited in program order, so operand types are final and small constants are
// folded. One file has the legalizers of one operator family and a populate
// function, which Legalize.cpp calls.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_CORE_LEGALIZE_H
#define INGOT_PASSES_LEGALIZE_CORE_LEGALIZE_H

#include "dialects/nn/Constants.h"
#include "dialects/nn/Elements.h"
#include "dialects/nn/NNDialect.h"
#include "dialects/onnx/OnnxDialect.h"
#include "passes/legalize/core/RootSizes.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace ingot {

/// Returns true if the ONNX operator has a legalizer. The importer expands
/// other operators if ONNX defines them as functions.
bool isLegalizable(llvm::StringRef domain, llvm::StringRef opType);

namespace legalize {

using mlir::failure;
using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::success;
using mlir::Type;
using mlir::Value;

/// Legalizes the nodes of a body, whose arguments have their final types. A
/// quiet attempt reports nothing. If a quiet attempt fails, the caller erases
/// the ops that it created.
using LegalizeBody =
    llvm::function_ref<LogicalResult(mlir::Block &, bool quiet)>;

/// State that the nodes of a function share.
struct Progress {
  /// True if a failed node is valid, but not supported.
  bool lacksSupport = false;
  /// The first error of the last quiet attempt that failed.
  std::string whyQuiet;
  bool quietLacksSupport = false;
  /// Number of nodes after an If that may still be copied into its branches.
  int64_t nodesToCopy = 10000;
  RootSizes roots;
};

/// Versions of an operator's domain: that of the node, and that of the model
/// before conversion.
struct Opsets {
  int64_t own, stated;
};

/// An ONNX node while it is legalized.
class Node {
public:
  Node(onnx::NodeOp op, mlir::OpBuilder &builder, const Opsets &opsets,
       LegalizeBody legalizeBody, int64_t maxLoopSteps, Progress &progress)
      : op(op), builder(builder), opset(opsets.own), statedOpset(opsets.stated),
        legalizeBody(legalizeBody), maxLoopSteps(maxLoopSteps),
        progress(progress) {}

  mlir::Location loc() { return op.getLoc(); }
  mlir::MLIRContext *context() { return op.getContext(); }
  llvm::StringRef opType() { return op.getOpType(); }
  size_t numInputs() { return op.getInputs().size(); }
  size_t numOutputs() { return op.getOutputs().size(); }
  /// Returns true if input i is present. Optional inputs may be left out.
  bool has(size_t i);
  /// Returns input i, or null if it is left out.
  Value input(size_t i);
  /// Returns the type of input i, which must be present.
  RankedTensorType type(size_t i);
  mlir::ArrayRef<int64_t> shape(size_t i) { return type(i).getShape(); }
  int64_t rank(size_t i) { return type(i).getRank(); }
  Type elementType(size_t i) { return type(i).getElementType(); }
  /// Returns true if output i has uses.
  bool isUsed(size_t i);
  /// Returns the type of output i from ONNX's shape inference, or null.
  RankedTensorType resultHint(size_t i);

  int64_t getInt(llvm::StringRef name, int64_t otherwise);
  float getFloat(llvm::StringRef name, float otherwise);
  llvm::StringRef getString(llvm::StringRef name, llvm::StringRef otherwise);
  std::optional<llvm::SmallVector<int64_t>> getInts(llvm::StringRef name);
  std::optional<llvm::SmallVector<float>> getFloats(llvm::StringRef name);
  mlir::ElementsAttr getTensor(llvm::StringRef name);
  bool hasAttr(llvm::StringRef name);
  /// Returns the constant integers of input i, or nullopt if it is left out or
  /// computed.
  std::optional<llvm::SmallVector<int64_t>> getConstantInts(size_t i);

  /// Returns `axis` counted from the front. Reports an axis outside of [-rank,
  /// rank); `name` names it, and `at` is its index in a list.
  mlir::FailureOr<int64_t>
  normalizeAxis(int64_t axis, int64_t rank, llvm::StringRef name = "axis",
                std::optional<int64_t> at = std::nullopt);

  /// Creates an op with one result at the node, and folds it where possible.
  template <typename Op, typename... Args> Value create(Args &&...args) {
    return builder.createOrFold<Op>(loc(), std::forward<Args>(args)...);
  }
  /// Creates an op whose result types are inferred. Reports operands that do
  /// not fit.
  template <typename Op, typename... Args>
  mlir::FailureOr<Op> inferOp(Args &&...args) {
    mlir::OperationState state(loc(), Op::getOperationName());
    // Uses placeholder types, because the builder that infers types would
    // abort.
    size_t count = Op::template hasTrait<mlir::OpTrait::OneResult>() ? 1 : 2;
    llvm::SmallVector<Type> types(count, builder.getIndexType());
    Op::build(builder, state, mlir::TypeRange(types),
              std::forward<Args>(args)...);
    if (failed(inferTypes(state, Op::inferReturnTypes)))
      return failure();
    mlir::Operation *created = createVerified(state);
    if (!created)
      return failure();
    return mlir::cast<Op>(created);
  }
  template <typename Op, typename... Args>
  mlir::FailureOr<Value> infer(Args &&...args) {
    mlir::FailureOr<Op> created = inferOp<Op>(std::forward<Args>(args)...);
    if (failed(created))
      return failure();
    return Value(created->getOperation()->getResult(0));
  }

  using InferTypes = LogicalResult (*)(
      mlir::MLIRContext *, std::optional<mlir::Location>, mlir::ValueRange,
      mlir::DictionaryAttr, mlir::OpaqueProperties, mlir::RegionRange,
      llvm::SmallVectorImpl<Type> &);
  /// Sets the state's result types, or reports the node as invalid.
  LogicalResult inferTypes(mlir::OperationState &state, InferTypes infer);
  /// Creates the op, or reports the node as invalid and returns null.
  mlir::Operation *createVerified(mlir::OperationState &state);

  /// Creates an op with one result. The caller knows that the operands fit.
  template <typename Op, typename... Args> Value make(Args &&...args) {
    return Op::create(builder, loc(), std::forward<Args>(args)...)
        ->getResult(0);
  }
  /// Creates a constant of rank 0.
  Value scalar(Type elementType, double value) {
    return nn::makeScalar(builder, loc(), elementType, value);
  }
  /// Converts `value` to another element type.
  Value cast(Value value, Type elementType);
  /// Broadcasts a scalar to the shape of `like`.
  Value splat(Value scalar, Value like);

  /// Replaces the node's outputs. Outputs without a value must be unused.
  LogicalResult replace(mlir::ValueRange values);
  /// Reports an unsupported feature, and returns failure.
  LogicalResult unsupported(const llvm::Twine &what);
  /// Reports the node as invalid, and returns failure.
  LogicalResult invalid(const llvm::Twine &what);
  /// Reports an invalid element of an operand or attribute. The element is a
  /// scalar, or has index `at` in a list. It is `value`, and `allowed` says
  /// what it must be.
  LogicalResult badElement(llvm::StringRef name, std::optional<int64_t> at,
                           const llvm::Twine &value,
                           const llvm::Twine &allowed);
  /// Reports the tensor element at indices `place` as invalid.
  LogicalResult badElementAt(llvm::StringRef name,
                             llvm::ArrayRef<int64_t> place,
                             const llvm::Twine &value,
                             const llvm::Twine &allowed);
  /// Reports a list with a wrong number of elements.
  LogicalResult badLength(llvm::StringRef name, size_t length,
                          const llvm::Twine &wanted);
  /// Reports constant input i if an element is outside of `range`.
  LogicalResult checkElements(size_t i, llvm::StringRef name, nn::Range range);

  onnx::NodeOp op;
  mlir::OpBuilder &builder;
  /// Opset version that the node is legalized for.
  int64_t opset;
  /// Opset version that the model file states, for messages.
  int64_t statedOpset;
  /// Callback that legalizes the bodies of control flow operators.
  LegalizeBody legalizeBody;
  /// The maximum number of steps of a loop.
  int64_t maxLoopSteps;
  Progress &progress;
};

using Legalizer = LogicalResult (*)(Node &);

/// Table from operator name to legalizer, by domain ("" is ai.onnx).
class Legalizers {
public:
  void add(llvm::StringRef opType, Legalizer legalizer,
           llvm::StringRef domain = "");
  Legalizer lookup(llvm::StringRef domain, llvm::StringRef opType) const;
  /// Returns true if the domain has an operator with a legalizer.
  bool hasDomain(llvm::StringRef domain) const;

private:
  llvm::StringMap<Legalizer> table;
  llvm::StringSet<> domains;
};

/// Returns the element type for ONNX's TensorProto.DataType `code`. Returns
/// null for strings and unknown codes.
Type elementTypeOf(mlir::MLIRContext *context, int64_t code);

/// Returns true if an operator's inputs may be sequences.
bool takesSequences(llvm::StringRef opType);

/// Erases placeholders for absent operands and sequences that have no uses
/// left.
void eraseUnusedPlaceholders(mlir::Block &block);

void populateActivation(Legalizers &legalizers);
void populateCol2Im(Legalizers &legalizers);
void populateContracts(Legalizers &legalizers);
void populateControlFlow(Legalizers &legalizers);
void populateConvolution(Legalizers &legalizers);
void populateDeformConv(Legalizers &legalizers);
void populateEinsum(Legalizers &legalizers);
void populateElementwise(Legalizers &legalizers);
void populateDetInverse(Legalizers &legalizers);
void populateFourier(Legalizers &legalizers);
void populateGather(Legalizers &legalizers);
void populateAffineGrid(Legalizers &legalizers);
void populateGridSample(Legalizers &legalizers);
void populateLabels(Legalizers &legalizers);
void populateLoops(Legalizers &legalizers);
void populateMachineLearning(Legalizers &legalizers);
void populateMatMul(Legalizers &legalizers);
void populateMelWeights(Legalizers &legalizers);
void populateMicrosoftAttention(Legalizers &legalizers);
void populateMicrosoftFused(Legalizers &legalizers);
void populateMicrosoftGroupQuery(Legalizers &legalizers);
void populateMicrosoftNorms(Legalizers &legalizers);
void populateMicrosoftProducts(Legalizers &legalizers);
void populateMicrosoftQuantized(Legalizers &legalizers);
void populateNonMaxSuppression(Legalizers &legalizers);
void populateNormalization(Legalizers &legalizers);
void populatePad(Legalizers &legalizers);
void populatePooling(Legalizers &legalizers);
void populateQuantize(Legalizers &legalizers);
void populateQuantizedProducts(Legalizers &legalizers);
void populateRandom(Legalizers &legalizers);
void populateRecurrent(Legalizers &legalizers);
void populateReduction(Legalizers &legalizers);
void populateResize(Legalizers &legalizers);
void populateRoiAlign(Legalizers &legalizers);
void populateRotary(Legalizers &legalizers);
void populateSequences(Legalizers &legalizers);
void populateShape(Legalizers &legalizers);
void populateSlice(Legalizers &legalizers);
void populateSupportVectors(Legalizers &legalizers);
void populateTranspose(Legalizers &legalizers);
void populateTreeEnsemble(Legalizers &legalizers);

} // namespace legalize
} // namespace ingot

#endif // INGOT_PASSES_LEGALIZE_CORE_LEGALIZE_H
