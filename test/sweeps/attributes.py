#!/usr/bin/env python3
"""Changes every attribute of every operator. Each new value must change the compiled module, or be refused. Strings
that no operator knows must be refused.

usage: attributes.py [PATTERN ...] [--jobs N] [--bin DIR] [--every N] [--list] [--json FILE]

Valid models are ONNX's tests of single nodes, as in operators.py, and the models of attribute_models.py. Attributes
that change nothing by definition are in IDLE, each with its reason. The last line is `N passed, N failed, N skipped`.
"""
import collections
import fnmatch
import json
import sys
import zlib

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper, numpy_helper

import attribute_models
import operators

POST = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
AUTO_PADS = ["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]
REDUCTIONS = ["none", "mean", "sum"]
SCATTERS = ["none", "add", "mul", "max", "min"]
NO_WORD = "bogus"

# Valid strings of an attribute. The key is its name, or OPERATOR.NAME.
WORDS = {
    "post_transform": POST, "auto_pad": AUTO_PADS, "kernel_type": ["LINEAR", "POLY", "RBF", "SIGMOID"],
    "norm": ["MAX", "L1", "L2"], "direction": ["forward", "reverse", "bidirectional"],
    "BitShift.direction": ["LEFT", "RIGHT"], "round_mode": ["up", "down", "nearest"],
    "approximate": ["none", "tanh"], "aggregate_function": ["SUM", "AVERAGE", "MIN", "MAX"],
    "DepthToSpace.mode": ["DCR", "CRD"], "SpaceToDepth.mode": ["DCR", "CRD"],
    "GridSample.mode": ["linear", "nearest", "cubic"], "padding_mode": ["zeros", "border", "reflection"],
    "Pad.mode": ["constant", "edge", "reflect", "wrap"], "reduction": REDUCTIONS,
    "ScatterElements.reduction": SCATTERS, "ScatterND.reduction": SCATTERS,
    "Resize.mode": ["nearest", "linear", "cubic"], "RoiAlign.mode": ["avg", "max"],
    "RoiAlign.coordinate_transformation_mode": ["half_pixel", "output_half_pixel"],
    "Resize.coordinate_transformation_mode": ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                              "align_corners", "asymmetric", "tf_crop_and_resize"],
    "nearest_mode": ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"],
    "keep_aspect_ratio_policy": ["stretch", "not_larger", "not_smaller"],
    "case_change_action": ["NONE", "LOWER", "UPPER"], "TensorScatter.mode": ["linear", "circular"],
    "TfIdfVectorizer.mode": ["TF", "IDF", "TFIDF"], "activation": ["none", "silu", "swish"],
    "update_rule": ["linear", "gated", "delta", "gated_delta"],
    "Upsample.mode": ["nearest", "linear"], "Momentum.mode": ["standard", "nesterov"], "pixel_format": ["RGB", "BGR", "Grayscale"], "map_form": ["DENSE", "SPARSE"], "cast_to": ["TO_FLOAT", "TO_STRING", "TO_INT64"],
}
# Flags of `ingot::legalize`, passes/legalize/core/Attributes.cpp.
IS_FLAG = {"align_corners", "allowzero", "antialias", "ceil_mode", "center_point_box", "count_include_pad",
           "detect_negative", "detect_positive", "exclude_outside", "exclusive", "fmod", "input_forget", "interleaved",
           "inverse", "is_case_sensitive", "is_causal", "keepdims", "largest", "layout", "linear_before_reset",
           "noop_with_empty_axes", "onesided", "periodic", "reverse", "saturate", "select_last_index", "sorted",
           "storage_order", "training_mode", "transA", "transB", "upper", "zeros"}
# Attributes of free text, for which no string is wrong.
TEXTS = {"equation", "value_string", "pattern", "delimiter", "default_string", "locale"}
INTS = [0, 1, 2, -1]
FLAGS = [0, 1, 7]  # 7 is not a value of any flag.
TYPES = [TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT8, TensorProto.DOUBLE, 99]
IS_TYPE = {"dtype", "output_dtype", "stash_type", "softmax_precision", "precision", "to"}

# Patterns of (model, attribute, value) that change nothing, with the reason.
IDLE = [
    ("causal_conv_with_state_silu*", "activation", "swish", "both words name one function"),
    ("resize_crop", "antialias", "1", "filters are of whole pictures, not of a region"),
    ("resize_*", "keep_aspect_ratio_policy", "*", "it is for sizes, and these have scales"),
    ("resize_*", "extrapolation_value", "*", "it is for tf_crop_and_resize"),
    ("resize_*", "nearest_mode", "*", "it is for the nearest pixel"),
    ("resize_crop", "cubic_coeff_a", "*", "it is for cubic interpolation"),
    ("averagepool_*", "auto_pad", "*", "these pads are those of the windows"),
    ("maxpool_*", "auto_pad", "*", "these pads are those of the windows"),
    ("lppool_*", "auto_pad", "*", "these pads are those of the windows"),
    ("*conv*", "auto_pad", "*", "these pads are those of the windows"),
    ("*pool_*", "ceil_mode", "*", "the windows end with the picture, or with its pads"),
    ("averagepool_2d_ceil", "count_include_pad", "1", "it has no pads"),
    ("maxpool_*", "storage_order", "1", "nothing reads the indices"),
    ("mvn", "axes", "*", "axes in another order are the same"),
    ("*", "axis", "SAME", "an axis is counted from either end"),
    ("unique_*_without_axis", "axis", "*", "the input has one axis"),
    ("*", "time_axis", "SAME", "an axis is counted from either end"),
    ("dequantizelinear*", "axis", "*", "one scale has no axis"),
    ("quantizelinear", "axis", "*", "one scale has no axis"),
    ("dequantizelinear*", "output_dtype", "1", "it is the type of the scale"),
    ("quantizelinear*", "precision", "1", "it is the type of the scale"),
    ("quantizelinear*", "saturate", "0", "it is for floats of eight bits"),
    ("cast*_BFLOAT16_to_FLOAT", "saturate", "0", "it is for floats of eight bits"),
    ("cast*", "round_mode", "*", "it is for FLOAT8E8M0"),
    ("linear_attention_*", "chunk_size", "*", "it says how to compute, not what"),
    ("*label_encoder_*", "default_float", "*", "it is for values of floats"),
    ("*label_encoder_*", "default_int64", "*", "it is for values of integers"),
    ("*label_encoder_*", "default_string", "*", "it is for values of strings"),
    ("category_mapper", "default_string", "*", "it is for values of strings"),
    ("category_mapper_words", "default_int64", "*", "it is for values of integers"),
    ("imputer_ints", "replaced_value_float", "*", "it is for floats"),
    ("imputer_floats", "replaced_value_int64", "*", "it is for integers"),
    ("bernoulli*", "dtype", "*", "it is the type of the input"),
    ("shape*", "end", "*", "it lies beyond the last dimension, or names the same one"),
    ("shape_clip_start", "start", "0", "it lies before the first dimension"),
    ("strnormalizer_nostopwords_nochangecase", "is_case_sensitive", "0", "no word is compared"),
    ("reduce_sum_empty_axes_input_noop", "keepdims", "0", "it has no axis to drop"),
    ("reduce_*", "noop_with_empty_axes", "1", "it has axes"),
    ("svm_*_linear", "kernel_params", "*", "a linear kernel has none"),
    ("svm_regressor_linear", "kernel_type", "*", "without support vectors there is no kernel"),
    ("tfidfvectorizer_tf_batch_onlybigrams_skip0", "max_gram_length", "*", "no longer grams are listed"),
    ("tfidfvectorizer_tf_batch_onlybigrams_skip0", "mode", "TFIDF", "without weights it is TF"),
    ("batchnorm_e*", "momentum", "*", "it is for training"),
    ("dropout_default*", "ratio", "*", "it is for training"),
    ("dropout_default*", "seed", "*", "it is for training"),
    ("linear_classifier_*", "multi_class", "*", "it says how the model was trained"),
    ("rotary_embedding*", "num_heads", "*", "four dimensions tell the heads"),
    ("attention_*", "q_num_heads", "0", "0 stands for heads that are not given"),
    ("attention_*", "kv_num_heads", "0", "0 stands for heads that are not given"),
    ("attention_*", "qk_matmul_output_mode", "*", "nothing reads the output"),
    ("*attention*", "softmax_precision", "1", "it is the precision of the default"),
    ("top_k*", "sorted", "0", "without order, the order of a sort is allowed"),
    ("group_normalization_*", "stash_type", "1*", "the precision of sums is at least this, or f32"),
    ("rms_normalization_*", "stash_type", "1*", "the precision of sums is at least this, or f32"),
    ("range_bfloat16_*", "stash_type", "1*", "the precision of sums is at least this, or f32"),
]


def schema_of(model):
    node = model.graph.node[0]
    version = next(o.version for o in model.opset_import if o.domain in (node.domain, node.domain or "ai.onnx"))
    return onnx.defs.get_schema(node.op_type, version, node.domain)


def value_of(model, name, schema):
    """Returns the node's value, or the default."""
    for given in model.graph.node[0].attribute:
        if given.name == name:
            return helper.get_attribute_value(given)
    return helper.get_attribute_value(schema.default_value) if schema.default_value.type else None


def kind_of(schema):
    return getattr(schema.type, "name", str(schema.type).rpartition(".")[2])


def other_values(op, name, kind, own):
    """Returns values that differ from the node's own."""
    if kind == "STRING":
        words = WORDS.get(f"{op}.{name}", WORDS.get(name))
        if words is None:
            assert name in TEXTS, f"no words are known of {op}.{name}"
            return [] if own is None else [own.decode() + "q"]
        return [w for w in words if own is None or w != own.decode()] + [NO_WORD]
    if kind == "INT":
        return [v for v in (FLAGS if name in IS_FLAG else TYPES if name in IS_TYPE else INTS) if v != own]
    if kind == "FLOAT":
        return [v for v in (0.0, 0.375, -1.5) if v != own] if own is None else [own * 1.5 + 0.125, -own - 0.25]
    if kind == "INTS":
        return [] if not own else [[v + 1 for v in own], list(reversed(own))]
    if kind == "FLOATS":
        return [] if not own else [[v * 1.5 + 0.125 for v in own]]
    if kind == "STRINGS":
        return [] if not own else [[v.decode() + "q" for v in own], [NO_WORD] * len(own)]
    if kind == "TENSOR" and own is not None:
        array = numpy_helper.to_array(own)
        if array.size and array.dtype.kind in "iuf":
            return [numpy_helper.from_array(array + np.ones((), array.dtype))]
    return []


def with_attribute(model, name, value):
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    node = changed.graph.node[0]
    for old in [a for a in node.attribute if a.name == name]:
        node.attribute.remove(old)
    node.attribute.append(helper.make_attribute(name, value))
    # The outputs' types and shapes may depend on the attribute.
    for output in changed.graph.output:
        if output.type.HasField("tensor_type"):
            output.type.tensor_type.ClearField("shape")
    return changed


def is_same(a, b):
    return list(a) == list(b) if isinstance(a, (list, tuple)) else a == b


def label_of(value):
    text = "tensor" if isinstance(value, onnx.TensorProto) else str(value)
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in text)[:40]


def models(patterns, every):
    """Returns {name: (base, attribute, value, model)}; the base itself has no attribute."""
    found = {}
    bases = {name[5:]: model for name, (model, _) in operators.bases().items()}
    bases.update({name: onnx.parser.parse_model(text) for name, text in attribute_models.MODELS.items()})
    for base, model in bases.items():
        node, some = model.graph.node[0], False
        for name, schema in schema_of(model).attributes.items():
            own = value_of(model, name, schema)
            for value in other_values(node.op_type, name, kind_of(schema), own):
                full = f"{base}.{name}-{label_of(value)}"
                if is_same(value, own) or zlib.crc32(full.encode()) % every or (
                        patterns and not any(fnmatch.fnmatchcase(full, p) for p in patterns)):
                    continue
                some = True
                found[full] = (base, name, value, with_attribute(model, name, value))
        if some:
            # Removes the outputs' shapes, as the changed models do.
            bare = with_attribute(model, "-", 0)
            bare.graph.node[0].attribute.pop()
            found[base] = (base, None, None, bare)
    return found


def is_same_axis(model, value, own):
    """Returns True if two numbers are one axis of the first input, or of a tensor with one axis more."""
    rank = len(model.graph.input[0].type.tensor_type.shape.dim)
    return any(r > 0 and -r <= value < r and -r <= own < r and (value - own) % r == 0 for r in (rank, rank + 1))


def reason_of(base, model, name, value):
    """Returns why the attribute changes nothing, or None."""
    own = value_of(model, name, schema_of(model).attributes[name])
    same = isinstance(value, int) and isinstance(own, int) and is_same_axis(model, value, own)
    for in_base, in_name, in_value, reason in IDLE:
        if (fnmatch.fnmatchcase(base, in_base) and fnmatch.fnmatchcase(name, in_name)
                and (same if in_value == "SAME" else fnmatch.fnmatchcase(label_of(value), in_value))):
            return reason
    return None


def main():
    parser = operators.parser_of(__doc__)
    parser.set_defaults(phase="nn")
    parser.add_argument("--json")
    args = parser.parse_args()
    chosen = models(args.patterns, args.every)
    answers = {name: (kind, detail) for name, kind, _, _, detail in operators.sweep(
        args.bin, ((n, c[3]) for n, c in chosen.items()), args.jobs, args.phase, options=("--digest",))}
    tests, counts = [], collections.Counter()
    for name, (base, attribute, value, _) in chosen.items():
        kind, detail = answers[name]
        wrong = "" if kind in ("compiled", "refused", "nameless") else f"{kind}: {detail}"
        if attribute and kind == "compiled" and not wrong:
            is_idle = answers[base] == answers[name]
            if value == NO_WORD or (attribute in IS_FLAG and value == FLAGS[-1]):
                wrong = "compiled though there is no such value"
            elif is_idle and not reason_of(base, chosen[base][3], attribute, value):
                wrong = "changes nothing"
        counts["failed" if wrong else kind] += 1
        tests.append({"name": name, "status": "failed" if wrong else "passed", "detail": wrong})
        if args.list or wrong:
            print(f"{'FAIL ' if wrong else ''}{name}: {wrong or kind + ' ' + detail}")
    if args.json:
        with open(args.json, "w") as f:
            json.dump({"tests": tests}, f)
    failed = counts.pop("failed", 0)
    print(f"{len(chosen)} models: " + ", ".join(f"{n} {k}" for k, n in sorted(counts.items())))
    print(f"{len(chosen) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
