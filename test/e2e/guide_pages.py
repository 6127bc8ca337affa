#!/usr/bin/env python3
"""Runs the commands of the guide in order, and compares what they print with the pages.

usage: guide_pages.py [--bin DIR] [--write] [--keep DIR] [PAGE ...]

Every `sh` block of docs/guide is run, page by page, in one folder; variables and files stay from block to block. A block
with `title="NAME"` is a file that is written there. A `text` block is the output of the `sh` block before it. Numbers,
sizes, hashes and CPU levels may differ; `…` stands for any part of a line, and alone for any lines. Two comments change
how the next output is compared: `<!-- real -->` skips it for models that stand in for the real ones, and `<!-- exact -->`
also compares numbers.

Run as a program, it uses the real models and needs the Python environment of `make guide`. With --write, it replaces the
output in the pages by the output of this run. `test_guide.py` runs the same pages with small models.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GUIDE = os.path.join(ROOT, "docs", "guide")
FENCE = re.compile(r"^(?P<comment><!-- (?P<mark>real|exact) -->\n)?```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.M | re.S)
TITLE = re.compile(r'title="([^"]+)"')
LEVELS = r"\b(native|x86-64-v[234]|alderlake|cascadelake|znver4|avx512fp16|sapphirerapids)\b"
# Warnings that only a busy machine prints.
NOISE = re.compile(r"^ingot bench: warning: (latency is unstable|this process was stopped)")


class Page:
    """A page of the guide, as a list of blocks."""

    def __init__(self, path):
        self.path, self.name = path, os.path.basename(path)
        with open(path, encoding="utf-8") as f:
            self.text = f.read()
        self.blocks = list(FENCE.finditer(self.text))

    def line(self, block):
        return self.text.count("\n", 0, block.start("info")) + 1


def pages(names=()):
    found = sorted(glob.glob(os.path.join(GUIDE, "[0-9]-*.md")))
    return [Page(path) for path in found if not names or any(name in path for name in names)]


def normalize(line):
    """Replaces all that may differ between two machines or two runs."""
    line = re.sub(r"\((sse|avx)[^)]*\)?", "(FEATURES)", line)
    line = line.removesuffix(", used here")
    line = re.sub(r"\b[0-9a-f]{16,64}\b", "#", line)
    line = re.sub(LEVELS, "LEVEL", line)
    line = re.sub(r"(?<![\w.])-(?=\d)", "", line)
    line = re.sub(r"\d+(\.\d+)?(e[+-]?\d+)?", "#", line)
    line = re.sub(r"# ?(KiB|MiB|GiB|B)\b", "#B", line)
    return re.sub(r"\s+", " ", line).strip()


def matches(want, got, exact):
    """Returns true if the lines `got` match the pattern lines `want`."""
    def prepare(line):
        return re.sub(r"\s+", " ", line).strip() if exact else normalize(line)

    pattern = []
    for line in want.rstrip("\n").split("\n"):
        if line.strip() == "…":
            pattern.append(r"(?:[^\n]*\n)*?")
        else:
            pattern.append("[^\n]*?".join(map(re.escape, prepare(line).split("…"))) + r" *\n")
    text = "".join(prepare(line) + "\n" for line in got.rstrip("\n").split("\n"))
    return re.fullmatch("".join(pattern), text) is not None


def shown(output):
    return "".join(line for line in output.splitlines(keepends=True) if not NOISE.match(line))


class Reader:
    """A reader of the guide: a folder, a shell that keeps its variables, and replacements for commands that cannot
    run."""

    def __init__(self, folder, checkout, environment, replace, real):
        self.folder, self.checkout, self.environment = folder, checkout, environment
        self.replace, self.real = replace, real
        self.state = os.path.join(folder, ".state")
        self.commands = 0

    def prepare(self, line):
        """Returns the command to run instead of a line of a page."""
        for pattern, replacement in self.replace:
            if re.search(pattern, line):
                line = replacement(line) if callable(replacement) else replacement
                break
        return line.replace("/path/to/this/checkout", self.checkout)

    def shell(self, body):
        lines = [self.prepare(line) for line in body.splitlines()]
        self.commands += sum(bool(line.strip()) and not line.startswith((" ", "#")) for line in lines)
        before = f". {self.state}\n" if os.path.exists(self.state) else ""
        script = before + "\n".join(lines) + f"\nexport -p > {self.state}\n"
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=self.folder, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, timeout=1200)
        return done.returncode, shown(done.stdout.replace(self.folder, "/work").replace(self.checkout, "/ingot"))

    def read(self, page, write=False):
        """Follows a page. Returns a list of problems; with `write`, the page's new text and the list."""
        problems, output, at, text = [], None, 0, []
        for block in page.blocks:
            language, title = block["info"].split(" ")[0], TITLE.search(block["info"])
            where = f"{page.name}:{page.line(block)}"
            if title:
                with open(os.path.join(self.folder, title[1]), "w", encoding="utf-8") as f:
                    f.write(block["body"])
            elif language == "sh":
                code, output = self.shell(block["body"])
                if code:
                    problems.append(f"{where}: exit code {code}\n{block['body']}\n{output}")
            elif language == "text":
                if output is None:
                    problems.append(f"{where}: output of no command")
                    continue
                good = matches(block["body"], output, block["mark"] == "exact")
                if write and (not good or block["body"].strip() == "…"):
                    text += [page.text[at:block.start("body")], output.rstrip("\n") + "\n"]
                    at = block.end("body")
                elif not good and (self.real or not block["mark"]):
                    problems.append(f"{where}: the page has\n{block['body']}but this was printed\n{output}")
                output = None
            else:
                problems.append(f"{where}: code that no command runs")
        return ("".join(text) + page.text[at:], problems) if write else problems


def make_checkout(folder, build):
    """Makes a checkout whose build folder is the one under test."""
    os.makedirs(folder)
    for name in ("runtime", "examples", "Makefile", "scripts", "docs"):
        os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
    os.symlink(build, os.path.join(folder, "build"))
    return folder


def clean_environment(**more):
    dropped = ("LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "INGOT_MAX_ISA", "INGOT_DEPS")
    return {**{k: v for k, v in os.environ.items() if k not in dropped}, "PYTHONWARNINGS": "ignore", **more}


def have_docker():
    return bool(shutil.which("docker")) and not subprocess.run(["docker", "info"], capture_output=True).returncode


def common_replacements(python_prefix):
    """Returns replacements for commands that install, build for an hour, or need something that this machine lacks."""
    docker = have_docker()
    spaces = not subprocess.run(["unshare", "--map-root-user", "true"], capture_output=True).returncode
    return [
        (r"^make ", lambda line: line.replace("make ", "make -n ", 1) + " > /dev/null"),
        (r"-m venv ", f"ln -sfn {python_prefix} venv"),
        (r"^(venv/bin/)?pip install|-m pip install", "true"),
        (r"^docker ", lambda line: line if docker else "true"),
        (r"^unshare ", lambda line: line if spaces else re.sub(r"^unshare \S+ ", "", line)),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="a part of a page's name; pages need those before them")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="where the tools are")
    parser.add_argument("--write", action="store_true", help="write output that differs into the pages")
    parser.add_argument("--keep", metavar="DIR", help="follow the guide in this folder, and keep it")
    args = parser.parse_args()
    folder = os.path.abspath(args.keep) if args.keep else tempfile.mkdtemp(prefix="ingot-guide-")
    try:
        checkout = os.path.join(folder, ".checkout")
        if not os.path.exists(checkout):
            make_checkout(checkout, os.path.dirname(os.path.abspath(args.bin)))
        reader = Reader(folder, checkout, clean_environment(), common_replacements(sys.prefix), real=True)
        failed = 0
        for page in pages(args.pages):
            print(f"guide: {page.name}", flush=True)
            if args.write:
                text, problems = reader.read(page, write=True)
                with open(page.path, "w", encoding="utf-8") as f:
                    f.write(text)
            else:
                problems = reader.read(page)
            for problem in problems:
                print(problem)
            failed += len(problems)
        print(f"guide: {reader.commands} commands, {failed} differences")
        return 1 if failed else 0
    finally:
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
