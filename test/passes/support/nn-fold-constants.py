# RUN: %python %s %ingot_src
"""Tests that every elementwise op folds for every element type for which it has code, and for no other.

The ops are those of NNElementwise.td. nn-to-linalg reports the types for which an op has no code, for example the
square root of an integer."""
import re
import subprocess
import sys

FLOATS = ["f16", "bf16", "f32", "f64"]
TYPES = ["i1", *(f"{sign}i{width}" for sign in ("", "u") for width in (8, 16, 32, 64)), "index", *FLOATS]
ATTRIBUTES = {
    "clamp": "{min = 1.0 : f64, max = 2.0 : f64}", "elu": "{alpha = 0.5 : f32}", "leaky_relu": "{alpha = 0.5 : f32}",
    "hard_sigmoid": "{alpha = 0.5 : f32, beta = 0.5 : f32}", "swish": "{alpha = 2.0 : f32}",
}
FLOATS_ONLY = {"is_inf", "gelu", "elu", "leaky_relu", "hard_sigmoid", "swish"}


def parse_ops():
    """(name, number of operands, result type or None) of each op."""
    with open(f"{sys.argv[1]}/dialects/nn/NNElementwise.td", encoding="utf-8") as f:
        text = f.read()
    for kind, name in re.findall(r'NN_(Unary|Binary|Compare)Op<"(\w+)"', text):
        logical = kind == "Compare" or name.startswith("is_")
        yield name, 1 if kind == "Unary" else 2, "i1" if logical else None


def cases():
    """(name, operand type, operands, result type)"""
    for name, count, result in parse_ops():
        for type in FLOATS if name in FLOATS_ONLY else TYPES:
            yield name, type, count, result or type
    for type in TYPES:
        for result in TYPES:
            if type != result:
                yield "cast", type, 1, result


def write(isConstant):
    lines = []
    for i, (name, type, count, result) in enumerate(cases()):
        tensor = f"tensor<2x{type}>"
        # Use no splats, and no values for which an op is undefined.
        values = {"i1": "true, false"}.get(type, "1.0, 2.0" if type in FLOATS else "1, 2")
        if type == "i1" and name in ("div", "mod", "shift_left", "shift_right"):
            values = "true, true" if name in ("div", "mod") else "false, false"
        arguments = "" if isConstant else f"%x: {tensor}"
        constant = f"%x = arith.constant dense<[{values}]> : {tensor}\n  " if isConstant else ""
        operands, types = ", ".join(["%x"] * count), ", ".join([tensor] * count)
        lines.append(f"func.func @f{i}({arguments}) -> tensor<2x{result}> {{\n  {constant}"
                     f"%y = nn.{name} {operands} {ATTRIBUTES.get(name, '')} : {types} -> tensor<2x{result}>\n"
                     f"  return %y : tensor<2x{result}>\n}}\n")
    return lines


def run(pass_name, lines):
    return subprocess.run(["ingot-opt", pass_name, "-"], input="".join(lines), capture_output=True, text=True)


def main():
    ops = list(cases())
    lines = write(isConstant=False)
    lowered = run("--nn-to-linalg", lines)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + line.count("\n"))
    places = [int(n) for n in re.findall(r"<stdin>:(\d+):\d+: error: has no lowering", lowered.stderr)]
    lacking = {i for i in range(len(ops)) for place in places if starts[i] < place <= starts[i + 1]}
    assert len(places) == lowered.stderr.count("error:") == len(lacking), lowered.stderr

    folded = run("--nn-fold-constants", write(isConstant=True))
    assert folded.returncode == 0, folded.stderr
    bodies = re.split(r"func\.func @f\d+", folded.stdout)[1:]
    assert len(bodies) == len(ops)
    kept = {i for i, body in enumerate(bodies) if " nn." in body}
    wrong = [f"nn.{ops[i][0]} of {ops[i][1]} to {ops[i][3]} {'is not folded' if i in kept else 'has no code'}"
             for i in sorted(kept ^ lacking)]
    assert not wrong, "\n".join(wrong)
    assert len(ops) > 800 and 100 < len(lacking) < len(ops) / 2, (len(ops), len(lacking))


main()
