/*===- float_state.h - floating-point state of a run -----------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Sets the floating-point state of a thread for a run. The state affects every
 * result: rounding, denormal numbers, and exceptions that trap. A run sets the
 * whole state on every thread that it uses, so results depend only on the
 * inputs. Afterwards it restores the previous state, including flags.
 *
 * During a run, results are rounded to nearest and no exception traps. Denormal
 * numbers count as zero, because they are very slow and activations such as
 * GELU make many of them.
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
/* All exceptions masked, no flags set, round to nearest, flush-to-zero and
 * denormals-are-zero. */
#define INGOT_FLOAT_STATE_SSE 0x9fc0u
/* The state of a new process in the System V ABI. It affects only long double,
 * which parts of libm use. */
#define INGOT_FLOAT_STATE_X87 0x037fu

static inline void ingot_float_state_enter(ingot_float_state *saved) {
  saved->sse = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(INGOT_FLOAT_STATE_SSE);
  uint16_t control;
  __asm__ volatile("fnstcw %0" : "=m"(control));
  saved->is_x87_saved = control != INGOT_FLOAT_STATE_X87;
  if (saved->is_x87_saved) {
    /* Masks all exceptions first, so that pending exceptions do not trap here.
     */
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
