"""Compiles models of one kernel each, and writes the list that the measuring programs read."""
import concurrent.futures
import os
import subprocess
import sys


class BenchError(Exception):
    """The reason why the measurement stopped, in one line."""


def compile_one(tool, kernel, folder, target):
    """Compiles a kernel and returns its line of the list."""
    model, inputs = kernel.write(folder)
    artifact = model[:-len(".onnx")] + ".so"
    done = subprocess.run([tool, "compile", model, "-o", artifact, "--kernels=native", f"--target={target}", "--quiet"],
                          capture_output=True, text=True)
    if done.returncode:
        raise BenchError(f"{kernel.name}: {(done.stderr.strip() or 'ingot compile failed').splitlines()[0]}")
    return "\t".join([kernel.name, artifact, str(int(kernel.flops)), str(kernel.bytes), *inputs])


def compile_all(bin_dir, kernels, folder, target, jobs):
    """Writes and compiles the models; returns the path of the list."""
    os.makedirs(folder, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        lines = []
        ingot = os.path.join(bin_dir, "ingot")
        for line in pool.map(lambda kernel: compile_one(ingot, kernel, folder, target), kernels):
            lines.append(line)
            if sys.stderr.isatty():
                print(f"\r\033[Kcompiled {len(lines)} of {len(kernels)}", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    path = os.path.join(folder, "cases.tsv")
    with open(path, "w") as f:
        f.write("".join(line + "\n" for line in lines))
    return path


def program(bin_dir, name, package):
    """Returns the path of a measuring program, which is built only if its library is installed."""
    path = os.path.join(bin_dir, name)
    if not os.path.exists(path):
        raise BenchError(f"{path} is missing; install {package} and configure the build again")
    return path


def choose(kernels, words):
    """Returns the kernels whose names contain one of the words."""
    chosen = [k for k in kernels if not words or any(word in k.name for word in words)]
    if not chosen:
        raise BenchError("no kernel is called so: " + ", ".join(words))
    return chosen
