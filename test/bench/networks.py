"""Draws small networks of f32, and writes them as quantizers of other projects do."""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FAMILIES = ("plain", "mobile", "hardswish", "signal", "perceptron", "transformer")
OPSET = 21
SAMPLES = 8


class Net:
    """A network with seeded weights. Values are represented by their names."""

    def __init__(self, family, seed):
        self.rng = np.random.default_rng([FAMILIES.index(family), seed])
        self.nodes, self.tensors = [], []

    def constant(self, array):
        name = f"c{len(self.tensors)}"
        self.tensors.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, operator, *inputs, **attributes):
        result = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [result], name=result, **attributes))
        return result

    def weights(self, *shape, terms):
        return self.constant((self.rng.standard_normal(shape) * np.sqrt(2 / terms)).astype(np.float32))

    def bias(self, count):
        return self.constant((0.1 * self.rng.standard_normal(count)).astype(np.float32))

    def activation(self, kind, x):
        if kind == "Clip":
            return self.node("Clip", x, self.constant(np.float32(0)), self.constant(np.float32(6)))
        return self.node(kind, x) if kind else x

    def conv(self, x, channels, outputs, taps=1, stride=1, groups=1, activation="Relu", dims=2):
        terms = channels // groups * taps ** dims
        y = self.node("Conv", x, self.weights(outputs, channels // groups, *[taps] * dims, terms=terms),
                      self.bias(outputs), strides=[stride] * dims, pads=[taps // 2] * (2 * dims), group=groups)
        return self.activation(activation, y)

    def linear(self, x, depth, columns, activation=None):
        y = self.node("Add", self.node("MatMul", x, self.weights(depth, columns, terms=depth)), self.bias(columns))
        return self.activation(activation, y)

    def normalized(self, x, depth):
        return self.node("LayerNormalization", x, self.constant(np.ones(depth, np.float32)), self.bias(depth), axis=-1)

    def model(self, result, sizes):
        graph = helper.make_graph(self.nodes, "drawn", [helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)],
                                  [helper.make_tensor_value_info(result, TensorProto.FLOAT, None)], self.tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        return onnx.shape_inference.infer_shapes(model)


def inverted(net, x, channels, outputs, stride, activation, squeezes):
    """Adds an inverted residual block."""
    wide = channels * int(net.rng.choice([2, 4, 6]))
    taps = int(net.rng.choice([3, 5]))
    y = net.conv(x, channels, wide, activation=activation)
    y = net.conv(y, wide, wide, taps, stride, groups=wide, activation=activation)
    if squeezes:
        mean = net.node("GlobalAveragePool", y)
        gate = net.conv(net.conv(mean, wide, wide // 4), wide // 4, wide, activation="HardSigmoid")
        y = net.node("Mul", y, gate)
    y = net.conv(y, wide, outputs, activation=None)
    return net.node("Add", x, y) if stride == 1 and channels == outputs else y


def images(net, family):
    side, channels = int(net.rng.choice([32, 48, 64])), int(net.rng.choice([16, 24, 32]))
    activation = {"plain": "Relu", "mobile": "Clip", "hardswish": "HardSwish"}[family]
    x = net.conv("x", 3, channels, 3, 2, activation=activation)
    for _ in range(int(net.rng.integers(3, 6))):
        stride = int(net.rng.choice([1, 1, 2]))
        outputs = channels if stride == 1 else int(channels * net.rng.choice([1.5, 2])) // 8 * 8
        if family != "plain":
            x = inverted(net, x, channels, outputs, stride, activation, family == "hardswish" and net.rng.random() < 0.5)
        else:
            y = net.conv(net.conv(x, channels, outputs, 3, stride), outputs, outputs, 3, activation=None)
            short = x if stride == 1 else net.conv(x, channels, outputs, stride=2, activation=None)
            x = net.node("Relu", net.node("Add", y, short))
        channels = outputs
    x = net.node("Flatten", net.node("GlobalAveragePool", net.conv(x, channels, 256, activation=activation)))
    return net.model(net.linear(x, 256, 32), [1, 3, side, side])


def signal(net):
    inputs, length = int(net.rng.choice([1, 40, 64])), int(net.rng.choice([200, 400, 800]))
    channels = int(net.rng.choice([32, 64, 128]))
    x = net.conv("x", inputs, channels, 5, dims=1)
    for _ in range(int(net.rng.integers(3, 6))):
        y = net.conv(x, channels, channels, int(net.rng.choice([3, 5, 9])), groups=channels, dims=1)
        x = net.node("Add", x, net.conv(y, channels, channels, dims=1))
    x = net.node("Flatten", net.node("GlobalAveragePool", x))
    return net.model(net.linear(x, channels, 16), [1, inputs, length])


def perceptron(net):
    rows, depth = int(net.rng.choice([1, 4, 16, 64])), int(net.rng.choice([64, 128, 384]))
    sizes, x = [rows, depth], "x"
    for _ in range(int(net.rng.integers(2, 5))):
        columns = int(net.rng.choice([64, 128, 256, 512, 1024]))
        x, depth = net.linear(x, depth, columns, "Relu"), columns
    return net.model(net.linear(x, depth, 32), sizes)


def transformer(net):
    tokens, depth = int(net.rng.choice([8, 32, 128])), int(net.rng.choice([128, 256]))
    heads = depth // 32

    def split(x):
        x = net.node("Reshape", x, net.constant(np.array([1, tokens, heads, 32], np.int64)))
        return net.node("Transpose", x, perm=[0, 2, 1, 3])
    x = net.linear("x", depth, depth)
    for _ in range(2):
        y = net.normalized(x, depth)
        q, k, v = (split(net.linear(y, depth, depth)) for _ in range(3))
        scores = net.node("Mul", net.node("MatMul", q, net.node("Transpose", k, perm=[0, 1, 3, 2])),
                          net.constant(np.float32(32 ** -0.5)))
        y = net.node("Transpose", net.node("MatMul", net.node("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        y = net.node("Reshape", y, net.constant(np.array([1, tokens, depth], np.int64)))
        x = net.node("Add", x, net.linear(y, depth, depth))
        y = net.linear(net.normalized(x, depth), depth, 4 * depth, "Gelu")
        x = net.node("Add", x, net.linear(y, 4 * depth, depth))
    return net.model(net.normalized(x, depth), [1, tokens, depth])


def draw(family, seed):
    net = Net(family, seed)
    if family in ("plain", "mobile", "hardswish"):
        return images(net, family)
    return {"signal": signal, "perceptron": perceptron, "transformer": transformer}[family](net)


def draw_samples(model):
    sizes = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    return np.random.default_rng(7).standard_normal([SAMPLES, *sizes]).astype(np.float32)


# ----------------------------------------------------------------------------------------------------------------------
# Quantizers
# ----------------------------------------------------------------------------------------------------------------------

# Options of ONNX Runtime's quantize_static: types of data and weights, and the others.
STATIC = {
    "u8s8": ("QUInt8", "QInt8", {}),
    "u8s8-channel": ("QUInt8", "QInt8", {"per_channel": True}),
    "s8s8": ("QInt8", "QInt8", {}),
    "s8s8-channel": ("QInt8", "QInt8", {"per_channel": True}),
    "u8u8": ("QUInt8", "QUInt8", {}),
    "u8u8-channel": ("QUInt8", "QUInt8", {"per_channel": True}),
    "reduce-range": ("QUInt8", "QInt8", {"per_channel": True, "reduce_range": True}),
    "operator": ("QUInt8", "QInt8", {"per_channel": True, "form": "QOperator"}),
    "operator-u8u8": ("QUInt8", "QUInt8", {"form": "QOperator"}),
    "data16": ("QUInt16", "QInt8", {"per_channel": True}),
    "weights16": ("QUInt8", "QInt16", {"per_channel": True}),
    "both16": ("QInt16", "QInt16", {"per_channel": True}),
    "weights4": ("QUInt8", "QInt4", {"per_channel": True}),
}
DYNAMIC = {"dynamic": {}, "dynamic-channel": {"per_channel": True}, "dynamic-u8": {"weight_type": "QUInt8"}}
# Bits, the operator that reads the weights, and the accuracy level.
BLOCKS = {
    "blocks2": (2, "MatMulNBits", 0),
    "blocks4": (4, "MatMulNBits", 0),
    "blocks4-rounded": (4, "MatMulNBits", 4),
    "blocks8": (8, "MatMulNBits", 0),
    "blocks8-rounded": (8, "MatMulNBits", 4),
    "blocks4-qdq": (4, "DequantizeLinear", 0),
    "blocks8-qdq": (8, "DequantizeLinear", 0),
}
BLOCK = 32
TRAINED = ("trained", "trained-fused", "trained-seven-bits")
KINDS = (*STATIC, *DYNAMIC, *BLOCKS, *TRAINED, "nncf")
MATRICES = ("perceptron", "transformer")


def kinds_of(family):
    return [k for k in KINDS if k not in BLOCKS or family in MATRICES]


def quantize_static(source, samples, kind, output):
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType
    from onnxruntime.quantization import quantize_static as quantize
    data, weights, options = STATIC[kind]
    options = dict(options)
    form = options.pop("form", "QDQ")

    class Reader(CalibrationDataReader):
        rest = iter(samples)

        def get_next(self):
            x = next(self.rest, None)
            return None if x is None else {"x": x}
    quantize(source, output, Reader(), quant_format=QuantFormat[form], activation_type=QuantType[data],
             weight_type=QuantType[weights], **options)


def quantize_dynamic(source, kind, output):
    from onnxruntime.quantization import QuantType
    from onnxruntime.quantization import quantize_dynamic as quantize
    options = dict(DYNAMIC[kind])
    if "weight_type" in options:
        options["weight_type"] = QuantType[options["weight_type"]]
    quantize(source, output, **options)


def write_blocks(source, kind, output):
    """Writes the matrices of products in blocks along the inner dimension, each with a scale."""
    bits, operator, level = BLOCKS[kind]
    model = onnx.load(source)
    graph, nodes = model.graph, []
    constants = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    middle = 2 ** (bits - 1)

    def constant(name, array, element=None):
        tensor = helper.make_tensor(name, element, array.shape, array.flatten()) if element else \
            numpy_helper.from_array(array, name)
        graph.initializer.append(tensor)
        return name
    for node in graph.node:
        nodes.append(node)
        if node.op_type != "MatMul" or node.input[1] not in constants:
            continue
        name, weights = node.input[1], constants[node.input[1]]
        depth, columns = weights.shape
        blocks = weights.reshape(depth // BLOCK, BLOCK, columns)
        scales = (np.maximum(np.abs(blocks).max(axis=1), 1e-6) / (middle - 0.5)).astype(np.float32)
        codes = np.clip(np.rint(blocks / scales[:, None]) + middle, 0, 2 * middle - 1).astype(np.uint8)
        if operator == "DequantizeLinear":
            element = {4: TensorProto.UINT4, 8: TensorProto.UINT8}[bits]
            inputs = [constant(name + "_codes", codes.reshape(depth, columns), element), constant(name + "_scales", scales),
                      constant(name + "_zeros", np.full(scales.shape, middle, np.uint8), element)]
            nodes.insert(-1, helper.make_node(operator, inputs, [name + "_floats"], axis=0, block_size=BLOCK))
            node.input[1] = name + "_floats"
            continue
        each, packed = 8 // bits, 0
        for i in range(each):
            packed = packed | codes.transpose(2, 0, 1)[..., i::each] << (bits * i)
        node.op_type, node.domain = operator, "com.microsoft"
        del node.input[1:]
        node.input.extend([constant(name + "_codes", packed.astype(np.uint8)),
                           constant(name + "_scales", np.ascontiguousarray(scales.T).reshape(-1))])
        for key, value in {"K": depth, "N": columns, "bits": bits, "block_size": BLOCK, "accuracy_level": level}.items():
            node.attribute.append(helper.make_attribute(key, value))
    del graph.node[:]
    graph.node.extend(nodes)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    used = {i for n in graph.node for i in n.input}
    kept = [t for t in graph.initializer if t.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    onnx.save(model, output)


def quantize_nncf(source, samples, output):
    import logging

    import nncf
    logging.getLogger("nncf").setLevel(logging.ERROR)
    model = onnx.load(source)
    dataset = nncf.Dataset([{"x": x} for x in samples])
    is_transformer = any(n.op_type == "Softmax" for n in model.graph.node)
    onnx.save(nncf.quantize(model, dataset, subset_size=len(samples),
                            model_type=nncf.ModelType.TRANSFORMER if is_transformer else None), output)


def ranges_of(model, samples):
    """Returns {tensor: (least, most)} of all results of nodes."""
    import onnxruntime
    observed = onnx.ModelProto()
    observed.CopyFrom(model)
    names = [o for n in observed.graph.node for o in n.output]
    known = {o.name for o in observed.graph.output}
    observed.graph.output.extend(helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in names if n not in known)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(observed.SerializeToString(), options, providers=["CPUExecutionProvider"])
    found = {"x": (samples.min(), samples.max())}
    for x in samples:
        for name, value in zip(names, session.run(names, {"x": x})):
            least, most = found.get(name, (0, 0))
            found[name] = (min(least, value.min()), max(most, value.max()))
    return found


PRODUCTS = ("Conv", "MatMul", "Gemm")
ACTIVATIONS = ("Relu", "Clip", "HardSwish", "HardSigmoid", "Gelu")


def write_trained(source, samples, kind, output):
    """Writes the fake-quantize operators of PyTorch's trained quantization as they are exported. They follow every module,
    or with `-fused` only the last module of a product with its bias and activation."""
    model = onnx.load(source)
    ranges, graph, steps = ranges_of(model, samples), model.graph, 127 if kind == "trained-seven-bits" else 255
    constants = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    users = {}
    for node in graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node)
    nodes, renamed = [], {}

    def constant(array):
        name = f"q{len(graph.initializer)}"
        graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(operator, inputs, **attributes):
        name = f"fake{len(nodes)}"
        nodes.append(helper.make_node(operator, inputs, [name], name, **attributes))
        return name

    def fake(name):
        least, most = (float(v) for v in ranges[name])
        least, most = min(least, 0), max(most, 1e-3)
        scale = np.float32((most - least) / steps)
        parameters = [constant(scale), constant(np.uint8(np.clip(np.rint(-least / scale), 0, steps)))]
        value = node("QuantizeLinear", [name, *parameters])
        if steps < 255:
            value = node("Clip", [value, constant(np.uint8(0)), constant(np.uint8(steps))])
        renamed[name] = node("DequantizeLinear", [value, *parameters])

    def fake_weights(name, axis):
        array = constants[name]
        most = np.abs(array).max(axis=tuple(i for i in range(array.ndim) if i != axis))
        scales = (np.maximum(most, 1e-6) / 127).astype(np.float32)
        parameters = [constant(scales), constant(np.zeros(scales.shape, np.int8))]
        return node("DequantizeLinear", [node("QuantizeLinear", [name, *parameters], axis=axis), *parameters], axis=axis)

    def is_inner(operator, result):
        after = users.get(result, [])
        if len(after) != 1:
            return False
        if operator == "MatMul" and after[0].op_type == "Add" and any(i in constants for i in after[0].input):
            return True
        return kind != "trained" and operator in (*PRODUCTS, "Add") and after[0].op_type in ("Relu", "Clip")

    fake("x")
    for each in list(graph.node):
        inputs = [renamed.get(i, i) for i in each.input]
        if each.op_type in PRODUCTS and each.input[1] in constants:
            inputs[1] = fake_weights(each.input[1], 1 if each.op_type == "MatMul" else 0)
        del each.input[:]
        each.input.extend(inputs)
        nodes.append(each)
        result = each.output[0]
        is_module = each.op_type in (*PRODUCTS, *ACTIVATIONS, "Add", "Mul", "GlobalAveragePool", "LayerNormalization", "Softmax")
        if is_module and result != graph.output[0].name and not is_inner(each.op_type, result):
            fake(result)
    del graph.node[:]
    graph.node.extend(nodes)
    del graph.value_info[:]
    onnx.save(model, output)


def quantize(source, samples, kind, output):
    """Writes the network of the file `source` as `kind` to the file `output`."""
    if kind in STATIC:
        quantize_static(source, samples, kind, output)
    elif kind in DYNAMIC:
        quantize_dynamic(source, kind, output)
    elif kind in BLOCKS:
        write_blocks(source, kind, output)
    elif kind in TRAINED:
        write_trained(source, samples, kind, output)
    else:
        quantize_nncf(source, samples, output)


def write(family, seed, folder):
    """Writes a drawn network to a folder. Returns the path of its file and its samples."""
    model = draw(family, seed)
    onnx.checker.check_model(model)
    path = os.path.join(folder, "fp32.onnx")
    onnx.save(model, path)
    return path, draw_samples(model)
