//===- main.cpp - a compiled model in a C++ program ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a model in several threads at once: one Model, and a Context for each
// thread. All inputs and outputs of the model must be float.
//
//===----------------------------------------------------------------------===//
#include <ingot/ingot.hpp>

#include <iostream>
#include <numeric>
#include <thread>

using Floats = ingot::Tensor<float>;

/// Runs `context` on `inputs`, with outputs of the sizes that the model needs.
static std::vector<Floats> run(ingot::Context &context,
                               const ingot::Model &model,
                               const std::vector<Floats> &inputs) {
  std::vector<ingot_input> in;
  for (const Floats &tensor : inputs)
    in.push_back(ingot::input(tensor));

  std::vector<Floats> outputs(model.info().num_outputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    ingot_tensor_info info = model.outputInfo(static_cast<uint32_t>(i));
    outputs[i].dims.assign(info.dims, info.dims + info.rank);
    outputs[i].data.resize(info.bytes / sizeof(float));
  }
  for (;;) {
    std::vector<ingot_output> out;
    for (Floats &tensor : outputs)
      out.push_back(ingot::output(tensor));
    if (context.tryRun(in, out))
      return outputs;
    for (Floats &tensor : outputs)
      tensor = Floats(tensor.dims);
  }
}

/// Makes inputs of ones. Dynamic sizes become 1.
static std::vector<Floats> makeInputs(const ingot::Model &model) {
  std::vector<Floats> inputs;
  for (uint32_t i = 0; i < model.info().num_inputs; ++i) {
    ingot_tensor_info info = model.inputInfo(i);
    std::vector<int64_t> dims(info.dims, info.dims + info.rank);
    for (int64_t &size : dims)
      if (size == INGOT_ABI_DYNAMIC)
        size = 1;
    Floats tensor(dims);
    std::fill(tensor.data.begin(), tensor.data.end(), 1.0f);
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

int main(int argc, char **argv) try {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " model.so\n";
    return 2;
  }
  ingot::Model model = ingot::Model::load(argv[1]);
  std::vector<Floats> inputs = makeInputs(model);

  constexpr int numThreads = 3;
  std::vector<std::vector<Floats>> results(numThreads);
  std::vector<std::string> errors(numThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < numThreads; ++t)
    threads.emplace_back([&, t] {
      try {
        ingot::Context context(model);
        results[t] = run(context, model, inputs);
      } catch (const std::exception &problem) {
        errors[t] = problem.what();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &error : errors)
    if (!error.empty())
      throw std::runtime_error(error);

  for (size_t i = 0; i < results[0].size(); ++i) {
    const std::vector<float> &data = results[0][i].data;
    std::cout << model.outputInfo(static_cast<uint32_t>(i)).name << ": "
              << data.size() << " elements, sum "
              << std::accumulate(data.begin(), data.end(), 0.0) << '\n';
    for (const auto &other : results)
      if (other[i].data != data)
        throw std::runtime_error("threads disagree");
  }
  return 0;
} catch (const std::exception &problem) {
  std::cerr << "error: " << problem.what() << '\n';
  return 1;
}
