# SPDX-License-Identifier: GPL-3.0-or-later
"""A small WSGI application on PostgreSQL: each process keeps a pool of connections, which its threads share."""
import os
import queue
import random
import socket
import time

import psycopg2
import uwsgi

PLANT = os.environ["SHOP_PLANT"]
PLANTED_S = 0.3
LOCKED_S = 0.05
pool = queue.LifoQueue()


def connect():
    for _ in range(int(os.environ["SHOP_THREADS"])):
        connection = psycopg2.connect(host="127.0.0.1", port=int(os.environ["SHOP_DATABASE"]), user="shop", dbname="postgres",
                                      sslmode="disable", gssencmode="disable")
        connection.autocommit = True
        pool.put(connection)


uwsgi.post_fork_hook = connect


def note(identifier):
    """The port of the connection by which the request came."""
    with socket.socket(fileno=os.dup(uwsgi.connection_fd())) as s:
        line = f"{identifier} {s.getpeername()[1]}\n"
    out = os.open(os.environ["SHOP_TRUTH"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    os.write(out, line.encode())
    os.close(out)


def planted(ask):
    """What makes a tier slow: a query type, a lock in the database, or the application itself."""
    if PLANT == "slow-query":
        ask(f"SELECT pg_sleep({PLANTED_S})")
    elif PLANT == "lock":
        ask("BEGIN")
        ask("UPDATE item SET stock = stock + 1 WHERE id = 0")
        time.sleep(LOCKED_S)
        ask("COMMIT")
    else:
        ask("SELECT 1")
        time.sleep(PLANTED_S)


def serve(path, ask):
    if path == "/item":
        ask(f"SELECT * FROM item WHERE id = {random.randrange(1000)}")
    elif path == "/list":
        for first in range(0, 300, 100):
            ask(f"SELECT * FROM item WHERE id BETWEEN {first} AND {first + 99}")
    elif path == "/order":
        ask("BEGIN")
        ask(f"SELECT * FROM item WHERE id = {random.randrange(1, 1000)}")
        ask(f"UPDATE item SET stock = stock + 1 WHERE id = {random.randrange(1, 1000)}")
        ask("COMMIT")
    elif path == "/planted":
        planted(ask)


def application(environment, start_response):
    identifier = environment.get("HTTP_X_REQUEST_ID")
    note(identifier)
    connection = pool.get() if environment["PATH_INFO"] != "/none" else None
    try:
        if connection:
            with connection.cursor() as cursor:
                serve(environment["PATH_INFO"], lambda statement: cursor.execute(f"{statement} /* {identifier} */"))
    finally:
        if connection:
            pool.put(connection)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"done\n" * 100]
