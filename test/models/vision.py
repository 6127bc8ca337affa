"""Convolutional model families at small sizes."""
import numpy as np

from builder import Graph


def image(shape, seed=1):
    return {"input": (np.random.default_rng(seed).standard_normal(shape) * 0.7).astype(np.float32)}


def classify(g, x, classes=10):
    y = g.op("Flatten", g.global_pool(x), axis=1)
    return g.op("Gemm", y, g.weight(classes, g.channels[x]), g.vector(classes, -0.1, 0.1), transB=1)


def resnet():
    """Bottlenecks with and without projection, stem with max pooling."""
    g = Graph("resnet")
    x = g.relu(g.conv_norm(g.input("input", [1, 3, 64, 64]), 16, 7, stride=2))
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for out, stride in ((32, 1), (32, 1), (64, 2)):
        y = g.relu(g.conv_norm(x, out // 4, 1))
        y = g.relu(g.conv_norm(y, out // 4, 3, stride=stride))
        y = g.conv_norm(y, out, 1)
        if stride != 1 or g.channels[x] != out:
            x = g.conv_norm(x, out, 1, stride=stride)
        x = g.relu(g.add(y, x))
    g.output(classify(g, x), "output", [1, 10])
    return g.model(), [image((1, 3, 64, 64))]


def repvgg():
    """3×3 + 1×1 + identity, each with its BatchNorm, also grouped."""
    g = Graph("repvgg")
    x = g.input("input", [1, 3, 32, 32])
    for out, stride, group in ((16, 2, 1), (16, 1, 1), (32, 2, 1), (32, 1, 4)):
        y = g.add(g.conv_norm(x, out, 3, stride=stride, group=group), g.conv_norm(x, out, 1, stride=stride,
                                                                                 group=group))
        if stride == 1 and g.channels[x] == out:
            y = g.add(y, g.norm(x))
        x = g.relu(y)
    g.output(classify(g, x), "output", [1, 10])
    return g.model(), [image((1, 3, 32, 32))]


def acnet():
    """3×3 + 3×1 + 1×3, each with its BatchNorm."""
    g = Graph("acnet")
    x = g.input("input", [1, 3, 32, 32])
    for out, stride in ((16, 2), (16, 1), (24, 2)):
        square = g.conv_norm(x, out, 3, stride=stride)
        vertical = g.conv_norm(x, out, (3, 1), stride=stride)
        horizontal = g.conv_norm(x, out, (1, 3), stride=stride)
        x = g.relu(g.add(g.add(square, vertical), horizontal))
    g.output(classify(g, x), "output", [1, 10])
    return g.model(), [image((1, 3, 32, 32))]


def diverse_branch():
    """Diverse Branch Block: 1×1, 1×1→3×3, 1×1→average pool, 3×3."""
    g = Graph("diverse_branch")
    x = g.relu(g.conv_norm(g.input("input", [1, 3, 24, 24]), 12, 3))
    square, point = g.conv_norm(x, 16, 3), g.conv_norm(x, 16, 1)
    pooled = g.op("AveragePool", g.conv(x, 16, 1, pad=[0, 0]), kernel_shape=[3, 3], pads=[1, 1, 1, 1],
                  strides=[1, 1], count_include_pad=1)
    sequence = g.conv_norm(g.conv(x, 8, 1), 16, 3)
    x = g.relu(g.add(g.add(square, point), g.add(g.norm(pooled), sequence)))
    g.output(classify(g, x), "output", [1, 10])
    return g.model(), [image((1, 3, 24, 24))]


def mobilenet_v2():
    """Inverted residuals with depthwise convolutions and Clip(0, 6)."""
    g = Graph("mobilenet_v2")
    relu6 = lambda v: g.op("Clip", v, g.scalar(0.0), g.scalar(6.0))
    x = relu6(g.conv_norm(g.input("input", [1, 3, 48, 48]), 16, 3, stride=2))
    for out, stride, expand in ((8, 1, 1), (16, 2, 6), (16, 1, 6)):
        hidden = g.channels[x] * expand
        y = relu6(g.conv_norm(x, hidden, 1)) if expand > 1 else x
        y = relu6(g.conv_norm(y, hidden, 3, stride=stride, group=hidden))
        y = g.conv_norm(y, out, 1)
        x = g.add(x, y) if stride == 1 and g.channels[x] == out else y
    g.output(classify(g, x), "output", [1, 10])
    return g.model(), [image((1, 3, 48, 48))]


def shuffle(g, x, n, size, groups=2):
    y = g.op("Reshape", x, g.ints(-1, groups, n // groups, size, size))
    y = g.op("Reshape", g.op("Transpose", y, perm=[0, 2, 1, 3, 4]), g.ints(-1, n, size, size))
    g.channels[y] = n
    return y


def shufflenet_v2():
    """Channel split, depthwise branches, concatenation, channel shuffle."""
    g = Graph("shufflenet_v2")
    x = g.relu(g.conv_norm(g.input("input", [1, 3, 32, 32]), 16, 3, stride=2))
    left = g.conv_norm(g.conv_norm(x, 16, 3, stride=2, group=16), 16, 1)
    right = g.relu(g.conv_norm(x, 16, 1))
    right = g.relu(g.conv_norm(g.conv_norm(right, 16, 3, stride=2, group=16), 16, 1))
    x = shuffle(g, g.op("Concat", g.relu(left), right, axis=1), 32, 8)
    for _ in range(2):
        kept, worked = g.op("Split", x, g.ints(16, 16), outputs=2, axis=1)
        g.channels[kept] = g.channels[worked] = 16
        y = g.relu(g.conv_norm(worked, 16, 1))
        y = g.relu(g.conv_norm(g.conv_norm(y, 16, 3, group=16), 16, 1))
        x = shuffle(g, g.op("Concat", kept, y, axis=1), 32, 8)
    g.output(classify(g, x), "output", [1, 10])
    return g.model(), [image((1, 3, 32, 32))]


def efficientnet():
    """Swish, squeeze-and-excite, asymmetric padding through Pad."""
    g = Graph("efficientnet")
    padded = g.op("Pad", g.input("input", [1, 3, 33, 33]), g.ints(0, 0, 0, 0, 0, 0, 1, 1))
    x = g.swish(g.conv_norm(padded, 16, 3, stride=2, pad=[0, 0]))
    g.channels[x] = 16
    y = g.swish(g.conv_norm(x, 32, 1))
    g.channels[y] = 32
    y = g.swish(g.conv_norm(y, 32, 5, group=32))
    g.channels[y] = 32
    x = g.add(x, g.conv_norm(g.squeeze_excite(y, 8), 16, 1))
    g.output(classify(g, x), "output", [1, 10])
    return g.model(), [image((1, 3, 33, 33))]


def densenet():
    """Layers that concatenate their results to their inputs, average pooling, and BatchNorms without a convolution."""
    g = Graph("densenet")
    x = g.conv(g.input("input", [1, 3, 32, 32]), 16, 3)
    for _ in range(3):
        y = g.conv(g.relu(g.norm(x)), 8, 3)
        n = g.channels[x] + 8
        x = g.op("Concat", x, y, axis=1)
        g.channels[x] = n
    x = g.conv(g.relu(g.norm(x)), 20, 1)
    x = g.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    g.output(classify(g, g.relu(g.norm(x))), "output", [1, 10])
    return g.model(), [image((1, 3, 32, 32))]


def db_head():
    """Text detection: feature pyramid with Resize, then two ConvTranspose."""
    g = Graph("db_head")
    x = g.relu(g.conv_norm(g.input("input", [1, 3, 64, 96]), 8, 3, stride=2))
    fine = g.relu(g.conv_norm(x, 16, 3, stride=2))
    coarse = g.relu(g.conv_norm(fine, 24, 3, stride=2))
    fine, coarse = g.conv(fine, 16, 1), g.conv(coarse, 16, 1)
    up = g.op("Resize", coarse, "", g.constant(np.array([1, 1, 2, 2], np.float32)), mode="nearest",
              coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    g.channels[up] = 16
    wide = g.op("Concat", g.add(fine, up), up, axis=1)
    g.channels[wide] = 32
    y = g.relu(g.conv_norm(wide, 8, 3))
    for out in (8, 1):
        y = g.op("ConvTranspose", y, g.weight(g.channels[y], out, 2, 2), g.vector(out, -0.1, 0.1), strides=[2, 2],
                 kernel_shape=[2, 2])
        g.channels[y] = out
        y = g.relu(g.norm(y)) if out > 1 else g.op("Sigmoid", y)
    g.output(y, "output", [1, 1, 64, 96])
    return g.model(), [image((1, 3, 64, 96))]


def segmentation():
    """Dilated convolutions, bilinear Resize to a computed size, ArgMax."""
    g = Graph("segmentation")
    source = g.input("input", [1, 3, 40, 56])
    x = g.relu(g.conv_norm(source, 12, 3, stride=2))
    branches = [g.relu(g.conv_norm(x, 8, 3, dilation=d)) for d in (1, 2, 3)]
    wide = g.op("Concat", *branches, axis=1)
    g.channels[wide] = 24
    y = g.conv(wide, 5, 1, bias=True)
    size = g.op("Slice", g.op("Shape", source), g.ints(2), g.ints(4), g.ints(0))
    size = g.op("Concat", g.ints(1, 5), size, axis=0)
    y = g.op("Resize", y, "", "", size, mode="linear", coordinate_transformation_mode="half_pixel")
    g.output(y, "logits", [1, 5, 40, 56])
    return g.model(), [image((1, 3, 40, 56))]


def detector():
    """YOLO-like: SPP max pools, upsample and concatenate, boxes decoded from a grid."""
    g = Graph("detector")
    x = g.swish(g.conv_norm(g.input("input", [1, 3, 64, 64]), 16, 6, stride=2, pad=[2, 2]))
    g.channels[x] = 16
    x = g.swish(g.conv_norm(x, 16, 3, stride=2))
    g.channels[x] = 16
    pools = [x]
    for _ in range(3):
        pools.append(g.op("MaxPool", pools[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2, 2, 2, 2]))
    x = g.op("Concat", *pools, axis=1)
    g.channels[x] = 64
    y = g.conv(x, 3 * 7, 1, bias=True)
    y = g.op("Transpose", g.op("Reshape", y, g.ints(1, 3, 7, 16, 16)), perm=[0, 1, 3, 4, 2])
    y = g.op("Sigmoid", y)
    centre, size, rest = g.op("Split", y, g.ints(2, 2, 3), outputs=3, axis=4)
    ys, xs = np.meshgrid(np.arange(16), np.arange(16), indexing="ij")
    grid = g.constant(np.stack([xs, ys], -1)[None, None].astype(np.float32) - 0.5)
    centre = g.mul(g.add(g.mul(centre, g.scalar(2.0)), grid), g.scalar(4.0))
    anchors = g.constant(np.array([[10, 13], [16, 30], [33, 23]], np.float32).reshape(1, 3, 1, 1, 2))
    size = g.mul(g.op("Pow", g.mul(size, g.scalar(2.0)), g.scalar(2.0)), anchors)
    boxes = g.op("Reshape", g.op("Concat", centre, size, rest, axis=4), g.ints(1, -1, 7))
    g.output(boxes, "boxes", [1, 768, 7])
    return g.model(), [image((1, 3, 64, 64))]


def unet():
    """Encoder and decoder with skips, InstanceNormalization, LeakyRelu, tanh."""
    g = Graph("unet")
    x = g.input("input", [1, 3, 32, 32])
    inorm = lambda v: g.op("InstanceNormalization", v, g.vector(g.channels[v], 0.8, 1.2),
                           g.vector(g.channels[v], -0.1, 0.1))
    leaky = lambda v: g.op("LeakyRelu", v, alpha=0.2)
    top = leaky(inorm(g.conv(x, 8, 3)))
    low = leaky(inorm(g.conv(top, 16, 4, stride=2, pad=[1, 1])))
    up = g.op("ConvTranspose", low, g.weight(16, 8, 4, 4), strides=[2, 2], pads=[1, 1, 1, 1])
    both = g.op("Concat", top, up, axis=1)
    g.channels[both] = 16
    g.output(g.op("Tanh", g.conv(both, 3, 3, bias=True)), "output", [1, 3, 32, 32])
    return g.model(), [image((1, 3, 32, 32))]


def cnn_dynamic():
    """A small CNN with a dynamic batch, run at several sizes."""
    g = Graph("cnn_dynamic")
    x = g.relu(g.conv_norm(g.input("input", ["batch", 3, 16, 16]), 8, 3, stride=2))
    x = g.op("MaxPool", g.relu(g.conv_norm(x, 16, 3)), kernel_shape=[2, 2], strides=[2, 2])
    g.output(classify(g, x), "output", ["batch", 10])
    return g.model(), [image((n, 3, 16, 16), n) for n in (1, 2, 5, 1)]


FAMILIES = [resnet, repvgg, acnet, diverse_branch, mobilenet_v2, shufflenet_v2, efficientnet, densenet, db_head,
            segmentation, detector, unet, cnn_dynamic]
