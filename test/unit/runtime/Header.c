/*===- Header.c - the public headers as C11 ---------------------------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "ingot/ingot.h"

#include "ingot/abi/artifact.h"

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
  ingot_variant_info variant = INGOT_VARIANT_INFO_INIT;
  ingot_use_info use = INGOT_USE_INFO_INIT;
  ingot_layer_info layer = INGOT_LAYER_INFO_INIT;
  ingot_context_options context = INGOT_CONTEXT_OPTIONS_INIT;
  ingot_profile_options profile = INGOT_PROFILE_OPTIONS_INIT;
  ingot_profile_times times = INGOT_PROFILE_TIMES_INIT;
  ingot_run_options run = INGOT_RUN_OPTIONS_INIT;
  ingot_input input = ingot_input_make(&pool, 4, NULL, 0, INGOT_FLOAT);
  ingot_output output = ingot_output_make(&pool, 4, NULL, 0, INGOT_FLOAT);
  ingot_model *model = NULL;
  uint32_t sizes = allocator.struct_size + executor.struct_size +
                   pool.struct_size + options.struct_size + info.struct_size +
                   tensor.struct_size + context.struct_size +
                   variant.struct_size + use.struct_size + layer.struct_size +
                   profile.struct_size + times.struct_size + run.struct_size +
                   input.struct_size + output.struct_size;
  if (sizes == 0)
    return 1;
  if (ingot_model_load("/no/such/model.so", &options, &model, &error) !=
      INGOT_NOT_FOUND)
    return 2;
  return strstr(error.message, "/no/such/model.so") ? 0 : 3;
}
