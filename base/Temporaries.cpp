//===- Temporaries.cpp - removal of temporary files -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/Temporaries.h"

#include "base/ProcessGroups.h"

#include <atomic>
#include <errno.h>
#include <fcntl.h>
#include <mutex>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

using namespace ingot;

static constexpr char kPrefix[] = ".ingot-";
static constexpr char kSuffix[] = ".tmp";
static constexpr size_t kLetters = 10;
static constexpr size_t kLength =
    sizeof(kPrefix) - 1 + kLetters + sizeof(kSuffix) - 1;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string ingot::temporaryName() {
  static std::atomic<uint64_t> calls{0};
  struct timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  uint64_t bits = uint64_t(now.tv_nsec) * 0x9e3779b97f4a7c15ull ^
                  uint64_t(now.tv_sec) << 20 ^ uint64_t(getpid()) << 40 ^
                  ++calls * 0xbf58476d1ce4e5b9ull;
  bits ^= bits >> 31;
  std::string name = kPrefix;
  for (size_t i = 0; i < kLetters; ++i, bits /= 36)
    name += "0123456789abcdefghijklmnopqrstuvwxyz"[bits % 36];
  return name + kSuffix;
}

bool ingot::isTemporaryName(const char *name) {
  return strlen(name) == kLength &&
         !strncmp(name, kPrefix, sizeof(kPrefix) - 1) &&
         !strcmp(name + kLength - (sizeof(kSuffix) - 1), kSuffix);
}

/// Reads names with a system call, because readdir allocates. Allocation is
/// forbidden in a signal handler, and also after a process has published its
/// files.
template <typename Visit>
static void readNames(int folder, Visit visit) {
  struct Entry {
    uint64_t inode, offset;
    uint16_t length;
    uint8_t type;
    char name[1];
  };
  alignas(8) char buffer[4096];
  lseek(folder, 0, SEEK_SET);
  long got;
  while ((got = syscall(SYS_getdents64, folder, buffer, sizeof(buffer))) > 0)
    for (long at = 0; at < got;) {
      auto *entry = reinterpret_cast<Entry *>(buffer + at);
      visit(entry->name);
      at += entry->length;
    }
}

void ingot::forEachName(int folder,
                        const std::function<void(const char *)> &visit) {
  readNames(folder, visit);
}

//===----------------------------------------------------------------------===//
// Removal when the process ends early
//===----------------------------------------------------------------------===//

namespace {
enum State { kFree, kChanging, kWatched };

/// An entry of a fixed table of atomics, because a signal handler must neither
/// allocate nor lock.
struct Slot {
  std::atomic<int> state{kFree};
  int folder = -1;
  bool isFolder = false;
  char name[kLength + 1] = "";
};
} // namespace

static constexpr int kSlots = 1024;
static Slot slots[kSlots];

static void emptyFolder(int folder) {
  for (bool removed = true; removed;) {
    removed = false;
    readNames(folder, [&](const char *name) {
      removed |= unlinkat(folder, name, 0) == 0;
    });
  }
}

static void removeFolder(int parent, const char *name) {
  int folder =
      openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0)
    return;
  emptyFolder(folder);
  close(folder);
  unlinkat(parent, name, AT_REMOVEDIR);
}

void ingot::removeTemporaries() {
  for (Slot &slot : slots) {
    if (slot.state.load(std::memory_order_acquire) != kWatched)
      continue;
    if (slot.isFolder)
      removeFolder(slot.folder, slot.name);
    else
      unlinkat(slot.folder, slot.name, 0);
  }
}

/// Ends other programs, removes the files and raises the signal again.
/// SA_RESETHAND has removed the handler, so the signal ends the process as
/// usual.
static void onSignal(int number) {
  int saved = errno;
  killWatchedGroups();
  removeTemporaries();
  errno = saved;
  raise(number);
}

/// Provides a stack for handlers, because a stack overflow leaves none.
static void makeHandlerStack() {
  static char memory[64 << 10];
  stack_t stack = {};
  if (sigaltstack(nullptr, &stack) || !(stack.ss_flags & SS_DISABLE))
    return;
  stack = {};
  stack.ss_sp = memory;
  stack.ss_size = sizeof(memory);
  sigaltstack(&stack, nullptr);
}

static void installHandlers() {
  makeHandlerStack();
  for (int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGALRM,
                     SIGXCPU, SIGUSR1, SIGUSR2, SIGSEGV, SIGBUS, SIGILL, SIGFPE,
                     SIGABRT, SIGSYS}) {
    struct sigaction now = {};
    // Leaves signals alone that already have a handler or are ignored.
    if (sigaction(number, nullptr, &now) || (now.sa_flags & SA_SIGINFO) ||
        now.sa_handler != SIG_DFL)
      continue;
    struct sigaction action = {};
    action.sa_handler = onSignal;
    action.sa_flags = SA_RESETHAND | SA_NODEFER | SA_ONSTACK;
    sigaction(number, &action, nullptr);
  }
}

void Temporary::watch(int folder, const std::string &name, bool isFolder) {
  static std::once_flag once;
  std::call_once(once, installHandlers);
  forget();
  for (int i = 0; i < kSlots; ++i) {
    int expected = kFree;
    if (!slots[i].state.compare_exchange_strong(expected, kChanging))
      continue;
    slots[i].folder = folder;
    slots[i].isFolder = isFolder;
    strncpy(slots[i].name, name.c_str(), kLength);
    slots[i].state.store(kWatched, std::memory_order_release);
    slot = i;
    return;
  }
}

void Temporary::forget() {
  if (slot >= 0)
    slots[slot].state.store(kFree, std::memory_order_release);
  slot = -1;
}

Temporary::Temporary(Temporary &&other) : slot(other.slot) { other.slot = -1; }

Temporary &Temporary::operator=(Temporary &&other) {
  std::swap(slot, other.slot);
  return *this;
}

//===----------------------------------------------------------------------===//
// Leftovers of other processes
//===----------------------------------------------------------------------===//

bool ingot::removeIfUnused(int folder, const char *name) {
  int file = openat(folder, name,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    return false;
  struct stat opened = {}, named = {};
  bool isFolder = false, unused = false;
  if (!fstat(file, &opened) &&
      ((isFolder = S_ISDIR(opened.st_mode)) || S_ISREG(opened.st_mode)) &&
      !flock(file, LOCK_EX | LOCK_NB) &&
      // Checks that the name still refers to the opened file. Another process
      // may have replaced the file in between.
      !fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) &&
      opened.st_ino == named.st_ino && opened.st_dev == named.st_dev) {
    if (isFolder)
      emptyFolder(file);
    unused = !unlinkat(folder, name, isFolder ? AT_REMOVEDIR : 0);
  }
  close(file);
  return unused;
}

void ingot::removeLeftovers(int folder) {
  forEachName(folder, [&](const char *name) {
    if (isTemporaryName(name))
      removeIfUnused(folder, name);
  });
}
