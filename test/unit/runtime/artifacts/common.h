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
#ifndef MODEL_BUFFER_BYTES
#define MODEL_BUFFER_BYTES sizeof(ingot_abi_buffer)
#endif
#ifndef MODEL_DEVICE
#define MODEL_DEVICE INGOT_ABI_DEVICE_CPU
#endif
#ifndef MODEL_VARIANT_FLAGS
#define MODEL_VARIANT_FLAGS 0
#endif
#ifndef MODEL_MEMORIES
#define MODEL_MEMORIES (1u << INGOT_ABI_MEMORY_HOST)
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

/* More rows of the table of variants, each after a comma. */
#ifndef MODEL_OTHER_VARIANTS
#define MODEL_OTHER_VARIANTS
#endif

#ifndef MODEL_INFER
#define MODEL_INFER NULL
#endif
#ifndef MODEL_DEVICE_FUNCTIONS
#define MODEL_DEVICE_FUNCTIONS NULL
#endif

#ifndef MODEL_LAYERS
#define MODEL_LAYERS {NULL, 0, sizeof(ingot_abi_layer)}, NULL, 0
#endif

#if defined(__aarch64__)
#define MODEL_ARCHITECTURE INGOT_ABI_ARCHITECTURE_AARCH64
#else
#define MODEL_ARCHITECTURE INGOT_ABI_ARCHITECTURE_X86_64
#endif

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof((array)[0]))
#define TABLE(array) {array, COUNT(array), sizeof((array)[0])}

static const ingot_abi_metadata metadata[] = {{"author", "nobody"},
                                              {"labels", "cat\ndog"}};

#ifdef MODEL_USES_THREADS
static const ingot_abi_use uses[] = {
    {INGOT_ABI_USE_LIBRARY, INGOT_ABI_USE_OWN_THREADS, "onednn"},
    {INGOT_ABI_USE_PRECISION, 0, "bfloat16"}};
#define MODEL_USES TABLE(uses)
#else
#define MODEL_USES {NULL, 0, sizeof(ingot_abi_use)}
#endif

static const ingot_abi_variant variants[] = {{
    MODEL_TARGET,
    MODEL_DEVICE,
    MODEL_ARCHITECTURE,
    MODEL_CPU_FEATURES,
    1,
    MODEL_VARIANT_FLAGS,
    MODEL_MEMORIES,
    INGOT_ABI_MEMORY_HOST,
    MODEL_ARENA_BYTES,
    128,
    MODEL_LOAD,
    MODEL_UNLOAD,
    run,
    MODEL_INFER,
    MODEL_DEVICE_FUNCTIONS,
} MODEL_OTHER_VARIANTS};

static const ingot_abi_artifact artifact = {
    MODEL_MAGIC,
    MODEL_ABI_VERSION,
    MODEL_STRUCT_SIZE,
    "ingot test",
    "hand written",
    TABLE(inputs),
    TABLE(outputs),
    TABLE(metadata),
    MODEL_USES,
    TABLE(variants),
    MODEL_LAYERS,
    MODEL_WEIGHTS,
    MODEL_WEIGHTS_BYTES,
    MODEL_SHA256,
    MODEL_BUFFER_BYTES,
    MODEL_FLAGS,
    0,
    0,
    {NULL, 0, sizeof(ingot_abi_shape_profile)},
    0,
    0};

#ifdef MODEL_SEAL
/* The note that the compiler fills in; here the test does. */
__attribute__((section(".note.ingot"), aligned(4), used)) static const struct {
  uint32_t owner_bytes, bytes, type;
  char owner[8];
  uint32_t seal[sizeof(ingot_abi_seal) / 4];
} note = {sizeof(INGOT_ABI_NOTE_OWNER), sizeof(ingot_abi_seal),
          INGOT_ABI_NOTE_SEAL, INGOT_ABI_NOTE_OWNER, {sizeof(ingot_abi_seal)}};
#endif

#ifndef MODEL_QUERY
#define MODEL_QUERY ingot_artifact_v2
#endif
__attribute__((visibility("default"))) const ingot_abi_artifact *
MODEL_QUERY(void);
const ingot_abi_artifact *MODEL_QUERY(void) { return &artifact; }
