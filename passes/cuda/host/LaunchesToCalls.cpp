//===- LaunchesToCalls.cpp - cuda-launches-to-calls -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NodeName.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/host/HostMemory.h"
#include "passes/cuda/kernels/OpenWords.h"
#include "passes/support/LibraryCalls.h"
#include "passes/support/StoreOutputCall.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace ingot {
#define GEN_PASS_DEF_LAUNCHESTOCALLS
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

// The functions of ingot/abi/cuda.h.
static constexpr StringLiteral kLaunch = "ingot_cuda_launch";
static constexpr StringLiteral kCopy = "ingot_cuda_copy";
static constexpr StringLiteral kShadow = "ingot_cuda_shadow";
static constexpr StringLiteral kToHost = "ingot_cuda_to_host";
static constexpr StringLiteral kToDevice = "ingot_cuda_to_device";
static constexpr StringLiteral kStatus = "ingot_cuda_status";
static constexpr StringLiteral kWait = "ingot_cuda_wait";
static constexpr StringLiteral kAllocate = "ingot_cuda_allocate";
static constexpr StringLiteral kRoom = "ingot_cuda_room";
static constexpr StringLiteral kRelease = "ingot_cuda_release";
static constexpr StringLiteral kStoreOutput = "ingot_cuda_store_output";
static constexpr StringLiteral kStoreStrings = "ingot_cuda_store_strings";

namespace {

/// Turns the ops of one function into calls.
class Caller {
public:
  Caller(func::FuncOp function, Value call,
         const DenseMap<StringAttr, int64_t> &numbers,
         llvm::StringMap<std::string> &nodes)
      : function(function), call(call), numbers(numbers), nodes(nodes),
        b(function.getContext()) {}

  void convert();

private:
  void callWith(StringRef callee, ArrayRef<Value> arguments);
  void convert(cuda::LaunchOp launch);
  void convert(ShadowOp shadow);
  template <typename Op>
  void allocate(Op op, StringRef callee, ArrayRef<Value> arguments);
  Value makeMemRef(MemRefType type, Value address, Value offset,
                   ValueRange sizes, ValueRange strides);
  void convert(StatusOp status);
  void copy(StringRef callee, Value from, Value to);
  Value getFrame();
  Value nodeName(Operation *op);

  func::FuncOp function;
  Value call;
  const DenseMap<StringAttr, int64_t> &numbers;
  /// The symbols of names of nodes.
  llvm::StringMap<std::string> &nodes;
  OpBuilder b;
  Location loc = function.getLoc();
  /// Stack memory for the parameters of kernels. All launches share it, since
  /// an alloca in a loop would grow the stack.
  memref::AllocaOp frame;
};

struct LaunchesToCallsPass
    : ingot::impl::LaunchesToCallsBase<LaunchesToCallsPass> {
  void runOnOperation() override;
  void declare(StringRef name, unsigned numIndices, bool hasResult = false);
};

/// Returns true if a call of the runtime replaces `op`.
bool isCalled(Operation *op) {
  if (isa<CudaDialect>(op->getDialect()) || isa<memref::AllocOp, RoomOp>(op))
    return true;
  if (auto dense = dyn_cast<memref::CopyOp>(op))
    return !isOfHost(dense.getSource());
  auto dealloc = dyn_cast<memref::DeallocOp>(op);
  return dealloc && !isOfHost(dealloc.getMemref());
}

} // namespace

/// Returns the run's call, the last argument of each function with launches.
static Value callOf(func::FuncOp function) {
  if (function.isDeclaration() || function.getNumArguments() == 0 ||
      !isa<LLVM::LLVMPointerType>(function.getArgumentTypes().back()))
    return {};
  return function.getArguments().back();
}

/// Returns the bytes from the first to the last element of a memref.
static Value spanOf(OpBuilder &b, Location loc, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  Type element = type.getElementType();
  const int64_t bytesOfOne = llvm::divideCeil(
      element.isIndex() ? 64 : element.getIntOrFloatBitWidth(), 8);
  int64_t offset;
  SmallVector<int64_t> steps;
  if (type.hasStaticShape() &&
      succeeded(type.getStridesAndOffset(steps, offset)) &&
      !llvm::is_contained(steps, ShapedType::kDynamic)) {
    int64_t elements = type.getNumElements() == 0 ? 0 : 1;
    for (auto [size, step] : llvm::zip_equal(type.getShape(), steps))
      elements += elements ? (size - 1) * step : 0;
    return arith::ConstantIndexOp::create(b, loc, elements * bytesOfOne);
  }
  Value elementBytes = arith::ConstantIndexOp::create(b, loc, bytesOfOne);
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value elements = one;
  Value isEmpty = arith::ConstantIntOp::create(b, loc, b.getI1Type(), 0);
  for (auto [size, stride] :
       llvm::zip_equal(metadata.getSizes(), metadata.getStrides())) {
    Value last = arith::SubIOp::create(b, loc, size, one);
    elements = arith::AddIOp::create(
        b, loc, elements, arith::MulIOp::create(b, loc, last, stride));
    Value isZero =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, size, zero);
    isEmpty = arith::OrIOp::create(b, loc, isEmpty, isZero);
  }
  elements = arith::SelectOp::create(b, loc, isEmpty, zero, elements);
  return arith::MulIOp::create(b, loc, elements, elementBytes);
}

void Caller::callWith(StringRef callee, ArrayRef<Value> arguments) {
  SmallVector<Value> all{call};
  llvm::append_range(all, arguments);
  func::CallOp::create(b, loc, callee, TypeRange(), all);
}

/// Returns the number of parameters that a launch passes.
static size_t numWords(cuda::LaunchOp launch) {
  size_t count = launch.getArgs().size();
  for (Type type : launch.getArgs().getTypes())
    count += OpenWords(cast<MemRefType>(type)).count();
  return count;
}

Value Caller::getFrame() {
  if (frame)
    return frame;
  size_t most = 1;
  function.walk(
      [&](cuda::LaunchOp launch) { most = std::max(most, numWords(launch)); });
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  frame = memref::AllocaOp::create(
      b, function.getLoc(), MemRefType::get({int64_t(most)}, b.getI64Type()));
  return frame;
}

void Caller::convert(cuda::LaunchOp launch) {
  SmallVector<Value> words =
      llvm::map_to_vector(launch.getArgs(), [&](Value memref) {
        return support::addressOf(b, loc, memref);
      });
  for (Value memref : launch.getArgs()) {
    OpenWords open(cast<MemRefType>(memref.getType()));
    for (unsigned i : open.sizes)
      words.push_back(memref::DimOp::create(b, loc, memref, i));
    if (open.strides.empty())
      continue;
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
    for (unsigned i : open.strides)
      words.push_back(metadata.getStrides()[i]);
  }
  support::storeAll(b, loc, words, getFrame());
  Value number = arith::ConstantIndexOp::create(
      b, loc, numbers.at(launch.getKernel().getLeafReference()));
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(b, loc, getFrame());
  callWith(kLaunch, {number, launch.getBlocks(), address});
}

/// Calls a function that copies all bytes of a memref.
void Caller::copy(StringRef callee, Value from, Value to) {
  Value bytes = spanOf(b, loc, from);
  Value target = support::addressOf(b, loc, to);
  Value source = support::addressOf(b, loc, from);
  callWith(callee, {target, source, bytes});
}

/// Makes a memref of an address.
Value Caller::makeMemRef(MemRefType type, Value address, Value offset,
                         ValueRange sizes, ValueRange strides) {
  auto toWord = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  };
  Value pointer = LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext()), toWord(address));
  LLVMTypeConverter converter(b.getContext());
  auto descriptor =
      MemRefDescriptor::poison(b, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(b, loc, pointer);
  descriptor.setAlignedPtr(b, loc, pointer);
  descriptor.setOffset(b, loc, toWord(offset));
  for (unsigned i = 0; i < unsigned(type.getRank()); ++i) {
    descriptor.setSize(b, loc, i, toWord(sizes[i]));
    descriptor.setStride(b, loc, i, toWord(strides[i]));
  }
  return UnrealizedConversionCastOp::create(b, loc, TypeRange(type),
                                            ValueRange(descriptor))
      .getResult(0);
}

/// Allocates memory of the GPU by a call of `callee` with `arguments`, the
/// number of bytes and the name of the node.
template <typename Op>
void Caller::allocate(Op op, StringRef callee, ArrayRef<Value> arguments) {
  auto type = cast<MemRefType>(op->getResult(0).getType());
  SmallVector<Value> sizes, strides(size_t(type.getRank())), words;
  auto dynamic = op.getDynamicSizes().begin();
  for (int64_t size : type.getShape()) {
    sizes.push_back(ShapedType::isDynamic(size)
                        ? Value(*dynamic++)
                        : arith::ConstantIndexOp::create(b, loc, size));
    words.push_back(
        arith::IndexCastOp::create(b, loc, b.getI64Type(), sizes.back()));
  }
  Value step = arith::ConstantIndexOp::create(b, loc, 1);
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    step = arith::MulIOp::create(b, loc, step, sizes[i]);
  }
  SmallVector<Value> all{call};
  llvm::append_range(all, arguments);
  all.push_back(arith::IndexCastOp::create(
      b, loc, b.getIndexType(),
      support::checkedBytes(b, loc, type.getElementType(), words)));
  all.push_back(nodeName(op));
  Value address =
      func::CallOp::create(b, loc, callee, b.getIndexType(), all).getResult(0);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  op->getResult(0).replaceAllUsesWith(
      makeMemRef(type, address, zero, sizes, strides));
}

/// Returns the address of the name of the op's ONNX node. Returns 0 if the op
/// has no name, or if the function computes several equal nodes.
Value Caller::nodeName(Operation *op) {
  std::string name = nodeNameOf(op->getLoc());
  if (name.empty() || !findRunOperand(function, RunOperand::call))
    return arith::ConstantIndexOp::create(b, loc, 0);
  name.push_back('\0');
  auto [symbol, isNew] = nodes.try_emplace(
      name, "ingot_cuda_buffer_" + std::to_string(nodes.size()));
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value address =
      isNew ? LLVM::createGlobalString(loc, b, symbol->second, name,
                                       LLVM::Linkage::Internal)
            : LLVM::AddressOfOp::create(b, loc, pointer, symbol->second)
                  .getResult();
  return arith::IndexCastOp::create(
      b, loc, b.getIndexType(),
      LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), address));
}

/// Makes a memref of the address of the run's status.
void Caller::convert(StatusOp status) {
  auto type = cast<MemRefType>(status.getStatus().getType());
  Value address =
      func::CallOp::create(b, loc, kStatus, b.getIndexType(), ValueRange{call})
          .getResult(0);
  Value word = arith::IndexCastOp::create(b, loc, b.getI64Type(), address);
  Value pointer = LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext()), word);
  LLVMTypeConverter converter(b.getContext());
  Value descriptor =
      MemRefDescriptor::fromStaticShape(b, loc, converter, type, pointer);
  auto cast =
      UnrealizedConversionCastOp::create(b, loc, TypeRange(type), descriptor);
  status.getStatus().replaceAllUsesWith(cast.getResult(0));
}

/// Makes a memref of the host's address for a buffer of the GPU.
void Caller::convert(ShadowOp shadow) {
  auto type = cast<MemRefType>(shadow.getHost().getType());
  Value device = memref::ExtractAlignedPointerAsIndexOp::create(
      b, loc, shadow.getDevice());
  Value host = func::CallOp::create(b, loc, kShadow, b.getIndexType(),
                                    ValueRange{call, device})
                   .getResult(0);
  auto metadata =
      memref::ExtractStridedMetadataOp::create(b, loc, shadow.getDevice());
  shadow.getHost().replaceAllUsesWith(
      makeMemRef(type, host, metadata.getOffset(), metadata.getSizes(),
                 metadata.getStrides()));
}

void Caller::convert() {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    // The call of a run stores outputs from where they are.
    if (StoreOutputCall store = StoreOutputCall::find(op))
      store.getOp().setCallee(store.isOfStrings() ? kStoreStrings
                                                  : kStoreOutput);
    if (isCalled(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    b.setInsertionPoint(op);
    loc = op->getLoc();
    if (auto launch = dyn_cast<cuda::LaunchOp>(op))
      convert(launch);
    else if (auto dense = dyn_cast<memref::CopyOp>(op))
      copy(kCopy, dense.getSource(), dense.getTarget());
    else if (auto shadow = dyn_cast<ShadowOp>(op))
      convert(shadow);
    else if (auto alloc = dyn_cast<memref::AllocOp>(op))
      allocate(alloc, kAllocate, {});
    else if (auto room = dyn_cast<RoomOp>(op))
      allocate(room, kRoom,
               arith::ConstantIndexOp::create(b, loc, int64_t(room.getNumber()))
                   .getResult());
    else if (auto dealloc = dyn_cast<memref::DeallocOp>(op))
      callWith(kRelease, memref::ExtractAlignedPointerAsIndexOp::create(
                             b, loc, dealloc.getMemref())
                             .getResult());
    else if (auto status = dyn_cast<StatusOp>(op))
      convert(status);
    else if (auto toHost = dyn_cast<ToHostOp>(op))
      copy(kToHost, toHost.getDevice(), toHost.getHost());
    else if (auto toDevice = dyn_cast<ToDeviceOp>(op))
      copy(kToDevice, toDevice.getHost(), toDevice.getDevice());
    else
      callWith(kWait, {});
    op->erase();
  }
}

/// Declares a function of the runtime, which takes the call and indices.
void LaunchesToCallsPass::declare(StringRef name, unsigned numIndices,
                                  bool hasResult) {
  ModuleOp module = getOperation();
  if (module.lookupSymbol(name))
    return;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  SmallVector<Type> types{LLVM::LLVMPointerType::get(&getContext())}, results;
  types.append(numIndices, b.getIndexType());
  if (hasResult)
    results.push_back(b.getIndexType());
  func::FuncOp::create(b, module.getLoc(), name,
                       b.getFunctionType(types, results))
      .setPrivate();
}

void LaunchesToCallsPass::runOnOperation() {
  ModuleOp module = getOperation();
  DenseMap<StringAttr, int64_t> numbers;
  if (auto kernels = module.lookupSymbol<ModuleOp>(kKernels))
    for (auto kernel : kernels.getOps<SymbolOpInterface>())
      if (CudaDialect::BlockAttrHelper(&getContext()).isAttrPresent(kernel))
        numbers.try_emplace(kernel.getNameAttr(), int64_t(numbers.size()));
  declare(kLaunch, 3);
  declare(kCopy, 3);
  declare(kToHost, 3);
  declare(kToDevice, 3);
  declare(kShadow, 1, /*hasResult=*/true);
  declare(kStatus, 0, /*hasResult=*/true);
  declare(kWait, 0);
  declare(kAllocate, 2, /*hasResult=*/true);
  declare(kRoom, 3, /*hasResult=*/true);
  declare(kRelease, 1);
  declare(kStoreOutput, 5);
  declare(kStoreStrings, 5);
  llvm::StringMap<std::string> nodes;
  for (auto function : module.getOps<func::FuncOp>())
    if (Value call = callOf(function))
      Caller(function, call, numbers, nodes).convert();
}
