//===- Run.cpp - running a model ------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Bind.h"
#include "runtime/core/Cancellation.h"
#include "runtime/core/Context.h"
#include "runtime/core/Error.h"
#include "runtime/core/Profile.h"
#include "runtime/host/LibraryThreads.h"

using namespace ingot::rt;

namespace {
/// The receivers of a run's events.
struct Observer {
  explicit Observer(const ingot_run_options &options)
      : profile(options.profile ? &options.profile->times : nullptr),
        cancellation(options.cancellation), observe(options.observe),
        observeUser(options.observe_user) {
    // Clear the callback if there is no receiver, so that generated code skips
    // tensors without a call.
    if (!observe)
      abi.tensor = nullptr;
    // Code of a device that measures times does not wait at ends of layers.
    if (!profile)
      abi.layer_time = nullptr;
  }

  /// Returns null if there is no receiver.
  const ingot_abi_observer *forRun() const {
    return profile || cancellation || observe ? &abi : nullptr;
  }

  static int32_t layerEnd(void *user, uint64_t layer, uint64_t flops,
                          uint64_t bytes) {
    auto &self = *static_cast<Observer *>(user);
    if (self.profile)
      self.profile->endLayer(layer, flops, bytes);
    return poll(user);
  }

  static void layerTime(void *user, uint64_t layer, uint64_t flops,
                        uint64_t bytes, uint64_t start, uint64_t end) {
    static_cast<Observer *>(user)->profile->setLayer(layer, flops, bytes, start,
                                                     end);
  }

  static int32_t tensor(void *user, uint64_t number, uint32_t dtype,
                        uint32_t rank, const int64_t *dims,
                        const int64_t *strides, const void *data) {
    auto &self = *static_cast<Observer *>(user);
    const ingot_tensor_view view = {
        sizeof(ingot_tensor_view), dtype, data, dims, strides, rank, 0};
    return self.observe(self.observeUser, number, &view);
  }

  static int32_t poll(void *user) {
    auto &self = *static_cast<Observer *>(user);
    return self.cancellation && self.cancellation->isRequested()
               ? INGOT_CANCELLED
               : INGOT_OK;
  }

  Profile *profile;
  const ingot_cancellation *cancellation;
  ingot_observe_fn observe;
  void *observeUser;
  ingot_abi_observer abi = {
      sizeof(ingot_abi_observer), 0, this, layerEnd, tensor, poll, layerTime};
};

/// Marks a context or a profile as used by this thread.
class Taken {
public:
  explicit Taken(std::atomic<bool> *flag) : flag(flag) {
    if (flag && flag->exchange(true, std::memory_order_acquire)) {
      isBusy = true;
      this->flag = nullptr;
    }
  }
  ~Taken() {
    if (flag)
      flag->store(false, std::memory_order_release);
  }
  Taken(const Taken &) = delete;
  Taken &operator=(const Taken &) = delete;
  /// Leaves the object marked.
  void keep() { flag = nullptr; }

  bool isBusy = false;

private:
  std::atomic<bool> *flag;
};
} // namespace

ingot_status ingot_context::run(const ingot_input *inputs,
                                const ingot_output *outputs,
                                const ingot_run_options &options, bool isAsync,
                                ingot_error *error) {
  Observer observer(options);
  if (observer.profile)
    observer.profile->beginRun();
  if (ingot_status status = bindInputs(inputs, error))
    return status;
  if (ingot_status status = bindOutputs(outputs, error))
    return status;
  if (options.cancellation && options.cancellation->isRequested())
    return fail(error, INGOT_CANCELLED, "the run was cancelled");
  if (ingot_status status = openSession(error))
    return status;
  // Clear only the first byte, because clearing the whole array would take as
  // long as the check of a tensor.
  char message[384];
  message[0] = '\0';
  if (bringsThreads(*model->artifact) && libraryThreadsLostByFork())
    host.num_threads = 1;
  ingot_abi_call call = {};
  call.struct_size = sizeof(call);
  call.host = &host;
  call.weights = model->weights;
  call.state = model->state;
  call.arena = arena;
  call.inputs = &inputBuffers[0];
  call.outputs = &outputBuffers[0];
  call.error = message;
  call.error_bytes = sizeof(message);
  call.observer = observer.forRun();
  call.stream = options.stream;
  call.session = session;
  int32_t status = model->code.run(&call);
  heap.endRun();
  if (status == INGOT_OK && !isAsync)
    status = waitForSession(message, sizeof(message));
  if (observer.profile)
    observer.profile->endRun(status == INGOT_OK);
  if (status == INGOT_OK) {
    reportDims();
    return INGOT_OK;
  }
  if (status == INGOT_BUFFER_TOO_SMALL)
    return reportTooSmall(error);
  return fail(error, status, "%s",
              message[0] ? message : ingot_status_describe(status));
}

/// Reads the caller's options. Refuses options that the variant does not
/// support.
static ingot_status readRunOptions(const ingot_run_options *given,
                                   const ingot_model &model, bool isAsync,
                                   ingot_run_options &options,
                                   ingot_error *error) {
  if (ingot_status status =
          readOptions(given, options, "ingot_run_options", error))
    return status;
  if (options.reserved0 || anyNonZero(options.reserved))
    return fail(error, INGOT_INVALID_ARGUMENT,
                "ingot_run_options: reserved fields must be zero");
  if (options.stream && !(model.code.flags & INGOT_ABI_VARIANT_STREAMS))
    return fail(error, INGOT_INVALID_ARGUMENT,
                "ingot_run_options.stream is for code that runs on a stream, "
                "but the code in use (%s) does not; leave it null",
                model.code.target);
  if (options.profile && isAsync)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "ingot_run_options.profile measures whole runs; leave it null, "
                "or call ingot_context_run");
  if (options.profile && options.profile->model != &model)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "ingot_run_options.profile was created for another model");
  return INGOT_OK;
}

namespace {
/// The tensors of a run.
struct Tensors {
  const ingot_input *inputs;
  uint32_t numInputs;
  const ingot_output *outputs;
  uint32_t numOutputs;
};
} // namespace

/// Checks the arguments of a run, and runs. If `isAsync`, a run that succeeds
/// leaves the context marked as running.
static ingot_status start(ingot_context *context, const Tensors &tensors,
                          const ingot_run_options *given, bool isAsync,
                          ingot_error *error) {
  const auto [inputs, numInputs, outputs, numOutputs] = tensors;
  if (!context)
    return fail(error, INGOT_INVALID_ARGUMENT, "context is null");
  const ingot_abi_artifact &artifact = *context->model->artifact;
  if (ingot_status status =
          checkCounts(artifact, numInputs, numOutputs, error))
    return status;
  if ((numInputs && !inputs) || (numOutputs && !outputs))
    return fail(error, INGOT_INVALID_ARGUMENT, "inputs or outputs are null");
  ingot_run_options options = INGOT_RUN_OPTIONS_INIT;
  if (ingot_status status =
          readRunOptions(given, *context->model, isAsync, options, error))
    return status;
  Taken taken(&context->running);
  if (taken.isBusy)
    return context->isUnderWay.load(std::memory_order_relaxed)
               ? fail(error, INGOT_BUSY,
                      "an earlier run of the context is under way; call "
                      "ingot_context_wait first")
               : fail(error, INGOT_BUSY,
                      "the context is running in another thread; make one "
                      "context for each thread");
  Taken profile(options.profile ? &options.profile->running : nullptr);
  if (profile.isBusy)
    return fail(error, INGOT_BUSY,
                "the profile is used by a run in another thread; make one "
                "profile for each context");
  const ingot_status status =
      context->run(inputs, outputs, options, isAsync, error);
  if (status == INGOT_OK && isAsync) {
    context->isUnderWay.store(true, std::memory_order_release);
    taken.keep();
  }
  return status;
}

ingot_status ingot_context_run(ingot_context *context,
                               const ingot_input *inputs, uint32_t numInputs,
                               const ingot_output *outputs, uint32_t numOutputs,
                               const ingot_run_options *options,
                               ingot_error *error) {
  return start(context, {inputs, numInputs, outputs, numOutputs}, options,
               /*isAsync=*/false, error);
}

ingot_status
ingot_context_run_async(ingot_context *context, const ingot_input *inputs,
                        uint32_t numInputs, const ingot_output *outputs,
                        uint32_t numOutputs, const ingot_run_options *options,
                        ingot_error *error) {
  return start(context, {inputs, numInputs, outputs, numOutputs}, options,
               /*isAsync=*/true, error);
}

ingot_status ingot_context_wait(ingot_context *context, ingot_error *error) {
  if (!context)
    return fail(error, INGOT_INVALID_ARGUMENT, "context is null");
  if (!context->isUnderWay.exchange(false, std::memory_order_acquire))
    return INGOT_OK;
  char message[384] = "";
  const int32_t status = context->waitForSession(message, sizeof(message));
  context->running.store(false, std::memory_order_release);
  if (status)
    return fail(error, status, "%s",
                message[0] ? message : ingot_status_describe(status));
  return INGOT_OK;
}
