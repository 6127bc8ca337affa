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

/** A loaded model: immutable, thread-safe, shared by any number of contexts,
 *  which keep it alive. Loading a file twice gives two independent models. */
typedef struct ingot_model ingot_model;

enum {
  /** Only reads the description: does not check the CPU, map separate weights
   *  or run the model's load step. Such a model cannot create contexts. */
  INGOT_MODEL_DESCRIBE_ONLY = 1,
  /** Does not compute the SHA-256 of separate weights, and only checks their
   *  size. Saves reading the whole file at load. */
  INGOT_MODEL_TRUST_WEIGHTS = 2,
  /** Also compares the weights with their checksum from compilation, which
   *  reads all of them. Code and tables are compared at every load. Artifacts
   *  without checksums are refused. With INGOT_MODEL_DESCRIBE_ONLY separate
   *  weights are mapped and compared as well. Invalid for attached models and
   *  together with INGOT_MODEL_TRUST_.... */
  INGOT_MODEL_VERIFY = 4,
  /** Does not compare code and tables with their checksum. For files that a
   *  tool changed on purpose after compilation. */
  INGOT_MODEL_TRUST_FILE = 8,
  /** Runs the mapped code of the file instead of a private copy. Processes then
   *  share the code, and profilers find its names in the file. Overwriting the
   *  file then crashes the program. No effect on a model in memory, or on a
   *  file that is already loaded. */
  INGOT_MODEL_MAP_CODE = 16
};

typedef struct ingot_model_options {
  uint32_t struct_size;
  uint32_t flags; /**< INGOT_MODEL_... */
  /** File of the separate weights. Null: the file that was compiled with the
   *  library, "<path>.<16 digits of its SHA-256>.weights", or else
   *  "<path>.weights". Ignored for a model with embedded weights. */
  const char *weights_path;
  /** Memory for the model's load step; null: malloc. */
  const ingot_allocator *allocator;
  /** Threads for the model's load step; null: the shared pool. */
  ingot_pool *pool;
  /** Highest CPU level whose features may be used, e.g. "x86-64-v3". Null: all
   *  features of the CPU. INGOT_MAX_ISA limits them, too. */
  const char *max_level;
  uint64_t reserved[4];
} ingot_model_options;
#define INGOT_MODEL_OPTIONS_INIT                                               \
  {(uint32_t)sizeof(ingot_model_options), 0, 0, 0, 0, 0, {0, 0, 0, 0}}

/** Loads a model from a file written by `ingot compile`. `options` may be null.
 *  Release it with ingot_model_release.
 *
 *  Loads the present content of the file. If a new file replaces a loaded one
 *  under the same name, the new file is another model. A file that is
 *  overwritten while it is loaded is refused. Code and tables are copied, so a
 *  loaded model keeps them. Embedded weights stay mapped and shared, so the
 *  loaded model computes with the weights of an overwritten file.
 *
 *  If a model has code for several kinds of machine, the best code that this
 *  machine can run is used. ingot_model_options.max_level and the environment
 *  variable INGOT_MAX_ISA limit the CPU features. */
INGOT_API ingot_status ingot_model_load(const char *path,
                                        const ingot_model_options *options,
                                        ingot_model **model,
                                        ingot_error *error);

/** Loads a model from `size` bytes at `bytes`, of any alignment: the content of
 *  a file that `ingot compile` wrote. The bytes are copied, including weights,
 *  so the caller may change or free them afterwards. Separate weights need
 *  options->weights_path and are mapped from that file.
 *
 *  Fails with INGOT_UNSUPPORTED_DEVICE if the system does not allow code in
 *  memory files (memfd_create), or has no /proc. */
INGOT_API ingot_status ingot_model_load_memory(
    const void *bytes, uint64_t size, const ingot_model_options *options,
    ingot_model **model, ingot_error *error);

/** Makes a model of an artifact that is linked into the program. The artifact
 *  must stay mapped until the model is gone. Separate weights need
 *  options->weights_path. */
INGOT_API ingot_status ingot_model_attach(const ingot_abi_artifact *artifact,
                                          const ingot_model_options *options,
                                          ingot_model **model,
                                          ingot_error *error);

/** Releases a model. Contexts of the model may outlive this call; the last one
 *  frees the model. */
INGOT_API void ingot_model_release(ingot_model *model);

/** Properties and needs of a model. Strings belong to the model. */
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
  /** Target of the code in use, e.g. "x86-64-v4". For a model that is only
   *  described: the code that this machine would use, or else the first. */
  const char *target;
  uint64_t arena_bytes; /**< scratch memory of one context */
  uint64_t weights_bytes;
  uint64_t code_bytes;       /**< of the code in use */
  uint32_t separate_weights; /**< 1 if the weights are in a file of their own */
  uint32_t reserved0;
  uint8_t weights_sha256[32];
  /** Numbers of rules about open sizes: rules that hold for all sizes, and
   *  rules that each run checks. 0 and 0: compiled without rules. */
  uint32_t num_size_rules_proved;
  uint32_t num_size_rules_checked;
  /** Number of shape profiles. A run must have the sizes of one profile, unless
   *  there are none or takes_general is 1. */
  uint32_t num_shape_profiles;
  uint32_t takes_general;
} ingot_model_info;
#define INGOT_MODEL_INFO_INIT                                                  \
  {(uint32_t)sizeof(ingot_model_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  \
   0, 0, {0}, 0, 0, 0, 0}

/** The code for one kind of machine. The string belongs to the model. */
typedef struct ingot_variant_info {
  uint32_t struct_size;
  uint32_t is_in_use; /**< 1 for the one that ingot_model_info.target names */
  const char *target;    /**< e.g. "x86-64-v4" */
  uint32_t device;       /**< INGOT_ABI_DEVICE_... */
  uint32_t architecture; /**< INGOT_ABI_ARCHITECTURE_... */
  /** Features that it needs: bits of the architecture's list. For x86-64 that
   *  is ingot/abi/cpu_features.inc. */
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
  /** A type of products beyond the element types of the model: "bfloat16",
   *  "int8" or "binary". */
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
/** Returns key and value of an entry; either pointer may be null. */
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
  /** No kernel computes the layer, although it has more than a hundredth of the
   *  model's arithmetic: it may take much of the run's time. */
  INGOT_LAYER_LOOP = INGOT_ABI_LAYER_LOOP
};

/** A layer: a part of the run that computes certain ONNX nodes. Layers run one
 *  after the other, in order. Strings belong to the model. */
typedef struct ingot_layer_info {
  uint32_t struct_size;
  uint32_t num_nodes; /**< ONNX nodes that it computes, wholly or partly */
  const char *kind;   /**< e.g. "convolution", "elementwise" */
  /** Arithmetic operations of one run, where a multiply-add counts as two, and
   *  bytes of operands and results. 0: unknown, or only known to
   *  ingot_profile_times. */
  uint64_t flops;
  uint64_t bytes;
  /** Backend that computes it: "native" kernels, "onednn", or "loops", which
   *  compute everything without a kernel. "" if the model does not say. */
  const char *backend;
  /** Reason why no better backend computes it, for example "native: has open
   *  sizes other than the batch: ?x?x?x3xf32". "" if no other was asked. */
  const char *reason;
  /** Type of its products: "bf16", "int8", "int16" or "binary". "w4" is float32
   *  by weights that are stored in 4 bits. "" for float32, or if it has no
   *  products. */
  const char *precision;
  /** 0 if it is part of runs of all sizes. n if it is only part of runs at the
   *  usual sizes of shape profile n - 1. */
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

/** Sizes of inputs that may occur together in a run. Each dimension that
 *  ingot_model_size_range_describe lists must have one of its sizes; other
 *  dimensions may have any size. */
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
  /** The model is fastest if all dimensions have their usual sizes.
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

/** Computes the sizes of outputs and the memory of a run at given sizes,
 *  without running and without a context.
 *
 *  `input_dims` has the sizes of each input, in the model's order, and
 *  `input_ranks` their numbers. If `input_dims` or an entry is null, the model
 *  must fix the sizes. `output_dims` receives the sizes of each output, or
 *  INGOT_ABI_DYNAMIC (-1) if they depend on data. `output_ranks` has the room
 *  for them, which must be the output's rank. Null entries receive nothing.
 *  `arena_bytes`, which may be null, receives the memory of a context that has
 *  run these sizes: the arena, and the memory of tensors of open size. It is
 *  UINT64_MAX if it depends on data. Runs of a batch on few threads may take
 *  less.
 *
 *  Fails as a run would if the sizes do not fit the model or each other. */
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
