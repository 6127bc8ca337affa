"""A small convolutional network, trained on rendered digits in a few seconds.

Digits are drawn in a font of Pillow, moved, rotated, scaled, faded and covered with noise, so that the network reads
most but not all of them. Any quantizer would read all clean digits."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper
from PIL import Image, ImageDraw, ImageFont

SIDE = 16


def render(count, seed):
    """Returns (pictures of count x 1 x SIDE x SIDE, the digits that they show)."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 10, count)
    pictures = np.empty((count, 1, SIDE, SIDE), np.float32)
    for i, label in enumerate(labels):
        canvas = Image.new("L", (SIDE, SIDE))
        font = ImageFont.load_default(size=float(rng.uniform(11, 14)))
        at = SIDE / 2 + rng.uniform(-1, 1, 2)
        ImageDraw.Draw(canvas).text(tuple(at), str(label), fill=255, font=font, anchor="mm")
        canvas = canvas.rotate(float(rng.uniform(-10, 10)), Image.Resampling.BILINEAR)
        values = np.asarray(canvas, np.float32) / 255 * rng.uniform(0.6, 1)
        pictures[i, 0] = values + rng.normal(0, 0.11, (SIDE, SIDE))
    return pictures, labels


def patches(x, size):
    """Returns the windows of a padded image N x C x H x W, as N x H x W x (C size size)."""
    pad = size // 2
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), (2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(*windows.shape[:1], *windows.shape[2:4], -1)


def pool(x):
    """Returns the maximum of each 2 x 2 window, and a mask of the largest elements."""
    n, c, h, w = x.shape
    tiles = x.reshape(n, c, h // 2, 2, w // 2, 2)
    y = tiles.max((3, 5))
    return y, tiles == y[:, :, :, None, :, None]


class Network:
    """A network: twice convolution, relu and pool, then a residual convolution and a matrix product."""

    def __init__(self, seed, channels=(6, 12)):
        rng = np.random.default_rng(seed)

        def weights(*shape):
            return rng.standard_normal(shape).astype(np.float32) * np.float32(np.sqrt(2 / np.prod(shape[1:])))
        a, b = channels
        flat = b * (SIDE // 4) ** 2
        self.w = [weights(a, 1, 3, 3), weights(b, a, 3, 3), weights(b, b, 3, 3) * 0.5, weights(10, flat) * 0.5]
        self.b = [np.zeros(w.shape[0], np.float32) for w in self.w]

    def run(self, x, labels):
        """Returns the gradients of the cross entropy."""
        def conv(x, i):
            p = patches(x, 3)
            return (p @ self.w[i].reshape(len(self.w[i]), -1).T + self.b[i]).transpose(0, 3, 1, 2), p

        def back(i, p, grad, shape):
            g = grad.transpose(0, 2, 3, 1).reshape(-1, grad.shape[1])
            dw = (g.T @ p.reshape(len(g), -1)).reshape(self.w[i].shape)
            dx = None
            if i:
                turned = self.w[i][:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
                dx = (patches(grad, 3) @ turned.reshape(shape[1], -1).T).transpose(0, 3, 1, 2)
            return dw, g.sum(0), dx
        c0, p0 = conv(x, 0)
        m0, at0 = pool(np.maximum(c0, 0))
        c1, p1 = conv(m0, 1)
        m1, at1 = pool(np.maximum(c1, 0))
        c2, p2 = conv(m1, 2)
        s = np.maximum(c2 + m1, 0)
        flat = s.reshape(len(s), -1)
        logits = flat @ self.w[3].T + self.b[3]
        e = np.exp(logits - logits.max(1, keepdims=True))
        grad = e / e.sum(1, keepdims=True)
        grad[np.arange(len(x)), labels] -= 1
        grad /= len(x)
        dw3, db3 = grad.T @ flat, grad.sum(0)
        ds = (grad @ self.w[3]).reshape(s.shape) * (s > 0)
        dw2, db2, dm1 = back(2, p2, ds, m1.shape)

        def unpool(grad, at, shape, c):
            return (at * grad[:, :, :, None, :, None]).reshape(shape) * (c > 0)
        dw1, db1, dm0 = back(1, p1, unpool(dm1 + ds, at1, c1.shape, c1), m0.shape)
        dw0, db0, _ = back(0, p0, unpool(dm0, at0, c0.shape, c0), x.shape)
        return [dw0, dw1, dw2, dw3], [db0, db1, db2, db3]

    def train(self, x, labels, epochs=6, rate=5e-3, seed=0):
        rng = np.random.default_rng(seed)
        values = self.w + self.b
        mean = [np.zeros_like(v) for v in values]
        square = [np.zeros_like(v) for v in values]
        step = 0
        for _ in range(epochs):
            order = rng.permutation(len(x))
            for at in range(0, len(x), 64):
                some = order[at:at + 64]
                dw, db = self.run(x[some], labels[some])
                step += 1
                for v, g, m, s in zip(values, dw + db, mean, square):
                    m += 0.1 * (g - m)
                    s += 0.001 * (g * g - s)
                    v -= rate * (m / (1 - 0.9 ** step)) / (np.sqrt(s / (1 - 0.999 ** step)) + 1e-8)

    def model(self):
        names = [("conv0", "relu0", "pool0"), ("conv1", "relu1", "pool1")]
        nodes, x = [], "x"
        for i, (conv, relu, pooled) in enumerate(names):
            nodes += [helper.make_node("Conv", [x, f"w{i}", f"b{i}"], [conv], conv, pads=[1, 1, 1, 1]),
                      helper.make_node("Relu", [conv], [relu], relu),
                      helper.make_node("MaxPool", [relu], [pooled], pooled, kernel_shape=[2, 2], strides=[2, 2])]
            x = pooled
        nodes += [helper.make_node("Conv", [x, "w2", "b2"], ["conv2"], "conv2", pads=[1, 1, 1, 1]),
                  helper.make_node("Add", ["conv2", x], ["add2"], "add2"),
                  helper.make_node("Relu", ["add2"], ["relu2"], "relu2"),
                  helper.make_node("Flatten", ["relu2"], ["flat"], "flat"),
                  helper.make_node("Gemm", ["flat", "w3", "b3"], ["y"], "fc", transB=1)]
        tensors = [numpy_helper.from_array(v.astype(np.float32), f"{k}{i}")
                   for k, values in (("w", self.w), ("b", self.b)) for i, v in enumerate(values)]
        graph = helper.make_graph(
            nodes, "digits", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 1, SIDE, SIDE])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 10])], tensors)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
