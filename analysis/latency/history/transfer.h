/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a program received and sent on the connections that it serves. */
#ifndef VPROF_LATENCY_TRANSFER_H
#define VPROF_LATENCY_TRANSFER_H

#include <stdint.h>

struct vprof_transfer {
	uint64_t from, t; /* ns; the system call */
	uint64_t connection;
	uint32_t tid;
	int is_send;
	uint32_t bytes; /* 0: the end was received */
};

#endif
