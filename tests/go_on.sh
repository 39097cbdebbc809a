# SPDX-License-Identifier: GPL-3.0-or-later
# go_on DRILL_DOWN...: to be sourced. Where others had the CPU so much that a run is inconclusive (3), the drill-down goes on with
# another, as it says; six times at most.
go_on() {
	again=0 status=3
	while [ $status = 3 ] && [ $((again += 1)) -le 6 ]; do
		status=0
		"$@" || status=$?
	done
	return $status
}
