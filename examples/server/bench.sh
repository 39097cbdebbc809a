#!/bin/sh
# Starts the server, puts about five seconds of load on it, stops it: bench.sh [REQUESTS]
set -eu
cd "$(dirname "$0")"
rm -rf data
./orderserver data &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT INT TERM
./orderload data "${1:-40000}"
kill -TERM "$server"
trap - EXIT
wait "$server"
# SPDX-License-Identifier: GPL-3.0-or-later
