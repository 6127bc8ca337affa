"""Special numbers in kernels of GPUs, where they differ from those of the CPU's code."""
from emulated import Emulated
from support import TensorProto, helper, make_model, np


class CudaNumbers(Emulated):
    def test_denormals(self):
        """Denormal numbers count."""
        nodes = [helper.make_node("Sign", ["x"], ["sign"]), helper.make_node("Floor", ["x"], ["floor"]),
                 helper.make_node("Greater", ["x", "zero"], ["greater"]), helper.make_node("Mul", ["x", "two"], ["twice"])]
        model = make_model(nodes, [("x", [4])], [("sign", [4]), ("floor", [4]), ("greater", [4], TensorProto.BOOL),
                                                 ("twice", [4])], {"zero": np.float32(0), "two": np.float32(2)})
        x = np.array([1e-40, -1e-40, 0, 1e-45], np.float32)
        got = self.emulate(self.compile(model, "--target=sm_80", "--ptxas=none"), {"x": x})
        for name, want in {"sign": [1, -1, 0, 1], "floor": [0, -1, 0, 0], "greater": [1, 0, 0, 1],
                           "twice": x + x}.items():
            np.testing.assert_array_equal(got[name], want, name)
