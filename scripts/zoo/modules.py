#!/usr/bin/env python3
"""Compiles each torch module of the zoo with `ingot.compile(module)`, and compares its results with PyTorch's.

usage: modules.py [--seconds S] [--json FILE] [NAME ...]       (`make python-zoo` for all)

Each module has a process of its own, forked from one that has imported torch. A module that `torch.onnx.export(dynamo=True)` refuses is no failure. The last line
is `N passed, N failed, N not exported`; the exit code is 1 if a module failed.
"""
import argparse
import faulthandler
import json
import multiprocessing
import os
import sys
import time
import warnings

import numpy as np
import registry


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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="modules (default: all)")
    parser.add_argument("--seconds", type=float, default=900, help="time of a module (default: 900)")
    parser.add_argument("--json", help="file that gets the status of each module")
    args = parser.parse_args()
    entries = {name: e for name, e in registry.load_all().items() if any(v.startswith("dynamo") for v in e.variants)}
    unknown = [name for name in args.names if name not in entries]
    if unknown:
        parser.error(f"no module {', '.join(unknown)}; the modules are {', '.join(entries)}")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["ingot", "onnxscript", "torch"])
    if args.json:
        os.makedirs(os.path.dirname(os.path.abspath(args.json)), exist_ok=True)
    rows = {}
    for name in args.names or entries:
        begun = time.monotonic()
        rows[name] = start(context, name, args.seconds)
        print(f"{name:28} {rows[name][0]:12} {time.monotonic() - begun:4.0f} s  {rows[name][1]}", flush=True)
        if args.json:
            with open(args.json, "w") as file:
                json.dump(rows, file, indent=1)
    count = {s: sum(row[0] == s for row in rows.values()) for s in ("passed", "failed", "not exported")}
    print(", ".join(f"{n} {s}" for s, n in count.items()))
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
