"""Tests models of many nodes: their code is cut into pieces, and compile time grows linearly."""
import os
import resource
import subprocess
import sys

import support
from support import Case, np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import scaling_models  # noqa: E402

SECONDS = 60  # of CPU time, ten times the usual time
MEGABYTES = 1024


class Allocator(Case):
    """Large models compile faster with jemalloc than with glibc's malloc."""

    def test_jemalloc(self):
        source = self.save(scaling_models.FAMILIES["neg"](1))
        done = subprocess.run([os.path.join(support.BIN, "ingot"), "compile", source, "-o", self.path("model.so")],
                              env={**os.environ, "MALLOC_CONF": "stats_print:true"}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("jemalloc statistics", done.stderr)


class Results(Case):
    """Results that many pieces compute equal those of ONNX Runtime."""

    def check(self, name, n, **dims):
        model = scaling_models.FAMILIES[name](n)
        artifact = self.compile(model)
        random = np.random.default_rng(2)
        inputs = {}
        for value in model.graph.input:
            shape = [d.dim_value or dims[d.dim_param] for d in value.type.tensor_type.shape.dim]
            inputs[value.name] = random.standard_normal(shape).astype(np.float32)
        self.assert_agrees(model, artifact, inputs, tolerance=1e-3)

    def test_mixed(self):
        self.check("mixed", 1500)

    def test_open_sizes(self):
        self.check("open-sizes", 1500, N=7)

    def test_open_shapes(self):
        self.check("open-shapes", 900, N=3)

    def test_elementwise(self):
        self.check("elementwise", 300)

    def test_fan_out(self):
        self.check("fan-out", 1000)

    def test_open_fan_out(self):
        """More live buffers than the stack has room for do not make pieces longer."""
        self.check("open-fan-out", 1400, N=5)
        source, out = self.path("model.onnx"), self.path("model.ll")
        scaling_models.write("open-fan-out", 1400, source)
        done = support.tool("ingot", "compile", source, "-o", out, "-q", "--emit=llvm")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(out) as f:
            longest = max(text.count("\n") for text in f.read().split("\ndefine ")[1:])
        self.assertLess(longest, 5000)

    def test_concat(self):
        self.check("concat", 400)

    def test_split(self):
        self.check("split", 400)

    def test_split_out(self):
        self.check("split-out", 400)

    def test_inputs_outputs(self):
        self.check("inputs-outputs", 200)

    def test_open_inputs_outputs(self):
        self.check("open-inputs-outputs", 200, N=3, **{f"M{i}": i % 5 for i in range(200)})

    def test_named_sizes_of_many_inputs(self):
        """Sizes of one name are checked, even if the inputs are far apart."""
        names = [f"x{i}" for i in range(200)]
        node = support.helper.make_node("Concat", names, ["y"], axis=1)
        artifact = self.compile(support.make_model([node], [(name, ["N", 1]) for name in names], [("y", ["N", 200])]))
        arguments = []
        for i in range(200):
            np.save(self.path(f"x{i}.npy"), np.zeros((4 if i == 177 else 3, 1), np.float32))
            arguments += ["--input", f"x{i}={self.path(f'x{i}.npy')}"]
        done = support.tool("ingot", "run", artifact, *arguments)
        self.assert_one_line(done, "dimension 'N' differs: 3 in dimension 0 of input 'x0', but 4 in dimension 0 of "
                                   "input 'x177'")


class Bounds(Case):
    """Absolute limits, far above the usual time and far below that of a quadratic pass."""

    def check(self, name, n):
        source, out = self.path("model.onnx"), self.path("model.so")
        scaling_models.write(name, n, source)
        limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))  # noqa: E731
        process = subprocess.Popen([os.path.join(support.BIN, "ingot"), "compile", source, "-o", out, "-q"],
                                   stderr=subprocess.PIPE, text=True, preexec_fn=limit)
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, f"{name}, {n} nodes: {errors or 'no end'}")
        self.assertLess(usage.ru_maxrss / 1024, MEGABYTES)


def bound_test(name, n):
    return lambda self: self.check(name, n)


for _name, _n in {"matmul": 2000, "softmax": 5000, "mixed": 5000, "open-sizes": 2000, "elementwise": 5000,
                  "fan-out": 4000, "neg": 20000, "inputs-outputs": 2000, "split-out": 2000}.items():
    setattr(Bounds, "test_" + _name.replace("-", "_"), bound_test(_name, _n))
