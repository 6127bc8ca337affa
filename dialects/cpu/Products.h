//===- Products.h - the kinds of products -----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_PRODUCTS_H
#define INGOT_DIALECTS_CPU_PRODUCTS_H

#include "dialects/ingot/TargetInfo.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Types.h"

namespace ingot::cpu {

/// A micro-kernel, which defines how products of rows and columns are summed.
enum class Product : uint32_t {
#define INGOT_PRODUCT(NAME, MNEMONIC, WEIGHTS, GROUP, SUM, BLOCK, NEEDS, PAYS, \
                      SUM_REGISTERS, WEIGHT_REGISTERS, ROWS_OF_16, ROWS_OF_32, \
                      ROWS, COLUMNS, SHARED_BY, MEANING)                       \
  NAME,
#include "dialects/cpu/Products.inc"
};

/// Element types of weights and sums.
enum class ProductElement { f32, bf16, f16, i8, i16, i32 };

/// The form in which a product reads the rows of src.
enum class RowForm {
  /// The original rows, in the order of k.
  inPlace,
  /// Copies of the rows as f32.
  asFloats,
  /// Copies of the rows as int16. Even and odd bytes are separate.
  asInt16,
  /// The original rows, in the order of lists of groups of k.
  byLists,
  /// Signs in 32-bit elements, and the element that marks zeros.
  asBits,
  /// AMX tiles.
  inTiles,
};

/// The form in which a product reads the weights of a column tile.
enum class ColumnForm {
  /// The packed form.
  inPlace,
  /// Widened in each step that reads them.
  asRead,
  /// Widened to f32, once for several rows.
  asFloats,
  /// Widened to int16, once for several rows or in each step.
  asInt16,
  /// The packed form. Lists of groups of k determine the order of the steps.
  byLists,
};

/// A row of Products.inc.
struct ProductInfo {
  Product product;
  llvm::StringLiteral mnemonic;
  ProductElement weights;
  int64_t group;
  ProductElement sum;
  int64_t block;
  bool TargetInfo::*needs;
  bool TargetInfo::*pays;
  int64_t sumRegisters, weightRegisters;
  int64_t rowsOf16, rowsOf32;
  RowForm rows;
  ColumnForm columns;
  int64_t sharedBy;

  /// Returns true if the target has the instructions that the product needs.
  bool isSupported(const TargetInfo &target) const {
    return !needs || target.*needs;
  }
  /// Returns true if this product is the usual choice on the target: if it is
  /// faster than later products in the table.
  bool isUsual(const TargetInfo &target) const { return !pays || target.*pays; }
  /// Returns true if the product multiplies packed weights of type `element`
  /// that are stored in groups of `groupSize`.
  bool multiplies(mlir::Type element, int64_t groupSize) const;
  bool usesTiles() const { return rows == RowForm::inTiles; }
  /// Returns true if each lane of a step computes a single product of floats.
  bool isOfSingleFloats() const {
    return group == 1 && sum == ProductElement::f32;
  }
};

/// Returns all products, in the order of the table.
llvm::ArrayRef<ProductInfo> getProducts();

/// Returns the row of the product.
const ProductInfo &infoOf(Product product);

/// Returns the MLIR type of an element type in the table.
mlir::Type elementTypeOf(ProductElement element, mlir::MLIRContext *context);

/// Returns true if a product is summed in AMX tiles.
inline bool usesTiles(Product product) { return infoOf(product).usesTiles(); }

/// Returns true if partial sums may be kept between the blocks of a
/// `depth_block`. Then the product must not copy rows, and must read k in
/// order.
inline bool canWait(Product product) {
  return infoOf(product).rows == RowForm::inPlace;
}

inline llvm::StringRef stringifyProduct(Product product) {
  return infoOf(product).mnemonic;
}
std::optional<Product> symbolizeProduct(llvm::StringRef mnemonic);

llvm::raw_ostream &operator<<(llvm::raw_ostream &stream, Product product);

} // namespace ingot::cpu

namespace mlir {
template <>
struct FieldParser<ingot::cpu::Product> {
  static FailureOr<ingot::cpu::Product> parse(AsmParser &parser);
};
} // namespace mlir

#endif // INGOT_DIALECTS_CPU_PRODUCTS_H
