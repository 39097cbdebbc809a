#!/bin/sh
# Starts haproxy, and behind it nginx for files and app.py for the rest; asks for files, items and a few reports; stops them: load.sh [REQUESTS]
# Ports 7100 to 7102 of the loopback interface.
set -eu
cd "$(dirname "$0")"
n=${1:-2000}
data=$(mktemp -d)
app= proxy=
end() {
	kill $app $proxy 2>/dev/null || true
	[ ! -s "$data/nginx.pid" ] || kill "$(cat "$data/nginx.pid")" 2>/dev/null || true
	wait
	rm -rf "$data"
}
trap end EXIT
trap 'exit 1' INT TERM
mkdir "$data/files"
head -c 4000 /dev/zero >"$data/files/logo"
chmod 755 "$data" "$data/files"
cat >"$data/nginx.conf" <<C
pid $data/nginx.pid;
error_log $data/nginx.log;
events { worker_connections 256; }
http {
	access_log off;
	client_body_temp_path $data/body; proxy_temp_path $data/proxy; fastcgi_temp_path $data/fastcgi;
	uwsgi_temp_path $data/uwsgi; scgi_temp_path $data/scgi;
	server { listen 127.0.0.1:7101; root $data; }
}
C
cat >"$data/haproxy.cfg" <<C
defaults
	mode http
	timeout connect 5s
	timeout client 30s
	timeout server 30s
frontend shop
	bind 127.0.0.1:7100
	use_backend files if { path_beg /files/ }
	default_backend app
backend files
	server nginx 127.0.0.1:7101
backend app
	server python 127.0.0.1:7102
C
answers() { ! ab -q -n 1 "$1" 2>&1 | grep -Eq '^Non-2xx|refused|reset|closed'; }
wait_for() {
	tries=0
	until answers "$1"; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || { echo "load.sh: no answer from $1" >&2; exit 1; }
		sleep 0.05
	done
}
python3 app.py 7102 "$data/items.db" &
app=$!
nginx -c "$data/nginx.conf" 2>/dev/null
wait_for http://127.0.0.1:7101/files/logo
wait_for http://127.0.0.1:7102/items/0
haproxy -q -db -f "$data/haproxy.cfg" &
proxy=$!
wait_for http://127.0.0.1:7100/files/logo
ab -q -k -c 4 -n $((n * 78 / 100)) http://127.0.0.1:7100/files/logo >"$data/ab.files" &
files=$!
ab -q -k -c 2 -n $((n * 20 / 100)) http://127.0.0.1:7100/items/17 >"$data/ab.items" &
items=$!
ab -q -k -c 1 -n $((n * 2 / 100)) http://127.0.0.1:7100/report >"$data/ab.reports"
wait $files $items
for kind in files items reports; do
	sed -n "s/^Requests per second: *\([0-9.]*\).*/$kind: \1 requests a second/p" "$data/ab.$kind"
done
# SPDX-License-Identifier: GPL-3.0-or-later
