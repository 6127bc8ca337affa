// RUN: ingot-opt --onnx-legalize --split-input-file --verify-diagnostics %s | FileCheck %s

// A tensor of strings holds indices into the model's list of strings. Operators
// add the strings that they name.

// CHECK: module attributes {ingot.strings = ["", "red", "green", "blue", "warm", "cold", "_Unused", "no", "two", "one"]
module attributes {ingot.strings = ["", "red"], onnx.opset_import = {"ai.onnx" = 21 : i64, "ai.onnx.ml" = 4 : i64}} {

// CHECK-LABEL: @moved
// CHECK-SAME: -> tensor<2x?xsi32>
// CHECK: nn.gather
// CHECK: nn.select
// CHECK: nn.pad {{.*}} tensor<2x?xsi32>
func.func @moved(%x: tensor<?x2xsi32>, %c: tensor<2x1xi1>) -> tensor<*xsi32> {
  %i = arith.constant dense<0> : tensor<i64>
  %p = arith.constant dense<[0, 1, 0, 0]> : tensor<4xi64>
  %r = arith.constant dense<1> : tensor<si32>
  %0 = onnx.node "Transpose"(%x) {perm = array<i64: 1, 0>} : (tensor<?x2xsi32>) -> tensor<*xsi32>
  %1 = onnx.node "Gather"(%0, %i) : (tensor<*xsi32>, tensor<i64>) -> tensor<*xsi32>
  %2 = onnx.node "Where"(%c, %1, %r) : (tensor<2x1xi1>, tensor<*xsi32>, tensor<si32>) -> tensor<*xsi32>
  %3 = onnx.node "Pad"(%2, %p) : (tensor<*xsi32>, tensor<4xi64>) -> tensor<*xsi32>
  %4 = onnx.node "Cast"(%3) {to = 8 : i64} : (tensor<*xsi32>) -> tensor<*xsi32>
  return %4 : tensor<*xsi32>
}

// CHECK-LABEL: @equal
// CHECK: nn.equal %{{.*}} : tensor<?xsi32>, tensor<?xsi32> -> tensor<?xi1>
func.func @equal(%x: tensor<?xsi32>, %y: tensor<?xsi32>) -> tensor<*xi1> {
  %0 = onnx.node "Equal"(%x, %y) : (tensor<?xsi32>, tensor<?xsi32>) -> tensor<*xi1>
  return %0 : tensor<*xi1>
}

// CHECK-LABEL: @one_hot
// CHECK-SAME: -> tensor<?x2x2xf32>
// CHECK: %[[CATEGORIES:.*]] = arith.constant dense<[2, 3]> : tensor<2xsi32>
// CHECK: nn.equal %{{.*}}, %[[CATEGORIES]]
// CHECK-NOT: ingot.require
func.func @one_hot(%x: tensor<?x2xsi32>) -> tensor<*xf32> {
  %0 = onnx.node "ai.onnx.ml"::"OneHotEncoder"(%x) {cats_strings = ["green", "blue"], zeros = 1 : i64} : (tensor<?x2xsi32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// Without zeros, each element must be in a category.
// CHECK-LABEL: @one_hot_of_all
// CHECK: %[[LEAST:.*]] = nn.reduce {{.*}} -> tensor<i64>
// CHECK: %[[N:.*]] = tensor.extract %[[LEAST]][]
// CHECK: %[[HOLDS:.*]] = arith.cmpi ne, %[[N]]
// CHECK: ingot.require %[[HOLDS]], "X has an element that is in none of the categories"
func.func @one_hot_of_all(%x: tensor<?x2xsi32>) -> tensor<*xf32> {
  %0 = onnx.node "ai.onnx.ml"::"OneHotEncoder"(%x) {cats_strings = ["green", "blue"], zeros = 0 : i64} : (tensor<?x2xsi32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// A table by index: "red" is 1, "blue" is 3. Of equal keys the first counts.
// CHECK-LABEL: @labels
// CHECK-SAME: -> tensor<?xi64>
// CHECK: %[[LAST:.*]] = arith.constant dense<4> : tensor<i64>
// CHECK: %[[PLACE:.*]] = nn.min %{{.*}}, %[[LAST]]
// CHECK: %[[TABLE:.*]] = arith.constant dense<[3, 0, 3, 1, 3]> : tensor<5xi64>
// CHECK: %[[FOUND:.*]] = nn.gather %[[TABLE]], %[[PLACE]]
// CHECK: %[[VALUES:.*]] = arith.constant dense<[10, 30, 50, -1]> : tensor<4xi64>
// CHECK: nn.gather %[[VALUES]], %[[FOUND]]
func.func @labels(%x: tensor<?xsi32>) -> tensor<*xi64> {
  %0 = onnx.node "ai.onnx.ml"::"LabelEncoder"(%x) {keys_strings = ["red", "blue", "red"], values_int64s = array<i64: 10, 30, 50>} : (tensor<?xsi32>) -> tensor<*xi64>
  return %0 : tensor<*xi64>
}

// CHECK-LABEL: @words
// CHECK-SAME: -> tensor<4xsi32>
// CHECK-DAG: arith.constant dense<[4, 5]> : tensor<2xsi32>
// CHECK-DAG: arith.constant dense<6> : tensor<si32>
// CHECK: nn.select {{.*}} -> tensor<4xsi32>
func.func @words(%x: tensor<4xi64>) -> tensor<*xsi32> {
  %0 = onnx.node "ai.onnx.ml"::"LabelEncoder"(%x) {keys_int64s = array<i64: 7, 8>, values_strings = ["warm", "cold"]} : (tensor<4xi64>) -> tensor<*xsi32>
  return %0 : tensor<*xsi32>
}

// CHECK-LABEL: @tensors
// CHECK-SAME: -> tensor<?xsi32>
func.func @tensors(%x: tensor<?xsi32>) -> tensor<*xsi32> {
  %0 = onnx.node "ai.onnx.ml"::"LabelEncoder"(%x) {keys_tensor = ["red"], values_tensor = ["cold"], default_tensor = ["no"]} : (tensor<?xsi32>) -> tensor<*xsi32>
  return %0 : tensor<*xsi32>
}

// CHECK-LABEL: @mapped
// CHECK-SAME: -> (tensor<?xi64>, tensor<?xsi32>)
func.func @mapped(%x: tensor<?xsi32>, %y: tensor<?xi64>) -> (tensor<*xi64>, tensor<*xsi32>) {
  %0 = onnx.node "ai.onnx.ml"::"CategoryMapper"(%x) {cats_strings = ["one", "two"], cats_int64s = array<i64: 1, 2>} : (tensor<?xsi32>) -> tensor<*xi64>
  %1 = onnx.node "ai.onnx.ml"::"CategoryMapper"(%y) {cats_strings = ["one", "two"], cats_int64s = array<i64: 1, 2>} : (tensor<?xi64>) -> tensor<*xsi32>
  return %0, %1 : tensor<*xi64>, tensor<*xsi32>
}

// CHECK-LABEL: @ngrams
// CHECK-SAME: -> tensor<2xf32>
// CHECK: arith.constant dense<[1, 2, 3]> : tensor<3xi64>
func.func @ngrams(%x: tensor<?xsi32>) -> tensor<*xf32> {
  %y = onnx.node "TfIdfVectorizer"(%x) {mode = "TF", min_gram_length = 1 : i64, max_gram_length = 2 : i64, max_skip_count = 0 : i64, pool_strings = ["red", "green", "blue"], ngram_counts = array<i64: 0, 1>, ngram_indexes = array<i64: 0, 1>} : (tensor<?xsi32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// CHECK-LABEL: @normalized
// CHECK-NEXT: return %arg0
func.func @normalized(%x: tensor<?xsi32>) -> tensor<*xsi32> {
  %0 = onnx.node "StringNormalizer"(%x) {case_change_action = "NONE"} : (tensor<?xsi32>) -> tensor<*xsi32>
  return %0 : tensor<*xsi32>
}

// A label that the model uses further is a string, not an index of a list.
// CHECK-LABEL: @inside
// CHECK: nn.gather {{.*}} -> tensor<4xsi32>
// CHECK: nn.equal
func.func @inside(%x: tensor<4x2xf32>) -> tensor<*xi1> {
  %red = arith.constant dense<1> : tensor<si32>
  %l, %p = onnx.node "ai.onnx.ml"::"LinearClassifier"(%x) {classlabels_strings = ["red", "green"], coefficients = array<f32: 1.0, 2.0, 3.0, 4.0>, intercepts = array<f32: 0.1, 0.2>} : (tensor<4x2xf32>) -> (tensor<*xsi32>, tensor<*xf32>)
  %0 = onnx.node "Equal"(%l, %red) : (tensor<*xsi32>, tensor<si32>) -> tensor<*xi1>
  return %0 : tensor<*xi1>
}
}

// -----

module attributes {onnx.opset_import = {"ai.onnx" = 21 : i64, "ai.onnx.ml" = 4 : i64}} {
func.func @refused(%x: tensor<4xsi32>, %f: tensor<4xf32>, %i: tensor<4xi64>) {
  // expected-error@+1 {{Cast (opset 21) is not supported: numbers from strings}}
  %0 = onnx.node "Cast"(%x) {to = 1 : i64} : (tensor<4xsi32>) -> tensor<*xf32>
  // expected-error@+1 {{CastLike (opset 21) is not supported: strings from numbers}}
  %1 = onnx.node "CastLike"(%f, %x) : (tensor<4xf32>, tensor<4xsi32>) -> tensor<*xsi32>
  // expected-error@+1 {{Unique (opset 21) is not supported: of strings}}
  %2 = onnx.node "Unique"(%x) : (tensor<4xsi32>) -> tensor<*xsi32>
  // expected-error@+1 {{ScatterElements (opset 21) is not supported: arithmetic on strings}}
  %3 = onnx.node "ScatterElements"(%x, %i, %x) {reduction = "max"} : (tensor<4xsi32>, tensor<4xi64>, tensor<4xsi32>) -> tensor<*xsi32>
  // expected-error@+1 {{Add (opset 21) is not supported: arithmetic on strings}}
  %4 = onnx.node "Add"(%x, %x) : (tensor<4xsi32>, tensor<4xsi32>) -> tensor<*xsi32>
  // expected-error@+1 {{OneHotEncoder (opset 4) is invalid: cats_strings is missing}}
  %5 = onnx.node "ai.onnx.ml"::"OneHotEncoder"(%x) {cats_int64s = array<i64: 1>} : (tensor<4xsi32>) -> tensor<*xf32>
  // expected-error@+1 {{OneHotEncoder (opset 4) is invalid: there are both cats_strings and cats_int64s}}
  %15 = onnx.node "ai.onnx.ml"::"OneHotEncoder"(%x) {cats_int64s = array<i64: 1>, cats_strings = ["a"]} : (tensor<4xsi32>) -> tensor<*xf32>
  // expected-error@+1 {{ConstantOfShape (opset 21) is invalid: value is not a tensor of numbers}}
  %16 = onnx.node "ConstantOfShape"(%i) {value = ["a"]} : (tensor<4xi64>) -> tensor<*xsi32>
  // expected-error@+1 {{LabelEncoder (opset 4) is invalid: keys are of another type than X}}
  %6 = onnx.node "ai.onnx.ml"::"LabelEncoder"(%x) {keys_int64s = array<i64: 1>, values_int64s = array<i64: 1>} : (tensor<4xsi32>) -> tensor<*xi64>
  // expected-error@+1 {{LabelEncoder (opset 4) is invalid: default_tensor needs one element of the values' type}}
  %7 = onnx.node "ai.onnx.ml"::"LabelEncoder"(%x) {keys_strings = ["a"], values_int64s = array<i64: 1>, default_tensor = ["a"]} : (tensor<4xsi32>) -> tensor<*xi64>
  // expected-error@+1 {{CategoryMapper (opset 4) is invalid: as many cats_strings as cats_int64s are needed, one at least}}
  %8 = onnx.node "ai.onnx.ml"::"CategoryMapper"(%x) {cats_strings = ["a", "b"], cats_int64s = array<i64: 1>} : (tensor<4xsi32>) -> tensor<*xi64>
  // expected-error@+1 {{CategoryMapper (opset 4) is invalid: X is neither of strings nor of int64}}
  %9 = onnx.node "ai.onnx.ml"::"CategoryMapper"(%f) {cats_strings = ["a"], cats_int64s = array<i64: 1>} : (tensor<4xf32>) -> tensor<*xsi32>
  // expected-error@+1 {{TfIdfVectorizer (opset 21) is invalid: pool_strings is missing}}
  %10 = onnx.node "TfIdfVectorizer"(%x) {mode = "TF", min_gram_length = 1 : i64, max_gram_length = 1 : i64, max_skip_count = 0 : i64, pool_int64s = array<i64: 7>, ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 0>} : (tensor<4xsi32>) -> tensor<*xf32>
  // expected-error@+1 {{StringConcat (opset 21) is not supported: operators on the text of strings, which the host has to process}}
  %12 = onnx.node "StringConcat"(%x, %x) : (tensor<4xsi32>, tensor<4xsi32>) -> tensor<*xsi32>
  // expected-error@+1 {{StringNormalizer (opset 21) is not supported: case_change_action LOWER, which the host has to do before}}
  %13 = onnx.node "StringNormalizer"(%x) {case_change_action = "LOWER"} : (tensor<4xsi32>) -> tensor<*xsi32>
  // expected-error@+1 {{StringNormalizer (opset 21) is not supported: stopwords, which the host has to take out before}}
  %14 = onnx.node "StringNormalizer"(%x) {stopwords = ["the"]} : (tensor<4xsi32>) -> tensor<*xsi32>
  // expected-error@+1 {{LinearRegressor (opset 4) is invalid: input 0 is not of numbers}}
  %11 = onnx.node "ai.onnx.ml"::"LinearRegressor"(%x) {coefficients = array<f32: 1.0>} : (tensor<4xsi32>) -> tensor<*xf32>
  return
}
}
