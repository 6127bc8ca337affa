/*===- guarded.c - ingot-guarded-run: runs a model between guard pages -----===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * usage: ingot-guarded-run MODEL.so FOLDER
 *        ingot-guarded-run --each MODEL.so FOLDER...
 *
 * FOLDER/plan.txt has a line for each input, then each output, in the model's
 * order: `input FILE DIMS` or `output FILE DIMS`. DIMS are as 2x3x4 or
 * `scalar`; an output may have `?` if the run decides. Every buffer of a run
 * (inputs, outputs, arena, separate weights, memory of dynamic tensors) is
 * directly before or behind a guard page. Released memory cannot be accessed
 * either. The model runs several times, on one thread and on two. Fresh memory,
 * and outputs before a run, hold NaN. All runs must give equal bytes; the first
 * run's are written to FOLDER. The results of inference, sizes of outputs and
 * requested memory, must match the run.
 *
 * With --each every folder is a separate process, with one line on standard
 * output for its result: `ran`, `refused STATUS MESSAGE`, `differs HOW`, `fault
 * WHERE`, `hang`, or `broken WHY`. FOLDER/dims.txt then has the sizes of the
 * outputs.
 *
 * The program calls the artifact directly, not through libingot, so that
 * nothing is copied.
 *===----------------------------------------------------------------------===*/
#include "guard.h"
#include "inference.h"
#include "ingot/abi/artifact.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_BUFFERS 512
#define MAX_RANK 8
/* Limit on the CPU time for one folder of --each. Ten times as much wall time
 * may pass, because other processes may run, too. */
#define SECONDS 20

/* The description ----------------------------------------------------------*/

static const ingot_abi_tensor *input_of(const ingot_abi_artifact *artifact,
                                        size_t i) {
  return ingot_abi_row(&artifact->inputs, (uint32_t)i);
}

static const ingot_abi_tensor *output_of(const ingot_abi_artifact *artifact,
                                         size_t i) {
  return ingot_abi_row(&artifact->outputs, (uint32_t)i);
}

/* Returns the variant; models of tests have one. */
static const ingot_abi_variant *code_of(const ingot_abi_artifact *artifact) {
  return ingot_abi_row(&artifact->variants, 0);
}

/* The plan -----------------------------------------------------------------*/

typedef struct tensor {
  char path[512];
  int64_t dims[MAX_RANK];
  size_t rank, bytes;
  int is_open;   /* an output whose sizes are not known yet */
  char *content; /* of inputs; of outputs, what the first run gave */
} tensor;

static tensor inputs[MAX_BUFFERS], outputs[MAX_BUFFERS];
static size_t num_inputs, num_outputs;

static size_t element_bits(uint32_t dtype) {
  switch (dtype) {
#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  case NUMBER:                                                                 \
    return 8 * BYTES;
#define INGOT_PACKED_TYPE(NAME, NUMBER, TEXT, KIND, BITS)                      \
  case NUMBER:                                                                 \
    return BITS;
#include "ingot/abi/element_types.inc"
  default:
    return 8;
  }
}

static size_t bytes_of(uint32_t dtype, size_t elements) {
  return (elements * element_bits(dtype) + 7) / 8;
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
    if (i >= (is_input ? artifact->inputs.count : artifact->outputs.count))
      die(path, "names more tensors than the model has");
    tensor *t = is_input ? &inputs[i] : &outputs[i];
    snprintf(t->path, sizeof t->path, "%s/%s", folder, name);
    const ingot_abi_tensor *given =
        is_input ? input_of(artifact, i) : output_of(artifact, i);
    size_t elements = 1;
    t->is_open = !is_input && !strcmp(dims, "?");
    if (t->is_open) {
      /* Makes room for the fixed sizes of the signature, which a run does not
       * check. */
      for (t->rank = 0; t->rank < given->rank; ++t->rank) {
        t->dims[t->rank] = given->dims[t->rank];
        elements *= given->dims[t->rank] < 0 ? 0 : (size_t)given->dims[t->rank];
      }
    }
    for (char *at = dims; !t->is_open && strcmp(dims, "scalar") && *at;) {
      if (t->rank == MAX_RANK)
        die(path, "has more than 8 dimensions");
      t->dims[t->rank++] = strtoll(at, &at, 10);
      elements *= (size_t)t->dims[t->rank - 1];
      at += *at == 'x';
    }
    t->bytes = bytes_of(given->dtype, elements);
    if (is_input) {
      size_t bytes;
      t->content = read_file(t->path, &bytes);
      if (bytes != t->bytes)
        die(t->path, "is not of the plan's size");
    }
  }
  fclose(file);
  if (num_inputs != artifact->inputs.count ||
      num_outputs != artifact->outputs.count)
    die(path, "names fewer tensors than the model has");
}

/* Runs ---------------------------------------------------------------------*/

/* Message and output sizes of the last run. */
static char message[256];
static int64_t found[MAX_BUFFERS][MAX_RANK];

/* Difference between the last run and its inference, or null. */
static const char *wrong_inference;

/* Runs once and returns the status. `out` receives the outputs, whose memory
 * stays mapped. */
static int run(const ingot_abi_artifact *artifact, const char *weights,
               uint32_t threads, int at_end, ingot_abi_buffer *out) {
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
  ingot_abi_buffer in[MAX_BUFFERS];
  char name[80];
  for (size_t i = 0; i < num_inputs; ++i) {
    const tensor *t = &inputs[i];
    snprintf(name, sizeof name, "input %s", input_of(artifact, i)->name);
    char *data = guard(name, t->bytes,
                       bytes_of(input_of(artifact, i)->dtype, 1), at_end);
    memcpy(data, t->content, t->bytes);
    in[i] = (ingot_abi_buffer){data, (int64_t *)t->dims, NULL, t->bytes,
                               INGOT_ABI_MEMORY_HOST, 0, NULL, 0, NULL};
  }
  for (size_t i = 0; i < num_outputs; ++i) {
    const tensor *t = &outputs[i];
    snprintf(name, sizeof name, "output %s", output_of(artifact, i)->name);
    char *data = guard(name, t->bytes,
                       bytes_of(output_of(artifact, i)->dtype, 1), at_end);
    out[i] = (ingot_abi_buffer){data, found[i], NULL, t->bytes,
                                INGOT_ABI_MEMORY_HOST, 0, NULL, 0, NULL};
  }
  message[0] = 0;
  ingot_abi_call call = {0};
  call.struct_size = sizeof call;
  call.host = &host;
  call.weights = mapped;
  const ingot_abi_variant *code = code_of(artifact);
  call.arena =
      guard("the arena", code->arena_bytes, INGOT_ABI_ALIGNMENT, at_end);
  call.inputs = in;
  call.outputs = out;
  call.error = message;
  call.error_bytes = sizeof message;
  ingot_abi_load load = {0};
  load.struct_size = sizeof load;
  load.host = &host;
  load.weights = mapped;
  load.weights_bytes = artifact->weights_bytes;
  load.error = message;
  load.error_bytes = sizeof message;
  if (code->load && code->load(&load))
    die("load", message);
  call.state = load.state;
  trace_begin();
  int status = code->run(&call);
  wrong_inference = find_wrong_inference(artifact, code, in, out, status,
                                         message);
  if (code->unload)
    code->unload(&host, call.state);
  return status;
}

/* Finds the sizes of outputs that the plan leaves open. Runs without room for
 * them, then with the requested room. Returns the status of the last run. */
static int find_sizes(const ingot_abi_artifact *artifact, const char *weights) {
  ingot_abi_buffer out[MAX_BUFFERS];
  int is_open = 0, status = INGOT_ABI_OK;
  for (size_t i = 0; i < num_outputs; ++i)
    is_open |= outputs[i].is_open;
  int64_t guess = 4; /* for a size that only the data tell */
  for (int attempt = 0; is_open && attempt < 12; ++attempt, guess *= 4) {
    status = run(artifact, weights, 1, 1, out);
    unguard_all();
    if (status != INGOT_ABI_OK && status != INGOT_ABI_BUFFER_TOO_SMALL)
      return status;
    for (size_t i = 0; i < num_outputs; ++i) {
      tensor *t = &outputs[i];
      if (!t->is_open)
        continue;
      uint32_t dtype = output_of(artifact, i)->dtype;
      uint64_t elements = 1;
      for (size_t d = 0; d < t->rank; ++d)
        if (found[i][d] == 0)
          elements = 0; /* whatever the other dimensions are */
      for (size_t d = 0; d < t->rank; ++d) {
        t->dims[d] = found[i][d];
        uint64_t size = (uint64_t)(t->dims[d] < 0 ? guess : t->dims[d]);
        if (size && elements > MAX_BYTES / bytes_of(dtype, 1) / size)
          die(output_of(artifact, i)->name, "needs more than 1 GiB");
        elements *= size;
      }
      t->bytes = bytes_of(dtype, elements);
    }
    if (status == INGOT_ABI_OK)
      return status;
  }
  if (status != INGOT_ABI_OK)
    die("outputs", "never have enough room");
  return status;
}

/* Runs once and compares with the first run. Returns non-zero if they differ.
 */
static int check(const ingot_abi_artifact *artifact, const char *weights,
                 uint32_t threads, int at_end, int expected) {
  ingot_abi_buffer out[MAX_BUFFERS];
  int differs = 0, status = run(artifact, weights, threads, at_end, out);
  if (wrong_inference) {
    fprintf(each ? report : stdout, "%s%s\n", each ? "differs " : "",
            wrong_inference);
    return 1;
  }
  if (status != expected) {
    if (!each)
      die("run", message);
    fprintf(report,
            "differs status %d, the first run's is %d (%u threads): %s\n",
            status, expected, threads, message);
    return 1;
  }
  for (size_t i = 0; status == INGOT_ABI_OK && i < num_outputs; ++i) {
    tensor *t = &outputs[i];
    for (size_t d = 0; d < t->rank; ++d)
      if (found[i][d] != t->dims[d])
        die(output_of(artifact, i)->name, "has other dims than the plan");
    if (!t->content) {
      t->content = malloc(t->bytes + 1);
      memcpy(t->content, out[i].data, t->bytes);
    } else if (!differs && memcmp(t->content, out[i].data, t->bytes)) {
      fprintf(each ? report : stdout,
              "%soutput %s differs from the first run's (%u threads, %s)\n",
              each ? "differs " : "", output_of(artifact, i)->name, threads,
              at_end ? "end" : "start");
      differs = 1;
    }
  }
  unguard_all();
  return differs;
}

static void write_results(const char *folder) {
  char path[600];
  snprintf(path, sizeof path, "%s/dims.txt", folder);
  FILE *dims = each ? fopen(path, "w") : NULL;
  for (size_t i = 0; i < num_outputs; ++i) {
    const tensor *t = &outputs[i];
    FILE *file = fopen(t->path, "wb");
    if (!file || fwrite(t->content, 1, t->bytes, file) != t->bytes ||
        fclose(file))
      die(t->path, "cannot be written");
    for (size_t d = 0; dims && d < t->rank; ++d)
      fprintf(dims, "%s%lld", d ? "x" : "", (long long)t->dims[d]);
    if (dims)
      fprintf(dims, t->rank ? "\n" : "scalar\n");
  }
  if (dims && fclose(dims))
    die(path, "cannot be written");
}

/* Makes all runs of one folder. */
static int run_folder(const ingot_abi_artifact *artifact, const char *weights,
                      const char *folder) {
  read_plan(folder, artifact);
  int status = find_sizes(artifact, weights);
  if (status == INGOT_ABI_OK) {
    ingot_abi_buffer out[MAX_BUFFERS];
    status = run(artifact, weights, 1, 1, out);
    unguard_all();
  }
  char first[sizeof message];
  memcpy(first, message, sizeof message);
  if (status != INGOT_ABI_OK && !each)
    die("run", message);
  int differs = check(artifact, weights, 1, 1, status);
  if (!differs && status == INGOT_ABI_OK)
    write_results(folder);
  for (int i = 0; i < 3 && !(each && differs); ++i)
    differs |= check(artifact, weights, i ? 2 : 1, i == 1, status);
  if (each && !differs && status != INGOT_ABI_OK)
    fprintf(report, "refused %d %s\n", status, first);
  else if (each && !differs)
    fprintf(report, "ran\n");
  return differs;
}

/* Makes all runs of one folder in a child process, which may crash or hang. */
static void run_each(const ingot_abi_artifact *artifact, const char *weights,
                     const char *folder) {
  fflush(report);
  pid_t child = fork();
  if (child < 0)
    die(folder, "no process");
  if (child == 0) {
    struct rlimit limit = {SECONDS, SECONDS};
    setrlimit(RLIMIT_CPU, &limit);
    alarm(10 * SECONDS);
    run_folder(artifact, weights, folder);
    fflush(report);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status) &&
      (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU))
    fprintf(report, "hang no end after %d s\n", SECONDS);
  else if (WIFSIGNALED(status))
    fprintf(report, "fault %s\n", strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status) > 4)
    fprintf(report, "fault exit code %d\n", WEXITSTATUS(status));
}

/* Requests the AMX tile registers from the kernel, without which code with AMX
 * tiles traps. If the kernel refuses, there is no such code to run. */
static void ask_for_tiles(void) {
#if defined(__x86_64__) && defined(SYS_arch_prctl)
  const long request_permission = 0x1023, tile_data = 18;
  (void)syscall(SYS_arch_prctl, request_permission, tile_data);
#endif
}

int main(int argc, char **argv) {
  ask_for_tiles();
  report = stderr;
  if (argc > 1 && !strcmp(argv[1], "--each")) {
    each = 1;
    report = stdout;
    --argc, ++argv;
  }
  if (argc < 3 || (!each && argc != 3)) {
    fprintf(stderr, "usage: ingot-guarded-run MODEL.so FOLDER\n"
                    "       ingot-guarded-run --each MODEL.so FOLDER...\n");
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
  if (artifact->inputs.count + artifact->outputs.count + 16 > MAX_BUFFERS)
    die(argv[1], "has too many inputs and outputs");
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
  if (!each)
    return run_folder(artifact, weights, argv[2]);
  for (int i = 2; i < argc; ++i)
    run_each(artifact, weights, argv[i]);
  return 0;
}
