# RUN: %python %s
# Merged convolutions give the results of the branches. Other branches do not change.
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "Inputs"))
import numpy as np

from nn_numerics import Function, check, finish

MERGE = ["--nn-merge-branches"]
FOLD_AND_MERGE = ["--nn-fold-batch-norm", "--nn-merge-branches"]


def repvgg(stride=1, groups=1, identity=True, size=9, last=False, channels=8):
    f = Function()
    x = f.arg(2, size, size + 2, channels) if last else f.arg(2, channels, size, size + 2)
    y = f.add(f.bn(f.conv2d(x, channels, 3, stride, 1, groups=groups, bias=False, last=last), last),
              f.bn(f.conv2d(x, channels, 1, stride, 0, groups=groups, bias=False, last=last), last))
    if identity:
        y = f.add(y, f.bn(x, last))
    return f, f.relu(y)


for passes, name in (MERGE, "as exported"), (FOLD_AND_MERGE, "after folding"):
    check(f"RepVGG {name}", *repvgg(), passes, {"conv": 1, "relu": 1})
    check(f"RepVGG, grouped {name}", *repvgg(groups=4), passes, {"conv": 1, "relu": 1})
    check(f"RepVGG, depthwise {name}", *repvgg(groups=8), passes, {"conv": 1, "relu": 1})
    check(f"RepVGG, channels last {name}", *repvgg(last=True), passes, {"conv": 1, "relu": 1})
    check(f"RepVGG, channels last, grouped {name}", *repvgg(last=True, groups=2), passes, {"conv": 1, "relu": 1})
    for size in 8, 9:
        check(f"RepVGG, stride 2, size {size} {name}", *repvgg(2, identity=False, size=size), passes,
              {"conv": 1, "relu": 1})


def acnet(k=3, stride=1, dilation=1, pad=None):
    f = Function(1)
    x = f.arg(1, 6, 12, 11)
    p = dilation * (k // 2) if pad is None else pad
    branch = lambda kernel, padding: f.bn(f.conv2d(x, 5, kernel, stride, padding, dilation, bias=False))
    return f, f.add(f.add(branch((k, k), (p, p)), branch((k, 1), (p, 0))), branch((1, k), (0, p)))


for k in 3, 5, 7:
    for stride in 1, 2:
        check(f"ACNet, K={k}, stride {stride}", *acnet(k, stride), MERGE, {"conv": 1})
check("ACNet, dilated", *acnet(dilation=2), MERGE, {"conv": 1})

# ACNet without padding crops the data of the asymmetric branches instead.
f = Function(2)
x = f.arg(1, 4, 10, 9)
whole = lambda: f.conv2d(x, 4, 3)
rows = f.slice(x, starts=[0, 0, 0, 1], sizes=[1, 4, 10, 7], steps=[1, 1, 1, 1])
columns = f.slice(x, starts=[0, 0, 1, 0], sizes=[1, 4, 8, 9], steps=[1, 1, 1, 1])
y = f.add(f.add(whole(), f.conv2d(rows, 4, (3, 1))), f.conv2d(columns, 4, (1, 3)))
check("ACNet, cropped", f, y, MERGE, {"conv": 1})

# Diverse Branch Block: K x K, 1x1, 1x1 to K x K, 1x1 to average pooling.
def dbb(groups=1, stride=1, pad=1):
    f = Function(3)
    x = f.arg(1, 8, 10, 10)
    convolve = lambda v, k, s=1, p=0: f.conv2d(v, 8, k, s, p, groups=groups, bias=False)
    square = f.bn(convolve(x, 3, stride, pad))
    point = f.bn(convolve(x, 1, stride, pad - 1))
    # If a bias follows the 1x1, exact exporters write the padding before the 1x1.
    sequence = f.bn(convolve(convolve(x, 1), 3, stride, pad))
    average = f.bn(f.avg_pool(convolve(x, 1), kernel=[3, 3], strides=[stride] * 2, pads=[pad] * 4, dilations=[1, 1],
                              count_include_pad=True))
    return f, f.add(f.add(square, point), f.add(sequence, average))


for groups in 1, 2:
    check(f"DBB, groups {groups}", *dbb(groups), MERGE, {"conv": 1})
    check(f"DBB, stride 2, groups {groups}", *dbb(groups, 2), MERGE, {"conv": 1})

# The block as its authors export it: the normalized 1x1 is padded with the normalized value of zero.
def normalized_border(f, x, channels, wrong=0.0):
    n, _, h, w = x.shape
    norm = [f.rand(channels, low=0.5), f.rand(channels), f.rand(channels), f.rand(channels, low=0.5, high=2.0)]
    scale, bias, mean, variance = (v.data for v in norm)
    value = (bias - mean * scale / np.sqrt(variance + 1e-3) + wrong).astype(np.float32)
    y = f.batch_norm(f.conv2d(x, channels, 1, bias=False), *norm, epsilon=1e-3)
    y = f.pad(y, f.const(0.0), low=[0, 0, 1, 1], high=[0, 0, 1, 1], mode=0)
    grid = np.stack(np.meshgrid(*map(np.arange, y.shape), indexing="ij"), -1)
    for border in (np.s_[:, :, :1], np.s_[:, :, -1:], np.s_[..., :1, :], np.s_[..., -1:, :]):
        indices = grid[border]
        updates = np.broadcast_to(value.reshape(1, -1, 1, 1), indices.shape[:-1])
        y = f.scatter_nd(y, f.const(indices), f.const(updates), reduction=0)
    return y


def exported_dbb(stride=1, wrong=0.0):
    f = Function(16)
    x = f.arg(1, 3, 6, 6)
    window = dict(kernel=[3, 3], strides=[stride] * 2, pads=[0] * 4, dilations=[1, 1], count_include_pad=True)
    average = f.bn(f.avg_pool(normalized_border(f, x, 4), **window))
    sequence = f.bn(f.conv2d(normalized_border(f, x, 3, wrong), 4, 3, stride, bias=False))
    square, point = f.bn(f.conv2d(x, 4, 3, stride, 1)), f.bn(f.conv2d(x, 4, 1, stride))
    return f, f.add(f.add(f.add(square, point), average), sequence)


for passes, name in (MERGE, "as exported"), (FOLD_AND_MERGE, "after folding"):
    check(f"DBB, normalized border, {name}", *exported_dbb(), passes, {"conv": 1}, tolerance=1e-5)
check("DBB, normalized border, stride 2", *exported_dbb(2), MERGE, {"conv": 1}, tolerance=1e-5)
check("DBB, another border", *exported_dbb(wrong=1e-3), FOLD_AND_MERGE,
      {"add": 1, "conv": 3, "pad": 1, "scatter_nd": 4}, tolerance=1e-5)

# Without padding, a bias between two convolutions can be merged exactly.
f = Function(4)
x = f.arg(1, 4, 8, 8)
y = f.add(f.conv2d(f.bn(f.conv2d(x, 4, 1)), 4, 3), f.bn(f.conv2d(x, 4, 3)))
check("biased 1x1 before an unpadded 3x3", f, y, MERGE, {"conv": 1})

# With padding, a bias between two convolutions cannot be merged: that branch stays.
f = Function(5)
x = f.arg(1, 4, 8, 8)
y = f.add(f.conv2d(f.conv2d(x, 4, 1), 4, 3, pad=1), f.add(f.conv2d(x, 4, 3, pad=1), f.conv2d(x, 4, 1)))
check("biased 1x1 before a padded 3x3", f, y, MERGE, {"conv": 3, "add": 1})

# A 3x3 then a padded 3x3: the border differs.
f = Function(6)
x = f.arg(1, 4, 8, 8)
y = f.add(f.conv2d(f.conv2d(x, 2, 3, pad=1, bias=False), 4, 3, pad=1), f.conv2d(x, 4, 5, pad=2))
check("padded 3x3 after 3x3", f, y, MERGE, {"conv": 3, "add": 1})

# Explicit zero padding, and padding of different amounts.
f = Function(7)
x = f.arg(1, 4, 8, 8)
padded = f.pad(x, f.const(0.0), low=[0, 0, 1, 1], high=[0, 0, 1, 2], mode=0)
y = f.add(f.conv2d(padded, 4, (3, 4)), f.conv2d(x, 4, 3, pad=1))
check("explicit padding", f, y, MERGE, {"conv": 1})

f = Function(8)
x = f.arg(1, 4, 8, 8)
y = f.add(f.conv2d(x, 4, 5, pad=2), f.conv2d(x, 4, (3, 2), pad=(1, 1, 1, 0)))
check("different kernels and pads", f, y, MERGE, {"conv": 1})

# Dilations 1 and 2 over one 5x5.
f = Function(9)
x = f.arg(1, 4, 9, 9)
y = f.add(f.conv2d(x, 4, 5, pad=2), f.conv2d(x, 4, 3, pad=2, dilation=2))
check("dilated into dense", f, y, MERGE, {"conv": 1})

# Must not fire.
f = Function(10)
x = f.arg(1, 4, 9, 9)
y = f.add(f.conv2d(x, 4, 3, pad=1, groups=4), f.conv2d(x, 4, 1))
check("depthwise does not become dense", f, y, MERGE, {"conv": 2, "add": 1})

f = Function(11)
x = f.arg(1, 4, 9, 9)
y = f.add(f.conv2d(x, 4, 3, pad=1), f.relu(f.conv2d(x, 4, 1)))
check("non-linear branch", f, y, MERGE, {"conv": 2, "relu": 1, "add": 1})

f = Function(12)
x = f.arg(1, 4, 9, 9)
a, b = f.conv2d(x, 4, 3, pad=1), f.conv2d(x, 4, 1)
check("branch with another user", f, [f.add(a, b), f.relu(b)], MERGE, {"conv": 2, "relu": 1, "add": 1})

f = Function(13)
x = f.arg(1, 4, 9, 9)
y = f.add(f.conv2d(x, 4, 1, stride=9), f.conv2d(x, 4, 9, stride=1))
check("different strides", f, y, MERGE, {"conv": 2, "add": 1})

f = Function(14)
x, z = f.arg(1, 4, 9, 9), f.arg(1, 4, 9, 9)
y = f.add(f.conv2d(x, 4, 3, pad=1), f.conv2d(z, 4, 1))
check("different inputs", f, y, MERGE, {"conv": 2, "add": 1})

f = Function(15)
x = f.arg(1, 4, 9, 9)
y = f.add(f.conv2d(x, 4, 3, pad=1), f.avg_pool(x, kernel=[3, 3], strides=[1, 1], pads=[1] * 4, dilations=[1, 1]))
check("average that leaves out the padding", f, y, MERGE, {"conv": 1, "avg_pool": 1, "add": 1})

finish()
