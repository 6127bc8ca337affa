//===- Rows.h - the rows of a part, in another process ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_GPU_RUNNER_ROWS_H
#define INGOT_TOOLS_GPU_RUNNER_ROWS_H

#include "tools/gpu-runner/Gpu.h"

#include <functional>

namespace ingot::gpu {

/// How long to work.
struct Budget {
  /// Seconds for all rows, and for one.
  double seconds = 1e9, mostPerRow = 60;
  /// False to stay in this process, e.g. under a debugger.
  bool forks = true;
};

/// Calls `makeRow` for each item of `items`, until the time is over. A process
/// for many items makes the rows. If it crashes or hangs, the row says so, and
/// another process continues. Another process also continues behind a row whose
/// status is "failed", because a GPU is unusable after some errors.
///
/// Returns one row for each item. Rows that were not reached have the status
/// "not measured".
Json makeRows(const Json &items, const Budget &budget,
              const std::function<Json(const Json &)> &makeRow);

} // namespace ingot::gpu

#endif // INGOT_TOOLS_GPU_RUNNER_ROWS_H
