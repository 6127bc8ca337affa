//===- Tensors.cpp - arrays of Python as tensors of a run -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Tensors.h"

#include <cstdlib>
#include <sys/mman.h>
#include <utility>

#include "Errors.h"

namespace ingot::python {

using Code = nb::dlpack::dtype_code;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

static nb::dlpack::dtype elementOf(Code code, unsigned bits) {
  nb::dlpack::dtype element;
  element.code = uint8_t(code);
  element.bits = uint8_t(bits);
  element.lanes = 1;
  return element;
}

static Code codeOfTiny(ingot_dtype dtype) {
  switch (dtype) {
  case INGOT_FLOAT8E4M3FN:
    return Code::Float8_E4M3FN;
  case INGOT_FLOAT8E4M3FNUZ:
    return Code::Float8_E4M3FNUZ;
  case INGOT_FLOAT8E5M2:
    return Code::Float8_E5M2;
  case INGOT_FLOAT8E5M2FNUZ:
    return Code::Float8_E5M2FNUZ;
  default:
    return Code::Float8_E8M0FNU;
  }
}

/// Returns the element type that an array of an unpacked type has.
static nb::dlpack::dtype elementOf(ingot_dtype dtype) {
  enum Kind { FLOAT, HALF, BRAIN, TINY, SIGNED, UNSIGNED, BOOL };
  switch (dtype) {
#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  case NUMBER:                                                                 \
    return elementOf(KIND == FLOAT || KIND == HALF ? Code::Float               \
                     : KIND == BRAIN               ? Code::Bfloat              \
                     : KIND == TINY                ? codeOfTiny(dtype)         \
                     : KIND == SIGNED              ? Code::Int                 \
                     : KIND == UNSIGNED            ? Code::UInt                \
                                                   : Code::Bool,                          \
                     BYTES * 8);
#include "ingot/abi/element_types.inc"
  case INGOT_STRING:
    return elementOf(Code::Int, 64);
  default:
    return elementOf(Code::UInt, 8);
  }
}

static std::string elementText(nb::dlpack::dtype element) {
  const char *kind = "";
  switch (Code(element.code)) {
  case Code::Int:
    kind = "int";
    break;
  case Code::UInt:
    kind = "uint";
    break;
  case Code::Float:
    kind = "float";
    break;
  case Code::Bfloat:
    kind = "bfloat";
    break;
  case Code::Complex:
    kind = "complex";
    break;
  case Code::Bool:
    return "bool";
  default:
    return "an element type of " + std::to_string(element.bits) + " bits";
  }
  return kind + std::to_string(element.bits);
}

TensorSpec::TensorSpec(const ingot_tensor_info &info)
    : name(info.name), dtype(info.dtype),
      dims(info.dims, info.dims + info.rank), element(elementOf(info.dtype)),
      isFixed(!info.is_dynamic), isPacked(ingot_dtype_bits(info.dtype) % 8) {
  for (uint32_t i = 0; i < info.rank; ++i)
    dimNames.push_back(info.dim_names[i]);
  isPlain = !isPacked && dtype != INGOT_STRING &&
            element.code <= uint8_t(Code::Bool) &&
            element.code != uint8_t(Code::Bfloat);
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

static std::string tupleText(const int64_t *numbers, size_t count,
                             bool hasOpen) {
  std::string text = "(";
  for (size_t i = 0; i < count; ++i) {
    text += i ? ", " : "";
    text += hasOpen && numbers[i] < 0 ? "?" : std::to_string(numbers[i]);
  }
  return text + (count == 1 ? ",)" : ")");
}

std::string dimsText(const int64_t *dims, size_t rank) {
  return tupleText(dims, rank, /*hasOpen=*/true);
}

static std::string typeName(nb::handle object) {
  nb::object name = object.type().attr("__qualname__");
  return nb::borrow<nb::str>(name).c_str();
}

bool denseBytes(ingot_dtype dtype, const int64_t *dims, size_t rank,
                uint64_t &bytes) {
  uint64_t count = 1;
  for (size_t i = 0; i < rank; ++i)
    if (dims[i] < 0 || __builtin_mul_overflow(count, uint64_t(dims[i]), &count))
      return false;
  if (dtype == INGOT_STRING && __builtin_add_overflow(count, 1, &count))
    return false;
  if (__builtin_mul_overflow(count, uint64_t(ingot_dtype_bits(dtype)), &bytes))
    return false;
  bytes = bytes / 8 + (bytes % 8 != 0);
  return true;
}

//===----------------------------------------------------------------------===//
// Arrays of the caller
//===----------------------------------------------------------------------===//

static bool isDense(const nb::ndarray<> &array) {
  if (array.size() == 0)
    return true;
  int64_t step = 1;
  for (size_t i = array.ndim(); i-- > 0;) {
    if (array.shape(i) != 1 && array.stride(i) != step)
      return false;
    step *= int64_t(array.shape(i));
  }
  return true;
}

static bool fits(const TensorSpec &spec, const nb::ndarray<> &array) {
  if (array.ndim() != spec.dims.size())
    return false;
  for (size_t i = 0; i < spec.dims.size(); ++i)
    if (spec.dims[i] >= 0 && spec.dims[i] != array.shape_ptr()[i])
      return false;
  return true;
}

/// Explains why an object cannot be imported.
[[noreturn]] static void raiseNoArray(const char *role, const TensorSpec &spec,
                                      nb::handle object, bool isWritable) {
  nb::object reason = nb::module_::import_("ingot._arrays")
                          .attr("why_not_an_array")(object, isWritable);
  raiseType(std::string(role) + " '" + spec.name + "': expected an array of " +
            ingot_dtype_name(spec.dtype) + ", but got " + typeName(object) +
            nb::borrow<nb::str>(reason).c_str());
}

/// Returns true if a run can use the memory in place. It is memory of the host
/// or of a CUDA GPU.
static bool hasKnownMemory(const nb::ndarray<> &array) {
  switch (array.device_type()) {
  case nb::device::none::value:
  case nb::device::cpu::value:
  case nb::device::cuda::value:
  case nb::device::cuda_host::value:
  case nb::device::cuda_managed::value:
    return true;
  default:
    return false;
  }
}

/// Checks an imported array against the tensor of the model.
static ImportedArray check(const char *role, const TensorSpec &spec,
                           nb::ndarray<> array, bool raw) {
  nb::dlpack::dtype given = array.dtype();
  bool isRaw = raw && !spec.isPlain && given.lanes == 1 &&
               given.code == uint8_t(Code::UInt) &&
               given.bits == spec.element.bits;
  std::string start = std::string(role) + " '" + spec.name + "': ";
  if (given != spec.element && !isRaw)
    raiseType(start + "expected elements of type " +
              ingot_dtype_name(spec.dtype) + ", but got " + elementText(given));
  if (!spec.isPacked && spec.dtype != INGOT_STRING && !fits(spec, array))
    raise(INGOT_INVALID_ARGUMENT,
          start + "expected shape " +
              dimsText(spec.dims.data(), spec.dims.size()) + ", but got " +
              dimsText(array.shape_ptr(), array.ndim()));
  if (!hasKnownMemory(array))
    raise(INGOT_INVALID_ARGUMENT,
          start +
              "expected memory of the CPU or of a CUDA GPU, but got that of "
              "a device of type " +
              std::to_string(array.device_type()) +
              " (DLDeviceType); copy the array to the CPU");
  if (!isDense(array))
    raise(INGOT_INVALID_ARGUMENT,
          start + "expected a dense row-major array, but got strides " +
              tupleText(array.stride_ptr(), array.ndim(), /*hasOpen=*/false) +
              " in elements; pass numpy.ascontiguousarray(array)");
  void *data = array.data();
  if (uintptr_t(data) % (spec.element.bits / 8))
    raise(INGOT_INVALID_ARGUMENT,
          start + "expected memory aligned to " +
              std::to_string(spec.element.bits / 8) +
              " bytes, but got other memory; pass a copy, as in array.copy()");
  uint64_t bytes = array.nbytes();
  return {std::move(array), data, bytes};
}

ImportedArray importInput(const TensorSpec &spec, nb::handle object, bool raw) {
  nb::ndarray<nb::ro> array;
  if (!nb::try_cast(object, array, false))
    raiseNoArray("input", spec, object, /*isWritable=*/false);
  return check("input", spec, nb::ndarray<>(array), raw);
}

ImportedArray importOutput(const TensorSpec &spec, nb::handle object,
                           bool raw) {
  nb::ndarray<> array;
  if (!nb::try_cast(object, array, false))
    raiseNoArray("output", spec, object, /*isWritable=*/true);
  return check("output", spec, std::move(array), raw);
}

//===----------------------------------------------------------------------===//
// Memory of outputs
//===----------------------------------------------------------------------===//

OutputMemory::OutputMemory(OutputMemory &&other) noexcept
    : pointer(std::exchange(other.pointer, nullptr)),
      capacity(std::exchange(other.capacity, 0)),
      gpu(std::exchange(other.gpu, Gpu{})) {}

OutputMemory &OutputMemory::operator=(OutputMemory &&other) noexcept {
  std::swap(pointer, other.pointer);
  std::swap(capacity, other.capacity);
  std::swap(gpu, other.gpu);
  return *this;
}

OutputMemory::~OutputMemory() { clear(); }

void OutputMemory::clear() {
  void *released = std::exchange(pointer, nullptr);
  capacity = 0;
  if (gpu.model)
    ingot_memory_release(gpu.model, INGOT_MEMORY_CUDA, released);
  else
    std::free(released);
  gpu = Gpu{};
}

void OutputMemory::allocate(uint64_t bytes, const Gpu *onGpu) {
  constexpr uint64_t hugePage = uint64_t(2) << 20;
  clear();
  if (onGpu) {
    ingot_error error = INGOT_ERROR_INIT;
    if (ingot_memory_allocate(onGpu->model, INGOT_MEMORY_CUDA, bytes, &pointer,
                              &error) != INGOT_OK)
      raise(error);
    gpu = *onGpu;
    capacity = bytes;
    return;
  }
  // An array with no elements has an address, too.
  uint64_t size = bytes ? bytes : 1;
  uint64_t alignment = size >= hugePage ? hugePage : 64;
  if (size > uint64_t(INT64_MAX) || posix_memalign(&pointer, alignment, size)) {
    pointer = nullptr;
    raise(INGOT_OUT_OF_MEMORY,
          "no memory for an output of " + std::to_string(bytes) + " bytes");
  }
  if (alignment == hugePage)
    madvise(pointer, size, MADV_HUGEPAGE); // A hint, so it may fail.
  capacity = bytes;
}

nb::object OutputMemory::release(nb::dlpack::dtype element, const int64_t *dims,
                                 size_t rank) {
  std::vector<size_t> sizes(dims, dims + rank);
  if (isOnGpu())
    return releaseOnGpu(element, sizes.data(), rank);
  nb::capsule owner(pointer, [](void *p) noexcept { std::free(p); });
  void *data = std::exchange(pointer, nullptr);
  capacity = 0;
  nb::ndarray<nb::numpy> array(data, rank, sizes.data(), owner, nullptr,
                               element, nb::device::cpu::value, 0, 'C');
  return nb::cast(array);
}

nb::object OutputMemory::releaseOnGpu(nb::dlpack::dtype element,
                                      const size_t *dims, size_t rank) {
  void *data = pointer;
  int32_t number = int32_t(gpu.number);
  auto *kept = new OutputMemory(std::move(*this));
  nb::capsule owner(
      kept, [](void *p) noexcept { delete static_cast<OutputMemory *>(p); });
  nb::ndarray<nb::array_api> array(data, rank, dims, owner, nullptr, element,
                                   nb::device::cuda::value, number, 'C');
  return nb::cast(array);
}

} // namespace ingot::python
