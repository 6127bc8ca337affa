"""Tests runs of compiled models that another thread cancels."""
import json
import subprocess

from support import Case, helper, make_model, np, tool

LAYERS = 60

# Runs once to the end, then repeatedly with a cancellation that is requested after a tenth of the run. Prints both
# times.
PROGRAM = r"""
#include <ingot/ingot.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double whole;
static void *cancel(void *cancellation) {
  usleep((useconds_t)(whole * 1e5));
  ingot_cancellation_request(cancellation);
  return NULL;
}

static float x[512 * 512], y[512 * 512], expected[512 * 512];

int main(int argc, char **argv) {
  ingot_error error = INGOT_ERROR_INIT;
  ingot_model *model = NULL;
  ingot_context *context = NULL;
  ingot_context_options context_options = INGOT_CONTEXT_OPTIONS_INIT;
  ingot_run_options options = INGOT_RUN_OPTIONS_INIT;
  ingot_input in = ingot_input_make(x, sizeof x, NULL, 0, INGOT_FLOAT);
  ingot_output out = ingot_output_make(y, sizeof y, NULL, 0, INGOT_FLOAT);
  context_options.num_threads = (uint32_t)atoi(argv[2]);
  for (int i = 0; i < 512 * 512; ++i)
    x[i] = (float)(i % 7) / 7;
  if (argc != 3 || ingot_model_load(argv[1], NULL, &model, &error) ||
      ingot_context_create(model, &context_options, &context, &error))
    return fprintf(stderr, "%s\n", error.message), 1;
  for (int i = 0; i < 3; ++i) {
    double start = now();
    if (ingot_context_run(context, &in, 1, &out, 1, &options, &error))
      return fprintf(stderr, "%s\n", error.message), 1;
    whole = now() - start;
  }
  memcpy(expected, y, sizeof y);
  for (int i = 0; i < 5; ++i) {
    ingot_cancellation *cancellation = NULL;
    pthread_t other;
    if (ingot_cancellation_create(&cancellation, &error) || pthread_create(&other, NULL, cancel, cancellation))
      return 1;
    options.cancellation = cancellation;
    double start = now();
    ingot_status status = ingot_context_run(context, &in, 1, &out, 1, &options, &error);
    double took = now() - start;
    pthread_join(other, NULL);
    printf("{\"status\": %d, \"message\": \"%s\", \"part\": %g}\n", status, error.message, took / whole);
    ingot_cancellation_release(cancellation);
  }
  options.cancellation = NULL;
  if (ingot_context_run(context, &in, 1, &out, 1, &options, &error) || memcmp(expected, y, sizeof y))
    return fprintf(stderr, "the next run is wrong\n"), 1;
  ingot_context_release(context);
  ingot_model_release(model);
  return 0;
}
"""


class Cancelled(Case):
    def setUp(self):
        super().setUp()
        self.build_program(PROGRAM)

    def check(self, *options):
        rng = np.random.default_rng(3)
        nodes = [helper.make_node("MatMul", [f"x{i}", "w"], [f"x{i + 1}"], name=f"m{i}") for i in range(LAYERS)]
        model = make_model(nodes, [("x0", [512, 512])], [(f"x{LAYERS}", [512, 512])],
                           {"w": (rng.standard_normal((512, 512)) / 23).astype(np.float32)})
        self.check_model(model, *options)

    def check_model(self, model, *options):
        artifact = self.compile(model, *options)
        for threads in (1, 2):
            with self.subTest(threads=threads):
                done = subprocess.run([self.path("use"), artifact, str(threads)], capture_output=True, text=True,
                                      timeout=300)
                self.assertEqual(done.returncode, 0, done.stderr)
                runs = [json.loads(line) for line in done.stdout.splitlines()]
                self.assertEqual(len(runs), 5)
                for run in runs:
                    self.assertEqual((run["status"], run["message"]), (11, "the run was cancelled"))
                # The cancellation comes after a tenth of the run, and a layer takes a sixtieth. Other load may delay
                # both.
                self.assertLess(sorted(run["part"] for run in runs)[1], 0.6, runs)

    def test_native_kernels(self):
        self.check("--kernels=native")

    def test_within_a_loop(self):
        """A Loop is one layer; each iteration checks for cancellation."""
        body = helper.make_graph(
            [helper.make_node("Identity", ["c"], ["c2"]), helper.make_node("MatMul", ["s", "w"], ["s2"], name="m")], "body",
            [helper.make_tensor_value_info(*v) for v in (("i", 7, []), ("c", 9, []), ("s", 1, [512, 512]))],
            [helper.make_tensor_value_info(*v) for v in (("c2", 9, []), ("s2", 1, [512, 512]))])
        rng = np.random.default_rng(3)
        self.check_model(make_model([helper.make_node("Loop", ["n", "", "x0"], ["y"], name="loop", body=body)],
                                    [("x0", [512, 512])], [("y", [512, 512])],
                                    {"w": (rng.standard_normal((512, 512)) / 23).astype(np.float32),
                                     "n": np.array(LAYERS * 3, np.int64)}))

    def test_onednn(self):
        artifact = self.compile(make_model([helper.make_node("MatMul", ["x", "w"], ["y"])], [("x", [4, 4])],
                                           [("y", [4, 4])], {"w": np.ones((4, 4), np.float32)}),
                                "--kernels=onednn", name="probe")
        if "onednn" not in json.loads(tool("ingot", "inspect", "--json", artifact).stdout)["libraries"]:
            self.skipTest("built without oneDNN")
        self.check("--kernels=onednn")
