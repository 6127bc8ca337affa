# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Words of the compiler's inside, which no message may show."""
import re

DIALECTS = ("affine", "amx", "arith", "bufferization", "builtin", "cf", "cpu", "dnnl", "func", "ingot", "linalg", "llvm",
            "math", "memref", "nn", "scf", "tensor", "vector")
WORDS = re.compile(rf"(?:tensor|memref|vector)<|'onnx\.|\b(?<![/.\w-])(?:{'|'.join(DIALECTS)})\.[a-z]\w*|"
                   r"(?<![\w.])(?:\?x|\d+x)+(?:b?f\d+|u?i\d+)\b|bug in ingot")


def find(text):
    """The first such word in a message, or nothing. Names of the model, which are quoted, must not be alike."""
    match = WORDS.search(text)
    return match.group() if match else ""
