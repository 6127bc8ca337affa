//===- RunFunction.cpp - from an ingot_abi_call to @forward ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Emit.h"

#include "dialects/ingot/ElementTypes.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NodeName.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;
using namespace ingot;

/// Number of inputs and outputs that one function prepares. LLVM compares all
/// loads and stores of a block with each other, so blocks must be small.
static constexpr size_t kMaxPrepared = 64;

/// Maximum bytes of a name in a message. A message has room for four names.
static constexpr size_t kMaxNameBytes = 60;

namespace {

/// A function of the model's module, and its inputs and outputs.
struct Callee {
  Function *function;
  ArrayRef<Tensor> inputs, outputs;
};

/// Builds the body of the run. The body checks that dimensions of one name
/// agree and selects the function for the given sizes. Then it reports the
/// sizes of outputs to the host and calls the selected function with the call's
/// buffers. If `infers`, the selected function gets only the call and no
/// buffers.
class RunBuilder {
public:
  RunBuilder(Module &module, const Manifest &manifest, bool infers)
      : module(module), manifest(manifest), infers(infers),
        b(module.getContext()) {}

  /// Calls the functions for strings whose names begin with `prefix`.
  RunBuilder &withStrings(StringRef prefix) {
    forStrings = prefix;
    return *this;
  }

  /// Builds the function. The first callee handles all sizes. The others are
  /// those of the manifest's bodies. Callees that infer sizes may be null.
  void build(StringRef name, StringRef runner, ArrayRef<Callee> callees);

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
  /// Appends the arguments that describe a memref.
  void addMemref(Value *data, ArrayRef<Value *> sizes);
  void addTensor(const Tensor &tensor, Value *buffer);
  Function *prepare(size_t first, const Callee &callee);
  void returnUnless(Value *holds, Value *result = nullptr);
  void checkNamedDims(const Callee &callee, size_t input);
  void checkRoom(const Callee &callee, size_t output);
  Function *buildCall(const Callee &callee);
  void callBodies(ArrayRef<Function *> bodies);
  void storeDims(const Tensor &tensor, Value *buffer);
  void readStrings(const Callee &callee);
  void storeStrings(const Callee &callee);
  GlobalVariable *external(StringRef symbol);
  Function *declareFailWith();

  Module &module;
  const Manifest &manifest;
  bool infers;
  /// Prefix of the functions of the runtime that read and store strings.
  StringRef forStrings = "ingot_support_";
  IRBuilder<> b;
  /// The function that is being built, and its argument `call`.
  Function *function = nullptr;
  Value *call = nullptr;
  SmallVector<Value *> arguments;
  /// The first dimension of each name.
  StringMap<NamedDim> named;
};

} // namespace

/// Starts a function that has the call as its argument.
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

Function *RunBuilder::declareFailWith() {
  FunctionCallee fail = module.getOrInsertFunction(
      "ingot_support_fail_with", b.getVoidTy(), b.getPtrTy(), b.getInt32Ty(),
      b.getPtrTy(), b.getInt64Ty(), b.getInt64Ty());
  return cast<Function>(fail.getCallee());
}

/// Makes the function return false if a named dimension of the input differs
/// from an earlier dimension of the same name.
void RunBuilder::checkNamedDims(const Callee &callee, size_t input) {
  const Tensor &tensor = callee.inputs[input];
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    if (tensor.dims[i] >= 0 || tensor.dimKeys[i].empty())
      continue;
    auto [at, isNew] = named.try_emplace(tensor.dimKeys[i], NamedDim{input, i});
    if (isNew)
      continue;
    auto load = [&](NamedDim which) {
      return loadDim(loadPointer(inputBuffer(which.input),
                                 offsetof(ingot_abi_buffer, dims)),
                     which.dim);
    };
    BasicBlock *wrong = BasicBlock::Create(b.getContext(), "", function);
    BasicBlock *next = BasicBlock::Create(b.getContext(), "", function);
    auto place = [&](NamedDim which) {
      return "dimension " + std::to_string(which.dim) + " of input '" +
             printable(callee.inputs[which.input].name, kMaxNameBytes) + "'";
    };
    Value *first = load(at->second), *second = load({input, i});
    b.CreateCondBr(b.CreateICmpEQ(first, second), next, wrong);
    b.SetInsertPoint(wrong);
    std::string name = printable(tensor.dimNames[i], kMaxNameBytes);
    std::string text = "dimension '" + name + "' differs: {0} in " +
                       place(at->second) + ", but {1} in " +
                       place({input, i}) + "; --free-dim=" + name +
                       " compiles a model whose sizes may differ";
    b.CreateCall(declareFailWith(),
                 {call, b.getInt32(INGOT_ABI_INVALID_ARGUMENT),
                  b.CreateGlobalString(text), first, second});
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

/// Continues if `holds` is true, else returns `result`.
void RunBuilder::returnUnless(Value *holds, Value *result) {
  BasicBlock *stop = BasicBlock::Create(b.getContext(), "", function);
  BasicBlock *next = BasicBlock::Create(b.getContext(), "", function);
  b.CreateCondBr(holds, next, stop);
  b.SetInsertPoint(stop);
  if (result)
    b.CreateRet(result);
  else
    b.CreateRetVoid();
  b.SetInsertPoint(next);
}

/// Checks that the buffer of an output is large enough. This is needed if the
/// output's size is fixed in this callee, but not in the model.
void RunBuilder::checkRoom(const Callee &callee, size_t output) {
  const Tensor &tensor = callee.outputs[output];
  // For strings, the runtime checks the buffer when it stores them.
  if (!tensor.isStatic() || manifest.outputs[output].isStatic() ||
      tensor.isOfStrings())
    return;
  uint64_t bits = uint64_t(elementBitsOf(int32_t(tensor.dtype)));
  for (int64_t dim : tensor.dims)
    bits *= uint64_t(dim);
  FunctionCallee hasRoom = module.getOrInsertFunction(
      "ingot_support_has_room", b.getInt32Ty(), b.getPtrTy(), b.getInt64Ty(),
      b.getInt64Ty());
  Value *has = b.CreateCall(
      hasRoom, {call, b.getInt64(output), b.getInt64((bits + 7) / 8)});
  returnUnless(b.CreateIsNotNull(has), b.getFalse());
}

/// Builds `bool prepare(call)` for several inputs and outputs, starting at
/// `first`.
Function *RunBuilder::prepare(size_t first, const Callee &callee) {
  begin("ingot_run_prepare", b.getInt1Ty());
  auto last = [&](size_t count) {
    return std::min(first + kMaxPrepared, count);
  };
  for (size_t i = first; i < last(callee.inputs.size()); ++i)
    checkNamedDims(callee, i);
  for (size_t i = first; i < last(callee.outputs.size()); ++i)
    if (callee.outputs[i].isStatic())
      storeDims(callee.outputs[i], outputBuffer(i));
  for (size_t i = first; i < last(callee.outputs.size()) && !infers; ++i)
    checkRoom(callee, i);
  b.CreateRet(b.getTrue());
  return function;
}

/// Marks pointer arguments as noalias, because the buffers of a run do not
/// overlap. Without noalias every loop checks for overlap at run time. A memref
/// has two pointers, but only the aligned one is used.
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

/// Declares a constant that the artifact module defines.
GlobalVariable *RunBuilder::external(StringRef symbol) {
  auto *global =
      cast<GlobalVariable>(module.getOrInsertGlobal(symbol, b.getInt8Ty()));
  global->setConstant(true);
  global->setVisibility(GlobalValue::HiddenVisibility);
  return global;
}

static uint64_t countElements(const Tensor &tensor) {
  uint64_t count = 1;
  for (int64_t dim : tensor.dims)
    count *= uint64_t(dim);
  return count;
}

/// Replaces the strings of the call by their indices. If the function infers
/// sizes, it only reports the memory that the indices need.
void RunBuilder::readStrings(const Callee &callee) {
  if (!manifest.hasStrings())
    return;
  Type *ptr = b.getPtrTy(), *i64 = b.getInt64Ty();
  b.CreateCall(
      module.getOrInsertFunction(infers ? "ingot_support_reserve_strings"
                                        : (forStrings + "read_strings").str(),
                                 b.getVoidTy(), ptr, ptr, ptr),
      {call, external(kDescriptionSymbol), external(kDictionarySymbol)});
  for (auto [i, tensor] : enumerate(callee.outputs)) {
    if (!tensor.isOfStrings() || !tensor.isStatic())
      continue;
    uint64_t count = countElements(tensor);
    if (infers)
      b.CreateCall(
          module.getOrInsertFunction("ingot_support_reserve", i64, ptr, i64),
          {call, b.getInt64(count * sizeof(int32_t))});
    else
      b.CreateCall(
          module.getOrInsertFunction((forStrings + "make_strings").str(),
                                     b.getVoidTy(), ptr, i64, i64),
          {call, b.getInt64(i), b.getInt64(count)});
  }
}

/// Passes the strings to the caller: the callee has written their indices to
/// the outputs.
void RunBuilder::storeStrings(const Callee &callee) {
  Type *ptr = b.getPtrTy(), *i64 = b.getInt64Ty();
  for (auto [i, tensor] : enumerate(callee.outputs)) {
    if (!tensor.isOfStrings() || !tensor.isStatic())
      continue;
    Value *buffer = outputBuffer(i);
    auto address = [&](uint64_t member) {
      return b.CreatePtrToInt(loadPointer(buffer, member), i64);
    };
    b.CreateCall(
        module.getOrInsertFunction((forStrings + "store_strings").str(),
                                   b.getVoidTy(), ptr, i64, i64, i64, i64, i64),
        {call, b.getInt64(i), b.getInt64(tensor.dims.size()),
         address(offsetof(ingot_abi_buffer, dims)),
         address(offsetof(ingot_abi_buffer, data)),
         b.getInt64(8 * sizeof(int32_t))});
  }
}

/// Builds `void body(call)`, which calls `callee`.
Function *RunBuilder::buildCall(const Callee &callee) {
  named.clear();
  SmallVector<Function *> prepared;
  size_t most = std::max(callee.inputs.size(), callee.outputs.size());
  for (size_t first = 0; first < most; first += kMaxPrepared)
    prepared.push_back(prepare(first, callee));

  begin("ingot_run_body", b.getVoidTy());
  for (Function *piece : prepared) {
    if (prepared.size() > 1)
      piece->addFnAttr(Attribute::NoInline);
    returnUnless(b.CreateCall(piece, {call}));
  }
  arguments.clear();
  readStrings(callee);
  if (infers) {
    if (callee.function)
      b.CreateCall(callee.function, {call});
    b.CreateRetVoid();
    return function;
  }
  if (!callee.function->hasFnAttribute("ingot-loads-buffers")) {
    for (auto [i, tensor] : enumerate(callee.inputs))
      addTensor(tensor, inputBuffer(i));
    for (auto [i, tensor] : enumerate(callee.outputs))
      if (tensor.isStatic())
        addTensor(tensor, outputBuffer(i));
  }
  addMemref(loadPointer(call, offsetof(ingot_abi_call, weights)),
            {b.getInt64(manifest.weightsBytes)});
  addMemref(loadPointer(call, offsetof(ingot_abi_call, arena)),
            {b.getInt64(manifest.arenaBytes)});
  arguments.push_back(call);
  b.CreateCall(callee.function, arguments);
  storeStrings(callee);
  b.CreateRetVoid();
  return function;
}

/// Builds a body that calls one of `bodies`. If the call has the usual sizes of
/// a profile, that is the profile's body. Otherwise it is the general body.
void RunBuilder::callBodies(ArrayRef<Function *> bodies) {
  begin("ingot_run_choose", b.getVoidTy());
  GlobalVariable *description = external(kDescriptionSymbol);
  FunctionCallee choose = module.getOrInsertFunction(
      "ingot_support_choose_body", b.getInt32Ty(), b.getPtrTy(), b.getPtrTy());
  Value *chosen = b.CreateCall(choose, {call, description});
  BasicBlock *none = BasicBlock::Create(b.getContext(), "", function);
  SwitchInst *branches = b.CreateSwitch(chosen, none);
  b.SetInsertPoint(none);
  b.CreateRetVoid();
  for (auto [i, body] : enumerate(bodies)) {
    BasicBlock *block = BasicBlock::Create(b.getContext(), "", function);
    // A profile without usual sizes uses the general body.
    branches->addCase(b.getInt32(i), block);
    b.SetInsertPoint(block);
    b.CreateCall(body ? body : bodies.front(), {call});
    b.CreateRetVoid();
  }
}

/// Builds `int32_t name(call)`, which gives the call and a body that calls
/// `callees` to the function `runner` of the runtime.
void RunBuilder::build(StringRef name, StringRef runner,
                       ArrayRef<Callee> callees) {
  SmallVector<Function *> bodies(1 + manifest.shapeProfiles.size());
  bodies[0] = buildCall(callees[0]);
  for (auto [i, body] : enumerate(manifest.bodies))
    bodies[1 + body.profile] = buildCall(callees[1 + i]);
  if (!manifest.shapeProfiles.empty())
    callBodies(bodies);
  Function *body = function;

  // Signature: int32_t name(call)
  Function *run = Function::Create(
      FunctionType::get(b.getInt32Ty(), {b.getPtrTy()}, false),
      GlobalValue::ExternalLinkage, name, module);
  run->setVisibility(GlobalValue::HiddenVisibility);
  b.SetInsertPoint(BasicBlock::Create(b.getContext(), "", run));
  FunctionCallee guard = module.getOrInsertFunction(
      runner, b.getInt32Ty(), b.getPtrTy(), b.getPtrTy());
  b.CreateRet(b.CreateCall(guard, {run->getArg(0), body}));
}

static SmallVector<Callee> calleesOf(Module &module, const Manifest &manifest,
                                     bool infers) {
  auto find = [&](StringRef name) {
    return name.empty() ? nullptr : module.getFunction(name);
  };
  SmallVector<Callee> callees{
      {find(infers ? StringRef(manifest.inference) : StringRef(kForward)),
       manifest.inputs, manifest.outputs}};
  for (const Body &body : manifest.bodies)
    callees.push_back({find(infers ? body.inference : body.function),
                       body.inputs, body.outputs});
  return callees;
}

void ingot::addRunFunction(Module &module, const Manifest &manifest,
                           const Target &target) {
  // Makes the functions visible to the artifact's description in another
  // module.
  for (StringRef name : {StringRef(kLoadSymbol), StringRef(kUnloadSymbol)})
    if (Function *function = module.getFunction(name)) {
      function->setVisibility(GlobalValue::HiddenVisibility);
      function->setName(levelSymbol(name, target));
    }
  SmallVector<Callee> bodies = calleesOf(module, manifest, /*infers=*/false);
  for (const Callee &callee : bodies) {
    callee.function->setLinkage(GlobalValue::InternalLinkage);
    callee.function->addFnAttr(Attribute::NoInline);
    markNoAlias(*callee.function);
  }
  for (Function &function : module)
    if (function.hasFnAttribute("ingot-distinct-buffers"))
      markNoAlias(function);
  RunBuilder(module, manifest, /*infers=*/false)
      .withStrings(target.device->emission.stringFunctions)
      .build(levelSymbol("ingot_run", target), target.device->emission.runner,
             bodies);
  if (!manifest.hasOpenSizes())
    return;
  SmallVector<Callee> inferences = calleesOf(module, manifest, /*infers=*/true);
  for (const Callee &callee : inferences)
    if (callee.function) {
      callee.function->setLinkage(GlobalValue::InternalLinkage);
      // Inference is rare, so size matters more than speed.
      callee.function->addFnAttr(Attribute::NoInline);
      callee.function->addFnAttr(Attribute::OptimizeForSize);
    }
  RunBuilder(module, manifest, /*infers=*/true)
      .build(levelSymbol("ingot_infer", target), kCpu.emission.runner,
             inferences);
}
