"""Runs `ingot` without its start-up, through a process that forks for each command: test/workers/Serve.cpp.

The environment variable INGOT_SERVER is the socket of that process; without it nothing is served.
"""
import os
import socket
import struct
import subprocess
import tempfile
import time

seconds = 0.0  # processor time of all that was served to this process


class Server:
    """Starts the process that serves, and ends it."""

    def __init__(self, program, folder):
        self.path = os.path.join(folder, "serve")
        self.process = subprocess.Popen([program, "--serve=" + self.path], stdin=subprocess.DEVNULL)
        while not self.answers():
            if self.process.poll() is not None:
                raise RuntimeError(f"{program} ended with exit code {self.process.returncode}")
            time.sleep(0.02)

    def answers(self):
        with socket.socket(socket.AF_UNIX) as client:
            return client.connect_ex(self.path) == 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def run(command, cwd, timeout):
    """As subprocess.run of that command with its output captured as text."""
    global seconds
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, socket.socket(socket.AF_UNIX) as server:
        server.connect(os.environ["INGOT_SERVER"])
        socket.send_fds(server, [b" "], [out.fileno(), err.fileno()])
        parts = [str(len(command)), cwd or os.getcwd(), *command, *(f"{k}={v}" for k, v in os.environ.items())]
        request = b"".join(os.fsencode(part) + b"\0" for part in parts)
        server.sendall(struct.pack("=Q", len(request)) + request)
        process, = struct.unpack("=q", receive(server, 8))
        server.settimeout(timeout)
        try:
            status, microseconds = struct.unpack("=qq", receive(server, 16))
        except TimeoutError:
            os.kill(process, 9)
            raise subprocess.TimeoutExpired(command, timeout) from None
        seconds += microseconds / 1e6
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
        return subprocess.CompletedProcess(command, os.waitstatus_to_exitcode(status), *texts)


def receive(server, size):
    data = b""
    while len(data) < size:
        part = server.recv(size - len(data))
        if not part:
            raise RuntimeError("ingot-serve gives no answer")
        data += part
    return data
