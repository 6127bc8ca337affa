//===- Descriptor.cpp - from a record to a oneDNN descriptor --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/dnnl/Descriptor.h"

#include <string.h>

using namespace ingot::dnnl;

//===----------------------------------------------------------------------===//
// Names of oneDNN
//===----------------------------------------------------------------------===//

dnnl_data_type_t ingot::dnnl::dataType(int64_t dtype) {
  switch (dtype) {
  case INGOT_ABI_FLOAT:
    return dnnl_f32;
  case INGOT_ABI_FLOAT16:
    return dnnl_f16;
  case INGOT_ABI_BFLOAT16:
    return dnnl_bf16;
  case INGOT_ABI_INT32:
    return dnnl_s32;
  case INGOT_ABI_INT8:
    return dnnl_s8;
  case INGOT_ABI_UINT8:
    return dnnl_u8;
  default:
    return dnnl_data_type_undef;
  }
}

static int argumentId(int64_t role) {
  switch (role) {
  case INGOT_DNNL_SRC:
    return DNNL_ARG_SRC;
  case INGOT_DNNL_WEIGHTS:
    return DNNL_ARG_WEIGHTS;
  case INGOT_DNNL_BIAS:
    return DNNL_ARG_BIAS;
  case INGOT_DNNL_DST:
    return DNNL_ARG_DST;
  case INGOT_DNNL_SCALE:
    return DNNL_ARG_SCALE;
  case INGOT_DNNL_SHIFT:
    return DNNL_ARG_SHIFT;
  default:
    return 0;
  }
}

static dnnl_alg_kind_t eltwise(int64_t algorithm) {
  static const dnnl_alg_kind_t kinds[] = {
      dnnl_eltwise_relu,        dnnl_eltwise_tanh,   dnnl_eltwise_elu,
      dnnl_eltwise_square,      dnnl_eltwise_abs,    dnnl_eltwise_sqrt,
      dnnl_eltwise_linear,      dnnl_eltwise_soft_relu,
      dnnl_eltwise_hardsigmoid, dnnl_eltwise_logistic,
      dnnl_eltwise_exp,         dnnl_eltwise_gelu_tanh,
      dnnl_eltwise_gelu_erf,    dnnl_eltwise_swish,  dnnl_eltwise_log,
      dnnl_eltwise_clip,        dnnl_eltwise_hardswish};
  return algorithm >= 0 && algorithm < int64_t(sizeof(kinds) / sizeof(*kinds))
             ? kinds[algorithm]
             : dnnl_alg_kind_undef;
}

static dnnl_alg_kind_t binary(int64_t algorithm) {
  static const dnnl_alg_kind_t kinds[] = {dnnl_binary_add, dnnl_binary_mul,
                                          dnnl_binary_sub, dnnl_binary_div,
                                          dnnl_binary_max, dnnl_binary_min};
  return algorithm >= 0 && algorithm < int64_t(sizeof(kinds) / sizeof(*kinds))
             ? kinds[algorithm]
             : dnnl_alg_kind_undef;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static const int64_t *resolve(const int64_t *values, int64_t count,
                              int64_t *storage, const int64_t *&dynamic) {
  for (int64_t i = 0; i < count; ++i)
    storage[i] = values[i] == INGOT_DNNL_DYNAMIC ? *dynamic++ : values[i];
  return storage;
}

/// Computes strides that keep the order of dimensions and have no gaps. Returns
/// false if the given `strides` have no gaps already.
static bool closeGaps(const int64_t *dims, const int64_t *strides, int64_t rank,
                      int64_t *dense) {
  bool hasGaps = false;
  bool done[INGOT_DNNL_MAX_RANK] = {};
  int64_t next = 1;
  for (int64_t step = 0; step < rank; ++step) {
    int64_t inner = -1;
    for (int64_t d = 0; d < rank; ++d)
      if (!done[d] && (inner < 0 || strides[d] <= strides[inner]))
        inner = d;
    done[inner] = true;
    dense[inner] = next;
    hasGaps |= dims[inner] != 1 && strides[inner] != next;
    next *= dims[inner];
  }
  return hasGaps;
}

dnnl_status_t
DescriptorBuilder::addTensors(const int64_t *dynamic, const void *weights,
                              const_dnnl_memory_desc_t weightsLayout) {
  for (int64_t i = 0; i < record.numTensors; ++i) {
    const Tensor &tensor = record.tensors[i];
    int64_t dims[INGOT_DNNL_MAX_RANK], strides[INGOT_DNNL_MAX_RANK];
    resolve(tensor.dims, tensor.rank, dims, dynamic);
    resolve(tensor.strides, tensor.rank, strides, dynamic);
    if (tensor.role == INGOT_DNNL_DST)
      for (int64_t d = 0; d < tensor.rank; ++d)
        primitive.isEmpty |= dims[d] == 0;
    dnnl_data_type_t type = dataType(tensor.dtype);
    Argument &argument = primitive.arguments[i];
    primitive.numArguments = int(i) + 1;
    bool isData = tensor.role == INGOT_DNNL_SRC ||
                  tensor.role == INGOT_DNNL_DST ||
                  tensor.role == INGOT_DNNL_OPERAND;
    int64_t dense[INGOT_DNNL_MAX_RANK];
    bool isSlice = isData && !tensor.isConstant() &&
                   closeGaps(dims, strides, tensor.rank, dense);
    bool isRunWeights =
        tensor.role == INGOT_DNNL_WEIGHTS && !tensor.isConstant();
    canCopy |= isSlice || isRunWeights;
    bool copies = isSlice && makesCopies;
    writesSlice |= isSlice && !copies && tensor.role == INGOT_DNNL_DST;
    dnnl_status_t status = dnnl_memory_desc_create_with_strides(
        &argument.layout, int(tensor.rank), dims, type,
        copies ? dense : strides);
    if (status == dnnl_success && copies)
      status = dnnl_memory_desc_create_with_strides(
          &argument.outside, int(tensor.rank), dims, type, strides);
    if (status != dnnl_success)
      return status;
    argument.id = argumentId(tensor.role);
    argument.constant = nullptr;
    if (tensor.isConstant())
      argument.constant = static_cast<const char *>(weights) + tensor.offset;
    if (tensor.role < 0 || tensor.role >= INGOT_DNNL_OPERAND)
      continue;
    layouts[tensor.role] = argument.layout;
    if (tensor.role != INGOT_DNNL_WEIGHTS || (isRunWeights && !makesCopies))
      continue;
    if (weightsLayout && !isRunWeights) {
      layouts[tensor.role] = weightsLayout;
      continue;
    }
    status = dnnl_memory_desc_create_with_tag(&anyWeights, int(tensor.rank),
                                              dims, type, dnnl_format_tag_any);
    if (status != dnnl_success)
      return status;
    layouts[tensor.role] = anyWeights;
  }
  return layouts[INGOT_DNNL_SRC] && layouts[INGOT_DNNL_DST]
             ? dnnl_success
             : dnnl_invalid_arguments;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {

/// Splits the params of a record into vectors of `n` values and the rest.
struct Params {
  const int64_t *values;
  int64_t left;
  bool ok = true;

  const int64_t *take(int64_t count) {
    if (count > left) {
      ok = false;
      return nullptr;
    }
    const int64_t *start = values;
    values += count;
    left -= count;
    return start;
  }
};

} // namespace

dnnl_status_t DescriptorBuilder::addPostOps() {
  dnnl_status_t status = dnnl_primitive_attr_create(&attr);
  if (status == dnnl_success)
    status = dnnl_primitive_attr_set_scratchpad_mode(attr,
                                                     dnnl_scratchpad_mode_user);
  if (status == dnnl_success && record.numPostOps)
    status = dnnl_post_ops_create(&postOps);
  for (int64_t i = 0; i < record.numPostOps && status == dnnl_success; ++i) {
    const PostOp &postOp = record.postOps[i];
    switch (postOp.kind) {
    case INGOT_DNNL_ELTWISE:
      status = dnnl_post_ops_append_eltwise(postOps, eltwise(postOp.algorithm),
                                            postOp.alpha, postOp.beta);
      break;
    case INGOT_DNNL_BINARY: {
      Argument &operand = primitive.arguments[postOp.tensor];
      operand.id = DNNL_ARG_ATTR_MULTIPLE_POST_OP(int(i)) | DNNL_ARG_SRC_1;
      status = dnnl_post_ops_append_binary(postOps, binary(postOp.algorithm),
                                           operand.layout);
      break;
    }
    case INGOT_DNNL_SUM:
      status = dnnl_post_ops_append_sum(postOps, 1.0f, 0,
                                        dnnl_data_type_undef);
      break;
    default:
      status = dnnl_invalid_arguments;
    }
  }
  if (status == dnnl_success && postOps)
    status = dnnl_primitive_attr_set_post_ops(attr, postOps);
  return status;
}

dnnl_status_t DescriptorBuilder::describeWindow(bool isPool) {
  int64_t n = record.find(INGOT_DNNL_SRC)->rank - 2;
  Params params{record.params, record.numParams};
  const int64_t *kernel = isPool ? params.take(n) : nullptr;
  const int64_t *strides = params.take(n);
  const int64_t *dilations = params.take(n);
  const int64_t *before = params.take(n);
  const int64_t *after = params.take(n);
  if (!params.ok || n < 1 || (!isPool && !layouts[INGOT_DNNL_WEIGHTS]))
    return dnnl_invalid_arguments;
  dnnl_dims_t gaps;
  for (int64_t i = 0; i < n; ++i)
    gaps[i] = dilations[i] - 1;
  const_dnnl_memory_desc_t src = layouts[INGOT_DNNL_SRC];
  const_dnnl_memory_desc_t dst = layouts[INGOT_DNNL_DST];
  if (isPool) {
    dnnl_alg_kind_t algorithm = record.kind == INGOT_DNNL_POOL_MAX
                                    ? dnnl_pooling_max
                                : record.kind == INGOT_DNNL_POOL_AVG
                                    ? dnnl_pooling_avg_exclude_padding
                                    : dnnl_pooling_avg_include_padding;
    return dnnl_pooling_forward_primitive_desc_create(
        &descriptor, engine, dnnl_forward_inference, algorithm, src, dst,
        strides, kernel, gaps, before, after, attr);
  }
  if (record.kind == INGOT_DNNL_CONVOLUTION)
    return dnnl_convolution_forward_primitive_desc_create(
        &descriptor, engine, dnnl_forward_inference, dnnl_convolution_direct,
        src, layouts[INGOT_DNNL_WEIGHTS], layouts[INGOT_DNNL_BIAS], dst,
        strides, gaps, before, after, attr);
  return dnnl_deconvolution_forward_primitive_desc_create(
      &descriptor, engine, dnnl_forward_inference, dnnl_deconvolution_direct,
      src, layouts[INGOT_DNNL_WEIGHTS], layouts[INGOT_DNNL_BIAS], dst, strides,
      gaps, before, after, attr);
}

dnnl_status_t DescriptorBuilder::describe() {
  const_dnnl_memory_desc_t src = layouts[INGOT_DNNL_SRC];
  const_dnnl_memory_desc_t dst = layouts[INGOT_DNNL_DST];
  switch (record.kind) {
  case INGOT_DNNL_CONVOLUTION:
  case INGOT_DNNL_DECONVOLUTION:
    return describeWindow(/*isPool=*/false);
  case INGOT_DNNL_POOL_MAX:
  case INGOT_DNNL_POOL_AVG:
  case INGOT_DNNL_POOL_AVG_PADDED:
    return describeWindow(/*isPool=*/true);
  case INGOT_DNNL_MATMUL:
    if (!layouts[INGOT_DNNL_WEIGHTS])
      return dnnl_invalid_arguments;
    return dnnl_matmul_primitive_desc_create(
        &descriptor, engine, src, layouts[INGOT_DNNL_WEIGHTS],
        layouts[INGOT_DNNL_BIAS], dst, attr);
  case INGOT_DNNL_SOFTMAX:
    if (record.numParams != 2)
      return dnnl_invalid_arguments;
    return dnnl_softmax_forward_primitive_desc_create(
        &descriptor, engine, dnnl_forward_inference,
        record.params[1] ? dnnl_softmax_log : dnnl_softmax_accurate, src, dst,
        int(record.params[0]), attr);
  case INGOT_DNNL_LAYER_NORM: {
    if (record.numParams != 1)
      return dnnl_invalid_arguments;
    uint32_t bits = uint32_t(record.params[0]);
    float epsilon;
    memcpy(&epsilon, &bits, sizeof(epsilon));
    unsigned flags = 0;
    if (layouts[INGOT_DNNL_SCALE])
      flags |= dnnl_use_scale;
    if (layouts[INGOT_DNNL_SHIFT])
      flags |= dnnl_use_shift;
    return dnnl_layer_normalization_forward_primitive_desc_create(
        &descriptor, engine, dnnl_forward_inference, src, dst, nullptr, epsilon,
        flags, attr);
  }
  default:
    return dnnl_invalid_arguments;
  }
}
