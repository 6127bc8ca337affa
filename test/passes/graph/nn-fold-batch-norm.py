# RUN: %python %s
# Folded normalizations give equal results.
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "Inputs"))
from nn_numerics import Function, check, finish

FOLD = ["--nn-fold-batch-norm"]


def transposed(f, x, out, groups, bias):
    w = f.rand(x.shape[1], out // groups, 3, 3)
    more = [f.rand(out)] if bias else []
    return f.conv_transpose(x, w, *more, strides=[2, 2], pads=[1, 1, 1, 1], dilations=[1, 1], output_padding=[1, 1],
                            groups=groups)


for groups in 1, 2, 6:
    for bias in True, False:
        for last in True, False:
            f = Function()
            x = f.arg(2, 7, 8, 6) if last else f.arg(2, 6, 7, 8)
            y = f.bn(f.conv2d(x, 12, 3, pad=1, groups=groups, bias=bias, last=last), last)
            check(f"conv, groups {groups}, bias {bias}, last {last}", f, y, FOLD, {"conv": 1})
        f = Function()
        x = f.arg(2, 6, 5, 5)
        check(f"transposed, groups {groups}, bias {bias}", f, f.bn(transposed(f, x, 12, groups, bias)), FOLD,
              {"conv_transpose": 1})

for transpose in {}, {"transpose_b": True}:
    for shape in (5, 6), (4, 5, 6):
        f = Function()
        x = f.arg(*shape)
        w = lambda: f.rand(8, 6) if transpose else f.rand(6, 8)
        last = len(shape) == 3
        check(f"matmul {transpose} {shape}", f, f.bn(f.matmul(x, w(), **transpose), last), FOLD, {"matmul": 1})
        f = Function()
        x = f.arg(*shape)
        check(f"matmul, bias {transpose} {shape}", f, f.bn(f.matmul(x, w(), f.rand(8), **transpose), last), FOLD,
              {"matmul": 1})
        f = Function()
        x = f.arg(*shape)
        y = f.bn(f.add(f.matmul(x, w(), **transpose), f.rand(8)), last)
        check(f"matmul, then add {transpose} {shape}", f, y, FOLD, {"matmul": 1})
        f = Function()
        x = f.arg(*shape)
        y = f.matmul(f.bn(f.relu(x), last), w(), **transpose)
        check(f"before matmul {transpose} {shape}", f, y, FOLD, {"matmul": 1, "relu": 1})

for groups in 1, 3:
    f = Function()
    x = f.arg(1, 6, 7, 7)
    y = f.conv2d(f.bn(f.relu(x)), 9, 3, groups=groups)
    check(f"before an unpadded conv, groups {groups}", f, y, FOLD, {"conv": 1, "relu": 1})

f = Function()
x = f.arg(1, 6, 7, 7)
y = f.conv2d(f.bn(f.relu(x)), 9, 3, pad=1)
check("before a padded conv", f, y, FOLD, {"add": 1, "conv": 1, "mul": 1, "relu": 1})

f = Function()
x = f.arg(1, 6, 7, 7)
zero = f.const([0.0] * 6)
y = f.conv2d(f.batch_norm(f.relu(x), f.rand(6), zero, zero, f.rand(6, low=0.5), epsilon=1e-5), 9, 3, pad=1)
check("scale before a padded conv", f, y, FOLD, {"conv": 1, "relu": 1})

for last in True, False:
    f = Function()
    x = f.arg(2, 3, 4, 5)
    check(f"alone, last {last}", f, f.bn(x, last), FOLD, {"add": 1, "mul": 1})

f = Function()
x = f.arg(1, 6, 7, 7)
y = f.conv2d(x, 6, 3)
check("conv with another user", f, [f.bn(y), f.relu(y)], FOLD, {"add": 1, "conv": 1, "mul": 1, "relu": 1})

f = Function()
scale = f.arg(6)
x = f.arg(1, 6, 7, 7)
y = f.batch_norm(f.conv2d(x, 6, 3), scale, f.rand(6), f.rand(6), f.rand(6, low=0.5), epsilon=1e-5)
check("computed parameters", f, y, FOLD, {"batch_norm": 1, "conv": 1})

finish()
