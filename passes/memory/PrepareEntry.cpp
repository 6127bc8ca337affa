//===- PrepareEntry.cpp - prepare-entry -----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/ElementTypes.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NodeName.h"
#include "passes/memory/PackedElements.h"
#include "passes/memory/Passes.h"
#include "passes/support/StoreOutputCall.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_PREPAREENTRY
#include "passes/memory/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct PrepareEntryPass : ingot::impl::PrepareEntryBase<PrepareEntryPass> {
  void runOnOperation() override;

  LogicalResult prepare(func::FuncOp function);
  void describe(func::FuncOp function);
  LogicalResult checkTypes();
  void rewriteInputs(func::FuncOp function);
  void rewriteOutputs(func::FuncOp function);
  void storeDynamic(OpBuilder &builder, Value result, int64_t index,
                    TensorAttr output, Value call);

  SmallVector<Attribute> bodies;
};

} // namespace

static MemRefType memrefOf(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return MemRefType::get(type.getShape(), type.getElementType());
}

/// Copies names and types of inputs and outputs to module attributes. The
/// emitter reads them after the function's signature has changed. A body for
/// usual sizes records its own types.
void PrepareEntryPass::describe(func::FuncOp function) {
  MLIRContext *context = &getContext();
  auto entry = [&](Type type, DictionaryAttr attrs, const Twine &name) {
    if (!attrs)
      attrs = DictionaryAttr::get(context);
    auto given =
        attrs.getAs<StringAttr>(IngotDialect::NameAttrHelper::getNameStr());
    auto recorded =
        attrs.getAs<TypeAttr>(IngotDialect::TypeAttrHelper::getNameStr());
    auto dims =
        attrs.getAs<ArrayAttr>(IngotDialect::DimNamesAttrHelper::getNameStr());
    SmallVector<StringAttr> names;
    if (dims)
      llvm::append_range(names, dims.getAsRange<StringAttr>());
    return TensorAttr::get(
        context, given ? given.getValue() : StringRef(name.str()),
        cast<RankedTensorType>(recorded ? recorded.getValue() : type), names);
  };
  SmallVector<Attribute> inputs, outputs;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    inputs.push_back(
        entry(type, function.getArgAttrDict(i), "input" + Twine(i)));
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    outputs.push_back(
        entry(type, function.getResultAttrDict(i), "output" + Twine(i)));
  auto allInputs = ArrayAttr::get(context, inputs),
       allOutputs = ArrayAttr::get(context, outputs);
  if (std::optional<int64_t> profile = usualOf(function)) {
    bodies.push_back(BodyAttr::get(context, FlatSymbolRefAttr::get(function),
                                   *profile, allInputs, allOutputs));
    return;
  }
  IngotDialect::InputsAttrHelper(context).setAttr(getOperation(), allInputs);
  IngotDialect::OutputsAttrHelper(context).setAttr(getOperation(), allOutputs);
}

/// Returns the bits of an element in the host's memory. Strings are represented
/// by numbers during a run.
static int64_t storedBits(TensorAttr tensor) {
  Type element = tensor.getType().getElementType();
  return isString(element) ? element.getIntOrFloatBitWidth()
                           : elementBitsOf(elementNumberOf(element));
}

/// Returns a view of the packed bytes of a memref. The sizes of the memref
/// count elements.
static Value viewBytes(OpBuilder &builder, Location loc, Value memref,
                       ArrayRef<OpFoldResult> sizes, int64_t bits) {
  OpFoldResult bytes = packedBytes(
      builder, loc, countElements(builder, loc, sizes), bits);
  int64_t known = getConstantIntValue(bytes).value_or(ShapedType::kDynamic);
  return memref::ReinterpretCastOp::create(
      builder, loc, MemRefType::get({known}, builder.getI8Type()), memref,
      builder.getIndexAttr(0), bytes,
      ArrayRef<OpFoldResult>{builder.getIndexAttr(1)});
}

/// Reads an input as a tensor of type `tensor`.
static Value readInput(OpBuilder &builder, Value memref,
                       RankedTensorType tensor, int64_t bits) {
  Location loc = memref.getLoc();
  auto read = [&](Value from, Type type) -> Value {
    return bufferization::ToTensorOp::create(builder, loc, type, from,
                                             /*restrict=*/true,
                                             /*writable=*/false);
  };
  if (bits % 8 == 0)
    return read(memref, tensor);
  SmallVector<OpFoldResult> sizes =
      memref::getMixedSizes(builder, loc, memref);
  Value bytes = viewBytes(builder, loc, memref, sizes, bits);
  auto from = cast<MemRefType>(bytes.getType());
  Value packed = read(
      bytes, RankedTensorType::get(from.getShape(), from.getElementType()));
  return unpackElements(builder, loc, packed, tensor, sizes, bits);
}

void PrepareEntryPass::rewriteInputs(func::FuncOp function) {
  Block &body = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  auto inputs = IngotDialect::InputsAttrHelper(&getContext())
                    .getAttr(getOperation())
                    .getAsRange<TensorAttr>();
  for (auto [argument, input] : llvm::zip_equal(body.getArguments(), inputs)) {
    auto tensor = cast<RankedTensorType>(argument.getType());
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : argument.getUses())
      uses.push_back(&use);
    argument.setType(memrefOf(tensor));
    Value read = readInput(builder, argument, tensor, storedBits(input));
    for (OpOperand *use : uses)
      use->set(read);
  }
}

void PrepareEntryPass::storeDynamic(OpBuilder &builder, Value result,
                                    int64_t index, TensorAttr output,
                                    Value call) {
  Location loc = result.getLoc();
  int64_t bits = storedBits(output);
  auto type = cast<RankedTensorType>(result.getType());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto toBuffer = [&](Value tensor) -> Value {
    return bufferization::ToBufferOp::create(
        builder, loc, memrefOf(tensor.getType()), tensor, /*read_only=*/true);
  };
  Value sized = toBuffer(result), buffer = sized;
  if (bits % 8)
    buffer = toBuffer(packElements(builder, loc, result, bits));
  Value dims = memref::AllocaOp::create(
      builder, loc,
      MemRefType::get({std::max<int64_t>(1, type.getRank())},
                      builder.getI64Type()));
  for (int64_t i = 0; i < type.getRank(); ++i) {
    Value size = memref::DimOp::create(builder, loc, sized, i);
    Value wide =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), size);
    memref::StoreOp::create(builder, loc, wide, dims, constant(i));
  }
  Value data =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  Value sizes =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, dims);
  StoreOutputCall::create(
      builder, loc, getOperation(),
      {call, constant(index), constant(type.getRank()), sizes, data,
       constant(bits)},
      /*isOfStrings=*/isString(output.getType().getElementType()));
}

/// Strips reshapes from the end of a result, and reshapes `destination`
/// instead. The op that computes the result can then write to `destination`
/// directly.
static void reshapeDestination(Value &result, Value &destination) {
  OpBuilder builder(destination.getContext());
  builder.setInsertionPointAfterValue(destination);
  auto isStatic = [](Value value) {
    return cast<ShapedType>(value.getType()).hasStaticShape();
  };
  while (Operation *op = result.getDefiningOp()) {
    Location loc = op->getLoc();
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
        expand && isStatic(expand.getSrc())) {
      destination = memref::CollapseShapeOp::create(
          builder, loc, destination, expand.getReassociationIndices());
      result = expand.getSrc();
    } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
               collapse && isStatic(collapse.getSrc())) {
      result = collapse.getSrc();
      destination = memref::ExpandShapeOp::create(
          builder, loc, cast<ShapedType>(result.getType()).getShape(),
          destination, collapse.getReassociationIndices());
    } else {
      return;
    }
  }
}

void PrepareEntryPass::rewriteOutputs(func::FuncOp function) {
  Block &body = function.getBody().front();
  Operation *terminator = body.getTerminator();
  Location loc = function.getLoc();
  OpBuilder builder(terminator);
  SmallVector<Value> results(terminator->getOperands());
  SmallVector<std::tuple<Value, BlockArgument, size_t>> fixed;
  for (auto [i, result] : llvm::enumerate(results))
    if (cast<RankedTensorType>(result.getType()).hasStaticShape())
      fixed.push_back(
          {result, body.addArgument(memrefOf(result.getType()), loc), i});

  auto bytes = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  unsigned weights = body.addArgument(bytes, loc).getArgNumber();
  unsigned arena = body.addArgument(bytes, loc).getArgNumber();
  BlockArgument call =
      body.addArgument(LLVM::LLVMPointerType::get(&getContext()), loc);

  auto outputs = llvm::to_vector(
      IngotDialect::OutputsAttrHelper(&getContext())
          .getAttr(getOperation())
          .getAsRange<TensorAttr>());
  for (auto [result, argument, number] : fixed) {
    Value source = result, destination = argument;
    int64_t bits = storedBits(outputs[number]);
    if (bits % 8) {
      destination = viewBytes(
          builder, loc, argument,
          memref::getMixedSizes(builder, loc, argument), bits);
      source = packElements(builder, loc, result, bits);
    } else {
      reshapeDestination(source, destination);
    }
    bufferization::MaterializeInDestinationOp::create(
        builder, result.getLoc(), /*result=*/Type(), source, destination,
        /*restrict=*/true, /*writable=*/true);
  }
  for (auto [i, result] : llvm::enumerate(results)) {
    if (cast<RankedTensorType>(result.getType()).hasStaticShape())
      continue;
    // Store each output right after it is computed, so that thousands of
    // outputs are not kept until the end.
    if (result.getDefiningOp())
      builder.setInsertionPointAfterValue(result);
    else
      builder.setInsertionPoint(terminator);
    storeDynamic(builder, result, i, outputs[i], call);
  }
  terminator->setOperands({});

  function.setFunctionType(
      builder.getFunctionType(body.getArgumentTypes(), {}));
  function.setAllArgAttrs(SmallVector<Attribute>(
      body.getNumArguments(), builder.getDictionaryAttr({})));
  function.removeResAttrsAttr();
  setRunOperand(body.getArgument(weights), RunOperand::weights);
  setRunOperand(body.getArgument(arena), RunOperand::arena);
  setRunOperand(call, RunOperand::call);
}

LogicalResult PrepareEntryPass::checkTypes() {
  auto check = [&](ArrayAttr tensors, StringRef kind) -> LogicalResult {
    for (auto tensor : tensors.getAsRange<TensorAttr>()) {
      Type element = tensor.getType().getElementType();
      if (!elementNumberOf(element))
        return mlir::emitError(getOperation().getLoc())
               << kind << " '" << ingot::printable(tensor.getName())
               << "' has element type " << element
               << ", which an artifact cannot take or give";
    }
    return success();
  };
  MLIRContext *context = &getContext();
  return success(
      succeeded(check(IngotDialect::InputsAttrHelper(context).getAttr(
                          getOperation()), "input")) &&
      succeeded(check(IngotDialect::OutputsAttrHelper(context).getAttr(
                          getOperation()), "output")));
}

LogicalResult PrepareEntryPass::prepare(func::FuncOp function) {
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  if (!llvm::all_of(function.getArgumentTypes(), isTensor) ||
      !llvm::all_of(function.getResultTypes(), isTensor))
    return function.emitError(
        "expects inputs and outputs that are ranked tensors");
  describe(function);
  if (!usualOf(function) && failed(checkTypes()))
    return failure();
  rewriteInputs(function);
  rewriteOutputs(function);
  return success();
}

void PrepareEntryPass::runOnOperation() {
  bodies.clear();
  auto forward = getOperation().lookupSymbol<func::FuncOp>(kForward);
  if (!forward || forward.isExternal()) {
    getOperation().emitError("expects a function named ") << kForward;
    return signalPassFailure();
  }
  if (failed(prepare(forward)))
    return signalPassFailure();
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (usualOf(function) && failed(prepare(function)))
      return signalPassFailure();
  if (!bodies.empty())
    IngotDialect::BodiesAttrHelper(&getContext())
        .setAttr(getOperation(), ArrayAttr::get(&getContext(), bodies));
}
