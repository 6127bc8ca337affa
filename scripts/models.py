#!/usr/bin/env python3
"""Writes the ten benchmark models as ONNX files, and compares compiled models with ONNX Runtime.

usage: models.py write DIR [NAME ...]       needs requirements-bench.txt
       models.py check DIR [NAME ...] [--precision=bf16] [--target LEVEL] [--threads N[,N...]]
                                                   compiles, runs, compares (no NAME: all ten)

Models are as exported from training: BatchNorm and branches stay, opset 17. Convolutional weights are seeded random
numbers with BatchNorm statistics taken from image-like data, so that activations neither die nor explode; the PP-OCR
models are the trained ones of the rapidocr package. A file that is there is not written again.

Two results agree if the largest absolute error is at most 1e-4 of the largest absolute output. With --precision=bf16,
on native kernels, they agree if the cosine of the angle between them is at least 0.995: random weights under fifty
layers leave no more when factors are rounded. Each number of --threads (1,2) runs twice, and all runs must give the
same bytes. The arena may be at most 1.1 times its lower bound, the largest sum of bytes that live at one time.
"""
import argparse
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PPOCR = {"ppocr_det": "PP-OCRv6_det_small.onnx", "ppocr_rec": "PP-OCRv6_rec_small.onnx",
         "ppocr_cls": "ch_ppocr_mobile_v2.0_cls_mobile.onnx"}
NAMES = ["resnet50", "repvgg_a0", "acnet", "mobilenet_v2", "shufflenet_v2_x1_0", "vit_tiny_patch16_224", "bert6",
         *PPOCR]
# Sizes of inputs that are dynamic in the models.
SHAPES = {"ppocr_det": (1, 3, 480, 640), "ppocr_rec": (1, 3, 48, 320), "ppocr_cls": (1, 3, 48, 192)}
TOLERANCE = 1e-4
LEAST_COSINE = 0.995
ARENA_LIMIT = 1.1


def make_bert(nn, functional, torch):
    """BERT-like encoder: 6 layers, width 384, 12 heads, post-norm."""

    class Layer(nn.Module):
        def __init__(self, width=384, heads=12):
            super().__init__()
            self.heads = heads
            self.query, self.key, self.value, self.out = [nn.Linear(width, width) for _ in range(4)]
            self.expand, self.contract = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.norm_attention, self.norm_output = nn.LayerNorm(width), nn.LayerNorm(width)

        def forward(self, x, mask):
            batch, length, width = x.shape
            split = lambda v: v.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))
            scores = q @ k.transpose(-1, -2) / math.sqrt(width // self.heads) + mask
            mixed = (torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(batch, length, width)
            x = self.norm_attention(x + self.out(mixed))
            return self.norm_output(x + self.contract(functional.gelu(self.expand(x))))

    class Encoder(nn.Module):
        def __init__(self, width=384):
            super().__init__()
            self.words, self.positions = nn.Embedding(30522, width), nn.Embedding(512, width)
            self.norm, self.layers = nn.LayerNorm(width), nn.ModuleList([Layer() for _ in range(6)])

        def forward(self, input_ids, attention_mask):
            places = torch.arange(input_ids.shape[1])[None]
            x = self.norm(self.words(input_ids) + self.positions(places))
            mask = (1.0 - attention_mask[:, None, None, :].float()) * -10000.0
            for layer in self.layers:
                x = layer(x, mask)
            return x

    return Encoder()


def make_acnet(nn, functional):
    """Plain network of asymmetric blocks: 3×3 + 3×1 + 1×3, each with its BatchNorm."""

    class Block(nn.Module):
        def __init__(self, fan_in, out, stride):
            super().__init__()
            self.branches = nn.ModuleList([
                nn.Sequential(nn.Conv2d(fan_in, out, kernel, stride, [k // 2 for k in kernel], bias=False),
                              nn.BatchNorm2d(out)) for kernel in ((3, 3), (3, 1), (1, 3))])

        def forward(self, x):
            square, vertical, horizontal = [branch(x) for branch in self.branches]
            return functional.relu(square + vertical + horizontal)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            steps = [(32, 2), (64, 2), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (256, 1), (512, 2), (512, 1)]
            widths = [3] + [out for out, _ in steps]
            self.blocks = nn.Sequential(*[Block(i, o, s) for i, (o, s) in zip(widths, steps)])
            self.classify = nn.Linear(512, 1000)

        def forward(self, x):
            return self.classify(self.blocks(x).mean((2, 3)))

    return Net()


def example(torch, name, batch, seed):
    generator = torch.Generator().manual_seed(seed)
    if name == "bert6":
        mask = torch.ones(batch, 128, dtype=torch.int64)
        mask[:, 120:] = 0
        return torch.randint(0, 30522, (batch, 128), generator=generator), mask
    fine = torch.randn(batch, 3, 224, 224, generator=generator) * 0.5
    coarse = torch.randn(batch, 3, 14, 14, generator=generator)
    return (fine + torch.nn.functional.interpolate(coarse, size=(224, 224), mode="bilinear"),)


def make_model(torch, name):
    torch.manual_seed(0)
    if name == "bert6":
        model = make_bert(torch.nn, torch.nn.functional, torch)
    elif name == "acnet":
        model = make_acnet(torch.nn, torch.nn.functional)
    elif name in ("repvgg_a0", "vit_tiny_patch16_224"):
        import timm
        model = timm.create_model(name, pretrained=False)
        for module in model.modules():
            if hasattr(module, "fused_attn"):
                module.fused_attn = False
    else:
        import torchvision
        model = getattr(torchvision.models, name)(weights=None)

    # Makes BatchNorms look trained: with jittered statistics of one batch, and with scales and shifts other than 1 and
    # 0.
    generator = torch.Generator().manual_seed(2)
    jitter = lambda like: torch.rand(like.shape, generator=generator) * 0.4 + 0.8
    norms = [m for m in model.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    with torch.no_grad():
        for norm in norms:
            norm.weight.copy_(jitter(norm.weight))
            norm.bias.copy_(torch.randn(norm.bias.shape, generator=generator) * 0.1)
            norm.momentum = 1.0
        if norms:
            model.train()
            model(*example(torch, name, 8, seed=7))
            for norm in norms:
                norm.running_var.mul_(jitter(norm.bias))
    return model.eval()


def write(directory, names):
    os.makedirs(directory, exist_ok=True)
    for name in names:
        path = os.path.join(directory, name + ".onnx")
        if os.path.exists(path):
            continue
        print(f"writing {path}", flush=True)
        if name in PPOCR:
            import importlib.util
            package = os.path.dirname(importlib.util.find_spec("rapidocr").origin)
            shutil.copyfile(os.path.join(package, "models", PPOCR[name]), path + ".part")
        else:
            import torch
            warnings.simplefilter("ignore", DeprecationWarning)  # the exporter that writes graphs as users have them
            inputs = ["input_ids", "attention_mask"] if name == "bert6" else ["input"]
            torch.onnx.export(make_model(torch, name), example(torch, name, 1, seed=1), path + ".part",
                              opset_version=17, input_names=inputs, output_names=["output"], dynamo=False,
                              do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE)
        os.rename(path + ".part", path)


def model_inputs(path, name=None, seed=0):
    """Returns {input: array} of random values from a fixed seed."""
    import onnx
    model = onnx.load(path, load_external_data=False)
    weights = {i.name for i in model.graph.initializer}
    rng = np.random.default_rng(seed)
    values = {}
    for value in model.graph.input:
        if value.name in weights:
            continue
        kind = value.type.tensor_type
        shape = [d.dim_value if d.HasField("dim_value") else -1 for d in kind.shape.dim]
        if name in SHAPES:
            shape = SHAPES[name]
        if min(shape, default=1) < 1:
            sys.exit(f"models.py: {path}: the shape of input {value.name} is open: {shape}")
        if kind.elem_type == onnx.TensorProto.INT64:
            values[value.name] = (np.ones(shape, np.int64) if "mask" in value.name
                                  else rng.integers(0, 255, shape))
        else:
            values[value.name] = (rng.standard_normal(shape) * 0.7).astype(np.float32)
    return values


def shape_options(name, values):
    if name not in SHAPES:
        return []
    return [o for key, v in values.items() for o in ("--shape", f"{key}={'x'.join(map(str, v.shape))}")]


def relative_error(got, want):
    """Returns the largest absolute error divided by the largest absolute wanted value."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return float("inf")
    if not want.size:
        return 0.0
    error = float(np.abs(got.astype(np.float64) - want).max())
    return error / max(float(np.abs(want).max()), 1e-30) if not math.isnan(error) else float("inf")


def cosine(got, want):
    got, want = got.astype(np.float64).ravel(), want.astype(np.float64).ravel()
    return float(got @ want / max(math.sqrt(float(got @ got) * float(want @ want)), 1e-30))


def arena_ratio(ingot, path, options):
    """Returns the size of the planned arena divided by its lower bound."""
    text = subprocess.run([ingot, "compile", path, "--emit=mlir-memory", "-o", "-", *options], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    size, bound = (int(re.search(rf"ingot\.{key} = (\d+) : i64", text).group(1))
                   for key in ("arena_bytes", "arena_lower_bound"))
    return size / max(bound, 1)


def run_twice(command, threads, out):
    """Returns {file: array} of the first run, and True if all runs gave equal bytes. There are two runs with each
    number of threads."""
    first, same = {}, True
    for count in threads:
        for _ in range(2):
            shutil.rmtree(out, ignore_errors=True)
            subprocess.run([*command, "--threads", count, "--output-dir", out], check=True, stdout=subprocess.DEVNULL)
            got = {file: np.load(os.path.join(out, file)) for file in os.listdir(out)}
            first = first or got
            same &= all(got[file].tobytes() == array.tobytes() for file, array in first.items())
    return first, same


def check_one(ingot, directory, name, scratch, args):
    """Returns (True if the outputs agree, their largest error, the arena's size / its lower bound)."""
    import onnxruntime
    precision = args.precision
    path = os.path.join(directory, name + ".onnx")
    values = model_inputs(path, name)
    artifact = os.path.join(scratch, name + ".so")
    compiling = [*shape_options(name, values), f"--target={args.target}"]
    if precision != "fp32":
        compiling += ["--kernels=native", f"--precision={precision}"]
    subprocess.run([ingot, "compile", path, "-o", artifact, *compiling], check=True, stdout=subprocess.DEVNULL)
    options = []
    for i, (key, value) in enumerate(values.items()):
        np.save(os.path.join(scratch, f"{i}.npy"), value)
        options += ["--input", f"{key}={scratch}/{i}.npy"]
    results, same = run_twice([ingot, "run", artifact, *options], args.threads, os.path.join(scratch, name))
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    worst, least = 0.0, 1.0
    for output, want in zip(session.get_outputs(), session.run(None, values)):
        # `ingot run` replaces unusual characters in file names by underscores.
        file = re.sub(r"[^A-Za-z0-9._-]", "_", output.name) + ".npy"
        got = results[file]
        worst = max(worst, relative_error(got, want))
        least = min(least, cosine(got, want)) if got.shape == want.shape else -1.0
    os.remove(artifact)
    text = f"error {worst:.1e} of the largest output"
    text += "" if same else ", NOT THE SAME BYTES from run to run"
    agrees = worst <= TOLERANCE
    if precision != "fp32":
        text += f", cosine {least:.5f}"
        agrees = least >= LEAST_COSINE
    return agrees and same, text, arena_ratio(ingot, path, compiling)


def check(names, args):
    bad = 0
    with tempfile.TemporaryDirectory(prefix="ingot-models-") as scratch:
        for name in names:
            try:
                agrees, text, arena = check_one(args.ingot, args.directory, name, scratch, args)
                fine = agrees and arena <= ARENA_LIMIT
                verdict = "agrees" if fine else "DIFFERS" if not agrees else "arena too large"
                print(f"{name:22} {verdict}  {text}, arena {arena:.2f} times its lower bound", flush=True)
            except subprocess.CalledProcessError as failure:
                fine = False
                print(f"{name:22} FAILED   {' '.join(failure.cmd[:2])}: exit code {failure.returncode}", flush=True)
            bad += not fine
    print(f"{len(names) - bad} passed, {bad} failed, 0 skipped")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0],
                                     epilog="example: models.py write build/models resnet50 repvgg_a0")
    parser.add_argument("what", choices=["write", "check"])
    parser.add_argument("directory", help="where the models are")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--ingot", default=os.path.join(ROOT, "build", "bin", "ingot"), help="the compiler")
    parser.add_argument("--target", default="native", help="CPU level to compile for (default: native)")
    parser.add_argument("--threads", default="1,2", type=lambda text: text.split(","), metavar="N[,N...]",
                        help="threads of the runs (default: 1,2)")
    parser.add_argument("--precision", default="fp32", choices=["fp32", "bf16"], help="of heavy ops (default: fp32)")
    args = parser.parse_args()
    unknown = set(args.names) - set(NAMES)
    if unknown:
        parser.error(f"no model {', '.join(sorted(unknown))}")
    names = args.names or NAMES
    if args.what == "write":
        return write(args.directory, names)
    return check(names, args)


if __name__ == "__main__":
    sys.exit(main())
