# SPDX-License-Identifier: GPL-3.0-or-later
"""The tiers of tiers_nginx.py behind TLS, which nginx itself speaks, or stunnel before it (a thread for each connection, which makes
one to nginx). On each connection the hello and its answer are an exchange, and so are the client's last word of the handshake and the
session tickets; requests come after them. stunnel's log names its ports."""
import re

import servers
import tiers_nginx

HANDSHAKE = 2  # exchanges
STUNNEL = """foreground = yes
debug = 5
pid =
[shop]
accept = 127.0.0.1:{tls}
connect = 127.0.0.1:{nginx}
cert = {folder}/certificate
"""


class Nginx(tiers_nginx.Stack):
    PROGRAMS = tiers_nginx.Stack.PROGRAMS + ["openssl"]
    is_encrypted = is_front_encrypted = True

    def listens_with(self):
        servers.make_certificate(self.folder + "/certificate")
        return " ssl; ssl_certificate {0}; ssl_certificate_key {0}".format(self.folder + "/certificate")

    def entry(self, port, nth, use):
        nginx = self.ports()[0]
        return (nginx, port, nth + HANDSHAKE, use), {(nginx, port, nth + HANDSHAKE, 0)}


class Stunnel(tiers_nginx.Stack):
    PROGRAMS = tiers_nginx.Stack.PROGRAMS + ["openssl", "stunnel4"]
    is_encrypted = True

    def __init__(self, folder, plant):
        super().__init__(folder, plant)
        self.seen = None  # {port of the client: [port of stunnel's connection to nginx, ...]}

    @property
    def port(self):
        with open(self.folder + "/tls_port") as f:
            return int(f.read())

    def prepare(self):
        super().prepare()
        with open(self.folder + "/tls_port", "w") as f:
            f.write(str(servers.free_ports(4)[3]))
        servers.make_certificate(self.folder + "/certificate")
        with open(self.folder + "/stunnel.conf", "w") as f:
            f.write(STUNNEL.format(folder=self.folder, tls=self.port, nginx=self.ports()[0]))

    def start(self):
        super().start()
        self.servers.start(["stunnel4", self.folder + "/stunnel.conf"], self.folder + "/stunnel.log", self.port)

    def connections(self):
        accepted, made = {}, {}
        with open(self.folder + "/stunnel.log") as f:
            for line in f:
                log = re.search(r"LOG5\[(\d+)\]: Service \[shop\] (accepted|connected remote).* from 127.0.0.1:(\d+)", line)
                if log and log[2] == "accepted":
                    accepted[log[1]] = int(log[3])
                elif log:
                    made.setdefault(accepted[log[1]], []).append(int(log[3]))
        return made

    def entry(self, port, nth, use):
        self.seen = self.seen or self.connections()
        if port not in self.seen:  # the first request, before stunnel is there
            return super().entry(port, nth, use)
        if len(self.seen[port]) <= use:
            raise servers.Disturbed(f"stunnel's log lacks a connection of port {port}")
        nginx, tls = self.ports()[0], self.port
        return (tls, port, nth + HANDSHAKE, use), {(tls, port, nth + HANDSHAKE, 0), (nginx, self.seen[port][use], nth, tls)}
