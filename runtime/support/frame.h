/*===- frame.h - state of a current run ------------------------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_SUPPORT_FRAME_H
#define INGOT_SUPPORT_FRAME_H

#include "support.h"

#include <setjmp.h>

/** Header before each block of memory of a run. It links the blocks, so that
 *  all of them can be released if a run stops early. */
typedef struct ingot_support_block {
  struct ingot_support_block *previous;
  struct ingot_support_block *next;
} ingot_support_block;

/** A current run. Generated code receives `call`, a copy of the host's call.
 *  The copy has all members, even if the host is older. */
typedef struct ingot_support_frame {
  ingot_abi_call call;
  jmp_buf stop;
  /** First and last block in the list of memory that the run has allocated. */
  ingot_support_block blocks;
  /** Indices of the run's strings; null if it has none. */
  struct ingot_support_strings *strings;
} ingot_support_frame;

static inline ingot_support_frame *
ingot_support_frame_of(ingot_abi_call *call) {
  return (ingot_support_frame *)call;
}

/** Ends the run. Its failure is already recorded. */
static inline void ingot_support_stop(ingot_abi_call *call) {
  longjmp(ingot_support_frame_of(call)->stop, 1);
}

#endif /* INGOT_SUPPORT_FRAME_H */
