// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64, "ai.onnx.ml" = 5 : i64}} {

// The number of results is dynamic.
// CHECK-LABEL: @unique
// CHECK-SAME: -> (tensor<?xi64>, tensor<?xi64>)
// CHECK: scf.for
func.func @unique(%x: tensor<6xi64>) -> (tensor<*xi64>, tensor<*xi64>) {
  %y, %i, %v, %c = onnx.node "Unique"(%x) {sorted = 1 : i64} : (tensor<6xi64>) -> (tensor<*xi64>, tensor<*xi64>, tensor<*xi64>, tensor<*xi64>)
  return %y, %c : tensor<*xi64>, tensor<*xi64>
}

// CHECK-LABEL: @unique_rows
// CHECK-SAME: -> tensor<?x3xf32>
func.func @unique_rows(%x: tensor<4x3xf32>) -> tensor<*xf32> {
  %y = onnx.node "Unique"(%x) {axis = 0 : i64} : (tensor<4x3xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// Two tokens 5 and 6, and one 7: a column per token.
// CHECK-LABEL: @ngrams
// CHECK-SAME: -> tensor<2x2xf32>
// CHECK: linalg.generic
func.func @ngrams(%x: tensor<2x8xi32>) -> tensor<*xf32> {
  %y = onnx.node "TfIdfVectorizer"(%x) {mode = "TF", min_gram_length = 1 : i64, max_gram_length = 2 : i64, max_skip_count = 0 : i64, pool_int64s = array<i64: 7, 5, 6>, ngram_counts = array<i64: 0, 1>, ngram_indexes = array<i64: 0, 1>} : (tensor<2x8xi32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// One tree: the value is 2 if column 0 is at most 1.5, else -2.
// CHECK-LABEL: @ensemble
// CHECK-SAME: -> tensor<3x1xf32>
// CHECK: dense<{{.*}}2.000000e+00{{.*}}>
func.func @ensemble(%x: tensor<3x2xf32>) -> tensor<*xf32> {
  %y = onnx.node "ai.onnx.ml"::"TreeEnsemble"(%x) {nodes_featureids = array<i64: 0>, nodes_splits = dense<1.5> : tensor<1xf32>, nodes_modes = dense<0> : tensor<1xui8>, nodes_truenodeids = array<i64: 0>, nodes_trueleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_falseleafs = array<i64: 1>, leaf_targetids = array<i64: 0, 0>, leaf_weights = dense<[2.0, -2.0]> : tensor<2xf32>, tree_roots = array<i64: 0>, n_targets = 1 : i64} : (tensor<3x2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// Nine trees of one node: a group of eight that are evaluated together. A
// second group is filled up by leaves of value 0.
// CHECK-LABEL: @forest
// CHECK-DAG: dense<{{\[\[}}0, 1, 2, 3, 4, 5, 6, 7], [8, 27, 27, 27, 27, 27, 27, 27]]> : tensor<2x8xi32>
// CHECK: linalg.generic
// CHECK: scf.while
// CHECK-COUNT-8: arith.cmpf ole
// CHECK-NOT: arith.cmpf
// CHECK-COUNT-7: arith.minsi
// CHECK: scf.condition
// CHECK: linalg.generic
// CHECK-COUNT-8: arith.addf
func.func @forest(%x: tensor<3x2xf32>) -> tensor<*xf32> {
  %y = onnx.node "ai.onnx.ml"::"TreeEnsemble"(%x) {nodes_featureids = array<i64: 0, 0, 0, 0, 0, 0, 0, 0, 0>, nodes_splits = dense<1.5> : tensor<9xf32>, nodes_modes = dense<0> : tensor<9xui8>, nodes_truenodeids = array<i64: 0, 2, 4, 6, 8, 10, 12, 14, 16>, nodes_trueleafs = array<i64: 1, 1, 1, 1, 1, 1, 1, 1, 1>, nodes_falsenodeids = array<i64: 1, 3, 5, 7, 9, 11, 13, 15, 17>, nodes_falseleafs = array<i64: 1, 1, 1, 1, 1, 1, 1, 1, 1>, leaf_targetids = array<i64: 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, leaf_weights = dense<0.5> : tensor<18xf32>, tree_roots = array<i64: 0, 1, 2, 3, 4, 5, 6, 7, 8>, n_targets = 1 : i64} : (tensor<3x2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// A tree of depth five, with a leaf at each level. The leaves are rows 5 to 10
// of the table. The walk checks for leaves every two levels.
// CHECK-LABEL: @deep
// CHECK: dense<{{\[\[}}0, 5, 1, 0], [1, 6, 2, 1065353216], [0, 7, 3, 1073741824], [1, 8, 4, 1077936128], [0, 9, 10, 1082130432], [0, 5, 5, 0], [0, 6, 6, 0], [0, 7, 7, 0], [0, 8, 8, 0], [0, 9, 9, 0], [0, 10, 10, 0]]> : tensor<11x4xi32>
// CHECK: scf.while
// CHECK-COUNT-2: arith.cmpf ole
// CHECK-NOT: arith.cmpf
// CHECK: %[[LESS:.*]] = arith.cmpi slt, %[[HERE:.*]], %c5
// CHECK: scf.condition(%[[LESS]]) %[[HERE]] : index
// CHECK: arith.subi %{{.*}}, %c5
func.func @deep(%x: tensor<3x2xf32>) -> tensor<*xf32> {
  %y = onnx.node "ai.onnx.ml"::"TreeEnsembleRegressor"(%x) {nodes_treeids = array<i64: 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, nodes_nodeids = array<i64: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10>, nodes_featureids = array<i64: 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0>, nodes_values = array<f32: 0.0, 0.0, 1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0, 0.0>, nodes_modes = ["BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"], nodes_truenodeids = array<i64: 1, 0, 3, 0, 5, 0, 7, 0, 9, 0, 0>, nodes_falsenodeids = array<i64: 2, 0, 4, 0, 6, 0, 8, 0, 10, 0, 0>, target_treeids = array<i64: 0, 0, 0, 0, 0, 0>, target_nodeids = array<i64: 1, 3, 5, 7, 9, 10>, target_ids = array<i64: 0, 0, 0, 0, 0, 0>, target_weights = array<f32: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>, n_targets = 1 : i64} : (tensor<3x2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// Pairs of classes are columns of one product, votes are columns of another.
// CHECK-LABEL: @machine
// CHECK-SAME: -> (tensor<4xi64>, tensor<4x3xf32>)
// CHECK: nn.reduce {{.*}}sum_square
// CHECK: %[[S:.*]] = nn.matmul {{.*}} -> tensor<4x3xf32>
// CHECK: nn.greater %[[S]]
// CHECK: nn.arg_reduce
func.func @machine(%x: tensor<4x2xf32>) -> (tensor<*xi64>, tensor<*xf32>) {
  %l, %y = onnx.node "ai.onnx.ml"::"SVMClassifier"(%x) {classlabels_ints = array<i64: 3, 4, 5>, vectors_per_class = array<i64: 1, 1, 1>, support_vectors = array<f32: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>, coefficients = array<f32: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>, rho = array<f32: 0.1, 0.2, 0.3>, kernel_type = "RBF", kernel_params = array<f32: 0.5, 0.0, 3.0>} : (tensor<4x2xf32>) -> (tensor<*xi64>, tensor<*xf32>)
  return %l, %y : tensor<*xi64>, tensor<*xf32>
}

// CHECK-LABEL: @fit
// CHECK-NOT: nn.tanh
// CHECK: nn.matmul {{.*}} -> tensor<4x1xf32>
func.func @fit(%x: tensor<4x2xf32>) -> tensor<*xf32> {
  %y = onnx.node "ai.onnx.ml"::"SVMRegressor"(%x) {n_supports = 2 : i64, support_vectors = array<f32: 1.0, 2.0, 3.0, 4.0>, coefficients = array<f32: 1.0, 2.0>, rho = array<f32: 0.1>, kernel_type = "LINEAR"} : (tensor<4x2xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64, "ai.onnx.ml" = 5 : i64}} {
func.func @bad_ngrams(%x: tensor<8xi32>, %f: tensor<8xf32>, %cube: tensor<2x2x2xi32>) {
  // expected-error@+1 {{TfIdfVectorizer (opset 21) is invalid: n-grams of 2 to 1 tokens}}
  %0 = onnx.node "TfIdfVectorizer"(%x) {mode = "TF", min_gram_length = 2 : i64, max_gram_length = 1 : i64, max_skip_count = 0 : i64, pool_int64s = array<i64: 7>, ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 0>} : (tensor<8xi32>) -> tensor<*xf32>
  // expected-error@+1 {{TfIdfVectorizer (opset 21) is invalid: 'max_skip_count' is -1, but must be at least 0}}
  %1 = onnx.node "TfIdfVectorizer"(%x) {mode = "TF", min_gram_length = 1 : i64, max_gram_length = 1 : i64, max_skip_count = -1 : i64, pool_int64s = array<i64: 7>, ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 0>} : (tensor<8xi32>) -> tensor<*xf32>
  // expected-error@+1 {{TfIdfVectorizer (opset 21) is invalid: pool_int64s is missing}}
  %2 = onnx.node "TfIdfVectorizer"(%x) {mode = "TF", min_gram_length = 1 : i64, max_gram_length = 1 : i64, max_skip_count = 0 : i64, pool_strings = ["a"], ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 0>} : (tensor<8xi32>) -> tensor<*xf32>
  // expected-error@+1 {{TfIdfVectorizer (opset 21) is invalid: ngram_counts or ngram_indexes is missing}}
  %3 = onnx.node "TfIdfVectorizer"(%x) {mode = "TF", min_gram_length = 1 : i64, max_gram_length = 1 : i64, max_skip_count = 0 : i64, pool_int64s = array<i64: 7>, ngram_indexes = array<i64: 0>} : (tensor<8xi32>) -> tensor<*xf32>
  // expected-error@+1 {{TfIdfVectorizer (opset 21) is invalid: 'ngram_indexes' is -1 at [0], but must be in [0, 16777215]}}
  %4 = onnx.node "TfIdfVectorizer"(%x) {mode = "TF", min_gram_length = 1 : i64, max_gram_length = 1 : i64, max_skip_count = 0 : i64, pool_int64s = array<i64: 7>, ngram_counts = array<i64: 0>, ngram_indexes = array<i64: -1>} : (tensor<8xi32>) -> tensor<*xf32>
  // expected-error@+1 {{TfIdfVectorizer (opset 21) is not supported: two n-grams that are counted together}}
  %5 = onnx.node "TfIdfVectorizer"(%x) {mode = "TF", min_gram_length = 1 : i64, max_gram_length = 1 : i64, max_skip_count = 0 : i64, pool_int64s = array<i64: 7, 8>, ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 0, 0>} : (tensor<8xi32>) -> tensor<*xf32>
  // expected-error@+1 {{TfIdfVectorizer (opset 21) is not supported: tokens that are not integers}}
  %6 = onnx.node "TfIdfVectorizer"(%f) {mode = "TF", min_gram_length = 1 : i64, max_gram_length = 1 : i64, max_skip_count = 0 : i64, pool_int64s = array<i64: 7>, ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 0>} : (tensor<8xf32>) -> tensor<*xf32>
  // expected-error@+1 {{TfIdfVectorizer (opset 21) is invalid: expects tokens of rank 1 or 2, but got 3}}
  %7 = onnx.node "TfIdfVectorizer"(%cube) {mode = "TF", min_gram_length = 1 : i64, max_gram_length = 1 : i64, max_skip_count = 0 : i64, pool_int64s = array<i64: 7>, ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 0>} : (tensor<2x2x2xi32>) -> tensor<*xf32>
  // expected-error@+1 {{TfIdfVectorizer (opset 21) is invalid: mode is 'XF', but must be TF, IDF or TFIDF}}
  %8 = onnx.node "TfIdfVectorizer"(%x) {mode = "XF", min_gram_length = 1 : i64, max_gram_length = 1 : i64, max_skip_count = 0 : i64, pool_int64s = array<i64: 7>, ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 0>} : (tensor<8xi32>) -> tensor<*xf32>
  return
}

func.func @bad_unique(%x: tensor<4x3xf32>, %z: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{Unique (opset 21) is invalid: 'axis' is 2, but must be in [-2, 1]}}
  %0 = onnx.node "Unique"(%x) {axis = 2 : i64} : (tensor<4x3xf32>) -> tensor<*xf32>
  // expected-error@+1 {{Unique (opset 21) is not supported: elements that are not numbers}}
  %1 = onnx.node "Unique"(%z) : (tensor<4xcomplex<f32>>) -> tensor<*xcomplex<f32>>
  return
}

func.func @bad_ensembles(%x: tensor<3x2xf32>, %cube: tensor<3x2x1xf32>) {
  // expected-error@+1 {{TreeEnsemble (opset 5) is invalid: there are no leaves}}
  %0 = onnx.node "ai.onnx.ml"::"TreeEnsemble"(%x) {nodes_featureids = array<i64: 0>, nodes_splits = dense<1.5> : tensor<1xf32>, nodes_modes = dense<0> : tensor<1xui8>, nodes_truenodeids = array<i64: 0>, nodes_trueleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_falseleafs = array<i64: 1>, tree_roots = array<i64: 0>} : (tensor<3x2xf32>) -> tensor<*xf32>
  // expected-error@+1 {{TreeEnsemble (opset 5) is invalid: 'leaf_targetids' is 1 at [1], but must be in [0, 0]}}
  %1 = onnx.node "ai.onnx.ml"::"TreeEnsemble"(%x) {nodes_featureids = array<i64: 0>, nodes_splits = dense<1.5> : tensor<1xf32>, nodes_modes = dense<0> : tensor<1xui8>, nodes_truenodeids = array<i64: 0>, nodes_trueleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_falseleafs = array<i64: 1>, leaf_targetids = array<i64: 0, 1>, leaf_weights = dense<[2.0, -2.0]> : tensor<2xf32>, tree_roots = array<i64: 0>} : (tensor<3x2xf32>) -> tensor<*xf32>
  // expected-error@+1 {{TreeEnsemble (opset 5) is invalid: 'nodes_falsenodeids' is 2 at [0], but must be in [0, 1]}}
  %2 = onnx.node "ai.onnx.ml"::"TreeEnsemble"(%x) {nodes_featureids = array<i64: 0>, nodes_splits = dense<1.5> : tensor<1xf32>, nodes_modes = dense<0> : tensor<1xui8>, nodes_truenodeids = array<i64: 0>, nodes_trueleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 2>, nodes_falseleafs = array<i64: 1>, leaf_targetids = array<i64: 0, 0>, leaf_weights = dense<[2.0, -2.0]> : tensor<2xf32>, tree_roots = array<i64: 0>} : (tensor<3x2xf32>) -> tensor<*xf32>
  // expected-error@+1 {{TreeEnsemble (opset 5) is invalid: 'tree_roots' is 4 at [0], but must be in [0, 0]}}
  %3 = onnx.node "ai.onnx.ml"::"TreeEnsemble"(%x) {nodes_featureids = array<i64: 0>, nodes_splits = dense<1.5> : tensor<1xf32>, nodes_modes = dense<0> : tensor<1xui8>, nodes_truenodeids = array<i64: 0>, nodes_trueleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_falseleafs = array<i64: 1>, leaf_targetids = array<i64: 0, 0>, leaf_weights = dense<[2.0, -2.0]> : tensor<2xf32>, tree_roots = array<i64: 4>} : (tensor<3x2xf32>) -> tensor<*xf32>
  // expected-error@+1 {{TreeEnsemble (opset 5) is invalid: node 0 is a child twice}}
  %4 = onnx.node "ai.onnx.ml"::"TreeEnsemble"(%x) {nodes_featureids = array<i64: 0>, nodes_splits = dense<1.5> : tensor<1xf32>, nodes_modes = dense<0> : tensor<1xui8>, nodes_truenodeids = array<i64: 0>, nodes_trueleafs = array<i64: 0>, nodes_falsenodeids = array<i64: 1>, nodes_falseleafs = array<i64: 1>, leaf_targetids = array<i64: 0, 0>, leaf_weights = dense<[2.0, -2.0]> : tensor<2xf32>, tree_roots = array<i64: 0>} : (tensor<3x2xf32>) -> tensor<*xf32>
  // expected-error@+1 {{TreeEnsemble (opset 5) is invalid: 'aggregate_function' is 4, but must be in [0, 3]}}
  %5 = onnx.node "ai.onnx.ml"::"TreeEnsemble"(%x) {aggregate_function = 4 : i64, nodes_featureids = array<i64: 0>, nodes_splits = dense<1.5> : tensor<1xf32>, nodes_modes = dense<0> : tensor<1xui8>, nodes_truenodeids = array<i64: 0>, nodes_trueleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_falseleafs = array<i64: 1>, leaf_targetids = array<i64: 0, 0>, leaf_weights = dense<[2.0, -2.0]> : tensor<2xf32>, tree_roots = array<i64: 0>} : (tensor<3x2xf32>) -> tensor<*xf32>
  // expected-error@+1 {{TreeEnsemble (opset 5) is invalid: input 0 has rank 3, but needs 2}}
  %6 = onnx.node "ai.onnx.ml"::"TreeEnsemble"(%cube) {nodes_featureids = array<i64: 0>, nodes_splits = dense<1.5> : tensor<1xf32>, nodes_modes = dense<0> : tensor<1xui8>, nodes_truenodeids = array<i64: 0>, nodes_trueleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_falseleafs = array<i64: 1>, leaf_targetids = array<i64: 0, 0>, leaf_weights = dense<[2.0, -2.0]> : tensor<2xf32>, tree_roots = array<i64: 0>} : (tensor<3x2x1xf32>) -> tensor<*xf32>
  // expected-error@+1 {{TreeEnsemble (opset 5) is invalid: 'nodes_modes' is 9 at [0], but must be in [0, 6]}}
  %7 = onnx.node "ai.onnx.ml"::"TreeEnsemble"(%x) {nodes_featureids = array<i64: 0>, nodes_splits = dense<1.5> : tensor<1xf32>, nodes_modes = dense<9> : tensor<1xui8>, nodes_truenodeids = array<i64: 0>, nodes_trueleafs = array<i64: 1>, nodes_falsenodeids = array<i64: 1>, nodes_falseleafs = array<i64: 1>, leaf_targetids = array<i64: 0, 0>, leaf_weights = dense<[2.0, -2.0]> : tensor<2xf32>, tree_roots = array<i64: 0>} : (tensor<3x2xf32>) -> tensor<*xf32>
  return
}
}

// -----

// A label that is a word is a number; the metadata list the words.
// CHECK: ingot.metadata = {author = "me", labels.label = "[\22red\22,\22green\22]", labels.scores = "[\22red\22,\22green\22]"}
module attributes {ingot.metadata = {author = "me"}, onnx.opset_import = {"ai.onnx" = 21 : i64, "ai.onnx.ml" = 1 : i64}} {
// CHECK: func.func @words({{.*}}) -> (tensor<4xi64> {ingot.name = "label"}, tensor<4x2xf32> {ingot.name = "scores"})
func.func @words(%x: tensor<4x2xf32>) -> (tensor<*xsi32> {ingot.name = "label"}, !onnx.opaque<"seq(map(string,tensor(float)))"> {ingot.name = "scores"}) {
  %l, %p = onnx.node "ai.onnx.ml"::"LinearClassifier"(%x) {classlabels_strings = ["red", "green"], coefficients = array<f32: 1.0, 2.0, 3.0, 4.0>, intercepts = array<f32: 0.1, 0.2>} : (tensor<4x2xf32>) -> (tensor<*xsi32>, tensor<*xf32>)
  %z = onnx.node "ai.onnx.ml"::"ZipMap"(%p) {classlabels_strings = ["red", "green"]} : (tensor<*xf32>) -> !onnx.opaque<"seq(map(string,tensor(float)))">
  return %l, %z : tensor<*xsi32>, !onnx.opaque<"seq(map(string,tensor(float)))">
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64, "ai.onnx.ml" = 1 : i64}} {
func.func @bad_words(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{ZipMap (opset 1) is invalid: there are no labels}}
  %0 = onnx.node "ai.onnx.ml"::"ZipMap"(%x) : (tensor<4x2xf32>) -> !onnx.opaque<"seq(map(string,tensor(float)))">
  // expected-error@+1 {{ZipMap (opset 1) is invalid: there are scores of 2 classes, but 1 labels}}
  %1 = onnx.node "ai.onnx.ml"::"ZipMap"(%x) {classlabels_int64s = array<i64: 1>} : (tensor<4x2xf32>) -> !onnx.opaque<"seq(map(int64,tensor(float)))">
  // expected-error@+1 {{ZipMap (opset 1) is not supported: a map, which is not only an output of the model}}
  %2 = onnx.node "ai.onnx.ml"::"ZipMap"(%x) {classlabels_int64s = array<i64: 1, 2>} : (tensor<4x2xf32>) -> !onnx.opaque<"seq(map(int64,tensor(float)))">
  %3 = onnx.node "SequenceLength"(%2) : (!onnx.opaque<"seq(map(int64,tensor(float)))">) -> tensor<i64>
  return
}
}
