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

namespace {

/// Builds the body of the run: loads what the call holds, checks that
/// dimensions of one name agree, calls @forward.
class RunBuilder {
public:
  RunBuilder(Module &module, const Manifest &manifest)
      : module(module), manifest(manifest), b(module.getContext()) {}

  void build(StringRef name);

private:
  Value *loadPointer(Value *base, uint64_t offset) {
    return b.CreateLoad(b.getPtrTy(),
                        b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base,
                                                     offset));
  }
  Value *bufferAt(Value *buffers, size_t i) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), buffers,
                                        i * sizeof(ingot_abi_buffer));
  }
  /// Appends the fields of a memref descriptor.
  void addMemref(Value *data, ArrayRef<Value *> sizes);
  void addTensor(const Tensor &tensor, Value *buffer);
  void checkNamedDims();
  void storeDims(const Tensor &tensor, Value *buffer);
  Function *declareFail();

  Module &module;
  const Manifest &manifest;
  IRBuilder<> b;
  Function *function = nullptr;
  Value *call = nullptr;
  SmallVector<Value *> arguments;
  /// Each named dynamic dimension and its sizes, input by input.
  std::vector<std::pair<std::string, SmallVector<Value *>>> named;
};

} // namespace

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
  for (auto [i, dim] : enumerate(tensor.dims)) {
    Value *size = b.getInt64(dim);
    if (dim < 0) {
      size = b.CreateLoad(b.getInt64Ty(), b.CreateConstInBoundsGEP1_64(
                                              b.getInt64Ty(), dims, i));
      if (!tensor.dimNames[i].empty()) {
        auto at = find_if(named, [&, i = i](auto &entry) {
          return entry.first == tensor.dimNames[i];
        });
        if (at == named.end())
          at = named.insert(named.end(), {tensor.dimNames[i], {}});
        at->second.push_back(size);
      }
    }
    sizes.push_back(size);
  }
  addMemref(data, sizes);
}

Function *RunBuilder::declareFail() {
  FunctionCallee fail = module.getOrInsertFunction(
      "ingot_support_fail", b.getVoidTy(), b.getPtrTy(), b.getInt32Ty(),
      b.getPtrTy());
  return cast<Function>(fail.getCallee());
}

void RunBuilder::checkNamedDims() {
  for (auto &[name, sizes] : named) {
    for (Value *other : ArrayRef(sizes).drop_front()) {
      BasicBlock *wrong = BasicBlock::Create(b.getContext(), "", function);
      BasicBlock *next = BasicBlock::Create(b.getContext(), "", function);
      b.CreateCondBr(b.CreateICmpEQ(sizes.front(), other), next, wrong);
      b.SetInsertPoint(wrong);
      std::string text = "dimension '" + name + "' differs between inputs";
      b.CreateCall(declareFail(), {call, b.getInt32(INGOT_ABI_INVALID_ARGUMENT),
                                   b.CreateGlobalString(text)});
      b.CreateRetVoid();
      b.SetInsertPoint(next);
    }
  }
}

void RunBuilder::storeDims(const Tensor &tensor, Value *buffer) {
  Value *dims = loadPointer(buffer, offsetof(ingot_abi_buffer, dims));
  for (auto [i, dim] : enumerate(tensor.dims))
    b.CreateStore(b.getInt64(dim),
                  b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), dims, i));
}

/// The buffers of a run do not overlap, so the pointers into them do not alias:
/// without this every loop would check at run time. A memref is passed as two
/// pointers of which only the second, the aligned one, is used.
static void markNoAlias(Function &forward) {
  bool isAligned = false;
  for (Argument &argument : forward.args()) {
    if (!argument.getType()->isPointerTy() ||
        argument.getArgNo() + 1 == forward.arg_size())
      continue;
    if (isAligned)
      argument.addAttr(Attribute::NoAlias);
    isAligned = !isAligned;
  }
  forward.addFnAttr(Attribute::NoInline);
}

void RunBuilder::build(StringRef name) {
  Function *forward = module.getFunction("forward");
  forward->setLinkage(GlobalValue::InternalLinkage);
  for (Function &function : module)
    if (&function == forward || function.hasFnAttribute("ingot-distinct-buffers"))
      markNoAlias(function);

  // void body(call)
  function = Function::Create(
      FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false),
      GlobalValue::InternalLinkage, "ingot_run_body", module);
  call = function->getArg(0);
  b.SetInsertPoint(BasicBlock::Create(b.getContext(), "", function));
  Value *inputs = loadPointer(call, offsetof(ingot_abi_call, inputs));
  Value *outputs = loadPointer(call, offsetof(ingot_abi_call, outputs));
  for (auto [i, tensor] : enumerate(manifest.inputs))
    addTensor(tensor, bufferAt(inputs, i));
  for (auto [i, tensor] : enumerate(manifest.outputs)) {
    if (!tensor.isStatic())
      continue;
    storeDims(tensor, bufferAt(outputs, i));
    addTensor(tensor, bufferAt(outputs, i));
  }
  checkNamedDims();
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
  b.CreateRet(b.CreateCall(guard, {run->getArg(0), function}));
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
