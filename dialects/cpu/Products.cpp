//===- Products.cpp - the kinds of products -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/Products.h"

#include "dialects/cpu/PackedWeights.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

static constexpr ProductInfo kProducts[] = {
#define INGOT_PRODUCT(NAME, MNEMONIC, WEIGHTS, GROUP, SUM, BLOCK, NEEDS, PAYS, \
                      SUM_REGISTERS, WEIGHT_REGISTERS, ROWS_OF_16, ROWS_OF_32, \
                      ROWS, COLUMNS, SHARED_BY, MEANING)                       \
  {Product::NAME,                                                              \
   llvm::StringLiteral(MNEMONIC),                                              \
   ProductElement::WEIGHTS,                                                    \
   GROUP,                                                                      \
   ProductElement::SUM,                                                        \
   BLOCK,                                                                      \
   NEEDS,                                                                      \
   PAYS,                                                                       \
   SUM_REGISTERS,                                                              \
   WEIGHT_REGISTERS,                                                           \
   ROWS_OF_16,                                                                 \
   ROWS_OF_32,                                                                 \
   RowForm::ROWS,                                                              \
   ColumnForm::COLUMNS,                                                        \
   SHARED_BY},
#include "dialects/cpu/Products.inc"
};

static_assert(kProducts[size_t(Product::f16Dot)].block == kF16Terms,
              "weights are scaled for that many");

ArrayRef<ProductInfo> cpu::getProducts() { return kProducts; }

const ProductInfo &cpu::infoOf(Product product) {
  assert(size_t(product) < std::size(kProducts) && "a row of the table");
  return kProducts[size_t(product)];
}

Type cpu::elementTypeOf(ProductElement element, MLIRContext *context) {
  switch (element) {
  case ProductElement::f32:
    return Float32Type::get(context);
  case ProductElement::bf16:
    return BFloat16Type::get(context);
  case ProductElement::f16:
    return Float16Type::get(context);
  case ProductElement::i8:
    return IntegerType::get(context, 8);
  case ProductElement::i16:
    return IntegerType::get(context, 16);
  case ProductElement::i32:
    return IntegerType::get(context, 32);
  }
  llvm_unreachable("all element types are listed");
}

bool ProductInfo::multiplies(Type element, int64_t groupSize) const {
  return element == elementTypeOf(weights, element.getContext()) &&
         group == groupSize;
}

std::optional<Product> cpu::symbolizeProduct(StringRef mnemonic) {
  const ProductInfo *found =
      llvm::find_if(kProducts, [&](const ProductInfo &info) {
        return info.mnemonic == mnemonic;
      });
  if (found == std::end(kProducts))
    return std::nullopt;
  return found->product;
}

raw_ostream &cpu::operator<<(raw_ostream &stream, Product product) {
  return stream << stringifyProduct(product);
}

FailureOr<Product> FieldParser<Product>::parse(AsmParser &parser) {
  SMLoc at = parser.getCurrentLocation();
  StringRef keyword;
  if (failed(parser.parseKeyword(&keyword)))
    return failure();
  if (std::optional<Product> product = symbolizeProduct(keyword))
    return *product;
  SmallVector<StringRef> names;
  for (const ProductInfo &info : kProducts)
    names.push_back(info.mnemonic);
  parser.emitError(at, "expects a product of ")
      << llvm::join(names, ", ") << ", but got " << keyword;
  return failure();
}
