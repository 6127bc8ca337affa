//===- Sites.h - where int8 stands in a model -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calibration and compilation ask the same question of the same graph, so that
// a tensor has the same name in both.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_SITES_H
#define INGOT_PASSES_QUANTIZE_SITES_H

#include "dialects/nn/NNDialect.h"
#include "passes/backend/Policy.h"
#include "passes/support/Rules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace ingot::quantize {

/// Operands that read a tensor in bytes, and whose range these bytes have. For
/// what only moves values this is the range of its result.
struct Site {
  mlir::OpOperand *use;
  mlir::Value range;
  /// What reads it in bytes: null, a product itself; else what is computed of
  /// it, `because` being read in bytes.
  mlir::Value because;
};

/// Whether an op is one that bytes are multiplied in: a convolution, transposed
/// or not, or a matrix product.
bool isProduct(mlir::Operation *op);

/// Whether each input channel is a group of its own.
bool hasSingleChannels(nn::ConvTransposeOp conv);

/// Convolutions and matrix products of f32 with constant weights, in order, of
/// which `isWanted` is true. One of which an operand is dequantized by the
/// model itself is none.
llvm::SmallVector<mlir::Operation *>
findProducts(mlir::func::FuncOp function,
             llvm::function_ref<bool(mlir::Operation *)> isWanted);

/// The same of bodies of loops and of branches. What they read no calibration
/// has seen: a state has a value at each step, and a branch may not be taken.
/// Those of a loop that has fewer than `leastInLoop` weights are left out.
llvm::SmallVector<mlir::Operation *>
findInnerProducts(mlir::func::FuncOp function, int64_t leastInLoop,
                  llvm::function_ref<bool(mlir::Operation *)> isWanted);

/// Decides which products are multiplied as bytes with calibrated ranges. A
/// rule of `keep` that names a product decides about it; else the device's
/// policy. Whether data come from floats depends on products before: each is
/// decided once, and the recursion is least deep if asked in their order.
class ByteGains {
public:
  explicit ByteGains(const KeepRules &keep) : keep(keep) {}
  bool of(mlir::Operation *product) { return answerTo(product).choice; }
  Answer<bool> answerTo(mlir::Operation *product);

private:
  Answer<bool> decide(mlir::Operation *product);
  /// Returns true if the data of a product come, through functions of one
  /// tensor, from the model's input or from a product of floats.
  bool readsFloats(mlir::Operation *product);

  const KeepRules &keep;
  llvm::DenseMap<mlir::Operation *, Answer<bool>> answers;
};

/// Products and whether each is to be multiplied as bytes, in order.
using ProductAnswers = llvm::MapVector<mlir::Operation *, Answer<bool>>;

/// Decides which of `products` are multiplied as bytes with a range that the
/// run finds. In a loop, all its products for bytes decide together.
ProductAnswers answerDynamicBytes(llvm::ArrayRef<mlir::Operation *> products,
                                  const KeepRules &keep);

/// The operands that are to be quantized if `products` compute on bytes.
llvm::SmallVector<Site> findSites(llvm::ArrayRef<mlir::Operation *> products);

/// Drops those of tensors that are stored as floats anyway, since something
/// else than a product or what joins branches reads them.
void dropFloatReaders(llvm::SmallVector<Site> &sites);

/// The tensors of which the sites have the range, in order, each with its name:
/// of the model's input, or the nodes that it comes from; `#2` and so on tells
/// those of one name apart.
llvm::MapVector<mlir::Value, std::string>
nameTensors(llvm::ArrayRef<Site> sites);

/// Whether the results are some of the operand's elements, or the largest of
/// several: what is a byte stays the same byte. All who read the result have to
/// read bytes, then.
bool movesValues(mlir::Operation *op);

/// Weights of a product: the operand's number, and the dimension that counts
/// output channels, those of one group if the product is transposed.
unsigned weightsOperand(mlir::Operation *product);
int64_t weightsAxis(mlir::Operation *product);

/// How many output channels a product has, of all groups.
int64_t countOutputs(mlir::Operation *product);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_SITES_H
