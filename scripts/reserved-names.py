#!/usr/bin/env python3
"""Writes compiler/emit/ReservedNames.inc: names that C, C++ and POSIX reserve, which functions of a model must not get.

usage: reserved-names.py

Asks the system's compiler what the standard headers define and declare at file scope. Run it by hand when a new
standard is to be known; the list is checked in, so that the same model gets the same names on every machine.
"""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
C = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic
stdbool stddef stdint stdio stdlib stdnoreturn string threads time uchar wchar wctype""".split()
POSIX = """aio arpa/inet dirent dlfcn fcntl fmtmsg fnmatch ftw glob grp iconv langinfo libgen monetary mqueue net/if netdb
netinet/in netinet/tcp nl_types poll pthread pwd regex sched search semaphore spawn strings sys/ipc sys/mman sys/msg
sys/resource sys/select sys/sem sys/shm sys/socket sys/stat sys/statvfs sys/time sys/times sys/types sys/uio sys/un
sys/utsname sys/wait syslog termios unistd utime utmpx wordexp""".split()
NOT_CPP = {"stdatomic", "stdnoreturn", "threads", "iso646"}
KEYWORDS = """alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand bitor bool break case
catch char char16_t char32_t char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
constinit continue decltype default delete do double dynamic_cast else enum explicit export extern false final float for
friend fortran goto if import inline int long main module mutable namespace new noexcept not not_eq nullptr operator or
or_eq override private protected public reflexpr register reinterpret_cast requires restrict return short signed sizeof
static static_assert static_cast std struct switch synchronized template this thread_local throw true try typedef typeid
typename typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq""".split()


def preprocess(language, standard, headers, *options):
    done = subprocess.run(["cc", "-x", language, f"-std={standard}", "-E", "-P", *options, "-"], check=True, text=True,
                          input="".join(f"#include <{name}.h>\n" for name in headers), capture_output=True)
    return done.stdout


def declared(text):
    """Returns the identifiers that a declaration declares: those before the end of a declarator, outside of
    brackets."""
    depth, last, found = 0, "", set()
    for token in re.findall(r'"(?:\\.|[^"])*"|[A-Za-z_]\w*|[^\sA-Za-z_]', text):
        if depth == 0 and token in "(;,=[" and re.match(r"[A-Za-z]\w*$", last):
            found.add(last)
        depth += token in ("(", "{", "[")
        depth -= token in (")", "}", "]")
        last = token
    return found


def main():
    words = set(KEYWORDS)
    for language, standard, headers in (("c", "gnu11", C + POSIX), ("c++", "gnu++17",
                                                                    [h for h in C + POSIX if h not in NOT_CPP])):
        words |= set(re.findall(r"#define ([A-Za-z]\w*)", preprocess(language, standard, headers, "-dM")))
    words |= declared(preprocess("c", "gnu11", C + POSIX))
    lines, line = [], ""
    for word in sorted(words):
        if len(line) + len(word) > 110:
            lines.append(line)
            line = ""
        line += word + " "
    lines.append(line)
    with open(os.path.join(ROOT, "compiler", "emit", "ReservedNames.inc"), "w") as f:
        f.write("// Written by scripts/reserved-names.py.\n")
        f.writelines(f'    "{line}"\n' for line in lines)
    print(f"{len(words)} names")


if __name__ == "__main__":
    main()
