//===- Manifest.cpp - what an artifact says of itself ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Emit.h"

#include "runtime/include/ingot/abi/artifact.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ingot;

bool Tensor::isStatic() const {
  return llvm::none_of(dims, [](int64_t dim) { return dim < 0; });
}

/// The INGOT_ABI_* code of an element type, or 0.
static uint32_t dtypeOf(Type type) {
  if (type.isF32())
    return INGOT_ABI_FLOAT;
  if (type.isF64())
    return INGOT_ABI_DOUBLE;
  if (type.isF16())
    return INGOT_ABI_FLOAT16;
  if (type.isBF16())
    return INGOT_ABI_BFLOAT16;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return 0;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return INGOT_ABI_BOOL;
  case 8:
    return isUnsigned ? INGOT_ABI_UINT8 : INGOT_ABI_INT8;
  case 16:
    return isUnsigned ? INGOT_ABI_UINT16 : INGOT_ABI_INT16;
  case 32:
    return isUnsigned ? INGOT_ABI_UINT32 : INGOT_ABI_INT32;
  case 64:
    return isUnsigned ? INGOT_ABI_UINT64 : INGOT_ABI_INT64;
  default:
    return 0;
  }
}

static FailureOr<std::vector<Tensor>> readTensors(ModuleOp module,
                                                  StringRef attribute) {
  std::vector<Tensor> tensors;
  for (Attribute entry : module->getAttrOfType<ArrayAttr>(attribute)) {
    auto dict = cast<DictionaryAttr>(entry);
    Tensor tensor;
    tensor.name = dict.getAs<StringAttr>("name").str();
    auto type =
        cast<RankedTensorType>(dict.getAs<TypeAttr>("type").getValue());
    tensor.dtype = dtypeOf(type.getElementType());
    if (tensor.dtype == 0)
      return emitError(module.getLoc())
             << "'" << tensor.name << "' has element type "
             << type.getElementType()
             << ", which an artifact cannot take or give";
    auto names = dict.getAs<ArrayAttr>("dim_names");
    for (auto [i, size] : llvm::enumerate(type.getShape())) {
      bool isDynamic = ShapedType::isDynamic(size);
      tensor.dims.push_back(isDynamic ? INGOT_ABI_DYNAMIC : size);
      bool isNamed = isDynamic && names && i < names.size();
      tensor.dimNames.push_back(
          isNamed ? cast<StringAttr>(names[i]).str() : "");
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

static std::vector<Layer> readLayers(ModuleOp module) {
  std::vector<Layer> layers;
  auto rows = module->getAttrOfType<ArrayAttr>("ingot.layers");
  if (!rows)
    return layers;
  for (auto row : rows.getAsRange<DictionaryAttr>()) {
    Layer layer;
    layer.kind = row.getAs<StringAttr>("kind").str();
    for (auto name : row.getAs<ArrayAttr>("nodes").getAsRange<StringAttr>())
      layer.nodes.push_back(name.str());
    layer.flops = row.getAs<IntegerAttr>("flops").getInt();
    layer.bytes = row.getAs<IntegerAttr>("bytes").getInt();
    layers.push_back(std::move(layer));
  }
  return layers;
}

FailureOr<Manifest> ingot::readManifest(ModuleOp module,
                                        ArrayRef<Target> targets,
                                        StringRef symbol) {
  Manifest manifest;
  manifest.symbol = symbol.str();
  for (const Target &target : targets)
    manifest.levels.push_back({target});
  if (auto name = module->getAttrOfType<StringAttr>("ingot.model_name"))
    manifest.modelName = name.str();
  if (auto metadata =
          module->getAttrOfType<DictionaryAttr>("ingot.metadata"))
    for (NamedAttribute entry : metadata)
      if (auto value = dyn_cast<StringAttr>(entry.getValue()))
        manifest.metadata.push_back({entry.getName().str(), value.str()});
  FailureOr<std::vector<Tensor>> inputs = readTensors(module, "ingot.inputs");
  FailureOr<std::vector<Tensor>> outputs = readTensors(module, "ingot.outputs");
  if (failed(inputs) || failed(outputs))
    return failure();
  manifest.inputs = std::move(*inputs);
  manifest.outputs = std::move(*outputs);
  manifest.layers = readLayers(module);
  auto integer = [&](StringRef name) {
    auto attr = module->getAttrOfType<IntegerAttr>(name);
    return attr ? uint64_t(attr.getInt()) : 0;
  };
  manifest.weightsBytes = integer("ingot.weights_bytes");
  manifest.arenaBytes = integer("ingot.arena_bytes");
  manifest.arenaLowerBound = integer("ingot.arena_lower_bound");
  if (auto rules = module->getAttrOfType<DictionaryAttr>("ingot.size_rules")) {
    manifest.sizeRulesProved = rules.getAs<IntegerAttr>("proved").getInt();
    manifest.sizeRulesChecked = rules.getAs<IntegerAttr>("checked").getInt();
  }
  manifest.usesOneDNN = module->hasAttr("ingot.onednn");
  return manifest;
}

std::string ingot::levelNames(const Manifest &manifest) {
  return llvm::join(
      llvm::map_range(manifest.levels,
                      [](const LevelCode &code) { return code.target.level; }),
      ", ");
}

std::string ingot::levelSymbol(StringRef function, const Target &target) {
  return (function + "_" + target.identifier()).str();
}

std::vector<std::string> ingot::exportedSymbols(const Manifest &manifest) {
  return {INGOT_ABI_QUERY_SYMBOL, manifest.symbol + "_create",
          manifest.symbol + "_run", manifest.symbol + "_destroy"};
}
