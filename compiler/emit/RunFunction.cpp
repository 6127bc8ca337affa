//===- RunFunction.cpp - from an ingot_abi_call to @forward ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Emit.h"

#include "runtime/include/ingot/abi/artifact.h"

#include "llvm/IR/IRBuilder.h"

using namespace llvm;
using namespace ingot;

/// Inputs and outputs that one function prepares: LLVM compares all loads and
/// stores of a block with each other.
static constexpr size_t kMostPrepared = 64;

namespace {

/// Builds the body of the run: checks that dimensions of one name agree, tells
/// the host the sizes of outputs, calls @forward with what the call holds.
class RunBuilder {
public:
  RunBuilder(Module &module, const Manifest &manifest)
      : module(module), manifest(manifest), b(module.getContext()) {}

  void build(StringRef name);

private:
  /// A named dimension of an input.
  struct NamedDim {
    size_t input, dim;
  };

  Value *loadPointer(Value *base, uint64_t offset) {
    return b.CreateLoad(b.getPtrTy(),
                        b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base,
                                                     offset));
  }
  Value *inputBuffer(size_t i) {
    return bufferAt(loadPointer(call, offsetof(ingot_abi_call, inputs)), i);
  }
  Value *outputBuffer(size_t i) {
    return bufferAt(loadPointer(call, offsetof(ingot_abi_call, outputs)), i);
  }
  Value *bufferAt(Value *buffers, size_t i) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), buffers,
                                        i * sizeof(ingot_abi_buffer));
  }
  Value *loadDim(Value *dims, size_t i) {
    return b.CreateLoad(b.getInt64Ty(),
                        b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), dims, i));
  }
  void begin(StringRef name, Type *result);
  /// Appends the fields of a memref descriptor.
  void addMemref(Value *data, ArrayRef<Value *> sizes);
  void addTensor(const Tensor &tensor, Value *buffer);
  Function *prepare(size_t first);
  void checkNamedDims(size_t input);
  void storeDims(const Tensor &tensor, Value *buffer);
  Function *declareFail();

  Module &module;
  const Manifest &manifest;
  IRBuilder<> b;
  /// The one that is being built, and its argument.
  Function *function = nullptr;
  Value *call = nullptr;
  SmallVector<Value *> arguments;
  /// Where each name came first.
  StringMap<NamedDim> named;
};

} // namespace

/// A function of the call, to be filled.
void RunBuilder::begin(StringRef name, Type *result) {
  function = Function::Create(FunctionType::get(result, {b.getPtrTy()}, false),
                              GlobalValue::InternalLinkage, name, module);
  call = function->getArg(0);
  b.SetInsertPoint(BasicBlock::Create(b.getContext(), "", function));
}

void RunBuilder::addMemref(Value *data, ArrayRef<Value *> sizes) {
  arguments.append({data, data, b.getInt64(0)});
  arguments.append(sizes.begin(), sizes.end());
  SmallVector<Value *> strides(sizes.size());
  Value *stride = b.getInt64(1);
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride = b.CreateMul(stride, sizes[i]);
  }
  arguments.append(strides.begin(), strides.end());
}

void RunBuilder::addTensor(const Tensor &tensor, Value *buffer) {
  Value *data = loadPointer(buffer, offsetof(ingot_abi_buffer, data));
  Value *dims = nullptr;
  if (!tensor.isStatic())
    dims = loadPointer(buffer, offsetof(ingot_abi_buffer, dims));
  SmallVector<Value *> sizes;
  for (auto [i, dim] : enumerate(tensor.dims))
    sizes.push_back(dim < 0 ? loadDim(dims, i) : b.getInt64(dim));
  addMemref(data, sizes);
}

Function *RunBuilder::declareFail() {
  FunctionCallee fail = module.getOrInsertFunction(
      "ingot_support_fail", b.getVoidTy(), b.getPtrTy(), b.getInt32Ty(),
      b.getPtrTy());
  return cast<Function>(fail.getCallee());
}

/// Returns from the function, with false, where a dimension is not what it was
/// under its name before.
void RunBuilder::checkNamedDims(size_t input) {
  const Tensor &tensor = manifest.inputs[input];
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    if (tensor.dims[i] >= 0 || tensor.dimNames[i].empty())
      continue;
    auto [at, isNew] =
        named.try_emplace(tensor.dimNames[i], NamedDim{input, i});
    if (isNew)
      continue;
    auto load = [&](NamedDim which) {
      return loadDim(loadPointer(inputBuffer(which.input),
                                 offsetof(ingot_abi_buffer, dims)),
                     which.dim);
    };
    BasicBlock *wrong = BasicBlock::Create(b.getContext(), "", function);
    BasicBlock *next = BasicBlock::Create(b.getContext(), "", function);
    b.CreateCondBr(b.CreateICmpEQ(load(at->second), load({input, i})), next,
                   wrong);
    b.SetInsertPoint(wrong);
    std::string text =
        "dimension '" + tensor.dimNames[i] + "' differs between inputs";
    b.CreateCall(declareFail(), {call, b.getInt32(INGOT_ABI_INVALID_ARGUMENT),
                                 b.CreateGlobalString(text)});
    b.CreateRet(b.getFalse());
    b.SetInsertPoint(next);
  }
}

void RunBuilder::storeDims(const Tensor &tensor, Value *buffer) {
  Value *dims = loadPointer(buffer, offsetof(ingot_abi_buffer, dims));
  for (auto [i, dim] : enumerate(tensor.dims))
    b.CreateStore(b.getInt64(dim),
                  b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), dims, i));
}

/// bool prepare(call), for inputs and outputs from one on.
Function *RunBuilder::prepare(size_t first) {
  begin("ingot_run_prepare", b.getInt1Ty());
  for (size_t i = first;
       i < std::min(first + kMostPrepared, manifest.inputs.size()); ++i)
    checkNamedDims(i);
  for (size_t i = first;
       i < std::min(first + kMostPrepared, manifest.outputs.size()); ++i)
    if (manifest.outputs[i].isStatic())
      storeDims(manifest.outputs[i], outputBuffer(i));
  b.CreateRet(b.getTrue());
  return function;
}

/// The buffers of a run do not overlap, so the pointers into them do not alias:
/// without this every loop would check at run time. A memref is passed as two
/// pointers of which only the second, the aligned one, is used.
static void markNoAlias(Function &function) {
  bool isAligned = false;
  for (Argument &argument : function.args()) {
    if (!argument.getType()->isPointerTy() ||
        argument.getArgNo() + 1 == function.arg_size())
      continue;
    if (isAligned)
      argument.addAttr(Attribute::NoAlias);
    isAligned = !isAligned;
  }
}

void RunBuilder::build(StringRef name) {
  Function *forward = module.getFunction("forward");
  forward->setLinkage(GlobalValue::InternalLinkage);
  forward->addFnAttr(Attribute::NoInline);
  for (Function &function : module)
    if (&function == forward ||
        function.hasFnAttribute("ingot-distinct-buffers"))
      markNoAlias(function);

  SmallVector<Function *> prepared;
  size_t most = std::max(manifest.inputs.size(), manifest.outputs.size());
  for (size_t first = 0; first < most; first += kMostPrepared)
    prepared.push_back(prepare(first));

  // void body(call)
  begin("ingot_run_body", b.getVoidTy());
  Function *body = function;
  for (Function *piece : prepared) {
    if (prepared.size() > 1)
      piece->addFnAttr(Attribute::NoInline);
    BasicBlock *stop = BasicBlock::Create(b.getContext(), "", body);
    BasicBlock *next = BasicBlock::Create(b.getContext(), "", body);
    b.CreateCondBr(b.CreateCall(piece, {call}), next, stop);
    b.SetInsertPoint(stop);
    b.CreateRetVoid();
    b.SetInsertPoint(next);
  }
  if (!forward->hasFnAttribute("ingot-loads-buffers")) {
    for (auto [i, tensor] : enumerate(manifest.inputs))
      addTensor(tensor, inputBuffer(i));
    for (auto [i, tensor] : enumerate(manifest.outputs))
      if (tensor.isStatic())
        addTensor(tensor, outputBuffer(i));
  }
  addMemref(loadPointer(call, offsetof(ingot_abi_call, weights)),
            {b.getInt64(manifest.weightsBytes)});
  addMemref(loadPointer(call, offsetof(ingot_abi_call, arena)),
            {b.getInt64(manifest.arenaBytes)});
  arguments.push_back(call);
  b.CreateCall(forward, arguments);
  b.CreateRetVoid();

  // int32_t name(call)
  Function *run = Function::Create(
      FunctionType::get(b.getInt32Ty(), {b.getPtrTy()}, false),
      GlobalValue::ExternalLinkage, name, module);
  run->setVisibility(GlobalValue::HiddenVisibility);
  b.SetInsertPoint(BasicBlock::Create(b.getContext(), "", run));
  FunctionCallee guard = module.getOrInsertFunction(
      "ingot_support_run", b.getInt32Ty(), b.getPtrTy(), b.getPtrTy());
  b.CreateRet(b.CreateCall(guard, {run->getArg(0), body}));
}

void ingot::addRunFunction(Module &module, const Manifest &manifest,
                           const Target &target) {
  // The artifact's description, another module, points to them.
  for (StringRef name : {"ingot_load", "ingot_unload"})
    if (Function *function = module.getFunction(name)) {
      function->setVisibility(GlobalValue::HiddenVisibility);
      function->setName(levelSymbol(name, target));
    }
  RunBuilder(module, manifest).build(levelSymbol("ingot_run", target));
}
