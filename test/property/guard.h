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

/* Larger requests fail as if memory were exhausted. */
#define MAX_BYTES ((uint64_t)1 << 30)

/* File for the messages: standard error, or with --each standard output. */
extern FILE *report;
extern int each;

/* Ends the process with a line that states the reason. */
void die(const char *what, const char *detail);

/* Reports the memory nearest to an invalid access, and ends the process. */
void on_fault(int signal_number, siginfo_t *info, void *context);

/* Returns memory at the end or at the start of the range between two guard
 * pages, filled with NaN. */
void *guard(const char *name, size_t bytes, size_t alignment, int at_end);

/* Unmaps all guarded memory. */
void unguard_all(void);

/* A host with guarded memory, whose loops have two threads. */
extern int place_at_end;
void *host_allocate(void *user, uint64_t bytes, uint64_t alignment);
void host_release(void *user, void *pointer);
void host_parallel_for(void *user, void (*task)(void *, int64_t), void *arg,
                       int64_t count);

#endif
