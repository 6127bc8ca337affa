//===- InstrumentLayers.cpp - instrument-layers ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "dialects/kernel/KernelInterfaces.h"
#include "dialects/nn/NodeName.h"
#include "ingot/abi/artifact.h"
#include "passes/memory/BatchImages.h"
#include "passes/memory/LayerCost.h"
#include "passes/memory/LayerNotes.h"
#include "passes/memory/Passes.h"
#include "passes/memory/SizeChecks.h"
#include "passes/support/Contractions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_INSTRUMENTLAYERS
#include "passes/memory/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

/// Function of runtime/support that notifies the run's observer, and may end
/// the run.
static constexpr StringLiteral kLayerEnd = "ingot_support_layer_end";

namespace {

/// Consecutive ops that compute the same ONNX nodes.
struct Layer {
  SmallVector<Operation *> ops;
  llvm::SetVector<StringAttr> nodes;
  /// Number of arithmetic operations, with typical sizes instead of sizes that
  /// are only known at run time.
  double flops = 0;
};

struct InstrumentLayersPass
    : ingot::impl::InstrumentLayersBase<InstrumentLayersPass> {
  void runOnOperation() override;

  void instrument(func::FuncOp function, Value call);
  void remarkLoops(ArrayRef<Layer> layers, MutableArrayRef<Attribute> rows);
  Attribute instrument(Layer &layer, int64_t profile, Value call);
  func::FuncOp tellingFunction(const LayerCost &cost);
  void declareLayerEnd();
  void collectReasons();
  StringAttr reasonFor(const Layer &layer, StringRef backend);

  /// For each node of the model, the reasons why backends declined it.
  llvm::DenseMap<StringAttr, SmallVector<DeclinedAttr, 1>> declined;
  /// Functions that report a layer of open sizes, by their text.
  llvm::StringMap<func::FuncOp> tellers;
  /// Rows of the layer table, of all bodies.
  SmallVector<Attribute> rows;
  LayerNotes notes;
};

} // namespace

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Returns true if an op takes time in a run. Constants, views and sizes take
/// no time.
static bool isWork(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() ||
      isa<RequireOp, ObserveOp, ListOp, RoomOp, StackOp, memref::AllocOp,
          memref::AllocaOp, memref::DeallocOp>(op) ||
      holdsChecksOnly(op))
    return false;
  if (op->getNumRegions() != 0 || isa<func::CallOp>(op))
    return true;
  return hasEffect<MemoryEffects::Write>(op);
}

static void addNames(Location loc, StringAttr function,
                     llvm::SetVector<StringAttr> &names) {
  forEachNode(loc, [&](StringAttr name) {
    // Skip the function's name, which is the graph's. Ops without a node have
    // this name as well.
    if (name != function && !name.empty())
      names.insert(name);
  });
}

/// Returns the ONNX nodes that an op comes from. The body of a fused op knows
/// all of them.
static llvm::SetVector<StringAttr> nodesOf(Operation *op, StringAttr function) {
  llvm::SetVector<StringAttr> names;
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    if (inner != op && !inner->hasTrait<OpTrait::ConstantLike>())
      addNames(inner->getLoc(), function, names);
  });
  addNames(op->getLoc(), function, names);
  return names;
}

static bool isSubset(const llvm::SetVector<StringAttr> &part,
                     const llvm::SetVector<StringAttr> &whole) {
  return llvm::all_of(part,
                      [&](StringAttr name) { return whole.contains(name); });
}

/// Adds the layers of a block, including its loops over images.
static void addLayers(Block &block, StringAttr graph,
                      SmallVectorImpl<Layer> &layers) {
  // Begins a new layer at the start of a block and behind its end.
  bool isNew = true;
  for (Operation &op : block) {
    if (isImageLoop(&op)) {
      addLayers(*cast<scf::ForOp>(op).getBody(), graph, layers);
      isNew = true;
      continue;
    }
    if (!isWork(&op))
      continue;
    llvm::SetVector<StringAttr> nodes = nodesOf(&op, graph);
    if (isNew || (!isSubset(nodes, layers.back().nodes) &&
                  !isSubset(layers.back().nodes, nodes)))
      layers.emplace_back();
    isNew = false;
    layers.back().ops.push_back(&op);
    layers.back().nodes.insert(nodes.begin(), nodes.end());
  }
}

static SmallVector<Layer> findLayers(func::FuncOp function) {
  StringAttr graph;
  if (auto named = dyn_cast<NameLoc>(function.getLoc()))
    graph = named.getName();
  SmallVector<Layer> layers;
  addLayers(function.getBody().front(), graph, layers);
  return layers;
}

//===----------------------------------------------------------------------===//
// Reasons
//===----------------------------------------------------------------------===//

void InstrumentLayersPass::collectReasons() {
  declined.clear();
  if (auto all = IngotDialect::DeclinedAttrHelper(&getContext())
                     .getAttr(getOperation()))
    for (auto one : all.getAsRange<DeclinedAttr>())
      declined[one.getNode()].push_back(one);
}

/// Returns the reasons why preferred backends do not compute the layer. Returns
/// null if no other backend was asked.
StringAttr InstrumentLayersPass::reasonFor(const Layer &layer,
                                           StringRef backend) {
  std::string text;
  for (StringAttr node : layer.nodes) {
    llvm::SmallDenseSet<StringRef> told;
    for (DeclinedAttr one : declined.lookup(node)) {
      if (one.getBackend() == backend)
        return {};
      // Names each backend once, because it may have declined the node in
      // several bodies.
      if (!told.insert(one.getBackend()).second)
        continue;
      text += (text.empty() ? "" : "; ") + one.getBackend().str() + ": " +
              one.getReason().str();
    }
    if (!text.empty())
      return StringAttr::get(&getContext(), text);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

void InstrumentLayersPass::declareLayerEnd() {
  OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
  Type i64 = builder.getI64Type();
  auto function = func::FuncOp::create(
      builder, getOperation().getLoc(), kLayerEnd,
      builder.getFunctionType(
          {LLVM::LLVMPointerType::get(&getContext()), i64, i64, i64}, {}));
  function.setPrivate();
  // Mark the calls as cold, to keep their code away from code that always runs.
  function->setAttr("passthrough", builder.getStrArrayAttr({"cold"}));
}

static Value asI64(OpBuilder &builder, Location loc, OpFoldResult size) {
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return arith::ConstantIntOp::create(builder, loc, *known, 64);
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                    cast<Value>(size));
}

/// Returns the precision of packed weights with `bits` bits.
static std::optional<Precision> precisionOfWeights(int64_t bits) {
  switch (bits) {
  case 2:
    return Precision::w2;
  case 4:
    return Precision::w4;
  case 8:
    return Precision::w8;
  default:
    return std::nullopt;
  }
}

/// Returns the type that the products of `op` multiply. Returns nullopt for
/// f32, or if `op` has no products.
static std::optional<Precision> multiplied(Operation *op) {
  if (isBF16(op))
    return Precision::bf16;
  auto product = dyn_cast<kernel::KernelOpInterface>(op);
  Type type = product ? product.getProductType() : Type();
  if (!type)
    return std::nullopt;
  if (type.isF32())
    return precisionOfWeights(product.getWeightBits());
  if (type.isBF16())
    return Precision::bf16;
  if (type.isF16())
    return Precision::fp16;
  if (type.isTF32())
    return Precision::tf32;
  // Signs are packed in 32-bit integers.
  return type.isInteger(32)   ? Precision::binary
         : type.isInteger(16) ? Precision::int16
                              : Precision::int8;
}

static PrecisionAttr precisionOf(Operation *op) {
  std::optional<Precision> precision = multiplied(op);
  return precision ? PrecisionAttr::get(op->getContext(), *precision)
                   : PrecisionAttr();
}

static void tell(OpBuilder &builder, Location loc, Value call, Value number,
                 OpFoldResult flops, OpFoldResult bytes) {
  Value first = asI64(builder, loc, flops);
  Value second = asI64(builder, loc, bytes);
  func::CallOp::create(builder, loc, kLayerEnd, TypeRange(),
                       ValueRange{call, number, first, second});
}

/// Returns a function that reports a layer whose open sizes are its arguments.
/// The first arguments are the call and the layer's number. Layers with equal
/// computations share a function, so that LLVM compiles little code for a rare
/// case.
func::FuncOp InstrumentLayersPass::tellingFunction(const LayerCost &cost) {
  Location loc = UnknownLoc::get(&getContext());
  OpBuilder builder(&getContext());
  SmallVector<Type> types{LLVM::LLVMPointerType::get(&getContext()),
                          builder.getI64Type()};
  types.append(cost.openSizes().size(), builder.getIndexType());
  auto function = func::FuncOp::create(loc, "tell_layer",
                                       builder.getFunctionType(types, {}));
  function.setPrivate();
  function->setAttr("llvm.linkage",
                    LLVM::LinkageAttr::get(&getContext(),
                                           LLVM::Linkage::Internal));
  function->setAttr("passthrough",
                    builder.getStrArrayAttr({"cold", "minsize", "noinline",
                                             "optsize"}));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  IRMapping sizes;
  sizes.map(cost.openSizes(), body->getArguments().drop_front(2));
  OpFoldResult flops = cost.flops(builder, sizes);
  OpFoldResult bytes = cost.bytes(builder, sizes);
  tell(builder, loc, body->getArgument(0), body->getArgument(1), flops, bytes);
  func::ReturnOp::create(builder, loc);

  std::string text;
  llvm::raw_string_ostream out(text);
  function->print(out, OpPrintingFlags().useLocalScope());
  func::FuncOp &known = tellers[text];
  if (known) {
    function->erase();
    return known;
  }
  SymbolTable(getOperation()).insert(function);
  return known = function;
}

/// Emits `if (call->observer) layer_end(…)` behind the layer's last op. Returns
/// the layer's row of the table.
Attribute InstrumentLayersPass::instrument(Layer &layer, int64_t profile,
                                           Value call) {
  OpBuilder builder(&getContext());
  builder.setInsertionPointAfter(layer.ops.back());
  Location loc = UnknownLoc::get(&getContext());
  auto pointer = LLVM::LLVMPointerType::get(&getContext());
  Value field = LLVM::GEPOp::create(
      builder, loc, pointer, builder.getI8Type(), call,
      ArrayRef<LLVM::GEPArg>{
          static_cast<int32_t>(offsetof(ingot_abi_call, observer))});
  // Make the load volatile. If it were not volatile, LLVM might assume that all
  // these branches go the same way, and duplicate the code between them.
  Value observer = LLVM::LoadOp::create(builder, loc, pointer, field,
                                       /*alignment=*/8, /*isVolatile=*/true);
  Value none = LLVM::ZeroOp::create(builder, loc, pointer);
  Value isOn = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                    observer, none);
  auto branch = scf::IfOp::create(builder, loc, isOn, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
  LayerCost cost(builder, loc);
  for (Operation *op : layer.ops)
    cost.add(op);
  layer.flops = cost.estimateFlops();
  Value number = arith::ConstantIntOp::create(builder, loc, rows.size(), 64);
  OpFoldResult flops = builder.getIndexAttr(0), bytes = flops;
  if (cost.openSizes().empty()) {
    flops = cost.flops(builder, IRMapping());
    bytes = cost.bytes(builder, IRMapping());
    tell(builder, loc, call, number, flops, bytes);
  } else {
    SmallVector<Value> arguments{call, number};
    llvm::append_range(arguments, cost.openSizes());
    func::CallOp::create(builder, loc, tellingFunction(cost), arguments);
  }

  Operation *largest = layer.ops.front();
  for (Operation *op : layer.ops)
    if (layerWeight(op) > layerWeight(largest))
      largest = op;
  notes.add(layer.ops, largest);
  SmallVector<StringAttr> nodes(layer.nodes.begin(), layer.nodes.end());
  StringRef backend = kernel::backendOf(largest);
  return LayerAttr::get(&getContext(), layerKind(largest), backend,
                        reasonFor(layer, backend), precisionOf(largest),
                        *getConstantIntValue(flops),
                        *getConstantIntValue(bytes), profile,
                        /*inLoop=*/false, nodes);
}

/// Returns the op of a layer that is a loop of scalar products, which is slow,
/// instead of a kernel. Returns null if there is none.
static Operation *loopOf(const Layer &layer) {
  for (Operation *op : layer.ops)
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      if (support::isSumOfProducts(linalgOp) &&
          !support::isTiledProduct(linalgOp))
        return op;
  return nullptr;
}

/// Reports each loop without a kernel that is a considerable part of the work:
/// as a remark, and in the layer's row.
void InstrumentLayersPass::remarkLoops(ArrayRef<Layer> layers,
                                       MutableArrayRef<Attribute> rows) {
  constexpr double kPart = 0.01;
  double total = 0;
  for (const Layer &layer : layers)
    total += layer.flops;
  for (auto [layer, row] : llvm::zip_equal(layers, rows)) {
    Operation *loop = loopOf(layer);
    if (!loop || layer.flops <= kPart * total)
      continue;
    auto old = cast<LayerAttr>(row);
    std::string text = std::to_string(std::lround(100 * layer.flops / total)) +
                       " % of the model's arithmetic runs without a kernel";
    InFlightDiagnostic remark = emitRemark(loop->getLoc()) << text;
    if (StringAttr reason = old.getReason()) {
      remark << ": " << reason.getValue();
      text = reason.str() + "; " + text;
    }
    row = LayerAttr::get(&getContext(), old.getKind(), old.getBackend(),
                         StringAttr::get(&getContext(), text),
                         old.getPrecision(), old.getFlops(), old.getBytes(),
                         old.getUsualOf(), /*inLoop=*/true, old.getNodes());
  }
}

void InstrumentLayersPass::instrument(func::FuncOp function, Value call) {
  SmallVector<Layer> layers = findLayers(function);
  size_t first = rows.size();
  for (Layer &layer : layers)
    rows.push_back(instrument(layer, usualOf(function).value_or(-1), call));
  remarkLoops(layers, MutableArrayRef(rows).drop_front(first));
}

void InstrumentLayersPass::runOnOperation() {
  rows.clear();
  notes = {};
  tellers.clear();
  collectReasons();
  IngotDialect::InfersAttrHelper infers(&getContext());
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (BlockArgument call = findRunOperand(function, RunOperand::call);
        call && function.getBody().hasOneBlock() &&
        !infers.isAttrPresent(function))
      instrument(function, call);
  if (rows.empty())
    return;
  declareLayerEnd();
  IngotDialect::LayersAttrHelper(&getContext())
      .setAttr(getOperation(), ArrayAttr::get(&getContext(), rows));
  notes.write(getOperation());
}
