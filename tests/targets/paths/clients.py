# SPDX-License-Identifier: GPL-3.0-or-later
"""Clients: each a thread with a connection of its own that asks for one page after the other, each request with an identifier."""
import http.client
import random
import threading
import time

TIMEOUT_S = 120
FRESH_EVERY = 7  # of these sessions, one makes a connection for each request


def ask(port, path):
    """One request without an identifier."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    connection.request("GET", path)
    reply = connection.getresponse()
    reply.read()
    connection.close()
    if reply.status != 200:
        raise RuntimeError(f"{path}: status {reply.status}")


def session(number, port, routes, n, times, errors):
    choose = random.Random(number)
    connection = None
    try:
        for k in range(n):
            if connection is None:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
            fresh = number % FRESH_EVERY == 0
            headers = {"X-Request-Id": f"r{number}x{k}"}
            if fresh:
                headers["Connection"] = "close"
            begin = time.monotonic_ns()
            connection.request("GET", choose.choice(routes), headers=headers)
            reply = connection.getresponse()
            reply.read()
            times.append(time.monotonic_ns() - begin)
            if reply.status != 200:
                raise RuntimeError(f"status {reply.status}")
            if fresh:
                connection.close()
                connection = None
    except Exception as error:  # told by the main thread
        errors.append(f"session {number}: {error!r}")


def load(port, routes, n_sessions, n_requests, told_in):
    """Runs the sessions to their ends; their latencies (ns) go to a file. Raises what went wrong in one of them."""
    times, errors = [], []
    threads = [threading.Thread(target=session, args=(i, port, routes, n_requests, times, errors)) for i in range(n_sessions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise RuntimeError("; ".join(errors[:3]))
    with open(told_in, "w") as f:
        f.writelines(f"{ns}\n" for ns in times)
