//===- MatMul.cpp - MatMul, Gemm ------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/core/Helpers.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// Makes the contracted dimension of both operands static if it is static in
/// one of them.
static void pinLength(Node &node, Value &a, Value &b, bool transposeA,
                      bool transposeB) {
  int64_t inA = typeOf(a).getRank() - (transposeA ? 2 : 1);
  int64_t inB = typeOf(b).getRank() - (transposeB ? 1 : 2);
  a = pinDim(node, a, inA, typeOf(b).getDimSize(inB), "input 0");
  b = pinDim(node, b, inB, typeOf(a).getDimSize(inA), "input 1");
}

static LogicalResult legalizeMatMul(Node &node) {
  Value a = node.input(0), b = node.input(1);
  if (!a || !b || node.rank(0) < 1 || node.rank(1) < 1)
    return node.invalid("two operands of rank 1 or more are needed");
  bool isRow = node.rank(0) == 1, isColumn = node.rank(1) == 1;
  if (isRow)
    a = unsqueeze(node, a, {0});
  if (isColumn)
    b = unsqueeze(node, b, {1});
  pinLength(node, a, b, /*transposeA=*/false, /*transposeB=*/false);
  auto y = node.infer<nn::MatMulOp>(a, b, /*bias=*/Value(),
                                    /*transpose_a=*/false,
                                    /*transpose_b=*/false);
  if (failed(y))
    return failure();
  if (!isRow && !isColumn)
    return node.replace(*y);
  Sizes sizes = sizesOf(node, *y);
  if (isColumn)
    sizes.pop_back();
  if (isRow)
    sizes.erase(sizes.end() - (isColumn ? 1 : 2));
  return node.replace(reshape(node, *y, sizes));
}

/// Returns true if C may be larger than the product at run time.
static bool mayLeave(RankedTensorType c, RankedTensorType y) {
  int64_t offset = y.getRank() - c.getRank();
  for (int64_t i = 0; i < c.getRank(); ++i)
    if (c.getDimSize(i) != 1 &&
        (c.isDynamicDim(i) || c.getDimSize(i) != y.getDimSize(offset + i)))
      return true;
  return false;
}

static LogicalResult legalizeGemm(Node &node) {
  Value a = node.input(0), b = node.input(1), c = node.input(2);
  if (!a || !b || node.rank(0) != 2 || node.rank(1) != 2)
    return node.invalid("A and B of rank 2 are needed");
  float alpha = node.getFloat("alpha", 1), beta = node.getFloat("beta", 1);
  Type type = node.elementType(0);
  if (isa<IntegerType>(type) &&
      (alpha != std::floor(alpha) || beta != std::floor(beta)))
    return node.unsupported("fractional alpha or beta on integers");
  if (beta == 0)
    c = Value();
  if (c && beta != 1)
    c = binary<nn::MulOp>(node, c, scalar(node, type, beta));
  // Scales constant weights, because this costs nothing at run time.
  if (alpha != 1 && nn::getConstant(b)) {
    b = binary<nn::MulOp>(node, b, scalar(node, type, alpha));
    alpha = 1;
  }
  if (!b || (node.has(2) && beta != 0 && !c))
    return failure();
  bool fused = alpha == 1;
  bool transposeA = node.getInt("transA", 0) != 0,
       transposeB = node.getInt("transB", 0) != 0;
  pinLength(node, a, b, transposeA, transposeB);
  auto y = node.infer<nn::MatMulOp>(a, b, fused ? c : Value(), transposeA,
                                    transposeB);
  if (failed(y))
    return failure();
  if (fused)
    return node.replace(*y);
  Value scaled = binary<nn::MulOp>(node, *y, scalar(node, type, alpha));
  if (!c)
    return node.replace(scaled);
  // Requires that C broadcasts to the product. The product must not broadcast
  // to C.
  if (typeOf(c).getRank() > 2)
    return node.invalid("C of at most rank 2 is needed");
  ArrayRef<int64_t> product = typeOf(scaled).getShape();
  auto both = nn::broadcastShapes({typeOf(c).getShape(), product});
  auto grows = [](auto sizes) {
    auto [size, whole] = sizes;
    return !ShapedType::isDynamic(size) && size != whole;
  };
  if (!both || llvm::any_of(llvm::zip_equal(product, *both), grows))
    return node.invalid("C does not broadcast to the product");
  if (mayLeave(typeOf(c), typeOf(scaled)))
    c = broadcastTo(node, c, sizesOf(node, scaled));
  auto sum = node.infer<nn::AddOp>(scaled, c);
  return failed(sum) ? failure() : node.replace(*sum);
}

void legalize::populateMatMul(Legalizers &legalizers) {
  legalizers.add("Gemm", legalizeGemm);
  legalizers.add("MatMul", legalizeMatMul);
}
