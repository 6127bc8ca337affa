//===- BandMatMulToCpu.h - products of banded matrices ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_LOWER_BANDMATMULTOCPU_H
#define INGOT_PASSES_CPU_LOWER_BANDMATMULTOCPU_H

#include "dialects/cpu/CpuDialect.h"
#include "dialects/nn/NNDialect.h"

namespace ingot::cpu {

/// A constant banded matrix. The nonzero elements of each row are within `taps`
/// neighbouring columns.
struct Band {
  int64_t columns, taps;
  /// The first column that each row reads, and `taps` weights for each row.
  llvm::SmallVector<int64_t> starts;
  std::vector<double> weights;

  int64_t rows() const { return starts.size(); }
  /// Keeps `count` rows: `first`, `first + step`, ….
  void takeRows(int64_t first, int64_t step, int64_t count);
};

/// A banded matrix whose columns and weights the run computes, as tensors.
struct BandTables {
  mlir::Value starts, weights;
  mlir::OpFoldResult rows;
};

/// The elements of a row of a matrix, as pairs of a column and a value.
using BandElements = llvm::ArrayRef<std::pair<int64_t, double>>;

/// Makes a band of `rows` rows from the elements that `rowAt` returns. Elements
/// of the same column are added. Returns nullopt if the band needs more than
/// `most` taps for products with `channels` elements behind the dimension.
std::optional<Band>
makeBand(int64_t rows, int64_t columns, int64_t channels, int64_t most,
         llvm::function_ref<BandElements(int64_t row)> rowAt);

/// Multiplies dimension `dim` of `x` by the banded matrix. `x` has at most one
/// dimension behind `dim`. The second overload takes the matrix as tensors. If
/// `order` is not empty, it is the order of the result's channels.
cpu::BandMatMulOp multiplyByBand(mlir::OpBuilder &b, mlir::Location loc,
                                 mlir::Value x, int64_t dim, const Band &band,
                                 llvm::ArrayRef<int64_t> order = {});
cpu::BandMatMulOp multiplyByBand(mlir::OpBuilder &b, mlir::Location loc,
                                 mlir::Value x, int64_t dim,
                                 const BandTables &band,
                                 llvm::ArrayRef<int64_t> order = {});

/// Returns the float tensor `x` without the reshapes and the cast from bytes
/// that produced it.
mlir::Value withoutCast(mlir::Value x);

/// Returns true if a factor of `op` is a constant banded matrix. It must have
/// so few elements in a row that cpu.band_matmul is faster than a dense
/// product.
bool isBandMatMul(nn::MatMulOp op);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_LOWER_BANDMATMULTOCPU_H
