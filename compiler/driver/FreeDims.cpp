//===- FreeDims.cpp - dimensions of one name that may differ --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/FreeDims.h"

#include "dialects/ingot/DimNames.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NodeName.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ingot;

namespace {

/// A dynamic dimension of an input: the index of the input and of the
/// dimension.
using InputDim = std::pair<unsigned, int64_t>;

/// For each name that several dimensions have: these dimensions.
using SharedNames = llvm::MapVector<StringRef, SmallVector<InputDim>>;

/// Equivalence classes of dimensions. All dimensions of a class have one name
/// and must be equal.
using DimClasses = llvm::EquivalenceClasses<InputDim>;

/// A run-time check, identified by its node and its message.
using Check = std::pair<Location, StringAttr>;

} // namespace

static StringRef dimNamesAttr() {
  return IngotDialect::DimNamesAttrHelper::getNameStr();
}

static func::FuncOp forwardOf(ModuleOp module) {
  return module.lookupSymbol<func::FuncOp>(kForward);
}

static SharedNames findSharedNames(ModuleOp module) {
  SharedNames names;
  func::FuncOp function = forwardOf(module);
  if (!function)
    return names;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    auto given = function.getArgAttrOfType<ArrayAttr>(i, dimNamesAttr());
    if (!tensor || !given || int64_t(given.size()) != tensor.getRank())
      continue;
    for (auto [dim, name] :
         llvm::enumerate(given.getAsValueRange<StringAttr>()))
      if (tensor.isDynamicDim(dim) && !name.empty())
        names[name].push_back({unsigned(i), int64_t(dim)});
  }
  names.remove_if([](auto &entry) { return entry.second.size() < 2; });
  return names;
}

bool ingot::hasSharedDimNames(ModuleOp imported) {
  return !findSharedNames(imported).empty();
}

//===----------------------------------------------------------------------===//
// Comparing the two compilations
//===----------------------------------------------------------------------===//

/// Adds the input dimensions that `value` is computed from.
static void collectInputDims(Value value, Block &entry,
                             llvm::SetVector<InputDim> &dims) {
  SmallVector<Value> open{value};
  llvm::DenseSet<Value> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (auto dim = next.getDefiningOp<tensor::DimOp>())
      if (auto argument = dyn_cast<BlockArgument>(dim.getSource());
          argument && argument.getOwner() == &entry && dim.getConstantIndex()) {
        dims.insert({argument.getArgNumber(), *dim.getConstantIndex()});
        continue;
      }
    Operation *op = next.getDefiningOp();
    if (!op && next.getParentBlock() != &entry)
      op = next.getParentBlock()->getParentOp();
    if (op)
      op->walk([&](Operation *inner) {
        llvm::append_range(open, inner->getOperands());
      });
  }
}

/// Counts the operations that compute more than a size. A select of sizes
/// counts, because it decides at run time if an operand is broadcast.
static size_t countWork(ModuleOp module) {
  size_t count = 0;
  module.walk([&](Operation *op) {
    count += isa<arith::SelectOp>(op) ||
             !(isa<tensor::DimOp, RequireOp>(op) ||
               isa<arith::ArithDialect>(op->getDialect()));
  });
  return count;
}

/// Calls `visit` with each check that is in `module` but not in `other`.
static void forEachNewCheck(ModuleOp module, ModuleOp other,
                            llvm::function_ref<void(RequireOp)> visit) {
  llvm::DenseMap<Check, int64_t> counts;
  other.walk([&](RequireOp op) {
    ++counts[{op.getLoc(), op.getMessageAttr()}];
  });
  module.walk([&](RequireOp op) {
    if (--counts[{op.getLoc(), op.getMessageAttr()}] < 0)
      visit(op);
  });
}

/// Merges the classes of dimensions that a check of `tried` relates. Considers
/// only checks that `legalized` lacks, because equal sizes prove them there.
/// Returns true if any classes were merged.
static bool joinRelated(ModuleOp tried, ModuleOp legalized,
                        const SharedNames &names, DimClasses &classes) {
  bool isChanged = false;
  size_t apart = classes.getNumClasses() - names.size();
  Block &entry = forwardOf(tried).getBody().front();
  forEachNewCheck(tried, legalized, [&](RequireOp check) {
    // Stop when all classes are merged. In most models a few checks are enough
    // to merge them all.
    if (apart == 0)
      return;
    llvm::SetVector<InputDim> dims;
    collectInputDims(check.getHolds(), entry, dims);
    for (auto &[name, members] : names) {
      const InputDim *first = nullptr;
      for (const InputDim &member : members) {
        if (!dims.contains(member))
          continue;
        if (first && !classes.isEquivalent(*first, member)) {
          classes.unionSets(*first, member);
          isChanged = true;
          --apart;
        }
        first = first ? first : &member;
      }
    }
  });
  return isChanged;
}

//===----------------------------------------------------------------------===//
// Trying separate sizes
//===----------------------------------------------------------------------===//

/// Returns a name for each input dimension. Dimensions of different classes get
/// different names.
static std::map<InputDim, std::string> nameClasses(const SharedNames &names,
                                                   const DimClasses &classes) {
  std::map<InputDim, std::string> given;
  for (auto &[name, members] : names) {
    SmallVector<InputDim> leaders;
    for (const InputDim &member : members) {
      const InputDim &leader = classes.getLeaderValue(member);
      size_t number = llvm::find(leaders, leader) - leaders.begin();
      if (number == leaders.size())
        leaders.push_back(leader);
      if (number != 0)
        given[member] = numberedDimName(name, number);
    }
  }
  return given;
}

static void renameDims(func::FuncOp function,
                       const std::map<InputDim, std::string> &given) {
  Builder builder(function.getContext());
  for (auto &[at, name] : given) {
    auto names =
        function.getArgAttrOfType<ArrayAttr>(at.first, dimNamesAttr());
    SmallVector<Attribute> changed(names.getValue());
    changed[at.second] = builder.getStringAttr(name);
    function.setArgAttr(at.first, dimNamesAttr(),
                        builder.getArrayAttr(changed));
  }
}

static std::string describe(func::FuncOp function, InputDim at) {
  auto input = function.getArgAttrOfType<StringAttr>(
      at.first, IngotDialect::NameAttrHelper::getNameStr());
  return "dimension " + std::to_string(at.second) + " of input '" +
         (input ? printable(input.getValue()) : "") + "'";
}

/// Reports which dimensions have separate sizes, with one remark per name.
static void reportFreed(func::FuncOp function, const SharedNames &names,
                        const std::map<InputDim, std::string> &given) {
  for (auto &[name, members] : names) {
    SmallVector<std::string> freed;
    for (const InputDim &member : members)
      if (given.count(member))
        freed.push_back(describe(function, member));
    if (!freed.empty())
      emitRemark(function.getLoc())
          << "dimensions named '" << printable(name)
          << "' need not be equal: " << llvm::join(freed, ", ")
          << " may differ from " << describe(function, members.front());
  }
}

OwningOpRef<ModuleOp>
ingot::freeDims(ModuleOp imported, ModuleOp legalized,
                llvm::function_ref<LogicalResult(ModuleOp)> legalize) {
  SharedNames names = findSharedNames(imported);
  DimClasses classes;
  for (auto &[name, members] : names)
    for (const InputDim &member : members)
      classes.insert(member);
  // The second try uses the classes that the first try found.
  for (int tries = 0; tries < 2; ++tries) {
    std::map<InputDim, std::string> given = nameClasses(names, classes);
    if (given.empty())
      return {};
    OwningOpRef<ModuleOp> tried = imported.clone();
    renameDims(forwardOf(*tried), given);
    {
      ScopedDiagnosticHandler silence(imported.getContext(),
                                      [](Diagnostic &) { return success(); });
      if (failed(legalize(*tried)))
        return {};
    }
    if (joinRelated(*tried, legalized, names, classes))
      continue;
    if (countWork(*tried) > countWork(legalized))
      return {};
    reportFreed(forwardOf(*tried), names, given);
    return tried;
  }
  return {};
}
