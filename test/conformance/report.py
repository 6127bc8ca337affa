"""Writes the conformance results as a page: totals by kind of test, and a table per operator."""
import collections
import json
import os
import re

import onnx

KIND_TEXT = {"node": "node", "simple": "simple", "pytorch-converted": "PyTorch, converted",
             "pytorch-operator": "PyTorch, operators", "light": "light models"}


def reason(outcome):
    """Returns why a test does not pass, short enough for a cell."""
    if outcome.kind in ("crash", "timeout"):
        return f"{outcome.kind} {outcome.detail}".strip()
    text = outcome.detail
    text = re.sub(r"^.*?model\.onnx:?\s*", "", text)
    text = re.sub(r"^error:\s*", "", text)
    text = re.sub(r"^(\S+) \(opset \d+\) ", r"\1 ", text)  # differs from test to test
    if outcome.kind == "wrong":
        text = "wrong result: " + text
    text = text.replace("|", "\\|").replace("<", "&lt;")
    return text if len(text) <= 140 else text[:137] + "..."


def group(results):
    """Returns ({kind: Counter of statuses}, {operator: [(test, outcome)]}) of {name: (case folder, outcome)}."""
    by_kind = collections.defaultdict(collections.Counter)
    by_op = collections.defaultdict(list)
    for name, (folder, outcome) in results.items():
        with open(os.path.join(folder, "case.json")) as f:
            case = json.load(f)
        by_kind[case["kind"]][outcome.status] += 1
        if case["kind"] == "node":
            by_op[case["subject"] or "(several)"].append((case["name"], outcome))
    return by_kind, by_op


def summary(results):
    """Returns a few lines for the README: totals, and the number of operators without a gap."""
    by_kind, by_op = group(results)
    whole = sum(all(o.kind == "pass" for _, o in tests) for tests in by_op.values())
    part = sum(any(o.kind == "pass" for _, o in tests) for tests in by_op.values()) - whole
    lines = ["| ONNX's backend tests | all | pass |", "|---|---|---|"]
    lines += [f"| {text} | {sum(by_kind[kind].values())} | {by_kind[kind]['passed']} |"
              for kind, text in KIND_TEXT.items() if kind in by_kind]
    lines += ["", f"All node tests pass for {whole} operators, some for {part} more; "
              "[conformance](docs/measured/conformance.md) lists them all, with what is missing."]
    return "\n".join(lines)


def update_readme(path, results):
    """Replaces the text between the two markers."""
    with open(path) as f:
        text = f.read()
    begin, end = "<!-- conformance: written by `make conformance` -->\n", "<!-- end of conformance -->"
    head, rest = text.split(begin)
    with open(path, "w") as f:
        f.write(head + begin + summary(results) + "\n" + end + rest.split(end)[1])


# For tests with other results: the reason why the result is accepted.
DIFFERENT = {
    "node/test_resize_downsample_scales_linear_align_corners": "align_corners",
    "node/test_resize_downsample_scales_cubic_align_corners": "align_corners",
    "node/test_dft_inverse": "rounding",
    "node/test_dft_inverse_opset19": "rounding"}
BECAUSE = {
    "align_corners": "the corners of 4 elements and of 2.4, which is what a scale of 0.6 leaves before it is rounded down: the "
                     "last element then lies inside the input. ONNX Runtime and PyTorch, from which such models come, align "
                     "the corners of 4 elements and of 2, and so does Ingot.",
    "rounding": "values that are 0 but for what the sum of 10 rounded products leaves, 1.9e-7 beside values of up to 54, which "
                "is less than the rounding of one of them; the test allows 1e-7."}


def differences(results):
    """Lists the tests with different results, and the reasons why they stay."""
    groups = collections.defaultdict(list)
    for name, (_, outcome) in results.items():
        if outcome.kind == "wrong":
            groups[DIFFERENT.get(name)].append(name)
    if not groups:
        return []
    lines = ["", "## Different results", ""]
    for why, names in groups.items():
        tests = ", ".join(f"`{name}`" for name in names)
        lines.append(f"- {tests}: {'expected are ' + BECAUSE[why] if why else 'not understood yet.'}")
    return lines


def open_page(results):
    """Returns the results of the tests with dynamic dimensions."""
    if not results:
        return []
    tried = {n: o for n, o in results.items() if o.kind != "closed"}
    passed = [o for o in tried.values() if o.kind == "pass"]
    lists = sum(o.form == "but lists" for o in passed)
    lines = ["", "## Open dimensions", "",
             "The tests that pass are compiled once more with every dimension of every input open, each with a name of its "
             "own, and without what the model says of shapes inside, and run at the test's sizes "
             "(`test/conformance/run.py --open`). Dimensions that decide a rank, a number of outputs or whether numbers are "
             f"complex stay as they are (`opened.py`), and where that does not compile ({lists} of those that pass), so does "
             "the length of lists of integers.", "",
             f"Of {len(results)} tests {len(results) - len(tried)} have no dimension to open. "
             f"Of the other {len(tried)}, {len(passed)} pass ({100 * len(passed) / len(tried):.1f} %).", "",
             "| what the others end with | tests |", "|---|---|"]
    missing = collections.Counter(reason(o) for o in tried.values() if o.kind != "pass")
    lines += [f"| {text} | {count} |" for text, count in missing.most_common()]
    return lines


def markdown(results, opened=None):
    """Returns the whole page; results: {name: (case folder, outcome)}, opened: {name: outcome}."""
    by_kind, by_op = group(results)
    total = sum((c for c in by_kind.values()), collections.Counter())
    lines = ["# Conformance", "",
             "<!-- Written by `make conformance`; do not edit. -->", "",
             f"ONNX {onnx.__version__}'s own backend tests, each compiled to a shared library, loaded and run, and "
             "compared within the test's own tolerances. \"Refused\" means that the compiler said in one line what "
             "it does not support.", "",
             "| tests | all | pass | fail | refused |", "|---|---|---|---|---|"]
    for kind, text in KIND_TEXT.items():
        if kind in by_kind:
            c = by_kind[kind]
            lines.append(f"| {text} | {sum(c.values())} | {c['passed']} | {c['failed']} | {c['skipped']} |")
    lines.append(f"| **all** | {sum(total.values())} | {total['passed']} | {total['failed']} | {total['skipped']} |")
    lines += ["", "## Node tests by operator", "", "| operator | tests | pass | what is missing |", "|---|---|---|---|"]
    for op in sorted(by_op, key=str.lower):
        tests = by_op[op]
        passed = sum(o.kind == "pass" for _, o in tests)
        missing = collections.Counter(reason(o) for _, o in tests if o.kind != "pass")
        text = "; ".join(f"{r} ({n})" for r, n in missing.most_common(2))
        if len(missing) > 2:
            text += f"; and {len(missing) - 2} more"
        lines.append(f"| {op} | {len(tests)} | {passed} | {text} |")
    lines += differences(results) + open_page(opened)
    return "\n".join(lines) + "\n"
