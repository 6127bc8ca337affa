# RUN: %python %s
# The pass moves explicit padding into the following window op.
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "Inputs"))
from nn_numerics import Array, Function, check, finish

FOLD = ["--nn-fold-pad"]
window = dict(kernel=[3, 3], strides=[2, 2], pads=[0] * 4, dilations=[1, 1])
LOWEST = -3.4028234663852886e38


def padded(f, x, value, low=(0, 0, 1, 2), high=(0, 0, 0, 1)):
    return f.pad(x, f.const(value), low=list(low), high=list(high), mode=0)


f = Function()
x = f.arg(1, 4, 6, 6)
check("conv", f, f.conv2d(padded(f, x, 0.0), 4, 3, 2, 1), FOLD, {"conv": 1})

f = Function()
x = f.arg(1, 6, 6, 4)
y = f.conv2d(padded(f, x, 0.0, (0, 1, 2, 0), (0, 0, 1, 0)), 4, 3, last=True)
check("conv, channels last", f, y, FOLD, {"conv": 1})

f = Function()
x = f.arg(1, 4, 6, 6)
check("average pool", f, f.avg_pool(padded(f, x, 0.0), **window), FOLD, {"avg_pool": 1})
f = Function()
x = f.arg(1, 4, 6, 6)
check("max pool", f, f.max_pool(padded(f, x, LOWEST), **window), FOLD, {"max_pool": 1})
f = Function()
x = f.arg(1, 4, 6, 6)
check("max pool of what is not negative", f, f.max_pool(padded(f, f.relu(x), 0.0), **window), FOLD,
      {"max_pool": 1, "relu": 1})

f = Function()
x = f.arg(1, 4, 6, 6)
check("zero before a max pool", f, f.max_pool(padded(f, x, 0.0), **window), FOLD, {"max_pool": 1, "pad": 1})
f = Function()
x = f.arg(1, 4, 6, 6)
y = f.avg_pool(padded(f, x, 0.0), **{**window, "pads": [1] * 4})
check("average pool with padding of its own", f, y, FOLD, {"avg_pool": 1, "pad": 1})
f = Function()
x = f.arg(1, 4, 6, 6)
check("another value", f, f.conv2d(padded(f, x, 1.0), 4, 3), FOLD, {"conv": 1, "pad": 1})
f = Function()
x = f.arg(1, 4, 6, 6)
y = f.conv2d(f.pad(x, f.const(0.0), low=[0, 1, 0, 0], high=[0, 0, 0, 0], mode=0), 4, 3)
check("padding of channels", f, y, FOLD, {"conv": 1, "pad": 1})
f = Function()
x = f.arg(1, 4, 6, 6)
y = f.conv2d(f.pad(x, f.const(0.0), low=[0, 0, -1, 1], high=[0, 0, 0, 0], mode=0), 4, 3)
check("cropping", f, y, FOLD, {"conv": 1, "pad": 1})
f = Function()
x = f.arg(1, 4, 6, 6)
y = f.conv2d(f.pad(x, low=[0, 0, 1, 1], high=[0, 0, 1, 1], mode=1), 4, 3)
check("reflection", f, y, FOLD, {"conv": 1, "pad": 1})

finish()
