//===- Manifest.cpp - reads an artifact's manifest ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Emit.h"

#include "dialects/ingot/DimNames.h"
#include "dialects/ingot/ElementTypes.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/ingot/Metadata.h"
#include "dialects/ingot/StringList.h"
#include "runtime/include/ingot/abi/artifact.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ingot;

bool Tensor::isStatic() const {
  return llvm::none_of(dims, [](int64_t dim) { return dim < 0; });
}

bool Manifest::usesLibrary(llvm::StringRef name) const {
  return llvm::any_of(uses, [&](const Usage &use) {
    return use.kind == INGOT_ABI_USE_LIBRARY && use.name == name;
  });
}

bool Manifest::hasStrings() const {
  auto isOfStrings = [](const Tensor &tensor) { return tensor.isOfStrings(); };
  return llvm::any_of(inputs, isOfStrings) ||
         llvm::any_of(outputs, isOfStrings);
}

bool Manifest::hasGpuCode() const {
  return llvm::any_of(levels, [](const LevelCode &code) {
    return !code.target.device->emission.functions.empty();
  });
}

bool Manifest::hasOpenSizes() const {
  auto isOpen = [](const Tensor &tensor) { return !tensor.isStatic(); };
  return llvm::any_of(inputs, isOpen) || llvm::any_of(outputs, isOpen) ||
         !inference.empty() || hasStrings();
}

/// Returns the name of the inference function of each function.
static llvm::StringMap<std::string> readInferences(ModuleOp module) {
  llvm::StringMap<std::string> inferences;
  IngotDialect::InfersAttrHelper infers(module.getContext());
  for (auto function : module.getOps<func::FuncOp>())
    if (FlatSymbolRefAttr body = infers.getAttr(function))
      inferences[body.getValue()] = function.getName().str();
  return inferences;
}

static FailureOr<std::vector<Tensor>> readTensors(ModuleOp module,
                                                  ArrayAttr entries) {
  std::vector<Tensor> tensors;
  for (auto entry : entries.getAsRange<TensorAttr>()) {
    Tensor tensor;
    tensor.name = entry.getName().str();
    RankedTensorType type = entry.getType();
    tensor.dtype = elementNumberOf(type.getElementType());
    if (tensor.dtype == 0)
      return emitError(module.getLoc())
             << "'" << tensor.name << "' has element type "
             << type.getElementType()
             << ", which an artifact cannot take or give";
    ArrayRef<StringAttr> names = entry.getDimNames();
    for (auto [i, size] : llvm::enumerate(type.getShape())) {
      bool isDynamic = ShapedType::isDynamic(size);
      tensor.dims.push_back(isDynamic ? INGOT_ABI_DYNAMIC : size);
      StringRef key =
          isDynamic && !names.empty() ? names[i].getValue() : StringRef();
      tensor.dimKeys.push_back(key.str());
      tensor.dimNames.push_back(plainDimName(key).str());
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

static std::vector<Layer> readLayers(ArrayAttr rows) {
  std::vector<Layer> layers;
  if (!rows)
    return layers;
  for (auto row : rows.getAsRange<LayerAttr>()) {
    Layer layer;
    layer.kind = row.getKind().str();
    layer.backend = row.getBackend().str();
    if (StringAttr reason = row.getReason())
      layer.reason = reason.str();
    if (PrecisionAttr precision = row.getPrecision())
      layer.precision = precision.getValue();
    for (StringAttr name : row.getNodes())
      layer.nodes.push_back(name.str());
    layer.flops = row.getFlops();
    layer.bytes = row.getBytes();
    layer.usualOf = uint32_t(row.getUsualOf() + 1);
    layer.flags = row.getInLoop() ? INGOT_ABI_LAYER_LOOP : 0;
    layers.push_back(std::move(layer));
  }
  return layers;
}

static std::vector<std::vector<ingot_abi_size_range>>
readShapeProfiles(ArrayAttr rows) {
  std::vector<std::vector<ingot_abi_size_range>> profiles;
  if (!rows)
    return profiles;
  for (auto row : rows.getAsRange<ShapeProfileAttr>()) {
    std::vector<ingot_abi_size_range> &ranges = profiles.emplace_back();
    for (SizeRangeAttr range : row.getRanges())
      ranges.push_back({uint32_t(range.getInput()), uint32_t(range.getDim()),
                        range.getMin(), range.getUsual(), range.getMax(),
                        range.getMultiple()});
  }
  return profiles;
}

static FailureOr<std::vector<Body>>
readBodies(ModuleOp module, ArrayAttr rows,
           const llvm::StringMap<std::string> &inferences) {
  std::vector<Body> bodies;
  if (!rows)
    return bodies;
  for (auto row : rows.getAsRange<BodyAttr>()) {
    FailureOr<std::vector<Tensor>> inputs =
        readTensors(module, row.getInputs());
    FailureOr<std::vector<Tensor>> outputs =
        readTensors(module, row.getOutputs());
    if (failed(inputs) || failed(outputs))
      return failure();
    StringRef function = row.getFunction().getValue();
    bodies.push_back({function.str(), inferences.lookup(function),
                      size_t(row.getProfile()), std::move(*inputs),
                      std::move(*outputs)});
  }
  return bodies;
}

std::vector<Usage> ingot::readLibraries(ModuleOp module) {
  std::vector<Usage> uses;
  IngotDialect::LibrariesAttrHelper helper(module.getContext());
  if (ArrayAttr rows = helper.getAttr(module))
    for (auto library : rows.getAsRange<LibraryAttr>()) {
      uint32_t flags = library.getOwnThreads() ? INGOT_ABI_USE_OWN_THREADS : 0;
      uses.push_back({INGOT_ABI_USE_LIBRARY, flags, library.getName().str()});
    }
  return uses;
}

FailureOr<Manifest> ingot::readManifest(ModuleOp module,
                                        ArrayRef<Target> targets,
                                        StringRef symbol) {
  MLIRContext *context = module.getContext();
  Manifest manifest;
  manifest.symbol = symbol.str();
  for (const Target &target : targets)
    manifest.levels.push_back({target});
  if (auto name = IngotDialect::ModelNameAttrHelper(context).getAttr(module))
    manifest.modelName = name.str();
  if (auto metadata = IngotDialect::MetadataAttrHelper(context).getAttr(module))
    for (NamedAttribute entry : metadata)
      if (auto value = dyn_cast<StringAttr>(entry.getValue()))
        manifest.metadata.push_back({entry.getName().str(), value.str()});
  forEachCount(module, [&](StringRef key, int64_t value) {
    llvm::erase_if(manifest.metadata,
                   [&](auto &entry) { return entry.first == key; });
    manifest.metadata.push_back({key.str(), std::to_string(value)});
  });
  if (ArrayAttr strings = stringsOf(module))
    for (auto text : strings.getAsRange<StringAttr>())
      manifest.strings.push_back(text.str());
  if (manifest.strings.empty())
    manifest.strings.push_back("");
  FailureOr<std::vector<Tensor>> inputs = readTensors(
      module, IngotDialect::InputsAttrHelper(context).getAttr(module));
  FailureOr<std::vector<Tensor>> outputs = readTensors(
      module, IngotDialect::OutputsAttrHelper(context).getAttr(module));
  if (failed(inputs) || failed(outputs))
    return failure();
  manifest.inputs = std::move(*inputs);
  manifest.outputs = std::move(*outputs);
  manifest.shapeProfiles = readShapeProfiles(
      IngotDialect::ShapeProfilesAttrHelper(context).getAttr(module));
  manifest.takesGeneral =
      IngotDialect::TakesGeneralAttrHelper(context).isAttrPresent(module);
  llvm::StringMap<std::string> inferences = readInferences(module);
  manifest.inference = inferences.lookup(kForward);
  FailureOr<std::vector<Body>> bodies = readBodies(
      module, IngotDialect::BodiesAttrHelper(context).getAttr(module),
      inferences);
  if (failed(bodies))
    return failure();
  manifest.bodies = std::move(*bodies);
  manifest.layers =
      readLayers(IngotDialect::LayersAttrHelper(context).getAttr(module));
  auto sizeIn = [&](auto helper) {
    IntegerAttr attr = helper.getAttr(module);
    return attr ? uint64_t(attr.getInt()) : 0;
  };
  manifest.weightsBytes = sizeIn(IngotDialect::WeightsBytesAttrHelper(context));
  manifest.arenaBytes = sizeIn(IngotDialect::ArenaBytesAttrHelper(context));
  manifest.arenaLowerBound =
      sizeIn(IngotDialect::ArenaLowerBoundAttrHelper(context));
  if (auto rules = IngotDialect::SizeRulesAttrHelper(context).getAttr(module)) {
    manifest.sizeRulesProved = rules.getProved();
    manifest.sizeRulesChecked = rules.getChecked();
  }
  manifest.uses = readLibraries(module);
  manifest.hasLoad = module.lookupSymbol(kLoadSymbol) != nullptr;
  if (auto observed = IngotDialect::ObservedAttrHelper(context).getAttr(module))
    for (auto name : observed.getAsRange<StringAttr>())
      manifest.observed.push_back(name.str());
  if (auto precisionFlags =
          IngotDialect::PrecisionFlagsAttrHelper(context).getAttr(module))
    for (auto entry : precisionFlags.getAsRange<PrecisionFlagAttr>()) {
      PrecisionFlag one;
      for (StringAttr node : entry.getNodes())
        one.nodes.push_back(node.str());
      if (entry.getTensor() >= 0)
        one.tensor = size_t(entry.getTensor());
      manifest.precisionFlags.push_back(std::move(one));
    }
  return manifest;
}

std::string ingot::levelNames(const Manifest &manifest) {
  return llvm::join(
      llvm::map_range(manifest.levels,
                      [](const LevelCode &code) { return code.target.name(); }),
      ", ");
}

std::string ingot::levelSymbol(StringRef function, const Target &target) {
  return (function + "_" + target.identifier()).str();
}

std::vector<std::string> ingot::exportedSymbols(const Manifest &manifest) {
  std::vector<std::string> symbols{
      INGOT_ABI_QUERY_SYMBOL, manifest.symbol + "_create",
      manifest.symbol + "_run", manifest.symbol + "_destroy"};
  if (manifest.hasGpuCode())
    for (const char *suffix : {"_create_on", "_run_async", "_wait"})
      symbols.push_back(manifest.symbol + suffix);
  return symbols;
}
