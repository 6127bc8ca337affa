//===- Child.h - a forked process that answers lines ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TEST_WORKERS_CHILD_H
#define INGOT_TEST_WORKERS_CHILD_H

#include <functional>
#include <optional>
#include <string>

#include <sys/types.h>

namespace ingot {

/// A forked process that answers one line after another. The first access to
/// forked memory is slow, so a process is reused. It is replaced when it dies,
/// or after so many answers that a new process costs little.
class Child {
public:
  using Answer = std::function<std::string(const std::string &line)>;

  /// Each line may take `seconds` of CPU time.
  Child(Answer answer, unsigned seconds)
      : answer(std::move(answer)), seconds(seconds) {}
  Child(const Child &) = delete;
  Child &operator=(const Child &) = delete;
  ~Child() { end(); }

  /// Sets `text` to the answer. If the process ended instead, returns its
  /// status, as of waitpid.
  std::optional<int> ask(const std::string &line, std::string &text);

private:
  bool start();
  [[noreturn]] void serve(int questions, int answers);
  /// Ends the process and returns its status.
  int end();

  Answer answer;
  unsigned seconds;
  pid_t process = -1;
  int questions = -1, answers = -1, asked = 0;
};

} // namespace ingot

#endif // INGOT_TEST_WORKERS_CHILD_H
