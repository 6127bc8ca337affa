/*===- not_a_model.c - must be refused before it runs -----------------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void constructor(void) {
  fputs("code of a file that is no model was run\n", stderr);
  abort();
}

int unrelated(void);
int unrelated(void) { return 7; }
