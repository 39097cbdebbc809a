# SPDX-License-Identifier: GPL-3.0-or-later
"""nginx (event loops), uwsgi with shop.py (processes with threads, pooled connections), PostgreSQL (a process for each connection).
The truth: the clients' notes of their ports; by the identifier that a request carries, the application's log of the port of
nginx's connection to it, and PostgreSQL's log of the application's port, and of the statement."""
import collections
import json
import os
import re
import subprocess

import clients
import servers

HERE = os.path.dirname(os.path.abspath(__file__))
POSTGRES = "/usr/lib/postgresql/15/bin/"
WORKERS, THREADS = 4, 8
NGINX = """daemon off; master_process on; worker_processes 2; pid {folder}/nginx.pid; error_log {folder}/nginx.error;
user {user};
events {{ worker_connections 1024; }}
http {{
	access_log off;
	client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
	uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
	keepalive_requests 100000;
	server {{
		listen 127.0.0.1:{nginx} backlog=1024{tls};
		location /static {{ alias {folder}/static; }}
		location / {{ include /etc/nginx/uwsgi_params; uwsgi_pass 127.0.0.1:{uwsgi}; uwsgi_read_timeout 120s; }}
	}}
}}
"""


class Stack(servers.Stack):
    PROGRAMS = ["nginx", "uwsgi", POSTGRES + "postgres"]
    is_front_encrypted = False  # does nginx speak TLS?
    PLANTS = {"slow-query": "postgres", "lock": "postgres", "app-sleep": "uwsgi"}

    def __init__(self, folder, plant):
        self.folder, self.plant, self.servers = folder, plant, servers.Servers()

    def listens_with(self):
        """More of nginx's directive."""
        return ""

    def entry(self, port, nth, use):
        """By what a request of the client's is found, and its first visits."""
        nginx = self.ports()[0]
        return (nginx, port, nth, use), {(nginx, port, nth, 0)}

    def prepare(self):
        """The database and the settings; nothing of it is recorded."""
        os.chmod(self.folder, 0o755)
        for name in ("data", "static", "truth"):
            os.mkdir(f"{self.folder}/{name}")
            servers.give_to_nobody(f"{self.folder}/{name}")
        nginx, uwsgi, postgres = servers.free_ports(3)
        with open(self.folder + "/ports", "w") as f:
            json.dump([nginx, uwsgi, postgres], f)
        with open(self.folder + "/nginx.conf", "w") as f:
            f.write(NGINX.format(folder=self.folder, nginx=nginx, uwsgi=uwsgi, tls=self.listens_with(), user="nobody nogroup" if
                                 os.getuid() == 0 else ""))
        with open(self.folder + "/static/page", "w") as f:
            f.write("x" * 9000)
        with open(self.folder + "/tables.sql", "w") as f:
            f.write("CREATE TABLE item(id int PRIMARY KEY, name text, stock int);\n"
                    "INSERT INTO item SELECT i, 'item ' || i, 0 FROM generate_series(0, 999) i;\n")
        data = self.folder + "/data"
        run = dict(check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        subprocess.run(servers.as_nobody([POSTGRES + "initdb", "-D", data, "-U", "shop", "-A", "trust", "--no-locale", "-N"]), **run)
        subprocess.run(servers.as_nobody([POSTGRES + "postgres", "--single", "-D", data, "postgres"]), input=open(
            self.folder + "/tables.sql", "rb").read(), **run)

    def start(self):
        nginx, uwsgi, postgres = self.ports()
        self.servers.start(servers.as_nobody(
            [POSTGRES + "postgres", "-D", self.folder + "/data", "-p", str(postgres), "-c", "listen_addresses=127.0.0.1", "-c",
             "unix_socket_directories=", "-c", "log_statement=all", "-c", "log_line_prefix=%r|%p|", "-c", "fsync=off", "-c",
             "max_connections=100"]), self.folder + "/postgres.log", postgres, cwd="/")
        environment = dict(os.environ, SHOP_DATABASE=str(postgres), SHOP_TRUTH=self.folder + "/truth/application",
                           SHOP_PLANT=self.plant or "", SHOP_THREADS=str(THREADS))
        self.servers.start(servers.as_nobody(
            ["uwsgi", "--plugins", "python3", "--socket", f"127.0.0.1:{uwsgi}", "--processes", str(WORKERS), "--threads",
             str(THREADS), "--master", "--need-app", "--die-on-term", "--disable-logging", "--listen", "100", "--wsgi-file",
             HERE + "/shop.py"]), self.folder + "/uwsgi.log", uwsgi, env=environment, cwd="/")
        self.servers.start(["nginx", "-c", self.folder + "/nginx.conf", "-p", self.folder], self.folder + "/nginx.out", nginx)
        clients.ask(nginx, "/item", self.folder, self.is_front_encrypted)  # the application has begun once it has replied

    def stop(self):
        self.servers.stop({"setpriv": 15})

    def truth(self):
        """{(nginx's port, client's port, nth, use): {(server's port, client's port, nth, caller's port)}} of each request."""
        nginx, uwsgi, postgres = self.ports()
        paths, of_identifier = {}, {}
        for identifier, port, nth, use in clients.notes(self.folder):
            key, visits = self.entry(port, nth, use)
            of_identifier[identifier] = paths[key] = visits
        with open(self.folder + "/truth/application") as f:
            for line in f:
                identifier, port = line.split()
                if identifier in of_identifier:
                    of_identifier[identifier].add((uwsgi, int(port), 0, nginx))
        n_statements = collections.Counter()
        with open(self.folder + "/postgres.log") as f:
            for line in f:
                statement = re.match(r"[0-9.]+\((\d+)\)\|\d+\|LOG:  statement: (?:.*/\* (\w+) \*/)?", line)
                if not statement:
                    continue
                port, identifier = statement.groups()
                n_statements[port] += 1  # the connection's first exchange is its startup
                if identifier in of_identifier:
                    of_identifier[identifier].add((postgres, int(port), n_statements[port], uwsgi))
        return paths
