#!/usr/bin/env python3
"""Compiles each torch module of the zoo with `ingot.compile(module)`, and compares its results with PyTorch's.

usage: modules.py [--seconds S] [--json FILE] [--again] [NAME ...]       (`make python-zoo` for all)

Each module has a process of its own, forked from one that has imported torch. A module that
`torch.onnx.export(dynamo=True)` refuses is no failure. With --json, results go to a file as soon as they are known. A
second call with the same compiler goes on where the first one ended; --again tries anew what was tried. The last line is
`N passed, N failed, N not exported`; the exit code is 1 if a module failed.
"""
import argparse
import faulthandler
import hashlib
import multiprocessing
import os
import sys
import time
import warnings

import numpy as np
import registry
from results import Results


def flat(values):
    """Returns the arrays of a result, which may be nested."""
    import torch
    return [leaf.detach().numpy() for leaf in torch.utils._pytree.tree_leaves(values) if isinstance(leaf, torch.Tensor)]


def check(entry):
    """Compiles a module and compares it. Returns a status and the reason."""
    import ingot
    import torch
    from export import draw_scales
    module, arguments = entry.build(), tuple(entry.inputs(0).values())
    draw_scales(module)
    with torch.no_grad():
        expected = flat(module(*arguments))
        try:
            model = ingot.compile(module, args=arguments)
        except ingot.Error:
            raise
        except Exception as error:
            return "not exported", f"{type(error).__name__}: {error}".splitlines()[0]
    # The exporter leaves out inputs that have no effect, and names the others after the parameters.
    values = dict(zip(entry.inputs(0), arguments))
    made = model(*(values.get(spec.name, arguments[i]) for i, spec in enumerate(model.inputs)))
    found = list(made) if isinstance(made, tuple) else [made]
    if len(found) != len(expected):
        return "failed", f"expected {len(expected)} outputs, but got {len(found)}"
    for spec, y, one in zip(model.outputs, found, expected):
        if y.shape != one.shape:
            return "failed", f"output '{spec.name}': expected shape {one.shape}, but got {y.shape}"
        error = np.abs(y.astype(np.float64) - one).max(initial=0) / max(np.abs(one).max(initial=0), 1e-30)
        if not error <= entry.tolerance:
            return "failed", f"output '{spec.name}': the largest error is {error:.2g} of the largest output"
    return "passed", ""


def answer(name, pipe):
    """Checks a module in this process and sends the status."""
    warnings.simplefilter("ignore")
    faulthandler.enable()
    try:
        pipe.send(check(registry.load_all()[name]))
    except Exception as error:
        pipe.send(("failed", f"{type(error).__name__}: {error}".splitlines()[0]))


def start(context, name, seconds):
    """Checks a module in a new process. Returns its status and the reason."""
    ours, theirs = context.Pipe()
    process = context.Process(target=answer, args=(name, theirs))
    process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(seconds) else ("failed", f"took longer than {seconds:.0f} s")
    except EOFError:
        process.join()
        return "failed", f"the process ended with exit code {process.exitcode}"
    finally:
        process.kill()
        process.join()


def compiler():
    """Returns a digest of the compiler, with which results are valid."""
    import ingot_compiler
    with open(ingot_compiler.executable(), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="modules (default: all)")
    parser.add_argument("--seconds", type=float, default=900, help="time of a module (default: 900)")
    parser.add_argument("--json", help="file that gets the status of each module")
    parser.add_argument("--again", action="store_true", help="try anew what was tried")
    args = parser.parse_args()
    entries = {name: e for name, e in registry.load_all().items() if any(v.startswith("dynamo") for v in e.variants)}
    unknown = [name for name in args.names if name not in entries]
    if unknown:
        parser.error(f"no module {', '.join(unknown)}; the modules are {', '.join(entries)}")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["ingot", "onnxscript", "torch"])
    results = None
    if args.json:
        os.makedirs(os.path.dirname(os.path.abspath(args.json)), exist_ok=True)
        results = Results(args.json)
    digest = compiler()
    statuses = []
    for name in args.names or entries:
        row = results.rows.get(name) if results and not args.again else None
        if not isinstance(row, dict) or row.get("compiler") != digest:
            begun = time.monotonic()
            status, reason = start(context, name, args.seconds)
            row = {"status": status, "reason": reason, "seconds": round(time.monotonic() - begun), "compiler": digest}
            if results:
                results.put(name, row)
        statuses.append(row["status"])
        print(f"{name:28} {row['status']:12} {row['seconds']:4.0f} s  {row['reason']}", flush=True)
    print(", ".join(f"{statuses.count(s)} {s}" for s in ("passed", "failed", "not exported")))
    return 1 if "failed" in statuses else 0


if __name__ == "__main__":
    sys.exit(main())
