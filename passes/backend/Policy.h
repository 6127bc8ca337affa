//===- Policy.h - decisions of a device -------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the questions that shared phases ask about an operation. A backend
// of each device answers them. An answer holds the choice and a reason. If
// decisions are recorded, it also holds an estimated time for each alternative.
// `record` writes an answer to the decision trace.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_BACKEND_POLICY_H
#define INGOT_PASSES_BACKEND_POLICY_H

#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NNDialect.h"
#include "passes/support/OptimizeFor.h"

#include "mlir/IR/Operation.h"

namespace ingot {

/// The category of remarks that carry a decision, a DecisionAttr.
constexpr llvm::StringLiteral kDecisionCategory = "decision";

/// An alternative of a decision.
struct Alternative {
  std::string name;
  /// Estimated time of one execution, in cycles of one core of the target. -1:
  /// the alternative is ruled out or has no estimate.
  int64_t cycles = -1;
  /// The reason why the alternative is ruled out, as in Answer, or "".
  std::string reason = "";
};

/// A choice, its reason, and the alternatives. The reason is a phrase whose
/// subject is the operation ("has few channels").
template <typename Choice>
struct Answer {
  Choice choice;
  std::string reason;
  llvm::SmallVector<Alternative, 3> alternatives = {};
};

/// Facts about the data of a product that may be computed in int8.
struct Int8Candidate {
  /// True if the data are a float input of the model. Quantizing an input needs
  /// a loop of its own.
  bool ofInput = false;
  /// Returns true if the data come from a float product or from the model's
  /// input. Only unary functions may lie in between.
  llvm::function_ref<bool()> readsFloats;
};

/// Facts about a matrix product whose weights may be stored in few bits.
struct PackCandidate {
  /// The bits of a stored weight: 2, 4 or 8.
  int64_t bits;
  /// The number of weights of all candidates in the module.
  int64_t allWeights;
  /// The fewest weights of a module that are stored in few bits. If negative,
  /// the policy chooses the number.
  int64_t least = -1;
  /// True if the model stores the weights as integers. Otherwise they are
  /// floats that would be quantized.
  bool areIntegers = false;
};

/// Forms of a product for which the model or the user asks for 16 bits, or for
/// tf32.
enum class HalfPrecisionForm {
  bf16,
  f16,
  /// Data and weights in f32, rounded to tf32 just before they are multiplied.
  tf32,
  /// Data in f32, and weights that are stored as f16.
  f16Weights
};

/// The order of the dimensions of images.
enum class Layout {
  /// `N, C, D1…Dn`, as in ONNX.
  channelsFirst,
  /// `N, D1…Dn, C`.
  channelsLast
};

/// The decisions of a device. The base class declines everything, so that a
/// device without a policy computes in f32. Its images have the channels last.
class Policy {
public:
  virtual ~Policy();

  /// Returns the policy of the device of the module around `op`.
  static const Policy &of(mlir::Operation *op);

  //===--------------------------------------------------------------------===//
  // Precision
  //===--------------------------------------------------------------------===//

  /// Returns true if `product`, of f32 data by constant weights, is to be
  /// computed in int8 with a calibrated range.
  virtual Answer<bool> multiplyInt8(mlir::Operation *product,
                                    const Int8Candidate &candidate) const;
  /// Returns true if `product` is to be computed in int8 with a range that each
  /// run determines.
  virtual Answer<bool> multiplyDynamicBytes(mlir::Operation *product) const;
  /// Returns true if `product`, in a loop, is to be computed in int8 with a
  /// range that each step determines. `weights` is the number of weights of all
  /// products in the loop that would be in int8. `numLoops` is the number of
  /// loops of the same node, such as the directions of a recurrent network.
  virtual Answer<bool> multiplyBytesInLoop(mlir::Operation *product,
                                           int64_t weights,
                                           int64_t numLoops) const;
  /// Returns true if `product`, whose operands are int8, is to be computed in
  /// f32.
  virtual Answer<bool> multiplyBytesAsFloats(nn::ConvOp product) const;
  /// Returns true if an int8 convolution with several groups is to be computed
  /// in f32. `weights` is the shape `O, C, …` of the convolution's weights.
  virtual Answer<bool>
  multiplyGroupsAsFloats(llvm::ArrayRef<int64_t> weights, int64_t groups) const;
  /// Returns true if `product` is to be computed in int16.
  virtual Answer<bool> multiplyInt16(mlir::Operation *product,
                                     OptimizeFor goal) const;
  /// Returns the form of products in the module around `op` if the user asks
  /// for `asked`, bf16 or fp16. The next three functions decide about products
  /// of one form each.
  virtual HalfPrecisionForm halfPrecisionForm(mlir::Operation *op,
                                              Precision asked) const;
  /// Returns true if bf16 is faster than f32 on every CPU that the module
  /// around `op` may run on. Then bf16 pays even if nobody asks for 16 bits.
  virtual bool prefersBF16(mlir::Operation *op) const;
  /// Returns true if `product` is to be computed with bf16 operands.
  virtual Answer<bool> multiplyBF16(mlir::Operation *product) const;
  /// Returns true if `product` is to be computed with f32 data and weights
  /// stored as f16. `allWeights` is the number of weights of all products of
  /// the model.
  virtual Answer<bool> storeF16Weights(mlir::Operation *product,
                                       int64_t allWeights) const;
  /// Returns true if `product` is to be computed with f32 operands that are
  /// rounded to tf32.
  virtual Answer<bool> multiplyTF32(mlir::Operation *product) const;
  /// Returns true if `product` is to be computed with f16 operands.
  virtual Answer<bool> multiplyF16(mlir::Operation *product) const;

  //===--------------------------------------------------------------------===//
  // Layout
  //===--------------------------------------------------------------------===//

  /// Returns the layout of the images that `op` reads and writes. The op can be
  /// computed in either.
  virtual Answer<Layout> layOut(mlir::Operation *op) const;
  /// Returns true if `product` is to be computed as a matrix product. Its
  /// windows must not overlap. The elements of each window are then copied to a
  /// row of the matrix.
  virtual Answer<bool> multiplyPatches(nn::ConvOp product) const;

  //===--------------------------------------------------------------------===//
  // Weights and channels
  //===--------------------------------------------------------------------===//

  /// Returns the dimension of the weights of `product` along which int8 weights
  /// are to be fitted in pairs (PairFit.h). Returns nullopt if scales are to
  /// come from the largest weights.
  virtual Answer<std::optional<int64_t>>
  fitPairs(mlir::Operation *product) const;
  /// Returns true if the weights of `product`, which is in no loop, are to be
  /// stored in few bits and multiplied in this form.
  virtual Answer<bool> packWeights(nn::MatMulOp product,
                                   const PackCandidate &candidate) const;
  /// Returns true if the weights of `product`, in a loop, may be stored in few
  /// bits. `weights` is the number of weights of all such products in the loop.
  virtual Answer<bool> packWeightsInLoop(nn::MatMulOp product,
                                         int64_t weights) const;
  /// Returns true if the weights of `product` are to be multiplied as floats.
  /// `allWeights` is the number of weights of few bits in the module.
  virtual Answer<bool> unpackWeights(nn::PackedMatMulOp product,
                                     int64_t allWeights,
                                     OptimizeFor goal) const;
  /// Returns true if the constant table of `op`, which picks rows of it, is to
  /// be stored as bytes.
  virtual Answer<bool> packTable(nn::GatherOp op) const;
  /// Returns true if the left-hand rows of `product`, whose weights have few
  /// bits, are to be rounded to int8.
  virtual Answer<bool> roundRows(nn::PackedMatMulOp product) const;
  /// Returns true if the channels of the int8 `product` are to be padded with
  /// zeros, to a multiple of the channels that one instruction multiplies.
  virtual Answer<bool> padChannels(nn::ConvOp product) const;

  //===--------------------------------------------------------------------===//
  // Computed factors of bytes
  //===--------------------------------------------------------------------===//

  /// Returns true if `product`, whose operands are both computed int8, is to be
  /// computed in int8.
  virtual Answer<bool> multiplyComputedBytes(nn::MatMulOp product) const;
  /// Returns true if an attention of bytes is to be computed by one kernel.
  /// `q`, `k` and `v` are the types of its operands as `B, L, H, D`.
  virtual Answer<bool> fuseByteAttention(mlir::Operation *op,
                                         mlir::RankedTensorType q,
                                         mlir::RankedTensorType k,
                                         mlir::RankedTensorType v) const;
};

/// Returns the number of weights of all products with constant weights in
/// `root`.
int64_t countProductWeights(mlir::Operation *root);

/// Returns true if something reads decisions about `op`. Otherwise no estimates
/// of alternatives are needed.
bool isRecorded(mlir::Operation *op);

/// Records a decision about `op`: emits a remark of the category `decision`.
void record(mlir::Operation *op, Question question, llvm::StringRef choice,
            llvm::StringRef reason,
            llvm::ArrayRef<Alternative> alternatives = {});

/// Records the answer to a yes-or-no question; `yes` and `no` name the two
/// choices. Returns the choice.
inline bool record(mlir::Operation *op, Question question,
                   const Answer<bool> &answer, llvm::StringRef yes,
                   llvm::StringRef no) {
  record(op, question, answer.choice ? yes : no, answer.reason,
         answer.alternatives);
  return answer.choice;
}

} // namespace ingot

#endif // INGOT_PASSES_BACKEND_POLICY_H
