/*===- cuda.c - y = 2 x on a GPU, and y = 3 x on a CPU ----------------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
/* The results tell on which device the model ran. Without ALSO_FOR_CPU, it has
 * no code for CPUs. */
#include "ingot/abi/cuda.h"

static const int64_t dims[] = {32};
static const char *const names[] = {""};
static const ingot_abi_tensor inputs[] = {
    {"x", INGOT_ABI_INT32, 1, dims, names}};
static const ingot_abi_tensor outputs[] = {
    {"y", INGOT_ABI_INT32, 1, dims, names}};

static const char ptx[] = ".version 8.0\n"
                          ".target sm_80\n"
                          ".address_size 64\n"
                          ".entry twice(.param .u64 x, .param .u64 y)\n"
                          "{\n"
                          "  .reg .b32 %r<3>;\n"
                          "  .reg .b64 %d<5>;\n"
                          "  ld.param.u64 %d0, [x];\n"
                          "  ld.param.u64 %d1, [y];\n"
                          "  mov.u32 %r0, %tid.x;\n"
                          "  shl.b32 %r0, %r0, 2;\n"
                          "  cvt.u64.u32 %d2, %r0;\n"
                          "  add.u64 %d3, %d0, %d2;\n"
                          "  add.u64 %d4, %d1, %d2;\n"
                          "  ld.global.u32 %r1, [%d3];\n"
                          "  add.u32 %r2, %r1, %r1;\n"
                          "  st.global.u32 [%d4], %r2;\n"
                          "  ret;\n"
                          "}\n";

static const ingot_cuda_image image = {INGOT_CUDA_PTX, 80, ptx, sizeof(ptx)};
static const ingot_cuda_kernel kernel = {"twice", "double", 32, 0, 2, 0};
static const uint64_t bytes = 128;
static const uint32_t rank = 1;
static const ingot_cuda_program program = {sizeof(program),
                                           1,
                                           &image,
                                           &kernel,
                                           1,
                                           1,
                                           1,
                                           0,
                                           0,
                                           0,
                                           0,
                                           &bytes,
                                           &bytes,
                                           &rank,
                                           &rank,
                                           0,
                                           0,
                                           0};

static int32_t load(ingot_abi_load *call) {
  return ingot_cuda_load(call, &program);
}
#define MODEL_LOAD load
#define MODEL_UNLOAD ingot_cuda_unload

static void launch(ingot_abi_call *call) {
  call->outputs[0].dims[0] = 32;
  const uint64_t words[] = {(uint64_t)call->inputs[0].data,
                            (uint64_t)call->outputs[0].data};
  ingot_cuda_launch(call, 0, 1, words);
}

static int32_t run(ingot_abi_call *call) {
  return ingot_cuda_run(call, launch);
}

#ifdef ALSO_FOR_CPU
static int32_t runOnCpu(ingot_abi_call *call) {
  call->outputs[0].dims[0] = 32;
  for (int i = 0; i < 32; ++i)
    ((int32_t *)call->outputs[0].data)[i] =
        3 * ((const int32_t *)call->inputs[0].data)[i];
  return INGOT_ABI_OK;
}
#define MODEL_OTHER_VARIANTS                                                   \
  , {                                                                          \
    "x86-64", INGOT_ABI_DEVICE_CPU, MODEL_ARCHITECTURE, 0, 1, 0,               \
        1u << INGOT_ABI_MEMORY_HOST, INGOT_ABI_MEMORY_HOST, 0, 128, NULL,      \
        NULL, runOnCpu, NULL, NULL                                             \
  }
#endif

#define MODEL_TARGET "sm_80"
#define MODEL_DEVICE INGOT_ABI_DEVICE_CUDA
#define MODEL_DEVICE_FUNCTIONS &ingot_cuda_device
#define MODEL_VARIANT_FLAGS INGOT_ABI_VARIANT_STREAMS
#define MODEL_MEMORIES                                                         \
  (1u << INGOT_ABI_MEMORY_HOST | 1u << INGOT_ABI_MEMORY_CUDA)
#include "common.h"
