//===- Functions.cpp - inlines functions ----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Guard.h"
#include "compiler/import/Message.h"
#include "compiler/import/OnnxBridge.h"
#include "compiler/import/Validate.h"
#include "dialects/onnx/Domains.h"

#include "onnx/checker.h"
#include "onnx/inliner/inliner.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace ingot::importer {

//===----------------------------------------------------------------------===//
// Functions of the model
//===----------------------------------------------------------------------===//

static std::string functionKey(const std::string &domain,
                               const std::string &name,
                               const std::string &overload) {
  return domain + '\0' + name + '\0' + overload;
}

namespace {

/// Counts the nodes after expansion of all calls. The count is checked first,
/// because it can be exponential.
class ExpansionCounter {
public:
  explicit ExpansionCounter(const pb::ModelProto &model) {
    for (const pb::FunctionProto &function : model.functions())
      functions[functionKey(function.domain(), function.name(),
                            function.overload())] = &function;
  }

  /// Returns the number of nodes after expansion. Calls must not be recursive.
  template <typename Nodes> int64_t count(const Nodes &nodes) {
    int64_t total = 0;
    for (const pb::NodeProto &node : nodes) {
      total = add(total, countNode(node));
      for (const pb::AttributeProto &attr : node.attribute()) {
        total = add(total, count(attr.g().node()));
        for (const pb::GraphProto &graph : attr.graphs())
          total = add(total, count(graph.node()));
      }
    }
    return total;
  }

private:
  static int64_t add(int64_t a, int64_t b) {
    return AddOverflow(a, b, a) ? INT64_MAX : a;
  }

  int64_t countNode(const pb::NodeProto &node) {
    auto it = functions.find(
        functionKey(node.domain(), node.op_type(), node.overload()));
    if (it == functions.end())
      return 1;
    const pb::FunctionProto *function = it->second;
    auto known = counts.find(function);
    if (known != counts.end())
      return known->second;
    int64_t result = count(function->node());
    return counts[function] = result;
  }

  StringMap<const pb::FunctionProto *> functions;
  DenseMap<const pb::FunctionProto *, int64_t> counts;
};

} // namespace

/// Adds the operator sets that only functions import to the model's own
/// imports. The nodes of functions move to the main graph, which needs these
/// sets.
static void mergeImports(pb::ModelProto &model) {
  for (const pb::FunctionProto &function : model.functions())
    for (const pb::OperatorSetIdProto &import : function.opset_import())
      if (!findImport(model, import.domain()))
        *model.add_opset_import() = import;
}

/// Checks the calls of functions. An operand that a call omits is also absent
/// in the function's body, where a node may require it.
static Error checkCalls(pb::ModelProto &model) {
  StringMap<const pb::FunctionProto *> functions;
  for (const pb::FunctionProto &function : model.functions())
    functions[functionKey(function.domain(), function.name(),
                          function.overload())] = &function;
  return forEachNode(model, [&](pb::NodeProto &node) -> Error {
    const pb::FunctionProto *function = functions.lookup(
        functionKey(node.domain(), node.op_type(), node.overload()));
    if (!function)
      return Error::success();
    if (node.input_size() > function->input_size())
      return makeError(describe(node) + ": the function takes " +
                       Twine(function->input_size()) + " inputs, but got " +
                       Twine(node.input_size()));
    if (node.output_size() > function->output_size())
      return makeError(describe(node) + ": the function has " +
                       Twine(function->output_size()) + " outputs, but got " +
                       Twine(node.output_size()));
    return Error::success();
  });
}

/// Separates a node's name from the suffix that the inliner appends to make
/// names unique. Messages and reports use the part before it, which is the
/// user's name.
static constexpr char kNameEnd = '\x1f';

/// Marks the names of all nodes in `nodes` and in their graphs with kNameEnd.
/// If `name` is given, every node gets that name.
template <typename Nodes>
static void setNames(Nodes &nodes, const std::string *name) {
  for (pb::NodeProto &node : nodes) {
    node.set_name((name ? *name : nodeName(node)) + kNameEnd);
    for (pb::AttributeProto &attr : *node.mutable_attribute()) {
      if (attr.has_g())
        setNames(*attr.mutable_g()->mutable_node(), name);
      for (pb::GraphProto &graph : *attr.mutable_graphs())
        setNames(*graph.mutable_node(), name);
    }
  }
}

static void restoreNames(pb::ModelProto &model) {
  consumeError(forEachNode(model, [](pb::NodeProto &node) -> Error {
    size_t end = node.name().rfind(kNameEnd);
    if (end != std::string::npos)
      node.mutable_name()->resize(end);
    return Error::success();
  }));
}

Error inlineFunctions(pb::ModelProto &model, const ImportOptions &options) {
  if (model.functions().empty())
    return Error::success();
  return guard([&]() -> Error {
    pb::checker::check_function_call_cycles(model);
    if (Error error = checkCalls(model))
      return error;
    if (ExpansionCounter(model).count(model.graph().node()) >
        options.maxFunctionNodes)
      return makeError("the model's functions expand to more than " +
                       Twine(options.maxFunctionNodes) +
                       " nodes (--limit=function-nodes)");
    mergeImports(model);
    for (pb::FunctionProto &function : *model.mutable_functions())
      setNames(*function.mutable_node(), nullptr);
    pb::inliner::InlineLocalFunctions(model, /*convert_version=*/false);
    if (!model.functions().empty()) {
      // The remaining functions were written for another opset.
      std::string first = model.functions(0).name();
      Error failed = guard([&]() -> Error {
        pb::inliner::InlineLocalFunctions(model, /*convert_version=*/true);
        return Error::success();
      });
      if (failed)
        return makeError("function " + quote(first) +
                         " is written for another opset than the model and "
                         "cannot be converted: " +
                         toString(std::move(failed)));
    }
    model.clear_functions();
    restoreNames(model);
    return Error::success();
  });
}

//===----------------------------------------------------------------------===//
// Operators that ONNX defines by others
//===----------------------------------------------------------------------===//

namespace {

/// Replaces each node that has no lowering by a call of a function. The
/// function is added to the model.
class Expander {
public:
  Expander(Model &model, const ImportOptions &options)
      : model(model.proto), stated(model.statedTypes), options(options) {}

  bool run() {
    visit(*model.mutable_graph(), nullptr);
    return changed;
  }

private:
  /// Types by name in one graph, with a link to the surrounding graph.
  struct Scope {
    const Scope *parent;
    StringMap<pb::TypeProto> types;

    pb::TypeProto lookup(StringRef name) const {
      auto it = types.find(name);
      if (it != types.end())
        return it->second;
      return parent ? parent->lookup(name) : pb::TypeProto();
    }
  };

  void visit(pb::GraphProto &graph, const Scope *parent) {
    Scope scope{parent, {}};
    auto addTypes = [&](const auto &infos) {
      for (const pb::ValueInfoProto &info : infos)
        scope.types[info.name()] = info.type();
    };
    addTypes(graph.input());
    addTypes(graph.output());
    addTypes(graph.value_info());
    for (const pb::TensorProto &tensor : graph.initializer()) {
      pb::TypeProto type;
      type.mutable_tensor_type()->set_elem_type(tensor.data_type());
      auto *shape = type.mutable_tensor_type()->mutable_shape();
      for (int64_t dim : tensor.dims())
        shape->add_dim()->set_dim_value(dim);
      scope.types[tensor.name()] = type;
    }
    for (pb::NodeProto &node : *graph.mutable_node()) {
      for (pb::AttributeProto &attr : *node.mutable_attribute()) {
        if (attr.has_g())
          visit(*attr.mutable_g(), &scope);
        for (pb::GraphProto &inner : *attr.mutable_graphs())
          visit(inner, &scope);
      }
      if (!options.isSupported(node.domain(), node.op_type()))
        // If the node's function cannot be built, the node stays. A later pass
        // reports it as an operator without a lowering.
        consumeError(guard([&]() -> Error {
          expand(node, scope);
          return Error::success();
        }));
    }
  }

  void expand(pb::NodeProto &node, const Scope &scope) {
    int version = int(getOpset(model, node.domain()));
    const pb::OpSchema *schema = pb::OpSchemaRegistry::Instance()->GetSchema(
        node.op_type(), version, node.domain());
    if (!schema)
      return;
    pb::NodeProto call = node;
    for (const auto &[name, attr] : schema->attributes())
      if (attr.default_value.type() != pb::AttributeProto::UNDEFINED &&
          llvm::none_of(call.attribute(), [name = name](const auto &given) {
            return given.name() == name;
          }))
        *call.add_attribute() = attr.default_value;

    pb::FunctionProto function;
    if (schema->HasContextDependentFunction()) {
      std::vector<pb::TypeProto> types;
      for (const std::string &input : call.input()) {
        types.push_back(typeOf(input, scope));
        // ONNX's function builders read the types of all present operands.
        if (!input.empty() &&
            types.back().value_case() == pb::TypeProto::VALUE_NOT_SET)
          return;
      }
      pb::FunctionBodyBuildContextImpl context(call, types);
      if (!schema->BuildContextDependentFunction(context, function, version))
        return;
    } else if (const pb::FunctionProto *body = schema->GetFunction(version)) {
      function = *body;
    } else {
      return;
    }
    repairBody(node.op_type(), function);
    if (call.input_size() > function.input_size() ||
        call.output_size() > function.output_size())
      return;
    // Refuses a function that contains its own operator, because its expansion
    // would never end.
    for (pb::NodeProto &inner : *function.mutable_node())
      if (inner.op_type() == node.op_type() && inner.domain() == node.domain())
        return;

    addContract(call, function);
    function.set_domain(kDomain);
    function.set_name(node.op_type() + std::to_string(model.functions_size()));
    function.clear_overload();
    for (const pb::OperatorSetIdProto &import : function.opset_import())
      if (!findImport(model, import.domain()))
        *model.add_opset_import() = import;
    *function.mutable_opset_import() = model.opset_import();
    std::string name = nodeName(node);
    setNames(*function.mutable_node(), &name);
    call.set_domain(kDomain);
    call.set_op_type(function.name());
    call.clear_overload();
    node = std::move(call);
    *model.add_functions() = std::move(function);
    changed = true;
  }

  /// Returns the inferred type of a value. If there is none, returns the type
  /// that the file states. ONNX infers no types behind an operator of another
  /// domain.
  pb::TypeProto typeOf(const std::string &name, const Scope &scope) const {
    pb::TypeProto type = scope.lookup(name);
    auto it = stated.find(name);
    return type.value_case() == pb::TypeProto::VALUE_NOT_SET &&
                   it != stated.end()
               ? it->second
               : type;
  }

  /// Repairs errors in function bodies of ONNX. The body of AffineGrid should
  /// squeeze only dimension 1. It squeezes all dimensions of size 1, which
  /// removes a batch of size 1, too.
  static void repairBody(StringRef opType, pb::FunctionProto &function) {
    if (opType != "AffineGrid")
      return;
    for (pb::NodeProto &node : *function.mutable_node())
      for (pb::AttributeProto &attr : *node.mutable_attribute())
        if (attr.has_g())
          for (pb::NodeProto &inner : *attr.mutable_g()->mutable_node())
            if (inner.op_type() == "Squeeze" && inner.input_size() == 1)
              inner.add_input("one_1d");
  }

  /// Adds a contract node to the function. The node states which operands the
  /// operator accepts. Without it, the function's body may broadcast operands
  /// that the operator must reject.
  void addContract(const pb::NodeProto &call, pb::FunctionProto &function) {
    if (!options.isSupported(kContractDomain, call.op_type()))
      return;
    pb::NodeProto &contract = *function.add_node();
    contract.set_domain(kContractDomain);
    contract.set_op_type(call.op_type());
    for (int i = 0; i < call.input_size(); ++i)
      contract.add_input(function.input(i));
    for (const pb::AttributeProto &attr : call.attribute())
      if (!attr.has_g() && attr.graphs().empty())
        *contract.add_attribute() = attr;
    for (int i = function.node_size() - 1; i > 0; --i)
      function.mutable_node()->SwapElements(i, i - 1);
    if (!findImport(model, kContractDomain)) {
      pb::OperatorSetIdProto &import = *model.add_opset_import();
      import.set_domain(kContractDomain);
      import.set_version(getOpset(model, ""));
    }
  }

  static constexpr const char *kDomain = "ingot.expanded";

  pb::ModelProto &model;
  const StringMap<pb::TypeProto> &stated;
  const ImportOptions &options;
  bool changed = false;
};

} // namespace

Error expandOperators(Model &model, const ImportOptions &options) {
  if (!options.isSupported)
    return Error::success();
  pb::ModelProto &proto = model.proto;
  // ONNX's functions are nested only a few levels deep.
  for (int level = 0; level < 8; ++level) {
    if (!Expander(model, options).run())
      return Error::success();
    if (Error error = guard([&]() -> Error {
          if (ExpansionCounter(proto).count(proto.graph().node()) >
              options.maxNodes)
            return makeError("operators without a lowering expand to more "
                             "than " + Twine(options.maxNodes) +
                             " nodes (--limit=nodes)");
          pb::inliner::InlineLocalFunctions(proto, false);
          proto.clear_functions();
          restoreNames(proto);
          return Error::success();
        }))
      return error;
    if (Error error = validateNodes(proto))
      return error;
    inferShapes(proto);
  }
  return Error::success();
}

} // namespace ingot::importer
