/*===- with_libingot.c - a compiled model in a C program ------------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Loads a model through libingot and runs it on zeros:
 *
 *   cc with_libingot.c $(pkg-config --cflags --libs ingot) && ./a.out model.so
 *
 *===----------------------------------------------------------------------===*/
#include <ingot/ingot.h>

#include <stdio.h>
#include <stdlib.h>

/* String tensors have one more offset than elements. */
static uint64_t bytesOf(uint64_t count, ingot_dtype dtype) {
  count += dtype == INGOT_STRING;
  return (count * ingot_dtype_bits(dtype) + 7) / 8;
}

/* Fills in an input of zeros, or of empty strings. Dynamic sizes become 1. */
static int makeInput(const ingot_tensor_info *info, ingot_input *input) {
  int64_t *dims = calloc(info->rank + 1, sizeof(*dims));
  uint64_t count = 1;
  for (uint32_t i = 0; dims && i < info->rank; ++i) {
    dims[i] = info->dims[i] == INGOT_ABI_DYNAMIC ? 1 : info->dims[i];
    count *= (uint64_t)dims[i];
  }
  uint64_t bytes = bytesOf(count, info->dtype);
  *input = ingot_input_make(calloc(1, bytes ? bytes : 1), bytes, dims,
                            info->rank, info->dtype);
  return dims && input->data;
}

/* (Re)allocates an output for the sizes in its dims. An output of unknown size
 * gets no memory. */
static int growOutput(ingot_output *output) {
  uint64_t text = *output->text_used; /* of strings; else 0 */
  if (text > output->text_bytes) {
    free(output->text);
    output->text = malloc(text);
    output->text_bytes = output->text ? text : 0;
    if (!output->text)
      return 0;
  }
  uint64_t count = 1;
  for (uint32_t i = 0; i < output->rank; ++i)
    count = output->dims[i] < 0 ? 0 : count * (uint64_t)output->dims[i];
  uint64_t bytes = bytesOf(count, output->dtype);
  if (bytes <= output->bytes && output->data)
    return 1;
  free(output->data);
  output->data = calloc(1, bytes ? bytes : 1);
  output->bytes = bytes;
  return output->data != NULL;
}

static ingot_status run(ingot_context *context, const ingot_input *inputs,
                        uint32_t numInputs, ingot_output *outputs,
                        uint32_t numOutputs, ingot_error *error) {
  for (;;) {
    ingot_status status = ingot_context_run(context, inputs, numInputs, outputs,
                                            numOutputs, NULL, error);
    if (status != INGOT_BUFFER_TOO_SMALL)
      return status;
    /* The dims of all outputs now have their sizes. */
    for (uint32_t i = 0; i < numOutputs; ++i)
      if (!growOutput(&outputs[i]))
        return INGOT_OUT_OF_MEMORY;
  }
}

static int useModel(ingot_model *model, ingot_error *error) {
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model, &info, NULL);
  printf("%s for %s: %u inputs, %u outputs, arena %llu bytes\n", info.name,
         info.target, info.num_inputs, info.num_outputs,
         (unsigned long long)info.arena_bytes);

  ingot_input *inputs = calloc(info.num_inputs + 1, sizeof(*inputs));
  ingot_output *outputs = calloc(info.num_outputs + 1, sizeof(*outputs));
  ingot_context *context = NULL;
  int complete = inputs && outputs;
  for (uint32_t i = 0; complete && i < info.num_inputs; ++i) {
    ingot_tensor_info tensor = INGOT_TENSOR_INFO_INIT;
    ingot_model_input_describe(model, i, &tensor, NULL);
    complete = makeInput(&tensor, &inputs[i]);
  }
  for (uint32_t i = 0; complete && i < info.num_outputs; ++i) {
    ingot_tensor_info tensor = INGOT_TENSOR_INFO_INIT;
    ingot_model_output_describe(model, i, &tensor, NULL);
    outputs[i] =
        ingot_output_make(NULL, 0, calloc(tensor.rank + 1, sizeof(int64_t)),
                          tensor.rank, tensor.dtype);
    outputs[i].text_used = calloc(1, sizeof(uint64_t));
    complete = outputs[i].dims != NULL && outputs[i].text_used != NULL;
    for (uint32_t d = 0; complete && d < tensor.rank; ++d)
      outputs[i].dims[d] = tensor.dims[d];
    complete = complete && growOutput(&outputs[i]);
  }

  ingot_status status = INGOT_OUT_OF_MEMORY;
  if (complete)
    status = ingot_context_create(model, NULL, &context, error);
  if (status == INGOT_OK)
    status = run(context, inputs, info.num_inputs, outputs, info.num_outputs,
                 error);
  for (uint32_t i = 0; status == INGOT_OK && i < info.num_outputs; ++i) {
    ingot_tensor_info tensor = INGOT_TENSOR_INFO_INIT;
    ingot_model_output_describe(model, i, &tensor, NULL);
    printf("%s: %s ", tensor.name, ingot_dtype_name(tensor.dtype));
    for (uint32_t d = 0; d < tensor.rank; ++d)
      printf("%s%lld", d ? "x" : "", (long long)outputs[i].dims[d]);
    if (tensor.dtype == INGOT_FLOAT && outputs[i].bytes >= sizeof(float))
      printf(" starting with %g", *(const float *)outputs[i].data);
    printf("\n");
  }

  ingot_context_release(context);
  for (uint32_t i = 0; inputs && i < info.num_inputs; ++i) {
    free((void *)inputs[i].data);
    free((void *)inputs[i].dims);
  }
  for (uint32_t i = 0; outputs && i < info.num_outputs; ++i) {
    free(outputs[i].data);
    free(outputs[i].dims);
    free(outputs[i].text);
    free(outputs[i].text_used);
  }
  free(inputs);
  free(outputs);
  return status == INGOT_OK ? 0 : 1;
}

int main(int argc, char **argv) {
  ingot_error error = INGOT_ERROR_INIT;
  ingot_model *model = NULL;
  if (argc != 2) {
    fprintf(stderr, "usage: %s model.so\n", argv[0]);
    return 2;
  }
  int result = 1;
  if (ingot_model_load(argv[1], NULL, &model, &error) == INGOT_OK)
    result = useModel(model, &error);
  if (result)
    fprintf(stderr, "error: %s\n", error.message);
  ingot_model_release(model);
  return result;
}
