//===- DecisionTrace.h - what was decided, and why --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects the decisions that passes record (passes/backend/Policy.h), for
// `--decisions` and `--remarks`.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_DRIVER_DECISIONTRACE_H
#define INGOT_COMPILER_DRIVER_DECISIONTRACE_H

#include "passes/backend/Policy.h"

#include "mlir/IR/Remarks.h"

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace ingot {

/// A row of the trace, in terms that users know.
struct Decision {
  /// The kind of operation: `conv`, `winograd conv`.
  std::string operation;
  /// The ONNX nodes that the operation comes from.
  std::vector<std::string> nodes;
  /// The modules of the framework that the nodes belong to; "" if unknown.
  std::string scope;
  /// Sizes of the result, "1x?x8"; "" if it has none.
  std::string sizes;
  Question question;
  std::string choice;
  std::vector<Alternative> alternatives;
  std::string reason;
  /// The name of the device that code is generated for: `cpu`.
  std::string device;
  /// The CPU level that code is generated for; "" for all levels.
  std::string level;
  /// The shape profile that the operation is for, from 1; 0 for all sizes.
  int64_t profile = 0;
};

/// The head of a file of decisions.
struct DecisionsHead {
  /// The file name of the model.
  std::string model;
  /// The options of the command line: a JSON array of strings, or "".
  std::string options;
};

/// The decisions of one compilation. Any thread may add decisions.
class DecisionTrace {
public:
  /// Adds the decision of `remark`. Returns false if the remark carries none.
  /// Replaces an earlier decision about the same question and operation.
  bool add(const mlir::remark::detail::Remark &remark);
  void clear();

  /// Returns all decisions, sorted by node, question, device and level.
  std::vector<Decision> getDecisions() const;
  std::string toJson(const DecisionsHead &head) const;

private:
  /// Identifies a decision: nodes, question, device, level, profile, operation,
  /// sizes.
  using Key = std::tuple<std::vector<std::string>, Question, std::string,
                         std::string, int64_t, std::string, std::string>;
  /// Compares keys. Numbers in names are ordered by value.
  struct Less {
    bool operator()(const Key &a, const Key &b) const;
  };

  mutable std::mutex mutex;
  std::map<Key, Decision, Less> decisions;
};

/// The precision of a layer, which several operations or devices may compute.
struct LayerPrecision {
  /// True if one of them computes it in another precision than float32.
  bool isNarrow = false;
  /// The last of the decisions about it.
  const Decision *decision = nullptr;
};

/// Returns the layers that have decisions about their precision, by their
/// nodes. They point into `decisions`.
std::map<std::vector<std::string>, LayerPrecision>
precisionsOf(const std::vector<Decision> &decisions);

/// Returns true for a decision that a user would not expect. `--remarks` prints
/// these decisions.
bool isRemarkable(const Decision &decision);

/// Returns the decision as sentences for the user, one per line.
std::vector<std::string> describe(const Decision &decision);

using RemarkReader = std::function<void(const mlir::remark::detail::Remark &)>;

/// Passes each remark of `context` to `trace` if it carries a decision, else to
/// `other`, which may be null. A context can have only one trace.
void readRemarks(mlir::MLIRContext &context, DecisionTrace &trace,
                 RemarkReader other);

} // namespace ingot

#endif // INGOT_COMPILER_DRIVER_DECISIONTRACE_H
