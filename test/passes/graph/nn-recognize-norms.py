# RUN: %python %s
# Normalizations that exporters write as several ops.
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "Inputs"))
from nn_numerics import Array, Function, check, finish

KNOW = ["--nn-recognize-norms"]


def norm(f, x, axes, square, divide, data=None):
    d = f.sub(x, f.reduce(x, kind=1, axes=axes, keep_dims=True))
    s = f.pow(d, f.const(2.0)) if square == "pow" else f.mul(d, d)
    root = f.sqrt(f.add(f.reduce(s, kind=1, axes=axes, keep_dims=True), f.const(1e-5)))
    if divide == "div":
        return f.div(data or d, root)
    return f.mul(f.reciprocal(root) if divide == "reciprocal" else f.div(f.const(1.0), root), data or d)


for square in "pow", "mul":
    for divide in "div", "reciprocal", "one over":
        f = Function()
        x = f.arg(2, 5, 16)
        y = f.add(f.mul(norm(f, x, [2], square, divide), f.rand(16)), f.rand(1, 1, 16))
        check(f"layer norm, {square}, {divide}", f, y, KNOW, {"layer_norm": 1}, tolerance=1e-5)
f = Function()
x = f.arg(2, 3, 4, 5)
check("of two dimensions, bare", f, norm(f, x, [2, 3], "mul", "div"), KNOW, {"layer_norm": 1}, tolerance=1e-5)

f = Function()
x = f.arg(2, 5, 16)
d = f.sub(x, f.reduce(x, kind=1, axes=[2], keep_dims=True))
check("subtracted twice", f, norm(f, x, [2], "mul", "div", d), KNOW, {"layer_norm": 1}, tolerance=1e-5)

# Equal expressions with 2^40 paths to their first difference: comparing them path by path would never end.
f = Function()
x = f.arg(2, 5, 16)
twins = []
for _ in range(2):
    t = x
    for _ in range(40):
        t = f.mul(f.add(t, t), f.const(0.5))
    twins.append(t)
root = f.sqrt(f.add(f.reduce(f.mul(twins[0], twins[0]), kind=1, axes=[2], keep_dims=True), f.const(1e-5)))
check("deep twins", f, f.mul(f.rand(16), f.div(twins[1], root)), KNOW,
      {"add": 81, "div": 1, "mul": 82, "reduce": 1, "sqrt": 1}, tolerance=1e-5)

f = Function()
x = f.arg(2, 5, 16)
root = f.sqrt(f.add(f.reduce(f.mul(x, x), kind=1, axes=[2], keep_dims=True), f.const(1e-5)))
check("rms norm", f, f.mul(f.rand(16), f.div(x, root)), KNOW, {"rms_norm": 1}, tolerance=1e-5)

f = Function()
x = f.arg(2, 5, 16)
y = norm(f, x, [1], "mul", "div")
check("of a middle dimension", f, y, KNOW, {"add": 1, "div": 1, "mul": 1, "reduce": 2, "sqrt": 1, "sub": 1})
f = Function()
x = f.arg(2, 5, 16)
y = f.mul(norm(f, x, [2], "mul", "div"), f.rand(5, 1))
check("scale of another dimension", f, y, KNOW, {"layer_norm": 1, "mul": 1}, tolerance=1e-5)

finish()
