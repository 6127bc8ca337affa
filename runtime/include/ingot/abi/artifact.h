/*===- ingot/abi/artifact.h - contract between generated code and hosts ---===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A compiled model exports one query symbol, INGOT_ABI_QUERY_SYMBOL, of type
 * ingot_abi_query_fn. It returns a constant description of the model. The
 * description contains the functions that load and run the model. Structs start
 * with their own size, and tables contain the distance of their rows. So both
 * can grow at their end; docs/reference/artifact-abi.md has the rules.
 * INGOT_ABI_VERSION changes only if an old reader could no longer understand a
 * new artifact.
 *
 * The compiler emits these structs as LLVM IR constants. The `static_assert`s
 * at the end fix their layout for both sides.
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
/** Prefix of the query symbol; the version follows. */
#define INGOT_ABI_QUERY_PREFIX "ingot_artifact_v"
#define INGOT_ABI_QUERY_SYMBOL "ingot_artifact_v2"

/** Alignment, in bytes, of the arena and the weights that a host provides. */
#define INGOT_ABI_ALIGNMENT 64u

/** A dimension whose size is known only at run time. */
#define INGOT_ABI_DYNAMIC (-1)

/** Status codes of generated code. libingot returns them unchanged. */
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

/** Kind of device that a variant's code runs on. */
enum {
  INGOT_ABI_DEVICE_CPU = 1,
  INGOT_ABI_DEVICE_CUDA = 2,
};

/** Architecture of a variant. Each architecture defines its own features. */
enum {
  INGOT_ABI_ARCHITECTURE_X86_64 = 1, /**< cpu_features.inc */
  INGOT_ABI_ARCHITECTURE_AARCH64 = 2,
  INGOT_ABI_ARCHITECTURE_NVPTX = 3,
};

/** Location of memory. */
enum {
  INGOT_ABI_MEMORY_HOST = 0,
  INGOT_ABI_MEMORY_CUDA = 1, /**< memory of the device that a buffer names */
};

/** A table of `count` rows. Rows are `row_bytes` apart, which may be more than
 *  the size that a reader knows. `rows` is null if the table is empty. */
typedef struct ingot_abi_table {
  const void *rows;
  uint32_t count;
  uint32_t row_bytes;
} ingot_abi_table;

static inline const void *ingot_abi_row(const ingot_abi_table *table,
                                        uint32_t index) {
  return (const char *)table->rows + (size_t)index * table->row_bytes;
}

/** A row of `inputs` or `outputs`. Dims may be INGOT_ABI_DYNAMIC. */
typedef struct ingot_abi_tensor {
  const char *name;
  uint32_t dtype;
  uint32_t rank;
  const int64_t *dims;
  /** `rank` names. The name of a fixed or unnamed dimension is the empty
   *  string. */
  const char *const *dim_names;
} ingot_abi_tensor;

/** A row of `metadata`. */
typedef struct ingot_abi_metadata {
  const char *key;
  const char *value;
} ingot_abi_metadata;

/** Kinds of ingot_abi_use. */
enum {
  /** A library that the code calls, e.g. "onednn". */
  INGOT_ABI_USE_LIBRARY = 1,
  /** A type of products: "float16", "bfloat16" … */
  INGOT_ABI_USE_PRECISION = 2,
};

/** The library has its own threads, which do not exist in a forked child. */
#define INGOT_ABI_USE_OWN_THREADS 1u

/** A row of `uses`: a dependency of the model beyond its own code and the
 *  element types of its tensors. A reader that does not know a kind or a flag
 *  only displays it. */
typedef struct ingot_abi_use {
  uint32_t kind;  /**< INGOT_ABI_USE_... */
  uint32_t flags; /**< INGOT_ABI_USE_OWN_THREADS */
  const char *name;
} ingot_abi_use;

/** Services for generated code. No member is null. */
typedef struct ingot_abi_host {
  uint32_t struct_size;
  /** Number of threads that a run may use, including the caller's; at least 1.
   */
  uint32_t num_threads;
  void *user;
  /** Returns host memory of the given alignment (a power of two), or null. */
  void *(*allocate)(void *user, uint64_t bytes, uint64_t alignment);
  void (*release)(void *user, void *pointer);
  /** Calls task(arg, i) once for each 0 <= i < count and waits for all. */
  void (*parallel_for)(void *user, void (*task)(void *arg, int64_t index),
                       void *arg, int64_t count);
} ingot_abi_host;

/** A buffer of a run: an input, or an output to fill. Rows are
 *  ingot_abi_artifact.buffer_bytes apart. A host sets bytes that it does not
 *  know to zero. */
typedef struct ingot_abi_buffer {
  /** Elements, aligned to the element type. Inputs are only read. */
  void *data;
  /** `rank` sizes. The host gives the sizes of inputs and has checked them
   *  against the signature. The run writes the sizes of outputs before the
   *  data. */
  int64_t *dims;
  /** `rank` strides in elements. Null means dense and row-major. Other values
   *  require a variant with INGOT_ABI_VARIANT_STRIDES. */
  const int64_t *strides;
  /** Number of bytes at `data`. */
  uint64_t bytes;
  /** INGOT_ABI_MEMORY_...; must be one of the variant's `memories`. */
  uint32_t memory;
  /** Index of the device that owns the memory; 0 for host memory. */
  uint32_t device;
  /** The bytes of strings, without terminators. The offsets at `data` refer to
   *  them. The code checks the offsets of inputs. The offsets of outputs start
   *  at 0. Null for other element types. */
  char *text;
  /** Number of bytes at `text`. */
  uint64_t text_bytes;
  /** Receives the number of bytes that the strings of an output have or need.
   *  May be null. */
  uint64_t *text_used;
} ingot_abi_buffer;

/** Smallest buffer_bytes of an artifact of version 2. The fields for strings
 *  came later. */
#define INGOT_ABI_BUFFER_BYTES_V2 40u

/** Observer of a run. It receives the progress and can end the run. Layers
 *  follow each other without a gap. A layer takes the time from the end of the
 *  previous layer, or from the start of the run, to its own end. A device whose
 *  work ends later measures these times itself. */
typedef struct ingot_abi_observer {
  uint32_t struct_size;
  uint32_t reserved0;
  void *user;
  /** Called when a layer ends, in the order of layers, on the thread that runs.
   *  `flops` and `bytes` are those of this run, or 0 if unknown. Returns
   *  INGOT_ABI_OK to continue. Any other status ends the run with this status.
   */
  int32_t (*layer_end)(void *user, uint64_t layer, uint64_t flops,
                       uint64_t bytes);
  /** May be null. Called for each tensor that the code was compiled to report,
   *  as soon as it is complete, on the thread that runs. Receives the tensor's
   *  index, element type, sizes, strides in elements, and elements. All
   *  pointers are valid only during the call. Returns a status as `layer_end`
   *  does. */
  int32_t (*tensor)(void *user, uint64_t tensor, uint32_t dtype, uint32_t rank,
                    const int64_t *dims, const int64_t *strides,
                    const void *data);
  /** May be null. Called in each iteration of a loop of the model, on the
   *  thread that runs. Returns a status as `layer_end` does. */
  int32_t (*poll)(void *user);
  /** May be null. Asks for the times that a device has measured. Code for such
   *  a device then calls this function instead of `layer_end`, for each layer
   *  in order, when the work of the run has ended. It asks `poll` at the end of
   *  each layer, if that is not null. Times are nanoseconds since the run has
   *  begun on the device. Other code never calls this function. */
  void (*layer_time)(void *user, uint64_t layer, uint64_t flops, uint64_t bytes,
                     uint64_t start_ns, uint64_t end_ns);
} ingot_abi_observer;

/** Smallest struct_size of ingot_abi_observer of version 2, without later
 *  members. */
#define INGOT_ABI_OBSERVER_BYTES_V2 40u

/** Arguments of a load. */
typedef struct ingot_abi_load {
  uint32_t struct_size;
  /** Index of the device among the devices of its kind; 0 for a CPU. */
  uint32_t device;
  /** Services, valid until `unload`. */
  const ingot_abi_host *host;
  /** Start of the weights: ingot_abi_artifact.weights, or the mapped file. */
  const void *weights;
  uint64_t weights_bytes;
  /** State for the runs and for `unload`. The load sets it. It stays null if
   *  the load fails. */
  void *state;
  /** Receives a null-terminated message when the load fails; may be null. */
  char *error;
  uint64_t error_bytes;
  /** Path of the device's driver library; null: the usual one. */
  const char *driver;
} ingot_abi_load;

/** Smallest struct_size of ingot_abi_load of version 2, without driver. */
#define INGOT_ABI_LOAD_BYTES_V2 56u

/** Arguments of a run. Two runs may proceed at the same time if their arenas,
 *  buffers and hosts' `user` differ. */
typedef struct ingot_abi_call {
  uint32_t struct_size;
  /** The first failure of the run; set by the run. */
  int32_t status;
  const ingot_abi_host *host;
  /** Start of the weights: ingot_abi_artifact.weights, or the mapped file. */
  const void *weights;
  /** State that `load` has created; null if there is no `load`. */
  void *state;
  /** Scratch memory of the variant's arena_bytes in its arena_memory, aligned
   *  to INGOT_ABI_ALIGNMENT. */
  void *arena;
  const ingot_abi_buffer *inputs;
  const ingot_abi_buffer *outputs;
  /** Receives a null-terminated message when the run fails; may be null. */
  char *error;
  uint64_t error_bytes;
  /** Observer, or null. Without an observer there is no overhead. */
  const ingot_abi_observer *observer;
  /** Queue of the device for the run's work, e.g. a CUstream. With a queue or a
   *  session, `run` may return before the work is done. Without both, the work
   *  is done when `run` returns. A queue requires a variant with
   *  INGOT_ABI_VARIANT_STREAMS. */
  void *stream;
  /** Session that ingot_abi_device.open has made, or null. After a run that
   *  succeeds, ingot_abi_device.wait must be called before the next run of the
   *  session. A run that fails has ended. */
  void *session;
} ingot_abi_call;

/** Smallest struct_size of ingot_abi_call of version 2, without session. */
#define INGOT_ABI_CALL_BYTES_V2 88u

/** No kernel computes the layer, although it has more than one percent of the
 *  model's arithmetic. The layer's reason states the share. */
#define INGOT_ABI_LAYER_LOOP 1u

/** A row of `layers`: a part of the run that computes certain ONNX nodes. Texts
 *  are given as offsets in `layer_text`. */
typedef struct ingot_abi_layer {
  /** Kind of the layer, e.g. "convolution". */
  uint32_t kind;
  /** First of `num_nodes` node names. They follow each other, and each ends
   *  with a null. */
  uint32_t nodes;
  uint32_t num_nodes;
  /** Backend that computes the layer, e.g. "native"; 0 if unknown. */
  uint32_t backend;
  /** Arithmetic operations of one run, and bytes of its operands and results. 0
   *  if they are unknown or depend on sizes of the run. */
  uint64_t flops;
  uint64_t bytes;
  /** Reason why no faster backend computes the layer; 0 if no other backend was
   *  considered. */
  uint32_t reason;
  /** Element type of the factors of products, e.g. "int8"; 0 for float32 or if
   *  the layer has no products. */
  uint32_t precision;
  /** 0 if the layer is part of runs of all sizes. n if it is part only of runs
   *  with the usual sizes of shape profile n - 1. */
  uint32_t usual_of;
  /** Bits of INGOT_ABI_LAYER_LOOP and others. A host may ignore them. */
  uint32_t flags;
} ingot_abi_layer;

/** Smallest row_bytes of layers of version 2. usual_of came later. */
#define INGOT_ABI_LAYER_BYTES_V2 40u

/** A row of a shape profile's `ranges`: the allowed sizes of one dimension of
 *  an input. */
typedef struct ingot_abi_size_range {
  uint32_t input;
  uint32_t dim;
  int64_t min;
  /** Size that the code is optimized for, or INGOT_ABI_DYNAMIC if there is
   *  none. */
  int64_t usual;
  int64_t max; /**< INT64_MAX: there is no bound */
  int64_t multiple; /**< all sizes are multiples of it; at least 1 */
} ingot_abi_size_range;

/** A row of `shape_profiles`: sizes of inputs that are allowed together. */
typedef struct ingot_abi_shape_profile {
  ingot_abi_table ranges; /**< of ingot_abi_size_range */
} ingot_abi_shape_profile;

/** `run` accepts ingot_abi_call.stream. */
#define INGOT_ABI_VARIANT_STREAMS 1u
/** `run` accepts ingot_abi_buffer.strides. */
#define INGOT_ABI_VARIANT_STRIDES 2u

/** A row of `variants`: the code for one kind of machine. All variants have the
 *  same signature, layer names and weights. The state that a variant's `load`
 *  creates is only for `run` and `unload` of this variant.
 *
 *  A host considers the variants that can run: it has their device, their
 *  architecture and all their features, and knows all their flags. Among them
 *  it uses the first variant with the highest priority. A device, architecture,
 *  feature or flag that the host does not know counts as missing. */
typedef struct ingot_abi_variant {
  const char *target;    /**< for people, e.g. "x86-64-v4" */
  uint32_t device;       /**< INGOT_ABI_DEVICE_... */
  uint32_t architecture; /**< INGOT_ABI_ARCHITECTURE_... */
  /** Features that the code needs: bits of the architecture's list. */
  uint64_t features;
  uint32_t priority;
  uint32_t flags; /**< INGOT_ABI_VARIANT_... */
  /** Locations of inputs and outputs: bits 1 << INGOT_ABI_MEMORY_... */
  uint32_t memories;
  uint32_t arena_memory; /**< INGOT_ABI_MEMORY_... of the arena */
  /** Scratch memory of one run. Dynamic tensors take additional memory from
   *  host->allocate. */
  uint64_t arena_bytes;
  uint64_t code_bytes;
  /** Creates the state that all runs share. Called once for each loaded model.
   *  May be null. */
  int32_t (*load)(ingot_abi_load *call);
  /** Destroys the state. Not null if `load` is not null. */
  void (*unload)(const ingot_abi_host *host, void *state);
  int32_t (*run)(ingot_abi_call *call);
  /** Infers sizes without running. Null if outputs have the sizes in the
   *  signature and a run needs only the arena.
   *
   *  Writes the dims of the outputs for the dims of `call->inputs`;
   *  INGOT_ABI_DYNAMIC if they depend on data. Checks the same rules about
   *  sizes as `run`. Reads nothing else of buffers, and ignores the call's
   *  weights, state and arena.
   *
   *  Reports the memory that a run would use through `host->allocate` and
   *  `release`, with UINT64_MAX bytes if the size depends on data. `allocate`
   *  may return any non-null value, because no memory is accessed. */
  int32_t (*infer)(ingot_abi_call *call);
  /** Functions of the device, which ingot/abi/device.h declares. Null if the
   *  code runs on a CPU. */
  const struct ingot_abi_device *device_functions;
} ingot_abi_variant;

/** Smallest row_bytes of variants of version 2. `infer` and `device_functions`
 *  came later. */
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
  /** Embedded weights, or null if the weights are in a separate file. */
  const void *weights;
  uint64_t weights_bytes;
  uint8_t weights_sha256[32];
  /** sizeof(ingot_abi_buffer) as the compiler knew it. */
  uint32_t buffer_bytes;
  /** Reserved flags, all 0. A reader refuses an artifact with an unknown flag.
   */
  uint32_t flags;
  /** Number of rules about operand sizes that are proved for all sizes, and
   *  number of rules that each run checks. */
  uint32_t num_size_rules_proved;
  uint32_t num_size_rules_checked;
  /** Rows of ingot_abi_shape_profile. If there are any, the sizes of a run must
   *  fit a profile. Otherwise the run ends with INGOT_ABI_INVALID_ARGUMENT. */
  ingot_abi_table shape_profiles;
  /** 1 if sizes outside of the profiles are accepted, too. */
  uint32_t takes_general;
  uint32_t reserved0;
} ingot_abi_artifact;

/** Smallest struct_size of an artifact of version 2. Shape profiles came later.
 */
#define INGOT_ABI_ARTIFACT_BYTES_V2 208u

typedef const ingot_abi_artifact *(*ingot_abi_query_fn)(void);

/** Owner and type of the ELF note that contains an ingot_abi_seal. */
#define INGOT_ABI_NOTE_OWNER "Ingot"
#define INGOT_ABI_NOTE_SEAL 1u

/** Checksums of an artifact's file. They detect accidental changes before the
 *  file is used. Both are XXH64 with seed 0. */
typedef struct ingot_abi_seal {
  uint32_t struct_size;
  uint32_t reserved0;
  /** Address of the embedded weights in the file's address space, and their
   *  size. The size is 0 if there are none. */
  uint64_t weights_address;
  uint64_t weights_bytes;
  /** Checksum of the weights. */
  uint64_t weights_hash;
  /** Checksum of all other mapped bytes. For each PT_LOAD segment, in order, it
   *  covers p_vaddr, p_memsz, p_filesz and p_flags in 64 bits each, then the
   *  segment's bytes in the file without the weights. This struct, and e_shoff,
   *  e_shentsize, e_shnum and e_shstrndx of the ELF header, count as zeros. */
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
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_observer) == 48, "ingot_abi_observer");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_load) == 64, "ingot_abi_load");
INGOT_ABI_STATIC_ASSERT(offsetof(ingot_abi_load, driver) ==
                            INGOT_ABI_LOAD_BYTES_V2,
                        "ingot_abi_load");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_call) == 96, "ingot_abi_call");
INGOT_ABI_STATIC_ASSERT(offsetof(ingot_abi_call, session) ==
                            INGOT_ABI_CALL_BYTES_V2,
                        "ingot_abi_call");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_layer) == 48, "ingot_abi_layer");
INGOT_ABI_STATIC_ASSERT(offsetof(ingot_abi_layer, usual_of) ==
                            INGOT_ABI_LAYER_BYTES_V2,
                        "ingot_abi_layer");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_size_range) == 40,
                        "ingot_abi_size_range");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_shape_profile) == 16,
                        "ingot_abi_shape_profile");
INGOT_ABI_STATIC_ASSERT(sizeof(ingot_abi_variant) == 96, "ingot_abi_variant");
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
