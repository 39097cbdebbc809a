/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (d) Two functions take time in proportion to a size that neither of them shows: together they are the cause. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include "plant.h"

enum { REQUEST, ROUTE, ENCODE_BODY, CHECKSUM_BODY, JOURNAL, N_FACTORS };

struct message {
	uint64_t id;
	uint32_t size;
	uint32_t ns[N_FACTORS]; /* beyond what the size costs */
	struct plant_time took[N_FACTORS];
	char note[16];
};

void handle_message(struct message *m);
void journal_message(struct message *m);

#endif
