//===- TypedFunctions.cpp - the functions of a C header -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/TypedFunctions.h"

#include "runtime/include/ingot/abi/artifact.h"

#include "llvm/IR/IRBuilder.h"

using namespace llvm;
using namespace ingot;

namespace {

class TypedFunctions {
public:
  TypedFunctions(Module &module, const Manifest &manifest)
      : module(module), manifest(manifest), context(module.getContext()),
        b(context), null(ConstantPointerNull::get(b.getPtrTy())) {}

  void build(GlobalVariable *description);

private:
  Constant *declare(StringRef name, Type *result, ArrayRef<Type *> params) {
    return declareHidden(module, name, result, params);
  }
  Function *exported(StringRef name, Type *result, ArrayRef<Type *> params);
  Value *request(GlobalVariable *description, Function *function,
                 bool takesDevice);
  void buildCreate(GlobalVariable *description, bool takesDevice);
  void buildRun(bool isAsync);
  void buildWait();
  void buildDestroy();

  Module &module;
  const Manifest &manifest;
  LLVMContext &context;
  IRBuilder<> b;
  Constant *null;
};

} // namespace

Constant *ingot::declareHidden(Module &module, StringRef name, Type *result,
                               ArrayRef<Type *> params) {
  auto *function = cast<Function>(
      module.getOrInsertFunction(name, FunctionType::get(result, params, false))
          .getCallee());
  function->setVisibility(GlobalValue::HiddenVisibility);
  return function;
}

Function *TypedFunctions::exported(StringRef name, Type *result,
                                   ArrayRef<Type *> params) {
  Function *function =
      Function::Create(FunctionType::get(result, params, false),
                       GlobalValue::ExternalLinkage, name, module);
  b.SetInsertPoint(BasicBlock::Create(context, "", function));
  return function;
}

/// Builds an ingot_support_request of the arguments of `function`.
Value *TypedFunctions::request(GlobalVariable *description, Function *function,
                               bool takesDevice) {
  Type *ptr = b.getPtrTy(), *i64 = b.getInt64Ty();
  auto *type = StructType::get(context, {ptr, ptr, ptr, i64, b.getInt32Ty()});
  Value *made = b.CreateAlloca(type);
  Argument *next = function->arg_begin();
  Value *device = null, *bytes = b.getInt64(0);
  if (takesDevice)
    device = next++;
  Value *weights = next++;
  if (manifest.externalWeights)
    bytes = next++;
  Value *threads = next++;
  for (auto [i, value] : enumerate(std::initializer_list<Value *>{
           description, device, weights, bytes, threads}))
    b.CreateStore(value, b.CreateStructGEP(type, made, unsigned(i)));
  return made;
}

// Builds these functions, the second one for models with code for GPUs:
//   NAME *NAME_create(const void *weights, [uint64_t weights_bytes,]
//                     int32_t threads, char *error, size_t error_bytes)
//   NAME *NAME_create_on(const char *device, …)
void TypedFunctions::buildCreate(GlobalVariable *description,
                                 bool takesDevice) {
  Type *ptr = b.getPtrTy(), *i32 = b.getInt32Ty(), *i64 = b.getInt64Ty();
  SmallVector<Type *> params{ptr, i32, ptr, i64};
  if (manifest.externalWeights)
    params.insert(params.begin() + 1, i64);
  if (takesDevice)
    params.insert(params.begin(), ptr);
  Function *function = exported(
      manifest.symbol + (takesDevice ? "_create_on" : "_create"), ptr, params);
  if (manifest.hasGpuCode()) {
    Value *arguments = request(description, function, takesDevice);
    Constant *create = declare("ingot_support_create_on", ptr, {ptr, ptr, i64});
    b.CreateRet(b.CreateCall(cast<Function>(create),
                             {arguments, function->getArg(params.size() - 2),
                              function->getArg(params.size() - 1)}));
    return;
  }
  Constant *create =
      declare("ingot_support_create", ptr, {ptr, ptr, i64, i32, ptr, i64});
  SmallVector<Value *> arguments{description};
  for (Argument &argument : function->args())
    arguments.push_back(&argument);
  if (!manifest.externalWeights)
    arguments.insert(arguments.begin() + 2, b.getInt64(0));
  auto type = cast<Function>(create)->getFunctionType();
  b.CreateRet(b.CreateCall(type, create, arguments));
}

// Builds this function:
//   int32_t NAME_run(NAME *model,
//                    const T *input, [const char *text, uint64_t text_bytes,]
//                    [const int64_t *dims,] …,
//                    T *output, [char *text, uint64_t text_bytes,
//                    uint64_t *text_used,] [int64_t *dims, uint64_t bytes,] …,
//                    char *error, size_t error_bytes)
// and NAME_run_async(NAME *model, void *stream, …) for models with code for
// GPUs.
void TypedFunctions::buildRun(bool isAsync) {
  Type *ptr = b.getPtrTy(), *i32 = b.getInt32Ty(), *i64 = b.getInt64Ty();
  SmallVector<Type *> params(isAsync ? 2 : 1, ptr);
  for (const Tensor &tensor : manifest.inputs) {
    params.push_back(ptr);
    if (tensor.isOfStrings())
      params.append({ptr, i64});
    if (!tensor.isStatic())
      params.push_back(ptr);
  }
  for (const Tensor &tensor : manifest.outputs) {
    params.push_back(ptr);
    if (tensor.isOfStrings())
      params.append({ptr, i64, ptr});
    if (!tensor.isStatic())
      params.append({ptr, i64});
  }
  params.append({ptr, i64});
  Constant *call =
      isAsync
          ? declare("ingot_support_start", i32, {ptr, ptr, ptr, ptr, ptr, i64})
          : declare(manifest.hasGpuCode() ? "ingot_support_call_on"
                                          : "ingot_support_call",
                    i32, {ptr, ptr, ptr, ptr, i64});
  Function *function = exported(
      manifest.symbol + (isAsync ? "_run_async" : "_run"), i32, params);
  // LLVM compares all loads and stores of a block with each other, which takes
  // long in a large function. Here it finds nothing to optimize, so turn
  // optimization off.
  constexpr size_t kMaxOptimized = 64;
  if (manifest.inputs.size() + manifest.outputs.size() > kMaxOptimized) {
    function->addFnAttr(Attribute::NoInline);
    function->addFnAttr(Attribute::OptimizeNone);
  }
  Argument *next = function->getArg(isAsync ? 2 : 1);
  auto take = [&]() -> Value * { return next++; };

  auto *bufferType =
      StructType::get(context, {ptr, ptr, ptr, i64, i32, i32, ptr, i64, ptr});
  // Counts the sizes of tensors with static shapes. The caller passes no memory
  // for them, but the buffers of a run point to the sizes.
  uint64_t numSizes = 0, used = 0;
  for (const std::vector<Tensor> *list : {&manifest.inputs, &manifest.outputs})
    for (const Tensor &tensor : *list)
      numSizes += tensor.isStatic() ? tensor.dims.size() : 0;
  Value *sizes = b.CreateAlloca(ArrayType::get(i64, numSizes));
  auto fill = [&](ArrayRef<Tensor> tensors, bool isOutput) {
    auto *arrayType = ArrayType::get(bufferType, tensors.size());
    Value *buffers = b.CreateAlloca(arrayType);
    for (auto [i, tensor] : enumerate(tensors)) {
      Value *data = take(), *text = null, *textBytes = b.getInt64(0),
            *textUsed = null;
      if (tensor.isOfStrings()) {
        text = take();
        textBytes = take();
        textUsed = isOutput ? take() : textUsed;
      }
      Value *dims = tensor.isStatic()
                        ? b.CreateConstInBoundsGEP1_64(i64, sizes, used)
                        : take();
      used += tensor.isStatic() ? tensor.dims.size() : 0;
      Value *bytes =
          !tensor.isStatic() && isOutput ? take() : b.getInt64(INT64_MAX);
      Value *row = b.CreateConstInBoundsGEP2_64(arrayType, buffers, 0, i);
      b.CreateStore(data, b.CreateStructGEP(bufferType, row, 0));
      b.CreateStore(dims, b.CreateStructGEP(bufferType, row, 1));
      b.CreateStore(null, b.CreateStructGEP(bufferType, row, 2));
      b.CreateStore(bytes, b.CreateStructGEP(bufferType, row, 3));
      b.CreateStore(b.getInt32(INGOT_ABI_MEMORY_HOST),
                    b.CreateStructGEP(bufferType, row, 4));
      b.CreateStore(b.getInt32(0), b.CreateStructGEP(bufferType, row, 5));
      b.CreateStore(text, b.CreateStructGEP(bufferType, row, 6));
      b.CreateStore(textBytes, b.CreateStructGEP(bufferType, row, 7));
      b.CreateStore(textUsed, b.CreateStructGEP(bufferType, row, 8));
    }
    return buffers;
  };
  Value *inputs = fill(manifest.inputs, false);
  Value *outputs = fill(manifest.outputs, true);
  Value *error = take(), *errorBytes = take();
  SmallVector<Value *> arguments{function->getArg(0), inputs, outputs, error,
                                 errorBytes};
  if (isAsync)
    arguments.insert(arguments.begin() + 1, function->getArg(1));
  auto type = cast<Function>(call)->getFunctionType();
  b.CreateRet(b.CreateCall(type, call, arguments));
}

// Builds int32_t NAME_wait(NAME *model, char *error, size_t error_bytes).
void TypedFunctions::buildWait() {
  SmallVector<Type *> params{b.getPtrTy(), b.getPtrTy(), b.getInt64Ty()};
  Constant *wait = declare("ingot_support_wait", b.getInt32Ty(), params);
  Function *function =
      exported(manifest.symbol + "_wait", b.getInt32Ty(), params);
  SmallVector<Value *> arguments;
  for (Argument &argument : function->args())
    arguments.push_back(&argument);
  b.CreateRet(b.CreateCall(cast<Function>(wait), arguments));
}

void TypedFunctions::buildDestroy() {
  Type *ptr = b.getPtrTy();
  Constant *destroy = declare("ingot_support_destroy", b.getVoidTy(), {ptr});
  Function *function =
      exported(manifest.symbol + "_destroy", b.getVoidTy(), {ptr});
  auto type = cast<Function>(destroy)->getFunctionType();
  b.CreateCall(type, destroy, {function->getArg(0)});
  b.CreateRetVoid();
}

void TypedFunctions::build(GlobalVariable *description) {
  buildCreate(description, /*takesDevice=*/false);
  buildRun(/*isAsync=*/false);
  if (manifest.hasGpuCode()) {
    buildCreate(description, /*takesDevice=*/true);
    buildRun(/*isAsync=*/true);
    buildWait();
  }
  buildDestroy();
}

void ingot::addTypedFunctions(Module &module, const Manifest &manifest,
                              GlobalVariable *description) {
  TypedFunctions(module, manifest).build(description);
}
