/*===- faults.c - makes the n-th call of a kind fail ----------------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A library to preload. FAULT_KIND names the calls: alloc, write, read, rename,
 * fsync, mmap, open, thread. Of those after main has begun the FAULT_AT-th
 * fails (none if it is 0), with FAULT_ERRNO; with FAULT_ALL=1 all after it,
 * too; with FAULT_KILL=1 the process is killed before it instead. FAULT_COUNT
 * names a file that receives the number of calls when the process ends.
 * FAULT_AFTER=N counts calls from the N-th rename on.
 *
 * With FAULT_TRIALS=FILE every FAULT_STEP-th call, from the FAULT_AT-th on,
 * fails in a child process each, and the process itself goes on: see trials.c.
 * FAULT_FOLDER is where it writes.
 *
 * What goes to standard output and standard error is left alone.
 *
 *===----------------------------------------------------------------------===*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "trials.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { NONE, ALLOC, WRITE, READ, RENAME, FSYNC, MMAP, OPEN, THREAD };
static const char *const names[] = {"",      "alloc", "write", "read", "rename",
                                    "fsync", "mmap",  "open",  "thread"};

static atomic_int chosen;
static atomic_long calls, renames;
static long at, after, step;
static int number = EIO, all, kills;
static const char *count_file;

/* Whether this call is to fail. */
static int fails(enum kind kind) {
  if ((int)kind != atomic_load_explicit(&chosen, memory_order_relaxed) ||
      atomic_load_explicit(&renames, memory_order_relaxed) < after)
    return 0;
  long call = atomic_fetch_add(&calls, 1) + 1;
  if (step && !is_trial() && (call < at || (call - at) % step))
    return 0;
  if (step) {
    int failing = try_failure(call);
    errno = failing ? number : errno;
    return failing;
  }
  if (at == 0 || call < at || (call > at && !all))
    return 0;
  if (kills)
    kill(getpid(), SIGKILL);
  errno = number;
  return 1;
}

static long env_number(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text ? atol(text) : otherwise;
}

static void report(void) {
  int saved = atomic_exchange(&chosen, NONE);
  if (step && !is_trial())
    end_trials();
  if (!count_file || !saved)
    return;
  char text[32];
  int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&calls));
  long file = syscall(SYS_openat, AT_FDCWD, count_file,
                      O_WRONLY | O_CREAT | O_TRUNC, 0600);
  syscall(SYS_write, file, text, length);
  syscall(SYS_close, file);
}

static int (*real_main)(int, char **, char **);

static int main_with_faults(int argc, char **argv, char **environment) {
  const char *kind = getenv("FAULT_KIND");
  at = env_number("FAULT_AT", 0);
  number = (int)env_number("FAULT_ERRNO", EIO);
  all = (int)env_number("FAULT_ALL", 0);
  kills = (int)env_number("FAULT_KILL", 0);
  after = env_number("FAULT_AFTER", 0);
  count_file = getenv("FAULT_COUNT");
  if (getenv("FAULT_TRIALS")) {
    step = env_number("FAULT_STEP", 1);
    begin_trials(getenv("FAULT_FOLDER"), getenv("FAULT_TRIALS"));
  }
  /* What the process starts runs without. */
  unsetenv("LD_PRELOAD");
  for (int i = ALLOC; kind && i <= THREAD; ++i)
    if (!strcmp(kind, names[i]))
      atomic_store(&chosen, i);
  int code = real_main(argc, argv, environment);
  report();
  return code;
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                      int (*init)(int, char **, char **), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end) {
  int (*real)(int (*)(int, char **, char **), int, char **,
              int (*)(int, char **, char **), void (*)(void), void (*)(void),
              void *) = dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = main;
  return real(main_with_faults, argc, argv, init, fini, rtld_fini, stack_end);
}

/* Memory. dlsym itself allocates, so these go to glibc by other names, `free`
 * as well: the program's own allocator is another one. */

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static int no_memory(void) {
  if (!fails(ALLOC))
    return 0;
  errno = ENOMEM;
  return 1;
}

void free(void *memory) { __libc_free(memory); }

void *malloc(size_t bytes) { return no_memory() ? NULL : __libc_malloc(bytes); }

void *calloc(size_t count, size_t bytes) {
  return no_memory() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes) {
  return no_memory() ? NULL : __libc_realloc(old, bytes);
}

void *memalign(size_t alignment, size_t bytes) {
  return no_memory() ? NULL : __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
  return no_memory() ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **out, size_t alignment, size_t bytes) {
  if (no_memory())
    return ENOMEM;
  *out = __libc_memalign(alignment, bytes);
  return *out ? 0 : ENOMEM;
}

/* Everything else. */

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int is_message(int file) {
  return file == STDOUT_FILENO || file == STDERR_FILENO;
}

ssize_t write(int file, const void *data, size_t bytes) {
  if (!is_message(file) && fails(WRITE))
    return -1;
  return syscall(SYS_write, file, data, bytes);
}

ssize_t pwrite(int file, const void *data, size_t bytes, off_t offset) {
  if (fails(WRITE))
    return -1;
  return syscall(SYS_pwrite64, file, data, bytes, offset);
}

ssize_t pwrite64(int file, const void *data, size_t bytes, off64_t offset) {
  return pwrite(file, data, bytes, offset);
}

ssize_t writev(int file, const struct iovec *pieces, int count) {
  if (!is_message(file) && fails(WRITE))
    return -1;
  return syscall(SYS_writev, file, pieces, count);
}

size_t fwrite(const void *data, size_t bytes, size_t count, FILE *file) {
  if (!is_message(fileno(file)) && fails(WRITE))
    return 0;
  return REAL(fwrite)(data, bytes, count, file);
}

int ftruncate(int file, off_t bytes) {
  return fails(WRITE) ? -1 : (int)syscall(SYS_ftruncate, file, bytes);
}

ssize_t read(int file, void *data, size_t bytes) {
  return fails(READ) ? -1 : syscall(SYS_read, file, data, bytes);
}

ssize_t pread(int file, void *data, size_t bytes, off_t offset) {
  return fails(READ) ? -1 : syscall(SYS_pread64, file, data, bytes, offset);
}

ssize_t pread64(int file, void *data, size_t bytes, off64_t offset) {
  return pread(file, data, bytes, offset);
}

/* Counts those that are made. */
static int renamed(long result) {
  if (!result)
    atomic_fetch_add(&renames, 1);
  return (int)result;
}

int rename(const char *from, const char *to) {
  return fails(RENAME) ? -1 : renamed(syscall(SYS_rename, from, to));
}

int renameat(int folder, const char *from, int other, const char *to) {
  return fails(RENAME)
             ? -1
             : renamed(syscall(SYS_renameat, folder, from, other, to));
}

int renameat2(int folder, const char *from, int other, const char *to,
              unsigned flags) {
  return fails(RENAME) ? -1
                       : renamed(syscall(SYS_renameat2, folder, from, other, to,
                                         flags));
}

int linkat(int folder, const char *from, int other, const char *to, int flags) {
  return fails(RENAME)
             ? -1
             : (int)syscall(SYS_linkat, folder, from, other, to, flags);
}

int fsync(int file) {
  return fails(FSYNC) ? -1 : (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
  return fails(FSYNC) ? -1 : (int)syscall(SYS_fdatasync, file);
}

void *mmap(void *address, size_t bytes, int protection, int flags, int file,
           off_t offset) {
  if (fails(MMAP))
    return MAP_FAILED;
  return (void *)syscall(SYS_mmap, address, bytes, protection, flags, file,
                         offset);
}

void *mmap64(void *address, size_t bytes, int protection, int flags, int file,
             off64_t offset) {
  return mmap(address, bytes, protection, flags, file, offset);
}

static int open_mode(int flags, va_list rest) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;
}

int openat(int folder, const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int mode = open_mode(flags, rest);
  va_end(rest);
  return fails(OPEN) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int mode = open_mode(flags, rest);
  va_end(rest);
  return openat(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int mode = open_mode(flags, rest);
  va_end(rest);
  return openat(AT_FDCWD, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int mode = open_mode(flags, rest);
  va_end(rest);
  return openat(folder, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode) {
  return fails(OPEN) ? NULL : REAL(fopen)(path, mode);
}

FILE *fopen64(const char *path, const char *mode) {
  return fails(OPEN) ? NULL : REAL(fopen)(path, mode);
}

DIR *fdopendir(int file) { return fails(OPEN) ? NULL : REAL(fdopendir)(file); }

int memfd_create(const char *name, unsigned flags) {
  return fails(OPEN) ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

int pipe2(int ends[2], int flags) {
  return fails(OPEN) ? -1 : (int)syscall(SYS_pipe2, ends, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*start)(void *), void *argument) {
  if (fails(THREAD))
    return EAGAIN;
  return REAL(pthread_create)(thread, attributes, start, argument);
}
