#!/usr/bin/env python3
"""Runs conformance cases through ONNX Runtime with the protocol of ingot-conformance (see Worker.cpp). So a known
engine checks the harness, and both engines are counted equally."""
import os
import signal
import sys

import numpy as np

import cases

TIMEOUT_S = 60
NAMES = {number: name for name, number in cases.DTYPES.items()}


def run_case(case, out):
    """Runs a case and returns the line of the answer."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(os.path.join(case, "model.onnx"), options,
                                               providers=["CPUExecutionProvider"])
    except Exception as error:
        return f"unsupported\t{error}"
    sets = {}
    with open(os.path.join(case, "plan.txt")) as plan:
        for line in plan:
            number, name, dtype, dims, file = line.rstrip("\n").split("\t")
            shape = [] if dims == "scalar" else [int(d) for d in dims.split("x")]
            sets.setdefault(number, {})[name] = cases.unpack(
                np.fromfile(os.path.join(case, file), np.uint8), NAMES[int(dtype)], shape)
    index = []
    for number, feeds in (sets or {"0": {}}).items():
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
            index.append(f"{number}\t{i}\t{cases.DTYPES[value.dtype.name]}\t{dims}\n")
    with open(os.path.join(out, "got.txt"), "w") as f:
        f.write("".join(index))
    return "ran\t"


def main():
    import onnxruntime  # noqa: F401  (loaded before forking, so that each case starts warm)
    for line in sys.stdin:
        case, out = line.rstrip("\n").split("\t")
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(TIMEOUT_S)
            os.close(read)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            answer = run_case(case, out)
            os.write(write, " ".join(answer.split("\n")).encode()[:4000])
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            answer = pipe.read().decode(errors="replace")
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            answer = "timeout\t" if number == signal.SIGALRM else f"crash\t{signal.Signals(number).name}"
        print(answer or "crash\tno answer", flush=True)


if __name__ == "__main__":
    main()
