# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batches of pictures, which go through layers a few pictures at a time."""
import json
import subprocess

from support import Case, NodeByNode, TensorProto, helper, make_model, np, tool

SIDE = 48

# Runs one batch on 1, 2 and 3 threads, then layer by layer with a profile, and compares the bytes of all outputs.
# Prints how often the profile has seen each layer, and the total number of operations.
PROGRAM = r"""
#include <ingot/ingot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const ingot_error *error) {
  fprintf(stderr, "%s\n", error->message);
  return 1;
}

int main(int argc, char **argv) {
  ingot_error error = INGOT_ERROR_INIT;
  ingot_model *model = NULL;
  ingot_profile *profile = NULL;
  if (argc != 6)
    return 1;
  const int64_t pictures = atoi(argv[2]), in_picture = atoi(argv[3]),
                out_picture = atoi(argv[4]), side = atoi(argv[5]);
  int64_t dims[4] = {pictures, 3, side, side}, got[2] = {0, 0};
  float *x = malloc(sizeof(float) * (size_t)(pictures * in_picture + 1));
  float *y[2];
  for (int i = 0; i < 2; ++i)
    y[i] = calloc((size_t)(pictures * out_picture + 1), sizeof(float));
  for (int64_t i = 0; i < pictures * in_picture; ++i)
    x[i] = (float)(i * 7919 % 1009) / 1009 - 0.5f;
  if (ingot_model_load(argv[1], NULL, &model, &error) ||
      ingot_profile_create(model, NULL, &profile, &error))
    return fail(&error);
  for (int turn = 0; turn < 6; ++turn) {
    ingot_context *context = NULL;
    ingot_context_options context_options = INGOT_CONTEXT_OPTIONS_INIT;
    ingot_run_options options = INGOT_RUN_OPTIONS_INIT;
    ingot_input in = ingot_input_make(x, sizeof(float) * (uint64_t)(pictures * in_picture), dims, 4, INGOT_FLOAT);
    ingot_output out = ingot_output_make(y[turn != 0], sizeof(float) * (uint64_t)(pictures * out_picture), got, 2,
                                         INGOT_FLOAT);
    context_options.num_threads = (uint32_t)(turn % 3 + 1);
    if (turn >= 3)
      options.profile = profile;
    if (ingot_context_create(model, &context_options, &context, &error) ||
        ingot_context_run(context, &in, 1, &out, 1, &options, &error))
      return fail(&error);
    if (turn != 0 && memcmp(y[0], y[1], sizeof(float) * (size_t)(pictures * out_picture)))
      return printf("turn %d computes other bits\n", turn), 1;
    memset(y[1], 0, sizeof(float) * (size_t)(pictures * out_picture));
    ingot_context_release(context);
  }
  printf("[");
  for (uint32_t i = 0;; ++i) {
    ingot_profile_times times = INGOT_PROFILE_TIMES_INIT;
    if (ingot_profile_layer_get(profile, i, &times, &error))
      break;
    printf("%s[%llu, %llu]", i ? ", " : "", (unsigned long long)times.runs, (unsigned long long)times.flops);
  }
  printf("]\n");
  return 0;
}
"""


class Network(NodeByNode):
    """Convolutions with the usual ops between them: residual sums, joined branches, gates and pooling."""

    def conv(self, value, channels, kernel=3, group=1, stride=1, act=True):
        weights = self.rng.standard_normal((channels, self.channels // group, kernel, kernel)) \
            * (2 / (self.channels // group * kernel * kernel)) ** 0.5
        self.channels = channels
        value = self.node("Conv", value, self.constant(weights), self.constant(self.rng.standard_normal(channels) * 0.1),
                          group=group, strides=[stride] * 2, pads=[kernel // 2] * 4)
        return self.node("Relu", value) if act else value

    def block(self, value):
        kept, channels = value, self.channels
        value = self.conv(value, channels, group=channels)
        return self.node("Relu", self.node("Add", self.conv(value, channels, kernel=1, act=False), kept))

    def gate(self, value):
        channels = self.channels
        mean = self.node("GlobalAveragePool", value)
        gate = self.node("HardSigmoid", self.conv(mean, channels, kernel=1, act=False))
        return self.node("Mul", value, gate)

    def joined(self, value):
        channels = self.channels
        left = self.conv(value, channels, group=channels)
        right = self.conv(left, channels, kernel=1)
        self.channels = 3 * channels
        return self.conv(self.node("Concat", value, left, right, axis=1), channels, kernel=1)

    def model(self, pictures):
        value = self.conv("x", 32, stride=2)
        value = self.joined(self.block(value))
        value = self.node("MaxPool", self.gate(value), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        value = self.block(self.conv(value, 64))
        value = self.node("Flatten", self.node("GlobalAveragePool", value))
        value = self.node("Gemm", value, self.constant(self.rng.standard_normal((64, 10)) * 0.1),
                          self.constant(np.zeros(10)))
        self.nodes.append(helper.make_node("Softmax", [value], ["y"], name="end"))
        return make_model(self.nodes, [("x", [pictures, 3, SIDE, SIDE])], [("y", [pictures, 10])], self.constants)


class Batches(Case):
    def compiled(self, pictures, *options):
        return self.compile(Network(7, 3).model(pictures), *options, name=f"model_{pictures}")

    def check(self, artifact, pictures):
        """All numbers of threads, and a run layer by layer, give equal bits. Returns the contents of the profile."""
        done = subprocess.run([self.path("use"), artifact, str(pictures), str(3 * SIDE * SIDE), "10", str(SIDE)],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return json.loads(done.stdout)

    def loops(self, artifact_of, *options):
        """Returns the number of chains of layers in a model."""
        source = self.save(Network(7, 3).model(artifact_of))
        done = tool("ingot", "compile", source, "-o", self.path("m.mlir"), "--emit=mlir-memory", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("m.mlir")) as f:
            return f.read().count("ingot.chunk")

    def test_open_batch(self):
        self.build_program(PROGRAM)
        self.assertGreater(self.loops("n"), 0)
        artifact = self.compiled("n")
        layers = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)["layers"]
        for pictures in range(10):
            with self.subTest(pictures):
                seen = self.check(artifact, pictures)
                self.assertEqual([runs for runs, _ in seen], [3] * len(layers))

    def test_known_batch(self):
        self.build_program(PROGRAM)
        free = self.compiled("n")
        for pictures in (1, 2, 3, 8, 9):
            with self.subTest(pictures):
                self.assertEqual(self.loops(pictures) > 0, pictures > 1)
                artifact = self.compiled(pictures)
                layers = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)["layers"]
                seen = self.check(artifact, pictures)
                self.assertEqual([runs for runs, _ in seen], [3] * len(layers))
                self.assertEqual(sum(flops for _, flops in seen), sum(flops for _, flops in self.check(free, pictures)))

    def test_as_onnxruntime(self):
        for size in ("n", 5):
            model = Network(7, 3).model(size)
            artifact = self.compile(model, name=f"peer_{size}")
            x = np.random.default_rng(1).standard_normal((5, 3, SIDE, SIDE)).astype(np.float32)
            self.assert_agrees(model, artifact, {"x": x})

    def test_bytes(self):
        """A model in bytes also gives equal bits for each number of threads."""
        self.build_program(PROGRAM)
        for precision in ("int8-dynamic", "bf16"):
            with self.subTest(precision):
                self.check(self.compiled("n", f"--precision={precision}"), 5)
