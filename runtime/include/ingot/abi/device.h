/*===- ingot/abi/device.h - devices with queues and memory ----------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Continues ingot/abi/artifact.h with the functions of a variant whose code
 * runs on a device that has queues and memory of its own.
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_ABI_DEVICE_H
#define INGOT_ABI_DEVICE_H

#include "artifact.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Arguments of a copy. */
typedef struct ingot_abi_copy {
  uint32_t struct_size;
  /** INGOT_ABI_MEMORY_... of both sides. */
  uint32_t to_memory;
  uint32_t from_memory;
  uint32_t reserved0;
  void *to;
  const void *from;
  uint64_t bytes;
  /** Queue of the device for the copy, e.g. a CUstream. Null: the copy is done
   *  when the function returns. */
  void *stream;
} ingot_abi_copy;

/** Functions of a variant whose device has queues and memory of its own. No
 *  member is null. `state` is the state of the variant's load. A function that
 *  can fail returns a status and writes a null-terminated message to `error`,
 *  unless `error` is null. Any thread may call them, but for one session only
 *  one thread at a time. */
typedef struct ingot_abi_device {
  uint32_t struct_size;
  uint32_t reserved0;
  /** Makes a session: a queue and memory for one run at a time, which later
   *  runs use again. */
  int32_t (*open)(void *state, void **session, char *error,
                  uint64_t error_bytes);
  /** Waits for the work of a session, and releases the session. */
  void (*close)(void *state, void *session);
  /** Waits for the end of the session's last run and returns its status. */
  int32_t (*wait)(void *state, void *session, char *error,
                  uint64_t error_bytes);
  /** Allocates memory for inputs and outputs. `memory` is INGOT_ABI_MEMORY_....
   *  Memory of the host is such that copies to and from the device are fast and
   *  do not wait. */
  int32_t (*allocate)(void *state, uint32_t memory, uint64_t bytes,
                      void **pointer, char *error, uint64_t error_bytes);
  void (*release)(void *state, uint32_t memory, void *pointer);
  int32_t (*copy)(void *state, const ingot_abi_copy *copy, char *error,
                  uint64_t error_bytes);
  /** Returns INGOT_ABI_MEMORY_... of an address, and sets the number of the
   *  device that the memory belongs to. Memory that the device's driver does
   *  not know is the host's. Missing in variants of older compilers. */
  uint32_t (*locate)(void *state, const void *pointer, uint32_t *device);
} ingot_abi_device;

/** Smallest struct_size of ingot_abi_device of version 2, without later
 *  members. */
#define INGOT_ABI_DEVICE_BYTES_V2 56u

INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_copy) == 48, "ingot_abi_copy");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_device) == 64, "ingot_abi_device");

#ifdef __cplusplus
}
#endif

#endif /* INGOT_ABI_DEVICE_H */
