/*===- guarded.c - ingot-guarded-run: runs a model between guard pages -----===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * usage: ingot-guarded-run MODEL.so FOLDER
 *
 * FOLDER/plan.txt has a line `input FILE DIMS` or `output FILE DIMS` (2x3x4,
 * or `scalar`) for each input, then each output, in the model's order. Every
 * buffer of a run (inputs, outputs, arena, weights that are in a file, memory
 * of dynamic tensors) stands right before a page that cannot be touched, or
 * right behind one. The model runs several times, on one thread and on two;
 * fresh memory, and the outputs before a run, hold NaN. Every run must give the
 * same bytes; those of the first are written to FOLDER.
 *
 * It speaks to the artifact itself, not through libingot: nothing is copied.
 *===----------------------------------------------------------------------===*/
#include "ingot/abi/artifact.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_BUFFERS 512
#define MAX_RANK 8
#define PAGE 4096u

typedef struct guarded {
  char name[64];
  char *map, *data;
  size_t map_bytes, bytes;
} guarded;

/* All that is mapped, for the message about a bad access. */
static guarded all[MAX_BUFFERS];
static size_t num_all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void die(const char *what, const char *detail) {
  fprintf(stderr, "ingot-guarded-run: %s: %s\n", what, detail);
  exit(2);
}

static void on_fault(int signal_number, siginfo_t *info, void *context) {
  (void)signal_number, (void)context;
  const char *at = info->si_addr;
  char text[256] = "touches memory that is not its own\n";
  for (size_t i = 0; i < num_all; ++i) {
    const guarded *g = &all[i];
    if (at >= g->map && at < g->map + g->map_bytes) {
      long before = (long)(g->data - at);
      long behind = (long)(at - (g->data + g->bytes));
      snprintf(text, sizeof text, "touches a byte %ld %s %s\n",
               before > 0 ? before : behind, before > 0 ? "before" : "behind",
               g->name);
      break;
    }
  }
  if (write(STDERR_FILENO, text, strlen(text)) < 0)
    _exit(4);
  _exit(3);
}

/* Memory between two guard pages: at the end of what can be touched, or at its
 * start; filled with NaN. */
static void *guard(const char *name, size_t bytes, size_t alignment, int at_end) {
  size_t middle = (bytes + PAGE - 1) / PAGE * PAGE;
  if (middle == 0)
    middle = PAGE;
  char *map = mmap(NULL, middle + 2 * PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED)
    die(name, "no memory");
  mprotect(map, PAGE, PROT_NONE);
  mprotect(map + PAGE + middle, PAGE, PROT_NONE);
  size_t room = (bytes + alignment - 1) / alignment * alignment;
  char *data = at_end ? map + PAGE + middle - room : map + PAGE;
  memset(map + PAGE, 0xff, middle);
  pthread_mutex_lock(&lock);
  if (num_all == MAX_BUFFERS)
    die(name, "too many buffers");
  guarded *g = &all[num_all++];
  snprintf(g->name, sizeof g->name, "%s", name);
  g->map = map, g->map_bytes = middle + 2 * PAGE;
  g->data = data, g->bytes = bytes;
  pthread_mutex_unlock(&lock);
  return data;
}

static void unguard_from(size_t first) {
  while (num_all > first) {
    --num_all;
    munmap(all[num_all].map, all[num_all].map_bytes);
  }
}

/* The host -----------------------------------------------------------------*/

static int place_at_end;

static void *host_allocate(void *user, uint64_t bytes, uint64_t alignment) {
  (void)user;
  return guard("a dynamic tensor", bytes, alignment, place_at_end);
}

static void host_release(void *user, void *pointer) {
  (void)user, (void)pointer; /* all goes after the run */
}

typedef struct region {
  void (*task)(void *arg, int64_t index);
  void *arg;
  int64_t count, next;
} region;

static void *work(void *arg) {
  region *r = arg;
  for (;;) {
    int64_t i = __atomic_fetch_add(&r->next, 1, __ATOMIC_RELAXED);
    if (i >= r->count)
      return NULL;
    r->task(r->arg, i);
  }
}

static void host_parallel_for(void *user, void (*task)(void *, int64_t),
                              void *arg, int64_t count) {
  (void)user;
  region r = {task, arg, count, 0};
  pthread_t other;
  if (pthread_create(&other, NULL, work, &r))
    die("parallel_for", "no thread");
  work(&r);
  pthread_join(other, NULL);
}

/* The plan -----------------------------------------------------------------*/

typedef struct tensor {
  char path[512];
  int64_t dims[MAX_RANK];
  size_t rank, bytes;
  char *content; /* of inputs; of outputs, what the first run gave */
} tensor;

static tensor inputs[MAX_BUFFERS], outputs[MAX_BUFFERS];
static size_t num_inputs, num_outputs;

static size_t element_bytes(uint32_t dtype) {
  switch (dtype) {
  case INGOT_ABI_FLOAT: case INGOT_ABI_INT32: case INGOT_ABI_UINT32: return 4;
  case INGOT_ABI_INT64: case INGOT_ABI_DOUBLE: case INGOT_ABI_UINT64: return 8;
  case INGOT_ABI_FLOAT16: case INGOT_ABI_BFLOAT16: return 2;
  default: return 1;
  }
}

static void *read_file(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  struct stat info;
  if (!file || fstat(fileno(file), &info))
    die(path, "cannot be read");
  *bytes = (size_t)info.st_size;
  char *data = malloc(*bytes + 1);
  if (!data || fread(data, 1, *bytes, file) != *bytes)
    die(path, "cannot be read");
  fclose(file);
  return data;
}

static void read_plan(const char *folder, const ingot_abi_artifact *artifact) {
  char path[512], kind[16], name[256], dims[256];
  snprintf(path, sizeof path, "%s/plan.txt", folder);
  FILE *file = fopen(path, "r");
  if (!file)
    die(path, "cannot be read");
  while (fscanf(file, "%15s %255s %255s", kind, name, dims) == 3) {
    int is_input = !strcmp(kind, "input");
    size_t i = is_input ? num_inputs++ : num_outputs++;
    if (i >= (is_input ? artifact->num_inputs : artifact->num_outputs))
      die(path, "names more tensors than the model has");
    tensor *t = is_input ? &inputs[i] : &outputs[i];
    snprintf(t->path, sizeof t->path, "%s/%s", folder, name);
    t->bytes = element_bytes(
        (is_input ? artifact->inputs : artifact->outputs)[i].dtype);
    for (char *at = dims; strcmp(dims, "scalar") && *at;) {
      t->dims[t->rank++] = strtoll(at, &at, 10);
      t->bytes *= (size_t)t->dims[t->rank - 1];
      at += *at == 'x';
    }
    if (is_input) {
      size_t bytes;
      t->content = read_file(t->path, &bytes);
      if (bytes != t->bytes)
        die(t->path, "is not of the plan's size");
    }
  }
  fclose(file);
  if (num_inputs != artifact->num_inputs || num_outputs != artifact->num_outputs)
    die(path, "names fewer tensors than the model has");
}

/* Runs ---------------------------------------------------------------------*/

static int run(const ingot_abi_artifact *artifact, const char *weights,
               uint32_t threads, int at_end) {
  place_at_end = at_end;
  ingot_abi_host host = {sizeof host,  threads,      NULL,
                         host_allocate, host_release, host_parallel_for};
  const void *mapped = artifact->weights;
  if (weights) {
    char *copy = guard("the weights", artifact->weights_bytes,
                       INGOT_ABI_ALIGNMENT, at_end);
    memcpy(copy, weights, artifact->weights_bytes);
    mapped = copy;
  }
  ingot_abi_buffer in[MAX_BUFFERS], out[MAX_BUFFERS];
  int64_t dims[MAX_BUFFERS][MAX_RANK];
  char name[80];
  for (size_t i = 0; i < num_inputs; ++i) {
    const tensor *t = &inputs[i];
    snprintf(name, sizeof name, "input %s", artifact->inputs[i].name);
    char *data =
        guard(name, t->bytes, element_bytes(artifact->inputs[i].dtype), at_end);
    memcpy(data, t->content, t->bytes);
    in[i] = (ingot_abi_buffer){data, (int64_t *)t->dims, t->bytes};
  }
  for (size_t i = 0; i < num_outputs; ++i) {
    const tensor *t = &outputs[i];
    snprintf(name, sizeof name, "output %s", artifact->outputs[i].name);
    char *data = guard(name, t->bytes,
                       element_bytes(artifact->outputs[i].dtype), at_end);
    out[i] = (ingot_abi_buffer){data, dims[i], t->bytes};
  }
  char error[256] = "";
  ingot_abi_call call = {0};
  call.struct_size = sizeof call;
  call.host = &host;
  call.weights = mapped;
  call.arena =
      guard("the arena", artifact->arena_bytes, INGOT_ABI_ALIGNMENT, at_end);
  call.inputs = in;
  call.outputs = out;
  call.error = error;
  call.error_bytes = sizeof error;
  if (artifact->load &&
      artifact->load(&host, mapped, &call.state, error, sizeof error))
    die("load", error);
  if (artifact->run(&call))
    die("run", error);
  if (artifact->unload)
    artifact->unload(&host, call.state);
  int differs = 0;
  for (size_t i = 0; i < num_outputs; ++i) {
    tensor *t = &outputs[i];
    for (size_t d = 0; d < t->rank; ++d)
      if (dims[i][d] != t->dims[d])
        die(artifact->outputs[i].name, "has other dims than the plan");
    if (!t->content) {
      t->content = malloc(t->bytes + 1);
      memcpy(t->content, out[i].data, t->bytes);
    } else if (memcmp(t->content, out[i].data, t->bytes)) {
      printf("output %s differs from the first run's (%u threads, %s)\n",
             artifact->outputs[i].name, threads, at_end ? "end" : "start");
      differs = 1;
    }
  }
  unguard_from(0);
  return differs;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: ingot-guarded-run MODEL.so FOLDER\n");
    return 2;
  }
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library)
    die(argv[1], dlerror());
  ingot_abi_query_fn query =
      (ingot_abi_query_fn)dlsym(library, INGOT_ABI_QUERY_SYMBOL);
  if (!query)
    die(argv[1], "not a model");
  const ingot_abi_artifact *artifact = query();
  if (artifact->num_inputs + artifact->num_outputs + 16 > MAX_BUFFERS)
    die(argv[1], "has too many inputs and outputs");
  read_plan(argv[2], artifact);
  char *weights = NULL;
  if (!artifact->weights && artifact->weights_bytes) {
    char path[600];
    size_t bytes;
    int length = snprintf(path, sizeof path - 32, "%s.", argv[1]);
    for (int i = 0; i < 8; ++i)
      length += sprintf(path + length, "%02x", artifact->weights_sha256[i]);
    strcpy(path + length, ".weights");
    weights = read_file(path, &bytes);
    if (bytes < artifact->weights_bytes)
      die(path, "is too short");
  }
  struct sigaction action = {0};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);

  int differs = run(artifact, weights, 1, 1);
  for (size_t i = 0; i < num_outputs; ++i) {
    FILE *file = fopen(outputs[i].path, "wb");
    if (!file || fwrite(outputs[i].content, 1, outputs[i].bytes, file) !=
                     outputs[i].bytes || fclose(file))
      die(outputs[i].path, "cannot be written");
  }
  differs |= run(artifact, weights, 1, 0);
  differs |= run(artifact, weights, 2, 1);
  differs |= run(artifact, weights, 2, 0);
  return differs;
}
