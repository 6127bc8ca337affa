#!/usr/bin/env python3
"""Writes one model and its inputs, in a process of its own: export.py MODEL VARIANT FOLDER.

FOLDER gets model.onnx, inputs0.npz and inputs1.npz (the second size).
"""
import os
import re
import shutil
import sys
import warnings

import numpy as np
import registry


def plain(values):
    return {name: v if isinstance(v, np.ndarray) else v.numpy() for name, v in values.items()}


# Names of scales outside of normalizations: of layers, and of whole residual branches.
SCALES = re.compile(r"(^|\.)(gamma|lambda_?\d*|layer_scale\w*)$")


def draw_scales(module):
    """Replaces scales near zero, with which some architectures begin their training, by random ones.

    Otherwise channels and whole residual branches would be zero, and the compiler would remove their work.
    """
    import torch
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for part in module.modules():
            normalizes = "Norm" in type(part).__name__ or "GRN" in type(part).__name__
            for name, value in part.named_parameters(recurse=False):
                if normalizes and name in ("weight", "gamma") or SCALES.search(name):
                    drawn = torch.rand(value.shape, generator=generator) * 0.4 + 0.8
                    value.copy_(torch.where(value.abs() < 0.1, drawn.to(value.dtype), value))


def write_torch(entry, exporter, opset, path):
    import torch
    values = entry.inputs(0)
    args, names = tuple(values.values()), list(values)
    module = entry.build()
    draw_scales(module)
    with torch.no_grad():
        if exporter == "script":
            if entry.scripted:
                module = torch.jit.script(module)
            torch.onnx.export(module, args, path, dynamo=False, opset_version=opset, input_names=names,
                              dynamic_axes={name: dict(axes) for name, axes in entry.open.items()})
            return
        # With AUTO, the exporter determines which sizes the module fixes.
        auto = torch.export.Dim.AUTO
        shapes = tuple({axis: auto for axis in entry.open.get(name, {})} for name in names)
        # The exporter takes the arguments of *args as one argument.
        import inspect
        parameters = list(inspect.signature(module.forward).parameters.values())
        if parameters and parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL:
            count = len(parameters) - 1
            shapes = (*shapes[:count], tuple(shapes[count:]))
        torch.onnx.export(module, args, path, dynamo=True, opset_version=opset, input_names=names, dynamic_shapes=shapes,
                          external_data=False, verbose=False)


def write_sklearn(entry, opset, path):
    import skl2onnx
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType
    model = entry.build()
    (name, value), = entry.inputs(0).items()
    kind = StringTensorType if value.dtype.kind in "US" else FloatTensorType
    # Export probabilities as an array, not as a list of dictionaries.
    options = {"zipmap": False} if hasattr(model, "classes_") and hasattr(model, "predict_proba") else None
    final = model.steps[-1][1] if hasattr(model, "steps") else model
    made = skl2onnx.to_onnx(model, initial_types=[(name, kind([None, value.shape[1]]))],
                            options={id(final): options} if options else None, target_opset={"": opset, "ai.onnx.ml": 3})
    with open(path, "wb") as file:
        file.write(made.SerializeToString())


def main():
    name, variant, folder = sys.argv[1:]
    warnings.simplefilter("ignore")
    entry = registry.load_all()[name]
    kind, opset = re.fullmatch(r"([a-z]+)(\d*)", variant).groups()
    path = os.path.join(folder, "model.onnx")
    if kind == "shipped":
        shutil.copyfile(entry.build(), path + ".part")
    elif kind == "sklearn":
        write_sklearn(entry, int(opset), path + ".part")
    else:
        write_torch(entry, kind, int(opset), path + ".part")
    for which in (0, 1):
        np.savez(os.path.join(folder, f"inputs{which}.npz"), **plain(entry.inputs(which)))
    os.rename(path + ".part", path)


if __name__ == "__main__":
    main()
