/*===- weak_threads.h - optional threads -----------------------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Makes an artifact load on systems with and without libpthread. Artifacts
 * include it before the pool. glibc 2.34 moved these functions from libpthread
 * to libc and gave them a new version. An artifact requests the old version,
 * which is in both. If glibc is older and the process has no libpthread, the
 * artifact runs without threads.
 *
 *===----------------------------------------------------------------------===*/
#include <features.h>
#include <pthread.h>

#if defined(__GLIBC__) && defined(__x86_64__)
#define INGOT_WEAK_THREADS 1
#pragma weak pthread_create
#pragma weak pthread_join
#pragma weak pthread_attr_getstacksize
#pragma weak pthread_attr_setstacksize
__asm__(".symver pthread_create, pthread_create@GLIBC_2.2.5");
__asm__(".symver pthread_join, pthread_join@GLIBC_2.2.5");
__asm__(".symver pthread_attr_getstacksize, "
        "pthread_attr_getstacksize@GLIBC_2.2.5");
__asm__(".symver pthread_attr_setstacksize, "
        "pthread_attr_setstacksize@GLIBC_2.2.5");
#endif
