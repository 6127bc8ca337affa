//===- OptionsFile.cpp - options in a JSON file ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/OptionsFile.h"

#include "base/InputFile.h"
#include "client/Text.h"

#include <nlohmann/json.hpp>

#include <set>

using namespace ingot;
using namespace ingot::tools;

using nlohmann::json;

/// The most bytes of an options file.
static constexpr uint64_t kMaxFileBytes = 1 << 20;

namespace {

/// Collects the members of an object during parsing. A parsed object would keep
/// only one member of several with the same key.
class Reader : public nlohmann::json_sax<json> {
public:
  explicit Reader(std::vector<FileOption> &options) : options(options) {}

  std::string problem;

  bool null() override { return add(FileOption::other, "", "null"); }
  bool boolean(bool value) override {
    const char *text = value ? "true" : "false";
    return add(FileOption::boolean, text, text);
  }
  bool number_integer(number_integer_t value) override {
    return addNumber(std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return addNumber(std::to_string(value));
  }
  bool number_float(number_float_t, const string_t &text) override {
    return add(FileOption::other, "", "the number " + text);
  }
  bool string(string_t &value) override {
    if (value.find('\0') != std::string::npos) {
      problem = "a string has a character with the code 0";
      return false;
    }
    return add(FileOption::text, value, "a string");
  }
  bool binary(binary_t &) override { return add(FileOption::other, "", ""); }
  bool start_object(std::size_t) override {
    return isInObject ? startInner("an object") : isInObject = true;
  }
  bool key(string_t &name) override {
    if (depth)
      return true;
    if (!keys.insert(name).second) {
      problem = "key '" + name + "' is given twice";
      return false;
    }
    options.push_back({name, FileOption::text, {}, ""});
    return true;
  }
  bool end_object() override { return endInner(); }
  bool start_array(std::size_t) override {
    if (!isInObject || isInArray || depth)
      return startInner("an array of arrays");
    options.back().type = FileOption::list;
    options.back().described = "an array of strings";
    return isInArray = true;
  }
  bool end_array() override {
    if (!depth)
      isInArray = false;
    return endInner();
  }
  bool parse_error(std::size_t position, const std::string &,
                   const nlohmann::detail::exception &) override {
    problem = "is not JSON from byte " + std::to_string(position) + " on";
    return false;
  }

private:
  bool addNumber(const std::string &text) {
    return add(FileOption::number, text, "the number " + text);
  }
  bool add(FileOption::Type type, const std::string &value,
           const std::string &described) {
    if (!isInObject)
      return fail();
    if (depth)
      return true;
    FileOption &option = options.back();
    if (!isInArray) {
      option.type = type;
      option.described = described;
    } else if (type != FileOption::text) {
      option.type = FileOption::other;
      option.described = "an array with " + described;
    }
    option.values.push_back(value);
    return true;
  }
  /// Starts an object or a nested array. No option has such a value, so its
  /// content is not read.
  bool startInner(const char *described) {
    if (!isInObject)
      return fail();
    if (!depth++) {
      options.back().type = FileOption::other;
      options.back().described = described;
    }
    return true;
  }
  bool endInner() {
    depth -= depth > 0;
    return true;
  }
  bool fail() {
    problem = "must be a JSON object";
    return false;
  }

  std::vector<FileOption> &options;
  std::set<std::string> keys;
  bool isInObject = false, isInArray = false;
  /// The number of open values inside of a value that no option has.
  unsigned depth = 0;
};

} // namespace

bool tools::isOptionsFile(const std::string &argument) {
  const std::string ending = ".json";
  return argument.size() > ending.size() + 1 && argument[0] == '@' &&
         !argument.compare(argument.size() - ending.size(), ending.size(),
                           ending);
}

bool tools::readOptionsFile(const std::string &path,
                            std::vector<FileOption> &options,
                            std::string &problem) {
  std::string text;
  if (std::string failed = readWholeFile(path, kMaxFileBytes, text);
      !failed.empty()) {
    problem = "cannot read '" + formatLine(path, 200) + "': " + failed;
    return false;
  }
  Reader reader(options);
  json::sax_parse(text, &reader);
  problem = reader.problem;
  return true;
}

std::string tools::wrongType(const FileOption &member,
                             const std::string &expected) {
  return "the value of '" + member.key + "' must be " + expected + ", not " +
         member.described;
}

std::string tools::checkType(const cli::Option &option,
                             const FileOption &member) {
  using cli::KindId;
  FileOption::Type expected = FileOption::text;
  const char *name = "a string";
  switch (option.kind.id) {
  case KindId::flag:
  case KindId::toggle:
    expected = FileOption::boolean;
    name = "true or false";
    break;
  case KindId::number:
  case KindId::seed:
    expected = FileOption::number;
    name = "a whole number";
    break;
  case KindId::list:
    expected = FileOption::list;
    name = "an array of strings";
    break;
  case KindId::text:
  case KindId::choice:
    break;
  }
  return member.type == expected ? "" : wrongType(member, name);
}

/// Returns the value of an option that is not a list.
static std::string valueText(const cli::GivenOption &given) {
  using cli::KindId;
  switch (given.option->kind.id) {
  case KindId::flag:
    return "true";
  case KindId::toggle:
    return given.value == "false" || given.value == "0" ? "false" : "true";
  case KindId::number:
  case KindId::seed:
    // Remove leading zeros, because JSON does not allow them.
    return std::to_string(std::stoull(given.value));
  default:
    return formatJson(given.value);
  }
}

std::string tools::optionsFileText(const std::string &model,
                                   const std::vector<cli::GivenOption> &given,
                                   const std::string &omitted) {
  std::string text = "{\n  " + formatJson(kModelKey) + ": " + formatJson(model);
  std::vector<const cli::Option *> written;
  for (const cli::GivenOption &first : given) {
    if (omitted == first.option->name ||
        std::find(written.begin(), written.end(), first.option) !=
            written.end())
      continue;
    written.push_back(first.option);
    text += ",\n  " + formatJson(first.option->name) + ": ";
    if (first.option->kind.id != cli::KindId::list) {
      text += valueText(first);
      continue;
    }
    const char *separator = "[";
    for (const cli::GivenOption &other : given)
      if (other.option == first.option) {
        text += separator + formatJson(other.value);
        separator = ", ";
      }
    text += "]";
  }
  return text + "\n}\n";
}
