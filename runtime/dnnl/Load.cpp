//===- Load.cpp - primitives and weights, once per loaded model -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/dnnl/State.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace ingot::dnnl;

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

// Weak symbols, because oneDNN may use a threading library other than OpenMP.
extern "C" __attribute__((weak)) void omp_set_num_threads(int);
extern "C" __attribute__((weak)) int omp_get_max_threads();

ThreadScope::ThreadScope(uint32_t numThreads) {
  ingot_float_state_enter(&savedFloatState);
  if (!omp_set_num_threads || !omp_get_max_threads)
    return;
  int now = omp_get_max_threads();
  if (now == int(numThreads))
    return;
  saved = now;
  omp_set_num_threads(int(numThreads));
}

ThreadScope::~ThreadScope() {
  if (saved)
    omp_set_num_threads(saved);
  ingot_float_state_leave(&savedFloatState);
}

//===----------------------------------------------------------------------===//
// Pages
//===----------------------------------------------------------------------===//

extern "C" __attribute__((visibility("hidden"))) const ElfW(Ehdr) __ehdr_start;

/// Returns true if the bytes are in a read-only segment of the object that
/// contains this code. Dropped pages of such a segment can be read from the
/// file again.
static bool isOwnConstant(uintptr_t start, uintptr_t end) {
  uintptr_t base = reinterpret_cast<uintptr_t>(&__ehdr_start);
  auto *headers =
      reinterpret_cast<const ElfW(Phdr) *>(base + __ehdr_start.e_phoff);
  for (int i = 0; i < __ehdr_start.e_phnum; ++i) {
    const ElfW(Phdr) &header = headers[i];
    if (header.p_type == PT_LOAD && !(header.p_flags & PF_W) &&
        start >= base + header.p_vaddr &&
        end <= base + header.p_vaddr + header.p_filesz)
      return true;
  }
  return false;
}

void ingot::dnnl::dropPages(const void *data, size_t bytes) {
  uintptr_t page = uintptr_t(sysconf(_SC_PAGESIZE));
  uintptr_t start = reinterpret_cast<uintptr_t>(data);
  uintptr_t end = start + bytes;
  if (!isOwnConstant(start, end))
    return;
  start = (start + page - 1) / page * page;
  end = end / page * page;
  if (start < end)
    madvise(reinterpret_cast<void *>(start), end - start, MADV_DONTNEED);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

namespace {

/// Data that the parallel tasks of a load share.
struct Loader {
  State &state;
  uint32_t numThreads;
  Message message;
  pthread_mutex_t mutex;
  int32_t status;

  /// Stores the first failure and its message.
  void report(int32_t code, const char *text) {
    pthread_mutex_lock(&mutex);
    if (status == INGOT_ABI_OK) {
      status = code;
      if (message.text && message.bytes)
        snprintf(message.text, message.bytes, "%s", text);
    }
    pthread_mutex_unlock(&mutex);
  }
};

} // namespace

static int32_t createFixed(Loader &loader, Operation &operation,
                           const Message &message) {
  Record record;
  readOperation(loader.state, operation, record);
  // Set the number of threads of the runs, because oneDNN divides the work when
  // it creates a primitive.
  ThreadScope threads(loader.numThreads);
  operation.fixed = static_cast<Variant *>(calloc(1, sizeof(Variant)));
  if (!operation.fixed)
    return message.fail(INGOT_ABI_OUT_OF_MEMORY, record, "is out of memory");
  operation.fixed->numThreads = loader.numThreads;
  return createPrimitive(loader.state.engine,
                         {record, nullptr, loader.state.weights, nullptr},
                         message, operation.fixed->primitive);
}

/// Returns the bytes from the first to the last element of a constant tensor.
static size_t constantBytes(const Tensor &tensor) {
  int64_t elements = 1;
  for (int64_t d = 0; d < tensor.rank; ++d)
    elements += (tensor.dims[d] - 1) * tensor.strides[d];
  return size_t(elements) * dnnl_data_type_size(dataType(tensor.dtype));
}

static int32_t packFixed(Loader &loader, Operation &operation,
                         const Message &message) {
  Record record;
  readOperation(loader.state, operation, record);
  // Use one thread for each operation, because several operations are packed in
  // parallel.
  ThreadScope threads(1);
  int32_t status =
      packWeights(loader.state.engine, record, loader.state.weights,
                  operation.packed->layout, operation.packed->data, message);
  if (status != INGOT_ABI_OK)
    return status;
  const Tensor *weights = record.find(INGOT_DNNL_WEIGHTS);
  dropPages(static_cast<const char *>(loader.state.weights) + weights->offset,
            constantBytes(*weights));
  return INGOT_ABI_OK;
}

using Step = int32_t (*)(Loader &, Operation &, const Message &);

template <Step step>
static void runStep(void *loader, int64_t index) {
  auto &self = *static_cast<Loader *>(loader);
  Operation &operation = self.state.operations[index];
  if (self.status != INGOT_ABI_OK || operation.numDynamic)
    return;
  if (step == packFixed && !operation.packed)
    return;
  char text[256] = "";
  int32_t status = step(self, operation, Message{text, sizeof(text)});
  if (status != INGOT_ABI_OK)
    self.report(status, text);
}

/// Gives each fixed variant with constant weights a part of one slab.
static int32_t allocateSlab(Loader &loader) {
  State &state = loader.state;
  // Uses huge pages if available, which reduces page faults and TLB misses.
  const size_t hugePage = size_t(2) << 20;
  for (int64_t pass = 0; pass < 2; ++pass) {
    size_t offset = 0;
    for (int64_t i = 0; i < state.numOperations; ++i) {
      Operation &operation = state.operations[i];
      if (!operation.fixed || operation.fixed->primitive.packed < 0)
        continue;
      Primitive &primitive = operation.fixed->primitive;
      Argument &argument = primitive.arguments[primitive.packed];
      if (pass == 1) {
        auto *packed =
            static_cast<PackedWeights *>(calloc(1, sizeof(PackedWeights)));
        if (!packed || dnnl_memory_desc_clone(
                           &packed->layout, argument.layout) != dnnl_success) {
          free(packed);
          return loader.message.fail(INGOT_ABI_OUT_OF_MEMORY,
                                     "is out of memory");
        }
        packed->data = static_cast<char *>(state.slab) + offset;
        operation.packed = operation.fixed->weights = packed;
        argument.constant = packed->data;
      }
      // Places tensors an odd number of cache lines apart. Otherwise tensors of
      // 2^n bytes would all start in the same cache set.
      size_t lines = dnnl_memory_desc_get_size(argument.layout) / 64 + 1;
      offset += (lines | 1) * 64;
    }
    if (pass == 0) {
      if (!offset)
        return INGOT_ABI_OK;
      state.slabBytes = (offset + hugePage - 1) / hugePage * hugePage;
      if (offset < hugePage)
        state.slabBytes = offset;
      if (posix_memalign(&state.slab, hugePage, state.slabBytes) != 0) {
        state.slab = nullptr;
        return loader.message.fail(INGOT_ABI_OUT_OF_MEMORY, "is out of memory");
      }
      if (offset >= hugePage)
        madvise(state.slab, state.slabBytes, MADV_HUGEPAGE);
    }
  }
  return INGOT_ABI_OK;
}

static int32_t readTable(State &state, const int64_t *table,
                         const Message &message) {
  if (!table || table[0] != INGOT_DNNL_TABLE_VERSION || table[1] < 0 ||
      table[2] < 3)
    return message.fail(INGOT_ABI_BAD_ARTIFACT,
                        "operations are in a table that this code cannot read");
  state.numOperations = table[1];
  state.operations = static_cast<Operation *>(
      calloc(size_t(state.numOperations) + 1, sizeof(Operation)));
  if (!state.operations)
    return message.fail(INGOT_ABI_OUT_OF_MEMORY, "is out of memory");
  for (int64_t i = 0; i < state.numOperations; ++i)
    pthread_mutex_init(&state.operations[i].mutex, nullptr);
  int64_t position = 3;
  for (int64_t i = 0; i < state.numOperations; ++i) {
    Operation &operation = state.operations[i];
    Record record;
    operation.words = table + position;
    operation.numWords = readRecord(operation.words, table[2] - position,
                                    state.names, record);
    if (!operation.numWords)
      return message.fail(INGOT_ABI_BAD_ARTIFACT,
                          "operations are described by a damaged table");
    operation.numDynamic = record.numDynamic;
    position += operation.numWords;
  }
  return INGOT_ABI_OK;
}

static int32_t loadState(const ingot_abi_host *host, State &state,
                         const int64_t *table, const Message &message) {
  const dnnl_version_t *version = dnnl_version();
  if (version->major != DNNL_VERSION_MAJOR ||
      version->minor < DNNL_VERSION_MINOR) {
    char text[128];
    snprintf(text, sizeof(text),
             "%d.%d is installed, but this model needs %d.%d or newer",
             version->major, version->minor, DNNL_VERSION_MAJOR,
             DNNL_VERSION_MINOR);
    return message.fail(INGOT_ABI_BACKEND_ERROR, text);
  }
  int32_t status = readTable(state, table, message);
  if (status != INGOT_ABI_OK)
    return status;
  dnnl_status_t created = dnnl_engine_create(&state.engine, dnnl_cpu, 0);
  if (created != dnnl_success)
    return message.fail(INGOT_ABI_BACKEND_ERROR, "cannot use the CPU", created);
  Loader loader{state, host->num_threads, message, PTHREAD_MUTEX_INITIALIZER,
                INGOT_ABI_OK};
  host->parallel_for(host->user, runStep<createFixed>, &loader,
                     state.numOperations);
  if (loader.status == INGOT_ABI_OK)
    loader.status = allocateSlab(loader);
  if (loader.status == INGOT_ABI_OK && state.slab)
    host->parallel_for(host->user, runStep<packFixed>, &loader,
                       state.numOperations);
  return loader.status;
}

int32_t ingot_dnnl_load(ingot_abi_load *call, const int64_t *table,
                        const char *names) {
  call->state = nullptr;
  Message message{call->error, call->error_bytes};
  auto *self = static_cast<State *>(calloc(1, sizeof(State)));
  if (!self)
    return message.fail(INGOT_ABI_OUT_OF_MEMORY, "is out of memory");
  self->weights = call->weights;
  self->names = names;
  int32_t status = loadState(call->host, *self, table, message);
  if (status != INGOT_ABI_OK) {
    ingot_dnnl_unload(call->host, self);
    return status;
  }
  call->state = self;
  return INGOT_ABI_OK;
}

void ingot_dnnl_unload(const ingot_abi_host *, void *state) {
  auto *self = static_cast<State *>(state);
  if (!self)
    return;
  for (int64_t i = 0; self->operations && i < self->numOperations; ++i) {
    Operation &operation = self->operations[i];
    destroyVariant(operation.fixed);
    while (Variant *variant = operation.variants) {
      operation.variants = variant->next;
      destroyVariant(variant);
    }
    while (PackedWeights *packed = operation.packed) {
      operation.packed = packed->next;
      dnnl_memory_desc_destroy(packed->layout);
      if (packed->ownsData)
        free(packed->data);
      free(packed);
    }
    pthread_mutex_destroy(&operation.mutex);
  }
  free(self->operations);
  free(self->slab);
  if (self->engine)
    dnnl_engine_destroy(self->engine);
  free(self);
}
