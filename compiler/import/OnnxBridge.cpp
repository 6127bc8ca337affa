//===- OnnxBridge.cpp - calls into ONNX's library, which throws -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With GuardedSchemas.cpp, OperandTypes.cpp and Versions.cpp the only code that
// is compiled with exceptions.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/OnnxBridge.h"

#include "compiler/import/Guard.h"
#include "compiler/import/GuardedSchemas.h"
#include "compiler/import/Message.h"
#include "compiler/import/Normalize.h"
#include "compiler/import/Validate.h"
#include "dialects/onnx/Domains.h"

#include "onnx/checker.h"
#include "onnx/defs/parser.h"
#include "onnx/inliner/inliner.h"
#include "onnx/shape_inference/implementation.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace ingot::importer {

int64_t newestOpset() {
  return pb::OpSchemaRegistry::DomainToVersionRange::Instance()
      .LastReleaseVersionMap()
      .at("");
}

Error parseText(StringRef text, pb::ModelProto &model) {
  return guard([&]() -> Error {
    pb::OnnxParser parser(std::string_view(text.data(), text.size()));
    pb::Common::Status status = parser.Parse(model);
    if (!status.IsOK())
      return makeError(cleanParserMessage(status.ErrorMessage()));
    if (!parser.EndOfInput())
      return makeError("ONNX text: something follows the model");
    return Error::success();
  });
}

//===----------------------------------------------------------------------===//
// Checker
//===----------------------------------------------------------------------===//

/// ONNX's checker writes a warning to stdout about these and lets them pass.
static Error refuseExperimental(pb::ModelProto &model) {
  return forEachNode(model, [](pb::NodeProto &node) -> Error {
    if (pb::checker::check_is_experimental_op(node))
      return makeError(describe(node) + ": this experimental operator was "
                       "removed from ONNX; export the model again");
    return Error::success();
  });
}

/// Sparse tensors may be set aside, which the checker cannot follow; what it
/// looks at is checked where they are written out.
static void replaceSparse(pb::ModelProto &model) {
  auto empty = [](pb::SparseTensorProto &sparse) {
    std::string name = sparse.values().name();
    sparse.Clear();
    sparse.add_dims(1);
    sparse.mutable_values()->set_name(name);
    sparse.mutable_values()->set_data_type(pb::TensorProto::FLOAT);
    sparse.mutable_values()->add_dims(0);
    sparse.mutable_indices()->set_data_type(pb::TensorProto::INT64);
    sparse.mutable_indices()->add_dims(0);
  };
  consumeError(forEachGraph(model, [&](pb::GraphProto &graph) -> Error {
    for (pb::SparseTensorProto &sparse : *graph.mutable_sparse_initializer())
      empty(sparse);
    return Error::success();
  }));
  consumeError(forEachNode(model, [&](pb::NodeProto &node) -> Error {
    for (pb::AttributeProto &attr : *node.mutable_attribute()) {
      if (attr.has_sparse_tensor())
        empty(*attr.mutable_sparse_tensor());
      for (pb::SparseTensorProto &sparse : *attr.mutable_sparse_tensors())
        empty(sparse);
    }
    return Error::success();
  }));
}

Error checkModel(pb::ModelProto &model) {
  return guard([&]() -> Error {
    if (Error error = refuseExperimental(model))
      return error;
    if (getOpset(model, "") > newestOpset())
      return makeError("opset " + Twine(getOpset(model, "")) +
                       " is newer than " + Twine(newestOpset()) +
                       ", the newest that is supported");
    pb::ModelProto copy = model;
    replaceSparse(copy);
    // Sizes are validated by then; an empty tensor is one without data.
    if (Error error = forEachTensor(
            copy,
            [](pb::TensorProto &tensor, const pb::NodeProto *) -> Error {
              if (tensor.data_location() != pb::TensorProto::EXTERNAL)
                return Error::success();
              tensor.clear_external_data();
              tensor.clear_data_location();
              tensor.clear_dims();
              tensor.add_dims(0);
              return Error::success();
            }))
      return error;
    // Things that models of the field lack, and that do no harm.
    if (Error error = forEachGraph(copy, [](pb::GraphProto &graph) -> Error {
          if (graph.name().empty())
            graph.set_name("graph");
          return Error::success();
        }))
      return error;
    consumeError(forEachNode(copy, [](pb::NodeProto &node) -> Error {
      node.set_name(nodeName(node));
      return Error::success();
    }));
    auto addShapes = [](auto &infos) {
      for (pb::ValueInfoProto &info : infos)
        if (info.type().has_tensor_type())
          info.mutable_type()->mutable_tensor_type()->mutable_shape();
    };
    addShapes(*copy.mutable_graph()->mutable_input());
    addShapes(*copy.mutable_graph()->mutable_output());
    copy.set_ir_version(pb::IR_VERSION);
    pb::checker::check_model(copy, /*full_check=*/false,
                               /*skip_opset_compatibility_check=*/true);
    return Error::success();
  });
}

//===----------------------------------------------------------------------===//
// Functions of the model
//===----------------------------------------------------------------------===//

static std::string functionKey(const std::string &domain,
                               const std::string &name,
                               const std::string &overload) {
  return domain + '\0' + name + '\0' + overload;
}

namespace {

/// Counts what expansion of all calls leads to, for it can be exponential.
class ExpansionCounter {
public:
  explicit ExpansionCounter(const pb::ModelProto &model) {
    for (const pb::FunctionProto &function : model.functions())
      functions[functionKey(function.domain(), function.name(),
                            function.overload())] = &function;
  }

  /// Calls must not be recursive.
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

/// Imports what only functions import: their nodes end up in the main graph.
static void mergeImports(pb::ModelProto &model) {
  for (const pb::FunctionProto &function : model.functions())
    for (const pb::OperatorSetIdProto &import : function.opset_import())
      if (!findImport(model, import.domain()))
        *model.add_opset_import() = import;
}

/// Operands of a call that are left out are absent in the function's body,
/// where a node may need them.
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

/// The inliner makes names unique by a suffix, but messages and reports shall
/// name the node that the user wrote.
static constexpr char kNameEnd = '\x1f';

/// Names all nodes of graphs and functions within `nodes`; with `name`, by it.
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
      // What is left was written for another opset.
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
// Types
//===----------------------------------------------------------------------===//

void inferShapes(pb::ModelProto &model) {
  dropInferredTypes(model);
  consumeError(guard([&]() -> Error {
    pb::shape_inference::DataValueMap data;
    pb::ShapeInferenceOptions inference(/*check_type_val=*/false,
                                          /*strict_mode_val=*/0,
                                          /*data_prop_val=*/true);
    pb::shape_inference::InferShapes(model, &GuardedSchemas::instance(),
                                     inference, &data);
    return Error::success();
  }));
}

//===----------------------------------------------------------------------===//
// Operators that ONNX defines by others
//===----------------------------------------------------------------------===//

namespace {

/// Turns nodes without a lowering into calls of functions of the model.
class Expander {
public:
  Expander(pb::ModelProto &model, const ImportOptions &options)
      : model(model), options(options) {}

  bool run() {
    visit(*model.mutable_graph(), nullptr);
    return changed;
  }

private:
  /// Types by name in one graph and those around it.
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
        // A node whose function cannot be built stays, and is reported as an
        // operator without a lowering.
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
        types.push_back(scope.lookup(input));
        // ONNX's builders look into the types of what is there.
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
    if (call.input_size() > function.input_size() ||
        call.output_size() > function.output_size())
      return;
    // A chain of functions that ends in the same operator would never end.
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

  /// The function broadcasts where the operator may not: a node before its
  /// others says which operands the operator takes.
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
  const ImportOptions &options;
  bool changed = false;
};

} // namespace

Error expandOperators(pb::ModelProto &model, const ImportOptions &options) {
  if (!options.isSupported)
    return Error::success();
  // Functions of ONNX are a few levels deep.
  for (int level = 0; level < 8; ++level) {
    if (!Expander(model, options).run())
      return Error::success();
    if (Error error = guard([&]() -> Error {
          if (ExpansionCounter(model).count(model.graph().node()) >
              options.maxNodes)
            return makeError("operators without a lowering expand to more "
                             "than " + Twine(options.maxNodes) +
                             " nodes (--limit=nodes)");
          pb::inliner::InlineLocalFunctions(model, false);
          model.clear_functions();
          restoreNames(model);
          return Error::success();
        }))
      return error;
    if (Error error = validateNodes(model))
      return error;
    inferShapes(model);
  }
  return Error::success();
}

} // namespace ingot::importer
