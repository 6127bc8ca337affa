# RUN: %python %s
# Channels-last models give equal results, with transposes at their inputs and outputs only.
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "Inputs"))
from nn_numerics import Array, Function, check, finish

LAST = ["--nn-to-channels-last", "--nn-propagate-transposes", "--cse"]
SINK = ["--nn-propagate-transposes"]
window = dict(kernel=[2, 2], strides=[2, 2], pads=[0] * 4, dilations=[1, 1])

# Residual blocks, a pooling and a head: one transpose, of the input.
f = Function()
x = f.arg(2, 3, 16, 16)
y = f.relu(f.conv2d(x, 8, 3, 2, 1))
y = f.relu(f.add(f.conv2d(f.relu(f.conv2d(y, 8, 3, 1, 1)), 8, 1), y))
y = f.mul(f.add(f.max_pool(y, **window), f.rand(8, 1, 1)), f.rand(1, 8, 4, 4))
y = f.reduce(y, kind=1, axes=[2, 3], keep_dims=True)
f.lines.append(f"%flat = nn.reshape {y.name} : tensor<2x8x1x1xf32> -> tensor<2x8xf32>")
flat = f.new(y.data.reshape(2, 8))
flat.name = "%flat"
y = f.matmul(flat, f.rand(8, 5))
check("residual network", f, y, LAST, {"add": 2, "conv": 3, "matmul": 1, "max_pool": 1, "mul": 1, "reduce": 1,
                                       "relu": 3, "reshape": 1, "transpose": 1})

def reshape(f, x, *shape):
    y = f.new(x.data.reshape(shape))
    f.lines.append(f"{y.name} = nn.reshape {x.name} : tensor<{'x'.join(map(str, x.shape))}xf32> -> "
                   f"tensor<{'x'.join(map(str, shape))}xf32>")
    return y


# A product of one channel and a constant for each channel costs no transpose.
f = Function(2)
x, m = f.arg(2, 4, 6, 6), f.arg(2, 1, 6, 6)
y = f.conv2d(f.relu(f.add(f.conv2d(x, 8, 1), f.mul(m, f.rand(8, 1, 1)))), 4, 1)
check("spread channel", f, y, LAST, {"add": 1, "conv": 2, "mul": 1, "relu": 1, "reshape": 1, "transpose": 2})

# Squeeze and excitation: the scale of 1x1 pixels costs no transpose.
f = Function(1)
x = f.arg(2, 4, 6, 6)
y = f.conv2d(x, 8, 3)
s = f.reduce(y, kind=1, axes=[2, 3], keep_dims=True)
s = f.sigmoid(f.conv2d(f.relu(f.conv2d(s, 4, 1)), 8, 1))
y = f.conv2d(f.mul(y, s), 4, 1)
check("squeeze and excitation", f, y, LAST, {"conv": 4, "mul": 1, "reduce": 1, "relu": 1, "sigmoid": 1,
                                             "transpose": 2})

# Channel shuffle: a transpose within each pixel.
f = Function(2)
x = f.arg(1, 8, 5, 5)
y = f.conv2d(x, 8, 1)
halves = [f.slice(y, starts=[0, c, 0, 0], sizes=[1, 4, 5, 5], steps=[1] * 4) for c in (0, 4)]
y = f.concat(halves[0], f.relu(f.conv2d(halves[1], 4, 3, pad=1, groups=4)), axis=1)
y = f.transpose(reshape(f, y, 1, 2, 4, 5, 5), perm=[0, 2, 1, 3, 4])
y = f.conv2d(reshape(f, y, 1, 8, 5, 5), 6, 1)
check("channel shuffle", f, y, LAST, {"concat": 1, "conv": 3, "relu": 1, "reshape": 2, "slice": 2, "transpose": 3})

# Patches of a vision transformer.
f = Function(3)
x = f.arg(1, 3, 8, 8)
y = f.conv2d(x, 6, 4, 4)
y = f.transpose(reshape(f, y, 1, 6, 4), perm=[0, 2, 1])
y = f.add(y, f.rand(1, 4, 6))
check("patches", f, y, LAST, {"add": 1, "conv": 1, "reshape": 1, "transpose": 1})

# All ops with axes.
f = Function(4)
x = f.arg(2, 3, 4, 5)
t = lambda: f.transpose(x, perm=[0, 3, 1, 2])
u = lambda v: f.transpose(v, perm=[0, 2, 3, 1])
results = [
    u(f.pad(t(), f.const(2.0), low=[0, 1, 2, 3], high=[0, 0, -1, 1], mode=0)),
    u(f.resize(t(), scales=Array([1.0, 1.0, 2.0, 3.0], "f32"), mode=0, coordinates=4,
               nearest_mode=2, operandSegmentSizes=Array([1, 0, 0], "i32"))),
    u(f.softmax(t(), axis=1)),
    u(f.gather(t(), f.const([2, 0]), axis=3)),
    u(f.slice(t(), starts=[0, 4, 0, 0], sizes=[2, 3, 3, 2], steps=[1, -2, 1, 2])),
    u(f.reduce(t(), kind=2, axes=[1], keep_dims=True)),
    u(f.add(t(), f.rand(3, 4))),
    u(f.concat(t(), f.relu(t()), axis=1)),
]
check("axes", f, results, SINK, {"add": 1, "concat": 1, "gather": 1, "pad": 1, "reduce": 1, "relu": 1, "resize": 1,
                                 "slice": 1, "softmax": 1})

f = Function(5)
x = f.arg(2, 3, 4, 5)
y = f.reduce(f.transpose(x, perm=[3, 0, 2, 1]), kind=0, axes=[0, 2])
check("reduction that drops dimensions", f, y, SINK, {"reduce": 1})

f = Function(6)
x = f.arg(2, 3, 4, 5)
y = f.gather(f.transpose(x, perm=[1, 0, 2, 3]), f.const(1), axis=0)
check("gather of one index", f, y, SINK, {"gather": 1})

f = Function(7)
q, k = f.arg(2, 5, 3, 4), f.arg(2, 6, 3, 4)
y = f.matmul(f.transpose(q, perm=[0, 2, 1, 3]), f.transpose(k, perm=[0, 2, 3, 1]))
check("attention scores", f, y, SINK, {"matmul": 1, "transpose": 2})

# Sums of single pixels: no transpose moves data, and rewriting transposes must end.
f = Function(13)
x, z = f.arg(1, 6, 1), f.arg(1, 6, 1)
y = f.add(f.transpose(f.arg(1, 1, 6), perm=[0, 2, 1]), x)
check("pixels", f, f.mul(y, z), SINK, {"add": 1, "mul": 1, "reshape": 1})
f = Function(14)
x, p, q = f.arg(1, 5, 6), f.arg(1, 6, 1), f.arg(1, 6, 1)
y = f.sub(f.div(f.transpose(x, perm=[0, 2, 1]), p), q)
check("single pixels applied to all", f, f.transpose(y, perm=[0, 2, 1]), SINK, {"div": 1, "reshape": 2, "sub": 1})

# Concatenated heads: one transpose, which keeps the innermost dimension.
f = Function(12)
x = f.arg(1, 3, 5, 4)
y = reshape(f, f.transpose(f.softmax(x, axis=3), perm=[0, 2, 1, 3]), 1, 5, 12)
y = f.matmul(y, f.rand(12, 7))
check("attention heads", f, y, SINK, {"matmul": 1, "reshape": 1, "softmax": 1, "transpose": 1})

for op, layout in ("batch_norm", {}), ("group_norm", {"groups": 2}):
    f = Function(8)
    x = f.arg(2, 4, 3, 5)
    c = [f.rand(4, low=0.5, high=2.0) for _ in range(4 if op == "batch_norm" else 2)]
    y = getattr(f, op)(x, *c, epsilon=1e-3, **layout)
    check(op, f, f.transpose(y, perm=[0, 2, 3, 1]), LAST, {op: 1, "transpose": 1})
f = Function(9)
x = f.arg(2, 4, 3, 5)
y = f.lrn(x, size=3, alpha=0.1, beta=0.75, k=1.0)
check("lrn", f, f.transpose(y, perm=[0, 2, 3, 1]), LAST, {"lrn": 1, "transpose": 1})

# Must not fire: it would remove one transpose and add another.
f = Function(10)
x, z = f.arg(2, 3, 4), f.arg(2, 4, 3)
y = f.add(f.transpose(x, perm=[0, 2, 1]), z)
check("sum with something else", f, f.relu(y), SINK, {"add": 1, "relu": 1, "transpose": 1})

f = Function(11)
x = f.arg(2, 3, 4)
y = f.layer_norm(f.transpose(x, perm=[0, 2, 1]), f.rand(3), f.rand(3), axis=2, epsilon=1e-5,
                 operandSegmentSizes=Array([1, 1, 1], "i32"))
check("normalization of a moved dimension", f, y, SINK, {"layer_norm": 1, "transpose": 1})

finish()
