/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render.h"

#include <stdio.h>
#include <stdlib.h>

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "request", -1, 0 },
	[QUEUED] = { "queued", REQUEST, TRUTH_PLANTED | TRUTH_WAIT },
	[SERVE] = { "serve", REQUEST, 0 },
	[LOAD_TEMPLATE] = { "load_template", SERVE, 0 },
	[RENDER_PAGE] = { "render_page", SERVE, TRUTH_PLANTED },
	[OTHERS_PAGES] = { "render_page", QUEUED, TRUTH_PLANTED | TRUTH_BLAME },
	[OTHERS_TEMPLATES] = { "load_template", QUEUED, TRUTH_BLAME },
};

static void start_worker(struct worker *w, int number, struct queue *queue, size_t capacity)
{
	*w = (struct worker){ .number = number, .queue = queue };
	w->pages.capacity = w->templates.capacity = capacity;
	w->pages.stretches = calloc(capacity, sizeof *w->pages.stretches);
	w->templates.stretches = calloc(capacity, sizeof *w->templates.stretches);
	if (!w->pages.stretches || !w->templates.stretches || pthread_create(&w->thread, NULL, worker_main, w)) {
		fputs("cannot start a worker\n", stderr);
		exit(1);
	}
}

/* The dispatcher waits for the queue's lock, and then for a processor, which the workers have: how much of that is to
 * be blamed on what they do cannot be told without knowing when it was woken. */
static void add_perhaps(struct plant_time *took, const struct plant_log *log, const struct request *r)
{
	took->high += plant_log_overlap(log, r->at.before, r->enqueued.low).high;
}

/* Of what lies in the delay: at least what does whenever it began and ended between two readings. */
static struct plant_time meanwhile(const struct plant_log *log, const struct request *r)
{
	struct plant_time took = plant_log_overlap(log, r->enqueued.low, r->resumed.high);

	took.low = plant_log_overlap(log, r->enqueued.high, r->resumed.low).low;
	return took;
}

/* The delay is from vprof_enqueue to vprof_resume. What the worker that took the request did meanwhile is to blame. */
static void add_request(struct truth *t, struct request *r, const struct worker *workers)
{
	const struct worker *w = &workers[r->worker];
	uint64_t from = r->enqueued.low, to = r->resumed.high;
	struct plant_time others;

	r->took[REQUEST] = (struct plant_time){ r->at.to - r->at.from, r->at.after - r->at.before };
	r->took[QUEUED] =
		(struct plant_time){ r->resumed.low > r->enqueued.high ? r->resumed.low - r->enqueued.high : 0,
				     to - from };
	r->took[SERVE].high = r->at.after - r->resumed.low;
	r->took[OTHERS_PAGES] = meanwhile(&w->pages, r);
	r->took[OTHERS_TEMPLATES] = meanwhile(&w->templates, r);
	others = r->took[OTHERS_PAGES];
	others.low += r->took[OTHERS_TEMPLATES].low;
	others.away += r->took[OTHERS_TEMPLATES].away;
	r->took[QUEUED].away = plant_away_waiting(to - from, others);
	for (int i = 0; i < N_WORKERS; i++) {
		add_perhaps(&r->took[OTHERS_PAGES], &workers[i].pages, r);
		add_perhaps(&r->took[OTHERS_TEMPLATES], &workers[i].templates, r);
	}
	truth_add(t, r->took);
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 700);
	struct truth_answer answer = { .interval = "request" };
	struct request *requests = calloc(o.n, sizeof *requests);
	struct worker workers[N_WORKERS];
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
	for (int i = 0; i < N_WORKERS; i++)
		start_worker(&workers[i], i, &queue, o.n);
	dispatch_all(&queue, requests, o.n, o.random);
	queue_close(&queue);
	for (int i = 0; i < N_WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
	truth_open(&truth, N_FACTORS, columns, o.n);
	for (size_t i = 0; i < o.n; i++)
		add_request(&truth, &requests[i], workers);
	free(requests);
	return truth_write(&truth, &answer);
}
