/*===- guard.c - memory between guard pages, and a host of it ---------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "guard.h"
#include "inference.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_GUARDED 16384
#define PAGE 4096u

typedef struct guarded {
  char name[64];
  char *map, *data;
  size_t map_bytes, bytes;
} guarded;

/* All mapped memory, for the message about an invalid access. */
static guarded all[MAX_GUARDED];
static size_t num_all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

FILE *report;
int each;

void die(const char *what, const char *detail) {
  if (each)
    fprintf(report, "broken %s: %s\n", what, detail);
  else
    fprintf(report, "ingot-guarded-run: %s: %s\n", what, detail);
  fflush(report);
  _exit(2);
}

void on_fault(int signal_number, siginfo_t *info, void *context) {
  (void)signal_number, (void)context;
  const char *at = info->si_addr;
  const char *prefix = each ? "fault " : "";
  char text[256];
  snprintf(text, sizeof text, "%stouches memory that is not its own\n", prefix);
  for (size_t i = 0; i < num_all; ++i) {
    const guarded *g = &all[i];
    if (at >= g->map && at < g->map + g->map_bytes) {
      long before = (long)(g->data - at);
      long behind = (long)(at - (g->data + g->bytes));
      if (before <= 0 && behind < 0)
        snprintf(text, sizeof text, "%stouches %s after its release\n", prefix,
                 g->name);
      else
        snprintf(text, sizeof text, "%stouches a byte %ld %s %s\n", prefix,
                 before > 0 ? before : behind,
                 before > 0 ? "before" : "behind", g->name);
      break;
    }
  }
  if (write(fileno(report), text, strlen(text)) < 0)
    _exit(4);
  _exit(3);
}

void *guard(const char *name, size_t bytes, size_t alignment, int at_end) {
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
  if (num_all == MAX_GUARDED)
    die(name, "too many buffers");
  guarded *g = &all[num_all++];
  snprintf(g->name, sizeof g->name, "%s", name);
  g->map = map, g->map_bytes = middle + 2 * PAGE;
  g->data = data, g->bytes = bytes;
  pthread_mutex_unlock(&lock);
  return data;
}

void unguard_all(void) {
  while (num_all > 0) {
    --num_all;
    munmap(all[num_all].map, all[num_all].map_bytes);
  }
}

int place_at_end;

void *host_allocate(void *user, uint64_t bytes, uint64_t alignment) {
  (void)user;
  if (bytes > MAX_BYTES)
    return NULL;
  void *pointer = guard("a dynamic tensor", bytes, alignment, place_at_end);
  trace_allocate(pointer, bytes);
  return pointer;
}

void host_release(void *user, void *pointer) {
  (void)user;
  trace_release(pointer);
  /* Keeps the memory mapped until the run ends, so that the address is not
   * reused. */
  pthread_mutex_lock(&lock);
  for (size_t i = num_all; pointer && i-- > 0;)
    if (all[i].data == pointer) {
      mprotect(all[i].map, all[i].map_bytes, PROT_NONE);
      break;
    }
  pthread_mutex_unlock(&lock);
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

void host_parallel_for(void *user, void (*task)(void *, int64_t), void *arg,
                       int64_t count) {
  (void)user;
  region r = {task, arg, count, 0};
  pthread_t other;
  if (pthread_create(&other, NULL, work, &r))
    die("parallel_for", "no thread");
  work(&r);
  pthread_join(other, NULL);
}
