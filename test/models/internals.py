# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Internal words of the compiler, which must not occur in messages for users."""
import re

DIALECTS = ("affine", "amx", "arith", "bufferization", "builtin", "cf", "cpu", "dnnl", "func", "ingot", "linalg", "llvm",
            "math", "memref", "nn", "scf", "tensor", "vector")
WORDS = re.compile(rf"(?:tensor|memref|vector)<|'onnx\.|\b(?<![/.\w-])(?:{'|'.join(DIALECTS)})\.[a-z]\w*|"
                   r"(?<![\w.])(?:\?x|\d+x)+(?:b?f\d+|u?i\d+)\b|bug in ingot")


def find(text):
    """Returns the first internal word in a message, or None. Quoted names of the model must not contain such words."""
    match = WORDS.search(text)
    return match.group() if match else ""
