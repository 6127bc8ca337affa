//===- Shapes.cpp - shapes that the user fixes ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Shapes.h"
#include "compiler/import/Message.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ingot::importer {
namespace {

using Dimension = pb::TensorShapeProto::Dimension;

std::string printShape(const pb::TensorShapeProto &shape) {
  std::string text;
  for (auto [i, dim] : llvm::enumerate(shape.dim())) {
    if (i)
      text += "x";
    if (dim.has_dim_value())
      text += std::to_string(dim.dim_value());
    else
      text += dim.dim_param().empty() ? "?" : dim.dim_param();
  }
  return text;
}

template <typename Map> std::vector<StringRef> sortedKeys(const Map &map) {
  std::vector<StringRef> keys(map.keys().begin(), map.keys().end());
  llvm::sort(keys);
  return keys;
}

/// Sizes of named dimensions. The user sets a size by name, or by the shape of
/// an input.
class NamedDims {
public:
  Error set(StringRef name, int64_t size, const Twine &from) {
    auto [it, isNew] = sizes.try_emplace(name, size);
    if (isNew || it->second == size)
      return Error::success();
    return makeError(from + " makes dimension " + quote(name) + " " +
                     Twine(size) + ", but it is " + Twine(it->second) +
                     " elsewhere");
  }
  std::optional<int64_t> get(StringRef name) const {
    auto it = sizes.find(name);
    return it == sizes.end() ? std::nullopt : std::optional(it->second);
  }

private:
  StringMap<int64_t> sizes;
};

Error applyShape(pb::ValueInfoProto &input, ArrayRef<int64_t> wanted,
                 NamedDims &dims) {
  std::string from = "the shape given for input " + quote(input.name());
  if (!input.type().has_tensor_type())
    return makeError(from +
                     " cannot be used, because the input is not a tensor");
  auto *tensor = input.mutable_type()->mutable_tensor_type();
  if (!tensor->has_shape())
    for (size_t i = 0; i < wanted.size(); ++i)
      tensor->mutable_shape()->add_dim();
  pb::TensorShapeProto &shape = *tensor->mutable_shape();
  if (shape.dim_size() != int(wanted.size()))
    return makeError(from + " has " + Twine(wanted.size()) +
                     " dimensions, but the model's has " +
                     Twine(shape.dim_size()) + ": " + printShape(shape));
  std::string before = printShape(shape);
  for (auto [i, size] : llvm::enumerate(wanted)) {
    Dimension &dim = *shape.mutable_dim(int(i));
    if (size < 0)
      continue;
    if (dim.has_dim_value() && dim.dim_value() != size)
      return makeError(from + " makes dimension " + Twine(i) + " " +
                       Twine(size) + ", but the model's shape is " +
                       before);
    if (!dim.dim_param().empty())
      if (Error error = dims.set(dim.dim_param(), size, from))
        return error;
    dim.set_dim_value(size);
  }
  return Error::success();
}

} // namespace

std::string listInputs(const pb::GraphProto &graph) {
  std::vector<std::string> inputs;
  for (const pb::ValueInfoProto &input : graph.input()) {
    std::string text = "" + quote(input.name());
    if (input.type().tensor_type().has_shape())
      text += " (" + printShape(input.type().tensor_type().shape()) + ")";
    inputs.push_back(text);
  }
  return inputs.empty() ? "it has none"
                        : "its inputs are " + join(inputs, ", ");
}

static Error refuseUnknownDim(StringRef name, ArrayRef<std::string> names) {
  return makeError("the model has no dimension named " + quote(name) + "; " +
                   (names.empty() ? "none of its dimensions has a name"
                                  : "its dimensions are " + join(names, ", ")));
}

/// Removes the names of dimensions that need not have one size, both from the
/// graph and from `names`.
static Error freeDims(pb::GraphProto &graph, const StringSet<> &freed,
                      std::vector<std::string> &names) {
  bool freesAll = freed.contains("all");
  for (StringRef name : sortedKeys(freed))
    if (name != "all" && !llvm::is_contained(names, name))
      return refuseUnknownDim(name, names);
  for (pb::ValueInfoProto &input : *graph.mutable_input()) {
    if (!input.type().tensor_type().has_shape())
      continue;
    auto *tensor = input.mutable_type()->mutable_tensor_type();
    for (Dimension &dim : *tensor->mutable_shape()->mutable_dim())
      if (!dim.dim_param().empty() &&
          (freesAll || freed.contains(dim.dim_param())))
        dim.clear_value();
  }
  llvm::erase_if(names, [&](const std::string &name) {
    return freesAll || freed.contains(name);
  });
  return Error::success();
}

Error applyShapes(pb::ModelProto &model, const ImportOptions &options) {
  pb::GraphProto &graph = *model.mutable_graph();
  StringMap<pb::ValueInfoProto *> inputs;
  std::vector<std::string> names;
  for (pb::ValueInfoProto &input : *graph.mutable_input()) {
    inputs[input.name()] = &input;
    if (!input.type().has_tensor_type())
      continue;
    auto *tensor = input.mutable_type()->mutable_tensor_type();
    if (!tensor->has_shape())
      continue;
    for (Dimension &dim : *tensor->mutable_shape()->mutable_dim()) {
      // Exporters write -1 for a dimension that is not fixed.
      if (dim.has_dim_value() && dim.dim_value() < 0)
        dim.clear_value();
      // Dimensions named "?" need not have equal sizes, so drop this name.
      if (dim.dim_param() == "?")
        dim.clear_value();
      if (!dim.dim_param().empty() &&
          !llvm::is_contained(names, dim.dim_param()))
        names.push_back(dim.dim_param());
    }
  }

  for (StringRef name : sortedKeys(options.freeDims))
    if (options.dims.contains(name))
      return makeError("dimension " + quote(name) +
                       " is both fixed (--dim) and freed (--free-dim)");
  if (Error error = freeDims(graph, options.freeDims, names))
    return error;
  NamedDims dims;
  for (StringRef name : sortedKeys(options.dims)) {
    int64_t size = options.dims.lookup(name);
    if (!llvm::is_contained(names, name))
      return refuseUnknownDim(name, names);
    if (size < 0)
      return makeError("dimension " + quote(name) + " cannot be " +
                       Twine(size));
    cantFail(dims.set(name, size, ""));
  }
  for (StringRef name : sortedKeys(options.shapes)) {
    pb::ValueInfoProto *input = inputs.lookup(name);
    if (!input)
      return makeError("the model has no input named " + quote(name) + "; " +
                       listInputs(graph));
    if (Error error =
            applyShape(*input, options.shapes.find(name)->second, dims))
      return error;
  }
  for (pb::ValueInfoProto &input : *graph.mutable_input()) {
    if (!input.type().has_tensor_type())
      continue;
    auto *tensor = input.mutable_type()->mutable_tensor_type();
    if (!tensor->has_shape())
      return makeError("input " + quote(input.name()) +
                       " has no shape in the model; give one with --shape " +
                       input.name() + "=AxBx.. ('?' for a dynamic dimension)");
    for (Dimension &dim : *tensor->mutable_shape()->mutable_dim())
      if (std::optional<int64_t> size = dims.get(dim.dim_param()))
        dim.set_dim_value(*size);
  }
  return Error::success();
}

} // namespace ingot::importer
