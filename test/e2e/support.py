"""Common parts of end-to-end tests: calls of the tools, comparisons, and small models."""
import glob
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import internals
import served

BIN = os.environ.get("INGOT_BIN", "")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.dirname(BIN)
TOLERANCE = 1e-4  # relative to the largest absolute output
# Options for code with AVX-512, VNNI and BF16 that runs on every CPU with AVX2, which emulates the instructions.
EMULATED = ("--target=znver4", "--emulate-on=x86-64-v3")
# Texts that a tool prints when it crashes; never acceptable for any input.
CRASH_MARKS = ("PLEASE submit a bug report", "Assertion", "terminate called", "Stack dump", "AddressSanitizer",
               "itself failed", "runtime error:", "Segmentation fault", "LLVM ERROR")


def tool(name, *arguments, cwd=None, env=None, timeout=300):
    """Runs a tool; never raises for its exit code."""
    command = [os.path.join(BIN, name), *map(str, arguments)]
    # Some variables are read before a program's first line, so the process must start.
    if name == "ingot" and not env and "INGOT_SERVER" in os.environ:
        return served.run(command, cwd, timeout)
    return subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=cwd, timeout=timeout,
                          env={**os.environ, **(env or {})})


def start(name, *arguments, stderr=subprocess.DEVNULL):
    """Starts a tool and does not wait for it. The tool can be interrupted even if the tests run in the background of a
    shell, which ignores SIGINT there, or under nohup, which ignores SIGHUP."""
    def restore_signals():
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
    return subprocess.Popen([os.path.join(BIN, name), *map(str, arguments)], stdout=subprocess.DEVNULL,
                            stderr=stderr, preexec_fn=restore_signals)


def wait_until(holds, seconds=20):
    """Returns true as soon as `holds()`, and false after the given time."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def is_running(pid):
    """Returns true unless the process has ended. A zombie has ended."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def peer(model, as_written=False):
    """Returns a session of ONNX Runtime. With as_written, nodes are not fused, because fused ones compute differently.
    """
    import onnxruntime  # starts threads, so it must not run in a process that forks
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1  # several tests run at the same time, and its threads spin
    if as_written:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def have(name):
    return os.path.exists(os.path.join(BIN, name))


class Case(unittest.TestCase):
    """A test with its own folder, and assertions on tools."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ingot-test-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def save(self, model, name="model.onnx"):
        path = self.path(name)
        data = model if isinstance(model, bytes) else model.SerializeToString(deterministic=True)
        with open(path, "wb") as f:
            f.write(data)
        return path

    def compile(self, model, *options, name="model"):
        """Compiles a model (path, bytes or ModelProto) and returns the artifact's path."""
        source = model if isinstance(model, str) else self.save(model, name + ".onnx")
        artifact = self.path(name + ".so")
        done = tool("ingot", "compile", source, "-o", artifact, *options)
        self.assertEqual(done.returncode, 0, f"ingot compile: {done.stderr}{done.stdout}")
        return artifact

    def build_program(self, source, name="use"):
        """Builds a C program with the static libingot, as `name` in the test's folder."""
        with open(self.path(name + ".c"), "w") as f:
            f.write(source)
        built = subprocess.run(["cc", "-O1", "-Wall", "-Werror", name + ".c", f"-I{ROOT}/runtime/include",
                                f"{BUILD}/lib/libingot.a", "-ldl", "-lpthread", "-o", name],
                               cwd=self.dir, capture_output=True, text=True)
        self.assertEqual(built.returncode, 0, built.stderr)

    def weights_of(self, artifact):
        """Returns the path of an artifact's separate weights file; there must be exactly one."""
        found = glob.glob(glob.escape(artifact) + ".????????????????.weights")
        self.assertEqual(len(found), 1, found)
        return found[0]

    def run_model(self, artifact, inputs, *options):
        """Runs once and returns {output: array}."""
        arguments = []
        for i, (name, value) in enumerate(inputs.items()):
            np.save(self.path(f"in_{i}.npy"), value)
            arguments += ["--input", f"{name}={self.path(f'in_{i}.npy')}"]
        out = self.path("out")
        shutil.rmtree(out, ignore_errors=True)
        done = tool("ingot", "run", artifact, *arguments, "--output-dir", out, *options)
        self.assertEqual(done.returncode, 0, f"ingot run: {done.stderr}{done.stdout}")
        return {file[:-4]: np.load(os.path.join(out, file)) for file in os.listdir(out)}

    def assert_agrees(self, model, artifact, inputs, tolerance=TOLERANCE, as_written=False):
        """Asserts that a run equals ONNX Runtime's within the tolerance. Returns the results."""
        session = peer(model, as_written)
        got = self.run_model(artifact, inputs)
        wanted = {o.name: v for o, v in zip(session.get_outputs(), session.run(None, inputs))}
        self.assertEqual(sorted(got), sorted(wanted))
        for name, want in wanted.items():
            self.assertEqual(got[name].shape, want.shape, name)
            if want.dtype == object:  # strings
                self.assertEqual(got[name].tolist(), want.tolist(), name)
                continue
            self.assertEqual(got[name].dtype, want.dtype, name)
            if want.dtype.kind in "fc":
                error = np.abs(got[name].astype(np.float64) - want).max(initial=0)
                self.assertLessEqual(error, tolerance * np.abs(want).max(initial=1e-30), f"output {name}")
            else:
                np.testing.assert_array_equal(got[name], want, f"output {name}")
        return got

    def assert_one_line(self, done, *words):
        """Asserts that the tool failed properly: exit code 1 or 2, one line on stderr that contains all words, no
        crash."""
        self.assertIn(done.returncode, (1, 2), f"exit code; stderr: {done.stderr}")
        for mark in CRASH_MARKS:
            self.assertNotIn(mark, done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        self.assertEqual(len(lines), 1, f"expected one line, got:\n{done.stderr}")
        self.assertEqual(internals.find(lines[0]), "", lines[0])
        for word in words:
            self.assertIn(word.lower(), lines[0].lower())

    def assert_refuses(self, model, *words, options=()):
        """Asserts that `ingot compile` refuses the model with one line and leaves no files."""
        source = model if isinstance(model, str) else self.save(model)
        out = self.path("refused")
        os.makedirs(out, exist_ok=True)
        done = tool("ingot", "compile", source, "-o", os.path.join(out, "model.so"), *options)
        self.assert_one_line(done, *words)
        self.assertEqual(os.listdir(out), [], "something was left behind")


def make_model(nodes, inputs, outputs, initializers=(), opset=17, name="test", **graph):
    """Makes a model from nodes; inputs and outputs are (name, shape[, type]); initializers {name: array}."""
    def infos(values):
        return [helper.make_tensor_value_info(v[0], v[2] if len(v) > 2 else TensorProto.FLOAT, v[1]) for v in values]
    tensors = [numpy_helper.from_array(np.asarray(a), n) for n, a in dict(initializers).items()]
    return helper.make_model(helper.make_graph(nodes, name, infos(inputs), infos(outputs), tensors, **graph),
                             opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def relu_model(shape=(1, 4)):
    return make_model([helper.make_node("Relu", ["x"], ["y"], name="act")], [("x", list(shape))],
                      [("y", list(shape))])


def conv_model(weight=(4, 3, 3, 3), name="conv0", **attributes):
    weights = np.random.default_rng(0).standard_normal(weight).astype(np.float32)
    return make_model([helper.make_node("Conv", ["x", "w"], ["y"], name=name, **attributes)],
                      [("x", [1, 3, 8, 8])], [("y", list("nchw"))], {"w": weights})


__all__ = ["BIN", "BUILD", "EMULATED", "ROOT", "TOLERANCE", "Case", "conv_model", "have", "helper", "make_model", "np",
           "numpy_helper", "onnx", "peer", "relu_model", "start", "tool", "TensorProto"]


class NodeByNode:
    """Builds a network node by node, with weights from a fixed seed."""

    def __init__(self, seed, channels):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.value, self.channels = [], {}, "x", channels

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(value, np.float32)
        return name

    def node(self, kind, *inputs, **attributes):
        name = f"{kind}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name
