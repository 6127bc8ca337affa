/*===- ingot/abi/artifact.h - contract between generated code and hosts ---===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A compiled model exports one query symbol, INGOT_ABI_QUERY_SYMBOL, of type
 * ingot_abi_query_fn. It returns a constant description of the model with the
 * functions that load and run it. Everything here is append-only: a struct
 * starts with its own size, and INGOT_ABI_VERSION changes only when an old
 * reader could no longer make sense of a new artifact.
 *
 * The compiler emits these structs as LLVM IR constants; `static_assert`s at
 * the end pin their layout for both sides.
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_ABI_ARTIFACT_H
#define INGOT_ABI_ARTIFACT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define INGOT_ABI_STATIC_ASSERT(cond, text) static_assert(cond, text)
#else
#define INGOT_ABI_STATIC_ASSERT(cond, text) _Static_assert(cond, text)
#endif

#define INGOT_ABI_VERSION 1u
#define INGOT_ABI_MAGIC 0x544f474e49ull /* "INGOT", little endian */
#define INGOT_ABI_QUERY_SYMBOL "ingot_artifact_v1"

/** Alignment, in bytes, of the arena and of the weights that a host hands in. */
#define INGOT_ABI_ALIGNMENT 64u

/** A dimension whose size is only known when the model runs. */
#define INGOT_ABI_DYNAMIC (-1)

/** Status codes: returned by generated code and, unchanged, by libingot. */
enum {
  INGOT_ABI_OK = 0,
  INGOT_ABI_INVALID_ARGUMENT = 1, /**< null, wrong count, wrong dtype or dims */
  INGOT_ABI_BUFFER_TOO_SMALL = 2, /**< output dims are set, data is untouched */
  INGOT_ABI_OUT_OF_MEMORY = 3,
  INGOT_ABI_NOT_FOUND = 4,        /**< file, symbol, tensor name */
  INGOT_ABI_BAD_ARTIFACT = 5,     /**< not an artifact, truncated, swapped weights */
  INGOT_ABI_VERSION_MISMATCH = 6,
  INGOT_ABI_UNSUPPORTED_CPU = 7,
  INGOT_ABI_BACKEND_ERROR = 8,    /**< oneDNN or another library failed */
  INGOT_ABI_RUNTIME_CHECK = 9,    /**< a data-dependent check failed, e.g. an index */
  INGOT_ABI_BUSY = 10,            /**< libingot only: a context is in use */
};

/** Element types; the numbers are those of ONNX's TensorProto.DataType. */
enum {
  INGOT_ABI_FLOAT = 1,
  INGOT_ABI_UINT8 = 2,
  INGOT_ABI_INT8 = 3,
  INGOT_ABI_UINT16 = 4,
  INGOT_ABI_INT16 = 5,
  INGOT_ABI_INT32 = 6,
  INGOT_ABI_INT64 = 7,
  INGOT_ABI_BOOL = 9, /**< one byte, 0 or 1 */
  INGOT_ABI_FLOAT16 = 10,
  INGOT_ABI_DOUBLE = 11,
  INGOT_ABI_UINT32 = 12,
  INGOT_ABI_UINT64 = 13,
  INGOT_ABI_BFLOAT16 = 16,
};

/** One input or output: dense, row-major, dims may be INGOT_ABI_DYNAMIC. */
typedef struct ingot_abi_tensor {
  const char *name;
  uint32_t dtype;
  uint32_t rank;
  const int64_t *dims;
  /** `rank` names; a fixed or unnamed dimension has the empty string. */
  const char *const *dim_names;
} ingot_abi_tensor;

typedef struct ingot_abi_metadata {
  const char *key;
  const char *value;
} ingot_abi_metadata;

/** Services that generated code may use. All members are set. */
typedef struct ingot_abi_host {
  uint32_t struct_size;
  /** Threads that one run may use, the caller's included; at least 1. */
  uint32_t num_threads;
  void *user;
  /** Returns memory of the given alignment (a power of two), or null. */
  void *(*allocate)(void *user, uint64_t bytes, uint64_t alignment);
  void (*release)(void *user, void *pointer);
  /** Calls task(arg, i) once for each 0 <= i < count and waits for all. */
  void (*parallel_for)(void *user, void (*task)(void *arg, int64_t index),
                       void *arg, int64_t count);
} ingot_abi_host;

/** One buffer of a run: an input, or an output to be filled. */
typedef struct ingot_abi_buffer {
  /** Element-aligned; inputs are only read. */
  void *data;
  /** `rank` sizes. Inputs: given, and already checked against the signature.
   *  Outputs: written by the run before the data. */
  int64_t *dims;
  /** Bytes at `data`. */
  uint64_t bytes;
} ingot_abi_buffer;

/** Where a profiled run says how far it got. The host takes the time: layers
 *  follow each other without a gap, so what has passed since the previous
 *  layer ended, or since the run began, is this layer's. */
typedef struct ingot_abi_profile {
  uint32_t struct_size;
  uint32_t reserved0;
  void *user;
  /** Called once for each layer when it ends, in order, by the thread that
   *  runs. `flops` and `bytes` are those of this run, 0 if unknown. */
  void (*layer_end)(void *user, uint64_t layer, uint64_t flops,
                    uint64_t bytes);
} ingot_abi_profile;

/** Everything a run needs. Two runs may go on at once if their arenas,
 *  hosts' `user` and buffers differ. */
typedef struct ingot_abi_call {
  uint32_t struct_size;
  /** The first failure of the run, INGOT_ABI_OK before it; set by the run. */
  int32_t status;
  const ingot_abi_host *host;
  /** Start of the weights: ingot_abi_artifact.weights or a mapped file. */
  const void *weights;
  /** What `load` returned; null where `load` is null. */
  void *state;
  /** arena_bytes of scratch memory, INGOT_ABI_ALIGNMENT-aligned. */
  void *arena;
  const ingot_abi_buffer *inputs;
  const ingot_abi_buffer *outputs;
  /** Receives a null-terminated message when the run fails; may be null. */
  char *error;
  uint64_t error_bytes;
  /** For the generated code alone: where a run that must stop goes on. */
  void *unwind;
  /** Null: no profile, which costs nothing. */
  const ingot_abi_profile *profile;
} ingot_abi_call;

/** A stretch of the run that computes certain ONNX nodes. Fixed layout. */
typedef struct ingot_abi_layer {
  /** Offset in `layer_text` of a word for what it is, e.g. "convolution". */
  uint32_t kind;
  /** Offset in `layer_text` of the first of `num_nodes` names, which follow
   *  each other, each with its null. */
  uint32_t nodes;
  uint32_t num_nodes;
  uint32_t reserved0;
  /** Arithmetic operations and bytes of operands and results of one run; 0 if
   *  unknown, and where they depend on sizes that only a run tells. */
  uint64_t flops;
  uint64_t bytes;
} ingot_abi_layer;

/** The code for one CPU level. Levels differ in nothing else: they share the
 *  description, the weights and the size of the arena. What one level's `load`
 *  leaves in *state is for the same level's `run` and `unload`. */
typedef struct ingot_abi_variant {
  const char *target; /**< CPU level, e.g. "x86-64-v4" */
  /** CPU features that the code needs: bits of cpu_features.inc. */
  uint64_t cpu_features;
  uint64_t code_bytes;
  int32_t (*load)(const ingot_abi_host *host, const void *weights,
                  void **state, char *error, uint64_t error_bytes);
  void (*unload)(const ingot_abi_host *host, void *state);
  int32_t (*run)(ingot_abi_call *call);
} ingot_abi_variant;

/** The constant description of a compiled model. `target`, `cpu_features`,
 *  `code_bytes`, `load`, `unload` and `run` are those of the lowest CPU level
 *  that it holds. */
typedef struct ingot_abi_artifact {
  uint64_t magic;       /**< INGOT_ABI_MAGIC */
  uint32_t abi_version; /**< INGOT_ABI_VERSION */
  uint32_t struct_size; /**< sizeof(ingot_abi_artifact) of the compiler */
  const char *compiler; /**< e.g. "ingot 0.1.0" */
  const char *name;     /**< of the ONNX graph; may be empty */
  const char *target;   /**< CPU level, e.g. "x86-64-v4" */
  /** CPU features that the code needs: bits of cpu_features.inc. */
  uint64_t cpu_features;
  uint32_t num_inputs;
  uint32_t num_outputs;
  uint32_t num_metadata;
  uint32_t flags; /**< INGOT_ABI_FLAG_* */
  const ingot_abi_tensor *inputs;
  const ingot_abi_tensor *outputs;
  const ingot_abi_metadata *metadata;
  /** Embedded weights, or null if they are in a file of their own. */
  const void *weights;
  uint64_t weights_bytes;
  uint8_t weights_sha256[32];
  /** Scratch memory that one run needs. Dynamic tensors come on top, through
   *  host->allocate. */
  uint64_t arena_bytes;
  uint64_t code_bytes;
  /** Done once per loaded model, or null: creates what all runs share. On
   *  failure writes a message to error and leaves *state null. */
  int32_t (*load)(const ingot_abi_host *host, const void *weights,
                  void **state, char *error, uint64_t error_bytes);
  void (*unload)(const ingot_abi_host *host, void *state);
  int32_t (*run)(ingot_abi_call *call);
  /** What a profile is about; artifacts that end before this have no layers. */
  uint32_t num_layers;
  uint32_t layer_text_bytes; /**< the last one is null */
  const ingot_abi_layer *layers;
  const char *layer_text;
  /** All CPU levels, lowest first, each with all features of the one before;
   *  artifacts that end before this hold one. A host runs the highest one whose
   *  features it has. */
  uint32_t num_variants;
  uint32_t variant_bytes; /**< sizeof(ingot_abi_variant) of the compiler */
  const ingot_abi_variant *variants;
  /** How sizes of operands have to fit, in numbers of rules: those that hold for
   *  all sizes, and those that a run checks. Artifacts that end before this do
   *  not say. */
  uint32_t num_size_rules_proved;
  uint32_t num_size_rules_checked;
} ingot_abi_artifact;

/** The least struct_size that an artifact of version 1 may have. */
#define INGOT_ABI_ARTIFACT_BYTES_V1 176u

/** The code calls oneDNN, which brings its own (OpenMP) threads. */
#define INGOT_ABI_FLAG_ONEDNN 1u
/** Compiled with --precision=bf16: what heavy ops multiply is rounded. */
#define INGOT_ABI_FLAG_BF16 2u

typedef const ingot_abi_artifact *(*ingot_abi_query_fn)(void);

/** Owner and type of the ELF note whose descriptor is an ingot_abi_seal. */
#define INGOT_ABI_NOTE_OWNER "Ingot"
#define INGOT_ABI_NOTE_SEAL 1u

/** Checksums of an artifact's file, which tell accidents before any of it is
 *  used. Both are XXH64 with seed 0. Files of older compilers have none. */
typedef struct ingot_abi_seal {
  uint32_t struct_size;
  uint32_t reserved0;
  /** Of the embedded weights, as the file counts addresses; no bytes if there
   *  are none. */
  uint64_t weights_address;
  uint64_t weights_bytes;
  /** Of the weights. */
  uint64_t weights_hash;
  /** Of all else that is mapped: for each PT_LOAD segment, in order, p_vaddr,
   *  p_memsz, p_filesz and p_flags in 64 bits each, then its bytes in the file
   *  without the weights. This struct, and e_shoff, e_shentsize, e_shnum and
   *  e_shstrndx of the ELF header, count as zeros. */
  uint64_t rest_hash;
} ingot_abi_seal;

INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_tensor) == 32, "ingot_abi_tensor");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_host) == 40, "ingot_abi_host");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_buffer) == 24, "ingot_abi_buffer");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_call) == 88, "ingot_abi_call");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_profile) == 24, "ingot_abi_profile");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_layer) == 32, "ingot_abi_layer");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_variant) == 48, "ingot_abi_variant");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_seal) == 40, "ingot_abi_seal");
INGOT_ABI_STATIC_ASSERT(offsetof(ingot_abi_artifact, num_layers) ==
                            INGOT_ABI_ARTIFACT_BYTES_V1,
                        "ingot_abi_artifact before layers");
INGOT_ABI_STATIC_ASSERT(offsetof(ingot_abi_artifact, num_variants) == 200,
                        "ingot_abi_artifact before variants");
INGOT_ABI_STATIC_ASSERT(offsetof(ingot_abi_artifact, num_size_rules_proved) ==
                            216,
                        "ingot_abi_artifact before size rules");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_artifact) == 224,
                        "ingot_abi_artifact");

#ifdef __cplusplus
}
#endif

#endif /* INGOT_ABI_ARTIFACT_H */
