//===- SystemFailures.cpp - one message for system failures ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/SystemFailures.h"

#include "base/ProcessGroups.h"
#include "base/Temporaries.h"

#include <atomic>
#include <errno.h>
#include <exception>
#include <new>
#include <signal.h>
#include <stdexcept>
#include <stdio.h>
#include <string.h>
#include <system_error>
#include <unistd.h>

using namespace ingot;

static const char *command = "";
static char step[96] = "";
static const bool *reported = nullptr;
static std::atomic<bool> isEnding{false}, isDone{false}, isMemoryNeeded{false};
static bool isJson = false;

void ingot::nameCommand(const char *name) { command = name; }

void ingot::readJsonFlag(int argc, char *const *argv) {
  for (int i = 1; i < argc && strcmp(argv[i], "--"); ++i)
    isJson |= !strcmp(argv[i], "--json");
}

bool ingot::writesJson() { return isJson; }

void ingot::setWritesJson() { isJson = true; }

void ingot::nameStep(const char *name) {
  strncpy(step, name, sizeof(step) - 1);
}

void ingot::setDone() { isDone = true; }

void ingot::setReported(const bool *isReported) { reported = isReported; }

namespace {
/// A JSON line in a buffer on the stack. Text that does not fit is left out.
class JsonLine {
public:
  /// Appends text as it is.
  void put(const char *text) {
    for (; *text && length < kRoom; ++text)
      bytes[length++] = *text;
  }
  /// Appends a string in quotes.
  void quote(const char *text) {
    put("\"");
    for (; *text && length < kRoom - 8; ++text) {
      const auto byte = static_cast<unsigned char>(*text);
      if (byte == '"' || byte == '\\')
        bytes[length++] = '\\';
      bytes[length++] = byte < 0x20 ? ' ' : *text;
    }
    put("\"");
  }
  void write() {
    bytes[length++] = '\n';
    (void)!::write(STDERR_FILENO, bytes, length);
  }

private:
  static constexpr size_t kRoom = 900;
  char bytes[kRoom + 4];
  size_t length = 0;
};
} // namespace

static void printJson(const char *reason) {
  JsonLine line;
  line.put("{\"type\":\"message\",\"severity\":\"error\",\"text\":");
  line.quote(reason);
  if (*step) {
    line.put(",\"phase\":");
    line.quote(step);
  }
  line.put("}");
  line.write();
}

/// Prints one line from a buffer on the stack with a single write, because
/// memory may be exhausted or the heap damaged.
static void printLine(const char *reason) {
  if (isJson)
    return printJson(reason);
  char line[512];
  int length = snprintf(line, sizeof(line) - 1, "%singot%s%s: error: %s%s%s",
                        isatty(STDERR_FILENO) ? "\r\033[K" : "",
                        *command ? " " : "", command, reason,
                        *step ? ", at: " : "", step);
  if (length > int(sizeof(line)) - 2)
    length = int(sizeof(line)) - 2;
  line[length++] = '\n';
  (void)!write(STDERR_FILENO, line, size_t(length));
}

void ingot::endBecause(const char *reason) {
  // If two threads fail, only one prints.
  if (isEnding.exchange(true))
    for (;;)
      pause();
  if (isDone) {
    killWatchedGroups();
    removeTemporaries();
    _exit(0);
  }
  if (!reported || !*reported)
    printLine(reason);
  killWatchedGroups();
  removeTemporaries();
  _exit(1);
}

void ingot::endOutOfMemory() {
  endBecause("out of memory");
}

static void onTerminate() {
  std::exception_ptr current = std::current_exception();
  if (!current)
    endBecause("the command itself failed; please report it");
  try {
    std::rethrow_exception(current);
  } catch (const std::bad_alloc &) {
    endOutOfMemory();
  } catch (const std::length_error &) {
    // If the text is larger than any memory, end the process.
    endOutOfMemory();
  } catch (const std::system_error &error) {
    char reason[128];
    snprintf(reason, sizeof(reason), "the system refused a request (%s)",
             strerror(error.code().value()));
    endBecause(reason);
  } catch (const std::exception &error) {
    char reason[256];
    snprintf(reason, sizeof(reason),
             "the command itself failed (%s); please report it", error.what());
    endBecause(reason);
  } catch (...) {
    endBecause("the command itself failed; please report it");
  }
}

static void onBusError(int number, siginfo_t *info, void *) {
  if (info->si_code == BUS_ADRERR)
    endBecause("a file that is being read became shorter, or its disk fails");
  raise(number);
}

/// Prints a line and raises the signal again. The handler is already removed,
/// so the signal ends the process. The parent process then sees which signal it
/// was.
static void onInterrupt(int number) {
  int saved = errno;
  if (!isEnding.exchange(true))
    printLine(number == SIGINT ? "interrupted" : "terminated");
  killWatchedGroups();
  removeTemporaries();
  errno = saved;
  raise(number);
}

/// Installs the handlers. Ignored signals stay ignored, because a background
/// job of a shell ignores SIGINT.
static void handleInterrupts() {
  for (int number : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) || action.sa_handler != SIG_DFL)
      continue;
    action = {};
    action.sa_handler = onInterrupt;
    action.sa_flags = SA_RESETHAND | SA_NODEFER;
    sigaction(number, &action, nullptr);
  }
}

void ingot::endInOneLine(const char *name) {
  nameCommand(name);
  std::set_terminate(onTerminate);
  signal(SIGXFSZ, SIG_IGN);
  handleInterrupts();
  // Ignores SIGPIPE, so that a write fails if its reader has gone. A message
  // then reports the failure.
  if (isJson)
    signal(SIGPIPE, SIG_IGN);
  struct sigaction action = {};
  action.sa_sigaction = onBusError;
  action.sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER;
  sigaction(SIGBUS, &action, nullptr);
}

void ingot::endWithoutMemory() {
  isMemoryNeeded = true;
  std::set_new_handler([] { endOutOfMemory(); });
}

bool ingot::isWithoutMemoryTheEnd() {
  return isMemoryNeeded.load(std::memory_order_relaxed);
}
