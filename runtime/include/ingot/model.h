/*===- ingot/model.h - load and describe models --------------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A part of ingot/ingot.h, which says what holds for all of it.
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
 *  which keep it alive. Loading one file twice gives two independent models. */
typedef struct ingot_model ingot_model;

enum {
  /** Only read the description: do not check the CPU, map separate weights or
   *  run the model's load step. Such a model cannot make contexts. */
  INGOT_MODEL_DESCRIBE_ONLY = 1,
  /** Do not compute the SHA-256 of separate weights, only check their size.
   *  Saves reading the whole file at load. */
  INGOT_MODEL_TRUST_WEIGHTS = 2,
  /** Compare the weights, too, with the checksum that they were compiled with,
   *  which reads all of them. Code and tables are compared at every load.
   *  Artifacts without checksums are refused. With INGOT_MODEL_DESCRIBE_ONLY
   *  separate weights are mapped and compared as well. Not for attached
   *  models, nor together with INGOT_MODEL_TRUST_.... */
  INGOT_MODEL_VERIFY = 4,
  /** Do not compare code and tables with their checksum: for a file that a tool
   *  has changed on purpose since it was compiled. */
  INGOT_MODEL_TRUST_FILE = 8,
  /** Run the code where the file is mapped, instead of from a private copy:
   *  processes share it, and profilers find its names in the file. Writing over
   *  the file then crashes the program. Without effect on a model in memory,
   *  and on a file that is loaded already. */
  INGOT_MODEL_MAP_CODE = 16
};

typedef struct ingot_model_options {
  uint32_t struct_size;
  uint32_t flags; /**< INGOT_MODEL_... */
  /** File of the separate weights; null: the one that was compiled with the
   *  library, "<path>.<16 digits of its SHA-256>.weights", or else
   *  "<path>.weights". Not read for a model that carries its weights. */
  const char *weights_path;
  /** For memory of the model's load step; null: malloc. */
  const ingot_allocator *allocator;
  /** Threads for the model's load step; null: the shared pool. */
  ingot_pool *pool;
  /** The highest CPU level whose features are taken as present, e.g.
   *  "x86-64-v3"; null: whatever the CPU has. INGOT_MAX_ISA caps them, too. */
  const char *max_level;
  uint64_t reserved[4];
} ingot_model_options;
#define INGOT_MODEL_OPTIONS_INIT                                               \
  {(uint32_t)sizeof(ingot_model_options), 0, 0, 0, 0, 0, {0, 0, 0, 0}}

/** Loads a model from a file written by `ingot compile`. `options` may be
 *  null. Release it with ingot_model_release.
 *
 *  What is loaded is what the file holds now: one that has taken the name of
 *  another since that was loaded is another model. A file that was written over
 *  while it is loaded is refused. Code and tables are copied, so that a model
 *  which is loaded keeps them; embedded weights stay mapped and shared, so that
 *  it then computes with the weights of the new file.
 *
 *  Of a model with code for several kinds of machine, the best one that this
 *  machine can run is used. ingot_model_options.max_level and the environment
 *  variable INGOT_MAX_ISA cap the CPU features that are taken as present. */
INGOT_API ingot_status ingot_model_load(const char *path,
                                        const ingot_model_options *options,
                                        ingot_model **model,
                                        ingot_error *error);

/** Same for a file that the caller has read, or made otherwise: `size` bytes at
 *  `bytes`, of any alignment. They are copied, weights included, so the caller
 *  may change or free them afterwards. Separate weights need
 *  options->weights_path, and are mapped from that file.
 *
 *  INGOT_UNSUPPORTED_DEVICE where the system allows no code in memory files
 *  (memfd_create), or has no /proc. */
INGOT_API ingot_status ingot_model_load_memory(
    const void *bytes, uint64_t size, const ingot_model_options *options,
    ingot_model **model, ingot_error *error);

/** Same for an artifact that is linked into the program; it must stay mapped
 *  until the model is gone. Separate weights need options->weights_path. */
INGOT_API ingot_status ingot_model_attach(const ingot_abi_artifact *artifact,
                                          const ingot_model_options *options,
                                          ingot_model **model,
                                          ingot_error *error);

/** Contexts of the model may outlive this call; it goes with the last. */
INGOT_API void ingot_model_release(ingot_model *model);

/** What a model is and needs. Strings belong to the model. */
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
  /** What the code in use is for, e.g. "x86-64-v4"; for a model that is only
   *  described, the code that this machine would use, or else the first. */
  const char *target;
  uint64_t arena_bytes; /**< scratch memory of one context */
  uint64_t weights_bytes;
  uint64_t code_bytes;       /**< of the code in use */
  uint32_t separate_weights; /**< 1 if the weights are in a file of their own */
  uint32_t reserved0;
  uint8_t weights_sha256[32];
  /** Rules about how open sizes have to fit: that hold whatever they are, and
   *  that each run checks; 0 and 0: compiled without */
  uint32_t num_size_rules_proved;
  uint32_t num_size_rules_checked;
  /** What sizes a run may have: those of one of so many shape profiles, or any
   *  if there are none, or if takes_general is 1 */
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
  /** That it needs: bits of the architecture's list, for x86-64 that is
   *  ingot/abi/cpu_features.inc. */
  uint64_t features;
  uint32_t priority; /**< of those that can run, the highest is used */
  uint32_t memories; /**< of tensors: bits 1 << INGOT_MEMORY_... */
  uint64_t arena_bytes;
  uint64_t code_bytes;
} ingot_variant_info;
#define INGOT_VARIANT_INFO_INIT                                                \
  {(uint32_t)sizeof(ingot_variant_info), 0, 0, 0, 0, 0, 0, 0, 0, 0}

/** What ingot_use_info is about. */
enum {
  /** A library that the code calls, e.g. "onednn". */
  INGOT_USE_LIBRARY = INGOT_ABI_USE_LIBRARY,
  /** A type of products, "bfloat16", "int8" or "binary", beyond the
   *  element types of the model. */
  INGOT_USE_PRECISION = INGOT_ABI_USE_PRECISION
};

/** Something that a model uses. The string belongs to the model. */
typedef struct ingot_use_info {
  uint32_t struct_size;
  uint32_t kind; /**< INGOT_USE_...; a newer compiler may know more */
  const char *name;
} ingot_use_info;
#define INGOT_USE_INFO_INIT {(uint32_t)sizeof(ingot_use_info), 0, 0}

/** One input or output. Everything belongs to the model. */
typedef struct ingot_tensor_info {
  uint32_t struct_size;
  ingot_dtype dtype;
  const char *name;
  /** `rank` sizes; INGOT_ABI_DYNAMIC (-1) where only a run tells. */
  const int64_t *dims;
  /** `rank` names; the empty string where a dimension has none. */
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
/** Key and value of one entry; either pointer may be null. */
INGOT_API ingot_status ingot_model_metadata_get(const ingot_model *model,
                                                uint32_t index,
                                                const char **key,
                                                const char **value,
                                                ingot_error *error);
/** The value of `key`, or null. */
INGOT_API const char *ingot_model_metadata_find(const ingot_model *model,
                                                const char *key);

/** Bits of ingot_layer_info.flags. */
enum {
  /** No kernel computes the layer, which is more than a hundredth of the
   *  model's arithmetic: much of the run's time may go there. */
  INGOT_LAYER_LOOP = INGOT_ABI_LAYER_LOOP
};

/** One layer: a piece of the run that computes certain ONNX nodes. Layers run
 *  one after the other, in order. Strings belong to the model. */
typedef struct ingot_layer_info {
  uint32_t struct_size;
  uint32_t num_nodes; /**< ONNX nodes that it computes, all or a part of them */
  const char *kind;   /**< e.g. "convolution", "elementwise" */
  /** Arithmetic operations of one run, a multiply-add being two, and bytes of
   *  operands and results; 0: unknown, or ingot_profile_times tells. */
  uint64_t flops;
  uint64_t bytes;
  /** Who computes it: "native" kernels, "onednn", or "loops", which take what
   *  no kernel does; "" if the model does not say. */
  const char *backend;
  /** Why no better backend does, "" if none was asked: "native: has open sizes
   *  other than the batch: ?x?x?x3xf32". */
  const char *reason;
  /** What its products multiply: "bf16", "int8", "int16", "binary"; "w4":
   *  float32 by weights that are stored in 4 bits; "" for float32, and for what
   *  has no products. */
  const char *precision;
  /** 0: it is part of runs of all sizes. n: of those at the usual sizes of
   *  shape profile n - 1, and of no others. */
  uint32_t usual_of;
  uint32_t flags; /**< INGOT_LAYER_...; a newer compiler may know more */
} ingot_layer_info;
#define INGOT_LAYER_INFO_INIT                                                  \
  {(uint32_t)sizeof(ingot_layer_info), 0, 0, 0, 0, 0, 0, 0, 0, 0}

INGOT_API ingot_status ingot_model_layer_describe(const ingot_model *model,
                                                  uint32_t index,
                                                  ingot_layer_info *info,
                                                  ingot_error *error);
/** Name of an ONNX node of a layer, `node` counting from 0; null if there is
 *  no such layer or node. */
INGOT_API const char *ingot_model_layer_node(const ingot_model *model,
                                             uint32_t layer, uint32_t node);

/** Sizes that inputs may have together in a run: of each dimension that
 *  ingot_model_size_range_describe tells of, one of its sizes; others may be
 *  any. */
typedef struct ingot_shape_profile_info {
  uint32_t struct_size;
  uint32_t num_ranges;
} ingot_shape_profile_info;
#define INGOT_SHAPE_PROFILE_INFO_INIT                                          \
  {(uint32_t)sizeof(ingot_shape_profile_info), 0}

/** The sizes of one dimension of an input. */
typedef struct ingot_size_range_info {
  uint32_t struct_size;
  uint32_t input; /**< its number */
  uint32_t dim;
  uint32_t reserved0;
  int64_t min;
  /** At the usual sizes of all dimensions the model is fastest;
   *  INGOT_ABI_DYNAMIC (-1) if none was named. */
  int64_t usual;
  int64_t max;      /**< INT64_MAX: there is no bound */
  int64_t multiple; /**< sizes are multiples of it; at least 1 */
} ingot_size_range_info;
#define INGOT_SIZE_RANGE_INFO_INIT                                             \
  {(uint32_t)sizeof(ingot_size_range_info), 0, 0, 0, 0, 0, 0, 0}

INGOT_API ingot_status ingot_model_shape_profile_describe(
    const ingot_model *model, uint32_t profile, ingot_shape_profile_info *info,
    ingot_error *error);
INGOT_API ingot_status ingot_model_size_range_describe(
    const ingot_model *model, uint32_t profile, uint32_t range,
    ingot_size_range_info *info, ingot_error *error);

/** Finds what a run at given sizes makes and takes, without running: in
 *  microseconds, and without a context.
 *
 *  `input_dims` has the sizes of each input, in the model's order, and
 *  `input_ranks` how many there are of each; dims that are null, or null for
 *  all: the model fixes them. `output_dims` receives the sizes of each output,
 *  or INGOT_ABI_DYNAMIC (-1) where data decide, and `output_ranks` says how
 *  many there is room for, which must be the output's rank; what is null is not
 *  told. `arena_bytes`, which may be null too, receives the memory of a context
 *  that has seen these sizes: the arena, and what tensors of open size take on
 *  top; UINT64_MAX if data decide it. Runs of a batch on few threads may take
 *  less.
 *
 *  Fails as a run would where the sizes do not fit the model or each other. */
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
