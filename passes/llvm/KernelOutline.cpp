//===- KernelOutline.cpp - what a kernel does, in words -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/KernelOutline.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;
using namespace ingot::cpu;

/// Returns true if an op computes the address or a size of an argument.
static bool isViewOfArgument(Operation &op) {
  if (!isa<memref::DimOp, memref::ExtractStridedMetadataOp,
           memref::ReinterpretCastOp>(op))
    return false;
  auto argument = dyn_cast<BlockArgument>(op.getOperand(0));
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()) &&
         llvm::all_of(llvm::drop_begin(op.getOperands()), [](Value value) {
           return matchPattern(value, m_Constant());
         });
}

/// Returns true if a function uses an argument only through views of it.
static bool isOnlyViewed(BlockArgument argument) {
  return isa<MemRefType>(argument.getType()) &&
         llvm::all_of(argument.getUsers(),
                      [](Operation *user) { return isViewOfArgument(*user); });
}

/// Returns the type of memory in the common function. Drops the size if the
/// function uses only elements.
static Type typeInCommon(Value memory) {
  auto type = dyn_cast<MemRefType>(memory.getType());
  if (!type || type.getRank() != 1 || !type.getLayout().isIdentity())
    return memory.getType();
  auto flat =
      MemRefType::get({ShapedType::kDynamic}, type.getElementType(),
                      MemRefLayoutAttrInterface(), type.getMemorySpace());
  bool isSizeless = llvm::all_of(memory.getUsers(), [&](Operation *user) {
    if (auto cast = dyn_cast<memref::CastOp>(user))
      return cast.getType() == flat;
    return isa<memref::LoadOp, memref::PrefetchOp, memref::StoreOp,
               vector::LoadOp, vector::MaskedLoadOp, vector::MaskedStoreOp,
               vector::StoreOp>(user);
  });
  return isSizeless ? flat : type;
}

/// Returns true if an op allocates scratch memory that a caller can allocate
/// instead.
static bool isScratch(Operation &op) {
  return isa<memref::AllocaOp>(op) && op.getNumOperands() == 0 &&
         isa<func::FuncOp>(op.getParentOp()) &&
         typeInCommon(op.getResult(0)) != op.getResult(0).getType();
}

/// Returns true if a constant may become an argument at this use. A constant by
/// which LLVM selects code, e.g. a divisor, may only become an argument if the
/// use runs once per task.
static bool canBeTold(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<arith::DivUIOp, arith::DivSIOp, arith::RemUIOp, arith::RemSIOp,
          arith::CeilDivUIOp, arith::CeilDivSIOp>(user))
    return isa<func::FuncOp>(user->getParentOp());
  return isa<arith::AddIOp, arith::CmpIOp, arith::MaxSIOp, arith::MaxUIOp,
             arith::MinSIOp, arith::MinUIOp, arith::MulIOp, arith::SelectOp,
             arith::SubIOp, memref::LoadOp, memref::PrefetchOp, memref::StoreOp,
             scf::ForOp, vector::LoadOp, vector::MaskedLoadOp,
             vector::MaskedStoreOp, vector::StoreOp, func::CallOp>(user);
}

static bool canBeTold(Operation &op) {
  // The limit of constants. Multiples and sums of arguments below this limit
  // cannot overflow.
  constexpr int64_t kFarFromOverflow = int64_t(1) << 40;
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (!constant || !constant.getType().isIndex())
    return false;
  int64_t number = cast<IntegerAttr>(constant.getValue()).getInt();
  return -kFarFromOverflow < number && number < kFarFromOverflow &&
         llvm::all_of(constant->getUses(),
                      [](OpOperand &use) { return canBeTold(use); });
}

/// Returns true if arithmetic is as fast with an unknown operand as with a
/// constant. For a minimum or maximum, this is the case if `isNumber`: the
/// constant is neither zero nor NaN.
static bool isArithmetic(OpOperand &use, bool isNumber) {
  Operation *user = use.getOwner();
  if (isa<arith::MaximumFOp, arith::MinimumFOp>(user))
    return isNumber;
  // Zero points of bytes are operands of selects, shuffles and intrinsics. They
  // are stored as padding, and loops start with them.
  if (isa<scf::ForOp, vector::StoreOp>(user))
    return true;
  if (isa<arith::SelectOp>(user))
    return use.getOperandNumber() != 0;
  if (isa<LLVM::CallIntrinsicOp, vector::BitCastOp, vector::ShuffleOp>(user))
    return isa<VectorType>(use.get().getType());
  // Divisors by which LLVM would multiply are factors already.
  return isa<arith::AddFOp, arith::AddIOp, arith::DivFOp, arith::MulFOp,
             arith::SubFOp, arith::SubIOp, math::FmaOp>(user);
}

/// Returns true if an op is a scalar constant of at most 32 bits, or a splat of
/// one, that can become an argument.
static bool isScalar(Operation &op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  Type element = constant ? getElementTypeOrSelf(constant.getType()) : Type();
  if (!element || !(element.isF32() || element.isInteger(8) ||
                    element.isInteger(16) || element.isInteger(32)))
    return false;
  auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
  if (!splat && isa<ShapedType>(constant.getType()))
    return false;
  if (splat && !isa<VectorType>(constant.getType()))
    return false;
  auto number = dyn_cast<FloatAttr>(scalarOf(constant));
  const bool isNumber =
      number && !number.getValue().isZero() && !number.getValue().isNaN();
  return llvm::all_of(constant->getUses(), [&](OpOperand &use) {
    return isArithmetic(use, isNumber);
  });
}

TypedAttr codegen::scalarOf(arith::ConstantOp constant) {
  if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
    return splat.getSplatValue<TypedAttr>();
  return constant.getValue();
}

static uintptr_t wordOf(const void *pointer) { return uintptr_t(pointer); }

Outline::Outline(func::FuncOp function) : function(function) {
  for (NamedAttribute attribute : function->getDiscardableAttrs())
    words.append({wordOf(attribute.getName().getAsOpaquePointer()),
                  wordOf(attribute.getValue().getAsOpaquePointer())});
  for (BlockArgument argument : function.getArguments()) {
    order.try_emplace(argument, order.size());
    if (isOnlyViewed(argument)) {
      words.push_back(0);
      continue;
    }
    given.push_back({{argument}, typeInCommon(argument)});
    noteType(given.back().type);
  }
  for (Operation &op : function.getBody().front())
    note(op);
}

/// Records a view. Equal views count once, because kernels query sizes wherever
/// they need them.
void Outline::noteView(Operation &op) {
  SmallVector<uintptr_t> key{
      wordOf(op.getName().getAsOpaquePointer()),
      wordOf(op.getAttrDictionary().getAsOpaquePointer()),
      order.lookup(op.getOperand(0))};
  for (Value value : llvm::drop_begin(op.getOperands())) {
    Attribute constant;
    matchPattern(value, m_Constant(&constant));
    key.push_back(wordOf(constant.getAsOpaquePointer()));
  }
  for (Type type : op.getResultTypes())
    key.push_back(wordOf(type.getAsOpaquePointer()));
  auto [at, isNew] = firstOfView.try_emplace(key, given.size());
  words.append(key);
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (isNew)
      given.push_back({{}, result.getType()});
    given[at->second + i].values.push_back(result);
  }
}

void Outline::note(Operation &op) {
  enum : uintptr_t { told, view, scratch, scalar, other };
  for (Value result : op.getResults())
    order.try_emplace(result, order.size());
  if (canBeTold(op)) {
    words.push_back(told);
    numbers.push_back(cast<arith::ConstantOp>(op));
    return;
  }
  ++numOps;
  if (isScalar(op)) {
    words.push_back(scalar);
    scalars.push_back(cast<arith::ConstantOp>(op));
    return noteType(op.getResult(0).getType());
  }
  if (isViewOfArgument(op)) {
    words.push_back(view);
    return noteView(op);
  }
  if (isScratch(op)) {
    given.push_back({{op.getResult(0)}, typeInCommon(op.getResult(0))});
    words.append(
        {scratch, wordOf(op.getAttrDictionary().getAsOpaquePointer())});
    return noteType(given.back().type);
  }
  words.append({other, wordOf(op.getName().getAsOpaquePointer()),
                wordOf(op.getAttrDictionary().getAsOpaquePointer()),
                op.getNumOperands(), op.getNumResults()});
  for (Value value : op.getOperands())
    words.push_back(order.lookup(value));
  for (Type type : op.getResultTypes())
    noteType(type);
  for (Region &region : op.getRegions()) {
    words.push_back(region.getBlocks().size());
    for (Block &block : region) {
      words.push_back(block.getNumArguments());
      for (BlockArgument argument : block.getArguments()) {
        order.try_emplace(argument, order.size());
        noteType(argument.getType());
      }
      words.push_back(block.getOperations().size());
      for (Operation &inner : block)
        note(inner);
    }
  }
}
