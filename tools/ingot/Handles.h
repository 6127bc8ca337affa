//===- Handles.h - owning pointers to libingot's objects ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_HANDLES_H
#define INGOT_TOOLS_INGOT_HANDLES_H

#include "ingot/ingot.h"

#include <memory>

namespace ingot::tools {

struct HandleRelease {
  void operator()(ingot_pool *pool) const { ingot_pool_release(pool); }
  void operator()(ingot_model *model) const { ingot_model_release(model); }
  void operator()(ingot_context *context) const {
    ingot_context_release(context);
  }
};
using PoolHandle = std::unique_ptr<ingot_pool, HandleRelease>;
using ModelHandle = std::unique_ptr<ingot_model, HandleRelease>;
using ContextHandle = std::unique_ptr<ingot_context, HandleRelease>;

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_HANDLES_H
