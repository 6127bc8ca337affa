/*===- ingot/abi/dnnl.h - contract between generated code and oneDNN ------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A model that uses oneDNN for heavy operations contains a constant table that
 * describes these operations. ingot_dnnl_load creates the primitives with known
 * sizes, and converts constant weights to oneDNN's preferred layout.
 * ingot_dnnl_execute runs one operation. The functions are linked statically
 * into the model from libingot_dnnl.a. oneDNN itself is a shared library.
 *
 * The table is an array of int64_t:
 *
 *   table     = INGOT_DNNL_TABLE_VERSION, count, words, record...
 *   record    = words, kind, name, P, param * P, T, tensor..., Q, post-op...
 *   tensor    = role, dtype, offset, rank, dim * rank, stride * rank
 *   post-op   = kind, algorithm, alpha, beta, tensor
 *
 * `words` is the number of int64_t in the table or record, including itself.
 * `name` is the offset of the ONNX node's name, a null-terminated string, in
 * the separate array of names. `offset` is the offset of a constant tensor in
 * the weights, or INGOT_DNNL_ARGUMENT for a tensor that each call passes.
 * Dimensions are in oneDNN's order (N, C, D...; O, I, K... or G, O, I, K...;
 * batch..., M, K). Strides count elements. A dimension or stride may be
 * INGOT_DNNL_DYNAMIC; each call then passes its value. alpha and beta contain
 * the bits of a 32-bit float.
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_ABI_DNNL_H
#define INGOT_ABI_DNNL_H

#include "ingot/abi/artifact.h"

#ifdef __cplusplus
extern "C" {
#endif

#define INGOT_DNNL_TABLE_VERSION 1
#define INGOT_DNNL_ARGUMENT (-1)
#define INGOT_DNNL_DYNAMIC INT64_MIN
#define INGOT_DNNL_MAX_RANK 12
#define INGOT_DNNL_MAX_TENSORS 40
#define INGOT_DNNL_MAX_POST_OPS 32

/** Kind of a record's operation, with its params; n is the number of spatial
 *  dims. */
enum {
  /** strides n, dilations n (1 is dense), pads before n, pads after n */
  INGOT_DNNL_CONVOLUTION = 0,
  INGOT_DNNL_DECONVOLUTION = 1, /**< as convolution; weights are O, I, K... */
  INGOT_DNNL_MATMUL = 2,        /**< none */
  /** kernel n, strides n, dilations n, pads before n, pads after n */
  INGOT_DNNL_POOL_MAX = 3,
  INGOT_DNNL_POOL_AVG = 4,         /**< divides by the elements inside */
  INGOT_DNNL_POOL_AVG_PADDED = 5,  /**< divides by the size of the window */
  INGOT_DNNL_SOFTMAX = 6,          /**< axis, 1 for its logarithm */
  INGOT_DNNL_LAYER_NORM = 7,       /**< bits of epsilon as 32-bit float */
};

/** Role of a tensor in its operation. */
enum {
  INGOT_DNNL_SRC = 0,
  INGOT_DNNL_WEIGHTS = 1, /**< of a matmul: the right-hand side */
  INGOT_DNNL_BIAS = 2,
  INGOT_DNNL_DST = 3,
  INGOT_DNNL_SCALE = 4,
  INGOT_DNNL_SHIFT = 5,
  INGOT_DNNL_OPERAND = 6, /**< of a binary post-op */
};

/** Post-ops, applied in order to each element x of the result. */
enum {
  INGOT_DNNL_ELTWISE = 0, /**< x = f(x) */
  INGOT_DNNL_BINARY = 1,  /**< x = x op tensor, broadcast where it has 1s */
  INGOT_DNNL_SUM = 2,     /**< x = x + what dst held before */
};

/** Algorithms of INGOT_DNNL_ELTWISE. */
enum {
  INGOT_DNNL_RELU = 0, /**< x > 0 ? x : alpha x */
  INGOT_DNNL_TANH = 1,
  INGOT_DNNL_ELU = 2, /**< x > 0 ? x : alpha (e^x - 1) */
  INGOT_DNNL_SQUARE = 3,
  INGOT_DNNL_ABS = 4,
  INGOT_DNNL_SQRT = 5,
  INGOT_DNNL_LINEAR = 6, /**< alpha x + beta */
  INGOT_DNNL_SOFTPLUS = 7,
  INGOT_DNNL_HARD_SIGMOID = 8, /**< max(0, min(1, alpha x + beta)) */
  INGOT_DNNL_SIGMOID = 9,
  INGOT_DNNL_EXP = 10,
  INGOT_DNNL_GELU_TANH = 11,
  INGOT_DNNL_GELU_ERF = 12,
  INGOT_DNNL_SWISH = 13, /**< x / (1 + e^(-alpha x)) */
  INGOT_DNNL_LOG = 14,
  INGOT_DNNL_CLIP = 15,       /**< min(max(x, alpha), beta) */
  INGOT_DNNL_HARD_SWISH = 16, /**< x max(0, min(1, alpha x + beta)) */
};

/** Algorithms of INGOT_DNNL_BINARY. */
enum {
  INGOT_DNNL_ADD = 0,
  INGOT_DNNL_MUL = 1,
  INGOT_DNNL_SUB = 2,
  INGOT_DNNL_DIV = 3,
  INGOT_DNNL_MAX = 4,
  INGOT_DNNL_MIN = 5,
};

/** Creates the primitives of the table. The weights, `table` and `names` must
 *  stay valid until ingot_dnnl_unload. */
int32_t ingot_dnnl_load(ingot_abi_load *call, const int64_t *table,
                        const char *names);

void ingot_dnnl_unload(const ingot_abi_host *host, void *state);

/** Runs record `index` of call->state. `arguments` holds the data pointers of
 *  the tensors that are not constant. `dynamic` holds the dynamic dims and
 *  strides. Both are in the order of the record. Several runs may use one state
 *  at the same time.
 *
 *  Stores a failure in call->status, with a message in call->error. Does
 *  nothing if the status is not INGOT_ABI_OK, so that generated code need not
 *  branch after each call. */
void ingot_dnnl_execute(ingot_abi_call *call, int64_t index,
                        void *const *arguments, const int64_t *dynamic);

#ifdef __cplusplus
}
#endif

#endif /* INGOT_ABI_DNNL_H */
