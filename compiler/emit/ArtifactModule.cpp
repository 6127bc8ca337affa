//===- ArtifactModule.cpp - the description of an artifact ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Emit.h"

#include "compiler/Version.h"
#include "compiler/emit/TypedFunctions.h"
#include "dialects/ingot/IngotDialect.h"
#include "runtime/format/StringHash.h"
#include "runtime/include/ingot/abi/artifact.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;
using namespace ingot;

namespace {

/// Emits the constant ingot_abi_artifact. The
/// members of the constant are in the header's order.
class ArtifactBuilder {
public:
  ArtifactBuilder(Module &module, const Manifest &manifest)
      : module(module), manifest(manifest), context(module.getContext()),
        b(context), null(ConstantPointerNull::get(b.getPtrTy())) {}

  void build();

private:
  Constant *string(StringRef text);
  /// Returns the address of a private constant array; null if the array is
  /// empty.
  Constant *array(ArrayRef<Constant *> elements);
  /// Returns the members of an ingot_abi_table.
  Constant *table(ArrayRef<Constant *> rows, uint32_t rowBytes) {
    return structure(
        {array(rows), b.getInt32(rows.size()), b.getInt32(rowBytes)});
  }
  Constant *structure(ArrayRef<Constant *> members) {
    return ConstantStruct::getAnon(context, members);
  }
  Constant *tensors(ArrayRef<Tensor> list);
  Constant *metadata();
  Constant *uses();
  Constant *layers(std::string &text);
  Constant *shapeProfiles();
  Constant *variants();
  Constant *declare(StringRef name, Type *result, ArrayRef<Type *> params) {
    return declareHidden(module, name, result, params);
  }
  Constant *declareConstant(StringRef name);
  GlobalVariable *buildDescription();
  void buildDictionary();
  void buildSeal();
  void buildQuery(GlobalVariable *description);

  Module &module;
  const Manifest &manifest;
  LLVMContext &context;
  IRBuilder<> b;
  Constant *null;
};

} // namespace

Constant *ArtifactBuilder::string(StringRef text) {
  Constant *data = ConstantDataArray::getString(context, text);
  auto *global =
      new GlobalVariable(module, data->getType(), /*isConstant=*/true,
                         GlobalValue::PrivateLinkage, data);
  global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  return global;
}

Constant *ArtifactBuilder::array(ArrayRef<Constant *> elements) {
  if (elements.empty())
    return null;
  auto *type = ArrayType::get(elements.front()->getType(), elements.size());
  return new GlobalVariable(module, type, /*isConstant=*/true,
                            GlobalValue::PrivateLinkage,
                            ConstantArray::get(type, elements));
}

Constant *ArtifactBuilder::tensors(ArrayRef<Tensor> list) {
  SmallVector<Constant *> rows;
  for (const Tensor &tensor : list) {
    SmallVector<Constant *> dims, names;
    for (int64_t dim : tensor.dims)
      dims.push_back(b.getInt64(dim));
    for (const std::string &name : tensor.dimNames)
      names.push_back(string(name));
    rows.push_back(structure({string(tensor.name), b.getInt32(tensor.dtype),
                              b.getInt32(tensor.dims.size()), array(dims),
                              array(names)}));
  }
  return table(rows, sizeof(ingot_abi_tensor));
}

Constant *ArtifactBuilder::metadata() {
  SmallVector<Constant *> rows;
  for (auto &[key, value] : manifest.metadata)
    rows.push_back(structure({string(key), string(value)}));
  return table(rows, sizeof(ingot_abi_metadata));
}

Constant *ArtifactBuilder::uses() {
  SmallVector<Constant *> rows;
  for (const Usage &use : manifest.uses)
    rows.push_back(structure(
        {b.getInt32(use.kind), b.getInt32(use.flags), string(use.name)}));
  return table(rows, sizeof(ingot_abi_use));
}

/// Returns the table of layers. Layers refer to one text by offsets instead of
/// pointers, so loading needs no relocations.
Constant *ArtifactBuilder::layers(std::string &text) {
  llvm::StringMap<uint32_t> words;
  // Cuts a name at a NUL. A NUL inside would end the name early and shift the
  // following names.
  auto add = [&](StringRef name) {
    uint32_t at = text.size();
    text += name.take_until([](char c) { return c == '\0'; });
    text += '\0';
    return at;
  };
  // Stores a word once, even if many layers use it.
  auto addWord = [&](StringRef word) {
    auto [known, isNew] = words.try_emplace(word, 0);
    if (isNew)
      known->second = add(word);
    return known->second;
  };
  SmallVector<Constant *> rows;
  for (const Layer &layer : manifest.layers) {
    uint32_t kind = addWord(layer.kind), backend = addWord(layer.backend);
    uint32_t reason = layer.reason.empty() ? 0 : addWord(layer.reason);
    uint32_t precision =
        layer.precision ? addWord(stringifyPrecision(*layer.precision)) : 0;
    uint32_t nodes = text.size();
    for (const std::string &node : layer.nodes)
      add(node);
    rows.push_back(structure(
        {b.getInt32(kind), b.getInt32(nodes), b.getInt32(layer.nodes.size()),
         b.getInt32(backend), b.getInt64(layer.flops), b.getInt64(layer.bytes),
         b.getInt32(reason), b.getInt32(precision), b.getInt32(layer.usualOf),
         b.getInt32(layer.flags)}));
  }
  return table(rows, sizeof(ingot_abi_layer));
}

Constant *ArtifactBuilder::shapeProfiles() {
  SmallVector<Constant *> profiles;
  for (const auto &ranges : manifest.shapeProfiles) {
    SmallVector<Constant *> rows;
    for (const ingot_abi_size_range &range : ranges)
      rows.push_back(structure({b.getInt32(range.input), b.getInt32(range.dim),
                                b.getInt64(range.min), b.getInt64(range.usual),
                                b.getInt64(range.max),
                                b.getInt64(range.multiple)}));
    profiles.push_back(
        structure({table(rows, sizeof(ingot_abi_size_range))}));
  }
  return table(profiles, sizeof(ingot_abi_shape_profile));
}

/// Declares a constant of a library that the artifact is linked with. Returns
/// null if `name` is empty.
Constant *ArtifactBuilder::declareConstant(StringRef name) {
  if (name.empty())
    return null;
  auto *global =
      cast<GlobalVariable>(module.getOrInsertGlobal(name, b.getInt8Ty()));
  global->setConstant(true);
  global->setVisibility(GlobalValue::HiddenVisibility);
  return global;
}

/// Returns the table of levels, lowest first. The runtime prefers a later
/// level.
Constant *ArtifactBuilder::variants() {
  Type *ptr = b.getPtrTy(), *i32 = b.getInt32Ty();
  SmallVector<Constant *> rows;
  for (auto [i, code] : enumerate(manifest.levels)) {
    Constant *load = null, *unload = null;
    const Device &device = *code.target.device;
    const Emission &emission = device.emission;
    if (manifest.hasLoad || emission.addsLoad) {
      load = declare(levelSymbol(kLoadSymbol, code.target), i32, {ptr});
      unload = declare(levelSymbol(kUnloadSymbol, code.target), b.getVoidTy(),
                       {ptr, ptr});
    }
    rows.push_back(structure({
        string(code.target.name()),
        b.getInt32(emission.device),
        b.getInt32(INGOT_ABI_ARCHITECTURE_X86_64),
        b.getInt64(code.target.features),
        b.getInt32(i + 1),
        b.getInt32(emission.flags),
        b.getInt32(emission.memories),
        b.getInt32(INGOT_ABI_MEMORY_HOST),
        b.getInt64(device.hasOwnMemory ? 0 : manifest.arenaBytes),
        b.getInt64(code.bytes),
        load,
        unload,
        declare(levelSymbol("ingot_run", code.target), i32, {ptr}),
        manifest.hasOpenSizes()
            ? declare(levelSymbol("ingot_infer", code.target), i32, {ptr})
            : null,
        declareConstant(emission.functions),
    }));
  }
  return table(rows, sizeof(ingot_abi_variant));
}

GlobalVariable *ArtifactBuilder::buildDescription() {
  Constant *weights = null;
  if (manifest.weightsBytes != 0 && !manifest.externalWeights) {
    auto *symbol = new GlobalVariable(
        module, b.getInt8Ty(), /*isConstant=*/true,
        GlobalValue::ExternalLinkage, nullptr, "ingot_weights");
    symbol->setVisibility(GlobalValue::HiddenVisibility);
    weights = symbol;
  }
  std::string layerText;
  Constant *layerTable = layers(layerText);
  Constant *layerStrings =
      layerText.empty() ? null : string(StringRef(layerText).drop_back());
  Constant *description = structure({
      b.getInt64(INGOT_ABI_MAGIC),
      b.getInt32(INGOT_ABI_VERSION),
      b.getInt32(sizeof(ingot_abi_artifact)),
      string("ingot " INGOT_VERSION),
      string(manifest.modelName),
      tensors(manifest.inputs),
      tensors(manifest.outputs),
      metadata(),
      uses(),
      variants(),
      layerTable,
      layerStrings,
      b.getInt64(layerText.size()),
      weights,
      b.getInt64(manifest.weightsBytes),
      ConstantDataArray::get(context, ArrayRef(manifest.weightsSha256)),
      b.getInt32(sizeof(ingot_abi_buffer)),
      b.getInt32(/*flags=*/0),
      b.getInt32(manifest.sizeRulesProved),
      b.getInt32(manifest.sizeRulesChecked),
      shapeProfiles(),
      b.getInt32(manifest.takesGeneral),
      b.getInt32(0),
  });
  // The run functions are in other modules. They read their profiles from this
  // description.
  auto *global = new GlobalVariable(
      module, description->getType(), /*isConstant=*/true,
      GlobalValue::ExternalLinkage, description, kDescriptionSymbol);
  global->setVisibility(GlobalValue::HiddenVisibility);
  return global;
}

/// Builds an ingot_support_dictionary, a hash table.
void ArtifactBuilder::buildDictionary() {
  // Keeps half of the slots free, so that few strings collide.
  std::vector<uint32_t> slots(llvm::NextPowerOf2(2 * manifest.strings.size()));
  std::vector<uint64_t> offsets{0};
  std::string text;
  const uint64_t mask = slots.size() - 1;
  for (auto [i, word] : enumerate(manifest.strings)) {
    uint64_t at = ingot_string_hash(word.data(), word.size()) & mask;
    while (slots[at])
      at = (at + 1) & mask;
    slots[at] = uint32_t(i + 1);
    text += word;
    offsets.push_back(text.size());
  }
  auto add = [&](Constant *data) {
    return new GlobalVariable(module, data->getType(), /*isConstant=*/true,
                              GlobalValue::PrivateLinkage, data);
  };
  Constant *dictionary = structure(
      {string(text),
       add(ConstantDataArray::get(context, ArrayRef<uint64_t>(offsets))),
       add(ConstantDataArray::get(context, ArrayRef<uint32_t>(slots))),
       b.getInt64(mask), b.getInt64(manifest.strings.size())});
  auto *global = new GlobalVariable(
      module, dictionary->getType(), /*isConstant=*/true,
      GlobalValue::ExternalLinkage, dictionary, kDictionarySymbol);
  global->setVisibility(GlobalValue::HiddenVisibility);
}

/// Builds an ELF note with an ingot_abi_seal, which is filled in at link time.
void ArtifactBuilder::buildSeal() {
  std::string owner(INGOT_ABI_NOTE_OWNER, sizeof(INGOT_ABI_NOTE_OWNER));
  const size_t ownerBytes = owner.size();
  owner.resize(alignTo(ownerBytes, 4));
  SmallVector<uint32_t> content(sizeof(ingot_abi_seal) / 4);
  content[0] = sizeof(ingot_abi_seal);
  Constant *note = structure(
      {b.getInt32(ownerBytes), b.getInt32(sizeof(ingot_abi_seal)),
       b.getInt32(INGOT_ABI_NOTE_SEAL),
       ConstantDataArray::getString(context, owner, /*AddNull=*/false),
       ConstantDataArray::get(context, ArrayRef<uint32_t>(content))});
  auto *global =
      new GlobalVariable(module, note->getType(), /*isConstant=*/true,
                         GlobalValue::InternalLinkage, note, "ingot_seal");
  global->setSection(".note.ingot");
  global->setAlignment(Align(4));
  appendToCompilerUsed(module, {global});
}

void ArtifactBuilder::buildQuery(GlobalVariable *description) {
  Function *query = Function::Create(FunctionType::get(b.getPtrTy(), false),
                                     GlobalValue::ExternalLinkage,
                                     INGOT_ABI_QUERY_SYMBOL, module);
  b.SetInsertPoint(BasicBlock::Create(context, "", query));
  b.CreateRet(description);
}

void ArtifactBuilder::build() {
  GlobalVariable *description = buildDescription();
  if (manifest.hasStrings())
    buildDictionary();
  buildSeal();
  buildQuery(description);
  addTypedFunctions(module, manifest, description);
}

std::unique_ptr<Module> ingot::buildArtifactModule(LLVMContext &context,
                                                   const Manifest &manifest) {
  auto module = std::make_unique<Module>("artifact", context);
  ArtifactBuilder(*module, manifest).build();
  return module;
}
