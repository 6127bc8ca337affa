//===- Patterns.h - families of nn-to-linalg --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nn-to-linalg converts nn ops on tensors of any integer sign to linalg on
// signless tensors. Its patterns are OpConversionPatterns, one file per family
// of ops. The original op has the signs (`isUnsigned`). The adaptor has
// signless operands.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LOOPS_PATTERNS_H
#define INGOT_PASSES_LOOPS_PATTERNS_H

#include "dialects/nn/NNDialect.h"

#include "mlir/Transforms/DialectConversion.h"

namespace ingot::shape {
class SameSizes;
} // namespace ingot::shape

namespace ingot::loops {

/// Converts `ui8` to `i8` and so on, in tensors too.
class SignlessTypeConverter : public mlir::TypeConverter {
public:
  SignlessTypeConverter();
};

/// Returns `acc` combined with the next element `x` of a reduction. Both have
/// the type of the accumulator.
mlir::Value combine(mlir::OpBuilder &b, mlir::Location loc, nn::ReduceKind kind,
                    mlir::Value x, mlir::Value acc, bool isUnsigned);

void populateConvToLinalg(mlir::RewritePatternSet &patterns,
                          const mlir::TypeConverter &converter);
/// Lowers elementwise ops. `sizes` are those of the module before the
/// conversion.
void populateElementwiseToLinalg(mlir::RewritePatternSet &patterns,
                                 const mlir::TypeConverter &converter,
                                 const shape::SameSizes &sizes);
void populateIndexingToLinalg(mlir::RewritePatternSet &patterns,
                              const mlir::TypeConverter &converter);
void populateMatMulToLinalg(mlir::RewritePatternSet &patterns,
                            const mlir::TypeConverter &converter);
void populateMovementToLinalg(mlir::RewritePatternSet &patterns,
                              const mlir::TypeConverter &converter,
                                 const shape::SameSizes &sizes);
void populatePoolToLinalg(mlir::RewritePatternSet &patterns,
                          const mlir::TypeConverter &converter);
void populateArgReduceToLinalg(mlir::RewritePatternSet &patterns,
                               const mlir::TypeConverter &converter);
void populateReduceToLinalg(mlir::RewritePatternSet &patterns,
                            const mlir::TypeConverter &converter);
void populateResizeToLinalg(mlir::RewritePatternSet &patterns,
                            const mlir::TypeConverter &converter);
void populateScanToLinalg(mlir::RewritePatternSet &patterns,
                          const mlir::TypeConverter &converter);
void populateTopKToLinalg(mlir::RewritePatternSet &patterns,
                          const mlir::TypeConverter &converter);
/// Lowers byte tables. These patterns must come before those of other indexing.
void populateTablesToLinalg(mlir::RewritePatternSet &patterns,
                            const mlir::TypeConverter &converter);

/// Writes normalizations, softmax and quantization as simpler nn ops. This runs
/// before any op is lowered.
void populateDecompositions(mlir::RewritePatternSet &patterns);
/// Writes attentions of bytes as products, softmax and roundings of f32.
void populateByteAttentionDecomposition(mlir::RewritePatternSet &patterns);

} // namespace ingot::loops

#endif // INGOT_PASSES_LOOPS_PATTERNS_H
