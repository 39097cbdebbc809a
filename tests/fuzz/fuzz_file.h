/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folder in memory that a fuzzer's input is written to, since what is fuzzed reads files. Removed at exit. */
#ifndef VPROF_FUZZ_FILE_H
#define VPROF_FUZZ_FILE_H

#include <stddef.h>
#include <stdint.h>

const char *fuzz_dir(void);
/* Writes the file `name` there; its path. */
const char *fuzz_file(const char *name, const void *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#endif
