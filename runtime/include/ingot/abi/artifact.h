/*===- ingot/abi/artifact.h - contract between generated code and hosts ---===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A compiled model exports one query symbol, INGOT_ABI_QUERY_SYMBOL, of type
 * ingot_abi_query_fn. It returns a constant description of the model with the
 * functions that load and run it. A struct starts with its own size, rows of a
 * table are as far apart as the table says, so both grow at their end;
 * docs/abi.md has the rules. INGOT_ABI_VERSION changes only when an old reader
 * could no longer make sense of a new artifact.
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

#define INGOT_ABI_VERSION 2u
#define INGOT_ABI_MAGIC 0x544f474e49ull /* "INGOT", little endian */
/** The prefix, and then the version. */
#define INGOT_ABI_QUERY_PREFIX "ingot_artifact_v"
#define INGOT_ABI_QUERY_SYMBOL "ingot_artifact_v2"

/** Alignment, in bytes, of the arena and the weights that a host hands in. */
#define INGOT_ABI_ALIGNMENT 64u

/** A dimension whose size is only known when the model runs. */
#define INGOT_ABI_DYNAMIC (-1)

/** Status codes: returned by generated code and, unchanged, by libingot. */
enum {
  INGOT_ABI_OK = 0,
  INGOT_ABI_INVALID_ARGUMENT = 1, /**< null, wrong count, wrong dtype or dims */
  INGOT_ABI_BUFFER_TOO_SMALL = 2, /**< output dims are set, see run */
  INGOT_ABI_OUT_OF_MEMORY = 3,
  INGOT_ABI_NOT_FOUND = 4,        /**< file, symbol, tensor name */
  INGOT_ABI_BAD_ARTIFACT = 5,     /**< none, truncated, swapped weights */
  INGOT_ABI_VERSION_MISMATCH = 6,
  INGOT_ABI_UNSUPPORTED_DEVICE = 7, /**< no code that this machine can run */
  INGOT_ABI_BACKEND_ERROR = 8,    /**< oneDNN or another library failed */
  INGOT_ABI_RUNTIME_CHECK = 9,    /**< a check of data failed, e.g. an index */
  INGOT_ABI_BUSY = 10,            /**< of a host: another thread runs it */
  INGOT_ABI_CANCELLED = 11,       /**< the host asked the run to stop */
};

/** Element types: INGOT_ABI_FLOAT and the others of element_types.inc. */
enum {
#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  INGOT_ABI_##NAME = NUMBER,
#define INGOT_PACKED_TYPE(NAME, NUMBER, TEXT, KIND, BITS)                      \
  INGOT_ABI_##NAME = NUMBER,
#define INGOT_STRING_TYPE(NAME, NUMBER, TEXT) INGOT_ABI_##NAME = NUMBER,
#include "element_types.inc"
};

/** What a variant's code runs on. */
enum {
  INGOT_ABI_DEVICE_CPU = 1,
  INGOT_ABI_DEVICE_CUDA = 2,
};

/** Whose features a variant's `features` are: each architecture has a list of
 *  its own. */
enum {
  INGOT_ABI_ARCHITECTURE_X86_64 = 1, /**< cpu_features.inc */
  INGOT_ABI_ARCHITECTURE_AARCH64 = 2,
  INGOT_ABI_ARCHITECTURE_NVPTX = 3,
};

/** Where memory lies. */
enum {
  INGOT_ABI_MEMORY_HOST = 0,
  INGOT_ABI_MEMORY_CUDA = 1, /**< of the device that a buffer names */
};

/** `count` rows, `row_bytes` apart, which may be more than a reader knows of;
 *  null if there are none. */
typedef struct ingot_abi_table {
  const void *rows;
  uint32_t count;
  uint32_t row_bytes;
} ingot_abi_table;

static inline const void *ingot_abi_row(const ingot_abi_table *table,
                                        uint32_t index) {
  return (const char *)table->rows + (size_t)index * table->row_bytes;
}

/** A row of `inputs` or `outputs`: dims may be INGOT_ABI_DYNAMIC. */
typedef struct ingot_abi_tensor {
  const char *name;
  uint32_t dtype;
  uint32_t rank;
  const int64_t *dims;
  /** `rank` names; a fixed or unnamed dimension has the empty string. */
  const char *const *dim_names;
} ingot_abi_tensor;

/** A row of `metadata`. */
typedef struct ingot_abi_metadata {
  const char *key;
  const char *value;
} ingot_abi_metadata;

/** Kinds of ingot_abi_use. */
enum {
  INGOT_ABI_USE_LIBRARY = 1,   /**< that the code calls, e.g. "onednn" */
  INGOT_ABI_USE_PRECISION = 2, /**< of products: "float16", "bfloat16" … */
};

/** A library that brings threads of its own, which a fork ends. */
#define INGOT_ABI_USE_OWN_THREADS 1u

/** A row of `uses`: what the model uses beyond its own code and the element
 *  types of its tensors. A kind or flag that a reader does not know is only
 *  shown. */
typedef struct ingot_abi_use {
  uint32_t kind;  /**< INGOT_ABI_USE_... */
  uint32_t flags; /**< INGOT_ABI_USE_OWN_THREADS */
  const char *name;
} ingot_abi_use;

/** Services that generated code may use. All members are set. */
typedef struct ingot_abi_host {
  uint32_t struct_size;
  /** Threads that one run may use, the caller's included; at least 1. */
  uint32_t num_threads;
  void *user;
  /** Returns host memory of the given alignment (a power of two), or null. */
  void *(*allocate)(void *user, uint64_t bytes, uint64_t alignment);
  void (*release)(void *user, void *pointer);
  /** Calls task(arg, i) once for each 0 <= i < count and waits for all. */
  void (*parallel_for)(void *user, void (*task)(void *arg, int64_t index),
                       void *arg, int64_t count);
} ingot_abi_host;

/** One buffer of a run: an input, or an output to be filled. Rows are
 *  ingot_abi_artifact.buffer_bytes apart, and bytes that a host does not know
 *  are zero. */
typedef struct ingot_abi_buffer {
  /** Element-aligned; inputs are only read. */
  void *data;
  /** `rank` sizes. Inputs: given, and already checked against the signature.
   *  Outputs: written by the run before the data. */
  int64_t *dims;
  /** `rank` steps in elements; null: dense and row-major. Not null only for a
   *  variant with INGOT_ABI_VARIANT_STRIDES. */
  const int64_t *strides;
  /** Bytes at `data`. */
  uint64_t bytes;
  /** INGOT_ABI_MEMORY_...: one of the variant's `memories`. */
  uint32_t memory;
  /** Which device's, for memory that is not the host's; 0 for the host's. */
  uint32_t device;
  /** Of strings: the bytes that the offsets at `data` count, without an end
   *  mark. The code checks the offsets of inputs, and gives outputs offsets
   *  from 0 on. Null for numbers. */
  char *text;
  /** Bytes at `text`. */
  uint64_t text_bytes;
  /** Null, or receives how many bytes an output of strings has or needs. */
  uint64_t *text_used;
} ingot_abi_buffer;

/** The least buffer_bytes that an artifact of version 2 may have: without the
 *  bytes of strings. */
#define INGOT_ABI_BUFFER_BYTES_V2 40u

/** Who watches a run: is told how far it got, and says whether it goes on.
 *  Layers follow each other without a gap, so what has passed since the
 *  previous layer ended, or since the run began, is this layer's. */
typedef struct ingot_abi_observer {
  uint32_t struct_size;
  uint32_t reserved0;
  void *user;
  /** Called once for each layer when it ends, in order, by the thread that
   *  runs. `flops` and `bytes` are those of this run, 0 if unknown. Returns
   *  INGOT_ABI_OK, or the status that the run ends with at once. */
  int32_t (*layer_end)(void *user, uint64_t layer, uint64_t flops,
                       uint64_t bytes);
  /** Null, or called for each tensor that the code was compiled to show, by
   *  the thread that runs, when it is complete: its number, element type,
   *  sizes, steps in elements, and elements, valid until the call returns. As
   *  `layer_end`, returns how the run goes on. */
  int32_t (*tensor)(void *user, uint64_t tensor, uint32_t dtype, uint32_t rank,
                    const int64_t *dims, const int64_t *strides,
                    const void *data);
  /** Null, or called in each step of a loop of the model, by the thread that
   *  runs. As `layer_end`, returns how the run goes on. */
  int32_t (*poll)(void *user);
} ingot_abi_observer;

/** Everything that a load needs. */
typedef struct ingot_abi_load {
  uint32_t struct_size;
  /** Which of the devices of the variant's kind; 0 for a CPU. */
  uint32_t device;
  /** Stays valid until `unload`. */
  const ingot_abi_host *host;
  /** Start of the weights: ingot_abi_artifact.weights or a mapped file. */
  const void *weights;
  uint64_t weights_bytes;
  /** For the runs and for `unload`; null before, and after a failure. */
  void *state;
  /** Receives a null-terminated message when the load fails; may be null. */
  char *error;
  uint64_t error_bytes;
} ingot_abi_load;

/** Everything a run needs. Two runs may go on at once if their arenas,
 *  hosts' `user` and buffers differ. */
typedef struct ingot_abi_call {
  uint32_t struct_size;
  /** The first failure of the run; set by the run. */
  int32_t status;
  const ingot_abi_host *host;
  /** Start of the weights: ingot_abi_artifact.weights or a mapped file. */
  const void *weights;
  /** What `load` left; null where `load` is null. */
  void *state;
  /** The variant's arena_bytes of scratch memory in its arena_memory,
   *  INGOT_ABI_ALIGNMENT-aligned. */
  void *arena;
  const ingot_abi_buffer *inputs;
  const ingot_abi_buffer *outputs;
  /** Receives a null-terminated message when the run fails; may be null. */
  char *error;
  uint64_t error_bytes;
  /** Null: nobody watches, which costs nothing. */
  const ingot_abi_observer *observer;
  /** The device's queue that the run's work goes to, e.g. a CUstream; `run`
   *  may then return before it is done. Null: it is done when `run` returns.
   *  Not null only for a variant with INGOT_ABI_VARIANT_STREAMS. */
  void *stream;
} ingot_abi_call;

/** No kernel computes the layer, which is more than a hundredth of the model's
 *  arithmetic. Its reason says how much of it. */
#define INGOT_ABI_LAYER_LOOP 1u

/** A row of `layers`: a piece of the run that computes certain ONNX nodes. */
typedef struct ingot_abi_layer {
  /** Offset in `layer_text` of a word for what it is, e.g. "convolution". */
  uint32_t kind;
  /** Offset in `layer_text` of the first of `num_nodes` names, which follow
   *  each other, each with its null. */
  uint32_t nodes;
  uint32_t num_nodes;
  /** Offset of who computes it, e.g. "native"; 0: not said. */
  uint32_t backend;
  /** Arithmetic operations and bytes of operands and results of one run; 0 if
   *  unknown, and where they depend on sizes that only a run tells. */
  uint64_t flops;
  uint64_t bytes;
  /** Offset of why no better backend does; 0: none was asked. */
  uint32_t reason;
  /** Offset of what its products multiply, e.g. "int8"; 0: float32, or it has
   *  no products. */
  uint32_t precision;
  /** 0: it is part of runs of all sizes. n: of runs at the usual sizes of shape
   *  profile n - 1, and of no others. */
  uint32_t usual_of;
  /** Bits of INGOT_ABI_LAYER_LOOP and others, which a host may ignore. */
  uint32_t flags;
} ingot_abi_layer;

/** The least row_bytes that layers of version 2 may have: without usual_of. */
#define INGOT_ABI_LAYER_BYTES_V2 40u

/** A row of a shape profile's `ranges`: the sizes that a dimension of an input
 *  may have. */
typedef struct ingot_abi_size_range {
  uint32_t input;
  uint32_t dim;
  int64_t min;
  /** Which the code was made for, or INGOT_ABI_DYNAMIC: none was named. */
  int64_t usual;
  int64_t max; /**< INT64_MAX: there is no bound */
  int64_t multiple; /**< sizes are multiples of it; at least 1 */
} ingot_abi_size_range;

/** A row of `shape_profiles`: sizes that inputs may have together. */
typedef struct ingot_abi_shape_profile {
  ingot_abi_table ranges; /**< of ingot_abi_size_range */
} ingot_abi_shape_profile;

/** `run` accepts ingot_abi_call.stream. */
#define INGOT_ABI_VARIANT_STREAMS 1u
/** `run` accepts ingot_abi_buffer.strides. */
#define INGOT_ABI_VARIANT_STRIDES 2u

/** A row of `variants`: the code for one kind of machine. Variants share the
 *  signature, the layers' names and the weights. What one variant's `load`
 *  leaves is for the same variant's `run` and `unload`.
 *
 *  A host uses the variant of the highest priority among those that run here:
 *  whose device and architecture it has, with all features, and whose flags it
 *  knows. Of several with one priority that is the first. A device,
 *  architecture, feature or flag that it does not know, it does not have. */
typedef struct ingot_abi_variant {
  const char *target;    /**< for people, e.g. "x86-64-v4" */
  uint32_t device;       /**< INGOT_ABI_DEVICE_... */
  uint32_t architecture; /**< INGOT_ABI_ARCHITECTURE_... */
  /** That the code needs: bits of the architecture's list. */
  uint64_t features;
  uint32_t priority;
  uint32_t flags; /**< INGOT_ABI_VARIANT_... */
  /** Where inputs and outputs may lie: bits 1 << INGOT_ABI_MEMORY_... */
  uint32_t memories;
  uint32_t arena_memory; /**< INGOT_ABI_MEMORY_... of the arena */
  /** Scratch memory that one run needs. Dynamic tensors come on top, through
   *  host->allocate. */
  uint64_t arena_bytes;
  uint64_t code_bytes;
  /** Done once per loaded model, or null: creates what all runs share. */
  int32_t (*load)(ingot_abi_load *call);
  /** Not null where `load` is not. */
  void (*unload)(const ingot_abi_host *host, void *state);
  int32_t (*run)(ingot_abi_call *call);
  /** Null: outputs have the sizes that the signature says, and a run needs
   *  nothing but the arena. Otherwise writes the dims of the outputs of a run
   *  at the dims of `call->inputs`, INGOT_ABI_DYNAMIC where data decide, and
   *  checks what `run` checks of sizes. Of buffers it looks at nothing else, of
   *  the call at no weights, state or arena. It tells `host->allocate` and
   *  `release` what a run would ask for, UINT64_MAX bytes where data decide;
   *  what `allocate` returns is any number but null, and nothing is there. */
  int32_t (*infer)(ingot_abi_call *call);
} ingot_abi_variant;

/** The least row_bytes that variants of version 2 may have: without infer. */
#define INGOT_ABI_VARIANT_BYTES_V2 80u

/** The constant description of a compiled model. */
typedef struct ingot_abi_artifact {
  uint64_t magic;       /**< INGOT_ABI_MAGIC */
  uint32_t abi_version; /**< INGOT_ABI_VERSION */
  uint32_t struct_size; /**< sizeof(ingot_abi_artifact) of the compiler */
  const char *compiler; /**< e.g. "ingot 0.1.0" */
  const char *name;     /**< of the ONNX graph; may be empty */
  ingot_abi_table inputs;   /**< of ingot_abi_tensor */
  ingot_abi_table outputs;  /**< of ingot_abi_tensor */
  ingot_abi_table metadata; /**< of ingot_abi_metadata */
  ingot_abi_table uses;     /**< of ingot_abi_use */
  ingot_abi_table variants; /**< of ingot_abi_variant; at least one */
  ingot_abi_table layers;   /**< of ingot_abi_layer; what an observer is told */
  const char *layer_text;
  uint64_t layer_text_bytes; /**< the last one is null */
  /** Embedded weights, or null if they are in a file of their own. */
  const void *weights;
  uint64_t weights_bytes;
  uint8_t weights_sha256[32];
  /** sizeof(ingot_abi_buffer) of the compiler. */
  uint32_t buffer_bytes;
  /** None yet. A reader refuses an artifact with a flag that it does not
   *  know. */
  uint32_t flags;
  /** How sizes of operands have to fit, in numbers of rules: those that hold
   *  for all sizes, and those that a run checks. */
  uint32_t num_size_rules_proved;
  uint32_t num_size_rules_checked;
  /** Of ingot_abi_shape_profile. If there are any, a run's sizes are of one of
   *  them, or it ends with INGOT_ABI_INVALID_ARGUMENT. */
  ingot_abi_table shape_profiles;
  /** 1: sizes outside of the profiles run, too. */
  uint32_t takes_general;
  uint32_t reserved0;
} ingot_abi_artifact;

/** The least struct_size that an artifact of version 2 may have: without shape
 *  profiles. */
#define INGOT_ABI_ARTIFACT_BYTES_V2 208u

typedef const ingot_abi_artifact *(*ingot_abi_query_fn)(void);

/** Owner and type of the ELF note whose descriptor is an ingot_abi_seal. */
#define INGOT_ABI_NOTE_OWNER "Ingot"
#define INGOT_ABI_NOTE_SEAL 1u

/** Checksums of an artifact's file, which tell accidents before any of it is
 *  used. Both are XXH64 with seed 0. */
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

INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_table) == 16, "ingot_abi_table");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_tensor) == 32, "ingot_abi_tensor");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_metadata) == 16, "ingot_abi_metadata");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_use) == 16, "ingot_abi_use");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_host) == 40, "ingot_abi_host");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_buffer) == 64, "ingot_abi_buffer");
INGOT_ABI_STATIC_ASSERT(offsetof(ingot_abi_buffer, text) ==
                            INGOT_ABI_BUFFER_BYTES_V2,
                        "ingot_abi_buffer");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_observer) == 40, "ingot_abi_observer");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_load) == 56, "ingot_abi_load");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_call) == 88, "ingot_abi_call");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_layer) == 48, "ingot_abi_layer");
INGOT_ABI_STATIC_ASSERT(offsetof(ingot_abi_layer, usual_of) ==
                            INGOT_ABI_LAYER_BYTES_V2,
                        "ingot_abi_layer");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_size_range) == 40,
                        "ingot_abi_size_range");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_shape_profile) == 16,
                        "ingot_abi_shape_profile");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_variant) == 88, "ingot_abi_variant");
INGOT_ABI_STATIC_ASSERT(offsetof(ingot_abi_variant, infer) ==
                            INGOT_ABI_VARIANT_BYTES_V2,
                        "ingot_abi_variant");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_seal) == 40, "ingot_abi_seal");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_artifact) == 232,
                        "ingot_abi_artifact");
INGOT_ABI_STATIC_ASSERT(offsetof(ingot_abi_artifact, shape_profiles) ==
                            INGOT_ABI_ARTIFACT_BYTES_V2,
                        "ingot_abi_artifact");

#ifdef __cplusplus
}
#endif

#endif /* INGOT_ABI_ARTIFACT_H */
