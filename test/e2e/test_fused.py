# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Float operators of ONNX Runtime's own domain, against ONNX Runtime; fixed and with open dimensions."""
import numpy as np

import fused
from microsoft import make
from support import Case, TensorProto, helper, make_model, peer, tool

SEEDS = {"attention": 12, "multi_head_attention": 12, "group_query_attention": 14, "fused_matmul": 8, "fused_conv": 6}
# Dimensions of heads, widths and numbers of parts, which stay static.
FIXED = {"q": {2}, "k": {2}, "v": {2}, "past_key": {1, 3}, "past_value": {1, 3}, "past": {0, 2, 4}, "added": {1},
         "bias": {1}, "x": {-1}, "mask": {1} }


def opened(kind, model):
    """Returns the model with all possible dimensions dynamic."""
    for value in model.graph.input:
        dims = value.type.tensor_type.shape.dim
        kept = FIXED.get(value.name, set()) if "attention" in kind else {len(dims) - 1}
        if kind == "rotary_embedding":
            kept = {1, 2, 3} if len(dims) == 4 else {2}
        if len(dims) == 5:
            kept = {0, 2, 3, 4}
        if kind == "fused_conv":
            kept = {1}
        if kind == "fused_matmul":
            kept = set()
        for d, dim in enumerate(dims):
            if d not in {k % len(dims) for k in kept}:
                dim.dim_param = f"{value.name}{d}"
    return model


class Fused(Case):
    def reference(self, model, feeds):
        session = peer(model, as_written=True)
        return dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))

    def check(self, kind):
        for seed in range(SEEDS.get(kind, 3)):
            for is_open in (False, True):
                with self.subTest(kind=kind, seed=seed, is_open=is_open):
                    model, feeds = fused.draw(kind, seed)
                    kept = [o for o in model.graph.output if o.name]
                    del model.graph.output[:]
                    model.graph.output.extend(kept)
                    wanted = self.reference(model, feeds)
                    got = self.run_model(self.compile(opened(kind, model) if is_open else model), feeds)
                    self.assertEqual(sorted(got), sorted(wanted))
                    for name, want in wanted.items():
                        self.assertEqual((got[name].shape, got[name].dtype), (want.shape, want.dtype), name)
                        if name == "y" and "lengths" in feeds and feeds["total"] == want.shape[1]:
                            for b, last in enumerate(feeds["lengths"]):  # values behind a prompt do not matter
                                got[name][b, last + 1:] = want[b, last + 1:] = 0
                        error = np.abs(got[name].astype(np.float64) - want).max(initial=0)
                        self.assertLessEqual(error, 2e-5 * np.abs(want).max(initial=1e-30), name)

    def test_packed(self):
        """Forms that ONNX Runtime only has on other devices, compared with the form that it has here."""
        rng = np.random.default_rng(0)
        batch, steps, keys, heads, width = 2, 3, 5, 2, 8
        q, k, v = (rng.standard_normal((batch, n, heads, width)).astype(np.float32) for n in (steps, keys, keys))
        flat = [x.reshape(batch, -1, heads * width) for x in (q, k, v)]
        outputs, options = [("y", np.float32, 3)], {"num_heads": heads}

        def run(*inputs):
            names = [("q", inputs[0])] + list(zip("kv", inputs[1:]))
            return make("MultiHeadAttention", names, outputs, **options)
        model, feeds = run(*flat)
        want = self.reference(model, feeds)["y"]
        model, feeds = run(flat[0], np.stack([k, v], 3))
        np.testing.assert_allclose(self.run_model(self.compile(model), feeds)["y"], want, atol=1e-5)
        model, feeds = run(flat[1], flat[1], flat[2])
        want = self.reference(model, feeds)["y"]
        model, feeds = run(np.stack([k, k, v], 3))
        np.testing.assert_allclose(self.run_model(self.compile(model), feeds)["y"], want, atol=1e-5)

    def test_bad_lengths(self):
        """Lengths outside of the keys end the run with an error that names the node."""
        shape = (1, 2, 4, 8)
        past = [("past_key", np.zeros(shape, np.float32)), ("past_value", np.zeros(shape, np.float32))]
        x = np.zeros((1, 1, 16), np.float32)

        def model(length, total, position=None):
            cache = np.zeros((6, 4), np.float32)
            inputs = [("q", x), ("k", x), ("v", x)] + past + [
                ("lengths", np.array([length], np.int32)), ("total", np.array(total, np.int32)), ("cos", cache),
                ("sin", cache), ("positions", None if position is None else np.array([[position]], np.int64))]
            return make("GroupQueryAttention", inputs, [("y", np.float32, 3)], {"cos", "sin"}, num_heads=2,
                        kv_num_heads=2, do_rotary=1)
        for length, total, position, words in (
                (2, 3, None, None), (4, 5, None, None), (5, 6, None, ["has 5", "4 past keys"]),
                (-2, 3, None, ["has -2"]), (3, 3, None, ["has 3", "2 past keys"]),
                (2**31 - 1, 3, None, ["past keys"]), (2, 0, None, ["total_sequence_length is 0"]),
                (2, 3, 6, ["a position has 6"]), (2, 3, -1, ["a position has -1"])):
            with self.subTest(length=length, total=total, position=position):
                drawn, feeds = model(length, total, position)
                artifact = self.compile(drawn)
                arguments = []
                for name, value in feeds.items():
                    np.save(self.path(name + ".npy"), value)
                    arguments += ["--input", f"{name}={self.path(name + '.npy')}"]
                done = tool("ingot", "run", artifact, *arguments)
                if words is None:
                    self.assertEqual(done.returncode, 0, done.stderr)
                else:
                    self.assert_one_line(done, "node 'node'", *words)

    def refuses(self, kind, inputs, *words, outputs=(("y", np.float32, 3),), **attributes):
        model, _ = make(kind, inputs, outputs, {name for name, _ in inputs[1:]}, **attributes)
        with self.subTest(kind=kind, words=words):
            self.assert_refuses(model, "node 'node'", *words)

    def test_refused(self):
        def zeros(*shape, dtype=np.float32):
            return np.zeros(shape, dtype)
        x, w = zeros(2, 3, 16), zeros(16, 48)
        self.refuses("Attention", [("x", x), ("w", w)], "'num_heads' is 0", "at least 1")
        self.refuses("Attention", [("x", x), ("w", w)], "no multiple of 3 heads", num_heads=3)
        self.refuses("Attention", [("x", x), ("w", zeros(16, 50))], "50 columns", num_heads=2)
        self.refuses("Attention", [("x", x), ("w", w)], "do_rotary", num_heads=2, do_rotary=1)
        self.refuses("Attention", [("x", x), ("w", w)], "adds up to 40", num_heads=2, qkv_hidden_sizes=[16, 8, 16])
        self.refuses("Attention", [("x", x), ("w", w), ("b", zeros(40))], "the bias", num_heads=2)
        self.refuses("Attention", [("x", x), ("w", w), ("b", zeros(48)), ("m", zeros(2, 4, dtype=np.int32))],
                     "dimension 1 of the mask is 4, but must be 3", num_heads=2)
        self.refuses("Attention", [("x", x), ("w", w), ("b", zeros(48)), ("m", zeros(8, dtype=np.int32))],
                     "a mask of 8 elements", num_heads=2)
        self.refuses("MultiHeadAttention", [("q", x), ("k", x)], "a value is needed", num_heads=2)
        self.refuses("MultiHeadAttention", [("q", x), ("k", x), ("v", zeros(2, 4, 16))], num_heads=2)
        self.refuses("GroupQueryAttention", [("q", x)], "no multiple of kv_num_heads", num_heads=3, kv_num_heads=2)
        self.refuses("GroupQueryAttention", [("q", x), ("k", x), ("v", x)], "seqlens_k", num_heads=2, kv_num_heads=2)
        self.refuses("GroupQueryAttention", [("q", x), ("k", x), ("v", x)], "smooth_softmax", num_heads=2,
                     kv_num_heads=2, smooth_softmax=1)
        self.refuses("GroupQueryAttention", [("q", x), ("k", x), ("v", x)], "'local_window_size' is 0", num_heads=2,
                     kv_num_heads=2, local_window_size=0)
        self.refuses("RotaryEmbedding", [("x", x), ("p", zeros(1, dtype=np.int64)), ("c", zeros(9, 8)),
                                         ("s", zeros(9, 7))], "sin_cache is 7, but must be 8")
        self.refuses("RotaryEmbedding", [("x", x), ("p", np.array([[1, 2, 9]] * 2)), ("c", zeros(9, 8)),
                                         ("s", zeros(9, 8))], "'indices' is 9 at [0, 2]")
        self.refuses("SkipLayerNormalization", [("x", x), ("s", x), ("g", zeros(15))], "gamma has 15 elements")
        self.refuses("SkipLayerNormalization", [("x", x), ("s", zeros(2, 1, 16)), ("g", zeros(16)), ("e", zeros(3))],
                     "beta has 3 elements")
        self.refuses("SkipLayerNormalization", [("x", zeros(1, 3, 16)), ("s", x), ("g", zeros(16))],
                     "skip of 2 elements does not broadcast to 1")
        ids = np.array([[1, 5]], np.int32)
        self.refuses("EmbedLayerNormalization",
                     [("ids", ids), ("segments", None), ("word", zeros(5, 8)), ("position", zeros(1, 8)),
                      ("segment", None), ("g", zeros(8)), ("e", zeros(8))], "1 rows", "2 steps",
                     outputs=[("y", np.float32, 3)])
        self.refuses("FusedConv", [("x", zeros(1, 2, 4, 4)), ("w", zeros(3, 2, 1, 1)), ("b", zeros(3)),
                                   ("z", zeros(1, 3, 4, 5))], "dimension 3 of Z is 5", outputs=[("y", np.float32, 4)])
        self.refuses("FusedConv", [("x", zeros(1, 2, 4, 4)), ("w", zeros(3, 2, 1, 1))], "activation 'Mish'",
                     outputs=[("y", np.float32, 4)], activation="Mish")
        self.refuses("BiasGelu", [("x", x), ("b", zeros(3))], "the bias has 3 elements")


for _kind in fused.KINDS:
    setattr(Fused, f"test_{_kind}", lambda self, kind=_kind: self.check(kind))


class FunctionsBehind(Case):
    """ONNX's Attention is expanded by the types of its operands. ONNX's inference does not know the types behind
    GroupNormalization, or behind operators of other domains."""

    def check(self, before, opset, initializers=(), **types):
        rng = np.random.default_rng(0)
        x = rng.standard_normal((1, 4, 6, 8)).astype(np.float32)
        nodes = [before, helper.make_node("Attention", ["g", "g", "g"], ["y"], name="attend")]
        for dims in ([1, 4, 6, 8], ["n", 4, "s", 8]):
            model = make_model(nodes, [("x", dims)], [("y", dims)], initializers, opset, **types)
            if before.domain:
                model.opset_import.append(helper.make_opsetid(before.domain, 1))
            want = dict(y=peer(model).run(None, {"x": x})[0])
            got = self.run_model(self.compile(model), {"x": x})
            self.assertLessEqual(np.abs(got["y"] - want["y"]).max(), 1e-5)

    def test_group_normalization(self):
        scale = {"s": np.ones(4, np.float32), "b": np.zeros(4, np.float32)}
        self.check(helper.make_node("GroupNormalization", ["x", "s", "b"], ["g"], num_groups=2), 23, scale)

    def test_other_domain(self):
        known = helper.make_tensor_value_info("g", TensorProto.FLOAT, [None] * 4)
        self.check(helper.make_node("QuickGelu", ["x"], ["g"], domain="com.microsoft"), 23, value_info=[known])
