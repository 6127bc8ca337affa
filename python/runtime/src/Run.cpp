//===- Run.cpp - one run of a model ---------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include <algorithm>

#include "Errors.h"
#include "Interrupt.h"
#include "Run.h"

namespace ingot::python {

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
  InputArrays &owner = inputs[index];
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
  for (OutputArrays &output : outputs) {
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

void Tensors::checkGiven(const TensorSpec &spec,
                         const OutputArrays &output) const {
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
  auto isGpuInput = [](const InputArrays &input) {
    return isOnGpu(input.array);
  };
  auto isGpuOutput = [](const OutputArrays &output) {
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
    OutputArrays &output = outputs[i];
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
    OutputArrays &output = outputs[i];
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
    OutputArrays &output = outputs[i];
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

nb::object Tensors::take(const TensorSpec &spec, OutputArrays &output) {
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

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

Run::Run(Model &model, const Model::Request &request)
    : tensors(model.inputs, model.outputs, request.raw) {
  tensors.readInputs(nb::borrow<nb::tuple>(request.inputs));
  tensors.readOutputs(request.outputs);
  if (!model.fixedOutputs)
    tensors.inferOutputs(model.model);
  if (model.isOnGpu && tensors.useGpu()) {
    // __dlpack__ without a stream has ordered the work of its library before
    // the default stream of CUDA. The run follows it, and its results are
    // complete when it returns.
    options.stream = reinterpret_cast<void *>(defaultStream);
    tensors.returnOnGpu({model.model, model.gpuNumber, nb::find(model)});
  }
  tensors.allocateOutputs();
  if (request.profile)
    options.profile = request.profile->get();
  if (request.cancellation)
    options.cancellation = request.cancellation->get();
  // Each run that fails for lack of room reports at least one more size, that
  // of an output's elements or of its text.
  attempts = 2 * tensors.out.size() + 1;
  lease.emplace(model, request);
}

void Run::execute(bool canBeInterrupted) {
  tensors.viewOutputs();
  auto run = [&](const ingot_run_options &used) {
    status = ingot_context_run(lease->context, tensors.in.data(),
                               uint32_t(tensors.in.size()), tensors.out.data(),
                               uint32_t(tensors.out.size()), &used, &error);
  };
  if (!canBeInterrupted)
    return run(options);
  InterruptibleRun interruptible(options.cancellation);
  ingot_run_options used = options;
  used.cancellation = interruptible.cancellation();
  run(used);
}

bool Run::mustRepeat() {
  if (status == INGOT_CANCELLED) {
    if (PyErr_CheckSignals())
      throw nb::python_error();
    // Without a cancellation of the caller, a handler of the program has dealt
    // with the signal that ended the run.
    return !options.cancellation;
  }
  return status == INGOT_BUFFER_TOO_SMALL && --attempts != 0 &&
         tensors.enlargeOutputs();
}

std::vector<nb::object> Run::take() {
  if (status != INGOT_OK)
    raise(error);
  return tensors.takeOutputs();
}

std::vector<nb::object> Model::run(const Request &request) {
  Run run(*this, request);
  do {
    nb::gil_scoped_release release;
    run.execute(/*canBeInterrupted=*/canEndEarly);
  } while (run.mustRepeat());
  return run.take();
}

} // namespace ingot::python
