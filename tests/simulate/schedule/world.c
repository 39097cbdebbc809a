/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/simulate/schedule/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulate/schedule/records.h"

#define STACK_BYTES (128u << 10)
#define CHUNK_BYTES (64u << 10)

struct sim_chunk {
	struct sim_chunk *next;
	size_t n;
	unsigned char bytes[CHUNK_BYTES];
};

static struct world *running;	  /* one at a time, since a coroutine's entry takes no argument */
static void *stacks[SIM_THREADS]; /* kept from world to world */

static void no_memory(void)
{
	fputs("simulate: not enough memory\n", stderr);
	exit(1);
}

void *sim_grow(void *v, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return v;
	*cap = *cap ? 2 * *cap : 64;
	v = realloc(v, *cap * size);
	if (!v)
		no_memory();
	return v;
}

void *world_alloc(struct world *w, size_t n)
{
	struct sim_chunk *c = w->arena;
	void *p;

	n = (n + 15) & ~(size_t)15;
	if (!c || c->n + n > CHUNK_BYTES) {
		c = malloc(sizeof *c);
		if (!c || n > CHUNK_BYTES)
			no_memory();
		c->next = w->arena;
		c->n = 0;
		w->arena = c;
	}
	p = c->bytes + c->n;
	c->n += n;
	return memset(p, 0, n);
}

static uint64_t draw(uint64_t *random)
{
	uint64_t z = *random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint64_t world_random(struct world *w)
{
	return draw(&w->random);
}

uint64_t world_below(struct world *w, uint64_t n)
{
	return n ? world_random(w) % n : 0;
}

bool world_chance(struct world *w, uint32_t percent)
{
	return world_below(w, 100) < percent;
}

uint64_t world_below_apart(struct world *w, uint64_t n)
{
	return n ? draw(&w->random_apart) % n : 0;
}

bool world_chance_apart(struct world *w, uint32_t percent)
{
	return world_below_apart(w, 100) < percent;
}

struct world *world_new(uint64_t seed, uint64_t *coverage)
{
	struct world *w = calloc(1, sizeof *w);

	if (!w)
		no_memory();
	w->seed = w->random = seed;
	w->random_apart = ~seed;
	w->now = 1000;
	w->ns_per_tick = 1;
	w->end_at = SIM_NEVER;
	w->next_token = 1;
	w->next_handle = w->next_id = w->next_item = 1;
	w->coverage = coverage;
	for (uint32_t i = 0; i < SIM_PROCESSES; i++)
		w->maps_as[i] = i + 1;
	return w;
}

void world_free(struct world *w)
{
	for (size_t i = 0; i < w->n_threads; i++) {
		struct sim_thread *th = w->threads[i];

		coroutine_release(&th->coroutine);
		free(th->frames);
		free(th->waits);
		free(th->moments);
		free(th->segments);
		free(th->received);
		free(th->enqueued);
		free(th->units);
		free(th->marks);
		free(th->clocks);
	}
	for (size_t i = 0; i < SIM_PROCESSORS; i++)
		free(w->switches[i]);
	free(w->gaps);
	free(w->switch_gaps);
	while (w->arena) {
		struct sim_chunk *next = w->arena->next;

		free(w->arena);
		w->arena = next;
	}
	free(w);
}

void world_moment(struct sim_thread *th)
{
	uint64_t now = th->world->now;

	if (!th->n_moments || th->moments[th->n_moments - 1].t != now) {
		th->moments = sim_grow(th->moments, th->n_moments, &th->cap_moments, sizeof *th->moments);
		th->n_moments++;
	}
	th->moments[th->n_moments - 1] = (struct sim_moment){ now, th->frame, th->wait, th->is_preempted, th->is_off };
}

/* On any CPU. */
static void on_processor(struct sim_thread *th)
{
	struct world *w = th->world;

	th->on_since = w->now;
	if (!w->with_offsets)
		return;
	th->clocks = sim_grow(th->clocks, th->n_clocks, &th->cap_clocks, sizeof *th->clocks);
	th->clocks[th->n_clocks++] =
		(struct sim_clock){ w->now, w->clock_offsets[world_below_apart(w, SIM_PROCESSORS)] };
}

static void entry(void)
{
	struct sim_thread *th = running->current;

	on_processor(th);
	world_moment(th);
	records_switch(th, 0);
	records_two(th, th->world->now, VP_W(VP_KIND_START, 0), th->start_token, th->tid);
	th->program(th);
	th->is_over = true;
	th->ready_at = SIM_NEVER;
	coroutine_switch(&th->coroutine, &running->scheduler);
	abort();
}

struct sim_thread *world_thread(struct world *w, uint32_t process, void (*program)(struct sim_thread *), void *arg)
{
	struct sim_thread *th;

	if (w->n_threads == SIM_THREADS)
		return NULL;
	th = world_alloc(w, sizeof *th);
	if (!stacks[w->n_threads])
		stacks[w->n_threads] = malloc(STACK_BYTES);
	if (!stacks[w->n_threads])
		no_memory();
	th->world = w;
	th->program = program;
	th->arg = arg;
	th->process = process;
	th->ready_at = w->now + 1 + world_below(w, 40);
	th->t_first = SIM_NEVER;
	th->handle = w->next_handle++;
	th->stretch = 1;
	coroutine_init(&th->coroutine, stacks[w->n_threads], STACK_BYTES, entry);
	w->threads[w->n_threads++] = th;
	th->seq = th->tid = (uint32_t)w->n_threads;
	th->pid = process;
	return th;
}

static struct sim_thread *next_thread(struct world *w)
{
	struct sim_thread *best = NULL;

	for (size_t i = 0; i < w->n_threads; i++)
		if (w->threads[i]->ready_at != SIM_NEVER && (!best || w->threads[i]->ready_at < best->ready_at))
			best = w->threads[i];
	return best;
}

void world_run(struct world *w)
{
	running = w;
	coroutine_main(&w->scheduler);
	while ((w->current = next_thread(w))) {
		w->now = w->current->ready_at > w->now ? w->current->ready_at : w->now + 1;
		if (w->now >= w->end_at)
			break;
		coroutine_switch(&w->scheduler, &w->current->coroutine);
	}
}

static void give_up(struct sim_thread *th, uint64_t until)
{
	th->ready_at = until;
	coroutine_switch(&th->coroutine, &th->world->scheduler);
}

static void off(struct sim_thread *th, uint64_t until, uint32_t flags)
{
	th->is_preempted = (flags & VP_SWITCH_PREEMPTED) != 0;
	th->is_off = !th->is_preempted;
	world_moment(th);
	records_switch(th, flags | VP_SWITCH_OUT);
	give_up(th, until);
	records_switch(th, 0);
	on_processor(th);
	th->is_preempted = th->is_off = false;
	world_moment(th);
}

void world_work(struct sim_thread *th, uint64_t ticks)
{
	struct world *w = th->world;

	give_up(th, w->now + (ticks ? ticks : 1));
	if (w->with_preemption && th->on_since < w->now && world_chance(w, 4))
		off(th, w->now + 1 + world_below(w, 300), VP_SWITCH_PREEMPTED);
}

void world_lag(struct sim_thread *th)
{
	if (world_chance(th->world, th->world->lag_percent))
		world_work(th, 1 + world_below(th->world, 6));
}

bool world_park(struct sim_thread *th, uint64_t until)
{
	th->is_woken = false;
	if (th->on_since == th->world->now) /* a thread that was just given a CPU keeps it for at least a tick */
		give_up(th, th->world->now + 1);
	if (!th->is_woken && th->world->now < until)
		off(th, until, 0);
	return th->is_woken;
}

bool world_spin(struct sim_thread *th, uint64_t until)
{
	th->is_woken = false;
	give_up(th, until);
	return th->is_woken;
}

void world_wake(struct sim_thread *th)
{
	struct world *w = th->world;
	uint64_t at = w->now + 1 + (world_chance(w, 80) ? world_below(w, 6) : world_below(w, 200));

	if (th->is_woken)
		return;
	th->is_woken = true;
	th->ready_at = at;
}

void world_enter(struct sim_thread *th, uint32_t code)
{
	th->frames = sim_grow(th->frames, th->n_frames, &th->cap_frames, sizeof *th->frames);
	th->frames[th->n_frames++] = (struct sim_frame){ .parent = th->frame, .code = code, .t0 = th->world->now };
	th->frame = (uint32_t)th->n_frames;
	world_moment(th);
}

struct sim_frame *world_leave(struct sim_thread *th)
{
	struct sim_frame *f = &th->frames[th->frame - 1];

	th->frame = f->parent;
	world_moment(th);
	return f;
}

uint32_t world_wait_begin(struct sim_thread *th, uint8_t kind, const void *object, const char *name)
{
	th->waits = sim_grow(th->waits, th->n_waits, &th->cap_waits, sizeof *th->waits);
	th->waits[th->n_waits++] = (struct sim_wait){
		.t0 = th->world->now, .kind = kind, .object = object, .name = name, .outer = th->wait
	};
	th->wait = (uint32_t)th->n_waits;
	world_moment(th);
	return th->wait;
}

void world_wait_end(struct sim_thread *th, uint32_t wait, struct sim_release *release, bool is_recorded)
{
	struct sim_wait *w = &th->waits[wait - 1];

	w->t1 = th->world->now;
	w->release = release;
	w->is_recorded = is_recorded;
	th->wait = w->outer;
	world_moment(th);
}

void world_wait_join(struct sim_thread *th, uint32_t before, uint32_t wait)
{
	struct sim_wait *first = &th->waits[before - 1], *last = &th->waits[wait - 1];
	uint32_t frame = 0;

	last->is_recorded = false;
	first->t1 = last->t1;
	first->release = last->release;
	first->is_joined = true;
	for (size_t i = 0; i < th->n_moments; i++) {
		struct sim_moment *m = &th->moments[i];

		if (m->t <= first->t0)
			frame = m->frame;
		else if (m->t < last->t1)
			*m = (struct sim_moment){ m->t, frame, before, false, m->is_off };
	}
}

void world_hold_end(struct world *w, struct sim_holds **holds, const struct sim_release *release, bool reads)
{
	struct sim_hold *h = world_alloc(w, sizeof *h);

	if (!*holds) {
		*holds = world_alloc(w, sizeof **holds);
		(*holds)->next = w->holds;
		w->holds = *holds;
	}
	*h = (struct sim_hold){ (*holds)->newest, release, reads, false };
	(*holds)->newest = h;
}

struct sim_release *sim_release_new(struct sim_thread *by)
{
	struct sim_release *r = world_alloc(by->world, sizeof *r);

	r->by = by;
	return r;
}

void sim_release_stamp(struct sim_release *r)
{
	r->stamp = r->by->world->now;
}
