#!/usr/bin/env python3
"""Finds comments and other texts that break the mechanical rules of CONTRIBUTING.md, "Language".

usage: check-comments.py [--json RESULT] [FOLDER]

The rules: no sentence begins with What, Of, That, Those, Whether or The same; no sentence has more than 25 words; no
comment begins with a pronoun, whose noun would be elsewhere. The rules also hold for summaries, descriptions and option
texts of .td files, and for messages: string literals of two words or more in dialects, passes and compiler. In messages,
"is no" and "has not" are not allowed.

Exit code: 0 if no text breaks a rule, else 1 with one line a text.
"""
import argparse
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ("base", "client", "compiler", "dialects", "examples", "passes", "python", "runtime", "scripts", "test", "tools")
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


def sentences(block, end=r'(?<=[.!?])\s+(?=[A-Z`"])'):
    """Splits a comment into sentences. An empty line and a line that is no text end one."""
    parts = [[]]
    for line in block:
        if not line.strip() or NO_TEXT.match(line):
            parts.append([])
        else:
            parts[-1].append(line.strip())
    for part in parts:
        text = re.sub(r"`[^`]*`", "CODE", " ".join(part))
        yield from (s for s in re.split(end, text) if s.strip())


def problem(block, *end):
    """Returns the first rule that a comment breaks, or None."""
    for number, sentence in enumerate(sentences(block, *end)):
        if FIRST_WORD.match(sentence):
            return f"a sentence begins with '{FIRST_WORD.match(sentence).group(0)}'"
        if number == 0 and PRONOUN.match(sentence):
            return f"begins with the pronoun '{PRONOUN.match(sentence).group(0)}'"
        if len(sentence.split()) > MOST_WORDS:
            return f"a sentence has {len(sentence.split())} words"
    return None


STRING = r'"((?:\\.|[^"\\\n])*)"'
TD_TEXT = re.compile(r"\[\{(.*?)\}\]|" + STRING + r"(?:\s*" + STRING + ")*", re.S)
# A sentence may begin with the name of an operand; constraints have semicolons.
TD_END = r'(?<=[.!?;:])(?<!e\.g\.)\s+'
# Comments, characters and raw strings are no messages.
NOT_A_MESSAGE = re.compile(r'//[^\n]*|/\*.*?\*/|R"\(.*?\)"|\'(?:\\.|[^\'\\\n])+\'|#include[^\n]*', re.S)
MESSAGE = re.compile(rf"(<<\s*|\+\s*)?({STRING}(?:\s*{STRING})*)", re.S)
MESSAGE_FOLDERS = ("compiler", "dialects", "passes")
FEWEST_WORDS, FEWEST_IN_MESSAGE = 4, 2
ODD = re.compile(r"(?<!there )\b(?:is|are|was|were) no\b(?! (?:longer|more|less|slower|faster|larger|smaller))|\b(?:has|have) not\b(?! been)|\bsa(?:ys|id) so\b"
                 r"|^(?:what|of|that|those|whether) ")


def join_literals(text):
    """Returns the text of neighbouring string literals."""
    return "".join(re.findall(STRING, text)).replace("\\n", "\n").replace('\\"', '"')


def definitions(path):
    """Yields the summaries, descriptions and option texts of a .td file as (line, text)."""
    with open(path, encoding="utf-8") as f:
        source = f.read()
    source = re.sub(r"^\s*//[^\n]*", "", source, flags=re.M)
    for found in TD_TEXT.finditer(source):
        line = source.count("\n", 0, found.start()) + 1
        before = source[:found.start()].rstrip()
        if found.group(1) is not None:
            if not re.search(r"let (?:description|summary) =$", before):
                continue
            text = re.sub(r"```.*?```", "", found.group(1), flags=re.S)
            lines = text.split("\n")
            indent = min((len(one) - len(one.lstrip()) for one in lines if one.strip()), default=0)
            block = []
            for one in lines:
                item = re.match(r"\s*(?:- |\d+\. )(.*)", one)
                block += ["", item.group(1)] if item else ["", ""] if one.lstrip().startswith("|") else [one[indent:].strip()]
            yield line, block
        else:
            text = join_literals(found.group(0))
            if len(text.split()) >= FEWEST_WORDS:
                yield line, [text]


def messages(path):
    """Yields the string literals of a C++ file that have several words, as (line, text)."""
    with open(path, encoding="utf-8") as f:
        source = f.read()
    source = NOT_A_MESSAGE.sub(lambda found: re.sub(r"[^\n]", " ", found.group(0)), source)
    for found in MESSAGE.finditer(source):
        text = join_literals(found.group(2))
        if len(text.split()) >= FEWEST_IN_MESSAGE:
            yield source.count("\n", 0, found.start()) + 1, [" " + text if found.group(1) else text]


def message_problem(block):
    """Returns the first rule that a message breaks, or None."""
    few = len(block[0].split()) < FEWEST_WORDS
    found = ODD.search(" " + block[0] if few else block[0])
    return f"a message has '{found.group(0).strip()}'" if found else problem([block[0].strip()])


def texts(path, shown):
    """Yields all texts of a file as (line, text, the problem that it has)."""
    for line, block in comments(path):
        yield line, block, problem(block)
    if path.endswith(".td"):
        for line, block in definitions(path):
            yield line, block, problem(block, TD_END)
    elif path.endswith((".h", ".cpp", ".inc")) and shown.startswith(MESSAGE_FOLDERS):
        for line, block in messages(path):
            yield line, block, message_problem(block)


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
        for line, _, why in texts(path, shown):
            count += 1
            if why:
                found.append(f"{shown}:{line}: {why}")
    lines = [line for found in findings.values() for line in found]
    print("\n".join([*lines, f"{len(lines)} of {count} texts break a rule"]))
    if args.json:
        tests = [{"name": f"text of {folder}", "status": "failed" if found else "passed", "detail": "\n".join(found)}
                 for folder, found in sorted(findings.items())]
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump({"tests": tests}, f)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
