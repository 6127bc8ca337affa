//===- Process.cpp - running other programs -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/Process.h"

#include "base/ProcessGroups.h"

#include <algorithm>
#include <chrono>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ingot;

std::string ingot::signalText(int number) {
  return "signal " + std::to_string(number) + " (" + strsignal(number) + ")";
}

std::string ProcessResult::lastError() const {
  std::string text = err;
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  size_t line = text.rfind('\n');
  if (line != std::string::npos)
    text.erase(0, line + 1);
  if (signal)
    return "it was ended by " + signalText(signal) +
           (text.empty() ? "" : ": " + text);
  if (!text.empty())
    return text;
  if (startError)
    return strerror(startError);
  // A shell adds 128 to the number of the signal that has ended its command.
  const std::string code = "exit code " + std::to_string(exitCode);
  return exitCode > 128 && exitCode < 128 + SIGRTMIN
             ? code + ", which stands for " + signalText(exitCode - 128)
             : code;
}

/// Milliseconds between two questions to `isCancelled`.
static constexpr int kPollMs = 100;

namespace {

using Clock = std::chrono::steady_clock;

/// Reads what a child process writes, and kills the child at its limits.
class Child {
public:
  Child(pid_t process, const ProcessLimits &limits)
      : process(process), limits(limits),
        end(Clock::now() + std::chrono::seconds(limits.seconds)) {}

  void readBoth(int out, int err, ProcessResult &result);
  /// Waits for the end, and sets the exit code.
  void wait(ProcessResult &result);

private:
  bool isLimited() const { return limits.seconds || limits.isCancelled; }
  /// Kills the child and returns true if it exceeds a limit.
  bool exceedsLimits(ProcessResult &result) const;

  pid_t process;
  const ProcessLimits &limits;
  Clock::time_point end;
};

} // namespace

bool Child::exceedsLimits(ProcessResult &result) const {
  result.isLate = limits.seconds && Clock::now() >= end;
  if (!result.isLate && !(limits.isCancelled && limits.isCancelled()))
    return false;
  kill(-process, SIGKILL);
  return true;
}

void Child::wait(ProcessResult &result) {
  int status = 0;
  // A child may close its pipes long before it ends.
  bool waits = isLimited() && !result.isLate;
  pid_t ended = 0;
  while ((ended = waitpid(process, &status, waits ? WNOHANG : 0)) <= 0) {
    if (ended < 0 && errno != EINTR)
      return;
    if (ended == 0 && exceedsLimits(result))
      waits = false;
    else if (ended == 0)
      poll(nullptr, 0, kPollMs / 10);
  }
  result.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/// Reads both pipes as data arrives. If one pipe were full, the writer would
/// block.
void Child::readBoth(int out, int err, ProcessResult &result) {
  pollfd pipes[2] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
  std::string *texts[2] = {&result.out, &result.err};
  for (int open = 2; open;) {
    if (poll(pipes, 2, isLimited() ? kPollMs : -1) < 0 && errno != EINTR)
      return;
    if (isLimited() && exceedsLimits(result))
      return;
    for (int i = 0; i < 2; ++i) {
      if (pipes[i].fd < 0 || !pipes[i].revents)
        continue;
      char buffer[4096];
      ssize_t count = read(pipes[i].fd, buffer, sizeof(buffer));
      if (count > 0) {
        texts[i]->append(
            buffer, std::min(size_t(count), limits.bytes - texts[i]->size()));
      } else if (count == 0 || errno != EINTR) {
        pipes[i].fd = -1;
        --open;
      }
    }
  }
}

namespace {
/// Two ends of a pipe. Programs that are started do not inherit them.
struct Pipe {
  Pipe() : isOpen(!pipe2(ends, O_CLOEXEC)) {}
  ~Pipe() {
    closeEnd(0);
    closeEnd(1);
  }
  Pipe(const Pipe &) = delete;
  Pipe &operator=(const Pipe &) = delete;

  void closeEnd(int i) {
    if (ends[i] >= 0)
      close(ends[i]);
    ends[i] = -1;
  }

  int ends[2] = {-1, -1};
  bool isOpen;
};
} // namespace

/// Becomes the program, or writes errno to `failure`. Runs in the child, which
/// must not allocate.
[[noreturn]] static void becomeProgram(char **arguments, int out, int err,
                                       int failure) {
  // The child must end if the command is interrupted.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A group of its own can be killed as a whole.
  setpgid(0, 0);
  if (int nothing = open("/dev/null", O_RDONLY); nothing >= 0) {
    dup2(nothing, 0);
    close(nothing);
  }
  dup2(out, 1);
  dup2(err, 2);
  execvp(arguments[0], arguments);
  const int reason = errno;
  if (write(failure, &reason, sizeof(reason)) < 0)
    _exit(126);
  _exit(127);
}

/// Returns the number that a child has written to a pipe, or 0 if there is
/// none.
static int readNumber(int pipe) {
  int number = 0;
  ssize_t count;
  while ((count = read(pipe, &number, sizeof(number))) < 0 && errno == EINTR) {
  }
  return count == ssize_t(sizeof(number)) ? number : 0;
}

ProcessResult ingot::runProcess(const std::vector<std::string> &arguments,
                                const ProcessLimits &limits) {
  ProcessResult result;
  Pipe out, err, failure;
  std::vector<char *> argv;
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t child =
      out.isOpen && err.isOpen && failure.isOpen ? fork() : pid_t(-1);
  if (child < 0) {
    result.startError = errno;
    return result;
  }
  if (child == 0)
    becomeProgram(argv.data(), out.ends[1], err.ends[1], failure.ends[1]);
  for (Pipe *pipe : {&out, &err, &failure})
    pipe->closeEnd(1);
  setpgid(child, child);
  WatchedGroup watched(child);
  result.startError = readNumber(failure.ends[0]);
  Child running(child, limits);
  running.readBoth(out.ends[0], err.ends[0], result);
  running.wait(result);
  return result;
}
