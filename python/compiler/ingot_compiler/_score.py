# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command that asks another process for a score: `_score.py SOCKET FOLDER`. It stands alone, to start quickly."""
import socket
import sys


def main() -> int:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(sys.argv[1])
        connection.sendall(sys.argv[2].encode() + b"\n")
        reply = connection.makefile("rb").readline().decode("utf-8", "replace")
    if reply.startswith("error "):
        sys.stderr.write(reply[len("error "):])
        return 1
    sys.stdout.write(reply)
    return 0


if __name__ == "__main__":
    sys.exit(main())
