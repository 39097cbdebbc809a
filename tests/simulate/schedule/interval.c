/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/simulate/schedule/interval.h"

#include "tests/simulate/schedule/hot.h"

static bool mark(struct sim_thread *th, enum vp_kind kind, const struct sim_instance *i)
{
	hot_mark(th, kind);
	if (!records_two(th, th->world->now, VP_W(kind, 0), i->id, i->name))
		return false;
	th->marks = sim_grow(th->marks, th->n_marks, &th->cap_marks, sizeof *th->marks);
	th->marks[th->n_marks++] = (struct sim_mark){ th->n_units - 2, i };
	return true;
}

static void segment_end(struct sim_thread *th)
{
	if (th->segment)
		th->segment->to = th->world->now;
	th->segment = NULL;
}

void interval_inside(struct sim_thread *th, struct sim_work *work)
{
	struct sim_segment *s = th->segment;

	if (!s || s->instance != work->instance || s->cause || !work->segment || work->t > s->from)
		return;
	s->cause = work;
	s->is_inside = true;
}

static void segment_begin(struct sim_thread *th, struct sim_instance *i, struct sim_work *cause)
{
	struct sim_segment *s;

	if (th->segment && th->segment->instance == i) {
		if (cause)
			interval_inside(th, cause);
		return;
	}
	segment_end(th);
	if (i->is_complete || i->is_before_trace)
		return; /* for something that is not in the trace */
	s = world_alloc(th->world, sizeof *s);
	*s = (struct sim_segment){ th, i, th->world->now, SIM_NEVER, cause, false, i->segments };
	i->segments = s;
	th->segments = sim_grow(th->segments, th->n_segments, &th->cap_segments, sizeof *th->segments);
	th->segments[th->n_segments++] = s;
	th->segment = s;
}

static bool is_in_use(const struct world *w, const struct sim_instance *i)
{
	for (size_t k = 0; k < w->n_threads; k++)
		if (interval_of(w->threads[k]) == i)
			return true;
	return i->n_active;
}

/* Ids of intervals that no thread works for any more are reused. */
static uint64_t new_id(const struct sim_thread *th)
{
	struct world *w = th->world;

	if (w->shares_ids) {
		for (const struct sim_instance *i = w->instances; i; i = i->older)
			if (i->process != th->process && i->id == w->next_id_of[th->process - 1] + 1 && !i->is_complete)
				COVER(w, SAME_ID);
		return ++w->next_id_of[th->process - 1];
	}
	if (world_chance(w, 10))
		for (struct sim_instance *i = w->instances; i; i = i->older)
			if (i->is_complete && !i->is_reused && !is_in_use(w, i)) {
				i->is_reused = true;
				return i->id;
			}
	return w->next_id++;
}

static struct sim_instance *begin(struct sim_thread *th, uint64_t id, uint64_t name)
{
	struct world *w = th->world;
	struct sim_instance *i = world_alloc(w, sizeof *i);

	*i = (struct sim_instance){
		.id = id, .name = name, .begin = w->now, .process = th->process, .older = w->instances, .n_active = 1
	};
	w->instances = i;
	i->is_before_trace = !mark(th, VP_KIND_BEGIN, i);
	segment_begin(th, i, NULL);
	return i;
}

struct sim_instance *interval_begin(struct sim_thread *th, const char *name)
{
	uint64_t id;

	world_work(th, 1);
	id = new_id(th);
	if (th->segment)
		COVER(th->world, NESTED);
	return begin(th, id, records_hash(name));
}

struct sim_instance *interval_restart(struct sim_thread *th, struct sim_instance *i)
{
	world_work(th, 1);
	if (i->n_active > 1 || interval_of(th) != i || i->is_complete)
		return i;
	i->is_restarted = true;
	COVER(th->world, RESTARTED);
	return begin(th, i->id, i->name);
}

void interval_resume(struct sim_thread *th, struct sim_instance *i, struct sim_work *cause)
{
	world_work(th, 1);
	mark(th, VP_KIND_RESUME, i);
	segment_begin(th, i, cause);
}

void interval_suspend(struct sim_thread *th)
{
	struct sim_instance *i = interval_of(th);

	world_work(th, 1);
	if (!i)
		return;
	mark(th, VP_KIND_SUSPEND, i);
	segment_end(th);
}

void interval_end(struct sim_thread *th, struct sim_instance *i, struct sim_work *cause)
{
	bool is_told;

	world_work(th, 1);
	is_told = mark(th, VP_KIND_END, i);
	if (i->is_complete)
		return;
	i->is_end_lost = !is_told;
	i->is_complete = true;
	i->end = th->world->now;
	i->ended_by = th;
	i->end_cause = cause;
	if (interval_of(th) == i) {
		i->end_segment = th->segment;
		segment_end(th);
	}
}

void sim_queue_init(struct sim_queue *q, struct world *w, enum sim_queue_kind kind, bool is_shared, uint32_t process)
{
	q->kind = kind;
	q->mutex.kind = SIM_MUTEX;
	sim_object_init(&q->mutex.object, w, is_shared, process);
	sim_object_init(&q->filled.object, w, is_shared, process);
	q->tells_false_wakes = world_chance(w, 50);
	q->polls = world_chance(w, 40);
	q->last_item = &q->items;
	q->key = UINT64_C(0x5eed000000000000) | w->next_handle++;
}

bool sim_queue_is_empty(const struct sim_queue *q)
{
	return !q->items;
}

static struct sim_work *work_new(struct sim_thread *th, struct sim_instance *i, struct sim_work *before)
{
	struct sim_work *work = world_alloc(th->world, sizeof *work);

	*work = (struct sim_work){ .instance = i,
				   .by = th,
				   .t = th->world->now,
				   .before = before,
				   .segment = interval_of(th) == i ? th->segment : NULL };
	if (i)
		i->n_active++;
	return work;
}

static struct sim_item *push(struct sim_thread *th, struct sim_queue *q, struct sim_work *work, uint64_t amount)
{
	struct sim_item *item = world_alloc(th->world, sizeof *item);

	*item = (struct sim_item){ .work = work, .release = sim_release_new(th), .amount = amount };
	item->release->stamp = work->t;
	*q->last_item = item;
	q->last_item = &item->next;
	return item;
}

static struct sim_item *pop(struct sim_queue *q)
{
	struct sim_item *item = q->items;

	q->items = item->next;
	if (!item->next)
		q->last_item = &q->items;
	return item;
}

static void send(struct sim_thread *th, struct sim_queue *q, struct sim_instance *i, struct sim_work *before)
{
	struct world *w = th->world;
	uint64_t amount = 1 + world_below(w, 100);
	struct sim_item *item;
	struct sim_work *work;

	while (q->is_sending)
		world_work(th, 1 + world_below(w, 10));
	q->is_sending = true;
	work = work_new(th, i, before);
	work->is_message = true;
	world_lag(th);
	item = push(th, q, work, amount);
	if (q->reader)
		world_wake(q->reader);
	q->reader = NULL;
	world_lag(th);
	item->release->is_recorded = work->is_recorded =
		records_two(th, work->t, VP_W(VP_KIND_SEND, w->now - work->t), q->key, amount);
	world_work(th, 1);
	q->is_sending = false;
}

void sim_queue_put(struct sim_thread *th, struct sim_queue *q, struct sim_instance *i, struct sim_work *before)
{
	struct world *w = th->world;
	struct sim_work *work;
	bool under_lock = world_chance(w, 60);

	if (q->kind == SIM_QUEUE_CHANNEL) {
		send(th, q, i, before);
		return;
	}
	world_work(th, 1);
	work = work_new(th, i, before);
	if (before && before->item) {
		work->item = before->item;
	} else if (q->freed_item && world_chance(w, 50)) {
		work->item = q->freed_item;
		q->freed_item = 0;
		COVER(w, SAME_ITEM);
	} else {
		work->item = 0x100000000 + 64 * w->next_item++;
	}
	if (q->kind == SIM_QUEUE_ANNOTATED)
		work->is_recorded = records_two(th, w->now, VP_W(VP_KIND_ENQUEUE, 0), work->item, 0);
	if (work->is_recorded) {
		th->enqueued = sim_grow(th->enqueued, th->n_enqueued, &th->cap_enqueued, sizeof *th->enqueued);
		th->enqueued[th->n_enqueued++] = w->now;
	}
	world_lag(th);
	sim_lock_take(th, &q->mutex, false, SIM_NEVER);
	push(th, q, work, 0);
	if (under_lock)
		sim_cond_signal(th, &q->filled, world_chance(w, 20));
	sim_lock_release(th, &q->mutex, false);
	if (!under_lock)
		sim_cond_signal(th, &q->filled, world_chance(w, 20));
}

/* Waits until there is something to read. */
static void poll_queue(struct sim_thread *th, struct sim_queue *q)
{
	struct world *w = th->world;
	uint64_t t0 = w->now;
	uint32_t wait = world_wait_begin(th, VP_WAIT_POLL, q, sim_call_name(VP_CALL_EPOLL_WAIT));
	struct sim_release *release = NULL;
	bool is_recorded = false;

	if (sim_queue_is_empty(q)) {
		q->reader = th;
		world_park(th, SIM_NEVER);
		release = q->items->release;
	}
	world_lag(th);
	if (w->now - t0 >= SIM_WAIT_TICKS)
		is_recorded = records_wait(th, &(struct sim_wait_record){ .kind = VP_WAIT_POLL,
									  .call = VP_CALL_EPOLL_WAIT,
									  .flags = VP_FLAG_SHARED | VP_FLAG_CHANNEL,
									  .object = q->key,
									  .t0 = t0 });
	world_wait_end(th, wait, release, is_recorded);
}

/* One message. */
static struct sim_work *receive(struct sim_thread *th, struct sim_queue *q)
{
	struct world *w = th->world;
	struct sim_release *release = NULL;
	bool is_recorded = false;
	struct sim_item *item;
	uint64_t t0, amount;
	uint32_t wait;

	world_work(th, 1);
	if (q->polls) {
		poll_queue(th, q);
		world_work(th, 1);
	}
	t0 = w->now;
	wait = world_wait_begin(th, VP_WAIT_PIPE, q, sim_call_name(VP_CALL_READ));
	if (sim_queue_is_empty(q)) {
		q->reader = th;
		world_park(th, SIM_NEVER);
		release = q->items->release;
	}
	item = pop(q);
	amount = item->amount;
	world_lag(th);
	if (w->now - t0 >= SIM_WAIT_TICKS)
		is_recorded = records_wait(th, &(struct sim_wait_record){ .kind = VP_WAIT_PIPE,
									  .call = VP_CALL_READ,
									  .flags = VP_FLAG_SHARED | VP_FLAG_CHANNEL,
									  .object = q->key,
									  .t0 = t0 });
	world_wait_end(th, wait, release, is_recorded);
	if (records_two(th, w->now, VP_W(VP_KIND_RECEIVE, w->now - t0), q->key, amount)) {
		th->received = sim_grow(th->received, th->n_received, &th->cap_received, sizeof *th->received);
		th->received[th->n_received++] = w->now;
	}
	item->work->t_taken = w->now;
	return item->work;
}

void sim_queue_tell(struct sim_thread *th, struct sim_queue *q, struct sim_work *work)
{
	world_work(th, 1);
	work->t_taken = th->world->now;
	if (q->kind == SIM_QUEUE_ANNOTATED)
		records_two(th, th->world->now, VP_W(VP_KIND_DEQUEUE, 0), work->item, 0);
}

struct sim_work *sim_queue_take(struct sim_thread *th, struct sim_queue *q, bool told)
{
	struct world *w = th->world;
	struct sim_work *work;
	uint32_t before = 0, wait;
	bool woken;

	if (q->kind == SIM_QUEUE_CHANNEL)
		return receive(th, q);
	sim_lock_take(th, &q->mutex, false, SIM_NEVER);
	while (sim_queue_is_empty(q)) {
		wait = sim_cond_wait(th, &q->filled, &q->mutex, SIM_NEVER, &woken);
		if (before && th->waits[wait - 1].is_recorded)
			world_wait_join(th, before, wait);
		else
			before = wait;
		if (!sim_queue_is_empty(q))
			break;
		COVER(w, FALSE_WAKE);
		world_lag(th);
		if (!q->tells_false_wakes || th->n_lost || !th->waits[before - 1].is_recorded ||
		    !records_one(th, w->now, VP_W(VP_KIND_FALSE_WAKE, 0)))
			before = 0;
	}
	work = pop(q)->work;
	sim_lock_release(th, &q->mutex, false);
	if (told)
		sim_queue_tell(th, q, work);
	return work;
}
