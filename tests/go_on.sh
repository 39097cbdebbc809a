# SPDX-License-Identifier: GPL-3.0-or-later
# go_on DRILL_DOWN...: to be sourced by a test whose folder is $work. A drill-down that ends as inconclusive (3) goes on with another
# run, as it says, but only where the kernel's account of the processors, in which vprof has no part, proves that others had
# them for a twentieth of the time meanwhile; six times at most (or $go_on_most), and then nothing is known (77,
# skipped). Otherwise it has to be conclusive.

# Two lines for others_percent: what this shell's children have used so far, and all that the processors have done.
processors() { # FILE
	times >"$1" # by this shell: the children of a subshell are others
	sed -i 1d "$1"
	grep '^cpu ' /proc/stat >>"$1"
}

# What others had of the processors between the two, a hypervisor's other guests included, in percent.
others_percent() { # BEFORE AFTER
	awk -v ticks="$(getconf CLK_TCK)" '
		function ticks_of(text, part) { split(text, part, "m"); return (60 * part[1] + part[2]) * ticks }
		BEGIN { sign = -1 }
		FNR == 1 && NR > 1 { sign = 1 }
		$1 != "cpu" { own += sign * (ticks_of($1) + ticks_of($2)) }
		$1 == "cpu" { busy = $2 + $3 + $4 + $7 + $8 + $9; used += sign * busy; all += sign * (busy + $5 + $6) }
		END { print (all > 0 ? int(100 * (used - own) / all) : 0) }' "$1" "$2"
}

go_on() {
	again=0
	while :; do
		processors "$work/before"
		status=0
		"$@" || status=$?
		[ $status = 3 ] || break
		processors "$work/after"
		others=$(others_percent "$work/before" "$work/after")
		[ "$others" -ge 5 ] || { echo "FAIL: inconclusive, and others had $others % of the processors"; break; }
		[ $((again += 1)) -lt ${go_on_most:-6} ] || { echo "skipped: others had the processors $again times, now $others %"; status=77; break; }
		echo "again: others had $others % of the processors"
	done
	rm -f "$work/before" "$work/after"
	[ $status != 77 ] || exit 77
	return $status
}
