/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace from a fuzzer's bytes, and a plan for its calls.
 *
 * The first byte chooses: even, the rest is records.vpt as it is; odd, the rest is items of 17 bytes, each a thread and
 * one unit of its records, from which a file with right headers is made: so most inputs get past the reader.
 */
#ifndef VPROF_FUZZ_MADE_TRACE_H
#define VPROF_FUZZ_MADE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "common/plan.h"
#include "trace/format.h"

/* Of a trace of one second whose ticks are ns. */
struct vp_file_header fuzz_trace_header(uint32_t n_chunks);
/* Writes fuzz_dir()/records.vpt; n is above 0. */
void fuzz_make_trace(const uint8_t *data, size_t n);
/* Functions f0 to f7, the same at each call; the caller's. NULL without memory. */
struct vprof_plan *fuzz_make_plan(void);

#endif
