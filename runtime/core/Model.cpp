//===- Model.cpp - loading, attaching and releasing models ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Model.h"

#include "runtime/core/Artifact.h"
#include "runtime/core/Error.h"
#include "runtime/core/Variants.h"
#include "runtime/format/Sha256.h"
#include "runtime/format/WeightsName.h"
#include "runtime/host/LibraryThreads.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ingot::rt;

//===----------------------------------------------------------------------===//
// Services for the load step
//===----------------------------------------------------------------------===//

static void *modelAllocate(void *user, uint64_t bytes, uint64_t alignment) {
  const ingot_allocator &allocator =
      static_cast<ingot_model *>(user)->allocator;
  return allocator.allocate(allocator.user, bytes, alignment);
}

static void modelRelease(void *user, void *pointer) {
  const ingot_allocator &allocator =
      static_cast<ingot_model *>(user)->allocator;
  if (pointer)
    allocator.release(allocator.user, pointer);
}

static void modelParallelFor(void *user, void (*task)(void *, int64_t),
                             void *arg, int64_t count) {
  ingot_pool *pool = static_cast<ingot_model *>(user)->pool;
  pool->parallelFor(pool->numThreads, task, arg, count);
}

//===----------------------------------------------------------------------===//
// ingot_model
//===----------------------------------------------------------------------===//

ingot_model::~ingot_model() {
  if (loaded && code.unload)
    code.unload(&host, state);
  if (library.isOpen() && loaded && bringsThreads(*artifact))
    pinThreadLibraries();
  library.close();
  ingot_pool_release(pool);
}

ingot_status ingot_model::mapWeights(const char *path, bool verify,
                                     const char *subject, ingot_error *error) {
  if (ingot_status status = weightsFile.open(path, "weights", error))
    return status;
  if (weightsFile.size() != artifact->weights_bytes)
    return fail(error, INGOT_BAD_ARTIFACT,
                "weights file '%s' has %llu bytes, but '%s' needs %llu; it is "
                "truncated or belongs to another model",
                path, static_cast<unsigned long long>(weightsFile.size()),
                subject,
                static_cast<unsigned long long>(artifact->weights_bytes));
  if (verify) {
    uint8_t digest[32];
    sha256(weightsFile.data(), weightsFile.size(), digest);
    if (memcmp(digest, artifact->weights_sha256, sizeof(digest)))
      return fail(error, INGOT_BAD_ARTIFACT,
                  "weights file '%s' does not belong to '%s' (SHA-256 "
                  "differs); use the file that was compiled with it",
                  path, subject);
  }
  weights = weightsFile.data();
  return INGOT_OK;
}

/// Maps the weights file beside the library. Prefers the file whose name
/// contains the hash of the weights.
ingot_status ingot_model::mapWeightsBeside(const char *libraryPath,
                                           bool verify, ingot_error *error) {
  size_t length = strlen(libraryPath);
  char *path = static_cast<char *>(malloc(length + maxFileName + 2));
  if (!path)
    return fail(error, INGOT_OUT_OF_MEMORY, "no memory to load '%s'",
                libraryPath);
  const char *slash = strrchr(libraryPath, '/');
  const char *fileName = slash ? slash + 1 : libraryPath;
  char name[maxFileName];
  weightsName(fileName, artifact->weights_sha256, name);
  snprintf(path, length + maxFileName, "%.*s%s", int(fileName - libraryPath),
           libraryPath, name);
  ingot_status status = mapWeights(path, verify, libraryPath, error);
  if (status == INGOT_NOT_FOUND) {
    snprintf(path, length + maxFileName, "%s.weights", libraryPath);
    if (!access(path, F_OK))
      status = mapWeights(path, verify, libraryPath, error);
  }
  free(path);
  return status;
}

/// Selects the variant. If the model is only described, selects the first
/// variant, because the model may be for another machine.
ingot_status ingot_model::selectVariant(const char *subject,
                                        const ingot_model_options &options,
                                        ingot_error *error) {
  Cpu cpu;
  bool isDescribedOnly = options.flags & INGOT_MODEL_DESCRIBE_ONLY;
  ingot_error *reason = isDescribedOnly ? nullptr : error;
  ingot_status status = readCpu(cpu, reason);
  if (status && !isDescribedOnly)
    return status;
  if (ingot_status invalid = capCpu(
          options.max_level, "ingot_model_options.max_level", cpu, error))
    return invalid;
  if (isDescribedOnly)
    cpu.requestAmx = [] { return true; };
  bool isForGpu = !status && device.kind != Device::Kind::cpu &&
                  findGpuVariant(*artifact, cpu, variant);
  // Describe a model by its CPU code, if it has any.
  if (isForGpu && isDescribedOnly && device.kind == Device::Kind::best) {
    uint32_t ofCpu;
    if (!chooseVariant(*artifact, cpu, subject, ofCpu, nullptr))
      variant = ofCpu;
  } else if (!isForGpu && device.kind == Device::Kind::cuda) {
    status = refuseGpu(*artifact, subject, reason);
  } else if (!isForGpu && !status) {
    status = chooseVariant(*artifact, cpu, subject, variant, reason);
  }
  if (status && !isDescribedOnly)
    return status;
  code = readVariant(*artifact, variant);
  return INGOT_OK;
}

ingot_status ingot_model::runLoad(const char *subject, ingot_error *error) {
  host = {sizeof(host), pool->numThreads, this, modelAllocate, modelRelease,
          modelParallelFor};
  if (bringsThreads(*artifact)) {
    if (libraryThreadsLostByFork())
      host.num_threads = 1;
    noteLibraryThreads();
  }
  if (code.load) {
    char message[384] = "";
    ingot_abi_load call = {};
    call.struct_size = sizeof(call);
    call.host = &host;
    call.weights = weights;
    call.weights_bytes = artifact->weights_bytes;
    call.device = device.index;
    call.driver = device.driver[0] ? device.driver : nullptr;
    call.error = message;
    call.error_bytes = sizeof(message);
    if (int32_t status = code.load(&call))
      return fail(error, status, "'%s' could not be loaded: %s", subject,
                  message[0] ? message : ingot_status_describe(status));
    state = call.state;
  }
  loaded = true;
  return INGOT_OK;
}

ingot_status ingot_model::init(const ingot_abi_artifact *checked,
                               const char *subject,
                               const char *libraryPath,
                               const ingot_model_options &options,
                               ingot_error *error) {
  if (ingot_status status =
          checkArtifact(checked, library.mapping(), subject, error))
    return status;
  artifact = checked;
  bool isDescribedOnly = options.flags & INGOT_MODEL_DESCRIBE_ONLY;
  if (ingot_status status = readDevice(
          options.device, "ingot_model_options.device", device, error))
    return status;
  if (ingot_status status = selectVariant(subject, options, error))
    return status;
  bool verifies = options.flags & INGOT_MODEL_VERIFY;
  if (isDescribedOnly && !verifies)
    return INGOT_OK;
  weights = artifact->weights;
  if (!weights && artifact->weights_bytes) {
    if (!options.weights_path && !libraryPath)
      return fail(error, INGOT_INVALID_ARGUMENT,
                  "'%s' has its weights in a file of their own; name it in "
                  "ingot_model_options.weights_path",
                  subject);
    bool verify = !(options.flags & INGOT_MODEL_TRUST_WEIGHTS);
    if (ingot_status status =
            options.weights_path
                ? mapWeights(options.weights_path, verify, subject, error)
                : mapWeightsBeside(libraryPath, verify, error))
      return status;
  }
  if (isDescribedOnly)
    return INGOT_OK;
  pool = options.pool ? retainPool(options.pool) : retainSharedPool();
  if (!pool)
    return fail(error, INGOT_OUT_OF_MEMORY, "no memory for a thread pool");
  ingot_status status = runLoad(subject, error);
  return status ? fallBackToCpu(subject, options, status, error) : INGOT_OK;
}

/// Loads the code for CPUs if the load of the code for GPUs failed because the
/// machine has no fitting GPU. `status` is the failure. Does nothing if the
/// caller named a device.
ingot_status ingot_model::fallBackToCpu(const char *subject,
                                        const ingot_model_options &options,
                                        ingot_status status,
                                        ingot_error *error) {
  if (code.device != INGOT_ABI_DEVICE_CUDA ||
      status != INGOT_UNSUPPORTED_DEVICE ||
      device.kind != Device::Kind::best)
    return status;
  device.kind = Device::Kind::cpu;
  // If an artifact has no code for CPUs, keep the message about the GPU.
  if (selectVariant(subject, options, nullptr))
    return status;
  return runLoad(subject, error);
}

//===----------------------------------------------------------------------===//
// C API
//===----------------------------------------------------------------------===//

/// Creates an empty model and reads the caller's options.
static ingot_status begin(const ingot_model_options *given, ingot_model **out,
                          ingot_model_options &options, ingot_model *&model,
                          ingot_error *error) {
  constexpr uint32_t known =
      INGOT_MODEL_DESCRIBE_ONLY | INGOT_MODEL_TRUST_WEIGHTS |
      INGOT_MODEL_VERIFY | INGOT_MODEL_TRUST_FILE | INGOT_MODEL_MAP_CODE;
  constexpr uint32_t trusting =
      INGOT_MODEL_TRUST_WEIGHTS | INGOT_MODEL_TRUST_FILE;
  if (!out)
    return fail(error, INGOT_INVALID_ARGUMENT, "model is null");
  if (ingot_status status =
          readOptions(given, options, "ingot_model_options", error))
    return status;
  if ((options.flags & ~known) || anyNonZero(options.reserved))
    return fail(error, INGOT_INVALID_ARGUMENT,
                "ingot_model_options: unknown flags or reserved fields that "
                "are not zero");
  if ((options.flags & INGOT_MODEL_VERIFY) && (options.flags & trusting))
    return fail(error, INGOT_INVALID_ARGUMENT,
                "ingot_model_options: INGOT_MODEL_VERIFY excludes "
                "INGOT_MODEL_TRUST_WEIGHTS and INGOT_MODEL_TRUST_FILE");
  ingot_allocator allocator;
  if (ingot_status status =
          readAllocator(options.allocator, allocator, error))
    return status;
  model = create<ingot_model>();
  if (!model)
    return fail(error, INGOT_OUT_OF_MEMORY, "no memory for a model");
  model->allocator = allocator;
  return INGOT_OK;
}

namespace {
/// Identity of a file. It shows if another file has taken the name.
struct FileIdentity {
  explicit FileIdentity(const char *path) {
    struct stat status;
    if (stat(path, &status))
      return;
    device = status.st_dev;
    inode = status.st_ino;
    seconds = status.st_mtim.tv_sec;
    nanoseconds = status.st_mtim.tv_nsec;
  }
  bool operator==(const FileIdentity &other) const {
    return device == other.device && inode == other.inode &&
           seconds == other.seconds && nanoseconds == other.nanoseconds;
  }

  uint64_t device = 0, inode = 0;
  int64_t seconds = 0, nanoseconds = 0;
};
} // namespace

/// Reads the description of the opened library. ingot_model::init explains
/// `libraryPath`.
static ingot_status describe(ingot_model &model, const char *subject,
                             const char *libraryPath,
                             const ingot_model_options &options,
                             ingot_error *error) {
  void *query = model.library.symbol(INGOT_ABI_QUERY_SYMBOL);
  if (!query || !model.library.mapping().holdsFunction(query))
    return fail(error, INGOT_BAD_ARTIFACT,
                "'%s' is a shared object but not a compiled model (no symbol "
                "%s)",
                subject, INGOT_ABI_QUERY_SYMBOL);
  auto artifact = reinterpret_cast<ingot_abi_query_fn>(query);
  return model.init(artifact(), subject, libraryPath, options, error);
}

ingot_status ingot_model_load(const char *path,
                              const ingot_model_options *given,
                              ingot_model **out, ingot_error *error) {
  ingot_model_options options = INGOT_MODEL_OPTIONS_INIT;
  ingot_model *model = nullptr;
  if (!path || !*path)
    return fail(error, INGOT_INVALID_ARGUMENT, "path is null or empty");
  // Tries again if a compilation replaces the opened library and removes its
  // weights.
  for (int attempt = 1;; ++attempt) {
    FileIdentity identity(path);
    if (ingot_status status = begin(given, out, options, model, error))
      return status;
    ingot_status status = model->library.open(path, options.flags, error);
    if (!status)
      status = describe(*model, path, path, options, error);
    if (!status)
      break;
    destroy(model);
    constexpr int most = 10;
    if (status != INGOT_NOT_FOUND || attempt == most ||
        identity == FileIdentity(path))
      return status;
  }
  *out = model;
  return INGOT_OK;
}

ingot_status ingot_model_load_memory(const void *bytes, uint64_t size,
                                     const ingot_model_options *given,
                                     ingot_model **out, ingot_error *error) {
  constexpr char subject[] = "model in memory";
  ingot_model_options options = INGOT_MODEL_OPTIONS_INIT;
  ingot_model *model = nullptr;
  if (!bytes || !size)
    return fail(error, INGOT_INVALID_ARGUMENT, "bytes are null or empty");
  if (ingot_status status = begin(given, out, options, model, error))
    return status;
  ingot_status status = model->library.openMemory(bytes, size, subject,
                                                  options.flags, error);
  if (!status)
    status = describe(*model, subject, nullptr, options, error);
  if (status) {
    destroy(model);
    return status;
  }
  *out = model;
  return INGOT_OK;
}

ingot_status ingot_model_attach(const ingot_abi_artifact *artifact,
                                const ingot_model_options *given,
                                ingot_model **out, ingot_error *error) {
  ingot_model_options options = INGOT_MODEL_OPTIONS_INIT;
  ingot_model *model = nullptr;
  if (ingot_status status = begin(given, out, options, model, error))
    return status;
  if (options.flags & (INGOT_MODEL_VERIFY | INGOT_MODEL_TRUST_FILE |
                       INGOT_MODEL_MAP_CODE)) {
    destroy(model);
    return fail(error, INGOT_INVALID_ARGUMENT,
                "INGOT_MODEL_VERIFY, INGOT_MODEL_TRUST_FILE and "
                "INGOT_MODEL_MAP_CODE are about a file; load the model by its "
                "path");
  }
  // Uses the artifact's own name only after the checks.
  if (ingot_status status =
          model->init(artifact, "linked model", nullptr, options, error)) {
    destroy(model);
    return status;
  }
  *out = model;
  return INGOT_OK;
}

void ingot_model_release(ingot_model *model) {
  if (model &&
      model->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    destroy(model);
}
