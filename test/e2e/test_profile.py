"""Tests profiles of compiled models: layers have the names of ONNX nodes, and their times add up to the run."""
import json
import os
import re
import subprocess

import families

from support import BUILD, ROOT, Case, TensorProto, helper, make_model, np, tool

QUICK = ("--threads=1", "--warm-up=0", "--duration=0", "--iterations=20")


def named(model):
    """Returns the model with a name for every node, as exporters give them, and the names."""
    for i, node in enumerate(model.graph.node):
        node.name = f"node_{i}_{node.op_type}"
    return model, {node.name for node in model.graph.node}


class Profile(Case):
    """Runs `ingot bench --profile` on models of many kinds."""

    def bench(self, artifact, *options):
        done = tool("ingot", "bench", artifact, "--json", *QUICK, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check(self, result, names):
        layers = result["layers"]
        self.assertGreater(len(layers), 0)
        found = {node for layer in layers for node in layer["nodes"]}
        self.assertLessEqual(found, names, "names that no node of the model has")
        for layer in layers:
            self.assertTrue(layer["kind"])
            self.assertLessEqual(layer["min_ms"], layer["mean_ms"] * 1.0001)
        # Layers follow each other without gaps. The rest of the time is the check of arguments.
        self.assertLessEqual(result["layers_ms"], result["profiled_ms"])
        self.assertAlmostEqual(result["layers_ms"], sum(layer["mean_ms"] for layer in layers), delta=1e-6)
        return found

    def test_names(self):
        for name in ("resnet", "repvgg", "mobilenet_v2", "bert"):
            with self.subTest(name):
                model, names = named(families.ALL[name]()[0])
                found = self.check(self.bench(self.compile(model), "--profile"), names)
                heavy = {n for n in names if re.search("_(Conv|Gemm|MatMul)$", n)}
                self.assertLessEqual(heavy, found, "a heavy node is in no layer")

    def test_flops(self):
        """Compares with the operations of each kernel: 2 * outputs * inputs."""
        weight = np.ones((6, 3, 3, 3), np.float32)
        model = make_model([helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
                            helper.make_node("Relu", ["c"], ["y"], name="relu")],
                           [("x", [1, 3, 10, 8])], [("y", [1, 6, 10, 8])], {"w": weight})
        result = self.bench(self.compile(model), "--profile")
        self.check(result, {"conv", "relu"})
        conv = [layer for layer in result["layers"] if "convolution" in layer["kind"]]
        self.assertEqual(len(conv), 1)
        self.assertIn("conv", conv[0]["nodes"])
        self.assertGreaterEqual(conv[0]["flops"], 2 * 6 * 80 * 27)
        self.assertLess(conv[0]["flops"], 3 * 6 * 80 * 27)

    def test_dynamic_sizes_are_counted_in_the_run(self):
        weight = np.ones((4, 5), np.float32)
        model = make_model([helper.make_node("MatMul", ["x", "w"], ["y"], name="product")],
                           [("x", ["rows", 4])], [("y", ["rows", 5])], {"w": weight})
        artifact = self.compile(model)
        for rows in (3, 17):
            result = self.bench(artifact, "--profile", f"--shape=x={rows}x4")
            self.check(result, {"product"})
            self.assertEqual(sum(layer["flops"] for layer in result["layers"]), 2 * rows * 4 * 5)

    def test_same_results_with_and_without(self):
        """A profile changes no bit of the results."""
        model, _ = named(families.ALL["resnet"]()[0])
        artifact = self.compile(model)
        source = self.path("both.c")
        with open(source, "w") as f:
            f.write(BOTH)
        library = os.path.join(BUILD, "lib")
        program = self.path("both")
        subprocess.run(["cc", "-O1", f"-I{ROOT}/runtime/include", source, "-o", program, f"-L{library}", "-lingot",
                        f"-Wl,-rpath,{library}"], check=True)
        done = subprocess.run([program, artifact], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "same\n")

    def exported(self, opset=20):
        """A model as PyTorch's exporter writes it: numbered nodes, and modules in their metadata."""
        rng = np.random.default_rng(0)
        weights = {"w1": rng.standard_normal((8, 3, 3, 3)).astype(np.float32),
                   "w2": rng.standard_normal((4, 8, 1, 1)).astype(np.float32)}
        nodes = [helper.make_node("Conv", ["x", "w1"], ["a"], name="node_Conv_731", pads=[1, 1, 1, 1]),
                 helper.make_node("Relu", ["a"], ["b"], name="node_relu_1"),
                 helper.make_node("Conv", ["b", "w2"], ["c"], name="node_Conv_732"),
                 helper.make_node("Softmax", ["c"], ["y"], name="node_softmax", axis=1)]
        scopes = ["['', 'stem', 'stem.conv_kxk', 'conv2d']", "['', 'stem', 'stem.act', 'relu_1']",
                  "['', \"head.it's\", 'conv2d_1']", "['', 'softmax']"]
        for node, scope in zip(nodes, scopes):
            node.metadata_props.add(key="pkg.torch.onnx.name_scopes", value=scope)
        return make_model(nodes, [("x", ["n", 3, 16, 16])], [("y", ["n", 4, 16, 16])], weights, opset=opset)

    def test_names_of_the_exporter(self):
        for opset in (13, 20):  # with and without conversion to a newer operator set
            artifact = self.compile(self.exported(opset), "--dim", "n=1")
            layers = self.bench(artifact, "--profile")["layers"]
            scopes = dict(pair for layer in layers for pair in zip(layer["nodes"], layer["scopes"]))
            self.assertEqual(scopes, {"node_Conv_731": "stem.conv_kxk", "node_relu_1": "stem.act",
                                      "node_Conv_732": "head.it's", "node_softmax": ""})
            table = tool("ingot", "bench", artifact, "--profile", *QUICK).stdout
            for words in ("stem.conv_kxk + stem.act\n", "head.it's\n", "node_softmax\n"):
                self.assertIn(words, table)
            self.assertNotIn("node_Conv", table)
            shown = tool("ingot", "inspect", artifact, "--layers").stdout
            self.assertIn("stem.conv_kxk + stem.act", shown)
            self.assertNotIn("ingot.scopes", shown)
            inspected = json.loads(tool("ingot", "inspect", artifact, "--json").stdout)["layers"]
            self.assertEqual([layer["scopes"] for layer in inspected], [layer["scopes"] for layer in layers])

    def test_messages_have_names_of_the_exporter(self):
        model = self.exported()
        model.graph.node[0].attribute.append(helper.make_attribute("group", 2))
        self.assert_refuses(model, "node 'node_Conv_731' (stem.conv_kxk): ", "input channels")
        done = tool("ingot", "compile", self.save(self.exported()), "-o", self.path("m.so"), "--kernels=onednn",
                    "--remarks")
        remarks = [line for line in done.stderr.splitlines() if "node_softmax" in line or "node_Conv_731" in line]
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in remarks:
            self.assertEqual("node 'node_Conv_731' (stem.conv_kxk): " in line, "node_Conv_731" in line)

    def test_damaged_names_of_the_exporter(self):
        for scope in ("", "[", "['", "['a", "[\\", "['a\\", "['', 'a\nb', 'c']", "['" + "x" * 100000 + "', 'y']", "'''"):
            model = self.exported()
            for node in model.graph.node:
                node.metadata_props[0].value = scope
            done = tool("ingot", "bench", self.compile(model, "--dim", "n=1"), "--profile", *QUICK)
            self.assertEqual((done.returncode, len(done.stdout) < 20000), (0, True), done.stderr)

    def test_shapes_order_and_sums(self):
        artifact = self.compile(self.exported(), "--dim", "n=1")
        layers = self.bench(artifact, "--profile")["layers"]
        self.assertEqual([layer["number"] for layer in layers], list(range(len(layers))))
        first = next(layer for layer in layers if "node_Conv_731" in layer["nodes"])
        self.assertEqual(first["shape"], "1x16x16x3 -> 1x16x16x8")
        result = self.bench(artifact, "--profile", "--sort=time")
        times = [layer["mean_ms"] for layer in result["layers"]]
        self.assertEqual(times, sorted(times, reverse=True))
        kinds = result["kinds"]
        self.assertAlmostEqual(sum(kind["mean_ms"] for kind in kinds), result["layers_ms"], places=6)
        self.assertEqual(sum(kind["layers"] for kind in kinds), len(layers))
        self.assertEqual([k["mean_ms"] for k in kinds], sorted((k["mean_ms"] for k in kinds), reverse=True))
        table = tool("ingot", "bench", artifact, "--profile", "--sort", "time", *QUICK).stdout
        for words in ("By kind:", "1x16x16x3 -> 1x16x16x8", "layers  kind"):
            self.assertIn(words, table)
        self.assert_one_line(tool("ingot", "bench", artifact, "--sort=time"), "--sort is for --profile")
        self.assert_one_line(tool("ingot", "bench", artifact, "--profile", "--sort=size"), "time or order")

    def test_loops_are_called_so(self):
        body = helper.make_graph([helper.make_node("Identity", ["go"], ["again"]),
                                  helper.make_node("MatMul", ["h", "w"], ["next"], name="product")], "body",
                                 [helper.make_tensor_value_info("i", TensorProto.INT64, []),
                                  helper.make_tensor_value_info("go", TensorProto.BOOL, []),
                                  helper.make_tensor_value_info("h", TensorProto.FLOAT, [4, 4])],
                                 [helper.make_tensor_value_info("again", TensorProto.BOOL, []),
                                  helper.make_tensor_value_info("next", TensorProto.FLOAT, [4, 4])])
        model = make_model([helper.make_node("Loop", ["n", "", "x"], ["y"], name="repeat", body=body)],
                           [("x", [4, 4]), ("n", [], TensorProto.INT64)], [("y", [4, 4])],
                           {"w": np.eye(4, dtype=np.float32)})
        layers = self.bench(self.compile(model), "--profile")["layers"]
        self.assertIn(("loop", "loop"), {(layer["kind"], layer["backend"]) for layer in layers}, layers)

    def test_files(self):
        model, names = named(families.ALL["resnet"]()[0])
        paths = [self.path(n) for n in ("times", "profile", "layers", "trace")]
        self.bench(self.compile(model), *[f"--export-{o}={p}" for o, p in zip(
            ("times", "profile", "layer-info", "trace"), paths)])
        times, profile, layers, trace = (json.load(open(p)) for p in paths)
        self.assertEqual(len(times), 20)
        self.assertEqual(sorted(times[0]), ["computeMs", "endComputeMs", "latencyMs", "startComputeMs"])
        self.assertEqual(profile[0], {"count": 20})
        self.assertEqual(len(profile) - 1, len(layers["Layers"]))
        self.assertAlmostEqual(sum(p["percentage"] for p in profile[1:]), 100, delta=0.01)
        graph = model.graph
        self.assertEqual(layers["Bindings"], [v.name for v in [*graph.input, *graph.output]])
        slices = [e for e in trace["traceEvents"] if e["ph"] == "X"]
        self.assertEqual(len(slices), 10 * len(layers["Layers"]))
        self.assertEqual([s["name"] for s in slices[:len(layers["Layers"])]], [e["Name"] for e in layers["Layers"]])
        for before, after in zip(slices, slices[1:]):
            self.assertLessEqual(before["ts"], after["ts"])


BOTH = r"""
#include "ingot/ingot.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  ingot_model *model = NULL;
  ingot_context *context = NULL;
  ingot_tensor_info x = INGOT_TENSOR_INFO_INIT, y = INGOT_TENSOR_INFO_INIT;
  ingot_profile *profile = NULL;
  ingot_run_options options = INGOT_RUN_OPTIONS_INIT;
  ingot_profile_times times = INGOT_PROFILE_TIMES_INIT;
  if (argc != 2 || ingot_model_load(argv[1], NULL, &model, NULL) ||
      ingot_model_input_describe(model, 0, &x, NULL) || ingot_model_output_describe(model, 0, &y, NULL) ||
      ingot_context_create(model, NULL, &context, NULL) || ingot_profile_create(model, NULL, &profile, NULL))
    return 2;
  float *data = malloc(x.bytes);
  for (uint64_t i = 0; i < x.bytes / 4; ++i)
    data[i] = (float)(i % 13) / 7 - 1;
  void *results[2];
  for (int i = 0; i < 2; ++i) {
    results[i] = calloc(1, y.bytes);
    ingot_input in = ingot_input_make(data, x.bytes, x.dims, x.rank, x.dtype);
    ingot_output out = ingot_output_make(results[i], y.bytes, NULL, 0, y.dtype);
    if (ingot_context_run(context, &in, 1, &out, 1, &options, NULL))
      return 3;
    options.profile = profile;
  }
  if (ingot_profile_run_get(profile, &times, NULL) || times.runs != 1)
    return 4;
  puts(memcmp(results[0], results[1], y.bytes) ? "different" : "same");
  return 0;
}
"""
