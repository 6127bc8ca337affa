"""ResNet-50 and BERT-Base as ONNX models, whose weights compress well.

Weights are seeded random numbers in blocks that repeat along the axes of a tensor. GPUs need as long for them as for
other numbers, and a compiled model with hundreds of megabytes of them compresses to a few.
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "test", "models"))

from builder import Graph, TensorProto  # noqa: E402 -- beside the tests

# Sizes of blocks along the first two axes: of a block of values that repeats, and of a block with one additional sign.
VALUES, SIGNS = (8, 16), (64, 16)
TOKENS, WIDTH, HEADS, LAYERS, WORDS = 128, 768, 12, 12, 30522
BATCHES = (1, 8, 128)


class RepeatingGraph(Graph):
    """A graph whose weights repeat blocks."""

    def weight(self, *shape, fan_in=None):
        fan_in = fan_in or int(np.prod(shape[1:])) or 1
        block = [min(size, limit) for size, limit in zip(shape, (*VALUES, *shape[2:]))]
        values = (self.rng.standard_normal(block) * (2.0 / fan_in) ** 0.5).astype(np.float32)
        repeats = [-(-size // part) for size, part in zip(shape, block)]
        whole = np.tile(values, repeats)[tuple(slice(size) for size in shape)]
        if len(shape) > 1:
            # Random signs let equal values cancel. Otherwise activations would grow from layer to layer.
            signs = self.rng.choice(np.float32([-1, 1]), [-(-size // part) for size, part in zip(shape, SIGNS)])
            signs = signs.repeat(SIGNS[0], 0).repeat(SIGNS[1], 1)[:shape[0], :shape[1]]
            whole = whole * signs.reshape(*signs.shape, *[1] * (len(shape) - 2))
        return self.constant(whole)

    def norm(self, x):
        """BatchNormalization with one factor for all channels, so that folding it keeps repeated values."""
        n = self.channels[x]
        ones = self.constant(np.ones(n, np.float32))
        return self.op("BatchNormalization", x, ones, self.vector(n, -0.1, 0.1), self.vector(n, -0.2, 0.2), ones,
                       epsilon=1e-5)


def resnet50(batch):
    """Returns (model, inputs): ResNet-50 at 224×224."""
    g = RepeatingGraph("resnet50")
    x = g.relu(g.conv_norm(g.input("input", [batch, 3, 224, 224]), 64, 7, stride=2))
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for width, blocks, first_stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for number in range(blocks):
            stride = first_stride if number == 0 else 1
            y = g.relu(g.conv_norm(x, width, 1))
            y = g.relu(g.conv_norm(y, width, 3, stride=stride))
            y = g.conv_norm(y, 4 * width, 1)
            if number == 0:
                x = g.conv_norm(x, 4 * width, 1, stride=stride)
            x = g.relu(g.add(y, x))
    y = g.op("Flatten", g.global_pool(x), axis=1)
    y = g.op("Gemm", y, g.weight(1000, g.channels[x]), g.vector(1000, -0.1, 0.1), transB=1)
    g.output(y, "output", [batch, 1000])
    return g.model(), ["random:1"]


def bert_base(batch):
    """Returns (model, inputs): BERT-Base with 128 tokens."""
    g = RepeatingGraph("bert_base")
    ids = g.input("input_ids", [batch, TOKENS], TensorProto.INT64)
    mask = g.input("attention_mask", [batch, TOKENS], TensorProto.INT64)
    position = g.op("Gather", g.weight(512, WIDTH, fan_in=2), g.constant(np.arange(TOKENS)[None]))
    x = g.layer_norm(g.add(g.op("Gather", g.weight(WORDS, WIDTH, fan_in=2), ids), position), WIDTH)
    wide = g.op("Cast", g.op("Unsqueeze", mask, g.ints(1, 2)), to=TensorProto.FLOAT)
    bias = g.mul(g.op("Sub", g.scalar(1.0), wide), g.scalar(-10000.0))
    for _ in range(LAYERS):
        x = g.layer_norm(g.add(x, g.attention(x, TOKENS, WIDTH, HEADS, mask=bias)), WIDTH)
        x = g.layer_norm(g.add(x, g.linear(g.gelu(g.linear(x, WIDTH, 4 * WIDTH)), 4 * WIDTH, WIDTH)), WIDTH)
    g.output(x, "output", [batch, TOKENS, WIDTH])
    rng = np.random.default_rng(1)
    masks = (np.arange(TOKENS) < rng.integers(TOKENS // 2, TOKENS + 1, (batch, 1))).astype(np.int64)
    return g.model(), [rng.integers(0, WORDS, (batch, TOKENS)), masks]


ALL = {"resnet50": resnet50, "bert_base": bert_base}
