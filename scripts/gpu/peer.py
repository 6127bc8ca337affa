#!/usr/bin/env python3
"""Measures PyTorch's compiled models in turns with ours. run.sh starts it.

usage: peer.py --bundle DIR --out DIR [--device cuda|cpu]

Compiles one model after the other until OUT/go appears, which has the seconds to measure. Then measures each compiled
model in three turns with the artifact of the bundle, writes OUT/turns.json and ends.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import time

import torch
from torch import nn
from torch.nn import functional

ROUNDS = 3
TYPES = {"fp32": torch.float32, "fp16": torch.float16}
TOKENS, WIDTH, HEADS, LAYERS, WORDS = 128, 768, 12, 12, 30522


class Bottleneck(nn.Module):
    def __init__(self, fan_in, width, stride):
        super().__init__()

        def conv_norm(a, b, kernel, step=1):
            return nn.Sequential(nn.Conv2d(a, b, kernel, step, kernel // 2, bias=False), nn.BatchNorm2d(b))

        self.first, self.second = conv_norm(fan_in, width, 1), conv_norm(width, width, 3, stride)
        self.third = conv_norm(width, 4 * width, 1)
        self.skip = conv_norm(fan_in, 4 * width, 1, stride) if fan_in != 4 * width else nn.Identity()

    def forward(self, x):
        y = functional.relu(self.first(x))
        y = self.third(functional.relu(self.second(y)))
        return functional.relu(y + self.skip(x))


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        blocks, fan_in = [], 64
        for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for number in range(count):
                blocks.append(Bottleneck(fan_in, width, stride if number == 0 else 1))
                fan_in = 4 * width
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
                                  nn.MaxPool2d(3, 2, 1))
        self.blocks, self.head = nn.Sequential(*blocks), nn.Linear(2048, 1000)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))

    @staticmethod
    def inputs(batch, device, dtype):
        x = torch.randn(batch, 3, 224, 224, device=device, dtype=dtype)
        return (x.to(memory_format=torch.channels_last),)


class BertLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = [nn.Linear(WIDTH, WIDTH) for _ in range(4)]
        self.expand, self.contract = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x, mask):
        def heads(v):
            return v.view(len(x), TOKENS, HEADS, WIDTH // HEADS).transpose(1, 2)

        mixed = functional.scaled_dot_product_attention(heads(self.query(x)), heads(self.key(x)), heads(self.value(x)),
                                                        attn_mask=mask)
        x = self.first(x + self.out(mixed.transpose(1, 2).reshape(x.shape)))
        return self.second(x + self.contract(functional.gelu(self.expand(x))))


class BertBase(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places, self.norm = nn.Embedding(WORDS, WIDTH), nn.Embedding(512, WIDTH), nn.LayerNorm(WIDTH)
        self.layers = nn.ModuleList([BertLayer() for _ in range(LAYERS)])

    def forward(self, ids, mask):
        x = self.norm(self.words(ids) + self.places.weight[:TOKENS])
        bias = ((1 - mask[:, None, None]) * -10000).to(x.dtype).expand(-1, 1, TOKENS, -1)
        for layer in self.layers:
            x = layer(x, bias)
        return x

    @staticmethod
    def inputs(batch, device, dtype):
        return (torch.randint(0, WORDS, (batch, TOKENS), device=device),
                torch.ones(batch, TOKENS, dtype=torch.int64, device=device))


MODELS = {"resnet50": ResNet50, "bert_base": BertBase}


class Peer:
    """A compiled model of PyTorch with its inputs."""

    def __init__(self, item, precision, device):
        make = MODELS[item["model"]]
        torch.manual_seed(0)
        model = make().eval().to(device, TYPES[precision])
        if item["model"] == "resnet50":
            model = model.to(memory_format=torch.channels_last)
        self.item, self.precision, self.times = item, precision, []
        self.inputs = make.inputs(item["batch"], device, TYPES[precision])
        self.wait = torch.cuda.synchronize if device == "cuda" else lambda: None
        # Records CUDA graphs, and replays them.
        self.model = torch.compile(model, mode="reduce-overhead", dynamic=False)
        self.run(3)

    def run(self, count):
        with torch.inference_mode():
            for _ in range(count):
                self.model(*self.inputs)
        self.wait()

    def measure(self, seconds):
        """Adds the median of single runs, whose inputs are on the device."""
        times, end = [], time.monotonic() + seconds
        self.run(1)
        while len(times) < 3 or time.monotonic() < end:
            start = time.perf_counter()
            self.run(1)
            times.append(1e3 * (time.perf_counter() - start))
        self.times.append(statistics.median(times))


def measure_ours(args, item, seconds):
    """Returns the median of our artifact, or None if it failed."""
    path = os.path.join(args.bundle, "turn.json")
    with open(path, "w") as f:
        json.dump([{**item, "measure": seconds}], f)
    result = os.path.join(args.out, "turn.out")
    subprocess.run([os.path.join(args.bundle, "bin", "ingot-gpu"), "cases", path, "--output", result], timeout=120)
    with open(result) as f:
        return json.load(f)["rows"][0].get("median_ms")


def row_of(item, precision, peer, ours):
    row = {"name": item["name"], "model": item["model"], "batch": item["batch"], "precision": precision}
    if not peer or not peer.times:
        return {**row, "status": "not measured"}
    ours = [t for t in ours.get(item["name"], []) if t]
    return {**row, "status": "measured", "pytorch_ms": statistics.median(peer.times), "rounds": len(peer.times),
            "ingot_ms": statistics.median(ours) if ours else None}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bundle", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    args = parser.parse_args()
    parent = os.getppid()
    # Disables tf32 where our artifact computes in fp32.
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True

    with open(os.path.join(args.bundle, "models.json")) as f:
        items = json.load(f)
    wanted = [(item, precision) for precision in TYPES for item in items]
    go, peers, ours = os.path.join(args.out, "go"), {}, {}
    for item, precision in wanted:
        if os.path.exists(go):
            break
        try:
            peers[item["name"], precision] = Peer(item, precision, args.device)
        except RuntimeError as error:  # e.g. no memory for a large batch
            print(f"{item['name']} {precision}: {error}", flush=True)
    while not os.path.exists(go):
        if os.getppid() != parent:
            return  # run.sh was killed
        time.sleep(0.1)
    with open(go) as f:
        end = time.monotonic() + float(f.read())
    turns = max(1, ROUNDS * (len(peers) + len({name for name, _ in peers})))
    share = max(0.05, (end - time.monotonic()) / turns / 2)
    for _ in range(ROUNDS):
        for item in items:
            own = [peers[item["name"], p] for p in TYPES if (item["name"], p) in peers]
            if not own or time.monotonic() > end:
                continue
            ours.setdefault(item["name"], []).append(measure_ours(args, item, share))
            for peer in own:
                peer.measure(share)
    rows = [row_of(item, precision, peers.get((item["name"], precision)), ours) for item, precision in wanted]
    path = os.path.join(args.out, "turns.json")
    with open(path + ".part", "w") as f:
        json.dump({"status": "passed", "torch": torch.__version__, "rows": rows}, f, indent=1)
    os.replace(path + ".part", path)


if __name__ == "__main__":
    main()
