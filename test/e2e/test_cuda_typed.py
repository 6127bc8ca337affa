"""Tests the typed C functions, profiles, strings and copies of models for GPUs, on the emulated GPU."""
import json
import re

from emulated import EMULATED, EMULATOR, environment
from support import Case, TensorProto, helper, make_model, np, relu_model, tool
from test_embedding import Linked
from test_strings import COLORS, Strings, draw, string_model

# Functions of the driver that the programs call.
DRIVER = """
#include <dlfcn.h>
#include <math.h>
typedef unsigned long long address;
static int (*retain)(void **, int), (*push)(void *), (*allocate)(address *, size_t);
static int (*make_stream)(void **, unsigned), (*synchronize)(void *);
static int (*to_gpu)(address, const void *, size_t, void *), (*to_host)(void *, address, size_t, void *);
static void *stream;
static void open_driver(void) {
  void *library = dlopen(getenv("INGOT_EMULATED_DRIVER"), RTLD_NOW), *context;
#define FIND(NAME, SYMBOL) check(!(*(void **)&NAME = dlsym(library, SYMBOL)), SYMBOL)
  FIND(retain, "cuDevicePrimaryCtxRetain");
  FIND(push, "cuCtxPushCurrent_v2");
  FIND(allocate, "cuMemAlloc_v2");
  FIND(make_stream, "cuStreamCreate");
  FIND(synchronize, "cuStreamSynchronize");
  FIND(to_gpu, "cuMemcpyHtoDAsync_v2");
  FIND(to_host, "cuMemcpyDtoHAsync_v2");
  check(retain(&context, 0) || push(context) || make_stream(&stream, 1), "driver");
}
"""


def scaled(shape):
    """y = 2 relu(x), z = -x"""
    nodes = [helper.make_node("Relu", ["x"], ["r"], name="relu"), helper.make_node("Add", ["r", "r"], ["y"], name="add"),
             helper.make_node("Neg", ["x"], ["z"], name="neg")]
    return make_model(nodes, [("x", shape)], [("y", shape), ("z", shape)])


class Typed(Linked):
    """C programs that know only the model's header and the driver."""

    def build_and_run(self, source, *arguments, **variables):
        with environment(INGOT_EMULATED_DRIVER=EMULATOR, **variables):
            return super().build_and_run(source, *arguments)

    def test_buffers_and_streams(self):
        self.compile(scaled([64]), "--target=cuda", "--ptxas=none")
        source = DRIVER + """
enum { N = 64 };
static int is_right(const float *y, const float *z, float from) {
  for (int i = 0; i < N; ++i)
    if (y[i] != 2 * fmaxf(i - from, 0) || z[i] != from - i)
      return 0;
  return 1;
}
int main(void) {
  model *m = model_create_on("emulated", NULL, 1, error, sizeof error);
  check(!m, "create");
  open_driver();
  float x[N], y[N], z[N];
  address gx, gy;
  check(allocate(&gx, sizeof x) || allocate(&gy, sizeof y), "allocate");
  for (int i = 0; i < N; ++i)
    x[i] = i - 7;
  /* Memory of the host, then of both. */
  check(model_run(m, x, y, z, error, sizeof error) || !is_right(y, z, 7), "host");
  for (int i = 0; i < N; ++i)
    x[i] = i - 20;
  check(to_gpu(gx, x, sizeof x, stream) || synchronize(stream), "copy");
  check(model_run(m, (float *)gx, (float *)gy, z, error, sizeof error), "mixed");
  check(to_host(y, gy, sizeof y, stream) || synchronize(stream) || !is_right(y, z, 20), "results of mixed");
  /* The run follows the copy in the stream. */
  float *kept = x;
  for (int i = 0; i < N; ++i)
    kept[i] = i - 33;
  check(to_gpu(gx, kept, sizeof x, stream), "copy");
  check(model_run_async(m, stream, (float *)gx, (float *)gy, z, error, sizeof error), "async");
  check(model_run(m, x, y, z, error, sizeof error) != 10, "busy");
  puts(error);
  check(model_wait(m, error, sizeof error), "wait");
  check(model_wait(m, error, sizeof error), "nothing to wait for");
  check(to_host(y, gy, sizeof y, stream) || synchronize(stream) || !is_right(y, z, 33), "results of async");
  /* Each error is one line, and the next run works. */
  check(model_run(m, (float *)(gx + 4), y, z, error, sizeof error) != 1, "misaligned");
  puts(error);
  check(model_run(m, x, y, z, error, sizeof error) || !is_right(y, z, 33), "after it");
  model_destroy(m);
  return 0;
}
"""
        for seed in range(3):
            printed = self.build_and_run(source, INGOT_EMUGPU=f"seed={seed}")
            self.assertEqual(printed.splitlines(), ["an earlier run of the model is under way; wait for it first",
                                                    "the address for input 0 is not a multiple of 16"])

    def test_devices(self):
        """A device by name, the variable, and the CPU if there is no GPU."""
        source = """
int main(int count, char **names) {
  check(count < 2, "arguments");
  for (int i = 1; i < count; ++i) {
    error[0] = 0;
    model *m = model_create_on(*names[i] ? names[i] : NULL, NULL, 1, error, sizeof error);
    if (m) {
      float x[64], y[64] = {1}, z[64];
      for (int k = 0; k < 64; ++k)
        x[k] = k;
      int status = model_run(m, x, y, z, error, sizeof error);
      int with_stream = model_run_async(m, x, x, y, z, error, sizeof error);
      printf("%s: %d %g, %s\\n", names[i], status, y[5], with_stream ? error : "takes a stream");
    } else {
      printf("%s: %s\\n", names[i], error);
    }
    model_destroy(m);
  }
  return 0;
}
"""
        self.compile(scaled([64]), "--target=x86-64-v3,cuda", "--ptxas=none")
        no_stream = "the model runs on the CPU, which has no streams; pass null"
        foreign = "the stream does not belong to the primary context of CUDA device 0, which the model uses"
        self.assertEqual(self.build_and_run(source, "cpu", "emulated", "gpu").splitlines(),
                         [f"cpu: 0 10, {no_stream}", f"emulated: 0 10, {foreign}",
                          "gpu: the device is 'gpu', but must be cpu, cuda, cuda:N or emulated"])
        for device, end in ("emulated", foreign), ("cpu", no_stream):
            self.assertEqual(self.build_and_run(source, "", INGOT_DEVICE=device), f": 0 10, {end}\n")
        # A GPU that does not fit is replaced by the CPU only if nobody names it.
        self.assertEqual(self.build_and_run(source, "", "emulated", INGOT_EMUGPU="level=75", INGOT_DEVICE=""),
                         f": 0 10, {no_stream}\nemulated: CUDA device 0 is sm_75, but the model has code for sm_80\n")
        self.compile(scaled([64]), "--target=cuda", "--ptxas=none")
        self.assertIn("cpu: 'this model' was compiled for cuda, and holds no code for this CPU",
                      self.build_and_run(source, "cpu"))

    def test_open_sizes(self):
        self.compile(scaled(["n"]), "--target=cuda", "--ptxas=none")
        self.build_and_run(DRIVER + """
int main(void) {
  model *m = model_create(NULL, 1, error, sizeof error);
  check(!m, "create");
  open_driver();
  /* Sizes come again, with tensors elsewhere. */
  static const int64_t sizes[] = {1, 121, 241, 121, 1, 241};
  for (int run = 0; run < 6; ++run) {
    const int64_t n = sizes[run];
    float x[300], y[300], z[300];
    int64_t dims[1], more[1];
    address gx, gy;
    check(allocate(&gx, n * 4) || allocate(&gy, n * 4), "allocate");
    for (int i = 0; i < n; ++i)
      x[i] = i - 9;
    check(to_gpu(gx, x, n * 4, stream), "copy");
    check(model_run_async(m, stream, (float *)gx, &n, (float *)gy, dims, n * 4, z, more, n * 4, error, sizeof error),
          "run");
    check(model_wait(m, error, sizeof error), "wait");
    check(to_host(y, gy, n * 4, stream) || synchronize(stream), "copy back");
    check(dims[0] != n || more[0] != n, "dims");
    for (int i = 0; i < n; ++i)
      check(y[i] != 2 * fmaxf(i - 9, 0) || z[i] != 9 - i, "results");
  }
  model_destroy(m);
  return 0;
}
""", INGOT_DEVICE="emulated")

    def test_header(self):
        """Only models with code for GPUs have the functions. Every header is C and C++."""
        for target, has in ("x86-64-v3", False), ("cuda", True):
            self.compile(scaled([4]), f"--target={target}")
            with open(self.path("model.h")) as f:
                header = f.read()
            for name in ("model_create_on", "model_run_async", "model_wait"):
                self.assertEqual(name in header, has)


class Profile(Case):
    def test_events(self):
        """An event of the emulated GPU is a millisecond later for each launch, so a layer takes one for each of its own.
        """
        artifact = self.compile(relu_model(), "--target=cuda", "--ptxas=none")
        done = tool("ingot", "bench", artifact, "--iterations=2", "--duration=0", "--warm-up=0", "--profile", "--json",
                    env=EMULATED)
        self.assertEqual(done.returncode, 0, done.stderr)
        layers = json.loads(done.stdout)["layers"]
        self.assertEqual([(layer["min_ms"], layer["mean_ms"]) for layer in layers], [(1, 1)] * len(layers))
        self.assertGreater(len(layers), 0)


class Words(Strings):
    """The tests of strings. The CPU looks strings up, and the GPU computes with what stands for them."""
    test_levels_and_profiles = None  # code for CPUs

    def setUp(self):
        super().setUp()
        variables = environment(**EMULATED)
        variables.__enter__()
        self.addCleanup(variables.__exit__, None, None, None)

    def compile(self, model, *options, **names):
        return super().compile(model, "--target=cuda", "--ptxas=none", *options, **names)

    def test_compared(self):
        """Gather is compared with NumPy, because ONNX Runtime loses strings there."""
        nodes = [helper.make_node("Transpose", ["x"], ["t"]), helper.make_node("Equal", ["t", "w"], ["e"]),
                 helper.make_node("Gather", ["t", "i"], ["y"])]
        words = [COLORS[:4]] * 3
        model = string_model(nodes, [("x", [4, 3], TensorProto.STRING)],
                             [("e", [3, 4], TensorProto.BOOL), ("y", [2, 4], TensorProto.STRING)],
                             strings={"w": words}, initializers={"i": np.array([2, 0])}, opset=19)
        artifact = self.compile(model)
        for seed in range(3):
            x = draw([4, 3], seed=seed)
            got = self.run_model(artifact, {"x": x})
            self.assertEqual(got["y"].tolist(), x.T[[2, 0]].tolist())
            self.assertEqual(got["e"].tolist(), (x.T == np.array(words, object)).tolist())


class Copies(Case):
    def test_neighbors_on_the_cpu(self):
        """Ops on the CPU that follow each other wait once, and copy nothing in between."""
        nodes = [helper.make_node("Relu", ["x"], ["r"], name="before"), helper.make_node("Det", ["r"], ["s"], name="one"),
                 helper.make_node("Det", ["s"], ["d"], name="two"),
                 helper.make_node("Det", ["d"], ["y"], name="three")]
        model = make_model(nodes, [("x", [10, 2, 2, 2, 2, 2, 2])], [("y", [10])])
        artifact = self.compile(model, "--target=x86-64-v3,cuda", "--ptxas=none")
        x = np.random.default_rng(0).standard_normal((10, 2, 2, 2, 2, 2, 2)).astype(np.float32)
        log = self.path("log")
        with environment(INGOT_EMUGPU=f"log={log}", **EMULATED):
            got = self.run_model(artifact, {"x": x})["y"]
        want = np.maximum(x, 0).astype(float)
        for _ in range(3):
            want = np.linalg.det(want)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)
        with open(log) as f:
            calls = re.findall("cuMemcpy(?:HtoD|DtoH)|cuStreamSync", f.read())
        # To the GPU: x, the result of each op, and the factors of the last matrices. To the host: what the first op reads,
        # and y. Waits are for the first op, at the end of the run, and when the model is closed.
        counts = {name: sum(name in call for call in calls) for name in ("HtoD", "DtoH", "cuStreamSync")}
        self.assertEqual(counts, {"HtoD": 5, "DtoH": 2, "cuStreamSync": 3})


del Strings, Linked
