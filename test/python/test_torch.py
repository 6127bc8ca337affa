"""Models of PyTorch: `ingot.compile(module)` and the backend of torch.compile. Needs torch and onnxscript."""
import unittest
import warnings

import numpy as np

import ingot
from support import Case

try:
    import onnxscript  # noqa: F401 -- torch.onnx.export needs it
    import torch
except ImportError:
    torch = None


@unittest.skipIf(torch is None, "torch or onnxscript is not installed")
class Torch(Case):
    def setUp(self):
        super().setUp()
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        self.module = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(),
                                          torch.nn.Flatten(), torch.nn.Linear(8 * 36, 5)).eval()
        self.x = torch.randn(2, 3, 8, 8)
        with torch.no_grad():
            self.expected = self.module(self.x).numpy()

    def test_modules_and_programs(self):
        program = torch.export.export(self.module, (self.x,))
        for model in (ingot.compile(self.module, args=(self.x,)), ingot.compile(program)):
            y = torch.from_dlpack(model(self.x))
            np.testing.assert_allclose(y.numpy(), self.expected, rtol=1e-4, atol=1e-5)
        self.assert_fails(ingot.InvalidArgument, "needs args=", ingot.compile, self.module)

    def test_backend(self):
        fast = torch.compile(self.module, backend="ingot", dynamic=False)
        with torch.no_grad():
            np.testing.assert_allclose(fast(self.x).numpy(), self.expected, rtol=1e-4, atol=1e-5)

    def test_backend_refuses_training(self):
        fast = torch.compile(self.module, backend="ingot", dynamic=False)
        with self.assertRaisesRegex(Exception, "a graph for training"):
            fast(self.x)
        warned = torch.compile(self.module, backend="ingot", dynamic=False, options={"fallback": "warn"})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch._dynamo.reset()
            y = warned(self.x)
        self.assertTrue(any("PyTorch runs a graph" in str(one.message) for one in caught))
        np.testing.assert_allclose(y.detach().numpy(), self.expected, rtol=1e-4, atol=1e-5)

    def test_backend_refuses_other_devices(self):
        """The device "meta" stands for a GPU, which this machine may lack."""
        from ingot_compiler.torch import backend
        error = self.assert_fails(NotImplementedError, "takes tensors on the CPU, but got one on meta; move the module",
                                  backend, None, [torch.zeros(2, device="meta")])
        self.assertNotIn("\n", str(error))
        fast = torch.compile(torch.nn.ReLU(), backend="ingot", dynamic=False)
        with self.assertRaisesRegex(Exception, "takes tensors on the CPU, but got one on meta"), torch.no_grad():
            fast(torch.zeros(2, device="meta"))


if __name__ == "__main__":
    unittest.main()
