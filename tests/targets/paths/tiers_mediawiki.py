# SPDX-License-Identifier: GPL-3.0-or-later
"""haproxy, php-fpm with Debian's MediaWiki, MariaDB. Nothing of MediaWiki is changed; PHP replies when it is through, and does not work on
for a request that it has replied to (fastcgi_finish_request), since a path ends with the reply; MediaWiki's settings are those of its own installer, a
place for its caches, and the identifier of the request as the name of the agent, which it puts into a comment of each statement. The
truth: the client's own note of its ports; haproxy's log of the port by which it asked php-fpm; php-fpm's log of the order of requests;
MariaDB's general log, with the numbers of connections, whose ports MariaDB itself notes when one begins (init_connect)."""
import collections
import os
import re
import subprocess

import clients
import servers
import tiers_haproxy

WIKI = "/usr/share/mediawiki"
HAPROXY = tiers_haproxy.HAPROXY_TOP + """fcgi-app php
	docroot {here}
	index index.php
	path-info ^(/[^/]+\\.php)(/.*)?$
	option keep-conn
frontend wiki
	bind 127.0.0.1:{haproxy} backlog 1024
	log global
	http-request capture req.hdr(X-Request-Id) len 32
	log-format "%bp %[capture.req.hdr(0)] %ST"
	http-request return status 200 content-type text/plain file {folder}/page if {{ path /static/page }}
	default_backend php
backend php
	use-fcgi-app php
	http-reuse always
	server php 127.0.0.1:{fpm} proto fcgi
"""
FPM = tiers_haproxy.FPM + """access.log = {folder}/truth/application
access.format = "%{{HTTP_X_REQUEST_ID}}e"
env[MW_CONFIG_FILE] = {folder}/LocalSettings.php
php_admin_value[disable_functions] = fastcgi_finish_request
php_admin_value[opcache.file_cache] = {folder}/compiled
"""
# What the installer does not ask for; the rest of the file is its own.
SETTINGS = """
$wgLBFactoryConf['agent'] = $_SERVER['HTTP_X_REQUEST_ID'] ?? 'none';
$wgCacheDirectory = '{folder}/cache';
$wgMainCacheType = CACHE_ACCEL;
$wgRateLimits = [];
"""
# Longer than those of shop.php: what PHP takes for a page varies by 150 ms (standard deviation).
PLANTED = {
    None: "",
    "slow-query": "",
    # Within the transaction that locks the page, of few edits; whoever waited for these finds a conflict and is through.
    "lock": "$wgHooks['RevisionFromEditComplete'][] = function () { if (isset($_REQUEST['hold'])) usleep(1000000); };\n",
    "app-sleep": "$wgHooks['BeforePageDisplay'][] = function ($out) { if ($out->getTitle()->getText() == 'Planted') usleep(1000000); };\n",
}
TABLES = """CREATE DATABASE truth;
CREATE TABLE truth.connections(number bigint, host text) ENGINE=Aria;
CREATE USER wiki@'%' IDENTIFIED BY 'wiki';
CREATE DATABASE wiki;
GRANT ALL ON wiki.* TO wiki@'%';
GRANT INSERT ON truth.connections TO wiki@'%';
GRANT SELECT ON performance_schema.* TO wiki@'%';
CREATE USER reader@localhost;
GRANT SELECT, INSERT ON truth.* TO reader@localhost;
GRANT SELECT ON performance_schema.* TO reader@localhost;
"""
SLOW_QUERY = "CREATE TRIGGER wiki.slow AFTER INSERT ON wiki.recentchanges FOR EACH ROW DO sleep(1);\n"
# While init_connect runs, the list of processes lacks its connection.
NOTE = "INSERT INTO truth.connections SELECT t.processlist_id, concat(s.ip, ':', s.port) FROM performance_schema.threads t JOIN " \
       "performance_schema.socket_instances s ON s.thread_id = t.thread_id WHERE t.processlist_id = connection_id()"
PAGES = 20


def edit(title, more=""):
    """The path and the body of a POST request."""
    return "/api.php", f"action=edit&format=json&title={title}&appendtext=%0Aone+more+line&token=%2B%5C{more}"


class Stack(tiers_haproxy.Stack):
    PROGRAMS = tiers_haproxy.Stack.PROGRAMS + ["mariadb", WIKI + "/index.php"]
    PLANTS = {"slow-query": "mariadbd", "lock": "mariadbd", "app-sleep": "php-fpm"}
    SETTINGS = (HAPROXY, FPM, WIKI)
    FIRST = "/index.php?title=Main_Page"

    def routes(self):
        routes = ["/static/page", "/static/page", "/index.php?title=Main_Page"]
        routes += [f"/index.php?title=Page_{i}" for i in range(4)] + ["/index.php?title=Page_1&action=history"]
        routes += ["/index.php?title=Special:RecentChanges", "/load.php?modules=startup&only=scripts&skin=vector&raw=1"]
        routes += ["/api.php?action=query&format=json&list=allpages"] + [edit(f"Page_{i}") for i in range(4, 4 + (not self.plant))]
        planted = {None: [], "slow-query": [edit(f"Page_{i}") for i in range(4, 6)], "lock": [edit("Page_9")] * 40 + [edit("Page_9", "&hold=1")] * 6,
                   "app-sleep": ["/index.php?title=Planted"] * 2}
        return routes + planted[self.plant]

    def run_php(self, script, *arguments):
        environment = dict(os.environ, MW_CONFIG_FILE=self.folder + "/LocalSettings.php")
        subprocess.run(["php8.2", f"{WIKI}/maintenance/{script}.php", *arguments], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env=environment, cwd="/", stdin=subprocess.DEVNULL)

    def install(self, port):
        """By MediaWiki's own installer; then the settings of this test, and some pages."""
        haproxy, _, mariadb = self.ports()
        os.mkdir(self.folder + "/config")
        subprocess.run(["php8.2", WIKI + "/maintenance/install.php", "--dbtype=mysql", f"--dbserver=127.0.0.1:{mariadb}", "--dbname=wiki",
                        "--dbuser=wiki", "--dbpass=wiki", "--pass=planted-wiki-1", f"--server=http://127.0.0.1:{haproxy}", "--scriptpath=",
                        f"--confpath={self.folder}/config", "--with-extensions=", "Wiki", "Admin"], check=True, cwd="/",
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        with open(self.folder + "/config/LocalSettings.php") as f:
            own = f.read()
        with open(self.folder + "/LocalSettings.php", "w") as f:
            f.write(own + SETTINGS.format(folder=self.folder) + PLANTED[self.plant])
        os.chmod(self.folder + "/LocalSettings.php", 0o644)
        for name in [f"Page_{i}" for i in range(PAGES)] + ["Planted"]:
            with open(f"{self.folder}/config/{name}", "w") as f:
                f.write(f"'''{name}''' is a page of some [[Page_1|links]] and [[Page_2]].\n\n== More ==\n" + "* a line\n" * 50)
        self.run_php("importTextFiles", "--user=Admin", *sorted(os.path.join(self.folder, "config", n) for n in
                                                               [f"Page_{i}" for i in range(PAGES)] + ["Planted"]))
        self.run_php("rebuildLocalisationCache", "--lang=en")
        self.run_php("runJobs")
        for folder, _, names in os.walk(self.folder + "/cache"):
            for name in [folder] + [os.path.join(folder, n) for n in names]:
                servers.give_to_nobody(name)

    def prepare(self):
        super().prepare()
        mariadb = self.ports()[2]
        os.mkdir(self.folder + "/cache")
        try:
            self.start_database(mariadb)
            self.ask_database(TABLES, "root")
            self.install(mariadb)
        finally:
            self.servers.stop({})
        try:
            self.warm_up()
        finally:
            self.servers.stop({"haproxy": 10})
            self.servers = servers.Servers()

    def warm_up(self):
        """Each page once, so that PHP has compiled all of it: what that takes is more than what is planted."""
        os.mkdir(self.folder + "/compiled")
        servers.give_to_nobody(self.folder + "/compiled")
        self.start()
        for route in self.routes():
            clients.ask(self.port, route, self.folder)
        self.ask_database("DELETE FROM truth.connections", "root")
        if self.plant == "slow-query":
            self.ask_database(SLOW_QUERY, "root")
        for name in ("clients", "haproxy.log", "truth/application", "truth/general.log"):
            os.remove(f"{self.folder}/{name}")

    def ask_database(self, statements, user):
        """By the socket of the machine, not by the tiers' way. root is who the database runs as."""
        command = ["mariadb", "--no-defaults", f"--socket={self.folder}/data/socket", "--batch", "--skip-column-names"]
        command += [f"--user={user}"] if user != "root" or os.getuid() == 0 else []
        return subprocess.run(command, input=statements, text=True, check=True, stdout=subprocess.PIPE, cwd="/").stdout

    def database_options(self):
        return ["--init-connect=" + NOTE, "--performance-schema=ON", "--performance-schema-instrument=%=OFF",
                "--performance-schema-instrument=wait/io/socket/sql/client_connection=ON"]

    def stop(self):
        try:
            with open(self.folder + "/truth/connections", "w") as f:
                f.write(self.ask_database("SELECT * FROM truth.connections", "reader"))
        finally:
            super().stop()

    def connections(self):
        """The ports of MariaDB's clients by the numbers of their connections."""
        with open(self.folder + "/truth/connections") as f:
            return {number: int(host.rsplit(":", 1)[1]) for number, host in (line.split() for line in f) if ":" in host}

    def commands(self):
        """Of each connection the commands that MariaDB logged, the login first, and the identifier in the statements' comments."""
        commands, whose = collections.defaultdict(list), {}
        with open(self.folder + "/truth/general.log", errors="replace") as f:
            for line in f:
                logged = re.match(r"(?:\d{6}\s+\d+:\d+:\d+)?\t\s*(\d+) (Connect|Query|Quit|Init DB|Ping|Prepare|Execute)\t?(.*)", line)
                if not logged or logged[3].startswith(("INSERT INTO truth.connections", "DO sleep")):  # the server's own statements
                    continue
                commands[logged[1]].append(logged[2])
                identifier = re.search(r"/\* [^*]* (r\d+x\d+) \*/", logged[3])
                if identifier:
                    whose.setdefault(logged[1], identifier[1])
        return commands, whose

    def truth(self):
        haproxy, fpm, mariadb = self.ports()
        paths, of_identifier, used = self.paths_of_clients(haproxy)
        n_requests = collections.Counter()
        with open(self.folder + "/truth/application") as f:
            for identifier in (line.strip() for line in f):
                if identifier not in used:
                    raise servers.Disturbed(f"haproxy's log lacks {identifier}")
                if identifier in of_identifier:
                    of_identifier[identifier].add((fpm, used[identifier], n_requests[used[identifier]], haproxy))
                n_requests[used[identifier]] += 1
        connections = self.connections()
        commands, whose = self.commands()
        for number, identifier in whose.items():
            if identifier in of_identifier:
                of_identifier[identifier].update((mariadb, connections[number], nth, fpm) for nth in range(len(commands[number])))
        return paths
