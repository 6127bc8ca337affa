//===- Errors.cpp - errors of studies -------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/runs/Errors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace ingot;
using namespace ingot::study;

char StudyError::ID;
char Cancelled::ID;

void StudyError::log(llvm::raw_ostream &out) const {
  llvm::interleave(
      all, out,
      [&](const Message &message) {
        if (!message.file.empty())
          out << message.file << ": ";
        if (!message.node.empty())
          out << "node '" << message.node << "': ";
        out << message.text;
        if (!message.hint.empty())
          out << "; " << message.hint;
      },
      "\n");
}

void Cancelled::log(llvm::raw_ostream &out) const { out << "cancelled"; }

static llvm::Error make(std::string text, bool isUsage) {
  Message message;
  message.text = std::move(text);
  return llvm::make_error<StudyError>(std::vector<Message>{std::move(message)},
                                      isUsage);
}

llvm::Error study::makeError(std::string text) {
  return make(std::move(text), /*isUsage=*/false);
}

llvm::Error study::makeUsageError(std::string text) {
  return make(std::move(text), /*isUsage=*/true);
}

llvm::Error study::errorIf(std::string text) {
  return text.empty() ? llvm::Error::success() : makeError(std::move(text));
}

llvm::Error study::atSample(const std::string &sample, llvm::Error error) {
  return llvm::handleErrors(std::move(error),
                            [&](const StudyError &found) -> llvm::Error {
                              std::vector<Message> messages = found.messages();
                              for (Message &message : messages)
                                message.text = sample + ": " + message.text;
                              return llvm::make_error<StudyError>(
                                  std::move(messages), found.isUsage());
                            });
}

llvm::Error study::checkCancelled(const Progress &progress) {
  return progress.cancelled() ? llvm::make_error<Cancelled>()
                              : llvm::Error::success();
}

void study::warn(const Progress &progress, std::string text) {
  Message message;
  message.severity = Severity::warning;
  message.text = std::move(text);
  progress.message(message);
}
