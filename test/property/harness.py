"""Compiles a model of many cases, runs it between guard pages and compares it with ONNX Runtime."""
import os
import shutil
import subprocess
import tempfile

import numpy as np

import cases as drawing

TIMEOUT = 600


class Broken(Exception):
    """A tool failed on the model, so none of its cases was compared."""


def expected(model, inputs):
    import onnxruntime  # starts threads, so it must not run in a process that forks
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    # Disables optimizations, so that no sums are merged.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))


def call(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise Broken(f"{os.path.basename(command[0])}: no end after {TIMEOUT} s") from None


def run_guarded(binaries, artifact, folder, inputs, outputs):
    """Returns {output: array} and the lines of the runner."""
    def dims(array):
        return "x".join(map(str, array.shape)) or "scalar"
    with open(os.path.join(folder, "plan.txt"), "w") as plan:
        for i, array in enumerate(inputs.values()):
            array.tofile(os.path.join(folder, f"in{i}"))
            plan.write(f"input in{i} {dims(array)}\n")
        for i, array in enumerate(outputs.values()):
            plan.write(f"output out{i} {dims(array)}\n")
    done = call([os.path.join(binaries, "ingot-guarded-run"), artifact, folder])
    if done.returncode not in (0, 1):
        raise Broken(f"run: {done.stderr.strip() or f'exit code {done.returncode}'}")
    if not all(os.path.exists(os.path.join(folder, f"out{i}")) for i in range(len(outputs))):
        raise Broken(f"run: {done.stdout.strip()}")
    found = {name: np.fromfile(os.path.join(folder, f"out{i}"), array.dtype).reshape(array.shape)
             for i, (name, array) in enumerate(outputs.items())}
    return found, done.stdout.splitlines()


def error_of(got, want, tolerance):
    """Returns the problem of an output, or ""."""
    if np.array_equal(got, want, equal_nan=True):
        return ""
    largest = np.abs(want).max(initial=1e-30)
    error = np.abs(got.astype(np.float64) - want)
    if not np.isfinite(error).all():
        return f"{np.count_nonzero(~np.isfinite(error))} of {error.size} elements are no numbers"
    if error.max() <= tolerance * largest:
        return ""
    at = np.unravel_index(error.argmax(), error.shape)
    many = np.count_nonzero(error > tolerance * largest)
    return (f"off by {error.max() / largest:.2g} of the largest value, {tolerance:.2g} allowed; {many} of {error.size} "
            f"elements, the worst {got[at]} for {want[at]} at {list(map(int, at))}")


def check_batch(binaries, batch, target, options=()):
    """Returns [(case, problem)] for cases in one model."""
    model = drawing.make_model(batch)
    inputs = {name: array for case in batch for name, array in case.inputs.items()}
    wanted = expected(model, inputs)
    folder = tempfile.mkdtemp(prefix="ingot-property-")
    try:
        source, artifact = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.so")
        with open(source, "wb") as f:
            f.write(model.SerializeToString())
        done = call([os.path.join(binaries, "ingot"), "compile", source, "-o", artifact, "--kernels=native",
                     "--weights=file", f"--target={target}", *options])
        if done.returncode:
            raise Broken(f"compile: {done.stderr.strip()[:600] or f'exit code {done.returncode}'}")
        got, notes = run_guarded(binaries, artifact, folder, inputs, wanted)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    wrong = []
    for case in batch:
        what = [error_of(got[case.output], wanted[case.output], case.tolerance)]
        what += [note for note in notes if note.startswith(f"output {case.output} ")]
        wrong += [(case, text) for text in what if text]
    return wrong


def check(binaries, batch, target, options=()):
    """Returns [(case, problem)] for a batch. If a tool fails, tests each case separately."""
    try:
        return check_batch(binaries, batch, target, options)
    except Broken as error:
        if len(batch) == 1:
            return [(batch[0], str(error))]
        half = len(batch) // 2
        wrong = check(binaries, batch[:half], target, options) + check(binaries, batch[half:], target, options)
        return wrong or [(batch[0], f"only together with the others of its model: {error}")]
