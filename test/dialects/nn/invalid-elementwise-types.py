# RUN: %python %s %ingot_src
# Each elementwise op that NNElementwise.td declares refuses a result of a type other than the one inferred.
import os
import re
import subprocess
import sys

with open(os.path.join(sys.argv[1], "dialects", "nn", "NNElementwise.td")) as f:
    declared = re.findall(r'\b(NN_(?:Unary|Binary|Compare)Op)\s*<\s*"(\w+)"', f.read())
names = {name for _, name in declared}
assert len(declared) == len(names) > 50, declared

ATTRIBUTES = {"clamp": "{min = 0.0 : f64, max = 1.0 : f64}"}
SCALARS = {"elu": "alpha", "leaky_relu": "alpha", "swish": "alpha", "hard_sigmoid": "alpha beta"}
for op, keys in SCALARS.items():
    ATTRIBUTES[op] = "{" + ", ".join(f"{key} = 0.5 : f32" for key in keys.split()) + "}"
PREDICATES = {"is_nan", "is_inf"} | {name for kind, name in declared if kind == "NN_CompareOp"}

functions = []
for kind, name in declared:
    count = 1 if kind == "NN_UnaryOp" else 2
    operands, types = ", ".join(["%x"] * count), ", ".join(["tensor<2x3xf32>"] * count)
    element = "i1" if name in PREDICATES else "f32"
    functions.append(f"""
func.func @{name}(%x: tensor<2x3xf32>) {{
  // expected-error @+2 {{{{failed to infer returned types}}}}
  // expected-error @+1 {{{{inferred type(s) 'tensor<2x3x{element}>' are incompatible with return type(s) of operation 'tensor<2x4x{element}>'}}}}
  %0 = nn.{name} {operands} {ATTRIBUTES.get(name, "")} : {types} -> tensor<2x4x{element}>
  return
}}
""")
done = subprocess.run(["ingot-opt", "-split-input-file", "-verify-diagnostics"], input="\n// -----\n".join(functions),
                      text=True, capture_output=True)
sys.stderr.write(done.stderr)
sys.exit(done.returncode)
