//===- MatrixUnits.cpp - instructions of matrix units ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/kernels/MatrixUnits.h"

#include "dialects/cuda/CudaDialect.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

SmallVector<Value> cuda::loadMatrices(Code &code, Value address, Type element,
                                      bool isTransposed) {
  MLIRContext *context = code.b.getContext();
  Type word = code.b.getI32Type();
  Value all = NVVM::LdMatrixOp::create(
      code.b, code.loc,
      LLVM::LLVMStructType::getLiteral(context, {word, word, word, word}),
      address, /*num=*/4,
      isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(context, 8, 8),
      NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> words;
  for (int64_t i = 0; i < 4; ++i) {
    Value one = LLVM::ExtractValueOp::create(code.b, code.loc, all, i);
    // The instruction has pairs of f16 as such, but words for the others.
    if (element.isF16())
      one = LLVM::BitcastOp::create(code.b, code.loc,
                                    VectorType::get(2, element), one);
    if (element.isF32())
      one = NVVM::ConvertFloatToTF32Op::create(
          code.b, code.loc, word,
          LLVM::BitcastOp::create(code.b, code.loc, element, one),
          NVVM::FPRoundingMode::RNA);
    words.push_back(one);
  }
  return words;
}

SmallVector<Value> cuda::multiplyMatrices(Code &code, Type element,
                                          ArrayRef<Value> a, ArrayRef<Value> b,
                                          ArrayRef<Value> sums) {
  const NVVM::MMATypes type = element.isF16()   ? NVVM::MMATypes::f16
                              : element.isF32() ? NVVM::MMATypes::tf32
                                                : NVVM::MMATypes::bf16;
  const int64_t depth =
      2 * kAccessBytes * 8 / int64_t(element.getIntOrFloatBitWidth());
  Type f32 = code.b.getF32Type();
  Value product = NVVM::MmaOp::create(
      code.b, code.loc,
      LLVM::LLVMStructType::getLiteral(code.b.getContext(),
                                       {f32, f32, f32, f32}),
      a, b, sums, {16, 8, depth}, std::nullopt, std::nullopt,
      std::array<NVVM::MMATypes, 2>{type, type},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                     NVVM::MMALayout::col});
  SmallVector<Value> next;
  for (size_t i = 0; i < sums.size(); ++i)
    next.push_back(
        LLVM::ExtractValueOp::create(code.b, code.loc, product, int64_t(i)));
  return next;
}
