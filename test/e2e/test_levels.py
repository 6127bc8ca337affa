"""Tests artifacts with code for several CPU levels: selection, results and shared code."""
import contextlib
import json
import os
import re
import subprocess

import numpy as np
from onnx import TensorProto, helper

from support import Case, conv_model, make_model, relu_model, tool

LEVELS = ("x86-64-v2", "x86-64-v3", "alderlake", "x86-64-v4", "cascadelake", "znver4", "avx512fp16", "sapphirerapids")


@contextlib.contextmanager
def cap(level):
    """Sets INGOT_MAX_ISA for tools that are started inside."""
    before = os.environ.pop("INGOT_MAX_ISA", None)
    if level:
        os.environ["INGOT_MAX_ISA"] = level
    try:
        yield
    finally:
        os.environ.pop("INGOT_MAX_ISA", None)
        if before is not None:
            os.environ["INGOT_MAX_ISA"] = before


def every_family():
    """Makes a model with an output for each kind of kernel, for any batch, and two sets of inputs."""
    rng = np.random.default_rng(4)

    def weights(*shape):
        return (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)

    nodes = [("Conv", ["x", "conv_w", "conv_b"], {"pads": [1] * 4}), ("Conv", ["x", "strided_w"], {"strides": [2, 2]}),
             ("Conv", ["x", "depthwise_w"], {"group": 19, "pads": [1] * 4}),
             ("MaxPool", ["x"], {"kernel_shape": [3, 3], "strides": [2, 2]}),
             ("AveragePool", ["x"], {"kernel_shape": [2, 3], "pads": [0, 1, 0, 1]}), ("GlobalAveragePool", ["x"], {}),
             ("Gemm", ["rows", "gemm_w", "gemm_b"], {}), ("MatMul", ["steps", "matmul_w"], {}),
             ("Softmax", ["steps"], {"axis": -1}), ("LayerNormalization", ["steps", "scale", "bias"], {"axis": -1}),
             ("InstanceNormalization", ["x", "channels", "channels"], {}), ("ReduceMean", ["steps"], {"axes": [2]}),
             ("Erf", ["rows"], {}), ("Sigmoid", ["x"], {}),
             ("LSTM", ["steps", "lstm_w", "lstm_r"], {"hidden_size": 21, "direction": "bidirectional", "layout": 0})]
    initializers = {"conv_w": weights(37, 19, 3, 3), "conv_b": weights(37), "strided_w": weights(8, 19, 5, 2),
                    "depthwise_w": weights(19, 1, 3, 3), "gemm_w": weights(67, 45), "gemm_b": weights(45),
                    "lstm_w": weights(2, 84, 51), "lstm_r": weights(2, 84, 21), "matmul_w": weights(51, 33), "scale": weights(51), "bias": weights(51), "channels": weights(19)}
    model = make_model(
        [helper.make_node(kind, inputs, [f"y{i}"], name=f"{kind}_{i}", **attributes)
         for i, (kind, inputs, attributes) in enumerate(nodes)],
        [("x", ["batch", 19, 13, 17]), ("rows", ["batch", 67]), ("steps", ["batch", 9, 51])],
        [(f"y{i}", None) for i in range(len(nodes))], initializers)
    runs = [{"x": weights(batch, 19, 13, 17), "rows": weights(batch, 67), "steps": weights(batch, 9, 51)}
            for batch in (1, 3)]
    return model, runs


class Target(Case):
    """Tests the syntax of --target."""
    sanitize = True

    def refuse(self, target, *words, options=()):
        self.assert_refuses(relu_model(), *words, options=[f"--target={target}", *options])

    def test_unknown(self):
        names = ["native", "multi", "cuda", *LEVELS]
        for name in ("pentium", "gpu", "CUDA", "nvidia", "90"):
            self.refuse(name, f"unknown target '{name}'", *names)
        self.refuse("x86-64-v3,pentium", "unknown target 'pentium'")
        self.refuse("x86-64-v3,", "unknown target ''")
        self.refuse("", "option --target is empty")

    def test_twice(self):
        self.refuse("x86-64-v3,x86-64-v4,x86-64-v3", "x86-64-v3 is listed twice")

    def test_aliases_stand_alone(self):
        self.refuse("x86-64-v3,native", "'native' stands alone")
        self.refuse("multi,x86-64-v2", "'multi' stands alone")

    def test_only_libraries_hold_several(self):
        source = self.save(relu_model())
        for kind in ("asm", "llvm", "obj", "mlir-kernels", "mlir-llvm"):
            with self.subTest(kind):
                done = tool("ingot", "compile", source, "-o", self.path("out"), f"--emit={kind}", "--target=multi")
                self.assert_one_line(done, "several CPU levels", "--target=x86-64-v4")
                self.assertFalse(os.path.exists(self.path("out")))

    def test_what_comes_before_depends_on_no_level(self):
        """All levels share the module until the memory plan. Only the attribute with the list of targets differs."""
        source = self.save(every_family()[0])
        for kernels in ("native", "onednn"):
            found = set()
            for target in ("x86-64-v2", "x86-64-v4", "multi"):
                done = tool("ingot", "compile", source, "-o", "-", "--emit=mlir-memory", f"--target={target}",
                            f"--kernels={kernels}")
                self.assertEqual(done.returncode, 0, done.stderr)
                text, lists = re.subn(r" ingot\.targets = #ingot\.targets<.*?>\]>,", "", done.stdout)
                self.assertEqual(lists, 1)
                found.add(text)
            self.assertEqual(len(found), 1, kernels)


    def test_multi_is_where_code_differs(self):
        """A level above x86-64-v2 is in `multi` if and only if its code differs from that of the level below."""
        source = self.save(conv_model())
        code = []
        for level in LEVELS:
            done = tool("ingot", "compile", source, "-o", self.path("model.o"), "--emit=obj", f"--target={level}",
                        "--kernels=native")
            self.assertEqual(done.returncode, 0, done.stderr)
            # Each function has a section of its own. One is named after the level.
            shown = subprocess.run(["llvm-objdump-22", "-d", self.path("model.o")], check=True, capture_output=True,
                                   text=True).stdout
            sections = shown.split("\nDisassembly of section ")[1:]
            own = ".text.ingot_run_" + level.replace("-", "_")
            code.append([section for section in sections if not section.startswith(own)])
            self.assertEqual(len(code[-1]), len(sections) - 1)
        different = [level for level, below, here in zip(LEVELS[1:], code, code[1:]) if here != below]
        done = tool("ingot", "compile", source, "-o", self.path("model.so"), "--target=multi", "--kernels=native")
        self.assertEqual(re.findall(r"(\S+) code", done.stdout), different)


class Comparisons(Case):
    """Comparisons of floats as integers. LLVM narrows both where possible, and would compare bf16 directly, although
    there is no instruction for 16-bit integers there."""

    def test_floats_and_integers(self):
        for real in ("FLOAT16", "BFLOAT16", "FLOAT", "DOUBLE"):
            for whole in ("INT8", "INT16", "UINT16", "INT64"):
                code = getattr(TensorProto, whole)
                model = make_model(
                    [helper.make_node("Greater", ["x", "y"], ["more"]), helper.make_node("Cast", ["more"], ["z"], to=code)],
                    [("x", [3, 16, 3, 2, 3], getattr(TensorProto, real)), ("y", [16, 3, 2, 1], getattr(TensorProto, real))],
                    [("z", None, code)])
                with self.subTest(real=real, whole=whole):
                    done = tool("ingot", "run", self.compile(model, "--target", ",".join(LEVELS)), "--input", "random")
                    self.assertEqual(done.returncode, 0, done.stderr)


class Files(Case):
    """Tests the content of an artifact of several levels."""

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def test_same_levels_same_bytes(self):
        model, _ = every_family()
        contents = set()
        for i, target in enumerate(("multi", "x86-64-v3,x86-64-v4", "x86-64-v4,x86-64-v3", "multi")):
            os.makedirs(self.path(str(i)))
            self.compile(model, f"--target={target}", "--kernels=native", name=f"{i}/model")
            contents.add(self.read(f"{i}/model.so"))
        self.assertEqual(len(contents), 1)

    def test_multi_has_what_multiplies_fewer_bits(self):
        """Levels above x86-64-v4, and alderlake, differ only in code for bytes and bf16."""
        f32 = ["x86-64-v3", "x86-64-v4"]
        # A convolution of few channels uses bf16 or int8 only if a rule asks for it.
        for options, levels in (([], f32), (["--precision=bf16"], f32),
                                (["--precision=bf16", "--keep=*=bf16"], [*f32, "znver4", "sapphirerapids"]),
                                (["--precision=int8-dynamic"], f32),
                                (["--precision=int8-dynamic", "--keep=*=int8"], [*f32, "alderlake", "cascadelake", "sapphirerapids"]),
                                # The rule keeps all products in fp32.
                                (["--precision=int8-dynamic", "--keep=*=fp32"], f32)):
            with self.subTest(options=options):
                artifact = self.compile(conv_model(), "--target=multi", "--kernels=native", *options)
                report = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)
                self.assertEqual(sorted(v["target"] for v in report["variants"]), sorted(levels))

    def test_weights_are_stored_once(self):
        model, _ = every_family()
        weights = {}
        for target in ("x86-64-v2", "x86-64-v4", "multi"):
            artifact = self.compile(model, f"--target={target}", "--weights=file", "--kernels=native", name=target)
            weights[target] = self.read(self.weights_of(artifact))
        self.assertEqual(weights["x86-64-v2"], weights["x86-64-v4"])
        self.assertEqual(weights["x86-64-v2"], weights["multi"])

        artifact = self.compile(model, "--target=multi", "--kernels=native", name="embedded")
        sections = subprocess.run(["llvm-readelf-22", "-SW", artifact], capture_output=True, text=True,
                                  check=True).stdout
        self.assertEqual(sections.count(".ingot.weights"), 1)

    def test_only_the_interface_is_visible(self):
        artifact = self.compile(relu_model(), "--target=multi", "--kernels=native")
        symbols = subprocess.run(["llvm-nm-22", artifact], capture_output=True, text=True, check=True).stdout
        for level in ("x86_64_v3", "x86_64_v4"):
            self.assertIn(f" t ingot_run_{level}\n", symbols)
        self.assertEqual(sorted(re.findall(r" T (\S+)", symbols)),
                         ["ingot_artifact_v2", "model_create", "model_destroy", "model_run"])

    def test_description(self):
        artifact = self.compile(relu_model(), "--target=x86-64-v4,x86-64-v2,x86-64-v3", "--kernels=native")
        with cap("x86-64-v2"):
            info = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)
            text = tool("ingot", "inspect", artifact).stdout
        variants = info["variants"]
        self.assertEqual([variant["target"] for variant in variants], ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
        self.assertEqual([variant["in_use"] for variant in variants], [True, False, False])
        self.assertEqual([variant["priority"] for variant in variants], [1, 2, 3])
        self.assertEqual({variant["device"] for variant in variants}, {"cpu"})
        self.assertEqual(info["target"], "x86-64-v2")
        self.assertEqual(info["code_bytes"], variants[0]["code_bytes"])
        self.assertTrue(all(variant["code_bytes"] for variant in variants))
        self.assertEqual(len(variants[2]["features"]), 11)
        self.assertRegex(text, r"target +x86-64-v2 \(sse4\.2\), code .*, used here\n +x86-64-v3 \(.*\), code [^,]*\n")
        with open(self.path("model.h")) as f:
            self.assertIn("compiled by Ingot for x86-64-v2, x86-64-v3, x86-64-v4", f.read())


class Runs(Case):
    """Runs one artifact on every level of this machine."""

    def setUp(self):
        super().setUp()
        with cap(None):
            native = json.loads(tool("ingot", "inspect", "--json", self.compile(relu_model(), name="here")).stdout)
        self.native = native["target"]
        with open("/proc/cpuinfo") as f:
            has_vnni = "avx_vnni" in f.read().split()
        # The following levels do not contain this level.
        self.here = [level for level in LEVELS[:LEVELS.index(self.native) + 1] if level != "alderlake" or has_vnni]

    def check(self, *options, exact):
        model, runs = every_family()
        levels = [level for level in self.here if level in ("x86-64-v2", "x86-64-v3", "x86-64-v4")]
        artifact = self.compile(model, "--target=" + ",".join(levels), *options)
        for level in levels:
            if exact:
                alone = self.compile(model, f"--target={level}", *options, name="alone")
            for inputs in runs:
                with self.subTest(level=level, batch=len(inputs["x"])), cap(level):
                    info = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)
                    self.assertEqual(info["target"], level)
                    one = self.assert_agrees(model, artifact, inputs, tolerance=1e-5)
                    two = self.run_model(artifact, inputs, "--threads", "2")
                    single = self.run_model(alone, inputs) if exact else {}
                    for name, want in one.items():
                        if exact:
                            np.testing.assert_array_equal(two[name], want, f"{name} with 2 threads")
                            np.testing.assert_array_equal(single[name], want, f"{name} of an artifact for {level}")
                        else:
                            np.testing.assert_allclose(two[name], want, rtol=1e-4, atol=1e-5)

    def test_equal_tasks_are_stored_once(self):
        """No task of this model differs between these levels: the higher level calls the lower one's code."""
        levels = ("cascadelake", "znver4")
        rng = np.random.default_rng(0)
        model = make_model([helper.make_node("Conv", ["x", "w"], ["y"], "conv")], [("x", [1, 16, 64, 64])],
                           [("y", [1, 64, 60, 60])], {"w": rng.standard_normal((64, 16, 5, 5)).astype(np.float32)})
        x = {"x": rng.standard_normal((1, 16, 64, 64)).astype(np.float32)}
        both = self.compile(model, "--target=" + ",".join(levels), "--kernels=native", name="both")
        symbols = subprocess.run(["llvm-nm-22", both], capture_output=True, text=True, check=True).stdout
        tasks = re.findall(r" t \S+\.task(\S*)\n", symbols)
        self.assertEqual(set(tasks), {"_cascadelake"}, symbols)
        alone = self.compile(model, "--target=znver4", "--kernels=native", name="alone")
        for level in levels:
            if level in self.here:
                with self.subTest(level), cap(level):
                    self.assertEqual(json.loads(tool("ingot", "inspect", "--json", both).stdout)["target"], level)
                    got = self.run_model(both, x)["y"]
                    self.assert_agrees(model, both, x, tolerance=1e-4)
                    if level == levels[-1]:
                        np.testing.assert_array_equal(got, self.run_model(alone, x)["y"])

    def test_choice(self):
        artifact = self.compile(relu_model(), "--target=" + ",".join(LEVELS), "--kernels=native")
        for level in LEVELS:
            with self.subTest(level), cap(level):
                chosen = [name for name in self.here if LEVELS.index(name) <= LEVELS.index(level)][-1]
                info = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)
                self.assertEqual(info["target"], chosen)
                got = self.run_model(artifact, {"x": np.float32([[-1, 2, -3, 4]])})
                np.testing.assert_array_equal(got["y"], [[0, 2, 0, 4]])

    def test_native(self):
        self.check("--kernels=native", exact=True)

    def test_onednn(self):
        self.check("--kernels=onednn", exact=False)

    def test_weights_file(self):
        model, runs = every_family()
        artifact = self.compile(model, "--target=multi", "--kernels=native", "--weights=file")
        for level in [level for level in self.here if level != "x86-64-v2"]:
            with cap(level):
                self.assert_agrees(model, artifact, runs[1], tolerance=1e-5)

    def test_bench_says_what_ran(self):
        artifact = self.compile(relu_model(), "--target=x86-64-v2,x86-64-v3", "--kernels=native")
        with cap("x86-64-v2"):
            done = tool("ingot", "bench", artifact, "--json", "--iterations=1", "--warm-up=0", "--duration=0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["isa"], "x86-64-v2")

    def test_below_the_lowest(self):
        artifact = self.compile(relu_model(), "--target=multi", "--kernels=native")
        np.save(self.path("x.npy"), np.zeros((1, 4), np.float32))
        run = ["ingot", "run", artifact, "--input", f"x={self.path('x.npy')}", "--output-dir", self.path("out")]
        with cap("x86-64-v2"):
            self.assert_one_line(tool(*run), "x86-64-v3, x86-64-v4", "INGOT_MAX_ISA=x86-64-v2", "avx2")
        if self.native == LEVELS[-1]:
            return
        above = LEVELS[LEVELS.index(self.native) + 1]
        self.compile(relu_model(), f"--target={above}", "--kernels=native")
        with cap(None):
            self.assert_one_line(tool(*run), f"compiled for {above}", f"this CPU ({self.native})")

    def test_typed_entry_points(self):
        """A C program that links the model uses the best level that INGOT_MAX_ISA allows, or gets an error."""
        self.compile(relu_model(), "--target=multi", "--kernels=native")
        with open(self.path("use.c"), "w") as f:
            f.write("""#include "model.h"
#include <stdio.h>
int main(void) {
  char error[256] = "";
  float in[4] = {-1, 2, -3, 4}, out[4];
  model *m = model_create(NULL, 1, error, sizeof error);
  if (!m || model_run(m, in, out, error, sizeof error)) {
    fprintf(stderr, "%s\\n", error);
    return 1;
  }
  model_destroy(m);
  return out[0] != 0 || out[1] != 2 || out[2] != 0 || out[3] != 4;
}
""")
        built = subprocess.run(["cc", "use.c", "./model.so", "-Wl,-rpath,$ORIGIN", "-o", "use"], cwd=self.dir,
                               capture_output=True, text=True)
        self.assertEqual(built.returncode, 0, built.stderr)
        for level in self.here:
            with self.subTest(level), cap(level):
                done = subprocess.run(["./use"], cwd=self.dir, capture_output=True, text=True)
                if level == "x86-64-v2":
                    self.assert_one_line(done, "this model", "x86-64-v3, x86-64-v4", "INGOT_MAX_ISA=x86-64-v2")
                else:
                    self.assertEqual(done.returncode, 0, done.stderr)
