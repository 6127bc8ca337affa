#!/usr/bin/env python3
"""Prints docs/reference/python-api.md from the docstrings of the Python packages. scripts/gen-docs.sh calls it."""
import ast
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RUNTIME, COMPILER = "python/runtime/ingot", "python/compiler/ingot_compiler"
EXTENSION = "python/runtime/src/Module.cpp"
# Sections: a title, an introduction, and (file, names). No names: all public ones.
SECTIONS = [
    ("Models", "", [(f"{RUNTIME}/_model.py", ["load", "Model", "Context", "Profile"]),
                    (f"{RUNTIME}/_pool.py", ["Pool"]), (f"{RUNTIME}/_core.pyi", ["cpu_count", "cpu_level"])]),
    ("Descriptions", "", [(f"{RUNTIME}/_descriptions.py", ["TensorSpec", "SizeRange", "ModelInfo", "Layer", "Inferred",
                                                   "Times"])]),
    ("Compiler", "The package `ingot-compiler` adds these functions. Options are those of the commands of the same names: "
     "[command line](command-line.md). Results are dataclasses with the members of the [JSON documents](json/README.md).",
     [(f"{COMPILER}/_commands.py", []), (f"{COMPILER}/_process.py", ["Progress", "executable"])]),
    ("Errors", "", [(f"{RUNTIME}/_errors.py", []), (f"{COMPILER}/_errors.py", [])]),
    ("ingot.onnxruntime", None, [(f"{RUNTIME}/onnxruntime.py", [])]),
    ("ingot.ray", None, [(f"{RUNTIME}/ray.py", [])]),
    ("ingot_compiler.torch", None, [(f"{COMPILER}/torch.py", [])]),
]
# Names that are no part of the interface although they have no underscore.
LEFT_OUT = {"make", "Path", "Result", "Array", "Diagnostic.of_line"}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def extension_docs():
    """Returns the docstrings of the extension module: {"run": ..., "Pool": ...}."""
    found = re.findall(r'static const char (\w+)Documentation\[\]\s*=\s*((?:"(?:[^"\\]|\\.)*"\s*)+);', read(EXTENSION))
    return {name: "".join(ast.literal_eval(part) for part in re.findall(r'"(?:[^"\\]|\\.)*"', text))
            for name, text in found}


def text_of(docstring):
    """Returns a docstring as Markdown: a line "name: meaning" becomes an item of a list."""
    lines, fenced = [], False
    for line in (docstring or "").splitlines():
        if line.startswith("    ") and (fenced or not lines or not lines[-1].strip()):
            lines += ["```python"] * (not fenced) + [line[4:]]
            fenced = True
            continue
        if fenced and line.strip():
            while lines[-1] == "":
                lines.pop()
            lines += ["```", ""]
            fenced = False
        item = re.match(r"(\w+): (.*)", line)
        is_next = bool(lines) and lines[-1].startswith(("- `", "  "))
        if item and item[1] not in ("Raises", "Note"):
            lines.append(f"- `{item[1]}`: {item[2]}")
        elif is_next and line.strip():
            lines.append("  " + line.strip())
        else:
            lines.append(line)
    lines += ["```"] * fenced
    return "\n".join(lines).strip()


def signature(function, name, is_method):
    arguments = ast.unparse(function.args)
    is_static = any(getattr(d, "id", "") == "staticmethod" for d in function.decorator_list)
    if is_method and not is_static:
        arguments = re.sub(r"^self(, )?", "", arguments)
    # Keywords that are caught only to be refused.
    arguments = arguments.replace(", **names: Any", "")
    result = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"{'async ' * isinstance(function, ast.AsyncFunctionDef)}{name}({arguments}){result}"


def comment_above(source, item):
    """Returns the text of the comments `#:` above a statement."""
    lines, at = source.splitlines(), item.lineno - 2
    words = []
    while at >= 0 and lines[at].strip().startswith("#:"):
        words.insert(0, lines[at].strip()[2:].strip())
        at -= 1
    return " ".join(words)


def is_public(name):
    return not name.startswith("_") or name in ("__init__", "__call__")


def members(source, owner, docs):
    """Yields (heading, text) of the public members of a class."""
    for item in owner.body:
        if isinstance(item, ast.AnnAssign) and is_public(item.target.id):
            yield f"{item.target.id}: {ast.unparse(item.annotation)}", comment_above(source, item)
        elif isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)) and is_public(item.name):
            text = ast.get_docstring(item) or docs.get(item.name.strip("_"))
            decorators = [ast.unparse(d) for d in item.decorator_list]
            if f"{owner.name}.{item.name}" in LEFT_OUT or not text:
                continue
            if any(d.endswith("property") for d in decorators):
                yield f"{item.name}: {ast.unparse(item.returns)}", text
            else:
                yield signature(item, item.name, True), text


def describe(source, item, docs):
    """Yields the lines of a function or class."""
    if not isinstance(item, ast.ClassDef):
        yield from ["", f"### {item.name}", "", "```python", signature(item, item.name, False), "```", "",
                    text_of(ast.get_docstring(item) or docs.get(item.name))]
        return
    bases = ", ".join(ast.unparse(base) for base in item.bases if ast.unparse(base) != "NamedTuple")
    made = next((f for f in item.body if isinstance(f, ast.FunctionDef) and f.name == "__init__"), None)
    yield from ["", f"### {item.name}", "", "```python"]
    yield signature(made, item.name, True).removesuffix(" -> None") if made and not bases.endswith("Error") else \
        f"class {item.name}" + f"({bases})" * bool(bases and not bases.startswith("_core"))
    yield from ["```", "", text_of(ast.get_docstring(item) or docs.get(item.name))]
    rows = list(members(source, item, docs))
    if item.name == "Model":  # The extension module has the rest of the class.
        stub = read(f"{RUNTIME}/_core.pyi")
        native = next(c for c in ast.parse(stub).body if isinstance(c, ast.ClassDef) and c.name == "Model")
        rows += [row for row in members(stub, native, docs) if not row[0].startswith("__init__")]
    fields = [heading for heading, text in rows if not text]
    yield from ["", *(f"- `{heading}`" for heading in fields)] if fields else []
    for heading, text in rows:
        if text:
            yield from ["", f"**`{heading}`**", "", text_of(text)]


def main():
    docs = extension_docs()
    lines = ["# Python API", "", "Every public class and function of the packages `ingot-runtime` and `ingot-compiler`. "
             "[Python](../guide/python.md) shows how to use them."]
    for title, intro, files in SECTIONS:
        files = [(path, names) for path, names in files if os.path.exists(os.path.join(ROOT, path))]
        if not files:
            continue
        if intro is None:
            intro = text_of(ast.get_docstring(ast.parse(read(files[0][0]))))
        lines += ["", f"## {title}", *(["", intro] if intro else [])]
        for path, names in files:
            source = read(path)
            known = {item.name: item for item in ast.parse(source).body
                     if isinstance(item, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))}
            for name in names or [n for n in known if is_public(n) and n not in LEFT_OUT and n != "__call__"]:
                lines += describe(source, known[name], docs)
    sys.stdout.write(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n")


if __name__ == "__main__":
    main()
