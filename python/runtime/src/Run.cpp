//===- Run.cpp - one run of a model ---------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include <algorithm>

#include "Errors.h"
#include "Interrupt.h"
#include "Model.h"

namespace ingot::python {

namespace {

/// Arrays that hold an input.
struct Input {
  ImportedArray array, text;
  std::vector<int64_t> dims; ///< of packed types and strings
};

/// An output: an array of the caller, or new memory.
struct Output {
  nb::object given; ///< the caller's array; null: new memory
  ImportedArray array;
  OutputMemory memory, text;
  std::vector<int64_t> dims;
  uint64_t textUsed = 0;

  uint64_t room() const {
    return given.is_valid() ? array.bytes : memory.size();
  }
};

/// The tensors of one run.
class Tensors {
public:
  Tensors(const std::vector<TensorSpec> &inputSpecs,
          const std::vector<TensorSpec> &outputSpecs, bool raw)
      : inputSpecs(inputSpecs), outputSpecs(outputSpecs), raw(raw) {}

  void readInputs(nb::tuple given);
  void readOutputs(nb::handle given);
  /// Computes the sizes of outputs as far as the sizes of inputs tell them.
  void inferOutputs(const ingot_model *model);
  void allocateOutputs();
  /// Returns true if an input or an array of the caller is in GPU memory.
  bool useGpu() const;
  /// Lets outputs that numpy need not hold be in memory of this GPU.
  void returnOnGpu(Gpu memory) { gpu = std::move(memory); }
  /// Allocates more after a run that reported the sizes. Returns false if an
  /// array of the caller is too small.
  bool enlargeOutputs();
  /// Returns an object for each output.
  std::vector<nb::object> takeOutputs();

  /// Updates `out` for a run.
  void viewOutputs();

  std::vector<ingot_input> in;
  std::vector<ingot_output> out;

private:
  void readParts(size_t index, nb::handle parts, ingot_input &input);
  /// Raises an exception if an array of the caller has other sizes than the
  /// output.
  void checkGiven(const TensorSpec &spec, const Output &output) const;
  nb::object take(const TensorSpec &spec, Output &output);
  /// Allocates memory of an output where the run shall write it.
  void allocate(size_t index, uint64_t bytes);

  const std::vector<TensorSpec> &inputSpecs, &outputSpecs;
  bool raw;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  Gpu gpu = {}; ///< without a model if outputs are in memory of the host
};

} // namespace

/// Handle of CUDA's default stream, CU_STREAM_LEGACY.
constexpr uintptr_t defaultStream = 1;

static bool isOnGpu(const ImportedArray &array) {
  return array.array.device_type() == nb::device::cuda::value;
}

/// Returns the sizes in a tuple of Python.
static std::vector<int64_t> readDims(nb::handle tuple) {
  std::vector<int64_t> dims;
  for (nb::handle size : nb::borrow<nb::tuple>(tuple))
    dims.push_back(nb::cast<int64_t>(size));
  return dims;
}

/// Reads an input of a raw call: (bytes, dims) of a packed type, or (offsets,
/// text, dims) of strings.
void Tensors::readParts(size_t index, nb::handle parts, ingot_input &input) {
  bool isString = inputSpecs[index].dtype == INGOT_STRING;
  Input &owner = inputs[index];
  owner.dims = readDims(nb::object(parts[isString ? 2 : 1]));
  input.dims = owner.dims.data();
  input.rank = uint32_t(owner.dims.size());
  if (!isString)
    return;
  nb::object bytes = parts[1];
  auto text = nb::cast<nb::ndarray<nb::ro>>(bytes, /*convert=*/false);
  owner.text.array = nb::ndarray<>(text);
  input.text = static_cast<const char *>(text.data());
  input.text_bytes = text.nbytes();
}

void Tensors::readInputs(nb::tuple given) {
  if (given.size() != inputSpecs.size())
    raise(INGOT_INVALID_ARGUMENT,
          "expected " + std::to_string(inputSpecs.size()) +
              " inputs, but got " + std::to_string(given.size()));
  inputs.resize(inputSpecs.size());
  in.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    nb::object item = given[i];
    bool hasParts = raw && nb::isinstance<nb::tuple>(item);
    nb::object elements = hasParts ? nb::object(item[0]) : item;
    ImportedArray &array = inputs[i].array;
    array = importInput(inputSpecs[i], elements, raw);
    ingot_input input =
        ingot_input_make(array.data, array.bytes, array.array.shape_ptr(),
                         uint32_t(array.array.ndim()), inputSpecs[i].dtype);
    if (hasParts)
      readParts(i, item, input);
    if (isOnGpu(array)) {
      input.memory = INGOT_MEMORY_CUDA;
      input.device = uint32_t(array.array.device_id());
    }
    in.push_back(input);
  }
}

void Tensors::readOutputs(nb::handle given) {
  outputs.resize(outputSpecs.size());
  out.resize(outputSpecs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    outputs[i].dims = outputSpecs[i].dims;
  if (given.is_none())
    return;
  nb::tuple arrays = nb::borrow<nb::tuple>(given);
  for (size_t i = 0; i < outputs.size(); ++i) {
    nb::object array = arrays[i];
    if (array.is_none())
      continue;
    outputs[i].array = importOutput(outputSpecs[i], array, raw);
    outputs[i].given = std::move(array);
  }
}

void Tensors::inferOutputs(const ingot_model *model) {
  std::vector<const int64_t *> inDims;
  std::vector<uint32_t> inRanks, outRanks;
  std::vector<int64_t *> outDims;
  for (const ingot_input &input : in) {
    inDims.push_back(input.dims);
    inRanks.push_back(input.rank);
  }
  for (Output &output : outputs) {
    outDims.push_back(output.dims.data());
    outRanks.push_back(uint32_t(output.dims.size()));
  }
  ingot_error error = INGOT_ERROR_INIT;
  if (ingot_model_infer(model, inDims.data(), inRanks.data(),
                        uint32_t(inDims.size()), outDims.data(),
                        outRanks.data(), uint32_t(outDims.size()), nullptr,
                        &error) != INGOT_OK)
    raise(error);
}

void Tensors::checkGiven(const TensorSpec &spec, const Output &output) const {
  const nb::ndarray<> &array = output.array.array;
  uint64_t bytes;
  if (!denseBytes(spec.dtype, output.dims.data(), output.dims.size(), bytes))
    return; // The run will tell the sizes.
  bool isEqual = bytes == output.array.bytes;
  for (size_t i = 0; !spec.isPacked && i < output.dims.size(); ++i)
    isEqual &= output.dims[i] == array.shape_ptr()[i];
  if (!isEqual)
    raise(INGOT_INVALID_ARGUMENT,
          "output '" + spec.name + "': expected shape " +
              dimsText(output.dims.data(), output.dims.size()) + ", but got " +
              dimsText(array.shape_ptr(), array.ndim()));
}

bool Tensors::useGpu() const {
  auto isGpuInput = [](const Input &input) { return isOnGpu(input.array); };
  auto isGpuOutput = [](const Output &output) {
    return output.given.is_valid() && isOnGpu(output.array);
  };
  return std::any_of(inputs.begin(), inputs.end(), isGpuInput) ||
         std::any_of(outputs.begin(), outputs.end(), isGpuOutput);
}

void Tensors::allocate(size_t index, uint64_t bytes) {
  // Strings are texts of the host, and packed types are unpacked there.
  const TensorSpec &spec = outputSpecs[index];
  bool isOfHost = !gpu.model || spec.isPacked || spec.dtype == INGOT_STRING;
  outputs[index].memory.allocate(bytes, isOfHost ? nullptr : &gpu);
}

void Tensors::allocateOutputs() {
  for (size_t i = 0; i < outputs.size(); ++i) {
    Output &output = outputs[i];
    uint64_t bytes;
    if (output.given.is_valid())
      checkGiven(outputSpecs[i], output);
    else if (denseBytes(outputSpecs[i].dtype, output.dims.data(),
                        output.dims.size(), bytes))
      allocate(i, bytes);
    else
      allocate(i, 0);
  }
}

void Tensors::viewOutputs() {
  for (size_t i = 0; i < outputs.size(); ++i) {
    Output &output = outputs[i];
    bool isGiven = output.given.is_valid();
    out[i] = ingot_output_make(
        isGiven ? output.array.data : output.memory.data(), output.room(),
        output.dims.data(), uint32_t(output.dims.size()), outputSpecs[i].dtype);
    if (isGiven && isOnGpu(output.array)) {
      out[i].memory = INGOT_MEMORY_CUDA;
      out[i].device = uint32_t(output.array.array.device_id());
    } else if (!isGiven && output.memory.isOnGpu()) {
      out[i].memory = INGOT_MEMORY_CUDA;
      out[i].device = gpu.number;
    }
    if (outputSpecs[i].dtype == INGOT_STRING) {
      out[i].text = static_cast<char *>(output.text.data());
      out[i].text_bytes = output.text.size();
      out[i].text_used = &output.textUsed;
    }
  }
}

bool Tensors::enlargeOutputs() {
  for (size_t i = 0; i < outputs.size(); ++i) {
    Output &output = outputs[i];
    uint64_t bytes;
    if (denseBytes(outputSpecs[i].dtype, output.dims.data(), output.dims.size(),
                   bytes) &&
        bytes > output.room()) {
      if (output.given.is_valid())
        return false;
      allocate(i, bytes);
    }
    if (output.textUsed > output.text.size())
      output.text.allocate(output.textUsed);
  }
  return true;
}

nb::object Tensors::take(const TensorSpec &spec, Output &output) {
  if (output.given.is_valid()) {
    checkGiven(spec, output);
    return std::move(output.given);
  }
  nb::dlpack::dtype element = spec.element;
  if (output.memory.isOnGpu())
    return output.memory.release(element, output.dims.data(),
                                 output.dims.size());
  if (!spec.isPlain && spec.dtype != INGOT_STRING)
    element.code = uint8_t(nb::dlpack::dtype_code::UInt);
  if (!spec.isPacked && spec.dtype != INGOT_STRING)
    return output.memory.release(element, output.dims.data(),
                                 output.dims.size());
  // An item as those of a raw call's inputs.
  nb::list sizes;
  int64_t count = 1;
  for (int64_t size : output.dims) {
    sizes.append(size);
    count *= size;
  }
  if (spec.isPacked) {
    int64_t bytes = (count * ingot_dtype_bits(spec.dtype) + 7) / 8;
    return nb::make_tuple(output.memory.release(element, &bytes, 1),
                          nb::tuple(sizes));
  }
  int64_t offsets = count + 1, textBytes = int64_t(output.textUsed);
  if (!output.text.data())
    output.text.allocate(0);
  return nb::make_tuple(
      output.memory.release(element, &offsets, 1),
      output.text.release(nb::dtype<uint8_t>(), &textBytes, 1),
      nb::tuple(sizes));
}

std::vector<nb::object> Tensors::takeOutputs() {
  std::vector<nb::object> made;
  made.reserve(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    made.push_back(take(outputSpecs[i], outputs[i]));
  return made;
}

/// Runs once without the GIL.
static ingot_status runOnce(ingot_context *context, Tensors &tensors,
                            ingot_run_options options, bool canEndEarly,
                            ingot_error &error) {
  nb::gil_scoped_release release;
  auto run = [&] {
    return ingot_context_run(context, tensors.in.data(),
                             uint32_t(tensors.in.size()), tensors.out.data(),
                             uint32_t(tensors.out.size()), &options, &error);
  };
  if (!canEndEarly)
    return run();
  InterruptibleRun interruptible(options.cancellation);
  options.cancellation = interruptible.cancellation();
  return run();
}

/// Runs until all outputs have enough room. Returns the error's status.
static ingot_status runToFit(ingot_context *context, Tensors &tensors,
                             const ingot_run_options &options, bool canEndEarly,
                             ingot_error &error) {
  // Each run that fails for lack of room reports at least one more size, that
  // of an output's elements or of its text.
  size_t attempts = 2 * tensors.out.size() + 1;
  while (true) {
    tensors.viewOutputs();
    ingot_status status =
        runOnce(context, tensors, options, canEndEarly, error);
    if (status == INGOT_CANCELLED) {
      if (PyErr_CheckSignals())
        throw nb::python_error();
      if (!options.cancellation)
        continue; // A handler of the program has dealt with the signal.
    }
    if (status != INGOT_BUFFER_TOO_SMALL || --attempts == 0 ||
        !tensors.enlargeOutputs())
      return status;
  }
}

nb::tuple Model::addresses(nb::tuple inputArrays, nb::object outputArrays,
                           bool raw) const {
  Tensors tensors(inputs, outputs, raw);
  tensors.readInputs(inputArrays);
  tensors.readOutputs(outputArrays);
  tensors.viewOutputs();
  nb::list in, out;
  for (const ingot_input &input : tensors.in)
    in.append(uintptr_t(input.data));
  for (const ingot_output &output : tensors.out)
    out.append(uintptr_t(output.data));
  return nb::make_tuple(nb::tuple(in), nb::tuple(out));
}

std::vector<nb::object> Model::run(const Request &request) {
  Tensors tensors(inputs, outputs, request.raw);
  tensors.readInputs(nb::borrow<nb::tuple>(request.inputs));
  tensors.readOutputs(request.outputs);
  if (!fixedOutputs)
    tensors.inferOutputs(model);
  ingot_run_options options = INGOT_RUN_OPTIONS_INIT;
  if (isOnGpu && tensors.useGpu()) {
    // __dlpack__ without a stream has ordered the work of its library before
    // the default stream of CUDA. The run follows it, and its results are
    // complete when it returns.
    options.stream = reinterpret_cast<void *>(defaultStream);
    tensors.returnOnGpu({model, gpuNumber, nb::find(*this)});
  }
  tensors.allocateOutputs();
  if (request.profile)
    options.profile = request.profile->get();
  if (request.cancellation)
    options.cancellation = request.cancellation->get();
  Lease lease(*this, request);
  ingot_error error = INGOT_ERROR_INIT;
  if (runToFit(lease.context, tensors, options, hasSteps, error) != INGOT_OK)
    raise(error);
  return tensors.takeOutputs();
}

} // namespace ingot::python
