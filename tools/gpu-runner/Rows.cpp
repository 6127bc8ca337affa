//===- Rows.cpp - the rows of a part, in another process ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/gpu-runner/Rows.h"

#include "client/measure/System.h"

#include <algorithm>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::gpu;

namespace {

/// A process that makes rows from `first` on. It writes each as a line.
class Worker {
public:
  Worker(const Json &items, size_t first,
         const std::function<Json(const Json &)> &makeRow);
  Worker(const Worker &) = delete;
  ~Worker();

  bool hasStarted() const { return pid > 0; }
  /// Reads the next row. Returns false if there is none before the deadline, or
  /// if the process has ended; `row` then has the reason.
  bool read(double seconds, Json &row);

private:
  bool takeLine(Json &row);
  /// Waits for the end of the process and says how it ended.
  std::string end();

  pid_t pid = -1;
  int descriptor = -1;
  std::string received;
};

} // namespace

static double secondsNow() { return double(tools::nowNs()) * 1e-9; }

static void writeAll(int descriptor, const std::string &text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t written =
        write(descriptor, text.data() + at, text.size() - at);
    if (written <= 0)
      _exit(1);
    at += size_t(written);
  }
}

Worker::Worker(const Json &items, size_t first,
               const std::function<Json(const Json &)> &makeRow) {
  int ends[2];
  if (pipe(ends))
    return;
  pid = fork();
  if (pid) {
    close(ends[1]);
    descriptor = ends[0];
    return;
  }
  close(ends[0]);
  // Ends with the parent, also if that is killed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (size_t i = first; i < items.size(); ++i) {
    const Json row = makeRow(items[i]);
    writeAll(ends[1],
             row.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    if (row.value("status", "") == "failed")
      break;
  }
  // Destructors of libraries may wait for a GPU that no longer answers.
  _exit(0);
}

Worker::~Worker() {
  if (descriptor >= 0)
    close(descriptor);
  if (pid > 0) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
}

bool Worker::takeLine(Json &row) {
  const size_t at = received.find('\n');
  if (at == received.npos)
    return false;
  row = Json::parse(received.substr(0, at));
  received.erase(0, at + 1);
  return true;
}

std::string Worker::end() {
  int state = 0;
  waitpid(pid, &state, 0);
  pid = -1;
  if (WIFSIGNALED(state))
    return std::string("the process ended with signal ") +
           strsignal(WTERMSIG(state));
  return "the process ended with exit code " +
         std::to_string(WEXITSTATUS(state));
}

bool Worker::read(double seconds, Json &row) {
  const double deadline = secondsNow() + seconds;
  while (!takeLine(row)) {
    pollfd waited = {descriptor, POLLIN, 0};
    const double left = deadline - secondsNow();
    const int ready = left > 0 ? poll(&waited, 1, int(left * 1e3) + 1) : 0;
    char bytes[1 << 16];
    const ssize_t count =
        ready > 0 ? ::read(descriptor, bytes, sizeof(bytes)) : 0;
    if (count > 0) {
      received.append(bytes, size_t(count));
      continue;
    }
    row = ready > 0
              ? Json{{"status", "crashed"}, {"message", end()}}
              : Json{{"status", "hung"},
                     {"message", "no result after " +
                                     std::to_string(int(seconds)) + " s"}};
    return false;
  }
  return true;
}

/// Returns a row with the name and the group of an item.
static Json rowOf(const Json &item, const Json &members) {
  Json row = {{"name", item.at("name")}, {"group", item.value("group", "")}};
  row.update(members);
  return row;
}

Json gpu::makeRows(const Json &items, const Budget &budget,
                   const std::function<Json(const Json &)> &makeRow) {
  Json rows = Json::array();
  const double end = secondsNow() + budget.seconds;
  while (rows.size() < items.size() && secondsNow() < end) {
    if (!budget.forks) {
      rows.push_back(makeRow(items[rows.size()]));
      continue;
    }
    Worker worker(items, rows.size(), makeRow);
    bool works = worker.hasStarted();
    if (!works) {
      rows.push_back(
          rowOf(items[rows.size()],
                {{"status", "failed"}, {"message", "cannot start a process"}}));
      continue;
    }
    while (works && rows.size() < items.size()) {
      const double left = end - secondsNow();
      if (left <= 0)
        break;
      Json row;
      works = worker.read(std::min(left, budget.mostPerRow), row);
      if (!works && left < budget.mostPerRow &&
          row.value("status", "") == "hung")
        break;
      rows.push_back(works ? row : rowOf(items[rows.size()], row));
      // The worker ends behind a failure.
      works = works && row.value("status", "") != "failed";
    }
  }
  while (rows.size() < items.size())
    rows.push_back(rowOf(items[rows.size()], {{"status", "not measured"}}));
  return rows;
}
