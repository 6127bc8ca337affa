//===- JsonWriter.h - the JSON of reports -----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_REPORT_JSONWRITER_H
#define INGOT_COMPILER_STUDY_REPORT_JSONWRITER_H

#include "client/Text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string>

namespace ingot::study {

/// Writes JSON and inserts commas. The caller must end what it begins.
class JsonWriter {
public:
  /// Begins an element of an array, or the document.
  JsonWriter &begin(char bracket) {
    separate();
    text += bracket;
    isFirst = true;
    return *this;
  }
  /// Begins a member of an object.
  JsonWriter &begin(const std::string &key, char bracket) {
    name(key);
    text += bracket;
    isFirst = true;
    return *this;
  }
  JsonWriter &end(char bracket) {
    if (breakLine)
      text += '\n';
    text += bracket;
    isFirst = breakLine = false;
    return *this;
  }
  template <typename T>
  JsonWriter &member(const std::string &key, T value) {
    name(key);
    write(value);
    return *this;
  }
  template <typename T>
  JsonWriter &element(T value) {
    separate();
    write(value);
    return *this;
  }
  /// Adds a line break, so that people can read the file.
  JsonWriter &line() {
    breakLine = true;
    return *this;
  }
  const std::string &str() const { return text; }

private:
  void separate() {
    if (!isFirst)
      text += breakLine ? "," : ", ";
    if (breakLine)
      text += '\n';
    isFirst = breakLine = false;
  }
  void name(const std::string &key) {
    separate();
    text += tools::formatJson(key) + ": ";
  }
  void write(const std::string &value) { text += tools::formatJson(value); }
  void write(const char *value) { text += tools::formatJson(value); }
  void write(bool value) { text += value ? "true" : "false"; }
  void write(uint64_t value) { text += std::to_string(value); }
  void write(unsigned value) { text += std::to_string(value); }
  void write(double value) {
    char digits[40] = "null"; // JSON has neither infinity nor NaN
    if (isfinite(value))
      snprintf(digits, sizeof(digits), "%.9g", value);
    text += digits;
  }

  std::string text;
  bool isFirst = true, breakLine = false;
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_REPORT_JSONWRITER_H
