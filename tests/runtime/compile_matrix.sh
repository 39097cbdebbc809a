#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Compiles and runs probe.h and vprof.h over compilers, standards and options; prints what failed.
# usage: compile_matrix.sh PROBE_H INCLUDE_DIR SOURCE_DIR WORK_DIR
probe=$1 include=$2 source=$3 work=$4
mkdir -p "$work" || exit 1
failed=0 done=0
strict="-pedantic-errors -Wall -Wextra -Wshadow -Wdeclaration-after-statement -Wmissing-prototypes -Wstrict-prototypes -Wredundant-decls -Werror"
strict_cxx="-pedantic-errors -Wall -Wextra -Wshadow -Wold-style-cast -Wredundant-decls -Werror"

try() { # program-to-run compiler...
	run=$1
	shift
	done=$((done + 1))
	if ! "$@" >"$work/log" 2>&1 || { [ -n "$run" ] && ! "$run"; }; then
		failed=$((failed + 1))
		echo "FAILED: $*"
		head -5 "$work/log"
	fi
}

matrix() { # cc c++
	for std in c89 gnu89 c99 gnu99 c11 gnu11 gnu17; do
		try "$work/p" "$1" -std=$std $strict -O2 -include "$probe" -I"$include" "$source/compile_probe.c" -o "$work/p"
		try "$work/p" "$1" -std=$std $strict -O1 -I"$include" "$source/compile_vprof.c" -o "$work/p"
		try "" "$1" -std=$std $strict -DVPROF_SCAN -fsyntax-only -I"$include" "$source/compile_vprof.c"
	done
	try "$work/p" "$1" -ansi $strict -O2 -include "$probe" -I"$include" "$source/compile_probe.c" -o "$work/p"
	for opt in -O0 -O3 "-O2 -flto" "-O2 -fPIC" "-Og -g" "-fno-pie -no-pie" "-O2 -fexceptions" "-O2 -fsanitize=address" "-O2 -masm=intel"; do
		try "$work/p" "$1" $opt $strict -include "$probe" -I"$include" "$source/compile_probe.c" -o "$work/p"
	done
	for std in c++98 gnu++98 c++11 c++14 c++17 c++20 gnu++20; do
		try "$work/p" "$2" -std=$std $strict_cxx -O2 -x c++ -include "$probe" -I"$include" "$source/compile_probe.c" -o "$work/p"
		try "$work/p" "$2" -std=$std $strict_cxx -x c++ -I"$include" "$source/compile_vprof.c" -o "$work/p"
	done
}

matrix gcc g++
if command -v clang-19 >/dev/null; then
	matrix clang-19 clang++-19
else
	echo "skipped: clang: clang-19 is not installed"
fi
echo "$done compilations, $failed failed"
[ $failed -eq 0 ]
