# Configuration of the lit suite: what a test is and which tools it may call.
import os

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "Ingot"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".onnxtxt", ".py"]
config.excludes = ["Inputs", "unit", "e2e", "conformance", "models", "fuzz", "property", "bench", "random", "sweeps", "faults", "workers", "python",
                   "lit.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.ingot_obj_root, "test")

config.substitutions.append(("%python", f'"{config.python}"'))
config.substitutions.append(("%shlibext", ".so"))
config.substitutions.append(("%ingot_src", config.ingot_src_root))
config.substitutions.append(("%cc", config.cc))

# Tests print what they find: a locale or a terminal must not change it.
config.environment["LC_ALL"] = "C.UTF-8"
config.environment["PYTHONPATH"] = os.path.join(config.ingot_src_root, "test", "models")
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "INGOT_MAX_ISA"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

llvm_config.use_default_substitutions()
for directory in (config.llvm_tools_dir, config.ingot_tools_dir):
    llvm_config.with_environment("PATH", directory, append_path=True)

# --param roundtrip=1 makes every run of ingot-opt also print, parse and print again.
# The other tools are found through PATH.
opt_args = ["--verify-roundtrip"] if lit_config.params.get("roundtrip") else []
if opt_args:
    config.available_features.add("roundtrip")
llvm_config.add_tool_substitutions(
    [ToolSubst("ingot-opt", extra_args=opt_args, unresolved="ignore"),
     ToolSubst("ingot-opt-null", extra_args=opt_args, unresolved="ignore")],
    [config.ingot_tools_dir],
)

for tool in ("ingot", "ingot-opt", "ingot-import"):
    if os.path.exists(os.path.join(config.ingot_tools_dir, tool)):
        config.available_features.add(tool)
if config.have_onednn:
    config.available_features.add("onednn")
