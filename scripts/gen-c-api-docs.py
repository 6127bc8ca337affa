#!/usr/bin/env python3
"""Prints docs/reference/c-api.md from the comments of libingot's headers. scripts/gen-docs.sh calls it."""
import os
import re
import sys

INCLUDE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "runtime", "include", "ingot")
SECTION = re.compile(r"/\* (.+?) -+\*/")
DECLARATION = re.compile(r"(?:/\*\*(?P<doc>.*?)\*/\s*)?"
                         r"(?P<code>(?:INGOT_API|typedef|enum|static inline)\b(?:[^;{}]*\{.*?^\}[^;{}]*?(?:;|$)|[^;{}]*;))", re.S | re.M)


def read(name):
    with open(os.path.join(INCLUDE, name), encoding="utf-8") as file:
        return file.read()


def plain(comment):
    """Returns the text of a comment as Markdown."""
    lines = [re.sub(r"^\* {0,2}", "", line.strip()) for line in comment.strip().splitlines()]
    text = "\n".join(lines)
    # Names of the C API are code, unless they are marked already.
    text = text.replace("ingot_<noun>_<verb>", "`ingot_<noun>_<verb>`").replace("INGOT_..._INIT", "`INGOT_…_INIT`")
    return re.sub(r"(?<![`\w])(ingot_\w+(?:\.\w+)*|INGOT_\w+)(?![`\w])", r"`\1`", text)


def name_of(code):
    found = (re.search(r"(ingot_\w+)\s*\(", code) if not code.startswith(("typedef", "enum")) else
             re.search(r"\(\*(ingot_\w+)\)", code) or re.search(r"(ingot_\w+)\s*;\s*$", code))
    if found:
        return found.group(1)
    first = re.search(r"INGOT_[A-Z0-9_]+", code)
    return first.group(0) + " …" if first else None


def declarations(text):
    for found in DECLARATION.finditer(text):
        code = found["code"]
        name = name_of(code)
        if not name:
            continue
        if code.startswith("static inline"):
            code = re.sub(r"\s*\{.*", ";", code, flags=re.S)
        yield name, plain(found["doc"] or ""), re.sub(r"^INGOT_API\s+", "", code).rstrip()


def main():
    head = re.search(r"The C API of libingot.*?(?=\n \*=+)", read("ingot.h").replace("\n *===", "\n *=="), re.S)
    intro, _, conventions = head.group(0).partition("Conventions")
    lines = ["# C API", "", plain(intro).strip(), "", "```c", "#include <ingot/ingot.h>", "```", "", "## Conventions", ""]
    lines += plain(conventions).strip().splitlines()
    for header in re.findall(r'#include "ingot/(\w+\.h)"', read("ingot.h")):
        text = read(header)
        parts = SECTION.split(text)
        for title, body in zip(parts[1::2], parts[2::2]):
            items = list(declarations(body))
            if items:
                lines += ["", f"## {title}", "", f"`ingot/{header}`"]
            for name, doc, code in items:
                lines += ["", f"### {name}", "", *([doc, ""] if doc else []), "```c", code, "```"]
    print("\n".join(lines))


if __name__ == "__main__":
    sys.exit(main())
