#!/usr/bin/env python3
# The application: items from a SQLite database, and reports over all of them. app.py PORT DATABASE
import http.server
import random
import sqlite3
import sys
import threading

N_ITEMS = 20000
local = threading.local()


def database(path):
    if not hasattr(local, "db"):
        local.db = sqlite3.connect(path)
    return local.db


def fill(path):
    db = sqlite3.connect(path)
    db.execute("create table item (id integer primary key, kind integer, price integer)")
    rng = random.Random(1)
    db.executemany("insert into item values (?, ?, ?)", ((i, rng.randrange(100), rng.randrange(10000)) for i in range(N_ITEMS)))
    db.commit()
    db.close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet

    def do_GET(self):
        db = database(sys.argv[2])
        if self.path.startswith("/report"):
            rows = db.execute("select kind, count(*), avg(price) from item group by kind order by avg(price)").fetchall()
        else:
            rows = db.execute("select * from item where id = ?", (hash(self.path) % N_ITEMS,)).fetchall()
        body = "".join(f"{row}\n" for row in rows).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass  # the proxy closed the connection


fill(sys.argv[2])
Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
# SPDX-License-Identifier: GPL-3.0-or-later
