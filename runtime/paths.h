/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread remembers of its call stacks. See stack.c. */
#ifndef VPROF_RUNTIME_PATHS_H
#define VPROF_RUNTIME_PATHS_H

#include <stdint.h>

#define RT_KEPT 32u	   /* stacks */
#define RT_KEPT_WORDS 2560 /* for their addresses and places: 32 of 53 frames */
#define RT_KNOWN 512u	   /* paths */

struct rt_kept {
	uintptr_t frame;
	uint32_t id;
	uint16_t word; /* addresses; then places, two in each word */
	uint8_t n, first;
};
_Static_assert(sizeof(struct rt_kept) <= 16 && RT_KEPT_WORDS <= UINT16_MAX, "four to a cache line");

/* Filled from the front, so that a thread with a few stacks touches few cache lines. */
struct rt_paths {
	uint32_t thread_seq, n_kept, n_known, n_walks, n_skipped, n_words;
	struct rt_kept kept[RT_KEPT];
	uint64_t words[RT_KEPT_WORDS];
	uint64_t hash[RT_KNOWN]; /* of the path with number i + 1 */
};

#endif
