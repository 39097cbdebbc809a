/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "courier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

const char *header_of(const char *message)
{
	const char *at = strstr(message, "traceparent: ");

	return at ? at + sizeof "traceparent: " - 1 : NULL;
}

static NOINLINE void submit_order(struct order *o)
{
	o->at.from = PLANT_NOW();
	o->sent.low = PLANT_NOW();
}

/* Bursts, then a pause that lets the press run out of orders. */
void send_all(int to, struct order *orders, size_t n, uint64_t random)
{
	for (size_t i = 0; i < n;) {
		size_t burst = plant_uniform(&random, 1, 9);

		for (; burst && i < n; burst--, i++) {
			orders[i].at.before = PLANT_NOW();
			submit_order(&orders[i]);
			orders[i].sent.high = PLANT_NOW();
			if (send(to, orders[i].message, MESSAGE_MAX, 0) != MESSAGE_MAX) {
				perror("couriers: send");
				exit(1);
			}
		}
		plant_sleep_us(plant_uniform(&random, 2500, 3500));
	}
}
