# RUN: %python %s
# Ops are replaced by simpler ones with equal results.
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "Inputs"))
from nn_numerics import Array, Function, check, finish

SIMPLIFY = ["--nn-simplify"]

for last in False, True:
    f = Function()
    x = f.arg(2, 5, 6, 3) if last else f.arg(2, 3, 5, 6)
    layout = {"channels_last": True} if last else {}
    window = dict(kernel=[5, 6], strides=[1, 1], pads=[0] * 4, dilations=[1, 1], **layout)
    check(f"global pools, last {last}", f, [f.avg_pool(x, **window), f.max_pool(x, **window)], SIMPLIFY, {"reduce": 2})
f = Function()
x = f.arg(2, 3, 5, 6)
y = f.avg_pool(x, kernel=[5, 5], strides=[1, 1], pads=[0] * 4, dilations=[1, 1])
check("pool of more windows", f, y, SIMPLIFY, {"avg_pool": 1})

f = Function()
x = f.arg(2, 3, 4, 5)
check("convolution of one window", f, f.conv2d(x, 7, (4, 5)), SIMPLIFY, {"matmul": 1, "reshape": 2})


def flatten(f, x):
    n, c = x.shape[0], x.data.size // x.shape[0]
    y = f.new(x.data.reshape(n, c))
    f.lines.append(f"{y.name} = nn.reshape {x.name} : tensor<{'x'.join(map(str, x.shape))}xf32> -> tensor<{n}x{c}xf32>")
    return y


f = Function()
x = f.arg(2, 1, 1, 9)
check("classifier of one pixel, channels last", f, flatten(f, f.conv2d(x, 7, 1, last=True)), SIMPLIFY,
      {"matmul": 1, "reshape": 1})
f = Function()
x = f.arg(2, 9, 1, 1)
check("one pixel among pixels", f, f.relu(f.conv2d(x, 7, 1)), SIMPLIFY, {"conv": 1, "relu": 1})
f = Function()
x = f.arg(2, 3, 4, 5)
y = f.add(f.conv2d(x, 7, (4, 5)), f.rand(7, 1, 1))
check("a bias comes first", f, y, SIMPLIFY, {"add": 1, "conv": 1})
f = Function()
x = f.arg(2, 4, 1, 1)
check("grouped convolution of one pixel", f, f.conv2d(x, 4, 1, groups=2), SIMPLIFY, {"conv": 1})

f = Function()
x = f.arg(2, 3)
y = f.div(f.mul(f.const(1.0), f.sub(f.add(x, f.const([0.0] * 3)), f.const(0.0))), f.const([[1.0]]))
check("neutral constants", f, f.neg(y), SIMPLIFY, {"neg": 1})
f = Function()
x = f.arg(3)
check("zeros that broadcast", f, f.add(x, f.const([[0.0] * 3] * 2)), SIMPLIFY, {"add": 1})
f = Function()
x = f.arg(3)
check("zero minus x", f, f.sub(f.const(0.0), x), SIMPLIFY, {"sub": 1})

f = Function()
x = f.arg(2, 3)
y = f.relu(f.max(f.const(0.0), f.relu(f.clamp(x, min=0.0, max=6.0))))
check("relus of a clamp", f, y, SIMPLIFY, {"clamp": 1})
f = Function()
x = f.arg(2, 3)
check("clamp below only", f, f.relu(f.clamp(x, min=-1.0, max=6.0)), SIMPLIFY, {"clamp": 1, "relu": 1})

f = Function()
x = f.arg(2, 3)
p = lambda v, e: f.pow(v, f.const(e))
check("powers", f, p(p(p(p(x, 2.0), 0.5), 1.0), -1.0), SIMPLIFY, {"mul": 1, "reciprocal": 1, "sqrt": 1})
f = Function()
x = f.arg(2, 3)
check("cube", f, p(f.pow(x, f.const(3.0)), 1.0), SIMPLIFY, {"pow": 1})

finish()
