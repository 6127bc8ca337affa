#!/usr/bin/env python3
"""Finds comments that break the mechanical rules of CONTRIBUTING.md, "Language".

usage: check-comments.py [--json RESULT] [FOLDER]

The rules: no sentence begins with What, Of, That, Those, Whether or The same; no sentence has more than 25 words; no
comment begins with a pronoun, whose noun would be elsewhere.

Exit code: 0 if no comment breaks a rule, else 1 with one line a comment.
"""
import argparse
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ("base", "compiler", "dialects", "examples", "passes", "runtime", "scripts", "test", "tools")
C_LIKE = (".h", ".hpp", ".c", ".cpp", ".td", ".inc")
MOST_WORDS = 25

FIRST_WORD = re.compile(r"(?:What|Of|That|Those|Whether|The same)\b")
PRONOUN = re.compile(r"(?:It|They|Them|These|This|Its|Their|One|Such)\b(?! (?:file|function|class|pass|test|script|page)\b)")
LICENSE = re.compile(r"Part of Ingot|SPDX-License|===-")
# Lines of a comment that are not sentences: code, tables, drawings, lists of commands.
NO_TEXT = re.compile(r"\s{4,}|[|`#\-*]|\s*\w+:\s*$")


def is_own(path):
    """Returns true if a file's text is ours: not a list that another project generated."""
    return os.path.basename(path) != "ReservedNames.inc"


def sources():
    for folder in FOLDERS:
        for base, _, names in sorted(os.walk(os.path.join(ROOT, folder))):
            for name in sorted(names):
                if name.endswith(C_LIKE + (".py",)) and is_own(name):
                    yield os.path.join(base, name)


def comments(path):
    """Yields each comment as (line, text): neighbouring lines of // or # are one."""
    mark = re.compile(r"\s*#\s?(?!!)(.*)" if path.endswith(".py") else r"\s*///?\s?(?!/)(.*)")
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    block, begin = [], 0
    for number, line in enumerate([*lines, ""], 1):
        found = mark.fullmatch(line)
        if found and not LICENSE.search(line):
            begin = begin if block else number
            block.append(found.group(1))
            continue
        if block:
            yield begin, block
        block = []


def sentences(block):
    """Splits a comment into sentences. An empty line and a line that is no text end one."""
    parts = [[]]
    for line in block:
        if not line.strip() or NO_TEXT.match(line):
            parts.append([])
        else:
            parts[-1].append(line.strip())
    for part in parts:
        text = re.sub(r"`[^`]*`", "CODE", " ".join(part))
        yield from (s for s in re.split(r'(?<=[.!?])\s+(?=[A-Z`"])', text) if s.strip())


def problem(block):
    """Returns the first rule that a comment breaks, or None."""
    for number, sentence in enumerate(sentences(block)):
        if FIRST_WORD.match(sentence):
            return f"a sentence begins with '{FIRST_WORD.match(sentence).group(0)}'"
        if number == 0 and PRONOUN.match(sentence):
            return f"begins with the pronoun '{PRONOUN.match(sentence).group(0)}'"
        if len(sentence.split()) > MOST_WORDS:
            return f"a sentence has {len(sentence.split())} words"
    return None


def folder_of(path):
    """Returns the folder that a file is reported under: two levels where the first has folders of its own."""
    parts = os.path.relpath(path, ROOT).split(os.sep)
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog="example: scripts/check-comments.py passes/cpu")
    parser.add_argument("folder", nargs="?", default="", metavar="FOLDER", help="only files there")
    parser.add_argument("--json", metavar="RESULT", help="also write the result there")
    args = parser.parse_args()
    findings, count = {}, 0
    for path in sources():
        shown = os.path.relpath(path, ROOT)
        if not (shown + os.sep).startswith(args.folder.rstrip("/")):
            continue
        found = findings.setdefault(folder_of(path), [])
        for line, block in comments(path):
            count += 1
            why = problem(block)
            if why:
                found.append(f"{shown}:{line}: {why}")
    lines = [line for found in findings.values() for line in found]
    print("\n".join([*lines, f"{len(lines)} of {count} comments break a rule"]))
    if args.json:
        tests = [{"name": f"comments of {folder}", "status": "failed" if found else "passed", "detail": "\n".join(found)}
                 for folder, found in sorted(findings.items())]
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump({"tests": tests}, f)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
