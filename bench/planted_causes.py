# SPDX-License-Identifier: GPL-3.0-or-later
"""The causes of slowness of bench/latency_causes: how to start each program in its good and in its bad state, how to load it, and which
functions stand for the cause, as `FILE:FUNCTION` (a file's base name; none for the kernel's)."""
import importlib.machinery
import importlib.util
import os
import shutil
import socketserver
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
loader = importlib.machinery.SourceFileLoader("recorded_servers", os.path.join(HERE, "recorded_servers"))
servers = importlib.util.module_from_spec(importlib.util.spec_from_loader("recorded_servers", loader))
sys.dont_write_bytecode = True
loader.exec_module(servers)

PG = ["-h", "127.0.0.1", "-p", str(servers.POSTGRES_PORT), "-U", "postgres"]
NGINX_PORT, MARIADB_PORT = 18081, 13306
CLIENT, RESOLVER = "10.9.8.7", "10.9.8.53"  # addresses of the network namespace's loopback interface
RESOLVER_DELAY = 0.02  # s


def sql(text):
    subprocess.run(["psql", *PG, "-q", "-v", "ON_ERROR_STOP=1", "-f", "-", "postgres"], input=text, text=True, check=True, stdout=subprocess.DEVNULL)


class Case:
    cpus = "0"  # of the server; the load has CPU 1

    def on_cpus(self, command):
        return ["taskset", "-c", self.cpus, *command] if os.cpu_count() > 1 else command

    def prepare(self, _bad):
        pass

    def beside(self, _folder, _bad):
        """What else runs during the recording; it is ended like the load."""
        return None


class Postgres(Case):
    """settings: of the bad state; query: the transaction, or what the bad state has instead; before: run in the bad state."""
    program = servers.SERVERS["postgres"][3]

    def __init__(self, culprit, query, bad_query=None, settings=(), good_settings=(), before=None, options=(), bad_options=()):
        self.culprit, self.query, self.bad_query, self.before = culprit, query, bad_query or query, before
        self.settings, self.options = (good_settings, settings), (options, bad_options or options)

    def start(self, folder, bad):
        command = servers.postgres(folder)
        for s in self.settings[bad]:
            command += ["-c", s]
        return servers.start(self.on_cpus(command), f"{folder}/server.log")

    def prepare(self, bad):
        servers.wait_for_port(servers.POSTGRES_PORT)
        servers.postgres_fill()
        sql("create table words as select i as id, md5(i::text) as word, i % 100 as part from generate_series(1, 20000) i;"
            "create index words_id on words (id); create index words_part on words (part); create table log (t text); vacuum analyze words")
        if bad and self.before:
            sql(self.before)

    def load(self, folder, seconds, bad):
        with open(f"{folder}/load.sql", "w") as f:
            f.write("\\set id random(1, 20000)\n" + (self.bad_query if bad else self.query) + "\n")
        return ["pgbench", *PG, "-n", "-f", f"{folder}/load.sql", "-c", "4", "-T", str(seconds), *self.options[bad], "postgres"]


class Httpd(Case):
    """keep: connections are kept for several requests; resolver: there is one, which is slow in the bad state."""
    program = "apache2"

    def __init__(self, culprit, bad, good="", modules=(), page="index.html", size=2000, keep=True, resolver=False):
        self.culprit, self.lines, self.modules, self.page, self.size = culprit, (good, bad), modules, page, size
        self.keep, self.resolver = keep, resolver

    def start(self, folder, bad):
        command = servers.httpd(folder)
        os.makedirs(os.path.dirname(f"{folder}/{self.page}"), exist_ok=True)
        with open(f"{folder}/{self.page}", "w") as f:
            f.write("some words of a page " * (self.size // 20))
        with open(f"{folder}/httpd.conf", "a") as f:
            if bad:
                f.write("".join(f"LoadModule {m}_module /usr/lib/apache2/modules/mod_{m}.so\n" for m in self.modules))
            f.write(self.lines[bad].replace("FOLDER", folder) + "\n")
        return servers.start(self.on_cpus(command), f"{folder}/server.log")

    def prepare(self, _bad):
        servers.wait_for_port(servers.HTTPD_PORT)

    def beside(self, _folder, bad):
        return [sys.executable, os.path.abspath(__file__), "resolver", str(RESOLVER_DELAY if bad else 0)] if self.resolver else None

    def load(self, _folder, seconds, _bad):
        return ["ab", "-q", *(["-k"] if self.keep else []), *(["-B", CLIENT] if self.resolver else []), "-c", "8", "-t", str(seconds), "-n", "10000000",
                "-H", "Accept-Encoding: gzip", f"http://127.0.0.1:{servers.HTTPD_PORT}/{self.page}"]


class Nginx(Case):
    """good, bad: lines of the server's section; http: of the one around it, in the bad state."""
    program = "nginx"

    def __init__(self, culprit, bad, good="", http="", size=2000):
        self.culprit, self.lines, self.http, self.size = culprit, (good, bad), ("", http), size

    def start(self, folder, bad):
        with open(f"{folder}/index.html", "w") as f:
            f.write("some words of a page " * (self.size // 20))
        with open(f"{folder}/nginx.conf", "w") as f:
            f.write(f"daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;\nevents {{ }}\nhttp {{\naccess_log off; "
                    f"keepalive_requests 100000000; default_type text/html; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;\n"
                    f"fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;\n{self.http[bad]}\n"
                    f"server {{ listen 127.0.0.1:{NGINX_PORT}; root {folder};\n{self.lines[bad]}\n}}\n}}\n")
        return servers.start(self.on_cpus(["nginx", "-c", f"{folder}/nginx.conf"]), f"{folder}/server.log")

    def prepare(self, _bad):
        servers.wait_for_port(NGINX_PORT)

    def load(self, _folder, seconds, _bad):
        return ["ab", "-q", "-k", "-c", "8", "-t", str(seconds), "-n", "10000000", "-H", "Accept-Encoding: gzip",
                f"http://127.0.0.1:{NGINX_PORT}/index.html"]


class Redis(Case):
    """settings: of both states; load: arguments of redis-benchmark in both; fill: run before; hog: the disk is loaded in the bad state."""
    program = "redis-server"

    def __init__(self, culprit, settings=((), ()), load=(("-t", "set"), ("-t", "set")), fill=None, hog=False):
        self.culprit, self.settings, self.loads, self.fill, self.hog = culprit, settings, load, fill, hog

    def start(self, folder, bad):
        return servers.start(self.on_cpus(servers.redis(folder) + list(self.settings[bad])), f"{folder}/server.log")

    def prepare(self, _bad):
        servers.wait_for_port(servers.REDIS_PORT)
        if self.fill:
            subprocess.run(["redis-cli", "-p", str(servers.REDIS_PORT)], input=self.fill, text=True, check=True, stdout=subprocess.DEVNULL)

    def beside(self, folder, bad):
        return [sys.executable, os.path.abspath(__file__), "hog", folder] if self.hog and bad else None

    def load(self, _folder, seconds, bad):
        return ["timeout", str(seconds), "redis-benchmark", "-p", str(servers.REDIS_PORT), "-n", "100000000", "-c", "20", "-q", *self.loads[bad]]


ALLOCATOR = """
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void look_around(void) { for (volatile int i = 0; i < 1000; i++) ; }
void *malloc(size_t n) { pthread_mutex_lock(&lock); void *p = __libc_malloc(n); look_around(); pthread_mutex_unlock(&lock); return p; }
void free(void *p) { pthread_mutex_lock(&lock); __libc_free(p); look_around(); pthread_mutex_unlock(&lock); }
"""


class Mariadb(Case):
    """settings: of both states; before: run in the bad state; allocator: one with a lock is preloaded in the bad state."""
    program = "mariadbd"

    def __init__(self, culprit, queries, settings=((), ()), before="", fill="", allocator=False, cpus="0"):
        self.culprit, self.queries, self.settings, self.before, self.fill = culprit, queries, settings, before, fill
        self.allocator, self.cpus = allocator, cpus

    def start(self, folder, bad):
        shutil.chown(folder, "mysql")
        subprocess.run(["mariadb-install-db", "--no-defaults", "--user=mysql", f"--datadir={folder}/data", "--skip-test-db",
                        "--auth-root-authentication-method=normal"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        environment = []
        if self.allocator and bad:
            with open(f"{folder}/allocator.c", "w") as f:
                f.write(ALLOCATOR)
            subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", f"{folder}/locked_allocator.so", f"{folder}/allocator.c"], check=True)
            environment = ["env", f"LD_PRELOAD={folder}/locked_allocator.so"]
        command = ["mariadbd", "--no-defaults", "--user=mysql", f"--datadir={folder}/data", f"--port={MARIADB_PORT}", "--bind-address=127.0.0.1",
                   f"--socket={folder}/socket", f"--pid-file={folder}/pid", *self.settings[bad]]
        return servers.start(self.on_cpus([*environment, *command]), f"{folder}/server.log")

    def sql(self, text):
        subprocess.run(["mariadb", "--no-defaults", "-uroot", "-h127.0.0.1", f"-P{MARIADB_PORT}"], input=text, text=True, check=True,
                       stdout=subprocess.DEVNULL)

    def prepare(self, bad):
        servers.wait_for_port(MARIADB_PORT)
        self.sql("create database t; use t; create table words (id int primary key, word char(32), part int, key (word)) engine=innodb;"
                 "insert into words select seq, md5(seq), seq % 100 from seq_1_to_5000; analyze table words;" + self.fill + (self.before if bad else ""))

    def load(self, folder, _seconds, _bad):
        with open(f"{folder}/load.sql", "w") as f:
            f.write(";\n".join(self.queries) + ";\n")
        return ["mariadb-slap", "--no-defaults", "-uroot", "-h127.0.0.1", f"-P{MARIADB_PORT}", "--create-schema=t", f"--query={folder}/load.sql",
                "--delimiter=;", "--no-drop", "--concurrency=4", "--number-of-queries=100000000", "--silent"]


class Sqlite(Case):
    """first: statements of both states; then, the same in both, `again` for ever."""
    program = "sqlite3"

    def __init__(self, culprit, first, again, n_times, fill=""):
        self.culprit, self.first, self.again, self.n_times, self.fill = culprit, first, again, n_times, fill

    def start(self, folder, bad):
        subprocess.run(["sqlite3", f"{folder}/data.db"], input=self.fill, text=True, check=True, stdout=subprocess.DEVNULL)
        with open(f"{folder}/load.sql", "w") as f:
            f.write(self.first[bad] + "\n" + (self.again + "\n") * self.n_times)
        with open(f"{folder}/load.sql") as f:
            return subprocess.Popen(self.on_cpus(["sqlite3", f"{folder}/data.db"]), stdin=f, stdout=subprocess.DEVNULL, start_new_session=True)

    def load(self, _folder, seconds, _bad):
        return ["sleep", str(seconds)]


POINT = "select word from words where id = :id;"
UPDATE = "update pgbench_accounts set abalance = abalance + 1 where aid = :id;"
FIRST = {  # those of which the ranking was known when its rules were made
    "missing index": Postgres("ExecSeqScan|heap_getnextslot|heapgetpage|heapgettup|SeqNext", POINT, before="drop index words_id"),
    "small work_mem": Postgres("LogicalTape|BufFile|mergeruns|dumptuples|FileWrite|FileRead|inittapes",
                               "select count(*) from (select word from words order by word offset 0) w;", settings=["work_mem=64kB"],
                               good_settings=["work_mem=64MB"]),
    "commits flushed": Postgres("issue_xlog_fsync|XLogFlush|sys_fdatasync", UPDATE, good_settings=["synchronous_commit=off"]),
    "statements logged": Postgres("EmitErrorReport|errfinish|send_message_to_server_log|write_console", POINT,
                                  settings=["log_statement=all", "log_duration=on"]),
    "nested loop": Postgres("ExecNestLoop|ExecMaterial|tuplestore_gettuple",
                            "select count(*) from words a, words b where a.part = 1 and b.part = 2 and a.id = b.id + 1;",
                            settings=["enable_hashjoin=off", "enable_mergejoin=off", "enable_memoize=off", "enable_indexscan=off", "enable_bitmapscan=on"]),
    "small buffers": Postgres("ReadBuffer_common|mdread|FileRead|sys_pread64", "select sum(length(word)) from words where part = 3;",
                              settings=["shared_buffers=128kB"]),
    "a connection each": Postgres("InitPostgres|BackendStartup|fork_process|RelationCacheInitialize|InitCatalogCache", POINT, bad_options=["-C"]),
    "no prepared plans": Postgres("pg_plan_quer|standard_planner|raw_parser|parse_analyze", POINT, options=["-M", "prepared"], bad_options=["-M", "simple"]),
    "regular expression": Postgres("textregexeq|RE_compile|pg_regexec|pg_regcomp", "select count(*) from words where part = 7 and word > 'f';",
                                   "select count(*) from words where part = 7 and word ~ '(a|b)+[0-9]{2}.*(c|d)+';"),
    "a trigger": Postgres("AfterTrigger|ExecCallTriggerFunc|plpgsql", UPDATE,
                          before="create function audit() returns trigger language plpgsql as $$ begin perform count(*) from words where part = 5; return new; "
                                 "end $$; create trigger audit after update on pgbench_accounts for each row execute function audit()",
                          settings=["synchronous_commit=off"], good_settings=["synchronous_commit=off"]),
    "htaccess": Httpd("ap_parse_htaccess|ap_directory_walk|sys_openat", "<Directory FOLDER>\nAllowOverride All\n</Directory>", "<Directory FOLDER>\nAllowOverride None\n</Directory>",
                      page="a/b/c/d/e/f/g/h/index.html"),
    "compression": Httpd("deflate", "SetOutputFilter DEFLATE", modules=["filter", "deflate"], size=60000),
    "verbose log": Httpd("ap_log_rerror|ap_log_cserror|ap_log_error|log_error", "LogLevel trace8"),
    "append only": Redis("sys_fdatasync|sys_fsync", (("--appendonly", "yes", "--appendfsync", "everysec"), ("--appendonly", "yes", "--appendfsync", "always"))),
}
MAP = "map $uri $found {\n" + "".join(f"~^/page{i}/(a|b)+/c$ {i};\n" for i in range(1000)) + "}\n"
MARIADB_LAX = "--innodb-flush-log-at-trx-commit=2"
ASIDE = {  # named, with their functions, before any of them was recorded, and recorded once the rules stood
    "nginx: compression": Nginx("libz[^:]*:deflate", "gzip on; gzip_http_version 1.0; gzip_comp_level 9;", size=60000),
    "nginx: tiny buffers": Nginx("ngx_read_file|ngx_output_chain|:sys_pread64", "sendfile off; output_buffers 1 512;", "sendfile off;", size=100000),
    "nginx: 1,000 patterns": Nginx("ngx_http_map_find|ngx_regex_exec|libpcre2[^:]*:", 'add_header X-Found "$found";', 'add_header X-Found "none";', http=MAP),
    "httpd: slow resolver": Httpd("getnameinfo|getaddrinfo|ap_get_useragent_host|gethostbyaddr", *["HostnameLookups On\nCustomLog FOLDER/access.log %h"] * 2, keep=False,
                                  resolver=True),
    "httpd: 300 rewrite rules": Httpd("ap_regexec|libpcre2[^:]*:|mod_rewrite.so:", "RewriteEngine On\n" +
                                      "".join(f"RewriteRule ^/page{i}/(a|b)+/c$ /index.html\n" for i in range(300)), modules=["rewrite"]),
    "redis: loaded disk": Redis(":sys_fdatasync|:sys_fsync", (("--appendonly", "yes", "--appendfsync", "always"),) * 2, hog=True),
    "redis: element of a list": Redis("lindexCommand|quicklist|lpSeek|lpNext", ((), ("--list-max-listpack-size", "-5")),
                                      (("lindex", "numbers", "0"), ("lindex", "numbers", "10000")),
                                      fill="\n".join("rpush numbers " + " ".join(str(i) for i in range(k, k + 1000)) for k in range(0, 20000, 1000)) + "\n"),
    "redis: eviction samples": Redis("performEvictions|evictionPoolPopulate|dictGetSomeKeys",
                                     tuple(("--maxmemory", "8mb", "--maxmemory-policy", "allkeys-lru", "--maxmemory-samples", n) for n in ("3", "64")),
                                     (("-t", "set", "-r", "1000000", "-d", "100"),) * 2),
    "mariadb: missing index": Mariadb("rnd_next|row_search_mvcc|rr_sequential|table_scan|evaluate_join_record",
                                      [f"select part from words where word = md5({i})" for i in range(1, 5000, 100)],
                                      before="alter table words drop key word;"),
    "mariadb: commits flushed": Mariadb("log_write_up_to|:sys_fdatasync|:sys_fsync|fil_flush",
                                        [f"update words set part = part + 1 where id = {i}" for i in range(1, 5000, 100)],
                                        ((MARIADB_LAX,), ("--innodb-flush-log-at-trx-commit=1",))),
    "mariadb: small table cache": Mariadb("open_table|tdc_|TABLE_SHARE|ha_open|closefrm", [f"select * from t{i}" for i in range(100)],
                                          ((), ("--table-open-cache=10", "--table-definition-cache=400", "--table-open-cache-instances=1")),
                                          fill="".join(f"create table t{i} (a int) engine=innodb;" for i in range(100))),
    "mariadb: locked allocator": Mariadb("locked_allocator.so:", [f"select group_concat(word) from words where id between {i} and {i + 5}"
                                                                  for i in range(1, 4000, 100)], allocator=True, cpus="0,1"),
    "sqlite: commits flushed": Sqlite(":sys_fdatasync|:sys_fsync", ("pragma synchronous=off;", "pragma synchronous=full;"),
                                      "insert into t values (random(), random());", 1000000, fill="create table t (a, b);"),
    "sqlite: tiny cache": Sqlite(":sys_pread64", ("pragma cache_size=-100000;", "pragma cache_size=10;"),
                                 "select length(b) from t where a = abs(random()) % 100000;", 3000000,
                                 fill="create table t (a integer primary key, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < "
                                      "100000) insert into t select i, hex(randomblob(100)) from n;"),
}


def hog(folder):
    """Writes to the folder's disk and flushes, for ever."""
    block = os.urandom(1 << 20)
    while True:
        with open(f"{folder}/hog", "wb") as f:
            for _ in range(64):
                f.write(block)
                f.flush()
                os.fdatasync(f.fileno())


class Answer(socketserver.BaseRequestHandler):
    """There is no such name."""
    delay = 0.0

    def handle(self):
        query, reply = self.request
        time.sleep(self.delay)
        reply.sendto(query[:2] + b"\x81\x83" + query[4:6] + b"\0\0\0\0\0\0" + query[12:], self.client_address)


def resolver(delay):
    Answer.delay = float(delay)
    with socketserver.ThreadingUDPServer((RESOLVER, 53), Answer) as server:
        server.serve_forever()


if __name__ == "__main__":
    {"hog": hog, "resolver": resolver}[sys.argv[1]](sys.argv[2])
