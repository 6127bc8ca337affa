//===- Descriptor.h - from a record to a descriptor -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_DNNL_DESCRIPTOR_H
#define INGOT_RUNTIME_DNNL_DESCRIPTOR_H

#include "runtime/dnnl/Primitive.h"

namespace ingot::dnnl {

/// Builds the descriptors of one primitive.
struct DescriptorBuilder {
  dnnl_engine_t engine;
  const Record &record;
  Primitive &primitive;
  dnnl_primitive_attr_t attr = nullptr;
  dnnl_post_ops_t postOps = nullptr;
  dnnl_primitive_desc_t descriptor = nullptr;
  /// Layouts to request, indexed by role.
  const_dnnl_memory_desc_t layouts[INGOT_DNNL_OPERAND + 1] = {};
  /// True if the primitive works on copies. A copy of a slice is dense. A copy
  /// of weights from the call has oneDNN's preferred layout.
  bool makesCopies = false;
  /// True if there is a tensor that could be copied.
  bool canCopy = false;
  /// True if the primitive would write to a slice.
  bool writesSlice = false;
  dnnl_memory_desc_t anyWeights = nullptr;

  DescriptorBuilder(dnnl_engine_t engine, const Record &record,
                    Primitive &primitive)
      : engine(engine), record(record), primitive(primitive) {}
  ~DescriptorBuilder() {
    dnnl_primitive_desc_destroy(descriptor);
    dnnl_memory_desc_destroy(anyWeights);
    dnnl_post_ops_destroy(postOps);
    dnnl_primitive_attr_destroy(attr);
  }
  DescriptorBuilder(const DescriptorBuilder &) = delete;
  DescriptorBuilder &operator=(const DescriptorBuilder &) = delete;

  /// Sets the arguments of the primitive and the layouts to request.
  dnnl_status_t addTensors(const int64_t *dynamic, const void *weights,
                           const_dnnl_memory_desc_t weightsLayout);
  /// Makes `attr` from the record's post-ops.
  dnnl_status_t addPostOps();
  /// Makes `descriptor`.
  dnnl_status_t describe();

private:
  dnnl_status_t describeWindow(bool isPool);
};

} // namespace ingot::dnnl

#endif // INGOT_RUNTIME_DNNL_DESCRIPTOR_H
