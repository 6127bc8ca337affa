# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each elementwise function behind a kernel of a GPU compiles, and gives what the CPU gives."""
from emulated import Emulated
from support import helper, make_model, np

# Functions of numbers from 0 to 1, with inverse functions inside of their range.
FUNCTIONS = ["Acos", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp", "Floor", "Gelu",
             "HardSigmoid", "HardSwish", "LeakyRelu", "Log", "Mish", "Neg", "Reciprocal", "Relu", "Round", "Selu", "Sigmoid",
             "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "ThresholdedRelu"]


class CudaEpilogues(Emulated):
    def check(self, nodes, outputs, tolerance=2e-5):
        """Behind a softmax, whose results are from 0 to 1."""
        nodes = [helper.make_node("Softmax", ["x"], ["p"], name="kernel"), *nodes]
        model = make_model(nodes, [("x", [4, 40])], [(name, [4, 40]) for name in outputs], {"c": np.float32(1.7)}, opset=20)
        feeds = {"x": np.random.default_rng(1).standard_normal((4, 40)).astype(np.float32)}
        want = self.run_model(self.compile(model, "--target=x86-64-v3", name="cpu"), feeds)
        got = self.emulate(self.compile(model, "--target=sm_80", "--ptxas=none", name="gpu"), feeds)
        for name in outputs:
            np.testing.assert_allclose(got[name], want[name], rtol=tolerance, atol=tolerance, err_msg=name)

    def test_functions(self):
        """One after the other, each alone behind the kernel."""
        for function in FUNCTIONS:
            with self.subTest(function):
                self.check([helper.make_node(function, ["p"], ["y"], name="function")], ["y"])

    def test_powers(self):
        """Constant and computed exponents, and a function behind one that the CPU computes."""
        self.check([helper.make_node("Pow", ["p", "c"], ["y"], name="power")], ["y"])
        self.check([helper.make_node("Pow", ["c", "p"], ["y"], name="power")], ["y"])
        self.check([helper.make_node("Add", ["p", "c"], ["q"], name="sum"), helper.make_node("Pow", ["q", "q"], ["r"], name="power"),
                    helper.make_node("Acosh", ["r"], ["s"], name="inverse"), helper.make_node("Relu", ["s"], ["y"], name="relu")],
                   ["y"])
