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

/// Collects the members of an object while it is parsed. A parsed object would
/// keep only one of several equal keys.
class Reader : public nlohmann::json_sax<json> {
public:
  explicit Reader(std::vector<FileOption> &options) : options(options) {}

  std::string problem;

  bool null() override { return wrong(); }
  bool boolean(bool value) override {
    return add(FileOption::boolean, value ? "true" : "false");
  }
  bool number_integer(number_integer_t value) override {
    return add(FileOption::number, std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return add(FileOption::number, std::to_string(value));
  }
  bool number_float(number_float_t, const string_t &) override {
    return wrong();
  }
  bool string(string_t &value) override {
    if (value.find('\0') != std::string::npos) {
      problem = "a string has a character with the code 0";
      return false;
    }
    return add(FileOption::text, value);
  }
  bool binary(binary_t &) override { return wrong(); }
  bool start_object(std::size_t) override {
    if (isInObject)
      return wrong();
    return isInObject = true;
  }
  bool key(string_t &name) override {
    if (!keys.insert(name).second) {
      problem = "key '" + name + "' is given twice";
      return false;
    }
    options.push_back({name, FileOption::text, {}});
    return true;
  }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override {
    if (!isInObject || isInArray)
      return wrong();
    options.back().type = FileOption::list;
    return isInArray = true;
  }
  bool end_array() override {
    isInArray = false;
    return true;
  }
  bool parse_error(std::size_t position, const std::string &,
                   const nlohmann::detail::exception &) override {
    problem = "is not JSON from byte " + std::to_string(position) + " on";
    return false;
  }

private:
  bool add(FileOption::Type type, const std::string &value) {
    if (!isInObject || (isInArray && type != FileOption::text))
      return wrong();
    FileOption &option = options.back();
    if (!isInArray)
      option.type = type;
    option.values.push_back(value);
    return true;
  }
  bool wrong() {
    problem = isInObject && !options.empty()
                  ? wrongType(options.back().key,
                              "a string, a whole number, true, false or an "
                              "array of strings")
                  : "must be a JSON object";
    return false;
  }

  std::vector<FileOption> &options;
  std::set<std::string> keys;
  bool isInObject = false, isInArray = false;
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

std::string tools::wrongType(const std::string &key,
                             const std::string &expected) {
  return "the value of '" + key + "' must be " + expected;
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
    name = "a number";
    break;
  case KindId::list:
    expected = FileOption::list;
    name = "an array of strings";
    break;
  case KindId::text:
  case KindId::choice:
    break;
  }
  return member.type == expected ? "" : wrongType(member.key, name);
}

/// Returns the value of an option that is no list.
static std::string valueText(const GivenOption &given) {
  using cli::KindId;
  switch (given.option->kind.id) {
  case KindId::flag:
    return "true";
  case KindId::toggle:
    return given.value == "false" || given.value == "0" ? "false" : "true";
  case KindId::number:
  case KindId::seed:
    // Remove leading zeros, which JSON does not allow.
    return std::to_string(std::stoull(given.value));
  default:
    return formatJson(given.value);
  }
}

std::string tools::optionsFileText(const std::string &model,
                                   const std::vector<GivenOption> &given,
                                   const std::string &omitted) {
  std::string text = "{\n  " + formatJson(kModelKey) + ": " + formatJson(model);
  std::vector<const cli::Option *> written;
  for (const GivenOption &first : given) {
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
    for (const GivenOption &other : given)
      if (other.option == first.option) {
        text += separator + formatJson(other.value);
        separator = ", ";
      }
    text += "]";
  }
  return text + "\n}\n";
}
