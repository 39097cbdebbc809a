# SPDX-License-Identifier: GPL-3.0-or-later
"""haproxy (threads with an event loop each, connections to the next tier kept and shared), php-fpm with shop.php (a process for
each connection), MariaDB (a thread for each connection; shop.php makes one for each request). The truth: the client's own note of
its ports; haproxy's log of the port by which it asked php-fpm; the order of requests in shop.php's log; its note of MariaDB's
numbers and ports; MariaDB's general log, by these numbers."""
import collections
import json
import os
import re
import subprocess

import clients
import servers

HERE = os.path.dirname(os.path.abspath(__file__))
HAPROXY_TOP = """global
	nbthread 2
	log stdout format raw local0
defaults
	mode http
	timeout connect 60s
	timeout client 120s
	timeout server 120s
"""
HAPROXY = HAPROXY_TOP + """fcgi-app php
	docroot {here}
	index shop.php
	path-info ^(/shop\\.php)(/.*)?$
	option keep-conn
frontend shop
	bind 127.0.0.1:{haproxy} backlog 1024
	log global
	http-request capture req.hdr(X-Request-Id) len 32
	log-format "%bp %[capture.req.hdr(0)] %ST"
	http-request return status 200 content-type text/plain file {folder}/page if {{ path /static/page }}
	http-request set-path /shop.php%[path]
	default_backend php
backend php
	use-fcgi-app php
	http-reuse always
	server php 127.0.0.1:{fpm} proto fcgi
"""
FPM = """[global]
daemonize = no
error_log = {folder}/fpm.log
[shop]
{user}
listen = 127.0.0.1:{fpm}
listen.backlog = 511
pm = static
pm.max_children = {children}
clear_env = no
"""
TABLES = """CREATE DATABASE shop;
CREATE USER shop@'%';
GRANT ALL ON shop.* TO shop@'%';
GRANT PROCESS ON *.* TO shop@'%';
CREATE TABLE shop.item(id int PRIMARY KEY, name text, stock int) ENGINE=InnoDB;
INSERT INTO shop.item SELECT seq, concat('item ', seq), 0 FROM shop.seq_0_to_999;
"""
CHILDREN = 40  # a kept connection occupies one


class Stack(servers.Stack):
    PROGRAMS = ["haproxy", "php-fpm8.2", "mariadbd", "mariadb-install-db"]
    PLANTS = {"slow-query": "mariadbd", "lock": "mariadbd", "app-sleep": "php-fpm"}
    SETTINGS = (HAPROXY, FPM, HERE)  # of haproxy and of php-fpm, and where its pages are
    FIRST = "/item"  # is asked for before the load

    def __init__(self, folder, plant):
        self.folder, self.plant, self.servers = folder, plant, servers.Servers()

    def prepare(self):
        """The database and the settings; nothing of it is recorded."""
        os.chmod(self.folder, 0o755)
        for name in ("data", "truth"):
            os.mkdir(f"{self.folder}/{name}")
            servers.give_to_nobody(f"{self.folder}/{name}")
        haproxy, fpm, mariadb = servers.free_ports(3)
        with open(self.folder + "/ports", "w") as f:
            json.dump([haproxy, fpm, mariadb], f)
        with open(self.folder + "/page", "w") as f:
            f.write("x" * 9000)
        with open(self.folder + "/haproxy.conf", "w") as f:
            f.write(self.SETTINGS[0].format(folder=self.folder, here=self.SETTINGS[2], haproxy=haproxy, fpm=fpm))
        with open(self.folder + "/fpm.conf", "w") as f:
            f.write(self.SETTINGS[1].format(folder=self.folder, fpm=fpm, children=CHILDREN,
                                            user="user = nobody\ngroup = nogroup" if os.getuid() == 0 else ""))
        with open(self.folder + "/tables.sql", "w") as f:
            f.write(TABLES)
        run = dict(check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        subprocess.run(servers.as_nobody(["mariadb-install-db", "--no-defaults", f"--datadir={self.folder}/data"]), **run)
        with open(self.folder + "/tables.sql", "rb") as f:
            subprocess.run(servers.as_nobody(["mariadbd", "--no-defaults", f"--datadir={self.folder}/data", "--bootstrap"]),
                           input=b"", **run)

    def start_database(self, port, *options):
        self.servers.start(servers.as_nobody(
            ["mariadbd", "--no-defaults", f"--datadir={self.folder}/data", f"--port={port}", "--bind-address=127.0.0.1",
             f"--socket={self.folder}/data/socket", f"--pid-file={self.folder}/data/pid", "--innodb-flush-log-at-trx-commit=0",
             "--max-connections=100", "--skip-name-resolve", *options]), self.folder + "/mariadb.log", port, cwd="/")

    def database_options(self):
        return [f"--init-file={self.folder}/tables.sql"]

    def start(self):
        haproxy, fpm, mariadb = self.ports()
        self.start_database(mariadb, "--general-log", f"--general-log-file={self.folder}/truth/general.log", *self.database_options())
        environment = dict(os.environ, SHOP_DATABASE=str(mariadb), SHOP_TRUTH=self.folder + "/truth/application",
                           SHOP_PLANT=self.plant or "")
        self.servers.start(["php-fpm8.2", "--nodaemonize", "--fpm-config", self.folder + "/fpm.conf"] +
                           (["--allow-to-run-as-root"] if os.getuid() == 0 else []), self.folder + "/fpm.out", fpm,
                           env=environment, cwd="/")
        self.servers.start(["haproxy", "-f", self.folder + "/haproxy.conf", "-db"], self.folder + "/haproxy.log", haproxy)
        clients.ask(haproxy, self.FIRST, self.folder)

    def stop(self):
        self.servers.stop({"haproxy": 10})

    def paths_of_clients(self, haproxy):
        """Of each request the path, by place and by identifier, with haproxy alone; and by which port haproxy asked php-fpm."""
        paths, of_identifier, by_identifier = {}, {}, {}
        for identifier, port, nth, use in clients.notes(self.folder):
            of_identifier[identifier] = paths[haproxy, port, nth, use] = {(haproxy, port, nth, 0)}
        with open(self.folder + "/haproxy.log") as f:
            for line in f:
                log = re.fullmatch(r"(\d+) (\S+) 200\n", line)
                if log:
                    by_identifier[log[2].replace("-", "none")] = int(log[1])
        return paths, of_identifier, by_identifier

    def truth(self):
        """{(haproxy's port, client's port, nth, use): {(server's port, client's port, nth, caller's port)}} of each request."""
        haproxy, fpm, mariadb = self.ports()
        paths, of_identifier, by_identifier = self.paths_of_clients(haproxy)
        n_requests, connections = collections.Counter(), {}
        with open(self.folder + "/truth/application") as f:
            for line in f:
                identifier, number, port = line.split()
                if number != "begin":
                    connections[number] = int(port)
                    continue
                if identifier not in by_identifier:
                    raise servers.Disturbed(f"haproxy's log lacks {identifier}")
                used = by_identifier[identifier]
                if identifier in of_identifier:
                    of_identifier[identifier].add((fpm, used, n_requests[used], haproxy))
                n_requests[used] += 1
        n_statements, of_connection = collections.Counter(), {}
        with open(self.folder + "/truth/general.log", errors="replace") as f:
            for line in f:
                query = re.search(r"\s(\d+) Query\t.*/\* (\w+) \*/", line)
                if not query or query[2] not in of_identifier:
                    continue
                n_statements[query[1]] += 1
                of_identifier[query[2]].add((mariadb, connections[query[1]], n_statements[query[1]], fpm))
                of_connection[query[1]] = query[2]
        for number, identifier in of_connection.items():  # the login, and the message that ends the connection
            for nth in (0, n_statements[number] + 1):
                of_identifier[identifier].add((mariadb, connections[number], nth, fpm))
        return paths
