"""Tests programs that link models, through the functions of their header, and files that are too large for 32 bits."""
import hashlib
import json
import subprocess

import families

from support import Case, helper, make_model, np, onnx, tool, TensorProto

# The beginning of every program here.
PRELUDE = """#define _GNU_SOURCE
#include "model.h"
#include <dirent.h>
#include <fenv.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char error[256];
static void check(int wrong, const char *what) {
  if (wrong) {
    fprintf(stderr, "%s: %s\\n", what, error);
    exit(1);
  }
}
"""


class Linked(Case):
    """C programs that only know the model and its header."""

    def build_and_run(self, source, *arguments):
        with open(self.path("use.c"), "w") as f:
            f.write(PRELUDE + source)
        built = subprocess.run(["cc", "-O1", "-std=gnu11", "-Wall", "-Werror", "use.c", "./model.so",
                                "-Wl,-rpath,$ORIGIN", "-lm", "-o", "use"], cwd=self.dir, capture_output=True, text=True)
        self.assertEqual(built.returncode, 0, built.stderr)
        done = subprocess.run([self.path("use"), *arguments], cwd="/", capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_run_that_stops_leaks_nothing(self):
        """The run allocates a megabyte for an output of dynamic size, then finds an invalid index."""
        nodes = [helper.make_node("Add", ["t", "t"], ["sum"], name="add"),
                 helper.make_node("Gather", ["sum", "i"], ["picked"], name="look"),
                 helper.make_node("Mul", ["picked", "picked"], ["y"], name="mul")]
        self.compile(make_model(nodes, [("t", ["n"]), ("i", ["m"], TensorProto.INT64)], [("y", ["m"])]))
        self.build_and_run("""
int main(void) {
  enum { N = 1 << 18 };
  model *m = model_create(NULL, 1, error, sizeof error);
  check(!m, "create");
  float *t = calloc(N, sizeof *t), *y = calloc(N, sizeof *y);
  int64_t *i = calloc(N, sizeof *i), n = N, dims[1];
  size_t before = 0;
  for (int k = 0; k < 100; ++k) {
    i[N - 1] = k % 2 ? N : N - 1; /* every other run stops */
    int32_t status = model_run(m, t, &n, i, &n, y, dims, N * sizeof *y, error, sizeof error);
    check(status != (k % 2 ? 9 : 0), "run");
    check(k % 2 && !strstr(error, "look"), "message");
    if (k == 4)
      before = mallinfo2().uordblks + mallinfo2().hblkhd;
  }
  size_t grown = mallinfo2().uordblks + mallinfo2().hblkhd - before;
  check(grown > 4096, "memory grows");
  model_destroy(m);
  return 0;
}
""")

    def test_threads(self):
        """`model_create` starts the requested number of threads, `model_destroy` ends them. Results are bit-equal."""
        self.compile(families.ALL["resnet"]()[0])
        info = json.loads(tool("ingot", "inspect", "--json", self.path("model.so")).stdout)
        size = lambda tensor: int(np.prod(tensor["shape"]))
        self.build_and_run("""
enum { IN = %d, OUT = %d };
static float in[IN], first[OUT], out[OUT];
static int threads(void) {
  int count = 0;
  DIR *folder = opendir("/proc/self/task");
  while (readdir(folder))
    ++count;
  closedir(folder);
  return count - 2;
}
int main(void) {
  for (int i = 0; i < IN; ++i)
    in[i] = (float)(i %% 255) / 255 - 0.5f;
  for (int wanted = 1; wanted <= 4; ++wanted) {
    model *m = model_create(NULL, wanted, error, sizeof error);
    check(!m, "create");
    for (int k = 0; k < 20; ++k) {
      memset(out, 0, sizeof out);
      check(model_run(m, in, out, error, sizeof error), "run");
      if (wanted == 1)
        memcpy(first, out, sizeof out);
      check(memcmp(first, out, sizeof out), "other bits");
    }
    check(threads() != wanted, "number of threads");
    model_destroy(m);
    for (int i = 0; threads() != 1 && i < 1000; ++i)
      ;
    check(threads() != 1, "threads are left");
  }
  return 0;
}
""" % (size(info["inputs"][0]), size(info["outputs"][0])))

    def test_floating_point_state_of_the_caller(self):
        """The caller's rounding, traps and denormal mode change no bit, on one thread or on two."""
        self.compile(families.ALL["bert"]()[0])
        info = json.loads(tool("ingot", "inspect", "--json", self.path("model.so")).stdout)
        integers = [t for t in info["inputs"] if t["dtype"] == "int64"]
        self.assertEqual(len(integers), len(info["inputs"]), "the program below gives integers")
        inputs = ", ".join(f"in{i}" for i in range(len(info["inputs"])))
        declared = "".join(f"static int64_t in{i}[{int(np.prod(t['shape']))}];\n" for i, t in enumerate(info["inputs"]))
        filled = "".join(f"  for (int k = 0; k < {int(np.prod(t['shape']))}; ++k) in{i}[k] = "
                         f"{'k % 5' if i == 0 else '1'};\n" for i, t in enumerate(info["inputs"]))
        outputs = ", ".join(f"out[{i}]" for i in range(len(info["outputs"])))
        largest = max(int(np.prod(t["shape"])) for t in info["outputs"])
        self.build_and_run(f"""
#include <xmmintrin.h>
enum {{ OUTPUTS = {len(info["outputs"])}, LARGEST = {largest} }};
{declared}static float first[OUTPUTS][LARGEST], out[OUTPUTS][LARGEST];
int main(void) {{
{filled}
  for (int threads = 1; threads <= 2; ++threads) {{
    for (int mode = 0; mode < 64; ++mode) {{
      fesetround((const int[]){{FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO}}[mode % 4]);
      _mm_setcsr((_mm_getcsr() & ~0x8040u) | (mode & 4 ? 0x8000 : 0) | (mode & 8 ? 0x40 : 0) | (mode & 32 ? 0x3d : 0));
      if (mode & 16 && !(mode & 32))
        feenableexcept(FE_ALL_EXCEPT);
      const unsigned before = _mm_getcsr();
      /* Its threads start in this mode. */
      model *m = model_create(NULL, threads, error, sizeof error);
      check(!m, "create");
      for (int k = 0; k < 3; ++k)
        check(model_run(m, {inputs}, {outputs}, error, sizeof error), "run");
      check(_mm_getcsr() != before, "the caller's state changed");
      fedisableexcept(FE_ALL_EXCEPT);
      if (threads == 1 && mode == 0)
        memcpy(first, out, sizeof out);
      check(memcmp(first, out, sizeof out), "other bits");
      model_destroy(m);
      fesetenv(FE_DFL_ENV);
    }}
  }}
  return 0;
}}
""")

    def test_a_handle_that_two_threads_share(self):
        """Threads share a handle: each run succeeds or reports "busy". Afterwards the handle still works."""
        rng = np.random.default_rng(3)
        w = rng.standard_normal((256, 256)).astype(np.float32)
        nodes = [helper.make_node("MatMul", ["x" if i == 0 else f"h{i}", "w"], [f"h{i + 1}" if i < 3 else "y"])
                 for i in range(4)]
        self.compile(make_model(nodes, [("x", [16, 256])], [("y", [16, 256])], {"w": w}))
        self.build_and_run("""
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
enum { THREADS = 4, N = 16 * 256 };
static float x[THREADS][N], wanted[THREADS][N];
static model *shared;
static atomic_int busy, good;
static void *repeat(void *argument) {
  const int i = (int)(intptr_t)argument;
  const time_t end = time(NULL) + 20;
  /* Until threads have met, and some time more. */
  for (int k = 0; k < 200 || ((busy < 50 || good < 50) && time(NULL) < end); ++k) {
    static _Thread_local float y[N];
    char message[256] = "";
    int32_t status = model_run(shared, x[i], y, message, sizeof message);
    if (status == 10) {
      ++busy;
      check(strcmp(message, "the model is running in another thread; make one handle for each thread"), message);
    } else {
      ++good;
      check(status, message);
      check(memcmp(y, wanted[i], sizeof y), "wrong numbers");
    }
  }
  return NULL;
}
int main(void) {
  shared = model_create(NULL, 2, error, sizeof error);
  check(!shared, "create");
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    for (int k = 0; k < N; ++k)
      x[i][k] = (float)((k * 7 + i) % 13 - 6);
    check(model_run(shared, x[i], wanted[i], error, sizeof error), "run");
  }
  for (int i = 0; i < THREADS; ++i)
    check(pthread_create(&threads[i], NULL, repeat, (void *)(intptr_t)i), "thread");
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
  check(busy < 50 || good < 50, "threads did not meet");
  check(model_run(shared, x[0], wanted[1], error, sizeof error), "run at the end");
  check(memcmp(wanted[0], wanted[1], sizeof wanted[0]), "numbers at the end");
  model_destroy(shared);
  return 0;
}
""")

    def test_separate_weights(self):
        """The size of the mapped weights file is checked."""
        w = np.arange(64, dtype=np.float32).reshape(8, 8)
        artifact = self.compile(make_model([helper.make_node("MatMul", ["x", "w"], ["y"])], [("x", [1, 8])],
                                           [("y", [1, 8])], {"w": w}), "--weights=file")
        self.build_and_run("""
int main(int argc, char **argv) {
  (void)argc;
  static _Alignas(64) char weights[1 << 16];
  FILE *file = fopen(argv[1], "rb");
  check(!file, "open");
  const uint64_t bytes = fread(weights, 1, sizeof weights, file);
  fclose(file);
  float x[8] = {0, 1}, y[8];
  const uint64_t wrong[] = {0, bytes - 1, bytes + 1, UINT64_MAX};
  for (int i = 0; i < 4; ++i) {
    check(model_create(weights, wrong[i], 1, error, sizeof error) != NULL, "accepts a wrong size");
    check(!strstr(error, "truncated or belongs to another model"), error);
  }
  check(model_create(NULL, bytes, 1, error, sizeof error) != NULL, "accepts null");
  check(!strstr(error, "map it and pass its address"), error);
  check(model_create(weights + 1, bytes, 1, error, sizeof error) != NULL, "accepts a wrong alignment");
  model *m = model_create(weights, bytes, 1, error, sizeof error);
  check(!m, "create");
  check(model_run(m, x, y, error, sizeof error), "run");
  for (int i = 0; i < 8; ++i)
    check(y[i] != (float)(8 + i), "numbers");
  model_destroy(m);
  return 0;
}
""", self.weights_of(artifact))

    def test_arrays_that_are_too_short(self):
        """The header states the lengths of arrays, so that the C compiler warns about shorter ones."""
        self.compile(make_model([helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Relu", ["a"], ["b"])],
                                [("x", ["n", 4]), ("a", [4, 4])], [("y", ["n", 4]), ("b", [4, 4])]))
        program = """
#include "model.h"
int main(void) {
  float x[4] = {0}, y[4], a[A] = {0}, b[B];
  int64_t x_dims[X] = {1}, y_dims[Y];
  return model_run(NULL, x, x_dims, a, y, y_dims, sizeof y, b, NULL, 0);
}
"""
        right = {"A": 16, "B": 16, "X": 2, "Y": 2}
        for short in (None, *right):
            with self.subTest(short):
                sizes = {**right, **({short: 1} if short else {})}
                done = subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-x", "c", "-c", "-", "-o", "/dev/null",
                                       *(f"-D{name}={size}" for name, size in sizes.items())],
                                      cwd=self.dir, capture_output=True, text=True, input=program)
                self.assertEqual(done.returncode != 0, bool(short), done.stderr)

    def test_wrong_arguments(self):
        self.compile(make_model([helper.make_node("Relu", ["x"], ["y"])], [("x", ["n", 4])], [("y", ["n", 4])]))
        self.build_and_run("""
static _Alignas(64) float x[16], y[16];
static void refuses(int32_t status, const char *message) {
  check(status != 1, "status");
  check(strcmp(error, message), message);
}
int main(void) {
  int64_t right[] = {2, 4}, negative[] = {-2, 4}, wrong[] = {2, 5}, huge[] = {INT64_MAX / 4, 4}, dims[2];
  model *m = model_create(NULL, 1, error, sizeof error);
  check(!m, "create");
  check(model_run(m, x, right, y, dims, sizeof y, error, sizeof error), "run");
  refuses(model_run(NULL, x, right, y, dims, sizeof y, error, sizeof error), "the model is null");
  refuses(model_run(m, NULL, right, y, dims, sizeof y, error, sizeof error), "input 'x' is null");
  refuses(model_run(m, x, NULL, y, dims, sizeof y, error, sizeof error), "input 'x' has no dims");
  refuses(model_run(m, x, negative, y, dims, sizeof y, error, sizeof error),
          "input 'x' has dims that do not fit the model");
  refuses(model_run(m, x, wrong, y, dims, sizeof y, error, sizeof error),
          "input 'x' has dims that do not fit the model");
  refuses(model_run(m, x, huge, y, dims, sizeof y, error, sizeof error), "input 'x' is impossibly large");
  refuses(model_run(m, (float *)((char *)x + 2), right, y, dims, sizeof y, error, sizeof error),
          "input 'x' is not aligned to its element type");
  refuses(model_run(m, x, right, NULL, dims, sizeof y, error, sizeof error), "output 'y' is null");
  refuses(model_run(m, x, right, y, NULL, sizeof y, error, sizeof error), "output 'y' has no dims");
  check(model_run(m, x, right, y, dims, 4, error, sizeof error) != 2, "too small");
  check(dims[0] != 2 || dims[1] != 4, "dims");
  check(model_run(m, NULL, right, y, dims, sizeof y, NULL, 0) != 1, "without a message");
  model_destroy(m);
  model_destroy(NULL);
  return 0;
}
""")


class Large(Case):
    """Weights in a separate file, with lengths that exceed 32 bits."""

    def test_weights_of_more_than_2_to_the_32_bits(self):
        """The file is sparse, and the model looks up few elements, so that little of it is read."""
        rows = (1 << 29) // 256 + 3
        tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[rows, 64],
                             data_location=TensorProto.EXTERNAL)
        for key, value in (("location", "w.bin"), ("length", str(rows * 256))):
            tensor.external_data.add(key=key, value=value)
        model = make_model([helper.make_node("Gather", ["w", "i"], ["y"])], [("i", [2], TensorProto.INT64)],
                           [("y", [2, 64])])
        model.graph.initializer.append(tensor)
        last = np.arange(64, dtype=np.float32)
        with open(self.path("w.bin"), "wb") as f:
            f.truncate(rows * 256)
            f.seek((rows - 1) * 256)
            f.write(last.tobytes())
        artifact = self.compile(model, "--weights=file")
        info = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)
        hashed = hashlib.sha256()
        with open(self.weights_of(artifact), "rb") as f:
            while piece := f.read(1 << 24):
                hashed.update(piece)
        self.assertEqual(info["weights_sha256"], hashed.hexdigest())
        got = self.run_model(artifact, {"i": np.array([0, rows - 1])})["y"]
        np.testing.assert_array_equal(got, [np.zeros(64), last])
