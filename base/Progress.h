//===- Progress.h - what long work tells its caller -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_BASE_PROGRESS_H
#define INGOT_BASE_PROGRESS_H

#include <functional>
#include <memory>
#include <string>

namespace ingot {

/// The severity of a message, most severe first.
enum class Severity { error, warning, remark, note };

/// A message about a model, a file or an option.
struct Message {
  Severity severity = Severity::error;
  /// The file that the message is about, or "".
  std::string file;
  /// The names of the ONNX node and of its operator, or "".
  std::string node, op;
  /// The scope of the node in the exporter's program, e.g. `stem.conv`, or "".
  std::string scope;
  /// The problem, in one line.
  std::string text;
  /// A hint how to solve the problem, in one line, or "".
  std::string hint;
};

/// Connects long work to its caller. A default-constructed object ignores
/// everything and never cancels. The callbacks are called on the thread that
/// started the work, one at a time.
struct Progress {
  /// Receives the current phase in words, e.g. "measuring layers". `fraction`
  /// is the share of the whole work that is done, from 0 to 1, or negative if
  /// it is unknown.
  std::function<void(const std::string &phase, double fraction)> onStep;
  /// Receives warnings and remarks. Errors are returned instead.
  std::function<void(const Message &message)> onMessage;
  /// Returns true once the caller wants the work to stop. The work calls this
  /// function between steps, at least once a second if possible.
  std::function<bool()> isCancelled;

  void step(const std::string &phase, double fraction = -1) const {
    if (onStep)
      onStep(phase, fraction);
  }
  void message(const Message &message) const {
    if (onMessage)
      onMessage(message);
  }
  bool cancelled() const { return isCancelled && isCancelled(); }

  /// Returns the progress of a part of this work. The fractions 0 to 1 of the
  /// part become `from` to `to` of the whole. A step without a fraction keeps
  /// the last one.
  Progress part(double from, double to) const {
    Progress result = *this;
    if (onStep)
      result.onStep = [step = onStep, from, to,
                       last = std::make_shared<double>(from)](
                          const std::string &phase, double fraction) {
        if (fraction >= 0)
          *last = from + fraction * (to - from);
        step(phase, *last);
      };
    return result;
  }
};

} // namespace ingot

#endif // INGOT_BASE_PROGRESS_H
