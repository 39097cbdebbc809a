/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>

#include "store.h"

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 250);
	struct worker workers[N_WORKERS];
	struct keeper keeper;
	int status;

	for (int i = 0; i < N_WORKERS; i++) {
		workers[i] = (struct worker){ .n = o.n, .requests = calloc(o.n, sizeof *workers[i].requests) };
		if (!workers[i].requests) {
			perror("requests");
			return 1;
		}
		for (size_t k = 0; k < o.n; k++) {
			enum type type = plant_uniform(&o.random, 0, 3);

			workers[i].requests[k] = (struct request){
				.id = k * N_WORKERS + (size_t)i,
				.type = type,
				.parse_ns = plant_uniform(&o.random, 100000, 900000),
				.items_ns = type == CONFIRM ? plant_uniform(&o.random, 1000000, 4000000) :
							      plant_uniform(&o.random, 200000, 900000),
				.orders_ns = type == CONFIRM ? plant_uniform(&o.random, 300000, 900000) :
							       plant_uniform(&o.random, 1500000, 3000000),
			};
		}
	}
	keeper_start(&keeper, o.random + 1, 100 * o.n);
	for (int i = 0; i < N_WORKERS; i++)
		worker_start(&workers[i]);
	for (int i = 0; i < N_WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
	keeper_stop(&keeper);
	status = account_write(workers, &keeper);
	for (int i = 0; i < N_WORKERS; i++) {
		free(workers[i].requests);
		for (int k = 0; k < N_LOCKS; k++)
			free(workers[i].sections[k].v);
	}
	free(keeper.sections.v);
	return status;
}
