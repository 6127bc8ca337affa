# RUN: %python %s
# Constant scales and shifts after convolutions and products move into their weights.
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "Inputs"))
from nn_numerics import Array, Function, check, finish

FOLD = ["--nn-fold-scale-shift"]

for last in False, True:
    f = Function()
    x = f.arg(2, 6, 7, 4) if last else f.arg(2, 4, 6, 7)
    vector = lambda: f.rand(8, low=0.5) if last else f.rand(8, 1, 1, low=0.5)
    y = f.conv2d(x, 8, 3, bias=False, last=last)
    y = f.sub(f.div(f.add(f.mul(y, vector()), vector()), vector()), f.const(0.25))
    check(f"conv, last {last}", f, f.sub(f.const(1.0), y), FOLD, {"conv": 1})

f = Function(1)
x = f.arg(3, 4)
y = f.mul(f.const(0.125), f.add(f.matmul(x, f.rand(4, 5)), f.rand(1, 5)))
check("matmul", f, y, FOLD, {"matmul": 1})

f = Function(2)
x, w = f.arg(3, 4), f.arg(4, 5)
y = f.mul(f.add(f.matmul(x, w), f.rand(5)), f.const(2.0))
check("computed weights take a bias, but no scale", f, y, FOLD, {"matmul": 1, "mul": 1})

f = Function(3)
x = f.arg(1, 4, 5, 5)
y = f.add(f.conv2d(x, 4, 3), f.rand(3, 3))
check("constant that varies in space", f, y, FOLD, {"add": 1, "conv": 1})

f = Function(4)
x = f.arg(1, 4, 5, 5)
y = f.conv2d(x, 4, 3)
check("another user", f, [f.mul(y, f.const(2.0)), f.relu(y)], FOLD, {"conv": 1, "mul": 1, "relu": 1})

f = Function(5)
x = f.arg(1, 1, 5, 5)
y = f.add(f.conv2d(x, 1, 5), f.rand(3, 1, 1))
check("constant that broadcasts the result", f, y, FOLD, {"add": 1, "conv": 1})

f = Function(6)
x = f.arg(1, 4, 5, 5)
y = f.div(f.const(1.0), f.conv2d(x, 4, 3))
check("division by the result", f, y, FOLD, {"conv": 1, "div": 1}, tolerance=1e-4)

finish()
