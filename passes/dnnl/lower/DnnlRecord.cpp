//===- DnnlRecord.cpp - description of a dnnl op for the glue -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/dnnl/lower/DnnlRecord.h"

#include "dialects/dnnl/DnnlDialect.h"
#include "dialects/ingot/ElementTypes.h"
#include "dialects/ingot/IngotDialect.h"
#include "ingot/abi/dnnl.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace ingot;

// The values of the dialect's enums must be those of the ABI, because records
// contain the dialect's values.
static_assert(int(dnnl::EltwiseKind::relu) == INGOT_DNNL_RELU &&
              int(dnnl::EltwiseKind::linear) == INGOT_DNNL_LINEAR &&
              int(dnnl::EltwiseKind::exp) == INGOT_DNNL_EXP &&
              int(dnnl::EltwiseKind::hard_swish) == INGOT_DNNL_HARD_SWISH);
static_assert(int(dnnl::BinaryKind::add) == INGOT_DNNL_ADD &&
              int(dnnl::BinaryKind::min) == INGOT_DNNL_MIN);
static_assert(int(dnnl::PoolKind::max) == INGOT_DNNL_POOL_MAX &&
              int(dnnl::PoolKind::avg_padded) == INGOT_DNNL_POOL_AVG_PADDED);

namespace {

/// The layout of a memref for oneDNN: dims in oneDNN's order, each with its
/// stride.
struct Layout {
  SmallVector<OpFoldResult> dims, strides;

  int64_t rank() const { return dims.size(); }
  Layout select(ArrayRef<int64_t> order) const {
    Layout result;
    for (int64_t i : order) {
      result.dims.push_back(dims[i]);
      result.strides.push_back(strides[i]);
    }
    return result;
  }
};

/// A writer of one record of the table.
class Writer {
public:
  Writer(OpBuilder &builder, Operation *op) : builder(builder), op(op) {}

  LogicalResult write(int64_t name);
  DnnlRecord take() { return std::move(record); }

private:
  Location loc() { return op->getLoc(); }
  Layout layoutOf(Value value);
  void begin(int64_t kind, int64_t name, ArrayRef<ArrayRef<int64_t>> params);
  void addTensor(int64_t role, Value value, const Layout &layout);
  void addValues(ArrayRef<OpFoldResult> values);
  void addPostOps();

  template <typename Op> LogicalResult writeConvolution(Op conv, int64_t name);
  Layout weightsLayout(dnnl::ConvolutionOp conv);
  Layout weightsLayout(dnnl::DeconvolutionOp conv);
  LogicalResult writeMatMul(dnnl::MatMulOp matmul, int64_t name);
  LogicalResult writePooling(dnnl::PoolingOp pool, int64_t name);
  LogicalResult writeSoftmax(dnnl::SoftmaxOp softmax, int64_t name);
  LogicalResult writeLayerNorm(dnnl::LayerNormOp norm, int64_t name);

  OpBuilder &builder;
  Operation *op;
  DnnlRecord record;
  /// The position of the tensor count in the record.
  size_t tensorCount = 0;
  /// The index in the record of a post-op's first operand.
  int64_t firstOperand = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static MemRefType typeOf(Value value) {
  return cast<MemRefType>(value.getType());
}

static int64_t elementBytes(Type type) {
  return std::max<int64_t>(1, type.getIntOrFloatBitWidth() / 8);
}

/// Returns the ABI's number of an element type that oneDNN computes with, or 0.
static int64_t dtypeOf(Type type) {
  uint32_t number = elementNumberOf(type);
  switch (number) {
  case INGOT_ABI_FLOAT:
  case INGOT_ABI_FLOAT16:
  case INGOT_ABI_BFLOAT16:
  case INGOT_ABI_INT32:
  case INGOT_ABI_INT8:
  case INGOT_ABI_UINT8:
    return number;
  default:
    return 0;
  }
}

static int64_t wordOf(const APFloat &value) {
  return value.bitcastToAPInt().getZExtValue();
}

/// Returns the byte offset of a static memref in the model's weights. Returns
/// nullopt if the memref is not part of the weights.
static std::optional<int64_t> weightsOffset(Value value) {
  int64_t offset;
  SmallVector<int64_t> strides;
  MemRefType type = typeOf(value);
  if (!type.hasStaticShape() ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) || ShapedType::isDynamicShape(strides))
    return std::nullopt;
  offset *= elementBytes(type.getElementType());
  while (Operation *producer = value.getDefiningOp()) {
    if (auto view = dyn_cast<memref::ViewOp>(producer)) {
      auto base = dyn_cast<BlockArgument>(view.getSource());
      auto function =
          base ? dyn_cast<func::FuncOp>(base.getOwner()->getParentOp())
               : nullptr;
      APInt shift;
      if (!function || base != findRunOperand(function, RunOperand::weights) ||
          !matchPattern(view.getByteShift(), m_ConstantInt(&shift)))
        return std::nullopt;
      return offset + shift.getSExtValue();
    }
    auto view = dyn_cast<ViewLikeOpInterface>(producer);
    if (!view)
      return std::nullopt;
    value = view.getViewSource();
  }
  return std::nullopt;
}

Layout Writer::layoutOf(Value value) {
  MemRefType type = typeOf(value);
  int64_t offset;
  SmallVector<int64_t> strides;
  Layout layout;
  bool isStatic = type.hasStaticShape() &&
                  succeeded(type.getStridesAndOffset(strides, offset)) &&
                  !ShapedType::isDynamicShape(strides);
  if (isStatic) {
    for (auto [dim, stride] : llvm::zip_equal(type.getShape(), strides)) {
      layout.dims.push_back(builder.getIndexAttr(dim));
      layout.strides.push_back(builder.getIndexAttr(stride));
    }
    return layout;
  }
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc(), value);
  layout.dims = metadata.getConstifiedMixedSizes();
  layout.strides = metadata.getConstifiedMixedStrides();
  return layout;
}

//===----------------------------------------------------------------------===//
// Values of the record
//===----------------------------------------------------------------------===//

void Writer::begin(int64_t kind, int64_t name,
                   ArrayRef<ArrayRef<int64_t>> params) {
  size_t count = 0;
  for (ArrayRef<int64_t> part : params)
    count += part.size();
  record.words = {0, kind, name, int64_t(count)};
  for (ArrayRef<int64_t> part : params)
    llvm::append_range(record.words, part);
  tensorCount = record.words.size();
  record.words.push_back(0);
}

void Writer::addValues(ArrayRef<OpFoldResult> values) {
  for (OpFoldResult value : values) {
    if (std::optional<int64_t> constant = getConstantIntValue(value)) {
      record.words.push_back(*constant);
      continue;
    }
    record.words.push_back(INGOT_DNNL_DYNAMIC);
    record.dynamic.push_back(cast<Value>(value));
  }
}

void Writer::addTensor(int64_t role, Value value, const Layout &layout) {
  ++record.words[tensorCount];
  std::optional<int64_t> offset = weightsOffset(value);
  record.words.append({role, dtypeOf(typeOf(value).getElementType()),
                       offset.value_or(INGOT_DNNL_ARGUMENT), layout.rank()});
  addValues(layout.dims);
  addValues(layout.strides);
  if (!offset)
    record.arguments.push_back(value);
}

void Writer::addPostOps() {
  auto holder = dyn_cast<dnnl::PostOpInterface>(op);
  record.words.push_back(holder ? holder.getPostOps().size() : 0);
  if (!holder)
    return;
  for (Attribute postOp : holder.getPostOps()) {
    if (auto eltwise = dyn_cast<dnnl::EltwiseAttr>(postOp)) {
      auto word = [](FloatAttr attr) -> int64_t {
        return attr ? wordOf(attr.getValue()) : 0;
      };
      record.words.append({INGOT_DNNL_ELTWISE, int64_t(eltwise.getKind()),
                           word(eltwise.getAlpha()), word(eltwise.getBeta()),
                           0});
    } else if (auto binary = dyn_cast<dnnl::BinaryAttr>(postOp)) {
      record.words.append({INGOT_DNNL_BINARY, int64_t(binary.getKind()), 0, 0,
                           firstOperand + binary.getOperand()});
    } else {
      record.words.append({INGOT_DNNL_SUM, 0, 0, 0, 0});
    }
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Returns the permutation from N, D…, C of a memref to N, C, D… of oneDNN.
static SmallVector<int64_t> channelsSecond(int64_t rank) {
  SmallVector<int64_t> order{0, rank - 1};
  for (int64_t i = 1; i < rank - 1; ++i)
    order.push_back(i);
  return order;
}

/// Splits static dimension `dim` of a layout into `groups` and the rest.
static Layout splitGroups(Builder &builder, const Layout &layout, int64_t dim,
                          int64_t groups) {
  Layout result = layout;
  int64_t size = *getConstantIntValue(layout.dims[dim]) / groups;
  int64_t stride = *getConstantIntValue(layout.strides[dim]);
  result.dims[dim] = builder.getIndexAttr(size);
  result.dims.insert(result.dims.begin(), builder.getIndexAttr(groups));
  result.strides.insert(result.strides.begin(),
                        builder.getIndexAttr(stride * size));
  return result;
}

Layout Writer::weightsLayout(dnnl::ConvolutionOp conv) {
  Layout layout = layoutOf(conv.getWeights());
  int64_t groups = conv.getGroups();
  return groups == 1 ? layout : splitGroups(builder, layout, 0, groups);
}

Layout Writer::weightsLayout(dnnl::DeconvolutionOp conv) {
  // Swap C, O/G to O/G, C, then split C into groups.
  Layout layout = layoutOf(conv.getWeights());
  std::swap(layout.dims[0], layout.dims[1]);
  std::swap(layout.strides[0], layout.strides[1]);
  int64_t groups = conv.getGroups();
  return groups == 1 ? layout : splitGroups(builder, layout, 1, groups);
}

template <typename Op>
LogicalResult Writer::writeConvolution(Op conv, int64_t name) {
  int64_t rank = typeOf(conv.getSrc()).getRank();
  if (!typeOf(conv.getWeights()).hasStaticShape())
    return op->emitOpError("expects weights of static shape");
  SmallVector<int64_t> order = channelsSecond(rank);
  begin(isa<dnnl::ConvolutionOp>(op) ? INGOT_DNNL_CONVOLUTION
                                     : INGOT_DNNL_DECONVOLUTION,
        name, {conv.getStrides(), conv.getDilations(), conv.getPads()});
  addTensor(INGOT_DNNL_SRC, conv.getSrc(),
            layoutOf(conv.getSrc()).select(order));
  addTensor(INGOT_DNNL_WEIGHTS, conv.getWeights(), weightsLayout(conv));
  if (Value bias = conv.getBias())
    addTensor(INGOT_DNNL_BIAS, bias, layoutOf(bias));
  addTensor(INGOT_DNNL_DST, conv.getDst(),
            layoutOf(conv.getDst()).select(order));
  firstOperand = record.words[tensorCount];
  for (Value operand : conv.getPostOperands())
    addTensor(INGOT_DNNL_OPERAND, operand, layoutOf(operand).select(order));
  addPostOps();
  return success();
}

LogicalResult Writer::writeMatMul(dnnl::MatMulOp matmul, int64_t name) {
  Value src = matmul.getSrc(), weights = matmul.getWeights();
  Value dst = matmul.getDst(), bias = matmul.getBias();
  int64_t rank = typeOf(dst).getRank();
  // Merge the rows of all batches into one product, if they are contiguous in
  // memory and all batches share one matrix.
  auto isOneMatrix = [](MemRefType type) {
    return llvm::all_of(type.getShape().drop_back(2),
                        [](int64_t size) { return size == 1; });
  };
  auto isRow = [](MemRefType type) {
    return llvm::all_of(type.getShape().drop_back(),
                        [](int64_t size) { return size == 1; });
  };
  auto isDense = [&](Value value) {
    return typeOf(value).getLayout().isIdentity() &&
           typeOf(value).getRank() == rank;
  };
  bool isFlat = rank > 2 && isOneMatrix(typeOf(weights)) &&
                !matmul.getTransposeSrc() && isDense(src) && isDense(dst) &&
                llvm::all_of(matmul.getPostOperands(), [&](Value operand) {
                  MemRefType type = typeOf(operand);
                  return isRow(type) ||
                         (type.getShape() == typeOf(dst).getShape() &&
                          isDense(operand));
                });
  int64_t shown = isFlat ? 2 : rank;

  // Add dimensions of size 1 in front.
  auto extend = [&](Layout layout) {
    while (layout.rank() < shown) {
      layout.dims.insert(layout.dims.begin(), builder.getIndexAttr(1));
      layout.strides.insert(
          layout.strides.begin(),
          support::productOf(builder, loc(),
                             {layout.dims[1], layout.strides[0]}));
    }
    return layout;
  };
  auto flatten = [&](Layout layout) {
    if (!isFlat || layout.rank() == 2)
      return extend(layout);
    size_t last = layout.rank() - 1;
    Layout flat;
    flat.dims = {support::productOf(builder, loc(),
                                    ArrayRef(layout.dims).take_front(last)),
                 layout.dims[last]};
    flat.strides = {layout.strides[last - 1], layout.strides[last]};
    return flat;
  };
  auto transpose = [](Layout layout, bool flip) {
    if (flip) {
      std::swap(layout.dims.end()[-1], layout.dims.end()[-2]);
      std::swap(layout.strides.end()[-1], layout.strides.end()[-2]);
    }
    return layout;
  };
  auto matrix = [&](Value value) {
    Layout layout = layoutOf(value);
    if (isFlat)
      layout = layout.select({layout.rank() - 2, layout.rank() - 1});
    return extend(layout);
  };
  begin(INGOT_DNNL_MATMUL, name, {});
  addTensor(INGOT_DNNL_SRC, src,
            transpose(flatten(layoutOf(src)), matmul.getTransposeSrc()));
  addTensor(INGOT_DNNL_WEIGHTS, weights,
            transpose(matrix(weights), matmul.getTransposeWeights()));
  if (bias)
    addTensor(INGOT_DNNL_BIAS, bias, extend(layoutOf(bias)));
  addTensor(INGOT_DNNL_DST, dst, flatten(layoutOf(dst)));
  firstOperand = record.words[tensorCount];
  for (Value operand : matmul.getPostOperands())
    addTensor(INGOT_DNNL_OPERAND, operand,
              isRow(typeOf(operand)) ? matrix(operand)
                                     : flatten(layoutOf(operand)));
  addPostOps();
  return success();
}

LogicalResult Writer::writePooling(dnnl::PoolingOp pool, int64_t name) {
  SmallVector<int64_t> order =
      channelsSecond(typeOf(pool.getSrc()).getRank());
  begin(int64_t(pool.getKind()), name,
        {pool.getKernel(), pool.getStrides(), pool.getDilations(),
         pool.getPads()});
  addTensor(INGOT_DNNL_SRC, pool.getSrc(),
            layoutOf(pool.getSrc()).select(order));
  addTensor(INGOT_DNNL_DST, pool.getDst(),
            layoutOf(pool.getDst()).select(order));
  addPostOps();
  return success();
}

LogicalResult Writer::writeSoftmax(dnnl::SoftmaxOp softmax, int64_t name) {
  begin(INGOT_DNNL_SOFTMAX, name,
        {{int64_t(softmax.getAxis()), int64_t(softmax.getLog())}});
  addTensor(INGOT_DNNL_SRC, softmax.getSrc(), layoutOf(softmax.getSrc()));
  addTensor(INGOT_DNNL_DST, softmax.getDst(), layoutOf(softmax.getDst()));
  addPostOps();
  return success();
}

LogicalResult Writer::writeLayerNorm(dnnl::LayerNormOp norm, int64_t name) {
  begin(INGOT_DNNL_LAYER_NORM, name, {{wordOf(norm.getEpsilon())}});
  addTensor(INGOT_DNNL_SRC, norm.getSrc(), layoutOf(norm.getSrc()));
  if (Value scale = norm.getScale())
    addTensor(INGOT_DNNL_SCALE, scale, layoutOf(scale));
  if (Value shift = norm.getShift())
    addTensor(INGOT_DNNL_SHIFT, shift, layoutOf(shift));
  addTensor(INGOT_DNNL_DST, norm.getDst(), layoutOf(norm.getDst()));
  addPostOps();
  return success();
}

LogicalResult Writer::write(int64_t name) {
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (!type)
      return op->emitOpError("expects memrefs; bufferize first");
    if (!dtypeOf(type.getElementType()) ||
        type.getRank() > INGOT_DNNL_MAX_RANK - 1)
      return op->emitOpError("cannot be run by oneDNN on ") << type;
  }
  if (op->getNumOperands() > INGOT_DNNL_MAX_TENSORS)
    return op->emitOpError("has more than ")
           << INGOT_DNNL_MAX_TENSORS << " operands";
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<dnnl::ConvolutionOp, dnnl::DeconvolutionOp>(
          [&](auto conv) { return writeConvolution(conv, name); })
      .Case([&](dnnl::MatMulOp op) { return writeMatMul(op, name); })
      .Case([&](dnnl::PoolingOp op) { return writePooling(op, name); })
      .Case([&](dnnl::SoftmaxOp op) { return writeSoftmax(op, name); })
      .Case([&](dnnl::LayerNormOp op) { return writeLayerNorm(op, name); })
      .Default([](Operation *other) {
        return other->emitOpError("has no call of oneDNN");
      });
}

FailureOr<DnnlRecord> ingot::describeDnnlOp(OpBuilder &builder, Operation *op,
                                            int64_t name) {
  Writer writer(builder, op);
  if (failed(writer.write(name)))
    return failure();
  DnnlRecord record = writer.take();
  record.words[0] = record.words.size();
  return record;
}
