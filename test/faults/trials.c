/*===- trials.c - a failure tried in a child process ----------------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A compiler allocates half a million times: to run it once for each of these
 * takes days. So the process is forked at each call instead, and the call fails
 * in the child, which is to say one line, to remove the temporary files, and to
 * end with 1. In the child nothing is removed, for the parent goes on with
 * these files: what it would remove is held against what is there.
 *
 * A child that goes on is ended at the next call of the kind, for it would
 * write the files of the parent. These calls are counted: they are tried in a
 * process of their own.
 *
 *===----------------------------------------------------------------------===*/
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "trials.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WENT_ON = 77, LEFT_FILES = 78, SECONDS = 60 };

/* Names in the folder, and in folders in it: what was there before, what is
 * there when a child is made, and what that removed. */
enum { MOST_NAMES = 256, NAME = 64 };
struct names {
  int count;
  char name[MOST_NAMES][NAME];
};
static struct names before, there, removed;

static int folder_file = -1, results_file = -1;
static int trial;
static _Thread_local int busy;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long tried, as_wanted, went_on;

int is_trial(void) { return trial; }

static int has(const struct names *names, const char *name) {
  for (int i = 0; i < names->count; ++i)
    if (!strcmp(names->name[i], name))
      return 1;
  return 0;
}

static void add(struct names *names, const char *name) {
  if (names->count < MOST_NAMES)
    snprintf(names->name[names->count++], NAME, "%s", name);
}

/* Without opendir, which allocates. */
static void list(int parent, const char *path, int depth, struct names *found) {
  struct entry {
    unsigned long inode, offset;
    unsigned short length;
    unsigned char type;
    char name[];
  };
  char buffer[8192] __attribute__((aligned(8)));
  long file = syscall(SYS_openat, parent, path, O_RDONLY | O_DIRECTORY), got;
  if (file < 0)
    return;
  while ((got = syscall(SYS_getdents64, file, buffer, sizeof buffer)) > 0)
    for (long at = 0; at < got;) {
      struct entry *entry = (struct entry *)(buffer + at);
      at += entry->length;
      if (!strcmp(entry->name, ".") || !strcmp(entry->name, ".."))
        continue;
      add(found, entry->name);
      if (entry->type == DT_DIR && depth < 2)
        list((int)file, entry->name, depth + 1, found);
    }
  syscall(SYS_close, file);
}

static void say(int file, const char *format, ...) {
  char text[600];
  va_list rest;
  va_start(rest, format);
  int length = vsnprintf(text, sizeof text, format, rest);
  va_end(rest);
  if (length > (int)sizeof text - 1)
    length = sizeof text - 1;
  syscall(SYS_write, file, text, length);
}

void begin_trials(const char *folder, const char *results) {
  if (folder)
    folder_file = (int)syscall(SYS_openat, AT_FDCWD, folder,
                               O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_file >= 0)
    list(folder_file, ".", 0, &before);
  results_file = (int)syscall(SYS_openat, AT_FDCWD, results,
                              O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

void end_trials(void) {
  say(results_file, "%ld tried, %ld as wanted, %ld went on\n", tried, as_wanted,
      went_on);
}

/* What the child says, until it ends: null if it does not. */
static const char *listen_to(int file, char *text, int most) {
  int length = 0;
  struct pollfd wait = {.fd = file, .events = POLLIN};
  while (length < most - 1) {
    if (poll(&wait, 1, SECONDS * 1000) <= 0)
      return NULL;
    long got = syscall(SYS_read, file, text + length, most - 1 - length);
    if (got <= 0)
      break;
    length += (int)got;
  }
  text[length] = 0;
  return text;
}

static int is_one_line(const char *text) {
  const char *end = strchr(text, '\n');
  return !strncmp(text, "ingot ", 6) && end && !end[1];
}

static void judge(long call, int status, const char *text) {
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  ++tried;
  if (code == WENT_ON) {
    ++went_on;
    say(results_file, "went on: %ld\n", call);
  } else if (text && ((code == 1 && is_one_line(text)) ||
                      (code == 0 && !text[0]))) {
    ++as_wanted;
  } else {
    say(results_file, "call %ld: %s %d, %s: %.300s\n", call,
        code < 0 ? "signal" : "exit code",
        code < 0 ? WTERMSIG(status) : code,
        code == LEFT_FILES ? "files left" : text ? "says" : "no end",
        text ? text : "");
  }
}

int try_failure(long call) {
  if (trial)
    syscall(SYS_exit_group, WENT_ON);
  if (busy)
    return 0;
  busy = 1;
  pthread_mutex_lock(&lock);
  int saved = errno, ends[2], status = 0;
  syscall(SYS_pipe2, ends, O_CLOEXEC);
  pid_t child = fork();
  if (child == 0) {
    trial = 1;
    busy = 0;
    list(folder_file, ".", 0, &there);
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    syscall(SYS_close, ends[0]);
    syscall(SYS_close, ends[1]);
    return 1;
  }
  syscall(SYS_close, ends[1]);
  char text[1024];
  const char *said = listen_to(ends[0], text, sizeof text);
  if (!said)
    kill(child, SIGKILL);
  syscall(SYS_close, ends[0]);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  judge(call, status, said);
  errno = saved;
  pthread_mutex_unlock(&lock);
  busy = 0;
  return 0;
}

/* In the child nothing is removed. */

int unlinkat(int folder, const char *path, int flags) {
  if (!trial)
    return (int)syscall(SYS_unlinkat, folder, path, flags);
  const char *name = strrchr(path, '/');
  add(&removed, name ? name + 1 : path);
  errno = EBUSY;
  return -1;
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

void _exit(int code) {
  if (trial && code == 1)
    for (int i = 0; i < there.count; ++i)
      if (!has(&before, there.name[i]) && !has(&removed, there.name[i])) {
        say(STDERR_FILENO, "%s stays\n", there.name[i]);
        code = LEFT_FILES;
      }
  for (;;)
    syscall(SYS_exit_group, code);
}
