//===- Module.cpp - the extension module ingot._core ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include <optional>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "AsyncRuns.h"
#include "Errors.h"
#include "Model.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace ingot::python;

static nb::tuple makeTuple(const std::vector<nb::object> &values) {
  nb::list list;
  for (const nb::object &value : values)
    list.append(value);
  return nb::tuple(list);
}

/// Runs a model with arrays in the order of the model. One output is returned
/// as it is, several as the model's named tuple.
static nb::object call(nb::handle self, nb::args arrays) {
  Model &model = nb::cast<Model &>(self);
  if (!model.isPlain())
    return self.attr("_call_converted")(arrays);
  Model::Request request;
  request.inputs = arrays;
  request.outputs = nb::none();
  std::vector<nb::object> outputs = model.run(request);
  if (outputs.size() == 1)
    return outputs.front();
  return self.attr("_name_outputs")(makeTuple(outputs));
}

/// Raises the error of a call with keywords, which take no arrays.
static nb::object refuseCall(nb::handle self, nb::args, nb::kwargs names) {
  return self.attr("_raise_call")(names);
}

/// Raises the error of a call of `run` that does not fit its parameters.
static nb::object refuseRun(nb::handle self, nb::args arguments,
                            nb::kwargs names) {
  return self.attr("_raise_run")(arguments, names);
}

/// Runs a model with arrays by name. The class in Python does all that is not
/// usual: other types, timeouts, threads, profiles, and wrong names.
static nb::object runNamed(nb::handle self, nb::object inputs, nb::object out,
                           nb::object timeout, nb::object threads,
                           nb::object profile) {
  Model &model = nb::cast<Model &>(self);
  bool isUsual = model.isPlain() && timeout.is_none() && profile.is_none() &&
                 threads.is_none() && PyDict_CheckExact(inputs.ptr()) &&
                 (out.is_none() || PyDict_CheckExact(out.ptr()));
  if (isUsual) {
    nb::object values = model.takeInputs(inputs);
    nb::object receivers = out.is_none() ? out : model.takeOutputs(out);
    if (values.is_valid() && receivers.is_valid()) {
      Model::Request request;
      request.inputs = values;
      request.outputs = receivers;
      return model.nameOutputs(model.run(request));
    }
  }
  return self.attr("_run_named")(inputs, out, timeout, threads, profile,
                                 nb::none(), nb::none());
}

static const char callDocumentation[] =
    "Runs the model once. Takes an array for each input, in the order of "
    "`inputs`. Returns the output, or a named tuple if there are several.";

static const char runDocumentation[] =
    "Runs the model once and returns the outputs by name.\n\n"
    "inputs: an array for each input, by name.\n"
    "out: arrays that receive outputs in place, by name; outputs that it does "
    "not name are new arrays.\n"
    "timeout: seconds after which the run ends with ingot.Timeout, at the end "
    "of its current layer.\n"
    "threads: the most threads of the run; None: one for each CPU of the "
    "process.\n"
    "profile: receives the times of the run.";

static nb::tuple run(Model &model, nb::tuple inputs, nb::object outputs,
                     bool raw, uint32_t threads, Context *context,
                     Cancellation *cancellation, Profile *profile) {
  Model::Request request;
  request.inputs = inputs;
  request.outputs = outputs;
  request.raw = raw;
  request.threads = threads;
  request.context = context ? context->get() : nullptr;
  request.cancellation = cancellation;
  request.profile = profile;
  return makeTuple(model.run(request));
}

static const char cpu_countDocumentation[] =
    "Returns the number of CPUs that this process may use.";
static const char cpu_levelDocumentation[] =
    "Returns the highest CPU level whose code this machine runs, e.g. "
    "\"x86-64-v3\".";

using Text = std::optional<std::string>;

static const char *orNull(const Text &text) {
  return text ? text->c_str() : nullptr;
}

/// Returns the text of a path, which Python has encoded as bytes.
static const char *pathOrNull(const nb::object &path) {
  return path.is_none() ? nullptr : nb::cast<nb::bytes>(path).c_str();
}

static void makeModel(Model *self, nb::object path, nb::object bytes,
                      uint32_t flags, nb::object weights, const Text &maxLevel,
                      const Text &device) {
  LoadOptions options;
  options.flags = flags;
  options.weights = pathOrNull(weights);
  options.maxLevel = orNull(maxLevel);
  options.device = orNull(device);
  new (self) Model(pathOrNull(path), bytes, options);
}

NB_MODULE(_core, module) {
  // Programs keep models until they end.
  nb::set_leak_warnings(false);
  module.attr("VERSION") = ingot_version_get();
  module.attr("VERIFY") = int(INGOT_MODEL_VERIFY);
  module.attr("TRUST_WEIGHTS") = int(INGOT_MODEL_TRUST_WEIGHTS);
  module.attr("MAP_CODE") = int(INGOT_MODEL_MAP_CODE);
  module.def("cpu_count", &ingot_cpu_count, cpu_countDocumentation);
  module.def("cpu_level", &ingot_cpu_level, cpu_levelDocumentation);

  nb::class_<Cancellation>(module, "Cancellation")
      .def(nb::init<>())
      .def("request", &Cancellation::request);
  nb::class_<Pool>(module, "Pool")
      .def(nb::init<uint32_t, uint32_t>(), "threads"_a, "spin_us"_a)
      .def_prop_ro("threads", &Pool::threads);
  nb::class_<Model>(module, "Model")
      .def("__init__", &makeModel, "path"_a.none(), "content"_a.none(),
           "flags"_a, "weights"_a.none(), "max_level"_a.none(),
           "device"_a.none())
      .def("__call__", &call, callDocumentation)
      .def("__call__", &refuseCall)
      .def("run", &runNamed, runDocumentation, "inputs"_a.none(), nb::kw_only(),
           "out"_a = nb::none(), "timeout"_a = nb::none(),
           "threads"_a = nb::none(), "profile"_a = nb::none())
      .def("run", &refuseRun)
      .def("_run", &run, "inputs"_a, "outputs"_a.none(), "raw"_a, "threads"_a,
           "context"_a.none(), "cancellation"_a.none(), "profile"_a.none())
      .def("_addresses", &Model::addresses, "inputs"_a, "outputs"_a.none(),
           "raw"_a)
      .def("_infer", &Model::infer, "shapes"_a)
      .def("_inputs", &Model::describeInputs)
      .def("_outputs", &Model::describeOutputs)
      .def("_describe", &Model::describe)
      .def("_metadata", &Model::metadata)
      .def("_layers", &Model::layers)
      .def("_ranges", &Model::ranges)
      .def("_variants", &Model::variants)
      .def_prop_ro("_is_plain", &Model::isPlain);
  nb::class_<Context>(module, "Context")
      .def(nb::init<Model &, uint32_t, Pool *>(), "model"_a, "threads"_a = 0,
           "pool"_a.none() = nb::none())
      .def_prop_ro("threads", &Context::threads)
      .def("trim", &Context::trim);
  nb::class_<Profile>(module, "Profile")
      .def(nb::init<Model &>(), "model"_a)
      .def("reset", &Profile::reset)
      .def("_run", &Profile::run)
      .def("_layer", &Profile::layer, "index"_a);
  nb::class_<AsyncRuns>(module, "AsyncRuns")
      .def(nb::init<>())
      .def("fileno", &AsyncRuns::descriptor)
      .def("start", &AsyncRuns::start, "model"_a, "inputs"_a,
           "outputs"_a.none(), "threads"_a, "cancellation"_a, "tag"_a)
      .def("take", &AsyncRuns::take, "most"_a);
  module.def("wait_for_runs", &AsyncRuns::waitForAll,
             nb::call_guard<nb::gil_scoped_release>());
  module.def("forget_runs", &AsyncRuns::forget);
}
