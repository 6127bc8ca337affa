"""Models of one kernel each, for the roofline table and the instruction counts.

A model of images has a transpose at both ends. Data is channels-last inside a compiled model, so these transposes
cancel and only the kernel is left. FLOPs follow from the definition of the operation: a multiply-add counts as two, and
padding counts. Bytes are those of operands and results, each counted once.
"""
import os

import numpy as np
import onnx
import onnx.shape_inference
from onnx import TensorProto, helper, numpy_helper

TO_FIRST, TO_LAST = {1: [0, 2, 1], 2: [0, 3, 1, 2]}, {1: [0, 2, 1], 2: [0, 2, 3, 1]}


class Kernel:
    """A model, its work, and inputs that must not be random."""

    def __init__(self, family, name, model, flops, moved, inputs=None):
        self.family, self.name, self.model = family, f"{family}/{name}", model
        self.flops, self.bytes, self.inputs = flops, moved, inputs or {}

    def write(self, folder):
        """Writes the model and returns (path of the model, [NAME=FILE.npy, …])."""
        stem = os.path.join(folder, self.name.replace("/", "_").replace(" ", "_"))
        onnx.save(self.model, stem + ".onnx")
        files = []
        for name, value in self.inputs.items():
            np.save(f"{stem}.{name}.npy", value)
            files.append(f"{name}={stem}.{name}.npy")
        return stem + ".onnx", files


def make(nodes, inputs, constants, opset=20, result=None):
    """Makes a model. ONNX infers the shape of the result if none is given."""
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    infos = [helper.make_tensor_value_info(name, kind, shape) for name, shape, kind in inputs]
    name = nodes[-1].output[0]
    output = (helper.make_empty_tensor_value_info(name) if result is None
              else helper.make_tensor_value_info(name, TensorProto.FLOAT, result))
    graph = helper.make_graph(nodes, "kernel", infos, [output], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    return onnx.shape_inference.infer_shapes(model, strict_mode=True) if result is None else model


def random(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape, dtype=np.float32)


def count(*shapes):
    return 4 * sum(int(np.prod(shape)) for shape in shapes)


def image(family, name, op, channels, size, constants, flops_per_output, space=2, **attributes):
    """Makes an operation on channels-last data [1, size…, channels]."""
    shape = [1] + [size] * space + [channels]
    nodes = [helper.make_node("Transpose", ["x"], ["first"], perm=TO_FIRST[space]),
             helper.make_node(op, ["first", *constants], ["result"], name=op.lower(), **attributes),
             helper.make_node("Transpose", ["result"], ["y"], perm=TO_LAST[space])]
    model = make(nodes, [("x", shape, TensorProto.FLOAT)], constants)
    result = [dim.dim_value for dim in model.graph.output[0].type.tensor_type.shape.dim]
    weights = [value.shape for value in constants.values() if value.dtype == np.float32]
    return Kernel(family, name, model, flops_per_output * int(np.prod(result)), count(shape, result, *weights))


def conv(family, channels, outputs, size, kernel, stride=1, dilation=1, group=1, space=2):
    reach = dilation * (kernel - 1)
    name = f"{kernel}x{kernel} {channels}-{outputs} @{size}" if space == 2 else f"{kernel} {channels}-{outputs} @{size}"
    name += f" /{stride}" * (stride > 1) + f" dilated {dilation}" * (dilation > 1)
    name += f" {group} groups" * (1 < group < channels)
    weights = {"w": random(outputs, channels // group, *[kernel] * space), "b": random(outputs)}
    return image(family, name, "Conv", channels, size, weights, 2 * kernel ** space * (channels // group), space,
                 strides=[stride] * space, dilations=[dilation] * space, group=group,
                 pads=[reach // 2] * space + [reach - reach // 2] * space)


def depthwise(channels, size, kernel, stride=1):
    return conv("depthwise", channels, channels, size, kernel, stride, group=channels)


def conv_transpose(channels, outputs, size, kernel, stride):
    weights = {"w": random(channels, outputs, kernel, kernel), "b": random(outputs)}
    return image("transposed convolution", f"{kernel}x{kernel} {channels}-{outputs} @{size} /{stride}", "ConvTranspose",
                 channels, size, weights, 2 * channels * kernel ** 2 / stride ** 2, strides=[stride] * 2,
                 pads=[(kernel - stride) // 2] * 4)


def matmul(family, rows, inner, columns, batch=None):
    """Makes a product by a constant, or with `batch` by a tensor that the run brings."""
    name = f"{rows}x{inner}x{columns}"
    if batch is None:
        model = make([helper.make_node("MatMul", ["x", "w"], ["y"])], [("x", [rows, inner], TensorProto.FLOAT)],
                     {"w": random(inner, columns)})
    else:
        name = f"{batch}x{name}"
        inputs = [("x", [batch, rows, inner], TensorProto.FLOAT), ("w", [batch, inner, columns], TensorProto.FLOAT)]
        model = make([helper.make_node("MatMul", ["x", "w"], ["y"])], inputs, {})
    times = batch or 1
    return Kernel(family, name, model, 2 * times * rows * inner * columns,
                  times * count([rows, inner], [inner, columns], [rows, columns]))


def matmul_nbits(rows, inner, columns, accuracy_level):
    """Makes a product by 4-bit weights in blocks of 32. Rows are floats or, with level 4, bytes."""
    rng = np.random.default_rng(0)
    constants = {"w": rng.integers(0, 256, (columns, inner // 32, 16), np.uint8), "s": random(columns, inner // 32)}
    node = helper.make_node("MatMulNBits", ["x", *constants], ["y"], domain="com.microsoft", K=inner, N=columns, bits=4,
                            block_size=32, accuracy_level=accuracy_level)
    model = make([node], [("x", [rows, inner], TensorProto.FLOAT)], constants, result=[rows, columns])
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return Kernel("weights of 4 bits", f"{rows}x{inner}x{columns}, level {accuracy_level}", model,
                  2 * rows * inner * columns, count([rows, inner], [rows, columns]) + inner * columns * 5 // 8)


def attention(length, size, heads):
    """Makes an attention on one tensor of queries, keys and values, which a preceding product would write."""
    nodes = [helper.make_node("Split", ["x", "ones"], ["q3", "k3", "v3"], axis=2)]
    for part in "qkv":
        nodes += [helper.make_node("Squeeze", [part + "3", "two"], [part + "2"]),
                  helper.make_node("Transpose", [part + "2"], [part], perm=[0, 2, 3, 1] if part == "k" else [0, 2, 1, 3])]
    nodes += [helper.make_node("MatMul", ["q", "k"], ["scores"]), helper.make_node("Mul", ["scores", "scale"], ["scaled"]),
              helper.make_node("Softmax", ["scaled"], ["p"], axis=-1), helper.make_node("MatMul", ["p", "v"], ["heads"]),
              helper.make_node("Transpose", ["heads"], ["y"], perm=[0, 2, 1, 3])]
    constants = {"ones": np.array([1, 1, 1], np.int64), "two": np.array([2], np.int64), "scale": np.float32(size ** -0.5)}
    model = make(nodes, [("x", [1, length, 3, heads, size], TensorProto.FLOAT)], constants)
    return Kernel("attention", f"{heads}x{length}x{size}", model, 4 * heads * length * length * size,
                  count([length, 4, heads, size]))


def plain(family, name, op, shape, constants=None, result=None, opset=20, **attributes):
    """Makes an operation that is limited by memory bandwidth."""
    constants = constants or {}
    model = make([helper.make_node(op, ["x", *constants], ["y"], **attributes)], [("x", shape, TensorProto.FLOAT)],
                 constants, opset)
    parameters = [value.shape for value in constants.values() if value.dtype == np.float32]
    return Kernel(family, name, model, 0, count(shape, result or shape, *parameters))


def softmax(*shape):
    return plain("softmax", "x".join(map(str, shape)), "Softmax", list(shape), axis=-1)


def layer_norm(*shape):
    return plain("layer norm", "x".join(map(str, shape)), "LayerNormalization", list(shape),
                 {"scale": random(shape[-1]), "bias": random(shape[-1])}, axis=-1)


def group_norm(channels, size, groups):
    """Makes a group norm in the form of opset 21, with a scale for each channel."""
    nodes = [helper.make_node("Transpose", ["x"], ["first"], perm=TO_FIRST[2]),
             helper.make_node("GroupNormalization", ["first", "scale", "bias"], ["result"], num_groups=groups),
             helper.make_node("Transpose", ["result"], ["y"], perm=TO_LAST[2])]
    shape = [1, size, size, channels]
    model = make(nodes, [("x", shape, TensorProto.FLOAT)], {"scale": random(channels), "bias": random(channels)}, 21,
                 shape)
    return Kernel("group norm", f"{channels} @{size}, {groups} groups", model, 0, count(shape, shape))


def pool(op, channels, size, kernel, stride):
    kind = "max" if op == "MaxPool" else "average"
    return image("pooling", f"{kind} {kernel}x{kernel} {channels} @{size} /{stride}", op, channels, size, {}, 0,
                 kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[(kernel - 1) // 2] * 4)


def global_pool(channels, size):
    return image("pooling", f"global {channels} @{size}", "GlobalAveragePool", channels, size, {}, 0)


def reduce(op, shape, axis):
    axes = {"axes": np.array([axis])}
    result = [1 if i == axis % len(shape) else size for i, size in enumerate(shape)]
    name = f"{op[6:].lower()} {'x'.join(map(str, shape))} axis {axis}"
    return plain("reduction", name, op, list(shape), axes, result)


def transpose(shape, perm):
    return plain("transpose", f"{'x'.join(map(str, shape))} to {''.join(map(str, perm))}", "Transpose", list(shape),
                 perm=list(perm))


def quantized_transpose(channels, size, to_last):
    """Makes an edge of a quantized model: channels-first floats become channels-last bytes, or the reverse."""
    pair = {"s": np.float32(0.04), "z": np.uint8(117)}
    shape = [1, channels, size, size] if to_last else [1, size, size, channels]
    turn = helper.make_node("Transpose", ["x"], ["t"], perm=(TO_LAST if to_last else TO_FIRST)[2])
    change = helper.make_node("QuantizeLinear" if to_last else "DequantizeLinear", ["t", *pair], ["y"])
    model = make([turn, change], [("x", shape, TensorProto.FLOAT if to_last else TensorProto.UINT8)], pair)
    name = f"{'quantized' if to_last else 'dequantized'} {channels} @{size}"
    return Kernel("transpose", name, model, 0, 5 * int(np.prod(shape)))


def elementwise(op, size, **attributes):
    return plain("elementwise", op.lower(), op, [size], **attributes)


def add(size):
    model = make([helper.make_node("Add", ["x", "z"], ["y"])], [(name, [size], TensorProto.FLOAT) for name in "xz"], {})
    return Kernel("elementwise", "add", model, 0, count([size], [size], [size]))


def gather(rows, width, indices):
    model = make([helper.make_node("Gather", ["x", "i"], ["y"])],
                 [("x", [rows, width], TensorProto.FLOAT), ("i", [indices], TensorProto.INT64)], {})
    picked = np.random.default_rng(0).integers(-rows, rows, indices)
    return Kernel("gather", f"{indices} of {rows}x{width}", model, 0, 2 * count([indices, width]) + 8 * indices,
                  {"i": picked})


def resize(mode, channels, size):
    nodes = [helper.make_node("Transpose", ["x"], ["first"], perm=TO_FIRST[2]),
             helper.make_node("Resize", ["first", "", "scales"], ["result"], mode=mode,
                              coordinate_transformation_mode="asymmetric" if mode == "nearest" else "half_pixel",
                              nearest_mode="floor"),
             helper.make_node("Transpose", ["result"], ["y"], perm=TO_LAST[2])]
    shape, result = [1, size, size, channels], [1, 2 * size, 2 * size, channels]
    model = make(nodes, [("x", shape, TensorProto.FLOAT)], {"scales": np.array([1, 1, 2, 2], np.float32)})
    return Kernel("resize", f"{mode} {channels} @{size} x2", model, 0, count(shape, result))


def reduced(layout, sizes, wanted, antialias):
    """Makes a linear reduction of a byte image with three channels to floats."""
    axes = [layout.index("H"), layout.index("W")]
    shape = [dict(zip("NHWC", (1, *sizes, 3)))[dim] for dim in layout]
    nodes = [helper.make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT),
             helper.make_node("Resize", ["f", "", "", "sizes"], ["y"], mode="linear", antialias=antialias, axes=axes)]
    model = make(nodes, [("x", shape, TensorProto.UINT8)], {"sizes": np.array(wanted, np.int64)})
    result = [wanted[axes.index(d)] if d in axes else n for d, n in enumerate(shape)]
    taps = sum(2 * size / to for size, to in zip(sizes, wanted)) if antialias else 4
    name = f"{'filter' if antialias else 'linear'} {layout} {sizes[0]}x{sizes[1]} to {wanted[0]}x{wanted[1]}"
    return Kernel("resize", name, model, int(2 * taps * np.prod(result)), int(np.prod(shape)) + count(result))


def roofline():
    """Yields kernels in sizes of real networks."""
    for channels, size in ((64, 56), (128, 28), (256, 14), (512, 7)):
        yield conv("convolution 3x3", channels, channels, size, 3)
    yield conv("convolution 3x3", 48, 48, 48, 3)
    for channels, outputs, size in ((64, 256, 56), (256, 64, 56), (1024, 256, 14), (512, 2048, 7)):
        yield conv("convolution 1x1", channels, outputs, size, 1)
    yield conv("first layer", 3, 64, 224, 7, 2)
    yield conv("first layer", 3, 32, 224, 3, 2)
    yield conv("strided convolution", 128, 128, 56, 3, 2)
    yield conv("strided convolution", 256, 512, 56, 1, 2)
    yield conv("dilated convolution", 128, 128, 28, 3, dilation=2)
    yield conv("grouped convolution", 128, 128, 56, 3, group=32)
    yield conv("grouped convolution", 128, 128, 28, 3, group=2)
    yield conv("1-D convolution", 256, 256, 400, 3, space=1)
    for arguments in ((144, 56, 3), (384, 14, 3), (960, 7, 3), (96, 112, 3, 2), (240, 28, 5), (960, 7, 5)):
        yield depthwise(*arguments)
    yield conv_transpose(64, 64, 40, 2, 2)
    yield conv_transpose(64, 32, 40, 4, 2)
    for sizes in ((128, 768, 768), (128, 768, 3072), (197, 192, 576), (256, 256, 256), (127, 131, 67), (33, 17, 129)):
        yield matmul("matrix product", *sizes)
    yield matmul("batched product", 128, 64, 128, batch=12)
    yield matmul("batched product", 197, 64, 197, batch=3)
    yield matmul("row times matrix", 1, 2048, 1000)
    yield matmul("row times matrix", 1, 768, 768)
    yield attention(197, 64, 3)
    yield attention(128, 32, 12)
    yield softmax(12, 128, 128)
    yield softmax(3, 197, 197)
    yield layer_norm(128, 768)
    yield layer_norm(197, 192)
    yield group_norm(64, 32, 32)
    yield group_norm(320, 16, 32)
    yield pool("MaxPool", 64, 112, 3, 2)
    yield pool("MaxPool", 64, 28, 5, 1)
    yield pool("AveragePool", 128, 28, 2, 2)
    yield global_pool(2048, 7)
    yield reduce("ReduceMean", (128, 768), -1)
    yield reduce("ReduceSum", (128, 768), 0)
    yield reduce("ReduceMax", (64, 1000), -1)
    yield transpose((1, 64, 56, 56), (0, 2, 3, 1))
    yield transpose((1, 128, 12, 64), (0, 2, 1, 3))
    yield transpose((384, 384), (1, 0))
    for op in ("Exp", "Gelu", "Sigmoid", "Tanh", "Erf", "Relu"):
        yield elementwise(op, 48 * 768)
    yield add(32 * 768)
    yield gather(30522, 384, 128)
    yield resize("nearest", 64, 40)
    yield resize("linear", 64, 40)


def counted():
    """Yields kernels in small sizes that cover each path through a kernel: tiles, tails, borders, panels. The first few
    are the fast set, one per family of micro-kernels."""
    yield conv("convolution 3x3", 32, 32, 14, 3)
    yield conv("convolution 1x1", 64, 64, 8, 1)
    yield depthwise(32, 14, 3)
    yield matmul("matrix product", 31, 64, 80)
    yield attention(40, 32, 2)
    yield softmax(16, 50)
    yield layer_norm(16, 100)
    yield pool("MaxPool", 32, 14, 3, 2)
    yield elementwise("Gelu", 1024)
    # The remaining kernels are not in the fast set.
    yield conv("convolution 3x3", 17, 35, 9, 3)
    yield conv("first layer", 3, 32, 32, 3, 2)
    yield conv("strided convolution", 32, 32, 16, 3, 2)
    yield conv("dilated convolution", 32, 32, 14, 3, dilation=2)
    yield conv("grouped convolution", 32, 32, 14, 3, group=4)
    yield conv("1-D convolution", 32, 32, 50, 3, space=1)
    yield depthwise(20, 9, 5, 2)
    yield conv_transpose(16, 16, 8, 2, 2)
    yield matmul("matrix product", 12, 256, 64)
    yield matmul("batched product", 20, 32, 20, batch=2)
    yield matmul("row times matrix", 1, 128, 100)
    for rows in (1, 16):
        yield matmul_nbits(rows, 256, 64, 1)
        yield matmul_nbits(rows, 256, 64, 4)
    yield group_norm(32, 8, 8)
    yield pool("AveragePool", 32, 14, 2, 2)
    yield global_pool(64, 7)
    yield reduce("ReduceMean", (16, 100), -1)
    yield reduce("ReduceSum", (32, 64), 0)
    yield transpose((1, 16, 12, 12), (0, 2, 3, 1))
    yield transpose((1, 16, 4, 32), (0, 2, 1, 3))
    for channels, size in ((40, 14), (3, 32)):
        yield quantized_transpose(channels, size, True)
        yield quantized_transpose(channels, size, False)
    for op in ("Exp", "Sigmoid", "Tanh", "Erf", "Log"):
        yield elementwise(op, 1024)
    yield add(1024)
    yield gather(100, 64, 32)
    yield resize("nearest", 16, 10)
    yield resize("linear", 16, 10)
    yield reduced("NHWC", (96, 200), (30, 60), 1)
    yield reduced("NCHW", (96, 200), (30, 60), 1)
    yield reduced("NCHW", (96, 200), (30, 20), 0)


FAST = 8  # length of the fast set of counted()
