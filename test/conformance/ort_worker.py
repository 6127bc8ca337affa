#!/usr/bin/env python3
"""Runs conformance cases through ONNX Runtime's Python interface, with the protocol of ingot-conformance (see
Worker.cpp).

usage: ort_worker.py [onnxruntime | ingot.onnxruntime]

With ONNX Runtime itself, a known engine checks the harness, and both engines are counted equally. Each of its cases
runs in a forked child. `ingot.onnxruntime` runs all cases in this process, so that a case also meets the models before
it; a crash ends the process, and run.py starts another.
"""
import importlib
import os
import signal
import sys
import tempfile
import warnings

import numpy as np

import cases

TIMEOUT_S = 60
NAMES = {number: name for name, number in cases.DTYPES.items()}


def read_options(case, options):
    """Passes the case's options for compiling to a session of Ingot."""
    values = {}
    with open(os.path.join(case, "options.txt")) as file:
        for line in file:
            option, *words = line.rstrip("\n").split("\t")
            values.setdefault(option, []).append("=".join(words))
    for option, texts in values.items():
        options.add_session_config_entry("ingot." + option, ";".join(texts))


def read_sets(case):
    """Returns {set: {name: array}}."""
    sets = {}
    with open(os.path.join(case, "plan.txt")) as plan:
        for line in plan:
            number, name, dtype, dims, file = line.rstrip("\n").split("\t")
            shape = [] if dims == "scalar" else [int(d) for d in dims.split("x")]
            sets.setdefault(number, {})[name] = cases.unpack(
                np.fromfile(os.path.join(case, file), np.uint8), NAMES[int(dtype)], shape)
    return sets or {"0": {}}


def run_case(module, case, out):
    """Runs a case and returns the line of the answer."""
    options = module.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if is_ingot(module):
        read_options(case, options)
    try:
        session = module.InferenceSession(os.path.join(case, "model.onnx"), options,
                                          providers=["CPUExecutionProvider"])
    except Exception as error:
        # A compiler that crashes has no diagnostics.
        refused = not is_ingot(module) or getattr(error, "diagnostics", None)
        return f"{'unsupported' if refused else 'compile-error'}\t{error}"
    index = []
    for number, feeds in read_sets(case).items():
        try:
            results = session.run(None, feeds)
        except Exception as error:
            return f"run-error\t{error}"
        for i, value in enumerate(results):
            if not cases.is_tensor(value):
                return "run-error\tan output is no tensor"
            value = np.asarray(value, order="C")
            cases.pack(value).tofile(os.path.join(out, f"{number}_got_{i}.bin"))
            dims = "x".join(map(str, value.shape)) if np.ndim(value) else "scalar"
            index.append(f"{number}\t{i}\t{cases.DTYPES[cases.name_of(value.dtype)]}\t{dims}\n")
    with open(os.path.join(out, "got.txt"), "w") as f:
        f.write("".join(index))
    return "ran\t"


def is_ingot(module):
    return module.__name__ == "ingot.onnxruntime"


def answer_line(text):
    return " ".join(text.split("\n"))[:4000]


def run_in_child(module, case, out):
    """Runs a case in a forked child and returns the line of the answer."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(TIMEOUT_S)
        os.close(read)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(write, answer_line(run_case(module, case, out)).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = pipe.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        answer = "timeout\t" if number == signal.SIGALRM else f"crash\t{signal.Signals(number).name}"
    return answer or "crash\tno answer"


def run_here(module, case, out):
    """Runs a case in this process, which a case without an end ends."""
    signal.alarm(TIMEOUT_S)
    answer = answer_line(run_case(module, case, out))
    signal.alarm(0)
    return answer


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "onnxruntime"
    module = importlib.import_module(name)  # before forking, so that each case starts warm
    warnings.simplefilter("ignore")
    run = run_here if is_ingot(module) else run_in_child
    with tempfile.TemporaryDirectory(prefix="ingot-conformance-") as cache:
        os.environ.setdefault("INGOT_CACHE", cache)
        for line in sys.stdin:
            print(run(module, *line.rstrip("\n").split("\t")), flush=True)


if __name__ == "__main__":
    main()
