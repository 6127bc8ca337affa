//===- main.cpp - the program of the bundle for GPUs ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/gpu-runner/Case.h"
#include "tools/gpu-runner/Ceilings.h"
#include "tools/gpu-runner/Images.h"
#include "tools/gpu-runner/Rows.h"

#include "client/measure/System.h"

#include <fstream>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

using namespace ingot;
using namespace ingot::gpu;

static constexpr char usage[] =
    "usage: ingot-gpu device\n"
    "       ingot-gpu images LIST [--seconds N] [--output FILE]\n"
    "       ingot-gpu cases LIST [--seconds N] [--case-seconds N] "
    "[--no-fork] [--output FILE]\n"
    "       ingot-gpu ceilings [--seconds N] [--output FILE]\n"
    "       ingot-gpu record LIST\n\n"
    "Loads, runs and measures what lists in JSON name, on GPU 0, or on the "
    "device that\nINGOT_DEVICE names. Writes a JSON document.\n\n"
    "exit codes: 0 all right, 1 something failed or differs, 2 wrong use\n";

namespace {
struct Options {
  std::string command, list, output;
  Budget budget;

  bool parse(int argc, char **argv);
};
} // namespace

bool Options::parse(int argc, char **argv) {
  if (argc < 2)
    return false;
  command = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const bool hasValue = i + 1 < argc;
    if (word == "--no-fork")
      budget.forks = false;
    else if (word == "--seconds" && hasValue)
      budget.seconds = atof(argv[++i]);
    else if (word == "--case-seconds" && hasValue)
      budget.mostPerRow = atof(argv[++i]);
    else if (word == "--output" && hasValue)
      output = argv[++i];
    else if (list.empty() && word[0] != '-')
      list = word;
    else
      return false;
  }
  const bool needsList =
      command == "images" || command == "cases" || command == "record";
  return needsList
             ? !list.empty()
             : list.empty() && (command == "device" || command == "ceilings");
}

static int fail(const std::string &message) {
  fprintf(stderr, "ingot-gpu: error: %s\n", message.c_str());
  return 1;
}

/// Writes the document to the file under its name, or to standard output. The
/// file appears whole or not at all.
static int write(const Json &document, const std::string &path) {
  const std::string text =
      document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (path.empty())
    return fputs(text.c_str(), stdout) < 0 || fflush(stdout)
               ? fail("cannot write to standard output")
               : 0;
  const std::string scratch = path + ".part";
  std::ofstream file(scratch, std::ios::binary);
  file << text;
  file.close();
  if (!file || rename(scratch.c_str(), path.c_str()))
    return fail("cannot write '" + path + "'");
  return 0;
}

static bool isRight(const Json &row) {
  const std::string status = row.value("status", "");
  return status != "failed" && status != "crashed" && status != "hung" &&
         status != "differs";
}

static int describeDevice(const Options &options) {
  Gpu gpu;
  if (const std::string problem = gpu.open(); !problem.empty())
    return fail(problem);
  return write(gpu.describe(), options.output);
}

static int record(const Json &items, const std::string &folder) {
  for (const Json &item : items)
    if (const std::string problem = recordCase(item, folder); !problem.empty())
      return fail(item.at("name").get<std::string>() + ": " + problem);
  return 0;
}

static int run(const Options &options) {
  Json items = Json::array();
  std::string folder = ".";
  if (!options.list.empty()) {
    std::ifstream file(options.list);
    items = Json::parse(file, nullptr, false);
    if (!items.is_array())
      return fail("'" + options.list + "' is not a list in JSON");
    if (const size_t slash = options.list.rfind('/');
        slash != options.list.npos)
      folder = options.list.substr(0, slash);
  } else {
    items = ceilingItems();
  }
  if (options.command == "record")
    return record(items, folder);
  const uint64_t start = tools::nowNs();
  const Json rows =
      makeRows(items, options.budget, [&](const Json &item) -> Json {
        if (options.command == "images")
          return loadImage(item, folder);
        if (options.command == "ceilings")
          return measureCeiling(item);
        return runCase(item, folder);
      });
  bool areRight = true, areMeasured = false;
  for (const Json &row : rows) {
    areRight = areRight && isRight(row);
    areMeasured = areMeasured || row.value("status", "") != "not measured";
  }
  const Json document = {{"status", !areRight     ? "failed"
                                    : areMeasured ? "passed"
                                                  : "not measured"},
                         {"seconds", double(tools::nowNs() - start) * 1e-9},
                         {"rows", rows}};
  if (const int code = write(document, options.output))
    return code;
  return areRight ? 0 : 1;
}

int main(int argc, char **argv) {
  Options options;
  if (argc == 2 && !strcmp(argv[1], "--help"))
    return fputs(usage, stdout) < 0;
  if (!options.parse(argc, argv)) {
    fputs(usage, stderr);
    return 2;
  }
  try {
    return options.command == "device" ? describeDevice(options) : run(options);
  } catch (const std::exception &error) {
    // A list that does not have the members of its items.
    return fail(error.what());
  }
}
