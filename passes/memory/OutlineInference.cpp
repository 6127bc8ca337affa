//===- OutlineInference.cpp - outline-inference ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Creates a function that computes output sizes and memory needs without
// running the model. Sizes are computed in program order from those of the
// inputs. So one walk suffices to copy the arithmetic on sizes and the calls
// that request memory from the host. Ops that read data are not copied; their
// results count as unknown.
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "passes/memory/BufferSizes.h"
#include "passes/memory/Passes.h"
#include "passes/memory/ReleaseBuffers.h"
#include "passes/memory/SizeChecks.h"
#include "passes/support/RunChecks.h"
#include "passes/support/StoreOutputCall.h"
#include "runtime/include/ingot/abi/artifact.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
#define GEN_PASS_DEF_OUTLINEINFERENCE
#include "passes/memory/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

/// Functions of runtime/support that replace requests to the host.
static constexpr StringLiteral kReserve = "ingot_support_reserve";
static constexpr StringLiteral kReserveUnknown =
    "ingot_support_reserve_unknown";
static constexpr StringLiteral kUnreserve = "ingot_support_unreserve";
static constexpr StringLiteral kSetDims = "ingot_support_set_dims";
/// More bytes than any host has.
static constexpr int64_t kTooMuch = int64_t(1) << 62;
/// Limit of bytes in any address space, as in runtime/support.
static constexpr int64_t kMaxBytes = int64_t(1) << 47;

namespace {

/// Copies the size arithmetic of `body` to `inference`. The only argument of
/// `inference` is the call.
class Inference {
public:
  Inference(func::FuncOp body, func::FuncOp inference,
            llvm::function_ref<func::FuncOp(StringRef, FunctionType)> declare)
      : body(body), call(inference.getArgument(0)),
        builder(OpBuilder::atBlockEnd(&inference.getBody().front())),
        declare(declare) {}

  void write();

private:
  void copy(Operation &op);
  void copyScalars(Operation &op);
  void require(RequireOp op);
  void copyChecks(Operation &branch);
  void reserve(memref::AllocOp op);
  void storeOutput(StoreOutputCall store);

  /// Returns the copy of a scalar, or null if it depends on data.
  Value known(Value scalar) { return scalars.lookupOrNull(scalar); }
  Value known(Location loc, OpFoldResult size);
  /// Returns the size of a memref's dimension, or null.
  Value sizeOf(Location loc, Value memref, int64_t dim);
  Value sizeOfInput(Location loc, BlockArgument input, int64_t dim);
  Value sizeOfReshape(Location loc, memref::ReshapeOp op, int64_t dim);
  void load(memref::LoadOp op);
  Value constant(Location loc, int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value callSupport(Location loc, StringRef name, ValueRange operands,
                    TypeRange results = {});

  func::FuncOp body;
  Value call;
  OpBuilder builder;
  llvm::function_ref<func::FuncOp(StringRef, FunctionType)> declare;
  IRMapping scalars;
  /// Addresses of buffers, as reported to the host.
  llvm::DenseMap<Value, Value> addresses;
  llvm::DenseMap<Value, Value> inputs;
  /// Sizes that are stored in lists, by index.
  llvm::DenseMap<Value, llvm::SmallDenseMap<int64_t, Value>> stored;
};

struct OutlineInferencePass
    : ingot::impl::OutlineInferenceBase<OutlineInferencePass> {
  void runOnOperation() override;

  void outline(func::FuncOp body, SymbolTable &symbols);
};

} // namespace

static bool isScalar(Type type) { return type.isIntOrIndexOrFloat(); }

/// Returns true if the op allocates a buffer of the host.
static bool isOfHost(Operation *op) {
  auto alloc = dyn_cast<memref::AllocOp>(op);
  return alloc && !isInArena(alloc);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Value Inference::callSupport(Location loc, StringRef name, ValueRange operands,
                             TypeRange results) {
  SmallVector<Value> all{call};
  llvm::append_range(all, operands);
  func::FuncOp callee =
      declare(name, builder.getFunctionType(TypeRange(ValueRange(all)),
                                            results));
  auto made = func::CallOp::create(builder, loc, callee, all);
  return results.empty() ? Value() : made.getResult(0);
}

Value Inference::known(Location loc, OpFoldResult size) {
  if (std::optional<int64_t> value = getConstantIntValue(size))
    return constant(loc, *value);
  return known(cast<Value>(size));
}

/// Returns the size of an input. The first arguments are the inputs, in order.
/// Other arguments have no open sizes.
Value Inference::sizeOfInput(Location loc, BlockArgument input, int64_t dim) {
  Value &buffer = inputs[input];
  if (!buffer)
    buffer = BufferOp::create(builder, loc, input.getType(), call,
                              /*isOutput=*/false, input.getArgNumber());
  return memref::DimOp::create(builder, loc, buffer, dim);
}

/// Returns true if `list` is a list of sizes: each element is written once, in
/// the function's block, and otherwise only read.
static bool isListOfSizes(Value list) {
  if (!isa_and_nonnull<memref::AllocaOp, memref::AllocOp, memref::ViewOp>(
          list.getDefiningOp()))
    return false;
  llvm::SmallDenseSet<int64_t> written;
  return llvm::all_of(list.getUsers(), [&](Operation *user) {
    auto store = dyn_cast<memref::StoreOp>(user);
    if (!store)
      return isa<memref::LoadOp, memref::ReshapeOp, memref::DeallocOp>(user);
    auto index = store.getIndices().size() == 1
                     ? getConstantIntValue(store.getIndices().front())
                     : std::nullopt;
    return index && store->getBlock() == list.getParentBlock() &&
           written.insert(*index).second;
  });
}

Value Inference::sizeOfReshape(Location loc, memref::ReshapeOp op,
                               int64_t dim) {
  if (!isListOfSizes(op.getShape()))
    return {};
  Value size = stored[op.getShape()].lookup(dim);
  return size ? getValueOrCreateCastToIndexLike(
                    builder, loc, builder.getIndexType(), size)
              : Value();
}

Value Inference::sizeOf(Location loc, Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return constant(loc, type.getDimSize(dim));
  if (auto argument = dyn_cast<BlockArgument>(memref))
    return argument.getOwner()->getParentOp() == body
               ? sizeOfInput(loc, argument, dim)
               : Value();
  Operation *op = memref.getDefiningOp();
  if (auto cast = dyn_cast<memref::CastOp>(op))
    return isa<MemRefType>(cast.getSource().getType())
               ? sizeOf(loc, cast.getSource(), dim)
               : Value();
  if (auto reshape = dyn_cast<memref::ReshapeOp>(op))
    return sizeOfReshape(loc, reshape, dim);
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
    ReassociationIndices parts = collapse.getReassociationIndices()[dim];
    Value product = constant(loc, 1);
    for (int64_t part : parts) {
      Value size = sizeOf(loc, collapse.getSrc(), part);
      if (!size)
        return {};
      product = arith::MulIOp::create(builder, loc, product, size);
    }
    return product;
  }
  SmallVector<OpFoldResult> sizes = sizesOfBuffer(memref);
  return sizes.empty() ? Value() : known(loc, sizes[dim]);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void Inference::copyScalars(Operation &op) {
  if (op.getNumRegions() != 0 || op.getNumResults() == 0 || !isPure(&op) ||
      !llvm::all_of(op.getResultTypes(), isScalar) ||
      !llvm::all_of(op.getOperands(), [&](Value operand) {
        return isScalar(operand.getType()) && known(operand);
      }))
    return;
  builder.clone(op, scalars);
}

void Inference::require(RequireOp op) {
  if (llvm::all_of(op->getOperands(),
                   [&](Value operand) { return known(operand); }))
    builder.clone(*op, scalars);
}

/// Copies a branch of checks if all its operands are known.
void Inference::copyChecks(Operation &branch) {
  llvm::SetVector<Value> needed;
  getUsedValuesDefinedAbove(branch.getRegions(), needed);
  needed.insert(branch.getOperand(0));
  if (llvm::all_of(needed, [&](Value value) { return known(value); }))
    builder.clone(branch, scalars);
}

/// Reserves a buffer. If the number of bytes overflows 64 bits and the buffer
/// is not empty, reserves more than any host has.
void Inference::reserve(memref::AllocOp op) {
  Location loc = op.getLoc();
  MemRefType type = op.getType();
  Type element = type.getElementType();
  int64_t fixed = llvm::divideCeil(
      element.isIndex() ? 64 : element.getIntOrFloatBitWidth(), 8);
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size))
      fixed = llvm::SaturatingMultiply<uint64_t>(fixed, size);
  Value bytes = constant(loc, fixed), none = constant(loc, 0);
  Value fits, isEmpty;
  auto either = [&](Value a, Value b) {
    return a ? arith::OrIOp::create(builder, loc, a, b).getResult() : b;
  };
  for (Value dynamic : op.getDynamicSizes()) {
    Value size = known(dynamic);
    if (!size) {
      callSupport(loc, kReserveUnknown, {});
      return;
    }
    auto product = arith::MulUIExtendedOp::create(builder, loc, bytes, size);
    bytes = product.getLow();
    Value fit = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      product.getHigh(), none);
    fits = fits ? arith::AndIOp::create(builder, loc, fits, fit).getResult()
                : fit;
    isEmpty = either(isEmpty,
                  arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        size, none));
  }
  // Accept a product of sizes if one size is 0. The product is then 0, even if
  // an intermediate product wraps around.
  if (fits)
    fits = either(fits, isEmpty);
  if (fits)
    bytes = arith::SelectOp::create(builder, loc, fits, bytes,
                                    constant(loc, kTooMuch));
  ingot::require(builder, loc,
                 arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       bytes, constant(loc, kMaxBytes)),
                 "a tensor is too large for any memory");
  addresses[op] = callSupport(loc, kReserve, bytes, builder.getIndexType());
}

/// Replaces a size that is loaded from a list by the size that was stored
/// there.
void Inference::load(memref::LoadOp op) {
  if (op.getIndices().size() != 1 || !isListOfSizes(op.getMemref()))
    return;
  std::optional<int64_t> index = getConstantIntValue(op.getIndices().front());
  if (Value size = index ? stored[op.getMemref()].lookup(*index) : Value())
    scalars.map(op.getResult(), size);
}

/// Copies the output's sizes, which are stored on the stack.
void Inference::storeOutput(StoreOutputCall store) {
  Location loc = store.getOp().getLoc();
  StoreOutputCall::Operands given = store.getOperands();
  auto address =
      given.sizes.getDefiningOp<memref::ExtractAlignedPointerAsIndexOp>();
  int64_t rank = *getConstantIntValue(given.rank);
  Type i64 = builder.getI64Type();
  Value dims = memref::AllocaOp::create(
      builder, loc, MemRefType::get({std::max<int64_t>(rank, 1)}, i64));
  for (int64_t i = 0; i < rank; ++i) {
    Value size = stored[address.getSource()].lookup(i);
    if (!size)
      size = arith::ConstantIntOp::create(builder, loc, INGOT_ABI_DYNAMIC, 64);
    memref::StoreOp::create(builder, loc, size, dims, constant(loc, i));
  }
  callSupport(
      loc, kSetDims,
      {known(given.number), known(given.rank),
       memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, dims)});
}

void Inference::copy(Operation &op) {
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> index = dim.getConstantIndex();
    if (!index || !isa<MemRefType>(dim.getSource().getType()))
      return;
    if (Value size = sizeOf(op.getLoc(), dim.getSource(), *index))
      scalars.map(dim.getResult(), size);
    return;
  }
  if (auto check = dyn_cast<RequireOp>(op))
    return require(check);
  if (auto chunk = dyn_cast<ChunkOp>(op)) {
    // Threads and observers decide the size of a chunk, so reserve the maximum:
    // a chunk with all images.
    if (Value images = known(chunk.getImages()))
      scalars.map(chunk.getResult(),
                  arith::MaxUIOp::create(builder, op.getLoc(), images,
                                         constant(op.getLoc(), 1))
                      .getResult());
    return;
  }
  if (holdsChecksOnly(&op))
    return copyChecks(op);
  if (isOfHost(&op))
    return reserve(cast<memref::AllocOp>(op));
  if (auto room = dyn_cast<RoomOp>(op)) {
    // Reserve nothing if the sizes are known. The host then provides the memory
    // of outputs, whose sizes this function reports.
    if (!llvm::all_of(room.getDynamicSizes(),
                      [&](Value size) { return known(size); }))
      callSupport(op.getLoc(), kReserveUnknown, {});
    return;
  }
  if (auto dealloc = dyn_cast<memref::DeallocOp>(op)) {
    if (Value address = addresses.lookup(dealloc.getMemref()))
      callSupport(op.getLoc(), kUnreserve, address);
    return;
  }
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    // Records only stores in the function's block, because stores in loops are
    // not known.
    bool isList = store.getMemref().getDefiningOp<memref::AllocaOp>() ||
                  isListOfSizes(store.getMemref());
    if (isList && store.getIndices().size() == 1)
      if (std::optional<int64_t> index =
              getConstantIntValue(store.getIndices().front()))
        stored[store.getMemref()][*index] = known(store.getValueToStore());
    return;
  }
  if (auto read = dyn_cast<memref::LoadOp>(op))
    return load(read);
  if (auto handedOver = StoreOutputCall::find(&op))
    return storeOutput(handedOver);
  if (op.getNumRegions() == 0 && !isa<ListOp>(op))
    return copyScalars(op);
  // Reports unknown memory for lists, branches and loops, because it depends on
  // data.
  WalkResult asks = op.walk([](Operation *inner) {
    return isOfHost(inner) || isa<ListOp>(inner) ? WalkResult::interrupt()
                                                 : WalkResult::advance();
  });
  if (asks.wasInterrupted())
    callSupport(op.getLoc(), kReserveUnknown, {});
}

void Inference::write() {
  for (Operation &op : body.getBody().front().without_terminator())
    copy(op);
  func::ReturnOp::create(builder, body.getLoc());
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

void OutlineInferencePass::outline(func::FuncOp body, SymbolTable &symbols) {
  WalkResult asks = body.walk([](Operation *op) {
    return isOfHost(op) || StoreOutputCall::find(op) ||
                   isa<ListOp, RequireOp>(op)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (!asks.wasInterrupted())
    return;
  OpBuilder builder(&getContext());
  auto pointer = LLVM::LLVMPointerType::get(&getContext());
  auto inference =
      func::FuncOp::create(builder, body.getLoc(),
                           body.getName().str() + "_infer",
                           builder.getFunctionType(pointer, {}));
  IngotDialect::InfersAttrHelper(&getContext())
      .setAttr(inference, FlatSymbolRefAttr::get(body));
  setRunOperand(inference.addEntryBlock()->getArgument(0), RunOperand::call);
  symbols.insert(inference, std::next(body->getIterator()));
  auto declare = [&](StringRef name, FunctionType type) {
    if (auto declared = symbols.lookup<func::FuncOp>(name))
      return declared;
    auto function =
        func::FuncOp::create(builder, getOperation().getLoc(), name, type);
    function.setPrivate();
    symbols.insert(function, getOperation().getBody()->begin());
    return function;
  };
  Inference(body, inference, declare).write();
}

void OutlineInferencePass::runOnOperation() {
  SymbolTable symbols(getOperation());
  for (auto function :
       llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
    if (findRunOperand(function, RunOperand::arena) &&
        function.getBody().hasOneBlock())
      outline(function, symbols);
}
