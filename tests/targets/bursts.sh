# SPDX-License-Identifier: GPL-3.0-or-later
# For load scripts: bursts PID ASK. Where BURSTS is set, tells the server's pid and calls `ASK n` for each number that is asked (see
# bench/server_cost); else it returns 1 at once. fresh_project puts it beside the script.
bursts() {
	[ -n "${BURSTS:-}" ] || return 1
	exec 3<"$BURSTS/ask" 4>"$BURSTS/told"
	echo "$1" >&4
	while read -r n <&3 && [ "$n" != 0 ]; do
		"$2" "$n" || exit 1 # within a condition, so set -e is off
		echo done >&4
	done
}
