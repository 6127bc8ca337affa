/*===- float_state.h - how a run computes with floats ----------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * What a thread has set for its floating-point arithmetic is part of every
 * result: rounding, what becomes of denormal numbers, exceptions that trap. A
 * run sets all of it, on every thread that it uses, so that results depend on
 * nothing but the inputs; and it puts back what was there, flags included.
 *
 * Meanwhile results are rounded to nearest, no exception traps, and denormal
 * numbers count as zero: one of them costs as much as a hundred ordinary
 * products, and activations such as GELU leave many.
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_SUPPORT_FLOAT_STATE_H
#define INGOT_SUPPORT_FLOAT_STATE_H

#include <stdint.h>

typedef struct ingot_float_state {
  uint32_t sse;
  uint32_t is_x87_saved;
  uint32_t x87[7];
} ingot_float_state;

#if defined(__x86_64__)
/* All exceptions masked, none flagged, round to nearest; with flush-to-zero and
 * denormals-are-zero. */
#define INGOT_FLOAT_STATE_SSE 0x9fc0u
/* What the System V ABI starts a process with. Only long double computes there,
 * which parts of libm do. */
#define INGOT_FLOAT_STATE_X87 0x037fu

static inline void ingot_float_state_enter(ingot_float_state *saved) {
  saved->sse = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(INGOT_FLOAT_STATE_SSE);
  uint16_t control;
  __asm__ volatile("fnstcw %0" : "=m"(control));
  saved->is_x87_saved = control != INGOT_FLOAT_STATE_X87;
  if (saved->is_x87_saved) {
    /* Masks all exceptions, too, so that those pending do not trap here. */
    __asm__ volatile("fnstenv %0" : "=m"(saved->x87));
    control = INGOT_FLOAT_STATE_X87;
    __asm__ volatile("fldcw %0" : : "m"(control));
  }
}

static inline void ingot_float_state_leave(const ingot_float_state *saved) {
  if (saved->is_x87_saved)
    __asm__ volatile("fldenv %0" : : "m"(saved->x87));
  __builtin_ia32_ldmxcsr(saved->sse);
}
#else
static inline void ingot_float_state_enter(ingot_float_state *saved) {
  saved->sse = 0;
}
static inline void ingot_float_state_leave(const ingot_float_state *saved) {
  (void)saved;
}
#endif

#endif /* INGOT_SUPPORT_FLOAT_STATE_H */
