# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares SVMClassifier and SVMRegressor with ONNX Runtime."""
from support import TensorProto, np
from test_machine_learning import FEATURES, Rows, model

KERNELS = ("LINEAR", "POLY", "RBF", "SIGMOID")
ROWS = [("x", ["n", FEATURES])]


def numbers(rng, *shape):
    return [float(v) for v in np.round(rng.standard_normal(shape), 2).flat]


class SupportVectors(Rows):
    def regressor(self, seed, kernel, **attributes):
        rng = np.random.default_rng(seed)
        return model("SVMRegressor", ROWS, [("y", ["n", 1])], **{**dict(
            n_supports=7, support_vectors=numbers(rng, 7, FEATURES), coefficients=numbers(rng, 7), rho=[0.3],
            kernel_type=kernel, kernel_params=[0.2, 0.5, 3.0]), **attributes})

    def classifier(self, seed, kernel, counts, **attributes):
        rng = np.random.default_rng(seed)
        classes, count = len(counts), sum(counts)
        pairs = classes * (classes - 1) // 2
        return model("SVMClassifier", ROWS,
                     [("label", ["n"], TensorProto.INT64), ("y", ["n", 2 if classes == 2 else pairs])], **{**dict(
                         classlabels_ints=list(range(5, 5 + classes)), vectors_per_class=counts,
                         support_vectors=numbers(rng, count, FEATURES),
                         coefficients=numbers(rng, classes - 1, count), rho=numbers(rng, pairs), kernel_type=kernel,
                         kernel_params=[0.2, 0.5, 3.0]), **attributes})

    def test_regressors(self):
        x = self.rows(np.random.default_rng(9))
        for seed, kernel in enumerate(KERNELS):
            with self.subTest(kernel):
                self.check(self.regressor(seed, kernel), {"x": x}, tolerance=2e-5)
        self.check(self.regressor(5, "RBF", one_class=1, rho=[-0.1]), {"x": x})
        linear = dict(n_supports=0, coefficients=[0.5, -1.0, 0.25, 2.0, 1.0])
        made = self.regressor(6, "LINEAR", **linear)
        del made.graph.node[0].attribute[[a.name for a in made.graph.node[0].attribute].index("support_vectors")]
        self.check(made, {"x": x})

    def test_classifiers(self):
        x = self.rows(np.random.default_rng(9))
        for seed, kernel in enumerate(KERNELS):
            for counts in ([3, 4], [2, 3, 4], [1, 5, 2, 3]):
                with self.subTest(kernel, counts=counts):
                    self.check(self.classifier(seed, kernel, counts), {"x": x}, tolerance=5e-5)
        self.check(self.classifier(3, "RBF", [2, 3, 4], post_transform="LOGISTIC"), {"x": x})

    def test_probabilities(self):
        x = self.rows(np.random.default_rng(9))
        x[0] *= 100
        for seed, counts in enumerate(([3, 4], [2, 3, 4], [1, 5, 2, 3], [1] * 12)):
            pairs = len(counts) * (len(counts) - 1) // 2
            for steepness in (0.1, 2, 100):
                with self.subTest(counts=counts, steepness=steepness):
                    slopes = [-steepness * (0.5 + v * v) for v in numbers(np.random.default_rng(seed), pairs)]
                    made = self.classifier(seed, "RBF", counts, prob_a=slopes, prob_b=numbers(np.random.default_rng(7), pairs))
                    made.graph.output[1].type.tensor_type.shape.dim[1].dim_value = len(counts)
                    self.check(made, {"x": x}, tolerance=1e-4)

    def test_wrong(self):
        for made, *words in (
                (self.regressor(0, "CUBIC"), "'kernel_type' is 'CUBIC'"),
                (self.regressor(0, "RBF", kernel_params=[0.5]), "'kernel_params' has 1 element", "3: gamma"),
                (self.regressor(0, "RBF", coefficients=[0.5]), "'coefficients' has 1 element", "7"),
                (self.regressor(0, "RBF", rho=[0.5, 1.0]), "'rho' has 2 elements"),
                (self.regressor(0, "RBF", support_vectors=[0.5] * 8), "support_vectors has 8 elements", "multiple of 7"),
                (self.regressor(0, "RBF", n_supports=-2), "n_supports is -2"),
                (self.regressor(0, "RBF", post_transform="SOFTMAX"), "post_transform SOFTMAX"),
                (self.regressor(0, "LINEAR", support_vectors=[0.5] * 14), "X has 5 features", "have 2"),
                (self.classifier(0, "RBF", [3, 4], rho=[0.5, 1.0]), "'rho' has 2 elements", "1, one for two classes"),
                (self.classifier(0, "RBF", [3, 4], vectors_per_class=[3, 4, 5]), "'vectors_per_class' has 3 elements"),
                (self.classifier(0, "RBF", [3, 4], vectors_per_class=[8, -1]), "'vectors_per_class' is -1 at [1]"),
                (self.classifier(0, "RBF", [3, 4], coefficients=[1.0]), "'coefficients' has 1 element", "7"),
                (self.classifier(0, "RBF", [3, 4], classlabels_ints=[5]), "there is 1 label"),
                (self.classifier(0, "RBF", [3, 4], vectors_per_class=[0, 0]), "without support vectors"),
                (self.classifier(0, "RBF", [3, 4], prob_a=[1.0, 2.0], prob_b=[0.5]), "'prob_a' has 2 elements", "1, one for"),
                (self.classifier(0, "RBF", [3, 4], prob_a=[1.0]), "'prob_b' has 0 elements", "1, one for two classes"),
                (self.classifier(0, "RBF", [1] * 33, prob_a=[1.0] * 528, prob_b=[0.5] * 528), "more than 32 classes")):
            with self.subTest(words):
                self.assert_refuses(made, *words)
