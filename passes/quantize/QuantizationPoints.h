//===- QuantizationPoints.h - quantization points of a model ----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the quantization points of a model. Calibration and compilation run the
// same search on the same graph, so that a tensor has the same name in both.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_QUANTIZATIONPOINTS_H
#define INGOT_PASSES_QUANTIZE_QUANTIZATIONPOINTS_H

#include "dialects/nn/NNDialect.h"
#include "passes/backend/Policy.h"
#include "passes/support/Rules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace ingot::quantize {

/// A quantization point: an operand to quantize, and the tensor with the range
/// for it. For an op that only moves values, `range` is the range of the op's
/// result.
struct QuantizationPoint {
  mlir::OpOperand *use;
  mlir::Value range;
  /// Null if the operand's user is a product. Otherwise the tensor that a
  /// product reads in int8 and that the user helps to compute. The operand is
  /// quantized because of this tensor.
  mlir::Value because;
};

/// Returns true if an op can be computed in int8: a convolution, a transposed
/// convolution or a matrix product.
bool isProduct(mlir::Operation *op);

/// Returns the convolutions and matrix products of f32 with constant weights
/// that `isWanted` accepts, in program order. Products whose operands the model
/// itself dequantizes are left out.
llvm::SmallVector<mlir::Operation *>
findProducts(mlir::func::FuncOp function,
             llvm::function_ref<bool(mlir::Operation *)> isWanted);

/// Returns the convolutions and matrix products inside loops and branches that
/// `isWanted` accepts. Their data have no calibrated range, because loop state
/// changes at each step, and a branch may not be taken.
llvm::SmallVector<mlir::Operation *>
findInnerProducts(mlir::func::FuncOp function,
                  llvm::function_ref<bool(mlir::Operation *)> isWanted);

/// Returns the innermost loop around `op`, or null.
mlir::Operation *loopOf(mlir::Operation *op);

/// Returns the number of weights of `products` in each loop.
llvm::DenseMap<mlir::Operation *, int64_t>
countWeightsInLoops(llvm::ArrayRef<mlir::Operation *> products);

/// Decides which products are computed in int8 with calibrated ranges. A rule
/// of `keep` that names a product decides about this product. Without such a
/// rule, the device's policy decides. The policy must know if the data come
/// from floats, which depends on earlier products. The class caches its
/// answers. Callers ask in program order, so that the recursion stays shallow.
class ByteGains {
public:
  explicit ByteGains(const KeepRules &keep) : keep(keep) {}
  bool of(mlir::Operation *product) { return answerTo(product).choice; }
  Answer<bool> answerTo(mlir::Operation *product);

private:
  Answer<bool> decide(mlir::Operation *product);
  /// Returns true if the data of a product come from the model's input or from
  /// a float product. Only unary functions may lie in between.
  bool readsFloats(mlir::Operation *product);

  const KeepRules &keep;
  llvm::DenseMap<mlir::Operation *, Answer<bool>> answers;
};

/// Returns `answer` if the weights of `product` are finite. If they are not
/// finite and `answer` is yes, returns no with a reason.
Answer<bool> requireFinite(Answer<bool> answer, mlir::Operation *product);

/// As `requireFinite`, and requires that sums in int8 are finite, too.
Answer<bool> requireFitting(Answer<bool> answer, mlir::Operation *product);

/// Products in order, each with the answer whether to compute it in int8.
using ProductAnswers = llvm::MapVector<mlir::Operation *, Answer<bool>>;

/// Decides which of `products` are computed in int8 with a range that each run
/// determines. The products of a loop that qualify are decided together.
ProductAnswers answerDynamicBytes(llvm::ArrayRef<mlir::Operation *> products,
                                  const KeepRules &keep);

/// Returns the operands to quantize if `products` are computed in int8.
llvm::SmallVector<QuantizationPoint>
findQuantizationPoints(llvm::ArrayRef<mlir::Operation *> products);

/// Drops the quantization points of tensors that are stored as floats in any
/// case. A tensor is stored as floats if one of its readers is neither a
/// product nor a join of branches.
void dropFloatReaders(llvm::SmallVector<QuantizationPoint> &points);

/// Returns the tensors whose range the quantization points need, in order, each
/// with a name. A name is the name of the model's input or of the ONNX nodes
/// that compute the tensor. Suffixes `#2`, `#3`, … make names unique.
llvm::MapVector<mlir::Value, std::string>
nameTensors(llvm::ArrayRef<QuantizationPoint> points);

/// Returns true if each result element is an element of the operand, or the
/// maximum of several. Then a quantized operand gives a quantized result.
/// Quantizing the operand requires that all users of the result read int8.
bool movesValues(mlir::Operation *op);

/// Return the position of a product's weight operand, and the dimension of the
/// weights that counts output channels. For a transposed convolution this
/// dimension counts the output channels of one group.
unsigned weightsOperand(mlir::Operation *product);
int64_t weightsAxis(mlir::Operation *product);

/// Returns true if the right factor of `product` has a matrix for each batch of
/// the left factor.
bool hasMatrixPerBatch(nn::MatMulOp product);

/// Returns the dimension of the right factor that counts the terms of a sum.
int64_t termsAxis(nn::MatMulOp product);

/// Records that products stay float32 whose weights have a matrix for each
/// batch, and whose data have other batches.
void recordBroadcastBatches(mlir::func::FuncOp function);

/// Returns the number of output channels of a product, in all groups together.
/// Batches share their channels.
int64_t countOutputs(mlir::Operation *product);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_QUANTIZATIONPOINTS_H
