/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stages.h"

#include <stdio.h>
#include <stdlib.h>

struct stage stages[N_STAGES];

NOINLINE void stage_enqueue(struct stage *s, struct request *r)
{
	pthread_mutex_lock(&s->lock);
	r->next = NULL;
	if (s->first)
		s->last->next = r;
	else
		s->first = r;
	s->last = r;
	pthread_cond_signal(&s->filled);
	pthread_mutex_unlock(&s->lock);
}

NOINLINE struct request *stage_dequeue(struct stage *s)
{
	struct request *r;

	pthread_mutex_lock(&s->lock);
	while (!s->first && !s->is_closed)
		pthread_cond_wait(&s->filled, &s->lock);
	r = s->first;
	if (r)
		s->first = r->next;
	pthread_mutex_unlock(&s->lock);
	return r;
}

static void *stage_main(void *arg)
{
	struct stage *s = arg;
	struct request *r;

	while ((r = stage_dequeue(s))) {
		r->portions[s->name].before = PLANT_NOW();
		s->handle(r);
		if (s->name == SEND)
			r->portions[SEND].after = PLANT_NOW();
	}
	return NULL;
}

void stage_start(struct stage *s, enum stage_name name, void (*handle)(struct request *r))
{
	s->name = name;
	s->handle = handle;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->filled, NULL);
	if (pthread_create(&s->thread, NULL, stage_main, s)) {
		fputs("cannot start a stage\n", stderr);
		exit(1);
	}
}

void stage_finish(struct stage *s)
{
	pthread_mutex_lock(&s->lock);
	s->is_closed = 1;
	pthread_cond_signal(&s->filled);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
}
