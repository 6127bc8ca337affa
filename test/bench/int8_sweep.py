#!/usr/bin/env python3
"""Times operators in every integer form against their fp32, at several CPU levels, and lists the forms that are slower.

usage: int8_sweep.py [--levels L,…] [--forms F,…] [--rounds N] [--json RESULT] [--most RATIO] [WORD ...]

The cases are two equal layers of one operator, each followed by a Relu. WORDs choose cases whose names have one of them.
Forms: `ptq` (`ingot calibrate` and `--precision=int8`), `dynamic` (`--precision=int8-dynamic`), `qdq`
(QuantizeLinear and DequantizeLinear around each operator), `operator` (QLinearConv and QLinearMatMul), `integer`
(DynamicQuantizeLinear, ConvInteger and MatMulInteger), `qdq4` and `qdq16` (as `qdq`, with weights of 4 and 16 bits),
`w8` and `w4` (weights alone, matrix products only), and `blocks…` (MatMulNBits and DequantizeLinear with blocks of 32
weights, as networks.py writes them).

A form and its fp32 run in turns, on one thread; the ratio is that of the least times. The list at the end has all forms
whose time is above --most (1.03) times that of fp32. The last line counts them. Timings depend on the machine's load, so
that a listed form deserves a second run with more rounds.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import networks

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LEVELS = ("x86-64-v3", "x86-64-v4", "native")
BYTE_FORMS = ("ptq", "dynamic", "qdq", "operator", "integer", "qdq4", "qdq16")
WEIGHT_FORMS = ("w8", "w4")
BLOCK_FORMS = tuple(networks.BLOCKS)
FORMS = BYTE_FORMS + WEIGHT_FORMS + BLOCK_FORMS
# The range of data in forms that this script quantizes itself.
SCALE, ZERO = 8 / 255, 96


class Shape:
    """An operator with its sizes. `weights` are in ONNX's order, and outputs lie along dimension `axis` of them."""

    def __init__(self, name, operator, x, weights, axis=0, **attributes):
        self.name, self.operator, self.x, self.weights, self.axis = name, operator, x, weights, axis
        self.attributes = attributes

    def forms(self):
        if self.operator == "ConvTranspose":
            return ("ptq", "qdq", "qdq4")
        return FORMS if self.operator == "MatMul" else BYTE_FORMS


def conv(name, channels, outputs, size, taps, stride=1, groups=1, dilation=1):
    spatial = len(size)
    pads = [dilation * (taps // 2)] * (2 * spatial)
    return Shape(name, "Conv", [1, channels, *size], [outputs, channels // groups, *[taps] * spatial], group=groups,
                 strides=[stride] * spatial, pads=pads, dilations=[dilation] * spatial)


def shapes():
    for taps, side in ((3, 112), (3, 28), (3, 7), (5, 28), (7, 56), (7, 14), (11, 28), (13, 28), (17, 28), (31, 28)):
        for channels in (32, 128):
            yield conv(f"depthwise {taps}x{taps} {channels}x{side}x{side}", channels, channels, [side, side], taps,
                       groups=channels)
    yield conv("depthwise row 9 64x1000", 64, 64, [1000], 9, groups=64)
    for channels, side in ((16, 56), (64, 28), (256, 14), (32, 4)):
        for taps in (1, 3):
            yield conv(f"conv {taps}x{taps} {channels}x{side}x{side}", channels, channels, [side, side], taps)
    yield conv("conv 3x3 dilated 64x28x28", 64, 64, [28, 28], 3, dilation=2)
    yield conv("conv 3x3 groups of 4 64x28x28", 64, 64, [28, 28], 3, groups=16)
    yield conv("conv 3x3 groups of 16 64x28x28", 64, 64, [28, 28], 3, groups=4)
    yield conv("conv 5x5 one channel 1x64x64", 1, 1, [64, 64], 5)
    yield conv("conv 3x3 three channels 3x96x96", 3, 3, [96, 96], 3)
    yield conv("conv row 3 128x400", 128, 128, [400], 3)
    yield conv("conv row 511 one channel 1x2048", 1, 1, [2048], 511)
    yield conv("conv volume 3 16x8x16x16", 16, 16, [8, 16, 16], 3)
    for channels, side in ((16, 28), (64, 14)):
        yield Shape(f"transposed 2x2 {channels}x{side}x{side}", "ConvTranspose", [1, channels, side, side],
                    [channels, channels, 2, 2], axis=1, strides=[2, 2])
    for rows in (1, 4, 16, 32, 48, 64, 128):
        for depth in (64, 384, 1024):
            yield Shape(f"matmul {rows}x{depth}x{depth}", "MatMul", [1, rows, depth], [depth, depth], axis=1)


class Graph:
    """Nodes and initializers of a model."""

    def __init__(self):
        self.nodes, self.tensors = [], []

    def node(self, operator, inputs, name=None, outputs=1, **attributes):
        results = [f"{operator}{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, results, name=name or results[0], **attributes))
        return results[0] if outputs == 1 else results

    def tensor(self, array, kind=None):
        name = f"t{len(self.tensors)}"
        if kind is None:
            self.tensors.append(numpy_helper.from_array(array, name))
        else:
            self.tensors.append(helper.make_tensor(name, kind, array.shape, array.flatten().tolist()))
        return name

    def save(self, path, x, y):
        infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)]
        result = helper.make_tensor_value_info(y, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, "sweep", infos, [result], self.tensors)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)


def weights_of(shape, layer):
    rng = np.random.default_rng(layer)
    terms = np.prod(shape.weights) / shape.weights[shape.axis]
    return (rng.standard_normal(shape.weights) / np.sqrt(terms)).astype(np.float32)


def rounded(shape, layer, bits):
    """Returns weights as integers, and a scale for each output."""
    weights = weights_of(shape, layer)
    most = 2 ** (bits - 1) - 1
    others = tuple(i for i in range(weights.ndim) if i != shape.axis)
    scale = np.maximum(np.abs(weights).max(axis=others), 1e-6) / most
    along = [1] * weights.ndim
    along[shape.axis] = -1
    return np.rint(weights / scale.reshape(along)).astype(np.int16), scale.astype(np.float32)


KINDS = {4: TensorProto.INT4, 8: TensorProto.INT8, 16: TensorProto.INT16}


def layer_of(graph, shape, form, x, layer):
    """Adds one layer in a form. Returns its result in f32."""
    data = (graph.tensor(np.float32(SCALE)), graph.tensor(np.uint8(ZERO)))
    if form == "fp32":
        return graph.node(shape.operator, [x, graph.tensor(weights_of(shape, layer))], f"/layer{layer}",
                          **shape.attributes)
    bits = int(form[3:] or 8) if form.startswith("qdq") else 8
    integers, scales = rounded(shape, layer, bits)
    w = graph.tensor(integers, KINDS[bits])
    zero = graph.tensor(np.zeros(scales.shape, np.int16), KINDS[bits])
    if form.startswith("qdq"):
        x = graph.node("DequantizeLinear", [graph.node("QuantizeLinear", [x, *data]), *data])
        w = graph.node("DequantizeLinear", [w, graph.tensor(scales), zero], axis=shape.axis)
        return graph.node(shape.operator, [x, w], f"/layer{layer}", **shape.attributes)
    if form == "operator":
        x = graph.node("QuantizeLinear", [x, *data])
        y = graph.node("QLinear" + shape.operator, [x, *data, w, graph.tensor(scales), zero, *data], f"/layer{layer}",
                       **shape.attributes)
        return graph.node("DequantizeLinear", [y, *data])
    x, scale, point = graph.node("DynamicQuantizeLinear", [x], outputs=3)
    y = graph.node(shape.operator + "Integer", [x, w, point], f"/layer{layer}", **shape.attributes)
    y = graph.node("Cast", [y], to=TensorProto.FLOAT)
    along = [-1] + [1] * (len(shape.weights) - 2 if shape.operator != "MatMul" else 0)
    return graph.node("Mul", [y, graph.node("Mul", [scale, graph.tensor(scales.reshape(along))])])


def write(shape, form, path):
    graph, x = Graph(), "x"
    for layer in range(2):
        x = graph.node("Relu", [layer_of(graph, shape, form, x, layer)])
    graph.save(path, shape.x, x)


class Tool:
    def __init__(self, program, milliseconds):
        self.program, self.milliseconds = program, milliseconds

    def __call__(self, *words):
        done = subprocess.run([self.program, *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"ingot {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def time(self, artifact):
        text = self("bench", artifact, "--threads=1", f"--duration={self.milliseconds}ms", "--warm-up=2ms", "--json")
        return json.loads(text)["latency_ms"]["min"]


def build(tool, shape, form, level, folder):
    """Compiles a case in a form. Returns the artifact."""
    source = os.path.join(folder, "fp32.onnx" if form in ("fp32", "ptq", "dynamic", *WEIGHT_FORMS) else form + ".onnx")
    if form in BLOCK_FORMS:
        networks.write_blocks(os.path.join(folder, "fp32.onnx"), form, source)
    elif not os.path.exists(source):
        write(shape, "fp32" if source.endswith("fp32.onnx") else form, source)
    options = {"dynamic": ["--precision=int8-dynamic"], "w8": ["--precision=w8"], "w4": ["--precision=w4"]}.get(form, [])
    if form == "ptq":
        ranges, data = os.path.join(folder, "ranges.json"), os.path.join(folder, "x.npz")
        if not os.path.exists(ranges):
            np.savez(data, x=np.random.default_rng(0).standard_normal([4, *shape.x[1:]]).astype(np.float32))
            tool("calibrate", source, "--data", data, "-o", ranges, "--repair=none")
        options = ["--precision=int8", f"--calibration={ranges}"]
    artifact = os.path.join(folder, f"{form}.{level}.so")
    tool("compile", source, "-o", artifact, "--quiet", f"--target={level}", *options)
    return artifact


def sweep(tool, shape, level, forms, rounds):
    """Returns {form: time of the form / time of fp32}."""
    with tempfile.TemporaryDirectory() as folder:
        artifacts = {form: build(tool, shape, form, level, folder) for form in ("fp32", *forms)}
        least = dict.fromkeys(artifacts, float("inf"))
        for _ in range(rounds):
            for form, artifact in artifacts.items():
                least[form] = min(least[form], tool.time(artifact))
    return {form: least[form] / least["fp32"] for form in forms}


def list_worst(found, key, most, title, name):
    """Prints the entries whose `key` is above `most`, the largest first. Returns their number."""
    worst = sorted((entry for entry in found if entry[key] > most), key=lambda entry: -entry[key])
    print(f"\n{title}:")
    for entry in worst:
        print(f"{entry[key]:8.3f}  {name(entry)}")
    return len(worst)


def write_json(path, result):
    if not path:
        return
    with open(path, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


def run(main, name):
    """Runs a sweep's `main`, and ends with one line if a tool fails."""
    try:
        main()
    except BrokenPipeError:
        os._exit(1)
    except RuntimeError as error:
        sys.exit(f"{name}: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0],
                                     epilog="example: int8_sweep.py depthwise --levels native")
    parser.add_argument("words", nargs="*", metavar="WORD", help="cases whose names have one of them (default: all)")
    parser.add_argument("--levels", default=",".join(LEVELS), help="CPU levels (default: %(default)s)")
    parser.add_argument("--forms", default=",".join(FORMS), help="forms (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=4, help="turns of each form (default: 4)")
    parser.add_argument("--milliseconds", type=int, default=15, help="time of a turn (default: 15)")
    parser.add_argument("--most", type=float, default=1.03, help="list forms above this ratio (default: 1.03)")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="where the tools are")
    parser.add_argument("--json", help="write all ratios here")
    args = parser.parse_args()
    forms = args.forms.split(",")
    for form in forms:
        if form not in FORMS:
            parser.error(f"no such form: {form}; forms are {', '.join(FORMS)}")
    chosen = [s for s in shapes() if not args.words or any(word in s.name for word in args.words)]
    if not chosen:
        parser.error(f"no case has one of {', '.join(args.words)} in its name")
    tool, start, found = Tool(os.path.join(args.bin, "ingot"), args.milliseconds), time.monotonic(), []
    for shape in chosen:
        for level in args.levels.split(","):
            ratios = sweep(tool, shape, level, [f for f in shape.forms() if f in forms], args.rounds)
            found += [{"case": shape.name, "level": level, "form": f, "ratio": round(r, 3)} for f, r in ratios.items()]
            print(f"{shape.name}, {level}: " + ", ".join(f"{f} {r:.2f}" for f, r in ratios.items()), flush=True)
    slow = list_worst(found, "ratio", args.most, f"slower than fp32 by more than {args.most}",
                      lambda e: f"{e['form']:9} {e['level']:10} {e['case']}")
    write_json(args.json, {"most": args.most, "ratios": found})
    print(f"{slow} of {len(found)} forms are slower, after {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    run(main, "int8_sweep.py")
