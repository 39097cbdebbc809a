/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (y) Orders go to another process through a Unix socket, which vprof sees no channel in: what makes them one interval
 * is the header traceparent that each carries, as HTTP's requests do. Who sends has given an order up before it is
 * sent. */
#ifndef COURIER_H
#define COURIER_H

#include "plant.h"

enum { REQUEST, QUEUED, PRESS_ORDER, PRESS_SHEET, OTHERS_SHEETS, N_FACTORS };

#define MESSAGE_MAX 256

struct order {
	char message[MESSAGE_MAX]; /* with the header */
	uint32_t ns[N_FACTORS];
	struct plant_time took[N_FACTORS];
	struct plant_stretch at;	 /* around submit_order and press_order: before, inside, inside, after */
	struct plant_time sent, resumed; /* when: between these readings */
};

const char *header_of(const char *message);
void send_all(int to, struct order *orders, size_t n, uint64_t random);
int press_all(int from, struct order *orders, size_t n, struct plant_log *sheets);

#endif
