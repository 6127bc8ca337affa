//===- Primitive.h - a oneDNN primitive and its arguments -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_DNNL_PRIMITIVE_H
#define INGOT_RUNTIME_DNNL_PRIMITIVE_H

#include "runtime/dnnl/Record.h"

#include <dnnl.h>

namespace ingot::dnnl {

/// Where a failure is told; `text` may be null.
struct Message {
  char *text;
  uint64_t bytes;

  /// Writes one line that names the operation; returns `code`.
  int32_t fail(int32_t code, const Record &record, const char *what,
               dnnl_status_t status = dnnl_success) const;
  int32_t fail(int32_t code, const char *what,
               dnnl_status_t status = dnnl_success) const;
};

/// oneDNN's name of an INGOT_ABI_… element type.
dnnl_data_type_t dataType(int64_t dtype);

/// Constant weights in the layout of some primitives.
struct PackedWeights {
  dnnl_memory_desc_t layout;
  void *data;
  /// From posix_memalign, not a piece of the slab that `load` makes.
  bool ownsData;
  PackedWeights *next;
};

/// One argument of a primitive.
struct Argument {
  int id; ///< DNNL_ARG_…
  dnnl_memory_desc_t layout;
  /// The data of a constant; null if it comes with the call.
  const void *constant;
  /// Layout of the caller's data, where the primitive works on a copy of it:
  /// oneDNN has reference code only for slices of a tensor, and for weights in
  /// most layouts but its own. Otherwise null.
  dnnl_memory_desc_t outside;
  /// From the caller's data to the copy and back, where that is needed.
  dnnl_primitive_t copyIn, copyOut;
  /// Where the copy lies in the scratch memory.
  size_t copyOffset;
};

/// A primitive for given sizes and a given number of threads.
struct Primitive {
  dnnl_primitive_t handle;
  int numArguments;
  Argument arguments[INGOT_DNNL_MAX_TENSORS];
  /// Which of `arguments` are constant weights in a layout of oneDNN's choice,
  /// or -1; `constant` is filled in by the caller.
  int packed;
  dnnl_memory_desc_t scratchLayout;
  size_t scratchBytes;
  /// With the copies of arguments behind it.
  size_t totalScratchBytes;
  /// An operation without any element in its result: there is nothing to do.
  bool isEmpty;
};

/// Creates the primitive of `record`. `dynamic` gives its dynamic dims and
/// strides. Constant weights take any layout, or `weightsLayout` if not null.
/// Zero-initialised on failure.
int32_t createPrimitive(dnnl_engine_t engine, const Record &record,
                        const int64_t *dynamic, const void *weights,
                        const_dnnl_memory_desc_t weightsLayout,
                        const Message &message, Primitive &primitive);
void destroyPrimitive(Primitive &primitive);

/// The tensor of `record` that holds constant weights, or -1.
int findConstantWeights(const Record &record);

/// Writes the constant weights of `record` to `data`, in `layout`.
int32_t packWeights(dnnl_engine_t engine, const Record &record,
                    const void *weights, const_dnnl_memory_desc_t layout,
                    void *data, const Message &message);

} // namespace ingot::dnnl

#endif // INGOT_RUNTIME_DNNL_PRIMITIVE_H
