//===- Header.cpp - the C header of a model -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Emit.h"

#include "dialects/ingot/ElementTypes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

using namespace ingot;
using llvm::StringRef;

static const char *cTypeOf(uint32_t dtype) {
  switch (dtype) {
#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  case NUMBER:                                                                 \
    return #C_TYPE;
#define INGOT_PACKED_TYPE(NAME, NUMBER, TEXT, KIND, BITS)                      \
  case NUMBER:                                                                 \
    return "uint8_t";
#define INGOT_STRING_TYPE(NAME, NUMBER, TEXT)                                  \
  case NUMBER:                                                                 \
    return "int64_t";
#include "runtime/include/ingot/abi/element_types.inc"
  default:
    llvm_unreachable("an element type that no tensor of a manifest has");
  }
}

/// Returns a note about the element type that its C type does not express.
static const char *noteOf(uint32_t dtype) {
  switch (dtype) {
#define NOTE_FLOAT(TEXT) ""
#define NOTE_SIGNED(TEXT) ""
#define NOTE_UNSIGNED(TEXT) ""
#define NOTE_BOOL(TEXT) " " TEXT
#define NOTE_HALF(TEXT) " " TEXT " bits"
#define NOTE_BRAIN(TEXT) " " TEXT " bits"
#define NOTE_TINY(TEXT) " " TEXT " bits"
#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  case NUMBER:                                                                 \
    return NOTE_##KIND(TEXT);
#define INGOT_PACKED_TYPE(NAME, NUMBER, TEXT, KIND, BITS)                      \
  case NUMBER:                                                                 \
    return " bytes of " TEXT ", packed, low bits first,";
#define INGOT_STRING_TYPE(NAME, NUMBER, TEXT)                                  \
  case NUMBER:                                                                 \
    return " offsets of strings in the text beside it, one more than";
#include "runtime/include/ingot/abi/element_types.inc"
  default:
    return "";
  }
}

/// Returns the text in a short form that is safe inside a C comment.
static std::string commentText(StringRef text) {
  std::string safe;
  for (char c : text.take_front(120))
    safe += llvm::isPrint(c) && c != '*' && c != '/' && c != '\\' ? c : '_';
  return safe;
}

/// Returns a parameter name for a tensor. The name is unique among the
/// parameters and not a keyword of C or C++.
static std::string parameterName(StringRef prefix, size_t index,
                                 StringRef name) {
  std::string result = (prefix + llvm::Twine(index)).str();
  std::string tail;
  for (char c : name.take_front(60))
    tail += llvm::isAlnum(c) ? c : '_';
  return tail.empty() ? result : result + "_" + tail;
}

static void writeShape(const Tensor &tensor, llvm::raw_ostream &out) {
  out << '[';
  llvm::interleaveComma(llvm::seq<size_t>(0, tensor.dims.size()), out,
                        [&](size_t i) {
                          if (tensor.dims[i] >= 0)
                            out << tensor.dims[i];
                          else if (tensor.dimNames[i].empty())
                            out << '?';
                          else
                            out << commentText(tensor.dimNames[i]);
                        });
  out << ']';
}

/// Returns the number of array entries of a tensor with fixed sizes. Returns 0
/// if a size is not fixed, or if the number is too large for a parameter type.
static uint64_t entriesOf(const Tensor &tensor) {
  constexpr uint64_t kMaxEntries = uint64_t(1) << 30;
  uint64_t count = 1;
  for (int64_t dim : tensor.dims) {
    count *= uint64_t(dim);
    if (count == 0 || count > kMaxEntries)
      return 0;
  }
  uint64_t bits = uint64_t(elementBitsOf(int32_t(tensor.dtype)));
  if (bits < 8)
    return (count * bits + 7) / 8;
  return tensor.isOfStrings() ? count + 1 : count;
}

/// Returns the declaration of the parameter that points to a tensor's elements.
/// A fixed length is part of its type, so that C compilers warn about shorter
/// arrays.
static std::string dataParameter(const Tensor &tensor, StringRef name) {
  std::string type = cTypeOf(tensor.dtype);
  uint64_t entries = tensor.isStatic() ? entriesOf(tensor) : 0;
  if (entries == 0)
    return type + " *" + name.str();
  return type + " " + name.str() + "[" + std::to_string(entries) + "]";
}

/// Writes the parameters for inputs, outputs and the message, behind others.
static void writeTensorParameters(const Manifest &manifest,
                                  llvm::raw_ostream &out) {
  for (auto [i, tensor] : llvm::enumerate(manifest.inputs)) {
    std::string parameter = parameterName("in", i, tensor.name);
    out << ",\n    const " << dataParameter(tensor, parameter);
    if (tensor.isOfStrings())
      out << ", const char *" << parameter << "_text, uint64_t " << parameter
          << "_text_bytes";
    if (!tensor.isStatic())
      out << ", const int64_t " << parameter << "_dims[" << tensor.dims.size()
          << "]";
  }
  for (auto [i, tensor] : llvm::enumerate(manifest.outputs)) {
    std::string parameter = parameterName("out", i, tensor.name);
    out << ",\n    " << dataParameter(tensor, parameter);
    if (tensor.isOfStrings())
      out << ", char *" << parameter << "_text, uint64_t " << parameter
          << "_text_bytes,\n    uint64_t *" << parameter << "_text_used";
    if (!tensor.isStatic())
      out << ", int64_t " << parameter << "_dims[" << tensor.dims.size()
          << "], uint64_t " << parameter << "_bytes";
  }
  out << ",\n    char *error, size_t error_bytes);\n\n";
}

/// Writes the parameters of `create` and its like, behind `first`.
static void writeCreateParameters(const Manifest &manifest, StringRef first,
                                  llvm::raw_ostream &out) {
  out << '(' << first << "const void *weights, "
      << (manifest.externalWeights ? "uint64_t weights_bytes,\n    " : "")
      << "int32_t threads, char *error,\n    size_t error_bytes);\n\n";
}

/// Writes the functions that only models with code for GPUs have.
static void writeGpuFunctions(const Manifest &manifest,
                              llvm::raw_ostream &out) {
  const std::string &name = manifest.symbol;
  out << "/** As " << name
      << "_create, on a device: \"cpu\", \"cuda\", "
         "\"cuda:N\" or \"emulated\".\n *  A named device is never replaced "
         "by another. Null is as in "
      << name
      << "_create:\n *  the variable INGOT_DEVICE, or a GPU if there "
         "is one that fits. */\n"
      << name << " *" << name << "_create_on";
  writeCreateParameters(manifest, "const char *device, ", out);
  out << "/** As " << name
      << "_run, but returns when the work is in `stream`, "
         "a CUstream of the\n *  device's primary context, or in the model's "
         "own stream if it is null. Buffers\n *  must stay as they are until "
      << name
      << "_wait, which must be called before the next\n *  run. On a "
         "CPU the run is complete when this function returns. */\nint32_t "
      << name << "_run_async(" << name << " *model, void *stream";
  writeTensorParameters(manifest, out);
  out << "/** Waits for the last run; returns its status. */\nint32_t " << name
      << "_wait(" << name << " *model, char *error, size_t error_bytes);\n\n";
}

void ingot::writeHeader(const Manifest &manifest, llvm::raw_ostream &out) {
  const std::string &name = manifest.symbol;
  // Keeps upper and lower case, because two models may have names that differ
  // only in case.
  std::string guard = "INGOT_MODEL_" + name + "_H";
  out << "/* " << commentText(manifest.modelName.empty() ? name
                                                         : manifest.modelName)
      << ", compiled by Ingot for " << levelNames(manifest)
      << ".\n *\n * Link with the shared library that this header came with; "
         "nothing else is\n * needed. A handle is for one thread at a time: a "
         "run that finds it running\n * returns "
      << INGOT_ABI_BUSY
      << " and does nothing. Handles are independent.\n */\n"
      << "#ifndef " << guard << "\n#define " << guard
      << "\n\n#include <stddef.h>\n#include <stdint.h>\n\n#ifdef "
         "__cplusplus\nextern \"C\" {\n#endif\n\n";
  out << "typedef struct " << name << " " << name << ";\n\n";
  out << "/** A model ready to run, or null with a message in error (which may "
         "be null).\n *  weights: "
      << (manifest.externalWeights
              ? "address of the weights file, mapped, 64-byte aligned; it "
                "must\n *      stay mapped until the handle is destroyed.\n"
                " *  weights_bytes: size of that file."
              : "null: they are in the library.")
      << "\n *  threads: number of threads of a run, including the caller's. "
         "*/\n"
      << name << " *" << name << "_create";
  writeCreateParameters(manifest, "", out);

  out << "/** Runs the model; 0, or a status with a message in error. Buffers "
         "are dense,\n *  row-major and must not overlap.\n";
  auto describe = [&](const Tensor &tensor, StringRef prefix, size_t i) {
    out << " *  " << parameterName(prefix, i, tensor.name) << ": "
        << cTypeOf(tensor.dtype) << noteOf(tensor.dtype) << ' ';
    writeShape(tensor, out);
    if (tensor.isOfStrings() && prefix == "out")
      out << ", text_used is what they have or need, or null";
    if (!tensor.isStatic())
      out << (prefix == "in" ? ", whose dims give its number of elements"
                             : ", its dims are written; bytes is its room");
    out << '\n';
  };
  for (auto [i, tensor] : llvm::enumerate(manifest.inputs))
    describe(tensor, "in", i);
  for (auto [i, tensor] : llvm::enumerate(manifest.outputs))
    describe(tensor, "out", i);
  if (manifest.hasGpuCode())
    out << " *  If the model runs on a GPU, each buffer may be in host memory "
           "or "
           "in memory of\n *  that GPU, at a multiple of 16. Texts and dims "
           "are "
           "always in host memory.\n";
  out << " */\nint32_t " << name << "_run(" << name << " *model";
  writeTensorParameters(manifest, out);
  if (manifest.hasGpuCode())
    writeGpuFunctions(manifest, out);
  out << "void " << name << "_destroy(" << name << " *model);\n\n";
  out << "#ifdef __cplusplus\n}\n#endif\n\n#endif /* " << guard << " */\n";
}
