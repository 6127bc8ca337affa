/*===- ingot/model.h - load and describe models --------------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A part of ingot/ingot.h, which states the conventions.
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_MODEL_H
#define INGOT_MODEL_H

#include "ingot/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Models -------------------------------------------------------------------*/

/** A loaded model. It is immutable, thread-safe, and shared by any number of
 *  contexts. The contexts keep it alive. Loading a file twice gives two
 *  independent models. */
typedef struct ingot_model ingot_model;

enum {
  /** Reads only the description. Does not check the CPU, map separate weights
   *  or run the model's load step. The model cannot be used to create contexts.
   */
  INGOT_MODEL_DESCRIBE_ONLY = 1,
  /** Checks only the size of separate weights, not their SHA-256. So the load
   *  does not read the whole file. */
  INGOT_MODEL_TRUST_WEIGHTS = 2,
  /** Also compares the weights with their checksum from compilation, which
   *  reads all weights. (Code and tables are compared at every load.) Artifacts
   *  without checksums are refused. With INGOT_MODEL_DESCRIBE_ONLY, separate
   *  weights are mapped and compared, too. Invalid for attached models and
   *  together with INGOT_MODEL_TRUST_.... */
  INGOT_MODEL_VERIFY = 4,
  /** Does not compare code and tables with their checksum. Use it for files
   *  that a tool has changed on purpose after compilation. */
  INGOT_MODEL_TRUST_FILE = 8,
  /** Runs the mapped code of the file instead of a private copy. Processes then
   *  share the code, and profilers find function names in the file. But
   *  overwriting the file crashes the program. Has no effect on a model in
   *  memory, or on a file that is already loaded. */
  INGOT_MODEL_MAP_CODE = 16
};

typedef struct ingot_model_options {
  uint32_t struct_size;
  uint32_t flags; /**< INGOT_MODEL_... */
  /** File of the separate weights. Null: the file from the compilation of the
   *  library, "<path>.<16 digits of its SHA-256>.weights", or if that does not
   *  exist, "<path>.weights". Ignored for a model with embedded weights. */
  const char *weights_path;
  /** Memory for the model's load step; null: malloc. */
  const ingot_allocator *allocator;
  /** Threads for the model's load step; null: the shared pool. */
  ingot_pool *pool;
  /** Highest CPU level whose features may be used, e.g. "x86-64-v3". Null: all
   *  features of the CPU. INGOT_MAX_ISA is an additional limit. */
  const char *max_level;
  /** Device to run on: "cpu", "cuda", "cuda:1", or "emulated", which runs the
   *  code for GPUs on a CPU, slowly and with checks. A device that is named is
   *  never replaced by another. Null: the environment variable INGOT_DEVICE
   *  names it, or else a GPU is used if the model has code for it and the
   *  machine has it. */
  const char *device;
  uint64_t reserved[3];
} ingot_model_options;
#define INGOT_MODEL_OPTIONS_INIT                                               \
  {(uint32_t)sizeof(ingot_model_options), 0, 0, 0, 0, 0, 0, {0, 0, 0}}

/** Loads a model from a file written by `ingot compile`. `options` may be null.
 *  Release it with ingot_model_release.
 *
 *  Loads the current content of the file. If a new file has replaced a loaded
 *  file under the same name, it is loaded as another model. If a file was
 *  overwritten while it is loaded, the load is refused. A loaded model has a
 *  copy of code and tables, which later changes of the file do not affect. But
 *  embedded weights stay mapped and shared: if the file is overwritten, the
 *  model computes with the new bytes.
 *
 *  If a model has code for several kinds of machine, the best code for this
 *  machine is used. ingot_model_options.max_level and the environment variable
 *  INGOT_MAX_ISA limit the CPU features. ingot_model_options.device and
 *  INGOT_DEVICE choose between CPUs and GPUs. */
INGOT_API ingot_status ingot_model_load(const char *path,
                                        const ingot_model_options *options,
                                        ingot_model **model,
                                        ingot_error *error);

/** Loads a model from memory: `size` bytes at `bytes`, with the content of a
 *  file that `ingot compile` has written. Any alignment is allowed. All bytes
 *  are copied, so the caller may change or free them afterwards. Separate
 *  weights require options->weights_path and are mapped from that file.
 *
 *  Fails with INGOT_UNSUPPORTED_DEVICE if the system has no /proc, or does not
 *  allow code in memory files (memfd_create). */
INGOT_API ingot_status ingot_model_load_memory(
    const void *bytes, uint64_t size, const ingot_model_options *options,
    ingot_model **model, ingot_error *error);

/** Makes a model from an artifact that is linked into the program. The artifact
 *  must stay mapped as long as the model exists. Separate weights require
 *  options->weights_path. */
INGOT_API ingot_status ingot_model_attach(const ingot_abi_artifact *artifact,
                                          const ingot_model_options *options,
                                          ingot_model **model,
                                          ingot_error *error);

/** Releases a model. Its contexts may still be used. The model is freed with
 *  the last of them. */
INGOT_API void ingot_model_release(ingot_model *model);

/** Properties and requirements of a model. Strings belong to the model. */
typedef struct ingot_model_info {
  uint32_t struct_size;
  uint32_t abi_version;
  uint32_t num_inputs;
  uint32_t num_outputs;
  uint32_t num_metadata;
  uint32_t num_uses;     /**< libraries and precisions */
  uint32_t num_variants; /**< kinds of machine that there is code for */
  uint32_t num_layers;   /**< that a profile tells apart; 0: compiled without */
  const char *name;      /**< of the ONNX graph; may be empty */
  const char *compiler;  /**< e.g. "ingot 0.1.0" */
  /** Target of the selected code, e.g. "x86-64-v4". If the model is only
   *  described: the code that this machine would use, or else the first code.
   */
  const char *target;
  uint64_t arena_bytes; /**< scratch memory of one context */
  uint64_t weights_bytes;
  uint64_t code_bytes;       /**< of the code in use */
  uint32_t separate_weights; /**< 1 if the weights are in a file of their own */
  uint32_t reserved0;
  uint8_t weights_sha256[32];
  /** Number of rules about open sizes that are proved for all sizes, and number
   *  of rules that each run checks. Both are 0 if the compiler knew no rules.
   */
  uint32_t num_size_rules_proved;
  uint32_t num_size_rules_checked;
  /** Number of shape profiles. The sizes of a run must fit a profile, unless
   *  there are no profiles or takes_general is 1. */
  uint32_t num_shape_profiles;
  uint32_t takes_general;
  /** Memory of the device that the model runs on: INGOT_MEMORY_HOST or
   *  INGOT_MEMORY_CUDA, and the number of the GPU. */
  uint32_t device_memory;
  uint32_t device;
} ingot_model_info;
#define INGOT_MODEL_INFO_INIT                                                  \
  {                                                                            \
    (uint32_t)sizeof(ingot_model_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
        0, 0, {0}, 0, 0, 0, 0, 0, 0                                            \
  }

/** The code for one kind of machine. The string belongs to the model. */
typedef struct ingot_variant_info {
  uint32_t struct_size;
  uint32_t is_in_use; /**< 1 for the one that ingot_model_info.target names */
  const char *target;    /**< e.g. "x86-64-v4" */
  uint32_t device;       /**< INGOT_ABI_DEVICE_... */
  uint32_t architecture; /**< INGOT_ABI_ARCHITECTURE_... */
  /** Features that the code requires: bits that the architecture defines. For
   *  x86-64 they are in ingot/abi/cpu_features.inc. */
  uint64_t features;
  uint32_t priority; /**< the highest that can run is used */
  uint32_t memories; /**< locations of tensors: bits 1 << INGOT_MEMORY_... */
  uint64_t arena_bytes;
  uint64_t code_bytes;
} ingot_variant_info;
#define INGOT_VARIANT_INFO_INIT                                                \
  {(uint32_t)sizeof(ingot_variant_info), 0, 0, 0, 0, 0, 0, 0, 0, 0}

/** Kinds of ingot_use_info. */
enum {
  /** A library that the code calls, e.g. "onednn". */
  INGOT_USE_LIBRARY = INGOT_ABI_USE_LIBRARY,
  /** A type of factors in products, in addition to the model's element types:
   *  "bfloat16", "int8" or "binary". */
  INGOT_USE_PRECISION = INGOT_ABI_USE_PRECISION
};

/** An external dependency or a precision of a model. The string belongs to the
 *  model. */
typedef struct ingot_use_info {
  uint32_t struct_size;
  uint32_t kind; /**< INGOT_USE_...; a newer compiler may know more */
  const char *name;
} ingot_use_info;
#define INGOT_USE_INFO_INIT {(uint32_t)sizeof(ingot_use_info), 0, 0}

/** An input or output. Everything belongs to the model. */
typedef struct ingot_tensor_info {
  uint32_t struct_size;
  ingot_dtype dtype;
  const char *name;
  /** `rank` sizes; INGOT_ABI_DYNAMIC (-1) if only a run knows the size. */
  const int64_t *dims;
  /** `rank` names; the empty string if a dimension has no name. */
  const char *const *dim_names;
  uint32_t rank;
  uint32_t is_dynamic; /**< 1 if any of dims is INGOT_ABI_DYNAMIC */
  uint64_t bytes;      /**< of the whole tensor; 0 if is_dynamic */
} ingot_tensor_info;
#define INGOT_TENSOR_INFO_INIT                                                 \
  {(uint32_t)sizeof(ingot_tensor_info), 0, 0, 0, 0, 0, 0, 0}

INGOT_API ingot_status ingot_model_describe(const ingot_model *model,
                                            ingot_model_info *info,
                                            ingot_error *error);
INGOT_API ingot_status ingot_model_variant_describe(const ingot_model *model,
                                                    uint32_t index,
                                                    ingot_variant_info *info,
                                                    ingot_error *error);
INGOT_API ingot_status ingot_model_use_describe(const ingot_model *model,
                                                uint32_t index,
                                                ingot_use_info *info,
                                                ingot_error *error);
INGOT_API ingot_status ingot_model_input_describe(const ingot_model *model,
                                                  uint32_t index,
                                                  ingot_tensor_info *info,
                                                  ingot_error *error);
INGOT_API ingot_status ingot_model_output_describe(const ingot_model *model,
                                                   uint32_t index,
                                                   ingot_tensor_info *info,
                                                   ingot_error *error);
INGOT_API ingot_status ingot_model_input_find(const ingot_model *model,
                                              const char *name, uint32_t *index,
                                              ingot_error *error);
INGOT_API ingot_status ingot_model_output_find(const ingot_model *model,
                                               const char *name,
                                               uint32_t *index,
                                               ingot_error *error);
/** Returns the key and the value of an entry. Either pointer may be null. */
INGOT_API ingot_status ingot_model_metadata_get(const ingot_model *model,
                                                uint32_t index,
                                                const char **key,
                                                const char **value,
                                                ingot_error *error);
/** Returns the value of `key`, or null. */
INGOT_API const char *ingot_model_metadata_find(const ingot_model *model,
                                                const char *key);

/** Bits of ingot_layer_info.flags. */
enum {
  /** No kernel computes the layer, although it has more than one percent of the
   *  model's arithmetic. So it may take much of the run's time. */
  INGOT_LAYER_LOOP = INGOT_ABI_LAYER_LOOP
};

/** A layer: a part of the run that computes certain ONNX nodes. Layers run one
 *  after the other, in order. Strings belong to the model. */
typedef struct ingot_layer_info {
  uint32_t struct_size;
  uint32_t num_nodes; /**< ONNX nodes that it computes, wholly or partly */
  const char *kind;   /**< e.g. "convolution", "elementwise" */
  /** Arithmetic operations of one run, where a multiply-add counts as two, and
   *  bytes of operands and results. 0 if they are unknown, or known only to
   *  ingot_profile_times. */
  uint64_t flops;
  uint64_t bytes;
  /** Backend that computes the layer: "native" kernels, "onednn", or "loops".
   *  Loops compute everything that has no kernel. "" if unknown. */
  const char *backend;
  /** Reason why no faster backend computes the layer, for example "native: has
   *  open sizes other than the batch: ?x?x?x3xf32". "" if no other backend was
   *  considered. */
  const char *reason;
  /** Type of the layer's products: "bf16", "int8", "int16" or "binary". "w4":
   *  float32 multiplied by weights that are stored in 4 bits. "" for float32,
   *  or if there are no products. */
  const char *precision;
  /** 0 if the layer is part of runs of all sizes. n if it is part only of runs
   *  with the usual sizes of shape profile n - 1. */
  uint32_t usual_of;
  uint32_t flags; /**< INGOT_LAYER_...; a newer compiler may know more */
} ingot_layer_info;
#define INGOT_LAYER_INFO_INIT                                                  \
  {(uint32_t)sizeof(ingot_layer_info), 0, 0, 0, 0, 0, 0, 0, 0, 0}

INGOT_API ingot_status ingot_model_layer_describe(const ingot_model *model,
                                                  uint32_t index,
                                                  ingot_layer_info *info,
                                                  ingot_error *error);
/** Returns the name of an ONNX node of a layer; `node` counts from 0. Returns
 *  null if there is no such layer or node. */
INGOT_API const char *ingot_model_layer_node(const ingot_model *model,
                                             uint32_t layer, uint32_t node);

/** Sizes of inputs that are allowed together in a run.
 *  ingot_model_size_range_describe lists the restricted dimensions and their
 *  sizes. Other dimensions may have any size. */
typedef struct ingot_shape_profile_info {
  uint32_t struct_size;
  uint32_t num_ranges;
} ingot_shape_profile_info;
#define INGOT_SHAPE_PROFILE_INFO_INIT                                          \
  {(uint32_t)sizeof(ingot_shape_profile_info), 0}

/** The sizes of one dimension of an input. */
typedef struct ingot_size_range_info {
  uint32_t struct_size;
  uint32_t input; /**< index of the input */
  uint32_t dim;
  uint32_t reserved0;
  int64_t min;
  /** Usual size. The model is fastest if all dimensions have their usual sizes.
   *  INGOT_ABI_DYNAMIC (-1) if there is none. */
  int64_t usual;
  int64_t max;      /**< INT64_MAX: there is no bound */
  int64_t multiple; /**< all sizes are multiples of it; at least 1 */
} ingot_size_range_info;
#define INGOT_SIZE_RANGE_INFO_INIT                                             \
  {(uint32_t)sizeof(ingot_size_range_info), 0, 0, 0, 0, 0, 0, 0}

INGOT_API ingot_status ingot_model_shape_profile_describe(
    const ingot_model *model, uint32_t profile, ingot_shape_profile_info *info,
    ingot_error *error);
INGOT_API ingot_status ingot_model_size_range_describe(
    const ingot_model *model, uint32_t profile, uint32_t range,
    ingot_size_range_info *info, ingot_error *error);

/** Computes the sizes of outputs and the memory of a run for given input sizes.
 *  Needs no context and does not run the model.
 *
 *  `input_dims` contains the sizes of each input, in the model's order, and
 *  `input_ranks` their numbers. `input_dims` or an entry may be null if the
 *  model fixes the sizes. `output_dims` receives the sizes of each output, or
 *  INGOT_ABI_DYNAMIC (-1) for sizes that depend on data. Each entry of
 *  `output_ranks` must be the output's rank. Null entries of `output_dims`
 *  receive nothing.
 *
 *  `arena_bytes` may be null. It receives the memory of a context that has run
 *  these sizes: the arena, and the memory for tensors of open size. UINT64_MAX
 *  means that this memory depends on data. Runs of a batch on few threads may
 *  take less.
 *
 *  If the sizes do not fit the model or each other, fails as a run would. */
INGOT_API ingot_status ingot_model_infer(const ingot_model *model,
                                         const int64_t *const *input_dims,
                                         const uint32_t *input_ranks,
                                         uint32_t num_inputs,
                                         int64_t *const *output_dims,
                                         const uint32_t *output_ranks,
                                         uint32_t num_outputs,
                                         uint64_t *arena_bytes,
                                         ingot_error *error);

#ifdef __cplusplus
}
#endif

#endif /* INGOT_MODEL_H */
