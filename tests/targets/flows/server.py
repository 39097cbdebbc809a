# SPDX-License-Identifier: GPL-3.0-or-later
"""What the loads of this folder share: a server on a free port of the loopback, ended in any case."""
import contextlib
import socket
import subprocess
import time


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def running(command, port, **how):
    """The server; it accepts connections, of which one was made."""
    process = subprocess.Popen(command, **how)
    try:
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", port), 5).close()
                break
            except OSError:
                assert process.poll() is None, "the server ended"
                time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def write_truth(*lines):
    with open("truth.txt", "w") as f:
        f.writelines(line + "\n" for line in lines)
