//===- Worker.cpp - ingot-conformance: compile, load and run test cases ---===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs conformance cases. Reads lines `CASE-FOLDER <tab> OUTPUT-FOLDER` and
// answers each with one line `KIND <tab> DETAIL`. KIND is ran (with
// --compile-only: compiled), unsupported, compile-error, run-error, crash or
// timeout. It is wrong if the number of threads changes the result. Each case
// runs in a forked child of this warm process, so that a crash or a hang does
// not affect other cases. The files of a case are described in cases.py.
// Results are raw bytes with an index, which run.py compares.
//
//===----------------------------------------------------------------------===//
#include "test/workers/Child.h"
#include "test/workers/WarmUp.h"
#include "compiler/driver/Compiler.h"
#include "ingot/ingot.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace {

/// Limit on outputs, above the needs of any test. Larger requests are errors of
/// the model.
constexpr uint64_t largestOutput = 1ull << 30;

/// Settings for compiling and running all cases.
struct Settings {
  std::string kernels = "onednn";
  std::string target = "native";
  /// Numbers of threads; all runs must give equal bytes.
  std::vector<uint32_t> threads = {1};
  /// True to leave OUTPUT-FOLDER/model.so and its weights without a run.
  bool compileOnly = false;
  unsigned timeoutSeconds = 300;
};

struct Answer {
  std::string kind, detail;
};

struct Input {
  ingot_dtype dtype = 0;
  std::vector<int64_t> dims;
  /// Elements; for strings the offsets, followed by the bytes.
  std::vector<char> data;

  uint64_t dataBytes() const {
    if (dtype != INGOT_STRING)
      return data.size();
    uint64_t count = 1;
    for (int64_t dim : dims)
      count *= uint64_t(dim);
    return (count + 1) * sizeof(int64_t);
  }
};

/// Values by data set and input name.
using Plan = std::map<int, std::map<std::string, Input>>;

std::vector<char> readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::vector<char>(std::istreambuf_iterator<char>(file), {});
}

std::vector<int64_t> parseDims(const std::string &text) {
  std::vector<int64_t> dims;
  if (text == "scalar")
    return dims;
  std::stringstream parts(text);
  for (std::string part; std::getline(parts, part, 'x');)
    dims.push_back(std::stoll(part));
  return dims;
}

Plan readPlan(const std::string &folder) {
  Plan plan;
  std::ifstream file(folder + "/plan.txt");
  for (std::string line; std::getline(file, line);) {
    std::stringstream fields(line);
    std::string set, name, dtype, dims, data;
    std::getline(fields, set, '\t');
    std::getline(fields, name, '\t');
    std::getline(fields, dtype, '\t');
    std::getline(fields, dims, '\t');
    std::getline(fields, data, '\t');
    Input &input = plan[std::stoi(set)][name];
    input.dtype = static_cast<ingot_dtype>(std::stoul(dtype));
    input.dims = parseDims(dims);
    input.data = readFile(folder + "/" + data);
  }
  if (plan.empty())
    plan[0] = {};
  return plan;
}

void readOptions(const std::string &folder, ingot::ImportOptions &import) {
  std::ifstream file(folder + "/options.txt");
  for (std::string line; std::getline(file, line);) {
    std::stringstream fields(line);
    std::string option, name, value;
    std::getline(fields, option, '\t');
    std::getline(fields, name, '\t');
    std::getline(fields, value, '\t');
    if (option == "absent")
      import.absent.insert(name);
    else if (option == "length")
      import.lengths[name] = std::stoll(value);
    else if (option == "shape")
      for (int64_t dim : parseDims(value))
        import.shapes[name].push_back(dim);
  }
}

/// Room for one output, which grows when a run reports the required size.
struct Output {
  ingot_tensor_info info = INGOT_TENSOR_INFO_INIT;
  std::vector<char> data;
  std::vector<int64_t> dims;
  /// Bytes of strings, and the number of bytes that a run needs.
  std::string text;
  uint64_t textUsed = 0;

  bool isOfStrings() const { return info.dtype == INGOT_STRING; }
  /// Returns the size of the output that the run wrote.
  uint64_t bytes() const {
    uint64_t count = 1;
    for (int64_t dim : dims)
      count *= dim;
    count += isOfStrings();
    return (count * ingot_dtype_bits(info.dtype) + 7) / 8;
  }
  bool operator==(const Output &other) const {
    return dims == other.dims && data == other.data && text == other.text;
  }

  bool grow() {
    uint64_t count = 1, bits = ingot_dtype_bits(info.dtype);
    for (int64_t dim : dims) {
      if (dim < 0)
        dim = 8; // a guess for a size that only the run knows
      if (dim && count > largestOutput / bits * 8 / dim)
        return false;
      count *= dim;
    }
    count += isOfStrings();
    text.resize(std::max(text.size(), size_t(textUsed)));
    data.resize(std::max<uint64_t>(data.size(), (count * bits + 7) / 8));
    return true;
  }
};

Answer failed(const ingot_error &error) {
  return {"run-error", error.message};
}

Answer runSet(ingot_model *model, ingot_context *context,
              const std::map<std::string, Input> &given,
              std::vector<Output> &outputs) {
  ingot_error error = INGOT_ERROR_INIT;
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  if (ingot_model_describe(model, &info, &error))
    return failed(error);
  std::vector<ingot_input> inputs;
  for (const auto &[name, value] : given) {
    inputs.push_back(ingot_input_make(
        value.data.data(), value.dataBytes(), value.dims.data(),
        static_cast<uint32_t>(value.dims.size()), value.dtype));
    inputs.back().name = name.c_str();
    if (value.dtype == INGOT_STRING) {
      inputs.back().text = value.data.data() + value.dataBytes();
      inputs.back().text_bytes = value.data.size() - value.dataBytes();
    }
  }
  outputs.resize(info.num_outputs);
  for (uint32_t i = 0; i < info.num_outputs; ++i) {
    Output &output = outputs[i];
    if (ingot_model_output_describe(model, i, &output.info, &error))
      return failed(error);
    output.dims.assign(output.info.dims, output.info.dims + output.info.rank);
  }
  for (int attempt = 0;; ++attempt) {
    std::vector<ingot_output> buffers;
    for (Output &output : outputs) {
      if (!output.grow())
        return {"run-error", "an output needs more than 1 GiB"};
      buffers.push_back(ingot_output_make(
          output.data.data(), output.data.size(), output.dims.data(),
          output.info.rank, output.info.dtype));
      if (output.isOfStrings()) {
        buffers.back().text = output.text.data();
        buffers.back().text_bytes = output.text.size();
        buffers.back().text_used = &output.textUsed;
      }
    }
    ingot_status status =
        ingot_context_run(context, inputs.data(), inputs.size(), buffers.data(),
                          buffers.size(), nullptr, &error);
    if (status == INGOT_OK)
      break;
    if (status != INGOT_BUFFER_TOO_SMALL || attempt == 4)
      return failed(error);
  }
  for (Output &output : outputs) {
    output.data.resize(output.bytes());
    output.text.resize(output.textUsed);
  }
  return {"ran", ""};
}

void writeSet(int set, const std::vector<Output> &outputs,
              const std::string &folder, std::ostream &index) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Output &output = outputs[i];
    std::string dims;
    for (int64_t dim : output.dims)
      dims += (dims.empty() ? "" : "x") + std::to_string(dim);
    std::ofstream file(folder + "/" + std::to_string(set) + "_got_" +
                           std::to_string(i) + ".bin",
                       std::ios::binary);
    file.write(output.data.data(), output.data.size());
    file << output.text;
    index << set << '\t' << i << '\t' << output.info.dtype << '\t'
          << (dims.empty() ? "scalar" : dims) << '\n';
  }
}

/// Compiles the case. Returns the compiler's messages; empty on success.
std::vector<std::string> compileCase(const Settings &settings,
                                     const std::string &folder,
                                     const std::string &artifact) {
  std::unique_ptr<mlir::MLIRContext> context = ingot::createContext();
  std::vector<std::string> errors;
  mlir::ScopedDiagnosticHandler handler(
      context.get(), [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          errors.push_back(diagnostic.str());
        return mlir::success();
      });
  ingot::CompileOptions options;
  options.input = folder + "/model.onnx";
  options.output = artifact;
  options.writeHeader = false;
  options.verifyEach = true;
  readOptions(folder, options.import);
  options.pipeline.kernels = settings.kernels;
  options.target = settings.target;
  options.weightsInFile = settings.compileOnly;
  if (mlir::failed(ingot::compileModel(options, *context)) && errors.empty())
    errors.push_back("compilation failed without a message");
  return errors;
}

/// Returns true if the compiler's message says that it does not support
/// something in the model.
bool isRefusal(const std::string &message) {
  for (const char *words : {"not supported", "artifact cannot take or give"})
    if (message.find(words) != std::string::npos)
      return true;
  return false;
}

Answer runCase(const Settings &settings, const std::string &folder,
               const std::string &out) {
  std::string artifact = out + "/model.so";
  std::vector<std::string> errors = compileCase(settings, folder, artifact);
  if (!errors.empty())
    return {isRefusal(errors.front()) ? "unsupported" : "compile-error",
            errors.front()};
  if (settings.compileOnly)
    return {"compiled", ""};

  ingot_error error = INGOT_ERROR_INIT;
  ingot_model *model = nullptr;
  if (ingot_model_load(artifact.c_str(), nullptr, &model, &error))
    return failed(error);
  const Plan plan = readPlan(folder);
  std::map<int, std::vector<Output>> results;
  for (uint32_t threads : settings.threads) {
    ingot_context_options contextOptions = INGOT_CONTEXT_OPTIONS_INIT;
    contextOptions.num_threads = threads;
    ingot_context *context = nullptr;
    if (ingot_context_create(model, &contextOptions, &context, &error))
      return failed(error);
    for (const auto &[set, inputs] : plan) {
      std::vector<Output> outputs;
      Answer answer = runSet(model, context, inputs, outputs);
      if (answer.kind != "ran")
        return answer;
      if (!(results.emplace(set, outputs).first->second == outputs))
        return {"wrong", "with " + std::to_string(threads) +
                             " threads other bits than with " +
                             std::to_string(settings.threads.front())};
    }
    ingot_context_release(context);
  }
  ingot_model_release(model);
  std::ostringstream index;
  for (const auto &[set, outputs] : results)
    writeSet(set, outputs, out, index);
  std::ofstream(out + "/got.txt") << index.str();
  return {"ran", ""};
}

/// Returns a child's answer to a line, as main writes it.
std::string answerLine(const Settings &settings, const std::string &line) {
  size_t tab = line.find('\t');
  Answer answer = runCase(settings, line.substr(0, tab), line.substr(tab + 1));
  answer.detail = answer.detail.substr(0, 4000);
  for (char &c : answer.detail)
    if (c == '\n' || c == '\t')
      c = ' ';
  return answer.kind + '\t' + answer.detail;
}

/// Returns a child's answer about a case, or its fate.
std::string ask(ingot::Child &child, const Settings &settings,
                const std::string &line) {
  std::string text;
  std::optional<int> status = child.ask(line, text);
  if (!status)
    return text;
  if (!WIFSIGNALED(*status))
    return "crash\texit code " + std::to_string(WEXITSTATUS(*status));
  if (WTERMSIG(*status) == SIGALRM || WTERMSIG(*status) == SIGXCPU)
    return "timeout\t" + std::to_string(settings.timeoutSeconds) + " s";
  return std::string("crash\t") + strsignal(WTERMSIG(*status));
}

} // namespace

static bool readThreads(llvm::StringRef text, std::vector<uint32_t> &threads) {
  threads.clear();
  for (llvm::StringRef number : llvm::split(text, ','))
    if (number.getAsInteger(10, threads.emplace_back()))
      return false;
  return true;
}

/// Reads the settings. Returns false if an argument is unknown.
static bool readSettings(int argc, char **argv, Settings &settings) {
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument == "--kernels=native")
      settings.kernels = "native";
    else if (argument.consume_front("--target="))
      settings.target = argument.str();
    else if (argument == "--compile-only")
      settings.compileOnly = true;
    else if (argument.consume_front("--timeout=")) {
      if (argument.getAsInteger(10, settings.timeoutSeconds))
        return false;
    } else if (!argument.consume_front("--threads=") ||
             !readThreads(argument, settings.threads))
      return false;
  }
  return true;
}

int main(int argc, char **argv) {
  Settings settings;
  if (!readSettings(argc, argv, settings)) {
    std::cerr
        << "usage: ingot-conformance [--kernels=native] [--target=LEVELS] "
           "[--threads=N,...] [--compile-only] [--timeout=SECONDS] < LINES "
           "(run by run.py)\n";
    return 2;
  }
  if (!ingot::warmUp()) {
    std::cerr << "ingot-conformance: cannot warm up\n";
    return 1;
  }
  ingot::Child child(
      [&](const std::string &line) { return answerLine(settings, line); },
      settings.timeoutSeconds);
  for (std::string line; std::getline(std::cin, line);)
    if (line.find('\t') != std::string::npos)
      std::cout << ask(child, settings, line) << std::endl;
  return 0;
}
