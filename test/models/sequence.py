"""Text, speech and OCR-recognition families at small sizes."""
import numpy as np
from onnx import TensorProto

from builder import Graph


def rng(seed=1):
    return np.random.default_rng(seed)


def vit():
    """Patches by convolution, class token, pre-norm blocks with decomposed GELU."""
    g = Graph("vit")
    x = g.conv(g.input("input", [1, 3, 32, 32]), 24, (8, 8), stride=8, pad=[0, 0], bias=True)
    x = g.op("Transpose", g.op("Reshape", x, g.ints(1, 24, 16)), perm=[0, 2, 1])
    x = g.op("Concat", g.weight(1, 1, 24), x, axis=1)
    x = g.add(x, g.weight(1, 17, 24))
    for _ in range(2):
        x = g.add(x, g.attention(g.layer_norm(x, 24), 17, 24, 3))
        x = g.add(x, g.linear(g.gelu(g.linear(g.layer_norm(x, 24), 24, 96)), 96, 24))
    token = g.op("Gather", g.layer_norm(x, 24), g.constant(np.array(0, np.int64)), axis=1)
    g.output(g.op("Gemm", token, g.weight(10, 24), g.vector(10, -0.1, 0.1), transB=1), "output", [1, 10])
    return g.model(), [{"input": (rng().standard_normal((1, 3, 32, 32)) * 0.7).astype(np.float32)}]


def bert():
    """Embeddings by Gather, integer mask, post-norm blocks with decomposed LayerNorm."""
    g = Graph("bert")
    ids = g.input("input_ids", [1, 12], TensorProto.INT64)
    mask = g.input("attention_mask", [1, 12], TensorProto.INT64)
    position = g.op("Gather", g.weight(16, 32, fan_in=2), g.constant(np.arange(12)[None]))
    x = g.decomposed_layer_norm(g.add(g.op("Gather", g.weight(100, 32, fan_in=2), ids), position), 32)
    wide = g.op("Cast", g.op("Unsqueeze", mask, g.ints(1, 2)), to=TensorProto.FLOAT)
    bias = g.mul(g.op("Sub", g.scalar(1.0), wide), g.scalar(-10000.0))
    for _ in range(2):
        x = g.decomposed_layer_norm(g.add(x, g.attention(x, 12, 32, 4, mask=bias)), 32)
        x = g.decomposed_layer_norm(g.add(x, g.linear(g.gelu(g.linear(x, 32, 64)), 64, 32)), 32)
    g.output(x, "output", [1, 12, 32])
    inputs = {"input_ids": rng().integers(0, 100, (1, 12)), "attention_mask": np.array([[1] * 9 + [0] * 3])}
    return g.model(), [inputs]


def gpt():
    """Causal decoder: mask from Trilu and Where, tanh-GELU, logits of the tied embedding."""
    g = Graph("gpt")
    ids = g.input("input_ids", [1, 8], TensorProto.INT64)
    table = g.weight(50, 24, fan_in=2)
    x = g.add(g.op("Gather", table, ids), g.weight(1, 8, 24, fan_in=8))
    lower = g.op("Trilu", g.constant(np.ones((1, 1, 8, 8), np.float32)), upper=0)
    allowed = g.op("Cast", lower, to=TensorProto.BOOL)
    mask = g.op("Where", allowed, g.scalar(0.0), g.scalar(-1e9))
    y = g.layer_norm(x, 24)
    x = g.add(x, g.attention(y, 8, 24, 4, mask=mask))
    h = g.linear(g.layer_norm(x, 24), 24, 48)
    cube = g.op("Pow", h, g.scalar(3.0))
    inner = g.mul(g.add(h, g.mul(cube, g.scalar(0.044715))), g.scalar((2 / np.pi) ** 0.5))
    h = g.mul(g.mul(h, g.scalar(0.5)), g.add(g.op("Tanh", inner), g.scalar(1.0)))
    x = g.layer_norm(g.add(x, g.linear(h, 48, 24)), 24)
    g.output(g.op("MatMul", x, g.op("Transpose", table, perm=[1, 0])), "logits", [1, 8, 50])
    return g.model(), [{"input_ids": rng().integers(0, 50, (1, 8))}]


def ocr_lstm():
    """CRNN: convolutions, height squeezed out, bidirectional LSTM, CTC softmax."""
    g = Graph("ocr_lstm")
    x = g.relu(g.conv_norm(g.input("input", [1, 3, 16, 40]), 8, 3, stride=2))
    x = g.op("MaxPool", g.relu(g.conv_norm(x, 12, 3)), kernel_shape=[8, 1], strides=[8, 1])
    x = g.op("Transpose", g.op("Squeeze", x, g.ints(2)), perm=[2, 0, 1])
    weights = [g.weight(2, 4 * 10, n, fan_in=4 * n) for n in (12, 10)]
    y, _, _ = g.op("LSTM", x, *weights, g.vector((2, 8 * 10), -0.1, 0.1), outputs=3, hidden_size=10,
                   direction="bidirectional")
    y = g.op("Reshape", g.op("Transpose", y, perm=[2, 0, 1, 3]), g.ints(1, 20, 20))
    g.output(g.op("Softmax", g.linear(y, 20, 30), axis=2), "output", [1, 20, 30])
    return g.model(), [{"input": (rng().standard_normal((1, 3, 16, 40)) * 0.7).astype(np.float32)}]


def ocr_attention():
    """PP-OCR-like: hard-swish, depthwise, squeeze-and-excite, attention neck, dynamic width."""
    g = Graph("ocr_attention")
    hswish = lambda v: g.op("HardSwish", v)
    x = hswish(g.conv_norm(g.input("x", [1, 3, 16, "width"]), 8, 3, stride=2))
    x = g.squeeze_excite(hswish(g.conv_norm(x, 8, 3, group=8)), 4)
    x = hswish(g.conv_norm(x, 24, 1))
    x = g.op("AveragePool", x, kernel_shape=[8, 2], strides=[8, 2])
    x = g.op("Transpose", g.op("Squeeze", x, g.ints(2)), perm=[0, 2, 1])
    x = g.add(x, g.attention(g.layer_norm(x, 24), -1, 24, 3, batch=1))
    x = g.add(x, g.linear(g.swish(g.linear(g.layer_norm(x, 24), 24, 48)), 48, 24))
    g.output(g.op("Softmax", g.linear(x, 24, 30), axis=2), "output", [1, None, 30])
    return g.model(), [{"x": (rng(w).standard_normal((1, 3, 16, w)) * 0.7).astype(np.float32)} for w in (32, 64, 40)]


def speech_gru():
    """Speech-like: 1-D convolutions, GLU, GRU, log-softmax."""
    g = Graph("speech_gru")
    x = g.conv(g.input("features", [1, 20, 48]), 32, (5,), stride=2, bias=True)
    a, b = g.op("Split", x, g.ints(16, 16), outputs=2, axis=1)
    x = g.mul(a, g.op("Sigmoid", b))
    x = g.op("Transpose", x, perm=[2, 0, 1])
    weights = [g.weight(1, 3 * 12, n, fan_in=4 * n) for n in (16, 12)]
    y, _ = g.op("GRU", x, *weights, g.vector((1, 6 * 12), -0.1, 0.1), outputs=2, hidden_size=12,
                linear_before_reset=1)
    y = g.op("Transpose", g.op("Squeeze", y, g.ints(1)), perm=[1, 0, 2])
    g.output(g.op("LogSoftmax", g.linear(y, 12, 15), axis=-1), "log_probs", [1, 24, 15])
    return g.model(), [{"features": rng().standard_normal((1, 20, 48)).astype(np.float32)}]


def speech_conv():
    """Conformer-like convolution module: pointwise, GLU, depthwise 1-D, swish, ReduceMean statistics."""
    g = Graph("speech_conv")
    x = g.conv(g.input("features", [1, 16, 30]), 32, (1,), bias=True)
    a, b = g.op("Split", x, g.ints(16, 16), outputs=2, axis=1)
    x = g.mul(a, g.op("Sigmoid", b))
    g.channels[x] = 16
    x = g.swish(g.conv_norm(x, 16, (7,), group=16))
    g.channels[x] = 16
    mean = g.op("ReduceMean", x, axes=[2], keepdims=1)
    spread = g.op("Sqrt", g.op("ReduceMean", g.op("Pow", g.op("Sub", x, mean), g.scalar(2.0)), axes=[2], keepdims=1))
    pooled = g.op("Flatten", g.op("Concat", mean, spread, axis=1))
    g.output(g.op("Gemm", pooled, g.weight(32, 8), g.vector(8, -0.1, 0.1)), "embedding", [1, 8])
    return g.model(), [{"features": rng().standard_normal((1, 16, 30)).astype(np.float32)}]


def mlp_dynamic():
    """A plain MLP with a dynamic batch, run at several sizes."""
    g = Graph("mlp_dynamic")
    x = g.input("input", ["batch", 20])
    for fan_in, out in ((20, 32), (32, 16)):
        x = g.relu(g.op("Gemm", x, g.weight(out, fan_in), g.vector(out, -0.1, 0.1), transB=1))
    g.output(g.op("Softmax", g.op("Gemm", x, g.weight(16, 5), g.vector(5, -0.1, 0.1)), axis=1), "output",
             ["batch", 5])
    return g.model(), [{"input": rng(n).standard_normal((n, 20)).astype(np.float32)} for n in (1, 3, 64, 2)]


FAMILIES = [vit, bert, gpt, ocr_lstm, ocr_attention, speech_gru, speech_conv, mlp_dynamic]
