"""Runs the models of the sweeps in Ingot between guard pages, in ONNX Runtime, and in ONNX's reference implementation.

A child of a warm `ingot-conformance` compiles a model. `ingot-guarded-run` runs it with several sets of inputs, each in
a separate process, so that a crash or a hang affects nothing else.
"""
import dataclasses
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from multiprocessing.connection import wait

import ml_dtypes
import numpy as np
import onnxruntime
from onnx import TensorProto, helper

import reference

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(os.path.dirname(HERE), folder) for folder in ("conformance", "models")]
import cases  # noqa: E402
import internals  # noqa: E402

# INGOT_ABI_... codes that a run may return for sizes or data that do not fit.
CLEAN = {1: "invalid argument", 3: "out of memory", 9: "runtime check"}
COMPILE_SECONDS = 60  # CPU time; ten times as much wall time may pass
RUN_SECONDS = 1000  # for all sets of inputs; each set has 20 seconds of CPU time


@dataclasses.dataclass
class Run:
    """The result of one set of inputs: ran, refused, differs, fault, hang or broken. For a model that was not compiled:
    unsupported, compile-error, crash or timeout. Or internal: a message in the compiler's own terms."""
    kind: str
    detail: str = ""
    outputs: list = dataclasses.field(default_factory=list)


def numpy_type(element_type):
    return np.dtype(ml_dtypes.bfloat16) if element_type == TensorProto.BFLOAT16 else \
        helper.tensor_dtype_to_np_dtype(element_type)


def scratch_folder():
    """Makes a folder, in memory if possible, because a run writes many small files."""
    memory = "/dev/shm"
    return tempfile.mkdtemp(prefix="ingot-sweep-", dir=memory if os.access(memory, os.W_OK) else None)


class Ingot:
    """Compiles and runs models, one at a time."""

    def __init__(self, binaries, folder, target="native"):
        self.runner = os.path.join(binaries, "ingot-guarded-run")
        self.command = [os.path.join(binaries, "ingot-conformance"), "--kernels=native", f"--target={target}",
                        "--compile-only", f"--timeout={COMPILE_SECONDS}"]
        self.folder, self.process = folder, None

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()

    def compile(self, model):
        """Compiles the model. Returns a Run of kind `compiled`, or the failure."""
        for name in ("model.so", "model.so.weights"):
            if os.path.exists(os.path.join(self.folder, name)):
                os.remove(os.path.join(self.folder, name))
        with open(os.path.join(self.folder, "model.onnx"), "wb") as f:
            f.write(model.SerializeToString())
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, text=True, errors="replace")
        try:
            self.process.stdin.write(f"{self.folder}\t{self.folder}\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            return Run("crash", f"the worker itself ended with {self.process.wait()}")
        kind, _, detail = answer.rstrip("\n").partition("\t")
        if kind in ("unsupported", "compile-error") and internals.find(detail):
            kind = "internal"
        return Run(kind, detail)

    def run(self, model, sets):
        """Returns a Run for each set of inputs (arrays in the order of the model's inputs)."""
        folders, results = [], []
        for i, arrays in enumerate(sets):
            folder = os.path.join(self.folder, f"set{i}")
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            folders.append(folder)
            with open(os.path.join(folder, "plan.txt"), "w") as plan:
                for j, array in enumerate(arrays):
                    cases.pack(array).tofile(os.path.join(folder, f"in{j}"))
                    plan.write(f"input in{j} {'x'.join(map(str, array.shape)) or 'scalar'}\n")
                for j in range(len(model.graph.output)):
                    plan.write(f"output out{j} ?\n")
        try:
            done = subprocess.run([self.runner, "--each", os.path.join(self.folder, "model.so"), *folders],
                                  capture_output=True, text=True, errors="replace", timeout=RUN_SECONDS)
            lines, note = done.stdout.splitlines(), done.stderr.strip() or f"exit code {done.returncode}"
        except subprocess.TimeoutExpired as expired:
            lines, note = (expired.stdout or b"").decode(errors="replace").splitlines(), "no end"
        for i, folder in enumerate(folders):
            kind, _, detail = lines[i].partition(" ") if i < len(lines) else ("broken", "", note)
            result = Run(kind, detail)
            if kind == "ran":
                result.outputs = read_outputs(folder, model)
            elif kind == "refused" and (int(detail.split(" ", 1)[0]) not in CLEAN or internals.find(detail)):
                result.kind = "broken"
            results.append(result)
            shutil.rmtree(folder, ignore_errors=True)
        return results


def read_outputs(folder, model):
    outputs = []
    with open(os.path.join(folder, "dims.txt")) as f:
        for i, (line, output) in enumerate(zip(f, model.graph.output)):
            shape = [] if line.strip() == "scalar" else [int(d) for d in line.split("x")]
            data = np.fromfile(os.path.join(folder, f"out{i}"), np.uint8)
            outputs.append(cases.unpack(data, numpy_type(output.type.tensor_type.elem_type).name, shape))
    return outputs


class OnnxRuntime:
    """A session in a separate process, because some inputs make it crash or abort."""

    def __init__(self, model):
        self.bytes, self.names = model.SerializeToString(), [i.name for i in inputs_of(model)]
        self.child = self.channel = None

    def __del__(self):
        self.close()

    def close(self):
        if self.child:
            self.channel.close()
            os.kill(self.child, signal.SIGKILL)
            os.waitpid(self.child, 0)
            self.child = None

    def serve(self, channel):
        session = None
        while True:
            arrays = channel.recv()
            try:
                if session is None:
                    options = onnxruntime.SessionOptions()
                    options.log_severity_level = 4
                    options.intra_op_num_threads = 1
                    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
                    session = onnxruntime.InferenceSession(self.bytes, options, providers=["CPUExecutionProvider"])
                channel.send([np.asarray(v) for v in session.run(None, dict(zip(self.names, arrays)))])
            except Exception as error:  # any exception means a refusal
                channel.send(" ".join(str(error).split())[:300])

    def run(self, arrays):
        """Returns the outputs, or the reason why there are none."""
        if self.child is None:
            self.channel, theirs = multiprocessing.Pipe()
            self.child = os.fork()
            if self.child == 0:
                self.channel.close()
                try:
                    self.serve(theirs)
                except (EOFError, OSError):
                    pass
                finally:
                    os._exit(0)
            theirs.close()
        try:
            self.channel.send(arrays)
            return self.channel.recv()
        except (EOFError, OSError):
            self.channel.close()
            _, status = os.waitpid(self.child, 0)
            self.child = None
            return f"it died of signal {os.WTERMSIG(status)}"


class Peers:
    """A model in ONNX Runtime and in ONNX's reference implementation, created when first used. A method returns the
    outputs, or None if the peer has no kernel or refuses the inputs; `why` has its reason."""

    def __init__(self, model):
        self.model, self.why = model, {}
        self.names = [i.name for i in inputs_of(model)]
        self.session = self.evaluator = None

    def onnxruntime(self, arrays):
        if any(a.dtype == ml_dtypes.bfloat16 for a in arrays):
            self.why["onnxruntime"] = "its Python interface takes no bfloat16"
            return None
        if self.session is None:
            self.session = OnnxRuntime(self.model)
        answer = self.session.run(arrays)
        if isinstance(answer, str):
            self.why["onnxruntime"] = answer
            return None
        return answer

    def reference(self, arrays):
        try:
            if self.evaluator is None:
                self.evaluator = reference.evaluator(self.model)
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                outputs = self.evaluator.run(None, {n: a.copy() for n, a in zip(self.names, arrays)})
            return [np.asarray(v) for v in outputs]
        except Exception as error:
            self.why["reference"] = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
            return None


def inputs_of(model):
    weights = {i.name for i in model.graph.initializer}
    return [i for i in model.graph.input if i.name not in weights]


def difference(got, want, tolerance):
    """Returns the problem of an output, or nothing. `tolerance` is absolute."""
    if got.shape != want.shape:
        return f"shape {list(got.shape)} for {list(want.shape)}"
    if got.dtype != want.dtype:
        return f"{got.dtype} for {want.dtype}"
    if got.dtype.kind in "biu":
        wrong = got != want
    else:
        got, want = got.astype(np.float64), want.astype(np.float64)
        with np.errstate(all="ignore"):
            wrong = ~((np.abs(got - want) <= tolerance) | (got == want) | (np.isnan(got) & np.isnan(want)))
    if not wrong.any():
        return ""
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{np.count_nonzero(wrong)} of {wrong.size} elements, {got[at]} for {want[at]} at {list(at)}"


def crew(jobs, start, items, seconds):
    """Yields (item, result) for every item. Calls `start(folder)` once in each of `jobs` processes, with an empty
    folder; it returns a function from an item to a result. A process that dies, or takes longer than `seconds`, is
    replaced, and the result is a Run that says so."""
    context = multiprocessing.get_context("fork")

    def serve(channel, folder):
        work = start(folder)
        while (item := channel.recv()) is not None:
            channel.send(work(item))
        getattr(work, "close", lambda: None)()

    scratch = scratch_folder()

    def hire():
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, tempfile.mkdtemp(dir=scratch)), daemon=True)
        process.start()
        theirs.close()
        return [process, ours, None, 0.0]

    left, workers = iter(items), [hire() for _ in range(jobs)]
    try:
        busy = True
        while busy:
            busy = False
            for worker in workers:
                if worker[2] is None and (item := next(left, None)) is not None:
                    worker[1].send(item)
                    worker[2:] = [item, time.monotonic() + seconds]
                busy |= worker[2] is not None
            ready = wait([w[1] for w in workers if w[2] is not None], timeout=1) if busy else []
            for i, (process, channel, item, deadline) in enumerate(workers):
                if item is None:
                    continue
                late = time.monotonic() > deadline
                if channel not in ready and not late:
                    continue
                try:
                    result = channel.recv() if channel in ready else None
                except (EOFError, ConnectionResetError):
                    result = None
                if result is None:
                    process.kill()
                    process.join()
                    result = Run("peer", "no end" if late else f"ended with {process.exitcode}")
                    workers[i] = hire()
                else:
                    workers[i][2] = None
                yield item, result
    finally:
        for process, channel, item, _ in workers:
            try:
                channel.send(None)
            except OSError:
                pass
            process.join(5)
            if process.is_alive():
                process.kill()
        shutil.rmtree(scratch, ignore_errors=True)


def say(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
