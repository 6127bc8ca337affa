"""Code for GPUs: what `ingot inspect` tells about it, what its machine code is made of, and checks of data in kernels."""
import glob
import json
import os
import re
import struct
import subprocess
import sys

import test_json
from emulated import EMULATOR, Emulated, attention_model, classifier, drawn_products
from support import ROOT, Case, TensorProto, helper, make_model, np, relu_model, tool

# NVIDIA's disassembler, in the environment of the build.
DISASSEMBLER = "nvidia/cu13/bin/nvdisasm"
# The most registers of a kernel by its kind, the precision and the level. GPUs give registers to a warp in eights.
REGISTERS = os.path.join(ROOT, "test", "e2e", "cuda_registers.json")
# The instruction of matrix units that a product of this precision is made of.
UNITS = {"fp32": None, "tf32": r"HMMA\.1688\.F32\.TF32", "fp16": r"HMMA\.16816\.F32\b(?!\.BF16)",
         "bf16": r"HMMA\.16816\.F32\.BF16"}
CUBIN = 190  # e_machine


def cubins(artifact):
    """Returns the cubins in the artifact: ELF files whose section table is at the end or before the program headers."""
    with open(artifact, "rb") as f:
        data = f.read()
    found = []
    for start in (match.start() for match in re.finditer(rb"\x7fELF\x02\x01\x01", data)):
        if struct.unpack_from("<H", data, start + 18)[0] != CUBIN:
            continue
        programs, sections = struct.unpack_from("<QQ", data, start + 32)
        program_count, _, section_count = struct.unpack_from("<HHH", data, start + 56)
        found.append(data[start:start + max(sections + 64 * section_count, programs + 56 * program_count)])
    return found


def kind_of(kernel):
    return re.sub(r"_\d+$", "", kernel)


def rows():
    """Poolings, reductions, norms, softmax and a sort, by rows and by columns, in one kernel and in two."""
    rng = np.random.default_rng(1)
    weights = {"w": rng.standard_normal((16, 8, 3, 3)).astype(np.float32),
               "d": rng.standard_normal((32, 1, 3, 3)).astype(np.float32), "k": np.array([5], np.int64),
               **{name: rng.standard_normal(16).astype(np.float32) for name in ("scale", "shift")}}
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1] * 4),
             helper.make_node("InstanceNormalization", ["c", "scale", "shift"], ["n"], name="instance_norm"),
             helper.make_node("MaxPool", ["n"], ["p"], name="pool", kernel_shape=[3, 3], strides=[4, 4]),
             helper.make_node("AveragePool", ["p"], ["a"], name="mean", kernel_shape=[9, 7], pads=[4, 3, 4, 3]),
             helper.make_node("GroupNormalization", ["a", "scale", "shift"], ["g"], name="group_norm", num_groups=4),
             helper.make_node("Softmax", ["g"], ["s"], name="softmax", axis=2),
             helper.make_node("Conv", ["s", "d"], ["e"], name="multiplier", group=16),
             helper.make_node("GlobalAveragePool", ["e"], ["r"], name="reduce"),
             helper.make_node("Flatten", ["r"], ["f"], name="flatten"),
             helper.make_node("LayerNormalization", ["f", "ones"], ["l"], name="row_norm"),
             helper.make_node("TopK", ["l", "k"], ["y", "i"], name="sort")]
    weights["ones"] = np.ones(32, np.float32)
    return make_model(nodes, [("x", [1, 8, 128, 128])], [("y", [1, 5]), ("i", [1, 5], TensorProto.INT64)], weights,
                      opset=21)


def recurrent():
    """An LSTM with two directions and peepholes, and a GRU whose reset comes before the product."""
    rng = np.random.default_rng(4)
    normal = lambda *shape: (0.1 * rng.standard_normal(shape)).astype(np.float32)
    weights = {"w": normal(2, 4 * 70, 8), "r": normal(2, 4 * 70, 70), "b": normal(2, 8 * 70), "p": normal(2, 3 * 70),
               "v": normal(1, 3 * 300, 8), "q": normal(1, 3 * 300, 300), "c": normal(1, 6 * 300)}
    nodes = [helper.make_node("LSTM", ["x", "w", "r", "b", "", "", "", "p"], ["", "y"], name="lstm", hidden_size=70,
                              direction="bidirectional"),
             helper.make_node("GRU", ["x", "v", "q", "c"], ["z"], name="gru", hidden_size=300)]
    return make_model(nodes, [("x", [6, 5, 8])], [("y", [2, 5, 70]), ("z", [6, 1, 5, 300])], weights, opset=14)


def resizes():
    """Resizes with all numbers of taps, of vectors of channels and of single elements."""
    rng = np.random.default_rng(3)
    weights = {"w": rng.standard_normal((16, 8, 1, 1)).astype(np.float32), "scales": np.array([1, 1, 1.5, 2], np.float32)}
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="conv")]
    for mode in ("nearest", "linear", "cubic"):
        nodes += [helper.make_node("Resize", ["c", "", "scales"], [mode + "_r"], name=mode, mode=mode),
                  helper.make_node("ReduceMax", [mode + "_r"], [mode], name=mode + "_max", axes=[2, 3]),
                  helper.make_node("Resize", ["x", "", "scales"], [mode + "_x"], name=mode + "_of_x", mode=mode)]
    return make_model(nodes, [("x", [1, 8, 20, 24])],
                      [output for mode in ("nearest", "linear", "cubic")
                       for output in ((mode, [1, 16, 1, 1]), (mode + "_x", [1, 8, 30, 48]))], weights)


def updates():
    """Running sums, and updates of compared and of sorted positions."""
    rng = np.random.default_rng(2)
    weights = {"u": rng.standard_normal((5000, 4)).astype(np.float32), "v": rng.standard_normal((9, 4)).astype(np.float32),
               "rows": np.array(1, np.int64), "columns": np.array(0, np.int64)}
    nodes = [helper.make_node("ScatterND", ["x", "i", "u"], ["a"], name="sorted", reduction="add"),
             helper.make_node("ScatterElements", ["a", "j", "v"], ["b"], name="compared", reduction="mul", axis=0),
             helper.make_node("CumSum", ["b", "columns"], ["c"], name="columns"),
             helper.make_node("Transpose", ["c"], ["t"], name="transpose"),
             helper.make_node("CumSum", ["t", "rows"], ["y"], name="rows")]
    return make_model(nodes, [("x", [300, 4]), ("i", [5000, 1], TensorProto.INT64), ("j", [9, 4], TensorProto.INT64)],
                      [("y", [4, 300])], weights, opset=18)


def transposes():
    """Transposes with wide accesses and with single elements, with and without other ops."""
    found = [("float32", [256, 512]), ("float16", [512, 256]), ("int8", [300, 303])]
    nodes = [node for name, _ in found for node in (
        helper.make_node("Transpose", [name], [name + "_t"], name=name, perm=[1, 0]),
        helper.make_node("Add", [name + "_t", name + "_b"], [name + "_y"]))]
    types = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "int8": TensorProto.INT8}
    inputs = [(name, shape, types[name]) for name, shape in found]
    results = [(name, shape[::-1], types[name]) for name, shape in found]
    inputs += [(name + "_b", shape, dtype) for name, shape, dtype in results]
    return make_model(nodes, inputs, [(name + "_y", shape, dtype) for name, shape, dtype in results])


def models(precision):
    """Returns {name: model}; together they have each kind of kernel."""
    found = {"products": drawn_products(20, 6)[0], "recurrent": recurrent(), "rows": rows(), "resizes": resizes(),
             "attention": attention_model(1, 2, 65, 64, 64, 64, mask=(65, 64))[0]}
    more = {"classifier": classifier(), "updates": updates(), "transposes": transposes()}
    return {**found, **more} if precision == "fp32" else found


class CudaImages(Case):
    """Each image is assembled and disassembled again."""

    def disassemble(self, cubin):
        """Returns {kernel: text}."""
        paths = [path for folder in sys.path for path in glob.glob(os.path.join(folder, DISASSEMBLER))]
        self.assertTrue(paths, "nvdisasm is not installed: run scripts/setup.sh")
        path = self.path("image.cubin")
        with open(path, "wb") as f:
            f.write(cubin)
        done = subprocess.run([paths[0], "--print-code", path], capture_output=True, text=True, timeout=120, check=True)
        parts = re.split(r"(?m)^\s*\.section\s+\.text\.([^,]+),.*$", done.stdout)
        return dict(zip(parts[1::2], parts[2::2]))

    def test_machine_code(self):
        """No kernel has local memory, products use the matrix units, and registers stay within the baseline."""
        with open(REGISTERS, encoding="utf-8") as f:
            baseline = json.load(f)
        used = {}
        for precision in UNITS:
            uses_units = False
            for name, model in models(precision).items():
                artifact = self.compile(model, "--target=cuda", f"--precision={precision}", name=name)
                gpu = json.loads(tool("ingot", "inspect", artifact, "--json").stdout)["gpu"]
                levels = [image for image in gpu["images"] if image["kind"] == "cubin"]
                images = cubins(artifact)
                self.assertEqual([len(image) for image in images], [level["bytes"] for level in levels])
                for level, image in zip((level["level"] for level in levels), images):
                    code = self.disassemble(image)
                    self.assertEqual(sorted(code), sorted(kernel["name"] for kernel in gpu["kernels"]))
                    for kernel in gpu["kernels"]:
                        uses_units |= self.check_code(kernel, level, precision, code[kernel["name"]])
                        self.count_registers(kernel, precision, level, used)
            self.assertEqual(uses_units, UNITS[precision] is not None, precision)
        more = {key: {level: most for level, most in found.items() if most > baseline.get(key, {}).get(level, 0)}
                for key, found in used.items()}
        self.assertFalse({key: found for key, found in more.items() if found},
                         f"kernels have more registers; if they should, {REGISTERS} becomes\n"
                         f"{json.dumps(used, indent=1, sort_keys=True)}")

    def check_code(self, kernel, level, precision, text):
        """Returns true if the kernel uses matrix units."""
        kind = kind_of(kernel["name"])
        where = f"{kernel['name']} of {kernel['node']!r} for sm_{level}"
        for instruction in ("LDL", "STL"):
            self.assertNotRegex(text, rf"\b{instruction}\b", where)
        resources = next(code for code in kernel["code"] if code["level"] == level)
        self.assertEqual((resources["stack_bytes"], resources["spill_bytes"]), (0, 0), where)
        if kind.startswith("recurrent"):
            self.assertRegex(text, r"\bLDG\.E\S*\.128\b", where)
        if kind not in ("conv", "matmul", "attention"):
            return False
        # Copies of 2 bytes go through registers.
        self.assertRegex(text, r"\b(LDGSTS|STS)\b", where)
        products = set(re.findall(r"\bHMMA\S*", text))
        for product in products:
            self.assertRegex(product, UNITS[precision] or "no matrix unit", where)
        # Attentions of tf32 have f32 factors, and so have products of fp16 without constant weights.
        if precision == "bf16" or (precision == "tf32" and kind != "attention"):
            self.assertTrue(products, where)
        if not products:
            self.assertRegex(text, r"\bFFMA\b", where)
        return bool(products)

    @staticmethod
    def count_registers(kernel, precision, level, used):
        resources = next(code for code in kernel["code"] if code["level"] == level)
        levels = used.setdefault(f"{kind_of(kernel['name'])} {precision}", {})
        levels[str(level)] = max(levels.get(str(level), 0), (resources["registers"] + 7) // 8 * 8)


class CudaInspect(test_json.JsonCase):
    """`ingot inspect` of code for GPUs."""

    def test_document(self):
        artifact = self.compile(classifier(), "--target=x86-64-v3,sm_80,sm_90", "--precision=fp16")
        document, _ = self.document("inspect", artifact)
        gpu = document["gpu"]
        self.assertEqual([(image["kind"], image["level"]) for image in gpu["images"]],
                         [("cubin", 80), ("cubin", 90), ("ptx", 80)])
        self.assertEqual({image["ptxas"] for image in gpu["images"] if image["kind"] == "cubin"}, {"12.9.86"})
        self.assertGreater(gpu["weights_bytes"], 0)
        self.assertGreater(gpu["arena_bytes"], 0)
        self.assertEqual(gpu["on_cpu"], [])
        nodes = {kernel["node"] for kernel in gpu["kernels"]}
        self.assertLessEqual({"stem", "head"}, nodes)
        for kernel in gpu["kernels"]:
            self.assertEqual([code["level"] for code in kernel["code"]], [80, 90])
            self.assertGreater(min(code["registers"] for code in kernel["code"]), 0)
            self.assertGreater(kernel["predicted_us"], 1)
        total = sum(kernel["predicted_us"] * kernel["launches"] for kernel in gpu["kernels"])
        self.assertAlmostEqual(gpu["predicted_us"], total, 3)
        text = tool("ingot", "inspect", artifact, "--layers").stdout
        for words in ("code for sm_90", "by ptxas 12.9.86", "PTX for sm_80 and later", "no GPU has confirmed it",
                      "without local memory or spills", "registers of sm_80, sm_90"):
            self.assertIn(words, text)
        self.assertNotIn("ingot.gpu", text)

    def test_nodes_on_the_cpu(self):
        model = make_model([helper.make_node("NonZero", ["x"], ["y"], name="search")], [("x", [20, 3])],
                           [("y", [2, "n"], TensorProto.INT64)])
        document, _ = self.document("inspect", self.compile(model, "--target=cuda"))
        nodes = document["gpu"]["on_cpu"]
        self.assertEqual({node["node"] for node in nodes}, {"search"})
        self.assertGreater(nodes[0]["buffers"], 0)
        self.assertIn("on CPU    node 'search'", tool("ingot", "inspect", self.path("model.so")).stdout)

    def test_without_ptxas(self):
        document, _ = self.document("inspect", self.compile(relu_model(), "--target=cuda", "--ptxas=none"))
        self.assertEqual([image["kind"] for image in document["gpu"]["images"]], ["ptx"])
        self.assertEqual({len(kernel["code"]) for kernel in document["gpu"]["kernels"]}, {0})

    def test_without_gpus(self):
        # An entry of the model with the compiler's key has no effect.
        model = relu_model()
        helper.set_model_props(model, {"ingot.gpu": "{"})
        document, _ = self.document("inspect", self.compile(model, "--target=x86-64-v3"))
        self.assertIsNone(document["gpu"])


class CudaChecks(Emulated):
    """Checks of data: kernels make them, and the run ends with the message that the CPU has."""

    def lookups(self):
        """A model whose indices pass several lookups."""
        rng = np.random.default_rng(2)
        nodes = [helper.make_node("Gather", ["w", "i"], ["g"], name="lookup"),
                 helper.make_node("GatherElements", ["g", "j"], ["e"], name="elements"),
                 helper.make_node("ScatterND", ["e", "k", "u"], ["y"], name="scatter")]
        inputs = [("i", [40], TensorProto.INT64), ("j", [40, 6], TensorProto.INT64), ("k", [5, 1], TensorProto.INT64)]
        model = make_model(nodes, inputs, [("y", [40, 6])],
                           {"w": rng.standard_normal((9, 6)).astype(np.float32),
                            "u": rng.standard_normal((5, 6)).astype(np.float32)})
        feeds = {"i": rng.integers(-9, 9, 40), "j": rng.integers(-40, 40, (40, 6)),
                 "k": rng.permutation(40)[:5].reshape(5, 1)}
        return model, feeds

    def run_with(self, artifact, feeds, **env):
        arguments = []
        for name, array in feeds.items():
            path = self.path(f"{name}.npy")
            np.save(path, array)
            arguments += ["--input", f"{name}={path}"]
        return tool("ingot", "run", artifact, *arguments, env=env)

    def test_indices(self):
        model, feeds = self.lookups()
        artifact = self.compile(model, "--target=x86-64-v3,sm_80", "--ptxas=none")
        want = self.run_model(artifact, feeds)["y"]
        for seed in range(3):
            np.testing.assert_array_equal(self.emulate(artifact, feeds, seed=seed)["y"], want)
        for name, at, value, node in (("i", 7, 9, "lookup"), ("i", 39, -10, "lookup"), ("j", (3, 2), 40, "elements"),
                                      ("j", (39, 5), -2 ** 60, "elements"), ("k", (4, 0), 2 ** 40, "scatter")):
            wrong = {key: array.copy() for key, array in feeds.items()}
            wrong[name][at] = value
            on_cpu = self.run_with(artifact, wrong, INGOT_DEVICE="cpu")
            on_gpu = self.run_with(artifact, wrong, INGOT_DEVICE="emulated", INGOT_EMULATED_DRIVER=EMULATOR)
            self.assert_one_line(on_cpu, f"node '{node}'", "an index is outside of")
            self.assertEqual((on_gpu.returncode, on_gpu.stderr), (on_cpu.returncode, on_cpu.stderr))

    def test_the_first_failure(self):
        model, feeds = self.lookups()
        artifact = self.compile(model, "--target=sm_80", "--ptxas=none")
        feeds["i"][3], feeds["j"][2, 2], feeds["k"][0, 0] = 100, 100, 100
        done = self.run_with(artifact, feeds, INGOT_DEVICE="emulated", INGOT_EMULATED_DRIVER=EMULATOR)
        self.assert_one_line(done, "node 'lookup'")

    def test_no_waits(self):
        """Lookups by indices of the input run without the host."""
        nodes = [helper.make_node("Gather", ["w", "i"], ["g"], name="lookup"),
                 helper.make_node("Softmax", ["g"], ["y"], name="softmax")]
        model = make_model(nodes, [("i", [40], TensorProto.INT64)], [("y", [40, 6])],
                           {"w": np.ones((9, 6), np.float32)})
        self.compile(model, "--target=cuda", "--cuda-fallback=error")
