//===- Import.cpp - ONNX file to the onnx dialect -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Import.h"

#include "compiler/import/BuildGraph.h"
#include "compiler/import/ExternalData.h"
#include "compiler/import/Message.h"
#include "compiler/import/Model.h"
#include "compiler/import/Normalize.h"
#include "compiler/import/OnnxBridge.h"
#include "compiler/import/OperandTypes.h"
#include "compiler/import/Shapes.h"
#include "compiler/import/Skeleton.h"
#include "compiler/import/Sort.h"
#include "compiler/import/Validate.h"
#include "dialects/nn/NodeName.h"
#include "dialects/onnx/OnnxDialect.h"
#include "runtime/include/ingot/abi/artifact.h"

#include <google/protobuf/io/coded_stream.h>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::importer;
using llvm::Error;
using llvm::Expected;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// A kind of file that users often pass instead of a model.
struct OtherKind {
  /// Bytes at the start of a file of this kind.
  StringLiteral start;
  /// Number of bytes before `start`.
  size_t offset;
  StringLiteral problem;
};
} // namespace

static constexpr OtherKind kOtherKinds[] = {
    {"version https://git-lfs", 0,
     "the file is a Git LFS pointer, not the model; fetch it with 'git lfs "
     "pull'"},
    {"PK\x03\x04", 0,
     "the file is a zip archive (an .npz file or a PyTorch model), not ONNX"},
    {"\177ELF", 0, "the file is a program or a library, not ONNX"},
    {"\x93NUMPY", 0, "the file is an array of NumPy, not ONNX"},
    {"\x89PNG", 0, "the file is a picture, not ONNX"},
    {"\xff\xd8\xff", 0, "the file is a picture, not ONNX"},
    {"\x1f\x8b", 0, "the file is compressed with gzip; unpack it first"},
    {"\x28\xb5\x2f\xfd", 0,
     "the file is compressed with zstd; unpack it first"},
    {"\3757zXZ", 0, "the file is compressed with xz; unpack it first"},
    {"\x89HDF", 0, "the file is HDF5 (perhaps a Keras model), not ONNX"},
    {"TFL3", 4, "the file is a TensorFlow Lite model, not ONNX"},
    {"ORTM", 4, "the file is in ONNX Runtime's own format; export it as .onnx"},
};

/// Returns true if the bytes start without control characters, as text does.
static bool isText(StringRef bytes) {
  return llvm::none_of(bytes.take_front(4096), [](char c) {
    return uint8_t(c) < 0x20 && c != '\n' && c != '\t' && c != '\r';
  });
}

/// Returns true if the text is ONNX text, which starts with `<ir_version: …`.
static bool isOnnxText(StringRef text) {
  StringRef head = text.take_front(4096).ltrim();
  while (head.consume_front("#"))
    head = head.drop_until([](char c) { return c == '\n'; }).ltrim();
  return head.starts_with("<") || head.contains("=>");
}

/// Detects other kinds of files that users often pass instead of a model.
/// Returns an error that says so.
static Error refuseOther(StringRef bytes) {
  StringRef start = bytes.take_front(512).ltrim();
  if (bytes.empty())
    return makeError("the file is empty");
  if (start.starts_with_insensitive("<!doctype html") ||
      start.starts_with_insensitive("<html"))
    return makeError("the file is a web page, not a model; the download gave a "
                     "page instead of the file");
  if (bytes.starts_with("\177ELF") && bytes.contains(INGOT_ABI_QUERY_SYMBOL))
    return makeError("the file is a compiled model already; run it with 'ingot "
                     "run', or open it with ingot.load in Python");
  for (const OtherKind &kind : kOtherKinds)
    if (bytes.drop_front(std::min(kind.offset, bytes.size()))
            .starts_with(kind.start))
      return makeError(kind.problem);
  if (isText(bytes) && !isOnnxText(bytes))
    return makeError(start.starts_with("{")
                         ? "not an ONNX model: the file is JSON"
                         : "not an ONNX model: the file is text");
  return Error::success();
}

/// Limits the nesting of ONNX text, because the text parser recurses into
/// graphs and types without a limit.
static Error checkTextNesting(StringRef text, unsigned maxNesting) {
  unsigned depth = 0;
  bool inString = false, inComment = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inComment) {
      inComment = c != '\n';
    } else if (inString) {
      if (c == '\\')
        ++i;
      inString = c != '"';
    } else if (c == '"') {
      inString = true;
    } else if (c == '#') {
      inComment = true;
    } else if (c == '{' || c == '(' || c == '[') {
      if (++depth > 3 * maxNesting)
        return makeError("ONNX text: brackets are nested more than " +
                         Twine(3 * maxNesting) + " deep");
    } else if ((c == '}' || c == ')' || c == ']') && depth) {
      --depth;
    }
  }
  return Error::success();
}

static Error parse(Model &model, const ImportOptions &options) {
  StringRef bytes(model.file.bytes.data(), model.file.bytes.size());
  if (Error error = refuseOther(bytes))
    return error;
  if (isText(bytes)) { // Only ONNX text is left.
    if (int64_t(bytes.size()) > options.maxGraphBytes)
      return makeError("the text has more than " +
                       Twine(options.maxGraphBytes) + " bytes");
    if (Error error = checkTextNesting(bytes, options.maxNesting))
      return error;
    return parseText(bytes, model.proto);
  }
  Expected<Skeleton> skeleton = makeSkeleton(
      model.file.bytes, options.maxNesting, options.maxGraphBytes);
  if (!skeleton)
    return skeleton.takeError();
  for (ArrayRef<char> blob : skeleton->blobs)
    model.setAside.add(Blob(blob, model.file.owner, model.file.isMapped));
  // A nested graph is three messages deeper than its parent. Types may be
  // nested, too.
  google::protobuf::io::CodedInputStream stream(
      reinterpret_cast<const uint8_t *>(skeleton->bytes.data()),
      int(skeleton->bytes.size()));
  stream.SetRecursionLimit(int(3 * options.maxNesting) + 60);
  if (!model.proto.ParseFromCodedStream(&stream) ||
      !stream.ConsumedEntireMessage())
    return makeError("not an ONNX model, or damaged, or nested too deep");
  return Error::success();
}

static Error checkNesting(const pb::GraphProto &graph, unsigned left,
                          const ImportOptions &options) {
  if (left == 0)
    return makeError("graphs are nested more than " +
                     Twine(options.maxNesting) + " deep");
  for (const pb::NodeProto &node : graph.node())
    for (const pb::AttributeProto &attr : node.attribute()) {
      if (attr.has_g())
        if (Error error = checkNesting(attr.g(), left - 1, options))
          return error;
      for (const pb::GraphProto &inner : attr.graphs())
        if (Error error = checkNesting(inner, left - 1, options))
          return error;
    }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The steps
//===----------------------------------------------------------------------===//

static llvm::StringSet<> collectDimNames(const pb::GraphProto &graph) {
  llvm::StringSet<> names;
  for (const pb::ValueInfoProto &input : graph.input())
    for (const auto &dim : input.type().tensor_type().shape().dim())
      if (!dim.dim_param().empty() && dim.dim_param() != "?")
        names.insert(dim.dim_param());
  return names;
}

static bool hasType(const pb::ValueInfoProto &value) {
  return value.type().value_case() != pb::TypeProto::VALUE_NOT_SET;
}

/// Infers the types of graph outputs that lack a type. ONNX Runtime accepts
/// such models, too.
static Error inferOutputTypes(pb::ModelProto &model) {
  SmallVector<pb::ValueInfoProto *> untyped;
  for (pb::ValueInfoProto &output : *model.mutable_graph()->mutable_output())
    if (!hasType(output))
      untyped.push_back(&output);
  if (untyped.empty())
    return Error::success();
  inferShapes(model);
  for (pb::ValueInfoProto *output : untyped) {
    if (!hasType(*output))
      return makeError("output '" + printable(output->name()) +
                       "' has no type, and none can be inferred");
    // Drops the shape, because it may change: options may set the shapes of
    // inputs later.
    if (output->type().has_tensor_type())
      output->mutable_type()->mutable_tensor_type()->clear_shape();
  }
  return Error::success();
}

static Expected<OwningOpRef<ModuleOp>>
importBytes(Blob file, StringRef name, std::optional<StringRef> directory,
            MLIRContext &context, const ImportOptions &options) {
  Model model;
  model.file = std::move(file);
  if (Error error = parse(model, options))
    return std::move(error);
  if (!model.proto.has_graph())
    return makeError("not an ONNX model: it has no graph");
  if (Error error = model.setAside.checkUses(model.proto))
    return std::move(error);
  if (Error error =
          checkNesting(model.proto.graph(), options.maxNesting + 1, options))
    return std::move(error);
  normalizeDomains(model.proto);
  dropAbsentHeads(model.proto);
  if (Error error =
          resolveExternalData(model, directory, options.externalFiles,
                              options.externalLocations))
    return std::move(error);
  if (Error error = validateModel(model, options))
    return std::move(error);
  Expected<bool> isSorted = sortNodes(model.proto);
  if (!isSorted)
    return isSorted.takeError();
  if (*isSorted)
    emitRemark(UnknownLoc::get(&context))
        << printable(name, 300)
        << ": the nodes are not in topological order; they were sorted";
  if (Error error = validateNames(model.proto))
    return std::move(error);
  // Checks operands before ONNX's checker does, because messages of the checker
  // refer to its own source code.
  if (Error error = validateOperands(model.proto))
    return std::move(error);
  for (const pb::ValueInfoProto &output : model.proto.graph().output())
    model.statedOutputs[output.name()] = output.type();
  if (Error error = inferOutputTypes(model.proto))
    return std::move(error);
  if (Error error = checkModel(model.proto))
    return std::move(error);
  if (Error error = normalizeModel(model, options))
    return std::move(error);
  if (Error error = applyLists(model.proto, options))
    return std::move(error);
  llvm::StringSet<> dimNames = collectDimNames(model.proto.graph());
  if (Error error = applyShapes(model.proto, options))
    return std::move(error);
  if (Error error = applyValues(model.proto, options))
    return std::move(error);
  if (Error error = validateTypes(model))
    return std::move(error);
  collectScopes(model);
  if (Error error = inlineFunctions(model.proto, options))
    return std::move(error);
  if (Error error = makeTensorsUniform(model))
    return std::move(error);
  if (Error error = validateNodes(model.proto))
    return std::move(error);
  if (Error error = validateOperands(model.proto))
    return std::move(error);
  if (Error error = convertVersion(model))
    return std::move(error);
  if (Error error = validateOperands(model.proto))
    return std::move(error);
  inferShapes(model.proto);
  if (Error error = validateOperandTypes(model.proto))
    return std::move(error);
  if (Error error = expandOperators(model, options))
    return std::move(error);
  if (Error error = makeTensorsUniform(model))
    return std::move(error);
  return buildModule(model, dimNames, name, context);
}

static OwningOpRef<ModuleOp>
importAndReport(Expected<Blob> file, StringRef path,
                std::optional<StringRef> directory, MLIRContext &context,
                const ImportOptions &options) {
  context.loadDialect<ingot::onnx::OnnxDialect, arith::ArithDialect,
                      func::FuncDialect>();
  auto report = [&](Error error) -> OwningOpRef<ModuleOp> {
    emitError(UnknownLoc::get(&context))
        << printable(path, 300) << ": " << oneLine(toString(std::move(error)));
    return nullptr;
  };
  if (!file)
    return report(file.takeError());
  Expected<OwningOpRef<ModuleOp>> module =
      importBytes(std::move(*file), llvm::sys::path::filename(path), directory,
                  context, options);
  if (!module)
    return report(module.takeError());
  if (failed(verify(**module)))
    return nullptr;
  return std::move(*module);
}

OwningOpRef<ModuleOp> ingot::importModel(StringRef path, MLIRContext &context,
                                         const ImportOptions &options) {
  return importAndReport(mapFile(path), path,
                         llvm::sys::path::parent_path(path), context, options);
}

OwningOpRef<ModuleOp>
ingot::importModelFromMemory(StringRef bytes, StringRef name,
                             MLIRContext &context,
                             const ImportOptions &options) {
  Blob blob = Blob::ofCaller(ArrayRef<char>(bytes.data(), bytes.size()));
  return importAndReport(std::move(blob), name, std::nullopt, context, options);
}
