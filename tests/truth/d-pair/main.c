/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "message.h"

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "handle_message", -1, 0, 0 },
	[ROUTE] = { "route", REQUEST, 0, 0 },
	[ENCODE_BODY] = { "encode_body", REQUEST, TRUTH_PLANTED, 0 },
	[CHECKSUM_BODY] = { "checksum_body", REQUEST, TRUTH_PLANTED, 0 },
	[JOURNAL] = { "journal_message", REQUEST, 0, 3 },
};

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 500);
	struct truth_answer answer = { .a = "encode_body", .b = "checksum_body" };
	struct truth truth;

	truth_open(&truth, N_FACTORS, columns, o.n);
	for (size_t i = 0; i < o.n; i++) {
		struct message m = { .id = i + 1, .size = plant_uniform(&o.random, 100, 4000) };

		m.ns[ENCODE_BODY] = plant_uniform(&o.random, 20000, 120000);
		m.ns[CHECKSUM_BODY] = plant_uniform(&o.random, 20000, 120000);
		m.ns[ROUTE] = plant_uniform(&o.random, 50000, 750000);
		PLANT_CALL(m.took[REQUEST], handle_message(&m));
		truth_add(&truth, m.took);
	}
	return truth_write(&truth, &answer);
}
