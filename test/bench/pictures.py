#!/usr/bin/env python3
"""Measures resizing and moving of pictures beside ONNX Runtime and OpenVINO.

usage: pictures.py [WORD ...] [--threads N] [--rounds N] [--target T] [--engines E,E] [--json FILE] [--list]

Each case is a small model of a camera application. The engines run side by side and take turns of a fifth of a second.
A ratio is the peer's time over Ingot's: above 1 Ingot is faster. Both the ratio of the medians of all turns and the
ratio of the fastest turns are printed. The peers need --python, an interpreter that has their packages.
"""
import argparse
import copy
import json
import os
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "scripts"))

import measure  # noqa: E402

TYPES = {"u8": TensorProto.UINT8, "f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16}
HD, NET = (720, 1280), (224, 224)


class Model:
    """Builds a model of one input and one output, node by node."""

    def __init__(self, shape, kind):
        self.shape, self.kind, self.nodes, self.constants = list(shape), kind, [], []
        self.last, self.is_open = "x", False

    def constant(self, value, dtype):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def named(self, name, value, dtype=np.int64):
        """Adds a constant that an operand of an earlier node names."""
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return self

    def add(self, op, *operands, **attributes):
        result = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [self.last, *operands], [result], **attributes))
        self.last = result
        return self

    def resize(self, sizes, mode="linear", antialias=0, axes=None, **attributes):
        if axes is None:
            axes = self.axes
        if antialias:
            attributes["antialias"] = 1
        return self.add("Resize", "", "", self.constant(sizes, np.int64), mode=mode, axes=axes, **attributes)

    def cast(self, kind):
        return self.add("Cast", to=TYPES[kind])

    def slice(self, axis, start, end, step=1):
        return self.add("Slice", *[self.constant([v], np.int64) for v in (start, end, axis, step)])

    def flip(self, axis):
        return self.slice(axis, -1, -2**31, -1)

    def scale(self, by=1 / 255, dtype=np.float32):
        return self.add("Mul", self.constant(by, dtype))

    def normalize(self, axis):
        """Subtracts a mean of each channel and divides by its deviation."""
        form = [3 if d == axis % 4 else 1 for d in range(4)]
        mean = np.reshape([123.7, 116.3, 103.5], form)
        deviation = np.reshape([58.4, 57.1, 57.4], form)
        self.add("Sub", self.constant(mean, np.float32))
        return self.add("Div", self.constant(deviation, np.float32))

    def to_channels_first(self):
        return self.add("Transpose", perm=[0, 3, 1, 2])

    def opened(self):
        """Returns the model with dynamic height and width."""
        other = copy.copy(self)
        other.is_open = True
        return other

    def model(self):
        shape = [f"d{d}" if self.is_open and d in self.axes else size for d, size in enumerate(self.shape)]
        graph = helper.make_graph(self.nodes, "picture",
                                  [helper.make_tensor_value_info("x", TYPES[self.kind], shape)],
                                  [helper.make_empty_tensor_value_info(self.last)], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
        return onnx.shape_inference.infer_shapes(model)


def picture(kind, layout, size=HD, channels=3):
    """Makes a model whose input is an image; `axes` are height and width."""
    shape = {"NHWC": [1, *size, channels], "NCHW": [1, channels, *size], "HWC": [*size, channels],
             "CHW": [channels, *size]}[layout]
    model = Model(shape, kind)
    model.axes = [layout.index("H"), layout.index("W")]
    return model


def cases():
    """Yields (name, model). Each resized image also comes with dynamic height and width."""
    for name, model in fixed_cases():
        yield name, model
        if any(node.op_type == "Resize" for node in model.nodes) and "cropped" not in name:
            yield name + " open", model.opened()


def fixed_cases():
    """Yields (name, model) of fixed sizes."""
    # Reductions; each result is the mean of the elements that it covers.
    for layout in ("NHWC", "NCHW"):
        for kind in ("f32", "u8"):
            yield f"smooth linear {kind} {layout}", picture(kind, layout).resize(NET, antialias=1)
        yield f"smooth linear cast {layout}", picture("u8", layout).cast("f32").resize(NET, antialias=1)
        yield f"smooth cubic cast {layout}", picture("u8", layout).cast("f32").resize(NET, "cubic", antialias=1)
        channel = layout.index("C")
        yield (f"smooth linear cast flip scale {layout}",
               picture("u8", layout).cast("f32").resize(NET, antialias=1).flip(channel).scale())
        yield (f"smooth linear cast normalize {layout}",
               picture("u8", layout).cast("f32").resize(NET, antialias=1).normalize(channel))
    yield "smooth linear cast HWC", picture("u8", "HWC").cast("f32").resize(NET, antialias=1)
    yield "smooth linear f32 HWC", picture("f32", "HWC").resize(NET, antialias=1)
    yield "smooth linear u8 HWC", picture("u8", "HWC").resize(NET, antialias=1)
    yield "smooth linear cast CHW", picture("u8", "CHW").cast("f32").resize(NET, antialias=1)
    yield ("smooth linear cast normalize to NCHW",
           picture("u8", "NHWC").cast("f32").resize(NET, antialias=1).normalize(3).to_channels_first())
    yield ("smooth linear u8 to NCHW normalize",
           picture("u8", "NHWC").resize(NET, antialias=1).to_channels_first().cast("f32").normalize(1))
    yield ("smooth linear BGR gathered NHWC",
           picture("u8", "NHWC").cast("f32").resize(NET, antialias=1).add(
               "Gather", "order", axis=3).named("order", [2, 1, 0]))
    yield ("smooth linear mirrored NHWC", picture("u8", "NHWC").cast("f32").resize(NET, antialias=1).flip(2))
    yield "smooth linear cropped NHWC", (picture("u8", "NHWC").slice(1, 40, 680).slice(2, 320, 960).cast("f32")
                                         .resize(NET, antialias=1))
    yield "smooth linear 4 channels NHWC", picture("u8", "NHWC", channels=4).cast("f32").resize(NET, antialias=1)
    yield "smooth linear 1 channel NHWC", picture("u8", "NHWC", channels=1).cast("f32").resize(NET, antialias=1)
    yield "smooth linear f16 NHWC", picture("f16", "NHWC").resize(NET, antialias=1)
    yield "smooth linear small NHWC", picture("u8", "NHWC", (256, 320)).cast("f32").resize((224, 224), antialias=1)
    # Sampling.
    for mode in ("linear", "cubic", "nearest"):
        for layout in ("NHWC", "NCHW"):
            yield f"{mode} down f32 {layout}", picture("f32", layout).resize(NET, mode)
            yield f"{mode} up f32 {layout}", picture("f32", layout, (180, 320)).resize((360, 640), mode)
            if mode != "cubic":
                yield f"{mode} down u8 {layout}", picture("u8", layout).resize(NET, mode)
                yield f"{mode} up u8 {layout}", picture("u8", layout, (180, 320)).resize((360, 640), mode)
    for layout in ("NHWC", "NCHW"):
        yield f"linear down 4 channels f32 {layout}", picture("f32", layout, channels=4).resize(NET, "linear")
        yield f"linear up 4 channels f32 {layout}", picture("f32", layout, (180, 320), 4).resize((360, 640), "linear")
    yield ("linear down normalize to NCHW",
           picture("u8", "NHWC").cast("f32").resize(NET, "linear").normalize(3).to_channels_first())
    yield ("letterbox", picture("u8", "NHWC").cast("f32").resize((360, 640), "linear").scale().to_channels_first()
           .add("Pad", "pads", "grey", mode="constant").named("pads", [0, 0, 140, 0, 0, 0, 140, 0])
           .named("grey", 0.5, np.float32))
    # Movement.
    small = (360, 640)
    for kind in ("u8", "f32"):
        yield f"to NCHW {kind}", picture(kind, "NHWC", small).to_channels_first()
        yield f"to NHWC {kind}", picture(kind, "NCHW", small).add("Transpose", perm=[0, 2, 3, 1])
        yield f"mirror {kind} NHWC", picture(kind, "NHWC", small).flip(2)
        yield f"mirror {kind} NCHW", picture(kind, "NCHW", small).flip(3)
        yield f"upside down {kind} NHWC", picture(kind, "NHWC", small).flip(1)
        yield f"BGR {kind} NHWC", picture(kind, "NHWC", small).flip(3)
        yield f"BGR {kind} NCHW", picture(kind, "NCHW", small).flip(1)
        yield f"crop {kind} NHWC", picture(kind, "NHWC", small).slice(1, 68, 292).slice(2, 208, 432)
        pad = picture(kind, "NHWC", small).add("Pad", "pads", mode="constant")
        yield f"pad {kind} NHWC", pad.named("pads", [0, 140, 0, 0, 0, 140, 0, 0])
        yield f"space to depth {kind} NCHW", picture(kind, "NCHW", small).add("SpaceToDepth", blocksize=2)
        yield f"depth to space {kind} NCHW", picture(kind, "NCHW", (180, 320), 12).add("DepthToSpace", blocksize=2)
    yield ("BGR gathered f32 NHWC",
           picture("f32", "NHWC", small).add("Gather", "order", axis=3).named("order", [2, 1, 0]))
    yield "cast normalize to NCHW", picture("u8", "NHWC", small).cast("f32").normalize(3).to_channels_first()
    yield "to NCHW cast normalize", picture("u8", "NHWC", small).to_channels_first().cast("f32").normalize(1)
    yield ("space to depth f32 NHWC",
           picture("f32", "NHWC", small).add("Reshape", "a").named("a", [1, 180, 2, 320, 2, 3])
           .add("Transpose", perm=[0, 1, 3, 2, 4, 5]).add("Reshape", "b").named("b", [1, 180, 320, 12]))
    yield "add alpha f32 NHWC", picture("f32", "NHWC", small).add("Concat", "alpha", axis=3).named(
        "alpha", np.ones((1, *small, 1)), np.float32)
    # A banded constant matrix as left factor: a product that smooths along the rows.
    band = np.zeros((224, 720))
    for i in range(224):
        band[i, int(i * 3.2):int(i * 3.2) + 7] = 1 / 7
    model = Model([720, 1280 * 3], "f32")
    model.nodes.append(helper.make_node("MatMul", [model.constant(band, np.float32), "x"], ["v0"]))
    model.last = "v0"
    yield "band times picture f32", model


def draw(model):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, model.shape)
    return x.astype({"u8": np.uint8, "f32": np.float32, "f16": np.float16}[model.kind])


def measure_case(args, folder, name, model):
    """Returns {engine: turns} and {engine: reason why it does not run}."""
    stem = os.path.join(folder, "".join(c if c.isalnum() else "_" for c in name))
    onnx.save(model.model(), stem + ".onnx")
    measure.run_quiet([args.ingot, "compile", stem + ".onnx", "-o", stem + ".so", "-q", f"--target={args.target}"])
    case = measure.Case(folder, os.path.basename(stem), stem + ".onnx", stem + ".so", {"x": draw(model)})
    commands, failed = {}, {}
    for engine in args.engines:
        command = measure.command_of(engine, case, args.threads, args.seconds,
                                     os.path.dirname(args.ingot)) + ["--turns"]
        if engine == "ingot":
            command.append("--iterations=2")
        else:
            command[0] = args.python
        commands[engine] = command
    return measure.take_turns(commands, args.rounds, failed), failed


def summarize(results):
    """Returns {engine: (milliseconds, ratio of medians, ratio of the fastest turns)}."""
    middle = {e: statistics.median(r["median_ms"] for r in turns) for e, turns in results.items()}
    best = {e: min(r["min_ms"] for r in turns) for e, turns in results.items()}
    return {e: (middle[e], middle[e] / middle["ingot"], best[e] / best["ingot"]) for e in results}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help="cases whose names contain one of the words")
    parser.add_argument("--ingot", default=os.path.join(ROOT, "build", "bin", "ingot"))
    parser.add_argument("--python", default=sys.executable, help="interpreter that runs the peers")
    parser.add_argument("--engines", default="ingot,onnxruntime,openvino", type=lambda text: text.split(","))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--target", default="native")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--list", action="store_true", help="print the names of all cases")
    args = parser.parse_args()
    chosen = [(name, model) for name, model in cases() if not args.words or any(w in name for w in args.words)]
    if args.list:
        print("\n".join(name for name, _ in chosen))
        return 0
    peers = [e for e in args.engines if e != "ingot"]
    found, slower = {}, 0
    print(f"{'case':40} {'ingot ms':>9}" + "".join(f" {p:>12} {'best':>6}" for p in peers), flush=True)
    with tempfile.TemporaryDirectory(prefix="ingot-pictures-") as folder:
        for name, model in chosen:
            try:
                results, failed = measure_case(args, folder, name, model)
            except measure.MeasureError as error:
                print(f"{name:40} {error}", flush=True)
                slower += 1
                continue
            summary = found[name] = summarize(results)
            line = f"{name:40} {summary['ingot'][0]:9.3f}"
            for peer in peers:
                line += f" {summary[peer][1]:12.2f} {summary[peer][2]:6.2f}" if peer in summary else f" {'-':>12} {'-':>6}"
            slower += any(summary[p][2] < 1 for p in peers if p in summary)
            print(line, flush=True)
    print(f"{len(chosen)} cases, {slower} slower than a peer")
    if args.json:
        with open(args.json, "w") as f:
            json.dump(found, f, indent=1)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
