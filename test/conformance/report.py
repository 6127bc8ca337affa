"""The conformance results as a page: totals by kind of test, and a table per operator."""
import collections
import json
import os
import re

import onnx

KIND_TEXT = {"node": "node", "simple": "simple", "pytorch-converted": "PyTorch, converted",
             "pytorch-operator": "PyTorch, operators", "light": "light models"}


def reason(outcome):
    """Why a test does not pass, short enough for a cell."""
    if outcome.kind in ("crash", "timeout"):
        return f"{outcome.kind} {outcome.detail}".strip()
    text = outcome.detail
    text = re.sub(r"^\S*model\.onnx:?\s*", "", text)
    text = re.sub(r"^error:\s*", "", text)
    text = re.sub(r"^(\S+) \(opset \d+\) ", r"\1 ", text)  # differs from test to test
    if outcome.kind == "wrong":
        text = "wrong result: " + text
    text = text.replace("|", "\\|").replace("<", "&lt;")
    return text if len(text) <= 140 else text[:137] + "..."


def group(results):
    """({kind: Counter of statuses}, {operator: [(test, outcome)]}) of {name: (case folder, outcome)}."""
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
    """A few lines for the README: totals, and how many operators have no gap."""
    by_kind, by_op = group(results)
    whole = sum(all(o.kind == "pass" for _, o in tests) for tests in by_op.values())
    part = sum(any(o.kind == "pass" for _, o in tests) for tests in by_op.values()) - whole
    lines = ["| ONNX's backend tests | all | pass |", "|---|---|---|"]
    lines += [f"| {text} | {sum(by_kind[kind].values())} | {by_kind[kind]['passed']} |"
              for kind, text in KIND_TEXT.items() if kind in by_kind]
    lines += ["", f"All node tests pass for {whole} operators, some for {part} more; "
              "[conformance](docs/conformance.md) lists them all, with what is missing."]
    return "\n".join(lines)


def update_readme(path, results):
    """Replaces what stands between the two markers."""
    with open(path) as f:
        text = f.read()
    begin, end = "<!-- conformance: written by `make conformance` -->\n", "<!-- end of conformance -->"
    head, rest = text.split(begin)
    with open(path, "w") as f:
        f.write(head + begin + summary(results) + "\n" + end + rest.split(end)[1])


def markdown(results):
    """The whole page; results: {name: (case folder, outcome)}."""
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
    return "\n".join(lines) + "\n"
