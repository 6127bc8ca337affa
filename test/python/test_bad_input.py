"""Wrong arguments: each raises one exception of the right type that says what is wrong, and leaks nothing."""
import asyncio
import gc
import os
import sys
from unittest import mock

import numpy as np
from onnx import TensorProto

import ingot
import ingot_compiler
from support import Case, add_one, identity

X = np.arange(4, dtype=np.float32).reshape(1, 4)
SHORT = np.frombuffer(bytearray(17), np.uint8)[1:].view(np.float32).reshape(1, 4)


class Arguments(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.model = ingot.compile(add_one())
        cls.wide = ingot.compile(add_one((2, 4)))
        cls.words = ingot.compile(identity(TensorProto.STRING, (2,)))

    def check(self, cases):
        """Checks (classes, message, function, arguments..., keywords): each call raises an exception."""
        for kind, pattern, function, *args, keywords in cases:
            with self.subTest(pattern):
                gc.collect()
                before = sys.getrefcount(X), len(os.listdir("/proc/self/fd"))
                self.assert_fails(kind, pattern, function, *args, **keywords)
                gc.collect()
                self.assertEqual((sys.getrefcount(X), len(os.listdir("/proc/self/fd"))), before)

    def test_inputs(self):
        wrong = ingot.InvalidType, TypeError
        self.check([
            (wrong, "input 'x': .* dtype >f4", self.model, X.astype(">f4"), {}),
            (wrong, "input 'x': .* got complex64", self.model, X.astype(np.complex64), {}),
            (wrong, "input 'x': .* dtype datetime64", self.model, X.astype("M8[s]"), {}),
            (wrong, "input 'x': .* got object, which has neither", self.model, object(), {}),
            (ValueError, r"input 'x': expected shape \(1, 4\), but got \(\)", self.model, np.float32(1), {}),
            (ValueError, r"got strides \(4, -1\) in elements; pass numpy.ascontiguousarray", self.model, X[:, ::-1], {}),
            (ValueError, r"got strides \(1, 2\) in elements", self.wide, np.asfortranarray(np.ones((2, 4), np.float32)), {}),
            (wrong, "expected a mapping from names of inputs to arrays, but got NoneType", self.model.run, None, {}),
        ])

    def test_strings(self):
        wrong = ingot.InvalidType, TypeError
        self.check([
            (wrong, "input 'x': expected elements of type string, but got int64", self.words, np.array([1, 2]), {}),
            (wrong, "got an element of type int", self.words, np.array(["a", 2], object), {}),
            (ValueError, "input 'x': expected text, but got a part of a character", self.words,
             np.array(["a", "\ud800"], object), {}),
            (ValueError, "input 'x' has shape 2, but 1 was given", self.words, np.array(["a"], object), {}),
        ])
        for values in (np.array(["a", "ü"]), np.array(["a", "ü"], np.dtypes.StringDType())):
            self.assertEqual(self.words(values).tolist(), ["a", "ü"])

    def test_outputs(self):
        run, given = self.model.run, {"x": X}
        self.check([
            (ValueError, r"output 'y': .* got strides \(8, 2\)", run, given,
             {"out": {"y": np.zeros((1, 8), np.float32)[:, ::2]}}),
            (ValueError, "output 'y': expected memory aligned to 4 bytes", run, given, {"out": {"y": SHORT}}),
            (ValueError, r"output 'y': expected shape \(1, 4\), but got \(4,\)", run, given,
             {"out": {"y": np.zeros(4, np.float32)}}),
            (TypeError, "output 'y': .* got list", run, given, {"out": {"y": [1, 2, 3, 4]}}),
            (TypeError, "expected a mapping from names of outputs, but got ndarray", run, given, {"out": X.copy()}),
        ])

    def test_settings(self):
        run, given = self.model.run, {"x": X}
        wrong = ingot.InvalidType, TypeError
        self.check([
            (wrong, "threads: expected an int, but got str", run, given, {"threads": "2"}),
            (ValueError, "threads: expected 0 to 1024, but got 1025", run, given, {"threads": 1025}),
            (wrong, "timeout: expected seconds, but got str", run, given, {"timeout": "2"}),
            (wrong, "profile: expected an ingot.Profile, but got int", run, given, {"profile": 3}),
            (ValueError, "profile was created for another model", run, given, {"profile": ingot.Profile(self.wide)}),
            (ValueError, "threads: expected 0 to 1024, but got -1", ingot.Pool, {"threads": -1}),
            (ValueError, "threads: expected 0 to 1024, but got 1025", ingot.Pool, {"threads": 1025}),
            (wrong, "pool: expected an ingot.Pool, but got int", self.model.context(pool=3).__enter__, {}),
            (ValueError, "threads: expected 0 to 1024, but got -1", self.model.context(threads=-1).__enter__, {}),
            (ValueError, "but got both", lambda: asyncio.run(self.model.run_async(X, inputs=given)), {}),
            (ValueError, r"but got \(4,\)", lambda: asyncio.run(self.model.run_async(X[0])), {}),
        ])

    def test_sizes(self):
        infer = self.model.infer
        self.check([
            (ValueError, "expected the inputs 'x', but got 'z'", infer, {"z": (1, 4)}, {}),
            (ValueError, "input 'x' has shape 1x4, but 1x5 was given", infer, {"x": (1, 5)}, {}),
            (ValueError, "input 'x' has rank 2, but 1 was given", infer, {"x": (4,)}, {}),
            (TypeError, "input 'x': expected a tuple of ints as shape, but got 'a'", infer, {"x": "a"}, {}),
            (TypeError, "input 'x': expected a tuple of ints as shape, but got 3", infer, {"x": 3}, {}),
        ])
        self.assertEqual(infer({"x": np.array([1, 4])}).shapes, {"y": (1, 4)})

    def test_files(self):
        with open(self.model.path, "rb") as file:
            content = file.read()
        missing = ingot.NotFound, FileNotFoundError
        none = self.at("none")
        self.check([
            (ingot.BadArtifact, "truncated or damaged: its section headers reach past the end", ingot.load,
             content[:len(content) // 2], {}),
            (ingot.BadArtifact, "not a regular file", ingot.load, self.folder, {}),
            (ValueError, "device is 'tpu', but must be cpu, cuda", ingot.load, self.model.path, {"device": "tpu"}),
            (missing, "cannot open '.*none': it does not exist", ingot.bench, none, {}),
            (missing, "cannot open '.*none': it does not exist", ingot.inspect, none, {}),
            (missing, "cannot open model file '.*none': it does not exist", ingot.compare, self.model, none, {}),
            (missing, "cannot open '.*none': it does not exist", ingot.calibrate, add_one(), none, self.at("r.json"), {}),
            (ingot.CompileError, "the file is empty", ingot.compile, b"", {}),
        ])


class DamagedCache(Case):
    """An entry of the cache that is no model is made again."""

    def test_entries(self):
        with mock.patch.dict(os.environ, INGOT_CACHE=self.at("cache")):
            path = ingot.compile(add_one()).path
            with open(path, "rb") as file:
                content = file.read()
            for damaged in (b"", b"text", content[:4096], bytes(len(content)), content[:-1]):
                with self.subTest(damaged[:4]):
                    os.unlink(path)
                    with open(path, "wb") as file:
                        file.write(damaged)
                    np.testing.assert_array_equal(ingot.compile(add_one())(X), X + 1)
            os.unlink(path)
            os.mkdir(path)
            self.assert_fails((ingot_compiler.CacheError, OSError), "cannot remove the damaged cache entry", ingot.compile,
                              add_one())
