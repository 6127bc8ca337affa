//===- Tensors.h - arrays of Python as tensors of a run -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PYTHON_TENSORS_H
#define INGOT_PYTHON_TENSORS_H

#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "ingot/ingot.h"

namespace ingot::python {

namespace nb = nanobind;

/// An input or output of a model.
struct TensorSpec {
  explicit TensorSpec(const ingot_tensor_info &info);

  std::string name;
  ingot_dtype dtype;
  std::vector<int64_t> dims; ///< -1 for an open size
  std::vector<std::string> dimNames;
  /// Element type of the array that holds the tensor. Packed types are uint8.
  /// The array of a string tensor has its offsets, which are int64.
  nb::dlpack::dtype element;
  bool isFixed;  ///< no size is open
  bool isPacked; ///< elements are smaller than a byte
  /// True if numpy itself has the type, so that an array needs no conversion.
  bool isPlain;
};

/// An array of the caller that is used in place.
struct ImportedArray {
  nb::ndarray<> array;
  void *data;
  uint64_t bytes;
};

/// Imports an input. `raw` accepts unsigned integers in place of elements that
/// numpy does not have. Raises an exception that names the input, the expected
/// and the given value.
ImportedArray importInput(const TensorSpec &spec, nb::handle object, bool raw);

/// Imports an array that receives an output, like importInput.
ImportedArray importOutput(const TensorSpec &spec, nb::handle object, bool raw);

/// GPU that a model runs on, for memory of outputs.
struct Gpu {
  ingot_model *model;
  uint32_t number;
  nb::object owner; ///< the model's object in Python, which outlives the memory
};

/// Memory for the elements of an output: of the host, 64-byte aligned, or of a
/// GPU.
class OutputMemory {
public:
  OutputMemory() = default;
  OutputMemory(OutputMemory &&other) noexcept;
  OutputMemory &operator=(OutputMemory &&other) noexcept;
  ~OutputMemory();

  /// Allocates new memory, without its former content, on the host if `gpu` is
  /// null. Raises ingot.OutOfMemory.
  void allocate(uint64_t bytes, const Gpu *gpu = nullptr);
  void *data() const { return pointer; }
  uint64_t size() const { return capacity; }

  /// True if the memory is of a GPU.
  bool isOnGpu() const { return gpu.model; }

  /// Returns an array that owns the memory: one of numpy, or an object with
  /// __dlpack__ for memory of a GPU.
  nb::object release(nb::dlpack::dtype element, const int64_t *dims,
                     size_t rank);

private:
  void clear();
  nb::object releaseOnGpu(nb::dlpack::dtype element, const size_t *dims,
                          size_t rank);

  void *pointer = nullptr;
  uint64_t capacity = 0;
  Gpu gpu = {}; ///< without a model for memory of the host
};

/// Computes the bytes of a dense tensor. Returns false if a size is open or the
/// product does not fit.
bool denseBytes(ingot_dtype dtype, const int64_t *dims, size_t rank,
                uint64_t &bytes);

/// Returns sizes as text, e.g. "(2, ?, 4)".
std::string dimsText(const int64_t *dims, size_t rank);

} // namespace ingot::python

#endif // INGOT_PYTHON_TENSORS_H
