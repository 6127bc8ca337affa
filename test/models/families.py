#!/usr/bin/env python3
"""The test models: common model families at small sizes, seeded, written with onnx.helper.

usage: families.py OUT_DIR [NAME ...]     writes NAME.onnx (no NAME: all)

As a module: ALL maps a name to a function that returns (model, runs); each run is a dictionary of inputs.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import sequence  # noqa: E402
import vision  # noqa: E402

ALL = {f.__name__: f for f in vision.FAMILIES + sequence.FAMILIES}


def write(directory, names):
    os.makedirs(directory, exist_ok=True)
    for name in names:
        if name not in ALL:
            sys.exit(f"families.py: no model {name}: there are {', '.join(ALL)}")
        model, _ = ALL[name]()
        with open(os.path.join(directory, name + ".onnx"), "wb") as f:
            f.write(model.SerializeToString(deterministic=True))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    write(sys.argv[1], sys.argv[2:] or list(ALL))
