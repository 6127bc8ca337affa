# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws single float operators of ONNX Runtime's domain com.microsoft."""
import numpy as np

from microsoft import make


class Drawer:
    """Draws (model, feeds) of an operator."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.seed = seed

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def floats(self, *shape):
        return self.rng.standard_normal(shape).astype(np.float32)

    def maybe(self, value):
        return value if self.rng.integers(2) else None

    def seen(self, *shape):
        """Draws a mask. Each row keeps its first element, because a row without any would only contain rounding
        errors."""
        mask = self.rng.integers(0, 2, shape, np.int32)
        mask[..., 0] = 1
        return self.maybe(mask)

    # Functions of elements

    def gelu(self):
        return make("Gelu", [("x", self.floats(3, 17))], [("y", np.float32, 2)])

    def fast_gelu(self):
        return make("FastGelu", [("x", self.floats(2, 3, 17)), ("b", self.maybe(self.floats(17)))],
                    [("y", np.float32, 3)], {"b"})

    def bias_gelu(self):
        return make("BiasGelu", [("x", self.floats(2, 3, 17)), ("b", self.floats(17))], [("y", np.float32, 3)], {"b"})

    def quick_gelu(self):
        return make("QuickGelu", [("x", self.floats(3, 17))], [("y", np.float32, 2)],
                    **self.pick({}, {"alpha": 1.3}))

    # Products

    def fused_matmul(self):
        a, b, attributes = self.pick(
            ([3, 4], [4, 5], {}), ([4, 3], [4, 5], {"transA": 1}), ([2, 3, 4], [2, 5, 4], {"transB": 1}),
            ([2, 4, 3], [5, 4], {"transA": 1, "transB": 1}), ([3, 2, 4], [2, 4, 5], {"transBatchA": 1}),
            ([3, 2, 4], [4, 2, 5], {"transBatchA": 1, "transBatchB": 1}),
            ([4, 2, 3], [2, 4, 5], {"transBatchA": 1, "transA": 1}))
        return make("FusedMatMul", [("a", self.floats(*a)), ("b", self.floats(*b))],
                    [("y", np.float32, max(len(a), len(b)))], self.pick(set(), {"b"}), alpha=self.pick(1.0, 0.25),
                    **attributes)

    def fused_conv(self):
        activation = self.pick({}, {"activation": "Relu"}, {"activation": "Tanh"}, {"activation": "Sigmoid"},
                               {"activation": "LeakyRelu", "activation_params": [0.2]},
                               {"activation": "Clip", "activation_params": [-0.5, 0.5]},
                               {"activation": "HardSigmoid", "activation_params": [0.3, 0.4]})
        z = self.floats(2, 5, 4, 4) if activation.get("activation") == "Relu" else None
        return make("FusedConv", [("x", self.floats(2, 4, 8, 8)), ("w", self.floats(5, 4, 3, 3)),
                                  ("b", self.floats(5)), ("z", z)], [("y", np.float32, 4)], {"w", "b"},
                    strides=[2, 2], pads=[1, 1, 1, 1], kernel_shape=[3, 3], **activation)

    # Normalizations

    def skip_layer_norm(self):
        bias = self.maybe(self.floats(32))
        return make("SkipLayerNormalization",
                    [("x", self.floats(2, 3, 32)), ("s", self.floats(*self.pick([2, 3, 32], [1, 3, 32], [3, 32]))),
                     ("g", self.floats(32)), ("e", self.maybe(self.floats(32))), ("b", bias)],
                    [("y", np.float32, 3), ("", np.float32, 0), ("", np.float32, 0), ("sum", np.float32, 3)],
                    {"g", "e", "b"}, epsilon=1e-5)

    def skip_simplified_layer_norm(self):
        return make("SkipSimplifiedLayerNormalization",
                    [("x", self.floats(2, 3, 32)), ("s", self.floats(2, 3, 32)), ("g", self.floats(32)),
                     ("b", self.maybe(self.floats(32)))],
                    [("y", np.float32, 3), ("", np.float32, 0), ("", np.float32, 0), ("sum", np.float32, 3)],
                    {"g", "b"}, epsilon=1e-5)

    def simplified_layer_norm(self):
        model, feeds = make("SimplifiedLayerNormalization", [("x", self.floats(2, 3, 32)), ("g", self.floats(32))],
                            [("y", np.float32, 3)], {"g"}, axis=-1, epsilon=1e-5)
        model.graph.node[0].domain = ""
        return model, feeds

    def embed_layer_norm(self):
        ids = self.rng.integers(0, 50, (2, 7), np.int32)
        segments = self.maybe(self.rng.integers(0, 2, (2, 7), np.int32))
        mask = self.maybe(np.array([[1] * 7, [1] * 4 + [0] * 3], np.int32))
        return make("EmbedLayerNormalization",
                    [("ids", ids), ("segments", segments), ("word", self.floats(50, 32)),
                     ("position", self.floats(9, 32)), ("segment", None if segments is None else self.floats(2, 32)),
                     ("g", self.floats(32)), ("e", self.floats(32)), ("mask", mask)],
                    [("y", np.float32, 3), ("index", np.int32, 1)], {"word", "position", "segment", "g", "e"})

    # Attention

    def attention(self):
        batch, steps, heads, width = self.pick(1, 2), self.pick(1, 5), 2, self.pick(8, 16)
        hidden, past = heads * width, self.pick(0, 3)
        total = past + steps
        state = self.floats(2, batch, heads, past, width) if past else None
        mask = self.pick(None, self.seen(batch, total), self.seen(batch, steps, total),
                         self.rng.integers(1, total + 1, (batch,), np.int32))
        bias = self.maybe(self.floats(self.pick(1, batch), self.pick(1, heads), steps, total))
        outputs = [("y", np.float32, 3)] + ([("present", np.float32, 5)] if past else [])
        return make("Attention", [("x", self.floats(batch, steps, 24)), ("w", self.floats(24, 3 * hidden)),
                                  ("b", self.floats(3 * hidden)), ("mask", mask), ("past", state),
                                  ("bias", None if past else bias)],
                    outputs, {"w", "b"}, num_heads=heads, unidirectional=self.pick(0, 1),
                    **self.pick({}, {"scale": 0.3}))

    def multi_head_attention(self):
        batch, steps, keys, heads, width = self.pick(1, 2), self.pick(1, 5), self.pick(4, 6), 2, self.pick(8, 16)
        hidden, form = heads * width, self.pick("flat", "cross", "past")
        inputs = {"flat": [self.floats(batch, steps, hidden), self.floats(batch, keys, hidden),
                           self.floats(batch, keys, hidden)],
                  "cross": [self.floats(batch, steps, hidden), self.floats(batch, heads, keys, width),
                            self.floats(batch, heads, keys, width)],
                  "past": [self.floats(batch, steps, hidden)] + [self.floats(batch, steps, hidden)] * 2}[form]
        past = [self.floats(batch, heads, 3, width)] * 2 if form == "past" else [None, None]
        total = steps + 3 if form == "past" else keys
        mask = self.seen(batch, total) if form in ("flat", "past") else None
        bias = self.maybe(self.floats(3 * hidden)) if form == "flat" else None
        added = self.maybe(self.floats(self.pick(1, batch), self.pick(1, heads), steps, total))
        outputs = [("y", np.float32, 3)]
        if form == "past":
            outputs += [("present_key", np.float32, 4), ("present_value", np.float32, 4)]
        return make("MultiHeadAttention",
                    [("q", inputs[0]), ("k", inputs[1]), ("v", inputs[2]), ("b", bias), ("mask", mask),
                     ("added", added), ("past_key", past[0]), ("past_value", past[1])], outputs, {"b"},
                    num_heads=heads, unidirectional=self.pick(0, 1) if form == "past" else 0,
                    **self.pick({}, {"scale": 0.3}))

    def group_query_attention(self):
        batch, heads, groups, width = self.pick(1, 2), 4, self.pick(1, 2, 4), 16
        past = self.pick(0, 5)
        steps = self.pick(1, 3) if past and batch == 1 else 1 if past else self.pick(1, 4)
        rotates, packed = self.rng.integers(2), self.rng.integers(2)
        room = past + steps + self.pick(0, 2) if past else 0  # a buffer longer than what is in it
        total = past + steps
        if past:
            room = self.pick(past, total + 2)
        lengths = np.full(batch, total - 1, np.int32)
        if batch == 2 and (past or steps > 2):
            lengths[1] -= 1  # a shorter past, or a padded prompt
        hidden = heads * width
        q = self.floats(batch, steps, hidden + (2 * groups * width if packed else 0))
        k, v = (None if packed else self.floats(batch, steps, groups * width) for _ in range(2))
        cache = [self.floats(20, width // 2) if rotates else None for _ in range(2)]
        state = [self.floats(batch, groups, room, width) if past else None for _ in range(2)]
        added = self.maybe(self.floats(self.pick(1, batch), self.pick(1, heads), steps, total))
        options = {"do_rotary": 1, "rotary_interleaved": self.pick(0, 1)} if rotates else {}
        return make("GroupQueryAttention",
                    [("q", q), ("k", k), ("v", v), ("past_key", state[0]), ("past_value", state[1]),
                     ("lengths", lengths), ("total", np.array(total, np.int32)), ("cos", cache[0]),
                     ("sin", cache[1]), ("positions", None), ("added", added)],
                    [("y", np.float32, 3), ("present_key", np.float32, 4), ("present_value", np.float32, 4)],
                    {"cos", "sin"}, num_heads=heads, kv_num_heads=groups, **options,
                    **self.pick({}, {"scale": 0.3}, {"local_window_size": 2}, {"softcap": 2.0}))

    def rotary_embedding(self):
        heads, width, interleaved = 3, 16, self.pick(0, 1)
        flat, turned = self.rng.integers(2), self.pick(8, 4)
        x = self.floats(2, 5, heads * width) if flat else self.floats(2, heads, 5, width)
        positions = self.pick(np.array([3], np.int64), self.rng.integers(0, 20, (2, 5), np.int64))
        more = {"rotary_embedding_dim": 2 * turned, "num_heads": heads} if turned == 4 else {}
        return make("RotaryEmbedding", [("x", x), ("p", positions), ("cos", self.floats(20, turned)),
                                        ("sin", self.floats(20, turned))], [("y", np.float32, x.ndim)],
                    {"cos", "sin"}, interleaved=interleaved, **more)


KINDS = {kind: call for kind, call in vars(Drawer).items() if callable(call) and not kind.startswith("_") and
         kind not in ("pick", "floats", "maybe", "seen")}


def draw(kind, seed):
    return KINDS[kind](Drawer(seed * 1000 + sorted(KINDS).index(kind)))
