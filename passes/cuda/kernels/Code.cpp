//===- Code.cpp - code of a kernel with 32-bit numbers --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/kernels/Code.h"

#include "dialects/cuda/CudaDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

Value Code::number(int64_t value) {
  return arith::ConstantIntOp::create(b, loc, b.getI32Type(), value);
}

Value Code::zero() {
  return LLVM::ConstantOp::create(b, loc, b.getF32Type(), b.getF32FloatAttr(0));
}

template <typename Op>
Value Code::binary(Value x, Value y) {
  return b.createOrFold<Op>(loc, x, y);
}

Value Code::add(Value x, Value y) { return binary<arith::AddIOp>(x, y); }
Value Code::subtract(Value x, Value y) { return binary<arith::SubIOp>(x, y); }
Value Code::exclusiveOr(Value x, Value y) {
  return binary<arith::XOrIOp>(x, y);
}
Value Code::multiply(Value x, Number y) {
  return binary<arith::MulIOp>(x, valueOf(y));
}
Value Code::divide(Value x, Number y) {
  return binary<arith::DivUIOp>(x, valueOf(y));
}
Value Code::remainder(Value x, Number y) {
  return binary<arith::RemUIOp>(x, valueOf(y));
}

Value Code::isWithin(Value x, Number y) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, x,
                                       valueOf(y));
}

Number Code::product(ArrayRef<Number> factors) {
  int64_t known = 1, divisor = 1;
  Value open;
  for (Number factor : factors) {
    divisor *= factor.knownDivisor();
    if (factor.isOpen())
      open =
          open ? binary<arith::MulIOp>(open, factor.value()) : factor.value();
    else
      known *= factor.known();
  }
  return open ? Number::open(divisor, multiply(open, known)) : Number(known);
}

Number Code::parts(Number x, int64_t size) {
  if (!x.isOpen())
    return int64_t(llvm::divideCeil(x.known(), size));
  return Number::open(1, divide(add(x.value(), size - 1), size));
}

Value Code::equals(Value x, int64_t y) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, x,
                                       number(y));
}

Value Code::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return binary<arith::AndIOp>(x, y);
}

Value Code::select(Value condition, Value x, Value y) {
  return b.createOrFold<arith::SelectOp>(loc, condition, x, y);
}

template <typename Op>
Value Code::special() {
  return b.createOrFold<arith::IndexCastUIOp>(
      loc, b.getI32Type(), Op::create(b, loc, gpu::Dimension::x));
}

Value Code::thread() { return special<gpu::ThreadIdOp>(); }
Value Code::block() { return special<gpu::BlockIdOp>(); }

SmallVector<Value> Code::delinearize(Value number, ArrayRef<Number> sizes) {
  SmallVector<Value> indices(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    if (i == 0) {
      indices[i] = number;
      break;
    }
    indices[i] = remainder(number, sizes[i]);
    number = divide(number, sizes[i]);
  }
  return indices;
}

Value Code::offsetOf(Value number, ArrayRef<Number> sizes,
                     ArrayRef<Number> strides) {
  SmallVector<Number> joinedSizes, joinedStrides;
  for (auto [size, stride] : llvm::zip_equal(sizes, strides)) {
    if (size.is(1))
      continue;
    // The first size is not used, so it may be open.
    if (!joinedSizes.empty() && !size.isOpen() && !stride.isOpen() &&
        joinedStrides.back().is(size.known() * stride.known())) {
      joinedSizes.back() = product({joinedSizes.back(), size});
      joinedStrides.back() = stride;
      continue;
    }
    joinedSizes.push_back(size);
    joinedStrides.push_back(stride);
  }
  if (llvm::all_of(joinedStrides, [](Number stride) { return stride.is(0); }))
    return this->number(0);
  Value offset = this->number(0);
  SmallVector<Value> indices = delinearize(number, joinedSizes);
  for (auto [index, stride] : llvm::zip_equal(indices, joinedStrides))
    if (!stride.is(0))
      offset = add(offset, multiply(index, stride));
  return offset;
}

Type Code::pointer(unsigned space) {
  return LLVM::LLVMPointerType::get(b.getContext(), space);
}

Value Code::sharedMemory(ModuleOp kernels) {
  constexpr StringLiteral kName = "ingot_cuda_shared";
  if (!kernels.lookupSymbol(kName)) {
    OpBuilder top = OpBuilder::atBlockBegin(kernels.getBody());
    LLVM::GlobalOp::create(top, kernels.getLoc(),
                           LLVM::LLVMArrayType::get(top.getI8Type(), 0),
                           /*isConstant=*/false, LLVM::Linkage::External, kName,
                           Attribute(), /*alignment=*/16, kSharedSpace);
  }
  return LLVM::AddressOfOp::create(b, loc, pointer(kSharedSpace), kName);
}

Number Code::sizeOf(Value memref, int64_t dim) {
  const int64_t size = cast<MemRefType>(memref.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(size))
    return size;
  Value open = memref::DimOp::create(b, loc, memref, dim);
  return Number::open(
      1, arith::IndexCastUIOp::create(b, loc, b.getI32Type(), open));
}

SmallVector<Value> Code::toIndices(ArrayRef<Value> numbers) {
  return llvm::map_to_vector(numbers, [&](Value number) {
    return b.createOrFold<arith::IndexCastUIOp>(loc, b.getIndexType(), number);
  });
}

Value Code::loadAt(Value memref, ArrayRef<Value> at) {
  return memref::LoadOp::create(b, loc, memref, toIndices(at));
}

void Code::storeAt(Value value, Value memref, ArrayRef<Value> at) {
  memref::StoreOp::create(b, loc, value, memref, toIndices(at));
}

void Code::when(Value condition, function_ref<void()> body) {
  auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  body();
}

Value Code::addressOf(Value memref) {
  Value index = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memref);
  Value word = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  Value generic = LLVM::IntToPtrOp::create(b, loc, pointer(0), word);
  return LLVM::AddrSpaceCastOp::create(b, loc, pointer(kGlobalSpace), generic);
}

Value Code::shift(Value address, Type element, Value offset) {
  return LLVM::GEPOp::create(b, loc, address.getType(), element, address,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Value Code::load(Value address, Type type, int64_t alignment) {
  return LLVM::LoadOp::create(b, loc, type, address, unsigned(alignment));
}

void Code::store(Value value, Value address, int64_t alignment) {
  LLVM::StoreOp::create(b, loc, value, address, unsigned(alignment));
}

Value Code::extract(Value vector, int64_t at) {
  return LLVM::ExtractElementOp::create(b, loc, vector, number(at));
}

Value Code::exchange(Value value, int64_t distance) {
  return NVVM::ShflOp::create(
      b, loc, value.getType(),
      /*thread_mask=*/number(-1), value, number(distance),
      /*mask_and_clamp=*/number(kWarp - 1), NVVM::ShflKind::bfly,
      /*return_value_and_is_valid=*/UnitAttr());
}
