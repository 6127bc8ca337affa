# RUN: %python %s
# Consecutive convolutions are merged if that saves work.
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "Inputs"))
from nn_numerics import Array, Function, check, finish

MERGE = ["--nn-merge-convs"]

f = Function()
x = f.arg(1, 4, 8, 8)
check("1x1 after 1x1", f, f.conv2d(f.conv2d(x, 16, 1), 4, 1), MERGE, {"conv": 1})
f = Function()
x = f.arg(1, 8, 8, 8)
check("unpadded 3x3 after 1x1", f, f.conv2d(f.conv2d(x, 8, 1), 8, 3), MERGE, {"conv": 1})
f = Function()
x = f.arg(1, 8, 8, 8)
check("1x1 after strided 3x3", f, f.conv2d(f.conv2d(x, 32, 3, 2, 1), 8, 1), MERGE, {"conv": 1})
f = Function()
x = f.arg(1, 8, 8, 8)
check("bottleneck", f, f.conv2d(f.conv2d(x, 2, 1), 8, 3), MERGE, {"conv": 2})
f = Function()
x = f.arg(1, 8, 8, 8)
check("padded 3x3 after biased 1x1", f, f.conv2d(f.conv2d(x, 8, 1), 8, 3, pad=1), MERGE, {"conv": 2})
f = Function()
x = f.arg(1, 8, 8, 8)
y = f.conv2d(x, 16, 1)
check("another user", f, [f.conv2d(y, 8, 1), f.relu(y)], MERGE, {"conv": 2, "relu": 1})
f = Function()
x = f.arg(1, 8, 8, 8)
y = f.conv2d(f.conv2d(x, 8, 3, groups=8), 8, 1)
check("depthwise separable", f, y, MERGE, {"conv": 2})

# The merged convolution has 768 bytes more, which `balanced` accepts.
for size, channels, goals in ((10, 8, {"speed": 1, "balanced": 1, "size": 2}),
                              (6, 8, {"speed": 1, "balanced": 1, "size": 2})):
    for goal, count in goals.items():
        f = Function()
        y = f.conv2d(f.conv2d(f.arg(1, channels, size, size), channels, 3), channels, 2, 2)
        check(f"larger, {size}, {channels} channels, {goal}", f, y, [f"{MERGE[0]}=optimize={goal}"], {"conv": count})

finish()
