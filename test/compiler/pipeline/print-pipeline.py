# The pipeline of `ingot compile --print-pipeline` gives equal IR, byte for byte, in ingot-opt.
# REQUIRES: ingot-import
# RUN: %python %s %t
import os
import subprocess
import sys

import families
import numpy as np
import onnx

OPTIONS = ([], ["--precision=bf16", "--optimize=size"], ["--kernels=onednn"], ["--target=sapphirerapids,l2=2M", "--emulate-on=x86-64-v3"])


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout


folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
for name in ("resnet", "ocr_lstm", "mlp_dynamic"):
    model = os.path.join(folder, name + ".onnx")
    onnx.save(families.ALL[name]()[0], model)
    imported = os.path.join(folder, name + ".mlir")
    with open(imported, "w") as f:
        f.write(output("ingot-import", model, "--mlir-print-debuginfo", "--elide=4294967295"))
    more = []
    if name == "resnet":
        data, ranges = os.path.join(folder, "data.npz"), os.path.join(folder, "resnet.calib.json")
        np.savez(data, input=np.random.default_rng(0).standard_normal((12, 3, 64, 64)).astype(np.float32))
        output("ingot", "calibrate", model, "--data", data, "-o", ranges, "--repair=equalize,smooth,round,bias")
        more = [["--precision=int8", "--calibration=" + ranges, "--keep=/Conv_*=fp32", "--keep=/Gemm*=fp32"]]
    for options in (*OPTIONS, *more):
        if not any(o.startswith("--target") for o in options):
            options = [*options, "--target=x86-64-v4"]
        phases = ("memory", "llvm")
        if options[0] == "--precision=int8":
            phases = ("graph", "quantize", *phases)
        for phase in phases:
            compile = ["ingot", "compile", model, "--emit=mlir-" + phase, *options]
            pipeline = output(*compile, "--print-pipeline").strip()
            assert pipeline.startswith("builtin.module("), pipeline
            got = output("ingot-opt", imported, "--pass-pipeline=" + pipeline)
            assert got == output(*compile, "-o", "-"), (name, options, phase)
