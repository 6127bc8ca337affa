//===- Process.cpp - running other programs -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/measure/Process.h"

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

using namespace ingot::tools;

/// Describes a signal, e.g. "signal 9 (Killed)".
static std::string signalText(int number) {
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
  // A shell adds 128 to the number of the signal that has ended its command.
  const std::string code = "exit code " + std::to_string(exitCode);
  return exitCode > 128 && exitCode < 128 + SIGRTMIN
             ? code + ", which stands for " + signalText(exitCode - 128)
             : code;
}

/// The most bytes of a pipe that are kept.
static constexpr size_t kMostBytes = 1 << 20;
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
            buffer, std::min(size_t(count), kMostBytes - texts[i]->size()));
      } else if (count == 0 || errno != EINTR) {
        pipes[i].fd = -1;
        --open;
      }
    }
  }
}

ProcessResult
ingot::tools::runProcess(const std::vector<std::string> &arguments,
                         const ProcessLimits &limits) {
  ProcessResult result;
  int out[2], err[2];
  if (pipe(out) || pipe(err))
    return result;
  std::vector<char *> argv;
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t child = fork();
  if (child == 0) {
    // The child must end if the command is interrupted.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // A group of its own can be killed as a whole.
    setpgid(0, 0);
    if (int nothing = open("/dev/null", O_RDONLY); nothing >= 0) {
      dup2(nothing, 0);
      close(nothing);
    }
    dup2(out[1], 1);
    dup2(err[1], 2);
    for (int end : {out[0], out[1], err[0], err[1]})
      close(end);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  close(out[1]);
  close(err[1]);
  if (child > 0) {
    setpgid(child, child);
    WatchedGroup watched(child);
    Child running(child, limits);
    running.readBoth(out[0], err[0], result);
    running.wait(result);
  }
  close(out[0]);
  close(err[0]);
  return result;
}

std::string ingot::tools::checkPython(const std::string &python,
                                      const std::string &package) {
  ProcessResult found = runProcess(
      {python, "-c", "import numpy, " + package + "; print('found')"});
  if (found.exitCode == 127)
    return "cannot run '" + python +
           "'; name a Python interpreter with --python";
  if (found.exitCode)
    return "'" + python + "' cannot use " + package + " (" + found.lastError() +
           "); install it with: " + python + " -m pip install numpy " +
           package + ", or name another interpreter with --python";
  if (found.out.find("found") == std::string::npos)
    return "'" + python + "' is no Python interpreter; name one with --python";
  return "";
}
