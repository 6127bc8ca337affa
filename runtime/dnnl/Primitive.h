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

/// A buffer for the message of a failure; `text` may be null.
struct Message {
  char *text;
  uint64_t bytes;

  /// Writes a message of one line that names the operation. Returns `code`.
  int32_t fail(int32_t code, const Record &record, const char *what,
               dnnl_status_t status = dnnl_success) const;
  int32_t fail(int32_t code, const char *what,
               dnnl_status_t status = dnnl_success) const;
};

/// Returns oneDNN's name for an INGOT_ABI_… element type.
dnnl_data_type_t dataType(int64_t dtype);

/// Constant weights in the layout of some primitives.
struct PackedWeights {
  dnnl_memory_desc_t layout;
  void *data;
  /// True if the data comes from posix_memalign. False if it is part of the
  /// slab that `load` allocates.
  bool ownsData;
  PackedWeights *next;
};

/// An argument of a primitive.
struct Argument {
  int id; ///< DNNL_ARG_…
  dnnl_memory_desc_t layout;
  /// Data of a constant; null if the data comes with the call.
  const void *constant;
  /// Layout of the caller's data if the primitive works on a copy, else null.
  /// Copies are needed because oneDNN has only reference code for slices, and
  /// for weights in most layouts except its own.
  dnnl_memory_desc_t outside;
  /// Primitives that copy from and to the caller's data; null if not needed.
  dnnl_primitive_t copyIn, copyOut;
  /// Offset of the copy in the scratch memory.
  size_t copyOffset;
};

/// A primitive for given sizes and a given number of threads.
struct Primitive {
  dnnl_primitive_t handle;
  int numArguments;
  Argument arguments[INGOT_DNNL_MAX_TENSORS];
  /// Index of the argument with constant weights whose layout oneDNN chooses;
  /// -1 if there is none. The caller sets its `constant`.
  int packed;
  dnnl_memory_desc_t scratchLayout;
  size_t scratchBytes;
  /// Bytes of scratch memory. The copies of arguments are at its end.
  size_t totalScratchBytes;
  /// True if the result has no elements, so nothing needs to run.
  bool isEmpty;
};

/// An operation, its dynamic dims and strides, and its constant weights. If
/// `weightsLayout` is null, the weights may have any layout, otherwise only
/// this one.
struct Source {
  const Record &record;
  const int64_t *dynamic;
  const void *weights;
  const_dnnl_memory_desc_t weightsLayout;
};

/// Creates the primitive of an operation. On failure `primitive` is
/// zero-initialized.
int32_t createPrimitive(dnnl_engine_t engine, const Source &source,
                        const Message &message, Primitive &primitive);
void destroyPrimitive(Primitive &primitive);

/// Returns the index of the tensor with constant weights, or -1.
int findConstantWeights(const Record &record);

/// Writes the constant weights of `record` to `data`, in `layout`.
int32_t packWeights(dnnl_engine_t engine, const Record &record,
                    const void *weights, const_dnnl_memory_desc_t layout,
                    void *data, const Message &message);

} // namespace ingot::dnnl

#endif // INGOT_RUNTIME_DNNL_PRIMITIVE_H
