"""Tests libraries that are overwritten while a program has them loaded, as `cp new.so old.so` does."""
import os
import subprocess

from support import Case, helper, make_model, np

# usage: use MODEL OTHER UNRELATED: loads MODEL, copies OTHER over its file, and continues.
PROGRAM = """#include <dlfcn.h>
#include <ingot/ingot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ingot_error error = INGOT_ERROR_INIT;
static void check(int wrong, const char *what) {
  if (wrong) {
    fprintf(stderr, "%s: %s\\n", what, error.message);
    exit(1);
  }
}

static ingot_model *load(const char *path) {
  ingot_model *model = NULL;
  check(ingot_model_load(path, NULL, &model, &error), path);
  return model;
}

/* Runs a model of four elements. */
static void run(ingot_model *model, float y[4]) {
  const float x[4] = {-2, -1, 0, 1};
  ingot_context *context = NULL;
  ingot_input in = ingot_input_make(x, sizeof x, NULL, 0, INGOT_FLOAT);
  ingot_output out = ingot_output_make(y, 4 * sizeof *y, NULL, 0, INGOT_FLOAT);
  check(ingot_context_create(model, NULL, &context, &error), "context");
  check(ingot_context_run(context, &in, 1, &out, 1, NULL, &error), "run");
  ingot_context_release(context);
}

static void overwrite(const char *to, const char *from) {
  static char bytes[1 << 20];
  FILE *in = fopen(from, "rb");
  check(!in, from);
  const size_t size = fread(bytes, 1, sizeof bytes, in);
  fclose(in);
  FILE *out = fopen(to, "wb"); /* the file is empty for a while */
  check(!out, to);
  fwrite(bytes, 1, size, out);
  fclose(out);
}

int main(int argc, char **argv) {
  float before[4], after[4], other[4];
  check(argc != 4, "usage");
  ingot_model *model = load(argv[1]);
  run(model, before);
  overwrite(argv[1], argv[2]);
  /* The dynamic linker looks at all libraries. */
  ingot_model *unrelated = load(argv[3]);
  run(unrelated, other);
  check(!dlopen("libutil.so.1", RTLD_NOW) && !dlopen("libm.so.6", RTLD_NOW), "dlopen");
  run(model, after);
  check(memcmp(before, after, sizeof before), "other numbers");
  ingot_model *again = NULL;
  check(ingot_model_load(argv[1], NULL, &again, &error) != INGOT_BAD_ARTIFACT, "loads a file that changed");
  ingot_model_release(model);
  ingot_model_release(unrelated);
  if (argv[2][0] != '/') /* not a model */
    return 0;
  check(!strstr(error.message, "was overwritten while a model is loaded from it"), error.message);
  model = load(argv[1]);
  run(model, after);
  check(!memcmp(before, after, sizeof before), "the new file has other numbers");
  ingot_model_release(model);
  return 0;
}
"""


class Overwritten(Case):
    def setUp(self):
        super().setUp()
        self.build_program(PROGRAM)

    def model(self, kind, name, count=1):
        """A model without weights, with `count` layers."""
        nodes = [helper.make_node(kind, ["x" if i == 0 else f"h{i}"], [f"h{i + 1}" if i < count - 1 else "y"])
                 for i in range(count)]
        return self.compile(make_model(nodes, [("x", [4])], [("y", [4])], name=name), name=name)

    def use(self, *arguments):
        done = subprocess.run([self.path("use"), *arguments], cwd=self.dir, capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_by_another_model(self):
        for count in (1, 12):
            with self.subTest(layers=count):
                self.use(self.model("Relu", "a"), self.model("Tanh", "b", count), self.model("Sigmoid", "c"))

    def test_by_something_shorter(self):
        for size in (0, 1, 5000):
            with self.subTest(size):
                with open(self.path("text"), "wb") as f:
                    f.write(b"x" * size)
                self.use(self.model("Relu", "a"), "text", self.model("Sigmoid", "c"))

    def test_weights_stay_shared(self):
        """Only code and tables are copied: no part of the 4 MB of weights is in private memory."""
        w = np.random.default_rng(1).standard_normal((1024, 1024)).astype(np.float32)
        artifact = self.compile(make_model([helper.make_node("MatMul", ["x", "w"], ["y"])], [("x", [1, 1024])],
                                           [("y", [1, 1024])], {"w": w}))
        self.build_program("""#include <ingot/ingot.h>
#include <stdio.h>
int main(int argc, char **argv) {
  ingot_model_options options = INGOT_MODEL_OPTIONS_INIT;
  ingot_model *model = NULL;
  ingot_error error = INGOT_ERROR_INIT;
  options.flags = argc > 2 ? INGOT_MODEL_MAP_CODE : 0;
  if (ingot_model_load(argv[1], &options, &model, &error))
    return puts(error.message), 1;
  FILE *maps = fopen("/proc/self/maps", "r");
  for (int c; (c = fgetc(maps)) != EOF;)
    putchar(c);
  fclose(maps);
  ingot_model_release(model);
  return 0;
}
""", "maps")
        for options, code_is_mapped in (([], False), (["map"], True)):
            done = subprocess.run([self.path("maps"), artifact, *options], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout)
            mine = [line.split() for line in done.stdout.splitlines() if line.endswith(os.path.basename(artifact))]
            sizes = [(int(end, 16) - int(begin, 16), row[1]) for row in mine
                     for begin, end in [row[0].split("-")]]
            self.assertTrue(any(size >= 4 << 20 for size, _ in sizes), done.stdout)
            self.assertEqual(any("x" in rights for _, rights in sizes), code_is_mapped, done.stdout)
