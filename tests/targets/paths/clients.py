# SPDX-License-Identifier: GPL-3.0-or-later
"""Clients: each a thread with a connection of its own that asks for one page after the other, or for several at once, each request with an
identifier."""
import collections
import http.client
import random
import ssl
import threading
import time

TIMEOUT_S = 120
READY = 1000  # number of the session that asks whether the servers are there
PIPELINED_MOST = 4
FRESH_EVERY = 7  # of these sessions, one makes a connection for each request


def ask(port, path, folder, is_encrypted=False):
    """One request, before the others."""
    noted, errors = [], []
    session(READY, port, [path], 1, noted, errors, is_encrypted)
    write_notes(folder, noted, errors)


def write_notes(folder, noted, errors):
    """Raises what went wrong in one of the sessions."""
    if errors:
        raise RuntimeError("; ".join(errors[:3]))
    with open(folder + "/clients", "a") as f:
        f.writelines(noted)


def connection_to(port, is_encrypted):
    if not is_encrypted:
        return http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    context = ssl._create_unverified_context()  # the certificate is made for the test
    return http.client.HTTPSConnection("127.0.0.1", port, timeout=TIMEOUT_S, context=context)


def send(connection, route, headers):
    """A path to get, or a path and the fields of a form."""
    if isinstance(route, str):
        connection.request("GET", route, headers=headers)
    else:
        connection.request("POST", route[0], route[1], headers={"Content-Type": "application/x-www-form-urlencoded", **headers})


def session(number, port, routes, n, notes, errors, is_encrypted=False):
    choose = random.Random(number)
    connection, nth = None, 0
    try:
        for k in range(n):
            if connection is None:
                connection = connection_to(port, is_encrypted)
                nth = 0
            fresh = number % FRESH_EVERY == 0
            headers = {"X-Request-Id": f"r{number}x{k}"}
            if fresh:
                headers["Connection"] = "close"
            begin = time.monotonic_ns()
            send(connection, choose.choice(routes), headers)
            own_port = connection.sock.getsockname()[1]
            reply = connection.getresponse()
            reply.read()
            notes.append(f"r{number}x{k} {own_port} {nth} {time.monotonic_ns() - begin}\n")
            nth += 1
            if reply.status != 200:
                raise RuntimeError(f"status {reply.status}")
            if fresh:
                connection.close()
                connection = None
    except Exception as error:  # told by the main thread
        errors.append(f"session {number}: {error!r}")


class Replies:
    """What is read of a connection on which several replies follow each other: none of them closes it."""

    def __init__(self, sock):
        self.file = sock.makefile("rb")

    def makefile(self, *_):
        return self

    def close(self):
        pass

    def flush(self):
        pass

    def __getattr__(self, name):
        return getattr(self.file, name)


def pipelined_session(number, port, routes, n, notes, errors, is_encrypted=False):
    """Sends up to PIPELINED_MOST requests, each by itself, before it reads the replies."""
    choose = random.Random(number)
    try:
        connection = connection_to(port, is_encrypted)
        connection.connect()
        sock = connection.sock
        own_port, replies, nth = sock.getsockname()[1], Replies(sock), 0
        while nth < n:
            begin = time.monotonic_ns()
            burst = range(nth, min(n, nth + choose.randint(1, PIPELINED_MOST)))
            for k in burst:
                sock.sendall(f"GET {choose.choice(routes)} HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: r{number}x{k}\r\n\r\n".encode())
            for k in burst:
                reply = http.client.HTTPResponse(replies, method="GET")
                reply.begin()
                reply.read()
                notes.append(f"r{number}x{k} {own_port} {k} {time.monotonic_ns() - begin}\n")
                if reply.status != 200:
                    raise RuntimeError(f"status {reply.status}")
            nth = burst.stop
        connection.close()
    except Exception as error:  # told by the main thread
        errors.append(f"session {number}: {error!r}")


def load(port, routes, n_sessions, n_requests, folder, is_encrypted=False, is_pipelined=False):
    """Runs the sessions to their ends."""
    noted, errors = [], []
    run = pipelined_session if is_pipelined else session
    threads = [threading.Thread(target=run, args=(i, port, routes, n_requests, noted, errors, is_encrypted)) for i in range(n_sessions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    write_notes(folder, noted, errors)


def notes(folder):
    """Of each request: identifier, the client's port, its number on that connection, and how often port and number were used
    before: ports are used again."""
    uses = collections.Counter()
    with open(folder + "/clients") as f:
        for line in f:
            identifier, port, nth, _ = line.split()
            yield identifier, int(port), int(nth), uses[port, nth]
            uses[port, nth] += 1
