# RUN: %python %s %ingot_src
# Files, passes, thresholds and questions of policies that pages about decisions name in `code` exist.
import glob
import os
import re
import subprocess
import sys

ROOT = sys.argv[1]


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


tracked = [path for folder in ("base", "compiler", "dialects", "passes", "runtime", "scripts", "test", "tools")
           for base, _, names in os.walk(os.path.join(ROOT, folder))
           for path in (os.path.join(base, name) for name in names)]
paths = {os.path.relpath(path, ROOT) for path in tracked}
names = {os.path.basename(path) for path in paths}
flags = {flag for path in paths if path.endswith("Passes.td")
         for flag in re.findall(r'(?:Pass|Cpu_\w+|_Pass)<\s*"([\w-]+)"', read(os.path.join(ROOT, path)))}
PREFIXES = ("nn-", "cpu-", "linalg-", "ingot-", "kernel-", "dnnl-", "outline-", "plan-", "place-", "emulate-", "expand-")
COMMANDS = {"ingot-opt", "ingot-import", "ingot-distinct-buffers"}
FILE = re.compile(r"[\w./-]*\b[A-Za-z][\w-]*\.(?:cpp|h|inc|td|py|mlir)")
policy = read(os.path.join(ROOT, "passes", "backend", "Policy.h"))
problems, seen = [], 0
pages = [path for pattern in ("kernels-*.md", "quantize-*.md")
         for path in sorted(glob.glob(os.path.join(ROOT, "docs", "design", pattern)))]
pages += [os.path.join(ROOT, "docs", *page) for page in (("reference", "quantization.md"), ("architecture.md",))]
for page in pages:
    text = re.sub(r"```.*?```", "", read(page), flags=re.S)
    for code in re.findall(r"`([^`]+)`", text):
        where = f"{os.path.relpath(page, ROOT)}: {code}"
        if FILE.fullmatch(code):
            seen += 1
            # A name such as `kernels/Prefetch.cpp` may be only the end of a path.
            if os.path.basename(code) not in names or not any(("/" + path).endswith("/" + code) for path in paths):
                problems.append(f"{where}: no such file")
        elif re.fullmatch(r"[a-z]+(?:-[a-z0-9]+)+", code) and code.startswith(PREFIXES) and code not in COMMANDS:
            seen += 1
            if code not in flags:
                problems.append(f"{where}: no such pass")
        elif question := re.fullmatch(r"Policy::(?:of\(op\)\.)?(\w+)", code):
            seen += 1
            if not re.search(rf"\b{question.group(1)}\(", policy):
                problems.append(f"{where}: no such question of passes/backend/Policy.h")
        elif re.fullmatch(r"[a-z][a-z0-9]*[A-Z]\w*", code):
            seen += 1
            found = subprocess.run(["grep", "-rqwF", "--include=*.h", "--include=*.cpp", "--include=*.inc", "--include=*.td", code,
                                    *(os.path.join(ROOT, folder) for folder in ("passes", "dialects", "compiler", "tools", "runtime"))],
                                   check=False)
            if found.returncode:
                problems.append(f"{where}: no such name in the code")
print("\n".join(problems), file=sys.stderr)
sys.exit(bool(problems) or seen < 100)
