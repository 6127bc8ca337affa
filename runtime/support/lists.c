/*===- lists.c - lists of tensors that grow in a run ------------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "support.h"

#include <string.h>

/** A list of tensors. The struct and its arrays are memory of the run. */
typedef struct ingot_support_rows {
  /** Number of rows, bytes of each row, and capacity in bytes. */
  uint64_t count, row_bytes, room;
  char *data;
  int64_t *dims;
} ingot_support_rows;

void *ingot_support_list(ingot_abi_call *call) {
  ingot_support_rows *rows = ingot_support_allocate(call, sizeof *rows, NULL);
  memset(rows, 0, sizeof *rows);
  return rows;
}

/** Returns the bytes of a row, or UINT64_MAX if the size overflows. */
static uint64_t row_bytes(uint64_t element_bytes, uint32_t rank,
                          const int64_t *dims) {
  uint64_t bytes = element_bytes;
  int is_empty = 0, overflows = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    is_empty |= dims[i] == 0;
    overflows |= __builtin_mul_overflow(bytes, (uint64_t)dims[i], &bytes);
  }
  return is_empty ? 0 : overflows ? UINT64_MAX : bytes;
}

/** Copies a tensor to `to`, dense and row-major. Returns the end of the copy.
 */
static char *copy_dense(char *to, uint64_t element_bytes, uint32_t rank,
                        const int64_t *dims, const int64_t *strides,
                        const char *data) {
  if (rank == 0) {
    memcpy(to, data, element_bytes);
    return to + element_bytes;
  }
  if (rank == 1 && strides[0] == 1) {
    memcpy(to, data, element_bytes * (uint64_t)dims[0]);
    return to + element_bytes * (uint64_t)dims[0];
  }
  for (int64_t i = 0; i < dims[0]; ++i)
    to = copy_dense(to, element_bytes, rank - 1, dims + 1, strides + 1,
                    data + i * strides[0] * (int64_t)element_bytes);
  return to;
}

static int is_dense(uint32_t rank, const int64_t *dims,
                    const int64_t *strides) {
  int64_t step = 1;
  for (uint32_t i = rank; i-- > 0; step *= dims[i])
    if (dims[i] != 1 && strides[i] != step)
      return 0;
  return 1;
}

/** Makes room for another row. Doubles the capacity if it is not enough. */
static void grow(ingot_abi_call *call, ingot_support_rows *rows) {
  uint64_t used = rows->count * rows->row_bytes, needed, room;
  if (__builtin_add_overflow(used, rows->row_bytes, &needed))
    needed = UINT64_MAX;
  if (rows->data != NULL && needed <= rows->room)
    return;
  room = needed;
  if (rows->count != 0 && __builtin_add_overflow(needed, used, &room))
    room = UINT64_MAX;
  char *data = ingot_support_allocate(call, room, NULL);
  if (rows->data != NULL) {
    memcpy(data, rows->data, used);
    ingot_support_release(call, rows->data);
  }
  rows->data = data;
  rows->room = room;
}

void ingot_support_append(ingot_abi_call *call, void *list,
                          uint64_t element_bytes, uint32_t rank,
                          const int64_t *dims, const int64_t *strides,
                          const void *data, const char *message) {
  ingot_support_rows *rows = list;
  const uint64_t dims_bytes = rank * sizeof *dims;
  if (rows->dims == NULL) {
    rows->dims = ingot_support_allocate(call, dims_bytes, NULL);
    memcpy(rows->dims, dims, dims_bytes);
    rows->row_bytes = row_bytes(element_bytes, rank, dims);
  }
  ingot_support_require(call, memcmp(rows->dims, dims, dims_bytes) == 0,
                        message, 0, 0);
  grow(call, rows);
  char *to = rows->data + rows->count * rows->row_bytes;
  if (rows->row_bytes == 0)
    ; /* nothing to copy */
  else if (is_dense(rank, dims, strides))
    memcpy(to, data, rows->row_bytes);
  else
    copy_dense(to, element_bytes, rank, dims, strides, data);
  ++rows->count;
}

void *ingot_support_stack(ingot_abi_call *call, void *list, uint32_t rank,
                          int64_t *dims) {
  ingot_support_rows *rows = list;
  char *data = rows->data;
  dims[0] = (int64_t)rows->count;
  for (uint32_t i = 0; i < rank; ++i)
    if (rows->dims != NULL)
      dims[i + 1] = rows->dims[i];
    else if (dims[i + 1] < 0)
      dims[i + 1] = 0;
  if (rows->dims != NULL)
    ingot_support_release(call, rows->dims);
  ingot_support_release(call, rows);
  return data != NULL ? data : ingot_support_allocate(call, 0, NULL);
}
