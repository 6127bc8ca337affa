/*===- measure.c - ingot-measure: time and memory of a compiled model ------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * What a program that embeds libingot pays, as one line of JSON:
 *   load_ms    opening the model
 *   first_ms   opening the model, making a context and the first answer
 *   median_ms, p95_ms, min_ms   one run, warm
 *   base_mb, peak_mb            resident memory before opening, and at most
 *
 * usage: ingot-measure MODEL.so [THREADS [SECONDS]] [NAME=FILE ...]
 * Inputs come as raw element files, as many bytes as the input has.
 * SECONDS 0 stops after the first answer.
 *===----------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "ingot/ingot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_TENSORS 64
#define MAX_RUNS 20000

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* A line of /proc/self/status, in MB. */
static double status_mb(const char *key) {
  char line[256];
  double kb = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (!strncmp(line, key, strlen(key)))
      kb = strtod(line + strlen(key) + 1, NULL);
  if (file)
    fclose(file);
  return kb / 1024;
}

static int fail(const char *what, const char *message) {
  fprintf(stderr, "ingot-measure: %s: %s\n", what, message);
  return 1;
}

/* Reads a whole file; *bytes receives its size. */
static void *read_file(const char *path, uint64_t *bytes) {
  FILE *file = fopen(path, "rb");
  void *data = NULL;
  long size;
  if (!file)
    return NULL;
  if (!fseek(file, 0, SEEK_END) && (size = ftell(file)) >= 0) {
    rewind(file);
    data = aligned_alloc(64, ((size_t)size + 64) / 64 * 64);
    if (data && fread(data, 1, (size_t)size, file) != (size_t)size) {
      free(data);
      data = NULL;
    }
    *bytes = (uint64_t)size;
  }
  fclose(file);
  return data;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double times[MAX_RUNS];

static const char usage[] =
    "usage: ingot-measure MODEL.so [THREADS [SECONDS]] [NAME=FILE ...]\n"
    "Prints what opening and running a compiled model costs, as JSON. Each\n"
    "input is a file of raw elements; SECONDS 0 stops after one run.\n"
    "example: ingot-measure resnet50.so 2 4 input=picture.bin\n"
    "exit codes: 0 done, 1 failed, 2 wrong use\n";

int main(int argc, char **argv) {
  ingot_error error = INGOT_ERROR_INIT;
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
  ingot_model *model = NULL;
  ingot_context *context = NULL;
  static ingot_input inputs[MAX_TENSORS];
  static ingot_output outputs[MAX_TENSORS];
  static void *values[MAX_TENSORS];
  static uint64_t sizes[MAX_TENSORS];
  static const char *names[MAX_TENSORS];
  uint32_t given = 0, i;
  double seconds = 4, start, loaded, first, base;
  int arg = 2, runs = 0;

  if (argc < 2) {
    fprintf(stderr, "%s", usage);
    return 2;
  }
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "--version")) {
    if (argv[1][2] == 'h')
      printf("%s", usage);
    else
      printf("ingot-measure %s\n", ingot_version_get());
    return 0;
  }
  if (arg < argc && !strchr(argv[arg], '='))
    options.num_threads = (uint32_t)atoi(argv[arg++]);
  if (arg < argc && !strchr(argv[arg], '='))
    seconds = atof(argv[arg++]);
  for (; arg < argc && given < MAX_TENSORS; ++arg, ++given) {
    char *equals = strchr(argv[arg], '=');
    if (!equals)
      return fail(argv[arg], "expected NAME=FILE");
    *equals = 0;
    names[given] = argv[arg];
    values[given] = read_file(equals + 1, &sizes[given]);
    if (!values[given])
      return fail(equals + 1, "cannot read");
  }

  base = status_mb("VmRSS:");
  start = now_ms();
  if (ingot_model_load(argv[1], NULL, &model, &error) ||
      ingot_model_describe(model, &info, &error))
    return fail(argv[1], error.message);
  loaded = now_ms();
  if (info.num_inputs != given || info.num_outputs > MAX_TENSORS)
    return fail(argv[1], "give each input as NAME=FILE");
  for (i = 0; i < given; ++i) {
    ingot_tensor_info tensor = INGOT_TENSOR_INFO_INIT;
    uint32_t index = 0;
    if (ingot_model_input_find(model, names[i], &index, &error) ||
        ingot_model_input_describe(model, index, &tensor, &error))
      return fail(argv[1], error.message);
    inputs[i].name = names[i];
    inputs[i].data = values[i];
    inputs[i].bytes = sizes[i];
    inputs[i].dims = tensor.dims;
    inputs[i].rank = tensor.rank;
    inputs[i].dtype = tensor.dtype;
  }
  for (i = 0; i < info.num_outputs; ++i) {
    ingot_tensor_info tensor = INGOT_TENSOR_INFO_INIT;
    if (ingot_model_output_describe(model, i, &tensor, &error))
      return fail(argv[1], error.message);
    if (tensor.is_dynamic)
      return fail(tensor.name, "this output has no fixed shape");
    outputs[i].bytes = tensor.bytes;
    outputs[i].data =
        aligned_alloc(64, (size_t)(tensor.bytes + 64) / 64 * 64);
    outputs[i].dtype = tensor.dtype;
  }
  if (ingot_context_create(model, &options, &context, &error) ||
      ingot_context_run(context, inputs, given, outputs, info.num_outputs,
                        &error))
    return fail(argv[1], error.message);
  first = now_ms();

  if (seconds > 0) {
    double until = now_ms() + 250 * seconds;
    while (now_ms() < until)
      ingot_context_run(context, inputs, given, outputs, info.num_outputs,
                        &error);
    until = now_ms() + 1e3 * seconds;
    while (runs < MAX_RUNS && (runs < 5 || now_ms() < until)) {
      double t = now_ms();
      if (ingot_context_run(context, inputs, given, outputs, info.num_outputs,
                            &error))
        return fail(argv[1], error.message);
      times[runs++] = now_ms() - t;
    }
    qsort(times, (size_t)runs, sizeof *times, by_value);
  } else {
    runs = 1;
    times[0] = first - loaded;
  }
  printf("{\"load_ms\": %.3f, \"first_ms\": %.3f, \"median_ms\": %.4f, "
         "\"p95_ms\": %.4f, \"min_ms\": %.4f, \"runs\": %d, "
         "\"base_mb\": %.1f, \"peak_mb\": %.1f, \"arena_mb\": %.2f, "
         "\"weights_mb\": %.2f, \"threads\": %u, \"target\": \"%s\"}\n",
         loaded - start, first - start, times[runs / 2],
         times[(int)(0.95 * (runs - 1))], times[0], runs, base,
         status_mb("VmHWM:"), (double)info.arena_bytes / 1048576.0,
         (double)info.weights_bytes / 1048576.0,
         ingot_context_thread_count(context), info.target);
  ingot_context_release(context);
  ingot_model_release(model);
  return 0;
}
