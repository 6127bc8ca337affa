#!/usr/bin/env python3
"""Quantizes a model to int8 with an engine's own tool.

usage: quantize_models.py MODEL.onnx SAMPLES.npz {onnxruntime|openvino} OUTPUT

onnxruntime: Q/DQ with unsigned activations and signed weights for each channel, minmax, as its documents advise for CPUs
with VNNI. openvino: NNCF's post-training quantization with what it is made for, transformers or others.
Each call is a separate process, because both tools keep hundreds of megabytes.
"""
import argparse
import os
import sys
import tempfile

import numpy as np


def read_samples(path):
    """Returns [{input: array}], one per sample. The first dimension counts samples; each sample is a batch of one."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    count = len(next(iter(arrays.values())))
    return [{name: array[i:i + 1] for name, array in arrays.items()} for i in range(count)]


# The first opset whose QuantizeLinear has a scale per channel.
LEAST_OPSET = 13


def with_opset(path, folder):
    """Converts the model to LEAST_OPSET if it is older, because ONNX Runtime's tool writes scales per channel."""
    import onnx
    from onnx import version_converter
    model = onnx.load(path)
    if next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx")) >= LEAST_OPSET:
        return path
    newer = os.path.join(folder, "newer.onnx")
    onnx.save(version_converter.convert_version(model, LEAST_OPSET), newer)
    return newer


def for_onnxruntime(path, samples, output):
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(CalibrationDataReader):
        rest = iter(samples)

        def get_next(self):
            return next(self.rest, None)
    with tempfile.TemporaryDirectory() as folder:
        prepared = os.path.join(folder, "prepared.onnx")
        quant_pre_process(with_opset(path, folder), prepared, skip_symbolic_shape=True)
        quantize_static(prepared, output, Reader(), quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt8,
                        weight_type=QuantType.QInt8, per_channel=True)


def for_openvino(path, samples, output):
    import nncf
    import openvino
    model = openvino.Core().read_model(path)
    model.reshape({name: list(array.shape) for name, array in samples[0].items()})
    is_transformer = any(op.get_type_name() == "Softmax" for op in model.get_ops()[:-5]) and not any(
        op.get_type_name() == "GroupConvolution" for op in model.get_ops())
    quantized = nncf.quantize(model, nncf.Dataset(samples), subset_size=len(samples),
                              model_type=nncf.ModelType.TRANSFORMER if is_transformer else None)
    openvino.save_model(quantized, output)


def main():
    quantizers = {"onnxruntime": for_onnxruntime, "openvino": for_openvino}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", metavar="MODEL.onnx")
    parser.add_argument("samples", metavar="SAMPLES.npz")
    parser.add_argument("engine", choices=quantizers)
    parser.add_argument("output")
    args = parser.parse_args()
    quantizers[args.engine](args.model, read_samples(args.samples), args.output)


if __name__ == "__main__":
    sys.exit(main())
