//===- Policy.h - what a device likes ---------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The questions that shared phases ask about an operation. A backend of each
// device implements them. Every answer has the choice, the estimated time of
// each alternative, and a reason; `record` writes it into the decision trace.
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

/// One way to do it.
struct Alternative {
  std::string name;
  /// Estimated time of one run, in cycles of one core of the target. -1: ruled
  /// out, or without an estimate.
  int64_t cycles = -1;
};

/// A choice, what was weighed, and why: half a sentence about the operation
/// ("has few channels").
template <typename Choice>
struct Answer {
  Choice choice;
  std::string reason;
  llvm::SmallVector<Alternative, 3> alternatives = {};
};

/// What is known of the data of a product that may be multiplied as bytes.
struct ByteSite {
  /// True if the model is given the data as floats: making bytes is work of its
  /// own.
  bool ofInput = false;
  /// Returns true if the data come, through functions of one tensor, from a
  /// product of floats or from the model's input.
  llvm::function_ref<bool()> readsFloats;
};

/// How products are multiplied where a model or its user asks for 16 bits.
enum class HalfForm {
  bf16,
  f16,
  /// f32 by weights that are stored as f16.
  f16Weights
};

/// What a device likes. The base class declines everything: a device without a
/// policy computes in f32.
class Policy {
public:
  virtual ~Policy();

  /// The policy of the device of the module around `op`.
  static const Policy &of(mlir::Operation *op);

  //===--------------------------------------------------------------------===//
  // Precision
  //===--------------------------------------------------------------------===//

  /// Returns true if `product`, of f32 by constant weights, is to be multiplied
  /// as int8 with a calibrated range.
  virtual Answer<bool> multiplyBytes(mlir::Operation *product,
                                     const ByteSite &site) const;
  /// The same with a range that each run finds.
  virtual Answer<bool> multiplyDynamicBytes(mlir::Operation *product) const;
  /// Returns true if `product`, in a loop whose products for bytes have
  /// `weights` weights, is to be multiplied as int8 with a range that each step
  /// finds.
  virtual Answer<bool> multiplyBytesInLoop(mlir::Operation *product,
                                           int64_t weights) const;
  /// Returns true if `product`, of bytes, is to be multiplied as f32 that holds
  /// the bytes.
  virtual Answer<bool> multiplyBytesAsFloats(nn::ConvOp product) const;
  /// The same for a convolution of bytes with several groups, given the sizes
  /// `O, C, …` of its weights.
  virtual Answer<bool>
  multiplyGroupsAsFloats(llvm::ArrayRef<int64_t> weights, int64_t groups) const;
  /// Returns true if `product` is to be multiplied as int16.
  virtual Answer<bool> multiplyWords(mlir::Operation *product,
                                     OptimizeFor goal) const;
  /// The form of products in the module around `op` where `asked`, bf16 or
  /// fp16, is asked for. The next three questions each stand for a form.
  virtual HalfForm halfForm(mlir::Operation *op, Precision asked) const;
  /// Returns true if bf16 is faster than f32 wherever the module around `op`
  /// runs, so that it pays where nobody asks for 16 bits.
  virtual bool prefersBF16(mlir::Operation *op) const;
  /// Returns true if the factors of `product` are to be multiplied as bf16.
  virtual Answer<bool> multiplyBF16(mlir::Operation *product) const;
  /// Returns true if f32 is to be multiplied by weights of f16. The model has
  /// `allWeights` weights of products.
  virtual Answer<bool> storeHalfWeights(mlir::Operation *product,
                                        int64_t allWeights) const;
  /// Returns true if f16 is to be multiplied by f16.
  virtual Answer<bool> multiplyF16(mlir::Operation *product) const;

  //===--------------------------------------------------------------------===//
  // Weights and channels
  //===--------------------------------------------------------------------===//

  /// The dimension of the weights of `product` along which int8 weights are to
  /// be fitted in pairs; nullopt: scales are those of the largest weights.
  virtual Answer<std::optional<int64_t>>
  fitPairs(mlir::Operation *product) const;
  /// Returns true if the rows that `product` multiplies by weights of few bits
  /// are to be rounded to bytes.
  virtual Answer<bool> roundRows(nn::PackedMatMulOp product) const;
  /// Returns true if zeros are to fill up the channels of `product`, of bytes,
  /// to as many as are multiplied at once.
  virtual Answer<bool> padChannels(nn::ConvOp product) const;
};

/// The number of weights of all products by constants in `root`.
int64_t countProductWeights(mlir::Operation *root);

/// Records a decision about `op`: a remark of the category `decision`.
void record(mlir::Operation *op, Question question, llvm::StringRef choice,
            llvm::StringRef reason,
            llvm::ArrayRef<Alternative> alternatives = {});

/// Records the answer to a question of yes or no, with the names of both.
inline bool record(mlir::Operation *op, Question question,
                   const Answer<bool> &answer, llvm::StringRef yes,
                   llvm::StringRef no) {
  record(op, question, answer.choice ? yes : no, answer.reason,
         answer.alternatives);
  return answer.choice;
}

} // namespace ingot

#endif // INGOT_PASSES_BACKEND_POLICY_H
