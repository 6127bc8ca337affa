"""Runs `ingot` without its start-up, through a process that forks for each command: test/workers/Serve.cpp.

The environment variable INGOT_SERVER is the socket of that process. Without it every command starts a process.
"""
import os
import selectors
import socket
import struct
import subprocess
import time

seconds = 0.0  # CPU time of all commands that were served to this process


class Server:
    """Starts and ends the serving process."""

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
    """Runs the command as subprocess.run does, with its output captured as text."""
    global seconds
    out, err = os.pipe(), os.pipe()
    with socket.socket(socket.AF_UNIX) as server, open(out[0], "rb", 0) as stdout, open(err[0], "rb", 0) as stderr:
        server.connect(os.environ["INGOT_SERVER"])
        socket.send_fds(server, [b" "], [out[1], err[1]])
        os.close(out[1])
        os.close(err[1])
        parts = [str(len(command)), cwd or os.getcwd(), *command, *(f"{k}={v}" for k, v in os.environ.items())]
        request = b"".join(os.fsencode(part) + b"\0" for part in parts)
        server.sendall(struct.pack("=Q", len(request)) + request)
        end = time.monotonic() + timeout
        process, = struct.unpack("=q", receive(server, 8))
        try:
            texts = read_all([stdout, stderr], end)
            server.settimeout(max(0.01, end - time.monotonic()))
            status, microseconds = struct.unpack("=qq", receive(server, 16))
        except TimeoutError:
            os.kill(process, 9)
            raise subprocess.TimeoutExpired(command, timeout) from None
        seconds += microseconds / 1e6
        return subprocess.CompletedProcess(command, os.waitstatus_to_exitcode(status), *texts)


def read_all(files, end):
    """Returns the texts of all files, until the other end closes them or `end` is reached."""
    data = {file: b"" for file in files}
    with selectors.DefaultSelector() as open_files:
        for file in files:
            open_files.register(file, selectors.EVENT_READ)
        while open_files.get_map():
            ready = open_files.select(max(0, end - time.monotonic()))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                part = os.read(key.fd, 1 << 16)
                data[key.fileobj] += part
                if not part:
                    open_files.unregister(key.fileobj)
    return [text.decode("utf-8", "replace") for text in data.values()]


def receive(server, size):
    data = b""
    while len(data) < size:
        part = server.recv(size - len(data))
        if not part:
            raise RuntimeError("ingot-serve gives no answer")
        data += part
    return data
