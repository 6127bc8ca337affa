"""Tests code for GPUs: compiles it without a GPU, and runs it on the emulated GPU."""
import json
import os
import re
import subprocess

from support import BUILD, ROOT, Case, TensorProto, helper, make_model, np, peer, relu_model, tool

EMULATOR = os.path.join(BUILD, "lib", "emugpu", "libcuda.so.1")
EMULATED = {"INGOT_DEVICE": "emulated", "INGOT_EMULATED_DRIVER": EMULATOR}


def classifier():
    """A convolution with a bias and an activation, a pool, a product and a softmax."""
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((8, 3, 3, 3)).astype(np.float32), "b": rng.standard_normal(8).astype(np.float32),
               "m": rng.standard_normal((8, 10)).astype(np.float32)}
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], name="stem", pads=[1] * 4),
             helper.make_node("Relu", ["c"], ["r"], name="relu"),
             helper.make_node("GlobalAveragePool", ["r"], ["g"], name="pool"),
             helper.make_node("Flatten", ["g"], ["f"], name="flatten"),
             helper.make_node("MatMul", ["f", "m"], ["p"], name="head"),
             helper.make_node("Softmax", ["p"], ["y"], name="softmax")]
    return make_model(nodes, [("x", [2, 3, 12, 12])], [("y", [2, 10])], weights)



def eighths(rng, *shape):
    """Multiples of 1/8 whose sums of products are exact in any order."""
    return (rng.integers(-8, 9, shape) / 8).astype(np.float32)


def drawn_products(seed, count):
    """A model with `count` convolutions and matrix products of drawn sizes, each with an output."""
    rng = np.random.default_rng(seed)
    draw = lambda *choices: choices[rng.integers(len(choices))]
    nodes, inputs, outputs, weights, feeds = [], [], [], {}, {}

    def add_input(name, *shape):
        inputs.append((name, list(shape)))
        feeds[name] = eighths(rng, *shape)
        return name

    for i in range(count):
        name = f"p{i}"
        if draw(True, True, False):
            size, taps = [int(rng.integers(5, 20)), int(rng.integers(5, 20))], [draw(1, 2, 3, 5), draw(1, 3, 4)]
            channels, results, images = draw(1, 3, 4, 8, 12, 16, 40), draw(1, 5, 8, 10, 32, 33, 72), draw(1, 1, 2)
            strides, dilations = [draw(1, 1, 2), draw(1, 1, 3)], [draw(1, 1, 2), draw(1, 1, 2)]
            pads = [int(p) for p in rng.integers(0, 3, 4)]
            window = [(t - 1) * d + 1 for t, d in zip(taps, dilations)]
            room = [s + pads[k] + pads[k + 2] - w for k, (s, w) in enumerate(zip(size, window))]
            if min(room) < 0:
                pads, room = [8] * 4, [s + 16 - w for s, w in zip(size, window)]
            groups = draw(1, 1, 2, 3)
            if groups > 1:
                channels, results = channels * groups, draw(1, 4, 11, 36) * groups
            weights[name + "w"] = eighths(rng, results, channels // groups, *taps)
            shape = [images, results] + [r // s + 1 for r, s in zip(room, strides)]
            arguments = [add_input(name + "x", images, channels, *size), name + "w"]
            if draw(True, False):
                weights[name + "b"] = eighths(rng, results)
                arguments.append(name + "b")
            nodes.append(helper.make_node("Conv", arguments, [name], name=name, strides=strides, pads=pads,
                                          dilations=dilations, group=groups))
        else:
            batches = draw([], [3], [2, 2])
            rows, depth, columns = int(rng.integers(1, 90)), draw(1, 7, 16, 50, 130), int(rng.integers(1, 90))
            shape = batches + [rows, columns]
            right = name + "w"
            if draw(True, False):
                weights[right] = eighths(rng, *draw([], batches), depth, columns)
            else:
                add_input(right, *batches, depth, columns)
            nodes.append(helper.make_node("MatMul", [add_input(name + "x", *batches, rows, depth), right], [name],
                                          name=name))
        if draw(True, False):
            other = add_input(name + "r", *draw(shape, shape[-1:], [1] * len(shape)))
            nodes.append(helper.make_node("Add", [name, other], [name + "a"]))
            name += "a"
        nodes.append(helper.make_node("Relu", [name], [f"y{i}"]))
        outputs.append((f"y{i}", shape))
    return make_model(nodes, inputs, outputs, weights), feeds


def attention_model(batch, heads, queries, keys, size, width, mask=None, safe=False, residual=False):
    """`softmax(q kᵀ / √size + mask) v` of heads that lie within a position. `mask` is the shape of an input."""
    inputs = [("q", [batch, queries, heads, size]), ("k", [batch, keys, heads, size]),
              ("v", [batch, keys, heads, width])]
    nodes = [helper.make_node("Transpose", ["q"], ["qh"], perm=[0, 2, 1, 3]),
             helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 2, 3, 1]),
             helper.make_node("Transpose", ["v"], ["vh"], perm=[0, 2, 1, 3]),
             helper.make_node("MatMul", ["qh", "kt"], ["s"], name="scores"),
             helper.make_node("Mul", ["s", "scale"], ["scaled"], name="scale")]
    weights = {"scale": np.float32(size ** -0.5)}
    scores = "scaled"
    if mask is not None:
        inputs.append(("mask", list(mask)))
        nodes.append(helper.make_node("Add", ["scaled", "mask"], ["masked"], name="mask"))
        scores = "masked"
    nodes.append(helper.make_node("Softmax", [scores], ["p"], axis=-1, name="softmax"))
    probabilities = "p"
    if safe:
        weights["zero"] = np.float32(0)
        nodes += [helper.make_node("IsNaN", ["p"], ["nan"]), helper.make_node("Where", ["nan", "zero", "p"], ["safe"])]
        probabilities = "safe"
    nodes += [helper.make_node("MatMul", [probabilities, "vh"], ["yh"], name="result"),
              helper.make_node("Transpose", ["yh"], ["y" if not residual else "t"], perm=[0, 2, 1, 3])]
    shape = [batch, queries, heads, width]
    if residual:
        inputs.append(("r", shape))
        nodes.append(helper.make_node("Add", ["t", "r"], ["y"], name="residual"))
    return make_model(nodes, inputs, [("y", shape)], weights), inputs


def kernels_of(artifact):
    """Returns the kinds of the kernels, sorted."""
    with open(artifact, "rb") as f:
        return sorted(name.decode() for name in re.findall(rb"\.entry (\w+)_\d+", f.read()))


class Cuda(Case):
    """Compile, load and run."""

    def emulate(self, artifact, inputs, **settings):
        """Runs on the emulated GPU; returns {output: array}."""
        previous = dict(os.environ)
        os.environ.update(EMULATED)
        if settings:
            os.environ["INGOT_EMUGPU"] = ",".join(f"{k}={v}" for k, v in settings.items())
        os.environ.pop("INGOT_SERVER", None)
        try:
            return self.run_model(artifact, inputs)
        finally:
            os.environ.clear()
            os.environ.update(previous)

    def run_on(self, artifact, device=None, **settings):
        env = {"INGOT_DEVICE": device or "", "INGOT_EMULATED_DRIVER": EMULATOR,
               "INGOT_EMUGPU": ",".join(f"{k}={v}" for k, v in settings.items())}
        return tool("ingot", "run", artifact, "--input", "random", env=env)

    def test_both_devices_agree(self):
        artifact = self.compile(classifier(), "--target=x86-64-v3,cuda")
        x = np.random.default_rng(1).standard_normal((2, 3, 12, 12)).astype(np.float32)
        with_cpu = self.run_model(artifact, {"x": x})["y"]
        first = self.emulate(artifact, {"x": x}, seed=0)["y"]
        np.testing.assert_allclose(first, with_cpu, rtol=1e-5, atol=1e-6)
        for seed in range(1, 5):
            np.testing.assert_array_equal(self.emulate(artifact, {"x": x}, seed=seed)["y"], first)

    def test_same_bytes(self):
        for target in ("cuda", "multi,cuda"):
            files = []
            for _ in range(2):
                with open(self.compile(classifier(), f"--target={target}"), "rb") as f:
                    files.append(f.read())
            self.assertTrue(files[0] == files[1], f"{target}: two compilations differ")

    def test_levels(self):
        model = self.save(relu_model())
        for target, words in {"sm_80,sm_80": ["sm_80 is listed twice"], "cuda,sm_90": ["sm_90 is listed twice"],
                              "sm_75": ["unknown target 'sm_75'", "sm_80"], "cuda:x": ["unknown target 'cuda:x'"],
                              "cuda:sm_90,native,x86-64-v3": ["'native' stands alone"]}.items():
            self.assert_refuses(model, *words, options=[f"--target={target}"])
        for target in ("cuda:sm_90", "sm_120,sm_80", "x86-64-v4,cuda:sm_100,x86-64-v3"):
            self.compile(model, f"--target={target}")

    def test_what_is_refused(self):
        model = self.save(relu_model())
        self.assert_refuses(model, "float32", options=["--target=cuda", "--precision=int8-dynamic"])
        self.assert_refuses(model, "--kernels=auto", options=["--target=cuda", "--kernels=auto"])

    def test_devices(self):
        both = self.compile(relu_model(), "--target=x86-64-v3,cuda", name="both")
        gpu = self.compile(relu_model(), "--target=cuda", name="gpu")
        cpu = self.compile(relu_model(), "--target=x86-64-v3", name="cpu")
        # The CPU takes the place of a GPU only if nobody names a device.
        self.assertEqual(self.run_on(both).returncode, 0)
        for artifact in (both, gpu):
            self.assertEqual(self.run_on(artifact, "emulated").returncode, 0)
        self.assertEqual(self.run_on(both, "cpu").returncode, 0)
        self.assert_one_line(self.run_on(gpu, "cpu"), "compiled for cuda")
        self.assert_one_line(self.run_on(cpu, "emulated"), "no code for GPUs", "--target=cuda")
        for wrong in ("gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "CUDA"):
            self.assert_one_line(self.run_on(both, wrong), "INGOT_DEVICE", wrong, "emulated")

    def test_bench(self):
        """The report names the GPU, and compares no layer with the peak performance of the CPU."""
        artifact = self.compile(relu_model(), "--target=cuda")
        quick = ["--iterations=1", "--duration=0", "--warm-up=0", "--profile"]
        env = {"INGOT_DEVICE": "emulated", "INGOT_EMULATED_DRIVER": EMULATOR}
        text = tool("ingot", "bench", artifact, *quick, env=env).stdout
        self.assertRegex(text, "(?m)^Machine: .*, device cuda$")
        self.assertNotIn("Roofline", text)
        found = json.loads(tool("ingot", "bench", artifact, *quick, "--json", env=env).stdout)
        self.assertEqual((found["device"], found["roofline"]), ("cuda", None))

    def test_machines(self):
        artifact = self.compile(relu_model(), "--target=x86-64-v3,cuda")
        self.assertEqual(self.run_on(artifact, "emulated", level=120).returncode, 0)
        self.assert_one_line(self.run_on(artifact, "emulated", level=75), "sm_75", "sm_80")
        self.assert_one_line(self.run_on(artifact, "emulated", level=0), "CUDA")
        self.assert_one_line(self.run_on(artifact, "emulated", driver=11080), "driver", "525")

    def test_no_memory(self):
        artifact = self.compile(classifier(), "--target=cuda")
        self.assert_one_line(self.run_on(artifact, "emulated", memory=100), "weights", "bytes")
        self.assert_one_line(self.run_on(artifact, "emulated", memory=6000), "for weights", "for a run", "6000 free")

    def test_each_call_fails(self):
        # If the driver refuses the machine code, it compiles the PTX instead.
        artifact = self.compile(classifier(), "--target=cuda", "--ptxas=none")
        for call in ("cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain",
                     "cuCtxPushCurrent_v2", "cuModuleLoadData", "cuModuleGetFunction", "cuMemGetInfo_v2",
                     "cuMemAlloc_v2", "cuStreamCreate", "cuMemcpyHtoDAsync_v2", "cuStreamSynchronize",
                     "cuStreamDestroy_v2", "cuGraphCreate", "cuGraphAddKernelNode_v2", "cuGraphInstantiateWithFlags",
                     "cuGraphLaunch", "cuMemcpyDtoHAsync_v2"):
            done = self.run_on(artifact, "emulated", fail=f"{call}:1")
            self.assert_one_line(done, call.removesuffix("_v2"))
        done = self.run_on(artifact, "emulated", fail="cuGraphAddKernelNode_v2:1")
        self.assert_one_line(done, "kernel", "node 'stem'")

    def test_example(self):
        """examples/cuda: two contexts, a stream of the program, DLPack."""
        source, program = os.path.join(ROOT, "examples", "cuda", "pipeline.cpp"), self.path("pipeline")
        built = subprocess.run(["c++", "-std=c++17", "-Wall", "-Werror", source, f"-I{ROOT}/runtime/include",
                                f"-L{BUILD}/lib", f"-Wl,-rpath,{BUILD}/lib", "-lingot", "-ldl", "-o", program],
                               capture_output=True, text=True)
        self.assertEqual(built.returncode, 0, built.stderr)
        artifact = self.compile(classifier(), "--target=cuda", "--ptxas=none")
        for seed in range(3):
            done = subprocess.run([program, artifact], capture_output=True, text=True, env={
                **os.environ, "LD_LIBRARY_PATH": os.path.dirname(EMULATOR), "INGOT_EMUGPU": f"seed={seed}"})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout, "4 batches of 80 bytes\n")

    def test_ops_on_the_cpu(self):
        # A sort and a function without code for GPUs, between ops that have code.
        nodes = [helper.make_node("Relu", ["x"], ["r"], name="before"),
                 helper.make_node("TopK", ["r", "k"], ["t", "i"], name="sort"),
                 helper.make_node("Sinh", ["t"], ["s"], name="sinh"),
                 helper.make_node("Add", ["s", "t"], ["y"], name="after")]
        model = make_model(nodes, [("x", [3, 20])], [("y", [3, 4]), ("i", [3, 4], TensorProto.INT64)],
                           {"k": np.array([4], np.int64)})
        artifact = self.compile(model, "--target=x86-64-v3,cuda")
        x = np.random.default_rng(1).standard_normal((3, 20)).astype(np.float32)
        want, got = self.run_model(artifact, {"x": x}), self.emulate(artifact, {"x": x})
        np.testing.assert_allclose(got["y"], want["y"], rtol=1e-5)
        np.testing.assert_array_equal(got["i"], want["i"])
        done = tool("ingot", "compile", self.save(model), "-o", self.path("m.so"), "--target=cuda", "--remarks")
        self.assertIn("is computed on the CPU", done.stderr)
        sinh = make_model([helper.make_node("Sinh", ["x"], ["y"], name="sinh")], [("x", [4])], [("y", [4])])
        self.assert_refuses(sinh, "node 'sinh'", "is not computed on GPUs", "function that GPUs lack",
                            options=["--target=cuda", "--cuda-fallback=error"])

    def test_ptxas(self):
        model = self.save(relu_model())
        sizes = {}
        for name, options in {"none": ["--ptxas=none"], "one": ["--target=sm_90"], "four": []}.items():
            sizes[name] = os.path.getsize(self.compile(model, "--target=cuda" if name != "one" else "-q", *options))
        self.assertLess(sizes["none"], sizes["one"])
        self.assertLess(sizes["one"], sizes["four"])
        for content, words in {"#!/bin/sh\necho out of luck\nexit 3\n": "out of luck",
                               "#!/bin/sh\nexit 0\n": "no machine code"}.items():
            path = self.path("ptxas")
            with open(path, "w") as f:
                f.write(content)
            os.chmod(path, 0o755)
            self.assert_refuses(model, "ptxas", words, options=["--target=cuda", f"--ptxas={path}"])
        self.assert_refuses(model, "ptxas", "cannot be run", options=["--target=cuda", f"--ptxas={self.path('none')}"])

    def test_open_sizes(self):
        model = make_model([helper.make_node("Exp", ["x"], ["y"], name="exp")], [("x", ["n", 4])], [("y", ["n", 4])])
        artifact = self.compile(model, "--target=cuda")
        for n in (3, 0, 5):
            x = np.random.default_rng(n).standard_normal((n, 4)).astype(np.float32)
            np.testing.assert_allclose(self.emulate(artifact, {"x": x})["y"], np.exp(x), rtol=1e-5)

    def test_library(self):
        with_gpu = self.compile(relu_model(), "--target=x86-64-v3,cuda", name="with")
        without = self.compile(relu_model(), "--target=x86-64-v3", name="without")
        needed = subprocess.run(["readelf", "-d", with_gpu], capture_output=True, text=True).stdout
        self.assertNotIn("cuda", needed.replace("with.so", ""))
        self.assertLess(os.path.getsize(with_gpu) - os.path.getsize(without), 80 << 10)
        shown = tool("ingot", "inspect", with_gpu).stdout
        self.assertIn("x86-64-v3", shown)
        self.assertIn("cuda", shown)


class CudaRows(Case):
    """Reductions by warps and blocks."""

    emulate = Cuda.emulate

    def test_rows(self):
        rng = np.random.default_rng(5)
        for rows, depth in ([5, 3], 40), ([300], 33), ([2], 1500):
            shape = rows + [depth]
            axes = np.array([-1], np.int64)
            weights = {"axes": axes, "scale": rng.standard_normal(depth).astype(np.float32),
                       "shift": rng.standard_normal(depth).astype(np.float32)}
            nodes = [helper.make_node(op, ["x"], [op], keepdims=0, axes=[-1])
                     for op in ("ReduceMax", "ReduceMin", "ReduceMean", "ReduceL2", "ReduceSumSquare")]
            outputs = [(node.output[0], rows) for node in nodes]
            nodes += [helper.make_node("Softmax", ["x"], ["Softmax"]), helper.make_node("LogSoftmax", ["x"], ["Log"]),
                      helper.make_node("LayerNormalization", ["x", "scale", "shift"], ["Norm"]),
                      helper.make_node("ReduceProd", ["p"], ["Prod"], axes=[-1]),
                      helper.make_node("ReduceSum", ["i", "axes"], ["Integers"], keepdims=0)]
            outputs += [("Softmax", shape), ("Log", shape), ("Norm", shape), ("Prod", rows + [1]),
                        ("Integers", rows, TensorProto.INT32)]
            inputs = [("x", shape), ("p", shape), ("i", shape, TensorProto.INT32)]
            model = make_model(nodes, inputs, outputs, weights)
            feeds = {"x": rng.standard_normal(shape).astype(np.float32),
                     "p": rng.choice([-1, 1], shape).astype(np.float32),
                     "i": rng.integers(-2 ** 31, 2 ** 31, shape).astype(np.int32)}
            feeds["x"].flat[7] = np.nan
            want = self.run_model(self.compile(model, "--target=x86-64-v3", name="cpu"), feeds)
            gpu = self.compile(model, "--target=sm_80", name="gpu")
            first = self.emulate(gpu, feeds, seed=0)
            for name, array in want.items():
                np.testing.assert_allclose(first[name], array, 2e-6, 2e-6, err_msg=f"{shape}, {name}")
            for seed in (1, 2):
                for name, array in self.emulate(gpu, feeds, seed=seed).items():
                    np.testing.assert_array_equal(array, first[name], f"{shape}, {name}, {seed=}")


def row_model(rows, depth):
    """Softmax and norms of rows of `depth` elements, with elementwise ops behind them."""
    shape = rows + [depth]
    rng = np.random.default_rng(depth)
    weights = {"scale": rng.standard_normal(depth).astype(np.float32),
               "shift": rng.standard_normal(depth).astype(np.float32)}
    nodes = [helper.make_node("Softmax", ["x"], ["p"], axis=-1, name="softmax"),
             helper.make_node("Mul", ["p", "scale"], ["softmax"]),
             helper.make_node("LogSoftmax", ["x"], ["log"], axis=-1, name="log_softmax"),
             helper.make_node("LayerNormalization", ["x", "scale", "shift"], ["n"], name="norm"),
             helper.make_node("Add", ["n", "r"], ["norm"]),
             helper.make_node("RMSNormalization", ["x", "scale"], ["rms"], name="rms_norm")]
    outputs = ["softmax", "log", "norm", "rms"]
    model = make_model(nodes, [("x", shape), ("r", shape)], [(name, shape) for name in outputs], weights, opset=23)
    return model, shape, outputs


class CudaNorms(Case):
    """Softmax and norms in one kernel each, against ONNX Runtime, with drawn schedules and orders of threads."""

    emulate = Cuda.emulate

    def check(self, model, feeds, tolerance, *options, seed=0, kernels=()):
        want = self.run_model(self.compile(model, "--target=x86-64-v3", name="cpu"), feeds)
        for schedule in (0, seed + 1, seed + 2):
            artifact = self.compile(model, "--target=sm_80", "--ptxas=none", f"--schedule-seed={schedule}", *options,
                                    name="gpu")
            got = self.emulate(artifact, feeds, seed=seed)
            for name, array in want.items():
                np.testing.assert_allclose(got[name], array, rtol=tolerance, atol=tolerance,
                                           err_msg=f"{name}, schedule {schedule}")
            for other in (1, 2):
                for name, array in self.emulate(artifact, feeds, seed=seed + other).items():
                    np.testing.assert_array_equal(array, got[name], f"{name}, schedule {schedule}")
        if kernels:
            # A drawn number of parts may split a group norm.
            reductions = [kernel.replace("moments", "group_norm") for kernel in kernels_of(artifact)
                          if kernel in ("softmax", "row_norm", "group_norm", "moments", "rows")]
            self.assertEqual(reductions, kernels)
        return want

    def check_rows(self, tolerance, *options):
        for seed, (rows, depth) in enumerate([([5, 3], 40), ([301], 33), ([4], 1), ([2], 1500), ([7, 2], 6),
                                              ([3], 4104), ([1], 34000)]):
            with self.subTest(rows=rows, depth=depth):
                model, shape, _ = row_model(rows, depth)
                rng = np.random.default_rng(seed)
                feeds = {name: rng.standard_normal(shape).astype(np.float32) for name in ("x", "r")}
                self.check(model, feeds, tolerance, *options, seed=seed, kernels=["row_norm"] * 2 + ["softmax"] * 2)

    def test_float32(self):
        self.check_rows(4e-6)

    def test_halves(self):
        """Rows between products are read and stored with 16 bits."""
        for rows, depth in ([2, 9], 48), ([70], 21):
            rng = np.random.default_rng(depth)
            draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)
            weights = {"w": draw(depth, depth) * depth ** -0.5, "v": draw(depth, depth), "scale": draw(depth)}
            nodes = [helper.make_node("MatMul", ["x", "w"], ["c"], name="before"),
                     helper.make_node("Softmax", ["c"], ["p"], axis=-1, name="softmax"),
                     helper.make_node("MatMul", ["p", "v"], ["softmax"], name="behind"),
                     helper.make_node("RMSNormalization", ["c", "scale"], ["n"], name="norm"),
                     helper.make_node("MatMul", ["n", "w"], ["rms"], name="behind_too")]
            shape = rows + [depth]
            model = make_model(nodes, [("x", shape)], [("softmax", shape), ("rms", shape)], weights, opset=23)
            # A factor has an error of 2^-12 or 2^-9, and there are three in a row.
            for precision, tolerance in ("fp16", 4e-3), ("bf16", 4e-2):
                self.check(model, {"x": draw(*shape)}, tolerance, f"--precision={precision}", seed=depth)

    def test_special_values(self):
        model, shape, outputs = row_model([10], 100)
        rng = np.random.default_rng(4)
        feeds = {name: rng.standard_normal(shape).astype(np.float32) for name in ("x", "r")}
        x = feeds["x"]
        x[1, 7] = np.nan
        x[2, 99] = np.inf
        x[3, :] = -np.inf
        x[4, 1:] = -np.inf
        x[5, :] = 1e4
        x[6, 3] = 3e38
        x[7, :] = 0
        x[8, ::2] = -1e30
        want = self.check(model, feeds, 4e-6, kernels=["row_norm"] * 2 + ["softmax"] * 2)
        for name, array in zip(outputs, peer(model).run(outputs, feeds)):
            np.testing.assert_array_equal(np.isnan(array), np.isnan(want[name]), name)

    def test_groups(self):
        for seed, (groups, shape) in enumerate([(4, [2, 16, 9, 7]), (2, [1, 20, 130]), (8, [1, 24, 40, 41])]):
            channels = shape[1]
            rng = np.random.default_rng(seed)
            draw = lambda *sizes: rng.standard_normal(sizes).astype(np.float32)
            weights = {"w": draw(channels, channels, *[1] * (len(shape) - 2)), "scale": draw(channels),
                       "shift": draw(channels)}
            # The convolution has its channels last.
            nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="conv"),
                     helper.make_node("GroupNormalization", ["c", "scale", "shift"], ["n"], num_groups=groups,
                                      name="norm"),
                     helper.make_node("Sigmoid", ["n"], ["s"]), helper.make_node("Mul", ["n", "s"], ["y"])]
            model = make_model(nodes, [("x", shape)], [("y", shape)], weights, opset=21)
            for tolerance, options in (2e-5, []), (8e-3, ["--precision=fp16"]):
                self.check(model, {"x": draw(*shape)}, tolerance, *options, seed=seed, kernels=["group_norm"])


class CudaProducts(Case):
    """Convolutions and matrix products with drawn sizes, schedules and orders of threads."""

    emulate = Cuda.emulate

    def check(self, seed, *options, share=0):
        """Results differ by at most `share` of the largest one."""
        model, feeds = drawn_products(seed, 6)
        want = self.run_model(self.compile(model, "--target=x86-64-v3", name="cpu"), feeds)
        for schedule in (0, seed + 1):
            artifact = self.compile(model, "--target=sm_80", f"--schedule-seed={schedule}", *options, name="gpu")
            got = self.emulate(artifact, feeds, seed=seed)
            for name, array in want.items():
                np.testing.assert_allclose(got[name], array, 0, share * np.abs(array).max(),
                                           err_msg=f"{seed=}, {schedule=}, {name=}")

    def test_float32(self):
        for seed in range(4):
            self.check(seed)

    def test_float16(self):
        for seed in range(4, 8):
            self.check(seed, "--precision=fp16")

    def test_parts(self):
        """A small result with a large depth is computed in parts, whose sum has the epilogue."""
        rng = np.random.default_rng(6)
        weights = {"w": eighths(rng, 72, 256, 3, 3), "b": eighths(rng, 72), "m": eighths(rng, 2000, 10)}
        nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv", pads=[1] * 4),
                 helper.make_node("Add", ["c", "r"], ["a"]), helper.make_node("Relu", ["a"], ["y"]),
                 helper.make_node("MatMul", ["v", "m"], ["z"], name="product")]
        inputs = [("x", [1, 256, 7, 7]), ("r", [1, 72, 7, 7]), ("v", [3, 2000])]
        model = make_model(nodes, inputs, [("y", [1, 72, 7, 7]), ("z", [3, 10])], weights)
        feeds = {name: eighths(rng, *shape) for name, shape in inputs}
        want = self.run_model(self.compile(model, "--target=x86-64-v3", name="cpu"), feeds)
        for options, share in ([], 0), (["--precision=fp16"], 2 ** -11), (["--precision=bf16"], 2 ** -7):
            artifact = self.compile(model, "--target=sm_80", "--ptxas=none", *options, name="gpu")
            self.assertEqual(kernels_of(artifact)[-2:], ["sum_parts"] * 2)
            first = self.emulate(artifact, feeds, seed=0)
            for name, array in want.items():
                np.testing.assert_allclose(first[name], array, 0, share * np.abs(array).max(), err_msg=f"{options}")
            for seed in (1, 2):
                for name, array in self.emulate(artifact, feeds, seed=seed).items():
                    np.testing.assert_array_equal(array, first[name])

    def check_depthwise(self, seed, images, channels, size, taps, strides, dilations, pads, multiplier=1, halves=False):
        rng = np.random.default_rng(seed)
        room = [s + pads[k] + pads[k + len(taps)] - (t - 1) * d - 1
                for k, (s, t, d) in enumerate(zip(size, taps, dilations))]
        results = channels * multiplier
        shape = [images, results] + [r // s + 1 for r, s in zip(room, strides)]
        weights = {"w": eighths(rng, results, 1, *taps), "b": eighths(rng, results)}
        nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv", strides=strides, pads=pads,
                                  dilations=dilations, group=channels),
                 helper.make_node("Add", ["c", "r"], ["a"]), helper.make_node("Relu", ["a"], ["y"])]
        inputs = [("x", [images, channels] + size), ("r", shape)]
        model = make_model(nodes, inputs, [("y", shape)], weights)
        feeds = {name: eighths(rng, *sizes) for name, sizes in inputs}
        want = self.run_model(self.compile(model, "--target=x86-64-v3", name="cpu"), feeds)["y"]
        for options, share in [([], 0)] + ([(["--precision=fp16"], 2 ** -11), (["--precision=bf16"], 2 ** -7)] if halves
                                           else []):
            with self.subTest(seed=seed, options=options):
                artifact = self.compile(model, "--target=sm_80", "--ptxas=none", *options, name="gpu")
                self.assertIn("depthwise_conv", kernels_of(artifact))
                got = self.emulate(artifact, feeds, seed=seed)["y"]
                np.testing.assert_allclose(got, want, 0, share * np.abs(want).max())

    def test_depthwise(self):
        """Channels by vectors and one by one; few pixels, and enough for blocks of two and four."""
        for seed, case in enumerate([
                (2, 24, [9, 11], [3, 3], [1, 1], [1, 1], [1, 1, 1, 1]), (1, 10, [12, 9], [5, 2], [2, 1], [1, 2], [2, 0, 1, 3]),
                (1, 7, [17], [4], [3], [2], [0, 2]), (1, 8, [5, 6, 7], [3, 1, 2], [1, 2, 1], [1, 1, 1], [1, 0, 1, 0, 0, 1]),
                (2, 16, [85, 87], [3, 3], [1, 1], [1, 1], [1, 1, 1, 1]), (1, 5, [150, 151], [2, 3], [1, 1], [1, 1], [0, 1, 1, 0])]):
            self.check_depthwise(seed, *case, halves=seed == 0)

    def test_channel_multiplier(self):
        """A channel gives fewer results than a vector has, as many, more, or a number that fits no vector."""
        for seed, (channels, multiplier) in enumerate([(24, 2), (6, 4), (3, 8), (8, 3), (5, 2), (2, 16)]):
            self.check_depthwise(seed, 2, channels, [9, 11], [3, 3], [1, 2], [1, 1], [1, 1, 1, 1], multiplier, halves=True)

    def test_product_beside_open_sizes(self):
        # The steps of a loop read parts of a sequence of open length, which is in host memory.
        rng = np.random.default_rng(3)
        body = helper.make_graph(
            [helper.make_node("MatMul", ["s", "w"], ["m"], name="product"), helper.make_node("Add", ["m", "x"], ["t"]),
             helper.make_node("Identity", ["t"], ["y"])], "body",
            [helper.make_tensor_value_info("s", TensorProto.FLOAT, [1, 6]),
             helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 6])],
            [helper.make_tensor_value_info("t", TensorProto.FLOAT, [1, 6]),
             helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 6])])
        nodes = [helper.make_node("Scan", ["start", "xs"], ["end", "ys"], body=body, num_scan_inputs=1)]
        model = make_model(nodes, [("start", [1, 6]), ("xs", ["n", 1, 6])], [("end", [1, 6]), ("ys", ["n", 1, 6])],
                           {"w": eighths(rng, 6, 6)})
        feeds = {"start": eighths(rng, 1, 6), "xs": eighths(rng, 3, 1, 6)}
        want = self.run_model(self.compile(model, "--target=x86-64-v3", name="cpu"), feeds)
        got = self.emulate(self.compile(model, "--target=sm_80", name="gpu"), feeds, seed=1)
        for name, array in want.items():
            np.testing.assert_allclose(got[name], array, 1e-6)

    def test_tf32(self):
        for seed in range(10, 12):
            self.check(seed, "--precision=tf32")
        self.assert_refuses(self.save(classifier()), "tf32", "--target=cuda", options=["--precision=tf32"])

    def test_bfloat16(self):
        for seed in range(8, 10):
            # A product is stored with 8 bits, and its sum with an operand again: two
            # errors of 2^-8 at most.
            self.check(seed, "--precision=bf16", share=2 ** -7)


def open_encoder(length, heads, size, layers=1):
    """A transformer whose batch and, if `length` is a name, length are open. The input names tokens, and a mask."""
    rng = np.random.default_rng(0)
    width = heads * size
    weights = {"scale": np.float32(size ** -0.5), "one": np.float32(1), "large": np.float32(-1e4),
               "tokens": eighths(rng, 50, width), "positions": eighths(rng, 64, width),
               "split": np.array([0, 0, heads, size], np.int64), "joined": np.array([0, 0, width], np.int64),
               "axes": np.array([1, 2], np.int64), "zero": np.array([0], np.int64)}
    node = helper.make_node
    nodes = [node("Gather", ["tokens", "ids"], ["token"], name="embed"), node("Shape", ["ids"], ["end"], start=1, end=2),
             node("Slice", ["positions", "zero", "end"], ["position"], name="positions"),
             node("Add", ["token", "position"], ["x0"]), node("Cast", ["mask"], ["m0"], to=TensorProto.FLOAT),
             node("Unsqueeze", ["m0", "axes"], ["m1"]), node("Sub", ["one", "m1"], ["m2"]),
             node("Mul", ["m2", "large"], ["m3"])]

    def dense(x, y, rows, columns, bias=True):
        weights[y + "w"] = eighths(rng, rows, columns)
        nodes.append(node("MatMul", [x, y + "w"], [y + "p" if bias else y], name=y))
        if bias:
            weights[y + "b"] = eighths(rng, columns)
            nodes.append(node("Add", [y + "p", y + "b"], [y]))

    def norm(x, y):
        weights[y + "g"], weights[y + "b"] = eighths(rng, width) + 1, eighths(rng, width)
        nodes.append(node("LayerNormalization", [x, y + "g", y + "b"], [y], axis=-1, name=y))

    for i in range(layers):
        x, p = f"x{i}", f"layer{i}_"
        for part in "qkv":
            dense(x, p + part, width, width)
            nodes.extend([node("Reshape", [p + part, "split"], [p + part + "s"]),
                          node("Transpose", [p + part + "s"], [p + part + "t"],
                               perm=[0, 2, 3, 1] if part == "k" else [0, 2, 1, 3])])
        nodes.extend([node("MatMul", [p + "qt", p + "kt"], [p + "s"], name=p + "scores"),
                      node("Mul", [p + "s", "scale"], [p + "s1"]), node("Add", [p + "s1", "m3"], [p + "s2"]),
                      node("Softmax", [p + "s2"], [p + "p"], axis=-1, name=p + "softmax"),
                      node("MatMul", [p + "p", p + "vt"], [p + "c"], name=p + "context"),
                      node("Transpose", [p + "c"], [p + "c1"], perm=[0, 2, 1, 3]),
                      node("Reshape", [p + "c1", "joined"], [p + "c2"])])
        dense(p + "c2", p + "o", width, width)
        nodes.append(node("Add", [p + "o", x], [p + "r"]))
        norm(p + "r", p + "n")
        dense(p + "n", p + "f", width, 2 * width)
        nodes.append(node("Relu", [p + "f"], [p + "f1"]))
        dense(p + "f1", p + "g", 2 * width, width, bias=False)
        nodes.append(node("Add", [p + "g", p + "n"], [p + "r2"]))
        norm(p + "r2", f"x{i + 1}")
    nodes.append(node("Identity", [f"x{layers}"], ["y"]))
    inputs = [(name, ["n", length], TensorProto.INT64) for name in ("ids", "mask")]
    return make_model(nodes, inputs, [("y", ["n", length, width])], weights)


def open_pictures(height, width):
    """Convolutions with padding, strides, groups and a residual, pooling and a classifier, with an open batch."""
    rng = np.random.default_rng(1)
    weights = {"w1": eighths(rng, 16, 3, 3, 3), "b1": eighths(rng, 16), "w2": eighths(rng, 16, 16, 1, 1),
               "w3": eighths(rng, 24, 8, 3, 3), "w4": eighths(rng, 24, 10), "b4": eighths(rng, 10)}
    nodes = [helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], name="stem", pads=[1, 1, 1, 1], strides=[2, 2]),
             helper.make_node("Relu", ["c1"], ["r1"]),
             helper.make_node("Conv", ["r1", "w2"], ["c2"], name="pointwise"),
             helper.make_node("Add", ["c2", "r1"], ["a2"]),
             helper.make_node("MaxPool", ["a2"], ["p2"], kernel_shape=[2, 2], strides=[2, 2], name="pool"),
             helper.make_node("Conv", ["p2", "w3"], ["c3"], name="grouped", pads=[1, 1, 1, 1], group=2),
             helper.make_node("GlobalAveragePool", ["c3"], ["g"], name="average"),
             helper.make_node("Flatten", ["g"], ["f"]),
             helper.make_node("Gemm", ["f", "w4", "b4"], ["y"], name="classifier")]
    return make_model(nodes, [("x", ["n", 3, height, width])], [("y", ["n", 10])], weights)


class CudaOpen(Case):
    """Open sizes: buffers in a heap of the GPU, and sizes as parameters of kernels."""

    emulate = Cuda.emulate

    def check(self, model, sizes, kernels, tolerance, *options):
        """Runs at each of `sizes`, which name open dimensions. The code has `kernels`."""
        session = peer(model)
        for schedule in (0, 1):
            artifact = self.compile(model, "--target=sm_80", "--ptxas=none", f"--schedule-seed={schedule}", *options,
                                    name="gpu")
            with open(artifact, "rb") as f:
                code = f.read()
            for kernel in kernels:
                self.assertTrue(re.search(rb"\.entry %s_\d" % kernel.encode(), code), kernel)
            for seed, size in enumerate(sizes):
                rng = np.random.default_rng(seed)
                feeds = {}
                for value in session.get_inputs():
                    shape = [size.get(dim, dim) for dim in value.shape]
                    feeds[value.name] = (eighths(rng, *shape) if value.name == "x" else
                                         rng.integers(0, 50 if value.name == "ids" else 2, shape))
                if "mask" in feeds:
                    feeds["mask"][:, :1] = 1
                want = session.run(None, feeds)[0]
                got = self.emulate(artifact, feeds, seed=seed)["y"]
                np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, err_msg=f"{size} {schedule}")

    def test_encoder(self):
        sizes = [{"n": n, "t": t} for n, t in ((2, 7), (1, 1), (0, 5), (3, 33))]
        self.check(open_encoder("t", 2, 16), sizes, ["attention", "matmul", "row_norm", "grid"], 1e-5)
        self.check(open_encoder("t", 2, 16), sizes[:1], ["attention", "matmul"], 2e-2, "--precision=fp16")
        # Only the batch is open.
        self.check(open_encoder(9, 1, 32), [{"n": n} for n in (3, 1, 0)], ["attention", "matmul"], 1e-5)

    def test_pictures(self):
        self.check(open_pictures(12, 20), [{"n": n} for n in (3, 1, 0)], ["conv", "matmul"], 1e-5)
        sizes = [{"n": n, "h": h, "w": w} for n, h, w in ((2, 16, 12), (1, 8, 9), (0, 8, 8), (3, 13, 22))]
        self.check(open_pictures("h", "w"), sizes, ["conv", "matmul"], 1e-5)
        self.check(open_pictures("h", "w"), sizes[:1], ["conv", "matmul"], 2e-2, "--precision=fp16")


class CudaAttention(Case):
    """Attentions in one kernel, against ONNX Runtime, with drawn schedules and orders of threads."""

    emulate = Cuda.emulate

    # Batch, heads, queries, keys, size of a head, size of a value; shape of the mask.
    SHAPES = [((1, 2, 7, 9, 16, 32), None), ((2, 3, 33, 70, 48, 16), (2, 1, 1, 70)), ((1, 1, 1, 1, 16, 16), (1,)),
              ((1, 2, 65, 64, 64, 64), (65, 64)), ((2, 2, 20, 130, 128, 128), (2, 2, 20, 130)),
              ((1, 3, 16, 17, 80, 112), (3, 16, 17))]

    def feeds(self, rng, inputs, hide=0.3):
        """Draws inputs. Some elements of a mask are large negative numbers or -inf, but not all of a row."""
        feeds = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in inputs}
        if "mask" in feeds:
            mask = feeds["mask"]
            hidden = np.where(rng.random(mask.shape) < 0.5, np.float32(-np.inf), np.float32(-3e38))
            mask[..., 1:] = np.where(rng.random(mask[..., 1:].shape) < hide, hidden[..., 1:], mask[..., 1:])
        return feeds

    def check(self, model, feeds, tolerance, *options, seed=0):
        want = peer(model).run(["y"], feeds)[0]
        for schedule in (0, seed + 1, seed + 2):
            artifact = self.compile(model, "--target=sm_80", "--ptxas=none", f"--schedule-seed={schedule}", *options,
                                    name="gpu")
            got = self.emulate(artifact, feeds, seed=seed)["y"]
            np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, err_msg=f"schedule {schedule}")
        with open(artifact, "rb") as f:
            self.assertIn(b".entry attention_0", f.read())

    def check_shapes(self, tolerance, *options):
        for seed, (sizes, mask) in enumerate(self.SHAPES):
            with self.subTest(sizes=sizes):
                model, inputs = attention_model(*sizes, mask=mask, residual=seed % 2 == 1)
                self.check(model, self.feeds(np.random.default_rng(seed), inputs), tolerance, *options, seed=seed)

    def test_float32(self):
        self.check_shapes(2e-6)

    def test_float16(self):
        # A factor has 11 significant bits, so that its relative error is at most 2^-12.
        self.check_shapes(4e-3, "--precision=fp16")

    def test_bfloat16(self):
        # A factor has 8 bits.
        self.check_shapes(3e-2, "--precision=bf16")

    def test_hidden_queries(self):
        # The first query has no key: NaN, or zeros if NaN is replaced.
        for options, tolerance in (((), 2e-6), (("--precision=fp16",), 4e-3)):
            for safe in (False, True):
                model, inputs = attention_model(1, 2, 20, 40, 32, 32, mask=(1, 1, 20, 40), safe=safe)
                feeds = self.feeds(np.random.default_rng(3), inputs)
                feeds["mask"][0, 0, 0, :] = -np.inf
                # All keys of the first steps are hidden from the second query.
                feeds["mask"][0, 0, 1, :33] = -np.inf
                self.check(model, feeds, tolerance, *options)

    def test_special_values(self):
        model, inputs = attention_model(1, 1, 6, 20, 16, 16)
        feeds = self.feeds(np.random.default_rng(4), inputs)
        feeds["q"][0, 1, 0, 3] = np.nan
        feeds["q"][0, 2, 0, :] = 0
        feeds["q"][0, 3, 0, :] = 300
        feeds["v"][0, 5, 0, 2] = np.inf
        self.check(model, feeds, 2e-6)

    def test_large_heads(self):
        # A kernel holds heads of up to 128 elements.
        model, inputs = attention_model(1, 2, 5, 6, 144, 16)
        feeds = self.feeds(np.random.default_rng(5), inputs)
        got = self.emulate(self.compile(model, "--target=sm_80"), feeds)["y"]
        np.testing.assert_allclose(got, peer(model).run(["y"], feeds)[0], rtol=2e-6, atol=2e-6)
