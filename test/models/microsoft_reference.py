# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Computes the int8 products of com.microsoft in float64.

ONNX Runtime cannot be the reference: without VNNI it sums pairs of products in 16 bits. These sums saturate for signed
weights of the full range."""
import numpy as np
from onnx import helper, numpy_helper


def run(model, feeds):
    """Returns {output: array} of the one node of `model`, or None if this file does not know the operator."""
    node = model.graph.node[0]
    if node.op_type not in OPERATORS:
        return None
    tensors = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer} | feeds
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    results = OPERATORS[node.op_type](*[tensors.get(name) for name in node.input], **attributes)
    types = [helper.tensor_dtype_to_np_dtype(o.type.tensor_type.elem_type) for o in model.graph.output]
    return {name: value.astype(dtype) for name, value, dtype in zip(node.output, results, types)}


def real(values, scale, zero):
    return (values.astype(np.float64) - (0 if zero is None else zero)) * np.asarray(scale, np.float64)


def dynamic(values):
    """Rounds `values` to bytes, as DynamicQuantizeLinear does, and converts them back."""
    low, high = np.float32(values.min(initial=0)), np.float32(values.max(initial=0))
    scale = (high - low) / np.float32(255) or np.float32(1)
    zero = np.rint(-low / scale)
    return real(np.clip(np.rint(values.astype(np.float32) / scale) + zero, 0, 255), scale, zero)


def dynamic_quantize_matmul(a, b, b_scale, b_zero=None, bias=None):
    return [dynamic(a) @ real(b, b_scale, b_zero) + (0 if bias is None else bias)]


def matmul_integer_to_float(a, b, a_scale, b_scale, a_zero=None, b_zero=None, bias=None):
    return [real(a, a_scale, a_zero) @ real(b, b_scale, b_zero) + (0 if bias is None else bias)]


def qgemm(a, a_scale, a_zero, b, b_scale, b_zero, c=None, y_scale=None, y_zero=None, *, transA, transB, alpha):
    a, b = real(a, a_scale, a_zero), real(b.T if transB else b, b_scale, b_zero)
    bias = 0 if c is None else c * (np.float64(a_scale) * b_scale)
    y = alpha * ((a.T if transA else a) @ b + bias)
    if y_scale is None:
        return [y]
    info = np.iinfo(y_zero.dtype)
    return [np.clip(np.rint(y / y_scale) + y_zero, info.min, info.max)]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def dynamic_quantize_lstm(x, w, r, b, lengths, h, c, p, w_scale, w_zero, r_scale, r_zero, *, hidden_size, direction):
    """Returns Y, Y_h and Y_c. The input is quantized as a whole, the state in each step."""
    assert lengths is h is c is p is None
    x = dynamic(x)
    steps, batch, _ = x.shape
    backwards = {b"forward": [False], b"reverse": [True], b"bidirectional": [False, True]}[direction]
    y = np.zeros((steps, len(backwards), batch, hidden_size))
    y_h, y_c = np.zeros(y.shape[1:]), np.zeros(y.shape[1:])
    for d, back in enumerate(backwards):
        weights, recurrent = real(w[d], w_scale[d], w_zero[d]), real(r[d], r_scale[d], r_zero[d])
        bias = 0 if b is None else b[d].astype(np.float64).reshape(2, -1).sum(0)
        for t in sorted(range(steps), reverse=back):
            gates = x[t] @ weights + dynamic(y_h[d]) @ recurrent + bias
            i, o, f, g = np.split(gates, 4, axis=1)
            y_c[d] = sigmoid(f) * y_c[d] + sigmoid(i) * np.tanh(g)
            y[t, d] = y_h[d] = sigmoid(o) * np.tanh(y_c[d])
    return [y, y_h, y_c]


OPERATORS = {
    "DynamicQuantizeLSTM": dynamic_quantize_lstm,
    "DynamicQuantizeMatMul": dynamic_quantize_matmul,
    "MatMulIntegerToFloat": matmul_integer_to_float,
    "QGemm": qgemm,
}
