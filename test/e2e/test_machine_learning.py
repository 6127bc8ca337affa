# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators of ai.onnx.ml against ONNX Runtime: forests, linear models, encoders and scalers of numbers."""
import json
import statistics

import numpy as np

from support import Case, TensorProto, helper, make_model, peer, tool

FEATURES = 5


def model(kind, inputs, outputs, **attributes):
    """Makes a model with one node of ai.onnx.ml; inputs and outputs are (name, shape, type)."""
    node = helper.make_node(kind, [i[0] for i in inputs], [o[0] for o in outputs], name="node", domain="ai.onnx.ml",
                            **attributes)
    made = make_model([node], inputs, outputs)
    made.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    return made


class Trees:
    """Random trees as attributes."""

    def __init__(self, rng, count, targets, prefix, modes=("BRANCH_LEQ",), one_target=None, lowest=0,
                 deepest=4):
        self.rng, self.modes, self.targets = rng, modes, targets
        self.nodes = {k: [] for k in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids",
                                      "falsenodeids", "missing_value_tracks_true")}
        self.leaves = {k: [] for k in ("treeids", "nodeids", "ids", "weights")}
        self.one_target, self.lowest = one_target, lowest
        for tree in range(count):
            self.next = 0
            self.grow(tree, rng.integers(0, deepest + 1))
        self.attributes = {**{f"nodes_{k}": v for k, v in self.nodes.items()},
                           **{f"{prefix}_{k}": v for k, v in self.leaves.items()}}

    def grow(self, tree, depth):
        own, at = self.next, len(self.nodes["treeids"])
        self.next += 1
        is_leaf = depth == 0 or self.rng.integers(6) == 0
        row = {"treeids": tree, "nodeids": own, "featureids": 0 if is_leaf else int(self.rng.integers(FEATURES)),
               "values": 0.0 if is_leaf else round(float(self.rng.standard_normal()), 1),
               "modes": "LEAF" if is_leaf else self.modes[self.rng.integers(len(self.modes))],
               "truenodeids": 0, "falsenodeids": 0,
               "missing_value_tracks_true": 0 if is_leaf else int(self.rng.integers(2))}
        for key, value in row.items():
            self.nodes[key].append(value)
        if is_leaf:
            for target in range(self.targets):
                if self.one_target not in (None, target):
                    continue
                for key, value in zip(self.leaves, (tree, own, target, float(self.rng.uniform(self.lowest, 1)))):
                    self.leaves[key].append(value)
        else:
            self.nodes["truenodeids"][at] = self.grow(tree, depth - 1)
            self.nodes["falsenodeids"][at] = self.grow(tree, depth - 1)
        return own


class Rows(Case):
    def check(self, made, feeds, tolerance=1e-5, version=3):
        made.opset_import[-1].version = version
        session = peer(made)
        got = self.run_model(self.compile(made), feeds)
        for output, want in zip(session.get_outputs(), session.run(None, feeds)):
            mine = got[output.name]
            self.assertEqual((mine.shape, mine.dtype), (want.shape, want.dtype), output.name)
            self.assertLessEqual(np.abs(mine.astype(np.float64) - want).max(initial=0), tolerance, output.name)

    def rows(self, rng, count=33, missing=False):
        x = np.round(rng.standard_normal((count, FEATURES)), 1).astype(np.float32)
        if missing:
            x[rng.uniform(size=x.shape) < 0.1] = np.nan
        return x


class MachineLearning(Rows):
    def test_tree_regressor(self):
        all_modes = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
        for seed, (how, transform, targets) in enumerate((
                ("SUM", "NONE", 1), ("AVERAGE", "NONE", 3), ("MIN", "NONE", 2), ("MAX", "NONE", 1),
                ("SUM", "LOGISTIC", 2), ("SUM", "SOFTMAX", 3), ("SUM", "NONE", 2))):
            # Several trees are walked together: a partial group, whole groups, and a padded one.
            count = (7, 16, 11, 19, 1, 8, 7)[seed]
            with self.subTest(how=how, transform=transform, targets=targets, trees=count):
                rng = np.random.default_rng(seed)
                trees = Trees(rng, count, targets, "target", all_modes if seed == 6 else all_modes[seed % 4:seed % 4 + 1])
                made = model("TreeEnsembleRegressor", [("x", ["n", FEATURES])], [("y", ["n", targets])],
                             n_targets=targets, aggregate_function=how, post_transform=transform,
                             base_values=[0.1] * targets, **trees.attributes)
                self.check(made, {"x": self.rows(rng, missing=seed in (0, 1))})

    def test_deep_trees(self):
        """Walks that check for leaves on the way: most of these trees have leaves at all depths."""
        for seed, (how, modes, count) in enumerate((("SUM", ("BRANCH_LEQ",), 21), ("MAX", ("BRANCH_GT", "BRANCH_LEQ"), 9),
                                                    ("SUM", ("BRANCH_NEQ",), 8), ("MIN", ("BRANCH_LT",), 3))):
            with self.subTest(how=how, modes=modes, trees=count):
                rng = np.random.default_rng(seed)
                trees = Trees(rng, count, 2, "target", modes, deepest=13)
                made = model("TreeEnsembleRegressor", [("x", ["n", FEATURES])], [("y", ["n", 2])], n_targets=2,
                             aggregate_function=how, **trees.attributes)
                self.check(made, {"x": self.rows(rng, missing=seed in (0, 1))})

    def test_tree_classifier(self):
        for seed, (classes, one, transform, lowest) in enumerate((
                (3, None, "NONE", 0), (3, None, "SOFTMAX", 0), (2, 0, "NONE", 0), (2, 1, "NONE", 0),
                (2, 0, "LOGISTIC", -1), (4, None, "LOGISTIC", -1), (2, 0, "LOGISTIC", 0))):
            with self.subTest(classes=classes, one=one, transform=transform, lowest=lowest):
                rng = np.random.default_rng(seed)
                trees = Trees(rng, 5, classes, "class", one_target=one, lowest=lowest)
                made = model("TreeEnsembleClassifier", [("x", ["n", FEATURES])],
                             [("label", ["n"], TensorProto.INT64), ("y", ["n", classes])],
                             classlabels_int64s=list(range(10, 10 + classes)), post_transform=transform,
                             **trees.attributes)
                self.check(made, {"x": self.rows(rng)})

    def test_one_score(self):
        """One score s for two classes. As in ONNX, SOFTMAX compares s with -s, and PROBIT is of the shares s and 1 - s.
        ONNX Runtime transforms none of them by SOFTMAX and one of them by PROBIT."""
        def softmax(s):
            power = np.exp(np.concatenate([-s, s], 1))
            return power / power.sum(1, keepdims=True)

        def probit(s):
            quantile = np.vectorize(statistics.NormalDist().inv_cdf)(np.clip(s, 1e-6, 1 - 1e-6))
            return np.concatenate([-quantile, quantile], 1)

        rng = np.random.default_rng(2)
        x = self.rows(rng)
        weights = {"coefficients": [0.01] * FEATURES, "intercepts": [0.4], "classlabels_ints": [3, 5]}
        trees = Trees(rng, 1, 2, "class", one_target=0, lowest=0.1)
        for kind, attributes in (("TreeEnsembleClassifier", {**trees.attributes, "classlabels_int64s": [3, 5]}),
                                 ("LinearClassifier", weights)):
            def made(transform):
                return model(kind, [("x", ["n", FEATURES])], [("label", ["n"], TensorProto.INT64), ("y", ["n", 2])],
                             post_transform=transform, **attributes)
            score = peer(made("NONE")).run(None, {"x": x})[1][:, 1:].astype(np.float64)
            # ONNX's approximation has an error of up to 0.2 % of the quantile.
            for transform, apply, middle, tolerance in (("SOFTMAX", softmax, 0, 1e-5), ("SOFTMAX_ZERO", softmax, 0, 1e-5),
                                                        ("PROBIT", probit, 0.5 if kind[0] == "T" else 0, 0.01)):
                with self.subTest(kind=kind, transform=transform):
                    got = self.run_model(self.compile(made(transform)), {"x": x})
                    np.testing.assert_allclose(got["y"], apply(score), tolerance, tolerance)
                    np.testing.assert_array_equal(got["label"], np.where(score[:, 0] > middle, 5, 3))

    def test_transforms(self):
        """All transforms of several scores, and of one score of the second class, as in ONNX Runtime."""
        for transform in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"):
            with self.subTest(transform=transform):
                rng = np.random.default_rng(3)
                scores = np.eye(FEATURES, dtype=np.float32).ravel()
                x = rng.uniform(0.01, 0.99, (16, FEATURES)).astype(np.float32)
                if transform == "SOFTMAX_ZERO":
                    x[rng.uniform(size=x.shape) < 0.3] = 0
                made = model("LinearRegressor", [("x", ["n", FEATURES])], [("y", ["n", FEATURES])], targets=FEATURES,
                             coefficients=scores.tolist(), intercepts=[0.0] * FEATURES, post_transform=transform)
                self.check(made, {"x": x}, version=1)
                if transform == "PROBIT":  # -inf
                    continue
                trees = Trees(rng, 1, 2, "class", one_target=1, lowest=0.1)
                made = model("TreeEnsembleClassifier", [("x", ["n", FEATURES])],
                             [("label", ["n"], TensorProto.INT64), ("y", ["n", 2])], classlabels_int64s=[3, 5],
                             post_transform=transform, **trees.attributes)
                self.check(made, {"x": self.rows(rng)})
        self.assert_refuses(model("LinearRegressor", [("x", ["n", 1])], [("y", ["n", 1])], coefficients=[1.0],
                                  post_transform="LOGIT"), "node 'node'", "post_transform is LOGIT")

    def test_bad_trees(self):
        rng = np.random.default_rng(0)
        good = Trees(rng, 1, 1, "target").attributes
        while len(good["nodes_treeids"]) < 5:
            good = Trees(rng, 1, 1, "target").attributes
        branch = next(i for i, m in enumerate(good["nodes_modes"]) if m != "LEAF")
        leaf = good["nodes_modes"].index("LEAF")

        def refuses(word, **changes):
            attributes = {**good, **{k: [v(x) if i == at else x for i, x in enumerate(good[k])]
                                     for k, (at, v) in changes.items()}}
            made = model("TreeEnsembleRegressor", [("x", ["n", FEATURES])], [("y", ["n", 1])], n_targets=1,
                         **attributes)
            with self.subTest(word=word):
                self.assert_refuses(made, "node 'node'", word)
        refuses("no such node", nodes_truenodeids=(branch, lambda x: 99))
        refuses("cycle", nodes_truenodeids=(branch, lambda x: good["nodes_nodeids"][branch]))
        refuses("two nodes", nodes_nodeids=(leaf, lambda x: good["nodes_nodeids"][branch]))
        refuses("nodes_featureids", nodes_featureids=(branch, lambda x: -1))
        refuses("target_ids", target_ids=(0, lambda x: 1))
        refuses("no such leaf", target_nodeids=(0, lambda x: 77))
        refuses("X has 5 features, but the trees read 7", nodes_featureids=(branch, lambda x: 6))

    def test_linear(self):
        rng = np.random.default_rng(1)
        x = self.rows(rng)
        for transform in ("NONE", "LOGISTIC", "SOFTMAX"):
            with self.subTest(transform=transform):
                weights = [float(w) for w in rng.standard_normal(3 * FEATURES)]
                self.check(model("LinearRegressor", [("x", ["n", FEATURES])], [("y", ["n", 3])], targets=3,
                                 coefficients=weights, intercepts=[0.1, 0.2, -0.3], post_transform=transform),
                           {"x": x})
                self.check(model("LinearClassifier", [("x", ["n", FEATURES])],
                                 [("label", ["n"], TensorProto.INT64), ("y", ["n", 3])], coefficients=weights,
                                 intercepts=[0.1, 0.2, -0.3], classlabels_ints=[4, 7, 9], post_transform=transform),
                           {"x": x})
        for transform in ("NONE", "LOGISTIC"):
            with self.subTest(binary=transform):
                self.check(model("LinearClassifier", [("x", ["n", FEATURES])],
                                 [("label", ["n"], TensorProto.INT64), ("y", ["n", 2])],
                                 coefficients=weights[:FEATURES], intercepts=[0.1], classlabels_ints=[0, 1],
                                 post_transform=transform), {"x": x})

    def test_columns(self):
        rng = np.random.default_rng(2)
        x = self.rows(rng, missing=True)
        whole = np.nan_to_num(x)
        rows, result = [("x", ["n", FEATURES])], [("y", ["n", FEATURES])]
        self.check(model("Scaler", rows, result, offset=[1.0], scale=[0.5]), {"x": whole})
        self.check(model("Scaler", rows, result, offset=[0.5] * 5, scale=[0.5, 1, 2, 3, 4]), {"x": whole})
        for norm in ("L1", "L2", "MAX"):
            positive = np.abs(whole) + 0.1
            self.check(model("Normalizer", rows, result, norm=norm), {"x": positive.astype(np.float32)})
        self.check(model("Binarizer", rows, result, threshold=0.3), {"x": whole})
        self.check(model("Imputer", rows, result, imputed_value_floats=[1.0, 2, 3, 4, 5],
                         replaced_value_float=float("nan")), {"x": x})
        self.check(model("Imputer", rows, result, imputed_value_floats=[9.0], replaced_value_float=0.5), {"x": whole})
        self.check(model("ArrayFeatureExtractor", rows + [("i", [3], TensorProto.INT64)], [("y", ["n", 3])]),
                   {"x": whole, "i": np.array([4, 0, 4])})
        made = model("ArrayFeatureExtractor", rows + [("i", [1], TensorProto.INT64)], [("y", ["n", 1])])
        artifact = self.compile(made)
        np.save(self.path("x.npy"), whole)
        np.save(self.path("i.npy"), np.array([5]))
        self.assert_one_line(tool("ingot", "run", artifact, "--input", "x=" + self.path("x.npy"), "--input",
                                  "i=" + self.path("i.npy")), "node 'node'", "Y has 5", "5 columns")

    def test_encoders(self):
        x = np.array([[1, 2], [3, 7], [9, 2]], np.int64)
        ints = [("x", ["n", 2], TensorProto.INT64)]
        self.check(model("OneHotEncoder", ints, [("y", ["n", 2, 3])], cats_int64s=[2, 9, 4]), {"x": x})
        self.check(model("LabelEncoder", ints, [("y", ["n", 2], TensorProto.INT64)], keys_int64s=[1, 2, 3],
                         values_int64s=[10, 20, 30], default_int64=-7), {"x": x})
        self.check(model("LabelEncoder", ints, [("y", ["n", 2])], keys_int64s=[1, 2, 3],
                         values_floats=[0.5, 1.5, 2.5], default_float=9.0), {"x": x})
        self.check(model("LabelEncoder", [("x", ["n"])], [("y", ["n"], TensorProto.INT64)],
                         keys_floats=[1.0, float("nan")], values_int64s=[4, 5]),
                   {"x": np.array([1, np.nan, 3], np.float32)}, version=4)
        self.assert_refuses(model("OneHotEncoder", ints, [("y", ["n", 2, 1])], cats_strings=["a"]), "cats_int64s")


class Words(Rows):
    """Labels that are strings become numbers, which the metadata explain."""

    def classifier(self, *after, outputs=("label", "scores")):
        rng = np.random.default_rng(3)
        coefficients = [float(v) for v in rng.standard_normal(3 * FEATURES)]
        nodes = [helper.make_node("LinearClassifier", ["x"], ["l", "p"], name="linear", domain="ai.onnx.ml",
                                  coefficients=coefficients, intercepts=[0.1, 0.2, 0.3], post_transform="SOFTMAX",
                                  classlabels_strings=["red", "g\"reen", "blåu"]), *after]
        made = make_model(nodes, [("x", ["n", FEATURES])], [(outputs[0], ["n"], TensorProto.STRING), (outputs[1], ["n", 3])])
        made.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
        return made, np.array(coefficients, np.float32).reshape(3, FEATURES)

    def test_labels_and_map(self):
        zipped = helper.make_node("ZipMap", ["p"], ["scores"], name="zip", domain="ai.onnx.ml",
                                  classlabels_strings=["red", "g\"reen", "blåu"])
        made, weights = self.classifier(helper.make_node("Identity", ["l"], ["label"]), zipped)
        made.graph.output[1].type.CopyFrom(helper.make_sequence_type_proto(
            helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, []))))
        artifact = self.compile(made)
        x = self.rows(np.random.default_rng(4))
        got = self.run_model(artifact, {"x": x})
        scores = x @ weights.T + np.float32([0.1, 0.2, 0.3])
        shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
        self.assertEqual(got["label"].dtype, np.int64)
        np.testing.assert_array_equal(got["label"], scores.argmax(1))
        np.testing.assert_allclose(got["scores"], shares, rtol=1e-5)
        told = json.loads(tool("ingot", "inspect", artifact, "--json").stdout)["metadata"]
        for name in ("label", "scores"):
            self.assertEqual(json.loads(told["labels." + name]), ["red", "g\"reen", "blåu"])

    def test_numbers(self):
        """A ZipMap of integer labels is in the metadata, too."""
        made = model("ZipMap", [("x", ["n", 3])], [("y", ["n", 3])], classlabels_int64s=[7, 5, 9])
        made.graph.output[0].type.CopyFrom(helper.make_sequence_type_proto(
            helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, []))))
        artifact = self.compile(made)
        np.testing.assert_array_equal(self.run_model(artifact, {"x": np.eye(3, dtype=np.float32)})["y"], np.eye(3))
        told = json.loads(tool("ingot", "inspect", artifact, "--json").stdout)["metadata"]
        self.assertEqual(json.loads(told["labels.y"]), [7, 5, 9])

    def test_refuses(self):
        made = model("ZipMap", [("x", ["n", 3])], [("y", ["n", 3])], classlabels_int64s=[7, 5])
        made.graph.output[0].type.CopyFrom(helper.make_sequence_type_proto(
            helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, []))))
        self.assert_refuses(made, "'node'", "there are scores of 3 classes, but 2 labels")
