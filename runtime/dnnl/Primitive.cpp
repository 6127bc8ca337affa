//===- Primitive.cpp - from a record to a oneDNN primitive ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/dnnl/Primitive.h"

#include "runtime/dnnl/Descriptor.h"
#include "runtime/dnnl/Pointwise.h"

#include <stdio.h>
#include <string.h>

using namespace ingot::dnnl;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static const char *statusText(dnnl_status_t status) {
  switch (status) {
  case dnnl_out_of_memory:
    return ": out of memory";
  case dnnl_invalid_arguments:
    return ": invalid arguments";
  case dnnl_unimplemented:
    return ": not implemented for these types and sizes";
  case dnnl_runtime_error:
    return ": runtime error";
  default:
    return "";
  }
}

int32_t Message::fail(int32_t code, const char *what,
                      dnnl_status_t status) const {
  if (text && bytes)
    snprintf(text, bytes, "oneDNN %s%s", what, statusText(status));
  return code;
}

int32_t Message::fail(int32_t code, const Record &record, const char *what,
                      dnnl_status_t status) const {
  if (text && bytes)
    snprintf(text, bytes, "node '%s': oneDNN %s%s", record.name, what,
             statusText(status));
  return code;
}

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

int ingot::dnnl::findConstantWeights(const Record &record) {
  for (int64_t i = 0; i < record.numTensors; ++i)
    if (record.tensors[i].role == INGOT_DNNL_WEIGHTS &&
        record.tensors[i].isConstant())
      return int(i);
  return -1;
}

static dnnl_status_t createReorder(dnnl_engine_t engine,
                                   const_dnnl_memory_desc_t from,
                                   const_dnnl_memory_desc_t to,
                                   dnnl_primitive_t *reorder) {
  dnnl_primitive_desc_t descriptor = nullptr;
  dnnl_status_t status = dnnl_reorder_primitive_desc_create(
      &descriptor, from, engine, to, engine, nullptr);
  if (status == dnnl_success)
    status = dnnl_primitive_create(reorder, descriptor);
  if (descriptor)
    dnnl_primitive_desc_destroy(descriptor);
  return status;
}

/// Reserves memory for the copies of arguments, and creates the primitives that
/// copy.
static dnnl_status_t addCopies(const DescriptorBuilder &builder,
                               Primitive &primitive) {
  auto align = [](size_t bytes) {
    return (bytes + INGOT_ABI_ALIGNMENT - 1) / INGOT_ABI_ALIGNMENT *
           INGOT_ABI_ALIGNMENT;
  };
  bool hasSum = false;
  for (int64_t i = 0; i < builder.record.numPostOps; ++i)
    hasSum |= builder.record.postOps[i].kind == INGOT_DNNL_SUM;
  size_t end = primitive.scratchBytes;
  for (int i = 0; i < primitive.numArguments; ++i) {
    Argument &argument = primitive.arguments[i];
    if (!argument.outside)
      continue;
    argument.copyOffset = align(end);
    end = argument.copyOffset + dnnl_memory_desc_get_size(argument.layout);
    bool isDst = builder.record.tensors[i].role == INGOT_DNNL_DST;
    dnnl_status_t status = dnnl_success;
    if (!isDst || hasSum)
      status = createReorder(builder.engine, argument.outside, argument.layout,
                             &argument.copyIn);
    if (status == dnnl_success && isDst)
      status = createReorder(builder.engine, argument.layout, argument.outside,
                             &argument.copyOut);
    if (status != dnnl_success)
      return status;
  }
  primitive.totalScratchBytes = end;
  return dnnl_success;
}

/// Reads the data that runs of the primitive need from its descriptor.
static dnnl_status_t finish(DescriptorBuilder &builder, Primitive &primitive) {
  for (int i = 0; i < primitive.numArguments; ++i) {
    if (builder.record.tensors[i].role != INGOT_DNNL_WEIGHTS)
      continue;
    const_dnnl_memory_desc_t chosen = dnnl_primitive_desc_query_md(
        builder.descriptor, dnnl_query_weights_md, 0);
    Argument &argument = primitive.arguments[i];
    if (dnnl_memory_desc_equal(chosen, argument.layout))
      continue;
    dnnl_memory_desc_t copy;
    dnnl_status_t status = dnnl_memory_desc_clone(&copy, chosen);
    if (status != dnnl_success)
      return status;
    if (builder.record.tensors[i].isConstant()) {
      dnnl_memory_desc_destroy(argument.layout);
      argument.constant = nullptr;
      primitive.packed = i;
    } else {
      argument.outside = argument.layout;
    }
    argument.layout = copy;
  }
  const_dnnl_memory_desc_t scratch = dnnl_primitive_desc_query_md(
      builder.descriptor, dnnl_query_scratchpad_md, 0);
  primitive.scratchBytes = scratch ? dnnl_memory_desc_get_size(scratch) : 0;
  if (primitive.scratchBytes) {
    dnnl_status_t status =
        dnnl_memory_desc_clone(&primitive.scratchLayout, scratch);
    if (status != dnnl_success)
      return status;
  }
  dnnl_status_t status = addCopies(builder, primitive);
  if (status != dnnl_success)
    return status;
  return dnnl_primitive_create(&primitive.handle, builder.descriptor);
}

static const char *implementation(const_dnnl_primitive_desc_t descriptor) {
  const char *name = nullptr;
  dnnl_status_t status = dnnl_primitive_desc_query(
      descriptor, dnnl_query_impl_info_str, 0, &name);
  return status == dnnl_success && name ? name : "";
}

/// Returns true if oneDNN would use its very slow reference code.
static bool isReference(const_dnnl_primitive_desc_t descriptor) {
  return strncmp(implementation(descriptor), "ref", 3) == 0;
}

/// Returns true if oneDNN would write beyond its scratch memory. The reference
/// deconvolution stores sums there with the strides of the result. However, it
/// allocates memory for the result's elements only, without the gaps.
static bool overrunsScratch(const DescriptorBuilder &builder) {
  return builder.record.kind == INGOT_DNNL_DECONVOLUTION &&
         builder.writesSlice &&
         strstr(implementation(builder.descriptor), "ref");
}

static int32_t create(dnnl_engine_t engine, const Source &source,
                      bool makesCopies, const Message &message,
                      Primitive &primitive) {
  const Record &record = source.record;
  memset(&primitive, 0, sizeof(primitive));
  primitive.packed = -1;
  DescriptorBuilder builder(engine, record, primitive);
  builder.makesCopies = makesCopies;
  dnnl_status_t status =
      builder.addTensors(source.dynamic, source.weights, source.weightsLayout);
  if (status == dnnl_success && primitive.isEmpty)
    return INGOT_ABI_OK;
  if (status == dnnl_success)
    status = builder.addPostOps();
  if (status == dnnl_success)
    status = builder.describe();
  PointwiseMatMul product;
  bool overruns = status == dnnl_success && overrunsScratch(builder);
  if (status == dnnl_success &&
      (overruns || isReference(builder.descriptor))) {
    if (makesCopies || overruns)
      // Here, dnnl_unimplemented means that copies would not pay off.
      status = dnnl_unimplemented;
    Primitive other;
    int32_t code = INGOT_ABI_BACKEND_ERROR;
    if (builder.canCopy && !makesCopies)
      code = create(engine, source, /*makesCopies=*/true, Message{nullptr, 0},
                    other);
    if (code != INGOT_ABI_OK && !makesCopies && product.init(record))
      code = create(engine,
                    {product.get(), source.dynamic, source.weights, nullptr},
                    /*makesCopies=*/false, Message{nullptr, 0}, other);
    if (code == INGOT_ABI_OK) {
      destroyPrimitive(primitive);
      primitive = other;
      return INGOT_ABI_OK;
    }
  }
  if (status == dnnl_success)
    status = finish(builder, primitive);
  if (status == dnnl_success)
    return INGOT_ABI_OK;
  destroyPrimitive(primitive);
  return message.fail(status == dnnl_out_of_memory ? INGOT_ABI_OUT_OF_MEMORY
                                                   : INGOT_ABI_BACKEND_ERROR,
                      record, "cannot create the operation", status);
}

int32_t ingot::dnnl::createPrimitive(dnnl_engine_t engine, const Source &source,
                                     const Message &message,
                                     Primitive &primitive) {
  return create(engine, source, /*makesCopies=*/false, message, primitive);
}

void ingot::dnnl::destroyPrimitive(Primitive &primitive) {
  if (primitive.handle)
    dnnl_primitive_destroy(primitive.handle);
  if (primitive.scratchLayout)
    dnnl_memory_desc_destroy(primitive.scratchLayout);
  for (int i = 0; i < primitive.numArguments; ++i) {
    Argument &argument = primitive.arguments[i];
    dnnl_memory_desc_destroy(argument.layout);
    if (argument.outside)
      dnnl_memory_desc_destroy(argument.outside);
    if (argument.copyIn)
      dnnl_primitive_destroy(argument.copyIn);
    if (argument.copyOut)
      dnnl_primitive_destroy(argument.copyOut);
  }
  memset(&primitive, 0, sizeof(primitive));
}
