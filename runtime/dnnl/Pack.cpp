//===- Pack.cpp - constant weights in a primitive's layout ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/dnnl/Pointwise.h"
#include "runtime/dnnl/Primitive.h"

using namespace ingot::dnnl;

int32_t ingot::dnnl::packWeights(dnnl_engine_t engine, const Record &record,
                                 const void *weights,
                                 const_dnnl_memory_desc_t layout, void *data,
                                 const Message &message) {
  int index = findConstantWeights(record);
  int rank = 0;
  dnnl_memory_desc_query(layout, dnnl_query_ndims_s32, &rank);
  PointwiseMatMul product;
  bool isProduct = rank != record.tensors[index].rank && product.init(record);
  const Tensor &tensor = (isProduct ? product.get() : record).tensors[index];
  dnnl_memory_desc_t given = nullptr;
  dnnl_primitive_desc_t descriptor = nullptr;
  dnnl_primitive_t reorder = nullptr;
  dnnl_memory_t from = nullptr, to = nullptr;
  dnnl_stream_t stream = nullptr;
  const char *source = static_cast<const char *>(weights) + tensor.offset;
  dnnl_status_t status = dnnl_memory_desc_create_with_strides(
      &given, int(tensor.rank), tensor.dims, dataType(tensor.dtype),
      tensor.strides);
  if (status == dnnl_success)
    status = dnnl_reorder_primitive_desc_create(&descriptor, given, engine,
                                                layout, engine, nullptr);
  if (status == dnnl_success)
    status = dnnl_primitive_create(&reorder, descriptor);
  if (status == dnnl_success)
    status = dnnl_memory_create(&from, given, engine,
                                const_cast<char *>(source));
  if (status == dnnl_success)
    status = dnnl_memory_create(&to, layout, engine, data);
  if (status == dnnl_success)
    status = dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
  if (status == dnnl_success) {
    dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    status = dnnl_primitive_execute(reorder, stream, 2, arguments);
    if (status == dnnl_success)
      status = dnnl_stream_wait(stream);
  }
  if (stream)
    dnnl_stream_destroy(stream);
  if (to)
    dnnl_memory_destroy(to);
  if (from)
    dnnl_memory_destroy(from);
  if (reorder)
    dnnl_primitive_destroy(reorder);
  if (descriptor)
    dnnl_primitive_desc_destroy(descriptor);
  if (given)
    dnnl_memory_desc_destroy(given);
  if (status == dnnl_success)
    return INGOT_ABI_OK;
  return message.fail(INGOT_ABI_BACKEND_ERROR, record,
                      "cannot rearrange the weights", status);
}
