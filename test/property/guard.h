/*===- guard.h - memory between guard pages, and a host of it ---------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_TEST_PROPERTY_GUARD_H
#define INGOT_TEST_PROPERTY_GUARD_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Larger demands fail as if there was no more memory. */
#define MAX_BYTES ((uint64_t)1 << 30)

/* The file for what happens: standard error, or with --each standard output. */
extern FILE *report;
extern int each;

/* Ends the process with a line that says why. */
void die(const char *what, const char *detail);

/* Says which memory an access was nearest to, and ends the process. */
void on_fault(int signal_number, siginfo_t *info, void *context);

/* Memory between two guard pages: at the end of what can be touched, or at its
 * start; filled with NaN. */
void *guard(const char *name, size_t bytes, size_t alignment, int at_end);

/* Unmaps all of it. */
void unguard_all(void);

/* A host whose memory is guarded, and whose loops have two threads. */
extern int place_at_end;
void *host_allocate(void *user, uint64_t bytes, uint64_t alignment);
void host_release(void *user, void *pointer);
void host_parallel_for(void *user, void (*task)(void *, int64_t), void *arg,
                       int64_t count);

#endif
