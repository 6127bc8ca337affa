/*===- frame.h - a run under way -------------------------------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_SUPPORT_FRAME_H
#define INGOT_SUPPORT_FRAME_H

#include "support.h"

#include <setjmp.h>

/** Stands right before the memory of a run that it describes, so that a run
 *  that stops half-way leaves nothing behind, whatever host it has. */
typedef struct ingot_support_block {
  struct ingot_support_block *previous;
  struct ingot_support_block *next;
} ingot_support_block;

/** A run under way. What generated code is handed is the call in here, which
 *  has all members, whatever host made the one that it is a copy of. */
typedef struct ingot_support_frame {
  ingot_abi_call call;
  jmp_buf stop;
  /** The ends of the list of what the run has allocated. */
  ingot_support_block blocks;
  /** What numbers the run's strings have; null if it has none. */
  struct ingot_support_strings *strings;
} ingot_support_frame;

static inline ingot_support_frame *
ingot_support_frame_of(ingot_abi_call *call) {
  return (ingot_support_frame *)call;
}

/** Ends the run, whose failure is recorded. */
static inline void ingot_support_stop(ingot_abi_call *call) {
  longjmp(ingot_support_frame_of(call)->stop, 1);
}

#endif /* INGOT_SUPPORT_FRAME_H */
