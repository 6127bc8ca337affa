//===- Context.cpp - creating and releasing contexts ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Context.h"

#include "runtime/core/Error.h"

using namespace ingot::rt;

//===----------------------------------------------------------------------===//
// Services for the running code
//===----------------------------------------------------------------------===//

static void *contextAllocate(void *user, uint64_t bytes, uint64_t alignment) {
  return static_cast<ingot_context *>(user)->heap.allocate(bytes, alignment);
}

static void contextRelease(void *user, void *pointer) {
  static_cast<ingot_context *>(user)->heap.release(pointer);
}

static void contextParallelFor(void *user, void (*task)(void *, int64_t),
                               void *arg, int64_t count) {
  auto *context = static_cast<ingot_context *>(user);
  if (context->host.num_threads == 1 || count <= 1) {
    for (int64_t i = 0; i < count; ++i)
      task(arg, i);
    return;
  }
  if (context->pool)
    context->pool->parallelFor(context->host.num_threads, task, arg, count);
  else
    context->executor.parallel_for(context->executor.user, task, arg, count);
}

//===----------------------------------------------------------------------===//
// ingot_context
//===----------------------------------------------------------------------===//

ingot_context::~ingot_context() {
  closeSession();
  if (ownsArena)
    allocator.release(allocator.user, arena);
  free(tables);
  heap.releaseAll();
  ingot_pool_release(pool);
  ingot_model_release(model);
}

ingot_status ingot_context::initThreads(const ingot_context_options &options,
                                        ingot_error *error) {
  if (options.executor) {
    if (options.pool)
      return fail(error, INGOT_INVALID_ARGUMENT,
                  "ingot_context_options: give a pool or an executor, not "
                  "both");
    if (ingot_status status = readOptions(options.executor, executor,
                                          "ingot_executor", error))
      return status;
    if (!executor.parallel_for || !executor.num_threads)
      return fail(error, INGOT_INVALID_ARGUMENT,
                  "ingot_executor needs parallel_for and at least one thread");
  } else {
    pool = options.pool ? retainPool(options.pool) : retainSharedPool();
    if (!pool)
      return fail(error, INGOT_OUT_OF_MEMORY, "no memory for a thread pool");
  }
  uint32_t threads = pool ? pool->numThreads : executor.num_threads;
  if (options.num_threads && options.num_threads < threads)
    threads = options.num_threads;
  host = {sizeof(host),    threads,        this,
          contextAllocate, contextRelease, contextParallelFor};
  return INGOT_OK;
}

ingot_status ingot_context::initArena(const ingot_context_options &options,
                                      ingot_error *error) {
  uint64_t needed = model->code.arena_bytes;
  if (options.arena) {
    if (options.arena_bytes < needed)
      return fail(error, INGOT_BUFFER_TOO_SMALL,
                  "the arena has %llu bytes, but the model needs %llu",
                  static_cast<unsigned long long>(options.arena_bytes),
                  static_cast<unsigned long long>(needed));
    if (reinterpret_cast<uintptr_t>(options.arena) % INGOT_ABI_ALIGNMENT)
      return fail(error, INGOT_INVALID_ARGUMENT,
                  "the arena is not aligned to %u bytes", INGOT_ABI_ALIGNMENT);
    arena = options.arena;
    return INGOT_OK;
  }
  if (!needed)
    return INGOT_OK;
  arena = allocator.allocate(allocator.user, needed, INGOT_ABI_ALIGNMENT);
  if (!arena)
    return fail(error, INGOT_OUT_OF_MEMORY,
                "no memory for an arena of %llu bytes",
                static_cast<unsigned long long>(needed));
  ownsArena = true;
  return INGOT_OK;
}

ingot_status ingot_context::initBuffers(ingot_error *error) {
  const ingot_abi_artifact &artifact = *model->artifact;
  Rows<ingot_abi_tensor> inputs = inputsOf(artifact);
  Rows<ingot_abi_tensor> outputs = outputsOf(artifact);
  uint64_t tensors = uint64_t(inputs.count()) + outputs.count();
  uint64_t sizes = 0;
  for (uint32_t i = 0; i < inputs.count(); ++i)
    sizes += inputs[i].rank;
  for (uint32_t i = 0; i < outputs.count(); ++i)
    sizes += outputs[i].rank;
  // Counts all parts in units of 8 bytes. calloc checks the product for
  // overflow.
  uint32_t bufferBytes = artifact.buffer_bytes;
  uint64_t words = tensors * (bufferBytes / 8) +
                   inputs.count() * (sizeof(ingot_input) / 8) +
                   outputs.count() * (sizeof(ingot_output) / 8) + sizes;
  tables = calloc(words ? words : 1, 8);
  if (!tables)
    return fail(error, INGOT_OUT_OF_MEMORY, "no memory for a context");
  char *next = static_cast<char *>(tables);
  auto take = [&](uint64_t count, uint64_t bytes) {
    void *taken = next;
    next += count * bytes;
    return taken;
  };
  inputBuffers = Buffers(take(inputs.count(), bufferBytes), bufferBytes);
  outputBuffers = Buffers(take(outputs.count(), bufferBytes), bufferBytes);
  givenInputs =
      static_cast<ingot_input *>(take(inputs.count(), sizeof(ingot_input)));
  givenOutputs =
      static_cast<ingot_output *>(take(outputs.count(), sizeof(ingot_output)));
  for (uint32_t i = 0; i < inputs.count(); ++i)
    inputBuffers[i].dims =
        static_cast<int64_t *>(take(inputs[i].rank, sizeof(int64_t)));
  for (uint32_t i = 0; i < outputs.count(); ++i)
    outputBuffers[i].dims =
        static_cast<int64_t *>(take(outputs[i].rank, sizeof(int64_t)));
  return INGOT_OK;
}

ingot_status ingot_context::openSession(ingot_error *error) {
  const ingot_abi_device *device = model->code.device_functions;
  if (session || !device)
    return INGOT_OK;
  char message[384] = "";
  if (int32_t status =
          device->open(model->state, &session, message, sizeof(message)))
    return fail(error, status, "%s",
                message[0] ? message : ingot_status_describe(status));
  return INGOT_OK;
}

void ingot_context::closeSession() {
  if (session)
    model->code.device_functions->close(model->state, session);
  session = nullptr;
}

int32_t ingot_context::waitForSession(char *message, uint64_t bytes) {
  if (!session)
    return INGOT_OK;
  return model->code.device_functions->wait(model->state, session, message,
                                            bytes);
}

ingot_status ingot_context::init(ingot_model *owner,
                                 const ingot_context_options &options,
                                 ingot_error *error) {
  owner->references.fetch_add(1, std::memory_order_relaxed);
  model = owner;
  if (ingot_status status = initThreads(options, error))
    return status;
  if (ingot_status status = initArena(options, error))
    return status;
  return initBuffers(error);
}

//===----------------------------------------------------------------------===//
// C API
//===----------------------------------------------------------------------===//

ingot_status ingot_context_create(ingot_model *model,
                                  const ingot_context_options *given,
                                  ingot_context **out, ingot_error *error) {
  ingot_context_options options = INGOT_CONTEXT_OPTIONS_INIT;
  ingot_allocator allocator;
  if (!model || !out)
    return fail(error, INGOT_INVALID_ARGUMENT, "model or context is null");
  if (!model->loaded)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "the model was opened with INGOT_MODEL_DESCRIBE_ONLY and "
                "cannot run");
  if (ingot_status status =
          readOptions(given, options, "ingot_context_options", error))
    return status;
  if (anyNonZero(options.reserved))
    return fail(error, INGOT_INVALID_ARGUMENT,
                "ingot_context_options: reserved fields must be zero");
  if (ingot_status status =
          readAllocator(options.allocator, allocator, error))
    return status;
  auto *context = create<ingot_context>(allocator);
  if (!context)
    return fail(error, INGOT_OUT_OF_MEMORY, "no memory for a context");
  if (ingot_status status = context->init(model, options, error)) {
    destroy(context);
    return status;
  }
  *out = context;
  return INGOT_OK;
}

void ingot_context_release(ingot_context *context) { destroy(context); }

uint32_t ingot_context_thread_count(const ingot_context *context) {
  return context ? context->host.num_threads : 0;
}

void ingot_context_trim(ingot_context *context) {
  if (!context || context->running.exchange(true, std::memory_order_acquire))
    return;
  context->heap.releaseAll();
  context->closeSession();
  context->running.store(false, std::memory_order_release);
}
