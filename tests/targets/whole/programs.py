# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of different kinds: how each is configured, built, tested by its own suite, and given a fixed piece of work.

`work` is a command, with BIN for the program; or `serve` starts a server, to which `request` is sent `requests` times (in batches of 100, on one
connection); each answer holds `mark` once. It must end when it is asked to (SIGTERM), as one process. Suites that take longer than two minutes are cut down to a part.
"""
LUA = ("cat >load.lua <<'E'\nlocal t = {}\nfor i = 1, 300000 do t[i % 997] = (t[i % 997] or '') .. i % 7; if #t[i % 997] > 50 then t[i % 997] = nil end end\n"
       "local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end\nprint(fib(27))\n"
       "local n = 0\nfor w in (('word '):rep(100000)):gmatch('%a+') do n = n + #w end\nprint(n)\nE\n")
SQL = ("cat >load.sql <<'E'\ncreate table t(a integer primary key, b, c text);\nbegin;\n"
       "with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000) insert into t select i, (i * 7919) % 10007, 'text ' || i from n;\n"
       "commit;\ncreate index ti on t(b);\nselect count(*), sum(b), max(c) from t where b between 100 and 5000;\n"
       "select count(*) from t x join t y on x.b = y.a where x.c like '%7%';\ndelete from t where b % 3 = 0;\nselect count(*), sum(length(c)) from t;\nE\n")
JSON = ("python3 -c \"import json; json.dump([{'id': i, 'name': 'name %d' % i, 'tags': ['a', 'b', str(i % 13)], 'x': i / 7} for i in range(20000)], open('load.json', 'w'))\"\n")
LEVELDB = """cat >load.cc <<'E'
#include <cstdio>
#include <string>
#include "leveldb/db.h"
#include "leveldb/write_batch.h"
int main()
{
  leveldb::DB *db;
  leveldb::Options options;
  options.create_if_missing = true;
  if (!leveldb::DB::Open(options, "load.db", &db).ok()) return 1;
  unsigned x = 1, found = 0;
  std::string value;
  for (int i = 0; i < 150000; i++) {
    leveldb::WriteBatch batch;
    x = x * 1103515245u + 12345u;
    batch.Put("key " + std::to_string(x % 50000), std::string(60 + x % 50, 'a' + i % 26));
    if (x % 5 == 0) batch.Delete("key " + std::to_string(i % 50000));
    if (!db->Write(leveldb::WriteOptions(), &batch).ok()) return 1;
  }
  for (int i = 0; i < 150000; i++) {
    x = x * 1103515245u + 12345u;
    found += db->Get(leveldb::ReadOptions(), "key " + std::to_string(x % 60000), &value).ok() ? value.size() : 0;
  }
  leveldb::Iterator *at = db->NewIterator(leveldb::ReadOptions());
  for (at->SeekToFirst(); at->Valid(); at->Next()) found += at->value().size();
  printf("%u\\n", found);
  delete at;
  delete db;
}
E
printf 'cmake --build build -j2 && $CXX -O2 -Iinclude -c -o build/load.o load.cc && $CXX -o build/load build/load.o build/libleveldb.a -pthread\\n' >build.sh
"""
HTTP = b"GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n"
NGINX = ("mkdir -p run/logs run/html && echo hello >run/html/a && cat >run/n.conf <<'E'\ndaemon off; master_process off; worker_processes 1;\n"
         "pid nginx.pid; error_log logs/e.log;\nevents { worker_connections 64; }\nhttp { access_log off; keepalive_requests 10000000; client_body_temp_path b;\n"
         "proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;\nserver { listen 127.0.0.1:18931; root html; } }\nE\n")
HAPROXY = ("cat >h.cfg <<'E'\nglobal\n nbthread 1\ndefaults\n mode http\n timeout client 60s\n timeout server 60s\n timeout connect 9s\nfrontend f\n bind 127.0.0.1:18932\n"
           " acl is_a path_beg /a\n http-request set-header X-A %[path,lower] if is_a\n http-request return status 200 content-type text/plain string hello if is_a\nE\n")

ALL = {
    "lua5.4": {
        "configure": LUA, "build": "make -j2 linux", "binary": "src/lua",
        "work": "BIN load.lua", "suite": "./src/lua -v && ./src/lua load.lua",
    },
    "bzip2": {
        "configure": "cat *.c *.c *.c *.c *.c *.c *.c *.c >load.data; cat load.data load.data >load.big", "build": "make -j2 bzip2", "binary": "bzip2",
        "work": "BIN -c load.big | BIN -dc | cksum", "suite": "make check",
    },
    "jq": {
        "configure": JSON + "autoreconf -fi && ./configure --disable-maintainer-mode --with-oniguruma=no --disable-docs --disable-shared --enable-static",
        "build": "make -j2", "binary": "jq", "work": "BIN -c '[.[] | select(.id % 3 == 0) | {id, n: (.tags | length), y: (.x * 2 | floor)}] | group_by(.n) | map(length)' load.json",
        "suite": "NO_VALGRIND=1 tests/jqtest", "suite_says": r"\d+ of \d+ tests passed",
    },
    "nginx": {
        "configure": NGINX + "./configure --with-cc=\"$CC\" --without-http_rewrite_module --without-http_gzip_module",
        "build": "make -j2", "binary": "objs/nginx", "serve": "BIN -p run -c n.conf", "port": 18931, "requests": 100000, "request": HTTP, "mark": b"HTTP/1.1 200",
        "suite": "objs/nginx -p run -t -c n.conf",
    },
    "haproxy": {
        "configure": HAPROXY, "build": "make -j2 TARGET=linux-glibc CC=\"$CC\" USE_LUA= USE_PCRE= USE_OPENSSL=", "binary": "haproxy",
        "serve": "BIN -f h.cfg -db", "port": 18932, "requests": 100000, "request": HTTP, "mark": b"HTTP/1.1 200", "suite": "./haproxy -c -f h.cfg",
    },
    "memcached": {
        "configure": "./configure --disable-docs --disable-extstore", "build": "make -j2", "binary": "memcached",
        # valgrind keeps twelve descriptors for itself, and lets the limit be set to what it is only
        "serve": "BIN -u nobody -t 1 -c $(($(ulimit -n) - 12)) -p 18933 -l 127.0.0.1", "port": 18933, "requests": 400000, "request": b"set a 0 0 5\r\nhello\r\nget a\r\n", "mark": b"END\r\n",
        "suite": "./testapp && prove t/binary-get.t t/cas.t t/expirations.t t/flags.t t/getset.t t/incrdecr.t t/noreply.t t/verbosity.t",
        "suite_says": r"Result: \w+|not ok .*",
    },
    "redis": {
        "build": "make -j2 MALLOC=libc", "binary": "src/redis-server", "serve": "BIN --port 18934 --save '' --io-threads 1", "port": 18934,
        "requests": 400000, "request": b"INCR a\r\n", "mark": b":",
        "suite": "./runtest --clients 2 --single unit/type/incr --single unit/type/hash --single unit/auth", "suite_says": r"\[(?:ok|err|exception)\]: [A-Za-z ]+",
    },
    "sqlite3": {
        "configure": SQL + "./configure --disable-tcl --disable-amalgamation --disable-shared --disable-readline", "build": "make -j2 sqlite3",
        "binary": "sqlite3", "work": "BIN :memory: <load.sql", "suite": "./sqlite3 :memory: <load.sql",
    },
    "leveldb": {
        "configure": LEVELDB + "rm -rf third_party/googletest third_party/benchmark && cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DLEVELDB_BUILD_TESTS=OFF "
                     "-DLEVELDB_BUILD_BENCHMARKS=OFF -DLEVELDB_INSTALL=OFF -DHAVE_SNAPPY=0 -DHAVE_CRC32C=0 -DHAVE_TCMALLOC=0 -DHAVE_ZSTD=0",
        "build": "sh build.sh", "binary": "build/load", "work": "rm -rf load.db; BIN; rm -rf load.db", "suite": "build/load",
    },
    "ninja-build": {
        "configure": "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && python3 -c \"print('rule r\\n command = true'); "
                     "[print('build o%d: r %s' % (i, ' '.join('o%d' % j for j in range(max(0, i - 20), i)))) for i in range(30000)]\" >build.load",
        "build": "cmake --build build -j2 --target ninja ninja_test", "binary": "build/ninja", "work": "BIN -f build.load -t targets all | cksum; BIN -f build.load -n -d stats >/dev/null",
        "suite": "cd build && ./ninja_test --gtest_filter=-SubprocessTest.SetWithLots | tail -3", "suite_says": r"\d+ tests passed|FAILED",
    },
}
