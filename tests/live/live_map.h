/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the resident probes of the running program itself lie, as a build's list would have them. */
#ifndef VPROF_TESTS_LIVE_MAP_H
#define VPROF_TESTS_LIVE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "live/probe_map.h"

#define LIVE_MAP_MOST 16

struct live_function {
	uint32_t code;
	uint64_t entry; /* its address; 0: the probe stands in the function itself */
};

/* Of at most LIVE_MAP_MOST functions with one site each; of the program that was asked last. */
const struct vprof_probe_map *live_map_of_program(const struct live_function *functions, size_t n);

/* Where the module that holds the address was loaded. */
uint64_t live_map_bias(uint64_t address);
/* Its build id, as hexadecimal digits. */
void live_map_read_id(uint64_t bias, char *hex);

#endif
