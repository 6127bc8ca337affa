//===- OptionsFuzzer.cpp - libFuzzer target of options and shapes ---------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fuzzes the parser of arguments; each line of the input is an argument. The
// command is `ingot bench`. Accepted arguments make inputs for a model
// with an open and a fixed dimension. File names are left out, because this
// test is about text that people type.
//
//===----------------------------------------------------------------------===//
#include "client/Text.h"
#include "client/inputs/Inputs.h"
#include "tools/ingot/InputOptions.h"
#include "tools/ingot/Options.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>

using namespace ingot::tools;

static int32_t neverRuns(ingot_abi_call *) { abort(); }

/// Makes a model with inputs x (?x4 float) and ids (n int64).
static ingot_model *makeModel() {
  static const int64_t xDims[] = {INGOT_ABI_DYNAMIC, 4};
  static const int64_t idDims[] = {INGOT_ABI_DYNAMIC};
  static const char *const xNames[] = {"n", ""}, *const idNames[] = {"n"};
  static const ingot_abi_tensor inputs[] = {
      {"x", INGOT_ABI_FLOAT, 2, xDims, xNames},
      {"ids", INGOT_ABI_INT64, 1, idDims, idNames}};
  static ingot_abi_artifact artifact = {};
  artifact.magic = INGOT_ABI_MAGIC;
  artifact.abi_version = INGOT_ABI_VERSION;
  artifact.struct_size = sizeof artifact;
  artifact.compiler = artifact.name = "fuzz";
  static ingot_abi_variant variant = {};
  variant.target = "x86-64";
  variant.device = INGOT_ABI_DEVICE_CPU;
  variant.architecture = INGOT_ABI_ARCHITECTURE_X86_64;
  variant.memories = 1u << INGOT_ABI_MEMORY_HOST;
  variant.run = neverRuns;
  artifact.inputs = artifact.outputs = {inputs, 2, sizeof(ingot_abi_tensor)};
  artifact.variants = {&variant, 1, sizeof(variant)};
  artifact.buffer_bytes = sizeof(ingot_abi_buffer);
  ingot_model *model = nullptr;
  if (ingot_model_attach(&artifact, nullptr, &model, nullptr))
    abort();
  return model;
}

static void checkLine(const std::string &text) {
  if (text.find('\n') != std::string::npos)
    abort();
}

/// Checks that no input is a file, and that none has many thousand elements.
static bool isHarmless(const InputSpecs &specs) {
  for (const std::string &input : specs.inputs)
    if (input.find("random") == std::string::npos &&
        input.find("zeros") == std::string::npos)
      return false;
  std::vector<std::string> sizes = specs.shapes;
  sizes.insert(sizes.end(), specs.dims.begin(), specs.dims.end());
  for (const std::string &shape : sizes) {
    size_t digits = 0;
    bool isInside = false; // inside a number; leading zeros do not count
    for (char c : shape) {
      isInside = c >= '0' && c <= '9' && (isInside || c != '0');
      digits += isInside;
    }
    if (digits > 5 && digits < 17)
      return false;
  }
  return true;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static ingot_model *const model = makeModel();
  std::vector<std::string> lines;
  std::stringstream text(std::string(data, data + size));
  for (std::string line; std::getline(text, line);)
    lines.push_back(line.c_str()); // up to a NUL, as the shell passes arguments
  std::vector<char *> arguments;
  for (std::string &line : lines)
    arguments.push_back(line.data());

  std::string other, positional;
  InputSpecs specs;
  ingot::cli::BenchFlags flags;
  OptionParser parser(ingot::cli::CommandId::bench);
  addInputOptions(parser, specs);
  parser.addBench(flags);
  parser.check("percentile", [](const std::string &given) -> std::string {
    return given == "a" ? "" : "must be a";
  });
  parser.optionalArgument(other);
  int exitCode = 0;
  bool goesOn = parser.parse(int(arguments.size()), arguments.data(),
                             positional, exitCode);
  if (goesOn && (positional.empty() || flags.contexts > 1024))
    abort();
  if (goesOn && isHarmless(specs)) {
    std::vector<Array> arrays;
    checkLine(makeInputs(model, specs, arrays));
    specs.isRandomByDefault = true;
    checkLine(makeInputs(model, specs, arrays));
  }
  for (const std::string &line : lines) {
    checkLine(formatLine(line, 80));
    checkLine(formatJson(line));
    long long parsed;
    parseNumber(line, parsed);
  }
  return 0;
}
