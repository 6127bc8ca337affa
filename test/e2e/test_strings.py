# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of strings: as inputs, inside of models, and as outputs, against ONNX Runtime."""
import json
import subprocess

import numpy as np

from support import Case, TensorProto, helper, make_model, tool

STRING, INT64, BOOL = TensorProto.STRING, TensorProto.INT64, TensorProto.BOOL
COLORS = ["red", "green", "blåu", "", "a rather long name for a color", "0"]


def ml(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs, outputs, domain="ai.onnx.ml", **attributes)


def string_model(nodes, inputs, outputs, strings=(), initializers=(), opset=17):
    """Makes a model; `strings` are initializers {name: list of strings}."""
    made = make_model(nodes, inputs, outputs, initializers, opset)
    made.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    for name, values in dict(strings).items():
        shape = np.shape(values)
        flat = [text.encode() for text in np.ravel(np.array(values, object))]
        made.graph.initializer.append(helper.make_tensor(name, STRING, shape, flat))
    return made


def draw(shape, words=COLORS + ["unknown", "unknown too"], seed=0):
    return np.random.default_rng(seed).choice(words, shape).astype(object)


class Strings(Case):
    def run_model(self, artifact, inputs, *options):
        """Runs the model. NumPy pickles objects, so strings have a separate type."""
        plain = {name: value.astype(str) if value.dtype == object else value for name, value in inputs.items()}
        return super().run_model(artifact, plain, *options)

    def check(self, model, *inputs, options=()):
        artifact = self.compile(model, *options)
        for given in inputs:
            self.assert_agrees(model, artifact, given)
        return artifact

    def columns_model(self, zeros=1):
        """The form of scikit-learn's pipelines of categorical columns."""
        nodes = [helper.make_node("Gather", ["x", "first"], ["color"], axis=1),
                 helper.make_node("Gather", ["x", "second"], ["size"], axis=1),
                 ml("OneHotEncoder", ["color"], ["colors"], cats_strings=COLORS[:4], zeros=zeros, name="encode"),
                 ml("OneHotEncoder", ["size"], ["sizes"], cats_strings=["s", "m", "l"], zeros=zeros),
                 helper.make_node("Concat", ["colors", "sizes"], ["y"], axis=1)]
        return string_model(nodes, [("x", ["n", 2], STRING)], [("y", ["n", 7])],
                            initializers={"first": np.int64(0), "second": np.int64(1)})

    def columns(self, n, seed=0):
        return np.stack([draw(n, seed=seed), draw(n, ["s", "m", "l", "xl"], seed)], axis=1)

    def test_columns(self):
        self.check(self.columns_model(), *({"x": self.columns(n, n)} for n in (1, 3, 100, 1000)))

    def test_a_category_that_is_missing(self):
        """With zeros=0, an element that is in no category ends the run."""
        artifact = self.compile(self.columns_model(zeros=0))
        np.save(self.path("x.npy"), np.array([["red", "s"], ["green", "l"]]))
        done = tool("ingot", "run", artifact, "--input", self.path("x.npy"))
        self.assertEqual(done.returncode, 0, done.stderr)
        np.save(self.path("x.npy"), np.array([["red", "s"], ["green", "xxl"]]))
        done = tool("ingot", "run", artifact, "--input", self.path("x.npy"))
        self.assert_one_line(done, "X has an element that is in none of the categories")

    def test_labels(self):
        """LabelEncoder from strings to numbers, to strings and back, for static and dynamic sizes."""
        keys = COLORS + ["red"]
        nodes = [ml("LabelEncoder", ["x"], ["i"], keys_strings=keys, values_int64s=range(7), default_int64=-7),
                 ml("LabelEncoder", ["x"], ["f"], keys_strings=keys, values_floats=np.arange(7) / 2, default_float=0.25),
                 ml("LabelEncoder", ["x"], ["s"], keys_strings=keys, values_strings=keys[1:] + ["last"]),
                 ml("LabelEncoder", ["i"], ["t"], keys_int64s=range(7), values_strings=keys, default_string="none")]
        for shape in ([None, 3], [4, 3]):
            outputs = [("i", shape, INT64), ("f", shape), ("s", shape, STRING), ("t", shape, STRING)]
            self.check(string_model(nodes, [("x", shape, STRING)], outputs), {"x": draw((4, 3))}, {"x": draw((4, 3), seed=1)})

    def test_equal_categories(self):
        """For two equal categories the last one counts."""
        nodes = [ml("OneHotEncoder", ["x"], ["y"], cats_strings=["red", "red", "green", "blåu"]),
                 ml("CategoryMapper", ["x"], ["i"], cats_strings=["red", "red", "green"], cats_int64s=[1, 2, 2]),
                 ml("CategoryMapper", ["i"], ["t"], cats_strings=["red", "green", "blåu"], cats_int64s=[1, 2, 2]),
                 ml("OneHotEncoder", ["i"], ["z"], cats_int64s=[2, 1, 2])]
        outputs = [("y", [8, 4]), ("i", [8], INT64), ("t", [8], STRING), ("z", [8, 3])]
        self.check(string_model(nodes, [("x", [8], STRING)], outputs), {"x": draw(8)})

    def test_first_label_encoder(self):
        """LabelEncoder of version 1 has a list of classes. The number of a class is its index."""
        nodes = [ml("LabelEncoder", ["x"], ["i"], classes_strings=COLORS, default_int64=-3, name="in"),
                 ml("LabelEncoder", ["i"], ["t"], classes_strings=COLORS[1:], default_string="none")]
        made = string_model(nodes, [("x", ["n"], STRING)], [("i", ["n"], INT64), ("t", ["n"], STRING)])
        next(o for o in made.opset_import if o.domain == "ai.onnx.ml").version = 1
        self.check(made, {"x": draw(8)}, {"x": draw(8, seed=1)})

    def test_equal(self):
        """Two strings that the model does not know are equal if their bytes are."""
        nodes = [helper.make_node("Equal", ["x", "y"], ["xy"]), helper.make_node("Equal", ["x", "c"], ["xc"])]
        made = string_model(nodes, [("x", ["n", 5], STRING), ("y", [5], STRING)],
                            [("xy", ["n", 5], BOOL), ("xc", ["n", 5], BOOL)], {"c": ["red"]}, opset=19)
        words = ["red", "redd", "re", "Red", "red ", "åå"]
        self.check(made, {"x": draw((8, 5), words), "y": draw(5, words, 3)})

    def test_moved(self):
        """Ops that move elements also move strings."""
        nodes = [helper.make_node("Transpose", ["x"], ["a"], perm=[1, 0]),
                 helper.make_node("Where", ["m", "a", "w"], ["b"]),
                 helper.make_node("Concat", ["b", "more"], ["c"], axis=1),
                 helper.make_node("Slice", ["c", "starts", "ends"], ["y"]),
                 helper.make_node("Unsqueeze", ["y", "axes"], ["d"]),
                 helper.make_node("Expand", ["d", "sizes"], ["z"])]
        for n in ("n", 6):
            made = string_model(nodes, [("x", [n, 2], STRING), ("m", [2, n], BOOL)],
                                [("y", [2, None], STRING), ("z", [3, 2, None], STRING)],
                                {"w": ["other"], "more": [["p", ""], ["q", "red"]]},
                                {"starts": np.array([0, 1]), "ends": np.array([2, 100]), "axes": np.array([0]),
                                 "sizes": np.array([3, 1, 1])})
            self.check(made, {"x": draw((6, 2)), "m": np.random.default_rng(0).integers(0, 2, (2, 6)).astype(bool)})

    def test_branches(self):
        """A branch returns strings, too."""
        branch = lambda name, value: helper.make_graph(
            [helper.make_node("Constant", [], [name], value=helper.make_tensor("v", STRING, [2], value))], name, [],
            [helper.make_tensor_value_info(name, STRING, [2])])
        nodes = [helper.make_node("If", ["c"], ["s"], then_branch=branch("t", ["yes", "red"]),
                                  else_branch=branch("e", ["no", "blue"])),
                 helper.make_node("Concat", ["s", "x"], ["y"], axis=0)]
        made = string_model(nodes, [("c", [], BOOL), ("x", ["n"], STRING)], [("y", None, STRING)])
        self.check(made, *({"c": np.array(c), "x": draw(3)} for c in (True, False)))

    def test_ngrams(self):
        pool = ["red", "green", "0", "red", "green", "", "red"]
        for mode, shape in (("TF", ["n", 6]), ("TFIDF", [6])):
            node = helper.make_node("TfIdfVectorizer", ["x"], ["y"], mode=mode, min_gram_length=1, max_gram_length=2,
                                    max_skip_count=1, pool_strings=pool, ngram_counts=[0, 3], ngram_indexes=range(5),
                                    weights=np.arange(1, 6) / 4)
            made = string_model([node], [("x", shape, STRING)], [("y", None)])
            self.check(made, {"x": draw([5, 6][-len(shape):], ["red", "green", "0", "", "other"])})

    def test_label_inside(self):
        """Looks up a classifier's label."""
        nodes = [ml("LinearClassifier", ["x"], ["l", "p"], classlabels_strings=["cat", "dog", "bird"],
                    coefficients=np.arange(6) - 2.5, intercepts=[0.0, 0.5, -0.5]),
                 ml("LabelEncoder", ["l"], ["y"], keys_strings=["bird", "cat"], values_strings=["wings", "paws"],
                    default_string="?")]
        made = string_model(nodes, [("x", ["n", 2])], [("y", ["n"], STRING)])
        self.check(made, {"x": np.random.default_rng(0).standard_normal((9, 2)).astype(np.float32)})

    def test_infer(self):
        """Sizes and memory are known without a run, also for fixed sizes."""
        artifact = self.compile(self.columns_model())
        told = tool("ingot", "inspect", artifact, "--shape", "x=10x2")
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn("10x7", told.stdout)

    def test_levels_and_profiles(self):
        """Code for several levels, and bodies for usual sizes, share one list of strings."""
        made = string_model([ml("LabelEncoder", ["x"], ["y"], keys_strings=COLORS, values_strings=COLORS[::-1])],
                            [("x", ["n"], STRING)], [("y", ["n"], STRING)])
        self.check(made, {"x": draw(8)}, {"x": draw(5)},
                   options=["--target", "x86-64-v2,x86-64-v3", "--shape", "x=1:8:100"])

    def test_many_inputs(self):
        """A program that loads the artifact without libingot sees strings as indices."""
        names = [f"x{i}" for i in range(300)]
        made = string_model([helper.make_node("Concat", names, ["y"], axis=0)], [(n, [2], STRING) for n in names],
                            [("y", [600], STRING)])
        words = draw((300, 2), [f"word {i}" for i in range(50)])
        self.check(made, {name: words[i] for i, name in enumerate(names)})

    def test_text_file(self):
        """Each line is a string."""
        made = string_model([ml("LabelEncoder", ["x"], ["y"], keys_strings=["one", "two", ""], values_int64s=[1, 2, 0])],
                            [("x", ["n", 2], STRING)], [("y", ["n", 2], INT64)])
        artifact = self.compile(made)
        with open(self.path("x.txt"), "w") as f:
            f.write("two\none\n\nthree\none\ntwo")
        done = tool("ingot", "run", artifact, "--input", self.path("x.txt"), "--output-dir", self.path("out"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(np.load(self.path("out/y.npy")).tolist(), [[2, 1], [0, -1], [1, 2]])
        with open(self.path("windows.txt"), "wb") as f:
            f.write(b"\xef\xbb\xbftwo\r\none\r\n\r\nthree\r\n")
        done = tool("ingot", "run", artifact, "--input", self.path("windows.txt"), "--output-dir", self.path("out"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(np.load(self.path("out/y.npy")).tolist(), [[2, 1], [0, -1]])
        with open(self.path("x.txt"), "a") as f:
            f.write("\nodd\n")
        self.assert_one_line(tool("ingot", "run", artifact, "--input", self.path("x.txt")), "7 lines")
        self.assert_one_line(tool("ingot", "run", artifact, "--input", "random"), "cannot be random")
        np.save(self.path("x.npy"), np.zeros((1, 2), np.float32))
        self.assert_one_line(tool("ingot", "run", artifact, "--input", self.path("x.npy")), "cannot take float32")

    def test_bytes(self):
        """Invalid UTF-8 is returned unchanged."""
        made = string_model([helper.make_node("Identity", ["x"], ["y"])], [("x", ["n"], STRING)], [("y", ["n"], STRING)])
        artifact = self.compile(made)
        for given in (np.array([b"\xff\xfe", b"a\0b", b""]), np.array(["𝄞 €", "x"]), np.array(["é", "x"], ">U7"),
                      np.array([["a", "b"]]).T.astype("U3")[:, 0]):
            got = Case.run_model(self, artifact, {"x": given})["y"]
            self.assertEqual(got.tolist(), given.tolist())
            self.assertEqual(got.dtype.kind, given.dtype.kind)

    def test_header(self):
        """A program that links the model: offsets and text, too little room, and invalid offsets."""
        nodes = [ml("LabelEncoder", ["x"], ["y"], keys_strings=["cat", "dog"], values_strings=["meow", "woof"],
                    default_string="?"), helper.make_node("Identity", ["f"], ["g"])]
        self.compile(string_model(nodes, [("x", ["n"], STRING), ("f", [2], STRING)],
                                  [("y", ["n"], STRING), ("g", [2], STRING)]))
        with open(self.path("use.c"), "w") as f:
            f.write(r"""
#include "model.h"
#include <stdio.h>
#include <string.h>
static char error[256];
#define CHECK(what) if (!(what)) return fprintf(stderr, "line %d: %s\n", __LINE__, error), 1
int main(void) {
  model *m = model_create(NULL, 1, error, sizeof error);
  CHECK(m);
  const char text[] = "dogcowcat", pair[] = "ab";
  int64_t offsets[] = {0, 3, 6, 9}, both[] = {0, 1, 2}, n = 3, dims[1], out[4], same[3];
  char sounds[9], copy[2];
  uint64_t used = 0, copied = 0;
  CHECK(model_run(m, offsets, text, 9, &n, both, pair, 2, out, sounds, 9, &used, dims, sizeof out, same, copy, 2,
                  &copied, error, sizeof error) == 0);
  CHECK(dims[0] == 3 && used == 9 && copied == 2 && !memcmp(sounds, "woof?meow", 9) && !memcmp(copy, "ab", 2));
  CHECK(out[0] == 0 && out[1] == 4 && out[2] == 5 && out[3] == 9 && same[2] == 2);
  used = 0;
  CHECK(model_run(m, offsets, text, 9, &n, both, pair, 2, out, sounds, 8, &used, dims, sizeof out, same, copy, 2,
                  NULL, error, sizeof error) == 2 && used == 9);
  CHECK(model_run(m, offsets, text, 9, &n, both, pair, 2, out, sounds, 9, NULL, dims, 24, same, copy, 2, NULL, error,
                  sizeof error) == 2);
  offsets[2] = 10;
  CHECK(model_run(m, offsets, text, 9, &n, both, pair, 2, out, sounds, 9, NULL, dims, sizeof out, same, copy, 2, NULL,
                  error, sizeof error) == 1);
  CHECK(strstr(error, "input 'x': string 1 goes from 3 to 10"));
  offsets[2] = 6;
  CHECK(model_run(m, offsets, NULL, 9, &n, both, pair, 2, out, sounds, 9, NULL, dims, sizeof out, same, copy, 2, NULL,
                  error, sizeof error) == 1);
  CHECK(strstr(error, "input 'x' has null text"));
  model_destroy(m);
  return 0;
}
""")
        built = subprocess.run(["cc", "-std=c11", "-Wall", "-Werror", "use.c", "./model.so", "-Wl,-rpath,$ORIGIN", "-o",
                                "use"], cwd=self.dir, capture_output=True, text=True)
        self.assertEqual(built.returncode, 0, built.stderr)
        done = subprocess.run([self.path("use")], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_inspect(self):
        artifact = self.compile(self.columns_model())
        told = json.loads(tool("ingot", "inspect", artifact, "--json").stdout)
        self.assertEqual(told["inputs"][0]["dtype"], "string")

    def test_refuses(self):
        refuse = lambda node, **more: self.assert_refuses(
            string_model([node], [("x", ["n"], STRING)], [("y", None, more.get("type", STRING))]), *more["words"])
        refuse(helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT), type=TensorProto.FLOAT,
               words=["Cast", "numbers from strings"])
        refuse(helper.make_node("Unique", ["x"], ["y"]), words=["Unique", "of strings"])
        refuse(helper.make_node("StringNormalizer", ["x"], ["y"], case_change_action="LOWER"),
               words=["StringNormalizer", "not supported"])
