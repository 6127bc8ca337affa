/*===- common.h - pieces of the artifacts that tests write by hand --------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * An artifact of a test defines MODEL_* macros and includes this file last.
 *
 *===----------------------------------------------------------------------===*/
#include "ingot/abi/artifact.h"

#ifndef MODEL_MAGIC
#define MODEL_MAGIC INGOT_ABI_MAGIC
#endif
#ifndef MODEL_ABI_VERSION
#define MODEL_ABI_VERSION INGOT_ABI_VERSION
#endif
#ifndef MODEL_STRUCT_SIZE
#define MODEL_STRUCT_SIZE sizeof(ingot_abi_artifact)
#endif
#ifndef MODEL_CPU_FEATURES
#define MODEL_CPU_FEATURES 0
#endif
#ifndef MODEL_TARGET
#define MODEL_TARGET "x86-64"
#endif
#ifndef MODEL_FLAGS
#define MODEL_FLAGS 0
#endif
#ifndef MODEL_ARENA_BYTES
#define MODEL_ARENA_BYTES 0
#endif
#ifndef MODEL_WEIGHTS
#define MODEL_WEIGHTS NULL
#define MODEL_WEIGHTS_BYTES 0
#endif
#ifndef MODEL_SHA256
#define MODEL_SHA256 {0}
#endif
#ifndef MODEL_LOAD
#define MODEL_LOAD NULL
#define MODEL_UNLOAD NULL
#endif

#ifndef MODEL_LAYERS
#define MODEL_LAYERS 0, 0, NULL, NULL
#endif

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof((array)[0]))

static const ingot_abi_metadata metadata[] = {{"author", "nobody"},
                                              {"labels", "cat\ndog"}};

static const ingot_abi_artifact artifact = {
    MODEL_MAGIC,
    MODEL_ABI_VERSION,
    MODEL_STRUCT_SIZE,
    "ingot test",
    "hand written",
    MODEL_TARGET,
    MODEL_CPU_FEATURES,
    COUNT(inputs),
    COUNT(outputs),
    COUNT(metadata),
    MODEL_FLAGS,
    inputs,
    outputs,
    metadata,
    MODEL_WEIGHTS,
    MODEL_WEIGHTS_BYTES,
    MODEL_SHA256,
    MODEL_ARENA_BYTES,
    128,
    MODEL_LOAD,
    MODEL_UNLOAD,
    run,
    MODEL_LAYERS,
    0,
    sizeof(ingot_abi_variant),
    NULL,
    0,
    0};

#ifdef MODEL_SEAL
/* The note that the compiler fills in; the test does. */
__attribute__((section(".note.ingot"), aligned(4), used)) static const struct {
  uint32_t owner_bytes, bytes, type;
  char owner[8];
  uint32_t seal[sizeof(ingot_abi_seal) / 4];
} note = {sizeof(INGOT_ABI_NOTE_OWNER), sizeof(ingot_abi_seal),
          INGOT_ABI_NOTE_SEAL, INGOT_ABI_NOTE_OWNER, {sizeof(ingot_abi_seal)}};
#endif

#ifndef MODEL_QUERY
#define MODEL_QUERY ingot_artifact_v1
#endif
__attribute__((visibility("default"))) const ingot_abi_artifact *
MODEL_QUERY(void);
const ingot_abi_artifact *MODEL_QUERY(void) { return &artifact; }
