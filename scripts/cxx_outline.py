"""Finds the classes and functions of C++ sources, with their methods and parameters.

It only matches brackets, so it works for sources in the style of this tree.
"""
import collections
import re

Function = collections.namedtuple("Function", "name owner parameters line is_definition")

COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
CLASS = re.compile(r"\b(?:class|struct)\s+(?:\w+\s+)*?([\w:]+)(?:<[^{};]*>)?\s*(?:final\s*)?(?::[^:].*)?$", re.S)
NOT_FUNCTIONS = re.compile(r"^\s*(?:using|typedef|friend|static_assert|return|extern|if|for|while|switch|do|else)\b")


def blank(match):
    """Returns spaces in place of the text, so that line numbers stay the same."""
    return re.sub(r"[^\n]", " ", match.group(0))


def closing(text, start):
    """Returns the position of the bracket that closes the one at `start`."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at
    return len(text)


def angle(text, at):
    """Returns the change of the depth of template brackets at the character `at`: 1, -1 or 0."""
    if text[at] == "<" and text[at - 1 : at + 1] != "<<" and text[at : at + 2] != "<<":
        return 1
    if text[at] == ">" and text[at - 1 : at + 1] != "->":
        return -1
    return 0


def split(text):
    """Splits parameters at the commas between them."""
    depth, parts, begin = 0, [], 0
    for at, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}") + angle(text, at)
        if char == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    return [part for part in parts + [text[begin:]] if part.strip() not in ("", "void")]


def function_of(statement):
    """Returns the name and the parameters of the function that a statement declares, or None."""
    if NOT_FUNCTIONS.match(statement) or "operator" in statement:
        return None
    depth = 0
    for at, char in enumerate(statement):
        depth += angle(statement, at)
        if char == "=" and depth == 0:
            return None
        if char == "(" and depth == 0:
            name = re.search(r"((?:\w+(?:<[^<>]*>)?::)*~?\w+)\s*$", statement[:at])
            before = name and statement[: name.start()].strip()
            if not name or (not before and "::" not in name.group(1) and not statement[at:].strip()):
                return None
            return name.group(1), split(statement[at + 1 : closing(statement, at)]), before
    return None


def is_initializer(head):
    """Returns true if a bracket behind `head` holds the value of a member, in the initializers of a constructor."""
    return re.search(r"\)\s*:(?!:).*[\w>]$", head, re.S) is not None


def outline(source):
    """Yields each function that is declared or defined at the scope of a namespace or a class."""
    text = DIRECTIVE.sub(blank, COMMENT_OR_TEXT.sub(blank, source))
    text = re.sub(r"\b(?:public|private|protected):(?!:)", lambda m: " " * (len(m.group(0)) - 1) + ";", text)

    def scope(at, end, owner):
        begin = at
        while at < end:
            char = text[at]
            if char in "([":
                at = closing(text, at)
            elif char == ";":
                yield from emit(begin, at, owner, False)
                begin = at + 1
            elif char == "{" and is_initializer(text[begin:at]):
                at = closing(text, at)
            elif char == "{":
                close = closing(text, at)
                head = re.sub(r"template\s*<[^{};]*?>\s*(?=(?:class|struct)\b)", "", text[begin:at])
                named = CLASS.search(head.strip()) if "(" not in head else None
                if re.search(r"\bnamespace\b[^;(]*$", head) or re.fullmatch(r"\s*extern\s*", head):
                    yield from scope(at + 1, close, owner)
                elif named and "=" not in head:
                    yield from scope(at + 1, close, named.group(1))
                elif function_of(head):
                    yield from emit(begin, at, owner, True)
                at, begin = close, close + 1
            at += 1

    def emit(begin, end, owner, is_definition):
        statement = text[begin:end]
        found = function_of(statement)
        if found:
            name, parameters, before = found
            first = begin + len(statement) - len(statement.lstrip())
            is_constructor = owner and name.split("::")[-1].lstrip("~") == owner.split("::")[-1]
            if before or is_constructor or "::" in name:
                yield Function(name, owner, len(parameters), text.count("\n", 0, first) + 1, is_definition)

    yield from scope(0, len(text), None)


def is_constructor(function):
    """Returns true if the function is a constructor or a destructor."""
    parts = function.name.split("::")
    owner = parts[-2] if len(parts) > 1 else (function.owner or "").split("::")[-1]
    return parts[-1].lstrip("~") == owner
