/*===- rounding.c - results that show how the thread computes ---------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
/* Runs like generated code, with the functions that the compiler links. Each
 * task computes a row of values that depend on the rounding mode, on denormal
 * values and on exceptions. The run itself computes the last row. */
#include "runtime/support/support.h"

enum { ROWS = 32, COLUMNS = 6 };

static const int64_t dims[] = {ROWS + 1, COLUMNS};
static const char *const names[] = {"", ""};
static const ingot_abi_tensor inputs[] = {
    {"x", INGOT_ABI_DOUBLE, 2, dims, names}};
static const ingot_abi_tensor outputs[] = {
    {"y", INGOT_ABI_DOUBLE, 2, dims, names}};

static void compute_row(void *arg, int64_t row) {
  const ingot_abi_call *call = arg;
  const double *x = (const double *)call->inputs[0].data + row * COLUMNS;
  double *y = (double *)call->outputs[0].data + row * COLUMNS;
  volatile float a = (float)x[0], b = (float)x[1], tiny = 1e-38f, zero = 0;
  volatile double c = x[2], d = x[3], tinyDouble = 1e-307;
  volatile long double wide = (long double)c;
  y[0] = a / b;               /* inexact */
  y[1] = c / d;
  y[2] = tiny * 0.01f;        /* denormal, underflow */
  y[3] = tinyDouble * 0.001;
  y[4] = a / zero;            /* division by zero */
  y[5] = (double)(wide / (long double)d) + (double)(a * 3e38f); /* overflow */
}

static void body(ingot_abi_call *call) {
  ingot_support_parallel(call, compute_row, call, ROWS);
  compute_row(call, ROWS);
  call->outputs[0].dims[0] = ROWS + 1;
  call->outputs[0].dims[1] = COLUMNS;
}

static int32_t run(ingot_abi_call *call) {
  return ingot_support_run(call, body);
}

#include "common.h"
