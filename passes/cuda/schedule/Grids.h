//===- Grids.h - schedules of grids -----------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_SCHEDULE_GRIDS_H
#define INGOT_PASSES_CUDA_SCHEDULE_GRIDS_H

#include "passes/cuda/schedule/Machine.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ingot::cuda {

/// Returns true if an operand has neighboring elements for neighboring values
/// of the loop, or one element for all of them.
bool isContiguousAlong(mlir::MemRefType type, mlir::AffineMap map,
                       unsigned loop);

/// Returns the number of neighboring elements along the loop `last` that a
/// thread of a grid computes. Their loads and stores can then be joined to
/// accesses of up to 16 bytes. Returns 1 if neighboring elements of an operand
/// are not contiguous.
int64_t chooseThreadElements(mlir::linalg::LinalgOp op, unsigned last);

/// The threads that reduce the elements of one result.
enum class RowTeam { thread, warp, block };

/// Returns the team for each result of `op`, whose parallel loops are
/// `parallel`. A warp or block needs enough neighboring elements to reduce.
RowTeam chooseRowTeam(mlir::linalg::LinalgOp op,
                      llvm::ArrayRef<unsigned> parallel);

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_SCHEDULE_GRIDS_H
