/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const names[N_FACTORS] = { "queued", "render_page", "load_template" };

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 1500);
	/* Beneath the queue stands what the workers did for others meanwhile. */
	struct truth_answer answer = { .a = "queued", .accept = { "render_page", "serve" } };
	struct request *requests = calloc(o.n, sizeof *requests);
	pthread_t workers[N_WORKERS];
	struct truth truth;
	struct queue queue;

	if (!requests) {
		perror("requests");
		return 1;
	}
	for (size_t i = 0; i < o.n; i++) {
		requests[i].id = i + 1;
		requests[i].ns[RENDER_PAGE] = plant_uniform(&o.random, 100000, 900000);
		requests[i].ns[LOAD_TEMPLATE] = plant_uniform(&o.random, 50000, 150000);
	}
	queue_init(&queue);
	for (int i = 0; i < N_WORKERS; i++) {
		if (pthread_create(&workers[i], NULL, worker_main, &queue)) {
			fputs("cannot start a worker\n", stderr);
			return 1;
		}
	}
	dispatch_all(&queue, requests, o.n, o.random);
	queue_close(&queue);
	for (int i = 0; i < N_WORKERS; i++)
		pthread_join(workers[i], NULL);
	truth_open(&truth, N_FACTORS, names, o.n);
	for (size_t i = 0; i < o.n; i++)
		truth_add(&truth, requests[i].end - requests[i].begin, requests[i].took);
	answer.share = truth_share(&truth, QUEUED);
	answer.also[0] = (struct truth_factor){ "render_page", truth_share(&truth, RENDER_PAGE), 0 };
	free(requests);
	return truth_write(&truth, &answer);
}
