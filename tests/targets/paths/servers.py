# SPDX-License-Identifier: GPL-3.0-or-later
"""Starting and ending servers whose data is in one folder."""
import json
import os
import pwd
import socket
import subprocess
import time

READY_S = 120
END_S = 60


class Disturbed(Exception):
    """What the servers logged is incomplete, so that there is no truth to compare with."""


def free_ports(n):
    """Ports below the ephemeral ones, so that no client can be given them meanwhile."""
    found, candidate = [], 12000 + os.getpid() % 8000
    while len(found) < n:
        candidate += 1
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", candidate))
                found.append(candidate)
            except OSError:
                pass
    return found


def as_nobody(command):
    """PostgreSQL and MariaDB refuse root's rights."""
    if os.getuid() != 0:
        return command
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "env", "HOME=/nonexistent"] + command


def give_to_nobody(path):
    if os.getuid() == 0:
        user = pwd.getpwnam("nobody")
        os.chown(path, user.pw_uid, user.pw_gid)


def make_certificate(path):
    """The key and its own certificate, in one file."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout",
                    path + ".key", "-out", path + ".crt"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(path, "w") as whole:
        for part in (".key", ".crt"):
            with open(path + part) as f:
                whole.write(f.read())
    give_to_nobody(path)


class Servers:
    def __init__(self):
        self.running = []

    def start(self, command, log, port, **options):
        """Returns once somebody listens at the port."""
        with open(log, "ab") as out:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, **options)
        self.running.append(process)
        end = time.monotonic() + READY_S
        while time.monotonic() < end:
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    return
            if process.poll() is not None:
                break
            time.sleep(0.05)
        with open(log, errors="replace") as f:
            raise RuntimeError(f"{command[0]} does not serve: {f.read()[-2000:]}")

    def stop(self, how):
        """The last one first; `how` is the signal that a program ends by, SIGTERM by default."""
        for process in reversed(self.running):
            if process.poll() is None:
                process.send_signal(how.get(os.path.basename(process.args[0]), 15))
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.running = []


class Stack:
    """What the stacks of tiers have alike; `folder` holds the ports, of the first tier first, and `plant` may be None."""
    is_encrypted = False  # do clients speak TLS?

    def ports(self):
        with open(self.folder + "/ports") as f:
            return json.load(f)

    @property
    def port(self):
        return self.ports()[0]

    def routes(self):
        routes = ["/static/page", "/none", "/item", "/item", "/list", "/order"]
        return routes + ["/planted"] if self.plant else routes
