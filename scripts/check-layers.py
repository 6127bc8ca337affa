#!/usr/bin/env python3
"""Checks that each folder includes only what it may, and other rules of the tree: see "Layers" in docs/architecture.md.

usage: check-layers.py [--json RESULT]

Exit code: 0 if every include points where it may, else 1 with one line a finding.
"""
import argparse
import itertools
import json
import os
import re
import subprocess
import sys

from cxx_outline import is_constructor, outline

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCES = (".h", ".hpp", ".c", ".cpp", ".td", ".inc")
INCLUDE = re.compile(r'^\s*#?\s*include\s*([<"])([^>"]+)[>"]', re.M)

C_STANDARD = {"assert.h", "limits.h", "stdalign.h", "stdbool.h", "stddef.h", "stdint.h", "string.h"}
LLVM = r"(llvm|llvm-c|mlir|mlir-c|lld)/"
ONNX = r"(onnx|google/protobuf)/|.*\.pb\.h$"
ABI = r"(runtime/include/)?ingot/abi/"
COMPILER_SIDE = r"(compiler|passes|dialects|tools)/|" + LLVM + "|" + ONNX
RUNTIME_INSIDE = r"runtime/(?!include/ingot/abi/)|ingot/(?!abi/)"

# The compiler writes file formats and the runtime checks them, so they share this code.
FORMAT = r"(?!runtime/format/)"

CL_OPT = r"\bcl::opt\b"
OPENMP = r"(?i)openmp|lib[gi]?omp"
PRINTS = r"\b(?<!format\()(printf|puts|fputs|fprintf|putchar|llvm::(outs|errs|dbgs)|std::(cout|cerr))\b"
WHY_NOT = {CL_OPT: "options are structs, flags belong to tools",
           OPENMP: "threads belong to runtime/host, libraries to their own parts",
           PRINTS: "the caller prints"}

# Rows: (folder, files in it, pattern that no include may match, text that must not occur)
RULES = [
    ("runtime", r"", COMPILER_SIDE + r"|(base|client)/", None),
    ("runtime", r"(?!dnnl/)", r"(oneapi/|dnnl)", None),
    ("runtime", r"(?!cuda/)", r"cuda", None),
    ("dialects", r"", r"(base|client|passes|compiler|tools|onnx|google)/|" + RUNTIME_INSIDE, CL_OPT),
    ("dialects/onnx", r"", r"dialects/(?!onnx/)", None),
    ("dialects/nn", r"", r"dialects/(?!nn/)", None),
    ("passes", r"", r"(client|compiler|tools)/|" + ONNX + "|" + RUNTIME_INSIDE, CL_OPT),
    # ptxas is a program.
    ("passes", r"(?!cuda/emit/)", r"base/", None),
    ("passes/cuda/emit", r"", r"base/(?!Process|ScratchFolder)", None),
    ("compiler", r"(?!study/)", FORMAT + r"((client|tools)/|" + RUNTIME_INSIDE + ")", CL_OPT),
    ("compiler", r"(?!study/)", r"compiler/study/", None),
    ("compiler/study", r"", r"tools/|runtime/(?!include/)", CL_OPT),
    ("compiler/study", r"", r"iostream$", PRINTS),
    ("runtime/core", r"", r"omp\.h", OPENMP),
    ("runtime/format", r"", r"runtime/(?!format/|include/ingot/abi/)|ingot/(?!abi/)", None),
    ("base", r"", COMPILER_SIDE + r"|(runtime|ingot|client)/", None),
    ("client", r"", COMPILER_SIDE + r"|runtime/(?!include/)", None),
    ("client", r"", r"iostream$", PRINTS),
    ("compiler", r"(?!import/)", ONNX, None),
    ("compiler", r"(?!tune/|study/)", r"compiler/tune/", None),
    ("python", r"", COMPILER_SIDE + r"|(base|client|runtime)/|ingot/(?!ingot\.h$|abi/element_types\.inc$)", None),
    ("tools/ingot", r"(?!compile/|calibrate/|compare/|support/)", COMPILER_SIDE.replace("|tools", "") + r"|tools/(?!ingot/)", None),
]


def files(folder):
    for base, _, names in sorted(os.walk(os.path.join(ROOT, folder))):
        for name in sorted(names):
            if name.endswith(SOURCES):
                yield os.path.join(base, name)


def check(folder, which, forbidden, text):
    for path in files(folder):
        if not re.match(which, os.path.relpath(path, os.path.join(ROOT, folder))):
            continue
        with open(path, encoding="utf-8") as f:
            source = f.read()
        shown = os.path.relpath(path, ROOT)
        for match in INCLUDE.finditer(source):
            if re.match(forbidden, match.group(2)):
                line = source.count("\n", 0, match.start(2)) + 1
                yield f"{shown}:{line}: {folder}/ must not include {match.group(2)}"
        found = text and re.search(text, source)
        if found:
            yield f"{shown}: {folder}/ must not use {found.group(0)}: {WHY_NOT[text]}"


def check_abi():
    """Checks that the ABI headers include only standard C headers and each other."""
    for path in files("runtime/include/ingot/abi"):
        with open(path, encoding="utf-8") as f:
            for kind, name in INCLUDE.findall(f.read()):
                beside = os.path.exists(os.path.join(os.path.dirname(path), name))
                if name not in C_STANDARD and not name.startswith("ingot/abi/") and not beside:
                    yield f"{os.path.relpath(path, ROOT)}: abi headers must not include {name}"


def check_rewriting():
    """Finds calls of MLIR's greedy driver, which has no bound on rewrites and reports nothing when it gives up."""
    unbounded = re.compile(r"\b(apply(?:Op)?Patterns(?:AndFold)?Greedily|createCanonicalizerPass)\b")
    for folder in ("dialects", "passes", "compiler", "tools"):
        for path in files(folder):
            shown = os.path.relpath(path, ROOT)
            with open(path, encoding="utf-8") as f:
                for number, line in enumerate(f, 1):
                    found = not shown.startswith("passes/support/") and unbounded.search(line)
                    if found:
                        yield (f"{shown}:{number}: {found.group(1)} may run for ever: use passes/support/Rewrite.h or "
                               "createCanonicalize")


PASS = re.compile(r'^def (\w+)\s*:\s*(?!Option\b)\w+\s*<"([^"]+)"', re.M)
PREFIX = re.compile(r"^(ingot|onnx|nn|linalg|kernel|cpu|cuda|dnnl)-(?=.)")


def check_pass_names():
    """Checks that a pass, its file and its flag have one name (the flag may begin with a dialect), and that the pass
    has tests in the folder of the same name."""
    for table in files("passes"):
        if os.path.basename(table) != "Passes.td":
            continue
        folder = os.path.dirname(table)
        sources = {os.path.splitext(os.path.basename(f))[0]
                   for f in files(os.path.relpath(folder, ROOT)) if f.endswith(".cpp")}
        tests = {os.path.splitext(name)[0] for name in os.listdir(folder.replace("passes", "test/passes", 1))}
        with open(table, encoding="utf-8") as f:
            declared = PASS.findall(f.read())
        shown = os.path.relpath(table, ROOT)
        for name, flag in declared:
            if name not in sources:
                yield f"{shown}: pass {name} has no {name}.cpp in its folder"
            if name.lower() not in (flag.replace("-", ""), PREFIX.sub("", flag).replace("-", "")):
                yield f"{shown}: pass {name} and its flag {flag} have different names"
            if flag not in tests:
                yield f"{shown}: pass {name} has no test {flag}.mlir in the same folder of test/passes"


# The folders that a folder of passes may use, besides its own. No folder uses one of a later phase.
PASS_FOLDERS = {"support": "", "shape": "support", "legalize": "support|shape|backend", "graph": "support|backend",
                "quantize": "support|shape|backend", "layout": "support|shape|backend",
                "precision": "support|backend", "kernel": "support|shape", "math": "support", "backend": "support",
                "loops": "support|shape|backend", "llvm": "support|loops|math|cpu", "memory": "support",
                "cpu/policy": "support|backend", "cpu/lower": "support|shape|backend|precision|kernel|cpu/policy",
                "cpu/schedule": "support|backend|loops|cpu", "cpu/products": "support|cpu", "cpu/kernels": "support|math|cpu",
                "cpu/isa": "support|cpu", "dnnl/lower": "support|kernel", "dnnl": "support|backend|kernel",
                # Files with the class of a backend, which also adds passes of other folders.
                "cpu": "support|shape|backend|graph|kernel|loops|math|precision",
                "cuda/lower": "support|shape|backend|kernel",
                "cuda": "support|shape|backend|kernel|loops|math|precision"}


def check_pass_folders():
    for folder, allowed in PASS_FOLDERS.items():
        own = "passes/" + folder
        for path in files(own):
            with open(path, encoding="utf-8") as f:
                for _, name in INCLUDE.findall(f.read()):
                    if name.startswith("passes/") and not re.match(f"passes/({folder}|{allowed or folder})/", name):
                        yield f"{os.path.relpath(path, ROOT)}: {own} must not include {name}"


# Words that belong to one backend or to some CPUs' instructions. Each row has the words, the folders where they may
# occur, and single files with a reason.
WORDS = [
    (r"onednn|dnnl", r"(dialects|passes|runtime)/dnnl/",
     {"compiler/pipeline/Backends.inc": "the row of the backend",
      "passes/support/UserText.cpp": "names of dialects, which messages leave out",
      "runtime/include/ingot/abi/dnnl.h": "the contract with runtime/dnnl",
      "runtime/include/ingot/abi/artifact.h": "an example of a name in a table",
      "runtime/include/ingot/base.h": "an example of a library",
      "runtime/include/ingot/model.h": "examples of names in tables",
      "base/options/Compile.inc": "text of --help"}),
    (r"vnni|amx", r"(dialects|passes|runtime)/cpu/",
     {"dialects/ingot/TargetInfo.cpp": "the CPU levels", "dialects/ingot/TargetInfo.h": "the CPU levels",
      "dialects/ingot/TargetNumbers.inc": "the CPU levels",
      "runtime/include/ingot/abi/cpu_features.inc": "the CPU levels",
      "runtime/core/Variants.cpp": "asks the kernel for the state of tiles",
      "runtime/core/Variants.h": "asks the kernel for the state of tiles",
      "runtime/core/Model.cpp": "asks the kernel for the state of tiles",
      "passes/support/UserText.cpp": "names of dialects, which messages leave out",
      "passes/llvm/ConvertToLLVM.cpp": "the tail of all CPU code",
      "compiler/emit/Optimize.cpp": "the tail of all CPU code", "compiler/emit/ShareTasks.cpp": "the tail of all CPU code",
      "base/options/Compile.inc": "text of --help"}),
    (r"cuda|ptxas|nvvm", r"(dialects|passes|runtime)/cuda/|tools/(emugpu|gpu-runner)/",
     {"base/options/Compile.inc": "text of --help", "base/options/Run.inc": "text of --help",
      "compiler/pipeline/Backends.inc": "the row of the backend",
       "compiler/emit/Header.cpp": "names of devices",
       "runtime/support/TypedModelOnDevice.cpp": "kinds of devices", "runtime/support/support.h": "names of devices",
      "passes/support/UserText.cpp": "names of dialects, which messages leave out",
      "runtime/include/ingot/abi/cuda.h": "the contract with runtime/cuda",
      "runtime/include/ingot/abi/artifact.h": "kinds of devices and memory",
      "runtime/include/ingot/base.h": "kinds of memory", "runtime/include/ingot/memory.h": "kinds of memory",
      "runtime/include/ingot/ingot.hpp": "kinds of memory", "runtime/include/ingot/dlpack.h": "kinds of memory",
      "runtime/include/ingot/model.h": "names of devices",
      "runtime/core/Bind.cpp": "kinds of memory", "runtime/core/DLPack.cpp": "kinds of memory",
      "runtime/core/Describe.cpp": "kinds of devices and memory",
      "runtime/core/DeviceMemory.cpp": "kinds of memory",
      "runtime/core/Device.cpp": "names of devices", "runtime/core/Device.h": "kinds of devices",
      "runtime/core/Model.cpp": "kinds of devices", "runtime/core/Variants.cpp": "kinds of devices",
      "client/inspect/GpuCode.cpp": "the version of ptxas", "client/inspect/GpuCode.h": "the version of ptxas",
      "client/Handles.cpp": "names of devices", "client/Handles.h": "names of devices",
      "tools/ingot/InputOptions.cpp": "names of devices"}),
]


def check_words():
    for words, folders, allowed in WORDS:
        pattern, used = re.compile("(?i)" + words), set()
        for folder in ("base", "client", "compiler", "dialects", "passes", "runtime", "tools"):
            for path in files(folder):
                shown = os.path.relpath(path, ROOT)
                if re.match(folders, shown):
                    continue
                with open(path, encoding="utf-8") as f:
                    found = pattern.search(f.read())
                if not found:
                    continue
                used.add(shown)
                if shown not in allowed:
                    yield f"{shown}: names {found.group(0)}, which only its own folders may: {folders}"
        for place in set(allowed) - used:
            yield f"scripts/check-layers.py: {place} no longer names {words}: take it off the list"


WIDTH, LINES = 80, 500
# Lines that may exceed the width, because they cannot be broken: paths and rows of tables.
UNBREAKABLE = re.compile(r'\s*(#include|\|)')


def check_size():
    for folder in ("base", "client", "compiler", "dialects", "examples", "passes", "runtime", "test", "tools"):
        for path in files(folder):
            if os.path.basename(path) == "ReservedNames.inc":
                continue
            with open(path, encoding="utf-8") as f:
                for number, line in enumerate(f, 1):
                    width = len(line.rstrip("\n"))
                    if width > WIDTH and not UNBREAKABLE.match(line):
                        yield f"{os.path.relpath(path, ROOT)}:{number}: has {width} columns, but {WIDTH} is the limit"
            if number > LINES:
                yield f"{os.path.relpath(path, ROOT)}: has {number} lines, but {LINES} is the limit: split it"


def check_executable():
    """Checks that a script starts with `#!` if and only if it is executable."""
    for top in (".ci", "examples", "python", "scripts", "test", "tools"):
        for base, _, names in sorted(os.walk(os.path.join(ROOT, top))):
            for name in sorted(names):
                path = os.path.join(base, name)
                if os.path.islink(path) or not os.path.isfile(path):
                    continue
                with open(path, "rb") as f:
                    start = f.read(4)
                if start == b"\x7fELF":
                    continue  # a program that was built there
                is_script = start.startswith(b"#!")
                if is_script != os.access(path, os.X_OK):
                    shown = os.path.relpath(path, ROOT)
                    yield f"{shown}: " + ("is a script, but not executable: chmod +x" if is_script else
                                          "is executable, but does not start with #!")


def check_makefile():
    """Finds what make warns about, e.g. two recipes of one target, and targets without a line of help."""
    done = subprocess.run(["make", "-n", "help"], cwd=ROOT, capture_output=True, text=True)
    yield from done.stderr.splitlines()
    with open(os.path.join(ROOT, "Makefile"), encoding="utf-8") as file:
        text = file.read().replace("\\\n", " ")
    for name in re.search(r"^\.PHONY: (.*)$", text, re.M)[1].split():
        if not re.search(rf"^{name}:.* ## ", text, re.M):
            yield f"Makefile: {name} has no text behind `##`, so that `make help` does not list it"


# The largest number of lines in a command's folder. Commands parse, call a library and print.
COMMAND_LINES = 200


def check_commands():
    """Checks the number of lines of commands."""
    tools = os.path.join(ROOT, "tools", "ingot")
    for command in sorted(os.listdir(tools)):
        folder = os.path.join(tools, command)
        if command == "support" or not os.path.isdir(folder):
            continue
        lines = 0
        for path in files(os.path.join("tools", "ingot", command)):
            with open(path, encoding="utf-8") as f:
                lines += sum(1 for _ in f)
        if lines > COMMAND_LINES:
            yield (f"tools/ingot/{command}: has {lines} lines, but {COMMAND_LINES} is the limit: move work to client or "
                   "compiler/study")


METHODS, PARAMETERS = 25, 6
# Functions whose prototype is a contract: of libingot, or of the code that runtime/support is linked with.
PUBLISHED = re.compile(r"ingot_\w+|Observer::tensor")


def check_parameters():
    """Finds functions with too many parameters."""
    for path in itertools.chain(files("passes"), files("compiler"), files("runtime")):
        if not path.endswith((".h", ".c", ".cpp")):
            continue
        with open(path, encoding="utf-8") as f:
            functions = list(outline(f.read()))
        for function in functions:
            name = function.name
            if function.owner and "::" not in name:
                name = f"{function.owner}::{name}"
            if function.parameters > PARAMETERS and not PUBLISHED.fullmatch(name):
                yield (f"{os.path.relpath(path, ROOT)}:{function.line}: {name} has {function.parameters} parameters, but "
                       f"{PARAMETERS} is the limit: join those that belong together")


def check_methods():
    """Finds classes with too many methods in the code of kernels."""
    for path in files("passes/cpu"):
        if not path.endswith((".h", ".cpp")):
            continue
        with open(path, encoding="utf-8") as f:
            functions = list(outline(f.read()))
        shown = os.path.relpath(path, ROOT)
        methods = {}
        for function in functions:
            if function.owner and "::" not in function.name and not is_constructor(function):
                methods.setdefault(function.owner, []).append(function)
        for owner, found in methods.items():
            if len(found) > METHODS:
                yield (f"{shown}:{found[0].line}: {owner} has {len(found)} methods, but {METHODS} is the limit: split it")


# Words in the name of a constant that is a measured threshold.
DECIDES = re.compile(r"k\w*?(Fewest|Few|Least|Most|Many|Small|Large|Long|Short|Worth|Pays|Usual|Times|InCache|Wanted|Typical|Open|MaxUnrolled)(?![a-z])")
NUMBER = r"(?:int|int32_t|int64_t|uint32_t|uint64_t|unsigned|size_t|double|float)"
CONSTANTS = re.compile(r"\b(?:const|constexpr) (?:static |inline |const )*" + NUMBER + r" ([a-zA-Z]\w*(?:\[\w*\])?\s*=[^;]*);")
DECLARED = re.compile(r"(?:^|, )\s*([a-zA-Z]\w*)(?:\[\w*\])?\s*=((?:[^,{]|\{[^}]*\})*)")
LITERAL = re.compile(r"\s*[\d.']+(?:[eE]-?\d+)?f?(?:\s*(?:<<|\*)\s*\d+)*\s*")
# Sizes such as 80 << 10. Limits are named kMax....
SHIFTED = re.compile(r"\b" + NUMBER + r" (?!kMax[A-Z])(\w+)\s*=\s*[1-9][0-9]* << [0-9]+;")
# Comparisons with large numbers. int64_t(1) << n is allowed, as a bound against overflow.
BARE = re.compile(r"(?<![<>=-])[<>]=? *([1-9][0-9]{3,}|[1-9][0-9]* << [0-9]+)(?![.\w>])")
NO_THRESHOLDS = {"65520": "the least number that f16 rounds to infinity"}
# Files that may have thresholds. The thresholds of schedules are only compared with each other.
THRESHOLD_FOLDERS = r"passes/(cpu/policy/|cpu/schedule/|cuda/schedule/Machine\.h|support/Threshold)"
THRESHOLD_TABLES = ("passes/cpu/policy/Thresholds.inc", "passes/cpu/policy/KernelThresholds.inc",
                    "passes/support/Thresholds.inc")
ROW = re.compile(r'^INGOT_(THRESHOLD|CACHE_SHARE)\(((?:"[^"]*"|[^"])*?)\)\n', re.M)


def thresholds_in(source):
    """Yields the place and the name of each threshold outside a table."""
    for match in CONSTANTS.finditer(source):
        for name, value in DECLARED.findall(match.group(1)):
            named = re.match("k[A-Z]", name)
            word = name if named else "k" + name[0].upper() + name[1:]
            if DECIDES.match(word) and "threshold::" not in value and (named or LITERAL.fullmatch(value)):
                yield match.start(1), name
    for match in SHIFTED.finditer(source):
        if not DECIDES.match(match.group(1)):
            yield match.start(1), match.group(1)
    for match in BARE.finditer(source):
        line = source[source.rfind("\n", 0, match.start()) + 1:match.start()]
        if "//" not in line and match.group(1) not in NO_THRESHOLDS:
            yield match.start(), f"a comparison with {match.group(1)}"


def check_thresholds():
    """Finds measured thresholds outside of the tables from which docs/reference/thresholds.md is generated."""
    used = set()
    for path in itertools.chain(files("passes"), files("compiler/emit")):
        shown = os.path.relpath(path, ROOT)
        with open(path, encoding="utf-8") as f:
            source = f.read()
        if path.endswith((".cpp", ".h", ".td")):
            used.update(re.findall(r"\bthreshold::(\w+)", source))
        if re.match(THRESHOLD_FOLDERS, shown):
            continue
        for at, name in thresholds_in(source):
            yield (f"{shown}:{source.count(chr(10), 0, at) + 1}: {name} reads like a threshold: make it a row of "
                   "Thresholds.inc or, for GPUs, a constant of passes/cuda/schedule/Machine.h; name it kMax... if it is a limit")
    for table in THRESHOLD_TABLES:
        with open(os.path.join(ROOT, table), encoding="utf-8") as f:
            source = f.read()
        for match in ROW.finditer(source):
            name = match.group(2).split(",")[0]
            if name not in used and not re.search(r"\b%s\b" % name, source[match.end():]):
                yield f"{table}: nothing uses {name}"


# Functions with a rewriter: patterns, and the functions that they call.
REWRITES = re.compile(r"Rewriter &\w*[^;{}()]*\)\s*(?:const\s*)?(?:override\s*|final\s*)?\{")
DECLINES = re.compile(r"[^\n]*\breturn (?:mlir::)?failure\(\);|[^\n]*: (?:mlir::)?failure\(\);")


def body_of(source, start):
    depth = 1
    for end in range(start, len(source)):
        depth += {"{": 1, "}": -1}.get(source[end], 0)
        if not depth:
            return end
    return len(source)


def check_reasons():
    """Finds patterns that fail without a reason: they must report it by notifyMatchFailure."""
    for folder in ("passes/graph", "passes/kernel", "passes/layout", "passes/loops", "passes/cpu/lower", "passes/dnnl/lower"):
        for path in files(folder):
            with open(path, encoding="utf-8") as f:
                source = f.read()
            for rewrite in REWRITES.finditer(source):
                for found in DECLINES.finditer(source, rewrite.end(), body_of(source, rewrite.end())):
                    line = source.count("\n", 0, found.end()) + 1
                    yield (f"{os.path.relpath(path, ROOT)}:{line}: a pattern declines without a reason: use "
                           "notifyMatchFailure")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog="example: scripts/check-layers.py")
    parser.add_argument("--json", help="also write the result there")
    args = parser.parse_args()
    results = [("abi headers include only C standard headers", list(check_abi())),
               ("greedy rewriting has a budget", list(check_rewriting())),
               ("pass, file, flag and test have one name", list(check_pass_names())),
               ("folders of passes include what is before them", list(check_pass_folders())),
               ("words of backends and CPUs stand in their folders", list(check_words())),
               ("a pattern says why it declines", list(check_reasons())),
               ("lines have 80 columns, files 500 lines at most", list(check_size())),
               ("scripts are executable, and nothing else", list(check_executable())),
               ("make warns of nothing, and its targets are explained", list(check_makefile())),
               (f"a command has {COMMAND_LINES} lines at most", list(check_commands())),
               (f"a class of kernels has {METHODS} methods at most", list(check_methods())),
               (f"a function has {PARAMETERS} parameters at most", list(check_parameters())),
               ("thresholds are rows of tables", list(check_thresholds()))]
    for folder, which, forbidden, text in RULES:
        label = f"{folder}/ {'(' + which + ') ' if which else ''}does not include {forbidden}"
        results.append((label, list(check(folder, which, forbidden, text))))
    findings = [line for _, lines in results for line in lines]
    print("\n".join(findings) or f"{len(results)} rules hold")
    if args.json:
        tests = [{"name": n, "status": "failed" if l else "passed", "detail": "\n".join(l)} for n, l in results]
        with open(args.json, "w") as f:
            json.dump({"tests": tests}, f)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
