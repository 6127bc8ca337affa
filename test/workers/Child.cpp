//===- Child.cpp - a forked process that answers lines --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/workers/Child.h"

#include <csignal>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ingot;

static constexpr int kMostLines = 50;

/// Ends this process after `seconds` of CPU time from now, or ten times as much
/// wall time, because the machine may be busy.
static void limitTime(unsigned seconds) {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  rlim_t most = used.ru_utime.tv_sec + used.ru_stime.tv_sec + seconds + 1;
  rlimit limit = {most, RLIM_INFINITY};
  setrlimit(RLIMIT_CPU, &limit);
  alarm(10 * seconds);
}

/// Writes `text` and a line end. Returns false if the other side has ended.
static bool writeLine(int to, std::string text) {
  text += '\n';
  for (size_t done = 0; done < text.size();) {
    ssize_t n = write(to, text.data() + done, text.size() - done);
    if (n <= 0)
      return false;
    done += size_t(n);
  }
  return true;
}

/// Reads up to a line end. Returns false if the other side ends before.
static bool readLine(int from, std::string &text) {
  text.clear();
  for (char c; read(from, &c, 1) == 1; text += c)
    if (c == '\n')
      return true;
  return false;
}

void Child::serve(int questions, int answers) {
  signal(SIGPIPE, SIG_DFL);
  int null = open("/dev/null", O_WRONLY);
  dup2(null, STDOUT_FILENO);
  if (!getenv("INGOT_CONFORMANCE_STDERR"))
    dup2(null, STDERR_FILENO);
  for (std::string line; readLine(questions, line);) {
    limitTime(seconds);
    if (!writeLine(answers, answer(line)))
      _exit(1);
  }
  _exit(0);
}

bool Child::start() {
  int in[2], out[2];
  if (pipe(in))
    return false;
  if (pipe(out)) {
    close(in[0]);
    close(in[1]);
    return false;
  }
  // A write to a dead process must fail instead of ending this process.
  signal(SIGPIPE, SIG_IGN);
  process = fork();
  if (process == 0) {
    close(in[1]);
    close(out[0]);
    serve(in[0], out[1]);
  }
  close(in[0]);
  close(out[1]);
  questions = in[1];
  answers = out[0];
  asked = 0;
  return process > 0;
}

int Child::end() {
  for (int *file : {&questions, &answers})
    if (*file >= 0)
      close(std::exchange(*file, -1));
  int status = 0;
  if (process > 0)
    waitpid(process, &status, 0);
  process = -1;
  return status;
}

std::optional<int> Child::ask(const std::string &line, std::string &text) {
  if (asked++ == kMostLines)
    end();
  if ((process < 0 && !start()) || !writeLine(questions, line) ||
      !readLine(answers, text))
    return end();
  return std::nullopt;
}
