# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m ingot` is the command `ingot`."""
import os
import sys


def main() -> None:
    """Replaces this process by the program of ingot-compiler."""
    try:
        from ingot_compiler import executable
    except ModuleNotFoundError:
        sys.exit("ingot: the command needs the package ingot-compiler; install it with pip")
    os.execv(executable(), ["ingot", *sys.argv[1:]])


if __name__ == "__main__":
    main()
