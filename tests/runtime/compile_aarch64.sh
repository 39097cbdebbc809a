#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The runtime and the probes compile for aarch64 without a warning; ./check --preset aarch64 runs them.
# usage: compile_aarch64.sh SOURCE_DIR
cd "$1" || exit 1
cc=aarch64-linux-gnu-gcc
if ! command -v $cc >/dev/null; then
	echo "skipped: $cc is not installed"
	exit 77
fi
flags="-std=gnu11 -O2 -Wall -Wextra -Wno-missing-field-initializers -Werror -I. -fsyntax-only"
failed=0
for source in runtime/*.c; do
	$cc $flags -fPIC -ftls-model=initial-exec -Wno-nonnull-compare "$source" || failed=1
done
for options in "-std=c89 -O0" "-std=c11 -O2 -fPIC" "-O2 -mcmodel=large -fno-pie" "-O2 -march=armv8.1-a"; do
	$cc $options -Wall -Werror -S -o /dev/null -Iannotate -include runtime/probe.h tests/runtime/compile_probe.c || failed=1
done
exit $failed
