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

/// The form in which a product reads rows.
enum class RowForm {
  /// Original rows, in the order of k.
  inPlace,
  /// Copies as f32.
  asFloats,
  /// Copies as int16, with even and odd bytes separate.
  asInt16,
  /// Original rows, in the order of lists of groups of k.
  byLists,
  /// 32-bit elements of signs, with the element that marks zeros.
  asBits,
  /// AMX tiles.
  inTiles,
};

/// The form in which a product reads the weights of a column tile.
enum class ColumnForm {
  /// Packed form.
  inPlace,
  /// Widened by each step that reads them.
  asRead,
  /// Widened to f32, once for many rows.
  asFloats,
  /// Widened to int16, once for many rows or by each step.
  asInt16,
  /// Packed form, in the order of lists of groups of k.
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

  /// Returns true if the target has the instructions.
  bool isSupported(const TargetInfo &target) const {
    return !needs || target.*needs;
  }
  /// Returns true if no later product in the table is faster on the target.
  bool isUsual(const TargetInfo &target) const { return !pays || target.*pays; }
  /// Returns true if the product multiplies packed weights of this element type
  /// in groups of `groupSize`.
  bool multiplies(mlir::Type element, int64_t groupSize) const;
  bool usesTiles() const { return rows == RowForm::inTiles; }
  /// Returns true if a lane of a step is one product of floats.
  bool isOfSingleFloats() const {
    return group == 1 && sum == ProductElement::f32;
  }
};

/// Returns all products, in the order of the table.
llvm::ArrayRef<ProductInfo> getProducts();

/// Returns the row of the product.
const ProductInfo &infoOf(Product product);

/// Returns the type that an element of the table stands for.
mlir::Type elementTypeOf(ProductElement element, mlir::MLIRContext *context);

/// Returns true if a product is summed in AMX tiles.
inline bool usesTiles(Product product) { return infoOf(product).usesTiles(); }

/// Returns true if partial sums may wait for a `depth_block`: the product does
/// not copy rows and reads k in order.
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
