"""Models of one node for operators without ONNX tests, and forms of other operators with separate code."""

HEAD = '<ir_version: 10, opset_import: ["": 21, "ai.onnx.ml": 3]>\n'

# A tree of one decision and two leaves.
TREE = """nodes_treeids=[0,0,0], nodes_nodeids=[0,1,2], nodes_featureids=[1,0,0], nodes_values=[0.5,0.0,0.0],
          nodes_modes=["BRANCH_LEQ","LEAF","LEAF"], nodes_truenodeids=[1,0,0], nodes_falsenodeids=[2,0,0],
          nodes_missing_value_tracks_true=[0,0,0]"""


def regressor(ids, targets, base):
    return f"""m (float[4,3] x) => (float[4,{targets}] y) {{
        y = ai.onnx.ml.TreeEnsembleRegressor<{TREE}, n_targets={targets}, base_values=[{base}],
            target_treeids=[0,0], target_nodeids=[1,2], target_ids=[{ids}], target_weights=[0.25,0.5]>(x)
    }}"""


def classifier(labels, ids, weights, base=""):
    return f"""m (float[4,3] x) => (int64[4] l, float[4,{len(labels)}] y) {{
        l, y = ai.onnx.ml.TreeEnsembleClassifier<{TREE}, classlabels_int64s={labels}, {base}
            class_treeids=[0,0], class_nodeids=[1,2], class_ids=[{ids}], class_weights=[{weights}]>(x)
    }}"""


def linear(labels, coefficients, intercepts):
    return f"""m (float[4,2] x) => (int64[4] l, float[4,{len(labels)}] y) {{
        l, y = ai.onnx.ml.LinearClassifier<classlabels_ints={labels}, coefficients={coefficients},
                                           intercepts={intercepts}>(x)
    }}"""


def svm(kernel):
    return f"""m (float[4,2] x) => (int64[4] l, float[4,2] y) {{
        l, y = ai.onnx.ml.SVMClassifier<classlabels_ints=[3,5], vectors_per_class=[1,1], coefficients=[1.0,-1.0],
            support_vectors=[0.5,1.0,-0.5,2.0], rho=[0.25], kernel_type="{kernel}", kernel_params=[0.5,0.25,2.0]>(x)
    }}"""


MODELS = {name: HEAD + text for name, text in {
    "tree_regressor_one": regressor("0,0", 1, "0.5"),
    "tree_regressor_two": regressor("0,1", 2, "0.5,0.25"),
    "tree_classifier_shares": classifier([3, 5], "0,0", "0.25,0.5", "base_values=[0.125],"),
    "tree_classifier_second": classifier([3, 5], "1,1", "0.25,0.5"),
    "tree_classifier_scores": classifier([3, 5], "0,0", "-0.25,0.5"),
    "tree_classifier_two": classifier([3, 5], "0,1", "0.25,0.5"),
    "tree_classifier_three": classifier([3, 5, 7], "0,2", "0.25,0.5"),
    "linear_regressor": """m (float[4,2] x) => (float[4,2] y) {
        y = ai.onnx.ml.LinearRegressor<coefficients=[0.5,1.0,1.5,2.0], intercepts=[0.25,0.5], targets=2>(x)
    }""",
    "linear_regressor_one": """m (float[4,2] x) => (float[4,1] y) {
        y = ai.onnx.ml.LinearRegressor<coefficients=[0.5,1.0], intercepts=[0.25], targets=1>(x)
    }""",
    "linear_classifier_one": linear([3, 5], [0.5, 1.0], [0.25]),
    "linear_classifier_two": linear([3, 5], [0.5, 1.0, 1.5, 2.0], [0.25, 0.5]),
    "linear_classifier_three": linear([3, 5, 7], [0.5, 1.0, 1.5, 2.0, 2.5, 3.0], [0.25, 0.5, 0.75]),
    **{f"svm_classifier_{kernel.lower()}": svm(kernel) for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID")},
    "svm_classifier_linear_coefficients": """m (float[4,2] x) => (int64[4] l, float[4,3] y) {
        l, y = ai.onnx.ml.SVMClassifier<classlabels_ints=[3,5,7], coefficients=[1.0,-1.0,0.5,0.25,0.75,2.0],
            rho=[0.25,0.5,0.75], kernel_type="LINEAR", kernel_params=[0.5,0.25,2.0]>(x)
    }""",
    "svm_classifier_odds": """m (float[4,2] x) => (int64[4] l, float[4,2] y) {
        l, y = ai.onnx.ml.SVMClassifier<classlabels_ints=[3,5], vectors_per_class=[1,1], coefficients=[1.0,-1.0],
            support_vectors=[0.5,1.0,-0.5,2.0], rho=[0.25], kernel_type="RBF", kernel_params=[0.5,0.25,2.0],
            prob_a=[0.5], prob_b=[0.25]>(x)
    }""",
    "svm_regressor": """m (float[4,2] x) => (float[4,1] y) {
        y = ai.onnx.ml.SVMRegressor<n_supports=2, coefficients=[1.0,-1.0], support_vectors=[0.5,1.0,-0.5,2.0],
            rho=[0.25], kernel_type="RBF", kernel_params=[0.5,0.25,2.0]>(x)
    }""",
    "svm_regressor_linear": """m (float[4,2] x) => (float[4,1] y) {
        y = ai.onnx.ml.SVMRegressor<coefficients=[1.0,-1.0], rho=[0.25], kernel_type="LINEAR",
                                    kernel_params=[0.5,0.25,2.0]>(x)
    }""",
    "normalizer": "m (float[4,2] x) => (float[4,2] y) { y = ai.onnx.ml.Normalizer<norm=\"L2\">(x) }",
    "scaler": """m (float[4,2] x) => (float[4,2] y) {
        y = ai.onnx.ml.Scaler<offset=[0.5,0.25], scale=[2.0,3.0]>(x)
    }""",
    "imputer_floats": """m (float[4,2] x) => (float[4,2] y) {
        y = ai.onnx.ml.Imputer<imputed_value_floats=[0.5,0.25], replaced_value_float=-1.0>(x)
    }""",
    "imputer_ints": """m (int64[4,2] x) => (int64[4,2] y) {
        y = ai.onnx.ml.Imputer<imputed_value_int64s=[5,7], replaced_value_int64=-1>(x)
    }""",
    "one_hot_ints": """m (int64[4] x) => (float[4,3] y) {
        y = ai.onnx.ml.OneHotEncoder<cats_int64s=[1,5,9], zeros=1>(x)
    }""",
    "one_hot_strings": """m (string[4] x) => (float[4,2] y) {
        y = ai.onnx.ml.OneHotEncoder<cats_strings=["a","b"], zeros=1>(x)
    }""",
    "feature_vectorizer": """m (float[4,2] x, float[4,1] z) => (float[4,3] y) {
        y = ai.onnx.ml.FeatureVectorizer<inputdimensions=[2,1]>(x, z)
    }""",
    "category_mapper": """m (string[4] x) => (int64[4] y) {
        y = ai.onnx.ml.CategoryMapper<cats_int64s=[1,5], cats_strings=["a","b"], default_int64=7>(x)
    }""",
    "category_mapper_words": """m (int64[4] x) => (string[4] y) {
        y = ai.onnx.ml.CategoryMapper<cats_int64s=[1,5], cats_strings=["a","b"], default_string="none">(x)
    }""",
    "label_encoder_floats": """m (int64[4] x) => (float[4] y) {
        y = ai.onnx.ml.LabelEncoder<keys_int64s=[1,5], values_floats=[0.5,0.25], default_float=0.75>(x)
    }""",
    "label_encoder_ints": """m (float[4] x) => (int64[4] y) {
        y = ai.onnx.ml.LabelEncoder<keys_floats=[0.5,0.25], values_int64s=[1,5], default_int64=9>(x)
    }""",
    "label_encoder_strings": """m (int64[4] x) => (string[4] y) {
        y = ai.onnx.ml.LabelEncoder<keys_int64s=[1,5], values_strings=["a","b"], default_string="none">(x)
    }""",
    "global_lp_pool": "m (float[1,2,4,4] x) => (float[1,2,1,1] y) { y = GlobalLpPool<p=3>(x) }",
    "max_roi_pool": """m (float[1,2,6,6] x, float[2,5] r) => (float[2,2,2,2] y) {
        y = MaxRoiPool<pooled_shape=[2,2], spatial_scale=0.5>(x, r)
    }""",
    "multinomial": "m (float[2,5] x) => (int64[2,4] y) { y = Multinomial<dtype=7, sample_size=4, seed=3.0>(x) }",
    "random_normal": """m () => (float[3,2] y) {
        y = RandomNormal<dtype=1, mean=0.5, scale=2.0, seed=3.0, shape=[3,2]>()
    }""",
    "random_normal_like": """m (float[3,2] x) => (float[3,2] y) {
        y = RandomNormalLike<dtype=1, mean=0.5, scale=2.0, seed=3.0>(x)
    }""",
    "random_uniform": """m () => (float[3,2] y) {
        y = RandomUniform<dtype=1, low=0.5, high=2.0, seed=3.0, shape=[3,2]>()
    }""",
    "random_uniform_like": """m (float[3,2] x) => (float[3,2] y) {
        y = RandomUniformLike<dtype=1, low=0.5, high=2.0, seed=3.0>(x)
    }""",
    "resize_crop": """m (float[1,1,4,4] x, float[8] r, float[4] s) => (float[n,c,h,w] y) {
        y = Resize<mode="linear", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=0.5>(x, r, s)
    }""",
    "lstm": """m (float[5,2,3] x, float[1,16,3] w, float[1,16,4] r) => (float[5,1,2,4] y) {
        y = LSTM<hidden_size=4, clip=0.5, input_forget=0, activations=["Sigmoid","Tanh","Tanh"]>(x, w, r)
    }""",
    "gru": """m (float[5,2,3] x, float[1,12,3] w, float[1,12,4] r, float[1,24] b) => (float[5,1,2,4] y) {
        y = GRU<hidden_size=4, clip=0.5, activations=["Sigmoid","Tanh"]>(x, w, r, b)
    }""",
    "rnn": """m (float[5,2,3] x, float[1,4,3] w, float[1,4,4] r) => (float[5,1,2,4] y) {
        y = RNN<hidden_size=4, clip=0.5, activations=["LeakyRelu"], activation_alpha=[0.25]>(x, w, r)
    }""",
}.items()}
