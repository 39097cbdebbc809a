#!/bin/sh
# Starts the server, puts about five seconds of load on it, stops it: bench.sh [REQUESTS [PAUSE-US]]. Each of eight clients pauses
# 800 us between its requests, unless another time is given; with 0, they ask for as much as the server can do.
set -eu
cd "$(dirname "$0")"
rm -rf data
./orderserver data &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT INT TERM
./orderload data "${1:-40000}" "${2:-800}"
kill -TERM "$server"
trap - EXIT
wait "$server"
# SPDX-License-Identifier: GPL-3.0-or-later
