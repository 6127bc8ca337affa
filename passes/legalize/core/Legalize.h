//===- Legalize.h - ONNX to nn, one function an operator --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A legalizer rewrites one onnx.node. It sees final operand types and folded
// small constants, because nodes are visited in program order; it creates ops
// through node.create<Op>() and ends in node.replace(values) or
// node.unsupported("what is missing"). Legalizers are grouped in one file a
// family, each with one populate function that is listed in Legalize.cpp.
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

namespace ingot {

/// Whether the ONNX operator has a legalizer; the importer expands others that
/// ONNX defines as functions.
bool isLegalizable(llvm::StringRef domain, llvm::StringRef opType);

namespace legalize {

using mlir::failure;
using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::success;
using mlir::Type;
using mlir::Value;

/// Legalizes the nodes of a body, whose arguments have their final types. A
/// quiet attempt reports nothing; what it leaves when it fails is to be erased.
using LegalizeBody =
    llvm::function_ref<LogicalResult(mlir::Block &, bool quiet)>;

/// What nodes tell the pass, and how much they may still copy.
struct Progress {
  /// Something that failed is not supported, rather than wrong in itself.
  bool lacksSupport = false;
  /// Of the last quiet attempt that failed: its first error, and the above.
  std::string whyQuiet;
  bool quietLacksSupport = false;
  /// Nodes behind an If that may still be copied into its branches.
  int64_t nodesToCopy = 10000;
  RootSizes roots;
};

/// One ONNX node while it is legalized.
class Node {
public:
  Node(onnx::NodeOp op, mlir::OpBuilder &builder, int64_t opset,
       int64_t statedOpset, LegalizeBody legalizeBody, int64_t maxLoopSteps,
       Progress &progress)
      : op(op), builder(builder), opset(opset), statedOpset(statedOpset),
        legalizeBody(legalizeBody), maxLoopSteps(maxLoopSteps),
        progress(progress) {}

  mlir::Location loc() { return op.getLoc(); }
  mlir::MLIRContext *context() { return op.getContext(); }
  llvm::StringRef opType() { return op.getOpType(); }
  size_t numInputs() { return op.getInputs().size(); }
  size_t numOutputs() { return op.getOutputs().size(); }
  /// Whether input i is there (optional inputs may be left out).
  bool has(size_t i);
  /// Input i, or null if it is left out.
  Value input(size_t i);
  /// The type of input i, which must be there.
  RankedTensorType type(size_t i);
  mlir::ArrayRef<int64_t> shape(size_t i) { return type(i).getShape(); }
  int64_t rank(size_t i) { return type(i).getRank(); }
  Type elementType(size_t i) { return type(i).getElementType(); }
  /// Whether anything uses output i.
  bool isUsed(size_t i);
  /// The shape hint of output i from ONNX's own inference, or null.
  RankedTensorType resultHint(size_t i);

  int64_t getInt(llvm::StringRef name, int64_t otherwise);
  float getFloat(llvm::StringRef name, float otherwise);
  llvm::StringRef getString(llvm::StringRef name, llvm::StringRef otherwise);
  std::optional<llvm::SmallVector<int64_t>> getInts(llvm::StringRef name);
  std::optional<llvm::SmallVector<float>> getFloats(llvm::StringRef name);
  mlir::ElementsAttr getTensor(llvm::StringRef name);
  bool hasAttr(llvm::StringRef name);
  /// The constant integers of input i; nullopt if it is left out or computed.
  std::optional<llvm::SmallVector<int64_t>> getConstantInts(size_t i);

  /// `axis` counted from the front; reports one outside [-rank, rank), which is
  /// called `name` and is element `at` of a list.
  mlir::FailureOr<int64_t>
  normalizeAxis(int64_t axis, int64_t rank, llvm::StringRef name = "axis",
                std::optional<int64_t> at = std::nullopt);

  /// Creates an op at the node, folding it where possible; ops with one result.
  template <typename Op, typename... Args> Value create(Args &&...args) {
    return builder.createOrFold<Op>(loc(), std::forward<Args>(args)...);
  }
  /// Creates an op whose result types are inferred, reporting what does not
  /// fit.
  template <typename Op, typename... Args>
  mlir::FailureOr<Op> inferOp(Args &&...args) {
    mlir::OperationState state(loc(), Op::getOperationName());
    // The types are placeholders: the builder that infers them would abort.
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

  /// Creates a single-result op on operands that are known to fit together.
  template <typename Op, typename... Args> Value make(Args &&...args) {
    return Op::create(builder, loc(), std::forward<Args>(args)...)
        ->getResult(0);
  }
  /// A rank-0 constant.
  Value scalar(Type elementType, double value) {
    return nn::makeScalar(builder, loc(), elementType, value);
  }
  /// `value` with another element type.
  Value cast(Value value, Type elementType);
  /// A scalar broadcast to the shape of `like`.
  Value splat(Value scalar, Value like);

  /// Replaces the node's outputs; missing trailing values must be unused.
  LogicalResult replace(mlir::ValueRange values);
  /// Records what is missing; always failure.
  LogicalResult unsupported(const llvm::Twine &what);
  /// Records that the node is wrong; always failure.
  LogicalResult invalid(const llvm::Twine &what);
  /// The same for an operand or attribute: element `at` of a list, or a scalar,
  /// is `value`, but has to be what `allowed` says.
  LogicalResult badElement(llvm::StringRef name, std::optional<int64_t> at,
                           const llvm::Twine &value,
                           const llvm::Twine &allowed);
  /// The same of the element at `place` of a tensor.
  LogicalResult badElementAt(llvm::StringRef name,
                             llvm::ArrayRef<int64_t> place,
                             const llvm::Twine &value,
                             const llvm::Twine &allowed);
  /// The same for a list of another length.
  LogicalResult badLength(llvm::StringRef name, size_t length,
                          const llvm::Twine &wanted);
  /// Reports constant input i if an element is out of range.
  LogicalResult checkElements(size_t i, llvm::StringRef name, nn::Range range);

  onnx::NodeOp op;
  mlir::OpBuilder &builder;
  /// Version of the node's domain that the operator is read by.
  int64_t opset;
  /// The one that the model's file states, for messages.
  int64_t statedOpset;
  /// For operators with bodies.
  LegalizeBody legalizeBody;
  /// The most steps that a loop may take.
  int64_t maxLoopSteps;
  Progress &progress;
};

using Legalizer = LogicalResult (*)(Node &);

/// From operator name to legalizer, for one domain ("" is ai.onnx).
class Legalizers {
public:
  void add(llvm::StringRef opType, Legalizer legalizer,
           llvm::StringRef domain = "");
  Legalizer lookup(llvm::StringRef domain, llvm::StringRef opType) const;

private:
  llvm::StringMap<Legalizer> table;
};

/// The element type that ONNX's TensorProto.DataType `code` stands for; null
/// for strings and unknown codes.
Type elementTypeOf(mlir::MLIRContext *context, int64_t code);

/// Whether an operator's inputs may be sequences.
bool takesSequences(llvm::StringRef opType);

/// Erases what stood for absent operands and sequences, and nothing uses any
/// more.
void eraseUnusedPlaceholders(mlir::Block &block);

void populateActivation(Legalizers &legalizers);
void populateColumns(Legalizers &legalizers);
void populateContracts(Legalizers &legalizers);
void populateControlFlow(Legalizers &legalizers);
void populateConvolution(Legalizers &legalizers);
void populateDeformConv(Legalizers &legalizers);
void populateEinsum(Legalizers &legalizers);
void populateElementwise(Legalizers &legalizers);
void populateElimination(Legalizers &legalizers);
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
