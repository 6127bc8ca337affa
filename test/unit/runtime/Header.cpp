/*===- Header.cpp - the public headers as C++17 -----------------------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "ingot/ingot.h"

#include "ingot/abi/artifact.h"
#include "ingot/ingot.hpp"

#include <string.h>

int main(void) {
  /* Compiles every initializer without a warning. */
  ingot_error error = INGOT_ERROR_INIT;
  ingot_allocator allocator = INGOT_ALLOCATOR_INIT;
  ingot_executor executor = INGOT_EXECUTOR_INIT;
  ingot_pool_options pool = INGOT_POOL_OPTIONS_INIT;
  ingot_model_options options = INGOT_MODEL_OPTIONS_INIT;
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_tensor_info tensor = INGOT_TENSOR_INFO_INIT;
  ingot_context_options context = INGOT_CONTEXT_OPTIONS_INIT;
  ingot_model *model = NULL;
  uint32_t sizes = allocator.struct_size + executor.struct_size +
                   pool.struct_size + options.struct_size + info.struct_size +
                   tensor.struct_size + context.struct_size;
  if (sizes == 0)
    return 1;
  if (ingot_model_load("/no/such/model.so", &options, &model, &error) !=
      INGOT_NOT_FOUND)
    return 2;
  return strstr(error.message, "/no/such/model.so") ? 0 : 3;
}
